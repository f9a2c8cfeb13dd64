//! Maps: literal ones, and the views of a device that read as maps.

use std::collections::HashMap;
use std::sync::Arc;

use crate::device::Device;
use crate::device::names::{Domains, Names};
use crate::value::{Extent, Key, Value};

/// A map. Iteration is in order of insertion, or of names for devices: upstream's order is random.
#[derive(Debug, Clone)]
pub enum Map {
    /// A map that an expression made.
    Entries(Arc<Entries>),
    /// `device` itself.
    Device(Arc<Device>),
    /// `device.attributes` or `device.capacity`: a domain that is missing reads as an empty map.
    Domains(Arc<Domains>),
    /// The attributes or capacities of one domain.
    Names(Arc<Names>),
}

/// The entries of a map that an expression made.
#[derive(Debug, Clone, Default)]
pub struct Entries {
    entries: Vec<(Value, Value)>,
    index: HashMap<Key, usize>,
    extent: Extent,
}

impl Entries {
    /// Adds an entry; a later one with the same key replaces.
    pub(crate) fn insert(&mut self, key: Value, value: Value) {
        self.extent = self.extent.around(&key).around(&value);
        let Some(found) = Key::of(&key) else {
            self.entries.push((key, value));
            return;
        };
        if let Some(entry) = self.index.get(&found).and_then(|index| self.entries.get_mut(*index)) {
            *entry = (key, value);
        } else {
            self.index.insert(found, self.entries.len());
            self.entries.push((key, value));
        }
    }

    /// Takes an entry out, as if it had never been added.
    pub(crate) fn remove(&mut self, key: &Value) {
        let Some(index) = Key::of(key).and_then(|key| self.index.remove(&key)) else { return };
        self.entries.remove(index);
        self.index.values_mut().filter(|other| **other > index).for_each(|other| *other -= 1);
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How large the entries are, with those that were replaced.
    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }

    pub(crate) fn contains(&self, key: &Value) -> bool {
        self.find(key).is_some()
    }

    /// The value of `key`, or of the key that is the same number in another type.
    fn find(&self, key: &Value) -> Option<&Value> {
        let key = Key::of(key)?;
        let index =
            self.index.get(&key).or_else(|| key.other_types().into_iter().find_map(|key| self.index.get(&key)))?;
        self.entries.get(*index).map(|(_, value)| value)
    }
}

impl Map {
    /// A map of `entries`.
    pub(crate) fn new(entries: Entries) -> Self {
        Self::Entries(Arc::new(entries))
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        match self {
            Self::Entries(entries) => entries.entries.len(),
            Self::Device(_) => Device::FIELDS.len(),
            Self::Domains(domains) => domains.len(),
            Self::Names(names) => names.len(),
        }
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key`; a missing domain gives an empty map, as upstream.
    pub fn find(&self, key: &Value) -> Option<Value> {
        match (self, key) {
            (Self::Entries(entries), _) => entries.find(key).cloned(),
            (Self::Device(device), Value::String(key)) => device.field(key),
            (Self::Domains(domains), Value::String(key)) => Some(Value::Map(Self::Names(domains.get_or_empty(key)))),
            (Self::Domains(_), _) => Some(Value::Map(Self::Names(Arc::default()))),
            (Self::Names(names), Value::String(key)) => names.get(key).cloned(),
            (Self::Device(_) | Self::Names(_), _) => None,
        }
    }

    /// Whether there is an entry of `key`; unlike [`Map::find`], a missing domain is missing.
    pub fn contains(&self, key: &Value) -> bool {
        match (self, key) {
            (Self::Domains(domains), Value::String(key)) => domains.contains(key),
            (Self::Domains(_), _) => false,
            _ => self.find(key).is_some(),
        }
    }

    /// The entry at `index` in order of iteration.
    pub fn entry(&self, index: usize) -> Option<(Value, Value)> {
        match self {
            Self::Entries(entries) => entries.entries.get(index).cloned(),
            Self::Device(device) => {
                let name = Device::FIELDS.get(index)?;
                Some((Value::string(*name), device.field(name)?))
            }
            Self::Domains(domains) => domains.entry(index),
            Self::Names(names) => names.entry(index),
        }
    }

    /// The first entry in order of iteration.
    pub(crate) fn first(&self) -> Option<(Value, Value)> {
        self.entry(0)
    }

    /// All entries in order of iteration.
    pub fn iter(&self) -> impl Iterator<Item = (Value, Value)> + '_ {
        (0..self.len()).filter_map(|index| self.entry(index))
    }

    /// The map as entries that can be added to.
    pub(crate) fn into_entries(self) -> Entries {
        match self {
            Self::Entries(entries) => Arc::unwrap_or_clone(entries),
            other => {
                let mut entries = Entries::default();
                for (key, value) in other.iter() {
                    entries.insert(key, value);
                }
                entries
            }
        }
    }
}
