//! The part of object metadata that allocation needs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::serde_help::null_as_default;

/// `metadata` of an object, as far as allocation reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct Metadata {
    /// Name of the object.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Namespace; empty for objects of the cluster.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Identity of the object: another object of the same name has another one.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Version of this state of the object.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// Version of the specification.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "is_zero")]
    pub generation: i64,
    /// Labels.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// When deletion was asked for (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<String>,
}

impl Metadata {
    /// `namespace/name`, or `name` alone for objects of the cluster: upstream's form in messages.
    pub fn key(&self) -> String {
        object_key(&self.namespace, &self.name)
    }
}

/// `namespace/name`, or only the name of an object without namespace.
pub fn object_key(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{namespace}/{name}") }
}

/// One condition of a status, as far as binding conditions read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct Condition {
    /// Type of the condition.
    #[serde(default, deserialize_with = "null_as_default", rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub status: String,
    /// Machine-readable reason.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Text for people.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub message: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference to `skip_serializing_if`")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}
