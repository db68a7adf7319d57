//! Every option of a database, a read and a write, with its purpose, default and cost.

use std::ops::Bound;
use std::sync::Arc;

use terrace_env::{Env, default_env};
use terrace_format::comparator::UserComparator;
use terrace_format::compression::Compression;
use terrace_format::filter::FilterPolicy;

use crate::background::pool::BackgroundPool;
use crate::cache::block_cache::BlockCache;
use crate::read::snapshot::Snapshot;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Settings of a database. Start from [`Options::default`] (which is [`Options::embedded`]) or
/// [`Options::server`] and change what you must.
#[derive(Clone, Debug)]
pub struct Options {
    /// Create the database if the directory holds none. Default `true`.
    pub create_if_missing: bool,
    /// Fail if the directory holds a database already. Default `false`.
    pub error_if_exists: bool,
    /// Refuse to open where a loss of power left a hole in a log, instead of keeping what lies before it and setting
    /// the rest aside in the directory `lost`. Damage of any other kind is always refused. Default `false`.
    pub paranoid_checks: bool,
    /// Open without the lock and without changing a byte; writes are refused. The view is that of the moment
    /// of opening, also beside a running writer. Default `false`.
    pub read_only: bool,
    /// The order of keys. It is stored by name and must be the same at every open. Default bytewise.
    pub comparator: UserComparator,
    /// Bytes a memtable may hold before it is sealed and written to a table. Larger means fewer, larger
    /// flushes and more memory (up to [`max_sealed_memtables`](Self::max_sealed_memtables) + 1 of them).
    /// Default 16 MiB.
    pub write_buffer_size_bytes: usize,
    /// How many sealed memtables may wait for their flush before writers wait. Default 2.
    pub max_sealed_memtables: usize,
    /// Tables kept open at most; each costs its index and filter in memory, and a file descriptor only if it is not
    /// [mapped](Self::map_tables). Whatever this says, no more than a fifth of the descriptors that the process may have is
    /// kept for tables: beyond that, a table that is not mapped is opened for each read. Default 1000.
    pub max_open_files: usize,
    /// Capacity of the block cache made for this database. Ignored if [`block_cache`](Self::block_cache) is
    /// set. 0 turns caching off. Default 32 MiB.
    pub block_cache_size_bytes: usize,
    /// Read tables through a mapping of the file into memory instead of calls to the system: faster, and uncompressed
    /// blocks are not copied, nor do they need the block cache. The price is that where the device fails, or where
    /// another program cuts a table, a read ends the process (SIGBUS) instead of failing with an error. Turn it off where that
    /// must not be. Machines of 32 bits never map. Default `true`.
    pub map_tables: bool,
    /// Store records of the log into memory that is mapped from the file, where that is safe (on Linux: ext4 and tmpfs): a
    /// put then costs no call to the system. It is as durable. Turn it off where other programs may cut the database's
    /// files, or where a library must not install a handler for SIGBUS, by which a store that faults is made an error. Default
    /// `true`.
    pub map_log: bool,
    /// Uncompressed size at which a data block is closed. Default 4 KiB.
    pub block_size_bytes: usize,
    /// Entries between two restart points of a block. Default 16.
    pub block_restart_interval: usize,
    /// Size at which compaction closes a table and begins the next. Default 8 MiB.
    pub max_file_size_bytes: u64,
    /// Compression of new blocks. `Zstd` is refused by LevelDB 1.23 and older. Tables of level 0 that compactions will
    /// soon rewrite are not compressed: that is cheaper, and bounded by the few tables of that level. Default snappy.
    pub compression: Compression,
    /// Bits of Bloom filter a key; 0 writes none. 10 gives about 1 % of needless reads. Ignored if
    /// [`filter_policy`](Self::filter_policy) is set. Default 10.
    pub filter_bits_per_key: usize,
    /// A filter of the program's own, which new tables get instead of the Bloom filter and the hash index. Tables that have
    /// it are read with it; those with a Bloom filter are read with that. Default none.
    pub filter_policy: Option<Arc<dyn FilterPolicy>>,
    /// Percentage of its data's size that a table's hash index may have at most. It makes a `get` about twice as fast and
    /// takes six bytes a key; where values are so small that this is more, the table is written without. Only bytewise order
    /// has it, and only mapped tables use it. LevelDB ignores it. 0 writes none. Default 12.
    pub hash_index_percent: usize,
    /// Size at which the MANIFEST is written anew. Default 4 MiB.
    pub manifest_size_limit_bytes: u64,
    /// Compactions that may run at once. Default 1.
    pub compaction_threads: usize,
    /// Share of what a compaction would rewrite that must be deletions, or hidden by deletions, for tables to be
    /// compacted for their sake when nothing else is due. When the database is idle half of it is enough. Lower
    /// gives space back sooner and rewrites more. Default 0.25.
    pub deletion_ratio_trigger: f64,
    /// Milliseconds without a write after which a memtable that holds deletions is flushed and tables with
    /// many deletions are compacted. Default 2,000.
    pub idle_after_ms: u64,
    /// A block cache shared with other databases. Default none: one of its own.
    pub block_cache: Option<Arc<BlockCache>>,
    /// Background threads shared with other databases. Default none: its own.
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
    /// The preset for a database inside a desktop program or a service that has other work to do.
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

    /// The preset for a machine whose main work is this database: larger buffers, more compactions at once.
    pub fn server() -> Self {
        let embedded = Self::embedded();
        let compaction_threads = embedded.env.available_parallelism().clamp(2, 8);
        Self {
            write_buffer_size_bytes: 64 * MIB,
            max_sealed_memtables: 4,
            block_cache_size_bytes: 512 * MIB,
            max_file_size_bytes: 32 * MIB as u64,
            max_open_files: 10_000,
            compaction_threads,
            ..embedded
        }
    }
}

/// How far a read may go for its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadTier {
    /// To the disk if need be.
    #[default]
    Disk,
    /// Memory only: an answer that needs the disk, or work that takes as long (an iterator that would have to sort many new
    /// entries, or to pass over many deleted ones), is an error of kind
    /// [`WouldBlock`](crate::error::ErrorKind::WouldBlock).
    MemoryOnly,
}

/// Settings of one read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Read the state of this snapshot; the newest if none.
    pub snapshot: Option<Snapshot>,
    /// Put blocks that were read into the block cache. Default `true`.
    ///
    /// An iterator that has read a few blocks in a row, without a seek, leaves the cache as it is from then on, so that a
    /// long scan does not drive out what others read.
    pub fill_cache: bool,
    /// Verify the checksum of every block read from disk; in a mapped table, of every block once, when it is first read.
    /// Default `true`.
    pub verify_checksums: bool,
    /// How far the read may go. Default to the disk.
    pub tier: ReadTier,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { snapshot: None, fill_cache: true, verify_checksums: true, tier: ReadTier::Disk }
    }
}

/// Settings of one write.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// Return only when the write would survive a loss of power. Without it a write survives the death of the
    /// process. Default `false`.
    pub sync: bool,
}

/// The keys that an iterator may visit.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Where the range begins, in the comparator's order.
    pub lower: Bound<Vec<u8>>,
    /// Where the range ends.
    pub upper: Bound<Vec<u8>>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { lower: Bound::Unbounded, upper: Bound::Unbounded }
    }
}

/// Settings of an iterator.
#[derive(Clone, Debug, Default)]
pub struct IterOptions {
    /// How blocks are read, and from which snapshot.
    pub read: ReadOptions,
    /// The keys that it may visit.
    pub bounds: Bounds,
}
