//! Named text formats of Kubernetes.

mod names;

use std::sync::LazyLock;

use regex::Regex;

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::url::parse_request;
use crate::library::{Function, Implementation, Overload, operands, text};
use crate::types::Type;

use crate::value::{Value, civil, days_from_civil};
pub use names::{label_value as label_value_problems, qualified_name as label_key_problems};

/// A format that text may have.
#[derive(Debug)]
pub struct NamedFormat {
    /// What expressions call it.
    key: &'static str,
    /// By this name formats are compared.
    pub(crate) name: &'static str,
    /// How long a regular expression of it is taken to be, which is what a validation costs.
    pub(crate) regex_size: u64,
    validate: fn(&str) -> Vec<String>,
}

const UUID_PATTERN: &str = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
const BASE64_PATTERN: &str = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$";
const TIME_PATTERN: &str = "^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$";

static UUID: LazyLock<Regex> = LazyLock::new(|| pattern(UUID_PATTERN));
static BASE64: LazyLock<Regex> = LazyLock::new(|| pattern(BASE64_PATTERN));
static TIME: LazyLock<Regex> = LazyLock::new(|| pattern(TIME_PATTERN));

/// Compiles one of the constant patterns of this module.
fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that compiles")
}

/// Declares the formats, each with a function without operands that gives it.
macro_rules! formats {
    ($($key:literal => $name:literal, $regex_size:expr, $validate:expr;)*) => {
        static FORMATS: &[NamedFormat] = &[$(NamedFormat { key: $key, name: $name, regex_size: $regex_size, validate: $validate }),*];

        fn constants() -> Vec<Function> {
            vec![$(constant(concat!("format.", $key), |_| named($key).map(Value::Format).ok_or_else(Fault::no_such_overload))),*]
        }
    };
}

formats! {
    "dns1123Label" => "DNS1123Label", 30, |text| names::dns1123_label(text);
    "dns1123Subdomain" => "DNS1123Subdomain", 60, |text| names::dns1123_subdomain(text);
    "dns1035Label" => "DNS1035Label", 30, |text| names::dns1035_label(text);
    "qualifiedName" => "QualifiedName", 60, names::qualified_name;
    "dns1123LabelPrefix" => "DNS1123LabelPrefix", 30, |text| names::dns1123_label(&without_dash(text));
    "dns1123SubdomainPrefix" => "DNS1123SubdomainPrefix", 60, |text| names::dns1123_subdomain(&without_dash(text));
    "dns1035LabelPrefix" => "DNS1035LabelPrefix", 30, |text| names::dns1035_label(&without_dash(text));
    "labelValue" => "LabelValue", 40, names::label_value;
    // No regular expression stands behind all of these; upstream takes the sizes of ones that would.
    "uri" => "URI", 1103, |text| parse_request(text).err().into_iter().collect();
    "uuid" => "uuid", UUID_PATTERN.len() as u64, |text| unless(UUID.is_match(text), "does not match the UUID format");
    "byte" => "byte", 84, |text| unless(BASE64.is_match(text), "invalid base64");
    "date" => "date", TIME_PATTERN.len() as u64, |text| unless(is_date(text), "invalid date");
    "datetime" => "datetime", TIME_PATTERN.len() as u64, |text| unless(is_date_and_time(text), "invalid datetime");
}

pub(super) fn functions() -> Vec<Function> {
    let named_format =
        Overload::global("format-named", [Type::String], Type::optional(Type::FORMAT), Cost::One, |arguments| {
            let [key] = operands::<1>(arguments)?;
            Ok(named(text(key)?).map_or(Value::Optional(None), |format| Value::some(Value::Format(format))))
        });
    let problems = Type::optional(Type::list(Type::String));
    let validate =
        Overload::member("format-validate", [Type::FORMAT, Type::String], problems, Cost::Validate, validate);
    let mut functions =
        vec![Function::new("format.named", vec![named_format]), Function::new("validate", vec![validate])];
    functions.extend(constants());
    functions
}

fn named(key: &str) -> Option<&'static NamedFormat> {
    FORMATS.iter().find(|format| format.key == key)
}

fn constant(name: &'static str, call: Implementation) -> Function {
    Function::new(name, vec![Overload::global(name, [], Type::FORMAT, Cost::One, call)])
}

/// What is wrong with a text; nothing when it has the format.
fn validate(arguments: &[Value]) -> Result<Value, Fault> {
    let [Value::Format(format), source] = arguments else { return Err(Fault::no_such_overload()) };
    let problems = (format.validate)(text(source)?);
    if problems.is_empty() {
        return Ok(Value::Optional(None));
    }
    Ok(Value::some(Value::list(problems.into_iter().map(Value::string).collect())))
}

/// `problem` unless the text is valid.
fn unless(is_valid: bool, problem: &str) -> Vec<String> {
    if is_valid { Vec::new() } else { vec![problem.to_owned()] }
}

/// The start of a name, made whole for validation where it ends in a dash: a letter stands for the two last characters.
fn without_dash(text: &str) -> String {
    let start = text.strip_suffix('-').filter(|start| !start.is_empty()).and_then(|start| text.get(..start.len() - 1));
    start.map_or_else(|| text.to_owned(), |start| format!("{start}a"))
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |digits: &str, width: usize| -> Option<i64> {
        (digits.len() == width && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok())?
    };
    let [year, month, day] = parts[..] else { return false };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    (1..=12).contains(&month) && civil(days_from_civil(year, month, day)) == (year, month, day)
}

/// Whether a text is a date and, behind a `T`, a time. What comes behind another `T` does not count, as upstream.
fn is_date_and_time(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date)
        && TIME.is_match(time)
        && time.get(0..2) <= Some("23")
        && time.get(3..5) <= Some("59")
        && time.get(6..8) <= Some("59")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(key: &str, text: &str) -> Vec<String> {
        (named(key).expect("the format is known").validate)(text)
    }

    #[test]
    fn only_known_formats_have_a_name() {
        assert_eq!(named("dns1035Label").map(|format| format.name), Some("DNS1035Label"));
        assert!(named("DNS1035Label").is_none());
    }

    #[test]
    fn dates_are_of_the_calendar() {
        for (text, valid) in [
            ("2020-02-29", true),
            ("2021-02-29", false),
            ("0000-01-01", true),
            ("2021-13-01", false),
            ("2021-1-1", false),
            ("2021-01-00", false),
        ] {
            assert_eq!(problems("date", text).is_empty(), valid, "{text}");
        }
        assert_eq!(problems("date", ""), ["invalid date"]);
    }

    #[test]
    fn times_follow_their_date() {
        for (text, valid) in [
            ("2021-01-01T00:00:00Z", true),
            ("2021-01-01t23:59:59.123+99:99", true),
            ("2021-01-01T00:00:00ZTo", true),
            ("2021-01-01T24:00:00Z", false),
            ("2021-01-01T00:00:00", false),
            ("2021-02-29T00:00:00Z", false),
            ("2021-01-01", false),
        ] {
            assert_eq!(problems("datetime", text).is_empty(), valid, "{text}");
        }
        assert_eq!(problems("datetime", "x"), ["invalid datetime"]);
    }

    #[test]
    fn encoded_bytes_and_identities_are_checked_by_their_looks() {
        for (key, text, expected) in [
            ("byte", "aGVsbG8=", vec![]),
            ("byte", "", vec!["invalid base64"]),
            ("byte", "a_-=", vec!["invalid base64"]),
            ("uuid", "123E4567e89b12d3a456-426614174000", vec![]),
            ("uuid", "123", vec!["does not match the UUID format"]),
            ("uri", "/a", vec![]),
            ("uri", "a", vec!["parse \"a\": invalid URI for request"]),
        ] {
            assert_eq!(problems(key, text), expected, "{key} {text}");
        }
    }

    #[test]
    fn the_start_of_a_name_may_end_in_a_dash() {
        for (key, text, valid) in [
            ("dns1123LabelPrefix", "a-", true),
            ("dns1123LabelPrefix", "-", false),
            ("dns1123LabelPrefix", "a.b-", false),
            ("dns1123SubdomainPrefix", "a.-", true),
            ("dns1035LabelPrefix", "1a-", false),
            ("dns1123LabelPrefix", "é-", false),
        ] {
            assert_eq!(problems(key, text).is_empty(), valid, "{key} {text}");
        }
    }
}
