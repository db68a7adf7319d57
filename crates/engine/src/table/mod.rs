//! Tables: immutable files of sorted entries (`NNNNNN.ldb`), written once and then only read.
//!
//! write: flush, compaction → [`builder`] → env · read: version → table cache → [`reader`], then [`lookup`] or [`iterator`] →
//! [`block_fetch`] → block cache → env
//!
//! ```text
//!   ┌──────────────┐
//!   │ data block 0 │   entries: internal key → value
//!   │ data block … │
//!   ├──────────────┤
//!   │ filter block │   Bloom filter over user keys (optional)
//!   ├──────────────┤
//!   │ hash index   │   hash of a user key → place of its newest version (ours; optional)
//!   ├──────────────┤
//!   │ metaindex    │   "filter.…" → handle of the filter block, "terrace.counts" → counts,
//!   │              │   "terrace.hash-index" → handle of the hash index
//!   ├──────────────┤
//!   │ index        │   one entry a data block: separator key → handle
//!   ├──────────────┤
//!   │ footer       │   handles of metaindex and index, magic number
//!   └──────────────┘
//! ```
//!
//! After each block come its compression id and a checksum over both. The separator of a block is an internal key at or
//! after the block's last key and before the next block's first.
//!
//! Rules:
//! 1. This engine reads whatever LevelDB wrote, and LevelDB 1.23 reads what this engine writes: our additions are in metaindex
//!    entries that LevelDB ignores.
//! 2. The checksum of every block read from the file is verified, unless the reader asked otherwise. If the file is mapped
//!    into memory, each block is verified once while the table is open. Footer, index, metaindex and filter are always
//!    verified, once, when the table is opened.
//! 3. Damage is an error that names the file and the offset. Only damage of the filter, the counts and the hash index
//!    cannot make an answer wrong: they are then ignored, and [`Table::verify`] reports the damage.

pub mod block_fetch;
mod block_map;
mod block_output;
pub mod builder;
pub(crate) mod entry;
pub mod file_reader;
pub mod file_writer;
mod filter_forecast;
mod granule_bits;
mod hash_index;
pub(crate) mod hash_lookup;
mod held_block;
pub(crate) mod index;
pub mod iterator;
mod lookup;
mod mapped_file;
mod metaindex;
mod paging;
pub mod pinned_value;
mod read_ahead;
pub mod reader;
pub mod verify;

#[cfg(test)]
mod tests;

pub use block_fetch::{BlockReadOptions, Extent, TableReadContext};
pub(crate) use builder::LARGE_VALUE_BYTES;
pub use builder::{TableBuilder, TableBuilderOptions};
pub use file_reader::{TableFileIterator, TableFileReader};
pub use file_writer::{TableFileOptions, TableFileSummary, TableFileWriter};
pub(crate) use iterator::Run;
pub use iterator::TableIterator;
pub use pinned_value::PinnedValue;
pub use reader::Table;
