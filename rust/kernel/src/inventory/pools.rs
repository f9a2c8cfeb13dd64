//! Pools: their slices, and how each node sees them (upstream's `GatherPools`).

use std::collections::BTreeSet;
use std::sync::Arc;

use drayman_api::{Device, NodeSelection, PoolId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::bits::DeviceSet;
use crate::error::{AllocationError, PoolDefect};
use crate::features::{Compatibility, Feature, Features};
use crate::inventory::alike::Alike;
use crate::inventory::layout::{Includes, Kind, Layout, PoolState, PoolView, Unusable};
use crate::inventory::remarks::{Remark, remarks};
use crate::inventory::slices::Slice;
use crate::inventory::usage::Usage;
use crate::inventory::views::{Mark, Slots};
use crate::node_selector::{self, NodeLabels};

/// What is the same for all pools.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) features: Features,
    pub(crate) compatibility: Compatibility,
    /// Errors that upstream's search would meet are answers, too; else claims may just not fit.
    pub(crate) strict_errors: bool,
}

/// A view, and what makes it different from the pool's other views.
#[derive(Clone, Debug)]
struct View {
    /// The slices that the node reaches, by position in the pool's list, newest generation only.
    slices: SmallVec<[usize; 4]>,
    /// The devices it reaches, for slices that leave that to devices.
    devices: SmallVec<[DeviceSet; 1]>,
    /// Where it stands.
    slot: usize,
    /// Nodes that have this view.
    users: usize,
}

/// The slices of a pool, and the views that nodes have of it.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub(crate) id: Arc<PoolId>,
    /// By order of arrival.
    slices: Vec<Arc<Slice>>,
    by_node: FxHashMap<String, SmallVec<[usize; 2]>>,
    views: Vec<View>,
}

/// Where views are put, and how they are numbered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelf {
    pub(crate) slots: Slots,
    alike: Alike,
}

/// How a node sees a pool.
#[derive(Debug)]
pub(crate) enum Sight {
    /// Not at all, or only an outdated part of it.
    Nothing,
    /// By the view in this slot.
    View(usize),
    /// The node selector of a slice cannot be used, which spoils the node; with the slice's order.
    Broken(u64, Box<AllocationError>),
}

impl Shelf {
    /// Puts a new view into a slot.
    fn add(&mut self, layout: Arc<Layout>, state: PoolState) -> usize {
        let kind = self.alike.kind(&layout);
        let mark = Mark { layout: self.alike.next(), content: self.alike.content(kind, &state, self.slots.len()) };
        self.slots.add(PoolView { layout, state, kind, mark })
    }
}

impl Pool {
    pub(crate) fn new(id: PoolId) -> Self {
        Self { id: Arc::new(id), slices: Vec::new(), by_node: FxHashMap::default(), views: Vec::new() }
    }

    /// Adds a slice, or replaces the one of the same order.
    pub(crate) fn insert(&mut self, slice: Arc<Slice>) {
        match self.slices.binary_search_by_key(&slice.order, |slice| slice.order) {
            Ok(position) => self.slices[position] = slice,
            Err(position) => self.slices.insert(position, slice),
        }
        self.index();
    }

    pub(crate) fn remove(&mut self, order: u64) {
        self.slices.retain(|slice| slice.order != order);
        self.index();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slices.is_empty()
    }

    /// Nodes that the pool's slices name.
    pub(crate) fn node_names(&self) -> impl Iterator<Item = &str> {
        self.by_node.keys().map(String::as_str)
    }

    /// Whether some slice may be reached by any node.
    pub(crate) fn is_shared(&self) -> bool {
        self.by_node.values().map(SmallVec::len).sum::<usize>() < self.slices.len()
    }

    fn index(&mut self) {
        self.by_node.clear();
        for (position, slice) in self.slices.iter().enumerate() {
            if let Some(node) = slice.node_name() {
                self.by_node.entry(node.to_owned()).or_default().push(position);
            }
        }
    }

    /// Drops all views: the slices have changed.
    pub(crate) fn forget_views(&mut self, shelf: &mut Shelf) {
        self.views.drain(..).for_each(|view| shelf.slots.remove(view.slot));
    }

    /// Renews what is held in all views.
    pub(crate) fn renew_usage(&mut self, usage: &Usage, shelf: &mut Shelf) {
        let holds = usage.of_pool(&self.id);
        for View { slot, .. } in &self.views {
            let Some(view) = shelf.slots.views.get(*slot) else { continue };
            let (layout, kind, mark) = (Arc::clone(&view.layout), view.kind, view.mark);
            let state = PoolState::new(&layout, holds);
            let mark = Mark { content: shelf.alike.content(kind, &state, shelf.slots.len()), ..mark };
            shelf.slots.replace(*slot, PoolView { layout, state, kind, mark });
        }
    }

    /// A node does not need a view any more.
    pub(crate) fn release(&mut self, slot: usize, shelf: &mut Shelf) {
        let Some(position) = self.views.iter().position(|view| view.slot == slot) else { return };
        self.views[position].users -= 1;
        if self.views[position].users == 0 {
            self.views.swap_remove(position);
            shelf.slots.remove(slot);
        }
    }

    /// Finds out how a node sees the pool, and counts it as a user of the view.
    pub(crate) fn look(&mut self, node: NodeLabels<'_>, rules: Rules, usage: &Usage, shelf: &mut Shelf) -> Sight {
        let reached = match self.reached(node, rules) {
            Ok(reached) if reached.is_empty() => return Sight::Nothing,
            Ok(reached) => reached,
            Err((order, error)) => return Sight::Broken(order, error),
        };
        let fixed = rules.compatibility.is_fixed();
        let includes = |device: &Device| {
            let selection = device.node_selection();
            node_selector::selects(selection, node) && (!fixed || node_selector::check(selection).is_ok())
        };
        let devices: SmallVec<[DeviceSet; 1]> = reached
            .iter()
            .map(|position| &self.slices[*position])
            .filter(|slice| slice.per_device())
            .map(|slice| reached_devices(slice, &includes))
            .collect();
        let same = |view: &View| view.slices == reached && view.devices == devices;
        if let Some(view) = self.views.iter_mut().find(|view| same(view)) {
            view.users += 1;
            return Sight::View(view.slot);
        }
        let Some(layout) = self.layout(&reached, rules, &includes) else { return Sight::Nothing };
        let state = PoolState::new(&layout, usage.of_pool(&self.id));
        let slot = shelf.add(Arc::new(layout), state);
        self.views.push(View { slices: reached, devices, slot, users: 1 });
        Sight::View(slot)
    }

    /// The slices that a node reaches, of the newest generation among them. Slices of the node alone come first, as upstream.
    fn reached(&self, node: NodeLabels<'_>, rules: Rules) -> Result<SmallVec<[usize; 4]>, (u64, Box<AllocationError>)> {
        let own = self.by_node.get(node.name).map(SmallVec::as_slice).unwrap_or_default();
        let shared = (0..self.slices.len()).filter(|position| self.slices[*position].node_name().is_none());
        let shared = shared.take(if self.is_shared() { usize::MAX } else { 0 });
        let mut reached = SmallVec::<[usize; 4]>::new();
        for position in own.iter().copied().chain(shared) {
            let slice = &self.slices[position];
            if missing_feature(slice, rules.features).is_none()
                && reaches_slice(slice, node, rules.compatibility).map_err(|error| (slice.order, Box::new(error)))?
            {
                reached.push(position);
            }
        }
        let newest = reached.iter().map(|position| self.slices[*position].object.spec.pool.generation).max();
        reached.retain(|position| Some(self.slices[*position].object.spec.pool.generation) == newest);
        Ok(reached)
    }

    /// The layout for reached slices, or none where other slices show that they are outdated.
    fn layout(&self, reached: &[usize], rules: Rules, includes: Includes<'_>) -> Option<Layout> {
        let slices: Vec<_> = reached.iter().map(|position| Arc::clone(&self.slices[*position])).collect();
        let pool = &slices.first()?.object.spec.pool;
        let is_complete = |count: usize| i64::try_from(count).is_ok_and(|count| count == pool.resource_slice_count);
        let kind = Kind { features: rules.features, skips_broken: rules.compatibility.is_fixed() };
        let incomplete = |reason: &str, present: usize| {
            let unusable = Unusable { defect: PoolDefect::Incomplete, reason: reason.to_owned(), present };
            Some(Layout::unusable(Arc::clone(&self.id), unusable, slices.clone()))
        };
        if rules.compatibility.is_fixed() && self.counts_differ(pool.generation) {
            return incomplete("its slices do not agree on how many they are", slices.len());
        }
        if is_complete(slices.len()) {
            return Some(Layout::new(Arc::clone(&self.id), slices, &[], kind, includes));
        }
        let mut all = BTreeSet::new();
        for (position, slice) in self.slices.iter().enumerate() {
            let generation = slice.object.spec.pool.generation;
            if generation > pool.generation {
                return None;
            }
            let hidden = slice.uses_compatibility_groups && !rules.features.has(Feature::CompatibilityGroups);
            if generation == pool.generation && !hidden {
                all.insert(position);
            }
        }
        if !is_complete(all.len()) {
            return incomplete("", all.len());
        }
        let others: Vec<_> = all
            .iter()
            .filter(|position| !reached.contains(position))
            .map(|position| Arc::clone(&self.slices[*position]))
            .collect();
        Some(Layout::new(Arc::clone(&self.id), slices, &others, kind, includes))
    }

    /// What of the pool's slices cannot be used by any node, or is not understood.
    pub(crate) fn remarks(&self, features: Features) -> Vec<Remark> {
        self.slices.iter().flat_map(|slice| remarks(slice, missing_feature(slice, features))).collect()
    }

    /// Whether slices of a generation say different things about how many of them there are.
    fn counts_differ(&self, generation: i64) -> bool {
        let pools = self.slices.iter().map(|slice| &slice.object.spec.pool);
        let mut counts = pools.filter(|pool| pool.generation == generation).map(|pool| pool.resource_slice_count);
        let first = counts.next();
        counts.any(|count| Some(count) != first)
    }
}

/// The feature that a slice needs and that is off: then it is passed over.
pub(crate) fn missing_feature(slice: &Slice, features: Features) -> Option<Feature> {
    let spec = &slice.object.spec;
    let partitionable = spec.per_device_node_selection.is_some() || !spec.shared_counters.is_empty();
    let needs = [
        (Feature::PartitionableDevices, partitionable),
        (Feature::CompatibilityGroups, slice.uses_compatibility_groups),
    ];
    needs.into_iter().find(|(feature, needed)| *needed && !features.has(*feature)).map(|(feature, _)| feature)
}

/// Upstream 1.37 fails where a selector on the way cannot be parsed; else it selects nothing.
fn reaches_slice(slice: &Slice, node: NodeLabels<'_>, compatibility: Compatibility) -> Result<bool, AllocationError> {
    let broken = |device: Option<&Device>, source| AllocationError::SliceNodeSelector {
        slice: slice.object.metadata.name.clone(),
        device: device.map(|device| device.name.clone()),
        source,
    };
    match slice.object.spec.node_selection() {
        NodeSelection::PerDevice => {
            for device in slice.devices() {
                match node_selector::check(device.node_selection()) {
                    Ok(()) if node_selector::selects(device.node_selection(), node) => return Ok(true),
                    Err(error) if !compatibility.is_fixed() => return Err(broken(Some(device), error)),
                    _ => {}
                }
            }
            Ok(false)
        }
        selection => match &slice.selector_error {
            Some(error) if !compatibility.is_fixed() => Err(broken(None, error.clone())),
            Some(_) => Ok(false),
            None => Ok(node_selector::selects(selection, node)),
        },
    }
}

fn reached_devices(slice: &Slice, includes: Includes<'_>) -> DeviceSet {
    let mut devices = DeviceSet::empty(slice.devices().len());
    for (position, _) in slice.devices().iter().enumerate().filter(|(_, device)| includes(device)) {
        devices.insert(position);
    }
    devices
}
