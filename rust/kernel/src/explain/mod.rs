//! Why claims do not fit: facts about all devices of all nodes, what clashes, and what would help. Built only when somebody asks.
//!
//! [`gather`] finds the facts of one node, [`groups`] puts nodes together for which the same holds, [`fault`] tells errors. For one node of
//! each group, [`core`](mod@core) shrinks what clashes and [`hints`] tries changes out, both by asking the search itself ([`trial`]). All is
//! written as a line, a tree and JSON.

mod alike;
mod branch;
mod constraints;
mod core;
mod fact;
mod fault;
mod gather;
mod groups;
mod hints;
mod json;
mod line;
mod names;
mod refused;
mod remedy;
pub(crate) mod similar;
mod teller;
mod told;
mod tree;
mod trial;

use std::collections::BTreeMap;
use std::sync::Arc;

use drayman_api::ResourceClaim;

use crate::features::Compatibility;
use crate::inventory::{Hidden, Inventory};
use trial::Trial;

pub use constraints::{ConstraintFact, Tally};
pub use core::{Core, Element};
pub use fact::{CapacityAsked, CounterState, Fact, FactKind, Holder, Sighting};
pub use fault::Fault;
pub use hints::Hint;
pub use remedy::{At, Remedy, SelectorAt};

pub(crate) use groups::{Sources, explain};

/// Groups of nodes, nearest to fitting first, that are looked at more closely.
const MOST_DEEPENED: usize = 16;

/// Steps of the search that finding out what clashes and what would help may take for one node.
const STEPS: u64 = 50_000;

/// The pods that each claim (`namespace/name`) is reserved for.
pub(crate) type Consumers = BTreeMap<Arc<str>, Vec<String>>;

/// How much an explanation tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Facts only.
    Facts,
    /// Facts, and for the nodes nearest to fitting what clashes and what would help.
    Nearest,
    /// Facts, what clashes and what would help.
    All,
}

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
    /// Whether the claims do fit there, as when a device was freed meanwhile.
    pub fits: bool,
    /// The error that the allocation ends with.
    pub fault: Option<Fault>,
    /// About pools that cannot be used.
    pub pools: Vec<Fact>,
    /// `driver/pool` of the pools that can be used.
    pub(crate) pools_seen: Vec<String>,
    /// About each request, or each of its alternatives.
    pub requests: Vec<RequestFacts>,
    /// About constraints over several devices.
    pub constraints: Vec<ConstraintFact>,
    /// What clashes; none where it was not looked for, or where the claims do not simply not fit.
    pub core: Option<Core>,
    /// Changes each of which makes the claims fit on the first node by itself.
    pub hints: Vec<Hint>,
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
    /// What is against the others: devices that selectors accept first, those of other classes last.
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

    /// How many devices are missing; at least one where the request is not met. Where all are asked for: how many are in the way.
    pub fn missing(&self) -> usize {
        if self.is_met() {
            return 0;
        }
        let Some(wanted) = self.wanted else {
            return self
                .facts
                .iter()
                .filter(|fact| fact.kind.blocks_all())
                .map(|fact| fact.count)
                .sum::<usize>()
                .max(1);
        };
        usize::try_from(wanted).unwrap_or_default().saturating_sub(self.usable).max(1)
    }

    /// Devices that are missing and that no others of the node could become: those that there are belong to other classes.
    fn absent(&self) -> usize {
        let is_foreign = |fact: &&Fact| matches!(fact.kind.code(), "class-selector-false" | "device-not-on-node");
        let foreign: usize = self.facts.iter().filter(is_foreign).map(|fact| fact.count).sum();
        let wanted = self.wanted.and_then(|wanted| usize::try_from(wanted).ok()).unwrap_or(1);
        wanted.saturating_sub(self.devices.saturating_sub(foreign))
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
    /// Adds a fact about the devices of a slice that is not looked at. Outdated slices are told only where no newer ones are in their place.
    fn add_hidden(&mut self, Hidden { slice, why }: &Hidden) {
        let pool = slice.pool_id().to_string();
        let is_outdated = matches!(why, FactKind::PoolOutdated { .. });
        let is_seen = |fact: &Fact| fact.pool.as_ref() == Some(&pool);
        if is_outdated && (self.pools_seen.contains(&pool) || self.pools.iter().any(is_seen)) {
            return;
        }
        let devices = slice.devices();
        let names = devices.iter().take(gather::EXAMPLES).map(|device| format!("{pool}/{}", device.name));
        let fact = Fact {
            count: devices.len(),
            examples: names.collect(),
            pool: Some(pool.clone()),
            ..Fact::general(why.clone())
        };
        self.pools.retain(|fact| fact.kind != FactKind::NoPool);
        self.devices += devices.len();
        self.elsewhere = self.elsewhere.saturating_sub(devices.len());
        for request in &mut self.requests {
            request.devices += devices.len();
            request.facts.push(fact.clone());
        }
        self.pools.push(fact);
    }

    /// The alternatives of each request.
    pub(crate) fn by_request(&self) -> impl Iterator<Item = &[RequestFacts]> {
        self.requests.chunk_by(|one, other| (&one.claim, &one.request) == (&other.claim, &other.request))
    }

    /// The requests of which no alternative finds enough devices by itself: the alternative of each that lacks the fewest.
    pub fn unmet(&self) -> impl Iterator<Item = &RequestFacts> {
        let unmet = self.by_request().filter(|alternatives| !alternatives.iter().any(RequestFacts::is_met));
        unmet.filter_map(|alternatives| alternatives.iter().min_by_key(|facts| facts.missing()))
    }

    /// The constraints that cannot be met, whatever else is asked.
    pub fn unmet_constraints(&self) -> impl Iterator<Item = &ConstraintFact> {
        self.constraints.iter().filter(|constraint| !constraint.met)
    }

    /// Whether every request finds enough devices by itself, so that requests or constraints must be at odds with each other.
    pub fn requests_compete(&self) -> bool {
        !self.fits && self.fault.is_none() && !self.requests.is_empty() && self.unmet().next().is_none()
    }

    /// How far the nodes are from fitting.
    fn distance(&self) -> (bool, usize, usize, usize, usize) {
        if self.fits {
            return (false, 0, 0, 0, 0);
        }
        let absent = self.unmet().map(RequestFacts::absent).sum();
        let missing = self.unmet().map(RequestFacts::missing).sum();
        let failing = self.unmet().flat_map(|request| &request.facts).filter_map(|fact| match fact.kind {
            FactKind::SelectorFalse { failing, .. } => Some(failing),
            _ => None,
        });
        (self.fault.is_some(), absent, missing, self.unmet_constraints().count(), failing.min().unwrap_or_default())
    }
}

impl Explanation {
    /// The nodes nearest to fitting: they lack the fewest devices.
    pub fn nearest(&self) -> Option<&Group> {
        self.groups.iter().min_by_key(|group| group.distance())
    }

    /// Positions of the groups, nearest to fitting first.
    fn by_distance(&self) -> Vec<usize> {
        let mut positions: Vec<_> = (0..self.groups.len()).collect();
        positions.sort_by_key(|position| self.groups[*position].distance());
        positions
    }

    /// Adds facts about slices that the nodes reach, but do not look at. The first node of a group speaks for all.
    pub(crate) fn add_hidden(&mut self, inventory: &Inventory) {
        let hidden = inventory.hidden();
        for group in &mut self.groups {
            let Some(node) = group.nodes.first().cloned() else { continue };
            for hidden in hidden.iter().filter(|hidden| inventory.reaches(&node, &hidden.slice)) {
                group.add_hidden(hidden);
            }
        }
    }

    /// Finds out what clashes and what would help.
    pub(crate) fn deepen(&mut self, inventory: &Inventory, claims: &[ResourceClaim], depth: Depth) {
        let most = match depth {
            Depth::Facts => 0,
            Depth::Nearest => 1,
            Depth::All => MOST_DEEPENED,
        };
        for position in self.by_distance().into_iter().take(most) {
            let group = &mut self.groups[position];
            if group.fits {
                continue;
            }
            let Some(node) = group.nodes.first().cloned() else { continue };
            let mut trial = Trial::new(inventory, &node, claims, STEPS);
            group.core = core::find(&mut trial);
            group.hints = hints::find(&mut trial, group, group.core.as_ref());
        }
    }
}
