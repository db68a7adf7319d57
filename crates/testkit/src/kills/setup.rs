//! How the database of a trial is set up, so that a few kilobytes exercise every part of the machinery.

use terrace_engine::Options;

use super::lane::Lane;
use crate::random::Random;

/// Largest number of writing threads.
const MAX_LANES: usize = 4;

/// What the writer and its checkers know from the seed.
pub struct Setup {
    seed: u64,
    lanes: usize,
    write_buffer_size_bytes: usize,
    max_file_size_bytes: u64,
    compaction_threads: usize,
}

impl Setup {
    /// The setup of `seed`.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self {
            seed,
            lanes: random.between(1, MAX_LANES + 1),
            write_buffer_size_bytes: random.choose(&[8 << 10, 32 << 10, 128 << 10]),
            max_file_size_bytes: random.choose(&[4 << 10, 16 << 10]),
            compaction_threads: random.between(1, 3),
        }
    }

    /// A lane for each writing thread.
    pub fn lanes(&self) -> Vec<Lane> {
        (0..self.lanes).map(|number| Lane::new(self.seed, number)).collect()
    }

    /// The options of the database.
    pub fn options(&self) -> Options {
        Options {
            write_buffer_size_bytes: self.write_buffer_size_bytes,
            max_file_size_bytes: self.max_file_size_bytes,
            compaction_threads: self.compaction_threads,
            block_size_bytes: 512,
            block_cache_size_bytes: 64 << 10,
            manifest_size_limit_bytes: 4 << 10,
            max_open_files: 16,
            idle_after_ms: 20,
            ..Options::default()
        }
    }
}
