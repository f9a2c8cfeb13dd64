//! Explanations as one line, and the phrases that line and tree share.

use drayman_cel::Seen;

use crate::explain::told::{Told, told};
use crate::explain::{Element, Explanation, Fact, FactKind, Fault, Group, Hint, Holder, Remedy, Sighting};

/// Longest line, in bytes: it has to fit beside upstream's text in an Event.
const LINE_LIMIT: usize = 300;

/// Holders and values that are named.
const NAMED: usize = 2;

pub(super) const COMPETE: &str = "every request finds devices by itself, but not all together";

pub(super) const NO_NODE: &str = "there is no node";

impl Explanation {
    /// One line of at most 300 bytes, about the nodes nearest to fitting.
    pub fn line(&self) -> String {
        let Some(group) = self.nearest() else { return NO_NODE.to_owned() };
        let line = match group.nodes.first() {
            Some(node) if self.groups.len() > 1 => format!("nearest node `{node}`: {}", group.line()),
            _ => group.line(),
        };
        let is_told = |hint: &&Hint| matches!(hint.change, Remedy::GuardSelector { .. });
        let hint = group
            .hints
            .iter()
            .find(|hint| !is_told(hint))
            .map(|hint| format!("; hint: {}", hint.text))
            .unwrap_or_default();
        // What is wrong comes first; a hint that would be cut off helps nobody.
        if line.len() + hint.len() <= LINE_LIMIT { shortened(line + &hint) } else { shortened(line) }
    }
}

impl Group {
    fn line(&self) -> String {
        if self.fits {
            return "the claims fit".to_owned();
        }
        if let Some(fault) = &self.fault {
            return self.failure(fault);
        }
        if let Some(request) = self.unmet().next() {
            let general = self.pools.iter().filter(|fact| fact.count == 0).map(brief);
            // Devices of other classes are told where there are no others; a hint tells more.
            let is_foreign = |fact: &Fact| fact.kind.code() == "class-selector-false";
            let are_all = request.facts.iter().all(is_foreign);
            let told = told(&request.facts);
            let told = told.iter().filter(|told| are_all || !is_foreign(&told.fact)).map(brief_told);
            let facts: Vec<_> = told.chain(general).collect();
            let alike = self.alike().into_iter().find(|alike| alike.has(request));
            let summary = alike.map(|alike| alike.summary()).unwrap_or_default();
            return format!("{summary}{}{}", if facts.is_empty() { "" } else { ": " }, facts.join("; "));
        }
        if let Some(constraint) = self.unmet_constraints().next() {
            return format!("claim `{}`: {}", constraint.claim, constraint.message());
        }
        if let Some(crowd) = self.crowd() {
            return crowd.summary();
        }
        let elements = self.core.iter().flat_map(|core| self.elements(core, Element::text));
        let pools = self.pools.iter().map(brief);
        let why: Vec<_> = elements.chain(pools).collect();
        format!("{COMPETE}{}{}", if why.is_empty() { "" } else { ": " }, why.join(", "))
    }

    /// The error that an allocation ends with, and what it is about where upstream's text does not say it.
    fn failure(&self, fault: &Fault) -> String {
        let text = fault.text.split('\n').next().unwrap_or_default();
        if let Some(guarded) = &fault.guarded {
            // Upstream's advice gives way to what it comes to.
            let error = text.split(". consider using").next().unwrap_or_default();
            return format!("{error}; write it as `{guarded}`");
        }
        let pools: Vec<_> = self.pools.iter().filter(|fact| fact.kind.code() == fault.code).map(brief).collect();
        if pools.is_empty() { text.to_owned() } else { format!("{text}: {}", pools.join("; ")) }
    }
}

/// A fact in a few words.
fn brief(fact: &Fact) -> String {
    format!("{}{}", counted(fact), details(fact))
}

/// What is told as one fact, in a few words.
fn brief_told(told: &Told<'_>) -> String {
    format!("{}{}", told.text(), details(&told.fact))
}

fn details(fact: &Fact) -> String {
    match &fact.kind {
        FactKind::DeviceHeld { .. } if fact.holders.iter().any(|holder| holder.claim.is_some()) => {
            let named: Vec<_> = fact.holders.iter().take(NAMED).map(holder).collect();
            let more = if fact.holders.len() > NAMED { ", …" } else { "" };
            format!(" by {}{more}", named.join(", "))
        }
        FactKind::SelectorFalse { reasons, .. } => match (&reasons[..], fact.sightings.first()) {
            ([reason], None) => format!(": {}", reason.text),
            (_, Some(sighting)) if !sighting.seen.is_empty() => {
                let differ = if fact.sightings.len() > 1 { ", …" } else { "" };
                format!(": {}{differ}", seen(&sighting.seen))
            }
            _ => String::new(),
        },
        FactKind::CounterShort { .. } => match &fact.counters[..] {
            [counter] => format!(", {} of {} left", counter.left, counter.total),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// A fact with the number of devices that it is about.
pub(super) fn counted(fact: &Fact) -> String {
    let message = match &fact.pool {
        Some(pool) => match fact.kind.message().strip_prefix("pool ") {
            Some(message) => format!("pool `{pool}` {message}"),
            None => format!("pool `{pool}` {}", fact.kind.message()),
        },
        None => fact.kind.message(),
    };
    match fact.count {
        0 => message,
        1 => format!("1 device: {message}"),
        count => format!("{count} devices: {message}"),
    }
}

/// A claim, and the pods that use it.
pub(super) fn holder(holder: &Holder) -> String {
    let Some(claim) = &holder.claim else { return "what was given as allocated".to_owned() };
    match &holder.pods[..] {
        [] => format!("claim `{claim}`"),
        [pod] => format!("claim `{claim}` (pod `{pod}`)"),
        [pod, rest @ ..] => format!("claim `{claim}` (pod `{pod}` and {} more)", rest.len()),
    }
}

/// Values that a selector saw: `memory is 40Gi`.
pub(super) fn seen(values: &[Seen]) -> String {
    let value = |seen: &Seen| match &seen.value {
        Some(value) => format!("{} is {value}", seen.name),
        None => format!("{} is missing", seen.name),
    };
    values.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// What selectors saw on different devices: `memory is 40Gi (6 devices), 16Gi (2 devices)`.
pub(super) fn sightings(sightings: &[Sighting], paths: &dyn Fn(&Seen) -> bool) -> String {
    let mut texts: Vec<(String, usize)> = Vec::new();
    for sighting in sightings {
        let values: Vec<_> = sighting.seen.iter().filter(|value| paths(value)).cloned().collect();
        let text = seen(&values);
        match texts.iter_mut().find(|(known, _)| *known == text) {
            Some((_, devices)) => *devices += sighting.devices,
            None => texts.push((text, sighting.devices)),
        }
    }
    texts.retain(|(text, _)| !text.is_empty());
    if let [(text, _)] = &texts[..] {
        return text.clone();
    }
    let more = if texts.len() > NAMED + 1 { ", …" } else { "" };
    let on = |(text, devices): &(String, usize)| match devices {
        1 => format!("{text} on 1 device"),
        _ => format!("{text} on {devices} devices"),
    };
    format!("{}{more}", texts.iter().take(NAMED + 1).map(on).collect::<Vec<_>>().join(", "))
}

/// Cuts on a character boundary.
fn shortened(mut line: String) -> String {
    const MORE: &str = " …";
    if line.contains('\n') {
        line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    if line.len() <= LINE_LIMIT {
        return line;
    }
    let mut end = LINE_LIMIT - MORE.len();
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.truncate(end);
    line + MORE
}
