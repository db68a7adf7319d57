//! Reading: point reads, iterators, and the consistent views that they work on.

mod bounds;
pub(crate) mod changes;
pub mod db_iterator;
pub(crate) mod get;
mod key_rank;
pub(crate) mod lookup;
pub(crate) mod merging_iterator;
pub mod options;
pub(crate) mod published;
pub mod snapshot;
pub(crate) mod source;
pub(crate) mod super_version;
