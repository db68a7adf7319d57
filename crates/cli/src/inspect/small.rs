//! CURRENT, LOCK and LOG.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

use terrace_format::{current, file_name};

use super::report::{Level, Report};
use crate::failure::Failure;
use crate::owner::{self, Holder};
use crate::text::Json;
use crate::text::escape::escaped;

/// Reports the file CURRENT at `path`.
pub(super) fn inspect_current(path: &Path, report: &mut Report<'_>) -> Result<(), Failure> {
    let contents = fs::read(path)?;
    let text = format!("CURRENT, which names the current MANIFEST: {}", escaped(&contents));
    let members = vec![("type", Json::from("current")), ("contents", Json::bytes(&contents))];
    report.item(Level::Summary, None, "file", text, members)?;
    match current::decode(&contents) {
        Ok(number) => {
            let name = file_name::manifest_name(number);
            if !path.with_file_name(&name).exists() {
                report.damage(0, format!("{name} is not in the directory"))?;
            }
        }
        Err(error) => report.damage(error.offset, error.problem)?,
    }
    Ok(())
}

/// Reports the file LOCK at `path`.
pub(super) fn inspect_lock(path: &Path, report: &mut Report<'_>) -> Result<(), Failure> {
    let owner = owner::of_lock_file(path);
    let contents = match fs::read(path) {
        // On Windows, LevelDB does not share it at all.
        Err(_) if owner != Holder::Nobody => None,
        contents => Some(contents?),
    };
    let held = match owner {
        Holder::Nobody => "not held by any known process".to_owned(),
        _ => format!("held by {owner}"),
    };
    let text = format!("LOCK, which a process locks while the database is open: {held}");
    let members = vec![
        ("type", Json::from("lock")),
        ("owner", (owner != Holder::Nobody).then(|| owner.to_string()).into()),
        ("contents", contents.map(|contents| Json::bytes(&contents)).into()),
    ];
    Ok(report.item(Level::Summary, None, "file", text, members)?)
}

/// Reports the info log at `path`: text for people.
pub(super) fn inspect_text(path: &Path, report: &mut Report<'_>) -> Result<(), Failure> {
    let file = File::open(path)?;
    let size_bytes = file.metadata()?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = format!("{name}: the database's info log, {size_bytes} bytes of text");
    let members =
        vec![("file", Json::from(name)), ("type", "text".into()), ("size_bytes", size_bytes.into())];
    report.item(Level::Summary, None, "file", text, members)?;
    if !report.says(Level::Parts) {
        return Ok(());
    }
    let (mut reader, mut line, mut offset) = (BufReader::new(file), Vec::new(), 0);
    loop {
        line.clear();
        let taken = reader.read_until(b'\n', &mut line)?;
        if taken == 0 {
            return Ok(());
        }
        let text = escaped(line.strip_suffix(b"\n").unwrap_or(&line));
        let members = vec![("text", Json::from(text.as_str()))];
        report.item(Level::Parts, Some(offset), "line", &text, members)?;
        offset += taken as u64;
    }
}
