//! Changes that could help: each is made to objects, so that the search itself can tell whether it does.

use drayman_api::{
    AllocationMode, CelDeviceSelector, DeviceTaintEffect, DeviceToleration, DeviceTolerationOperator,
    ExactDeviceRequest, PoolId, Quantity, RequestKind, ResourceClaim,
};
use serde_json::{Value, json};

use crate::features::Features;
use crate::inventory::Inventory;

/// A request of a claim, or one of its alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// `namespace/name` of the claim.
    pub claim: String,
    /// Name of the request.
    pub request: String,
    /// Name of the subrequest, where there are several.
    pub alternative: Option<String>,
}

impl At {
    /// The request among claims.
    pub(super) fn find<'a>(&self, claims: &'a [ResourceClaim]) -> Option<&'a ExactDeviceRequest> {
        let claim = claims.iter().find(|claim| claim.metadata.key() == self.claim)?;
        let request = claim.spec.devices.requests.iter().find(|request| request.name == self.request)?;
        match (&request.kind, &self.alternative) {
            (RequestKind::Exactly(exactly), None) => Some(exactly),
            (RequestKind::FirstAvailable(alternatives), Some(name)) => {
                alternatives.iter().find(|alternative| alternative.name == *name).map(|found| &found.request)
            }
            _ => None,
        }
    }
}

/// Where a selector stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SelectorAt {
    /// In a class, by name.
    Class(String),
    /// In a request.
    Request(At),
}

/// One change to the objects or settings of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// A taint is tolerated.
    TolerateTaint {
        /// Where; in every request of the claims if nothing is said.
        at: Option<At>,
        /// The taint's key.
        key: String,
        /// Its value.
        value: String,
        /// Its effect.
        effect: String,
    },
    /// A constraint is removed.
    DropConstraint {
        /// `namespace/name` of the claim.
        claim: String,
        /// Position of the constraint.
        constraint: usize,
    },
    /// A claim gives its devices back.
    FreeClaim {
        /// `namespace/name` of the claim.
        claim: String,
    },
    /// Fewer devices are asked for.
    ReduceCount {
        /// Where.
        at: At,
        /// How many.
        count: i64,
    },
    /// Less of a capacity is asked for.
    ReduceCapacity {
        /// Where.
        at: At,
        /// Name of the capacity.
        capacity: String,
        /// How much; nothing to ask for none of it.
        value: Option<String>,
    },
    /// A selector is written so that what is missing does not make it fail.
    GuardSelector {
        /// Where.
        at: SelectorAt,
        /// Its position there.
        index: usize,
        /// The new expression.
        expression: String,
    },
    /// A selector asks for less.
    RelaxSelector {
        /// Where.
        at: SelectorAt,
        /// Its position there.
        index: usize,
        /// The new expression.
        expression: String,
    },
    /// Another class is named, wherever the claims name one that does not exist.
    UseClass {
        /// The class that does not exist.
        missing: String,
        /// The class.
        class: String,
    },
    /// A feature gate is turned on.
    EnableGate {
        /// The gate.
        gate: &'static str,
    },
    /// The missing slices of a pool are published: at least, the pool can be used with those that are there.
    CompletePool {
        /// `driver/pool`.
        driver: String,
        /// Name of the pool.
        pool: String,
    },
    /// A request is removed.
    RemoveRequest {
        /// Where.
        at: At,
    },
}

impl Remedy {
    /// Makes the change to claims and to what they are allocated from; false where it cannot be made.
    pub(super) fn apply(&self, inventory: &mut Inventory, claims: &mut [ResourceClaim]) -> bool {
        match self {
            Self::TolerateTaint { at, key, value, effect } => {
                edit(claims, at.as_ref(), |request| request.tolerations.push(toleration(key, value, effect)))
            }
            Self::DropConstraint { claim, constraint } => find(claims, claim).is_some_and(|claim| {
                let constraints = &mut claim.spec.devices.constraints;
                let exists = *constraint < constraints.len();
                if exists {
                    constraints.remove(*constraint);
                }
                exists
            }),
            Self::FreeClaim { claim } => {
                inventory.free(claim);
                true
            }
            Self::ReduceCount { at, count } => edit(claims, Some(at), |request| {
                request.allocation_mode = Some(AllocationMode::ExactCount);
                request.count = Some(*count);
            }),
            Self::ReduceCapacity { at, capacity, value } => {
                let Ok(value) = value.as_ref().map(|value| value.parse::<Quantity>()).transpose() else { return false };
                edit(claims, Some(at), |request| {
                    let requests = &mut request.capacity.get_or_insert_default().requests;
                    requests.remove(capacity);
                    requests.extend(value.clone().map(|value| (capacity.clone(), value)));
                })
            }
            Self::GuardSelector { at, index, expression } | Self::RelaxSelector { at, index, expression } => {
                replace_selector(inventory, claims, at, *index, expression)
            }
            Self::UseClass { missing, class } => edit(claims, None, |request| {
                if request.device_class_name == *missing {
                    request.device_class_name.clone_from(class);
                }
            }),
            Self::EnableGate { .. } => true,
            Self::CompletePool { driver, pool } => {
                inventory.complete(&PoolId { driver: driver.clone(), pool: pool.clone() })
            }
            Self::RemoveRequest { at } => {
                find(claims, &at.claim).is_some_and(|claim| remove_request(claim, &at.request))
            }
        }
    }

    /// The features under which the change is looked at.
    pub(super) fn features(&self, features: Features) -> Features {
        match self {
            Self::EnableGate { gate } => features.with_gate(gate),
            _ => features,
        }
    }

    /// The change for programs; `docs/explain.md` has the kinds.
    pub fn json(&self) -> Value {
        match self {
            Self::TolerateTaint { at, key, value, effect } => {
                let json = json!({"kind": "tolerate-taint", "key": key, "value": value, "effect": effect});
                at.as_ref().map_or_else(|| json.clone(), |at| with(at, json.clone()))
            }
            Self::DropConstraint { claim, constraint } => {
                json!({"kind": "drop-constraint", "claim": claim, "constraint": constraint})
            }
            Self::FreeClaim { claim } => json!({"kind": "free-claim", "claim": claim}),
            Self::ReduceCount { at, count } => with(at, json!({"kind": "reduce-count", "count": count})),
            Self::ReduceCapacity { at, capacity, value } => {
                with(at, json!({"kind": "reduce-capacity", "capacity": capacity, "value": value}))
            }
            Self::GuardSelector { at, index, expression } => at.json("guard-selector", *index, expression),
            Self::RelaxSelector { at, index, expression } => at.json("relax-selector", *index, expression),
            Self::UseClass { missing, class } => json!({"kind": "use-class", "missing": missing, "class": class}),
            Self::EnableGate { gate } => json!({"kind": "enable-gate", "gate": gate}),
            Self::CompletePool { driver, pool } => json!({"kind": "complete-pool", "driver": driver, "pool": pool}),
            Self::RemoveRequest { at } => json!({"kind": "remove-request", "claim": at.claim, "request": at.request}),
        }
    }
}

impl SelectorAt {
    fn json(&self, kind: &str, index: usize, expression: &str) -> Value {
        let json = json!({"kind": kind, "index": index, "expression": expression});
        match self {
            Self::Class(class) => {
                let mut json = json;
                json["class"] = json!(class);
                json
            }
            Self::Request(at) => with(at, json),
        }
    }
}

fn with(at: &At, mut json: Value) -> Value {
    json["claim"] = json!(at.claim);
    json["request"] = json!(at.request);
    json["alternative"] = json!(at.alternative);
    json
}

/// A toleration of exactly one taint.
pub(super) fn toleration(key: &str, value: &str, effect: &str) -> DeviceToleration {
    DeviceToleration {
        key: Some(key.to_owned()),
        operator: Some(DeviceTolerationOperator::Equal),
        value: Some(value.to_owned()),
        effect: Some(DeviceTaintEffect::from(effect.to_owned())),
        toleration_seconds: None,
    }
}

fn find<'a>(claims: &'a mut [ResourceClaim], key: &str) -> Option<&'a mut ResourceClaim> {
    claims.iter_mut().find(|claim| claim.metadata.key() == key)
}

/// Changes a request, or all; whether there was one.
fn edit(claims: &mut [ResourceClaim], at: Option<&At>, mut change: impl FnMut(&mut ExactDeviceRequest)) -> bool {
    let mut found = false;
    for claim in claims {
        let key = claim.metadata.key();
        for request in &mut claim.spec.devices.requests {
            let name = request.name.clone();
            let is_meant = |alternative: Option<&str>| {
                at.is_none_or(|at| at.claim == key && at.request == name && at.alternative.as_deref() == alternative)
            };
            match &mut request.kind {
                RequestKind::Exactly(exactly) if is_meant(None) => {
                    change(exactly);
                    found = true;
                }
                RequestKind::FirstAvailable(alternatives) => {
                    for alternative in alternatives.iter_mut().filter(|one| is_meant(Some(&one.name))) {
                        change(&mut alternative.request);
                        found = true;
                    }
                }
                _ => {}
            }
        }
    }
    found
}

fn replace_selector(
    inventory: &mut Inventory,
    claims: &mut [ResourceClaim],
    at: &SelectorAt,
    index: usize,
    expression: &str,
) -> bool {
    let cel = || Some(CelDeviceSelector { expression: expression.to_owned() });
    match at {
        SelectorAt::Request(at) => {
            let mut exists = false;
            edit(claims, Some(at), |request| {
                if let Some(selector) = request.selectors.get_mut(index) {
                    selector.cel = cel();
                    exists = true;
                }
            });
            exists
        }
        SelectorAt::Class(name) => {
            let Some(class) = inventory.classes().get(name) else { return false };
            let mut class = (*class).clone();
            let Some(selector) = class.spec.selectors.get_mut(index) else { return false };
            selector.cel = cel();
            inventory.replace_class(class);
            true
        }
    }
}

/// Whether a name, as constraints have them, is that of a request or of one of its alternatives.
pub(super) fn names(reference: &str, request: &str) -> bool {
    reference.split_once('/').map_or(reference, |(base, _)| base) == request
}

/// Removes a request from a claim, and from the constraints that are about it.
fn remove_request(claim: &mut ResourceClaim, name: &str) -> bool {
    let devices = &mut claim.spec.devices;
    let before = devices.requests.len();
    devices.requests.retain(|request| request.name != name);
    devices.constraints.retain_mut(|constraint| {
        // A constraint without names is about all requests, so one that loses its last name goes.
        let named = !constraint.requests.is_empty();
        constraint.requests.retain(|request| !names(request, name));
        !named || !constraint.requests.is_empty()
    });
    devices.requests.len() < before
}
