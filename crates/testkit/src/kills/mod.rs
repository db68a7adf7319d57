//! Databases whose writer is killed (SIGKILL) at random moments, again and again.
//!
//! The program `terrace-writer` opens the database and writes [`lane`]s of batches in several threads. It acknowledges
//! each batch by a [`line`](transcript) in a pipe, while flushes, compactions, rotations and checkpoints are running.
//! After each [kill](victim) both Terrace and [LevelDB](leveldb) open the database, and an [`oracle`] checks that it
//! holds everything acknowledged, each batch complete, and nothing else but the batch that a thread was writing.

mod directory;
pub mod full_disk;
pub mod lane;
pub mod leveldb;
pub mod leveldb_lives;
pub mod logs_in_values;
mod moment;
pub mod oracle;
pub mod setup;
pub mod small_disk;
pub mod transcript;
mod trial;
pub mod victim;

pub use trial::run;
