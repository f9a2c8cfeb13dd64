//! Pools: their slices, and how each node sees them (upstream's `GatherPools`).

use std::collections::BTreeSet;
use std::sync::Arc;

use drayman_api::{Device, NodeSelection, PoolId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::bits::DeviceSet;
use crate::error::{AllocationError, PoolDefect};
use crate::features::{Compatibility, Feature, Features};
use crate::inventory::layout::{Includes, Layout, PoolState, PoolView, Unusable};
use crate::inventory::slices::Slice;
use crate::inventory::usage::Usage;
use crate::node_selector::{self, NodeLabels};

/// What is the same for all pools.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) features: Features,
    pub(crate) compatibility: Compatibility,
}

/// A view, and what makes it different from the pool's other views.
#[derive(Clone, Debug)]
struct View {
    /// The slices that the node reaches, by position in the pool's list, newest generation only.
    slices: SmallVec<[usize; 4]>,
    /// The devices it reaches, for slices that leave that to devices.
    devices: SmallVec<[DeviceSet; 1]>,
    content: Arc<PoolView>,
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
    views: Vec<Option<View>>,
}

/// How a node sees a pool.
#[derive(Debug)]
pub(crate) enum Sight {
    /// Not at all, or only an outdated part of it.
    Nothing,
    /// By this view.
    View(usize),
    /// The node selector of a slice cannot be used, which spoils the node; with the slice's order.
    Broken(u64, Box<AllocationError>),
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
    pub(crate) fn forget_views(&mut self) {
        self.views.clear();
    }

    /// Renews what is held in all views.
    pub(crate) fn renew_usage(&mut self, usage: &Usage) {
        let holds = usage.of_pool(&self.id);
        for view in self.views.iter_mut().flatten() {
            let layout = Arc::clone(&view.content.layout);
            let state = PoolState::new(&layout, holds);
            view.content = Arc::new(PoolView { layout, state });
        }
    }

    pub(crate) fn view(&self, view: usize) -> Option<&Arc<PoolView>> {
        self.views.get(view)?.as_ref().map(|view| &view.content)
    }

    /// A node does not need a view any more.
    pub(crate) fn release(&mut self, view: usize) {
        let Some(slot) = self.views.get_mut(view) else { return };
        if let Some(view) = slot {
            view.users -= 1;
            if view.users == 0 {
                *slot = None;
            }
        }
    }

    /// Finds out how a node sees the pool, and counts it as a user of the view.
    pub(crate) fn look(&mut self, node: NodeLabels<'_>, rules: Rules, usage: &Usage) -> Sight {
        let reached = match self.reached(node, rules.features) {
            Ok(reached) if reached.is_empty() => return Sight::Nothing,
            Ok(reached) => reached,
            Err((order, error)) => return Sight::Broken(order, error),
        };
        let includes = |device: &Device| node_selector::selects(device.node_selection(), node);
        let devices: SmallVec<[DeviceSet; 1]> = reached
            .iter()
            .map(|position| &self.slices[*position])
            .filter(|slice| slice.per_device())
            .map(|slice| reached_devices(slice, &includes))
            .collect();
        let same = |view: &View| view.slices == reached && view.devices == devices;
        if let Some(position) = self.views.iter().position(|view| view.as_ref().is_some_and(same)) {
            self.views[position].iter_mut().for_each(|view| view.users += 1);
            return Sight::View(position);
        }
        let Some(layout) = self.layout(&reached, rules, &includes) else { return Sight::Nothing };
        let state = PoolState::new(&layout, usage.of_pool(&self.id));
        let content = Arc::new(PoolView { layout: Arc::new(layout), state });
        let view = Some(View { slices: reached, devices, content, users: 1 });
        let free = self.views.iter().position(Option::is_none);
        let position = free.unwrap_or_else(|| {
            self.views.push(None);
            self.views.len() - 1
        });
        self.views[position] = view;
        Sight::View(position)
    }

    /// The slices that a node reaches, of the newest generation among them. Slices of the node alone come first, as upstream.
    fn reached(
        &self,
        node: NodeLabels<'_>,
        features: Features,
    ) -> Result<SmallVec<[usize; 4]>, (u64, Box<AllocationError>)> {
        let own = self.by_node.get(node.name).map(SmallVec::as_slice).unwrap_or_default();
        let shared = (0..self.slices.len()).filter(|position| self.slices[*position].node_name().is_none());
        let shared = shared.take(if self.is_shared() { usize::MAX } else { 0 });
        let mut reached = SmallVec::<[usize; 4]>::new();
        for position in own.iter().copied().chain(shared) {
            let slice = &self.slices[position];
            if is_readable(slice, features)
                && reaches_slice(slice, node).map_err(|error| (slice.order, Box::new(error)))?
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
        let incomplete = |reason: &str, present: usize| {
            let unusable = Unusable { defect: PoolDefect::Incomplete, reason: reason.to_owned(), present };
            Some(Layout::unusable(Arc::clone(&self.id), unusable, slices.clone()))
        };
        if rules.compatibility.is_fixed() && self.counts_differ(pool.generation) {
            return incomplete("its slices do not agree on how many they are", slices.len());
        }
        if is_complete(slices.len()) {
            return Some(Layout::new(Arc::clone(&self.id), slices, &[], rules.features, includes));
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
        Some(Layout::new(Arc::clone(&self.id), slices, &others, rules.features, includes))
    }

    /// Whether slices of a generation say different things about how many of them there are.
    fn counts_differ(&self, generation: i64) -> bool {
        let pools = self.slices.iter().map(|slice| &slice.object.spec.pool);
        let mut counts = pools.filter(|pool| pool.generation == generation).map(|pool| pool.resource_slice_count);
        let first = counts.next();
        counts.any(|count| Some(count) != first)
    }
}

/// Whether the features that a slice needs are on; else it is passed over.
fn is_readable(slice: &Slice, features: Features) -> bool {
    let spec = &slice.object.spec;
    let partitionable = spec.per_device_node_selection.is_some() || !spec.shared_counters.is_empty();
    (features.has(Feature::PartitionableDevices) || !partitionable)
        && (features.has(Feature::CompatibilityGroups) || !slice.uses_compatibility_groups)
}

fn reaches_slice(slice: &Slice, node: NodeLabels<'_>) -> Result<bool, AllocationError> {
    let broken = |device: Option<&Device>, source| AllocationError::SliceNodeSelector {
        slice: slice.object.metadata.name.clone(),
        device: device.map(|device| device.name.clone()),
        source,
    };
    match slice.object.spec.node_selection() {
        NodeSelection::PerDevice => {
            for device in slice.devices() {
                node_selector::check(device.node_selection()).map_err(|error| broken(Some(device), error))?;
                if node_selector::selects(device.node_selection(), node) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        selection => match &slice.selector_error {
            Some(error) => Err(broken(None, error.clone())),
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
