//! What stays of tables in memory: decoded blocks ([`block_cache`]); and whether all of them could ([`working_set`]).

pub mod block_cache;
pub mod working_set;
