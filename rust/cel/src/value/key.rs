//! Values as keys of maps, by Go's rules for the keys of upstream's maps.

use std::sync::Arc;

use crate::error::{Fault, RuntimeError};
use crate::value::{Cidr, Ip, Map, Value};

/// A key that can be found. Other values may be keys of an entry but are never found.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Key {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    /// The bits of a float; zero has one sign.
    Double(u64),
    String(Arc<str>),
    Duration(i64),
    /// Seconds and nanoseconds of a point in time that was written in UTC.
    Timestamp(i64, u32),
    /// A type by its name.
    Type(&'static str),
    Ip(Ip),
    Cidr(Cidr),
    /// No value, as an optional.
    None,
    /// What upstream holds by reference: only the same object is the same key.
    Object(usize),
}

const INT_END: f64 = 9_223_372_036_854_775_808.0;
const UINT_END: f64 = 18_446_744_073_709_551_616.0;

impl Key {
    /// The key that `value` is. Numbers of different types are different keys.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Int(value) => Self::Int(*value),
            Value::Uint(value) => Self::Uint(*value),
            Value::Double(value) if value.is_nan() => return None,
            Value::Double(value) => Self::of_double(*value),
            Value::String(text) => Self::String(text.clone()),
            Value::Duration(nanos) => Self::Duration(*nanos),
            Value::Timestamp(time) if time.offset == 0 => Self::Timestamp(time.seconds, time.nanos),
            Value::Type(of) => Self::Type(of.runtime_name()),
            Value::Ip(ip) => Self::Ip(*ip),
            Value::Cidr(cidr) => Self::Cidr(*cidr),
            Value::Optional(None) => Self::None,
            Value::List(list) => Self::object(list),
            Value::Map(Map::Entries(entries)) => Self::object(entries),
            Value::Quantity(quantity) => Self::object(quantity.shared()),
            Value::Url(url) => Self::object(url),
            _ => return None,
        })
    }

    fn object<T>(object: &Arc<T>) -> Self {
        Self::Object(Arc::as_ptr(object).addr())
    }

    fn of_double(value: f64) -> Self {
        Self::Double(if value == 0.0 { 0 } else { value.to_bits() })
    }

    /// The keys of other types that are looked for where this one is missing: integers for a float, never a float.
    fn integers(value: f64) -> [Option<Self>; 2] {
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        let int = (-INT_END..INT_END).contains(&value).then_some(value as i64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
        let uint = (0.0..UINT_END).contains(&value).then_some(value as u64);
        if value.fract() == 0.0 { [int.map(Self::Int), uint.map(Self::Uint)] } else { [None, None] }
    }

    pub(super) fn other_types(&self) -> impl Iterator<Item = Self> + use<> {
        let others = match self {
            Self::Double(bits) => Self::integers(f64::from_bits(*bits)),
            Self::Int(value) => [u64::try_from(*value).ok().map(Self::Uint), None],
            Self::Uint(value) => [i64::try_from(*value).ok().map(Self::Int), None],
            _ => [None, None],
        };
        others.into_iter().flatten()
    }

    /// What equals a value of a constant list: the value, and the same number in other types. None for values that have to be compared.
    #[expect(clippy::cast_precision_loss, reason = "upstream compares as floats")]
    pub(crate) fn equals_of(value: &Value) -> Option<Vec<Self>> {
        let key = match value {
            Value::Double(value) if value.is_nan() => return Some(Vec::new()),
            Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Double(_) | Value::String(_) => Self::of(value)?,
            _ => return None,
        };
        let float = match value {
            Value::Int(value) => Some(Self::of_double(*value as f64)),
            Value::Uint(value) => Some(Self::of_double(*value as f64)),
            _ => None,
        };
        Some(key.other_types().chain(float).chain([key.clone()]).collect())
    }
}

impl Value {
    /// Refuses a value that Go cannot hash, which ends the evaluation upstream.
    pub(crate) fn check_hashable(&self) -> Result<(), Fault> {
        match self {
            Self::Bytes(_) | Self::Version(_) | Self::Format(_) => Err(Fault::new(RuntimeError::Internal(format!(
                "runtime error: hash of unhashable type {}",
                self.go_type()
            )))),
            _ => Ok(()),
        }
    }
}
