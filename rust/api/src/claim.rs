//! Resource claims and templates: what workloads ask for, and what they got.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::allocation::AllocationResult;
use crate::metadata::{Condition, Metadata};
use crate::quantity::Quantity;
use crate::raw::RawJson;
use crate::serde_help::{null_as_default, open_enum};
use crate::taint::DeviceToleration;

/// A request for devices, and its allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct ResourceClaim {
    /// Name, namespace, uid.
    #[serde(default, deserialize_with = "null_as_default")]
    pub metadata: Metadata,
    /// What is asked for.
    #[serde(default, deserialize_with = "null_as_default")]
    pub spec: ResourceClaimSpec,
    /// What was allocated, and for whom it is reserved.
    #[serde(default, deserialize_with = "null_as_default")]
    pub status: ResourceClaimStatus,
}

/// `spec` of a [`ResourceClaim`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct ResourceClaimSpec {
    /// Requests, constraints and configuration.
    #[serde(default, deserialize_with = "null_as_default")]
    pub devices: DeviceClaim,
}

/// What a claim asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct DeviceClaim {
    /// Requests, which must all be met.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<DeviceRequest>,
    /// Conditions over the devices of several requests.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<DeviceConstraint>,
    /// Configuration for drivers.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub config: Vec<DeviceClaimConfiguration>,
}

/// One request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "RequestFields", into = "RequestFields")]
pub struct DeviceRequest {
    /// Name within the claim.
    pub name: String,
    /// What it asks for.
    pub kind: RequestKind,
}

/// What a request asks for. Where both fields are set, `firstAvailable` counts, as in upstream's allocator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RequestKind {
    /// One description of devices.
    Exactly(ExactDeviceRequest),
    /// Alternatives, the preferred one first.
    FirstAvailable(Vec<DeviceSubRequest>),
    /// Neither.
    #[default]
    Unknown,
}

#[derive(Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
struct RequestFields {
    #[serde(default, deserialize_with = "null_as_default")]
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exactly: Option<ExactDeviceRequest>,
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    first_available: Vec<DeviceSubRequest>,
}

impl From<RequestFields> for DeviceRequest {
    fn from(fields: RequestFields) -> Self {
        let kind = match fields.exactly {
            _ if !fields.first_available.is_empty() => RequestKind::FirstAvailable(fields.first_available),
            Some(exactly) => RequestKind::Exactly(exactly),
            None => RequestKind::Unknown,
        };
        Self { name: fields.name, kind }
    }
}

impl From<DeviceRequest> for RequestFields {
    fn from(request: DeviceRequest) -> Self {
        let (exactly, first_available) = match request.kind {
            RequestKind::Exactly(exactly) => (Some(exactly), Vec::new()),
            RequestKind::FirstAvailable(alternatives) => (None, alternatives),
            RequestKind::Unknown => (None, Vec::new()),
        };
        Self { name: request.name, exactly, first_available }
    }
}

/// A description of devices, and how many of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct ExactDeviceRequest {
    /// Class; its selectors and configuration apply.
    #[serde(default, deserialize_with = "null_as_default")]
    pub device_class_name: String,
    /// A device must satisfy all of them.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub selectors: Vec<DeviceSelector>,
    /// How many devices; the API's default is `ExactCount`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation_mode: Option<AllocationMode>,
    /// How many devices under `ExactCount`; the API's default is 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<i64>,
    /// True to use devices without holding them; never set on a subrequest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admin_access: Option<bool>,
    /// Taints that the request accepts.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<DeviceToleration>,
    /// How much of the devices' capacity is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<CapacityRequirements>,
    /// Attributes computed from others, for constraints.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub derived_attributes: Vec<DeviceDerivedAttribute>,
}

/// One alternative of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "SubRequestFields")]
pub struct DeviceSubRequest {
    /// Name within the request.
    pub name: String,
    /// What it asks for; admin access does not exist here.
    #[serde(flatten)]
    pub request: ExactDeviceRequest,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct SubRequestFields {
    #[serde(default, deserialize_with = "null_as_default")]
    name: String,
    #[serde(flatten)]
    request: ExactDeviceRequest,
}

impl From<SubRequestFields> for DeviceSubRequest {
    fn from(fields: SubRequestFields) -> Self {
        Self { name: fields.name, request: ExactDeviceRequest { admin_access: None, ..fields.request } }
    }
}

open_enum! {
    /// How many devices a request asks for.
    AllocationMode {
        /// As many as `count` says.
        ExactCount = "ExactCount",
        /// All that match.
        All = "All",
    }
}

/// A condition on one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct DeviceSelector {
    /// The only kind that exists; absent is a kind that this version does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cel: Option<CelDeviceSelector>,
}

/// A condition in CEL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct CelDeviceSelector {
    /// The expression; its variable is `device`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub expression: String,
}

/// How much capacity is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct CapacityRequirements {
    /// Amounts by qualified name.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<String, Quantity>,
}

/// An attribute computed from others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct DeviceDerivedAttribute {
    /// Fully qualified name; hides an attribute of the device.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// The CEL expression.
    #[serde(default, deserialize_with = "null_as_default")]
    pub expression: String,
}

/// A condition over the devices of several requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "ConstraintFields", into = "ConstraintFields")]
pub struct DeviceConstraint {
    /// Requests (`request` or `request/subrequest`); empty means all.
    pub requests: Vec<String>,
    /// The condition.
    pub kind: ConstraintKind,
}

/// The condition of a constraint. Where both fields are set, `matchAttribute` counts, as in upstream's allocator.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConstraintKind {
    /// All devices have this attribute with the same value.
    MatchAttribute(String),
    /// All devices have this attribute with different values.
    DistinctAttribute(String),
    /// A condition that this version does not know.
    #[default]
    Unknown,
}

#[derive(Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
struct ConstraintFields {
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    requests: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    match_attribute: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    distinct_attribute: Option<String>,
}

impl From<ConstraintFields> for DeviceConstraint {
    fn from(fields: ConstraintFields) -> Self {
        let kind = match (fields.match_attribute, fields.distinct_attribute) {
            (Some(attribute), _) => ConstraintKind::MatchAttribute(attribute),
            (None, Some(attribute)) => ConstraintKind::DistinctAttribute(attribute),
            (None, None) => ConstraintKind::Unknown,
        };
        Self { requests: fields.requests, kind }
    }
}

impl From<DeviceConstraint> for ConstraintFields {
    fn from(constraint: DeviceConstraint) -> Self {
        let (match_attribute, distinct_attribute) = match constraint.kind {
            ConstraintKind::MatchAttribute(attribute) => (Some(attribute), None),
            ConstraintKind::DistinctAttribute(attribute) => (None, Some(attribute)),
            ConstraintKind::Unknown => (None, None),
        };
        Self { requests: constraint.requests, match_attribute, distinct_attribute }
    }
}

/// Configuration for the devices of some requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct DeviceClaimConfiguration {
    /// Requests (`request` or `request/subrequest`); empty means all.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    /// The only kind that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<OpaqueDeviceConfiguration>,
}

/// Parameters that only a driver understands.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct OpaqueDeviceConfiguration {
    /// The driver.
    #[serde(default, deserialize_with = "null_as_default")]
    pub driver: String,
    /// Its parameters, as they were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<RawJson>,
}

/// `status` of a [`ResourceClaim`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct ResourceClaimStatus {
    /// What was allocated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation: Option<AllocationResult>,
    /// Who may use it.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub reserved_for: Vec<ConsumerReference>,
    /// What drivers report about the allocated devices.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<AllocatedDeviceStatus>,
}

/// A user of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct ConsumerReference {
    /// API group; empty for core.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub api_group: String,
    /// Resource, such as `pods`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub resource: String,
    /// Name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// Identity.
    #[serde(default, deserialize_with = "null_as_default")]
    pub uid: String,
}

/// What a driver reports about an allocated device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct AllocatedDeviceStatus {
    /// Driver.
    #[serde(default, deserialize_with = "null_as_default")]
    pub driver: String,
    /// Pool.
    #[serde(default, deserialize_with = "null_as_default")]
    pub pool: String,
    /// Device.
    #[serde(default, deserialize_with = "null_as_default")]
    pub device: String,
    /// Share of the device.
    #[serde(default, rename = "shareID", skip_serializing_if = "Option::is_none")]
    pub share_id: Option<String>,
    /// Conditions, among them binding conditions.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// A template that claims of pods are made from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct ResourceClaimTemplate {
    /// Name and namespace.
    #[serde(default, deserialize_with = "null_as_default")]
    pub metadata: Metadata,
    /// What the claims look like.
    #[serde(default, deserialize_with = "null_as_default")]
    pub spec: ResourceClaimTemplateSpec,
}

/// `spec` of a [`ResourceClaimTemplate`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct ResourceClaimTemplateSpec {
    /// Labels for the claims.
    #[serde(default, deserialize_with = "null_as_default")]
    pub metadata: Metadata,
    /// `spec` of the claims.
    #[serde(default, deserialize_with = "null_as_default")]
    pub spec: ResourceClaimSpec,
}
