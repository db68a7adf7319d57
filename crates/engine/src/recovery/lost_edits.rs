//! Detects whether the MANIFEST of another engine has lost its last edits. Predecessor: `db/open`, which has read the
//! MANIFEST. Successor: the logs.
//!
//! A MANIFEST that was cut off between two records is sound in itself and states how the database was at an earlier
//! time. If that state were opened, everything flushed since would be lost for good: the open would remove the tables
//! that the MANIFEST does not know as the traces of a crash. LevelDB removes a log only after the edit that names the
//! log's table is durable, and each log continues the sequence of the log before it. A table that is newer than the
//! last edit, together with a gap before the logs, is therefore not the trace of a crash:
//!
//! ```text
//!   as it was   edit: log 6, table 5   edit: log 9, table 8   000005.ldb 000008.ldb 000009.log
//!   cut off     edit: log 6, table 5                          000005.ldb 000008.ldb 000009.log     log 6 is missing
//! ```
//!
//! For one of our own MANIFESTs, the missing log alone is proof
//! ([`check_first_log`](super::needed_logs::check_first_log)). Databases of other engines may have been copied without
//! their logs.

use std::path::Path;

use terrace_env::Env;
use terrace_format::batch::BatchBeginning;
use terrace_format::file_name::{self, FileKind};
use terrace_format::internal_key::SequenceNumber;
use terrace_format::limits::{BATCH_HEADER_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};
use terrace_format::log::{FragmentHeader, FragmentKind};

use crate::error::{Error, ErrorKind, Result};
use crate::recovery::needed_logs::{OpenLog, RecoveredNumbers, is_log_needed, names_log};

/// Checks that the MANIFEST that stated `numbers` has not lost its last edits. `names` are the files in the directory,
/// and `logs` are the logs among them, ascending.
///
/// # Errors
/// - `Corruption` if edits are lost.
/// - The errors of reading a log.
pub(crate) fn check_last_edits(
    env: &dyn Env,
    directory: &Path,
    names: &[String],
    numbers: &RecoveredNumbers,
    logs: &[OpenLog],
) -> Result<()> {
    if numbers.is_ours {
        return Ok(());
    }
    let is_newer = |name: &&String| match file_name::parse(name) {
        Some(FileKind::Table(number) | FileKind::LegacyTable(number)) => number >= numbers.next_file_number,
        _ => false,
    };
    let Some(table) = names.iter().find(is_newer) else { return Ok(()) };
    let RecoveredNumbers { log_number, previous_log_number, manifest_number, last_sequence, .. } = *numbers;
    let needed: Vec<u64> = logs
        .iter()
        .map(|log| log.number)
        .filter(|number| is_log_needed(*number, log_number, previous_log_number))
        .collect();
    let gap = if names_log(log_number, manifest_number) && !needed.contains(&log_number) {
        format!("the log {log_number} that it needs is missing")
    } else {
        match first_sequence(env, directory, &needed)? {
            Some(first) if first > last_sequence.saturating_add(1) => {
                format!("the logs continue with sequence {first} after {last_sequence}")
            }
            _ => return Ok(()),
        }
    };
    let manifest = file_name::manifest_name(manifest_number);
    let problem = format!(
        "the last records of the MANIFEST are missing: it does not list {table}, and {gap}; repair keeps the rest"
    );
    Err(Error::at_path(ErrorKind::Corruption, &directory.join(manifest), problem))
}

/// The sequence that begins the first log with a record. Whether that record is sound is left to the replay.
fn first_sequence(env: &dyn Env, directory: &Path, logs: &[u64]) -> Result<Option<SequenceNumber>> {
    for number in logs {
        let mut file = env.open_sequential(&directory.join(file_name::log_name(*number)))?;
        let mut bytes = [0; LOG_HEADER_SIZE_BYTES + BATCH_HEADER_SIZE_BYTES];
        let mut filled = 0;
        while filled < bytes.len() {
            match file.read(&mut bytes[filled..])? {
                0 => break,
                read_bytes => filled += read_bytes,
            }
        }
        let fragment = FragmentHeader::split(&bytes[..filled]);
        if let Some((header, payload)) = fragment
            && header.kind().is_some_and(FragmentKind::begins_record)
            && let Some(batch) = BatchBeginning::read(payload)
        {
            return Ok(Some(batch.sequence));
        }
    }
    Ok(None)
}
