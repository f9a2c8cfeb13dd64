use super::*;

fn quantity(text: &str) -> Quantity {
    text.parse().unwrap()
}

/// Text, canonical text, format, `value`, `milli_value`, `as_i64`.
type Answer = (&'static str, &'static str, Format, i64, i64, Option<i64>);

/// What apimachinery 0.37.2 gives.
const ANSWERS: &[Answer] = &[
    ("0", "0", Format::DecimalSi, 0, 0, Some(0)),
    ("-", "0", Format::DecimalSi, 0, 0, Some(0)),
    (".", "0", Format::DecimalSi, 0, 0, Some(0)),
    ("Ki", "0", Format::BinarySi, 0, 0, Some(0)),
    ("1.500", "1500m", Format::DecimalSi, 2, 1500, None),
    ("1E3", "1e3", Format::DecimalExponent, 1000, 1_000_000, Some(1000)),
    ("1e1", "10", Format::DecimalExponent, 10, 10_000, Some(10)),
    ("100Ki", "100Ki", Format::BinarySi, 102_400, 102_400_000, Some(102_400)),
    ("1024Ki", "1Mi", Format::BinarySi, 1_048_576, 1_048_576_000, Some(1_048_576)),
    ("1.5Gi", "1536Mi", Format::BinarySi, 1_610_612_736, 1_610_612_736_000, None),
    ("0.5Ki", "512", Format::BinarySi, 512, 512_000, None),
    ("1.1Ki", "1126400m", Format::BinarySi, 1127, 1_126_400, None),
    ("0.0001Ki", "102400u", Format::DecimalSi, 1, 103, None),
    ("0.1m", "100u", Format::DecimalSi, 1, 1, None),
    ("1e-12", "1e-9", Format::DecimalExponent, 1, 1, None),
    ("9223372036854775808", "9223372036854775808", Format::DecimalSi, i64::MIN, 0, None),
    ("1000E", "1", Format::DecimalSi, 0, 0, None),
    ("16Ei", "9223372036854775807", Format::BinarySi, i64::MAX, -1000, None),
    ("-8Ei", "-9223372036854775807", Format::BinarySi, -i64::MAX, 1000, None),
    ("-0.5", "-500m", Format::DecimalSi, -1, -500, None),
    (
        "12345678901234567890.5",
        "12345678901234567890500m",
        Format::DecimalSi,
        -6_101_065_172_474_983_725,
        4_807_115_922_877_859_396,
        None,
    ),
    (
        "-12345678901234567890.5",
        "-12345678901234567890500m",
        Format::DecimalSi,
        -5_097_733_591,
        -5_097_733_592_501,
        None,
    ),
    ("1e4294967296", "1", Format::DecimalExponent, 1, 1000, Some(1)),
    (
        "10.000000000P",
        "10P",
        Format::DecimalSi,
        10_000_000_000_000_000,
        -8_446_744_073_709_551_616,
        Some(10_000_000_000_000_000),
    ),
    ("9223372036854775807k", "9223372036854775807k", Format::DecimalSi, -1000, -1_000_000, None),
    ("1e30", "1e30", Format::DecimalExponent, 0, 0, None),
];

#[test]
fn texts_read_as_upstream_reads_them() {
    for (text, canonical, format, value, milli_value, as_i64) in ANSWERS {
        let quantity = quantity(text);
        let seen =
            (quantity.canonical(), quantity.format(), quantity.value(), quantity.milli_value(), quantity.as_i64());
        assert_eq!(seen, ((*canonical).to_owned(), *format, *value, *milli_value, *as_i64), "{text}");
    }
}

#[test]
fn text_that_upstream_takes_for_canonical_is_kept() {
    for text in ["1.500", "+5", "05", "5.", "1E3", "01Ki", "1e+3"] {
        assert_eq!(quantity(text).to_string(), text);
    }
    for (text, printed) in [("1.0", "1"), ("00.10", "100m"), ("1024Ki", "1Mi")] {
        assert_eq!(quantity(text).to_string(), printed);
    }
}

#[test]
fn invalid_texts_are_told_apart() {
    for (text, error) in [
        ("", QuantityError::Format),
        ("1.2.3", QuantityError::Format),
        ("1 ", QuantityError::Format),
        ("1é", QuantityError::Format),
        ("Ei", QuantityError::Numeric),
        ("1k5", QuantityError::Suffix),
        ("1e", QuantityError::Suffix),
        ("1e99999999999999999999", QuantityError::Suffix),
    ] {
        assert_eq!(text.parse::<Quantity>().unwrap_err(), error, "{text}");
    }
}

#[test]
fn comparison_is_by_number() {
    let ordered = [
        "-1e999999999",
        "-1Ki",
        "-1",
        "-1n",
        "0",
        "1n",
        "0.5",
        "1",
        "1.5",
        "1k",
        "1Ki",
        "9223372036854775807",
        "9223372036854775808",
        "1e30",
        "1e999999999",
    ];
    for (index, left) in ordered.iter().enumerate() {
        for (other, right) in ordered.iter().enumerate() {
            assert_eq!(quantity(left).cmp(&quantity(right)), index.cmp(&other), "{left} {right}");
        }
    }
    assert_eq!(quantity("1.5Gi"), quantity("1536Mi"));
    assert_eq!(quantity("1000m"), quantity("1.0"));
}

#[test]
fn sum_and_difference_are_exact_and_keep_the_format() {
    for (left, right, sum, difference) in [
        ("1Ki", "1k", "2024", "24"),
        ("1500m", "500m", "2", "1"),
        ("0", "1Mi", "1Mi", "-1Mi"),
        ("1e3", "1", "1001", "999"),
        ("9223372036854775807", "1", "9223372036854775808", "9223372036854775806"),
    ] {
        let (left, right) = (quantity(left), quantity(right));
        assert_eq!(left.checked_add(&right).unwrap().to_string(), sum);
        assert_eq!(left.checked_sub(&right).unwrap().to_string(), difference);
    }
}

#[test]
fn hostile_numbers_end_in_an_error() {
    let huge = quantity("1e999999999");
    assert_eq!(huge.checked_add(&quantity("1")).unwrap_err(), QuantityError::TooManyDigits);
    assert_eq!(huge.to_string(), "1e999999999");
    assert_eq!((huge.value(), huge.approximate_f64()), (0, f64::INFINITY));
    assert_eq!("1234567890123456789012e999999999".parse::<Quantity>().unwrap_err(), QuantityError::TooManyDigits);
    assert_eq!("9".repeat(2000).parse::<Quantity>().unwrap_err(), QuantityError::TooManyDigits);
    assert_eq!(quantity("1e-999999999").to_string(), "1e-9");
}

#[test]
fn json_strings_and_numbers_are_read() {
    for (json, text) in [("\" 5Gi \"", "5Gi"), ("5", "5"), ("-3", "-3"), ("0.5", "500m"), ("null", "0")] {
        assert_eq!(serde_json::from_str::<Quantity>(json).unwrap().to_string(), text);
    }
    assert_eq!(serde_json::to_string(&quantity("80Gi")).unwrap(), "\"80Gi\"");
    assert!(
        serde_json::from_str::<Quantity>("\"5GiB\"")
            .unwrap_err()
            .to_string()
            .starts_with("quantities must match the regular expression")
    );
}
