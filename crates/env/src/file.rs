//! The four kinds of open file: random reads (tables), sequential reads (recovery), buffered writes (tables,
//! MANIFEST, info log) and the write-ahead log.

use std::fmt;
use std::io;
use std::path::Path;

use bytes::Bytes;

use crate::{EnvError, Result};

/// How the bytes of a mapped file will be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadPattern {
    /// The system guesses: it reads what is near to bytes that are not in memory, too.
    Usual,
    /// In no order: the system reads only the requested bytes.
    Random,
}

/// A file that many threads read at any offset at once: a table.
pub trait RandomAccessFile: Send + Sync + fmt::Debug {
    /// Reads bytes from `offset` on into the front of `buffer` and returns their number. That is less than
    /// `buffer.len()` only where the file ends, and 0 at or after the end.
    ///
    /// # Errors
    ///
    /// If the system cannot read the file.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize>;

    /// Fills `buffer` from `offset` on.
    ///
    /// # Errors
    ///
    /// Kind [`io::ErrorKind::UnexpectedEof`] if the file ends before `buffer` is full; otherwise those of
    /// [`read_at`](Self::read_at).
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

    /// Like [`read_at`](Self::read_at) if the bytes are in memory; `None` if the call would wait for the disk, or
    /// cannot tell. After `None` the contents of `buffer` are unspecified. Optional: the default is always `None`.
    ///
    /// # Errors
    ///
    /// Those of [`read_at`](Self::read_at).
    fn read_at_without_waiting(&self, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        let _ = (offset, buffer);
        Ok(None)
    }

    /// Offset of the first byte at or after `offset` that may not be zero; `None` if only zeros follow, or the end. A
    /// sparse file answers without being read. Optional: by default any byte of the file may not be zero.
    ///
    /// # Errors
    ///
    /// If the system cannot examine the file.
    fn next_data(&self, offset: u64) -> Result<Option<u64>> {
        Ok((offset < self.size_bytes()?).then_some(offset))
    }

    /// The offset after the last byte that may not be zero, as far as [`next_data`](Self::next_data) tells.
    ///
    /// # Errors
    ///
    /// Those of [`next_data`](Self::next_data).
    fn end_of_data(&self) -> Result<u64> {
        let (mut low, mut high) = (0, self.size_bytes()?);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.next_data(middle)? {
                Some(data) => low = data + 1,
                None => high = middle,
            }
        }
        Ok(low)
    }

    /// The whole file as bytes in memory that outlive this handle; `None` if the environment does not support that for
    /// this file or at all. Use it for files from [`Env::open_mapped`](crate::Env::open_mapped). The file must be
    /// complete and must not change while the bytes are in use. If the device fails, or another program truncates the
    /// file, reading the bytes may end the process. Optional.
    fn mapped(&self) -> Option<Bytes> {
        None
    }

    /// Whether reading these bytes of [`mapped`](Self::mapped) would not wait for the disk, as of now or a tenth of a
    /// second ago. `false` if that is unknown. Optional: the default is always `false`.
    fn mapped_is_in_memory(&self, offset: u64, size_bytes: usize) -> bool {
        let _ = (offset, size_bytes);
        false
    }

    /// Tells the system how the bytes of [`mapped`](Self::mapped) will be read. At first it is
    /// [`ReadPattern::Usual`]. Optional: by default nothing happens.
    fn expect_reads(&self, pattern: ReadPattern) {
        let _ = pattern;
    }

    /// Begins to read these bytes of [`mapped`](Self::mapped) into memory, in as few reads of the device as possible,
    /// and does not wait for them. Bytes outside the file are ignored. Optional: by default nothing happens.
    fn start_reading(&self, offset: u64, size_bytes: usize) {
        let _ = (offset, size_bytes);
    }

    /// Tells the system that these bytes of [`mapped`](Self::mapped) will not be read for a while, so that it uses
    /// their memory first. Bytes outside the file are ignored. Optional: by default nothing happens.
    fn stop_reading(&self, offset: u64, size_bytes: usize) {
        let _ = (offset, size_bytes);
    }

    /// Size of the file now, in bytes.
    ///
    /// # Errors
    ///
    /// If the system cannot tell.
    fn size_bytes(&self) -> Result<u64>;

    /// The path under which the file was opened.
    fn path(&self) -> &Path;
}

/// A file that is read once, from front to back: a log, a MANIFEST.
pub trait SequentialFile: Send {
    /// Reads the next bytes into the front of `buffer` and returns their number. That may be less than `buffer.len()`
    /// anywhere; 0, for a buffer that is not empty, means the end of the file.
    ///
    /// # Errors
    ///
    /// If the system cannot read the file.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize>;
}

/// A file that is written from front to back: a table, a MANIFEST, the info log.
///
/// After an error the file holds some prefix of the appended bytes, and every later call that would write or sync
/// fails: the caller has to give the file up. If it is dropped without [`close`](Self::close), it tries to hand
/// buffered bytes to the operating system, and errors are lost.
pub trait WritableFile: Send {
    /// Adds bytes at the end. They may stay in the process until [`flush`](Self::flush), and so may their errors.
    ///
    /// # Errors
    ///
    /// If these or earlier bytes cannot be written, or if an earlier operation failed.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;

    /// Hands all bytes to the operating system.
    ///
    /// # Durability
    ///
    /// Readers see the bytes, and they survive the death of the process, but not a power cut.
    ///
    /// # Errors
    ///
    /// If the bytes cannot be written, or if an earlier operation failed.
    fn flush(&mut self) -> Result<()>;

    /// Flushes, and makes all bytes and the size durable.
    ///
    /// # Durability
    ///
    /// They survive a power cut. The *name* of a new file becomes durable with
    /// [`Env::sync_directory`](crate::Env::sync_directory).
    ///
    /// # Errors
    ///
    /// If the bytes cannot be written or synced, or if an earlier operation failed.
    fn sync(&mut self) -> Result<()>;

    /// Size of the file in bytes, buffered bytes included.
    fn size_bytes(&self) -> u64;

    /// Flushes and closes the file. Does not sync.
    ///
    /// # Errors
    ///
    /// If the bytes cannot be written, if closing fails, or if an earlier operation failed.
    fn close(self: Box<Self>) -> Result<()>;
}

/// Size of the header that [`LogFile::append_record`] stores, in bytes.
pub const LOG_RECORD_HEADER_SIZE_BYTES: usize = 7;

/// Size of the blocks of a [`LogFile`], in bytes.
pub const LOG_BLOCK_SIZE_BYTES: u64 = 32 << 10;

/// The write-ahead log: every append reaches the operating system before it returns.
///
/// It is a separate trait so that it can be a file mapped into memory. While the log is open, and after the process
/// died with it open, the file may therefore be longer than [`size_bytes`](Self::size_bytes): up to the end of the
/// block of [`LOG_BLOCK_SIZE_BYTES`] in which the log ends, and never beyond. The bytes after the log are zero, except
/// for what a process that died in [`append_record`](Self::append_record) left there. Closing the log truncates the
/// file to its size.
pub trait LogFile: Send {
    /// Adds `bytes` at the end. If the process dies during the call, a prefix of them remains, and the file ends
    /// there.
    ///
    /// # Durability
    ///
    /// On return the bytes survive the death of the process, but not a power cut.
    ///
    /// # Errors
    ///
    /// If the bytes cannot be written, for example because the disk is full. None of them is in the file then, and
    /// the log keeps working, because a full disk may have room later, unless [`is_damaged`](Self::is_damaged) says
    /// otherwise. Also if the log is damaged or an earlier sync failed.
    fn append(&mut self, bytes: &[u8]) -> Result<()>;

    /// As [`append`](Self::append) of these pieces, one after another.
    ///
    /// # Errors
    ///
    /// Those of [`append`](Self::append).
    fn append_pieces(&mut self, pieces: &[&[u8]]) -> Result<()> {
        self.append(&pieces.concat())
    }

    /// Like [`append`](Self::append), for a record or its first fragment: `padding_bytes` zeros up to a block's end,
    /// then `header` and `fragment`, all in one block. If the process dies during the call, any part of the fragment
    /// may also remain after a header of zeros, and the file then ends where the block does; but a header that is not
    /// zeros is never followed by a fragment that is incomplete or reaches beyond the file.
    ///
    /// # Errors
    ///
    /// Those of [`append`](Self::append).
    fn append_record(
        &mut self,
        padding_bytes: usize,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        fragment: &[u8],
    ) -> Result<()>;

    /// Whether a failed append left bytes after the end that could not be cut off. Appends and syncs then fail until
    /// a [`truncate`](Self::truncate) succeeds.
    fn is_damaged(&self) -> bool;

    /// Truncates the file to its first `size_bytes` bytes; later appends start there.
    ///
    /// # Errors
    ///
    /// Kind [`io::ErrorKind::InvalidInput`] if the size is beyond the end. Also if the file cannot be truncated.
    fn truncate(&mut self, size_bytes: u64) -> Result<()>;

    /// Makes all bytes and the size durable.
    ///
    /// # Durability
    ///
    /// They survive a power cut. (For the name, see [`Env::sync_directory`](crate::Env::sync_directory).)
    ///
    /// # Errors
    ///
    /// If the bytes cannot be synced. Every later append and sync then fails too, because it is unknown which bytes
    /// reached the disk.
    fn sync(&mut self) -> Result<()>;

    /// Number of bytes appended so far: the offset of the next record.
    fn size_bytes(&self) -> u64;

    /// Truncates the file to its size and closes it. Does not sync.
    ///
    /// # Errors
    ///
    /// If truncating or closing fails.
    fn close(self: Box<Self>) -> Result<()>;
}
