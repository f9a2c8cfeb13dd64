//! The facts of one node.

use std::cmp::Reverse;
use std::rc::Rc;
use std::sync::Arc;

use drayman_api::DeviceAttribute;
use drayman_cel::Seen;
use rustc_hash::FxHashMap;

use crate::attribute::published;
use crate::counters::Consumption;
use crate::error::PoolDefect;
use crate::explain::constraints::{self, ConstraintFact};
use crate::explain::refused::{Against, Refused};
use crate::explain::{Consumers, CounterState, Fact, FactKind, Holder, RequestFacts, Sighting};
use crate::inventory::layout::PoolView;
use crate::inventory::nodes::Site;
use crate::inventory::usage::{Hold, Usage};
use crate::limits::ALLOCATION_RESULTS_MAX_SIZE;
use crate::plan::{Alternative, Mode, Plan};
use crate::search::refusal::Refusal;
use crate::search::{Choice, Search, Spot};

/// Names that a fact lists at most.
pub(super) const EXAMPLES: usize = 3;

/// Finds the facts of one node after the other; what selectors say is remembered.
pub(super) struct Gatherer<'a> {
    pub(super) plan: &'a Plan,
    pub(super) usage: &'a Usage,
    pub(super) consumers: &'a Consumers,
    refused: Refused,
    kinds: FxHashMap<Rc<FactKind>, u32>,
    sightings: FxHashMap<Rc<Vec<Seen>>, u32>,
    /// By the number of what selectors have against devices.
    numbers: FxHashMap<usize, (u32, u32)>,
}

/// What is against some devices of one request.
pub(super) struct Finding {
    pub(super) kind: Rc<FactKind>,
    number: u32,
    spots: Vec<Spot>,
    /// What was seen, its number, and on how many devices.
    seen: Vec<(Rc<Vec<Seen>>, u32, usize)>,
    /// Counters that are short, by pool and position.
    counters: Vec<(usize, usize)>,
}

/// One request, or one alternative of it.
pub(super) struct RequestFindings {
    pub(super) choice: Choice,
    pub(super) usable: Vec<Spot>,
    pub(super) findings: Vec<Finding>,
}

/// All that is found on a node.
pub(super) struct Findings {
    pub(super) pools: Vec<Fact>,
    pub(super) requests: Vec<RequestFindings>,
    pub(super) constraints: Vec<ConstraintFact>,
    /// Devices of pools that can be used.
    pub(super) devices: usize,
}

impl<'a> Gatherer<'a> {
    pub(super) fn new(plan: &'a Plan, usage: &'a Usage, consumers: &'a Consumers) -> Self {
        Self {
            plan,
            usage,
            consumers,
            refused: Refused::default(),
            kinds: FxHashMap::default(),
            sightings: FxHashMap::default(),
            numbers: FxHashMap::default(),
        }
    }

    pub(super) fn gather(&mut self, search: &mut Search<'a>, site: Site<'a>) -> Findings {
        self.refused.next_node();
        let spots = search.spots();
        let mut requests = Vec::new();
        for choice in self.plan.choices() {
            let mut found = RequestFindings { choice, usable: Vec::new(), findings: Vec::new() };
            for spot in &spots {
                match search.refusal(choice, *spot) {
                    None => found.usable.push(*spot),
                    Some(refusal) => self.add(&mut found.findings, search, choice, *spot, refusal),
                }
            }
            requests.push(found);
        }
        let constraints = constraints::constraints(self.plan, search, &requests);
        Findings { pools: pools(site), requests, constraints, devices: spots.len() }
    }

    fn add(&mut self, findings: &mut Vec<Finding>, search: &Search<'a>, choice: Choice, spot: Spot, refusal: Refusal) {
        let view = search.view(spot);
        let (kind, seen, counters) = match refusal {
            Refusal::Other(kind) => (self.numbered(Rc::new(kind)), None, Vec::new()),
            Refusal::CounterShort(position) => {
                let (counter, needed) = (view.layout.counter_sets.names(position).1, needed(view, spot, position));
                let kind = FactKind::CounterShort { counter: counter.to_owned(), needed };
                (self.numbered(Rc::new(kind)), None, search.short_counters(choice, spot))
            }
            Refusal::NotSelected | Refusal::SelectorFails => {
                let (slice, position) = view.layout.place(spot.device);
                let against = self.refused.first(search.alternative(choice), slice, position);
                let (kind, seen) = self.numbers(&against);
                ((against.kind, kind), Some((against.seen, seen)).filter(|(seen, _)| !seen.is_empty()), Vec::new())
            }
        };
        let (kind, number) = kind;
        let position = findings.iter().position(|finding| finding.number == number).unwrap_or_else(|| {
            let (spots, seen, counters) = (Vec::new(), Vec::new(), Vec::new());
            findings.push(Finding { kind, number, spots, seen, counters });
            findings.len() - 1
        });
        let finding = &mut findings[position];
        finding.spots.push(spot);
        for counter in counters.into_iter().map(|position| (spot.pool, position)) {
            if !finding.counters.contains(&counter) {
                finding.counters.push(counter);
            }
        }
        if let Some((seen, number)) = seen {
            match finding.seen.iter_mut().find(|(_, known, _)| *known == number) {
                Some((.., count)) => *count += 1,
                None => finding.seen.push((seen, number, 1)),
            }
        }
    }

    fn numbered(&mut self, kind: Rc<FactKind>) -> (Rc<FactKind>, u32) {
        let number = number(&mut self.kinds, &kind);
        (kind, number)
    }

    /// The numbers of a fact and of what was seen, looked up once for all devices of one shape.
    fn numbers(&mut self, against: &Against) -> (u32, u32) {
        if let Some(numbers) = against.number.and_then(|number| self.numbers.get(&number)) {
            return *numbers;
        }
        let numbers = (number(&mut self.kinds, &against.kind), number(&mut self.sightings, &against.seen));
        self.numbers.extend(against.number.map(|number| (number, numbers)));
        numbers
    }

    /// The facts of a request, with names.
    pub(super) fn facts(&self, search: &Search<'a>, pools: &[Fact], found: &RequestFindings) -> RequestFacts {
        let claim = &self.plan.claims[found.choice.claim];
        let request = &claim.requests[found.choice.request];
        let alternative = search.alternative(found.choice);
        let unusable: usize = pools.iter().map(|fact| fact.count).sum();
        let refused: usize = found.findings.iter().map(|finding| finding.spots.len()).sum();
        let mut facts: Vec<_> = found.findings.iter().map(|finding| self.fact(search, finding)).collect();
        // Devices that are what was asked for come first, those of other classes last; what is wrong with pools concerns every request.
        facts.sort_by_key(|fact| match fact.kind.code() {
            "class-selector-false" => 2,
            "selector-false" | "device-not-on-node" => 1,
            _ => 0,
        });
        facts.extend(pools.iter().filter(|fact| fact.count > 0).cloned());
        facts.extend(too_many(alternative, found).map(Fact::general));
        RequestFacts {
            claim: claim.key.to_string(),
            request: request.name.clone(),
            alternative: request.is_list.then(|| alternative.path.request.clone()),
            class: alternative.class.metadata.name.clone(),
            wanted: match alternative.mode {
                Mode::Exactly(count) => Some(count),
                Mode::All => None,
            },
            admin: alternative.admin,
            usable: found.usable.len(),
            devices: found.usable.len() + refused + unusable,
            facts,
        }
    }

    fn fact(&self, search: &Search<'a>, finding: &Finding) -> Fact {
        let mut sightings: Vec<_> = finding
            .seen
            .iter()
            .map(|(seen, _, devices)| Sighting { seen: (**seen).clone(), devices: *devices })
            .collect();
        sightings.sort_by_key(|sighting| Reverse(sighting.devices));
        let counters = finding.counters.iter().map(|(pool, position)| {
            let view = search.view(Spot { pool: *pool, device: 0 });
            let (set, counter) = view.layout.counter_sets.names(*position);
            CounterState {
                set: set.to_owned(),
                counter: counter.to_owned(),
                left: view.state.available.counter(*position).to_string(),
                total: view.layout.counter_sets.total(*position).to_string(),
            }
        });
        Fact {
            kind: (*finding.kind).clone(),
            pool: None,
            count: finding.spots.len(),
            examples: finding.spots.iter().take(EXAMPLES).map(|spot| search.device_name(*spot)).collect(),
            holders: self.holders(search, finding),
            sightings,
            counters: counters.collect(),
            profile: finding.spots.first().and_then(|spot| profile(search, *spot)),
        }
    }

    /// Who holds the devices of a finding, or what they need.
    fn holders(&self, search: &Search<'a>, finding: &Finding) -> Vec<Holder> {
        let mut counts: Vec<(Option<Arc<str>>, usize)> = Vec::new();
        let mut count = |holds: &[Hold]| {
            for hold in holds {
                match counts.iter_mut().find(|(claim, _)| *claim == hold.claim) {
                    Some((_, devices)) => *devices += 1,
                    None => counts.push((hold.claim.clone(), 1)),
                }
            }
        };
        match &*finding.kind {
            FactKind::DeviceHeld { .. } | FactKind::CapacityTaken { .. } => {
                for spot in &finding.spots {
                    let layout = &search.view(*spot).layout;
                    let devices = self.usage.of_pool(&layout.id);
                    count(
                        devices
                            .and_then(|devices| devices.get(&layout.device(spot.device).name))
                            .map_or(&[], Vec::as_slice),
                    );
                }
            }
            FactKind::CounterShort { .. } => {
                let mut seen: Vec<(usize, &str)> = Vec::new();
                for (pool, position) in &finding.counters {
                    let layout = &search.view(Spot { pool: *pool, device: 0 }).layout;
                    let Some(devices) = self.usage.of_pool(&layout.id) else { continue };
                    let draws =
                        |consumption: &Consumption| consumption.amounts.iter().any(|(other, _)| other == position);
                    for (name, _) in layout.all_consumptions().filter(|(_, consumption)| draws(consumption)) {
                        if let Some(holds) = devices.get(name).filter(|_| !seen.contains(&(*pool, name))) {
                            seen.push((*pool, name));
                            count(holds);
                        }
                    }
                }
            }
            _ => {}
        }
        counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let pods = |claim: &Option<Arc<str>>| claim.as_ref().and_then(|claim| self.consumers.get(claim)).cloned();
        let holder = |(claim, devices): (Option<Arc<str>>, usize)| Holder {
            pods: pods(&claim).unwrap_or_default(),
            claim: claim.map(|claim| claim.to_string()),
            devices,
        };
        counts.into_iter().map(holder).collect()
    }
}

impl Findings {
    /// The devices that each finding is about, of slices that other nodes may reach, too.
    pub(super) fn shared(&self, search: &Search<'_>) -> Vec<String> {
        let is_shared = |spot: &&Spot| search.view(**spot).layout.slice(spot.device).node_name().is_none();
        let names = |finding: &Finding| {
            let names = finding.spots.iter().filter(is_shared).map(|spot| search.device_name(*spot));
            names.fold(finding.number.to_string(), |text, name| text + " " + &name)
        };
        let of_request = |request: &RequestFindings| {
            let mut texts: Vec<_> = request.findings.iter().map(names).collect();
            texts.sort_unstable();
            texts
        };
        self.requests.iter().flat_map(of_request).collect()
    }

    /// What must be equal for two nodes to be told together; with `values`, what selectors saw, too.
    pub(super) fn signature(&self, values: bool) -> Vec<u32> {
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let mut signature = vec![count(self.devices)];
        for request in &self.requests {
            signature.extend([u32::MAX, count(request.usable.len())]);
            let mut findings: Vec<_> = request.findings.iter().collect();
            findings.sort_by_key(|finding| finding.number);
            for finding in findings {
                signature.extend([finding.number, count(finding.spots.len())]);
                if values {
                    let mut seen: Vec<_> =
                        finding.seen.iter().map(|(_, number, devices)| (*number, count(*devices))).collect();
                    seen.sort_unstable();
                    signature.extend(seen.into_iter().flat_map(|(number, devices)| [number, devices]));
                }
            }
        }
        signature
    }
}

fn number<T: std::hash::Hash + Eq>(numbers: &mut FxHashMap<Rc<T>, u32>, value: &Rc<T>) -> u32 {
    if let Some(number) = numbers.get(value) {
        return *number;
    }
    let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    numbers.insert(Rc::clone(value), next);
    next
}

/// The attribute by which drivers name the kind of a partition.
fn profile(search: &Search<'_>, spot: Spot) -> Option<String> {
    let layout = &search.view(spot).layout;
    match published(&layout.device(spot.device).attributes, "profile", layout.slice(spot.device).driver())? {
        DeviceAttribute::String(profile) => Some(profile.clone()),
        _ => None,
    }
}

/// What a device takes of a counter.
fn needed(view: &PoolView, spot: Spot, position: usize) -> String {
    let amounts = view.layout.consumption(spot.device).into_iter().flat_map(|consumption| &consumption.amounts);
    let mut of_counter = amounts.filter(|(other, _)| *other == position).map(|(_, amount)| amount);
    let first = of_counter.next().cloned().unwrap_or_default();
    of_counter.fold(first, |sum, amount| sum.checked_add(amount).unwrap_or(sum)).to_string()
}

/// Whether all devices are asked for, and more match than an allocation can hold.
fn too_many(alternative: &Alternative, found: &RequestFindings) -> Option<FactKind> {
    let blocking = found.findings.iter().filter(|finding| finding.kind.blocks_all());
    let devices = found.usable.len() + blocking.map(|finding| finding.spots.len()).sum::<usize>();
    let limit = ALLOCATION_RESULTS_MAX_SIZE;
    let is_too_many = alternative.mode == Mode::All && i64::try_from(devices).is_ok_and(|devices| devices > limit);
    is_too_many.then_some(FactKind::TooManyDevices { devices, limit })
}

/// What is wrong with the pools of a node.
fn pools(site: Site<'_>) -> Vec<Fact> {
    let unusable = site.pools().filter_map(|view| Some((&view.layout, view.layout.unusable.as_ref()?)));
    let facts = unusable.map(|(layout, unusable)| {
        let pool = layout.slices().first().map(|slice| &slice.object.spec.pool);
        let kind = match unusable.defect {
            PoolDefect::Incomplete => FactKind::PoolIncomplete {
                generation: pool.map_or(0, |pool| pool.generation),
                present: unusable.present,
                expected: pool.map_or(0, |pool| pool.resource_slice_count),
                reason: unusable.reason.clone(),
            },
            PoolDefect::Invalid => FactKind::PoolInvalid { reason: unusable.reason.clone() },
        };
        let devices = || layout.slices().iter().flat_map(|slice| slice.devices());
        Fact {
            pool: Some(layout.id.to_string()),
            count: devices().count(),
            examples: devices().take(EXAMPLES).map(|device| format!("{}/{}", layout.id, device.name)).collect(),
            ..Fact::general(kind)
        }
    });
    let mut facts: Vec<_> = facts.collect();
    if site.len() == 0 {
        facts.push(Fact::general(FactKind::NoPool));
    }
    facts
}
