//! The speed of the device alone, without a database: reads of 4 KiB at random places of a database's files, bypassing
//! the page cache, by one thread and by 32.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use terrace_bench::Result;
use terrace_bench::random::SplitMix;

const READ_BYTES: u64 = 4 << 10;
const LASTS: Duration = Duration::from_secs(2);
const MANY: u64 = 32;
/// Linux's `O_DIRECT` on x86-64 and AArch64.
const O_DIRECT: i32 = if cfg!(target_arch = "aarch64") { 0o200_000 } else { 0o40_000 };

/// The times as text.
pub(crate) fn describe(directory: &Path) -> Result<String> {
    let files = files_below(directory)?;
    let (alone, together) = (micros_a_read(&files, 1)?, micros_a_read(&files, MANY)?);
    Ok(format!(
        "the device reads 4 KiB at a random place in {alone:.1} µs, by {MANY} threads at once one in {together:.1} µs"
    ))
}

/// The files that are large enough, with their sizes, opened past the page cache.
fn files_below(directory: &Path) -> Result<Vec<(File, u64)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_dir() {
            files.extend(files_below(&entry.path())?);
        } else if metadata.len() >= 1 << 20 && files.len() < 400 {
            let file = OpenOptions::new().read(true).custom_flags(O_DIRECT).open(entry.path())?;
            files.push((file, metadata.len()));
        }
    }
    Ok(files)
}

/// Wall time divided by the reads of all threads.
fn micros_a_read(files: &[(File, u64)], threads: u64) -> Result<f64> {
    let started = Instant::now();
    let counts = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|seed| scope.spawn(move || reads(files, seed))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().map_err(|_| "a reader panicked")?)
            .collect::<Result<Vec<u64>>>()
    })?;
    Ok(started.elapsed().as_secs_f64() * 1e6 / counts.iter().sum::<u64>() as f64)
}

fn reads(files: &[(File, u64)], seed: u64) -> Result<u64> {
    let mut random = SplitMix::new(seed);
    let mut memory = vec![0; 2 * READ_BYTES as usize];
    let aligned = memory.as_ptr().align_offset(READ_BYTES as usize);
    let buffer = &mut memory[aligned..][..READ_BYTES as usize];
    let (started, mut count) = (Instant::now(), 0);
    while started.elapsed() < LASTS {
        let (file, size_bytes) = &files[random.below(files.len() as u64) as usize];
        let place = random.below(size_bytes / READ_BYTES) * READ_BYTES;
        file.read_exact_at(buffer, place)?;
        count += 1;
    }
    Ok(count)
}
