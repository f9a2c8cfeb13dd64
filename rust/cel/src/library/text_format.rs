//! `format`: texts with clauses such as `%d` that arguments are put into.

use drayman_api::quote::quoted;

use crate::error::Fault;
use crate::library::operators::check_text;
use crate::library::{list, operands, text, times};
use crate::types::Type;
use crate::value::{Value, go_float};

/// The digits after the point where a clause names none.
const PRECISION: usize = 6;
/// No float has more digits after the point.
const MAX_FRACTION: usize = 1_100;

/// What a clause makes of its argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clause {
    Text,
    Decimal,
    Fixed(usize),
    Scientific(usize),
    Binary,
    Hex { upper: bool },
    Octal,
}

impl Clause {
    /// Why the clause does not take arguments of a type.
    pub(crate) fn refusal(self, type_name: &str) -> String {
        let rule = match self {
            Self::Text => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
            }
            Self::Decimal => "decimal clause can only be used on integers",
            Self::Fixed(_) => "fixed-point clause can only be used on doubles",
            Self::Scientific(_) => "scientific clause can only be used on doubles",
            Self::Binary => "only integers and bools can be formatted as binary",
            Self::Hex { .. } => "only integers, byte buffers, and strings can be formatted as hex",
            Self::Octal => "octal clause can only be used on integers",
        };
        format!("{rule}, was given {type_name}")
    }

    /// Whether arguments of the static type `of` may be taken.
    pub(crate) fn takes(self, of: &Type) -> bool {
        match (self, of) {
            (_, Type::Dyn) => true,
            (Self::Text, _) => !matches!(
                of,
                Type::Optional(_) | Type::Opaque(_) | Type::Object(_) | Type::Any | Type::Parameter(_) | Type::Error
            ),
            (Self::Decimal | Self::Octal, _) => matches!(of, Type::Int | Type::Uint),
            (Self::Fixed(_) | Self::Scientific(_), _) => matches!(of, Type::Double | Type::String),
            (Self::Binary, _) => matches!(of, Type::Int | Type::Uint | Type::Bool),
            (Self::Hex { .. }, _) => matches!(of, Type::Int | Type::Uint | Type::String | Type::Bytes),
        }
    }
}

/// Walks over `text`: plain pieces go to `plain`, and each clause with its number to `clause`, until one fails. Returns the number of clauses.
///
/// `arguments` is how many there are; `end_first` whether a text that ends within a clause is told before a missing argument.
pub(crate) fn walk(
    text: &str,
    arguments: usize,
    end_first: bool,
    mut plain: impl FnMut(&str) -> Result<(), String>,
    mut clause: impl FnMut(usize, Clause) -> Result<(), String>,
) -> Result<usize, String> {
    let mut count = 0;
    let mut rest = text;
    while let Some(start) = rest.find('%') {
        plain(&rest[..start])?;
        rest = &rest[start + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            plain("%")?;
            rest = after;
            continue;
        }
        if rest.is_empty() && (end_first || count < arguments) {
            return Err("unexpected end of string".to_owned());
        }
        if count >= arguments {
            return Err(format!("index {count} out of range"));
        }
        let (found, after) =
            read_clause(rest).map_err(|cause| format!("could not parse formatting clause: {cause}"))?;
        clause(count, found)?;
        count += 1;
        rest = after;
    }
    plain(rest)?;
    Ok(count)
}

fn read_clause(text: &str) -> Result<(Clause, &str), String> {
    let (precision, rest) = match text.strip_prefix('.') {
        Some(rest) => {
            let end = rest.bytes().position(|byte| !byte.is_ascii_digit());
            let end = end.ok_or("error while parsing precision: could not find end of precision specifier")?;
            let digits = &rest[..end];
            let precision = digits.parse::<i64>().ok().and_then(|precision| usize::try_from(precision).ok());
            let precision = precision.ok_or_else(|| {
                let cause = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
                format!("error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing {digits:?}: {cause}")
            })?;
            (precision, &rest[end..])
        }
        None => (PRECISION, text),
    };
    let letter = rest.chars().next().unwrap_or('\0');
    let clause = match letter {
        's' => Clause::Text,
        'd' => Clause::Decimal,
        'f' => Clause::Fixed(precision),
        'e' => Clause::Scientific(precision),
        'b' => Clause::Binary,
        'x' => Clause::Hex { upper: false },
        'X' => Clause::Hex { upper: true },
        'o' => Clause::Octal,
        _ => {
            // Upstream looks at one byte.
            let byte = char::from(rest.bytes().next().unwrap_or(0));
            return Err(format!("unrecognized formatting clause \"{byte}\""));
        }
    };
    Ok((clause, &rest[1..]))
}

pub(super) fn format(arguments: &[Value]) -> Result<Value, Fault> {
    let [source, values] = operands::<2>(arguments)?;
    let (source, values) = (text(source)?, list(values)?);
    let formatted = std::cell::RefCell::new(String::new());
    let append = |piece: &str| {
        let mut formatted = formatted.borrow_mut();
        formatted.push_str(piece);
        if check_text(formatted.len()).is_err() { Err("text is too long".to_owned()) } else { Ok(()) }
    };
    walk(source, values.len(), false, append, |index, clause| match values.get(index) {
        Some(value) => append(&put(clause, value).map_err(|cause| during_formatting(&cause))?),
        None => Ok(()),
    })
    .map_err(Fault::failed)?;
    Ok(Value::string(formatted.into_inner()))
}

/// The cause of a refused argument as a message tells it.
pub(crate) fn during_formatting(cause: &str) -> String {
    format!("error during formatting: {cause}")
}

fn put(clause: Clause, value: &Value) -> Result<String, String> {
    let refusal = || clause.refusal(value.type_name());
    match (clause, value) {
        (Clause::Text, _) => as_text(value)?.ok_or_else(refusal),
        (Clause::Decimal, Value::Int(_) | Value::Uint(_)) => Ok(value.to_string()),
        (Clause::Fixed(precision), _) => double(value).map(|double| fixed(double, precision)).ok_or_else(refusal),
        (Clause::Scientific(precision), _) => {
            double(value).map(|double| scientific(double, precision)).ok_or_else(refusal)
        }
        (Clause::Binary, Value::Int(value)) => Ok(signed(*value, |magnitude| format!("{magnitude:b}"))),
        (Clause::Binary, Value::Uint(value)) => Ok(format!("{value:b}")),
        (Clause::Binary, Value::Bool(value)) => Ok(u8::from(*value).to_string()),
        (Clause::Hex { upper }, _) => {
            hex(value).map(|hex| if upper { hex.to_uppercase() } else { hex }).ok_or_else(refusal)
        }
        (Clause::Octal, Value::Int(value)) => Ok(signed(*value, |magnitude| format!("{magnitude:o}"))),
        (Clause::Octal, Value::Uint(value)) => Ok(format!("{value:o}")),
        _ => Err(refusal()),
    }
}

/// The float that a clause for floats takes; texts that name no number are floats too.
fn double(value: &Value) -> Option<f64> {
    match value {
        Value::Double(value) => Some(*value),
        Value::String(text) => match text.as_ref() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

fn signed(value: i64, digits: impl Fn(u64) -> String) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", digits(value.unsigned_abs()))
}

/// The hexadecimal digit of a number below 16.
fn digit(number: u8) -> char {
    char::from_digit(u32::from(number), 16).unwrap_or('0')
}

fn hex(value: &Value) -> Option<String> {
    let bytes = |bytes: &[u8]| bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
    match value {
        Value::Int(value) => Some(signed(*value, |magnitude| format!("{magnitude:x}"))),
        Value::Uint(value) => Some(format!("{value:x}")),
        Value::String(text) => Some(bytes(text.as_bytes())),
        Value::Bytes(value) => Some(bytes(value)),
        _ => None,
    }
}

/// What upstream's printer for English makes of numbers that are none.
fn special(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "∞" } else { "-∞" })
    } else {
        None
    }
}

/// The largest number that upstream's printer reads in a clause; for a larger one it prints [`UNREADABLE`].
const MAX_NUMBER: usize = 10_000_009;
const UNREADABLE: &str = "%!(NOVERB)";

/// Digits with a comma before every third.
///
/// Upstream's printer keeps the precision in 16 bits, where a negative one asks for the shortest digits, and the least number of digits in 8.
fn fixed(value: f64, precision: usize) -> String {
    if precision > MAX_NUMBER {
        return UNREADABLE.to_owned();
    }
    if let Some(special) = special(value) {
        return special.to_owned();
    }
    let [least, high, ..] = precision.to_le_bytes();
    let digits = match usize::try_from(i16::from_le_bytes([least, high])) {
        Ok(most) => format!("{:.*}", most.min(MAX_FRACTION), value.abs()),
        Err(_) => value.abs().to_string(),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let least = usize::from(least);
    let kept = fraction.trim_end_matches('0').len().max(least.min(fraction.len()));
    let mut text = String::with_capacity(whole.len() * 4 / 3 + least + 2);
    if value < 0.0 {
        text.push('-');
    }
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if kept.max(least) > 0 {
        text.push('.');
        text.push_str(&fraction[..kept]);
        text.extend(std::iter::repeat_n('0', least.saturating_sub(kept)));
    }
    text
}

/// Digits and an exponent as the locale writes it: `1.500000×10⁰³`. What upstream reads as the precision, its printer takes for the least width.
fn scientific(value: f64, width: usize) -> String {
    if width > MAX_NUMBER {
        return UNREADABLE.to_owned();
    }
    let text = special(value).map_or_else(|| scientific_digits(value), str::to_owned);
    let padding = width.saturating_sub(text.chars().count());
    " ".repeat(padding) + &text
}

fn scientific_digits(value: f64) -> String {
    let digits = format!("{:.PRECISION$e}", value.abs());
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let superscript: String = format!("{:02}", exponent.abs()).chars().map(superscript).collect();
    let negative = if value < 0.0 { "-" } else { "" };
    let sign = if exponent < 0 { "⁻" } else { "" };
    format!("{negative}{mantissa}×10{sign}{superscript}")
}

fn superscript(digit: char) -> char {
    match digit {
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        other => char::from_u32(u32::from(other) - u32::from('0') + 0x2070).unwrap_or(other),
    }
}

/// A value as the text clause writes it; none for one that it does not take.
fn as_text(value: &Value) -> Result<Option<String>, String> {
    Ok(Some(match value {
        Value::Null => "null".to_owned(),
        Value::String(text) => text.to_string(),
        Value::Bytes(bytes) => bytes_text(bytes)?.to_owned(),
        Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Timestamp(_) => value.to_string(),
        Value::Double(value) => go_float(*value),
        Value::Duration(nanos) => times::seconds_text(*nanos),
        Value::Type(of) => of.runtime_name().to_owned(),
        Value::List(elements) => {
            let elements: Result<Vec<String>, String> = elements.iter().map(nested).collect();
            format!("[{}]", elements?.join(", "))
        }
        Value::Map(map) => {
            let mut entries = Vec::with_capacity(map.len());
            for (key, value) in map.iter() {
                if !matches!(key, Value::String(_) | Value::Bool(_) | Value::Int(_) | Value::Uint(_)) {
                    return Err(format!("no formatting function for map key of type {}", key.type_name()));
                }
                entries.push((nested(&key)?, nested(&value)?));
            }
            entries.sort_by(|(left, _), (right, _)| left.cmp(right));
            let entries: Vec<String> = entries.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
            format!("{{{}}}", entries.join(", "))
        }
        _ => return Ok(None),
    }))
}

/// A value inside a list or map: texts in quotes, floats with all digits.
fn nested(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(quoted(text.as_ref())),
        Value::Bytes(bytes) => Ok(format!("b{}", quoted(bytes_text(bytes)?))),
        Value::Double(double) if double.is_finite() => Ok(format!("{double:.PRECISION$}")),
        Value::Double(double) => Ok(quoted(go_float(*double))),
        Value::Timestamp(_) => Ok(format!("timestamp({})", quoted(value.to_string()))),
        Value::Duration(nanos) => Ok(format!("duration({})", quoted(times::seconds_text(*nanos)))),
        other => as_text(other)?.ok_or_else(|| format!("no formatting function for {}", other.type_name())),
    }
}

fn bytes_text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| {
        "could not convert argument \"invalid UTF-8 in bytes, cannot convert to string\" to string".to_owned()
    })
}
