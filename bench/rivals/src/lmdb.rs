//! The adapter for LMDB, through the crate heed. It uses the flags of db_bench's port to LMDB: a writable map, and no
//! sync unless a write requests it. A write without a sync survives the death of the process, as in the other engines.

use std::fs;
use std::io::ErrorKind;
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use heed::types::Bytes;
use heed::{Database, Env, EnvFlags, EnvOpenOptions, FlagSetMode, RoTxn, RwTxn, WithoutTls};
use terrace_bench::{BatchSink, Engine, Reader, Result, Settings, Start, Store};

/// Least size to which the database may grow; the file is sparse.
const MIN_MAP_SIZE_BYTES: usize = 2 << 30;
/// How many times the size of its entries it may take: a page that was split is half full.
const ROOM: usize = 4;
/// The size of the map is a multiple of this.
const PAGE_SIZE_BYTES: usize = 64 << 10;
const MAX_READERS: u32 = 256;
const FILES: [&str; 2] = ["data.mdb", "lock.mdb"];

type Entries = Database<Bytes, Bytes>;

/// LMDB. Of a run's options, only the size of the data matters to it.
pub(crate) struct Lmdb {
    map_size_bytes: usize,
    exceeds_memory: bool,
}

impl Lmdb {
    pub(crate) fn new(settings: &Settings) -> Self {
        let entry_size_bytes = settings.key_prefix + 16 + settings.value_size;
        let entries_size_bytes = settings.num as usize * entry_size_bytes;
        Self {
            map_size_bytes: (ROOM * entries_size_bytes).max(MIN_MAP_SIZE_BYTES),
            exceeds_memory: settings.exceeds_memory,
        }
    }
}

impl Engine for Lmdb {
    fn name(&self) -> &str {
        "lmdb"
    }

    fn version(&self) -> String {
        let version = heed::lmdb_version();
        format!("{}.{}.{} (crate heed)", version.major, version.minor, version.patch)
    }

    fn settings(&self) -> String {
        "WRITEMAP and NOSYNC, a transaction per write, no compression; its cache is the operating system's"
            .to_owned()
    }

    fn with(&self, settings: &Settings) -> Box<dyn Engine> {
        Box::new(Self::new(settings))
    }

    /// LMDB has no such call.
    fn left_out(&self) -> &[&str] {
        &["compact"]
    }

    fn open(&self, directory: &Path) -> Result<Box<dyn Store>> {
        let mut flags = EnvFlags::WRITE_MAP | EnvFlags::NO_SYNC;
        // As its documentation advises.
        flags.set(EnvFlags::NO_READ_AHEAD, self.exceeds_memory);
        // SAFETY: nothing else touches the directory while it is open.
        let env = unsafe {
            EnvOpenOptions::new()
                .read_txn_without_tls()
                .map_size(self.map_size_bytes.next_multiple_of(PAGE_SIZE_BYTES))
                .max_readers(MAX_READERS)
                .flags(flags)
                .open(directory)?
        };
        let mut transaction = env.write_txn()?;
        let entries = env.create_database(&mut transaction, None)?;
        transaction.commit()?;
        Ok(Box::new(LmdbStore { env, entries, syncs: AtomicBool::new(false) }))
    }

    fn destroy(&self, directory: &Path) -> Result<()> {
        for file in FILES {
            match fs::remove_file(directory.join(file)) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }
}

struct LmdbStore {
    env: Env<WithoutTls>,
    entries: Entries,
    /// Whether commits currently sync.
    syncs: AtomicBool,
}

impl LmdbStore {
    /// A transaction whose commit syncs or does not. A workload writes only one way.
    fn transaction(&self, sync: bool) -> Result<RwTxn<'_>> {
        if self.syncs.swap(sync, Ordering::Relaxed) != sync {
            let mode = if sync { FlagSetMode::Disable } else { FlagSetMode::Enable };
            // SAFETY: LMDB allows changing this flag of an open environment.
            unsafe { self.env.set_flags(EnvFlags::NO_SYNC, mode)? };
        }
        Ok(self.env.write_txn()?)
    }
}

fn copy(found: Option<&[u8]>, value: &mut Vec<u8>) -> bool {
    if let Some(bytes) = found {
        value.clear();
        value.extend_from_slice(bytes);
    }
    found.is_some()
}

impl Store for LmdbStore {
    fn put(&self, key: &[u8], value: &[u8], sync: bool) -> Result<()> {
        let mut transaction = self.transaction(sync)?;
        self.entries.put(&mut transaction, key, value)?;
        Ok(transaction.commit()?)
    }

    fn delete(&self, key: &[u8], sync: bool) -> Result<()> {
        let mut transaction = self.transaction(sync)?;
        self.entries.delete(&mut transaction, key)?;
        Ok(transaction.commit()?)
    }

    fn write(&self, fill: &mut dyn FnMut(&mut dyn BatchSink) -> Result<()>, sync: bool) -> Result<()> {
        let mut batch = Batch { transaction: self.transaction(sync)?, entries: self.entries };
        fill(&mut batch)?;
        Ok(batch.transaction.commit()?)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        let transaction = self.env.read_txn()?;
        Ok(copy(self.entries.get(&transaction, key)?, value))
    }

    fn scan(&self, start: Start<'_>, visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        let transaction = self.env.read_txn()?;
        match start {
            Start::First => visit_all(self.entries.iter(&transaction)?, visit),
            Start::Last => visit_all(self.entries.rev_iter(&transaction)?, visit),
            Start::At(key) => {
                let range = (Bound::Included(key), Bound::Unbounded);
                visit_all(self.entries.range(&transaction, &range)?, visit)
            }
        }
    }

    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(LmdbReader { transaction: self.env.read_txn()?, entries: self.entries }))
    }

    fn flush(&self) -> Result<()> {
        Ok(self.env.force_sync()?)
    }

    /// Left out.
    fn compact(&self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.env.prepare_for_closing().wait();
        Ok(())
    }
}

fn visit_all<'a>(
    entries: impl Iterator<Item = heed::Result<(&'a [u8], &'a [u8])>>,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
) -> Result<()> {
    for entry in entries {
        let (key, value) = entry?;
        if !visit(key, value) {
            break;
        }
    }
    Ok(())
}

struct Batch<'a> {
    transaction: RwTxn<'a>,
    entries: Entries,
}

impl BatchSink for Batch<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        Ok(self.entries.put(&mut self.transaction, key, value)?)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.entries.delete(&mut self.transaction, key)?;
        Ok(())
    }
}

/// One transaction for all reads, as in LMDB's port of db_bench.
struct LmdbReader<'a> {
    transaction: RoTxn<'a, WithoutTls>,
    entries: Entries,
}

impl Reader for LmdbReader<'_> {
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        Ok(copy(self.entries.get(&self.transaction, key)?, value))
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let found = self.entries.get_greater_than_or_equal_to(&self.transaction, target)?;
        Ok(found.is_some_and(|(key, _)| key == target))
    }
}
