//! Fields and elements of values.

use crate::error::Fault;
use crate::evaluate::Outcome;
use crate::value::{Map, Value};

/// What became of a selection.
pub(super) enum Selected {
    /// There is such a field or element.
    Found(Value),
    /// There is none, which is fine for an optional selection.
    Missing,
}

impl Selected {
    /// What was found as an optional.
    pub(super) fn into_optional(self) -> Value {
        match self {
            Self::Found(value) => Value::some(value),
            Self::Missing => Value::Optional(None),
        }
    }
}

/// `container[key]`; a missing one is an error.
pub(super) fn select(container: &Value, key: &Value) -> Outcome {
    match container {
        Value::Map(map) => map.find(key).ok_or_else(|| Fault::no_such_key(key)),
        Value::List(elements) => element(elements, key)?.ok_or_else(|| Fault::index_out_of_bounds(key)),
        _ => Err(Fault::no_such_key(key)),
    }
}

/// `container[?key]`
pub(super) fn select_if_present(container: &Value, key: &Value) -> Result<Selected, Fault> {
    let found = match container {
        Value::Map(map) => map.find(key),
        Value::List(elements) => element(elements, key)?,
        _ => None,
    };
    Ok(found.map_or(Selected::Missing, Selected::Found))
}

/// Whether a selection by an optional link would find something: a missing domain of the device counts as found.
pub(super) fn is_present(container: &Value, key: &Value) -> Result<bool, Fault> {
    match container {
        Value::Map(Map::Domains(_)) => Ok(true),
        _ => Ok(matches!(select_if_present(container, key)?, Selected::Found(_))),
    }
}

/// The element at an index of any numeric type; none beyond the ends.
fn element(elements: &[Value], index: &Value) -> Result<Option<Value>, Fault> {
    let position = match index {
        Value::Int(index) => Some(*index),
        Value::Uint(index) => i64::try_from(*index).ok(),
        Value::Double(index) => whole(*index),
        _ => return Err(Fault::failed(format!("unsupported index type '{}' in list", index.type_name()))),
    };
    let Some(position) = position else {
        return Err(Fault::failed(format!("unsupported index value {index} in list")));
    };
    Ok(usize::try_from(position).ok().and_then(|position| elements.get(position)).cloned())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::float_cmp,
    reason = "the round trip is checked, and has to be exact"
)]
fn whole(value: f64) -> Option<i64> {
    let integer = value as i64;
    (integer as f64 == value && integer != i64::MAX).then_some(integer)
}

/// The key that a value is for a selection; upstream takes only simple types.
pub(super) fn check_key(key: &Value) -> Result<(), Fault> {
    match key {
        Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::String(_) => Ok(()),
        other => Err(Fault::failed(format!("invalid qualifier type: {}", other.go_type()))),
    }
}
