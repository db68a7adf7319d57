//! The options of a run, under db_bench's names, for `clap` and for the record in the results.

use clap::Args;
use clap::builder::BoolishValueParser;
use serde::{Deserialize, Serialize};

/// The options of a run. `None` means the engine's default.
#[derive(Args, Clone, Debug, Deserialize, PartialEq, Serialize)]
#[command(next_help_heading = "db_bench's options")]
pub struct Settings {
    /// Number of entries in the database.
    #[arg(long, default_value_t = 1_000_000)]
    pub num: u64,
    /// Number of reads of a reading workload, and of operations of a YCSB workload [default: as --num].
    #[arg(long)]
    pub reads: Option<u64>,
    /// Number of threads that do the same work at once, each all of it.
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
    /// Size of a value, in bytes.
    #[arg(long = "value_size", default_value_t = 100)]
    pub value_size: usize,
    /// Entries per batch, in the filling and deleting workloads.
    #[arg(long = "batch_size", visible_alias = "entries_per_batch", default_value_t = 1)]
    pub batch_size: u64,
    /// Share of its size to which compression shrinks a value.
    #[arg(long = "compression_ratio", default_value_t = 0.5)]
    pub compression_ratio: f64,
    /// Number of bytes `a` before the 16 digits of each key.
    #[arg(long = "key_prefix", default_value_t = 0)]
    pub key_prefix: usize,
    /// Time each operation, and report p50, p99, p99.9 and the longest. Costs about 50 ns per operation.
    #[arg(long, default_value = "0", num_args = 0..=1, default_missing_value = "1", value_parser = BoolishValueParser::new(), action = clap::ArgAction::Set)]
    pub histogram: bool,
    /// Bytes to collect in memory before they are written to a table.
    #[arg(long = "write_buffer_size")]
    pub write_buffer_size: Option<usize>,
    /// Size of the cache for uncompressed blocks, in bytes.
    #[arg(long = "cache_size")]
    pub cache_size: Option<usize>,
    /// Bits of the Bloom filter per key; 0 for none.
    #[arg(long = "bloom_bits")]
    pub bloom_bits: Option<usize>,
    /// Size of a table, in bytes.
    #[arg(long = "max_file_size")]
    pub max_file_size: Option<usize>,
    /// Size of a block before compression, in bytes.
    #[arg(long = "block_size")]
    pub block_size: Option<usize>,
    /// Number of tables that may be open at once.
    #[arg(long = "open_files")]
    pub open_files: Option<usize>,
    /// Threads that work on compactions, for engines that can use several.
    #[arg(long = "compaction_threads")]
    #[serde(default)]
    pub compaction_threads: Option<usize>,
    /// Compress blocks.
    #[arg(long, default_value = "1", value_parser = BoolishValueParser::new(), action = clap::ArgAction::Set)]
    pub compression: bool,
    /// Keep the existing database. Workloads that need a fresh one are left out.
    #[arg(long = "use_existing_db", default_value = "0", num_args = 0..=1, default_missing_value = "1", value_parser = BoolishValueParser::new(), action = clap::ArgAction::Set)]
    pub use_existing_db: bool,
    /// Take it that the existing database holds every key below --num, instead of reading it to find out.
    #[arg(long = "existing_is_full", hide = true, default_value = "0", num_args = 0..=1, default_missing_value = "1", value_parser = BoolishValueParser::new(), action = clap::ArgAction::Set)]
    #[serde(default)]
    pub existing_is_full: bool,
    /// The database is larger than memory: engines that have options for that get them.
    #[arg(long = "exceeds_memory", hide = true, default_value = "0", num_args = 0..=1, default_missing_value = "1", value_parser = BoolishValueParser::new(), action = clap::ArgAction::Set)]
    #[serde(default)]
    pub exceeds_memory: bool,
    /// Seed of the random keys; each thread of each workload has the next seed.
    #[arg(long, default_value_t = 1000)]
    pub seed: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            num: 1_000_000,
            reads: None,
            threads: 1,
            value_size: 100,
            batch_size: 1,
            compression_ratio: 0.5,
            key_prefix: 0,
            histogram: false,
            write_buffer_size: None,
            cache_size: None,
            bloom_bits: None,
            max_file_size: None,
            block_size: None,
            open_files: None,
            compaction_threads: None,
            compression: true,
            use_existing_db: false,
            existing_is_full: false,
            exceeds_memory: false,
            seed: 1000,
        }
    }
}

impl Settings {
    /// LevelDB's own defaults for every engine: 4 MiB of write buffer, 8 MiB of cache, snappy, no filter, tables of 2
    /// MiB, 1,000 open files.
    pub fn as_leveldb(self) -> Self {
        Self {
            write_buffer_size: Some(4 << 20),
            cache_size: Some(8 << 20),
            bloom_bits: Some(0),
            max_file_size: Some(2 << 20),
            block_size: Some(4 << 10),
            open_files: Some(1000),
            compression: true,
            ..self
        }
    }

    /// Number of reads of a reading workload.
    pub fn reads(&self) -> u64 {
        self.reads.unwrap_or(self.num)
    }
}
