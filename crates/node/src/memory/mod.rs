//! Databases in memory alone (`MemoryLevel`): a map that belongs to one JavaScript thread. Every call is answered within it.
//! Successor: `terrace-memory`.

mod cursor;
mod functions;
mod operations;
mod reads;
mod state;
mod writes;

pub use functions::FUNCTIONS;
