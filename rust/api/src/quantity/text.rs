//! Writes a quantity canonically: no fraction digits, and the largest suffix that needs none.

use num_bigint::{BigInt, Sign};

use super::amount::{Amount, Big, power_of_ten};
use super::{Format, MAX_DIGITS};

pub(super) fn canonical(amount: &Amount, format: Format) -> String {
    if amount.sign() == 0 {
        return "0".to_owned();
    }
    match format {
        Format::BinarySi => binary(amount).unwrap_or_else(|| decimal(amount, Format::DecimalSi)),
        Format::DecimalSi | Format::DecimalExponent => decimal(amount, format),
    }
}

/// The binary text, or `None` for a fraction or a number below 1024, which print as decimals.
fn binary(amount: &Amount) -> Option<String> {
    let mut number = whole(&amount.to_big())?;
    if number.magnitude() < &1024_u32.into() {
        return None;
    }
    let mut power = 0;
    while (&number % 1024_u32).sign() == Sign::NoSign {
        number /= 1024_u32;
        power += 1;
    }
    // Beyond the last suffix upstream writes none.
    let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].get(power).unwrap_or(&"");
    Some(format!("{number}{suffix}"))
}

/// The number when it is whole and of a sane length.
fn whole(big: &Big) -> Option<BigInt> {
    let shift = big.scale.unsigned_abs();
    if shift > 2 * MAX_DIGITS {
        return None;
    }
    if big.scale >= 0 {
        return Some(&big.unscaled * power_of_ten(shift));
    }
    let divisor = power_of_ten(shift);
    ((&big.unscaled % &divisor).sign() == Sign::NoSign).then(|| &big.unscaled / divisor)
}

fn decimal(amount: &Amount, format: Format) -> String {
    let (mut number, mut exponent) = amount.reduced();
    while exponent % 3 != 0 {
        number *= 10_u32;
        exponent -= 1;
    }
    match format {
        Format::DecimalExponent if exponent == 0 => number.to_string(),
        Format::DecimalExponent => format!("{number}e{exponent}"),
        Format::DecimalSi | Format::BinarySi => format!("{number}{}", decimal_suffix(exponent)),
    }
}

/// The suffix of a power of ten; beyond the last one upstream writes none.
fn decimal_suffix(exponent: i64) -> &'static str {
    match exponent {
        -9 => "n",
        -6 => "u",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        15 => "P",
        18 => "E",
        _ => "",
    }
}
