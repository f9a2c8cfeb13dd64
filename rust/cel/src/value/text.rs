//! How values look in messages: as Go's `%v` writes upstream's values.

use std::fmt;

use crate::value::{Map, Value};

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Bool(value) => value.fmt(formatter),
            Self::Int(value) => value.fmt(formatter),
            Self::Uint(value) => value.fmt(formatter),
            Self::Double(value) => formatter.write_str(&go_float(*value)),
            Self::String(text) => formatter.write_str(text),
            Self::Bytes(bytes) => {
                let bytes: Vec<String> = bytes.iter().map(ToString::to_string).collect();
                write!(formatter, "[{}]", bytes.join(" "))
            }
            Self::List(elements) => {
                let elements: Vec<String> = elements.iter().map(ToString::to_string).collect();
                write!(formatter, "[{}]", elements.join(", "))
            }
            Self::Map(map) => map.fmt(formatter),
            Self::Duration(nanos) => write!(formatter, "{nanos}ns"),
            Self::Timestamp(time) => time.fmt(formatter),
            Self::Type(found) => formatter.write_str(&found.to_string()),
            Self::Optional(None) => formatter.write_str("optional.none()"),
            Self::Optional(Some(value)) => write!(formatter, "optional({value})"),
            Self::Quantity(quantity) => quantity.quantity().fmt(formatter),
            Self::Version(version) => version.fmt(formatter),
            Self::Url(url) => url.fmt(formatter),
            Self::Ip(ip) => ip.fmt(formatter),
            Self::Cidr(cidr) => cidr.fmt(formatter),
            Self::Format(format) => formatter.write_str(format.name),
        }
    }
}

impl fmt::Display for Map {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries: Vec<String> = self.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        write!(formatter, "{{{}}}", entries.join(", "))
    }
}

/// A float as Go's `%g` writes it: the shortest digits that read back, with an exponent below 10^-4 and from 10^6 on.
pub(crate) fn go_float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        return value.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_go_writes_them() {
        for (value, text) in [
            (1.5, "1.5"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (100_000.0, "100000"),
            (123_456_789.0, "1.23456789e+08"),
            (1e21, "1e+21"),
            (-2.0, "-2"),
            (f64::INFINITY, "+Inf"),
        ] {
            assert_eq!(go_float(value), text);
        }
    }
}
