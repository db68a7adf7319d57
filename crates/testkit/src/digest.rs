//! The digest that compares states, as `tests/interop/operations.py` defines it.

use std::fmt;

use sha2::{Digest as _, Sha256};
use terrace_engine::{DbIterator, Result};

/// Stands for the length of a value that is absent.
const ABSENT: u32 = u32::MAX;

/// SHA-256 over entries, each as length and key, length and value. Displays the number of entries and the hash in
/// hex.
#[derive(Clone, Default)]
pub struct Digest {
    sha: Sha256,
    count: u64,
}

impl Digest {
    /// The digest of every entry from first to last.
    pub fn forward(iterator: &mut DbIterator) -> Result<Self> {
        iterator.seek_to_first()?;
        Self::of_rest(iterator, DbIterator::next)
    }

    /// The digest of every entry from last to first.
    pub fn backward(iterator: &mut DbIterator) -> Result<Self> {
        iterator.seek_to_last()?;
        Self::of_rest(iterator, DbIterator::prev)
    }

    fn of_rest(iterator: &mut DbIterator, step: fn(&mut DbIterator) -> Result<()>) -> Result<Self> {
        let mut digest = Self::default();
        while iterator.valid() {
            digest.add(iterator.key(), Some(iterator.value()));
            step(iterator)?;
        }
        Ok(digest)
    }

    /// Adds an entry; `None` for a key that a read found absent.
    pub fn add(&mut self, key: &[u8], value: Option<&[u8]>) {
        self.bytes(key);
        match value {
            Some(value) => self.bytes(value),
            None => self.sha.update(ABSENT.to_le_bytes()),
        }
        self.count += 1;
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.sha.update((bytes.len() as u32).to_le_bytes());
        self.sha.update(bytes);
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:x}", self.count, self.sha.clone().finalize())
    }
}
