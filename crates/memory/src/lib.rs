//! An ordered map of byte strings, for databases that live in memory alone. `crates/node` offers it to JavaScript as
//! `MemoryLevel`. It uses nothing but the standard library: no files, threads or clocks, on any platform.
//!
//! ```text
//!                    inner [ f | m ]                  a B+ tree of reference-counted nodes
//!                   /       |       \
//!          leaf [a b d]  leaf [f k]  leaf [m q z]     the entries of a leaf are packed into one piece of memory
//! ```
//!
//! A clone of the map is a snapshot: it shares all nodes. A write copies the shared nodes on its path, and changes the
//! others in place. A node is freed with the last map or cursor that leads to it, so overwritten and deleted entries
//! leave nothing behind.
//!
//! Rules:
//! 1. Keys are ordered by their bytes, and unique.
//! 2. A leaf holds at least one entry, unless it is the root. Its separator in the parent is at or before its first key and
//!    after all keys of the leaf before it.
//! 3. All leaves are equally deep.
//! 4. Large values are kept beside the leaf, and shared by its copies.

mod cursor;
mod inner;
mod leaf;
mod limit;
mod map;
mod separators;

pub use cursor::Cursor;
pub use limit::Full;
pub use map::{Map, is_within};
