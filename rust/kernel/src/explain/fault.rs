//! Errors that an allocation ends with, as facts.

use crate::error::{AllocationError, PoolDefect, SelectorSource};
use crate::explain::{Fact, FactKind};

/// The error that an allocation ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The stable name of the error.
    pub code: &'static str,
    /// Upstream's text.
    pub text: String,
    /// `namespace/name` of the claim.
    pub claim: Option<String>,
    /// The request or subrequest.
    pub request: Option<String>,
    /// `driver/pool/device`.
    pub device: Option<String>,
    /// The gate that is off.
    pub gate: Option<&'static str>,
    /// The class that is missing.
    pub class: Option<String>,
    /// The selector that fails.
    pub selector: Option<(SelectorSource, usize)>,
    /// The selector, written so that what is missing does not make it fail.
    pub guarded: Option<String>,
}

impl Fault {
    pub(crate) fn new(error: &AllocationError) -> Self {
        let mut fault = Self {
            code: code(error),
            text: error.to_string(),
            claim: None,
            request: None,
            device: None,
            gate: None,
            class: None,
            selector: None,
            guarded: None,
        };
        match error {
            AllocationError::FeatureDisabled { feature, .. } => fault.gate = Some(feature.gate()),
            AllocationError::ClassNotFound { class, .. } => fault.class = Some(class.clone()),
            AllocationError::UnknownConstraint { claim, .. } => fault.claim = Some(claim.to_string()),
            AllocationError::NodeSelectorTerms { claim, .. } => fault.claim = Some(claim.clone()),
            AllocationError::SelectorCompile { at, index, .. } => fault.selector = Some((at.clone(), *index)),
            AllocationError::SelectorRuntime { at, index, device, .. } => {
                fault.selector = Some((at.clone(), *index));
                fault.device = Some(device.to_string());
            }
            AllocationError::DerivedRuntime { device, .. } | AllocationError::Constraint { device, .. } => {
                fault.device = Some(device.to_string());
            }
            AllocationError::Capacity { device, .. } => fault.device = Some(device.clone()),
            _ => {}
        }
        if let AllocationError::FeatureDisabled { at, .. }
        | AllocationError::UnknownSelector { at, .. }
        | AllocationError::MissingClassName { at }
        | AllocationError::UnknownRequest { at }
        | AllocationError::UnknownMode { at, .. }
        | AllocationError::ClassNotFound { at, .. }
        | AllocationError::TooManyDevices { at, .. }
        | AllocationError::AllFromUnusablePool { at, .. }
        | AllocationError::Capacity { at, .. }
        | AllocationError::Constraint { at, .. } = error
        {
            fault.claim = Some(at.claim.to_string());
            fault.request = Some(at.request.clone());
        }
        fault
    }

    /// The form of the selector that does not fail, if a fact is about the error and has it.
    pub(super) fn guarded_by(&self, fact: &Fact) -> Option<String> {
        let FactKind::SelectorFailed { source, index, guarded, .. } = &fact.kind else { return None };
        let (at, position) = self.selector.as_ref()?;
        guarded.clone().filter(|_| at == source && position == index)
    }
}

fn code(error: &AllocationError) -> &'static str {
    match error {
        AllocationError::FeatureDisabled { .. } => "feature-off",
        AllocationError::UnknownSelector { .. }
        | AllocationError::MissingClassName { .. }
        | AllocationError::UnknownRequest { .. }
        | AllocationError::UnknownMode { .. }
        | AllocationError::UnknownConstraint { .. } => "unsupported-request",
        AllocationError::ClassNotFound { .. } => "class-missing",
        AllocationError::TooManyDevices { .. } => "too-many-devices",
        AllocationError::SliceNodeSelector { .. }
        | AllocationError::DeviceNodeSelector(_)
        | AllocationError::NodeSelectorTerms { .. } => "node-selector-unusable",
        AllocationError::AllFromUnusablePool { defect: PoolDefect::Incomplete, .. } => "pool-incomplete",
        AllocationError::AllFromUnusablePool { defect: PoolDefect::Invalid, .. }
        | AllocationError::InvalidPools { .. } => "pool-invalid",
        AllocationError::SelectorCompile { .. } => "selector-invalid",
        AllocationError::SelectorRuntime { .. } => "selector-failed",
        AllocationError::DerivedCompile { .. } => "derived-attribute-invalid",
        AllocationError::DerivedRuntime { .. } => "derived-attribute-failed",
        AllocationError::Capacity { .. } => "capacity-failed",
        AllocationError::Constraint { .. } => "constraint-unmet",
    }
}
