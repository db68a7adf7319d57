//! The adapter for Terrace itself.

use std::path::Path;

use terrace_engine::{
    Compression, Db, DbIterator, IterOptions, Options, ReadOptions, WriteBatch, WriteOptions,
};

use crate::settings::Settings;
use crate::store::{BatchSink, Engine, Reader, Start, Store};
use crate::{Failure, Result};

/// Terrace with the options of a run.
pub struct TerraceEngine {
    options: Options,
    settings: String,
}

impl TerraceEngine {
    /// Terrace's defaults as changed by `settings`.
    pub fn new(settings: &Settings) -> Self {
        Self::with_options(Options::default(), settings)
    }

    /// The given options as changed by `settings`.
    pub fn with_options(mut options: Options, settings: &Settings) -> Self {
        let overrides = [
            (&mut options.write_buffer_size_bytes, settings.write_buffer_size),
            (&mut options.block_cache_size_bytes, settings.cache_size),
            (&mut options.filter_bits_per_key, settings.bloom_bits),
            (&mut options.block_size_bytes, settings.block_size),
            (&mut options.max_open_files, settings.open_files),
            (&mut options.compaction_threads, settings.compaction_threads),
        ];
        for (option, value) in overrides {
            *option = value.unwrap_or(*option);
        }
        options.max_file_size_bytes =
            settings.max_file_size.map_or(options.max_file_size_bytes, |bytes| bytes as u64);
        if !settings.compression {
            options.compression = Compression::None;
        }
        let settings = describe(&options);
        Self { options, settings }
    }
}

fn describe(options: &Options) -> String {
    format!(
        "write buffer {} KiB, block cache {} KiB, tables {} KiB, blocks {} B, filter {} bits per key, {:?}, \
         {} compaction threads",
        options.write_buffer_size_bytes >> 10,
        options.block_cache_size_bytes >> 10,
        options.max_file_size_bytes >> 10,
        options.block_size_bytes,
        options.filter_bits_per_key,
        options.compression,
        options.compaction_threads,
    )
}

impl Engine for TerraceEngine {
    fn name(&self) -> &str {
        "terrace"
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn settings(&self) -> String {
        self.settings.clone()
    }

    fn memory_budget_bytes(&self) -> Option<u64> {
        let Options { write_buffer_size_bytes, max_sealed_memtables, block_cache_size_bytes, .. } =
            self.options;
        Some((write_buffer_size_bytes * (1 + max_sealed_memtables) + block_cache_size_bytes) as u64)
    }

    fn with(&self, settings: &Settings) -> Box<dyn Engine> {
        Box::new(Self::with_options(self.options.clone(), settings))
    }

    fn open(&self, directory: &Path) -> Result<Box<dyn Store>> {
        let db = Db::open(directory, self.options.clone())?;
        Ok(Box::new(TerraceStore { db, read: ReadOptions::default() }))
    }

    fn destroy(&self, directory: &Path) -> Result<()> {
        Db::destroy(directory, &self.options)?;
        Ok(())
    }
}

struct TerraceStore {
    db: Db,
    read: ReadOptions,
}

impl TerraceStore {
    fn iterator(&self) -> Result<DbIterator> {
        Ok(self.db.iter(IterOptions::default())?)
    }
}

impl Store for TerraceStore {
    fn put(&self, key: &[u8], value: &[u8], sync: bool) -> Result<()> {
        Ok(self.db.put(key, value, &WriteOptions { sync })?)
    }

    fn delete(&self, key: &[u8], sync: bool) -> Result<()> {
        Ok(self.db.delete(key, &WriteOptions { sync })?)
    }

    fn write(&self, fill: &mut dyn FnMut(&mut dyn BatchSink) -> Result<()>, sync: bool) -> Result<()> {
        let mut batch = TerraceBatch(WriteBatch::new());
        fill(&mut batch)?;
        Ok(self.db.write(batch.0, &WriteOptions { sync })?)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        let found = self.db.get_with(key, &self.read, |bytes| {
            value.clear();
            value.extend_from_slice(bytes);
        })?;
        Ok(found.is_some())
    }

    fn scan(&self, start: Start<'_>, visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        let mut iterator = self.iterator()?;
        match start {
            Start::First => iterator.seek_to_first()?,
            Start::Last => iterator.seek_to_last()?,
            Start::At(key) => iterator.seek(key)?,
        }
        let backward = matches!(start, Start::Last);
        while iterator.valid() && visit(iterator.key(), iterator.value()) {
            if backward {
                iterator.prev()?;
            } else {
                iterator.next()?;
            }
        }
        Ok(())
    }

    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(TerraceReader { store: self, iterator: None }))
    }

    fn flush(&self) -> Result<()> {
        Ok(self.db.flush()?)
    }

    fn compact(&self) -> Result<()> {
        Ok(self.db.compact_range(None, None)?)
    }

    fn table_bytes_written(&self) -> Option<u64> {
        Some(self.db.stats().levels.iter().map(|level| level.written_bytes).sum())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.db.close()?)
    }
}

struct TerraceBatch(WriteBatch);

impl BatchSink for TerraceBatch {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.put(key, value).map_err(Failure::from)
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        self.0.delete(key).map_err(Failure::from)
    }
}

struct TerraceReader<'a> {
    store: &'a TerraceStore,
    /// Created by the first seek.
    iterator: Option<DbIterator>,
}

impl Reader for TerraceReader<'_> {
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        self.store.get(key, value)
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        if self.iterator.is_none() {
            self.iterator = Some(self.store.iterator()?);
        }
        let iterator = self.iterator.as_mut().expect("the iterator was just made");
        iterator.seek(target)?;
        Ok(iterator.valid() && iterator.key() == target)
    }
}
