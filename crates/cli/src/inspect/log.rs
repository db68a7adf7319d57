//! A write-ahead log: its records, and the batches in them.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use terrace_format::batch::{BatchOp, BatchRef};
use terrace_format::limits::LOG_BLOCK_SIZE_BYTES;
use terrace_format::log::{LogEvent, LogReader};

use super::report::{Level, Report};
use crate::failure::Failure;
use crate::progress::{Progress, Unit};
use crate::text::{Json, plural};

/// What has been read so far.
#[derive(Debug, Default)]
struct Seen {
    records: u64,
    puts: u64,
    deletions: u64,
    sequences: Option<(u64, u64)>,
}

/// Reports the log at `path`.
pub(super) fn inspect(path: &Path, report: &mut Report<'_>) -> Result<(), Failure> {
    let mut file = File::open(path)?;
    let size_bytes = file.metadata()?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let members =
        vec![("file", Json::from(name.as_str())), ("type", "log".into()), ("size_bytes", size_bytes.into())];
    report.item(
        Level::Summary,
        None,
        "file",
        format_args!("{name}: a log of {size_bytes} bytes"),
        members,
    )?;
    let progress = Progress::new(&name, Unit::Bytes, Some(size_bytes));
    let mut reader = LogReader::new(|buffer: &mut [u8]| file.read(buffer));
    let mut seen = Seen::default();
    let mut shown_to = 0;
    let mut damage_end = 0;
    loop {
        match reader.next()? {
            LogEvent::Record { payload, offset } => {
                progress.advance(offset.saturating_sub(shown_to));
                shown_to = offset;
                record(payload, offset, &mut seen, report)?;
            }
            LogEvent::Damage { offset, dropped_bytes, reason } => {
                damage_end = offset + dropped_bytes;
                let problem = format!("{reason}; {dropped_bytes} bytes are dropped, up to {damage_end}");
                report.damage(offset, problem)?;
            }
            LogEvent::TornTail { offset, dropped_bytes } => {
                let text = format!("an unfinished record of {dropped_bytes} bytes, as a crash leaves it");
                let members = vec![("bytes", dropped_bytes.into())];
                report.item(Level::Summary, Some(offset), "unfinished", text, members)?;
                damage_end = offset + dropped_bytes;
            }
            LogEvent::End => break,
        }
    }
    let end = reader.end_of_last_record().max(damage_end);
    if size_bytes.saturating_sub(end) >= LOG_BLOCK_SIZE_BYTES as u64 {
        let bytes = size_bytes - end;
        let text = format!("{bytes} bytes of zeros up to the end: space that the writer had reserved");
        report.item(Level::Summary, Some(end), "zeros", text, vec![("bytes", bytes.into())])?;
    }
    summary(&seen, report)
}

fn record(payload: &[u8], offset: u64, seen: &mut Seen, report: &mut Report<'_>) -> Result<(), Failure> {
    let batch = match BatchRef::parse(payload) {
        Ok(batch) => batch,
        Err(error) => {
            report.damage(offset, format!("the record is complete, but not a write batch: {error}"))?;
            return Ok(());
        }
    };
    let (sequence, count) = (batch.sequence(), batch.count());
    if let Some((_, last)) = seen.sequences
        && sequence != last + 1
        && report.says(Level::Parts)
    {
        let text = format!("the sequence continues with {sequence} instead of {}", last + 1);
        let members = vec![("expected", (last + 1).into()), ("found", sequence.into())];
        report.item(Level::Parts, Some(offset), "sequence gap", text, members)?;
    }
    let last = sequence + u64::from(count).saturating_sub(1);
    seen.records += 1;
    seen.sequences = Some((seen.sequences.map_or(sequence, |(first, _)| first), last));
    if report.says(Level::Parts) {
        let text = format!(
            "record of {} bytes: sequence {sequence}, {}",
            payload.len(),
            plural(count.into(), "operation")
        );
        let members = vec![
            ("bytes", payload.len().into()),
            ("sequence", sequence.into()),
            ("operations", u64::from(count).into()),
        ];
        report.item(Level::Parts, Some(offset), "record", text, members)?;
    }
    for (index, operation) in batch.iter().enumerate() {
        let sequence = sequence + index as u64;
        match operation {
            Ok(BatchOp::Put { key, value }) => {
                seen.puts += 1;
                report.detail(
                    "put",
                    |formats, cut| {
                        format!(
                            "put {} = {}",
                            formats.key_text(key, cut),
                            formats.value_text(key, value, cut)
                        )
                    },
                    || {
                        let bytes = |bytes| Json::bytes(bytes);
                        vec![("sequence", sequence.into()), ("key", bytes(key)), ("value", bytes(value))]
                    },
                )?;
            }
            Ok(BatchOp::Delete { key }) => {
                seen.deletions += 1;
                report.detail(
                    "del",
                    |formats, cut| format!("del {}", formats.key_text(key, cut)),
                    || vec![("sequence", sequence.into()), ("key", Json::bytes(key))],
                )?;
            }
            // The batch was checked from end to end.
            Err(error) => report.damage(offset, error.to_string())?,
        }
    }
    Ok(())
}

fn summary(seen: &Seen, report: &mut Report<'_>) -> Result<(), Failure> {
    let sequences = match seen.sequences {
        Some((first, last)) => format!(", sequences {first} to {last}"),
        None => String::new(),
    };
    let text = format!(
        "{}: {}, {}{sequences}",
        plural(seen.records, "record"),
        plural(seen.puts, "put"),
        plural(seen.deletions, "deletion")
    );
    let members = vec![
        ("records", seen.records.into()),
        ("puts", seen.puts.into()),
        ("deletions", seen.deletions.into()),
        ("first_sequence", seen.sequences.map(|(first, _)| first).into()),
        ("last_sequence", seen.sequences.map(|(_, last)| last).into()),
        ("damaged_places", report.found().len().into()),
    ];
    Ok(report.item(Level::Summary, None, "summary", text, members)?)
}
