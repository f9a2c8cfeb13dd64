//! Explanations as a tree for a terminal, at most 100 columns wide.

use crate::explain::line::{COMPETE, NO_NODE, counted, holder, sightings, summary};
use crate::explain::{CounterState, Element, Explanation, Fact, FactKind, Fault, Group, RequestFacts};

/// Columns of a terminal that every line fits in.
const COLUMNS: usize = 100;

/// Nodes, holders and counters that are named.
const NAMED: usize = 3;

/// A text and what belongs to it.
#[derive(Default)]
struct Branch {
    text: String,
    branches: Vec<Branch>,
}

impl Branch {
    fn leaf(text: impl Into<String>) -> Self {
        Self { text: text.into(), branches: Vec::new() }
    }

    /// Writes the branches under a text, each before the stem that connects those after it. Trees are a few levels deep.
    fn write(&self, stem: &str, lines: &mut Vec<String>) {
        for (index, branch) in self.branches.iter().enumerate() {
            let last = index + 1 == self.branches.len();
            let below = format!("{stem}{}", if last { "   " } else { "│  " });
            let beside = format!("{below}{}", if branch.branches.is_empty() { "   " } else { "│  " });
            let first = format!("{stem}{} ", if last { "└─" } else { "├─" });
            wrap(&branch.text, &first, &beside, lines);
            branch.write(&below, lines);
        }
    }
}

impl Explanation {
    /// A tree for a terminal, without a line break at the end.
    pub fn tree(&self) -> String {
        if self.groups.is_empty() {
            return NO_NODE.to_owned();
        }
        let mut lines = Vec::new();
        for group in &self.groups {
            let branch = group.branch();
            wrap(&branch.text, "", "  ", &mut lines);
            branch.write("", &mut lines);
        }
        lines.join("\n")
    }
}

impl Group {
    fn branch(&self) -> Branch {
        let mut branches: Vec<_> = self.fault.iter().map(fault).collect();
        branches.extend(self.pools.iter().map(|fact| Branch::leaf(counted(fact))));
        for alternatives in self.by_request() {
            branches.extend(alternatives.iter().map(request_branch));
        }
        branches.extend(
            self.unmet_constraints()
                .map(|constraint| Branch::leaf(format!("claim `{}`: {}", constraint.claim, constraint.message()))),
        );
        if self.requests_compete() && self.unmet_constraints().next().is_none() {
            branches.push(self.clash());
        }
        branches.extend(self.hints());
        Branch { text: self.title(), branches }
    }

    /// Why requests that each find enough do not fit together.
    fn clash(&self) -> Branch {
        let Some(core) = &self.core else { return Branch::leaf(COMPETE) };
        let least = if core.minimal { ", and without any one of them it would" } else { "" };
        let elements = core.elements.iter().map(|element| Branch::leaf(self.element(element)));
        Branch { text: format!("{COMPETE}: these do not fit{least}"), branches: elements.collect() }
    }

    /// An element of a clash, with the values that there are for a constraint.
    fn element(&self, element: &Element) -> String {
        let Element::Constraint { claim, constraint, .. } = element else { return element.text() };
        let fact = self.constraints.iter().find(|fact| fact.claim == *claim && fact.index == *constraint);
        fact.map_or_else(|| element.text(), |fact| format!("{} ({})", element.text(), fact.tally()))
    }

    fn hints(&self) -> Option<Branch> {
        let place = match &self.nodes[..] {
            [first, _, ..] => format!(" on `{first}`"),
            _ => String::new(),
        };
        let hints: Vec<_> = self.hints.iter().map(|hint| Branch::leaf(hint.text.clone())).collect();
        let each = if hints.len() > 1 { "each of these alone" } else { "this" };
        (!hints.is_empty()).then(|| Branch { text: format!("hint: {each} makes it fit{place}:"), branches: hints })
    }

    fn title(&self) -> String {
        match &self.nodes[..] {
            [node] if self.fits => format!("the claims fit on node `{node}`"),
            nodes if self.fits => format!("the claims fit on {} nodes", nodes.len()),
            [node] => format!("no allocation on node `{node}`"),
            nodes => {
                let named: Vec<_> = nodes.iter().take(NAMED).map(|node| format!("`{node}`")).collect();
                let more = if nodes.len() > NAMED { ", …" } else { "" };
                format!("no allocation on {} nodes: {}{more}", nodes.len(), named.join(", "))
            }
        }
    }
}

fn request_branch(request: &RequestFacts) -> Branch {
    let failing = |fact: &Fact| match &fact.kind {
        FactKind::SelectorFalse { failing, .. } => Some(*failing),
        _ => None,
    };
    let of_claim = request.facts.iter().filter(|fact| fact.kind.code() == "selector-false");
    let nearest = of_claim.clone().filter_map(failing).min();
    let is_choice = of_claim.count() > 1;
    let mut marked = false;
    // Pools stand above, as they concern every request.
    let facts = request.facts.iter().filter(|fact| fact.pool.is_none()).map(|fact| {
        let is_nearest = is_choice && !marked && fact.kind.code() == "selector-false" && failing(fact) == nearest;
        marked |= is_nearest;
        fact_branch(fact, is_nearest)
    });
    Branch { text: summary(request), branches: facts.collect() }
}

fn fact_branch(fact: &Fact, is_nearest: bool) -> Branch {
    let mut branches = Vec::new();
    match &fact.kind {
        FactKind::SelectorFalse { reasons, .. } => {
            for reason in reasons {
                let seen = sightings(&fact.sightings, &|seen| reason.text.contains(&seen.path));
                let negated = if reason.wanted { "" } else { " is true, but must not be" };
                let error = reason.error.as_ref().map(|error| format!(" fails: {error}")).unwrap_or_default();
                let seen = if seen.is_empty() { seen } else { format!(": {seen}") };
                branches.push(Branch::leaf(format!("`{}`{negated}{error}{seen}", reason.text)));
            }
        }
        FactKind::SelectorFailed { guarded: Some(guarded), .. } => {
            branches.push(Branch::leaf(format!("write it as `{guarded}`")));
        }
        _ => {}
    }
    for counter in fact.counters.iter().take(NAMED) {
        let CounterState { set, counter, left, total } = counter;
        branches.push(Branch::leaf(format!("counter `{counter}` of set `{set}`: {left} of {total} left")));
    }
    if fact.counters.len() > NAMED {
        branches.push(Branch::leaf(format!("{} more counters", fact.counters.len() - NAMED)));
    }
    let named = fact.holders.iter().filter(|holder| holder.claim.is_some());
    for one in named.clone().take(NAMED) {
        let devices = if one.devices == 1 { "1 device".to_owned() } else { format!("{} devices", one.devices) };
        branches.push(Branch::leaf(format!("{devices} held by {}", holder(one))));
    }
    if named.clone().count() > NAMED {
        branches.push(Branch::leaf(format!("{} more claims", named.count() - NAMED)));
    }
    let nearest = if is_nearest { ", nearest to fitting" } else { "" };
    let text = counted(fact);
    let text = if fact.examples.is_empty() { text } else { format!("{text} ({}{nearest})", examples(fact)) };
    Branch { text, branches }
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

fn fault(fault: &Fault) -> Branch {
    let device = fault.device.iter().filter(|device| !fault.text.contains(*device));
    let mut branches: Vec<_> = device.map(|device| Branch::leaf(format!("on device `{device}`"))).collect();
    branches.extend(fault.guarded.iter().map(|guarded| Branch::leaf(format!("write the selector as `{guarded}`"))));
    Branch { text: first_line(&fault.text).to_owned(), branches }
}

/// Compile errors go on with the expression and a mark under it, which only fits a wide screen.
fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or(text)
}

/// Breaks a text between words, and within those that are longer than a line.
fn wrap(text: &str, first: &str, rest: &str, lines: &mut Vec<String>) {
    let length = |text: &str| text.chars().count();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let space = usize::from(!is_empty);
        if length(&line) + space + length(word) > COLUMNS && !is_empty {
            lines.push(std::mem::replace(&mut line, rest.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        for character in word.chars() {
            if length(&line) >= COLUMNS {
                lines.push(std::mem::replace(&mut line, rest.to_owned()));
            }
            line.push(character);
        }
        is_empty = false;
    }
    lines.push(line);
}
