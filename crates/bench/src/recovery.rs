//! Opens a database whose process died with a full log: how long does it take, and is everything there?

use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::Result;
use crate::entries::{KeyBuffer, Values, number_of};
use crate::live_keys::LiveKeys;
use crate::random::ParkMiller;
use crate::settings::Settings;
use crate::store::{Engine, Start};

/// Size of the keys and values in the log, in bytes.
const LOG_SIZE_BYTES: usize = 64 << 20;
/// How many times that size the memtable may hold, so that nothing is in a table yet.
const ROOM: usize = 4;

const PIECE_SIZE_BYTES: usize = 64 << 10;

/// Fills a log, copies the directory as a death of the process would leave it, and opens the copy with `engine`.
/// Returns the time of that open.
pub(crate) fn measure(
    engine: &dyn Engine,
    settings: &Settings,
    values: &Values,
    directory: &Path,
    seed: u32,
) -> Result<Duration> {
    let (written, killed) = (directory.join("recover-written"), directory.join("recover-killed"));
    let unflushed =
        engine.with(&Settings { write_buffer_size: Some(ROOM * LOG_SIZE_BYTES), ..settings.clone() });
    let live = fill(&*unflushed, settings, values, &written, &killed, seed)?;
    let started = Instant::now();
    let store = engine.open(&killed)?;
    let elapsed = started.elapsed();
    let (mut count, mut wrong) = (0, None);
    store.scan(Start::First, &mut |key, value| {
        count += 1;
        let number = number_of(key).filter(|&number| live.contains(number));
        if number.is_none_or(|number| values.of(number, 0, settings.value_size) != value) {
            wrong = Some(String::from_utf8_lossy(key).into_owned());
        }
        wrong.is_none()
    })?;
    store.close()?;
    engine.destroy(&killed)?;
    for directory in [written, killed].iter().filter(|directory| directory.exists()) {
        fs::remove_dir_all(directory)?;
    }
    match wrong {
        Some(key) => Err(format!("entry {key} is not what was written").into()),
        None if count != live.count() => {
            Err(format!("{count} entries were recovered instead of {}", live.count()).into())
        }
        None => Ok(elapsed),
    }
}

/// Writes a database to `written` and copies it to `killed` while it is open. Returns its contents.
fn fill(
    engine: &dyn Engine,
    settings: &Settings,
    values: &Values,
    written: &Path,
    killed: &Path,
    seed: u32,
) -> Result<LiveKeys> {
    fs::create_dir_all(written)?;
    let store = engine.open(written)?;
    let (mut live, mut random) = (LiveKeys::default(), ParkMiller::new(seed));
    let mut key = KeyBuffer::new(settings.key_prefix);
    let entry_size_bytes = settings.key_prefix + 16 + settings.value_size;
    for _ in 0..settings.num.min((LOG_SIZE_BYTES / entry_size_bytes) as u64) {
        let number = random.below(settings.num);
        store.put(key.set(number), values.of(number, 0, settings.value_size), false)?;
        live.insert(number);
    }
    copy(written, killed)?;
    store.close()?;
    engine.destroy(written)?;
    Ok(live)
}

/// Copies a directory with its contents.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.metadata()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            copy_file(&entry.path(), &target)?;
        }
    }
    Ok(())
}

/// Copies a file and leaves holes where it has zeros: mapped files may be much larger than their contents.
fn copy_file(from: &Path, to: &Path) -> Result<()> {
    let (mut source, mut target) = (File::open(from)?, File::create(to)?);
    let mut piece = vec![0; PIECE_SIZE_BYTES];
    loop {
        let read = source.read(&mut piece)?;
        if read == 0 {
            break;
        }
        if piece[..read].iter().all(|byte| *byte == 0) {
            target.seek_relative(read as i64)?;
        } else {
            target.write_all(&piece[..read])?;
        }
    }
    let length = source.stream_position()?;
    Ok(target.set_len(length)?)
}
