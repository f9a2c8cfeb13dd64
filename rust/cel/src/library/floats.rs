//! Floats as Go reads them: also hexadecimal, and with underscores between digits.

/// The float that `text` spells. One beyond the range is none, not infinite.
pub(super) fn parse(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.starts_with(['n', 'N']) && unsigned.len() < text.len() {
        return None;
    }
    if unsigned.starts_with(['i', 'I', 'n', 'N']) {
        return text.parse().ok();
    }
    let digits = without_underscores(unsigned)?;
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => hexadecimal(digits)?,
        None => digits.parse().ok()?,
    };
    value.is_finite().then_some(if text.starts_with('-') { -value } else { value })
}

/// `number` without underscores, each of which must stand between digits; the prefix of a base counts as one.
fn without_underscores(number: &str) -> Option<String> {
    let bytes = number.as_bytes();
    let is_hexadecimal = matches!(bytes, [b'0', b'x' | b'X', ..]);
    let is_digit = |index: usize| {
        bytes.get(index).is_some_and(|byte| byte.is_ascii_digit() || is_hexadecimal && byte.is_ascii_hexdigit())
            || is_hexadecimal && index == 1
    };
    let misplaced = |index: usize| bytes[index] == b'_' && !(index > 0 && is_digit(index - 1) && is_digit(index + 1));
    (!(0..bytes.len()).any(misplaced)).then(|| number.replace('_', ""))
}

/// The value of hexadecimal digits with a binary exponent: `1.8p3`.
fn hexadecimal(text: &str) -> Option<f64> {
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let exponent = power(exponent)?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut mantissa: u64 = 0;
    let mut dropped = 0;
    for digit in whole.chars().chain(fraction.chars()) {
        let digit = u64::from(digit.to_digit(16)?);
        if mantissa >> 60 == 0 {
            mantissa = mantissa << 4 | digit;
        } else {
            // What does not fit only matters for rounding.
            mantissa |= u64::from(digit != 0);
            dropped += 4;
        }
    }
    let places = i64::try_from(fraction.len()).ok()?.checked_mul(4)?;
    Some(rounded(mantissa, exponent + dropped - places))
}

/// The exponent, cut to what makes no difference.
fn power(text: &str) -> Option<i64> {
    const MOST: i64 = 1_000_000_000;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = digits.parse().unwrap_or(MOST).min(MOST);
    Some(if text.starts_with('-') { -value } else { value })
}

/// `mantissa` times two to the `exponent`, to the nearest float, to even where two are as near.
#[expect(clippy::cast_precision_loss, reason = "what is left of the mantissa has 53 bits")]
fn rounded(mantissa: u64, exponent: i64) -> f64 {
    const BITS: i64 = 53;
    const LEAST_EXPONENT: i64 = -1074;
    if mantissa == 0 {
        return 0.0;
    }
    let length = i64::from(u64::BITS - mantissa.leading_zeros());
    let surplus = (length - BITS).max(LEAST_EXPONENT - exponent).max(0);
    let kept = if surplus >= 64 { 0 } else { mantissa >> surplus };
    let rest = if surplus >= 64 { mantissa } else { mantissa & ((1 << surplus) - 1) };
    let half = if (1..=64).contains(&surplus) { 1_u64 << (surplus - 1) } else { 0 };
    let up = half > 0 && (rest > half || rest == half && kept % 2 == 1);
    let scale = (exponent + surplus).clamp(2 * LEAST_EXPONENT, -2 * LEAST_EXPONENT);
    let (first, second) = (scale / 2, scale - scale / 2);
    let power = |exponent: i64| 2_f64.powi(i32::try_from(exponent).unwrap_or(0));
    (kept + u64::from(up)) as f64 * power(first) * power(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_floats_are_rounded_to_even() {
        for (text, expected) in [
            ("0x1p4", 16.0),
            ("-0X1.8P-2", -0.375),
            ("0x.8p1", 1.0),
            ("0x1_0p4", 256.0),
            ("0x1.00000000000008p0", 1.0),
            ("0x1.000000000000080000001p0", 1.000_000_000_000_000_2),
            ("0x1.00000000000018p0", 1.000_000_000_000_000_4),
            ("0x1.fffffffffffffp1023", f64::MAX),
            ("0x1p-1074", 5e-324),
            ("0x1p-1075", 0.0),
            ("0x1.8p-1075", 5e-324),
            ("0x1p-99999999999999999999", 0.0),
            ("0x0p99999999999999999999", 0.0),
        ] {
            assert_eq!(parse(text).map(f64::to_bits), Some(f64::to_bits(expected)), "{text}");
        }
    }

    #[test]
    fn underscores_stand_between_digits() {
        for (text, expected) in [
            ("1_000.5_0e1_0", Some(1000.5e10)),
            ("0x_1p0", Some(1.0)),
            ("1__0", None),
            ("_1", None),
            ("1_", None),
            ("1_.5", None),
            ("1_e5", None),
        ] {
            assert_eq!(parse(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_float_is_refused() {
        for text in
            ["", ".", "e1", "1e", "0x1", "0xp1", "0x1p", "0x1.2.3p0", "-nan", "1e400", "0x1p1024", "infi", "0b1", "1 "]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!((parse("+Inf"), parse("-infinity")), (Some(f64::INFINITY), Some(f64::NEG_INFINITY)));
        assert!(parse("NaN").is_some_and(f64::is_nan));
    }
}
