//! Compaction: it keeps the number of tables in each level low, and removes versions that no reader can see.
//!
//! Six invariants keep parallel compactions correct. `version/checker` checks what a single version can show of them: for each
//! version read from a MANIFEST and, in debug builds, after each edit.
//!
//! 1. In level 0, a larger file number means newer. A memtable gets its number when it is sealed, and the number before it is kept
//!    free for a merge within level 0 ([decision 37](../../../../docs/decisions/0037-level-shapes.md)). LevelDB's repair breaks this
//!    order, so a get trusts what a table states of its newest entry
//!    ([decision 25](../../../../docs/decisions/0025-recency-in-level-0.md)).
//! 2. From level 1 on, the tables of a level do not overlap. A job reserves the hull of its inputs in both levels
//!    (`reservations`).
//! 3. No user key is split across two tables of a level. LevelDB may have split one; such neighbours move together.
//! 4. A newer version of a key never moves below an older one: all overlapping tables of level 0 move down at once.
//! 5. A tombstone is dropped only if no table below and no output of a running job below can hold its key, and no snapshot
//!    needs it (`drop_rule`).
//! 6. A job's inputs and outputs change in one edit.

pub(crate) mod drop_rule;
pub(crate) mod job;
pub(crate) mod output;
pub(crate) mod parts;
pub(crate) mod picker;
pub(crate) mod reservations;
