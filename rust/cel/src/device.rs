//! A device as the variable `device` shows it.

pub(crate) mod names;

use std::sync::Arc;

use drayman_api::{Device as ApiDevice, DeviceAttribute, Version};

use crate::device::names::{Domains, Names};
use crate::error::RuntimeError;
use crate::value::{Map, QuantityValue, Value};

/// A device, converted once and evaluated on often.
///
/// Conversion never fails: an attribute that has no readable value is kept as an error, which every evaluation on the device returns, as
/// upstream does even for `true`.
#[derive(Debug, Clone)]
pub struct CelDevice {
    device: Arc<Device>,
    error: Option<RuntimeError>,
}

impl CelDevice {
    /// Converts `device` of the driver `driver`, whose name is the domain of names without one.
    pub fn new(driver: &str, device: &ApiDevice) -> Self {
        let mut error = None;
        let mut attributes = DomainsBuilder::default();
        for (name, attribute) in &device.attributes {
            match attribute_value(attribute) {
                Ok(value) => attributes.add(driver, name, value),
                Err(cause) => {
                    error.get_or_insert_with(|| RuntimeError::Attribute { name: name.clone(), cause });
                }
            }
        }
        let mut capacity = DomainsBuilder::default();
        for (name, entry) in &device.capacity {
            capacity.add(driver, name, Value::Quantity(QuantityValue::read(entry.value.clone())));
        }
        let device = Device {
            driver: driver.into(),
            allow_multiple_allocations: device.allow_multiple_allocations.unwrap_or(false),
            attributes: attributes.build(),
            capacity: capacity.build(),
        };
        Self { device: Arc::new(device), error }
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Why nothing can be evaluated on the device.
    pub fn error(&self) -> Option<&RuntimeError> {
        self.error.as_ref()
    }
}

fn attribute_value(attribute: &DeviceAttribute) -> Result<Value, String> {
    let value = match attribute {
        DeviceAttribute::Int(value) => Value::Int(*value),
        DeviceAttribute::Bool(value) => Value::Bool(*value),
        DeviceAttribute::String(text) => Value::string(text.as_str()),
        DeviceAttribute::Version(text) => version(text)?,
        DeviceAttribute::Ints(values) => Value::list(values.iter().map(|value| Value::Int(*value)).collect()),
        DeviceAttribute::Bools(values) => Value::list(values.iter().map(|value| Value::Bool(*value)).collect()),
        DeviceAttribute::Strings(values) => {
            Value::list(values.iter().map(|text| Value::string(text.as_str())).collect())
        }
        DeviceAttribute::Versions(values) => {
            Value::list(values.iter().map(|text| version(text)).collect::<Result<_, _>>()?)
        }
        DeviceAttribute::Unknown => return Err("unsupported attribute value".to_owned()),
    };
    Ok(value)
}

fn version(text: &str) -> Result<Value, String> {
    let version: Version = text.parse().map_err(|error| format!("parse semantic version: {error}"))?;
    Ok(Value::Version(Arc::new(version)))
}

/// What the fields of `device` hold.
#[derive(Debug)]
pub struct Device {
    pub(crate) driver: Arc<str>,
    pub(crate) allow_multiple_allocations: bool,
    pub(crate) attributes: Arc<Domains>,
    pub(crate) capacity: Arc<Domains>,
}

impl Device {
    /// The names of the fields, in order.
    pub(crate) const FIELDS: [&str; 4] = ["allowMultipleAllocations", "attributes", "capacity", "driver"];

    /// The value of a field.
    pub(crate) fn field(&self, name: &str) -> Option<Value> {
        match name {
            "driver" => Some(Value::String(self.driver.clone())),
            "allowMultipleAllocations" => Some(Value::Bool(self.allow_multiple_allocations)),
            "attributes" => Some(Value::Map(Map::Domains(self.attributes.clone()))),
            "capacity" => Some(Value::Map(Map::Domains(self.capacity.clone()))),
            _ => None,
        }
    }
}

#[derive(Default)]
struct DomainsBuilder {
    domains: std::collections::BTreeMap<String, std::collections::BTreeMap<String, Value>>,
}

impl DomainsBuilder {
    /// Adds a value under its domain. Of `x` and `<driver>/x` one stays: upstream leaves to chance which.
    fn add(&mut self, driver: &str, name: &str, value: Value) {
        let (domain, name) = name.split_once('/').unwrap_or((driver, name));
        self.domains.entry(domain.to_owned()).or_default().insert(name.to_owned(), value);
    }

    fn build(self) -> Arc<Domains> {
        let mut domains = Domains::default();
        for (domain, values) in self.domains {
            let mut names = Names::default();
            for (name, value) in values {
                names.add(&name, value);
            }
            domains.add(&domain, names);
        }
        Arc::new(domains)
    }
}
