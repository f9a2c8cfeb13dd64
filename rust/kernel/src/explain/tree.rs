//! Explanations as a tree for a terminal, at most 100 columns wide.

use crate::explain::branch::{Branch, wrap};
use crate::explain::line::{COMPETE, NO_NODE, counted};
use crate::explain::teller::Teller;
use crate::explain::{ConstraintFact, Element, Explanation, Fault, Group, RequestFacts};

/// Nodes that are named.
const NAMED: usize = 3;

/// Lines of facts that stand before what they come to, at most.
const MOST_BEFORE: usize = 12;

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
        let (facts, verdict) = (self.facts(), self.verdict());
        // Who reads a screen only should find what it comes to.
        if facts.iter().map(Branch::lines).sum::<usize>() > MOST_BEFORE {
            branches.extend(verdict.into_iter().chain(facts));
        } else {
            branches.extend(facts.into_iter().chain(verdict));
        }
        Branch { text: self.title(), branches }
    }

    /// What each request finds. Those that are met by themselves are not what is wrong, where others are not.
    fn facts(&self) -> Vec<Branch> {
        let is_unmet = |request: &RequestFacts| {
            self.by_request().any(|alternatives| {
                let is_it = alternatives.iter().any(|alternative| std::ptr::eq(alternative, request));
                is_it && !alternatives.iter().any(RequestFacts::is_met)
            })
        };
        let (unmet, met): (Vec<_>, Vec<_>) = self.alike().into_iter().partition(|alike| is_unmet(alike.first));
        let is_brief = self.fault.is_none() && !unmet.is_empty();
        let mut teller = Teller::new(self.fault.as_ref());
        let mut branches: Vec<_> = unmet.iter().map(|alike| teller.request(alike)).collect();
        branches.extend(met.iter().map(
            |alike| {
                if is_brief { Branch::leaf(alike.summary()) } else { teller.request(alike) }
            },
        ));
        branches
    }

    /// What it comes to: constraints that cannot be met, what clashes, and what would help.
    fn verdict(&self) -> Vec<Branch> {
        let message = |constraint: &ConstraintFact| format!("claim `{}`: {}", constraint.claim, constraint.message());
        let mut branches: Vec<_> =
            self.unmet_constraints().map(|constraint| Branch::leaf(message(constraint))).collect();
        if self.requests_compete() && branches.is_empty() {
            branches.push(self.clash());
        }
        branches.extend(self.hints());
        branches
    }

    /// Why requests that each find enough do not fit together.
    fn clash(&self) -> Branch {
        let Some(core) = &self.core else { return Branch::leaf(COMPETE) };
        if let Some((needed, usable)) = self.crowd().and_then(|crowd| crowd.shortage()) {
            let are = if usable == 1 { "is" } else { "are" };
            return Branch::leaf(format!("{COMPETE}: {needed} are needed, {usable} {are} there"));
        }
        let least = if core.minimal { ", and without any one of them it would" } else { "" };
        let elements = self.elements(core, |element| self.element(element)).into_iter().map(Branch::leaf);
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

    /// Whether claims are named, which differ from node to node.
    fn names_holders(&self) -> bool {
        let facts = self.requests.iter().flat_map(|request| &request.facts);
        facts.flat_map(|fact| &fact.holders).any(|holder| holder.claim.is_some())
    }

    fn title(&self) -> String {
        match &self.nodes[..] {
            [node] if self.fits => format!("the claims fit on node `{node}`"),
            nodes if self.fits => format!("the claims fit on {} nodes", nodes.len()),
            [node] => format!("no allocation on node `{node}`"),
            nodes => {
                let named: Vec<_> = nodes.iter().take(NAMED).map(|node| format!("`{node}`")).collect();
                let more = if nodes.len() > NAMED { ", …" } else { "" };
                let like = if self.names_holders() {
                    format!("; names of devices and claims are those on {}", named[0])
                } else {
                    String::new()
                };
                format!("no allocation on {} nodes: {}{more}{like}", nodes.len(), named.join(", "))
            }
        }
    }
}

fn fault(fault: &Fault) -> Branch {
    let device = fault.device.iter().filter(|device| !fault.text.contains(*device));
    let mut branches: Vec<_> = device.map(|device| Branch::leaf(format!("on device `{device}`"))).collect();
    branches.extend(fault.guarded.iter().map(|guarded| Branch::leaf(format!("write it as `{guarded}`"))));
    Branch { text: first_line(&fault.text).to_owned(), branches }
}

/// Compile errors go on with the expression and a mark under it, which only fits a wide screen.
fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or(text)
}
