//! Which table files make up the database, level by level, and how that list is stored.
//!
//! ```text
//! flush, compaction job ── VersionEdit ──► set::VersionSet::apply
//!                                            │ builder: base version + edit → new version
//!                                            │ checker: the invariants hold
//!                                            │ manifest: the edit, synced; or new_manifest: all of the version
//!                                            ▼
//!                          readers ◄── Arc<Version> (immutable; holds its files by Arc<FileMeta>)
//! ```
//!
//! Predecessor: `flush` and `compaction::job`. Successor: `read`, which searches a [`Version`](version::Version), and
//! `compaction::picker`, which looks at one for work.

pub mod builder;
pub mod checker;
pub mod file_meta;
mod level0_lookup;
pub mod level_iterator;
pub(crate) mod manifest;
pub(crate) mod new_manifest;
pub(crate) mod recover;
pub mod set;
mod set_options;
pub(crate) mod stored_order;
pub mod table_cache;
#[cfg(test)]
pub(crate) mod testing;
#[allow(clippy::module_inception)]
pub mod version;

pub use file_meta::ObsoleteFiles;
pub use recover::StoredCompactPointers;
pub use set::VersionSet;
pub use set_options::VersionSetOptions;
