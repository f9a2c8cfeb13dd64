//! Time zones: by hours and minutes, or by the name of a place.

use std::num::IntErrorKind;
use std::sync::LazyLock;

use drayman_api::quote::quoted;
use jiff::Timestamp;
use jiff::tz::TimeZoneDatabase;

use crate::error::Fault;

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// The places that are built in, so that answers do not depend on the machine.
static PLACES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The seconds that `zone` is ahead of UTC at a time, which is given in seconds since 1970.
pub(super) fn offset(zone: &str, seconds: i64) -> Result<i64, Fault> {
    let Some((hours, minutes)) = zone.split_once(':') else { return of_place(zone, seconds) };
    let (hours, minutes) = (integer(hours)?, integer(minutes)?);
    let hours = hours.wrapping_mul(60);
    let offset = if zone.starts_with('-') { hours.wrapping_sub(minutes) } else { hours.wrapping_add(minutes) };
    // Upstream goes over nanoseconds, and so wraps around.
    Ok(offset.wrapping_mul(60 * NANOS_PER_SECOND) / NANOS_PER_SECOND)
}

fn of_place(zone: &str, seconds: i64) -> Result<i64, Fault> {
    // The scheduler's local time is UTC.
    if matches!(zone, "" | "UTC" | "Local") {
        return Ok(0);
    }
    if zone.contains("..") || zone.starts_with(['/', '\\']) {
        return Err(Fault::failed("time: invalid location name"));
    }
    // Upstream's names are those of files, so that their case counts.
    let place = PLACES.get(zone).ok().filter(|place| place.iana_name() == Some(zone));
    let place = place.ok_or_else(|| Fault::failed(format!("unknown time zone {zone}")))?;
    // The calendar there ends some hours before that of upstream, and no zone changes in the last days.
    let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX);
    Ok(i64::from(place.to_offset(time).seconds()))
}

/// An integer, or the refusal in Go's words.
fn integer(digits: &str) -> Result<i64, Fault> {
    digits.parse().map_err(|error: std::num::ParseIntError| {
        let cause = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        Fault::failed(format!("strconv.Atoi: parsing {}: {cause}", quoted(digits)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_hours_and_minutes_or_places() {
        for (zone, seconds, expected) in [
            ("UTC", 0, "0"),
            ("-05:30", 0, "-19800"),
            ("Europe/Berlin", 1_706_933_106, "3600"),
            ("Europe/Berlin", 1_720_000_000, "7200"),
            ("Europe/Berlin", -10_000_000_000, "3208"),
            ("America/New_York", 253_402_300_799, "-18000"),
            ("europe/berlin", 0, "error: unknown time zone europe/berlin"),
            ("../x", 0, "error: time: invalid location name"),
            ("x:00", 0, "error: strconv.Atoi: parsing \"x\": invalid syntax"),
        ] {
            let found =
                offset(zone, seconds).map_or_else(|fault| format!("error: {fault}"), |offset| offset.to_string());
            assert_eq!(found, expected, "{zone}");
        }
    }
}
