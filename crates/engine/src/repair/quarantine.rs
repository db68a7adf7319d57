//! Moves files to the directory `lost` inside the database, in two steps around the moment at which the repaired
//! database comes into force. Before that moment, each file gets a second name in `lost`; after it, the first name is
//! removed. A crash, or an open after it, can therefore never cost a file.

use std::path::Path;

use terrace_env::{Env, SequentialFile};

use crate::error::Result;
use crate::repair::repairer::Repairer;
use crate::repair::report::SetAsideFile;

/// The directory's name. LevelDB's own repair uses the same.
pub(crate) const LOST_DIRECTORY: &str = "lost";

/// Gives each file a second name in `lost`, durably. Each file comes with a reason. A file that an interrupted repair
/// already put there is not linked again.
pub(super) fn link_to_lost(repairer: &Repairer, files: &[(String, String)]) -> Result<Vec<SetAsideFile>> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let env = &*repairer.env;
    let lost = repairer.path(LOST_DIRECTORY);
    env.create_directory_all(&lost)?;
    let mut linked = Vec::new();
    for (name, reason) in files {
        let lost_name = link(env, &repairer.path(name), &lost, name)?;
        let moved_to = format!("{LOST_DIRECTORY}/{lost_name}");
        linked.push(SetAsideFile { name: name.clone(), moved_to, reason: reason.clone() });
    }
    env.sync_directory(&lost)?;
    Ok(linked)
}

/// Links `path` into `lost` under its own name, with a number appended if another file has that name. Returns the name.
pub(crate) fn link(env: &dyn Env, path: &Path, lost: &Path, name: &str) -> Result<String> {
    let mut lost_name = name.to_owned();
    for number in 1.. {
        let target = lost.join(&lost_name);
        if !env.exists(&target)? {
            env.link_or_copy(path, &target)?;
            break;
        }
        if has_same_bytes(env, path, &target)? {
            break;
        }
        lost_name = format!("{name}.{number}");
    }
    Ok(lost_name)
}

fn has_same_bytes(env: &dyn Env, left: &Path, right: &Path) -> Result<bool> {
    if env.file_size(left)? != env.file_size(right)? {
        return Ok(false);
    }
    const CHUNK_SIZE_BYTES: usize = 64 << 10;
    let (mut left, mut right) = (env.open_sequential(left)?, env.open_sequential(right)?);
    let (mut left_bytes, mut right_bytes) = (vec![0; CHUNK_SIZE_BYTES], vec![0; CHUNK_SIZE_BYTES]);
    loop {
        let left_count = fill(&mut *left, &mut left_bytes)?;
        let right_count = fill(&mut *right, &mut right_bytes)?;
        if left_bytes[..left_count] != right_bytes[..right_count] {
            return Ok(false);
        }
        if left_count == 0 {
            return Ok(true);
        }
    }
}

/// Reads until `buffer` is full or the file ends.
fn fill(file: &mut dyn SequentialFile, buffer: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}
