//! The conditions of a write, as the host passes them: one after another, without a count.
//!
//! | kind (1 byte) | what follows |
//! |---|---|
//! | 0: absent, 1: present | the key |
//! | 2: equals | the key, the value |
//! | 3: unchanged | the number of a snapshot (4 bytes), [`RangeFlags`] (1 byte), the lower and the upper bound |
//! | 4: version | the key, the version (8 bytes) |
//! | 5: unchanged since a version | the version (8 bytes), [`RangeFlags`] (1 byte), the lower and the upper bound |
//!
//! A key, a value and a bound are their length (4 bytes, [`NONE`] for a missing bound) and their bytes. Numbers are little-endian.

use std::ops::Bound;

use crate::{NONE, RangeFlags};

const ABSENT: u8 = 0;
const PRESENT: u8 = 1;
const EQUALS: u8 = 2;
const UNCHANGED: u8 = 3;
const VERSION: u8 = 4;

/// What must hold for a write.
#[derive(Debug)]
pub enum Condition<'a> {
    /// The key has no entry.
    Absent(&'a [u8]),
    /// The key has an entry.
    Present(&'a [u8]),
    /// The entry of the key has this value.
    Equals(&'a [u8], &'a [u8]),
    /// The range has the same entries as in the snapshot with this number.
    Unchanged(Range, u32),
    /// The entry of the key has this version.
    Version(&'a [u8], u64),
    /// Nothing in the range has changed since the state with this version.
    UnchangedSinceVersion(Range, u64),
}

/// The bounds of a range.
pub type Range = (Bound<Vec<u8>>, Bound<Vec<u8>>);

/// Returns the conditions in `input`, in order.
///
/// # Panics
/// If `input` has another form, which is a bug of the host.
pub fn conditions(mut input: &[u8]) -> Vec<Condition<'_>> {
    let mut conditions = Vec::new();
    while !input.is_empty() {
        conditions.push(next(&mut input));
    }
    conditions
}

fn next<'a>(input: &mut &'a [u8]) -> Condition<'a> {
    let [kind] = array(input);
    match kind {
        ABSENT => Condition::Absent(bytes(input)),
        PRESENT => Condition::Present(bytes(input)),
        EQUALS => Condition::Equals(bytes(input), bytes(input)),
        UNCHANGED => {
            let snapshot = u32::from_le_bytes(array(input));
            Condition::Unchanged(range(input), snapshot)
        }
        VERSION => Condition::Version(bytes(input), u64::from_le_bytes(array(input))),
        _ => {
            let version = u64::from_le_bytes(array(input));
            Condition::UnchangedSinceVersion(range(input), version)
        }
    }
}

fn range(input: &mut &[u8]) -> Range {
    let [flags] = array(input);
    let lower = bound(input).map(<[u8]>::to_vec);
    let upper = bound(input).map(<[u8]>::to_vec);
    RangeFlags(flags.into()).bounds(lower, upper)
}

fn bytes<'a>(input: &mut &'a [u8]) -> &'a [u8] {
    bound(input).unwrap_or_default()
}

fn bound<'a>(input: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = u32::from_le_bytes(array(input));
    (length != NONE).then(|| {
        let (bytes, rest) = input.split_at(length as usize);
        *input = rest;
        bytes
    })
}

fn array<const N: usize>(input: &mut &[u8]) -> [u8; N] {
    let (bytes, rest) = input.split_at(N);
    *input = rest;
    bytes.try_into().unwrap_or([0; N])
}

/// Adds the indices of conditions that do not hold to the output, 4 bytes each. Returns their number, for the host.
pub fn report_failed(failed: &[usize], output: &mut Vec<u8>) -> i32 {
    for index in failed {
        output.extend_from_slice(&(*index as u32).to_le_bytes());
    }
    failed.len() as i32
}
