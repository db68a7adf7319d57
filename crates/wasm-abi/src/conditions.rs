//! The conditions of a write, as the host passes them: one after another, without a count.
//!
//! | kind (1 byte) | what follows |
//! |---|---|
//! | 0: absent, 1: present | the key |
//! | 2: equals | the key, the value |
//! | 3: unchanged | the number of a snapshot (4 bytes), [`RangeFlags`] (1 byte), the lower and the upper bound |
//!
//! A key, a value and a bound are their length (4 bytes, [`NONE`] for a missing bound) and their bytes. Numbers are little-endian.

use std::ops::Bound;

use crate::{NONE, RangeFlags};

const ABSENT: u8 = 0;
const PRESENT: u8 = 1;
const EQUALS: u8 = 2;

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
    Unchanged((Bound<Vec<u8>>, Bound<Vec<u8>>), u32),
}

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
        _ => {
            let snapshot = u32::from_le_bytes(array(input));
            let [flags] = array(input);
            let lower = bound(input).map(<[u8]>::to_vec);
            let upper = bound(input).map(<[u8]>::to_vec);
            Condition::Unchanged(RangeFlags(flags.into()).bounds(lower, upper), snapshot)
        }
    }
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
