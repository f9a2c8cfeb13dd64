//! The devices of a slice by what they have in common, so that a selector is asked once for those that agree in what it reads.

use std::collections::BTreeMap;

use drayman_api::{Device, split_qualified_name};
use drayman_cel::{Access, Reads};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::bits::DeviceSet;
use crate::shape::{ValueText, attribute_text, is_readable};

/// The group of devices that do not have what a column is about.
const ABSENT: u32 = u32::MAX;

/// Names times devices of a slice that are put in columns: far more than the API allows, and little enough to be kept.
const MOST_CELLS: usize = 1 << 20;

/// Groups of a device in the columns that a selector reads.
pub(crate) type Key = SmallVec<[u32; 4]>;

/// The devices of a slice in columns.
#[derive(Debug)]
pub(crate) struct Columns {
    attributes: Vec<Column>,
    capacity: Vec<Column>,
    /// Devices to be looked at one by one: with an attribute without a readable value, or with a name that occurs twice.
    odd: DeviceSet,
}

/// One attribute or capacity.
#[derive(Debug)]
struct Column {
    domain: Box<str>,
    name: Box<str>,
    /// By device: the position of the first one with the same value.
    groups: Box<[u32]>,
}

impl Columns {
    pub(crate) fn new(driver: &str, devices: &[Device]) -> Self {
        let mut building = Building { driver, odd: DeviceSet::empty(devices.len()), length: devices.len(), cells: 0 };
        let attributes = building.columns(devices.iter().map(|device| &device.attributes), attribute_text, is_readable);
        let capacity = building.columns(
            devices.iter().map(|device| &device.capacity),
            // Notation matters to an expression that prints it.
            |capacity| capacity.value.to_string().as_bytes().into(),
            |_| true,
        );
        if building.cells > MOST_CELLS {
            (0..devices.len()).for_each(|position| building.odd.insert(position));
            return Self { attributes: Vec::new(), capacity: Vec::new(), odd: building.odd };
        }
        Self { attributes, capacity, odd: building.odd }
    }

    /// The same for devices on which an expression gives the same; none for a device that has to be looked at by itself.
    pub(crate) fn key(&self, reads: &Reads, position: usize, device: &Device) -> Option<Key> {
        if self.odd.contains(position) {
            return None;
        }
        let mut key = Key::new();
        if reads.allow_multiple_allocations {
            key.push(u32::from(device.allow_multiple_allocations == Some(true)));
        }
        for (columns, access) in [(&self.attributes, &reads.attributes), (&self.capacity, &reads.capacity)] {
            key.extend(columns.iter().filter(|column| column.is_read(access)).map(|column| column.groups[position]));
        }
        Some(key)
    }
}

impl Column {
    fn empty(domain: &str, name: &str, length: usize) -> Self {
        Self { domain: domain.into(), name: name.into(), groups: vec![ABSENT; length].into() }
    }

    fn is_read(&self, access: &Access) -> bool {
        match access {
            Access::All => true,
            Access::Names(names) => names.iter().any(|(domain, name)| **domain == *self.domain && **name == *self.name),
        }
    }
}

/// Groups by value, and whether the value can be read.
type Groups = FxHashMap<ValueText, (u32, bool)>;

/// Columns in the making.
struct Building<'a> {
    driver: &'a str,
    odd: DeviceSet,
    length: usize,
    cells: usize,
}

impl<'a> Building<'a> {
    fn columns<T: 'a>(
        &mut self,
        devices: impl Iterator<Item = &'a BTreeMap<String, T>>,
        text: impl Fn(&T) -> ValueText,
        is_readable: impl Fn(&T) -> bool,
    ) -> Vec<Column> {
        let mut columns: Vec<(Column, Groups)> = Vec::new();
        let mut positions: FxHashMap<(&str, &str), usize> = FxHashMap::default();
        for (device, entries) in devices.enumerate() {
            for (name, value) in entries {
                let (domain, name) = split_qualified_name(name, self.driver);
                let position = *positions.entry((domain, name)).or_insert(columns.len());
                if position == columns.len() {
                    self.cells += self.length;
                    if self.cells > MOST_CELLS {
                        return Vec::new();
                    }
                    columns.push((Column::empty(domain, name, self.length), Groups::default()));
                }
                let (column, known) = &mut columns[position];
                let group = || (u32::try_from(device).unwrap_or(ABSENT), is_readable(value));
                let (group, is_readable) = *known.entry(text(value)).or_insert_with(group);
                if !is_readable || column.groups[device] != ABSENT {
                    self.odd.insert(device);
                }
                column.groups[device] = group;
            }
        }
        columns.into_iter().map(|(column, _)| column).collect()
    }
}
