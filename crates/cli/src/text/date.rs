//! Dates of the proleptic Gregorian calendar, as ISO 8601 writes them.

use super::json::Json;

const DAY_MS: i64 = 86_400_000;

/// The moment `ms` milliseconds after the beginning of 1970, in UTC; `None` beyond JavaScript's range of dates.
pub(crate) fn iso_date(ms: f64) -> Option<String> {
    /// 100 million days on either side.
    const LARGEST: f64 = 8.64e15;
    if ms.is_nan() || ms.abs() > LARGEST {
        return None;
    }
    let ms = ms.floor() as i64;
    let (days, in_day) = (ms.div_euclid(DAY_MS), ms.rem_euclid(DAY_MS));
    let (year, month, day) = civil(days);
    let year = if (0..10_000).contains(&year) { format!("{year:04}") } else { format!("{year:+07}") };
    let (hour, minute) = (in_day / 3_600_000, in_day / 60_000 % 60);
    let (second, milli) = (in_day / 1000 % 60, in_day % 1000);
    Some(format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milli:03}Z"))
}

/// The moment `micros` microseconds after the beginning of 1601, as Chromium counts time; the number itself beyond JavaScript's range.
pub(crate) fn windows_time(micros: u64) -> Json {
    const EPOCH_MICROS: f64 = 11_644_473_600_000_000.0;
    iso_date((micros as f64 - EPOCH_MICROS) / 1000.0).map_or_else(|| micros.into(), Json::String)
}

/// Year, month and day this many days after the beginning of 1970. Years are counted from March, so that a leap day
/// is the last day of its year; 400 years are one period.
fn civil(days: i64) -> (i64, i64, i64) {
    const PERIOD_DAYS: i64 = 146_097;
    /// From March 1 of the year 0 to the beginning of 1970.
    const EPOCH_DAYS: i64 = 719_468;
    let days = days + EPOCH_DAYS;
    let (period, day) = (days.div_euclid(PERIOD_DAYS), days.rem_euclid(PERIOD_DAYS));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let calendar_month = if month < 10 { month + 3 } else { month - 9 };
    (year + 400 * period + i64::from(calendar_month <= 2), calendar_month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments() {
        for (ms, text) in [
            (0.0, "1970-01-01T00:00:00.000Z"),
            (-1.0, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000.0, "2000-02-29T00:00:00.000Z"),
            (1_700_000_000_123.0, "2023-11-14T22:13:20.123Z"),
            (8.64e15, "+275760-09-13T00:00:00.000Z"),
            (-8.64e15, "-271821-04-20T00:00:00.000Z"),
            (-62_198_755_200_000.0, "-000001-01-01T00:00:00.000Z"),
        ] {
            assert_eq!(iso_date(ms).as_deref(), Some(text));
        }
        assert_eq!(iso_date(f64::NAN), None);
        assert_eq!(iso_date(9e15), None);
    }
}
