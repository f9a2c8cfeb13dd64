//! Why claims do not fit: facts about all devices of all nodes, what clashes, and what would help. Built only when somebody asks.
//!
//! [`gather`] finds the facts of one node, [`groups`] puts nodes together for which the same holds, [`fault`] tells errors. The facts are
//! written as a line, a tree and JSON.

mod constraints;
mod fact;
mod fault;
mod gather;
mod groups;
mod json;
mod line;
mod refused;
mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::features::Compatibility;

pub use constraints::{ConstraintFact, Tally};
pub use fact::{CapacityAsked, CounterState, Fact, FactKind, Holder, Sighting};
pub use fault::Fault;

pub(crate) use groups::{Sources, explain};

/// The pods that each claim (`namespace/name`) is reserved for.
pub(crate) type Consumers = BTreeMap<Arc<str>, Vec<String>>;

/// Why claims do not fit on nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// `namespace/name` of each claim.
    pub claims: Vec<String>,
    /// Which behaviour was followed.
    pub compatibility: Compatibility,
    /// Nodes for which the same holds, in order of the first of each.
    pub groups: Vec<Group>,
}

/// Why claims do not fit on some nodes. Names of devices and holders are those of the first node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The nodes.
    pub nodes: Vec<String>,
    /// Devices that each of them sees.
    pub devices: usize,
    /// Devices of the cluster that it does not see.
    pub elsewhere: usize,
    /// The error that the allocation ends with.
    pub fault: Option<Fault>,
    /// About pools that cannot be used.
    pub pools: Vec<Fact>,
    /// About each request, or each of its alternatives.
    pub requests: Vec<RequestFacts>,
    /// About constraints that cannot be met.
    pub constraints: Vec<ConstraintFact>,
}

/// What one request, or one alternative of it, finds on a node by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFacts {
    /// `namespace/name` of the claim.
    pub claim: String,
    /// Name of the request.
    pub request: String,
    /// Name of the subrequest, where there are several.
    pub alternative: Option<String>,
    /// The class.
    pub class: String,
    /// Devices that are needed; none where all are asked for.
    pub wanted: Option<i64>,
    /// Whether the request does not hold its devices.
    pub admin: bool,
    /// Devices that nothing is against.
    pub usable: usize,
    /// Devices of the node, also of pools that cannot be used.
    pub devices: usize,
    /// What is against the others; in order of the first device of each.
    pub facts: Vec<Fact>,
}

impl RequestFacts {
    /// Whether the request finds enough devices by itself.
    pub fn is_met(&self) -> bool {
        match self.wanted {
            Some(wanted) => i64::try_from(self.usable).is_ok_and(|usable| usable >= wanted),
            None => self.usable > 0 && self.facts.iter().all(|fact| !fact.kind.blocks_all()),
        }
    }

    /// How many devices are missing; at least one where the request is not met.
    pub fn missing(&self) -> usize {
        if self.is_met() {
            return 0;
        }
        let wanted = self.wanted.and_then(|wanted| usize::try_from(wanted).ok()).unwrap_or_default();
        wanted.saturating_sub(self.usable).max(1)
    }

    /// `request` or `request/subrequest`.
    pub fn reference(&self) -> String {
        match &self.alternative {
            Some(alternative) => format!("{}/{alternative}", self.request),
            None => self.request.clone(),
        }
    }
}

impl Group {
    /// The alternatives of each request.
    pub(crate) fn by_request(&self) -> impl Iterator<Item = &[RequestFacts]> {
        self.requests.chunk_by(|one, other| (&one.claim, &one.request) == (&other.claim, &other.request))
    }

    /// The requests of which no alternative finds enough devices by itself: the alternative of each that lacks the fewest.
    pub fn unmet(&self) -> impl Iterator<Item = &RequestFacts> {
        let unmet = self.by_request().filter(|alternatives| !alternatives.iter().any(RequestFacts::is_met));
        unmet.filter_map(|alternatives| alternatives.iter().min_by_key(|facts| facts.missing()))
    }

    /// Whether every request finds enough devices by itself, so that requests or constraints must be at odds with each other.
    pub fn requests_compete(&self) -> bool {
        self.fault.is_none() && !self.requests.is_empty() && self.unmet().next().is_none()
    }

    /// How far the nodes are from fitting.
    fn distance(&self) -> (bool, usize, usize, usize) {
        let missing = self.unmet().map(RequestFacts::missing).sum();
        let failing = self.unmet().flat_map(|request| &request.facts).filter_map(|fact| match fact.kind {
            FactKind::SelectorFalse { failing, .. } => Some(failing),
            _ => None,
        });
        (self.fault.is_some(), missing, self.constraints.len(), failing.min().unwrap_or_default())
    }
}

impl Explanation {
    /// The nodes nearest to fitting: they lack the fewest devices.
    pub fn nearest(&self) -> Option<&Group> {
        self.groups.iter().min_by_key(|group| group.distance())
    }
}
