//! The write-ahead log on a real file system: a record is stored into the mapped block at the end if the system
//! supports that; otherwise each append is one write at a known offset.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::log_state::LogState;
use crate::system::log_space::LogSpace;
use crate::system::raw_file::{close_file, sync_file};
use crate::{EnvError, LOG_RECORD_HEADER_SIZE_BYTES, LogFile, Result};

pub(crate) struct HostLogFile {
    /// Declared before the file that it is mapped from, so that it is dropped first.
    space: LogSpace,
    file: File,
    path: PathBuf,
    size_bytes: u64,
    synced_before: bool,
    state: LogState,
}

impl HostLogFile {
    /// Creates a log in `file`, which is empty. It is mapped if `may_map` and the file system is suitable.
    pub(crate) fn new(file: File, path: &Path, may_map: bool) -> Self {
        let space = LogSpace::new(&file, may_map);
        let path = path.to_owned();
        Self { space, file, path, size_bytes: 0, synced_before: false, state: LogState::Whole }
    }

    fn failed(&self, operation: &'static str, source: io::Error) -> EnvError {
        EnvError::new(operation, &self.path, source)
    }

    #[inline]
    fn check_whole(&self, operation: &'static str) -> Result<()> {
        self.state.check().map_err(|source| self.failed(operation, source))
    }

    /// The file is not what it was, or its device fails: nothing that it reports later can be trusted.
    #[cold]
    fn not_stored(&mut self, error: io::Error) -> EnvError {
        self.space.give_up();
        self.state = LogState::Lost(error.kind());
        self.failed("write", error)
    }

    /// Writes a record for which no space is ready.
    #[cold]
    fn write_record(
        &mut self,
        padding_bytes: usize,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        fragment: &[u8],
    ) -> Result<()> {
        let mut bytes = Vec::with_capacity(padding_bytes + header.len() + fragment.len());
        bytes.resize(padding_bytes, 0);
        bytes.extend_from_slice(header);
        bytes.extend_from_slice(fragment);
        self.append(&bytes)
    }
}

impl LogFile for HostLogFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.append_pieces(&[bytes])
    }

    fn append_pieces(&mut self, pieces: &[&[u8]]) -> Result<()> {
        self.check_whole("write")?;
        let size_bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
        if size_bytes == 0 {
            return Ok(());
        }
        if let Err(error) = self.space.write(&self.file, self.size_bytes, pieces) {
            // A part may have been written. A later record after it would be unreadable.
            if self.space.give_back(&self.file, self.size_bytes).is_err() {
                self.state = LogState::Damaged(error.kind());
            }
            return Err(self.failed("write", error));
        }
        self.size_bytes += size_bytes as u64;
        Ok(())
    }

    #[inline]
    fn append_record(
        &mut self,
        padding_bytes: usize,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        fragment: &[u8],
    ) -> Result<()> {
        self.check_whole("write")?;
        let start = self.size_bytes + padding_bytes as u64;
        let end = start + (header.len() + fragment.len()) as u64;
        // A header alone ends its block, which is rare.
        if !self.space.is_ready(end) || fragment.is_empty() {
            return self.write_record(padding_bytes, header, fragment);
        }
        let stored = self.space.store(&self.file, start, header, fragment);
        stored.map_err(|error| self.not_stored(error))?;
        self.size_bytes = end;
        Ok(())
    }

    fn is_damaged(&self) -> bool {
        self.state.is_damaged()
    }

    fn truncate(&mut self, size_bytes: u64) -> Result<()> {
        if size_bytes > self.size_bytes {
            return Err(self.failed("truncate", io::ErrorKind::InvalidInput.into()));
        }
        let cut = self.space.give_back(&self.file, size_bytes);
        cut.map_err(|source| self.failed("truncate", source))?;
        self.size_bytes = size_bytes;
        self.state.heal();
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.check_whole("sync")?;
        // This also writes what was stored into a mapping.
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
        let is_longer = space.has_more_than(size_bytes) || state.is_damaged();
        let whole = if is_longer { space.give_back(&file, size_bytes) } else { Ok(()) };
        whole.and(close_file(file)).map_err(|source| EnvError::new("close", path, source))
    }
}
