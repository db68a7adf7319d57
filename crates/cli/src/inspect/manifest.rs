//! A MANIFEST: its edits, and the resulting tables.

use std::collections::BTreeMap;
use std::path::Path;

use terrace_engine::FileSource;
use terrace_engine::env::default_env;
use terrace_format::FormatErrorKind;
use terrace_format::comparator::name_text;
use terrace_format::internal_key::{parse_internal_key, user_key};
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::log::{LogEvent, LogReader};
use terrace_format::version_edit::{FileEntry, VersionEdit};

use super::report::{Level, Members, Report};
use crate::failure::{Failure, Problem};
use crate::text::{Json, plural};

/// The result of the edits so far.
#[derive(Debug, Default)]
struct State {
    edits: u64,
    last: VersionEdit,
    levels: [BTreeMap<u64, FileEntry>; LEVEL_COUNT],
}

/// Reports the MANIFEST at `path`.
pub(super) fn inspect(path: &Path, report: &mut Report<'_>) -> Result<(), Failure> {
    let file = default_env().open_random(path).map_err(|error| error.source)?;
    let size_bytes = file.size_bytes().map_err(|error| error.source)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let members = vec![
        ("file", Json::from(name.as_str())),
        ("type", "manifest".into()),
        ("size_bytes", size_bytes.into()),
    ];
    report.item(
        Level::Summary,
        None,
        "file",
        format_args!("{name}: a MANIFEST of {size_bytes} bytes"),
        members,
    )?;
    let mut reader = LogReader::new(FileSource::new(&*file));
    let mut state = State::default();
    loop {
        match reader.next().map_err(|error| error.source)? {
            LogEvent::Record { payload, offset } => match VersionEdit::decode(payload) {
                Ok(edit) => {
                    report_edit(&edit, offset, payload.len(), report)?;
                    apply(edit, offset, &mut state, report)?;
                }
                Err(error) if error.kind == FormatErrorKind::Unsupported => {
                    return Err(Problem::foreign(path, error));
                }
                Err(error) => report
                    .damage(offset, format!("the record is complete, but not a version edit: {error}"))?,
            },
            LogEvent::Damage { offset, dropped_bytes, reason } => {
                let end = offset + dropped_bytes;
                report.damage(offset, format!("{reason}; {dropped_bytes} bytes are dropped, up to {end}"))?;
            }
            LogEvent::TornTail { offset, dropped_bytes } => {
                let text = format!("an unfinished edit of {dropped_bytes} bytes, as a crash leaves it");
                report.item(
                    Level::Summary,
                    Some(offset),
                    "unfinished",
                    text,
                    vec![("bytes", dropped_bytes.into())],
                )?;
            }
            LogEvent::End => break,
        }
    }
    summary(&state, report)
}

fn report_edit(
    edit: &VersionEdit,
    offset: u64,
    size_bytes: usize,
    report: &mut Report<'_>,
) -> Result<(), Failure> {
    let numbers = [
        ("log_number", edit.log_number),
        ("previous_log_number", edit.previous_log_number),
        ("next_file_number", edit.next_file_number),
        ("last_sequence", edit.last_sequence),
    ];
    let mut text = format!("edit of {size_bytes} bytes");
    let mut members: Members = vec![("bytes", size_bytes.into())];
    if let Some(name) = &edit.comparator {
        let name = name_text(name);
        text += &format!(", order of keys {name}");
        members.push(("comparator", name.into_owned().into()));
    }
    for (name, number) in numbers {
        if let Some(number) = number {
            text += &format!(", {} {number}", name.replace('_', " "));
            members.push((name, number.into()));
        }
    }
    report.item(Level::Parts, Some(offset), "edit", text, members)?;
    for (level, key) in &edit.compact_pointers {
        report.detail(
            "compact pointer",
            |formats, cut| {
                format!("compact level {level} next from {}", formats.key_text(user_key(key), cut))
            },
            || vec![("level", (*level).into()), ("key", Json::bytes(user_key(key)))],
        )?;
    }
    for (level, number) in &edit.deleted_files {
        report.detail(
            "table removed",
            |_, _| format!("remove table {number} from level {level}"),
            || vec![("level", (*level).into()), ("number", (*number).into())],
        )?;
    }
    for (level, file) in &edit.new_files {
        report.detail(
            "table added",
            |formats, cut| {
                format!(
                    "add table {} of {} bytes to level {level}: {} … {}",
                    file.number,
                    file.size_bytes,
                    internal(formats.key_text(user_key(&file.smallest), cut), &file.smallest),
                    internal(formats.key_text(user_key(&file.largest), cut), &file.largest)
                )
            },
            || table_members(*level, file),
        )?;
    }
    Ok(())
}

/// A key with its sequence number.
fn internal(shown: String, internal_key: &[u8]) -> String {
    match parse_internal_key(internal_key) {
        Ok(parsed) => format!("{shown} @{}", parsed.sequence),
        Err(_) => shown,
    }
}

fn table_members(level: usize, file: &FileEntry) -> Members {
    vec![
        ("level", level.into()),
        ("number", file.number.into()),
        ("size_bytes", file.size_bytes.into()),
        ("smallest", Json::bytes(user_key(&file.smallest))),
        ("largest", Json::bytes(user_key(&file.largest))),
    ]
}

/// Applies an edit, and reports what does not fit the state before it.
fn apply(edit: VersionEdit, offset: u64, state: &mut State, report: &mut Report<'_>) -> Result<(), Failure> {
    state.edits += 1;
    for (level, number) in &edit.deleted_files {
        if state.levels[*level].remove(number).is_none() {
            let problem = format!("table {number} is removed from level {level}, but is not there");
            report.damage(offset, problem)?;
        }
    }
    for (level, file) in edit.new_files {
        state.levels[level].insert(file.number, file);
    }
    let last = &mut state.last;
    last.comparator = edit.comparator.or(last.comparator.take());
    last.log_number = edit.log_number.or(last.log_number);
    last.next_file_number = edit.next_file_number.or(last.next_file_number);
    last.last_sequence = edit.last_sequence.or(last.last_sequence);
    Ok(())
}

fn summary(state: &State, report: &mut Report<'_>) -> Result<(), Failure> {
    for (level, tables) in state.levels.iter().enumerate() {
        for file in tables.values() {
            if !report.says(Level::Parts) {
                continue;
            }
            let (formats, cut) = (report.formats, report.cut_bytes);
            let text = format!(
                "level {level}: table {} of {} bytes, {} … {}",
                file.number,
                file.size_bytes,
                formats.key_text(user_key(&file.smallest), cut),
                formats.key_text(user_key(&file.largest), cut)
            );
            report.item(Level::Parts, None, "table", text, table_members(level, file))?;
        }
    }
    let tables: usize = state.levels.iter().map(BTreeMap::len).sum();
    let bytes: u64 = state.levels.iter().flat_map(BTreeMap::values).map(|file| file.size_bytes).sum();
    let number = |number: Option<u64>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
    let last = &state.last;
    let comparator = last.comparator.as_deref().map(|name| name_text(name).into_owned());
    let text = format!(
        "{}: {} of {bytes} bytes; order of keys {}; logs from {} on; last sequence {}; next file {}",
        plural(state.edits, "edit"),
        plural(tables as u64, "table"),
        comparator.as_deref().unwrap_or("none"),
        number(last.log_number),
        number(last.last_sequence),
        number(last.next_file_number)
    );
    let members = vec![
        ("edits", state.edits.into()),
        ("tables", tables.into()),
        ("table_bytes", bytes.into()),
        ("comparator", comparator.clone().into()),
        ("log_number", last.log_number.into()),
        ("last_sequence", last.last_sequence.into()),
        ("next_file_number", last.next_file_number.into()),
        ("damaged_places", report.found().len().into()),
    ];
    Ok(report.item(Level::Summary, None, "summary", text, members)?)
}
