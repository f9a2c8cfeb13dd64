//! Nodes for which the same holds.

use rustc_hash::FxHashMap;

use crate::budget::Budget;
use crate::explain::gather::{Findings, Gatherer};
use crate::explain::{Consumers, Explanation, Fault, Group};
use crate::inventory::nodes::Site;
use crate::inventory::usage::Usage;
use crate::plan::Plan;
use crate::search::{Search, Stop};

/// With more groups than this, what selectors saw does not tell nodes apart.
const MOST_GROUPS: usize = 16;

/// Up to so many nodes are told apart also by which devices of common pools something is against.
const MOST_APART: usize = 8;

/// Steps that the search for the error of one node may take.
const STEPS: u64 = 10_000;

/// What the facts of nodes are made from.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) usage: &'a Usage,
    pub(crate) consumers: &'a Consumers,
    /// Devices of the whole cluster.
    pub(crate) devices: usize,
}

/// Why the claims of a plan do not fit on some nodes.
pub(crate) fn explain<'a>(sources: Sources<'a>, sites: impl Iterator<Item = Site<'a>>) -> Explanation {
    let Sources { plan, usage, consumers, devices } = sources;
    let mut gatherer = Gatherer::new(plan, usage, consumers);
    let mut groups: Vec<Members<'a>> = Vec::new();
    let mut known: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
    let mut search: Option<Search<'a>> = None;
    let sites: Vec<_> = sites.collect();
    for site in &sites {
        let site = *site;
        let search = search.get_or_insert_with(|| Search::new(plan, site));
        search.move_to(site);
        let findings = gatherer.gather(search, site);
        let mut signature = findings.signature_with_pools(site, true);
        if sites.len() <= MOST_APART {
            add(&mut signature, findings.shared(search).iter().map(String::as_str));
        }
        let position = *known.entry(signature).or_insert(groups.len());
        match groups.get_mut(position) {
            Some(group) => group.nodes.push(site.name.to_string()),
            None => groups.push(Members { nodes: vec![site.name.to_string()], first: site, findings }),
        }
    }
    if groups.len() > MOST_GROUPS {
        groups = merged(groups);
    }
    let mut explanation = Explanation {
        claims: plan.claims.iter().map(|claim| claim.key.to_string()).collect(),
        compatibility: plan.compatibility,
        groups: Vec::new(),
    };
    if let Some(search) = &mut search {
        let named = groups.into_iter().map(|group| group.named(&gatherer, search, devices));
        explanation.groups = named.collect();
    }
    explanation
}

/// Nodes for which the same holds, with the facts of the first.
struct Members<'a> {
    nodes: Vec<String>,
    first: Site<'a>,
    findings: Findings,
}

/// Puts together what differs only in the values that selectors saw.
fn merged(groups: Vec<Members<'_>>) -> Vec<Members<'_>> {
    let mut merged: Vec<Members<'_>> = Vec::new();
    let mut known: FxHashMap<Vec<u32>, usize> = FxHashMap::default();
    for group in groups {
        let signature = group.findings.signature_with_pools(group.first, false);
        let position = *known.entry(signature).or_insert(merged.len());
        match merged.get_mut(position) {
            Some(into) => into.nodes.extend(group.nodes),
            None => merged.push(group),
        }
    }
    merged
}

impl<'a> Members<'a> {
    fn named(self, gatherer: &Gatherer<'a>, search: &mut Search<'a>, devices: usize) -> Group {
        search.move_to(self.first);
        let (fits, mut fault) = match search.run(&mut Budget::unlimited().with_steps(STEPS)) {
            Err(Stop::Failed(error)) => (false, Some(Fault::new(&error))),
            Ok(found) => (found.is_some(), None),
            Err(Stop::Interrupted(_)) => (false, None),
        };
        search.move_to(self.first);
        let Findings { pools, requests, constraints, devices: usable } = self.findings;
        let seen = usable + pools.iter().map(|fact| fact.count).sum::<usize>();
        let requests: Vec<_> = requests.iter().map(|found| gatherer.facts(search, &pools, found)).collect();
        if let Some(fault) = &mut fault {
            fault.guarded = requests.iter().flat_map(|request| &request.facts).find_map(|fact| fault.guarded_by(fact));
        }
        Group {
            nodes: self.nodes,
            devices: seen,
            elsewhere: devices.saturating_sub(seen),
            fits,
            fault,
            pools,
            pools_seen: self.first.pools().map(|view| view.layout.id.to_string()).collect(),
            requests,
            constraints,
            core: None,
            hints: Vec::new(),
        }
    }
}

impl Findings {
    fn signature_with_pools(&self, site: Site<'_>, values: bool) -> Vec<u32> {
        let mut signature = self.signature(values);
        // Rare, so that long texts do not matter.
        let pools = self.pools.iter().map(|fact| format!("{} {}", fact.count, fact.kind.message()));
        let constraints = self.constraints.iter().map(|fact| format!("{} {}", fact.index, fact.message()));
        let texts: Vec<_> = pools.chain(constraints).chain(site.error().map(ToString::to_string)).collect();
        add(&mut signature, texts.iter().map(String::as_str));
        signature
    }
}

/// Adds texts to a signature.
fn add<'a>(signature: &mut Vec<u32>, texts: impl Iterator<Item = &'a str>) {
    signature.extend(texts.flat_map(|text| text.bytes().map(u32::from).chain([u32::MAX])));
}
