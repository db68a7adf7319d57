//! A write-ahead log: its records, and the batches in them.

use std::collections::BTreeMap;
use std::path::Path;

use terrace_engine::env::default_env;
use terrace_engine::{FileSource, intact_records};
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
    let file = default_env().open_random(path).map_err(|error| error.source)?;
    let size_bytes = file.size_bytes().map_err(|error| error.source)?;
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
    let intact = intact_within_damage(path)?;
    let mut reader = LogReader::new(FileSource::new(&*file));
    let mut seen = Seen::default();
    let mut shown_to = 0;
    let mut damage_end = 0;
    loop {
        match reader.next().map_err(|error| error.source)? {
            LogEvent::Record { payload, offset } => {
                progress.advance(offset.saturating_sub(shown_to));
                shown_to = offset;
                record(payload, offset, &mut seen, report)?;
            }
            LogEvent::Damage { offset, dropped_bytes, reason } => {
                damage_end = offset + dropped_bytes;
                let within: Vec<_> = intact.range(offset..damage_end).collect();
                let mut problem = format!("{reason}; {dropped_bytes} bytes are dropped, up to {damage_end}");
                if !within.is_empty() {
                    let records = plural(within.len() as u64, "intact record");
                    problem += &format!(", apart from {records}, which a repair keeps");
                }
                report.damage(offset, problem)?;
                for (offset, payload) in within {
                    record(payload, *offset, &mut seen, report)?;
                }
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

/// The intact records in the parts of the log that its reader drops after damage, by their offsets.
fn intact_within_damage(path: &Path) -> Result<BTreeMap<u64, Vec<u8>>, Failure> {
    let file = default_env().open_random(path).map_err(|error| error.source)?;
    let mut reader = LogReader::new(FileSource::new(&*file));
    let mut dropped = Vec::new();
    loop {
        match reader.next().map_err(|error| error.source)? {
            LogEvent::Damage { offset, dropped_bytes, .. } => dropped.push(offset..offset + dropped_bytes),
            LogEvent::Record { .. } | LogEvent::TornTail { .. } => {}
            LogEvent::End => break,
        }
    }
    let mut intact = BTreeMap::new();
    if !dropped.is_empty() {
        intact_records(&*default_env(), path, &mut |offset, payload| {
            if dropped.iter().any(|range| range.contains(&offset)) {
                intact.insert(offset, payload.to_vec());
            }
        })?;
    }
    Ok(intact)
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
