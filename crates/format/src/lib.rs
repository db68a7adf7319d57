//! LevelDB's file format: every structure on disk, with its encoder and its decoder.
//!
//! The crate deals in bytes only: nothing here opens a file, reads the clock or starts a thread. The repository's
//! `docs/format` has the complete specification, with hex examples that this crate's tests decode.
//!
//! | file on disk | what it holds | modules |
//! |---|---|---|
//! | `CURRENT` | the name of the current manifest | [`current`], [`file_name`] |
//! | `MANIFEST-NNNNNN` | version edits, framed as log records | [`version_edit`], [`log`] |
//! | `NNNNNN.log` | write batches, framed as log records | [`batch`], [`log`] |
//! | `NNNNNN.ldb` | sorted internal keys and values | [`table`], [`block`], [`filter`], [`compression`], [`internal_key`], [`comparator`] |
//!
//! # Rules
//!
//! * Every decoder accepts any bytes: it returns a [`FormatError`] and never panics, and it never allocates by a
//!   length that it has not checked.
//! * Every limit is one constant in [`limits`].
//! * Integers are little-endian throughout ([`coding`]); checksums are masked crc32c ([`crc`]).

pub mod batch;
pub mod block;
pub mod block_scan;
pub mod coding;
pub mod comparator;
pub mod compression;
pub mod crc;
#[cfg(any(target_family = "wasm", test))]
mod crc_by_table;
pub mod current;
pub mod error;
pub mod file_name;
pub mod filter;
pub mod hash_index;
pub mod internal_key;
pub mod limits;
pub mod log;
pub mod prefetch;
pub mod table;
pub mod version_edit;

pub use error::{FormatError, FormatErrorKind, Result};
