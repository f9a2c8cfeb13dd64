//! Which views offer the same: a search cannot tell them apart, unless selectors or constraints can.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

use drayman_api::{Device, DeviceCapacity, NodeSelector};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use crate::bits::DeviceSet;
use crate::inventory::layout::{Layout, PoolState};
use crate::inventory::slices::Slice;

/// Layouts of one hash that are compared with; among more, some that are alike are not found to be.
const COMPARED: usize = 4;

/// Layouts and states that are remembered beside those in use before what is out of use is looked for.
const SPARE: usize = 256;

/// What is held in a view, and of which kind its layout is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    kind: u64,
    held: DeviceSet,
    shared: DeviceSet,
    /// Capacity taken and counters left, where there are any.
    amounts: String,
}

/// A layout that was numbered.
type Known = (Weak<Layout>, u64);

/// Numbers for layouts and for what is held in them. A number is never used twice.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alike {
    last: u64,
    kinds: FxHashMap<u64, SmallVec<[Known; 1]>>,
    /// How many layouts `kinds` may hold before it is cleaned up.
    limit: usize,
    remembered: usize,
    contents: FxHashMap<State, u64>,
}

impl Alike {
    /// A number that nothing had before.
    pub(crate) fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// The same for layouts that offer the same.
    pub(crate) fn kind(&mut self, layout: &Arc<Layout>) -> u64 {
        self.clean();
        let number = self.next();
        let known = self.kinds.entry(hash(layout)).or_default();
        for (other, kind) in known.iter() {
            if other.upgrade().is_some_and(|other| are_alike(layout, &other)) {
                return *kind;
            }
        }
        if known.len() >= COMPARED {
            known.remove(0);
            self.remembered -= 1;
        }
        known.push((Arc::downgrade(layout), number));
        self.remembered += 1;
        number
    }

    /// The same for views that offer the same: layouts of one kind, of which the same is held.
    /// `views` is how many there are.
    pub(crate) fn content(&mut self, kind: u64, state: &PoolState, views: usize) -> u64 {
        if self.contents.len() >= SPARE + 2 * views {
            self.contents.clear();
        }
        let number = self.next();
        let (held, shared) = (state.held.clone(), state.shared.clone());
        let state = State { kind, held, shared, amounts: state.amounts() };
        *self.contents.entry(state).or_insert(number)
    }

    fn clean(&mut self) {
        if self.remembered < SPARE.max(self.limit) {
            return;
        }
        self.kinds.retain(|_, known| {
            known.retain(|(layout, _)| layout.strong_count() > 0);
            !known.is_empty()
        });
        self.remembered = self.kinds.values().map(SmallVec::len).sum();
        self.limit = 2 * self.remembered;
    }
}

fn hash(layout: &Layout) -> u64 {
    let mut hasher = FxHasher::default();
    (layout.id.driver.as_str(), layout.len(), layout.names_node).hash(&mut hasher);
    for position in 0..layout.len() {
        let device = layout.device(position);
        (layout.is_plain(position), layout.taints(position).len()).hash(&mut hasher);
        for (name, capacity) in &device.capacity {
            (name, &capacity.value).hash(&mut hasher);
        }
        for consumed in &device.consumes_counters {
            consumed.counter_set.hash(&mut hasher);
            consumed.counters.values().for_each(|counter| counter.value.hash(&mut hasher));
        }
    }
    hasher.finish()
}

fn are_alike(one: &Layout, other: &Layout) -> bool {
    one.id.driver == other.id.driver
        && one.unusable.as_ref().map(|unusable| unusable.defect)
            == other.unusable.as_ref().map(|unusable| unusable.defect)
        && one.len() == other.len()
        && one.names_node == other.names_node
        && one.counter_sets.len() == other.counter_sets.len()
        && (0..one.len()).all(|position| {
            one.is_plain(position) == other.is_plain(position)
                && (one.names_node || place(one, position) == place(other, position))
                && one.device(position).binds_to_node == other.device(position).binds_to_node
                && offers_alike(one.device(position), other.device(position))
                && (one.is_plain(position) || needs_alike(one, other, position))
        })
}

fn offers_alike(one: &Device, other: &Device) -> bool {
    one.allow_multiple_allocations == other.allow_multiple_allocations
        && one.capacity.len() == other.capacity.len()
        && one
            .capacity
            .iter()
            .zip(&other.capacity)
            .all(|((name, capacity), (other_name, other))| name == other_name && is_identical(capacity, other))
}

/// Whether amounts are the same, notation included: it is copied into results.
fn is_identical(one: &DeviceCapacity, other: &DeviceCapacity) -> bool {
    one.value.is_identical(&other.value)
        && match (&one.request_policy, &other.request_policy) {
            (None, None) => true,
            (Some(one), Some(other)) => format!("{one:?}") == format!("{other:?}"),
            _ => false,
        }
}

/// What stands against devices besides selectors.
fn needs_alike(one: &Layout, other: &Layout, position: usize) -> bool {
    let skipped = |slice: &Slice| slice.object.spec.skip_node_operations.clone();
    one.taints(position) == other.taints(position)
        && one.device(position).consumes_counters.is_empty() == other.device(position).consumes_counters.is_empty()
        && one.consumption(position) == other.consumption(position)
        && skipped(one.slice(position)) == skipped(other.slice(position))
}

/// What decides whether the node selector of an allocation can be made: whether the node is named, and how many terms there are.
fn place(layout: &Layout, position: usize) -> (bool, usize) {
    let (device, slice) = (layout.device(position), layout.slice(position));
    let spec = &slice.object.spec;
    let (node_name, selector) = if slice.per_device() {
        (&device.node_name, &device.node_selector)
    } else {
        (&spec.node_name, &spec.node_selector)
    };
    let terms = |selector: &NodeSelector| selector.node_selector_terms.len();
    (node_name.is_some(), selector.as_ref().map_or(0, terms))
}
