//! The background of a database: flushes, compactions and chores, on the threads of a pool. It knows the database only
//! as the [`Jobs`](scheduler::Jobs) that it runs, and is tested with other jobs.
//!
//! ```text
//! a sealed memtable, a finished job, idleness ──► scheduler ──► pool ──► Jobs::flush, Jobs::compact
//!                                                   ▲                         │
//!                     waiting ◄── progress ─────────┴── finish_job ◄──────────┘
//! ```

mod idle;
pub(crate) mod scheduler;
pub(crate) mod state;
#[cfg(test)]
mod tests;
mod waiting;
