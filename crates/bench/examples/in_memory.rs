//! What a database in memory costs by two designs: the map of `terrace-memory`, and the engine on files in memory, with
//! its defaults or with all entries in one memtable. Run each in a separate process, since memory is counted per
//! process:
//!
//! ```sh
//! for kind in map engine memtable; do cargo run --release -p terrace-bench --example in_memory $kind 1000000; done
//! ```

use std::error::Error;
use std::hint::black_box;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Instant;

use terrace_bench::random::scatter;
use terrace_engine::env::MemoryEnv;
use terrace_engine::{Db, IterOptions, Options, ReadOptions, WriteBatch, WriteOptions};
use terrace_memory::Map;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const VALUE_BYTES: usize = 100;

/// A database in memory.
trait Store {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;
    fn get(&self, key: &[u8]) -> Result<bool>;
    /// Reads all entries, and returns how many there are.
    fn scan(&self) -> Result<u64>;
    fn delete(&mut self, key: &[u8]) -> Result<()>;
}

impl Store for Map {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.put(key, value);
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Result<bool> {
        Ok(black_box(Map::get(self, key)).is_some())
    }

    fn scan(&self) -> Result<u64> {
        let mut cursor = self.cursor();
        cursor.seek(Bound::Unbounded);
        let mut entries = 0;
        while let Some(entry) = cursor.entry() {
            black_box(entry);
            entries += 1;
            cursor.step(false);
        }
        Ok(entries)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.remove(key);
        Ok(())
    }
}

impl Store for Db {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let mut batch = WriteBatch::new();
        batch.put(key, value)?;
        Ok(self.write(batch, &WriteOptions::default())?)
    }

    fn get(&self, key: &[u8]) -> Result<bool> {
        Ok(black_box(Db::get(self, key, &ReadOptions::default())?).is_some())
    }

    fn scan(&self) -> Result<u64> {
        let mut iterator = self.iter(IterOptions::default())?;
        iterator.seek_to_first()?;
        let mut entries = 0;
        while iterator.valid() {
            black_box((iterator.key(), iterator.value()));
            entries += 1;
            iterator.next()?;
        }
        Ok(entries)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        let mut batch = WriteBatch::new();
        batch.delete(key)?;
        Ok(self.write(batch, &WriteOptions::default())?)
    }
}

fn open(kind: &str) -> Result<Box<dyn Store>> {
    let mut options = Options { env: Arc::new(MemoryEnv::new()), ..Options::default() };
    match kind {
        "map" => return Ok(Box::new(Map::default())),
        "engine" => {}
        "memtable" => options.write_buffer_size_bytes = 1 << 30,
        _ => return Err("the first argument is map, engine or memtable".into()),
    }
    Ok(Box::new(Db::open("/database", options)?))
}

fn main() -> Result<()> {
    let [kind, entries] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "KIND ENTRIES")?;
    let entries: u64 = entries.parse()?;
    let key = |number: u64| format!("{:016x}", scatter(number)).into_bytes();
    let value = [b'x'; VALUE_BYTES];

    let before = resident_bytes()?;
    let began = Instant::now();
    let mut store = open(&kind)?;
    let opened = began.elapsed();

    let mut report = format!("{kind:<9} open {opened:>9.1?}");
    let mut step = |name: &str, run: &mut dyn FnMut(&mut dyn Store) -> Result<()>| -> Result<()> {
        let began = Instant::now();
        run(&mut *store)?;
        let nanoseconds = began.elapsed().as_nanos() as u64 / entries;
        let bytes = resident_bytes()?.saturating_sub(before) / entries;
        report += &format!(" | {name} {nanoseconds} ns, {bytes} B resident an entry");
        Ok(())
    };
    let fill =
        &mut |store: &mut dyn Store| (0..entries).try_for_each(|number| store.put(&key(number), &value));
    step("put", fill)?;
    step("get", &mut |store| {
        (0..entries).try_for_each(|number| store.get(&key(number)).map(|found| assert!(found)))
    })?;
    step("scan", &mut |store| store.scan().map(|found| assert_eq!(found, entries)))?;
    step("overwrite", fill)?;
    step("delete", &mut |store| (0..entries).try_for_each(|number| store.delete(&key(number))))?;
    println!("{report}");
    Ok(())
}

fn resident_bytes() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
    let kibibytes: u64 = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kibibytes << 10)
}
