//! Resource quantities: exact decimals that remember the notation they were written in.
//!
//! A quantity behaves as `resource.Quantity` of k8s.io/apimachinery, its odd corners included: the text of a canonically written quantity is
//! kept as it was, a sum that no longer fits 64 bits is exact but no longer an integer, and `value` and `milli_value` wrap or give 0 where
//! upstream's do. What differs: a number of more than [`MAX_DIGITS`] digits is a [`QuantityError`], where upstream would exhaust memory.
//!
//! Reading text is in `parse`, writing it in `text`, arithmetic on amounts in `amount`.

mod amount;
mod parse;
mod text;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use amount::Amount;

/// The most decimal digits that an exact number may need; results that would need more are [`QuantityError::TooManyDigits`].
pub const MAX_DIGITS: u32 = 1_000;

/// Why a text is not a quantity, or a result cannot be given. The texts of the first three are upstream's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QuantityError {
    /// The text is not a number with a suffix.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    /// The part before the suffix is not a number.
    #[error("unable to parse numeric part of quantity")]
    Numeric,
    /// The suffix is none of the known ones.
    #[error("unable to parse quantity's suffix")]
    Suffix,
    /// The exact number is longer than [`MAX_DIGITS`].
    #[error("quantity needs more than 1000 digits")]
    TooManyDigits,
}

/// The notation in which a quantity was written, and will be written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Format {
    /// Powers of ten by suffix: `12M`.
    #[default]
    DecimalSi,
    /// Powers of 1024 by suffix: `12Mi`.
    BinarySi,
    /// Powers of ten by exponent: `12e6`.
    DecimalExponent,
}

impl Format {
    /// Upstream's name of the format, as `DecimalSI`.
    pub fn name(self) -> &'static str {
        match self {
            Self::DecimalSi => "DecimalSI",
            Self::BinarySi => "BinarySI",
            Self::DecimalExponent => "DecimalExponent",
        }
    }
}

/// An exact decimal number with a [`Format`].
///
/// Equality, order and hash are those of the number: `1Ki` equals `1024`.
#[derive(Debug, Clone, Default)]
pub struct Quantity {
    amount: Amount,
    format: Format,
    /// The text as it was written, where upstream would print that again.
    written: Option<Box<str>>,
}

impl Quantity {
    /// The whole number `value`.
    pub fn from_i64(value: i64, format: Format) -> Self {
        Self { amount: Amount::small(value, 0), format, written: None }
    }

    /// The number `value` / 1000.
    pub fn from_milli(value: i64, format: Format) -> Self {
        Self { amount: Amount::small(value, -3), format, written: None }
    }

    /// The notation that the quantity is written in.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether Go's `==` holds for the two: number, scale, notation and the text kept are the same, and none of them is large.
    pub fn is_identical(&self, other: &Self) -> bool {
        self.format == other.format && self.written == other.written && self.amount.is_identical(&other.amount)
    }

    /// -1, 0 or 1.
    pub fn sign(&self) -> i32 {
        self.amount.sign()
    }

    /// Whether the number is 0.
    pub fn is_zero(&self) -> bool {
        self.sign() == 0
    }

    /// The number when it is whole and held in 64 bits, as upstream's `AsInt64`.
    ///
    /// A whole number with a negative scale (`1.0`), or one that went through a larger representation (`0.5Ki`), is not given either.
    pub fn as_i64(&self) -> Option<i64> {
        self.amount.as_i64()
    }

    /// The number rounded away from 0 to a whole one, as upstream's `Value`: 0 or a wrapped number where that does not fit.
    pub fn value(&self) -> i64 {
        self.amount.scaled_value(0)
    }

    /// A thousand times the number, rounded away from 0, as upstream's `MilliValue`: 0 or a wrapped number where that does not fit.
    pub fn milli_value(&self) -> i64 {
        self.amount.scaled_value(-3)
    }

    /// The nearest float that upstream's `AsApproximateFloat64` finds; infinite when out of range.
    pub fn approximate_f64(&self) -> f64 {
        self.amount.approximate_f64()
    }

    /// The exact sum. The format is that of `self`, or of `other` when `self` is 0.
    pub fn checked_add(&self, other: &Self) -> Result<Self, QuantityError> {
        let format = if self.is_zero() { other.format } else { self.format };
        Ok(Self { amount: self.amount.add(&other.amount)?, format, written: None })
    }

    /// The exact difference. The format is that of `self`, or of `other` when `self` is 0.
    pub fn checked_sub(&self, other: &Self) -> Result<Self, QuantityError> {
        let format = if self.is_zero() { other.format } else { self.format };
        Ok(Self { amount: self.amount.subtract(&other.amount)?, format, written: None })
    }

    /// The canonical text, also where the quantity was written in another way: `1.500` gives `1500m`.
    pub fn canonical(&self) -> String {
        text::canonical(&self.amount, self.format)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.written {
            Some(written) => formatter.pad(written),
            None => formatter.pad(&self.canonical()),
        }
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let parsed = parse::parse(text)?;
        let written = parsed.keeps_text.then(|| text.into());
        Ok(Self { amount: parsed.amount, format: parsed.format, written })
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.amount.compare(&other.amount)
    }
}

impl Hash for Quantity {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.amount.reduced().hash(state);
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    /// Reads a string (blanks around it are dropped) or a number; null is 0, as upstream.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(QuantityVisitor)
    }
}

struct QuantityVisitor;

impl Visitor<'_> for QuantityVisitor {
    type Value = Quantity;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a quantity")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Quantity, E> {
        text.trim().parse().map_err(E::custom)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Quantity, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Quantity, E> {
        self.visit_str(&value.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Quantity, E> {
        if value.is_finite() {
            self.visit_str(&value.to_string())
        } else {
            Err(E::invalid_value(Unexpected::Float(value), &self))
        }
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Quantity, E> {
        Ok(Quantity::default())
    }
}

#[cfg(test)]
mod tests;
