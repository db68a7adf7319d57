//! The work whose instructions and system calls are counted: each case prepares a database and then does a fixed
//! number of operations in one thread.

use std::hint::black_box;
use std::os::unix::process::parent_id;
use std::path::Path;
use std::sync::Arc;

use terrace_bench::Result;
use terrace_bench::entries::{KeyBuffer, Values};
use terrace_bench::random::ParkMiller;
use terrace_engine::env::PosixEnv;
use terrace_engine::{Compression, Db, IterOptions, Options, ReadOptions, WriteBatch, WriteOptions};

use crate::allocations;
use crate::one_thread::OneThread;

/// Entries of each database, and operations of each case.
pub const ENTRIES: u64 = 20_000;
const VALUE_SIZE_BYTES: usize = 100;
const BATCH_SIZE: u64 = 1000;
const SEED: u32 = 1000;
/// Large enough that no case fills it.
const WRITE_BUFFER_SIZE_BYTES: usize = 64 << 20;
/// Large enough for every block.
const LARGE_CACHE_SIZE_BYTES: usize = 64 << 20;

/// A piece of work, counted per entry or per operation.
pub struct Case {
    /// Its name in the record.
    pub name: &'static str,
    run: fn(&mut Bench) -> Result<()>,
}

/// Every case.
pub const CASES: &[Case] = &[
    Case { name: "put_in_order", run: |bench| bench.put(in_order) },
    Case { name: "put_at_random", run: |bench| bench.put(at_random) },
    Case { name: "put_in_batches", run: |bench| bench.put_in_batches() },
    Case { name: "get_from_memtable", run: |bench| bench.get_from_memtable() },
    Case { name: "get_from_cached_block", run: |bench| bench.get(&CACHED) },
    Case { name: "get_from_raw_block", run: |bench| bench.get(&RAW) },
    Case { name: "get_from_snappy_block", run: |bench| bench.get(&SNAPPY) },
    Case { name: "get_missing", run: |bench| bench.get_missing() },
    Case { name: "next_in_memtable", run: |bench| bench.scan(&MEMTABLE, Way::Forward) },
    Case { name: "next_in_cached_block", run: |bench| bench.scan(&CACHED, Way::Forward) },
    Case { name: "next_in_raw_block", run: |bench| bench.scan(&RAW, Way::Forward) },
    Case { name: "next_in_snappy_block", run: |bench| bench.scan(&SNAPPY, Way::Forward) },
    Case { name: "next_uncompacted", run: |bench| bench.scan(&UNCOMPACTED, Way::Forward) },
    Case { name: "prev_in_cached_block", run: |bench| bench.scan(&CACHED, Way::Backward) },
    Case { name: "prev_uncompacted", run: |bench| bench.scan(&UNCOMPACTED, Way::Backward) },
    Case { name: "seek", run: |bench| bench.seek(&CACHED, 16) },
    Case { name: "seek_between_keys", run: |bench| bench.seek(&CACHED, 15) },
    Case { name: "seek_between_keys_uncompacted", run: |bench| bench.seek(&UNCOMPACTED, 15) },
    Case { name: "new_iterator_and_seek", run: |bench| bench.new_iterator_and_seek() },
    Case { name: "replay", run: |bench| bench.replay() },
    Case { name: "flush", run: |bench| bench.flush() },
    Case { name: "compaction", run: |bench| bench.compaction() },
];

/// Where the entries of a database are when it is read.
struct Layout {
    compression: Compression,
    cache_size_bytes: usize,
    /// Number of flushes, each with entries from the whole range.
    flushes: u64,
    is_compacted: bool,
}

const CACHED: Layout = Layout {
    compression: Compression::Snappy,
    cache_size_bytes: LARGE_CACHE_SIZE_BYTES,
    flushes: 1,
    is_compacted: true,
};
/// Each block is read from its file.
const SNAPPY: Layout = Layout { cache_size_bytes: 0, ..CACHED };
const RAW: Layout = Layout { compression: Compression::None, ..SNAPPY };
const MEMTABLE: Layout = Layout { flushes: 0, is_compacted: false, ..CACHED };
/// Fewer tables in level 0 than would start a compaction.
const UNCOMPACTED: Layout = Layout { flushes: 3, is_compacted: false, ..CACHED };

#[derive(Clone, Copy)]
enum Way {
    Forward,
    Backward,
}

fn in_order(index: u64, _random: &mut ParkMiller) -> u64 {
    index
}

fn at_random(_index: u64, random: &mut ParkMiller) -> u64 {
    random.below(ENTRIES)
}

/// The surroundings of every case.
struct Bench<'a> {
    directory: &'a Path,
    values: Values,
    random: ParkMiller,
}

/// Only what runs inside is counted: valgrind knows this function by name. Prints the number of allocations.
#[inline(never)]
fn measured_part(work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
    // A system call that the engine never makes marks both ends in the list of calls.
    black_box(parent_id());
    let before = allocations::so_far();
    let result = work();
    let allocations = allocations::so_far() - before;
    black_box(parent_id());
    println!("{allocations}");
    result
}

/// Runs the case of that name in `directory`, which is empty.
pub fn run(name: &str, directory: &Path) -> Result<()> {
    let case = CASES.iter().find(|case| case.name == name).ok_or("there is no such case")?;
    (case.run)(&mut Bench { directory, values: Values::new(0.5), random: ParkMiller::new(SEED) })
}

fn expect(what: &str, found: u64, expected: u64) -> Result<()> {
    if found == expected { Ok(()) } else { Err(format!("{found} {what} instead of {expected}").into()) }
}

impl Bench<'_> {
    fn open(&self, layout: &Layout) -> Result<Db> {
        let options = Options {
            compression: layout.compression,
            write_buffer_size_bytes: WRITE_BUFFER_SIZE_BYTES,
            block_cache_size_bytes: layout.cache_size_bytes,
            env: OneThread::over(Arc::new(PosixEnv::new())),
            ..Options::default()
        };
        Ok(Db::open(self.directory, options)?)
    }

    /// Puts the entries whose number is `remainder` modulo `modulus`, in scattered order.
    fn fill(&self, db: &Db, modulus: u64, remainder: u64) -> Result<()> {
        /// Coprime to `ENTRIES`, so that every number occurs once.
        const STRIDE: u64 = 7919;
        let mut key = KeyBuffer::new(0);
        let numbers = (0..ENTRIES).map(|index| index * STRIDE % ENTRIES);
        for number in numbers.filter(|number| number % modulus == remainder) {
            let value = self.values.of(number, 0, VALUE_SIZE_BYTES);
            db.put(key.set(number), value, &WriteOptions::default())?;
        }
        Ok(())
    }

    /// Creates a database laid out as `layout` says, with every entry read once.
    fn laid_out(&self, layout: &Layout) -> Result<Db> {
        let db = self.open(layout)?;
        // What remains after the flushes stays in the memtable.
        let parts = layout.flushes + u64::from(!layout.is_compacted);
        for part in 0..parts {
            self.fill(&db, parts, part)?;
            if part < layout.flushes {
                db.flush()?;
            }
        }
        if layout.is_compacted {
            db.compact_range(None, None)?;
        }
        expect("entries", scan(&db, Way::Forward)?, ENTRIES)?;
        Ok(db)
    }

    fn put(&mut self, number: fn(u64, &mut ParkMiller) -> u64) -> Result<()> {
        let db = self.open(&CACHED)?;
        let (mut key, values, random) = (KeyBuffer::new(0), &self.values, &mut self.random);
        measured_part(&mut || {
            for index in 0..ENTRIES {
                let number = number(index, random);
                let value = values.of(number, 0, VALUE_SIZE_BYTES);
                db.put(key.set(number), value, &WriteOptions::default())?;
            }
            Ok(())
        })
    }

    fn put_in_batches(&mut self) -> Result<()> {
        let db = self.open(&CACHED)?;
        let (mut key, values, random) = (KeyBuffer::new(0), &self.values, &mut self.random);
        measured_part(&mut || {
            for _ in 0..ENTRIES / BATCH_SIZE {
                let mut batch = WriteBatch::new();
                for _ in 0..BATCH_SIZE {
                    let number = random.below(ENTRIES);
                    batch.put(key.set(number), values.of(number, 0, VALUE_SIZE_BYTES))?;
                }
                db.write(batch, &WriteOptions::default())?;
            }
            Ok(())
        })
    }

    /// Gets every key from `db` once, in scattered order, using its first `len` bytes.
    fn count_found(&mut self, db: &Db, len: usize) -> Result<u64> {
        let (mut found, mut key, random) = (0, KeyBuffer::new(0), &mut self.random);
        measured_part(&mut || {
            for _ in 0..ENTRIES {
                let key = &key.set(random.below(ENTRIES))[..len];
                let length = db.get_with(key, &ReadOptions::default(), <[u8]>::len)?;
                found += u64::from(length == Some(VALUE_SIZE_BYTES));
            }
            Ok(())
        })?;
        Ok(found)
    }

    fn get(&mut self, layout: &Layout) -> Result<()> {
        let db = self.laid_out(layout)?;
        expect("keys found", self.count_found(&db, 16)?, ENTRIES)
    }

    fn get_from_memtable(&mut self) -> Result<()> {
        self.get(&MEMTABLE)
    }

    fn get_missing(&mut self) -> Result<()> {
        let db = self.laid_out(&CACHED)?;
        expect("keys found", self.count_found(&db, 15)?, 0)
    }

    fn scan(&mut self, layout: &Layout, way: Way) -> Result<()> {
        let db = self.laid_out(layout)?;
        let mut found = 0;
        measured_part(&mut || {
            found = scan(&db, way)?;
            Ok(())
        })?;
        expect("entries", found, ENTRIES)
    }

    /// Seeks every key once, in scattered order, using its first `len` bytes. A shortened key lies between two
    /// others.
    fn seek(&mut self, layout: &Layout, len: usize) -> Result<()> {
        let db = self.laid_out(layout)?;
        let mut iterator = db.iter(IterOptions::default())?;
        let (mut found, mut key, random) = (0, KeyBuffer::new(0), &mut self.random);
        measured_part(&mut || {
            for _ in 0..ENTRIES {
                iterator.seek(&key.set(random.below(ENTRIES))[..len])?;
                found += u64::from(iterator.valid());
            }
            Ok(())
        })?;
        expect("keys found", found, ENTRIES)
    }

    fn new_iterator_and_seek(&mut self) -> Result<()> {
        let db = self.laid_out(&CACHED)?;
        let (mut found, mut key, random) = (0, KeyBuffer::new(0), &mut self.random);
        measured_part(&mut || {
            for _ in 0..ENTRIES {
                let mut iterator = db.iter(IterOptions::default())?;
                iterator.seek(key.set(random.below(ENTRIES)))?;
                found += u64::from(iterator.valid());
            }
            Ok(())
        })?;
        expect("keys found", found, ENTRIES)
    }

    fn replay(&mut self) -> Result<()> {
        let db = self.open(&CACHED)?;
        self.fill(&db, 1, 0)?;
        db.close()?;
        drop(db);
        let mut opened = None;
        measured_part(&mut || {
            opened = Some(self.open(&CACHED)?);
            Ok(())
        })?;
        let db = opened.ok_or("the database was not opened")?;
        expect("entries", scan(&db, Way::Forward)?, ENTRIES)
    }

    fn flush(&mut self) -> Result<()> {
        let db = self.open(&CACHED)?;
        self.fill(&db, 1, 0)?;
        measured_part(&mut || Ok(db.flush()?))
    }

    fn compaction(&mut self) -> Result<()> {
        let db = self.open(&CACHED)?;
        for part in 0..2 {
            self.fill(&db, 2, part)?;
            db.flush()?;
        }
        measured_part(&mut || Ok(db.compact_range(None, None)?))?;
        expect("entries", scan(&db, Way::Forward)?, ENTRIES)
    }
}

/// Reads everything; returns the number of entries.
fn scan(db: &Db, way: Way) -> Result<u64> {
    let mut iterator = db.iter(IterOptions::default())?;
    match way {
        Way::Forward => iterator.seek_to_first()?,
        Way::Backward => iterator.seek_to_last()?,
    }
    let mut bytes = 0;
    let mut found = 0;
    while iterator.valid() {
        bytes += iterator.key().len() + iterator.value().len();
        found += 1;
        match way {
            Way::Forward => iterator.next()?,
            Way::Backward => iterator.prev()?,
        }
    }
    expect("bytes", bytes as u64, found * (16 + VALUE_SIZE_BYTES as u64))?;
    Ok(found)
}
