//! Claims, lowered to what a search works with, and checked as far as no node is needed (upstream's first part of `Allocate`).

use std::collections::BTreeMap;
use std::sync::Arc;

use drayman_api::{AllocationMode, DeviceRequest, DeviceSelector, ExactDeviceRequest, RequestKind, ResourceClaim};

use crate::constraint::ConstraintPlan;
use crate::derived::Derived;
use crate::error::{AllocationError, DisabledFeature, RequestPath, SelectorSource};
use crate::features::{Compatibility, Feature, Features};
use crate::inventory::classes::Classes;
use crate::inventory::pools::Rules;
use crate::search::Choice;
use crate::selectors::{Chain, Selectors};

/// The claims of one pod.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) features: Features,
    pub(crate) compatibility: Compatibility,
    pub(crate) strict_errors: bool,
    pub(crate) claims: Vec<ClaimPlan>,
}

impl Plan {
    /// All alternatives of all requests.
    pub(crate) fn choices(&self) -> Vec<Choice> {
        let mut choices = Vec::new();
        for (claim, plan) in self.claims.iter().enumerate() {
            for (request, plan) in plan.requests.iter().enumerate() {
                choices.extend((0..plan.alternatives.len()).map(|alternative| Choice { claim, request, alternative }));
            }
        }
        choices
    }
}

/// One claim. Where upstream finds a fault, nothing follows any more.
#[derive(Debug)]
pub(crate) struct ClaimPlan {
    /// `namespace/name`.
    pub(crate) key: Arc<str>,
    pub(crate) object: Arc<ResourceClaim>,
    pub(crate) requests: Vec<RequestPlan>,
    pub(crate) constraints: Vec<ConstraintPlan>,
    /// A fault found after all requests.
    pub(crate) fault: Option<AllocationError>,
}

/// One request.
#[derive(Debug)]
pub(crate) struct RequestPlan {
    pub(crate) name: String,
    /// Whether the request has `firstAvailable`.
    pub(crate) is_list: bool,
    /// One, or those of `firstAvailable`.
    pub(crate) alternatives: Vec<Alternative>,
    /// A fault found after the alternatives before it.
    pub(crate) fault: Option<AllocationError>,
}

impl ClaimPlan {
    /// Whether a constraint is about some request from this one on.
    pub(crate) fn concerns_later(&self, constraint: usize, request: usize) -> bool {
        let alternatives = self.requests.iter().skip(request).flat_map(|request| &request.alternatives);
        alternatives.into_iter().any(|alternative| alternative.constrained_by.contains(&constraint))
    }
}

/// How many devices are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// This many.
    Exactly(i64),
    /// All that match.
    All,
}

/// A request without `firstAvailable`, or one of its subrequests.
#[derive(Debug)]
pub(crate) struct Alternative {
    /// Claim and own name, as errors name it.
    pub(crate) path: RequestPath,
    /// `request` or `request/subrequest`.
    pub(crate) reference: String,
    pub(crate) request: ExactDeviceRequest,
    pub(crate) class: Arc<drayman_api::DeviceClass>,
    pub(crate) chain: Arc<Chain>,
    pub(crate) mode: Mode,
    pub(crate) admin: bool,
    /// Constraints of the claim that are about it.
    pub(crate) constrained_by: Vec<usize>,
    /// Expressions of derived attributes by name.
    pub(crate) derived: BTreeMap<String, Arc<Derived>>,
}

impl Alternative {
    /// The text of a selector of the chain.
    pub(crate) fn expression(&self, index: usize) -> &str {
        let mut selectors = self.class.spec.selectors.iter().chain(&self.request.selectors);
        selectors.nth(index).and_then(|selector| selector.cel.as_ref()).map_or("", |cel| &cel.expression)
    }

    /// Where a selector of the chain stands, and its position there.
    pub(crate) fn selector_source(&self, index: usize) -> (SelectorSource, usize) {
        let of_class = self.class.spec.selectors.len();
        match index.checked_sub(of_class) {
            None => (SelectorSource::Class(self.class.metadata.name.as_str().into()), index),
            Some(index) => (SelectorSource::Claim(Arc::clone(&self.path.claim)), index),
        }
    }
}

/// What lowering needs to know.
pub(crate) struct Lowering<'a> {
    pub(crate) rules: Rules,
    pub(crate) classes: &'a Classes,
    pub(crate) selectors: &'a mut Selectors,
}

impl Lowering<'_> {
    /// Lowers claims up to the first fault.
    pub(crate) fn lower(&mut self, claims: &[ResourceClaim]) -> Plan {
        let Rules { features, compatibility, strict_errors } = self.rules;
        let mut plan = Plan { features, compatibility, strict_errors, claims: Vec::with_capacity(claims.len()) };
        for claim in claims {
            let lowered = self.claim(claim);
            let faulty =
                lowered.fault.is_some() || lowered.requests.last().is_some_and(|request| request.fault.is_some());
            plan.claims.push(lowered);
            if faulty {
                break;
            }
        }
        plan
    }

    fn claim(&mut self, claim: &ResourceClaim) -> ClaimPlan {
        let mut plan = ClaimPlan {
            key: claim.metadata.key().into(),
            object: Arc::new(claim.clone()),
            requests: Vec::new(),
            constraints: Vec::new(),
            fault: None,
        };
        for request in &claim.spec.devices.requests {
            let request = self.request(&plan.key, request);
            let faulty = request.fault.is_some();
            plan.requests.push(request);
            if faulty {
                return plan;
            }
        }
        for (index, constraint) in claim.spec.devices.constraints.iter().enumerate() {
            let Some(constraint) = ConstraintPlan::new(constraint) else {
                plan.fault = Some(AllocationError::UnknownConstraint { claim: Arc::clone(&plan.key), index });
                return plan;
            };
            plan.constraints.push(constraint);
        }
        for request in &mut plan.requests {
            for alternative in &mut request.alternatives {
                let about = |constraint: &ConstraintPlan| constraint.applies_to(&request.name, &alternative.reference);
                let constraints = plan.constraints.iter().enumerate();
                alternative.constrained_by =
                    constraints.filter(|(_, constraint)| about(constraint)).map(|(index, _)| index).collect();
            }
        }
        plan
    }

    fn request(&mut self, claim: &Arc<str>, request: &DeviceRequest) -> RequestPlan {
        let mut plan = RequestPlan {
            name: request.name.clone(),
            is_list: matches!(request.kind, RequestKind::FirstAvailable(_)),
            alternatives: Vec::new(),
            fault: None,
        };
        plan.fault = self.alternatives(claim, request, &mut plan.alternatives).err();
        plan
    }

    fn alternatives(
        &mut self,
        claim: &Arc<str>,
        request: &DeviceRequest,
        alternatives: &mut Vec<Alternative>,
    ) -> Result<(), AllocationError> {
        let path = |name: &str| RequestPath { claim: Arc::clone(claim), request: name.to_owned() };
        let at = path(&request.name);
        let features = self.rules.features;
        let disabled = |feature| AllocationError::FeatureDisabled { at: at.clone(), feature };
        match &request.kind {
            RequestKind::Unknown => return Err(AllocationError::UnknownRequest { at }),
            RequestKind::Exactly(exactly) => {
                if exactly.capacity.is_some() && !features.has(Feature::ConsumableCapacity) {
                    return Err(disabled(DisabledFeature::Capacity));
                }
                alternatives.push(self.alternative(at, request.name.clone(), exactly)?);
            }
            RequestKind::FirstAvailable(subrequests) => {
                if !features.has(Feature::PrioritizedList) {
                    return Err(disabled(DisabledFeature::PrioritizedList));
                }
                let with_capacity = subrequests.iter().find(|subrequest| subrequest.request.capacity.is_some());
                if let Some(subrequest) = with_capacity.filter(|_| !features.has(Feature::ConsumableCapacity)) {
                    return Err(disabled(DisabledFeature::SubrequestCapacity(subrequest.name.clone())));
                }
                for subrequest in subrequests {
                    // Subrequests have no admin access, whatever their JSON says.
                    let exactly = ExactDeviceRequest { admin_access: None, ..subrequest.request.clone() };
                    let reference = format!("{}/{}", request.name, subrequest.name);
                    alternatives.push(self.alternative(path(&subrequest.name), reference, &exactly)?);
                }
            }
        }
        Ok(())
    }

    /// Checks in upstream's order, which decides about the error.
    fn alternative(
        &mut self,
        at: RequestPath,
        reference: String,
        request: &ExactDeviceRequest,
    ) -> Result<Alternative, AllocationError> {
        let features = self.rules.features;
        let refuse = |feature| Err(AllocationError::FeatureDisabled { at: at.clone(), feature });
        if !request.derived_attributes.is_empty() && !features.has(Feature::DerivedAttributes) {
            return refuse(DisabledFeature::DerivedAttributes);
        }
        let expressions = expressions(&at, &request.selectors)?;
        if request.admin_access.is_some() && !features.has(Feature::AdminAccess) {
            return refuse(DisabledFeature::AdminAccess);
        }
        if request.device_class_name.is_empty() {
            return Err(AllocationError::MissingClassName { at });
        }
        let Some(class) = self.classes.get(&request.device_class_name) else {
            return Err(AllocationError::ClassNotFound { class: request.device_class_name.clone(), at });
        };
        // The API server fills in both; what is missing here was not given by it, and upstream does not guess either.
        let mode = match &request.allocation_mode {
            Some(AllocationMode::ExactCount) => Mode::Exactly(request.count.unwrap_or_default()),
            Some(AllocationMode::All) => Mode::All,
            Some(AllocationMode::Unknown(mode)) => return Err(AllocationError::UnknownMode { mode: mode.clone(), at }),
            None => return Err(AllocationError::UnknownMode { mode: String::new(), at }),
        };
        let of_class = self::expressions(&at, &class.spec.selectors)?;
        let chain = self.selectors.chain(of_class.into_iter().chain(expressions));
        let derived = request.derived_attributes.iter();
        let derived =
            derived.map(|derived| (derived.name.clone(), self.selectors.derived(&derived.expression))).collect();
        Ok(Alternative {
            path: at,
            reference,
            class,
            chain,
            mode,
            admin: request.admin_access == Some(true),
            constrained_by: Vec::new(),
            derived,
            request: request.clone(),
        })
    }
}

fn expressions<'a>(at: &RequestPath, selectors: &'a [DeviceSelector]) -> Result<Vec<&'a str>, AllocationError> {
    let expression = |(index, selector): (usize, &'a DeviceSelector)| {
        let cel = selector.cel.as_ref().ok_or_else(|| AllocationError::UnknownSelector { at: at.clone(), index })?;
        Ok(cel.expression.as_str())
    };
    selectors.iter().enumerate().map(expression).collect()
}
