//! Requests and facts as branches of a tree. What has been told is not told again.

use drayman_cel::Reason;

use crate::explain::alike::Alike;
use crate::explain::branch::Branch;
use crate::explain::line::{holder, sightings};
use crate::explain::told::{Told, counters, is_held_alike, told};
use crate::explain::{Fact, FactKind, Fault};

/// Holders and counters that are named.
const NAMED: usize = 3;

/// Tells of one request after the other.
pub(super) struct Teller<'a> {
    fault: Option<&'a Fault>,
    /// Facts about selectors that have been told.
    selectors: Vec<&'a Fact>,
    /// The last fact with holders.
    held: Option<&'a Fact>,
}

impl<'a> Teller<'a> {
    /// After an error, which has been told.
    pub(super) fn new(fault: Option<&'a Fault>) -> Self {
        Self { fault, selectors: Vec::new(), held: None }
    }

    /// A request, and what is against devices.
    pub(super) fn request(&mut self, alike: &Alike<'a>) -> Branch {
        let request = alike.first;
        let failing = |fact: &Fact| match &fact.kind {
            FactKind::SelectorFalse { failing, .. } if fact.kind.code() == "selector-false" => Some(*failing),
            _ => None,
        };
        let nearest = request.facts.iter().filter_map(failing).min();
        let is_choice = request.facts.iter().filter_map(failing).count() > 1;
        let nearest =
            request.facts.iter().filter(|_| is_choice).find(|fact| nearest.is_some() && failing(fact) == nearest);
        let mut branches = Vec::new();
        // Pools stand above, as they concern every request.
        for told in told(&request.facts).iter().filter(|told| told.fact.pool.is_none()) {
            let Some(original) = request.facts.iter().find(|fact| fact.kind == told.fact.kind) else { continue };
            let is_nearest = nearest.is_some_and(|nearest| std::ptr::eq(nearest, original));
            branches.push(self.fact(told, original, is_nearest));
        }
        Branch { text: alike.summary(), branches }
    }

    fn fact(&mut self, told: &Told<'a>, original: &'a Fact, is_nearest: bool) -> Branch {
        let fact = &*told.fact;
        if self.selectors.contains(&original) {
            return Branch::leaf(format!("{}, as above", told.text()));
        }
        let mut branches = Vec::new();
        match &fact.kind {
            FactKind::SelectorFalse { reasons, .. } => {
                self.selectors.push(original);
                // A device of another driver has nothing else that could be compared.
                let is_driver = |reason: &&Reason| reason.text.contains("device.driver");
                let is_foreign = reasons.iter().any(|reason| is_driver(&reason));
                let reasons = reasons.iter().filter(|reason| !is_foreign || is_driver(reason));
                branches.extend(reasons.map(|reason| Branch::leaf(reason_text(reason, fact))));
            }
            FactKind::SelectorFailed { guarded: Some(guarded), .. } if !self.is_guarded(guarded) => {
                branches.push(Branch::leaf(format!("write it as `{guarded}`")));
            }
            _ => {}
        }
        let counters = counters(&fact.counters);
        let more = counters.len().saturating_sub(NAMED);
        branches.extend(counters.into_iter().take(NAMED).map(Branch::leaf));
        if more > 0 {
            branches.push(Branch::leaf(format!("{more} more counters")));
        }
        branches.extend(self.holders(fact, original));
        let nearest = if is_nearest { ", nearest to fitting" } else { "" };
        let text = told.text();
        let text = if fact.examples.is_empty() { text } else { format!("{text} ({}{nearest})", examples(fact)) };
        Branch { text, branches }
    }

    /// Whether the form that does not fail stands beside the error.
    fn is_guarded(&self, guarded: &String) -> bool {
        self.fault.is_some_and(|fault| fault.guarded.as_ref() == Some(guarded))
    }

    fn holders(&mut self, fact: &Fact, original: &'a Fact) -> Vec<Branch> {
        let named: Vec<_> = fact.holders.iter().filter(|holder| holder.claim.is_some()).collect();
        if named.is_empty() {
            return Vec::new();
        }
        let before = self.held.replace(original);
        if named.len() > 1 && before.is_some_and(|before| is_held_alike(before, fact)) {
            return vec![Branch::leaf(format!("held by the same {} claims", named.len()))];
        }
        let held = |devices: usize| if devices == 1 { "1 device".to_owned() } else { format!("{devices} devices") };
        let mut branches: Vec<_> = named
            .iter()
            .take(NAMED)
            .map(|one| Branch::leaf(format!("{} held by {}", held(one.devices), holder(one))))
            .collect();
        if named.len() > NAMED {
            branches.push(Branch::leaf(format!("{} more claims", named.len() - NAMED)));
        }
        branches
    }
}

/// A part of a selector that is at fault, and what it saw.
fn reason_text(reason: &Reason, fact: &Fact) -> String {
    let seen = sightings(&fact.sightings, &|seen| reason.text.contains(&seen.path));
    let negated = if reason.wanted { "" } else { " is true, but must not be" };
    match &reason.error {
        Some(error) => format!("`{}`{negated} fails: {error}", reason.text),
        None if seen.is_empty() => format!("`{}`{negated}", reason.text),
        None => format!("`{}`{negated}: {seen}", reason.text),
    }
}

/// The devices of a fact: `gpu.example.com/worker-1/gpu-0, gpu-1, …`.
fn examples(fact: &Fact) -> String {
    let more = if fact.count > fact.examples.len() { ", …" } else { "" };
    let mut texts = Vec::new();
    let mut pool = "";
    for example in &fact.examples {
        match example.rsplit_once('/') {
            Some((of, device)) if of == pool => texts.push(device),
            Some((of, _)) => {
                pool = of;
                texts.push(example);
            }
            None => texts.push(example),
        }
    }
    format!("{}{more}", texts.join(", "))
}
