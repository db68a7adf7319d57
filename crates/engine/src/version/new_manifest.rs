//! A MANIFEST that replaces the one in force: it begins with all of a version. Predecessors: `set` and `repair`. Successors:
//! `manifest`, then the env.
//!
//! ```text
//!   the new one, synced ─► the directory, synced ─► CURRENT names the new one ─► the old one, removed
//! ```
//!
//! Until `CURRENT` is replaced, which happens at once or not at all, the old MANIFEST is in force and complete.

use std::path::Path;

use terrace_env::Env;
use terrace_format::current;
use terrace_format::file_name::{self, CURRENT};
use terrace_format::version_edit::VersionEdit;

use crate::error::Result;
use crate::version::manifest::ManifestWriter;
use crate::version::recover::StoredCompactPointers;
use crate::version::set_options::VersionSetOptions;
use crate::version::version::Version;

/// The edit that states all of `version` and the numbers of `edit`.
pub(super) fn snapshot(
    options: &VersionSetOptions,
    version: &Version,
    pointers: &StoredCompactPointers,
    next_file_number: u64,
    edit: VersionEdit,
) -> VersionEdit {
    let levels = version.levels.iter().enumerate();
    VersionEdit {
        comparator: Some(options.comparator.user().name().to_vec()),
        next_file_number: Some(next_file_number),
        previous_log_number: Some(0),
        compact_pointers: level_items(pointers),
        deleted_files: Vec::new(),
        new_files: levels
            .flat_map(|(level, files)| files.iter().map(move |file| (level, file.entry())))
            .collect(),
        ..edit
    }
}

fn level_items(pointers: &StoredCompactPointers) -> Vec<(usize, Vec<u8>)> {
    pointers
        .iter()
        .enumerate()
        .filter_map(|(level, key)| key.as_ref().map(|key| (level, key.clone())))
        .collect()
}

/// Writes the MANIFEST `number`, which begins with `snapshot`, and puts it in force.
pub(super) fn put_in_force(
    options: &VersionSetOptions,
    number: u64,
    snapshot: VersionEdit,
) -> Result<ManifestWriter> {
    let VersionSetOptions { env, directory, .. } = options;
    let manifest = ManifestWriter::create(env, directory, number, snapshot)?;
    // The names of the MANIFEST and of new tables must be durable before `CURRENT` leads to them.
    env.sync_directory(directory)?;
    replace_current(&**env, directory, number)?;
    Ok(manifest)
}

/// Makes `CURRENT` name the MANIFEST `number`. If this fails, it is unknown which one it names.
pub(crate) fn replace_current(env: &dyn Env, directory: &Path, number: u64) -> Result<()> {
    let temporary = directory.join(file_name::temporary_name(number));
    Ok(env.replace_file(&directory.join(CURRENT), current::encode(number).as_bytes(), &temporary)?)
}
