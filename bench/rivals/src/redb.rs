//! The adapter for redb. A write without a sync has durability `None`, which is less than the other engines offer: it
//! does not survive the death of the process.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use redb::{Database, Durability, ReadOnlyTable, ReadableDatabase, Table, TableDefinition, WriteTransaction};
use terrace_bench::{BatchSink, Engine, Failure, Reader, Result, Settings, Start, Store};

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("bench");
const FILE: &str = "bench.redb";

/// redb with the options of a run.
pub(crate) struct RedbEngine {
    cache_size: Option<usize>,
}

impl RedbEngine {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { cache_size: settings.cache_size }
    }
}

impl Engine for RedbEngine {
    fn name(&self) -> &str {
        "redb"
    }

    fn version(&self) -> String {
        "4".to_owned()
    }

    fn settings(&self) -> String {
        let cache = self.cache_size.map_or("default".to_owned(), |bytes| format!("{} KiB", bytes >> 10));
        format!("cache {cache}, a transaction per write, durability None unless synced, no compression")
    }

    fn with(&self, settings: &Settings) -> Box<dyn Engine> {
        Box::new(Self::new(settings))
    }

    /// It compacts only while it has no other users.
    fn left_out(&self) -> &[&str] {
        &["compact", "recover"]
    }

    fn open(&self, directory: &Path) -> Result<Box<dyn Store>> {
        let mut builder = Database::builder();
        if let Some(bytes) = self.cache_size {
            builder.set_cache_size(bytes);
        }
        let store = RedbStore { db: builder.create(directory.join(FILE))? };
        // Reading requires the table to exist.
        let transaction = store.transaction(true)?;
        transaction.open_table(TABLE)?;
        transaction.commit()?;
        Ok(Box::new(store))
    }

    fn destroy(&self, directory: &Path) -> Result<()> {
        match fs::remove_file(directory.join(FILE)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

struct RedbStore {
    db: Database,
}

impl RedbStore {
    fn transaction(&self, sync: bool) -> Result<WriteTransaction> {
        let mut transaction = self.db.begin_write()?;
        transaction.set_durability(if sync { Durability::Immediate } else { Durability::None })?;
        Ok(transaction)
    }

    fn table(&self) -> Result<ReadOnlyTable<&'static [u8], &'static [u8]>> {
        Ok(self.db.begin_read()?.open_table(TABLE)?)
    }
}

fn read(
    table: &ReadOnlyTable<&'static [u8], &'static [u8]>,
    key: &[u8],
    value: &mut Vec<u8>,
) -> Result<bool> {
    let Some(found) = table.get(key)? else { return Ok(false) };
    value.clear();
    value.extend_from_slice(found.value());
    Ok(true)
}

impl Store for RedbStore {
    fn put(&self, key: &[u8], value: &[u8], sync: bool) -> Result<()> {
        self.write(&mut |sink| sink.put(key, value), sync)
    }

    fn delete(&self, key: &[u8], sync: bool) -> Result<()> {
        self.write(&mut |sink| sink.delete(key), sync)
    }

    fn write(&self, fill: &mut dyn FnMut(&mut dyn BatchSink) -> Result<()>, sync: bool) -> Result<()> {
        let transaction = self.transaction(sync)?;
        fill(&mut Batch(transaction.open_table(TABLE)?))?;
        Ok(transaction.commit()?)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        read(&self.table()?, key, value)
    }

    fn scan(&self, start: Start<'_>, visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        let table = self.table()?;
        let mut range = match start {
            Start::First | Start::Last => table.range::<&[u8]>(..)?,
            Start::At(key) => table.range(key..)?,
        };
        let backward = matches!(start, Start::Last);
        while let Some(entry) = if backward { range.next_back() } else { range.next() } {
            let (key, value) = entry?;
            if !visit(key.value(), value.value()) {
                break;
            }
        }
        Ok(())
    }

    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(RedbReader(self.table()?)))
    }

    /// A synced transaction also makes everything before it durable.
    fn flush(&self) -> Result<()> {
        self.write(&mut |_| Ok(()), true)
    }

    /// Left out.
    fn compact(&self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.flush()
    }
}

struct Batch<'a>(Table<'a, &'static [u8], &'static [u8]>);

impl BatchSink for Batch<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.insert(key, value).map(drop).map_err(Failure::from)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.remove(key).map(drop).map_err(Failure::from)
    }
}

struct RedbReader(ReadOnlyTable<&'static [u8], &'static [u8]>);

impl Reader for RedbReader {
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        read(&self.0, key, value)
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let mut range = self.0.range(target..)?;
        let Some(entry) = range.next() else { return Ok(false) };
        Ok(entry?.0.value() == target)
    }
}
