//! What a pool asks of its host.

use std::fmt;
use std::io;

use crate::host;

/// Files that are open already, by number. The pool writes the map of names into the first of them, number 0, and calls the others
/// *slots*.
///
/// Bytes survive the death of the process when [`write_at`](Self::write_at) or [`truncate`](Self::truncate) returns, and a loss of power
/// when [`flush`](Self::flush) returns. After a loss of power, any sector written since may be old or new, and the size that of any moment.
///
/// A browser has them as `FileSystemSyncAccessHandle`. Opening one is asynchronous there, so the host opens more between calls.
pub trait Handles: Send + Sync + fmt::Debug + 'static {
    /// Number of open files. It never falls.
    fn count(&self) -> usize;

    /// Reads bytes from `offset` on into the front of `buffer` and returns their number: less than `buffer.len()` only where the file ends.
    ///
    /// # Errors
    ///
    /// If the host cannot read.
    fn read_at(&self, handle: usize, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes all of `bytes`. The file grows if it ends before them; what lies between is zero.
    ///
    /// # Errors
    ///
    /// If the host cannot write all of them. Some may be in the file. Kind [`io::ErrorKind::StorageFull`] if there is no room.
    fn write_at(&self, handle: usize, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Truncates the file to a size that is not beyond its end.
    ///
    /// # Errors
    ///
    /// If the host cannot do that. The file is unchanged.
    fn truncate(&self, handle: usize, size_bytes: u64) -> io::Result<()>;

    /// Makes the bytes and the size durable.
    ///
    /// # Errors
    ///
    /// If the host cannot do that. It is unknown then what is durable.
    fn flush(&self, handle: usize) -> io::Result<()>;

    /// Size of the file in bytes.
    ///
    /// # Errors
    ///
    /// If the host cannot tell.
    fn size_bytes(&self, handle: usize) -> io::Result<u64>;

    /// As [`Env::monotonic_micros`](crate::Env::monotonic_micros).
    fn monotonic_micros(&self) -> u64 {
        host::monotonic_micros()
    }

    /// As [`Env::unix_micros`](crate::Env::unix_micros).
    fn unix_micros(&self) -> u64 {
        host::unix_micros()
    }
}
