//! The write-ahead log on a real file system: a record is stored into space that was set aside, where the system can do
//! that; else each append is one write at a known offset.
//!
//! Predecessor: the engine's log writer. Successors: `log_space`; or the operating system's page cache. At a sync the
//! disk.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::file::{close_file, sync_file};
use super::log_space::LogSpace;
use crate::log_state::LogState;
use crate::{EnvError, LOG_RECORD_HEADER_SIZE_BYTES, LogFile, Result};

pub(super) struct PosixLogFile {
    /// Before the file, which it is mapped from.
    space: LogSpace,
    file: File,
    path: PathBuf,
    size_bytes: u64,
    synced_before: bool,
    state: LogState,
}

impl PosixLogFile {
    /// A log in `file`, which is empty, mapped if `may_map` and the file system is fit for that.
    pub(super) fn new(file: File, path: &Path, may_map: bool) -> Self {
        let space = LogSpace::new(&file, may_map);
        let path = path.to_owned();
        Self { space, file, path, size_bytes: 0, synced_before: false, state: LogState::Whole }
    }

    fn failed(&self, operation: &'static str, source: io::Error) -> EnvError {
        EnvError::new(operation, &self.path, source)
    }

    fn check_whole(&self, operation: &'static str) -> Result<()> {
        self.state.check().map_err(|source| self.failed(operation, source))
    }

    /// Stores a record between `start` and `end`, where space is ready.
    #[inline]
    fn store(
        &mut self,
        start: u64,
        end: u64,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        payload: &[u8],
    ) -> Result<()> {
        self.space.store(start, header, payload).map_err(|error| self.not_stored(error.into()))?;
        self.size_bytes = end;
        Ok(())
    }

    /// The file is not what it was, or its device fails: nothing that it says later is to be believed.
    #[cold]
    fn not_stored(&mut self, error: io::Error) -> EnvError {
        self.space.give_up();
        self.state = LogState::Lost(error.kind());
        self.failed("write", error)
    }

    /// Stores or writes a record for which no space was ready.
    #[cold]
    fn append_record_slowly(
        &mut self,
        padding_bytes: usize,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        payload: &[u8],
    ) -> Result<()> {
        let start = self.size_bytes + padding_bytes as u64;
        let end = start + (header.len() + payload.len()) as u64;
        match self.space.make_ready(&self.file, self.size_bytes, end) {
            Ok(true) => self.store(start, end, header, payload),
            Ok(false) => {
                let mut bytes = vec![0; padding_bytes];
                bytes.extend_from_slice(header);
                bytes.extend_from_slice(payload);
                self.append(&bytes)
            }
            Err(error) => Err(self.not_cut(error)),
        }
    }

    /// Cuts the file to the log's size if it is longer. Where it is not, nothing is asked of a disk that may be full: on XFS to cut a
    /// block that another file shares takes room.
    fn cut_off_excess(&self) -> io::Result<()> {
        if self.file.metadata()?.len() > self.size_bytes {
            self.file.set_len(self.size_bytes)
        } else {
            Ok(())
        }
    }

    /// The file could not be cut to its size.
    fn not_cut(&mut self, error: io::Error) -> EnvError {
        self.state = LogState::Damaged(error.kind());
        self.failed("truncate", error)
    }
}

impl LogFile for PosixLogFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_whole("write")?;
        // Zeros behind a part of what follows would look like damage.
        self.space.give_back(&self.file, self.size_bytes).map_err(|error| self.not_cut(error))?;
        if let Err(error) = self.file.write_all_at(bytes, self.size_bytes) {
            // A part may be there. A later record behind it would be unreadable.
            if self.cut_off_excess().is_err() {
                self.state = LogState::Damaged(error.kind());
            }
            return Err(self.failed("write", error));
        }
        self.size_bytes += bytes.len() as u64;
        Ok(())
    }

    #[inline]
    fn append_record(
        &mut self,
        padding_bytes: usize,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        payload: &[u8],
    ) -> Result<()> {
        self.check_whole("write")?;
        let start = self.size_bytes + padding_bytes as u64;
        let end = start + (header.len() + payload.len()) as u64;
        if !self.space.is_ready(end) {
            return self.append_record_slowly(padding_bytes, header, payload);
        }
        self.store(start, end, header, payload)
    }

    #[inline]
    fn is_ready(&self, payload_bytes: usize) -> bool {
        // Padding is less than a header.
        let most_bytes = (2 * LOG_RECORD_HEADER_SIZE_BYTES + payload_bytes) as u64;
        self.space.needs_no_more(self.size_bytes + most_bytes)
    }

    fn is_damaged(&self) -> bool {
        self.state.is_damaged()
    }

    fn truncate(&mut self, size_bytes: u64) -> Result<()> {
        if size_bytes > self.size_bytes {
            return Err(self.failed("truncate", io::ErrorKind::InvalidInput.into()));
        }
        let cut = self.space.give_back(&self.file, size_bytes).and_then(|()| self.file.set_len(size_bytes));
        cut.map_err(|source| self.failed("truncate", source))?;
        self.size_bytes = size_bytes;
        self.state.heal();
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.check_whole("sync")?;
        // It writes what was stored into a mapping as well.
        if let Err(error) = sync_file(&self.file, self.synced_before) {
            self.state = LogState::Lost(error.kind());
            return Err(self.failed("sync", error));
        }
        self.synced_before = true;
        self.space.note_sync();
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self { mut space, file, path, size_bytes, state, .. } = *self;
        let whole = space.give_back(&file, size_bytes);
        let whole = whole.and_then(|()| if state.is_damaged() { file.set_len(size_bytes) } else { Ok(()) });
        whole.and(close_file(file)).map_err(|source| EnvError::new("close", path, source))
    }
}
