//! Calls on an open file, under the names that `posix` has for its own.

use std::fs::File;
use std::io;
use std::os::windows::fs::FileExt;

use crate::error::sync_failed;

/// Reads until `buffer` is full or the file ends. Returns the number of bytes.
pub(crate) fn read_at(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut read_bytes = 0;
    while read_bytes < buffer.len() {
        match file.seek_read(&mut buffer[read_bytes..], offset + read_bytes as u64)? {
            0 => break,
            count => read_bytes += count,
        }
    }
    Ok(read_bytes)
}

/// Writes all of these bytes at `offset`.
pub(crate) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    let mut written_bytes = 0;
    while written_bytes < bytes.len() {
        match file.seek_write(&bytes[written_bytes..], offset + written_bytes as u64)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => written_bytes += count,
        }
    }
    Ok(())
}

/// Makes bytes and size durable (`FlushFileBuffers`): there is no cheaper way for a file that was synced before.
pub(crate) fn sync_file(file: &File, _synced_before: bool) -> io::Result<()> {
    file.sync_all().map_err(sync_failed)
}

/// Closes the file. Windows reports failed writes when they are made, or by a sync.
pub(crate) fn close_file(file: File) -> io::Result<()> {
    drop(file);
    Ok(())
}

/// Does nothing: Windows begins to write automatically.
pub(crate) fn begin_writeback(_file: &File, _from: u64, _to: u64) {}
