//! The result of an allocation, as it stands in `status.allocation` of a claim.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::claim::OpaqueDeviceConfiguration;
use crate::node::NodeSelector;
use crate::quantity::Quantity;
use crate::serde_help::{null_as_default, open_enum};
use crate::slice::SkipNodeOperation;
use crate::taint::DeviceToleration;

/// Devices and configuration of one claim, and the nodes that reach them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct AllocationResult {
    /// Devices and configuration.
    #[serde(default, deserialize_with = "null_as_default")]
    pub devices: DeviceAllocationResult,
    /// Nodes that reach all devices; absent means every node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<NodeSelector>,
    /// When the devices were allocated (RFC 3339); only with binding conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation_timestamp: Option<String>,
}

/// Devices and configuration of one claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct DeviceAllocationResult {
    /// Devices, in order of requests.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<DeviceRequestAllocationResult>,
    /// Configuration: that of classes first, then that of the claim.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub config: Vec<DeviceAllocationConfiguration>,
}

/// One device for one request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct DeviceRequestAllocationResult {
    /// `request`, or `request/subrequest`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub request: String,
    /// Driver.
    #[serde(default, deserialize_with = "null_as_default")]
    pub driver: String,
    /// Pool.
    #[serde(default, deserialize_with = "null_as_default")]
    pub pool: String,
    /// Device.
    #[serde(default, deserialize_with = "null_as_default")]
    pub device: String,
    /// True when the device stays free for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admin_access: Option<bool>,
    /// Tolerations of the request, copied.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub tolerations: Vec<DeviceToleration>,
    /// Conditions that must be true before the pod is bound.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub binding_conditions: Vec<String>,
    /// Conditions that make binding fail.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub binding_failure_conditions: Vec<String>,
    /// Identity of the share of a device that allows multiple allocations.
    #[serde(default, rename = "shareID", skip_serializing_if = "Option::is_none")]
    pub share_id: Option<String>,
    /// Capacity that this share takes from the device.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub consumed_capacity: BTreeMap<String, Quantity>,
    /// Operations that the kubelet leaves out.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub skip_node_operations: Vec<SkipNodeOperation>,
}

/// Configuration for the devices of some requests.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct DeviceAllocationConfiguration {
    /// Where it comes from.
    #[serde(default, deserialize_with = "null_as_default")]
    pub source: AllocationConfigSource,
    /// Requests it is for; empty means all.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<String>,
    /// The only kind that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<OpaqueDeviceConfiguration>,
}

open_enum! {
    /// Where configuration comes from.
    AllocationConfigSource {
        /// A device class.
        FromClass = "FromClass",
        /// The claim.
        FromClaim = "FromClaim",
    }
}
