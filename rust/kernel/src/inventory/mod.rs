//! Everything that allocations are made from: slices, classes, nodes, rules, and what claims hold. Kept up to date one object at a time.

pub(crate) mod classes;
pub(crate) mod layout;
pub(crate) mod nodes;
pub(crate) mod pools;
pub(crate) mod slices;
pub(crate) mod usage;
pub(crate) mod views;

mod alike;
mod change;
pub(crate) mod columns;
mod evaluation;
mod excerpt;
mod hidden;
mod judged;
mod objects;
mod remarks;
mod roster;

use std::collections::BTreeMap;
use std::sync::Arc;

use drayman_api::{AllocationResult, DecodeError, DeviceId, DeviceTaintRule, PoolId, ResourceClaim};
use rustc_hash::FxHashMap;

use crate::budget::Budget;
use crate::explain::{Consumers, Depth, Explanation, Sources, explain};
use crate::features::{Compatibility, Feature, Features};
use crate::plan::{Lowering, Plan};
use crate::selectors::Selectors;
use classes::Classes;
use judged::Judged;
use nodes::Topology;
use pools::Rules;
use slices::Slice;
use usage::{Holding, Usage};

pub use change::Change;
pub use evaluation::{Evaluation, Outcome, Unfinished};
pub(crate) use hidden::Hidden;
pub use remarks::Remark;

/// The state of a cluster, as far as allocation needs it.
///
/// Fed with the objects of a watch; every change costs what it concerns. Nothing is read from or written to a cluster.
#[derive(Clone, Debug)]
pub struct Inventory {
    rules: Rules,
    topology: Topology,
    usage: Usage,
    /// The pods that allocated claims are reserved for.
    consumers: Consumers,
    classes: Classes,
    selectors: Selectors,
    judged: Judged,
    slices: FxHashMap<String, Arc<Slice>>,
    taint_rules: BTreeMap<String, DeviceTaintRule>,
    next_order: u64,
}

impl Inventory {
    /// An empty inventory.
    pub fn new(features: Features, compatibility: Compatibility) -> Self {
        let rules = Rules { features, compatibility, strict_errors: true };
        Self {
            rules,
            topology: Topology::new(rules),
            usage: Usage::default(),
            consumers: Consumers::default(),
            classes: Classes::default(),
            selectors: Selectors::default(),
            judged: Judged::default(),
            slices: FxHashMap::default(),
            taint_rules: BTreeMap::new(),
            next_order: 0,
        }
    }

    /// Whether errors surface as upstream's would, which is the default. Else a search that cannot succeed is cut short also where upstream
    /// would have met an error on the way: then claims just do not fit. Errors in the way of a solution are met in any case.
    #[must_use]
    pub fn strict_errors(mut self, strict: bool) -> Self {
        self.rules.strict_errors = strict;
        self
    }

    /// Adds or replaces an object, given as JSON of any served version: `ResourceSlice`, `DeviceClass`, `ResourceClaim`, `Node`,
    /// `DeviceTaintRule`. Templates are read and change nothing. Fails without effect when the object cannot be decoded.
    pub fn apply(&mut self, json: &[u8]) -> Result<Change, DecodeError> {
        Ok(self.apply_object(drayman_api::Object::from_json(json)?))
    }

    /// Holds the devices of an allocation that is in flight: it counts until the claim itself is applied with an allocation or removed,
    /// or until [`Inventory::forget`]. The claim is named as `namespace/name`.
    pub fn assume(&mut self, claim: &str, allocation: &AllocationResult) {
        let change = self.usage.assume(claim, allocation, self.counts_shares());
        self.topology.touch_usage(&change.pools);
    }

    /// Ends [`Inventory::assume`]; whether that freed a device.
    pub fn forget(&mut self, claim: &str) -> bool {
        let change = self.usage.forget(claim);
        self.topology.touch_usage(&change.pools);
        change.freed
    }

    /// The claims (`namespace/name`) that hold a device or a share of it, sorted.
    pub fn holders(&self, device: &DeviceId) -> Vec<&str> {
        let pool = PoolId { driver: device.driver.clone(), pool: device.pool.clone() };
        let holds = self.usage.of_pool(&pool).and_then(|devices| devices.get(&device.device));
        let mut claims: Vec<_> = holds.into_iter().flatten().filter_map(|hold| hold.claim.as_deref()).collect();
        claims.sort_unstable();
        claims.dedup();
        claims
    }

    /// Names of the nodes, in byte order: those that exist, and those that slices name.
    pub fn node_names(&mut self) -> Vec<String> {
        self.topology.refresh(&[], &self.usage);
        self.topology.node_names().map(str::to_owned).collect()
    }

    /// What slices say that no allocation uses: those whose features are off, values of kinds that are not known, selectors that cannot be
    /// parsed. Sorted by pool.
    pub fn remarks(&self) -> Vec<Remark> {
        self.topology.remarks()
    }

    /// Looks for devices for the claims of one pod, together, on each node by itself; on all nodes in byte order of their names if none
    /// are given. Nothing is held afterwards. Ends early, with the outcomes so far, when the budget is used up.
    pub fn evaluate(
        &mut self,
        claims: &[ResourceClaim],
        nodes: Option<&[&str]>,
        budget: &mut Budget<'_>,
    ) -> Evaluation {
        self.topology.refresh(nodes.unwrap_or_default(), &self.usage);
        let plan = Arc::new(self.lower(claims));
        let evaluations = self.selectors.evaluations();
        let records = match nodes {
            Some(nodes) => self.topology.records_of(nodes),
            None => self.topology.records(),
        };
        let mut evaluation = Evaluation::new(&plan, &records, &self.topology, &mut self.judged, budget);
        evaluation.selector_evaluations = self.selectors.evaluations() - evaluations;
        evaluation
    }

    /// Why the claims do not fit on nodes, as things stand now.
    pub fn explain(&mut self, claims: &[ResourceClaim], nodes: &[&str], depth: Depth) -> Explanation {
        self.topology.refresh(nodes, &self.usage);
        let plan = self.lower(claims);
        let devices = self.slices.values().map(|slice| slice.devices().len()).sum();
        let sources = Sources { plan: &plan, usage: &self.usage, consumers: &self.consumers, devices };
        let mut explanation = explain(sources, nodes.iter().filter_map(|node| self.topology.site(node)));
        explanation.add_hidden(self);
        explanation.deepen(self, claims, depth);
        explanation
    }

    /// Holds a device without a claim.
    pub(crate) fn hold_one(&mut self, device: &DeviceId, holding: Holding) {
        self.usage.hold(device, holding);
        self.topology.touch_usage([&PoolId { driver: device.driver.clone(), pool: device.pool.clone() }]);
    }

    fn lower(&mut self, claims: &[ResourceClaim]) -> Plan {
        Lowering { rules: self.rules, classes: &self.classes, selectors: &mut self.selectors }.lower(claims)
    }

    /// Without consumable capacity, who holds a share holds the device.
    fn counts_shares(&self) -> bool {
        self.rules.features.has(Feature::ConsumableCapacity)
    }
}
