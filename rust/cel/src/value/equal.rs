//! `==` as upstream decides it: numbers across types, and refusals where a type of Kubernetes meets another type.

use crate::error::Fault;
use crate::value::{Map, Value};

impl Value {
    /// Whether `self == other`; null equals null only.
    pub(crate) fn equals(&self, other: &Self) -> Result<bool, Fault> {
        match (self, other) {
            (Self::Null, Self::Null) => Ok(true),
            (Self::Null, _) | (_, Self::Null) => Ok(false),
            _ => self.equals_by_type(other),
        }
    }

    /// Whether the two are equal and comparing them is no error.
    pub(crate) fn is_equal(&self, other: &Self) -> bool {
        self.equals_by_type(other).unwrap_or(false)
    }

    /// As the type of `self` decides.
    pub(crate) fn equals_by_type(&self, other: &Self) -> Result<bool, Fault> {
        let equal = match (self, other) {
            (Self::Int(_) | Self::Uint(_) | Self::Double(_), Self::Int(_) | Self::Uint(_) | Self::Double(_)) => {
                self.compare_numbers(other) == Some(std::cmp::Ordering::Equal)
            }
            (Self::Bool(left), Self::Bool(right)) => left == right,
            (Self::String(left), Self::String(right)) => left == right,
            (Self::Bytes(left), Self::Bytes(right)) => left == right,
            (Self::Duration(left), Self::Duration(right)) => left == right,
            (Self::Timestamp(left), Self::Timestamp(right)) => left.same_instant(right),
            (Self::Type(left), Self::Type(right)) => left.runtime_name() == right.runtime_name(),
            (Self::Null, Self::Null) => true,
            (Self::List(left), Self::List(right)) => {
                left.len() == right.len() && left.iter().zip(right.iter()).all(|(left, right)| !left.differs(right))
            }
            (Self::Map(left), Self::Map(right)) => maps_equal(left, right),
            (Self::Optional(left), Self::Optional(right)) => match (left, right) {
                (None, None) => true,
                (Some(left), Some(right)) => return left.equals_by_type(right),
                _ => false,
            },
            (Self::Quantity(left), Self::Quantity(right)) if !right.computed => left.quantity == right.quantity,
            (Self::Version(left), Self::Version(right)) => left == right,
            (Self::Url(left), Self::Url(right)) => left.to_string() == right.to_string(),
            (Self::Ip(left), Self::Ip(right)) => left == right,
            (Self::Cidr(left), Self::Cidr(right)) => left == right,
            (Self::Format(left), Self::Format(right)) => left.name == right.name,
            // These types know no other one; upstream refuses instead of saying no.
            (
                Self::Quantity(_) | Self::Version(_) | Self::Url(_) | Self::Ip(_) | Self::Cidr(_) | Self::Format(_),
                _,
            ) => {
                return Err(Fault::no_such_overload());
            }
            _ => false,
        };
        Ok(equal)
    }

    /// Whether an element makes its list differ: a comparison that fails does not, as upstream.
    fn differs(&self, other: &Self) -> bool {
        matches!(self.equals(other), Ok(false))
    }
}

fn maps_equal(left: &Map, right: &Map) -> bool {
    left.len() == right.len()
        && left.iter().all(|(key, value)| right.find(&key).is_some_and(|other| !value.differs(&other)))
}
