//! Why claims do not fit on a node: facts about devices and pools, grouped. Built only when somebody asks.

mod fact;
mod render;

use std::collections::BTreeMap;

use crate::error::PoolDefect;
use crate::inventory::nodes::Site;
use crate::inventory::usage::Usage;
use crate::plan::{Mode, Plan};
use crate::search::{Choice, Search};

pub use fact::{Fact, FactKind};

/// Names that a fact lists at most.
const EXAMPLES: usize = 3;

/// Why claims do not fit on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The node.
    pub node: String,
    /// About pools of the node that cannot be used.
    pub pools: Vec<Fact>,
    /// About each request, or each of its alternatives.
    pub requests: Vec<RequestFacts>,
}

/// What one request, or one alternative of it, finds on a node by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFacts {
    /// `namespace/name` of the claim.
    pub claim: String,
    /// `request` or `request/subrequest`.
    pub request: String,
    /// The class.
    pub class: String,
    /// Devices that are needed; none where all are asked for.
    pub wanted: Option<i64>,
    /// Devices of the node that nothing is against.
    pub usable: usize,
    /// Devices of the node.
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
}

impl Explanation {
    pub(crate) fn new(plan: &Plan, site: Site<'_>, usage: &Usage) -> Self {
        let mut explanation = Self { node: site.name.to_string(), pools: pools(site), requests: Vec::new() };
        let mut search = Search::new(plan, site);
        let spots = search.spots();
        for (claim, claim_plan) in plan.claims.iter().enumerate() {
            for (request, request_plan) in claim_plan.requests.iter().enumerate() {
                for (alternative, wanted) in request_plan.alternatives.iter().enumerate() {
                    let choice = Choice { claim, request, alternative };
                    let mut groups = Groups::default();
                    for spot in &spots {
                        if let Some(kind) = search.refusal(choice, *spot, usage) {
                            groups.add(kind, search.device_name(*spot));
                        }
                    }
                    explanation.requests.push(RequestFacts {
                        claim: claim_plan.key.to_string(),
                        request: wanted.reference.clone(),
                        class: wanted.class.metadata.name.clone(),
                        wanted: match wanted.mode {
                            Mode::Exactly(count) => Some(count),
                            Mode::All => None,
                        },
                        usable: spots.len() - groups.total(),
                        devices: spots.len(),
                        facts: groups.facts,
                    });
                }
            }
        }
        explanation
    }

    /// The first request of which no alternative finds enough devices by itself: its last alternative.
    pub fn unmet(&self) -> Option<&RequestFacts> {
        let same_request = |one: &RequestFacts, other: &RequestFacts| {
            (&one.claim, base(&one.request)) == (&other.claim, base(&other.request))
        };
        let requests = self.requests.chunk_by(same_request);
        requests.filter(|alternatives| !alternatives.iter().any(RequestFacts::is_met)).find_map(<[_]>::last)
    }

    /// Whether every request finds enough devices by itself, so that requests or constraints must be at odds with each other.
    pub fn requests_compete(&self) -> bool {
        self.unmet().is_none()
    }
}

fn base(request: &str) -> &str {
    request.split_once('/').map_or(request, |(base, _)| base)
}

/// Facts by what they say.
#[derive(Default)]
struct Groups {
    positions: BTreeMap<String, usize>,
    facts: Vec<Fact>,
}

impl Groups {
    fn add(&mut self, kind: FactKind, device: String) {
        let position = *self.positions.entry(kind.message()).or_insert_with(|| {
            self.facts.push(Fact { kind, count: 0, examples: Vec::new() });
            self.facts.len() - 1
        });
        let fact = &mut self.facts[position];
        fact.count += 1;
        if fact.examples.len() < EXAMPLES {
            fact.examples.push(device);
        }
    }

    fn total(&self) -> usize {
        self.facts.iter().map(|fact| fact.count).sum()
    }
}

fn pools(site: Site<'_>) -> Vec<Fact> {
    let unusable = site.pools().filter_map(|pool| Some((pool.layout.id.to_string(), pool.layout.unusable.as_ref()?)));
    let facts = unusable.map(|(pool, unusable)| {
        let kind = match unusable.defect {
            PoolDefect::Incomplete => FactKind::PoolIncomplete { pool: pool.clone() },
            PoolDefect::Invalid => FactKind::PoolInvalid { pool: pool.clone(), reason: unusable.reason.clone() },
        };
        Fact { kind, count: 1, examples: vec![pool] }
    });
    let mut facts: Vec<_> = facts.collect();
    if site.len() == 0 {
        facts.push(Fact { kind: FactKind::NoPool, count: 0, examples: Vec::new() });
    }
    facts
}
