//! Where the system starts to follow a path: the working directory of the process, or a held directory.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::retry_on_intr;

use super::raw_file::sync_directory;
use crate::{DirectoryHold, EnvError, FileId, Result};

/// The name under which a directory contains itself.
const ITSELF: &str = ".";

/// An open directory. Names are resolved in it wherever it is moved, and whatever takes its old place.
#[derive(Debug)]
pub(super) struct HeldDirectory {
    path: PathBuf,
    descriptor: File,
}

impl DirectoryHold for HeldDirectory {}

impl HeldDirectory {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let here = PathAt { held: None, path };
        let descriptor = here.open(OFlags::RDONLY | OFlags::DIRECTORY);
        let descriptor = descriptor.map_err(|source| EnvError::new("open directory", path, source))?;
        Ok(Self { path: path.to_owned(), descriptor })
    }
}

#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
pub(super) fn file_id_of(stat: &Stat) -> FileId {
    FileId { device: stat.st_dev as u64, inode: stat.st_ino as u64 }
}

/// A path, and the directory from which the system follows it.
#[derive(Debug, Clone)]
pub(super) struct PathAt<'a> {
    held: Option<Arc<HeldDirectory>>,
    path: &'a Path,
}

impl<'a> PathAt<'a> {
    /// Where `path` leads. It starts at the directory that `held` holds if the path leads into it.
    ///
    /// # Errors
    ///
    /// If it leads there and the directory is no longer held.
    pub(super) fn new(held: Option<&HeldName>, path: &'a Path) -> io::Result<Self> {
        let Some(HeldName { path: directory, hold }) = held else { return Ok(Self { held: None, path }) };
        let Ok(inside) = path.strip_prefix(directory) else { return Ok(Self { held: None, path }) };
        let Some(held) = hold.upgrade() else {
            return Err(io::Error::other("the database and its directory were closed"));
        };
        Ok(Self { held: Some(held), path: or_itself(inside) })
    }

    /// The directory that holds the name.
    pub(super) fn parent(&self) -> Self {
        let path = match self.path.parent() {
            Some(directory) => or_itself(directory),
            None => self.path,
        };
        Self { held: self.held.clone(), path }
    }

    /// The directory that contains this name; `None` for the root. It may be the empty path.
    pub(super) fn above(&self) -> Option<Self> {
        Some(Self { held: self.held.clone(), path: self.path.parent()? })
    }

    /// Whether the path is empty of names: it leads to the directory where the system starts.
    pub(super) fn is_start(&self) -> bool {
        self.path.as_os_str().is_empty()
    }

    fn directory(&self) -> BorrowedFd<'_> {
        self.held.as_ref().map_or(CWD, |held| held.descriptor.as_fd())
    }

    /// Opens the file. A new file gets the permissions that the umask leaves.
    pub(super) fn open(&self, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::CLOEXEC;
        let opened = retry_on_intr(|| {
            rustix::fs::openat(self.directory(), self.path, flags, Mode::from_raw_mode(0o666))
        });
        Ok(File::from(opened?))
    }

    /// Opens the file if it is a regular one. Other kinds do not keep data, and opening a pipe waits for its other end
    /// to be opened. The system would open a directory and fail only at the first read.
    pub(super) fn open_regular(&self, flags: OFlags) -> io::Result<File> {
        // The flag makes no difference to reads and writes of regular files.
        let file = self.open(flags | OFlags::NONBLOCK)?;
        let kind = file.metadata()?.file_type();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !kind.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
        }
        Ok(file)
    }

    /// Identity of the file with this name; `None` if there is none.
    pub(super) fn file_id(&self) -> io::Result<Option<FileId>> {
        match self.stat() {
            Ok(stat) => Ok(Some(file_id_of(&stat))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The file's metadata, following links.
    pub(super) fn stat(&self) -> io::Result<Stat> {
        Ok(rustix::fs::statat(self.directory(), self.path, AtFlags::empty())?)
    }

    pub(super) fn is_link(&self) -> io::Result<bool> {
        match rustix::fs::statat(self.directory(), self.path, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(io::Error::from)
        {
            Ok(stat) => Ok(FileType::from_raw_mode(stat.st_mode).is_symlink()),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn is_directory(&self) -> io::Result<bool> {
        Ok(FileType::from_raw_mode(self.stat()?.st_mode).is_dir())
    }

    pub(super) fn exists(&self) -> io::Result<bool> {
        match rustix::fs::statat(self.directory(), self.path, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(io::Error::from)
        {
            Ok(_) => Ok(true),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    fn names(&self) -> io::Result<impl Iterator<Item = io::Result<CString>> + use<>> {
        let entries = rustix::fs::Dir::new(self.open(OFlags::RDONLY | OFlags::DIRECTORY)?)?;
        let names = entries.map(|entry| Ok(entry?.file_name().to_owned()));
        Ok(names.filter(|name| !matches!(name, Ok(name) if [c".", c".."].contains(&name.as_c_str()))))
    }

    /// Names in the directory that are UTF-8.
    pub(super) fn list(&self) -> io::Result<Vec<String>> {
        let utf8 = self.names()?.filter_map(|name| name.map(|name| name.into_string().ok()).transpose());
        utf8.collect()
    }

    /// Whether it is a readable directory that holds nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.names().is_ok_and(|mut names| names.next().is_none())
    }

    /// The path as the program named it.
    pub(super) fn full_path(&self) -> PathBuf {
        match &self.held {
            Some(held) => held.path.join(self.path.strip_prefix(ITSELF).unwrap_or(self.path)),
            None => self.path.to_owned(),
        }
    }

    pub(super) fn make_directory(&self) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(self.directory(), self.path, Mode::from_raw_mode(0o777))?)
    }

    pub(super) fn remove_file(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.directory(), self.path, AtFlags::empty())?)
    }

    pub(super) fn remove_directory(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.directory(), self.path, AtFlags::REMOVEDIR)?)
    }

    /// Renames it to `to`, replacing what has that name.
    pub(super) fn rename_over(&self, to: &PathAt<'_>) -> io::Result<()> {
        Ok(rustix::fs::renameat(self.directory(), self.path, to.directory(), to.path)?)
    }

    /// Renames it to `to` unless something has that name, atomically if the system supports that.
    pub(super) fn rename_to_new(&self, to: &PathAt<'_>) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            use rustix::io::Errno;

            match renameat_with(self.directory(), self.path, to.directory(), to.path, RenameFlags::NOREPLACE)
            {
                // The kernel or the file system has no such rename.
                Err(Errno::NOSYS | Errno::INVAL | Errno::NOTSUP) => {}
                result => return Ok(result?),
            }
        }
        if to.exists()? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.rename_over(to)
    }

    pub(super) fn link(&self, to: &PathAt<'_>) -> io::Result<()> {
        // A second name of a symbolic link would lead elsewhere from another directory, and change with the link's target.
        let flags = AtFlags::SYMLINK_FOLLOW;
        Ok(rustix::fs::linkat(self.directory(), self.path, to.directory(), to.path, flags)?)
    }

    /// Makes the names in the directory durable. A held directory needs no descriptor for that.
    pub(super) fn sync_names(&self) -> io::Result<()> {
        match &self.held {
            Some(held) if self.path == Path::new(ITSELF) => sync_directory(&held.descriptor),
            _ => sync_directory(&self.open(OFlags::RDONLY)?),
        }
    }
}

/// The working directory, or the held one, if `path` is empty.
fn or_itself(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(ITSELF) } else { path }
}

/// What an environment knows about a directory that its holder may drop.
#[derive(Debug, Clone)]
pub(super) struct HeldName {
    /// Paths that begin with this one lead into the directory.
    path: PathBuf,
    hold: Weak<HeldDirectory>,
}

impl HeldName {
    pub(super) fn of(held: &Arc<HeldDirectory>) -> Self {
        Self { path: held.path.clone(), hold: Arc::downgrade(held) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents() {
        let parent = |path: &'static str| PathAt { held: None, path: Path::new(path) }.parent().path;
        assert_eq!(parent("a/b"), Path::new("a"));
        assert_eq!(parent("b"), Path::new("."));
        assert_eq!(parent("/b"), Path::new("/"));
        assert_eq!(parent("/"), Path::new("/"));
    }

    #[test]
    fn only_what_leads_into_a_held_directory_begins_there() {
        let directory = tempfile::tempdir().unwrap();
        let held = Arc::new(HeldDirectory::open(directory.path()).unwrap());
        let name = HeldName::of(&held);
        let path_at = |path: &Path| {
            let path_at = PathAt::new(Some(&name), path).unwrap();
            (path_at.held.is_some(), path_at.path.to_owned())
        };
        assert_eq!(path_at(directory.path()), (true, PathBuf::from(".")));
        assert_eq!(path_at(&directory.path().join("lost/a")), (true, PathBuf::from("lost/a")));
        let sibling = directory.path().with_extension("copy");
        assert_eq!(path_at(&sibling), (false, sibling.clone()));
        assert_eq!(path_at(Path::new("a")), (false, PathBuf::from("a")));
        drop(held);
        assert!(PathAt::new(Some(&name), directory.path()).is_err(), "nobody holds it");
        assert!(PathAt::new(Some(&name), &sibling).is_ok());
    }
}
