//! Reads one log back, record by record, and decides how it ends. Predecessor: [`replay`](super::replay), for each log. Successors:
//! [`recovered_logs`](super::recovered_logs), which takes the writes, and [`log_end`](super::log_end).

use terrace_format::batch::BatchRef;
use terrace_format::file_name::log_name;
use terrace_format::internal_key::InternalKeyComparator;
use terrace_format::log::{LogEvent, LogReader};

use crate::error::{Error, Result};
use crate::info_log::InfoLog;
use crate::recovery::block_signs::Sequences;
use crate::recovery::left_out::{LeftOutKind, LeftOutLog};
use crate::recovery::log_end::{LogEnd, LogRest, TornTail, Trouble};
use crate::recovery::needed_logs::OpenLog;
use crate::recovery::recovered_logs::RecoveredLogs;
use crate::recovery::source::{FileSource, first_content};
use crate::recovery::synced_files::SyncedFiles;
use crate::recovery::tail::is_next;

/// How to read the logs.
pub(crate) struct ReplayOptions<'a> {
    /// Whether the logs are Terrace's: each record begins with the sequence that follows the last one of the record
    /// before. LevelDB leaves a gap after a write that failed, and forks of it leave others.
    pub(crate) contiguous_sequences: bool,
    pub(crate) comparator: &'a InternalKeyComparator,
    pub(crate) info_log: &'a InfoLog,
    pub(crate) paranoid_checks: bool,
    /// Whether a process may be writing these logs, because the open is read-only.
    pub(crate) writer_may_live: bool,
    pub(crate) write_buffer_size_bytes: usize,
    /// How far the logs are known to have been synced.
    pub(crate) synced_files: &'a SyncedFiles,
}

/// How a log ends.
pub(super) enum End {
    /// After its last record.
    Whole,
    /// In a record that was never finished.
    Unfinished,
    /// Its writer is alive and has added records since we read there. What the writer adds to later logs is newer
    /// still.
    Growing,
    /// A loss of power took part of it. What follows, later logs included, does not count.
    Hole { offset: u64, reason: Error },
}

const ZEROS_IN_LOG: &str = "zeros where a log record should begin";

/// One log that is being read.
pub(super) struct LogReplay<'a> {
    options: &'a ReplayOptions<'a>,
    log: &'a OpenLog,
    /// The sequence after the last record; `None` before the first one.
    next_sequence: Option<u64>,
    records: u64,
}

impl<'a> LogReplay<'a> {
    pub(super) fn new(options: &'a ReplayOptions<'a>, log: &'a OpenLog) -> Self {
        Self { options, log, next_sequence: None, records: 0 }
    }

    /// Reads the log into `recovered`. Returns how it ends.
    ///
    /// # Errors
    /// Damage that no loss of power explains, and errors of reading the file.
    pub(super) fn run(mut self, recovered: &mut RecoveredLogs) -> Result<End> {
        let mut reader = LogReader::new(FileSource::new(&*self.log.file));
        let end = loop {
            let sound_end = reader.end_of_last_record();
            // Writes of later logs may already be in tables, and `recovered.last_sequence` includes those.
            let last = self.next_sequence.map_or(recovered.last_sequence, |next| next.saturating_sub(1));
            match reader.next().map_err(Error::from)? {
                LogEvent::Record { payload, offset } => {
                    if let Some(end) = self.take_record(payload, offset, sound_end, last, recovered)? {
                        break end;
                    }
                }
                LogEvent::Damage { offset, dropped_bytes, reason } => {
                    let problem = format!("damaged log record: {reason} ({dropped_bytes} bytes)");
                    let trouble = Trouble::Damage { record: offset, at: reader.damaged_at() };
                    break self.judge(&self.rest(sound_end, last), trouble, offset, problem)?;
                }
                LogEvent::TornTail { offset, dropped_bytes } => {
                    let rest = self.rest(sound_end, last);
                    break self.end_in_torn_record(&mut reader, offset, dropped_bytes, &rest, recovered)?;
                }
                LogEvent::End => {
                    let rest = self.rest(sound_end, last);
                    break self.end_after_record(reader.end_of_bytes(), &rest, recovered)?;
                }
            }
        };
        if !matches!(end, End::Hole { .. }) {
            let (records, number) = (self.records, self.log.number);
            self.options.info_log.line(format_args!("read {records} records from log {number}"));
        }
        Ok(end)
    }

    /// The log after `sound_end`, where its last record ends, whose newest sequence is `last`.
    fn rest(&self, sound_end: u64, last: u64) -> LogRest<'a> {
        let sequences = Sequences { last, are_contiguous: self.options.contiguous_sequences };
        LogRest { file: &*self.log.file, sound_end, sequences }
    }

    /// Adds the record at `offset`. Returns the end of the log if the record shows that something before it is missing.
    #[inline]
    fn take_record(
        &mut self,
        payload: &[u8],
        offset: u64,
        sound_end: u64,
        last: u64,
        recovered: &mut RecoveredLogs,
    ) -> Result<Option<End>> {
        let at_record = |error| Error::format(&self.log.path, offset, error);
        let batch = BatchRef::parse(payload).map_err(at_record)?;
        let first = batch.sequence();
        let expected = self.next_sequence.unwrap_or(last + 1);
        // The first record may be in tables already.
        let goes_on = first == expected || (self.next_sequence.is_none() && first < expected);
        if self.options.contiguous_sequences && !goes_on {
            return self.end_before_gap(offset, first, expected, &self.rest(sound_end, last)).map(Some);
        }
        if let Some(end) = recovered.unfinished {
            recovered.unfinished = None;
            if first > expected {
                recovered.missing_ends.push(self.missing_end(end, first, expected));
            }
        }
        self.next_sequence = Some(first + u64::from(batch.count()));
        self.records += 1;
        let write_buffer_size_bytes = self.options.write_buffer_size_bytes;
        recovered.apply(self.log.number, batch, write_buffer_size_bytes).map_err(at_record)?;
        Ok(None)
    }

    /// The end of a log whose record at `offset` begins with the sequence `first` instead of the expected one.
    #[cold]
    fn end_before_gap(&self, offset: u64, first: u64, expected: u64, rest: &LogRest<'_>) -> Result<End> {
        match self.next_sequence {
            None => Ok(End::Hole { offset, reason: self.gap(offset, first, expected) }),
            // A loss of power that takes what was between two records leaves a gap between them.
            Some(_) if is_next(rest.sound_end, offset) => Err(self.gap(offset, first, expected)),
            Some(_) => self.judge(rest, Trouble::Zeros, rest.sound_end, gap_problem(first, expected)),
        }
    }

    /// The end of a log whose last record, at `offset`, the end of the file cuts off.
    fn end_in_torn_record(
        &self,
        reader: &mut LogReader<FileSource<'_>>,
        offset: u64,
        dropped_bytes: u64,
        rest: &LogRest<'_>,
        recovered: &mut RecoveredLogs,
    ) -> Result<End> {
        let OpenLog { number, file, .. } = self.log;
        let end = reader.end_of_bytes();
        if self.options.writer_may_live && file.size_bytes()? > end {
            return Ok(End::Growing);
        }
        let trouble = Trouble::Damage { record: offset, at: reader.damaged_at() };
        if end <= self.options.synced_files.end_of_log(*number) {
            return self.judge(rest, trouble, offset, "damaged log record: a bad length".to_owned());
        }
        let tail = rest.judge_torn(reader.take_torn_record().as_ref(), offset);
        if let TornTail::Damaged(problem) = tail {
            return self.judge(rest, trouble, offset, format!("damaged log record: {problem}"));
        }
        if first_content(&**file, rest.sound_end, offset)?.is_some() {
            return self.judge(rest, Trouble::Zeros, rest.sound_end, ZEROS_IN_LOG.to_owned());
        }
        if let TornTail::AfterGap(first) = tail {
            return Ok(End::Hole { offset, reason: self.gap(offset, first, rest.sequences.last + 1) });
        }
        self.options.info_log.line(format_args!(
            "log {number} ends in an unfinished record of {dropped_bytes} bytes at {offset}: left out"
        ));
        recovered.unfinished = Some((*number, offset));
        Ok(End::Unfinished)
    }

    /// The end of a log that holds no other record before `end`, where its file ends.
    fn end_after_record(&self, end: u64, rest: &LogRest<'_>, recovered: &mut RecoveredLogs) -> Result<End> {
        let OpenLog { number, path, file } = self.log;
        let sound_end = rest.sound_end;
        if first_content(&**file, sound_end, end)?.is_some() {
            return self.judge(rest, Trouble::Zeros, sound_end, ZEROS_IN_LOG.to_owned());
        }
        let synced_end = self.options.synced_files.end_of_log(*number);
        if sound_end < synced_end {
            let problem = format!("the log is too short: it was synced up to byte {synced_end}");
            let problem = format!("{problem}; repair keeps what is intact");
            return Err(Error::corruption(path, sound_end, problem));
        }
        recovered.ends.push(sound_end);
        Ok(End::Whole)
    }

    /// Decides what `trouble` at `offset` means.
    ///
    /// # Errors
    /// The damage, if nothing explains it.
    fn judge(&self, rest: &LogRest<'_>, trouble: Trouble, offset: u64, problem: String) -> Result<End> {
        let OpenLog { number, path, .. } = self.log;
        let damage = |problem: String| {
            Err(Error::corruption(path, offset, format!("{problem}; repair keeps what is intact")))
        };
        if offset < self.options.synced_files.end_of_log(*number) {
            return damage(format!("{problem}, in a part of the log that was synced"));
        }
        match rest.judge(trouble)? {
            LogEnd::Unfinished => Ok(End::Unfinished),
            LogEnd::Growing if self.options.writer_may_live => Ok(End::Growing),
            LogEnd::PowerLoss => Ok(End::Hole { offset, reason: Error::corruption(path, offset, problem) }),
            LogEnd::Damage | LogEnd::Growing => damage(problem),
        }
    }

    fn gap(&self, offset: u64, first: u64, expected: u64) -> Error {
        Error::corruption(&self.log.path, offset, gap_problem(first, expected))
    }

    /// What is said of the log `number` before this one, which ends in an unfinished record at `offset`, if this one begins with
    /// the sequence `first`. A process that dies leaves such an end, and one that writes on after an error leaves such a gap; a loss
    /// of power leaves both.
    #[cold]
    fn missing_end(&self, (number, offset): (u64, u64), first: u64, expected: u64) -> LeftOutLog {
        let name = log_name(number);
        let later = log_name(self.log.number);
        let problem = format!(
            "the log ends in an unfinished record, and {later} begins with sequence {first} instead of {expected}, as a loss \
             of power leaves them"
        );
        self.options.info_log.line(format_args!("{name}: {problem}"));
        let reason = Error::corruption(&self.log.path.with_file_name(&name), offset, problem);
        LeftOutLog { name, kind: LeftOutKind::MissingEnd, bytes: 0, reason }
    }
}

fn gap_problem(first: u64, expected: u64) -> String {
    format!("the log continues with sequence {first} instead of {expected}")
}
