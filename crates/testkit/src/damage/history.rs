//! Every write of a database. Its sequence number is its position in the list, from 1 on.

use std::cmp::Ordering;

use terrace_engine::UserComparator;
use terrace_format::block::BlockBuilder;
use terrace_format::compression::NONE_ID;
use terrace_format::internal_key::{ValueKind, append_internal_key};
use terrace_format::table::{BlockHandle, Footer, seal_block};

use crate::random::Random;

/// One write: a key by its index, and its value, or `None` for a deletion.
pub struct Write {
    pub key: usize,
    pub value: Option<Vec<u8>>,
}

/// All writes, and the keys in their order.
pub struct History {
    pub comparator: UserComparator,
    /// The keys in the comparator's order.
    pub keys: Vec<Vec<u8>>,
    writes: Vec<Write>,
    /// The sequences that wrote each key, ascending.
    of_key: Vec<Vec<u64>>,
    /// The last sequence of each batch.
    pub batch_ends: Vec<u64>,
}

impl History {
    pub fn new(comparator: UserComparator, mut keys: Vec<Vec<u8>>) -> Self {
        keys.sort_by(|a, b| comparator.compare(a, b));
        keys.dedup();
        let of_key = vec![Vec::new(); keys.len()];
        Self { comparator, keys, writes: Vec::new(), of_key, batch_ends: Vec::new() }
    }

    /// The sequence of the newest write.
    pub fn last_sequence(&self) -> u64 {
        self.writes.len() as u64
    }

    /// Draws a value for the next write that no other write has.
    pub fn draw_value(&self, random: &mut Random, longest: usize, zeros_one_in: usize) -> Vec<u8> {
        let mut value = format!("{}:", self.writes.len() + 1).into_bytes();
        let size = random.below(longest);
        if random.one_in(zeros_one_in) {
            // As a power cut leaves it, although it was written like this.
            value.extend(vec![0; size * 8]);
        } else if random.one_in(40) {
            value.extend(table_of_others(size));
        } else if random.one_in(3) {
            value.extend(vec![b'x'; size]);
        } else {
            value.extend(random.bytes(size).into_iter().map(|byte| byte | 1));
        }
        value
    }

    pub fn add(&mut self, write: Write) {
        self.of_key[write.key].push(self.writes.len() as u64 + 1);
        self.writes.push(write);
    }

    pub fn end_batch(&mut self) {
        self.batch_ends.push(self.last_sequence());
    }

    /// The newest write of the key up to the sequence `bound`.
    pub fn newest(&self, key: usize, bound: u64) -> Option<u64> {
        let sequences = &self.of_key[key];
        sequences[..sequences.partition_point(|sequence| *sequence <= bound)].last().copied()
    }

    /// The write whose value the key shows at `bound`.
    pub fn shown(&self, key: usize, bound: u64) -> Option<u64> {
        self.newest(key, bound).filter(|sequence| !self.is_deletion(*sequence))
    }

    pub fn sequences(&self, key: usize) -> &[u64] {
        &self.of_key[key]
    }

    pub fn is_deletion(&self, sequence: u64) -> bool {
        self.writes[sequence as usize - 1].value.is_none()
    }

    /// The index of a key.
    pub fn index(&self, key: &[u8]) -> Result<usize, String> {
        self.keys
            .binary_search_by(|probe| self.comparator.compare(probe, key))
            .map_err(|_| format!("the key {} was never written", key.escape_ascii()))
    }

    /// The write of `key` that had this value.
    pub fn identify(&self, key: usize, value: &[u8]) -> Result<u64, String> {
        let had = |sequence: &&u64| self.writes[**sequence as usize - 1].value.as_deref() == Some(value);
        self.of_key[key]
            .iter()
            .find(had)
            .copied()
            .ok_or_else(|| format!("the key {} has a value that it never had", self.keys[key].escape_ascii()))
    }

    pub fn is_between(&self, key: &[u8], first: Option<&[u8]>, last: Option<&[u8]>) -> bool {
        first.is_none_or(|first| self.comparator.compare(first, key) != Ordering::Greater)
            && last.is_none_or(|last| self.comparator.compare(key, last) != Ordering::Greater)
    }
}

/// A table as a value may contain it, with entries that were never written to the database: data blocks, metaindex,
/// index and footer.
fn table_of_others(entries: usize) -> Vec<u8> {
    let mut table = Vec::new();
    let mut store = |contents: &[u8]| {
        let handle = BlockHandle { offset: table.len() as u64, size: contents.len() as u64 };
        table.extend_from_slice(contents);
        table.extend_from_slice(&seal_block(contents, NONE_ID));
        handle
    };
    let mut index = BlockBuilder::new(1);
    for number in 0..entries.clamp(1, 8) {
        let mut key = Vec::new();
        append_internal_key(
            &mut key,
            format!("key {:03} of others", 18 * number).as_bytes(),
            1 << 40,
            ValueKind::Value,
        );
        let mut data = BlockBuilder::new(16);
        data.add(&key, b"of others");
        let mut handle = Vec::new();
        store(data.finish()).encode_to(&mut handle);
        index.add(&key, &handle);
    }
    let footer = Footer { metaindex: store(BlockBuilder::new(1).finish()), index: store(index.finish()) };
    table.extend_from_slice(&footer.encode());
    table
}
