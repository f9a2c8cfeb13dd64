//! Defaults that the API server fills in when an object is created; upstream's `pkg/apis/resource/v1/defaults.go`.

use crate::claim::{AllocationMode, DeviceRequest, ExactDeviceRequest, RequestKind, ResourceClaimSpec};
use crate::taint::DeviceTolerationOperator;

impl ResourceClaimSpec {
    /// Fills in what the API server would: `ExactCount`, a count of 1, and the operator `Equal`.
    pub fn set_defaults(&mut self) {
        self.devices.requests.iter_mut().for_each(DeviceRequest::set_defaults);
    }
}

impl DeviceRequest {
    fn set_defaults(&mut self) {
        match &mut self.kind {
            RequestKind::Exactly(exactly) => exactly.set_defaults(),
            RequestKind::FirstAvailable(alternatives) => {
                for alternative in alternatives {
                    alternative.request.set_defaults();
                }
            }
            RequestKind::Unknown => {}
        }
    }
}

impl ExactDeviceRequest {
    fn set_defaults(&mut self) {
        if self.allocation_mode.as_ref().is_none_or(|mode| mode.as_str().is_empty()) {
            self.allocation_mode = Some(AllocationMode::ExactCount);
        }
        if self.allocation_mode == Some(AllocationMode::ExactCount) && self.count.unwrap_or_default() == 0 {
            self.count = Some(1);
        }
        for toleration in &mut self.tolerations {
            if toleration.operator.as_ref().is_none_or(|operator| operator.as_str().is_empty()) {
                toleration.operator = Some(DeviceTolerationOperator::Equal);
            }
        }
    }
}
