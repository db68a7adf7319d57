//! Appends write batches to the log. Predecessor: `write/commit`. Successor: the memtable, and `recovery` at the
//! next open.
//!
//! One batch is one logical record. If it fits into the rest of its block, it is one physical record, which `env` may store
//! into mapped memory; a process that dies then leaves all of it or nothing. A larger record is split, as LevelDB does
//! (see `terrace_format::log`): its first fragment fills the block, at whose end the file ends, and all others are one
//! append. A process that dies in between leaves a record that the end of the file cuts off.

use std::path::PathBuf;

use terrace_env::{Env, LogFile};
use terrace_format::log::{FirstFragment, LogEncoder};

use crate::error::{Error, Result};

/// Appending a record of at most this many bytes is so quick that it does not count as waiting.
const QUICK_BYTES: usize = 256 << 10;

/// A log that is being written.
pub(crate) struct WalWriter {
    number: u64,
    path: PathBuf,
    file: Box<dyn LogFile>,
    encoder: LogEncoder,
    /// Whether part of a failed record could not be cut off, or may reappear.
    has_part: bool,
    has_unsynced: bool,
    directory_synced: bool,
    /// Whether a failed record was cut off again, while the disk may still hold a part of it.
    has_cut: bool,
    has_failed_sync: bool,
}

impl WalWriter {
    /// Creates the log `number` at `path`. It is mapped into memory if `map` is set and the environment supports that.
    pub(crate) fn create(env: &dyn Env, path: PathBuf, number: u64, map: bool) -> Result<Self> {
        let file = if map { env.create_log(&path)? } else { env.create_unmapped_log(&path)? };
        Ok(Self {
            number,
            path,
            file,
            encoder: LogEncoder::new(),
            has_part: false,
            has_unsynced: false,
            directory_synced: false,
            has_cut: false,
            has_failed_sync: false,
        })
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether no record was ever appended.
    pub(crate) fn is_empty(&self) -> bool {
        self.file.size_bytes() == 0
    }

    /// Closes the log and removes its file. For a log without records.
    pub(crate) fn discard(self, env: &dyn Env) -> Result<()> {
        let Self { file, path, .. } = self;
        file.close()?;
        Ok(env.remove_file(&path)?)
    }

    /// Whether a failed append left something that could not be cut off again.
    pub(crate) fn is_damaged(&self) -> bool {
        self.has_part || self.file.is_damaged()
    }

    /// Whether a record of this many bytes can be appended practically at once.
    #[inline]
    pub(crate) fn is_ready(&self, payload_bytes: usize) -> bool {
        payload_bytes <= QUICK_BYTES
    }

    /// Appends one record. On success it survives the death of the process. After an error the log is as it was
    /// before, unless [`is_damaged`](Self::is_damaged).
    #[inline]
    pub(crate) fn append(&mut self, payload: &[u8]) -> Result<()> {
        if self.has_cut {
            self.sync_cut()?;
        }
        self.has_unsynced = true;
        let FirstFragment { padding_bytes, header, fragment } = self.encoder.encode_first(payload);
        let size_before = self.file.size_bytes();
        let result = self.file.append_record(padding_bytes, &header, fragment).map_err(Error::from);
        if result.is_ok() && fragment.len() == payload.len() {
            return Ok(());
        }
        let result = result.and_then(|()| self.append_rest(&payload[fragment.len()..], size_before));
        result.inspect_err(|_| {
            self.encoder = LogEncoder::at_offset(size_before);
            self.has_cut = true;
        })
    }

    /// Makes sure that nothing is left on the disk of a record that was cut off. Otherwise, after a loss of power, the
    /// next record, which takes its place, could have sectors of both, which cannot be distinguished from damage.
    #[cold]
    fn sync_cut(&mut self) -> Result<()> {
        let result = self.file.sync();
        self.has_part = result.is_err();
        self.has_failed_sync |= result.is_err();
        self.has_cut = false;
        Ok(result?)
    }

    /// Appends the fragments of a record that follow its first one, which began at `start`.
    #[cold]
    fn append_rest(&mut self, payload: &[u8], start: u64) -> Result<()> {
        // They are written from where they are: copying a large record would cost as much as its checksum.
        let mut fragments = self.encoder.encode_rest(payload);
        let Some((header, fragment)) = fragments.next() else { return Ok(()) };
        // There are none if the record is small, and then nothing is allocated.
        let more: Vec<_> = fragments.collect();
        let result = if more.is_empty() {
            self.file.append_pieces(&[&header, fragment])
        } else {
            let first = [&header[..], fragment];
            let more = more.iter().flat_map(|(header, fragment)| [&header[..], fragment]);
            self.file.append_pieces(&first.into_iter().chain(more).collect::<Vec<_>>())
        };
        if result.is_err() {
            // The first fragment must not stay without them.
            self.has_part = self.file.truncate(start).is_err();
        }
        Ok(result?)
    }

    /// Makes everything appended so far survive a loss of power, the file's name included.
    pub(crate) fn sync(&mut self, env: &dyn Env) -> Result<()> {
        let result = self.try_sync(env);
        self.has_failed_sync |= result.is_err();
        result
    }

    fn try_sync(&mut self, env: &dyn Env) -> Result<()> {
        if self.has_unsynced {
            self.file.sync()?;
            self.has_unsynced = false;
        }
        if !self.directory_synced {
            if let Some(directory) = self.path.parent() {
                env.sync_directory(directory)?;
            }
            self.directory_synced = true;
        }
        Ok(())
    }

    /// Whether a sync has failed.
    pub(crate) fn has_failed_sync(&self) -> bool {
        self.has_failed_sync
    }

    /// Notes that the directory was synced after the log was created.
    pub(crate) fn note_synced_name(&mut self) {
        self.directory_synced = true;
    }

    /// Bytes appended so far.
    pub(crate) fn size_bytes(&self) -> u64 {
        self.file.size_bytes()
    }

    /// Closes the file and reports any failure to do so.
    pub(crate) fn close(self) -> Result<()> {
        Ok(self.file.close()?)
    }
}
