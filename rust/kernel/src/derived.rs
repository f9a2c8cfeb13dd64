//! Attributes that a request computes from those of the device.

use std::sync::Arc;

use drayman_api::{Device, DeviceAttribute};
use drayman_cel::{CelDevice, CompileError, Environment, Selector, Value};

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
    match value {
        Value::Bool(value) => Ok(DeviceAttribute::Bool(*value)),
        Value::Int(value) => Ok(DeviceAttribute::Int(*value)),
        Value::String(value) => Ok(DeviceAttribute::String(value.to_string())),
        Value::Version(value) => Ok(DeviceAttribute::Version(value.to_string())),
        Value::List(values) => list(values),
        other => Err(format!("unsupported CEL return type: {}", go_type(other))),
    }
}

/// All elements must have the type of the first.
fn list(values: &[Value]) -> Result<DeviceAttribute, String> {
    match values.first() {
        None => Ok(DeviceAttribute::Strings(Vec::new())),
        Some(Value::Bool(_)) => collect(values, "bool", |value| match value {
            Value::Bool(value) => Some(*value),
            _ => None,
        })
        .map(DeviceAttribute::Bools),
        Some(Value::Int(_)) => collect(values, "int", |value| match value {
            Value::Int(value) => Some(*value),
            _ => None,
        })
        .map(DeviceAttribute::Ints),
        Some(Value::String(_)) => collect(values, "string", |value| match value {
            Value::String(value) => Some(value.to_string()),
            _ => None,
        })
        .map(DeviceAttribute::Strings),
        Some(Value::Version(_)) => collect(values, "semver", |value| match value {
            Value::Version(value) => Some(value.to_string()),
            _ => None,
        })
        .map(DeviceAttribute::Versions),
        Some(other) => Err(format!("unsupported list element type: {}", go_type(other))),
    }
}

fn collect<T>(values: &[Value], wanted: &str, element: impl Fn(&Value) -> Option<T>) -> Result<Vec<T>, String> {
    let element = |(index, value): (usize, &Value)| {
        element(value)
            .ok_or_else(|| format!("expected list element at index {index} to be {wanted}, got {}", go_type(value)))
    };
    values.iter().enumerate().map(element).collect()
}

/// The Go type of a value, which upstream's errors name.
fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Uint(_) => "uint64",
        Value::Double(_) => "float64",
        Value::String(_) => "string",
        Value::Bytes(_) => "[]uint8",
        Value::Version(_) => "semver.Version",
        Value::Quantity(_) => "*resource.Quantity",
        Value::List(_) => "[]ref.Val",
        _ => "ref.Val",
    }
}
