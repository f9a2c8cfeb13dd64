//! Names of devices and of what they have.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A pool of one driver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId {
    /// Driver that publishes the pool.
    pub driver: String,
    /// Name of the pool; may hold slashes.
    pub pool: String,
}

impl fmt::Display for PoolId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.driver, self.pool)
    }
}

/// One device of the cluster, printed as `driver/pool/device`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId {
    /// Driver that publishes the device.
    pub driver: String,
    /// Name of the pool; may hold slashes.
    pub pool: String,
    /// Name of the device within the pool.
    pub device: String,
}

impl fmt::Display for DeviceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{}", self.driver, self.pool, self.device)
    }
}

/// A text that is not of the form `driver/pool/device`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not of the form `driver/pool/device`")]
pub struct ParseDeviceIdError {
    /// The text.
    pub text: String,
}

impl FromStr for DeviceId {
    type Err = ParseDeviceIdError;

    /// Cuts at the first and the last slash, because only pool names may hold slashes.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('/').and_then(|(driver, rest)| Some((driver, rest.rsplit_once('/')?)));
        match parts {
            Some((driver, (pool, device))) if !driver.is_empty() && !pool.is_empty() && !device.is_empty() => {
                Ok(Self { driver: driver.to_owned(), pool: pool.to_owned(), device: device.to_owned() })
            }
            _ => Err(ParseDeviceIdError { text: text.to_owned() }),
        }
    }
}

/// One share of a device that allows multiple allocations, printed as `driver/pool/device/shareID`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SharedDeviceId {
    /// The device.
    pub device: DeviceId,
    /// The share.
    pub share_id: String,
}

impl fmt::Display for SharedDeviceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.device, self.share_id)
    }
}

/// Splits the name of an attribute or capacity into domain and identifier; a name without a domain belongs to the driver's.
pub fn split_qualified_name<'a>(name: &'a str, driver: &'a str) -> (&'a str, &'a str) {
    name.split_once('/').unwrap_or((driver, name))
}

#[cfg(test)]
mod tests {
    use super::{DeviceId, split_qualified_name};

    #[test]
    fn pool_name_with_slashes_is_kept_whole() {
        let id: DeviceId = "gpu.example.com/rack-1/worker-1/gpu-0".parse().expect("three parts");
        assert_eq!(
            (id.driver.as_str(), id.pool.as_str(), id.device.as_str()),
            ("gpu.example.com", "rack-1/worker-1", "gpu-0")
        );
        assert_eq!(id.to_string(), "gpu.example.com/rack-1/worker-1/gpu-0");
    }

    #[test]
    fn text_with_too_few_parts_is_refused() {
        for text in ["", "a", "a/b", "/a/b", "a//b", "a/b/"] {
            let error = text.parse::<DeviceId>().expect_err(text);
            assert_eq!(error.to_string(), format!("`{text}` is not of the form `driver/pool/device`"));
        }
    }

    #[test]
    fn name_without_domain_belongs_to_the_driver() {
        assert_eq!(split_qualified_name("index", "gpu.example.com"), ("gpu.example.com", "index"));
        assert_eq!(split_qualified_name("a.b/c/d", "gpu.example.com"), ("a.b", "c/d"));
    }
}
