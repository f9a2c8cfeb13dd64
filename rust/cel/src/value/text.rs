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

impl Value {
    /// The value in the one message where upstream's own texts of values are not used.
    pub(crate) fn as_go_writes(&self) -> String {
        match self {
            Self::Null => "0".to_owned(),
            Self::Duration(nanos) => go_duration(*nanos),
            Self::Timestamp(time) => time.to_string().replace('T', " ").replace('Z', " +0000 UTC"),
            Self::List(elements) => {
                let elements: Vec<String> = elements.iter().map(Self::as_go_writes).collect();
                format!("[{}]", elements.join(", "))
            }
            Self::Map(map) => {
                let entry = |(key, value): (Self, Self)| format!("{}: {}", key.as_go_writes(), value.as_go_writes());
                let entries: Vec<String> = map.iter().map(entry).collect();
                format!("{{{}}}", entries.join(", "))
            }
            other => other.to_string(),
        }
    }
}

/// A span as Go writes it: `1h0m0s`, `1.5ms`.
fn go_duration(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let text = match nanos {
        0 => "0s".to_owned(),
        1..1_000 => format!("{nanos}ns"),
        1_000..1_000_000 => format!("{}µs", decimal(nanos, 1_000)),
        1_000_000..1_000_000_000 => format!("{}ms", decimal(nanos, 1_000_000)),
        _ => {
            let minutes = nanos / 60_000_000_000;
            let seconds = format!("{}s", decimal(nanos % 60_000_000_000, 1_000_000_000));
            match (minutes / 60, minutes % 60) {
                (0, 0) => seconds,
                (0, minutes) => format!("{minutes}m{seconds}"),
                (hours, minutes) => format!("{hours}h{minutes}m{seconds}"),
            }
        }
    };
    format!("{sign}{text}")
}

/// `value / unit`, a power of ten, with all digits and no zeros at the end.
fn decimal(value: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    let fraction = format!("{:0digits$}", value % unit);
    let text = format!("{}.{fraction}", value / unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
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
    fn spans_are_written_as_go_writes_them() {
        for (nanos, text) in [
            (0, "0s"),
            (1, "1ns"),
            (1_500, "1.5µs"),
            (-1_500_000, "-1.5ms"),
            (90_000_000_000, "1m30s"),
            (3_600_000_000_000, "1h0m0s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ] {
            assert_eq!(go_duration(nanos), text);
        }
    }

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
