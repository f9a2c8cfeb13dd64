//! Points in time, and the calendar that they are read by.

use std::cmp::Ordering;
use std::fmt;

/// The first second that a timestamp may have: year 1.
pub(crate) const MIN_SECONDS: i64 = -62_135_596_800;
/// The last second that a timestamp may have: year 9999.
pub(crate) const MAX_SECONDS: i64 = 253_402_300_799;

/// A point in time, with the offset from UTC that it was written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamp {
    /// Seconds since 1970 in UTC.
    pub seconds: i64,
    /// Nanoseconds after the second.
    pub nanos: u32,
    /// Seconds that local time is ahead of UTC.
    pub offset: i32,
}

impl Timestamp {
    /// The point in UTC; none outside the years 1 to 9999.
    pub(crate) fn new(seconds: i64, nanos: u32) -> Option<Self> {
        (MIN_SECONDS..=MAX_SECONDS).contains(&seconds).then_some(Self { seconds, nanos, offset: 0 })
    }

    /// The point `nanos` nanoseconds later, at the same offset.
    pub(crate) fn plus(self, nanos: i64) -> Option<Self> {
        let total = self.nanos_since_epoch() + i128::from(nanos);
        let seconds = i64::try_from(total.div_euclid(1_000_000_000)).ok()?;
        let nanos = u32::try_from(total.rem_euclid(1_000_000_000)).ok()?;
        Some(Self { offset: self.offset, ..Self::new(seconds, nanos)? })
    }

    /// Nanoseconds since 1970.
    pub(crate) fn nanos_since_epoch(self) -> i128 {
        i128::from(self.seconds) * 1_000_000_000 + i128::from(self.nanos)
    }

    pub(crate) fn cmp_instant(&self, other: &Self) -> Ordering {
        self.nanos_since_epoch().cmp(&other.nanos_since_epoch())
    }

    pub(crate) fn same_instant(&self, other: &Self) -> bool {
        self.cmp_instant(other) == Ordering::Equal
    }

    /// Whether it is the first instant of year 1, Go's zero time.
    pub(crate) fn is_zero(self) -> bool {
        self.seconds == MIN_SECONDS && self.nanos == 0
    }
}

impl fmt::Display for Timestamp {
    /// RFC 3339 with as many digits of the second as are needed.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let local = self.seconds + i64::from(self.offset);
        let (year, month, day) = civil(local.div_euclid(86_400));
        let second = local.rem_euclid(86_400);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(formatter, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.nanos > 0 {
            let digits = format!("{:09}", self.nanos);
            write!(formatter, ".{}", digits.trim_end_matches('0'))?;
        }
        if self.offset == 0 {
            return formatter.write_str("Z");
        }
        let minutes = self.offset.abs() / 60;
        write!(formatter, "{}{:02}:{:02}", if self.offset < 0 { '-' } else { '+' }, minutes / 60, minutes % 60)
    }
}

/// Year, month and day of the day `days` after 1970-01-01, in the Gregorian calendar.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    // Years from March on, so that the leap day is the last of its year; eras of 400 years.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar.
pub(crate) fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_convert_both_ways() {
        for (year, month, day, days) in
            [(1970, 1, 1, 0), (2000, 2, 29, 11_016), (1969, 12, 31, -1), (1, 1, 1, -719_162), (9999, 12, 31, 2_932_896)]
        {
            assert_eq!((days_from_civil(year, month, day), civil(days)), (days, (year, month, day)));
        }
    }

    #[test]
    fn a_time_is_written_at_its_own_offset() {
        let time = Timestamp { seconds: 0, nanos: 1_500_000, offset: 5400 };
        assert_eq!(time.to_string(), "1970-01-01T01:30:00.0015+01:30");
        assert_eq!(time.plus(-2_000_000).unwrap().to_string(), "1970-01-01T01:29:59.9995+01:30");
    }
}
