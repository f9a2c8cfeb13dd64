//! Device classes.

use serde::{Deserialize, Serialize};

use crate::claim::{DeviceSelector, OpaqueDeviceConfiguration};
use crate::metadata::Metadata;
use crate::serde_help::null_as_default;

/// What a request names: selectors and configuration that an administrator prepared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct DeviceClass {
    /// Name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub metadata: Metadata,
    /// Selectors and configuration.
    #[serde(default, deserialize_with = "null_as_default")]
    pub spec: DeviceClassSpec,
}

/// `spec` of a [`DeviceClass`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object", rename_all = "camelCase")]
pub struct DeviceClassSpec {
    /// A device must satisfy all of them.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub selectors: Vec<DeviceSelector>,
    /// Copied into the allocation of every claim that uses the class.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub config: Vec<DeviceClassConfiguration>,
    /// Extended resource that the class serves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extended_resource_name: Option<String>,
}

/// Configuration for a driver.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(expecting = "an object")]
pub struct DeviceClassConfiguration {
    /// The only kind that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<OpaqueDeviceConfiguration>,
}
