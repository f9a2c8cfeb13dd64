//! Changes, each of which makes the claims fit by itself: tried out before they are told.

use std::cmp::Reverse;
use std::ops::Range;

use drayman_api::{AllocationMode, ResourceClaim};
use drayman_cel::{Reason, Seen, accepting};
use serde_json::{Value, json};

use crate::error::SelectorSource;
use crate::explain::core::{Core, Element};
use crate::explain::fact::slices;
use crate::explain::remedy::{At, Remedy, SelectorAt};
use crate::explain::similar::edits;
use crate::explain::trial::Trial;
use crate::explain::{Fact, FactKind, Group, RequestFacts};
use crate::features::Features;

/// Changes of one kind that are looked for at most.
const MOST: usize = 3;

/// Changes that are told at most.
const MOST_TOLD: usize = 5;

/// Changes that are tried at most.
const MOST_TRIED: usize = 96;

/// A change that makes the claims fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// What to do.
    pub text: String,
    /// The same for programs.
    pub change: Remedy,
}

impl Hint {
    /// The hint for programs.
    pub fn json(&self) -> Value {
        json!({"text": self.text, "change": self.change.json()})
    }
}

/// The changes that help, what is easiest for who wrote the claims first.
pub(super) fn find(trial: &mut Trial<'_>, group: &Group, core: Option<&Core>) -> Vec<Hint> {
    let mut hints: Vec<Vec<Hint>> = Vec::new();
    let mut tried = 0;
    for candidates in candidates(trial, group, core) {
        let mut found = Vec::new();
        let mut known: Vec<Remedy> = Vec::new();
        for candidate in candidates {
            if found.len() == MOST || tried == MOST_TRIED {
                break;
            }
            if known.contains(&candidate.change) {
                continue;
            }
            known.push(candidate.change.clone());
            tried += 1;
            if trial.helps(&candidate.change) {
                found.push(candidate);
            }
        }
        hints.push(found);
    }
    let shortened = requests_to_shorten(trial.claims, group, core);
    hints.push(shortened.into_iter().filter_map(|request| shorten(trial, &request)).collect());
    if hints.iter().all(Vec::is_empty) {
        hints.push(removals(trial, group));
    }
    best(hints)
}

/// The first changes of each kind, in order of the kinds: one of another kind tells more than one more of the same.
fn best(hints: Vec<Vec<Hint>>) -> Vec<Hint> {
    let kinds = hints.into_iter().enumerate();
    let mut ranked: Vec<_> = kinds
        .flat_map(|(kind, hints)| hints.into_iter().enumerate().map(move |(rank, hint)| (rank, kind, hint)))
        .collect();
    ranked.sort_by_key(|(rank, kind, _)| (*rank, *kind));
    ranked.truncate(MOST_TOLD);
    ranked.sort_by_key(|(rank, kind, _)| (*kind, *rank));
    ranked.into_iter().map(|(.., hint)| hint).collect()
}

/// What could help, by kind.
fn candidates(trial: &Trial<'_>, group: &Group, core: Option<&Core>) -> Vec<Vec<Hint>> {
    let facts = || group.requests.iter().flat_map(|request| request.facts.iter().map(move |fact| (request, fact)));
    let per_fact = |candidate: &dyn Fn(&RequestFacts, &Fact) -> Option<Hint>| {
        facts().filter_map(|(request, fact)| candidate(request, fact)).collect::<Vec<_>>()
    };
    let several = group.requests.len() > 1;
    vec![
        per_fact(&guard),
        other_classes(trial, group),
        gates(trial.features()),
        group.pools.iter().filter_map(complete_pool).collect(),
        per_fact(&tolerate),
        if several { tolerate_everywhere(core) } else { Vec::new() },
        constraints(core),
        relaxations(trial, group),
        per_fact(&less_capacity),
        holders(group, core),
    ]
}

fn at(request: &RequestFacts) -> At {
    let RequestFacts { claim, request, alternative, .. } = request;
    At { claim: claim.clone(), request: request.clone(), alternative: alternative.clone() }
}

fn named(request: &RequestFacts) -> String {
    format!("request `{}` of claim `{}`", request.reference(), request.claim)
}

fn selector_at(source: &SelectorSource, request: &RequestFacts) -> (SelectorAt, String) {
    match source {
        SelectorSource::Class(class) => (SelectorAt::Class(class.to_string()), format!("class `{class}`")),
        SelectorSource::Claim(_) => (SelectorAt::Request(at(request)), named(request)),
    }
}

fn guard(request: &RequestFacts, fact: &Fact) -> Option<Hint> {
    let FactKind::SelectorFailed { source, index, guarded: Some(expression), .. } = &fact.kind else { return None };
    let (at, name) = selector_at(source, request);
    let text = format!("write selector #{index} of {name} as `{expression}`");
    Some(Hint { text, change: Remedy::GuardSelector { at, index: *index, expression: expression.clone() } })
}

/// Classes that exist, for a request that names one that does not: those with the most similar names first.
fn other_classes(trial: &Trial<'_>, group: &Group) -> Vec<Hint> {
    let Some(fault) = group.fault.as_ref().filter(|fault| fault.code == "class-missing") else { return Vec::new() };
    let Some(missing) = &fault.class else { return Vec::new() };
    let mut classes: Vec<_> = trial.inventory().classes().names().map(|name| (edits(name, missing), name)).collect();
    classes.sort_unstable();
    let hint = |(_, class): (usize, &str)| Hint {
        text: format!("use class `{class}` instead of `{missing}`, which does not exist"),
        change: Remedy::UseClass { missing: missing.clone(), class: class.to_owned() },
    };
    classes.into_iter().take(MOST).map(hint).collect()
}

fn place(at: &At) -> String {
    let alternative = at.alternative.as_ref().map(|name| format!("/{name}")).unwrap_or_default();
    format!("request `{}{alternative}` of claim `{}`", at.request, at.claim)
}

fn gates(features: Features) -> Vec<Hint> {
    let off = Features::gates().filter(|gate| features.with_gate(gate) != features);
    off.map(|gate| Hint { text: format!("enable the feature gate `{gate}`"), change: Remedy::EnableGate { gate } })
        .collect()
}

fn complete_pool(fact: &Fact) -> Option<Hint> {
    let FactKind::PoolIncomplete { generation, present, expected, reason } = &fact.kind else { return None };
    let (driver, pool) = fact.pool.as_ref()?.split_once('/')?;
    let are_missing = reason.is_empty() && usize::try_from(*expected).is_ok_and(|expected| expected > *present);
    let text = if are_missing {
        let slices = slices(*generation, *present, *expected);
        format!("complete pool `{driver}/{pool}`: {slices}, and they suffice")
    } else {
        format!(
            "set resourceSliceCount to {present} in all slices of pool `{driver}/{pool}`: so many are there, and they suffice"
        )
    };
    Some(Hint { text, change: Remedy::CompletePool { driver: driver.to_owned(), pool: pool.to_owned() } })
}

fn tolerate(request: &RequestFacts, fact: &Fact) -> Option<Hint> {
    let FactKind::Tainted { key, value, effect } = &fact.kind else { return None };
    let (key, value, effect) = (key.clone(), value.clone(), effect.clone());
    let taint = Element::Taint { key: key.clone(), value: value.clone(), effect: effect.clone() }.text();
    let change = Remedy::TolerateTaint { at: Some(at(request)), key, value, effect };
    Some(Hint { text: format!("tolerate {taint} in {}", named(request)), change })
}

fn tolerate_everywhere(core: Option<&Core>) -> Vec<Hint> {
    let elements = core.into_iter().flat_map(|core| &core.elements);
    let tolerations = elements.filter_map(|element| match element {
        Element::Taint { key, value, effect } => {
            let (key, value, effect) = (key.clone(), value.clone(), effect.clone());
            let text = format!("tolerate {} in every request", element.text());
            Some(Hint { text, change: Remedy::TolerateTaint { at: None, key, value, effect } })
        }
        _ => None,
    });
    tolerations.collect()
}

fn constraints(core: Option<&Core>) -> Vec<Hint> {
    let elements = core.into_iter().flat_map(|core| &core.elements);
    let constraints = elements.filter_map(|element| match element {
        Element::Constraint { claim, constraint, .. } => Some(Hint {
            text: format!("drop {}", element.text()),
            change: Remedy::DropConstraint { claim: claim.clone(), constraint: *constraint },
        }),
        _ => None,
    });
    constraints.collect()
}

/// Selectors that ask for less: first those that accept what devices have, then those that do not ask at all; of each, those that change the
/// least first. What a class is, or which driver devices have, is never given up.
fn relaxations(trial: &Trial<'_>, group: &Group) -> Vec<Hint> {
    let facts = group.requests.iter().flat_map(|request| request.facts.iter().map(move |fact| (request, fact)));
    let failing = |fact: &Fact| match &fact.kind {
        FactKind::SelectorFalse { source: SelectorSource::Claim(_), failing, reasons, .. }
            if !reasons.is_empty() && !reasons.iter().any(|reason| reason.text.contains("device.driver")) =>
        {
            Some(*failing)
        }
        _ => None,
    };
    let mut facts: Vec<_> = facts.filter(|(_, fact)| failing(fact).is_some()).collect();
    facts.sort_by_key(|(_, fact)| failing(fact));
    let accepting = facts.iter().flat_map(|(request, fact)| {
        let sightings = fact.sightings.iter().take(MOST - 1);
        sightings.filter_map(|sighting| accept(trial, request, fact, &sighting.seen))
    });
    accepting.chain(facts.iter().filter_map(|(request, fact)| relax(trial, request, fact))).collect()
}

/// A selector that accepts what some devices have.
fn accept(trial: &Trial<'_>, request: &RequestFacts, fact: &Fact, seen: &[Seen]) -> Option<Hint> {
    let FactKind::SelectorFalse { source, index, reasons, .. } = &fact.kind else { return None };
    let (at, name) = selector_at(source, request);
    let expression = expression(trial, &at, *index)?;
    let mut parts = Vec::new();
    let mut texts = Vec::new();
    for reason in reasons {
        let mut values = seen.iter().filter(|seen| reason.text.contains(&seen.path));
        let (value, None) = (values.next()?, values.next()) else { return None };
        let (part, before) = accepting(expression.get(reason.start..reason.end)?, value)?;
        texts.push(format!("`{}` {} instead of {before}", value.name, value.value.as_ref()?));
        parts.push((reason.start..reason.end, part));
    }
    let text = format!("accept {} in selector #{index} of {name}", texts.join(" and "));
    let expression = replaced(expression, parts);
    Some(Hint { text, change: Remedy::RelaxSelector { at, index: *index, expression } })
}

/// A selector without the parts that devices fail at.
fn relax(trial: &Trial<'_>, request: &RequestFacts, fact: &Fact) -> Option<Hint> {
    let FactKind::SelectorFalse { source, index, reasons, .. } = &fact.kind else { return None };
    let (at, name) = selector_at(source, request);
    let expression = expression(trial, &at, *index)?;
    let truth = |reason: &Reason| if reason.wanted { "true" } else { "false" }.to_owned();
    let parts = reasons.iter().map(|reason| (reason.start..reason.end, truth(reason)));
    let texts: Vec<_> = reasons.iter().map(|reason| format!("`{}`", reason.text)).collect();
    let text = format!("do not ask for {} in selector #{index} of {name}", texts.join(" and "));
    let expression = replaced(expression, parts.collect());
    Some(Hint { text, change: Remedy::RelaxSelector { at, index: *index, expression } })
}

/// A text with parts of it replaced.
fn replaced(mut text: String, mut parts: Vec<(Range<usize>, String)>) -> String {
    parts.sort_by_key(|(range, _)| Reverse(range.start));
    for (range, part) in parts {
        if text.get(range.clone()).is_some() {
            text.replace_range(range, &part);
        }
    }
    text
}

/// The text of a selector.
fn expression(trial: &Trial<'_>, at: &SelectorAt, index: usize) -> Option<String> {
    let selectors = match at {
        SelectorAt::Class(name) => trial.inventory().classes().get(name)?.spec.selectors.clone(),
        SelectorAt::Request(at) => at.find(trial.claims)?.selectors.clone(),
    };
    Some(selectors.get(index)?.cel.as_ref()?.expression.clone())
}

fn less_capacity(request: &RequestFacts, fact: &Fact) -> Option<Hint> {
    let at = at(request);
    let (capacity, value) = match &fact.kind {
        FactKind::CapacityMissing { capacity } => (capacity.clone(), None),
        FactKind::CapacityTooSmall { asked, .. }
        | FactKind::CapacityRefused { asked, .. }
        | FactKind::CapacityTaken { asked, .. } => (asked.capacity.clone(), Some(asked.most.clone()?)),
        _ => return None,
    };
    let text = match &value {
        Some(value) => format!("ask for at most {value} of capacity `{capacity}` in {}", named(request)),
        None => format!("do not ask for capacity `{capacity}` in {}", named(request)),
    };
    Some(Hint { text, change: Remedy::ReduceCapacity { at, capacity, value } })
}

/// Claims that hold devices, or what devices need.
fn holders(group: &Group, core: Option<&Core>) -> Vec<Hint> {
    let mut hints: Vec<Hint> = Vec::new();
    let is_partition = |fact: &Fact| matches!(fact.kind, FactKind::CounterShort { .. });
    let mut facts: Vec<_> = group.requests.iter().flat_map(|request| &request.facts).collect();
    facts.sort_by_key(|fact| !is_partition(fact));
    for fact in facts {
        // For several requests it takes more than one partition.
        let profile = fact.profile.as_deref().filter(|_| is_partition(fact) && group.requests.len() == 1);
        for holder in &fact.holders {
            hints.extend(holder.claim.as_ref().map(|claim| free(claim, &holder.pods, profile)));
        }
    }
    for element in core.into_iter().flat_map(|core| &core.elements) {
        if let Element::Holder { claim, pods } = element {
            hints.push(free(claim, pods, None));
        }
    }
    hints
}

fn free(claim: &str, pods: &[String], profile: Option<&str>) -> Hint {
    let namespace = claim.split_once('/').map_or("", |(namespace, _)| namespace);
    let who = match pods {
        [] => format!("claim `{claim}`"),
        [pod] => format!("pod `{namespace}/{pod}` (claim `{claim}`)"),
        pods => format!("{} pods (claim `{claim}`)", pods.len()),
    };
    let text = match profile {
        Some(profile) => format!("one more `{profile}` would fit if {who} moved"),
        None if pods.is_empty() => format!("free {who}"),
        None => format!("move {who} elsewhere"),
    };
    Hint { text, change: Remedy::FreeClaim { claim: claim.to_owned() } }
}

/// A request that could ask for fewer devices.
struct Shortened {
    at: At,
    /// How many it asks for, or could ask for.
    most: i64,
    is_for_all: bool,
}

/// Requests for several devices, or for all, that find too few or take part in the clash.
fn requests_to_shorten(claims: &[ResourceClaim], group: &Group, core: Option<&Core>) -> Vec<Shortened> {
    let in_core = |request: &RequestFacts| {
        let elements = core.into_iter().flat_map(|core| &core.elements);
        elements.clone().any(|element| {
            matches!(element, Element::Request { claim, request: name } if *claim == request.claim && *name == request.request)
        })
    };
    let is_too_long = |request: &RequestFacts| {
        let fault = group.fault.as_ref().filter(|fault| fault.code == "too-many-devices");
        let name = request.alternative.as_ref().unwrap_or(&request.request);
        fault.is_some_and(|fault| fault.claim.as_ref() == Some(&request.claim) && fault.request.as_ref() == Some(name))
    };
    let is_concerned = |request: &&RequestFacts| !request.is_met() || in_core(request) || is_too_long(request);
    let concerned = group.requests.iter().filter(is_concerned);
    let several = concerned.filter_map(|request| {
        let at = at(request);
        let exact = at.find(claims)?;
        match exact.allocation_mode {
            Some(AllocationMode::ExactCount) => {
                let count = exact.count.filter(|count| *count > 1)?;
                Some(Shortened { at, most: count - 1, is_for_all: false })
            }
            Some(AllocationMode::All) => {
                let most = i64::try_from(request.usable).ok().filter(|usable| *usable > 0)?;
                Some(Shortened { at, most, is_for_all: true })
            }
            _ => None,
        }
    });
    several.take(MOST).collect()
}

/// The most devices that a request could ask for.
fn shorten(trial: &mut Trial<'_>, Shortened { at, most, is_for_all }: &Shortened) -> Option<Hint> {
    // What fits for a number of devices fits for fewer.
    let (mut fits, mut too_many) = (0, (*most).min(crate::limits::ALLOCATION_RESULTS_MAX_SIZE) + 1);
    while too_many - fits > 1 {
        let middle = fits + (too_many - fits) / 2;
        if trial.helps(&Remedy::ReduceCount { at: at.clone(), count: middle }) {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    let instead = if *is_for_all { ", instead of all," } else { "" };
    let devices = if fits == 1 { "device" } else { "devices" };
    let text = format!("ask for at most {fits} {devices}{instead} in {}", place(at));
    (fits > 0).then_some(Hint { text, change: Remedy::ReduceCount { at: at.clone(), count: fits } })
}

/// Claims without one of their requests; of requests that find the same, one.
fn removals(trial: &mut Trial<'_>, group: &Group) -> Vec<Hint> {
    let mut hints = Vec::new();
    let requests = trial.claims.iter().map(|claim| claim.spec.devices.requests.len());
    if requests.sum::<usize>() < 2 {
        return hints;
    }
    for alike in group.alike() {
        let places = alike.requests().map(|request| At { alternative: None, ..at(request) });
        let hint = |at: At| Hint { text: format!("remove {}", place(&at)), change: Remedy::RemoveRequest { at } };
        let found = places.map(hint).find(|hint| trial.helps(&hint.change));
        hints.extend(found.filter(|hint| !hints.contains(hint)));
        if hints.len() == MOST {
            break;
        }
    }
    hints
}
