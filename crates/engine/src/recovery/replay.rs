//! Reads the logs back into memtables at open. Predecessor: `wal/writer` of the run before. Successors:
//! [`log_replay`](super::log_replay), for each log; then the sealed memtables, which the flush thread writes to tables like any
//! others.
//!
//! A log ends at its last whole record: what follows was being written when the process died. A loss of power may also
//! take sectors out of the middle of what was not synced. Recovery stops at the first such hole, whichever log it is
//! in, so that it recovers a prefix of what was written. What comes after the hole is set aside in the directory
//! `lost`. A hole shows as a lost sector in a damaged record or as a gap in the sequences. If the next log continues
//! with the very next sequence, there is no hole, however the log before it ends: nothing that counts is missing
//! between the two.
//!
//! Damage that no loss of power explains is another matter, and so is any damage below the point up to which a log is
//! known to have been synced (`synced_files`). The open then fails with file and offset, and changes nothing:
//! continuing would silently lose synced writes, or keep later writes without earlier ones.

use terrace_format::batch::BatchRef;
use terrace_format::log::{LogEvent, LogReader};

use crate::error::{Error, ErrorKind, Result};
use crate::recovery::log_replay::{End, LogReplay, ReplayOptions};
use crate::recovery::needed_logs::OpenLog;
use crate::recovery::recovered_logs::{LogHole, RecoveredLogs};
use crate::recovery::source::FileSource;

/// Reads `logs`, in ascending order, into memtables. `last_sequence` is the newest sequence in tables.
pub(crate) fn replay(
    options: &ReplayOptions<'_>,
    logs: &[OpenLog],
    last_sequence: u64,
) -> Result<RecoveredLogs> {
    let mut recovered = RecoveredLogs::new(options.comparator, last_sequence);
    for (index, log) in logs.iter().enumerate() {
        let end = LogReplay::new(options, log).run(&mut recovered);
        let problem = match &end {
            Ok(End::Hole { reason, .. }) => Some(reason),
            Err(error) if error.kind() == ErrorKind::Corruption => Some(error),
            _ => None,
        };
        if let Some(problem) = problem
            && options.contiguous_sequences
            && goes_on_in(&logs[index + 1..], recovered.last_sequence)?
        {
            options
                .info_log
                .line(format_args!("nothing is missing, since the next log continues: {problem}"));
            continue;
        }
        match end? {
            End::Whole | End::Unfinished => {}
            End::Growing => break,
            End::Hole { reason, .. } if options.paranoid_checks => return Err(reason),
            End::Hole { offset, reason } => {
                let sizes = logs[index..].iter().map(|log| Ok(log.file.size_bytes()?));
                let left_out_bytes = sizes.sum::<Result<u64>>()?.saturating_sub(offset);
                options.info_log.line(format_args!(
                    "left out the last {left_out_bytes} bytes of the logs, after what seems to be a loss of power: {reason}"
                ));
                recovered.hole = Some(LogHole { number: log.number, left_out_bytes, reason });
                break;
            }
        }
    }
    Ok(recovered)
}

/// Whether the first of the `later` logs that holds anything begins with the sequence after `last_sequence`.
fn goes_on_in(later: &[OpenLog], last_sequence: u64) -> Result<bool> {
    for log in later {
        match LogReader::new(FileSource::new(&*log.file)).next().map_err(Error::from)? {
            LogEvent::Record { payload, .. } => {
                let batch = BatchRef::parse(payload);
                return Ok(batch.is_ok_and(|batch| batch.sequence() == last_sequence + 1));
            }
            LogEvent::End => {}
            LogEvent::Damage { .. } | LogEvent::TornTail { .. } => break,
        }
    }
    Ok(false)
}
