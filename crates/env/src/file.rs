//! The four kinds of open file: random reads (tables), sequential reads (recovery), buffered writes (tables,
//! MANIFEST, info log) and the write-ahead log.

use std::fmt;
use std::io;
use std::path::Path;

use bytes::Bytes;

use crate::{EnvError, Result};

/// A file read at any offset, by many threads at once: a table.
pub trait RandomAccessFile: Send + Sync + fmt::Debug {
    /// Reads bytes from `offset` into the front of `buffer` and returns how many. The count is less than
    /// `buffer.len()` only where the file ends; it is 0 from the end on.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize>;

    /// Fills `buffer` from `offset`. A file that ends before is an error of kind
    /// [`io::ErrorKind::UnexpectedEof`].
    fn read_exact_at(&self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let wanted_bytes = buffer.len();
        let read_bytes = self.read_at(offset, buffer)?;
        if read_bytes == wanted_bytes {
            return Ok(());
        }
        let problem =
            format!("the file ends after {read_bytes} of the {wanted_bytes} bytes wanted at {offset}");
        Err(EnvError::new("read", self.path(), io::Error::new(io::ErrorKind::UnexpectedEof, problem)))
    }

    /// As [`read_at`](Self::read_at) if the bytes are in memory; `None` if the call would wait for the disk, or
    /// cannot tell. After `None` the contents of `buffer` are unspecified. Optional: by default always `None`.
    fn read_at_without_waiting(&self, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        let _ = (offset, buffer);
        Ok(None)
    }

    /// Where, from `offset` on, the first bytes lie that may not be zeros; `None` if nothing but zeros follows, or the end.
    /// Of a sparse file that is told without reading. Optional: by default each byte of the file may be something.
    fn next_data(&self, offset: u64) -> Result<Option<u64>> {
        Ok((offset < self.size_bytes()?).then_some(offset))
    }

    /// The whole file as bytes in memory that outlive this handle; `None` if the environment has no such thing, or not for
    /// this file. Ask it of files from [`Env::open_mapped`](crate::Env::open_mapped). The file must be complete: nobody may
    /// change it while the bytes are in use. Where it lies on a device that fails, or is cut by another program, reading the
    /// bytes may end the process. Optional.
    fn mapped(&self) -> Option<Bytes> {
        None
    }

    /// Whether reading these bytes of [`mapped`](Self::mapped) would not wait for the disk, as of now or a tenth of a second
    /// ago. `false` if that cannot be told. Optional: by default always `false`.
    fn mapped_is_in_memory(&self, offset: u64, size_bytes: usize) -> bool {
        let _ = (offset, size_bytes);
        false
    }

    /// Size of the file now, in bytes.
    fn size_bytes(&self) -> Result<u64>;

    /// The path it was opened by.
    fn path(&self) -> &Path;
}

/// A file read once from front to back: a log, a MANIFEST.
pub trait SequentialFile: Send {
    /// Reads the next bytes into the front of `buffer` and returns how many. The count may be less than
    /// `buffer.len()` anywhere; 0, for a buffer that is not empty, means the end of the file.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize>;
}

/// A file written from front to back: a table, a MANIFEST, the info log.
///
/// After an error the file holds some prefix of the bytes appended, and every later call that would write or sync
/// fails: the caller gives the file up. Dropped without [`close`](Self::close), it hands what is buffered to the
/// operating system as well as it can, and errors are lost.
pub trait WritableFile: Send {
    /// Adds bytes at the end. They may wait in the process, and so may their errors: until
    /// [`flush`](Self::flush).
    fn append(&mut self, bytes: &[u8]) -> Result<()>;

    /// Hands all bytes to the operating system: readers see them, and they survive the death of the process, but
    /// not a loss of power.
    fn flush(&mut self) -> Result<()>;

    /// Flushes and makes all bytes and the size durable: they survive a loss of power. The *name* of a new file
    /// becomes durable by [`Env::sync_directory`](crate::Env::sync_directory).
    fn sync(&mut self) -> Result<()>;

    /// Size of the file in bytes, with what is still buffered.
    fn size_bytes(&self) -> u64;

    /// Flushes and closes, and reports the errors of both. It does not sync.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Size of the header that [`LogFile::append_record`] stores.
pub const LOG_RECORD_HEADER_SIZE_BYTES: usize = 7;

/// Size of the blocks of a [`LogFile`].
pub const LOG_BLOCK_SIZE_BYTES: u64 = 32 << 10;

/// The write-ahead log: every append is handed to the operating system before it returns.
///
/// It is a trait of its own so that a file mapped into memory can stand behind it. Therefore, while it is open, and after
/// the process died with it open, the file may be longer than [`size_bytes`](Self::size_bytes): up to the end of the
/// block of [`LOG_BLOCK_SIZE_BYTES`] in which the log ends, and never beyond. The bytes behind are zero, but for what a
/// process that died in [`append_record`](Self::append_record) left there. Closing it cuts it to its size.
pub trait LogFile: Send {
    /// Adds `bytes` at the end. On return they survive the death of the process, but not a loss of power. A process
    /// that dies meanwhile leaves a beginning of them, and the file ends there.
    ///
    /// On an error nothing of them is in the file, which goes on to work (a full disk may have room later), unless
    /// [`is_damaged`](Self::is_damaged) then says otherwise.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;

    /// As [`append`](Self::append), for a record or the first fragment of one: `padding_bytes` zeros up to a block's end,
    /// then `header` and `fragment`, all in one block. A process that dies meanwhile may also leave any part of the fragment
    /// behind a header of zeros, and the file then ends where the block does; but never a header that is not zeros before a
    /// fragment that is not whole and within the file.
    fn append_record(
        &mut self,
        padding_bytes: usize,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        fragment: &[u8],
    ) -> Result<()>;

    /// Whether a failed append left bytes behind the end that could not be cut off. Appends and syncs then fail
    /// until a [`truncate`](Self::truncate) succeeds.
    fn is_damaged(&self) -> bool;

    /// Cuts the file to its first `size_bytes` bytes; appends go on from there. A size beyond the end is an error
    /// of kind [`io::ErrorKind::InvalidInput`].
    fn truncate(&mut self, size_bytes: u64) -> Result<()>;

    /// Makes all bytes and the size durable: they survive a loss of power. (The name: see
    /// [`Env::sync_directory`](crate::Env::sync_directory).) After a sync that failed, every later append and sync fails:
    /// which bytes reached the disk is then unknown.
    fn sync(&mut self) -> Result<()>;

    /// Bytes appended so far: where the next record will begin.
    fn size_bytes(&self) -> u64;

    /// Cuts the file to its size, closes it, and reports the errors of both. It does not sync.
    fn close(self: Box<Self>) -> Result<()>;
}
