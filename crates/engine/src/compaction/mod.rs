//! Compaction: it keeps the number of tables in each level low, and removes versions that nobody can see any more.

pub(crate) mod drop_rule;
pub(crate) mod job;
pub(crate) mod output;
pub(crate) mod parts;
pub(crate) mod picker;
pub(crate) mod reservations;
