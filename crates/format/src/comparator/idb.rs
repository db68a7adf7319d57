//! `idb_cmp1`, the order of the keys in Chromium's IndexedDB databases.
//!
//! A database with this order opens only in programs that know it; most tools for LevelDB cannot read it. The order
//! is that of `CompareKeys` in Chromium's `content/browser/indexed_db/indexed_db_leveldb_coding.cc`;
//! `docs/format/comparators.md` describes the encoding of the keys. In short:
//!
//! ```text
//! +--------+-------------+-----------------+----------+-------------------------------------------------+
//! | widths | database id | object store id | index id | rest, by what the ids say                       |
//! | 1 byte | 1..8 bytes  | 1..8 bytes      | 1..4     | 0 0 0: global metadata · d 0 0: of a database   |
//! |        |             |                 |          | d s 1: record · d s 2: exists · d s 3: blob     |
//! |        |             |                 |          | d s 30…: index entry                            |
//! +--------+-------------+-----------------+----------+-------------------------------------------------+
//! ```
//!
//! # What cannot be decoded
//!
//! Chromium calls two keys equal when it cannot decode one of them, which is not an order. Here both keys are read in
//! step, field by field, and the first difference decides. A field that cannot be decoded comes after any that can.
//! If neither key can be decoded at the same field, the whole keys are compared byte by byte. Each key is thus a
//! sequence of fields compared one after the other, which makes this a total order over all byte strings. Where
//! Chromium can decode both keys, the order is Chromium's own, equalities (`-0` and `0`, bytes past the end)
//! included.

use std::cmp::Ordering;

use super::Comparator;
use crate::coding::read_varint64;
use crate::limits::MAX_IDB_KEY_DEPTH;

/// The name that Chromium stores for the order of its IndexedDB databases.
pub const IDB_NAME: &str = "idb_cmp1";

/// The order of the keys in Chromium's IndexedDB databases.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdbComparator;

impl Comparator for IdbComparator {
    fn name(&self) -> &[u8] {
        IDB_NAME.as_bytes()
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match compare_keys(&mut Fields(a), &mut Fields(b)) {
            Ok(()) => Ordering::Equal,
            Err(Verdict::Differ(ordering)) => ordering,
            Err(Verdict::Undecodable) => a.cmp(b),
        }
    }

    /// Leaves `start` unchanged, as Chromium does: not every byte string is a key.
    fn find_shortest_separator(&self, _start: &mut Vec<u8>, _limit: &[u8]) {}

    /// Leaves `key` unchanged, as Chromium does.
    fn find_short_successor(&self, _key: &mut Vec<u8>) {}
}

/// Why a comparison stops early.
enum Verdict {
    /// The fields read last differ.
    Differ(Ordering),
    /// Neither key can be decoded at this field.
    Undecodable,
}

/// `Ok` means equal so far.
type Comparison<T> = Result<T, Verdict>;

/// What both keys hold at one field. A key without a decodable value there comes last.
fn both<T>(a: Option<T>, b: Option<T>) -> Comparison<(T, T)> {
    match (a, b) {
        (Some(a), Some(b)) => Ok((a, b)),
        (Some(_), None) => Err(Verdict::Differ(Ordering::Less)),
        (None, Some(_)) => Err(Verdict::Differ(Ordering::Greater)),
        (None, None) => Err(Verdict::Undecodable),
    }
}

fn decide(ordering: Ordering) -> Comparison<()> {
    if ordering == Ordering::Equal { Ok(()) } else { Err(Verdict::Differ(ordering)) }
}

/// Reads and compares the next field of both keys; returns its value if they are equal.
fn field<'k, T: Ord>(
    a: &mut Fields<'k>,
    b: &mut Fields<'k>,
    read: impl Fn(&mut Fields<'k>) -> Option<T>,
) -> Comparison<T> {
    let (a, b) = both(read(a), read(b))?;
    decide(a.cmp(&b))?;
    Ok(a)
}

/// Type bytes of an encoded IndexedDB key, in the order in which the types sort.
///
/// Chromium's `IDBKeyType` in reverse: minimum key, number, date, string, binary, array, and the null type, which
/// serves as the maximum key.
const TYPES_IN_ORDER: [u8; 7] =
    [TYPE_MINIMUM, TYPE_NUMBER, TYPE_DATE, TYPE_STRING, TYPE_BINARY, TYPE_ARRAY, TYPE_NULL];
const TYPE_NULL: u8 = 0;
const TYPE_STRING: u8 = 1;
const TYPE_DATE: u8 = 2;
const TYPE_NUMBER: u8 = 3;
const TYPE_ARRAY: u8 = 4;
const TYPE_MINIMUM: u8 = 5;
const TYPE_BINARY: u8 = 6;

/// A key, from the next field on.
struct Fields<'k>(&'k [u8]);

impl<'k> Fields<'k> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn bytes(&mut self, count: usize) -> Option<&'k [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.bytes(1)?[0])
    }

    /// A signed integer of `width` bytes, at most eight, little-endian.
    fn int(&mut self, width: usize) -> Option<i64> {
        if width == 1 {
            // Nearly every id has one byte; this avoids a copy of variable length.
            return self.byte().map(i64::from);
        }
        let mut padded = [0; 8];
        padded[..width].copy_from_slice(self.bytes(width)?);
        Some(i64::from_le_bytes(padded))
    }

    fn varint(&mut self) -> Option<i64> {
        let (value, size) = read_varint64(self.0)?;
        self.0 = &self.0[size..];
        Some(value as i64)
    }

    /// The ids of the database, the object store and the index.
    fn prefix(&mut self) -> Option<(i64, i64, i64)> {
        let widths = usize::from(self.byte()?);
        Some((self.int((widths >> 5) + 1)?, self.int((widths >> 2 & 7) + 1)?, self.int((widths & 3) + 1)?))
    }

    /// The number of items that follow.
    fn count(&mut self) -> Option<u64> {
        self.varint()?.try_into().ok()
    }

    fn binary(&mut self) -> Option<&'k [u8]> {
        let size_bytes = self.count()?.try_into().ok()?;
        self.bytes(size_bytes)
    }

    /// A UTF-16 string, big-endian, so that comparing it byte by byte sorts it by code unit.
    fn string(&mut self) -> Option<&'k [u8]> {
        let size_bytes = self.count()?.checked_mul(2)?.try_into().ok()?;
        self.bytes(size_bytes)
    }

    /// A number, or a date in milliseconds. IndexedDB has no NaN as a key.
    fn double(&mut self) -> Option<f64> {
        let value = f64::from_le_bytes(self.bytes(8)?.try_into().ok()?);
        (!value.is_nan()).then_some(value)
    }

    /// The rank of the type of the IndexedDB key that starts here.
    fn key_rank(&mut self) -> Option<usize> {
        let byte = self.byte()?;
        TYPES_IN_ORDER.iter().position(|&known| known == byte)
    }

    /// The sequence number of an index entry; the inner `None` says that no primary key follows it.
    fn sequence_before_primary_key(&mut self) -> Option<Option<i64>> {
        if self.is_empty() {
            return Some(None);
        }
        let sequence = self.varint()?;
        Some((!self.is_empty()).then_some(sequence))
    }
}

fn compare_keys<'k>(a: &mut Fields<'k>, b: &mut Fields<'k>) -> Comparison<()> {
    let (database, object_store, index) = field(a, b, Fields::prefix)?;
    match (database, object_store, index) {
        (0, _, _) => compare_global_metadata(a, b),
        (_, 0, _) => compare_database_metadata(a, b),
        (_, _, 1..=3) => {
            if some_rest(a, b)? {
                compare_idb_keys(a, b)?;
            }
            Ok(())
        }
        (_, _, 30..) => compare_index_entries(a, b),
        _ => Err(Verdict::Undecodable),
    }
}

/// Whether anything follows. A key that ends here comes first.
fn some_rest<'k>(a: &Fields<'k>, b: &Fields<'k>) -> Comparison<bool> {
    decide((!a.is_empty()).cmp(&!b.is_empty()))?;
    Ok(!a.is_empty())
}

fn compare_global_metadata<'k>(a: &mut Fields<'k>, b: &mut Fields<'k>) -> Comparison<()> {
    match field(a, b, Fields::byte)? {
        // Schema version, largest database id, data version, two blob journals, two times: one key each.
        0..=6 => Ok(()),
        // Chromium's scopes (undo logs): compared as plain bytes.
        50 => decide(a.0.cmp(b.0)),
        // Free database id.
        100 => field(a, b, Fields::varint).map(drop),
        // Name of a database: origin, name.
        201 => {
            field(a, b, Fields::string)?;
            field(a, b, Fields::string).map(drop)
        }
        _ => Err(Verdict::Undecodable),
    }
}

fn compare_database_metadata<'k>(a: &mut Fields<'k>, b: &mut Fields<'k>) -> Comparison<()> {
    match field(a, b, Fields::byte)? {
        // Origin, name, two versions, largest object store id, next blob number: one key each.
        0..=5 => Ok(()),
        // Metadata of an object store: its id, the type of the metadata.
        50 => {
            field(a, b, Fields::varint)?;
            field(a, b, Fields::byte).map(drop)
        }
        // Metadata of an index: object store id, index id, the type of the metadata.
        100 => {
            field(a, b, Fields::varint)?;
            field(a, b, Fields::varint)?;
            field(a, b, Fields::byte).map(drop)
        }
        // Free object store id.
        150 => field(a, b, Fields::varint).map(drop),
        // Free index id: object store id, index id.
        151 => {
            field(a, b, Fields::varint)?;
            field(a, b, Fields::varint).map(drop)
        }
        // Name of an object store.
        200 => field(a, b, Fields::string).map(drop),
        // Name of an index: object store id, name.
        201 => {
            field(a, b, Fields::varint)?;
            field(a, b, Fields::string).map(drop)
        }
        _ => Err(Verdict::Undecodable),
    }
}

/// Compares the index key, then the primary key, then the sequence number, although the sequence number is stored
/// before the primary key. A key without a primary key comes first, whatever its sequence number.
fn compare_index_entries<'k>(a: &mut Fields<'k>, b: &mut Fields<'k>) -> Comparison<()> {
    if !some_rest(a, b)? {
        return Ok(());
    }
    compare_idb_keys(a, b)?;
    let (sequence_a, sequence_b) = both(a.sequence_before_primary_key(), b.sequence_before_primary_key())?;
    decide(sequence_a.is_some().cmp(&sequence_b.is_some()))?;
    if sequence_a.is_some() {
        compare_idb_keys(a, b)?;
    }
    decide(sequence_a.cmp(&sequence_b))
}

/// Compares the IndexedDB keys that start here. Nested arrays are walked without recursion, because the key decides
/// how deep they nest.
fn compare_idb_keys<'k>(a: &mut Fields<'k>, b: &mut Fields<'k>) -> Comparison<()> {
    // Number of elements still to come in the enclosing arrays (`outer`) and in the current one, for `a` and `b`. Two
    // separate variables, so that an array of plain keys, as in compound indexes, allocates nothing.
    let mut outer: Vec<(u64, u64)> = Vec::new();
    let mut present: Option<(u64, u64)> = None;
    loop {
        let rank = field(a, b, Fields::key_rank)?;
        match TYPES_IN_ORDER[rank] {
            TYPE_ARRAY => {
                let counts = both(a.count(), b.count())?;
                outer.extend(present.replace(counts));
            }
            TYPE_STRING => drop(field(a, b, Fields::string)?),
            TYPE_BINARY => drop(field(a, b, Fields::binary)?),
            TYPE_NUMBER | TYPE_DATE => {
                let (x, y) = both(a.double(), b.double())?;
                decide(x.partial_cmp(&y).unwrap_or(Ordering::Equal))?;
            }
            // The minimum and the maximum key consist of their type alone.
            _ => {}
        }
        // Close the arrays that end here. Of two arrays that were equal so far, the shorter one comes first.
        loop {
            match present {
                None => return Ok(()),
                Some((0, 0)) => present = outer.pop(),
                Some((left_a, left_b)) => {
                    decide((left_a > 0).cmp(&(left_b > 0)))?;
                    present = Some((left_a - 1, left_b - 1));
                    break;
                }
            }
        }
        if outer.len() >= MAX_IDB_KEY_DEPTH {
            return Err(Verdict::Undecodable);
        }
    }
}

#[cfg(test)]
mod tests;
