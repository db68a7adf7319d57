//! Read-ahead for sequential readers of a file. A call of the host costs as much as copying some 50 KiB, and a table's
//! blocks have 4.
//!
//! The windows are few and shared by the whole pool, so their memory is bounded no matter how many files are open. A
//! window holds what the slot holds, up to the end of its file: every write [drops](ReadAhead::forget) the windows of
//! its slot, and a file grows only by writes.

use std::io;

/// The first window of a walk, in bytes: most ranges are short.
const FIRST_WINDOW_BYTES: usize = 16 << 10;

/// Every other window, in bytes.
const WINDOW_BYTES: usize = 64 << 10;

/// A merge of all levels walks through about so many files at once.
const MAX_WINDOWS: usize = 16;

#[derive(Debug, Default)]
pub(super) struct ReadAhead {
    /// The one that was used last is the last one.
    windows: Vec<Window>,
}

#[derive(Debug)]
struct Window {
    slot: usize,
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// What follows `offset`.
    fn from(&self, offset: u64) -> Option<&[u8]> {
        self.bytes.get(usize::try_from(offset.checked_sub(self.start)?).ok()?..)
    }

    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

/// A read of a file.
pub(super) struct Read {
    pub(super) slot: usize,
    pub(super) offset: u64,
    /// The bytes of the file from there on.
    pub(super) rest_bytes: u64,
    /// Whether it begins where the last read of this file has ended.
    pub(super) follows: bool,
}

impl ReadAhead {
    /// Fills `buffer`, which the rest of the file can do. `host` reads from an offset on, and returns the number of bytes.
    pub(super) fn read(
        &mut self,
        read: &Read,
        buffer: &mut [u8],
        host: impl Fn(u64, &mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let at = self.windows.iter().position(|window| window.slot == read.slot);
        let window = at.map(|at| self.windows.remove(at));
        if let Some(bytes) = window.as_ref().and_then(|window| window.from(read.offset)?.get(..buffer.len()))
        {
            buffer.copy_from_slice(bytes);
            self.windows.extend(window);
            return Ok(buffer.len());
        }
        let goes_on = window.as_ref().is_some_and(|window| window.end() == read.offset);
        if (!goes_on && !read.follows) || buffer.len() >= FIRST_WINDOW_BYTES {
            self.windows.extend(window);
            return host(read.offset, buffer);
        }
        let most_bytes = if goes_on { WINDOW_BYTES } else { FIRST_WINDOW_BYTES };
        let size_bytes = usize::try_from(read.rest_bytes).unwrap_or(most_bytes).min(most_bytes);
        let mut bytes = window.map_or_else(Vec::new, |window| window.bytes);
        bytes.resize(size_bytes, 0);
        let read_bytes = host(read.offset, &mut bytes)?;
        bytes.truncate(read_bytes);
        let filled_bytes = bytes.len().min(buffer.len());
        buffer[..filled_bytes].copy_from_slice(&bytes[..filled_bytes]);
        if self.windows.len() == MAX_WINDOWS {
            self.windows.remove(0);
        }
        self.windows.push(Window { slot: read.slot, start: read.offset, bytes });
        Ok(filled_bytes)
    }

    /// Forgets what a slot held.
    pub(super) fn forget(&mut self, slot: usize) {
        self.windows.retain(|window| window.slot != slot);
    }
}
