//! Attributes that a request computes from those of the device.

use std::sync::Arc;

use drayman_api::{Device, DeviceAttribute};
use drayman_cel::{CelDevice, CompileError, Environment, Map, Selector, Value};

/// The expression of a derived attribute.
#[derive(Debug)]
pub(crate) struct Derived {
    compiled: Result<Selector, Arc<CompileError>>,
}

impl Derived {
    pub(crate) fn new(expression: &str) -> Self {
        Self { compiled: Selector::compile_derived(expression, Environment::Stored).map_err(Arc::new) }
    }

    /// Why the expression does not compile.
    pub(crate) fn compile_error(&self) -> Option<&Arc<CompileError>> {
        self.compiled.as_ref().err()
    }

    /// The value on a device, or the text of the error that the evaluation ends with.
    pub(crate) fn value(&self, driver: &str, device: &Device) -> Result<DeviceAttribute, String> {
        let selector = self.compiled.as_ref().map_err(ToString::to_string)?;
        let value = selector.evaluate(&CelDevice::new(driver, device)).value.map_err(|error| error.to_string())?;
        attribute(&value)
    }
}

fn attribute(value: &Value) -> Result<DeviceAttribute, String> {
    if let Value::List(values) = value {
        return list(values);
    }
    match plain(value) {
        Some(Plain::Bool(value)) => Ok(DeviceAttribute::Bool(value)),
        Some(Plain::Int(value)) => Ok(DeviceAttribute::Int(value)),
        Some(Plain::String(value)) => Ok(DeviceAttribute::String(value)),
        Some(Plain::Version(value)) => Ok(DeviceAttribute::Version(value)),
        other => Err(format!("unsupported CEL return type: {}", go_type(other.as_ref()))),
    }
}

/// All elements must have the type of the first.
fn list(values: &[Value]) -> Result<DeviceAttribute, String> {
    let Some(first) = values.first() else { return Ok(DeviceAttribute::Strings(Vec::new())) };
    match plain(first) {
        Some(Plain::Bool(_)) => collect(values, "bool", |value| match value {
            Plain::Bool(value) => Ok(value),
            other => Err(other),
        })
        .map(DeviceAttribute::Bools),
        Some(Plain::Int(_)) => collect(values, "int", |value| match value {
            Plain::Int(value) => Ok(value),
            other => Err(other),
        })
        .map(DeviceAttribute::Ints),
        Some(Plain::String(_)) => collect(values, "string", |value| match value {
            Plain::String(value) => Ok(value),
            other => Err(other),
        })
        .map(DeviceAttribute::Strings),
        Some(Plain::Version(_)) => collect(values, "semver", |value| match value {
            Plain::Version(value) => Ok(value),
            other => Err(other),
        })
        .map(DeviceAttribute::Versions),
        other => Err(format!("unsupported list element type: {}", go_type(other.as_ref()))),
    }
}

fn collect<T>(values: &[Value], wanted: &str, element: impl Fn(Plain) -> Result<T, Plain>) -> Result<Vec<T>, String> {
    let element = |(index, value): (usize, &Value)| {
        plain(value).ok_or(None).and_then(|value| element(value).map_err(Some)).map_err(|other| {
            format!("expected list element at index {index} to be {wanted}, got {}", go_type(other.as_ref()))
        })
    };
    values.iter().enumerate().map(element).collect()
}

/// A value as Go has it outside of CEL: a type is its name there, and an optional what it holds.
enum Plain {
    Bool(bool),
    Int(i64),
    String(String),
    Version(String),
    /// Anything else, by its Go type, which upstream's errors name.
    Other(&'static str),
}

/// None for an optional without value.
fn plain(mut value: &Value) -> Option<Plain> {
    while let Value::Optional(held) = value {
        value = held.as_deref()?;
    }
    Some(match value {
        Value::Bool(value) => Plain::Bool(*value),
        Value::Int(value) => Plain::Int(*value),
        Value::String(value) => Plain::String(value.to_string()),
        Value::Type(kind) => Plain::String(kind.runtime_name().to_owned()),
        Value::Version(value) => Plain::Version(value.to_string()),
        Value::Null => Plain::Other("structpb.NullValue"),
        Value::Uint(_) => Plain::Other("uint64"),
        Value::Double(_) => Plain::Other("float64"),
        Value::Bytes(_) => Plain::Other("[]uint8"),
        Value::Duration(_) => Plain::Other("time.Duration"),
        Value::Timestamp(_) => Plain::Other("time.Time"),
        Value::Quantity(_) => Plain::Other("*resource.Quantity"),
        Value::Url(_) => Plain::Other("*url.URL"),
        Value::Ip(_) => Plain::Other("netip.Addr"),
        Value::Cidr(_) => Plain::Other("netip.Prefix"),
        Value::Format(_) => Plain::Other("cel.Format"),
        Value::List(_) => Plain::Other("[]ref.Val"),
        Value::Map(Map::Entries(_)) => Plain::Other("map[ref.Val]ref.Val"),
        Value::Map(map) => Plain::Other(match map.iter().next() {
            Some((_, Value::Quantity(_))) => "map[string]cel.Quantity",
            _ => "map[string]interface {}",
        }),
        Value::Optional(_) => return None,
    })
}

fn go_type(value: Option<&Plain>) -> &'static str {
    match value {
        None => "<nil>",
        Some(Plain::Bool(_)) => "bool",
        Some(Plain::Int(_)) => "int64",
        Some(Plain::String(_)) => "string",
        Some(Plain::Version(_)) => "semver.Version",
        Some(Plain::Other(name)) => name,
    }
}
