//! The two places where `resource.k8s.io/v1beta1` is laid out otherwise: devices nest their data under `basic`, and a request holds the
//! fields of `exactly` itself.

use serde::Deserialize;

use crate::claim::{
    DeviceClaim, DeviceClaimConfiguration, DeviceConstraint, DeviceRequest, DeviceSubRequest, ExactDeviceRequest,
    RequestKind, ResourceClaimSpec, ResourceClaimStatus, ResourceClaimTemplateSpec,
};
use crate::metadata::Metadata;
use crate::serde_help::null_as_default;
use crate::{Device, ResourceClaim, ResourceClaimTemplate, ResourceSlice, ResourceSliceSpec};

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct Slice {
    #[serde(default, deserialize_with = "null_as_default")]
    metadata: Metadata,
    #[serde(default, deserialize_with = "null_as_default")]
    spec: SliceSpec,
}

#[derive(Default, Deserialize)]
#[serde(expecting = "an object")]
struct SliceSpec {
    #[serde(default, deserialize_with = "null_as_default")]
    devices: Vec<NestedDevice>,
    #[serde(flatten)]
    rest: ResourceSliceSpec,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct NestedDevice {
    #[serde(default, deserialize_with = "null_as_default")]
    name: String,
    /// Absent on a device of a type that came after `basic`: the device has a name and nothing else.
    #[serde(default, deserialize_with = "null_as_default")]
    basic: Device,
}

impl From<Slice> for ResourceSlice {
    fn from(slice: Slice) -> Self {
        let devices = slice.spec.devices.into_iter().map(|device| Device { name: device.name, ..device.basic });
        let spec = ResourceSliceSpec { devices: devices.collect(), ..slice.spec.rest };
        Self { metadata: slice.metadata, spec }
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct Claim {
    #[serde(default, deserialize_with = "null_as_default")]
    metadata: Metadata,
    #[serde(default, deserialize_with = "null_as_default")]
    spec: ClaimSpec,
    #[serde(default, deserialize_with = "null_as_default")]
    status: ResourceClaimStatus,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(crate) struct Template {
    #[serde(default, deserialize_with = "null_as_default")]
    metadata: Metadata,
    #[serde(default, deserialize_with = "null_as_default")]
    spec: TemplateSpec,
}

#[derive(Default, Deserialize)]
#[serde(expecting = "an object")]
struct TemplateSpec {
    #[serde(default, deserialize_with = "null_as_default")]
    metadata: Metadata,
    #[serde(default, deserialize_with = "null_as_default")]
    spec: ClaimSpec,
}

#[derive(Default, Deserialize)]
#[serde(expecting = "an object")]
struct ClaimSpec {
    #[serde(default, deserialize_with = "null_as_default")]
    devices: Devices,
}

#[derive(Default, Deserialize)]
#[serde(expecting = "an object")]
struct Devices {
    #[serde(default, deserialize_with = "null_as_default")]
    requests: Vec<FlatRequest>,
    #[serde(default, deserialize_with = "null_as_default")]
    constraints: Vec<DeviceConstraint>,
    #[serde(default, deserialize_with = "null_as_default")]
    config: Vec<DeviceClaimConfiguration>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
struct FlatRequest {
    #[serde(default, deserialize_with = "null_as_default")]
    name: String,
    #[serde(default, deserialize_with = "null_as_default")]
    first_available: Vec<DeviceSubRequest>,
    #[serde(flatten)]
    exactly: ExactDeviceRequest,
}

impl From<FlatRequest> for DeviceRequest {
    fn from(request: FlatRequest) -> Self {
        let kind = if !request.first_available.is_empty() {
            RequestKind::FirstAvailable(request.first_available)
        } else if request.exactly == ExactDeviceRequest::default() {
            RequestKind::Unknown
        } else {
            RequestKind::Exactly(request.exactly)
        };
        Self { name: request.name, kind }
    }
}

impl From<ClaimSpec> for ResourceClaimSpec {
    fn from(spec: ClaimSpec) -> Self {
        let Devices { requests, constraints, config } = spec.devices;
        let requests = requests.into_iter().map(DeviceRequest::from).collect();
        Self { devices: DeviceClaim { requests, constraints, config } }
    }
}

impl From<Claim> for ResourceClaim {
    fn from(claim: Claim) -> Self {
        Self { metadata: claim.metadata, spec: claim.spec.into(), status: claim.status }
    }
}

impl From<Template> for ResourceClaimTemplate {
    fn from(template: Template) -> Self {
        let spec = ResourceClaimTemplateSpec { metadata: template.spec.metadata, spec: template.spec.spec.into() };
        Self { metadata: template.metadata, spec }
    }
}
