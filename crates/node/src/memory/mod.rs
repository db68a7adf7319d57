//! Databases in memory alone (`MemoryLevel`): a map that belongs to one JavaScript thread, so every call completes
//! synchronously.

mod condition;
mod cursor;
mod functions;
mod operations;
mod reads;
mod state;
mod writes;

pub use functions::FUNCTIONS;
