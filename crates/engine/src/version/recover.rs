//! Reads the state of a database at open: `CURRENT`, then its MANIFEST, then the names in the directory. Predecessor:
//! `set`. Successor: `manifest`. Nothing is written.
//!
//! The MANIFEST is read in one pass and never held whole, because it may have gigabytes: LevelDB never shortens it. The
//! tables that it names are compared with one listing of the directory, so that a missing table is found now and not by
//! a later read.

use std::path::Path;
use std::sync::Arc;

use terrace_env::{Env, EnvError};
use terrace_format::comparator::{UserComparator, name_text};
use terrace_format::current;
use terrace_format::file_name::{self, FileKind};
use terrace_format::internal_key::MAX_SEQUENCE_NUMBER;
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::version_edit::VersionEdit;

use crate::error::{Error, ErrorKind, Result};
use crate::recovery::needed_logs::RecoveredNumbers;
use crate::version::builder::{MissingFile, NewFiles, VersionBuilder};
use crate::version::checker;
use crate::version::file_meta::{FileOrigin, ObsoleteFiles};
use crate::version::manifest::read_manifest;
use crate::version::set_options::VersionSetOptions;
use crate::version::version::Version;

/// File numbers from this one on count as nonsense, because no database can have created so many files.
pub(crate) const FILE_NUMBER_LIMIT: u64 = 1 << 62;

/// For each level, the largest key of the last compaction out of it. The next compaction starts there.
pub type StoredCompactPointers = [Option<Vec<u8>>; LEVEL_COUNT];

/// The state that a recovery found.
pub(super) struct Recovered {
    pub(super) version: Version,
    pub(super) pointers: StoredCompactPointers,
    pub(super) numbers: RecoveredNumbers,
    pub(super) next_file_number: u64,
}

/// The contents of `CURRENT`. If they are longer than any name of a MANIFEST, only the beginning is returned: that is
/// damage, whatever follows.
pub(crate) fn read_current(env: &dyn Env, directory: &Path) -> terrace_env::Result<Vec<u8>> {
    const LONGEST_BYTES: usize = 64;
    let mut file = env.open_sequential(&directory.join(file_name::CURRENT))?;
    let mut contents = vec![0; LONGEST_BYTES];
    let mut size_bytes = 0;
    loop {
        match file.read(&mut contents[size_bytes..])? {
            0 => break,
            read_bytes => size_bytes += read_bytes,
        }
    }
    contents.truncate(size_bytes);
    Ok(contents)
}

/// Reads the state. `names` are those in the directory if no other process can change it; otherwise the directory is
/// listed after the MANIFEST was read.
pub(super) fn recover(
    options: &VersionSetOptions,
    names: Option<&[String]>,
    obsolete: &Arc<ObsoleteFiles>,
) -> Result<Recovered> {
    let directory = &options.directory;
    let current_path = directory.join(file_name::CURRENT);
    let contents = match read_current(&*options.env, directory) {
        Err(error) if error.is_not_found() => return Err(no_current(options, &current_path, &error)?),
        contents => contents?,
    };
    let manifest_number =
        current::decode(&contents).map_err(|error| Error::format(&current_path, 0, error))?;
    let manifest_path = directory.join(file_name::manifest_name(manifest_number));
    if !options.env.exists(&manifest_path)? {
        let message = "CURRENT names a MANIFEST that is missing";
        return Err(Error::at_path(ErrorKind::Corruption, &manifest_path, message));
    }
    let mut recovered = read_state(options, manifest_number, &manifest_path, obsolete)?;
    let names = names.map_or_else(|| list_directory(options), |names| Ok(kinds(names)))?;
    let mut tables: Vec<u64> = names
        .iter()
        .filter_map(|kind| match kind {
            FileKind::Table(number) | FileKind::LegacyTable(number) => Some(*number),
            _ => None,
        })
        .collect();
    tables.sort_unstable();
    let is_missing = |number: &u64| tables.binary_search(number).is_err();
    let missing: Vec<u64> = recovered.version.files().map(|file| file.number).filter(is_missing).collect();
    if let Some(first) = missing.first() {
        let manifest = file_name::manifest_name(manifest_number);
        let message = match missing.len() - 1 {
            0 => format!("{manifest} names a table that is missing"),
            others => format!("{manifest} names tables that are missing, this one and {others} others"),
        };
        let path = directory.join(file_name::table_name(*first));
        return Err(Error::at_path(ErrorKind::Corruption, &path, message));
    }
    recovered.next_file_number = recovered.next_file_number.max(first_free_number(&names));
    Ok(recovered)
}

/// The error for a directory without `CURRENT`. It holds no database, unless there is data of one that creating a new
/// database there would delete.
fn no_current(options: &VersionSetOptions, path: &Path, cause: &EnvError) -> Result<Error> {
    let names = match options.env.list(&options.directory) {
        Err(error) if error.is_not_found() => Vec::new(),
        names => names?,
    };
    let is_data = |name: &String| {
        matches!(
            file_name::parse(name),
            Some(FileKind::Table(_) | FileKind::LegacyTable(_) | FileKind::Log(_))
        )
    };
    Ok(match names.iter().filter(|name| is_data(name)).count() {
        0 => Error::at_path(
            ErrorKind::NoDatabase,
            &options.directory,
            format!("there is no database here ({cause})"),
        ),
        count => {
            let message = format!("CURRENT is missing beside {count} tables and logs; repair can rebuild it");
            Error::at_path(ErrorKind::Corruption, path, message)
        }
    })
}

pub(super) fn list_directory(options: &VersionSetOptions) -> Result<Vec<FileKind>> {
    Ok(kinds(&options.env.list(&options.directory)?))
}

fn kinds(names: &[String]) -> Vec<FileKind> {
    names.iter().filter_map(|name| file_name::parse(name)).collect()
}

/// The first number above those of all files. Files that were being written at a crash may have numbers that the
/// MANIFEST does not know.
pub(super) fn first_free_number(names: &[FileKind]) -> u64 {
    let used = names.iter().filter_map(|kind| kind.number());
    used.filter(|number| *number < FILE_NUMBER_LIMIT).max().map_or(1, |number| number + 1)
}

/// Reads the MANIFEST at `path` and adds up all its edits.
fn read_state(
    options: &VersionSetOptions,
    manifest_number: u64,
    path: &Path,
    obsolete: &Arc<ObsoleteFiles>,
) -> Result<Recovered> {
    let empty = Version::empty(options.comparator.clone());
    let new = NewFiles { newest_sequence: MAX_SEQUENCE_NUMBER, origin: FileOrigin::Recovered, counts: &[] };
    let mut builder = VersionBuilder::new(&empty, Arc::clone(obsolete), new);
    let mut pointers = StoredCompactPointers::default();
    let mut last = VersionEdit::default();
    let mut is_ours = false;
    read_manifest(&*options.env, path, |offset, edit| {
        if let Some(stored) = &edit.comparator {
            check_comparator(options, path, stored)?;
            // The first edit of other engines has fewer fields than ours.
            is_ours = edit.previous_log_number.is_some() && edit.next_file_number.is_some();
        }
        let numbers = [edit.next_file_number, edit.log_number, edit.previous_log_number];
        let named = edit.new_files.iter().map(|(_, file)| file.number);
        if named.chain(numbers.into_iter().flatten()).any(|number| number >= FILE_NUMBER_LIMIT) {
            return Err(Error::corruption(path, offset, "a file number is out of range"));
        }
        builder.apply(&edit.deleted_files, edit.new_files, MissingFile::Ignore)?;
        for (level, key) in edit.compact_pointers {
            pointers[level] = Some(key);
        }
        last.log_number = edit.log_number.or(last.log_number);
        last.previous_log_number = edit.previous_log_number.or(last.previous_log_number);
        last.next_file_number = edit.next_file_number.or(last.next_file_number);
        last.last_sequence = edit.last_sequence.or(last.last_sequence);
        Ok(())
    })?;
    let end = options.env.file_size(path)?;
    let missing = |what: &str| Error::corruption(path, end, format!("the MANIFEST ends without the {what}"));
    let next_file_number = last.next_file_number.ok_or_else(|| missing("next file number"))?;
    let log_number = last.log_number.ok_or_else(|| missing("log number"))?;
    let last_sequence = last.last_sequence.ok_or_else(|| missing("last sequence"))?;
    let previous_log_number = last.previous_log_number.unwrap_or_default();
    let (mut version, _) = builder.finish();
    // Only now is it known how new the entries of these files may be.
    for file in version.levels.iter_mut().flatten().filter_map(Arc::get_mut) {
        file.set_newest_sequence(last_sequence);
    }
    checker::check(&version)
        .map_err(|error| Error::at_path(ErrorKind::Corruption, path, error.to_string()))?;
    let highest = version.files().map(|file| file.number).chain([log_number, previous_log_number]).max();
    let numbers = RecoveredNumbers {
        log_number,
        previous_log_number,
        last_sequence,
        manifest_number,
        next_file_number,
        is_ours,
    };
    let next_file_number = next_file_number.max(highest.unwrap_or_default() + 1);
    Ok(Recovered { version, pointers, numbers, next_file_number })
}

fn check_comparator(options: &VersionSetOptions, path: &Path, stored: &[u8]) -> Result<()> {
    other_comparator(path, stored, options.comparator.user()).map_or(Ok(()), Err)
}

/// The error for a MANIFEST at `path` that names the comparator `stored`; `None` if that is `given`. The message begins
/// with LevelDB's words, because programs look for them.
pub(crate) fn other_comparator(path: &Path, stored: &[u8], given: &UserComparator) -> Option<Error> {
    if stored == given.name() {
        return None;
    }
    let message = format!(
        "{} does not match existing comparator : {}; open the database with the comparator that it was made with, the \
         first of the two",
        name_text(stored),
        given.name_text()
    );
    Some(Error::at_path(ErrorKind::InvalidArgument, path, message))
}
