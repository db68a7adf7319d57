//! Which logs count, and whether the first of them is there. Predecessor: the MANIFEST's numbers. Successor: `replay`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_env::{Env, RandomAccessFile};
use terrace_format::file_name::{self, FileKind};
use terrace_format::internal_key::SequenceNumber;

use crate::error::{Error, ErrorKind, Result};

/// What the MANIFEST said, apart from the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveredNumbers {
    /// Logs from this number on hold writes that no table has.
    pub log_number: u64,
    /// A further log with such writes; 0 for none. Only very old LevelDBs wrote another.
    pub previous_log_number: u64,
    /// Every entry in a table is at most so new.
    pub last_sequence: SequenceNumber,
    /// The MANIFEST that was read.
    pub manifest_number: u64,
    /// As the last edit stated it: files from this number on were made after that.
    pub next_file_number: u64,
    /// Whether Terrace wrote it, and so the logs that it needs.
    pub is_ours: bool,
}

/// Whether the MANIFEST, which says these numbers, still needs the log `number`.
pub(crate) fn is_log_needed(number: u64, log_number: u64, previous_log_number: u64) -> bool {
    number >= log_number || (number == previous_log_number && number != 0)
}

/// Whether a MANIFEST that says these numbers needs a log. Where none is needed any more, the number is its own, or 0.
pub(crate) fn names_log(log_number: u64, manifest_number: u64) -> bool {
    log_number != 0 && log_number != manifest_number
}

/// Fails if the first log that counts is missing: a MANIFEST of ours names one that was there. This also finds a
/// MANIFEST that has lost its last records: the log that the state before them needs was removed since.
pub(crate) fn check_first_log(directory: &Path, numbers: &RecoveredNumbers, logs: &[OpenLog]) -> Result<()> {
    let number = numbers.log_number;
    let names_one = numbers.is_ours && names_log(number, numbers.manifest_number);
    if !names_one || logs.iter().any(|log| log.number == number) {
        return Ok(());
    }
    let manifest = file_name::manifest_name(numbers.manifest_number);
    let problem = format!("{manifest} needs a log that is missing; repair keeps what is there");
    Err(Error::at_path(ErrorKind::Corruption, &directory.join(file_name::log_name(number)), problem))
}

/// A log that can be read, also if its writer removes it meanwhile.
pub(crate) struct OpenLog {
    pub(crate) number: u64,
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn RandomAccessFile>,
}

/// Opens every log among `names`, the files in `directory`, ascending. Do it before the MANIFEST is read: a log that a
/// running writer removes before is in tables that the MANIFEST names then.
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
