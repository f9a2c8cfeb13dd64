//! The attributes or capacities of a device by domain and name.

use std::hash::BuildHasher;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;

use crate::value::{Extent, Map, Value};

/// A name that is looked up often, with its hash.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) text: Arc<str>,
    hash: u64,
}

impl Name {
    pub(crate) fn new(text: Arc<str>) -> Self {
        Self { hash: hash(&text), text }
    }
}

fn hash(text: &str) -> u64 {
    FxBuildHasher.hash_one(text)
}

/// Entries in order of their names, found by hash: devices have few of them, so that a scan over hashes is the fastest way.
#[derive(Debug)]
struct Table<T> {
    hashes: Vec<u64>,
    entries: Vec<(Arc<str>, T)>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { hashes: Vec::new(), entries: Vec::new() }
    }
}

impl<T> Table<T> {
    fn add(&mut self, name: &str, value: T) {
        self.hashes.push(hash(name));
        self.entries.push((name.into(), value));
    }

    #[inline]
    fn get(&self, name: &str, hash: u64) -> Option<&T> {
        let same_hash = self.hashes.iter().zip(&self.entries).filter(|(other, _)| **other == hash);
        same_hash.map(|(_, entry)| entry).find(|(other, _)| other.as_ref() == name).map(|(_, value)| value)
    }
}

/// Attributes or capacities by domain.
#[derive(Debug, Default)]
pub struct Domains {
    domains: Table<Arc<Names>>,
    empty: Arc<Names>,
    extent: Extent,
}

impl Domains {
    /// Adds a domain; they have to come in order.
    pub(super) fn add(&mut self, domain: &str, names: Names) {
        self.extent = self.extent.inside(names.extent);
        self.domains.add(domain, Arc::new(names));
    }

    pub(crate) fn len(&self) -> usize {
        self.domains.entries.len()
    }

    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }

    pub(crate) fn contains(&self, domain: &str) -> bool {
        self.domains.get(domain, hash(domain)).is_some()
    }

    /// The names of a domain; none when the device has nothing of it.
    pub(crate) fn get_or_empty(&self, domain: &str) -> Arc<Names> {
        self.domains.get(domain, hash(domain)).unwrap_or(&self.empty).clone()
    }

    /// The value of a name in a domain.
    #[inline]
    pub(crate) fn value(&self, domain: &Name, name: &Name) -> Option<&Value> {
        let names = self.domains.get(&domain.text, domain.hash)?;
        names.names.get(&name.text, name.hash)
    }

    pub(crate) fn entry(&self, index: usize) -> Option<(Value, Value)> {
        let (domain, names) = self.domains.entries.get(index)?;
        Some((Value::String(domain.clone()), Value::Map(Map::Names(names.clone()))))
    }
}

/// Values by name within one domain.
#[derive(Debug, Default)]
pub struct Names {
    names: Table<Value>,
    extent: Extent,
}

impl Names {
    /// Adds a name; they have to come in order.
    pub(super) fn add(&mut self, name: &str, value: Value) {
        self.extent = self.extent.around(&value);
        self.names.add(name, value);
    }

    pub(crate) fn len(&self) -> usize {
        self.names.entries.len()
    }

    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.names.get(name, hash(name))
    }

    pub(crate) fn entry(&self, index: usize) -> Option<(Value, Value)> {
        self.names.entries.get(index).map(|(name, value)| (Value::String(name.clone()), value.clone()))
    }
}
