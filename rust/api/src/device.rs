//! Devices of a slice: attributes, capacity, counters, placement.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::node::{NodeSelection, NodeSelector};
use crate::quantity::Quantity;
use crate::serde_help::null_as_default;
use crate::taint::DeviceTaint;

/// One device of a slice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct Device {
    /// Name within the pool.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// Attributes by qualified name.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, DeviceAttribute>,
    /// Capacities by qualified name.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub capacity: BTreeMap<String, DeviceCapacity>,
    /// What it takes from the counter sets of its pool while it is allocated.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub consumes_counters: Vec<DeviceCounterConsumption>,
    /// The only node that reaches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    /// The nodes that reach it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<NodeSelector>,
    /// True when every node reaches it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_nodes: Option<bool>,
    /// Taints set by the driver.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<DeviceTaint>,
    /// True when an allocation ties the claim to the node that it was made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binds_to_node: Option<bool>,
    /// Conditions that must be true before a pod is bound.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub binding_conditions: Vec<String>,
    /// Conditions that make binding fail.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub binding_failure_conditions: Vec<String>,
    /// True when several requests may hold the device at once, each with a share of its capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_multiple_allocations: Option<bool>,
    /// What the device adds to a pod's use of the node's own resources.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub node_allocatable_resources: BTreeMap<String, NodeAllocatableResource>,
}

impl Device {
    /// Which nodes reach the device, where its slice leaves that to the devices.
    pub fn node_selection(&self) -> NodeSelection<'_> {
        NodeSelection::new(self.node_name.as_deref(), self.all_nodes, self.node_selector.as_ref(), None)
    }
}

/// Value of an attribute. Where several fields are set, lists come first, as in upstream's CEL environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "AttributeFields", into = "AttributeFields")]
pub enum DeviceAttribute {
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A string.
    String(String),
    /// A semantic version.
    Version(String),
    /// Integers.
    Ints(Vec<i64>),
    /// Truth values.
    Bools(Vec<bool>),
    /// Strings.
    Strings(Vec<String>),
    /// Semantic versions.
    Versions(Vec<String>),
    /// A value of a type that this version does not know.
    #[default]
    Unknown,
}

#[derive(Default, Deserialize, Serialize)]
#[serde(expecting = "an object", default)]
struct AttributeFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    int: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bool: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    string: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ints: Option<Vec<i64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bools: Option<Vec<bool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strings: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    versions: Option<Vec<String>>,
}

impl From<AttributeFields> for DeviceAttribute {
    fn from(fields: AttributeFields) -> Self {
        let lists = [
            fields.ints.map(Self::Ints),
            fields.bools.map(Self::Bools),
            fields.strings.map(Self::Strings),
            fields.versions.map(Self::Versions),
        ];
        let scalars = [
            fields.int.map(Self::Int),
            fields.bool.map(Self::Bool),
            fields.string.map(Self::String),
            fields.version.map(Self::Version),
        ];
        lists.into_iter().chain(scalars).flatten().next().unwrap_or_default()
    }
}

impl From<DeviceAttribute> for AttributeFields {
    fn from(attribute: DeviceAttribute) -> Self {
        let mut fields = Self::default();
        match attribute {
            DeviceAttribute::Int(value) => fields.int = Some(value),
            DeviceAttribute::Bool(value) => fields.bool = Some(value),
            DeviceAttribute::String(value) => fields.string = Some(value),
            DeviceAttribute::Version(value) => fields.version = Some(value),
            DeviceAttribute::Ints(values) => fields.ints = Some(values),
            DeviceAttribute::Bools(values) => fields.bools = Some(values),
            DeviceAttribute::Strings(values) => fields.strings = Some(values),
            DeviceAttribute::Versions(values) => fields.versions = Some(values),
            DeviceAttribute::Unknown => {}
        }
        fields
    }
}

/// A capacity of a device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct DeviceCapacity {
    /// How much there is.
    #[serde(default, deserialize_with = "null_as_default")]
    pub value: Quantity,
    /// How requests are rounded, on devices that allow multiple allocations. Boxed, because it is large and rare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_policy: Option<Box<CapacityRequestPolicy>>,
}

/// How requests for a capacity are rounded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct CapacityRequestPolicy {
    /// What a request that names nothing takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Quantity>,
    /// The amounts that can be taken, ascending.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub valid_values: Vec<Quantity>,
    /// The range of amounts that can be taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_range: Option<CapacityRequestPolicyRange>,
}

/// A range of amounts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct CapacityRequestPolicyRange {
    /// Smallest amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Quantity>,
    /// Largest amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Quantity>,
    /// Distance between amounts, counted from `min`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<Quantity>,
}

/// One counter.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct Counter {
    /// Its value.
    #[serde(default, deserialize_with = "null_as_default")]
    pub value: Quantity,
}

/// What a device takes from one counter set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct DeviceCounterConsumption {
    /// Name of the counter set.
    #[serde(default, deserialize_with = "null_as_default")]
    pub counter_set: String,
    /// Amounts by counter.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, Counter>,
    /// Devices that share a counter set must have one of these in common.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub compatibility_groups: Vec<String>,
}

/// What a device adds to a pod's use of one resource of the node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct NodeAllocatableResource {
    /// Amount that the device is accounted for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<NodeAllocatableMapping>,
    /// Amount that using the device costs besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overhead: Option<NodeAllocatableOverhead>,
}

/// Amount that a device is accounted for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct NodeAllocatableMapping {
    /// Capacity whose consumed amount is multiplied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_key: Option<String>,
    /// Factor for the capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_multiplier: Option<Quantity>,
    /// Amount per device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_multiplier: Option<Quantity>,
}

/// Amount that using a device costs besides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct NodeAllocatableOverhead {
    /// Once a pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_pod: Option<Quantity>,
    /// Once a container that uses the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_container: Option<Quantity>,
}
