//! The files that the host has opened, by the functions that the module imports.

use std::io::{self, ErrorKind};

use terrace_engine::env::pooled::Handles;

/// What an imported function returns if the host has no room.
const NO_ROOM: i32 = -2;

#[link(wasm_import_module = "terrace")]
unsafe extern "C" {
    /// Number of open files.
    fn file_count() -> u32;
    /// 1 if the host can open more files, as far as it knows; otherwise 0.
    fn file_count_may_grow() -> u32;
    /// Reads bytes at `offset` into the module's memory. Returns their number, or a negative number if that failed.
    fn file_read(handle: u32, offset: f64, pointer: *mut u8, length: u32) -> i32;
    /// Writes bytes of the module's memory at `offset`. Returns 0, [`NO_ROOM`], or another negative number if that failed.
    fn file_write(handle: u32, offset: f64, pointer: *const u8, length: u32) -> i32;
    /// Cuts the file. Returns 0, or a negative number if that failed.
    fn file_truncate(handle: u32, size_bytes: f64) -> i32;
    /// Makes the file durable. Returns 0, or a negative number if that failed.
    fn file_flush(handle: u32) -> i32;
    /// The file's size in bytes, or a negative number if the host cannot tell.
    fn file_size(handle: u32) -> f64;
    /// Milliseconds since a fixed moment, never less than before.
    fn now() -> f64;
    /// Milliseconds since 1970.
    fn date() -> f64;
}

/// The open files of this instance. Numbers beyond 2^53 are indistinguishable, but no file is that large.
#[derive(Debug)]
pub(crate) struct HostFiles;

/// Reads bytes of an open file from `offset` on into the front of `buffer`. Returns their number.
pub(crate) fn read(handle: u32, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the host writes at most so many bytes there, during the call.
    let read_bytes = unsafe { file_read(handle, offset as f64, buffer.as_mut_ptr(), buffer.len() as u32) };
    match usize::try_from(read_bytes) {
        // The caller relies on the number, which the host must not get wrong.
        Ok(count) if count <= buffer.len() => Ok(count),
        _ => Err(failure(read_bytes)),
    }
}

/// Whether the host can open more files, as far as it knows.
pub(crate) fn may_grow() -> bool {
    // SAFETY: it takes nothing and touches no memory.
    unsafe { file_count_may_grow() != 0 }
}

impl Handles for HostFiles {
    fn count(&self) -> usize {
        // SAFETY: it takes nothing and touches no memory.
        unsafe { file_count() as usize }
    }

    fn read_at(&self, handle: usize, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        read(handle as u32, offset, buffer)
    }

    fn write_at(&self, handle: usize, offset: u64, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: the host only reads the bytes, during the call.
        done(unsafe { file_write(handle as u32, offset as f64, bytes.as_ptr(), bytes.len() as u32) })
    }

    fn truncate(&self, handle: usize, size_bytes: u64) -> io::Result<()> {
        // SAFETY: it touches no memory.
        done(unsafe { file_truncate(handle as u32, size_bytes as f64) })
    }

    fn flush(&self, handle: usize) -> io::Result<()> {
        // SAFETY: it touches no memory.
        done(unsafe { file_flush(handle as u32) })
    }

    fn size_bytes(&self, handle: usize) -> io::Result<u64> {
        // SAFETY: it touches no memory.
        let size_bytes = unsafe { file_size(handle as u32) };
        if size_bytes < 0.0 { Err(failure(-1)) } else { Ok(size_bytes as u64) }
    }

    fn monotonic_micros(&self) -> u64 {
        // SAFETY: it takes nothing and touches no memory.
        micros(unsafe { now() })
    }

    fn unix_micros(&self) -> u64 {
        // SAFETY: it takes nothing and touches no memory.
        micros(unsafe { date() })
    }
}

fn micros(millis: f64) -> u64 {
    (millis * 1000.0) as u64
}

fn done(result: i32) -> io::Result<()> {
    if result < 0 { Err(failure(result)) } else { Ok(()) }
}

fn failure(result: i32) -> io::Error {
    match result {
        NO_ROOM => io::Error::new(ErrorKind::QuotaExceeded, "the browser has no room left for this site"),
        _ => io::Error::other("the browser refuses"),
    }
}
