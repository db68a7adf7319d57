//! The parts of tables that stay in memory: decoded blocks ([`block_cache`]) and open files ([`table_cache`]); and whether all of
//! them could ([`working_set`]).

pub mod block_cache;
pub mod table_cache;
pub mod working_set;
