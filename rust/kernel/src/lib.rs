//! Device inventory, allocation search and explanation. No Python, clock or I/O, and no threads of its own but with the feature `rayon`.
//!
//! An [`Inventory`] is fed with the objects of a cluster, one at a time and as they are watched. [`Inventory::evaluate`] looks for devices
//! for the claims of one pod, on every node by itself. An [`Allocator`] does the same for one node and an explicitly given state.
//!
//! The answer is that of the allocator in kube-scheduler 1.37: the same devices in the same order, the same configuration and node
//! selector, the same errors. [`Compatibility`] says what happens where upstream contradicts itself.

mod allocator;
mod attribute;
mod bits;
mod budget;
mod capacity;
mod compatibility_groups;
mod constraint;
mod counters;
mod derived;
mod error;
mod explain;
mod features;
mod inventory;
mod limits;
mod node_selector;
mod plan;
mod result;
mod search;
mod selectors;
mod shape;
mod taints;

pub use allocator::{AllocatedState, Allocator};
pub use budget::{Budget, Interrupt};
pub use capacity::CapacityError;
pub use error::{AllocationError, CapacityStage, DisabledFeature, PoolDefect, RequestPath, SelectorSource};
pub use explain::{
    At, CapacityAsked, ConstraintFact, Core, CounterState, Depth, Element, Explanation, Fact, FactKind, Fault, Group,
    Hint, Holder, Remedy, RequestFacts, SelectorAt, Sighting, Tally,
};
pub use features::{Compatibility, Feature, Features};
pub use inventory::{Change, Evaluation, Inventory, Outcome, Remark, Unfinished};
pub use limits::ALLOCATION_RESULTS_MAX_SIZE;
pub use node_selector::NodeSelectorError;
pub use result::{Allocated, ShareIds};
pub use search::Taking;
