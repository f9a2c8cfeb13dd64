//! The number inside a quantity: 64 bits with a decimal scale while that is enough, else a big integer with one.
//!
//! Which of the two it is shows: a big amount is never an integer to upstream, however small its number. So arithmetic switches exactly where
//! upstream's does.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};

use super::{MAX_DIGITS, QuantityError};

#[derive(Debug, Clone)]
pub(super) enum Amount {
    /// `value` × 10^`scale`.
    Small { value: i64, scale: i32 },
    /// The same, boxed to keep quantities small.
    Big(Box<Big>),
}

#[derive(Debug, Clone)]
pub(super) struct Big {
    pub(super) unscaled: BigInt,
    pub(super) scale: i32,
}

impl Default for Amount {
    fn default() -> Self {
        Self::small(0, 0)
    }
}

impl Amount {
    pub(super) fn small(value: i64, scale: i32) -> Self {
        Self::Small { value, scale }
    }

    pub(super) fn big(unscaled: BigInt, scale: i32) -> Self {
        Self::Big(Box::new(Big { unscaled, scale }))
    }

    /// Big amounts are pointers to upstream, and those of two quantities are never the same.
    pub(super) fn is_identical(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Small { value, scale }, Self::Small { value: other, scale: other_scale }) => {
                (value, scale) == (other, other_scale)
            }
            _ => false,
        }
    }

    pub(super) fn sign(&self) -> i32 {
        match self {
            Self::Small { value, .. } => i32::from(*value > 0) - i32::from(*value < 0),
            Self::Big(big) => match big.unscaled.sign() {
                Sign::Minus => -1,
                Sign::NoSign => 0,
                Sign::Plus => 1,
            },
        }
    }

    pub(super) fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Small { value, scale } if *scale >= 0 => scale_up(*value, *scale),
            _ => None,
        }
    }

    pub(super) fn to_big(&self) -> Big {
        match self {
            Self::Small { value, scale } => Big { unscaled: BigInt::from(*value), scale: *scale },
            Self::Big(big) => (**big).clone(),
        }
    }

    pub(super) fn add(&self, other: &Self) -> Result<Self, QuantityError> {
        if let (Self::Small { value: left, scale: left_scale }, Self::Small { value: right, scale: right_scale }) =
            (self, other)
            && let Some((value, scale)) = add_small((*left, *left_scale), (*right, *right_scale))
        {
            return Ok(Self::small(value, scale));
        }
        self.combine(other, |left, right| left + right)
    }

    pub(super) fn subtract(&self, other: &Self) -> Result<Self, QuantityError> {
        if let (Self::Small { value: left, scale: left_scale }, Self::Small { value: right, scale: right_scale }) = (self, other)
            // The smallest integer negates to itself, upstream too.
            && let Some((value, scale)) = add_small((*left, *left_scale), (right.wrapping_neg(), *right_scale))
        {
            return Ok(Self::small(value, scale));
        }
        self.combine(other, |left, right| left - right)
    }

    fn combine(&self, other: &Self, operation: impl Fn(BigInt, BigInt) -> BigInt) -> Result<Self, QuantityError> {
        let (left, right) = (self.to_big(), other.to_big());
        let scale = left.scale.min(right.scale);
        Ok(Self::big(operation(left.rescaled(scale)?, right.rescaled(scale)?), scale))
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let by_sign = self.sign().cmp(&other.sign());
        if by_sign != Ordering::Equal || self.sign() == 0 {
            return by_sign;
        }
        if let (Self::Small { value: left, scale: left_scale }, Self::Small { value: right, scale: right_scale }) =
            (self, other)
        {
            return compare_small((*left, *left_scale), (*right, *right_scale));
        }
        let (left, right) = (self.to_big(), other.to_big());
        let scale = left.scale.min(right.scale);
        match (left.rescaled(scale), right.rescaled(scale)) {
            (Ok(left), Ok(right)) => left.cmp(&right),
            // Only the one with the larger scale can be too long, and then it is the larger in magnitude.
            _ => oriented(left.scale.cmp(&right.scale), self.sign()),
        }
    }

    pub(super) fn scaled_value(&self, scale: i32) -> i64 {
        match self {
            Self::Small { value, scale: own } if *own < scale => round_away(*value, scale.abs_diff(*own)),
            Self::Small { value, scale: own } => scale_up_or_wrap(*value, own.saturating_sub(scale)),
            Self::Big(big) => big.scaled_value(scale),
        }
    }

    pub(super) fn approximate_f64(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "approximate by contract")]
        let (base, scale) = match self {
            Self::Small { value, scale } => (*value as f64, *scale),
            Self::Big(big) => (big_to_f64(&big.unscaled), big.scale),
        };
        if scale == 0 { base } else { base * pow10(scale) }
    }

    /// The number with all factors of ten in the scale: equal for equal numbers.
    pub(super) fn reduced(&self) -> (BigInt, i64) {
        let Big { mut unscaled, scale } = self.to_big();
        if unscaled.sign() == Sign::NoSign {
            return (unscaled, 0);
        }
        let mut exponent = i64::from(scale);
        while (&unscaled % 10_u32).sign() == Sign::NoSign {
            unscaled /= 10_u32;
            exponent += 1;
        }
        (unscaled, exponent)
    }
}

impl Big {
    /// The integer for a scale that is not larger than the own one.
    fn rescaled(&self, scale: i32) -> Result<BigInt, QuantityError> {
        let shift = self.scale.abs_diff(scale);
        if shift == 0 || self.unscaled.sign() == Sign::NoSign {
            return Ok(self.unscaled.clone());
        }
        // Twice the limit, so that two numbers within it always compare exactly.
        if shift > 2 * MAX_DIGITS || self.unscaled.bits() > 10 * u64::from(MAX_DIGITS) {
            return Err(QuantityError::TooManyDigits);
        }
        Ok(&self.unscaled * power_of_ten(shift))
    }

    /// As upstream: exact up to 64 bits, wrapped beyond, a negative number rounded towards the positive.
    fn scaled_value(&self, scale: i32) -> i64 {
        if self.scale >= scale {
            return low_bits(&self.unscaled).wrapping_mul(wrapping_power(self.scale.abs_diff(scale)));
        }
        let shift = self.scale.abs_diff(scale);
        if self.unscaled < BigInt::from(i64::MAX) && shift < 19 {
            let (value, divisor) = (low_bits(&self.unscaled), 10_i64.pow(shift));
            return value / divisor + i64::from(value % divisor != 0);
        }
        if shift > 2 * MAX_DIGITS {
            return i64::from(self.unscaled.sign() == Sign::Plus);
        }
        let divisor = power_of_ten(shift);
        let remainder = ((&self.unscaled % &divisor) + &divisor) % &divisor;
        let exact = remainder.sign() == Sign::NoSign;
        low_bits(&((&self.unscaled - remainder) / divisor)).wrapping_add(i64::from(!exact))
    }
}

fn add_small(left: (i64, i32), right: (i64, i32)) -> Option<(i64, i32)> {
    if right.0 == 0 {
        return Some(left);
    }
    if left.0 == 0 {
        return Some(right);
    }
    let scale = left.1.min(right.1);
    let sum = scale_up(left.0, left.1.saturating_sub(scale))?
        .checked_add(scale_up(right.0, right.1.saturating_sub(scale))?)?;
    Some((sum, scale))
}

/// Compares two numbers of the same sign that are not 0.
fn compare_small(left: (i64, i32), right: (i64, i32)) -> Ordering {
    let magnitude = |(value, scale): (i64, i32)| i64::from(value.unsigned_abs().ilog10()) + i64::from(scale);
    let by_magnitude = magnitude(left).cmp(&magnitude(right));
    let sign = if left.0 < 0 { -1 } else { 1 };
    if by_magnitude != Ordering::Equal {
        return oriented(by_magnitude, sign);
    }
    // Equal magnitudes: the scales differ by less than 19 digits, which 128 bits hold.
    let scale = left.1.min(right.1);
    let widen = |(value, own): (i64, i32)| i128::from(value) * 10_i128.pow(own.abs_diff(scale));
    widen(left).cmp(&widen(right))
}

fn oriented(magnitude: Ordering, sign: i32) -> Ordering {
    if sign < 0 { magnitude.reverse() } else { magnitude }
}

/// `value` × 10^`exponent`, or `None` when 64 bits do not hold it.
fn scale_up(value: i64, exponent: i32) -> Option<i64> {
    if value == 0 {
        return Some(0);
    }
    10_i64.checked_pow(u32::try_from(exponent).ok()?)?.checked_mul(value)
}

/// `value` × 10^`exponent` as upstream gives it where 64 bits do not hold it: wrapped by the exponents that it multiplies with at once, else 0.
fn scale_up_or_wrap(value: i64, exponent: i32) -> i64 {
    match exponent {
        1 | 2 | 3 | 6 | 9 if value != i64::MIN => value.wrapping_mul(10_i64.pow(exponent.unsigned_abs())),
        _ => scale_up(value, exponent).unwrap_or(0),
    }
}

/// `value` / 10^`exponent`, rounded away from 0.
fn round_away(value: i64, exponent: u32) -> i64 {
    let Some(divisor) = 10_i64.checked_pow(exponent) else {
        return value.signum();
    };
    value / divisor + if value % divisor == 0 { 0 } else { value.signum() }
}

pub(super) fn power_of_ten(exponent: u32) -> BigInt {
    BigInt::from(10).pow(exponent)
}

/// The low 64 bits of the magnitude, with the sign, as Go's `Int64` gives them.
#[expect(clippy::cast_possible_wrap, reason = "wrapping is what upstream does")]
fn low_bits(number: &BigInt) -> i64 {
    let low = number.magnitude().iter_u64_digits().next().unwrap_or(0) as i64;
    if number.sign() == Sign::Minus { low.wrapping_neg() } else { low }
}

/// 10^`exponent` as upstream converts it from a float; too large gives the smallest integer.
fn wrapping_power(exponent: u32) -> i64 {
    10_i64.checked_pow(exponent).unwrap_or(i64::MIN)
}

/// The nearest float.
fn big_to_f64(number: &BigInt) -> f64 {
    // Decimal text is parsed with correct rounding; the number has few digits.
    number.to_string().parse().unwrap_or(f64::NAN)
}

/// 10^`exponent` in the steps of Go's `math.Pow10`, so that roundings agree.
fn pow10(exponent: i32) -> f64 {
    match exponent {
        0..=308 => power(exponent / 32 * 32) * power(exponent % 32),
        -323..=-1 => power(-(-exponent / 32 * 32)) / power(-exponent % 32),
        i32::MIN..=-324 => 0.0,
        309.. => f64::INFINITY,
    }
}

/// The float nearest to 10^`exponent`.
fn power(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::NAN)
}
