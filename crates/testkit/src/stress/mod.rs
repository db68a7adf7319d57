//! A database under many threads at once: writers, readers with snapshots and iterators, and threads that flush,
//! compact, ingest, make checkpoints, and finally close it in the middle of all that. Then it is opened again.
//!
//! Each *author* numbers its batches, and every batch stores its number under several keys ([`content`]). Whatever is
//! read must therefore show, for each author, exactly the state after one of its batches: not older than what was
//! acknowledged before the read began, not newer than what was begun when it ended, and never older than what the
//! same thread has seen before.

mod content;
mod life;
mod maintenance;
mod progress;
mod reader;
mod writer;

pub use life::run;
