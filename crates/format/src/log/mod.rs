//! Log files: records of any length, each whole or not there. The write-ahead log and the manifest are both such files.
//!
//! ```text
//! file      block 0 · block 1 · …            32 KiB each, the last one as long as it is
//! block     physical records, then fewer than seven bytes of zero
//! physical  +--------------------+-----------------+--------+------------------+
//! record    | checksum, 4 bytes  | length, 2 bytes | type   | length bytes     |
//!           | masked crc32c of   | little-endian   | 1 byte |                  |
//!           | type and bytes     |                 |        |                  |
//!           +--------------------+-----------------+--------+------------------+
//! type      1 full · 2 first · 3 middle · 4 last
//! ```
//!
//! A record that fits in the rest of its block is one full physical record. Otherwise it continues from block to block
//! as a first fragment, possibly some middle fragments, and a last one. A header of zeros (type 0, length 0) means that
//! the rest of its block is empty. A block that was prepared for later records looks like this, too. The records are
//! the encodings of [`crate::batch`] and [`crate::version_edit`].
//!
//! # Torn tail or damage
//!
//! A writer that died leaves a last record that ends early: the file ends within it. That record was never
//! acknowledged, so the reader reports a torn tail and drops it. Everything else that does not fit (a checksum, an
//! unknown type, a length that no writer stores at that place, a fragment without its first one) happened to bytes that
//! were once right, and is damage.

mod fragment;
mod reader;
mod torn;
mod writer;

pub use fragment::{Fragment, FragmentHeader, FragmentKind};
pub use reader::{LogEvent, LogReader, LogSource};
pub use torn::TornRecord;
pub use writer::{FirstFragment, LogEncoder};

use crate::crc;
use crate::limits::{LOG_BLOCK_SIZE_BYTES, LOG_HEADER_SIZE_BYTES};

/// The offset in the file of the header that follows a fragment ending at `end`: `end` itself, or the start of the next
/// block if no header fits any more.
///
/// ```
/// assert_eq!(terrace_format::log::next_header_offset(100), 100);
/// assert_eq!(terrace_format::log::next_header_offset(32_768 - 6), 32_768);
/// ```
#[inline]
pub fn next_header_offset(end: u64) -> u64 {
    let left = LOG_BLOCK_SIZE_BYTES as u64 - end % LOG_BLOCK_SIZE_BYTES as u64;
    if left < LOG_HEADER_SIZE_BYTES as u64 { end + left } else { end }
}

/// The checksum that the header of a physical record holds.
#[inline]
fn checksum(kind: u8, fragment: &[u8]) -> u32 {
    crc::mask(crc::extend(crc::crc32c(&[kind]), fragment))
}

#[cfg(test)]
mod tests;
