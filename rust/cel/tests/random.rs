//! Any text compiles or is refused, and what compiles gives a value or an error: no panic, no endless work.

use std::fmt::Write as _;

use drayman_api::{Device, Quantity, Version};
use drayman_cel::{CelDevice, Environment, Selector};
use proptest::collection::vec;
use proptest::prelude::*;

/// Pieces of expressions, one a line, among them what is hard on parsers, numbers, patterns and formats.
const PIECES: &str = r#"device
.
.?
attributes
capacity
[
]
[?
(
)
{
}
,
:
?
!
-
+
==
<
&&
||
 in 
"a"
"gpu.example.com"
b"\xff"
r'\d'
'''
`
//
é
😀
1
0x
1u
9223372036854775808
1e999999999
null
true
has(
.map(x, 
.all(x, 
.exists(i, x, 
.optMap(x, 
cel.bind(x, 
.sortBy(x, 
.flatten(
x
.format(
"%.99999e"
"%s%d"
.matches(
"(a{1000}){1000}"
quantity(
semver(
timestamp(
.getHours("Europe/Berlin")
url(
lists.range(100000)
.distinct()
.transformMap(k, x, "#;

fn pieces() -> impl Strategy<Value = &'static str> {
    prop::sample::select(PIECES.lines().collect::<Vec<_>>())
}

fn device() -> CelDevice {
    let device: Device = serde_json::from_str(
        r#"{"name": "device-1", "attributes": {"numa": {"int": 1}, "tags": {"strings": ["a"]}}, "capacity": {"memory": {"value": "40Gi"}}}"#,
    )
    .expect("the device is one");
    CelDevice::new("gpu.example.com", &device)
}

/// Compiles and evaluates; either may fail, but only with an error.
fn answer(expression: &str) {
    if let Ok(selector) = Selector::compile_derived(expression, Environment::Stored) {
        drop(selector.evaluate(&device()));
        drop(selector.matches(&device()));
    }
}

/// A text as a literal of the language.
fn literal(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        write!(escaped, "\\U{:08x}", u32::from(character)).expect("writing to a text succeeds");
    }
    format!("\"{escaped}\"")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered(text in any::<String>()) {
        answer(&text);
    }

    #[test]
    fn any_pieces_are_answered(pieces in vec(pieces(), 0..40)) {
        answer(&pieces.concat());
    }

    #[test]
    fn pieces_repeated_thousands_of_times_are_answered(piece in pieces(), count in 0..4000_usize) {
        answer(&piece.repeat(count));
        answer(&format!("1{}", piece.repeat(count)));
    }

    #[test]
    fn any_argument_is_answered(text in any::<String>(), number in any::<f64>(), int in any::<i64>()) {
        let text = literal(&text);
        let size = int.unsigned_abs();
        for call in [
            format!("quantity({text}).add({int}).isInteger()"),
            format!("semver({text}, true).major()"),
            format!("\"a\".matches({text})"),
            format!("dyn({text}).format([{int}, \"a\", {number:e}])"),
            format!("dyn(\"%.{size}f|%.{}e\").format([{number:e}, {number:e}]).size()", size % 100_000),
            format!("timestamp({int}).getHours({text})"),
            format!("duration({text}).getHours()"),
            format!("url({text}).getHost()"),
            format!("ip({text}).family()"),
            format!("cidr({text}).prefixLength()"),
            format!("double({text}) == {number:e}"),
            format!("{text}.substring({int})"),
            format!("[1, 2].flatten({int}).slice(0, {int})"),
        ] {
            answer(&call);
        }
    }

    #[test]
    fn numbers_with_any_exponent_are_quantities_or_not(digits in "[+-]?[0-9]{0,30}(\\.[0-9]{0,30})?", exponent in any::<i64>()) {
        for suffix in [format!("e{exponent}"), format!("E{exponent}"), "Ei".to_owned(), "n".to_owned()] {
            if let Ok(quantity) = format!("{digits}{suffix}").parse::<Quantity>() {
                let _ = (quantity.value(), quantity.milli_value(), quantity.approximate_f64(), quantity.to_string());
                let _ = (quantity.checked_add(&quantity), quantity.canonical());
            }
        }
    }
}

#[test]
fn huge_texts_are_versions_and_quantities_or_not() {
    let digits = "9".repeat(10_000_000);
    assert!(digits.parse::<Version>().is_err());
    assert!(format!("{digits}.0.0").parse::<Version>().is_err());
    assert!(format!("1.0.0-{digits}").parse::<Version>().is_err());
    assert!(format!("1.0.0+{digits}").parse::<Version>().is_ok());
    assert!(digits.parse::<Quantity>().is_err());
    assert!(format!("1e{digits}").parse::<Quantity>().is_err());
}
