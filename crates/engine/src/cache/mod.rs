//! The parts of tables that stay in memory: decoded blocks ([`block_cache`]) and open files ([`table_cache`]); and whether all of
//! them could ([`memory_fit`]).

pub mod block_cache;
pub mod memory_fit;
pub mod table_cache;
