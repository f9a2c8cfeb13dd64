//! Taints of devices, tolerations of requests, and rules that taint from outside.

use serde::{Deserialize, Serialize};

use crate::metadata::Metadata;
use crate::serde_help::{null_as_default, open_enum};

/// A taint on a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct DeviceTaint {
    /// Key.
    #[serde(default, deserialize_with = "null_as_default")]
    pub key: String,
    /// Value.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// Effect.
    #[serde(default, deserialize_with = "null_as_default")]
    pub effect: DeviceTaintEffect,
    /// When it was set (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_added: Option<String>,
}

open_enum! {
    /// What a taint does to claims that do not tolerate it.
    DeviceTaintEffect {
        /// Nothing: it only informs.
        None = "None",
        /// No new allocation.
        NoSchedule = "NoSchedule",
        /// No new allocation, and pods are evicted.
        NoExecute = "NoExecute",
    }
}

/// A toleration of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct DeviceToleration {
    /// Key of the taints; absent matches every key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// How the value is compared; absent is `Equal` by API default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<DeviceTolerationOperator>,
    /// Value that a taint must have under `Equal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Effect of the taints; absent matches every effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<DeviceTaintEffect>,
    /// For how long a `NoExecute` taint is tolerated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
}

open_enum! {
    /// How a toleration compares values.
    DeviceTolerationOperator {
        /// Any value.
        Exists = "Exists",
        /// The same value.
        Equal = "Equal",
    }
}

/// Taints devices without their driver's help.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct DeviceTaintRule {
    /// Name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub metadata: Metadata,
    /// Which devices, and the taint.
    #[serde(default, deserialize_with = "null_as_default")]
    pub spec: DeviceTaintRuleSpec,
}

/// `spec` of a [`DeviceTaintRule`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct DeviceTaintRuleSpec {
    /// Devices; absent selects none, empty selects all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_selector: Option<DeviceTaintSelector>,
    /// The taint.
    #[serde(default, deserialize_with = "null_as_default")]
    pub taint: DeviceTaint,
}

/// Selects devices by names that must all match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct DeviceTaintSelector {
    /// Driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}
