//! Nodes, and the pools that each of them sees, in upstream's order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use drayman_api::{Node, PoolId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::error::AllocationError;
use crate::features::OPTIONAL_NODE_OPERATIONS;
use crate::inventory::layout::PoolView;
use crate::inventory::pools::{Pool, Rules, Shelf, Sight};
use crate::inventory::remarks::Remark;
use crate::inventory::roster::{Record, Roster};
use crate::inventory::slices::Slice;
use crate::inventory::usage::Usage;
use crate::inventory::views::{Mark, Views};
use crate::node_selector::NodeLabels;

/// Position of a pool, and the slot of the view of it.
#[derive(Clone, Copy, Debug)]
struct NodePool {
    pool: usize,
    slot: usize,
}

/// Pools and nodes that may be gone before they are looked for, beside as many as there are.
const SPARE: usize = 4096;

/// A node that exists, that slices name, or that was asked for.
#[derive(Clone, Debug, Default)]
struct NodeEntry {
    node: Option<Node>,
    /// Pools with slices that name the node.
    named_by: BTreeSet<usize>,
    pools: SmallVec<[NodePool; 2]>,
    /// Slices with selectors that cannot be used, by order.
    broken: BTreeMap<u64, (usize, AllocationError)>,
}

/// Nodes that may see a changed pool differently.
#[derive(Clone, Debug, Default)]
struct Concern {
    all: bool,
    names: BTreeSet<Arc<str>>,
}

/// All pools and nodes. What a change of a slice, node or usage concerns is found out again by [`Topology::refresh`].
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    rules: Rules,
    pools: Vec<Option<Pool>>,
    free: Vec<usize>,
    positions: FxHashMap<PoolId, usize>,
    /// Pools with slices that any node may reach.
    shared: BTreeSet<usize>,
    nodes: BTreeMap<Arc<str>, NodeEntry>,
    shelf: Shelf,
    roster: Roster,
    stale_pools: BTreeMap<usize, Concern>,
    stale_usage: BTreeSet<usize>,
    stale_nodes: BTreeSet<Arc<str>>,
    /// Pools and nodes after the last refresh, none of which was gone.
    settled: usize,
}

impl Topology {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            pools: Vec::new(),
            free: Vec::new(),
            positions: FxHashMap::default(),
            shared: BTreeSet::new(),
            nodes: BTreeMap::new(),
            shelf: Shelf::default(),
            roster: Roster::default(),
            stale_pools: BTreeMap::new(),
            stale_usage: BTreeSet::new(),
            stale_nodes: BTreeSet::new(),
            settled: 0,
        }
    }

    /// Adds or replaces a slice.
    pub(crate) fn insert_slice(&mut self, slice: Arc<Slice>) {
        let id = slice.pool_id();
        let position = self.positions.get(&id).copied().unwrap_or_else(|| self.add_pool(id));
        self.edit_pool(position, |pool| pool.insert(slice));
    }

    /// Removes a slice.
    pub(crate) fn remove_slice(&mut self, slice: &Slice) {
        if let Some(position) = self.positions.get(&slice.pool_id()) {
            self.edit_pool(*position, |pool| pool.remove(slice.order));
        }
    }

    fn add_pool(&mut self, id: PoolId) -> usize {
        let position = self.free.pop().unwrap_or_else(|| {
            self.pools.push(None);
            self.pools.len() - 1
        });
        self.positions.insert(id.clone(), position);
        self.pools[position] = Some(Pool::new(id));
        position
    }

    fn edit_pool(&mut self, position: usize, edit: impl FnOnce(&mut Pool)) {
        let Some(pool) = self.pools.get_mut(position).and_then(Option::as_mut) else { return };
        let concern = self.stale_pools.entry(position).or_default();
        concern.all |= pool.is_shared();
        for name in pool.node_names() {
            let name: Arc<str> = name.into();
            self.nodes.entry(Arc::clone(&name)).or_default().named_by.remove(&position);
            concern.names.insert(name);
        }
        edit(pool);
        concern.all |= pool.is_shared();
        if pool.is_shared() {
            self.shared.insert(position)
        } else {
            self.shared.remove(&position)
        };
        for name in pool.node_names() {
            let name: Arc<str> = name.into();
            let entry = self.nodes.entry(Arc::clone(&name)).or_insert_with(|| {
                self.stale_nodes.insert(Arc::clone(&name));
                NodeEntry::default()
            });
            entry.named_by.insert(position);
            concern.names.insert(name);
        }
    }

    /// Adds or replaces a node; whether anything that matters here has changed.
    pub(crate) fn insert_node(&mut self, node: Node) -> bool {
        let name: Arc<str> = node.metadata.name.as_str().into();
        let entry = self.nodes.entry(Arc::clone(&name)).or_default();
        let changed = entry.node.as_ref().is_none_or(|known| {
            known.metadata.labels != node.metadata.labels
                || known.status.declared_features != node.status.declared_features
        });
        entry.node = Some(node);
        if changed {
            self.stale_nodes.insert(name);
        }
        changed
    }

    /// Removes a node; slices that name it keep it visible. Whether it was there.
    pub(crate) fn remove_node(&mut self, name: &str) -> bool {
        let removed = self.nodes.get_mut(name).and_then(|entry| entry.node.take()).is_some();
        if removed {
            self.stale_nodes.insert(name.into());
        }
        removed
    }

    /// The devices of some pools are held differently.
    pub(crate) fn touch_usage<'a>(&mut self, pools: impl IntoIterator<Item = &'a PoolId>) {
        self.stale_usage.extend(pools.into_iter().filter_map(|pool| self.positions.get(pool)));
    }

    /// Brings all nodes up to date, and makes sure that those asked for are among them.
    pub(crate) fn refresh(&mut self, asked: &[&str], usage: &Usage) {
        for name in asked.iter().filter(|name| !self.nodes.contains_key(**name)) {
            self.stale_nodes.insert((*name).into());
        }
        for (position, concern) in std::mem::take(&mut self.stale_pools) {
            self.refresh_pool(position, &concern, usage);
        }
        for position in std::mem::take(&mut self.stale_usage) {
            self.pools
                .get_mut(position)
                .into_iter()
                .flatten()
                .for_each(|pool| pool.renew_usage(usage, &mut self.shelf));
        }
        for name in std::mem::take(&mut self.stale_nodes) {
            self.refresh_node(&name, asked.contains(&&*name), usage);
        }
        self.settled = self.size();
    }

    /// Forgets what is gone before it piles up, also while nobody asks for anything.
    pub(crate) fn tidy(&mut self, usage: &Usage) {
        if self.size() > SPARE + 2 * self.settled {
            self.refresh(&[], usage);
        }
    }

    fn size(&self) -> usize {
        self.positions.len() + self.nodes.len()
    }

    fn refresh_pool(&mut self, position: usize, concern: &Concern, usage: &Usage) {
        let Some(pool) = self.pools.get_mut(position).and_then(Option::as_mut) else { return };
        pool.forget_views(&mut self.shelf);
        let (is_empty, id) = (pool.is_empty(), Arc::clone(&pool.id));
        let names: Vec<Arc<str>> =
            if concern.all { self.nodes.keys().cloned().collect() } else { concern.names.iter().cloned().collect() };
        for name in names {
            let Some(entry) = self.nodes.get_mut(&name) else { continue };
            self.roster.touch(&name);
            entry.pools.retain(|seen| seen.pool != position);
            entry.broken.retain(|_, (pool, _)| *pool != position);
            if !is_empty {
                see(&name, entry, position, &mut self.pools, &mut self.shelf, (self.rules, usage));
            }
            if entry.node.is_none() && entry.named_by.is_empty() {
                self.stale_nodes.insert(name);
            }
        }
        if is_empty {
            self.positions.remove(&*id);
            self.shared.remove(&position);
            self.pools[position] = None;
            self.free.push(position);
        }
    }

    /// Looks at its pools again; forgets a node that is neither there nor named nor asked for.
    fn refresh_node(&mut self, name: &str, asked: bool, usage: &Usage) {
        let name: Arc<str> = name.into();
        self.roster.touch(&name);
        let entry = self.nodes.entry(Arc::clone(&name)).or_default();
        for seen in std::mem::take(&mut entry.pools) {
            self.pools[seen.pool].iter_mut().for_each(|pool| pool.release(seen.slot, &mut self.shelf));
        }
        entry.broken.clear();
        if entry.node.is_none() && entry.named_by.is_empty() {
            if !asked {
                self.nodes.remove(&name);
                return;
            }
            // It is forgotten next time, unless it is asked for again.
            self.stale_nodes.insert(Arc::clone(&name));
        }
        for position in self.shared.union(&entry.named_by).copied().collect::<Vec<_>>() {
            see(&name, entry, position, &mut self.pools, &mut self.shelf, (self.rules, usage));
        }
    }

    /// Names of all nodes, in byte order.
    pub(crate) fn node_names(&self) -> impl Iterator<Item = &str> {
        self.nodes.keys().map(|name| &**name)
    }

    /// All nodes in byte order of their names, in short.
    pub(crate) fn records(&mut self) -> Arc<Vec<Record>> {
        self.roster.records(self.nodes.len(), || self.nodes.iter(), |name| self.nodes.get(name), record)
    }

    /// Nodes that were asked for in the last [`Topology::refresh`], in short.
    pub(crate) fn records_of(&self, names: &[&str]) -> Arc<Vec<Record>> {
        let entries = names.iter().filter_map(|name| self.nodes.get_key_value(*name));
        Arc::new(entries.map(|(name, entry)| record(name, entry)).collect())
    }

    /// The object of a node, if there is one.
    pub(crate) fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.get(name)?.node.as_ref()
    }

    /// A node that was asked for in the last [`Topology::refresh`].
    pub(crate) fn site<'a>(&'a self, name: &str) -> Option<Site<'a>> {
        let (name, entry) = self.nodes.get_key_value(name)?;
        Some(Site { name, entry, views: &self.shelf.slots.views })
    }

    /// What of the slices is not used, sorted by pool.
    pub(crate) fn remarks(&self) -> Vec<Remark> {
        let pools = self.pools.iter().flatten();
        let mut remarks: Vec<_> = pools.flat_map(|pool| pool.remarks(self.rules.features)).collect();
        remarks.sort_by(|one, other| (&one.pool, &one.slice).cmp(&(&other.pool, &other.slice)));
        remarks
    }

    /// What the nodes see of pools.
    pub(crate) fn views(&self) -> &Views {
        &self.shelf.slots.views
    }

    /// What tells a view from others.
    pub(crate) fn mark(&self, slot: usize) -> Mark {
        self.shelf.slots.mark(slot)
    }
}

fn record(name: &Arc<str>, entry: &NodeEntry) -> Record {
    Record {
        name: Arc::clone(name),
        slots: entry.pools.iter().map(|seen| seen.slot).collect(),
        declared: entry.declares(OPTIONAL_NODE_OPERATIONS),
        is_broken: !entry.broken.is_empty(),
    }
}

/// Adds a pool to a node, if the node sees it.
fn see(
    name: &str,
    entry: &mut NodeEntry,
    position: usize,
    pools: &mut [Option<Pool>],
    shelf: &mut Shelf,
    (rules, usage): (Rules, &Usage),
) {
    static NO_LABELS: BTreeMap<String, String> = BTreeMap::new();
    let Some(pool) = pools[position].as_mut() else { return };
    let labels = entry.node.as_ref().map_or(&NO_LABELS, |node| &node.metadata.labels);
    match pool.look(NodeLabels { name, labels }, rules, usage, shelf) {
        Sight::Nothing => {}
        Sight::Broken(order, error) => {
            entry.broken.insert(order, (position, *error));
        }
        Sight::View(slot) => {
            let seen = NodePool { pool: position, slot };
            let views = &shelf.slots.views;
            let place = entry.pools.partition_point(|other| rank(*other, views) < rank(seen, views));
            entry.pools.insert(place, seen);
        }
    }
}

/// Pools are tried by driver and name; those with binding conditions after all others.
fn rank(seen: NodePool, views: &Views) -> Option<(bool, &PoolId)> {
    views.get(seen.slot).map(|view| (view.layout.has_binding_conditions, &*view.layout.id))
}

/// A node, and the pools it sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site<'a> {
    pub(crate) name: &'a Arc<str>,
    entry: &'a NodeEntry,
    views: &'a Views,
}

impl<'a> Site<'a> {
    /// How many pools the node sees.
    pub(crate) fn len(self) -> usize {
        self.entry.pools.len()
    }

    /// A pool, by upstream's order.
    pub(crate) fn pool(self, index: usize) -> Option<&'a Arc<PoolView>> {
        self.views.get(self.entry.pools.get(index)?.slot)
    }

    /// All pools, in upstream's order.
    pub(crate) fn pools(self) -> impl Iterator<Item = &'a Arc<PoolView>> {
        (0..self.len()).filter_map(move |index| self.pool(index))
    }

    /// Why the node cannot be looked at.
    pub(crate) fn error(self) -> Option<&'a AllocationError> {
        self.entry.broken.values().next().map(|(_, error)| error)
    }

    /// Whether the kubelet of the node declares a feature.
    pub(crate) fn declares(self, feature: &str) -> bool {
        self.entry.declares(feature)
    }
}

impl NodeEntry {
    fn declares(&self, feature: &str) -> bool {
        self.node.as_ref().is_some_and(|node| node.status.declared_features.iter().any(|declared| declared == feature))
    }
}
