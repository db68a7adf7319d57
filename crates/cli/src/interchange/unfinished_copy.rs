//! A new database that is none until it is whole.
//!
//! It grows in a directory within its own. When it is whole, its files move up, `CURRENT` last: without that the directory holds no
//! database. So whatever stops the program, the target is the whole copy or is not opened as one. A directory within, and not
//! one beside that is renamed, since the target may be where a disk is mounted.
//!
//! Predecessor: `copy`. Successor: the file system.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use terrace_engine::{Db, Options};
use terrace_format::file_name::{self, FileKind};

use crate::failure::{Failure, Problem};

const DIRECTORY: &str = "unfinished-copy";

/// See the head of this file.
pub(crate) struct UnfinishedCopy {
    target: PathBuf,
    directory: PathBuf,
}

impl UnfinishedCopy {
    /// Prepares a copy to `target`. What an earlier one left there that was stopped is removed.
    ///
    /// # Errors
    /// If the directory holds something else; if another process is copying to it.
    pub(crate) fn begin(target: &Path, options: &Options) -> Result<Self, Failure> {
        let directory = target.join(DIRECTORY);
        if target.join(file_name::CURRENT).exists() {
            return Err(is_taken(target));
        }
        if directory.is_dir() {
            Db::destroy(&directory, options)?;
            // Without CURRENT, what is here is of a copy that was stopped while its files moved up.
            for (name, _) in files_in(target)? {
                fs::remove_file(target.join(name))?;
            }
        }
        fs::create_dir_all(target)?;
        match fs::read_dir(target)?.find(|entry| !is_directory(entry)) {
            Some(_) => Err(is_taken(target)),
            None => Ok(Self { target: target.to_owned(), directory }),
        }
    }

    /// Where the copy is to be made.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Makes the copy, which is closed, the database in the target. Durable on return.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let mut files = files_in(&self.directory)?;
        files.retain(|(_, kind)| !matches!(kind, FileKind::Lock));
        files.sort_by_key(|(_, kind)| *kind == FileKind::Current);
        for (name, kind) in files {
            if kind == FileKind::Current {
                sync(&self.target)?;
            }
            fs::rename(self.directory.join(&name), self.target.join(&name))?;
        }
        sync(&self.target)?;
        fs::remove_dir_all(&self.directory)?;
        Ok(())
    }
}

fn is_directory(entry: &io::Result<fs::DirEntry>) -> bool {
    entry.as_ref().is_ok_and(|entry| entry.file_name() == DIRECTORY)
}

fn is_taken(target: &Path) -> Failure {
    Problem::database(
        format!("{} is not empty", target.display()),
        "Choose a directory that is empty or not there yet.",
    )
}

/// The files of a database in `directory`.
fn files_in(directory: &Path) -> io::Result<Vec<(String, FileKind)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if let Some(kind) = file_name::parse(&name) {
            files.push((name, kind));
        }
    }
    Ok(files)
}

fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}
