//! Everything that allocations are made from: slices, classes, nodes, rules, and what claims hold. Kept up to date one object at a time.

pub(crate) mod classes;
pub(crate) mod layout;
pub(crate) mod nodes;
pub(crate) mod pools;
pub(crate) mod slices;
pub(crate) mod usage;

mod change;
mod objects;

use std::collections::BTreeMap;
use std::sync::Arc;

use drayman_api::{AllocationResult, DecodeError, DeviceId, DeviceTaintRule, PoolId, ResourceClaim};
use rustc_hash::FxHashMap;

use crate::budget::{Budget, Interrupt};
use crate::error::AllocationError;
use crate::explain::{Consumers, Explanation, Sources, explain};
use crate::features::{Compatibility, Feature, Features};
use crate::plan::{Lowering, Plan};
use crate::result::Allocated;
use crate::search::{Search, Stop};
use crate::selectors::Selectors;
use classes::Classes;
use nodes::{Site, Topology};
use pools::Rules;
use slices::Slice;
use usage::{Holding, Usage};

pub use change::Change;

/// What came out for one node.
#[derive(Debug)]
pub enum Outcome {
    /// All claims fit.
    Allocated(Allocated),
    /// Not all claims fit. [`Inventory::explain`] says why.
    Unallocatable,
    /// The claims, or what the node offers, cannot be worked with.
    Failed(AllocationError),
}

/// What came out for all nodes.
#[derive(Debug)]
pub struct Evaluation {
    /// Nodes with their outcomes, in the order asked for.
    pub outcomes: Vec<(Arc<str>, Outcome)>,
    /// Why the rest of the nodes is missing.
    pub interrupted: Option<Interrupt>,
    /// Steps that were taken, those in vain included.
    pub steps: u64,
    /// How often a selector was evaluated on a device; not when its verdict was known. What copies of the inventory do meanwhile counts too.
    pub selector_evaluations: u64,
}

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
    slices: FxHashMap<String, Arc<Slice>>,
    taint_rules: BTreeMap<String, DeviceTaintRule>,
    next_order: u64,
}

impl Inventory {
    /// An empty inventory.
    pub fn new(features: Features, compatibility: Compatibility) -> Self {
        let rules = Rules { features, compatibility };
        Self {
            rules,
            topology: Topology::new(rules),
            usage: Usage::default(),
            consumers: Consumers::default(),
            classes: Classes::default(),
            selectors: Selectors::default(),
            slices: FxHashMap::default(),
            taint_rules: BTreeMap::new(),
            next_order: 0,
        }
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
        let (steps, evaluations) = (budget.used(), self.selectors.evaluations());
        let mut outcomes = Vec::new();
        let visited = match nodes {
            Some(nodes) => {
                let sites = nodes.iter().filter_map(|node| self.topology.site(node));
                visit(&plan, sites, budget, &mut outcomes)
            }
            None => visit(&plan, self.topology.sites(), budget, &mut outcomes),
        };
        Evaluation {
            outcomes,
            interrupted: visited.err(),
            steps: budget.used() - steps,
            selector_evaluations: self.selectors.evaluations() - evaluations,
        }
    }

    /// Why the claims do not fit on nodes, as things stand now.
    pub fn explain(&mut self, claims: &[ResourceClaim], nodes: &[&str]) -> Explanation {
        self.topology.refresh(nodes, &self.usage);
        let plan = self.lower(claims);
        let devices = self.slices.values().map(|slice| slice.devices().len()).sum();
        let sources = Sources { plan: &plan, usage: &self.usage, consumers: &self.consumers, devices };
        explain(sources, nodes.iter().filter_map(|node| self.topology.site(node)))
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

/// Searches node by node, with one search that moves on.
fn visit<'a>(
    plan: &Arc<Plan>,
    sites: impl Iterator<Item = Site<'a>>,
    budget: &mut Budget<'_>,
    outcomes: &mut Vec<(Arc<str>, Outcome)>,
) -> Result<(), Interrupt> {
    let mut sites = sites.peekable();
    let Some(first) = sites.peek() else { return Ok(()) };
    let mut search = Search::new(plan, *first);
    outcomes.reserve(sites.size_hint().0);
    for site in sites {
        search.move_to(site);
        let found = match search.run(budget) {
            Ok(None) => Ok(Outcome::Unallocatable),
            Ok(Some(found)) => Allocated::new(Arc::clone(plan), Arc::clone(site.name), found).map(Outcome::Allocated),
            Err(Stop::Failed(error)) => Err(error),
            Err(Stop::Interrupted(interrupt)) => return Err(interrupt),
        };
        outcomes.push((Arc::clone(site.name), found.unwrap_or_else(Outcome::Failed)));
    }
    Ok(())
}
