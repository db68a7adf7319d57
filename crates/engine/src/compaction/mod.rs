//! Compaction: keeping few tables a level, and no more of the past than somebody can still see.

pub(crate) mod drop_rule;
pub(crate) mod job;
pub(crate) mod manual;
pub(crate) mod output;
pub(crate) mod parts;
pub(crate) mod picker;
pub(crate) mod reservations;
