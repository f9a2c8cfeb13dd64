//! Reads the text of a quantity.
//!
//! Upstream accepts more than its regular expression says (`-`, `.` and `Ki` are all 0), and caps what is too large or too fine: binary
//! numbers at the largest 64-bit integer, everything at a billionth, rounded away from 0.

use num_bigint::BigInt;

use super::amount::{Amount, power_of_ten};
use super::{Format, MAX_DIGITS, QuantityError};

/// The decimal digits that always fit 64 bits.
const SMALL_DIGITS: usize = 18;
/// The finest fraction that is kept: 10^-9.
const NANO: i32 = -9;

pub(super) struct Parsed {
    pub(super) amount: Amount,
    pub(super) format: Format,
    /// Whether the text prints again as it was written.
    pub(super) keeps_text: bool,
}

/// The pieces of a quantity's text.
struct Pieces<'a> {
    negative: bool,
    /// Digits before the point, without leading zeros; `0` when there are none.
    whole: &'a str,
    fraction: &'a str,
    /// Whether there is any digit at all.
    has_digits: bool,
    suffix: &'a str,
}

pub(super) fn parse(text: &str) -> Result<Parsed, QuantityError> {
    if text.is_empty() {
        return Err(QuantityError::Format);
    }
    if text == "0" {
        return Ok(Parsed { amount: Amount::small(0, 0), format: Format::DecimalSi, keeps_text: true });
    }
    let pieces = split(text)?;
    let (exponent, format) = suffix(pieces.suffix).ok_or(QuantityError::Suffix)?;
    match parse_small(&pieces, exponent, format)? {
        Some(parsed) => Ok(parsed),
        None => parse_large(&pieces, exponent, format),
    }
}

fn split(text: &str) -> Result<Pieces<'_>, QuantityError> {
    let (negative, rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let digits_end = leading(rest, |byte| byte.is_ascii_digit());
    let (digits, rest) = rest.split_at(digits_end);
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => rest.split_at(leading(rest, |byte| byte.is_ascii_digit())),
        None => ("", rest),
    };
    let letters = leading(suffix, |byte| b"eEinumkKMGTP".contains(&byte));
    let exponent = suffix[letters..].strip_prefix(['-', '+']).unwrap_or(&suffix[letters..]);
    if leading(exponent, |byte| byte.is_ascii_digit()) != exponent.len() {
        return Err(QuantityError::Format);
    }
    let whole = digits.trim_start_matches('0');
    let has_digits = !digits.is_empty() || !fraction.is_empty();
    Ok(Pieces { negative, whole: if whole.is_empty() { "0" } else { whole }, fraction, has_digits, suffix })
}

/// How many bytes at the start of `text` fulfil `accept`, which holds for ASCII only.
fn leading(text: &str, accept: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|byte| !accept(byte)).unwrap_or(text.len())
}

/// The exponent (of 10, or of 2 for a binary suffix) and the format that a suffix means.
fn suffix(suffix: &str) -> Option<(i32, Format)> {
    let known = match suffix {
        "n" => (-9, Format::DecimalSi),
        "u" => (-6, Format::DecimalSi),
        "m" => (-3, Format::DecimalSi),
        "" => (0, Format::DecimalSi),
        "k" => (3, Format::DecimalSi),
        "M" => (6, Format::DecimalSi),
        "G" => (9, Format::DecimalSi),
        "T" => (12, Format::DecimalSi),
        "P" => (15, Format::DecimalSi),
        "E" => (18, Format::DecimalSi),
        "Ki" => (10, Format::BinarySi),
        "Mi" => (20, Format::BinarySi),
        "Gi" => (30, Format::BinarySi),
        "Ti" => (40, Format::BinarySi),
        "Pi" => (50, Format::BinarySi),
        "Ei" => (60, Format::BinarySi),
        _ => {
            let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            // Upstream cuts the exponent to 32 bits.
            #[expect(clippy::cast_possible_truncation, reason = "the cut is upstream's")]
            return Some((exponent as i32, Format::DecimalExponent));
        }
    };
    Some(known)
}

/// The number in 64 bits with a decimal scale, or `None` when it may not fit.
fn parse_small(pieces: &Pieces<'_>, exponent: i32, format: Format) -> Result<Option<Parsed>, QuantityError> {
    let digits = pieces.whole.len() + pieces.fraction.len();
    let (scale, multiplier, fits) = match format {
        Format::DecimalSi | Format::DecimalExponent => (exponent, 1, digits <= SMALL_DIGITS),
        // 2^10 takes three of the digits.
        Format::BinarySi => {
            let binary_digits = usize::try_from(exponent * 3 / 10).unwrap_or(SMALL_DIGITS);
            (0, 1_i64 << exponent, pieces.fraction.is_empty() && digits + binary_digits < 15)
        }
    };
    let scale = i32::try_from(pieces.fraction.len()).map_or(i32::MIN, |length| scale.wrapping_sub(length));
    if !fits || scale < NANO {
        return Ok(None);
    }
    let mut shifted = String::with_capacity(digits);
    shifted.push_str(pieces.whole);
    shifted.push_str(pieces.fraction);
    let value: i64 = shifted.parse().map_err(|_| QuantityError::Numeric)?;
    let Some(magnitude) = value.checked_mul(multiplier) else {
        return Ok(None);
    };
    let keeps_text = match format {
        Format::BinarySi => value & 7 != 0,
        Format::DecimalSi | Format::DecimalExponent => {
            scale % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0')
        }
    };
    let amount = Amount::small(if pieces.negative { -magnitude } else { magnitude }, scale);
    Ok(Some(Parsed { amount, format, keeps_text }))
}

/// The number as a big integer with a decimal scale, capped and rounded.
fn parse_large(pieces: &Pieces<'_>, exponent: i32, format: Format) -> Result<Parsed, QuantityError> {
    if !pieces.has_digits {
        return Err(QuantityError::Numeric);
    }
    let digits = format!("{}{}", pieces.whole, pieces.fraction);
    // Digits after the last one that counts only matter for rounding, but upstream keeps them all.
    let significant = digits.trim_start_matches('0');
    if significant.len() > MAX_DIGITS as usize {
        return Err(QuantityError::TooManyDigits);
    }
    let unscaled: BigInt = if significant.is_empty() { Ok(BigInt::ZERO) } else { significant.parse() }
        .map_err(|_| QuantityError::Numeric)?;
    let fraction = i32::try_from(pieces.fraction.len()).map_err(|_| QuantityError::TooManyDigits)?;
    let (unscaled, scale) = match format {
        Format::BinarySi => (unscaled << exponent, -fraction),
        Format::DecimalSi | Format::DecimalExponent => (unscaled, exponent.wrapping_sub(fraction)),
    };
    if unscaled.sign() == num_bigint::Sign::NoSign {
        return Ok(Parsed { amount: Amount::big(unscaled, scale), format, keeps_text: false });
    }
    let mut rounded = round_to_nano(unscaled, scale)?;
    let one = power_of_ten(9);
    let largest = BigInt::from(i64::MAX);
    let mut scale = NANO;
    let mut format = format;
    if format == Format::BinarySi {
        if rounded > &largest * &one {
            (rounded, scale) = (largest, 0);
        } else if rounded < one {
            format = Format::DecimalSi;
        }
    }
    let signed = if pieces.negative { -rounded } else { rounded };
    Ok(Parsed { amount: Amount::big(signed, scale), format, keeps_text: false })
}

/// `unscaled` × 10^`scale` as a multiple of 10^-9, rounded up; `unscaled` is positive.
fn round_to_nano(unscaled: BigInt, scale: i32) -> Result<BigInt, QuantityError> {
    let shift = i64::from(scale) - i64::from(NANO);
    if shift >= 0 {
        let shift =
            u32::try_from(shift).ok().filter(|shift| *shift <= MAX_DIGITS).ok_or(QuantityError::TooManyDigits)?;
        return Ok(unscaled * power_of_ten(shift));
    }
    match u32::try_from(-shift).ok().filter(|shift| *shift <= MAX_DIGITS) {
        Some(shift) => Ok((unscaled + power_of_ten(shift) - 1_u32) / power_of_ten(shift)),
        // Far below the finest fraction, whatever its digits.
        None => Ok(BigInt::from(1)),
    }
}
