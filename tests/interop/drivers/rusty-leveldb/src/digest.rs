//! The digest with which states are compared, as `../../operations.py` defines it.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// Stands for the length of a value that is absent.
const ABSENT: u32 = u32::MAX;

/// SHA-256 over entries. Shown as the number of entries and the hash in hex.
#[derive(Default)]
pub struct Digest {
    sha: Sha256,
    count: u64,
}

impl Digest {
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
