//! The adapter for fjall. Its documentation recommends its own defaults; lz4 is its only compression.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use fjall::config::{
    BlockSizePolicy, BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry,
};
use fjall::{
    CompressionType, Database, Guard, Keyspace, KeyspaceCreateOptions, OwnedWriteBatch, PersistMode,
    Readable, Snapshot,
};
use terrace_bench::{BatchSink, Engine, Reader, Result, Settings, Start, Store};

const KEYSPACE: &str = "bench";
/// A separate directory, because fjall spreads files over directories and has no call that removes them.
const DIRECTORY: &str = "fjall";

/// fjall with the options of a run.
pub(crate) struct FjallEngine(Settings);

impl FjallEngine {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self(settings.clone())
    }

    fn options(&self) -> KeyspaceCreateOptions {
        let mut options = KeyspaceCreateOptions::default();
        if let Some(bytes) = self.0.write_buffer_size {
            options = options.max_memtable_size(bytes as u64);
        }
        if let Some(bytes) = self.0.block_size {
            options = options.data_block_size_policy(BlockSizePolicy::all(bytes as u32));
        }
        if let Some(bits) = self.0.bloom_bits {
            let bloom = FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(bits as f32));
            let entry = if bits > 0 { bloom } else { FilterPolicyEntry::None };
            options = options.filter_policy(FilterPolicy::all(entry));
        }
        let compression = if self.0.compression { CompressionType::Lz4 } else { CompressionType::None };
        options.data_block_compression_policy(CompressionPolicy::all(compression))
    }
}

impl Engine for FjallEngine {
    fn name(&self) -> &str {
        "fjall"
    }

    fn version(&self) -> String {
        "3".to_owned()
    }

    fn settings(&self) -> String {
        let or_default =
            |set: Option<usize>, unit: &str| set.map_or("default".to_owned(), |n| format!("{n}{unit}"));
        format!(
            "memtable {}, cache {}, blocks {}, filter {}, {}",
            or_default(self.0.write_buffer_size, " B"),
            or_default(self.0.cache_size, " B"),
            or_default(self.0.block_size, " B"),
            or_default(self.0.bloom_bits, " bits per key"),
            if self.0.compression { "lz4" } else { "no compression" },
        )
    }

    fn with(&self, settings: &Settings) -> Box<dyn Engine> {
        Box::new(Self::new(settings))
    }

    fn open(&self, directory: &Path) -> Result<Box<dyn Store>> {
        let mut builder = Database::builder(directory.join(DIRECTORY));
        if let Some(bytes) = self.0.cache_size {
            builder = builder.cache_size(bytes as u64);
        }
        let db = builder.open()?;
        let keyspace = db.keyspace(KEYSPACE, || self.options())?;
        Ok(Box::new(FjallStore { db, keyspace }))
    }

    fn destroy(&self, directory: &Path) -> Result<()> {
        match fs::remove_dir_all(directory.join(DIRECTORY)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

struct FjallStore {
    db: Database,
    keyspace: Keyspace,
}

impl FjallStore {
    fn sync_if(&self, sync: bool) -> Result<()> {
        if sync { Ok(self.db.persist(PersistMode::SyncData)?) } else { Ok(()) }
    }
}

impl Store for FjallStore {
    fn put(&self, key: &[u8], value: &[u8], sync: bool) -> Result<()> {
        self.keyspace.insert(key, value)?;
        self.sync_if(sync)
    }

    fn delete(&self, key: &[u8], sync: bool) -> Result<()> {
        self.keyspace.remove(key)?;
        self.sync_if(sync)
    }

    fn write(&self, fill: &mut dyn FnMut(&mut dyn BatchSink) -> Result<()>, sync: bool) -> Result<()> {
        let mut batch = Batch { batch: self.db.batch(), keyspace: &self.keyspace };
        fill(&mut batch)?;
        batch.batch.commit()?;
        self.sync_if(sync)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        Ok(copy(self.keyspace.get(key)?, value))
    }

    fn scan(&self, start: Start<'_>, visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        match start {
            Start::First => visit_all(self.keyspace.iter(), visit),
            Start::Last => visit_all(self.keyspace.iter().rev(), visit),
            Start::At(key) => visit_all(self.keyspace.range(key..), visit),
        }
    }

    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(FjallReader { snapshot: self.db.snapshot(), keyspace: &self.keyspace }))
    }

    fn flush(&self) -> Result<()> {
        Ok(self.keyspace.rotate_memtable_and_wait()?)
    }

    fn compact(&self) -> Result<()> {
        Ok(self.keyspace.major_compact()?)
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

fn copy(found: Option<fjall::Slice>, value: &mut Vec<u8>) -> bool {
    if let Some(bytes) = &found {
        value.clear();
        value.extend_from_slice(bytes);
    }
    found.is_some()
}

fn visit_all(
    entries: impl Iterator<Item = Guard>,
    visit: &mut dyn FnMut(&[u8], &[u8]) -> bool,
) -> Result<()> {
    for entry in entries {
        let (key, value) = entry.into_inner()?;
        if !visit(&key, &value) {
            break;
        }
    }
    Ok(())
}

struct Batch<'a> {
    batch: OwnedWriteBatch,
    keyspace: &'a Keyspace,
}

impl BatchSink for Batch<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.batch.insert(self.keyspace, key, value);
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.batch.remove(self.keyspace, key);
        Ok(())
    }
}

struct FjallReader<'a> {
    snapshot: Snapshot,
    keyspace: &'a Keyspace,
}

impl Reader for FjallReader<'_> {
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        Ok(copy(self.snapshot.get(self.keyspace, key)?, value))
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        let Some(entry) = self.snapshot.range(self.keyspace, target..).next() else { return Ok(false) };
        Ok(&*entry.key()? == target)
    }
}
