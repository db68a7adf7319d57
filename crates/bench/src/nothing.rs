//! A database that stores nothing and yet answers correctly after `fillseq`. Its times are what the benchmark itself
//! costs every engine, and a little more, because it computes each value.

use std::hint::black_box;
use std::path::Path;

use crate::Result;
use crate::entries::{KeyBuffer, Values, number_of};
use crate::settings::Settings;
use crate::store::{BatchSink, Engine, Reader, Start, Store};

/// The workloads that it can answer.
pub const WORKLOADS: &str = "fillseq,readrandom,readmissing,readseq,readreverse,seekrandom,seekordered";

/// See the module.
#[derive(Clone)]
pub struct NothingEngine {
    settings: Settings,
}

impl NothingEngine {
    /// Creates the engine for a run with these settings.
    pub fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone() }
    }
}

impl Engine for NothingEngine {
    fn name(&self) -> &str {
        "nothing"
    }

    fn version(&self) -> String {
        env!("CARGO_PKG_VERSION").to_owned()
    }

    fn settings(&self) -> String {
        "what the benchmark itself costs".to_owned()
    }

    fn with(&self, settings: &Settings) -> Box<dyn Engine> {
        Box::new(Self::new(settings))
    }

    fn open(&self, _directory: &Path) -> Result<Box<dyn Store>> {
        let values = Values::new(self.settings.compression_ratio);
        Ok(Box::new(Nothing { settings: self.settings.clone(), values }))
    }

    fn destroy(&self, _directory: &Path) -> Result<()> {
        Ok(())
    }
}

struct Nothing {
    settings: Settings,
    values: Values,
}

impl Nothing {
    fn value(&self, number: u64) -> &[u8] {
        self.values.of(number, 0, self.settings.value_size)
    }

    fn number(&self, key: &[u8]) -> Option<u64> {
        number_of(key).filter(|_| key.len() == self.settings.key_prefix + 16)
    }
}

impl Store for Nothing {
    fn put(&self, key: &[u8], value: &[u8], _sync: bool) -> Result<()> {
        black_box((key, value));
        Ok(())
    }

    fn delete(&self, key: &[u8], _sync: bool) -> Result<()> {
        black_box(key);
        Ok(())
    }

    fn write(&self, fill: &mut dyn FnMut(&mut dyn BatchSink) -> Result<()>, _sync: bool) -> Result<()> {
        fill(&mut NoBatch)
    }

    fn get(&self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        let Some(number) = self.number(key) else { return Ok(false) };
        value.clear();
        value.extend_from_slice(self.value(number));
        Ok(true)
    }

    fn scan(&self, start: Start<'_>, visit: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        let mut key = KeyBuffer::new(self.settings.key_prefix);
        let end = self.settings.num;
        let mut show = |number| visit(key.set(number), self.value(number));
        // One loop for both ends would cost a branch per entry.
        match start {
            Start::First => (0..end).all(&mut show),
            Start::Last => (0..end).rev().all(&mut show),
            Start::At(key) => (self.number(key).unwrap_or(end)..end).all(&mut show),
        };
        Ok(())
    }

    fn reader(&self) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(NoReader(self)))
    }

    fn flush(&self) -> Result<()> {
        Ok(())
    }

    fn compact(&self) -> Result<()> {
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

struct NoBatch;

impl BatchSink for NoBatch {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        black_box((key, value));
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<()> {
        black_box(key);
        Ok(())
    }
}

struct NoReader<'a>(&'a Nothing);

impl Reader for NoReader<'_> {
    fn get(&mut self, key: &[u8], value: &mut Vec<u8>) -> Result<bool> {
        self.0.get(key, value)
    }

    fn seek(&mut self, target: &[u8]) -> Result<bool> {
        Ok(self.0.number(target).is_some())
    }
}
