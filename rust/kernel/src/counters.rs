//! Counters that the devices of a pool share.

use std::collections::BTreeMap;

use drayman_api::{CounterSet, Device, Quantity};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::compatibility_groups::CommonGroups;

/// What one device takes from the counter sets of its pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Consumption {
    /// Counters by position in the pool, and amounts.
    pub(crate) amounts: SmallVec<[(usize, Quantity); 2]>,
    /// Counter sets by position in the pool, and compatibility groups.
    pub(crate) sets: SmallVec<[(usize, Box<[String]>); 1]>,
}

/// The counter sets of a pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct CounterSets {
    names: Vec<String>,
    counters: Vec<Quantity>,
    labels: Vec<(usize, String)>,
    positions: FxHashMap<(usize, String), usize>,
}

impl CounterSets {
    /// Collects counter sets, or says which name occurs twice.
    pub(crate) fn collect<'a>(sets: impl Iterator<Item = &'a CounterSet>) -> Result<Self, String> {
        let mut collected = Self::default();
        for set in sets {
            if collected.names.contains(&set.name) {
                return Err(format!("duplicate counter set name {}", set.name));
            }
            let index = collected.names.len();
            collected.names.push(set.name.clone());
            for (name, counter) in &set.counters {
                collected.positions.insert((index, name.clone()), collected.counters.len());
                collected.labels.push((index, name.clone()));
                collected.counters.push(counter.value.clone());
            }
        }
        Ok(collected)
    }

    /// Finds the counters that a device consumes, or says which of them the pool does not have.
    pub(crate) fn consumption(&self, device: &Device) -> Result<Consumption, String> {
        let mut consumption = Consumption::default();
        for consumed in &device.consumes_counters {
            let set = self.names.iter().position(|name| *name == consumed.counter_set);
            let set = set.ok_or_else(|| format!("counter set {} not found", consumed.counter_set))?;
            consumption.sets.push((set, consumed.compatibility_groups.clone().into()));
            for (name, counter) in &consumed.counters {
                let position = self.positions.get(&(set, name.clone()));
                let position = position
                    .ok_or_else(|| format!("counter {name} not found in counter set {}", consumed.counter_set))?;
                consumption.amounts.push((*position, counter.value.clone()));
            }
        }
        Ok(consumption)
    }

    /// What there is of a counter.
    pub(crate) fn total(&self, position: usize) -> &Quantity {
        &self.counters[position]
    }

    /// Counter set and name of a position.
    pub(crate) fn names(&self, position: usize) -> (&str, &str) {
        let (set, name) = &self.labels[position];
        (&self.names[*set], name)
    }

    /// Counter sets of the pool.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}

/// What is left of a pool's counters beside the devices that are allocated.
#[derive(Clone, Debug, Default)]
pub(crate) struct Available {
    counters: Vec<Quantity>,
    /// Those that are below zero.
    overdrawn: Vec<usize>,
    groups: Vec<CommonGroups>,
}

impl Available {
    /// Subtracts what allocated devices consume. A counter may go below zero.
    pub(crate) fn new<'a>(sets: &CounterSets, allocated: impl Iterator<Item = &'a Consumption>) -> Self {
        let mut counters = sets.counters.clone();
        let mut groups = vec![CommonGroups::default(); sets.len()];
        for consumption in allocated {
            for (position, amount) in &consumption.amounts {
                // A difference that is too long to be computed leaves nothing.
                counters[*position] = counters[*position].checked_sub(amount).unwrap_or_else(|_| nothing_left());
            }
            for (set, names) in &consumption.sets {
                groups[*set].add(names);
            }
        }
        let overdrawn = (0..counters.len()).filter(|position| counters[*position].sign() < 0).collect();
        Self { counters, overdrawn, groups }
    }

    /// The first counter that is below zero.
    pub(crate) fn overdrawn(&self) -> Option<usize> {
        self.overdrawn.first().copied()
    }

    /// Whether the pool has no counters.
    pub(crate) fn is_empty(&self) -> bool {
        self.counters.is_empty() && self.groups.is_empty()
    }

    /// What is left of a counter.
    pub(crate) fn counter(&self, position: usize) -> &Quantity {
        &self.counters[position]
    }

    /// What the allocated devices on a counter set have in common.
    pub(crate) fn groups(&self, set: usize) -> &CommonGroups {
        &self.groups[set]
    }
}

fn nothing_left() -> Quantity {
    Quantity::from_i64(-1, drayman_api::quantity::Format::default())
}

/// What the devices taken by a search consume, by pool.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlightCounters {
    consumed: FxHashMap<(usize, usize), Quantity>,
    groups: FxHashMap<(usize, usize), CommonGroups>,
}

/// What [`InFlightCounters::take`] changed.
#[derive(Debug, Default)]
pub(crate) struct TakenCounters {
    counters: SmallVec<[Before<Quantity>; 2]>,
    groups: SmallVec<[Before<CommonGroups>; 1]>,
}

/// A counter or counter set by pool and position, and what was known of it before.
type Before<T> = ((usize, usize), Option<T>);

impl InFlightCounters {
    /// The first counter that a device would overdraw.
    pub(crate) fn short(&self, pool: usize, available: &Available, consumption: &Consumption) -> Option<usize> {
        // Counters may occur twice when a device names a counter set twice.
        let mut sums: BTreeMap<usize, Option<Quantity>> = BTreeMap::new();
        for (position, amount) in &consumption.amounts {
            let before = sums.remove(position).unwrap_or_else(|| self.consumed.get(&(pool, *position)).cloned());
            let sum = before.map_or(Ok(amount.clone()), |before| before.checked_add(amount));
            // A sum too long to be computed is more than any counter holds.
            let Ok(sum) = sum else { return Some(*position) };
            if *available.counter(*position) < sum {
                return Some(*position);
            }
            sums.insert(*position, Some(sum));
        }
        None
    }

    /// The first counter that is below zero and stays so, whatever counter set the device draws from: while there is one, upstream gives out
    /// no device that consumes counters. Only devices that consume less than nothing, which the API allows, lift a counter up again.
    pub(crate) fn left_overdrawn(
        &self,
        pool: usize,
        available: &Available,
        consumption: &Consumption,
    ) -> Option<usize> {
        available.overdrawn.iter().copied().find(|position| {
            let consumed = self.consumed(pool, *position);
            consumption.amounts.iter().all(|(other, _)| other != position)
                && consumed.is_none_or(|consumed| available.counter(*position) < consumed)
        })
    }

    /// Whether the compatibility groups of a device allow it beside the others on its counter sets.
    pub(crate) fn compatible(&self, pool: usize, available: &Available, consumption: &Consumption) -> bool {
        let running = |set| self.groups.get(&(pool, set)).unwrap_or_else(|| available.groups(set));
        consumption.sets.iter().all(|(set, names)| running(*set).admits(names))
    }

    /// Takes the counters of a device that fits.
    pub(crate) fn take(&mut self, pool: usize, available: &Available, consumption: &Consumption) -> TakenCounters {
        let mut taken = TakenCounters::default();
        for (position, amount) in &consumption.amounts {
            let key = (pool, *position);
            let before = self.consumed.get(&key).cloned();
            let sum = before.as_ref().map_or(Ok(amount.clone()), |before| before.checked_add(amount));
            self.consumed.insert(key, sum.unwrap_or_else(|_| amount.clone()));
            taken.counters.push((key, before));
        }
        for (set, names) in &consumption.sets {
            let key = (pool, *set);
            let before = self.groups.get(&key).cloned();
            let mut common = before.clone().unwrap_or_else(|| available.groups(*set).clone());
            common.add(names);
            self.groups.insert(key, common);
            taken.groups.push((key, before));
        }
        taken
    }

    /// Gives back what was taken last.
    pub(crate) fn give_back(&mut self, taken: TakenCounters) {
        restore(&mut self.consumed, taken.counters);
        restore(&mut self.groups, taken.groups);
    }

    /// What is consumed of a counter.
    pub(crate) fn consumed(&self, pool: usize, position: usize) -> Option<&Quantity> {
        self.consumed.get(&(pool, position))
    }
}

fn restore<T>(
    map: &mut FxHashMap<(usize, usize), T>,
    entries: impl IntoIterator<Item = Before<T>, IntoIter: DoubleEndedIterator>,
) {
    for (key, before) in entries.into_iter().rev() {
        match before {
            Some(before) => map.insert(key, before),
            None => map.remove(&key),
        };
    }
}
