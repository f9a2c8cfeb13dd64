//! Maps: literal ones, and the views of a device that read as maps.

use std::collections::HashMap;
use std::sync::Arc;

use crate::device::Device;
use crate::device::names::{Domains, Names};
use crate::value::{Extent, Value};

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

/// A key that can be found. Other values may be keys of an entry but are never found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    /// A truth value.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    Uint(u64),
    /// The bits of a float that is no integer.
    Double(u64),
    /// Text.
    String(Arc<str>),
}

impl Key {
    /// The key that `value` is; numbers that are equal across types are one key.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(Self::Bool(*value)),
            Value::Int(value) => Some(Self::Int(*value)),
            Value::Uint(value) => Some(i64::try_from(*value).map_or(Self::Uint(*value), Self::Int)),
            Value::Double(value) => Some(Self::of_double(*value)),
            Value::String(text) => Some(Self::String(text.clone())),
            _ => None,
        }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "both ranges are checked")]
    fn of_double(value: f64) -> Self {
        const INT_END: f64 = 9_223_372_036_854_775_808.0;
        const UINT_END: f64 = 18_446_744_073_709_551_616.0;
        if value.fract() == 0.0 && (-INT_END..INT_END).contains(&value) {
            Self::Int(value as i64)
        } else if value.fract() == 0.0 && (0.0..UINT_END).contains(&value) {
            Self::Uint(value as u64)
        } else {
            Self::Double(value.to_bits())
        }
    }
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

    fn find(&self, key: &Value) -> Option<&Value> {
        let index = self.index.get(&Key::of(key)?)?;
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
