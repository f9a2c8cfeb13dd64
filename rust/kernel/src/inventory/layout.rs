//! A pool as one node sees it: which devices it may use, in upstream's order, and whether the pool can be used at all.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock, Weak};

use drayman_api::{Device, DeviceCapacity, DeviceId, DeviceTaint, PoolId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::bits::DeviceSet;
use crate::capacity::Amounts;
use crate::counters::{Available, Consumption, CounterSets};
use crate::error::PoolDefect;
use crate::features::{Feature, Features};
use crate::inventory::columns::Key;
use crate::inventory::slices::Slice;
use crate::inventory::usage::{Hold, Holding, consumed};
use crate::inventory::views::Mark;
use crate::node_selector;
use crate::selectors::{Chain, Verdict, Verdicts};

/// Sets of selectors that a layout keeps the verdicts of.
const KEPT_VERDICTS: usize = 16;

/// Why a pool cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unusable {
    pub(crate) defect: PoolDefect,
    /// What makes the pool invalid.
    pub(crate) reason: String,
    /// Slices of the generation that are there.
    pub(crate) present: usize,
}

/// Position of a device in the slices of a layout.
#[derive(Clone, Copy, Debug)]
struct Place {
    slice: usize,
    device: usize,
}

/// The slices of a pool that a node reaches.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) id: Arc<PoolId>,
    /// Why it cannot be used; then it has no devices.
    pub(crate) unusable: Option<Unusable>,
    /// Some device has binding conditions: upstream tries such pools last.
    pub(crate) has_binding_conditions: bool,
    /// All slices name a node, so that allocations need no node selector.
    pub(crate) names_node: bool,
    pub(crate) counter_sets: CounterSets,
    slices: Vec<Arc<Slice>>,
    places: Vec<Place>,
    /// By device; empty when no device consumes counters.
    consumptions: Vec<Consumption>,
    /// Devices of the pool that other nodes reach, if they consume counters.
    elsewhere: Vec<(String, Consumption)>,
    /// See [`Kind::skips_broken`].
    skips_broken: bool,
    /// Devices that the node does not reach although it reaches their slice.
    beyond: DeviceSet,
    /// Devices that only selectors and constraints distinguish: given out whole, untainted, without counters or operations left out.
    plain: DeviceSet,
    verdicts: RwLock<SmallVec<[Kept; 1]>>,
}

/// What a chain of selectors says about the devices of a pool, as long as some plan uses the chain.
type Kept = (Weak<Chain>, Arc<Verdicts>);

/// How layouts are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) features: Features,
    /// A node selector of a device that cannot be parsed selects nothing; else reaching the device fails.
    pub(crate) skips_broken: bool,
}

/// Which devices a node reaches, of slices that leave node selection to devices.
pub(crate) type Includes<'a> = &'a dyn Fn(&Device) -> bool;

impl Layout {
    /// A pool that cannot be used.
    pub(crate) fn unusable(id: Arc<PoolId>, unusable: Unusable, slices: Vec<Arc<Slice>>) -> Self {
        Self { unusable: Some(unusable), slices, ..Self::empty(id) }
    }

    fn empty(id: Arc<PoolId>) -> Self {
        Self {
            id,
            unusable: None,
            has_binding_conditions: false,
            names_node: false,
            counter_sets: CounterSets::default(),
            slices: Vec::new(),
            places: Vec::new(),
            consumptions: Vec::new(),
            elsewhere: Vec::new(),
            skips_broken: false,
            beyond: DeviceSet::default(),
            plain: DeviceSet::default(),
            verdicts: RwLock::default(),
        }
    }

    /// A complete pool: `reached` are its slices that the node reaches, `others` the rest. Slices are tried by name, devices as they are
    /// listed.
    pub(crate) fn new(
        id: Arc<PoolId>,
        mut reached: Vec<Arc<Slice>>,
        others: &[Arc<Slice>],
        kind: Kind,
        includes: Includes<'_>,
    ) -> Self {
        reached.sort_by(|one, other| one.object.metadata.name.cmp(&other.object.metadata.name));
        match Self::validated(&id, &reached, others, kind, includes) {
            Ok(layout) => layout,
            Err(reason) => {
                let present = reached.len() + others.len();
                Self::unusable(id, Unusable { defect: PoolDefect::Invalid, reason, present }, reached)
            }
        }
    }

    fn validated(
        id: &Arc<PoolId>,
        reached: &[Arc<Slice>],
        others: &[Arc<Slice>],
        kind: Kind,
        includes: Includes<'_>,
    ) -> Result<Self, String> {
        let partitionable = kind.features.has(Feature::PartitionableDevices);
        let holds_counters = |slice: &&Arc<Slice>| partitionable && !slice.object.spec.shared_counters.is_empty();
        let slices: Vec<_> = reached.iter().filter(|slice| !holds_counters(slice)).cloned().collect();
        refuse_duplicate_names(&slices)?;
        let mut layout = Self { slices, ..Self::empty(Arc::clone(id)) };
        for (slice, devices) in layout.slices.iter().enumerate().map(|(index, slice)| (index, slice.devices())) {
            layout.places.extend((0..devices.len()).map(|device| Place { slice, device }));
            layout.has_binding_conditions |= devices.iter().any(|device| !device.binding_conditions.is_empty());
        }
        layout.skips_broken = kind.skips_broken;
        layout.names_node = layout.slices.iter().all(|slice| slice.node_name().is_some());
        layout.beyond = DeviceSet::empty(layout.len());
        layout.plain = DeviceSet::empty(layout.len());
        for position in 0..layout.len() {
            if is_plain(layout.slice(position), layout.device(position), layout.taints(position)) {
                layout.plain.insert(position);
            }
            if layout.slice(position).per_device() && !includes(layout.device(position)) {
                layout.beyond.insert(position);
            }
        }
        if partitionable {
            let counters = reached.iter().chain(others).filter(holds_counters);
            layout.counter_sets = CounterSets::collect(counters.flat_map(|slice| &slice.object.spec.shared_counters))?;
            layout.consumptions = layout.consumptions()?;
            for device in others.iter().filter(|slice| !holds_counters(slice)).flat_map(|slice| slice.devices()) {
                let consumption = layout.counter_sets.consumption(device)?;
                if !consumption.sets.is_empty() {
                    layout.elsewhere.push((device.name.clone(), consumption));
                }
            }
        }
        Ok(layout)
    }

    fn consumptions(&self) -> Result<Vec<Consumption>, String> {
        let devices = || (0..self.len()).map(|position| self.device(position));
        if devices().all(|device| device.consumes_counters.is_empty()) {
            return Ok(Vec::new());
        }
        devices().map(|device| self.counter_sets.consumption(device)).collect()
    }

    /// How many devices the node reaches.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// The slices that the node reaches, also of a pool that cannot be used; without those that only hold counters.
    pub(crate) fn slices(&self) -> &[Arc<Slice>] {
        &self.slices
    }

    pub(crate) fn device(&self, position: usize) -> &Device {
        let Place { slice, device } = self.places[position];
        &self.slices[slice].devices()[device]
    }

    /// The slice of a device, and its position there.
    pub(crate) fn place(&self, position: usize) -> (&Slice, usize) {
        let Place { slice, device } = self.places[position];
        (&self.slices[slice], device)
    }

    pub(crate) fn slice(&self, position: usize) -> &Slice {
        &self.slices[self.places[position].slice]
    }

    pub(crate) fn taints(&self, position: usize) -> &[DeviceTaint] {
        let Place { slice, device } = self.places[position];
        self.slices[slice].taints(device)
    }

    /// Whether nothing but selectors and constraints can be against a device that is free, for a request without capacity.
    pub(crate) fn is_plain(&self, position: usize) -> bool {
        self.plain.contains(position)
    }

    pub(crate) fn device_id(&self, position: usize) -> DeviceId {
        let PoolId { driver, pool } = (*self.id).clone();
        DeviceId { driver, pool, device: self.device(position).name.clone() }
    }

    /// What a device takes from counters; none when it takes nothing.
    pub(crate) fn consumption(&self, position: usize) -> Option<&Consumption> {
        self.consumptions.get(position).filter(|consumption| !consumption.sets.is_empty())
    }

    /// Names of all devices of the pool that consume counters, reached or not, and what they consume.
    pub(crate) fn all_consumptions(&self) -> impl Iterator<Item = (&str, &Consumption)> {
        let here = self
            .consumptions
            .iter()
            .enumerate()
            .map(|(position, consumption)| (self.device(position).name.as_str(), consumption));
        here.chain(self.elsewhere.iter().map(|(name, consumption)| (name.as_str(), consumption)))
    }

    /// What selectors say about the devices. Kept until the pool changes.
    pub(crate) fn verdicts(&self, chain: &Arc<Chain>, features: Features) -> Arc<Verdicts> {
        let kept = self.verdicts.read().unwrap_or_else(PoisonError::into_inner);
        // A weak pointer keeps the address from being used again.
        if let Some((_, verdicts)) = kept.iter().find(|(known, _)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(chain))) {
            return Arc::clone(verdicts);
        }
        drop(kept);
        let verdicts = Arc::new(self.judge(chain, features));
        let mut kept = self.verdicts.write().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT_VERDICTS {
            kept.remove(0);
        }
        kept.push((Arc::downgrade(chain), Arc::clone(&verdicts)));
        verdicts
    }

    /// Whether the node reaches a device; asked last, because upstream does.
    fn judge_reach(&self, position: usize) -> Verdict {
        if !self.slice(position).per_device() {
            return Verdict::Selected;
        }
        match node_selector::check(self.device(position).node_selection()) {
            Err(_) if !self.skips_broken => Verdict::Failed,
            Err(_) => Verdict::Passed,
            Ok(()) if self.beyond.contains(position) => Verdict::Passed,
            Ok(()) => Verdict::Selected,
        }
    }

    fn judge(&self, chain: &Chain, features: Features) -> Verdicts {
        let mut verdicts = Verdicts::none(self.len());
        let mut known: FxHashMap<(usize, Key), Verdict> = FxHashMap::default();
        for (position, Place { slice: index, device: in_slice }) in self.places.iter().copied().enumerate() {
            let slice = &self.slices[index];
            let device = &slice.devices()[in_slice];
            if features.has(Feature::BindingConditions) || device.binding_conditions.is_empty() {
                let judge = || chain.judge(slice.driver(), device);
                let verdict = match slice.columns().key(chain.reads(), in_slice, device) {
                    Some(key) => *known.entry((index, key)).or_insert_with(judge),
                    None => judge(),
                };
                verdicts.set(position, verdict.and_then(|| self.judge_reach(position)));
            }
        }
        verdicts
    }
}

fn is_plain(slice: &Slice, device: &Device, taints: &[DeviceTaint]) -> bool {
    let whole = |capacity: &DeviceCapacity| capacity.request_policy.is_none() && capacity.value.sign() >= 0;
    device.allow_multiple_allocations != Some(true)
        && device.consumes_counters.is_empty()
        && taints.is_empty()
        && slice.object.spec.skip_node_operations.is_empty()
        && device.capacity.values().all(whole)
}

fn refuse_duplicate_names(slices: &[Arc<Slice>]) -> Result<(), String> {
    let mut names = HashSet::new();
    for device in slices.iter().flat_map(|slice| slice.devices()) {
        if !names.insert(device.name.as_str()) {
            return Err(format!("duplicate device name {}", device.name));
        }
    }
    Ok(())
}

/// A layout, with what is held of its devices.
#[derive(Debug)]
pub(crate) struct PoolView {
    pub(crate) layout: Arc<Layout>,
    pub(crate) state: PoolState,
    /// The same for layouts that offer the same.
    pub(crate) kind: u64,
    pub(crate) mark: Mark,
}

/// What is held of the devices of a layout.
#[derive(Debug, Default)]
pub(crate) struct PoolState {
    /// Devices that are held alone.
    pub(crate) held: DeviceSet,
    /// Devices of which shares or capacity are held.
    pub(crate) shared: DeviceSet,
    /// Capacity that is taken, by device.
    pub(crate) consumed: FxHashMap<usize, Amounts>,
    /// What is left of the counters.
    pub(crate) available: Available,
}

impl PoolState {
    /// Capacity taken and counters left, as text; empty where there are none.
    pub(crate) fn amounts(&self) -> String {
        if self.consumed.is_empty() && self.available.is_empty() {
            return String::new();
        }
        let consumed: BTreeMap<_, _> = self.consumed.iter().collect();
        format!("{consumed:?} {:?}", self.available)
    }

    /// Takes over what is held of the devices.
    pub(crate) fn new(layout: &Layout, holds: Option<&BTreeMap<String, Vec<Hold>>>) -> Self {
        let mut state =
            Self { held: DeviceSet::empty(layout.len()), shared: DeviceSet::empty(layout.len()), ..Self::default() };
        let consumptions = layout.all_consumptions();
        let Some(holds) = holds else {
            return Self { available: Available::new(&layout.counter_sets, std::iter::empty()), ..state };
        };
        let allocated = consumptions.filter(|(name, _)| holds.contains_key(*name)).map(|(_, consumption)| consumption);
        state.available = Available::new(&layout.counter_sets, allocated);
        for position in 0..layout.len() {
            let Some(holds) = holds.get(&layout.device(position).name) else { continue };
            let exclusive = |hold: &Hold| hold.holding == Holding::Exclusive;
            if holds.iter().any(exclusive) {
                state.held.insert(position);
            }
            if !holds.iter().all(exclusive) {
                state.shared.insert(position);
            }
            if let Some(amounts) = consumed(holds) {
                state.consumed.insert(position, amounts);
            }
        }
        state
    }
}
