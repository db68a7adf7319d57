//! How often each byte is written to tables: in one thread and in memory, so that each run gives the same number.

use std::path::Path;
use std::sync::Arc;

use terrace_bench::Result;
use terrace_bench::entries::{KeyBuffer, Values};
use terrace_bench::random::ParkMiller;
use terrace_engine::env::MemoryEnv;
use terrace_engine::{Compression, Db, Options, WriteOptions};

use crate::one_thread::OneThread;

const ENTRIES: u64 = 300_000;
const VALUE_SIZE_BYTES: usize = 100;
const ENTRY_SIZE_BYTES: u64 = 16 + VALUE_SIZE_BYTES as u64;
const SEED: u32 = 1000;
/// A sixteenth of the size in LevelDB, so that little data causes as many flushes and files as much data does.
const WRITE_BUFFER_SIZE_BYTES: usize = 256 << 10;
const TABLE_SIZE_BYTES: u64 = 128 << 10;
/// The background gets a turn after this many entries, so that it keeps up.
const TURN_EVERY: u64 = 100;

/// Bytes written to tables per byte of the user's, when every key is written once in order.
pub fn in_order() -> Result<f64> {
    measure(|index, _| index)
}

/// The same with random keys: two in three occur, some several times.
pub fn at_random() -> Result<f64> {
    measure(|_, random| random.below(ENTRIES))
}

fn measure(number: fn(u64, &mut ParkMiller) -> u64) -> Result<f64> {
    let options = Options {
        compression: Compression::None,
        write_buffer_size_bytes: WRITE_BUFFER_SIZE_BYTES,
        max_file_size_bytes: TABLE_SIZE_BYTES,
        env: OneThread::over(Arc::new(MemoryEnv::new())),
        ..Options::default()
    };
    let db = Db::open(Path::new("amplification"), options)?;
    let (mut key, values, mut random) = (KeyBuffer::new(0), Values::new(0.5), ParkMiller::new(SEED));
    for index in 0..ENTRIES {
        let number = number(index, &mut random);
        db.put(key.set(number), values.of(number, 0, VALUE_SIZE_BYTES), &WriteOptions::default())?;
        if index % TURN_EVERY == 0 {
            while db.step() {}
        }
    }
    let written_bytes: u64 = db.stats().levels.iter().map(|level| level.written_bytes).sum();
    db.close()?;
    Ok(written_bytes as f64 / (ENTRIES * ENTRY_SIZE_BYTES) as f64)
}
