//! The MANIFEST: a file of version edits, each one log record. Predecessor: `set`. Successors: `terrace_format`'s
//! version edit and log, then the env.
//!
//! ```text
//!   CURRENT ─► MANIFEST-000007
//!              ┌─────────────────────┬──────┬──────┬──────┬───── ─ ─
//!              │ snapshot: all files │ edit │ edit │ edit │ torn tail
//!              └─────────────────────┴──────┴──────┴──────┴───── ─ ─
//! ```
//!
//! How a reader treats bytes that do not belong to a sound record:
//!
//! 1. A last record that the end of the file cuts off is the trace of a crash during a write that was never
//!    acknowledged. The reader skips it, and zeros at the end, too.
//! 2. Everything else is damage and fails the open: a wrong checksum, a wrong length, zeros before another record.
//! 3. A damaged length in the last block looks like case 1 and would hide every record after it. The bytes that seem
//!    cut off are therefore searched for the start of another record. If there is one, it is case 2. (LevelDB silently
//!    continues with the older state.)

use std::path::Path;
use std::sync::Arc;

use terrace_env::{Env, WritableFile};
use terrace_format::file_name::manifest_name;
use terrace_format::limits::LOG_BLOCK_SIZE_BYTES;
use terrace_format::log::{LogEncoder, LogEvent, LogReader};
use terrace_format::version_edit::VersionEdit;

use crate::error::{Error, Result};
use crate::recovery::lost_sectors::has_lost_sector;
use crate::recovery::source::FileSource;
use crate::recovery::tail::{find_record_after, is_next};

const BLOCK_SIZE_BYTES: u64 = LOG_BLOCK_SIZE_BYTES as u64;

/// The number of files that one record of a snapshot names. It bounds the memory that a reader needs for one record.
const FILES_PER_SNAPSHOT_RECORD: usize = 1000;

/// Appends edits to a MANIFEST.
pub(crate) struct ManifestWriter {
    file: Box<dyn WritableFile>,
    encoder: LogEncoder,
    number: u64,
    snapshot_size_bytes: u64,
    buffer: Vec<u8>,
}

impl ManifestWriter {
    /// Creates a MANIFEST that begins with `snapshot`, and makes its contents durable. Its name is durable once the
    /// directory is synced. On failure nothing of use is left.
    pub(crate) fn create(
        env: &Arc<dyn Env>,
        directory: &Path,
        number: u64,
        snapshot: VersionEdit,
    ) -> Result<Self> {
        let path = directory.join(manifest_name(number));
        let file = env.create(&path)?;
        let encoder = LogEncoder::new();
        let mut writer = Self { file, encoder, number, snapshot_size_bytes: 0, buffer: Vec::new() };
        let written = split_snapshot(snapshot).into_iter().try_for_each(|edit| writer.append_record(&edit));
        if let Err(error) = written.and_then(|()| Ok(writer.file.sync()?)) {
            drop(writer);
            // Nothing refers to the file. If it stays, the next open removes it.
            let _ = env.remove_file(&path);
            return Err(error);
        }
        writer.snapshot_size_bytes = writer.size_bytes();
        Ok(writer)
    }

    /// Continues in the MANIFEST `number` in `directory`, which is durable and ends with a whole record after
    /// `size_bytes`. Returns `None` if the file has another size.
    pub(crate) fn go_on(
        env: &dyn Env,
        directory: &Path,
        number: u64,
        size_bytes: u64,
    ) -> Result<Option<Self>> {
        let file = env.open_append(&directory.join(manifest_name(number)))?;
        if file.size_bytes() != size_bytes {
            return Ok(None);
        }
        let encoder = LogEncoder::at_offset(size_bytes);
        // The size of its snapshot is unknown, so only the size limit decides when it is replaced.
        Ok(Some(Self { file, encoder, number, snapshot_size_bytes: 0, buffer: Vec::new() }))
    }

    /// Adds an edit and makes it durable. After an error, it is unknown whether the file holds the edit.
    pub(crate) fn append(&mut self, edit: &VersionEdit) -> Result<()> {
        self.append_record(edit)?;
        Ok(self.file.sync()?)
    }

    fn append_record(&mut self, edit: &VersionEdit) -> Result<()> {
        self.buffer.clear();
        self.encoder.encode_into(&edit.encode(), &mut self.buffer);
        Ok(self.file.append(&self.buffer)?)
    }

    /// Closes the file and reports what closing reports.
    pub(crate) fn close(self) -> Result<()> {
        Ok(self.file.close()?)
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        self.file.size_bytes()
    }

    /// The size of the file when it held only the snapshot.
    pub(crate) fn snapshot_size_bytes(&self) -> u64 {
        self.snapshot_size_bytes
    }
}

/// Splits the files of a snapshot among several records. The first record has everything else; a reader needs all of
/// them anyway.
fn split_snapshot(mut snapshot: VersionEdit) -> Vec<VersionEdit> {
    let mut rest = snapshot.new_files.split_off(snapshot.new_files.len().min(FILES_PER_SNAPSHOT_RECORD));
    let mut edits = vec![snapshot];
    while !rest.is_empty() {
        let later = rest.split_off(rest.len().min(FILES_PER_SNAPSHOT_RECORD));
        edits.push(VersionEdit { new_files: rest, ..VersionEdit::default() });
        rest = later;
    }
    edits
}

/// Reads the MANIFEST at `path` from front to back and hands over each edit with the offset of its record.
///
/// # Errors
/// - The error of `take`.
/// - `Corruption` or `Unsupported`, naming file and offset.
/// - The errors of reading the file.
pub(crate) fn read_manifest(
    env: &dyn Env,
    path: &Path,
    mut take: impl FnMut(u64, VersionEdit) -> Result<()>,
) -> Result<()> {
    let file = env.open_random(path)?;
    let mut reader = LogReader::new(FileSource::new(&*file));
    let mut end_of_last_record = 0;
    loop {
        match reader.next()? {
            LogEvent::Record { payload, offset } => {
                if !is_next(end_of_last_record, offset) {
                    let problem = format!("{} bytes without a record", offset - end_of_last_record);
                    return Err(Error::corruption(path, end_of_last_record, problem));
                }
                let edit =
                    VersionEdit::decode(payload).map_err(|error| Error::format(path, offset, error))?;
                take(offset, edit)?;
            }
            LogEvent::Damage { offset, dropped_bytes, reason } => {
                let in_last_block =
                    offset / BLOCK_SIZE_BYTES == env.file_size(path)?.saturating_sub(1) / BLOCK_SIZE_BYTES;
                if in_last_block && has_lost_sector(env, path, end_of_last_record, offset + dropped_bytes)? {
                    return check_torn_tail(env, path, offset, offset + dropped_bytes);
                }
                let problem = format!("{reason}; {dropped_bytes} bytes are lost");
                return Err(Error::corruption(path, offset, problem));
            }
            LogEvent::TornTail { offset, dropped_bytes } => {
                return check_torn_tail(env, path, offset, offset + dropped_bytes);
            }
            LogEvent::End => return Ok(()),
        }
        end_of_last_record = reader.end_of_last_record();
    }
}

/// Applies rule 3 of the module: fails if another record begins after `torn_offset`.
fn check_torn_tail(env: &dyn Env, path: &Path, torn_offset: u64, end: u64) -> Result<()> {
    match find_record_after(env, path, torn_offset, end)? {
        Some(at) if at > torn_offset => {
            let problem = format!("the record has a bad length: another begins at byte {at}");
            Err(Error::corruption(path, torn_offset, problem))
        }
        Some(_) => Err(Error::corruption(path, torn_offset, "the record has a bad length and is whole")),
        None => Ok(()),
    }
}
