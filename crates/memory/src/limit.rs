//! A limit to what the entries of a map may count, for the option `maxSizeBytes` of `crates/node` and
//! `crates/wasm-memory`.

use std::collections::HashMap;
use std::fmt;
use std::ops::Bound;

use crate::map::Map;

/// What an entry counts beside its key and its value, in bytes: about what the map needs for it.
const ENTRY_BYTES: usize = 16;

/// Why nothing was written: the entries would count more than the limit, and more than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// What they would count.
    pub size_bytes: usize,
    /// The most that they may.
    pub limit_bytes: usize,
}

impl fmt::Display for Full {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { size_bytes, limit_bytes } = self;
        write!(formatter, "the entries would count {size_bytes} bytes; their limit is {limit_bytes}")
    }
}

/// What one entry counts.
fn counted(key: &[u8], value: &[u8]) -> usize {
    key.len() + value.len() + ENTRY_BYTES
}

impl std::error::Error for Full {}

impl Map {
    /// What all entries count.
    pub fn size_bytes(&self) -> usize {
        self.data_bytes() + self.len() * ENTRY_BYTES
    }

    /// What the entries from `start` up to, but not including, `end` count. It walks over them.
    pub fn range_size_bytes(&self, start: &[u8], end: &[u8]) -> usize {
        let mut cursor = self.cursor();
        cursor.seek(Bound::Included(start));
        let mut size_bytes = 0;
        while let Some((key, value)) = cursor.entry().filter(|(key, _)| *key < end) {
            size_bytes += counted(key, value);
            cursor.step(false);
        }
        size_bytes
    }

    /// Stores one value, or nothing if that would break the limit.
    ///
    /// # Errors
    /// [`Full`].
    #[inline]
    pub fn put_within(&mut self, limit_bytes: usize, key: &[u8], value: &[u8]) -> Result<(), Full> {
        if limit_bytes < usize::MAX {
            let replaced = self.get(key).map_or(0, |replaced| counted(key, replaced));
            self.check_limit(self.size_bytes() + counted(key, value) - replaced, limit_bytes)?;
        }
        self.put(key, value);
        Ok(())
    }

    /// Carries out operations in their order, or none of them if that would break the limit. `operations` returns them: keys, with the
    /// value to store, or none to delete the key.
    ///
    /// # Errors
    /// [`Full`].
    pub fn write_within<'a, I>(&mut self, limit_bytes: usize, operations: impl Fn() -> I) -> Result<(), Full>
    where
        I: Iterator<Item = (&'a [u8], Option<&'a [u8]>)>,
    {
        if limit_bytes < usize::MAX {
            self.check_limit(self.size_after(operations()), limit_bytes)?;
        }
        for (key, value) in operations() {
            match value {
                Some(value) => self.put(key, value),
                None => {
                    self.remove(key);
                }
            }
        }
        Ok(())
    }

    /// What the entries would count after these operations.
    fn size_after<'a>(&self, operations: impl Iterator<Item = (&'a [u8], Option<&'a [u8]>)>) -> usize {
        let last: HashMap<&[u8], Option<&[u8]>> = operations.collect();
        let added = last.iter().filter_map(|(key, value)| Some(counted(key, (*value)?)));
        let removed = last.keys().filter_map(|key| Some(counted(key, self.get(key)?)));
        self.size_bytes() + added.sum::<usize>() - removed.sum::<usize>()
    }

    fn check_limit(&self, size_after: usize, limit_bytes: usize) -> Result<(), Full> {
        if size_after <= limit_bytes || size_after <= self.size_bytes() {
            Ok(())
        } else {
            Err(Full { size_bytes: size_after, limit_bytes })
        }
    }
}
