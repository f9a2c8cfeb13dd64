//! `<` and its like.

use std::cmp::Ordering;

use crate::error::Fault;
use crate::value::Value;

impl Value {
    /// Whether the type has an order at all.
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(
            self,
            Self::Bool(_)
                | Self::Int(_)
                | Self::Uint(_)
                | Self::Double(_)
                | Self::String(_)
                | Self::Bytes(_)
                | Self::Duration(_)
                | Self::Timestamp(_)
        )
    }

    /// How `self` stands to `other`. Fails when the types do not compare, and for a float that is no number.
    pub(crate) fn compare(&self, other: &Self) -> Result<Ordering, Fault> {
        match (self, other) {
            // Upstream looks at the number on the left before the type on the right.
            (Self::Double(left), _) if left.is_nan() => Err(Fault::failed("NaN values cannot be ordered")),
            (Self::Int(_) | Self::Uint(_) | Self::Double(_), Self::Int(_) | Self::Uint(_) | Self::Double(_)) => {
                self.compare_numbers(other).ok_or_else(|| Fault::failed("NaN values cannot be ordered"))
            }
            (Self::Bool(left), Self::Bool(right)) => Ok(left.cmp(right)),
            (Self::String(left), Self::String(right)) => Ok(left.cmp(right)),
            (Self::Bytes(left), Self::Bytes(right)) => Ok(left.cmp(right)),
            (Self::Duration(left), Self::Duration(right)) => Ok(left.cmp(right)),
            (Self::Timestamp(left), Self::Timestamp(right)) => Ok(left.cmp_instant(right)),
            _ => Err(Fault::no_such_overload()),
        }
    }

    /// The order of two numbers of any types; none when one is not a number.
    pub(crate) fn compare_numbers(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(left), Self::Int(right)) => Some(left.cmp(right)),
            (Self::Uint(left), Self::Uint(right)) => Some(left.cmp(right)),
            (Self::Double(left), Self::Double(right)) => left.partial_cmp(right),
            (Self::Int(left), Self::Uint(right)) => Some(i128::from(*left).cmp(&i128::from(*right))),
            (Self::Uint(left), Self::Int(right)) => Some(i128::from(*left).cmp(&i128::from(*right))),
            (Self::Double(left), Self::Int(right)) => double_to_int(*left, *right),
            (Self::Int(left), Self::Double(right)) => double_to_int(*right, *left).map(Ordering::reverse),
            (Self::Double(left), Self::Uint(right)) => double_to_uint(*left, *right),
            (Self::Uint(left), Self::Double(right)) => double_to_uint(*right, *left).map(Ordering::reverse),
            _ => None,
        }
    }
}

/// As upstream: outside the integers' range by range, else as floats.
#[expect(clippy::cast_precision_loss, reason = "upstream compares as floats")]
fn double_to_int(double: f64, int: i64) -> Option<Ordering> {
    const END: f64 = 9_223_372_036_854_775_808.0;
    if double < -END {
        Some(Ordering::Less)
    } else if double > END {
        Some(Ordering::Greater)
    } else {
        double.partial_cmp(&(int as f64))
    }
}

#[expect(clippy::cast_precision_loss, reason = "upstream compares as floats")]
fn double_to_uint(double: f64, uint: u64) -> Option<Ordering> {
    const END: f64 = 18_446_744_073_709_551_616.0;
    if double < 0.0 {
        Some(Ordering::Less)
    } else if double > END {
        Some(Ordering::Greater)
    } else {
        double.partial_cmp(&(uint as f64))
    }
}
