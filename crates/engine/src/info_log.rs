//! The info log: the file LOG, in which the database says in plain words what it did. The log of the previous run is kept
//! as LOG.old. Failures to write the log are ignored, because it informs people and nothing depends on it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use terrace_env::locks::Mutex;
use terrace_env::{Env, WritableFile};
use terrace_format::file_name;

/// Size at which the database stops writing its LOG.
const MAX_SIZE_BYTES: u64 = 16 << 20;

/// The info log of an open database. A read-only database writes none.
pub(crate) struct InfoLog {
    file: Mutex<Option<Box<dyn WritableFile>>>,
    env: Arc<dyn Env>,
}

impl fmt::Debug for InfoLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InfoLog")
    }
}

impl InfoLog {
    /// Renames the LOG of the previous run to LOG.old and starts a new one.
    pub(crate) fn open(env: Arc<dyn Env>, directory: &Path) -> Self {
        let (log, old) = (directory.join(file_name::LOG), directory.join(file_name::OLD_LOG));
        if env.exists(&log).unwrap_or(false) {
            let _ = env.remove_file(&old);
            let _ = env.rename(&log, &old);
        }
        let file = Mutex::new(env.create(&log).ok());
        Self { file, env }
    }

    /// A log whose lines go nowhere.
    pub(crate) fn none(env: Arc<dyn Env>) -> Self {
        Self { file: Mutex::new(None), env }
    }

    /// Closes the file. Later lines go nowhere.
    pub(crate) fn close(&self) {
        *self.file.lock() = None;
    }

    /// Writes one line, after the time.
    pub(crate) fn line(&self, message: fmt::Arguments<'_>) {
        let mut file = self.file.lock();
        if let Some(open) = file.as_mut() {
            let line = format!("{} {message}\n", format_time(self.env.unix_micros()));
            let written = open.append(line.as_bytes()).and_then(|()| open.flush());
            if written.is_err() || open.size_bytes() > MAX_SIZE_BYTES {
                *file = None;
            }
        }
    }
}

/// The time in UTC, such as `2026-11-21 20:59:07.123456`.
fn format_time(unix_micros: u64) -> String {
    let (seconds, micros) = (unix_micros / 1_000_000, unix_micros % 1_000_000);
    let (days, second_of_day) = ((seconds / 86_400) as i64, seconds % 86_400);
    let (year, month, day) = civil_from_days(days);
    let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}")
}

/// Converts days since 1970-01-01 to year, month and day in the Gregorian calendar, by counting 400-year eras that begin
/// on the first of March (H. Hinnant, "chrono-compatible low-level date algorithms").
fn civil_from_days(days: i64) -> (i64, u32, u32) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * shifted_month + 2) / 5 + 1) as u32;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 } as u32;
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use terrace_env::MemoryEnv;

    use super::*;

    #[test]
    fn times_are_calendar_times() {
        assert_eq!(format_time(0), "1970-01-01 00:00:00.000000");
        assert_eq!(format_time(951_782_400_000_001), "2000-02-29 00:00:00.000001");
        assert_eq!(format_time(1_795_294_747_123_456), "2026-11-21 20:59:07.123456");
    }

    #[test]
    fn the_previous_log_is_kept() {
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
        let directory = Path::new("/db");
        env.create_directory_all(directory).unwrap();
        for run in 0..3 {
            InfoLog::open(Arc::clone(&env), directory).line(format_args!("run {run}"));
        }
        let text = |name| String::from_utf8(env.read_file(&directory.join(name)).unwrap()).unwrap();
        assert!(text("LOG").ends_with("run 2\n"));
        assert!(text("LOG.old").ends_with("run 1\n"));
    }
}
