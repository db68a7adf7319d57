//! The options of a database and of a write, each with its purpose, default and cost. `read/options` has those of a read and of an
//! iterator.
//!
//! `options.json`, beside `src`, describes the options of a database for the bindings: what each is called there, or why it is
//! not there. A test compares it with what is written here.

use std::sync::Arc;

use terrace_env::{Env, default_env};
use terrace_format::comparator::UserComparator;
use terrace_format::compression::Compression;
use terrace_format::filter::FilterPolicy;

use crate::cache::block_cache::BlockCache;
use crate::dialect::Dialect;
use crate::pool::BackgroundPool;
use crate::table::TableBuilderOptions;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Settings of a database. Start from [`Options::default`] (which is [`Options::embedded`]) or
/// [`Options::server`] and change what you need.
#[derive(Clone, Debug)]
pub struct Options {
    /// Create the database if the directory holds none. Default `true`.
    pub create_if_missing: bool,
    /// Fail if the directory already holds a database. Default `false`.
    pub error_if_exists: bool,
    /// Refuse to open a database if a loss of power left a hole in a log. Otherwise an open keeps what comes before the
    /// hole and sets the rest aside in the directory `lost`. All other damage is always refused. Default `false`.
    pub paranoid_checks: bool,
    /// Open without the lock and without changing a byte; writes are refused. Reads show the state at the moment of
    /// opening, even while another process writes (see [`Db::refresh`](crate::Db::refresh)). Default `false`.
    pub read_only: bool,
    /// The order of keys. The database stores its name, and every open must use the same one. Default bytewise.
    pub comparator: UserComparator,
    /// Bytes that a memtable may hold before it is sealed and written to a table. A larger value means fewer, larger
    /// flushes and more memory: up to [`max_sealed_memtables`](Self::max_sealed_memtables) + 1 memtables exist at a time.
    /// Default 16 MiB.
    pub write_buffer_size_bytes: usize,
    /// How many sealed memtables may wait for their flush before writers have to wait; at least 1. Default 2.
    pub max_sealed_memtables: usize,
    /// How many tables may stay open; at least 1. Each costs memory for its index and filter, and a file descriptor only if
    /// it is not [mapped](Self::map_tables). Whatever this says, tables keep at most a fifth of the descriptors that
    /// the process may have: beyond that, a table that is not mapped is opened for each read. Default 1000.
    pub max_open_files: usize,
    /// Capacity of the database's own block cache; 0 turns caching off. Ignored if [`block_cache`](Self::block_cache) is
    /// set. Default 32 MiB.
    pub block_cache_size_bytes: usize,
    /// Map tables into memory instead of reading them with system calls. Reads are faster, and uncompressed blocks are
    /// not copied and need no block cache. The price: if the device fails, or if another program truncates a table,
    /// a read ends the process (SIGBUS) instead of failing with an error. Turn it off where that is not acceptable. 32-bit
    /// machines never map. Default `true`.
    pub map_tables: bool,
    /// Store log records into memory that is mapped from the file, where that is safe (on Linux: ext4 and tmpfs). A put
    /// then needs no system call and is just as durable. Turn it off where other programs may truncate the database's files, or
    /// where a library must not install a SIGBUS handler: the handler turns a store that faults into an error. Default
    /// `true`.
    pub map_log: bool,
    /// Uncompressed size at which a data block is closed. Default 4 KiB.
    pub block_size_bytes: usize,
    /// Number of entries from one restart point of a block to the next. Default 16.
    pub block_restart_interval: usize,
    /// Size at which a compaction closes a table and begins the next one. Default 8 MiB.
    pub max_file_size_bytes: u64,
    /// Compression of new blocks. LevelDB 1.23 and older cannot read `Zstd`. Level-0 tables that compactions will soon
    /// rewrite are not compressed: that is cheaper, and few tables are in that level. Default snappy.
    pub compression: Compression,
    /// Which program must be able to read what is written. In a database of Minecraft Bedrock, deflate replaces the
    /// [`compression`](Self::compression) that it does not know. Default auto.
    pub dialect: Dialect,
    /// Bits per key in the Bloom filter; 0 writes no filter. With 10, about 1 % of the lookups of missing keys cause a
    /// table to be read in vain. Ignored if [`filter_policy`](Self::filter_policy) is set. Default 10.
    pub filter_bits_per_key: usize,
    /// A filter that the program supplies. New tables get it instead of the Bloom filter and the hash index. Tables that
    /// have it are read with it; tables with a Bloom filter are read with that. Default none.
    pub filter_policy: Option<Arc<dyn FilterPolicy>>,
    /// The largest size of a table's hash index, in percent of the size of its data; 0 writes no index. The index makes a
    /// `get` about twice as fast and takes six bytes per key. If values are so small that it would exceed this
    /// percentage, the table is written without one. Only tables in bytewise order have an index, and only mapped
    /// tables use it. LevelDB ignores it. Default 12.
    pub hash_index_percent: usize,
    /// Size at which the MANIFEST is rewritten; if it lists many tables, it may first grow to twice the size of that list.
    /// Default 4 MiB.
    pub manifest_size_limit_bytes: u64,
    /// How many threads may work on compactions at once; at least 1. Half as many compactions run at once, but at least one;
    /// a large one is cut into parts for the threads that are free. Default 1.
    pub compaction_threads: usize,
    /// When to compact tables for the sake of their deletions while nothing else is due: when deletions, or entries
    /// that they hide, make up at least this share of what the compaction would rewrite. Half of it is enough when the
    /// database is idle. A lower value frees space sooner and rewrites more. Default 0.25.
    pub deletion_ratio_trigger: f64,
    /// Milliseconds without a write after which the database counts as idle: it then flushes a memtable with many deletions and
    /// compacts tables with many deletions. Default 2,000.
    pub idle_after_ms: u64,
    /// A block cache to share with other databases. Default none: the database makes its own.
    pub block_cache: Option<Arc<BlockCache>>,
    /// A pool of background threads to share with some databases. Default none: the database shares the threads of all
    /// databases of the process that are given none.
    pub background_pool: Option<Arc<BackgroundPool>>,
    /// Where files, clocks and threads come from. Default the operating system.
    pub env: Arc<dyn Env>,
}

impl Default for Options {
    fn default() -> Self {
        Self::embedded()
    }
}

impl Options {
    /// The preset for a database in a desktop program, or in a service that has other work to do.
    pub fn embedded() -> Self {
        Self {
            create_if_missing: true,
            error_if_exists: false,
            paranoid_checks: false,
            read_only: false,
            comparator: UserComparator::Bytewise,
            write_buffer_size_bytes: 16 * MIB,
            max_sealed_memtables: 2,
            max_open_files: 1000,
            block_cache_size_bytes: 32 * MIB,
            map_tables: true,
            map_log: true,
            block_size_bytes: 4 * KIB,
            block_restart_interval: 16,
            max_file_size_bytes: 8 * MIB as u64,
            compression: Compression::Snappy,
            dialect: Dialect::Auto,
            filter_bits_per_key: 10,
            filter_policy: None,
            hash_index_percent: 12,
            manifest_size_limit_bytes: 4 * MIB as u64,
            compaction_threads: 1,
            deletion_ratio_trigger: 0.25,
            idle_after_ms: 2_000,
            block_cache: None,
            background_pool: None,
            env: default_env(),
        }
    }

    /// The preset for a machine whose main work is this database: larger buffers, and more threads for compactions.
    pub fn server() -> Self {
        let embedded = Self::embedded();
        Self {
            write_buffer_size_bytes: 64 * MIB,
            max_sealed_memtables: 4,
            block_cache_size_bytes: 512 * MIB,
            max_file_size_bytes: 32 * MIB as u64,
            max_open_files: 10_000,
            compaction_threads: embedded.env.available_parallelism().clamp(2, 8),
            ..embedded
        }
    }

    /// How tables are written.
    pub(crate) fn table_builder(&self) -> TableBuilderOptions {
        TableBuilderOptions {
            block_size_bytes: self.block_size_bytes,
            restart_interval: self.block_restart_interval,
            compression: self.compression,
            filter_bits_per_key: self.filter_bits_per_key,
            filter_policy: self.filter_policy.clone(),
            hash_index_percent: self.hash_index_percent,
        }
    }
}

/// Settings of one write.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// Return only once the write survives a loss of power. Without it, a write that has returned survives the death of
    /// the process. Default `false`.
    pub sync: bool,
}
