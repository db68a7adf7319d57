//! A new database that does not count as one until it is complete.
//!
//! It grows in a directory inside the target. When it is complete, its files move up, `CURRENT` last: without that
//! file the directory holds no database. Whatever stops the program, the target is therefore the complete copy or
//! does not open. The directory is inside the target, not beside it and renamed, because a disk may be mounted at the
//! target.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrace_engine::env::Env;
use terrace_engine::{Db, Options};
use terrace_format::file_name::{self, FileKind};

use crate::failure::{Failure, Problem};

const DIRECTORY: &str = "unfinished-copy";

/// See the head of this file.
pub(crate) struct UnfinishedCopy {
    env: Arc<dyn Env>,
    target: PathBuf,
    directory: PathBuf,
}

impl UnfinishedCopy {
    /// Prepares a copy to `target`. Removes what an interrupted earlier copy left there.
    ///
    /// # Errors
    ///
    /// If the directory holds something else, or if another process is copying to it.
    pub(crate) fn begin(target: &Path, options: &Options) -> Result<Self, Failure> {
        let directory = target.join(DIRECTORY);
        if target.join(file_name::CURRENT).exists() {
            return Err(is_taken(target));
        }
        if directory.is_dir() {
            Db::destroy(&directory, options)?;
            // Without CURRENT, the files here belong to a copy that was stopped while they moved up.
            for (name, _) in files_in(target)? {
                fs::remove_file(target.join(name))?;
            }
        }
        fs::create_dir_all(target)?;
        match fs::read_dir(target)?.find(|entry| !is_directory(entry)) {
            Some(_) => Err(is_taken(target)),
            None => Ok(Self { env: Arc::clone(&options.env), target: target.to_owned(), directory }),
        }
    }

    /// The directory for the copy.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Turns the copy, which is closed, into the database in the target. Durable on return.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let mut files = files_in(&self.directory)?;
        files.retain(|(_, kind)| !matches!(kind, FileKind::Lock));
        files.sort_by_key(|(_, kind)| *kind == FileKind::Current);
        for (name, kind) in files {
            if kind == FileKind::Current {
                self.env.sync_directory(&self.target)?;
            }
            self.env.rename(&self.directory.join(&name), &self.target.join(&name))?;
        }
        self.env.sync_directory(&self.target)?;
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
        "Choose a directory that is empty or does not exist yet.",
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
