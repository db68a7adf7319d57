//! The block: a sorted run of entries with compressed prefixes. Tables store their data, index and metaindex as blocks.
//!
//! A table builder adds entries in order with [`BlockBuilder`]; [`crate::compression`] and [`crate::table`] then
//! compress and seal the bytes. A table reader checks and decompresses the bytes and hands them to [`Block`].
//!
//! ```text
//! block   entry · entry · … · restart offsets, fixed32 each · number of restarts, fixed32
//! entry   varint32 shared · varint32 non-shared · varint32 value length · key bytes (non-shared) · value bytes
//!
//! key = first `shared` bytes of the previous entry's key, then the `non-shared` bytes
//! ```
//!
//! Rules:
//!
//! * Keys ascend in the order of the table's comparator.
//! * Every `restart_interval` entries (16 in data blocks, 1 in an index) the key is stored whole (`shared` is 0) and the
//!   entry's offset goes into the restart array: those are the points a binary search can compare.
//! * The first restart offset is 0. Entries follow each other without gaps and end where the restart array starts.
//! * A block without entries still holds one restart, so it is `00000000 01000000`. Basho's fork also has blocks of only
//!   `00000000`; both read as empty.
//!
//! The format is that of `table/block_builder.cc` in LevelDB; `docs/format/block.md` describes it with examples.

#[cfg(feature = "zstd")]
mod beginning;
#[expect(clippy::module_inception, reason = "the structure of this name among its builder and iterator")]
mod block;
mod builder;
mod find_from;
mod first_at_or_after;
mod iter;
mod window;

#[cfg(feature = "zstd")]
pub(crate) use beginning::may_begin_block;
pub use block::Block;
pub use builder::BlockBuilder;
pub use find_from::{FoundFrom, find_from};
pub use first_at_or_after::{FirstAtOrAfter, first_at_or_after};
pub use iter::{BlockIter, BlockIterMemory};

#[cfg(test)]
mod tests;
