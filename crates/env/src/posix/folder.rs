//! What names a folder holds: renames, links, replacements, and when they are durable.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use crate::{EnvError, Result};

/// The folder that holds the name `path`.
fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) => Path::new("."),
        None => path,
    }
}

pub(super) fn sync(path: &Path) -> Result<()> {
    let sync = || match File::open(path)?.sync_all() {
        // The file system has no such operation: there is nothing more to do.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOTSUP)) => Ok(()),
        result => result,
    };
    sync().map_err(|source| EnvError::new("sync folder", path, source))
}

/// Makes the name of a new folder durable.
fn sync_name(folder: &Path) -> Result<()> {
    match sync(parent(folder)) {
        // The folder above may be written and not read. The file system can be synced as a whole, by the new one.
        #[cfg(target_os = "linux")]
        Err(error) if error.is_read_only() => {
            let synced = File::open(folder).and_then(|folder| Ok(rustix::fs::syncfs(folder)?));
            synced.map_err(|source| EnvError::new("sync the file system of", folder, source))
        }
        result => result,
    }
}

/// Whether a folder is there, may be read, and holds nothing.
fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut names| names.next().is_none())
}

pub(super) fn exists(path: &Path) -> io::Result<bool> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

pub(super) fn list(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        if let Ok(name) = entry?.file_name().into_string() {
            names.push(name);
        }
    }
    Ok(names)
}

pub(super) fn create_all(path: &Path) -> Result<()> {
    let failed = |source| EnvError::new("create folder", path, source);
    // From the outermost missing folder inwards, so that each new name is synced in the folder that holds it.
    let mut missing = Vec::new();
    let mut folder = path;
    while !folder.as_os_str().is_empty() && !exists(folder).map_err(failed)? {
        missing.push(folder);
        match folder.parent() {
            Some(above) => folder = above,
            None => break,
        }
    }
    if !missing.is_empty() && is_empty(folder) {
        match sync(parent(folder)) {
            // This process could not have made the folder.
            Err(error) if error.is_read_only() => {}
            result => result?,
        }
    }
    for folder in missing.iter().rev() {
        match std::fs::create_dir(folder) {
            Ok(()) => sync_name(folder)?,
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(error)),
        }
    }
    if std::fs::metadata(path).map_err(failed)?.is_dir() {
        Ok(())
    } else {
        Err(failed(io::ErrorKind::NotADirectory.into()))
    }
}

pub(super) fn rename_to_new(from: &Path, to: &Path) -> Result<()> {
    try_rename(from, to).map_err(|source| EnvError::between(["rename", "rename a file to"], from, to, source))
}

/// Renames unless `to` exists, in one step where the system has one.
fn try_rename(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;

        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // The kernel or the file system has no such rename.
            Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {}
            result => return Ok(result?),
        }
    }
    if exists(to)? {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(from, to)
}

pub(super) fn replace_file(path: &Path, contents: &[u8], temporary: &Path) -> Result<()> {
    let replace = || {
        let mut file = File::create(temporary)?;
        file.write_all(contents)?;
        // Before the rename: else the name could be durable before the bytes.
        file.sync_all()?;
        std::fs::rename(temporary, path)
    };
    if let Err(error) = replace() {
        // The failure above is the one to report.
        let _ = std::fs::remove_file(temporary);
        return Err(EnvError::new("replace", path, error));
    }
    sync(parent(path))
}

pub(super) fn link_or_copy(from: &Path, to: &Path) -> Result<()> {
    let linked = match std::fs::hard_link(from, to) {
        Err(error) if cannot_link(&error) => copy_to_new(from, to),
        result => result,
    };
    linked.map_err(|source| EnvError::between(["link", "link a file to"], from, to, source))
}

/// Whether a copy may succeed where this link did not: another device, no links there, too many of them.
fn cannot_link(error: &io::Error) -> bool {
    // The two words for "not supported" are one number on Linux and two elsewhere.
    let reasons = [libc::EXDEV, libc::EPERM, libc::EOPNOTSUPP, libc::ENOTSUP, libc::EMLINK, libc::ENOSYS];
    error.raw_os_error().is_some_and(|code| reasons.contains(&code))
}

fn copy_to_new(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut target = OpenOptions::new().write(true).create_new(true).open(to)?;
    let copied = io::copy(&mut source, &mut target).and_then(|_| target.sync_all());
    if copied.is_err() {
        // Half a copy is of no use. The failure above is the one to report.
        let _ = std::fs::remove_file(to);
    }
    copied
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents() {
        assert_eq!(parent(Path::new("a/b")), Path::new("a"));
        assert_eq!(parent(Path::new("b")), Path::new("."));
        assert_eq!(parent(Path::new("/b")), Path::new("/"));
        assert_eq!(parent(Path::new("/")), Path::new("/"));
    }

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
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::write(&from, b"new").unwrap();
        copy_to_new(&from, &to).unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), b"new");
        std::fs::write(&from, b"newer").unwrap();
        assert_eq!(copy_to_new(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&to).unwrap(), b"new");
    }
}
