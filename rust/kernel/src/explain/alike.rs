//! Requests that find the same are told together.

use crate::explain::names::{named, unique};
use crate::explain::{Core, Element, Group, RequestFacts};

/// Elements of a clash of one kind that are told by themselves.
const ELEMENTS: usize = 4;

/// Requests, or alternatives of some, that need the same and find the same.
pub(super) struct Alike<'a> {
    pub(super) first: &'a RequestFacts,
    members: Vec<&'a RequestFacts>,
}

impl Group {
    /// The requests: those for which the same holds together, in order of the first of each.
    pub(super) fn alike(&self) -> Vec<Alike<'_>> {
        let mut found: Vec<Alike<'_>> = Vec::new();
        for request in &self.requests {
            match found.iter_mut().find(|alike| is_same(alike.first, request)) {
                Some(alike) => alike.members.push(request),
                None => found.push(Alike { first: request, members: vec![request] }),
            }
        }
        found
    }

    /// The elements of a clash, requests that are alike together.
    pub(super) fn elements(&self, core: &Core, text: impl Fn(&Element) -> String) -> Vec<String> {
        let alike = self.alike();
        let of = |element: &Element| alike.iter().position(|alike| alike.includes(element));
        let mut texts = Vec::new();
        for elements in core.elements.chunk_by(|one, other| of(one).is_some() && of(one) == of(other)) {
            match elements {
                [element] => texts.push(text(element)),
                elements => texts.push(requests(elements)),
            }
        }
        let holders = |element: &&Element| matches!(element, Element::Holder { .. });
        let more = core.elements.iter().filter(holders).count().saturating_sub(ELEMENTS);
        if more > 1 {
            texts.splice(ELEMENTS..ELEMENTS + more, [format!("{more} more claims, which hold devices")]);
        }
        texts
    }

    /// The requests of a clash in which nothing else takes part, when they are all alike and there are just too few devices.
    pub(super) fn crowd(&self) -> Option<Alike<'_>> {
        let elements = &self.core.as_ref()?.elements;
        self.alike()
            .into_iter()
            .find(|alike| alike.shortage().is_some() && elements.iter().all(|element| alike.includes(element)))
    }
}

fn is_same(one: &RequestFacts, other: &RequestFacts) -> bool {
    let numbers = |facts: &RequestFacts| (facts.wanted, facts.admin, facts.usable, facts.devices);
    let is_choice = |facts: &RequestFacts| facts.alternative.is_some();
    numbers(one) == numbers(other)
        && is_choice(one) == is_choice(other)
        && one.class == other.class
        && one.facts == other.facts
}

impl Alike<'_> {
    pub(super) fn has(&self, request: &RequestFacts) -> bool {
        self.members.iter().any(|member| std::ptr::eq(*member, request))
    }

    /// Devices that the requests need together; none where that depends on which alternatives are taken.
    fn together(&self) -> Option<i64> {
        let count = i64::try_from(self.members.len()).ok()?;
        self.first.wanted.filter(|_| self.first.alternative.is_none())?.checked_mul(count)
    }

    /// What they need together and what there is, where that is too little.
    pub(super) fn shortage(&self) -> Option<(i64, i64)> {
        let usable = i64::try_from(self.first.usable).ok()?;
        self.together().filter(|together| *together > usable).map(|together| (together, usable))
    }

    /// The requests.
    pub(super) fn requests(&self) -> impl Iterator<Item = &RequestFacts> {
        self.members.iter().copied()
    }

    fn includes(&self, element: &Element) -> bool {
        let Element::Request { claim, request } = element else { return false };
        self.members.iter().any(|facts| facts.claim == *claim && facts.request == *request)
    }

    /// What the requests need, and how much of that they find.
    pub(super) fn summary(&self) -> String {
        let RequestFacts { claim, class, usable, devices, admin, .. } = self.first;
        let wanted = match self.first.wanted {
            Some(1) => "1 device".to_owned(),
            Some(count) => format!("{count} devices"),
            None => "all devices".to_owned(),
        };
        let admin = if *admin { " with admin access" } else { "" };
        let what = format!("{wanted} of class `{class}`{admin}");
        let found = format!("{usable} of {devices} can be used");
        if self.members.len() == 1 {
            return format!("claim `{claim}`, request `{}` needs {what}, {found}", self.first.reference());
        }
        let references: Vec<_> = self.members.iter().map(|facts| facts.reference()).collect();
        let who = named(&references.iter().map(String::as_str).collect::<Vec<_>>());
        let claims = claims(self.members.iter().map(|facts| facts.claim.as_str()));
        let count = self.members.len();
        if let Some(together) = self.together() {
            return format!("{count} requests ({who} of {claims}) each need {what}: {together} together, {found}");
        }
        let kind = if self.first.alternative.is_some() { "alternatives" } else { "requests" };
        format!("{count} {kind} ({who} of {claims}) each need {what}, {found}")
    }
}

fn requests(elements: &[Element]) -> String {
    let parts = elements.iter().filter_map(|element| match element {
        Element::Request { claim, request } => Some((claim.as_str(), request.as_str())),
        _ => None,
    });
    let (owners, names): (Vec<_>, Vec<_>) = parts.unzip();
    format!("{} requests: {} of {}", elements.len(), named(&names), claims(owners.into_iter()))
}

fn claims<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names = unique(names);
    format!("{} {}", if names.len() == 1 { "claim" } else { "claims" }, named(&names))
}
