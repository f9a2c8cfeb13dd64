//! Facts as they are told: several about counters that the same claims use up are one.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::explain::gather::EXAMPLES;
use crate::explain::line::counted;
use crate::explain::names::named;
use crate::explain::{CounterState, Fact, FactKind, Holder};

/// A fact, or several about counters that the same claims use up.
pub(super) struct Told<'a> {
    pub(super) fact: Cow<'a, Fact>,
    /// The counters that devices lack first.
    counters: Vec<&'a str>,
    /// What each device takes of its counter, where it is the same for all.
    needed: Option<&'a str>,
}

impl Told<'_> {
    /// The fact with the number of devices that it is about.
    pub(super) fn text(&self) -> String {
        if self.counters.len() < 2 {
            return counted(&self.fact);
        }
        let need = self.needed.map(|needed| format!(": each device needs {needed}")).unwrap_or_default();
        format!("{} devices: counters {} are short{need}", self.fact.count, named(&self.counters))
    }
}

/// The facts of a request, as they are told.
pub(super) fn told(facts: &[Fact]) -> Vec<Told<'_>> {
    let mut told: Vec<Told<'_>> = Vec::new();
    for fact in facts {
        let FactKind::CounterShort { counter, needed } = &fact.kind else {
            told.push(Told { fact: Cow::Borrowed(fact), counters: Vec::new(), needed: None });
            continue;
        };
        let is_same = |one: &&mut Told<'_>| !one.counters.is_empty() && is_held_alike(&one.fact, fact);
        match told.iter_mut().find(is_same) {
            Some(one) => {
                add(one.fact.to_mut(), fact);
                one.counters.push(counter);
                one.counters.sort_unstable();
                one.needed = one.needed.filter(|other| other == needed);
            }
            None => told.push(Told { fact: Cow::Borrowed(fact), counters: vec![counter], needed: Some(needed) }),
        }
    }
    told
}

/// Whether the same claims hold what two facts are about.
pub(super) fn is_held_alike(one: &Fact, other: &Fact) -> bool {
    let claims = |fact: &Fact| fact.holders.iter().map(|holder| holder.claim.clone()).collect::<BTreeSet<_>>();
    claims(one) == claims(other)
}

fn add(into: &mut Fact, fact: &Fact) {
    into.count += fact.count;
    let room = EXAMPLES.saturating_sub(into.examples.len());
    into.examples.extend(fact.examples.iter().take(room).cloned());
    for counter in &fact.counters {
        if !into.counters.contains(counter) {
            into.counters.push(counter.clone());
        }
    }
    for Holder { claim, devices, .. } in &fact.holders {
        if let Some(holder) = into.holders.iter_mut().find(|holder| holder.claim == *claim) {
            holder.devices = holder.devices.max(*devices);
        }
    }
}

/// Counters with what is left of them: those with the same amounts and sets together.
pub(super) fn counters(states: &[CounterState]) -> Vec<String> {
    let mut by_counter = Vec::new();
    for CounterState { set, counter, left, total } in states {
        put(&mut by_counter, (counter, left, total), set.as_str());
    }
    let mut by_amount = Vec::new();
    for ((counter, left, total), mut sets) in by_counter {
        sets.sort_unstable();
        put(&mut by_amount, (left, total, sets), counter.as_str());
    }
    let noun = |names: &[&str], noun: &str| if names.len() == 1 { noun.to_owned() } else { format!("{noun}s") };
    let text = |((left, total, sets), mut counters): ((&String, &String, Vec<&str>), Vec<&str>)| {
        counters.sort_unstable();
        let counters = format!("{} {}", noun(&counters, "counter"), named(&counters));
        format!("{counters} of {} {}: {left} of {total} left", noun(&sets, "set"), named(&sets))
    };
    by_amount.into_iter().map(text).collect()
}

/// Adds to what is known under a key; keys stay in order.
fn put<K: PartialEq, V>(groups: &mut Vec<(K, Vec<V>)>, key: K, value: V) {
    match groups.iter_mut().find(|(known, _)| *known == key) {
        Some((_, values)) => values.push(value),
        None => groups.push((key, vec![value])),
    }
}
