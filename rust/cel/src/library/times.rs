//! Parts of points in time and of spans, and how both are written.

mod zone;

use crate::cost::Cost;
use crate::error::Fault;
use crate::library::{Function, Implementation, Overload, text};
use crate::types::Type;
use crate::value::{Timestamp, Value, civil, days_from_civil};

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// What a point in time is asked for, in its local time.
type Part = fn(&Local) -> i64;

/// A point in time by the calendar of a place.
struct Local {
    days: i64,
    second_of_day: i64,
    nanos: u32,
}

impl Local {
    fn new(time: Timestamp, offset: i64) -> Self {
        let seconds = time.seconds + offset;
        Self { days: seconds.div_euclid(86_400), second_of_day: seconds.rem_euclid(86_400), nanos: time.nanos }
    }

    fn date(&self) -> (i64, i64, i64) {
        civil(self.days)
    }
}

macro_rules! part {
    ($name:literal, $id:literal, $zoned:literal, $part:expr) => {
        Function::new(
            $name,
            vec![
                Overload::member($id, [Type::Timestamp], Type::Int, Cost::One, |arguments| in_utc(arguments, $part)),
                Overload::member($zoned, [Type::Timestamp, Type::String], Type::Int, Cost::One, |arguments| {
                    in_zone(arguments, $part)
                }),
            ],
        )
    };
}

pub(super) fn functions() -> Vec<Function> {
    vec![
        part!("getFullYear", "timestamp_to_year", "timestamp_to_year_with_tz", |local| local.date().0),
        part!("getMonth", "timestamp_to_month", "timestamp_to_month_with_tz", |local| local.date().1 - 1),
        part!("getDayOfYear", "timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz", |local| {
            local.days - days_from_civil(local.date().0, 1, 1)
        }),
        part!("getDayOfMonth", "timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz", |local| local
            .date()
            .2
            - 1),
        part!("getDate", "timestamp_to_day_of_month_1_based", "timestamp_to_day_of_month_1_based_with_tz", |local| {
            local.date().2
        }),
        // 1970-01-01 was a Thursday.
        part!("getDayOfWeek", "timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz", |local| (local.days + 4)
            .rem_euclid(7)),
        with_duration(
            part!("getHours", "timestamp_to_hours", "timestamp_to_hours_tz", |local| local.second_of_day / 3600),
            "duration_to_hours",
            |arguments| duration_part(arguments, 3_600_000_000_000),
        ),
        with_duration(
            part!("getMinutes", "timestamp_to_minutes", "timestamp_to_minutes_tz", |local| local.second_of_day / 60
                % 60),
            "duration_to_minutes",
            |arguments| duration_part(arguments, 60_000_000_000),
        ),
        with_duration(
            part!("getSeconds", "timestamp_to_seconds", "timestamp_to_seconds_tz", |local| local.second_of_day % 60),
            "duration_to_seconds",
            |arguments| duration_part(arguments, NANOS_PER_SECOND),
        ),
        with_duration(
            part!("getMilliseconds", "timestamp_to_milliseconds", "timestamp_to_milliseconds_tz", |local| i64::from(
                local.nanos / 1_000_000
            )),
            "duration_to_milliseconds",
            |arguments| duration_part(arguments, 1_000_000),
        ),
    ]
}

fn with_duration(mut function: Function, id: &'static str, call: Implementation) -> Function {
    function.overloads.push(Overload::member(id, [Type::Duration], Type::Int, Cost::One, call));
    function
}

fn in_utc(arguments: &[Value], part: Part) -> Result<Value, Fault> {
    match arguments {
        [Value::Timestamp(time)] => Ok(Value::Int(part(&Local::new(*time, 0)))),
        _ => Err(Fault::no_such_overload()),
    }
}

fn in_zone(arguments: &[Value], part: Part) -> Result<Value, Fault> {
    match arguments {
        [Value::Timestamp(time), zone] => {
            Ok(Value::Int(part(&Local::new(*time, zone::offset(text(zone)?, time.seconds)?))))
        }
        _ => Err(Fault::no_such_overload()),
    }
}

fn duration_part(arguments: &[Value], unit: i64) -> Result<Value, Fault> {
    match arguments {
        [Value::Duration(nanos)] => Ok(Value::Int(nanos / unit)),
        _ => Err(Fault::no_such_overload()),
    }
}

/// A span as seconds, as `string(…)` writes it.
#[expect(clippy::cast_precision_loss, reason = "upstream writes the float")]
pub(super) fn seconds_text(nanos: i64) -> String {
    let seconds = (nanos / NANOS_PER_SECOND) as f64 + (nanos % NANOS_PER_SECOND) as f64 / 1e9;
    format!("{seconds}s")
}

/// Reads a span as Go does: `1h30m`, `-1.5s`, `0`.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (fraction, after) = after.strip_prefix('.').map_or(("", after), digits);
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let end = after.find(|character: char| character == '.' || character.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let unit = unit_nanos(unit)?;
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let value = whole.checked_mul(unit)?.checked_add(fraction_nanos(fraction, unit))?;
        total = total.checked_add(value).filter(|total| *total <= 1 << 63)?;
        rest = after;
    }
    if negative { 0_i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() }
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

fn unit_nanos(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// The nanoseconds of a fraction of a unit; digits beyond what a number holds do not count.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "18 digits at most, below one unit, and Go computes it as a float"
)]
fn fraction_nanos(digits: &str, unit: u64) -> u64 {
    let digits = digits.get(..18).unwrap_or(digits);
    let value: u64 = digits.parse().unwrap_or(0);
    (value as f64 * (unit as f64 / 10_f64.powi(digits.len() as i32))) as u64
}

/// Reads RFC 3339: `2024-01-31T12:00:00.5+02:00`.
pub(crate) fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let punctuation = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if bytes.len() < 20 || punctuation.iter().any(|(index, byte)| bytes[*index] != *byte) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let valid = (1..=12).contains(&month) && hour < 24 && minute < 60 && second < 60 && day >= 1;
    let days = days_from_civil(year, month, day);
    if !valid || civil(days) != (year, month, day) {
        return None;
    }
    let (nanos, zone) = fraction(text.get(19..)?)?;
    let offset = offset(zone)?;
    let seconds = days * 86_400 + hour * 3600 + minute * 60 + second - i64::from(offset);
    Some(Timestamp { seconds, nanos, offset })
}

/// The nanoseconds of `.5Z`, and what comes after them.
fn fraction(text: &str) -> Option<(u32, &str)> {
    let Some(rest) = text.strip_prefix(['.', ',']) else { return Some((0, text)) };
    let (digits, zone) = digits(rest);
    if digits.is_empty() {
        return None;
    }
    let nanos = format!("{digits:0<9}").get(..9)?.parse().ok()?;
    Some((nanos, zone))
}

fn offset(zone: &str) -> Option<i32> {
    if zone == "Z" {
        return Some(0);
    }
    let sign = match zone.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let number = |digits: &str| -> Option<i32> {
        (digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok())?
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours <= 24 && minutes <= 60).then_some(sign * (hours * 3600 + minutes * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_read_as_in_go() {
        for (text, nanos) in [
            ("0", Some(0)),
            ("1h30m", Some(5_400_000_000_000)),
            ("-1.5s", Some(-1_500_000_000)),
            ("1µs", Some(1_000)),
            ("1", None),
            ("", None),
            (".s", None),
            ("1d", None),
            ("2562048h", None),
        ] {
            assert_eq!(parse_duration(text), nanos, "{text}");
        }
        assert_eq!(seconds_text(1_500_000_000), "1.5s");
    }

    #[test]
    fn points_in_time_read_as_in_go() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", Some(0)),
            ("1970-01-01T02:00:00+02:00", Some(0)),
            ("1970-01-01t00:00:00Z", None),
            ("1970-02-30T00:00:00Z", None),
            ("1970-01-01T24:00:00Z", None),
        ] {
            assert_eq!(parse_timestamp(text).map(|time| time.seconds), seconds, "{text}");
        }
    }
}
