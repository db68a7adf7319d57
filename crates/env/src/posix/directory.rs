//! The names in a directory: renames, links, replacements, and when they are durable.

use std::fs::File;
use std::io::{self, Write};

use rustix::fs::OFlags;

use super::path_at::PathAt;
use super::raw_file::sync_file;
use crate::{EnvError, Result};

pub(super) fn sync(directory: &PathAt<'_>) -> Result<()> {
    directory.sync_names().map_err(|source| EnvError::new("sync directory", directory.full_path(), source))
}

/// Makes the name of a new directory durable.
fn sync_name(directory: &PathAt<'_>) -> Result<()> {
    match sync(&directory.parent()) {
        // The directory above may be writable but not readable. The new directory allows syncing the file system as a
        // whole.
        Err(error) if error.is_read_only() => {
            let synced = directory.open(OFlags::RDONLY).and_then(|directory| sync_file_system(&directory));
            synced.map_err(|source| EnvError::new("sync the file system of", directory.full_path(), source))
        }
        result => result,
    }
}

#[cfg(target_os = "linux")]
fn sync_file_system(directory: &File) -> io::Result<()> {
    rustix::fs::syncfs(directory).map_err(|error| crate::error::sync_failed(error.into()))
}

/// Has all file systems write what is waiting, and then the device of this one.
#[cfg(not(target_os = "linux"))]
fn sync_file_system(directory: &File) -> io::Result<()> {
    rustix::fs::sync();
    sync_file(directory, true)
}

pub(super) fn create_all(path_at: &PathAt<'_>) -> Result<()> {
    let failed = |source| EnvError::new("create directory", path_at.full_path(), source);
    // From the outermost missing directory inwards, so that each new name is synced in the directory that holds it.
    let mut missing = Vec::new();
    let mut directory = path_at.clone();
    while !directory.is_start() && !directory.exists().map_err(failed)? {
        let Some(above) = directory.above() else { break };
        missing.push(std::mem::replace(&mut directory, above));
    }
    if !missing.is_empty() && directory.is_empty() {
        match sync(&directory.parent()) {
            // This process could not have made the directory.
            Err(error) if error.is_read_only() => {}
            result => result?,
        }
    }
    for directory in missing.iter().rev() {
        match directory.make_directory() {
            Ok(()) => sync_name(directory)?,
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    }
    if path_at.is_directory().map_err(failed)? {
        Ok(())
    } else {
        Err(failed(io::ErrorKind::NotADirectory.into()))
    }
}

/// Replaces the file, but does not sync the directory.
pub(super) fn replace_file(path_at: &PathAt<'_>, contents: &[u8], temporary: &PathAt<'_>) -> io::Result<()> {
    let replace = || {
        let mut file = temporary.open(OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC)?;
        file.write_all(contents)?;
        // Before the rename: otherwise the name could be durable before the bytes.
        sync_file(&file, false)?;
        temporary.rename_over(path_at)
    };
    let replaced = replace();
    if replaced.is_err() {
        // The failure above is the one to report.
        let _ = temporary.remove_file();
    }
    replaced
}

pub(super) fn link_or_copy(from: &PathAt<'_>, to: &PathAt<'_>) -> io::Result<()> {
    match from.link(to) {
        Err(error) if cannot_link(&error) => copy_to_new(from, to),
        result => result,
    }
}

/// Whether a copy may succeed although this link failed: another device, links not supported, too many links.
fn cannot_link(error: &io::Error) -> bool {
    // The two names of "not supported" are one number on Linux and two elsewhere.
    let reasons = [libc::EXDEV, libc::EPERM, libc::EOPNOTSUPP, libc::ENOTSUP, libc::EMLINK, libc::ENOSYS];
    error.raw_os_error().is_some_and(|code| reasons.contains(&code))
}

fn copy_to_new(from: &PathAt<'_>, to: &PathAt<'_>) -> io::Result<()> {
    let mut source = from.open(OFlags::RDONLY)?;
    let mut target: File = to.open(OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
    let copied = io::copy(&mut source, &mut target).and_then(|_| sync_file(&target, false));
    if copied.is_err() {
        // Half a copy is useless. The failure above is the one to report.
        let _ = to.remove_file();
    }
    copied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_when_a_link_is_impossible() {
        for code in [libc::EXDEV, libc::EPERM, libc::EOPNOTSUPP, libc::EMLINK] {
            assert!(cannot_link(&io::Error::from_raw_os_error(code)), "{code}");
        }
        for code in [libc::ENOENT, libc::EEXIST, libc::ENOSPC, libc::EIO, libc::EACCES] {
            assert!(!cannot_link(&io::Error::from_raw_os_error(code)), "{code}");
        }
    }

    #[test]
    fn a_copy_refuses_an_existing_target() {
        let directory = tempfile::tempdir().unwrap();
        let (from, to) = (directory.path().join("from"), directory.path().join("to"));
        let copy = || copy_to_new(&PathAt::new(None, &from).unwrap(), &PathAt::new(None, &to).unwrap());
        std::fs::write(&from, b"new").unwrap();
        copy().unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), b"new");
        std::fs::write(&from, b"newer").unwrap();
        assert_eq!(copy().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&to).unwrap(), b"new");
    }
}
