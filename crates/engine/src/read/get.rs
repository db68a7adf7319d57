//! A point read. Predecessor: `db`. Successors: memtables from new to old, then the version's tables.

use terrace_format::internal_key::{SEEK_KIND, SequenceNumber, ValueKind, append_internal_key};

use crate::error::Result;
use crate::memtable::{MemEntry, MemTable};
use crate::read::super_version::SuperVersion;
use crate::table::pinned_value::TableValue;
use crate::table::{BlockReadOptions, PinnedValue};
use crate::thread_buffer::with_buffer;
use crate::version::table_cache::TableCache;

/// A value from [`Db::get_pinned`](crate::Db::get_pinned), which is not copied if it lies in a cached block or a mapped table.
///
/// While it lives, it keeps that block or table in memory.
#[derive(Debug)]
pub enum Pinned {
    /// A copy of a value that was in a memtable.
    Copied(Vec<u8>),
    /// A value that was in a table.
    Block(PinnedValue),
}

impl AsRef<[u8]> for Pinned {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Copied(bytes) => bytes,
            Self::Block(value) => value.as_ref(),
        }
    }
}

impl Pinned {
    /// Turns this into a buffer that the caller owns; copies the value if it is still shared.
    pub fn into_vec(self) -> Vec<u8> {
        match self {
            Self::Copied(bytes) => bytes,
            Self::Block(value) => value.into_vec(),
        }
    }
}

/// Calls `found` with the value of `key` as of `sequence`. Returns `None` if there is no value. If the read fails, `found` stays
/// where it is.
#[inline]
pub(crate) fn get_with<R, F: FnOnce(Found<'_>) -> R>(
    view: &SuperVersion,
    tables: &TableCache,
    key: &[u8],
    sequence: u64,
    options: &BlockReadOptions,
    found: &mut Option<F>,
) -> Result<Option<R>> {
    let in_sealed = || view.sealed.iter().find_map(|sealed| lookup(&sealed.table, key, sequence));
    match lookup(&view.active, key, sequence).or_else(in_sealed) {
        Some((sequence, MemEntry::Value(value))) => {
            let entry = Found { sequence, value: FoundValue::InMemtable(value) };
            return Ok(found.take().map(|found| found(entry)));
        }
        Some((_, MemEntry::Deletion)) => return Ok(None),
        None => {}
    }
    let mut result = None;
    with_seek_key(key, sequence, |target| {
        view.version.get_with(target, tables, options, &mut |entry| {
            if entry.kind == ValueKind::Value {
                let entry = Found { sequence: entry.sequence, value: FoundValue::InTable(entry.value) };
                result = found.take().map(|found| found(entry));
            }
        })
    })?;
    Ok(result)
}

/// Asks the processor to fetch what a get of `key` reads first. That takes about half as long as the get itself, so ask
/// before doing something else.
pub(crate) fn prefetch(view: &SuperVersion, tables: &TableCache, key: &[u8], sequence: u64) {
    let sealed = view.sealed.iter().map(|sealed| &*sealed.table);
    let memtables = std::iter::once(&*view.active).chain(sealed);
    memtables.filter(|memtable| !memtable.is_empty()).for_each(|memtable| memtable.prefetch(key));
    with_seek_key(key, sequence, |target| view.version.prefetch(target, tables));
}

/// An entry that was found.
pub(crate) struct Found<'a> {
    /// The sequence number of the write that stored the value.
    pub(crate) sequence: SequenceNumber,
    pub(crate) value: FoundValue<'a>,
}

/// Where a value was found.
pub(crate) enum FoundValue<'a> {
    InMemtable(&'a [u8]),
    InTable(TableValue<'a>),
}

impl Found<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.value {
            FoundValue::InMemtable(bytes) => bytes,
            FoundValue::InTable(value) => value.bytes(),
        }
    }
}

fn lookup<'a>(memtable: &'a MemTable, key: &[u8], sequence: u64) -> Option<(SequenceNumber, MemEntry<'a>)> {
    if memtable.is_empty() { None } else { memtable.find(key, sequence) }
}

/// Builds the internal key to look up in a buffer that the thread keeps, so that a read allocates nothing.
fn with_seek_key<R>(key: &[u8], sequence: u64, read: impl FnOnce(&[u8]) -> R) -> R {
    thread_local! {
        static SEEK_KEY: std::cell::Cell<Vec<u8>> = const { std::cell::Cell::new(Vec::new()) };
    }
    const KEPT_CAPACITY_BYTES: usize = 64 << 10;
    with_buffer(&SEEK_KEY, KEPT_CAPACITY_BYTES, |target| {
        target.clear();
        append_internal_key(target, key, sequence, SEEK_KIND);
        read(target)
    })
}
