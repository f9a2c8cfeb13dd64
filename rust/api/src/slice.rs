//! Resource slices: what drivers publish.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::device::{Counter, Device};
use crate::metadata::Metadata;
use crate::node::{NodeSelection, NodeSelector};
use crate::serde_help::{null_as_default, open_enum};

/// One slice of a pool of devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct ResourceSlice {
    /// Name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub metadata: Metadata,
    /// The pool and its devices.
    #[serde(default, deserialize_with = "null_as_default")]
    pub spec: ResourceSliceSpec,
}

/// `spec` of a [`ResourceSlice`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct ResourceSliceSpec {
    /// Driver that publishes the slice.
    #[serde(default, deserialize_with = "null_as_default")]
    pub driver: String,
    /// The pool that the slice belongs to.
    #[serde(default, deserialize_with = "null_as_default")]
    pub pool: ResourcePool,
    /// The only node that reaches the devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    /// The nodes that reach the devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<NodeSelector>,
    /// True when every node reaches the devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_nodes: Option<bool>,
    /// The devices.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<Device>,
    /// True when each device names its nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_device_node_selection: Option<bool>,
    /// Counter sets that devices of the pool consume.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub shared_counters: Vec<CounterSet>,
    /// Attribute that tells partitions of different types apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition_type_attribute: Option<String>,
    /// Operations that the kubelet leaves out for these devices.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub skip_node_operations: Vec<SkipNodeOperation>,
}

impl ResourceSliceSpec {
    /// Which nodes reach the devices.
    pub fn node_selection(&self) -> NodeSelection<'_> {
        NodeSelection::new(
            self.node_name.as_deref(),
            self.all_nodes,
            self.node_selector.as_ref(),
            self.per_device_node_selection,
        )
    }
}

/// The pool that a slice belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct ResourcePool {
    /// Name; may hold slashes.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// Only slices of the newest generation count.
    #[serde(default, deserialize_with = "null_as_default")]
    pub generation: i64,
    /// How many slices the pool has in this generation.
    #[serde(default, deserialize_with = "null_as_default")]
    pub resource_slice_count: i64,
}

/// Counters that devices share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct CounterSet {
    /// Name within the pool.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// Counters by name.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, Counter>,
}

open_enum! {
    /// An operation that the kubelet leaves out.
    SkipNodeOperation {
        /// Preparing claims.
        NodePrepareResources = "NodePrepareResources",
        /// Unpreparing claims.
        NodeUnprepareResources = "NodeUnprepareResources",
        /// Both.
        All = "*",
    }
}
