//! Nodes, and the selectors that say which of them can reach a device.

use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::serde_help::{null_as_default, open_enum};

/// A node, as far as devices are placed by it: its name, labels and declared features.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct Node {
    /// Name and labels.
    #[serde(default, deserialize_with = "null_as_default")]
    pub metadata: Metadata,
    /// What the kubelet reports.
    #[serde(default, deserialize_with = "null_as_default")]
    pub status: NodeStatus,
}

/// `status` of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct NodeStatus {
    /// Feature gates of the kubelet that a scheduler must know of.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub declared_features: Vec<String>,
}

/// Terms of which one must match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct NodeSelector {
    /// The terms.
    #[serde(default, deserialize_with = "null_as_default")]
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

/// Requirements that must all hold; a term without any matches no node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct NodeSelectorTerm {
    /// Requirements on labels.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub match_expressions: Vec<NodeSelectorRequirement>,
    /// Requirements on fields (`metadata.name`).
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub match_fields: Vec<NodeSelectorRequirement>,
}

/// One requirement on a label or field.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct NodeSelectorRequirement {
    /// Label or field.
    #[serde(default, deserialize_with = "null_as_default")]
    pub key: String,
    /// How its value relates to `values`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub operator: NodeSelectorOperator,
    /// The values.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

open_enum! {
    /// How a value relates to the values of a requirement.
    NodeSelectorOperator {
        /// One of the values.
        In = "In",
        /// None of the values, or absent.
        NotIn = "NotIn",
        /// Present.
        Exists = "Exists",
        /// Absent.
        DoesNotExist = "DoesNotExist",
        /// An integer above the only value.
        Gt = "Gt",
        /// An integer below the only value.
        Lt = "Lt",
    }
}

/// Which nodes reach the devices of a slice, or one device. Where several fields are set, the order of the arms decides, as upstream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeSelection<'a> {
    /// The node of this name.
    Node(&'a str),
    /// Every node.
    All,
    /// Nodes that a selector matches.
    Selector(&'a NodeSelector),
    /// Each device says so itself; only for slices.
    PerDevice,
    /// None of the kinds known here: no node.
    Unknown,
}

impl<'a> NodeSelection<'a> {
    pub(crate) fn new(
        node_name: Option<&'a str>,
        all_nodes: Option<bool>,
        node_selector: Option<&'a NodeSelector>,
        per_device: Option<bool>,
    ) -> Self {
        match (node_name, node_selector) {
            (Some(name), _) if !name.is_empty() => Self::Node(name),
            _ if all_nodes == Some(true) => Self::All,
            (_, Some(selector)) => Self::Selector(selector),
            _ if per_device == Some(true) => Self::PerDevice,
            _ => Self::Unknown,
        }
    }
}
