//! The smallest set of requests, constraints, holders and taints that clash: without any one of them, the rest would fit.

use drayman_api::{ConstraintKind, RequestKind, ResourceClaim};
use serde_json::{Value, json};

use crate::explain::remedy::{names, toleration};
use crate::explain::trial::{Answer, Trial};

/// One thing that takes part in a clash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Element {
    /// A request of the claims.
    Request {
        /// `namespace/name` of the claim.
        claim: String,
        /// Name of the request.
        request: String,
    },
    /// A constraint of the claims.
    Constraint {
        /// `namespace/name` of the claim.
        claim: String,
        /// Its position there.
        constraint: usize,
        /// `matchAttribute` or `distinctAttribute`.
        kind: &'static str,
        /// Fully qualified name of the attribute.
        attribute: String,
    },
    /// A claim that holds devices.
    Holder {
        /// `namespace/name` of the claim.
        claim: String,
        /// The pods that it is reserved for.
        pods: Vec<String>,
    },
    /// A taint of devices.
    Taint {
        /// Its key.
        key: String,
        /// Its value.
        value: String,
        /// Its effect.
        effect: String,
    },
}

impl Element {
    /// The element in words.
    pub fn text(&self) -> String {
        match self {
            Self::Request { claim, request } => format!("request `{request}` of claim `{claim}`"),
            Self::Constraint { claim, constraint, kind, attribute } => {
                format!("constraint #{constraint} of claim `{claim}`: {kind} `{attribute}`")
            }
            Self::Holder { claim, pods } => match pods.first() {
                Some(pod) => format!("claim `{claim}` (pod `{pod}`), which holds devices"),
                None => format!("claim `{claim}`, which holds devices"),
            },
            Self::Taint { key, value, effect } if value.is_empty() => format!("taint `{key}:{effect}`"),
            Self::Taint { key, value, effect } => format!("taint `{key}={value}:{effect}`"),
        }
    }

    /// The element for programs.
    pub fn json(&self) -> Value {
        let mut json = match self {
            Self::Request { claim, request } => json!({"kind": "request", "claim": claim, "request": request}),
            Self::Constraint { claim, constraint, kind, attribute } => {
                json!({"kind": "constraint", "claim": claim, "constraint": constraint, *kind: attribute})
            }
            Self::Holder { claim, pods } => json!({"kind": "holder", "claim": claim, "pods": pods}),
            Self::Taint { key, value, effect } => {
                json!({"kind": "taint", "key": key, "value": value, "effect": effect})
            }
        };
        json["text"] = json!(self.text());
        json
    }
}

/// A set of elements that clash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Core {
    /// The elements.
    pub elements: Vec<Element>,
    /// Whether it is certain that none of them could be left out.
    pub minimal: bool,
}

/// Shrinks all that takes part to what clashes. None where the claims do not simply not fit.
pub(super) fn find(trial: &mut Trial<'_>) -> Option<Core> {
    if trial.as_is() != Answer::DoesNotFit {
        return None;
    }
    let all = elements(trial);
    let mut core = Shrinking { trial, kept: vec![true; all.len()], all: &all, is_sure: true };
    core.shrink();
    let minimal = core.settle();
    let kept = core.kept;
    let elements = all.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(element, _)| element);
    Some(Core { elements: elements.collect(), minimal })
}

/// Holders first, then taints, constraints and requests: what is tried first goes first, and what the user wrote tells most.
fn elements(trial: &Trial<'_>) -> Vec<Element> {
    let mut elements = Vec::new();
    for (claim, pods) in trial.excerpt.holding_claims() {
        elements.push(Element::Holder { claim: claim.to_string(), pods });
    }
    for taint in trial.excerpt.taints() {
        let (key, value) = (taint.key.clone(), taint.value.clone());
        elements.push(Element::Taint { key, value, effect: taint.effect.to_string() });
    }
    for claim in trial.claims {
        for (position, constraint) in claim.spec.devices.constraints.iter().enumerate() {
            let (kind, attribute) = match &constraint.kind {
                ConstraintKind::MatchAttribute(attribute) => ("matchAttribute", attribute),
                ConstraintKind::DistinctAttribute(attribute) => ("distinctAttribute", attribute),
                ConstraintKind::Unknown => continue,
            };
            let (claim, attribute) = (claim.metadata.key(), attribute.clone());
            elements.push(Element::Constraint { claim, constraint: position, kind, attribute });
        }
    }
    for claim in trial.claims {
        for request in &claim.spec.devices.requests {
            elements.push(Element::Request { claim: claim.metadata.key(), request: request.name.clone() });
        }
    }
    elements
}

struct Shrinking<'t, 'a> {
    trial: &'t mut Trial<'a>,
    all: &'t [Element],
    kept: Vec<bool>,
    is_sure: bool,
}

impl Shrinking<'_, '_> {
    /// Leaves out as much as possible at once, and halves what cannot go.
    fn shrink(&mut self) {
        let kind = |element: &Element| std::mem::discriminant(element);
        let mut chunks = Vec::new();
        let mut start = 0;
        for chunk in self.all.chunk_by(|one, other| kind(one) == kind(other)) {
            chunks.push(start..start + chunk.len());
            start += chunk.len();
        }
        chunks.reverse();
        while let Some(chunk) = chunks.pop() {
            if self.leave_out(chunk.clone()) || chunk.len() == 1 {
                continue;
            }
            let middle = chunk.start + chunk.len() / 2;
            chunks.push(middle..chunk.end);
            chunks.push(chunk.start..middle);
        }
    }

    /// Tries every element once more, until none can be left out; whether that is certain.
    fn settle(&mut self) -> bool {
        for _ in 0..self.all.len() {
            let mut changed = false;
            for index in 0..self.all.len() {
                changed |= self.kept[index] && self.leave_out(index..index + 1);
            }
            if !changed {
                return self.is_sure;
            }
        }
        false
    }

    /// Leaves elements out if the rest still clashes.
    fn leave_out(&mut self, chunk: std::ops::Range<usize>) -> bool {
        let before = self.kept[chunk.clone()].to_vec();
        self.kept[chunk.clone()].fill(false);
        let answer = self.ask();
        // An error may hide either answer; what the budget does not allow to know is not certain.
        self.is_sure &= answer != Answer::Unknown;
        if answer == Answer::DoesNotFit {
            return true;
        }
        self.kept[chunk].copy_from_slice(&before);
        false
    }

    fn ask(&mut self) -> Answer {
        let left_out = || self.all.iter().zip(&self.kept).filter(|(_, kept)| !**kept).map(|(element, _)| element);
        let mut claims = self.trial.claims.to_vec();
        left_out().for_each(|element| relax(element, &mut claims));
        let freed = left_out().filter_map(|element| match element {
            Element::Holder { claim, .. } => Some(claim.as_str()),
            _ => None,
        });
        let freed: Vec<_> = freed.collect();
        self.trial.without(&freed, &claims)
    }
}

/// Takes an element out of claims.
fn relax(element: &Element, claims: &mut [ResourceClaim]) {
    for claim in claims {
        match element {
            Element::Request { claim: key, request } if claim.metadata.key() == *key => {
                remove_request(claim, request);
            }
            Element::Constraint { claim: key, constraint, .. } if claim.metadata.key() == *key => {
                if let Some(constraint) = claim.spec.devices.constraints.get_mut(*constraint) {
                    constraint.requests = vec![NOBODY.to_owned()];
                }
            }
            Element::Taint { key, value, effect } => {
                for request in &mut claim.spec.devices.requests {
                    let add = |exact: &mut drayman_api::ExactDeviceRequest| {
                        exact.tolerations.push(toleration(key, value, effect));
                    };
                    match &mut request.kind {
                        RequestKind::Exactly(exactly) => add(exactly),
                        RequestKind::FirstAvailable(alternatives) => {
                            for alternative in alternatives {
                                add(&mut alternative.request);
                            }
                        }
                        RequestKind::Unknown => {}
                    }
                }
            }
            _ => {}
        }
    }
}

/// The name of no request: a constraint about it is about nothing.
const NOBODY: &str = "/";

/// Removes a request; constraints stay where they are, so that their positions keep their meaning.
fn remove_request(claim: &mut ResourceClaim, name: &str) {
    let devices = &mut claim.spec.devices;
    devices.requests.retain(|request| request.name != name);
    for constraint in devices.constraints.iter_mut().filter(|constraint| !constraint.requests.is_empty()) {
        constraint.requests.retain(|request| !names(request, name));
        if constraint.requests.is_empty() {
            constraint.requests.push(NOBODY.to_owned());
        }
    }
}
