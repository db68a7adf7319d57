//! What the first bytes of a batch reveal about the whole: a log may end within one.

use std::ops::RangeInclusive;

use crate::coding::{decode_fixed32, decode_fixed64, read_varint32};
use crate::internal_key::SequenceNumber;
use crate::limits::{BATCH_HEADER_SIZE_BYTES, MAX_VARINT32_SIZE_BYTES};

/// The smallest operation: the deletion of an empty key.
const MIN_OPERATION_SIZE_BYTES: usize = 2;

/// What the first bytes of a batch say of the whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchBeginning {
    /// The sequence number of the first operation.
    pub sequence: SequenceNumber,
    /// How many operations the batch holds.
    pub count: u32,
    /// How many bytes the batch has, header included, as far as the lengths that are there say. `None` if the operations are
    /// none that a batch can hold.
    pub size_bytes: Option<RangeInclusive<usize>>,
}

impl BatchBeginning {
    /// Reads the beginning of a batch from `bytes`, which may continue after it. `None` if they are shorter than its
    /// header.
    ///
    /// ```
    /// use terrace_format::batch::{BatchBeginning, WriteBatch};
    ///
    /// let mut batch = WriteBatch::new();
    /// batch.put(b"key", b"value").unwrap();
    /// let bytes = batch.as_bytes();
    /// let size_bytes = |end: usize| BatchBeginning::read(&bytes[..end]).unwrap().size_bytes.unwrap();
    /// assert_eq!(bytes.len(), 23);
    /// // The last length that counts is at byte 17.
    /// assert_eq!((size_bytes(14), size_bytes(18), size_bytes(23)), (18..=usize::MAX, 23..=23, 23..=23));
    /// ```
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (header, operations) = bytes.split_at_checked(BATCH_HEADER_SIZE_BYTES)?;
        let count = decode_fixed32(&header[8..]);
        let size_bytes = sizes(operations, count).map(|sizes| {
            let (start, end) = sizes.into_inner();
            start.saturating_add(BATCH_HEADER_SIZE_BYTES)..=end.saturating_add(BATCH_HEADER_SIZE_BYTES)
        });
        Some(Self { sequence: decode_fixed64(header), count, size_bytes })
    }

    /// Where the batch ends, if that is within the `available` bytes that it was read from.
    pub fn end_within(&self, available: usize) -> Option<usize> {
        let sizes = self.size_bytes.as_ref()?;
        (sizes.start() == sizes.end() && *sizes.end() <= available).then_some(*sizes.end())
    }
}

/// How many bytes `count` operations have of which `bytes` are the first ones.
fn sizes(bytes: &[u8], count: u32) -> Option<RangeInclusive<usize>> {
    let mut at = 0usize;
    for left in (0..count).rev() {
        // At least so many bytes follow this operation.
        let after = MIN_OPERATION_SIZE_BYTES.saturating_mul(left as usize);
        let Some(&kind) = bytes.get(at) else {
            return Some(at.saturating_add(MIN_OPERATION_SIZE_BYTES).saturating_add(after)..=usize::MAX);
        };
        let strings = match kind {
            0 => 1,
            1 => 2,
            _ => return None,
        };
        at += 1;
        for later in (0..strings).rev() {
            let after = after.saturating_add(later);
            let Some((length, length_size)) = read_varint32(&bytes[at..]) else {
                // A length that is cut off has one more byte.
                let there = bytes.len() - at;
                return (there < MAX_VARINT32_SIZE_BYTES)
                    .then(|| (bytes.len() + 1).saturating_add(after)..=usize::MAX);
            };
            at = (at + length_size).saturating_add(length as usize);
            if at > bytes.len() {
                let at_least = at.saturating_add(after);
                return Some(at_least..=if after == 0 { at_least } else { usize::MAX });
            }
        }
    }
    Some(at..=at)
}
