//! Which logs count, and whether the first of them is there. Predecessor: the MANIFEST's numbers. Successor: `replay`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::{Env, RandomAccessFile};
use terrace_format::file_name::{self, FileKind};
use terrace_format::internal_key::SequenceNumber;

use crate::error::{Error, ErrorKind, Result};
use crate::recovery::left_out::{LeftOutKind, LeftOutLog};

/// What the MANIFEST stated, apart from the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveredNumbers {
    /// Logs from this number on hold writes that no table has.
    pub log_number: u64,
    /// Another log with such writes; 0 for none. Only very old versions of LevelDB wrote anything else.
    pub previous_log_number: u64,
    /// No entry in a table has a newer sequence.
    pub last_sequence: SequenceNumber,
    /// The number of the MANIFEST that was read.
    pub manifest_number: u64,
    /// The next file number in the last edit: files from this number on were created after it.
    pub next_file_number: u64,
    /// Whether Terrace wrote the MANIFEST, and therefore the logs that it needs.
    pub is_ours: bool,
}

/// Whether the MANIFEST that stated these numbers still needs the log `number`.
pub(crate) fn is_log_needed(number: u64, log_number: u64, previous_log_number: u64) -> bool {
    number >= log_number || (number == previous_log_number && number != 0)
}

/// Whether a MANIFEST that stated these numbers needs a log. If it needs none, `log_number` is the MANIFEST's own
/// number, or 0.
pub(crate) fn names_log(log_number: u64, manifest_number: u64) -> bool {
    log_number != 0 && log_number != manifest_number
}

/// The first log that counts, if it is missing. Engines create that log before a MANIFEST names it.
///
/// # Errors
/// `Corruption` if the MANIFEST is ours and the log is missing. This check also detects a MANIFEST that has lost its last
/// records, because the log that the earlier state needs has been removed since. Other engines open such a database.
pub(crate) fn missing_log(
    env: &dyn Env,
    directory: &Path,
    numbers: &RecoveredNumbers,
    logs: &[OpenLog],
) -> Result<Option<LeftOutLog>> {
    let number = numbers.log_number;
    let is_named = names_log(number, numbers.manifest_number);
    if !is_named || logs.iter().any(|log| log.number == number) {
        return Ok(None);
    }
    let name = file_name::log_name(number);
    let path = directory.join(&name);
    let manifest = file_name::manifest_name(numbers.manifest_number);
    if numbers.is_ours {
        let problem = format!("{manifest} needs a log that is missing; repair keeps the rest");
        return Err(Error::at_path(ErrorKind::Corruption, &path, problem));
    }
    if env.exists(&path)? {
        let message = "another process began a log while the directory was read";
        return Err(Error::at_path(ErrorKind::Outdated, &path, message));
    }
    let problem =
        format!("{manifest} needs a log that is missing; if you have it elsewhere, copy it here first");
    let reason = Error::at_path(ErrorKind::Corruption, &path, problem);
    Ok(Some(LeftOutLog { name, kind: LeftOutKind::MissingLog, bytes: 0, reason }))
}

/// A log that stays readable even if its writer removes it meanwhile.
pub(crate) struct OpenLog {
    pub(crate) number: u64,
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn RandomAccessFile>,
}

/// Opens every log among `names`, the files in `directory`, in ascending order. Call this before reading the MANIFEST:
/// if a running writer has already removed a log, the MANIFEST then names the tables that hold its writes.
pub(crate) fn open_logs(env: &dyn Env, directory: &Path, names: &[String]) -> Result<Vec<OpenLog>> {
    let mut logs = Vec::new();
    for name in names {
        if let Some(FileKind::Log(number)) = file_name::parse(name) {
            let path = directory.join(name);
            match env.open_random(&path) {
                Ok(file) => logs.push(OpenLog { number, path, file }),
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    logs.sort_by_key(|log| log.number);
    Ok(logs)
}
