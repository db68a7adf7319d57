//! A copy of the database as the files of a LevelDB directory, which the host reads piece by piece.
//!
//! The copy is a checkpoint whose names are removed at once: open files keep their bytes. So nothing of it is left when the process dies.

use std::path::Path;
use std::sync::Arc;

use terrace_engine::Db;
use terrace_engine::env::pooled::STAGE;
use terrace_engine::env::{Env, PooledEnv, RandomAccessFile};
use terrace_wasm_abi::{Failure, Outcome};

use crate::failures::{failed, failed_file};

pub(crate) struct Export {
    files: Vec<(String, Arc<dyn RandomAccessFile>)>,
}

impl Export {
    /// Makes a copy of the current state.
    pub(crate) fn new(db: &Db, env: &PooledEnv) -> Outcome<Self> {
        let directory = Path::new(STAGE).join("export");
        let files = db.checkpoint(&directory).map_err(failed).and_then(|()| open_all(env, &directory));
        // Also what a failed checkpoint has left.
        let removed = env.remove_all(Path::new(STAGE)).map_err(failed_file);
        let files = files?;
        removed?;
        Ok(Self { files })
    }

    /// Writes the names and sizes of the files: a line for each, the size first.
    pub(crate) fn list(&self, output: &mut Vec<u8>) -> Outcome<()> {
        for (name, file) in &self.files {
            let size_bytes = file.size_bytes().map_err(failed_file)?;
            output.extend_from_slice(format!("{size_bytes} {name}\n").as_bytes());
        }
        Ok(())
    }

    /// Reads up to `length` bytes of a file.
    pub(crate) fn read(&self, file: usize, offset: u64, length: usize, output: &mut Vec<u8>) -> Outcome<()> {
        let (_, file) = self.files.get(file).ok_or_else(|| Failure::unknown("file"))?;
        output.resize(length, 0);
        let read_bytes = file.read_at(offset, output).map_err(failed_file)?;
        output.truncate(read_bytes);
        Ok(())
    }
}

fn open_all(env: &PooledEnv, directory: &Path) -> Outcome<Vec<(String, Arc<dyn RandomAccessFile>)>> {
    let mut names = env.list(directory).map_err(failed_file)?;
    names.sort();
    let open = |name: String| {
        let file = env.open_random(&directory.join(&name)).map_err(failed_file)?;
        Ok((name, file))
    };
    names.into_iter().map(open).collect()
}
