//! Write batches: operations that are stored together or not at all.
//!
//! ```text
//! +-------------------+----------------+------------------------------------------+
//! | sequence, fixed64 | count, fixed32 | count operations                         |
//! +-------------------+----------------+------------------------------------------+
//! put       01 · key, length-prefixed · value, length-prefixed
//! deletion  00 · key, length-prefixed
//! ```
//!
//! `sequence` is the sequence number of the first operation; each later operation has the next number. A batch has the
//! same bytes in memory as in the log, so a commit copies those bytes and nothing else.
//!
//! [`crate::log`] frames a batch as one record. In the memtable, its operations become internal keys
//! ([`crate::internal_key`]).

mod beginning;

pub use beginning::BatchBeginning;

use crate::coding::{Decoder, put_length_prefixed, read_varint32, varint_size_bytes};
use crate::error::{FormatError, Result};
use crate::internal_key::{MAX_SEQUENCE_NUMBER, SequenceNumber, ValueKind};
use crate::limits::{
    BATCH_HEADER_SIZE_BYTES, MAX_BATCH_SIZE_BYTES, MAX_KEY_SIZE_BYTES, MAX_VALUE_SIZE_BYTES,
};

const STRUCTURE: &str = "write batch";

/// One operation of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchOp<'a> {
    /// Stores `value` under `key`.
    Put {
        /// The user key.
        key: &'a [u8],
        /// The value.
        value: &'a [u8],
    },
    /// Deletes `key`, whether or not it is there.
    Delete {
        /// The user key.
        key: &'a [u8],
    },
}

impl<'a> BatchOp<'a> {
    /// The user key.
    #[inline]
    pub fn key(&self) -> &'a [u8] {
        match self {
            Self::Put { key, .. } | Self::Delete { key } => key,
        }
    }
}

/// A batch that is being filled or that was decoded.
#[derive(Clone, PartialEq, Eq)]
pub struct WriteBatch {
    bytes: Vec<u8>,
}

impl WriteBatch {
    /// An empty batch with sequence number 0.
    pub fn new() -> Self {
        Self::with_capacity(0)
    }

    /// An empty batch with room for operations of `size_bytes` bytes.
    pub fn with_capacity(size_bytes: usize) -> Self {
        let mut bytes = Vec::with_capacity(BATCH_HEADER_SIZE_BYTES + size_bytes);
        bytes.resize(BATCH_HEADER_SIZE_BYTES, 0);
        Self { bytes }
    }

    /// Takes the bytes of a batch, as [`WriteBatch::as_bytes`] gives them, and checks all of them: the operations,
    /// their count, the sequence numbers, and the limits. Every batch that can be written is therefore within the limits.
    /// [`BatchRef::parse`] reads what other writers have written, which may exceed them.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the header or an operation is cut off, if an operation is of an unknown kind, if the count is wrong,
    /// or if a sequence number is too large. `Unsupported` as for [`put`](Self::put).
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        check_limit("a write batch", bytes.len(), MAX_BATCH_SIZE_BYTES)?;
        for operation in BatchRef::parse(&bytes)?.iter() {
            let operation = operation?;
            check_limit("a key", operation.key().len(), MAX_KEY_SIZE_BYTES)?;
            if let BatchOp::Put { value, .. } = operation {
                check_limit("a value", value.len(), MAX_VALUE_SIZE_BYTES)?;
            }
        }
        Ok(Self { bytes })
    }

    /// Adds an operation that stores `value` under `key`. A failure leaves the batch unchanged.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the key exceeds [`MAX_KEY_SIZE_BYTES`], the value exceeds [`MAX_VALUE_SIZE_BYTES`], or the
    /// batch would exceed [`MAX_BATCH_SIZE_BYTES`].
    #[inline]
    pub fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        check_limit("a key", key.len(), MAX_KEY_SIZE_BYTES)?;
        check_limit("a value", value.len(), MAX_VALUE_SIZE_BYTES)?;
        self.grow(1 + length_prefixed_size_bytes(key) + length_prefixed_size_bytes(value))?;
        self.bytes.push(ValueKind::Value as u8);
        put_length_prefixed(&mut self.bytes, key);
        put_length_prefixed(&mut self.bytes, value);
        self.set_count(self.count() + 1);
        Ok(())
    }

    /// Adds an operation that deletes `key`. A failure leaves the batch unchanged.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the key exceeds [`MAX_KEY_SIZE_BYTES`] or the batch would exceed [`MAX_BATCH_SIZE_BYTES`].
    #[inline]
    pub fn delete(&mut self, key: &[u8]) -> Result<()> {
        check_limit("a key", key.len(), MAX_KEY_SIZE_BYTES)?;
        self.grow(1 + length_prefixed_size_bytes(key))?;
        self.bytes.push(ValueKind::Deletion as u8);
        put_length_prefixed(&mut self.bytes, key);
        self.set_count(self.count() + 1);
        Ok(())
    }

    /// Appends the operations of `other`, whose sequence number is ignored. A failure leaves the batch unchanged.
    ///
    /// # Errors
    ///
    /// `Unsupported` if the batch would exceed [`MAX_BATCH_SIZE_BYTES`].
    pub fn append(&mut self, other: &WriteBatch) -> Result<()> {
        let operations = &other.bytes[BATCH_HEADER_SIZE_BYTES..];
        self.grow(operations.len())?;
        self.bytes.extend_from_slice(operations);
        self.set_count(self.count() + other.count());
        Ok(())
    }

    /// Removes all operations, sets the sequence number to 0 and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.resize(BATCH_HEADER_SIZE_BYTES, 0);
    }

    /// Number of operations in the batch.
    #[inline]
    pub fn count(&self) -> u32 {
        self.as_batch_ref().count()
    }

    /// Whether the batch holds no operations.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.len() == BATCH_HEADER_SIZE_BYTES
    }

    /// Size of the batch in bytes, header included. The log adds its framing to that.
    #[inline]
    pub fn approximate_size_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The sequence number of the first operation; 0 until it is set.
    #[inline]
    pub fn sequence(&self) -> SequenceNumber {
        self.as_batch_ref().sequence()
    }

    /// Sets the sequence number of the first operation. The caller makes sure that the last operation's number is at
    /// most [`MAX_SEQUENCE_NUMBER`].
    #[inline]
    pub fn set_sequence(&mut self, sequence: SequenceNumber) {
        self.bytes[..8].copy_from_slice(&sequence.to_le_bytes());
    }

    /// The bytes that go into the log.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The same batch, borrowed.
    #[inline]
    pub fn as_batch_ref(&self) -> BatchRef<'_> {
        BatchRef { bytes: &self.bytes }
    }

    /// The operations in the order in which they were added.
    #[inline]
    pub fn iter(&self) -> BatchIter<'_> {
        self.as_batch_ref().iter()
    }

    fn grow(&mut self, size_bytes: usize) -> Result<()> {
        check_limit("a write batch", self.bytes.len().saturating_add(size_bytes), MAX_BATCH_SIZE_BYTES)?;
        self.bytes.reserve(size_bytes);
        Ok(())
    }

    fn set_count(&mut self, count: u32) {
        self.bytes[8..BATCH_HEADER_SIZE_BYTES].copy_from_slice(&count.to_le_bytes());
    }
}

impl Default for WriteBatch {
    fn default() -> Self {
        Self::new()
    }
}

impl<'a> IntoIterator for &'a WriteBatch {
    type Item = Result<BatchOp<'a>>;
    type IntoIter = BatchIter<'a>;

    fn into_iter(self) -> BatchIter<'a> {
        self.iter()
    }
}

impl std::fmt::Debug for WriteBatch {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("WriteBatch")
            .field("sequence", &self.sequence())
            .field("count", &self.count())
            .field("size_bytes", &self.bytes.len())
            .finish()
    }
}

/// A batch in borrowed bytes, such as a log record, with every byte checked.
#[derive(Clone, Copy, Debug)]
pub struct BatchRef<'a> {
    bytes: &'a [u8],
}

impl<'a> BatchRef<'a> {
    /// Checks `bytes` from end to end. Every item that [`BatchRef::iter`] then yields is `Ok`, so a caller that
    /// applies the operations one by one never stops halfway.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the header or an operation is cut off, if an operation is of an unknown kind, if the count is wrong,
    /// or if a sequence number is too large.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut decoder = Decoder::new(STRUCTURE, bytes);
        let sequence = decoder.fixed64("sequence")?;
        let count = u64::from(decoder.fixed32("count")?);
        let batch = Self { bytes };
        let mut found = 0u64;
        for operation in batch.iter() {
            operation?;
            found += 1;
        }
        if found != count {
            return Err(FormatError::corrupt(
                STRUCTURE,
                format!("the count is {count}, but there are {found} operations"),
                8,
            ));
        }
        if sequence.checked_add(count.saturating_sub(1)).is_none_or(|last| last > MAX_SEQUENCE_NUMBER) {
            return Err(FormatError::corrupt(STRUCTURE, format!("sequence {sequence} is too large"), 0));
        }
        Ok(batch)
    }

    /// The sequence number of the first operation.
    #[inline]
    pub fn sequence(&self) -> SequenceNumber {
        crate::coding::decode_fixed64(self.bytes)
    }

    /// Number of operations in the batch.
    #[inline]
    pub fn count(&self) -> u32 {
        crate::coding::decode_fixed32(&self.bytes[8..])
    }

    /// The operations in order.
    #[inline]
    pub fn iter(&self) -> BatchIter<'a> {
        BatchIter { operations: &self.bytes[BATCH_HEADER_SIZE_BYTES..], size_bytes: self.bytes.len() }
    }

    /// The bytes.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// Decodes the operations of a batch one by one. Ends after an error.
#[derive(Clone, Debug)]
pub struct BatchIter<'a> {
    operations: &'a [u8],
    size_bytes: usize,
}

impl<'a> BatchIter<'a> {
    /// The next operation, if it is whole.
    #[inline]
    fn decode(&mut self) -> Option<BatchOp<'a>> {
        let (&kind, rest) = self.operations.split_first()?;
        let (key, rest) = split_length_prefixed(rest)?;
        let (operation, rest) = match kind {
            0 => (BatchOp::Delete { key }, rest),
            1 => {
                let (value, rest) = split_length_prefixed(rest)?;
                (BatchOp::Put { key, value }, rest)
            }
            _ => return None,
        };
        self.operations = rest;
        Some(operation)
    }

    /// Describes what is wrong with the next operation, which is incomplete.
    #[cold]
    fn problem(&self) -> FormatError {
        let mut decoder = Decoder::new(STRUCTURE, self.operations);
        let mut read = || -> Result<()> {
            match decoder.bytes(1, "kind")?[0] {
                0 => decoder.length_prefixed("key")?,
                1 => decoder.length_prefixed("key").and_then(|_| decoder.length_prefixed("value"))?,
                other => return Err(FormatError::corrupt(STRUCTURE, format!("unknown kind {other}"), 0)),
            };
            Ok(())
        };
        let read = read();
        let mut error = read.err().unwrap_or_else(|| decoder.corrupt("an operation is incomplete"));
        error.offset += (self.size_bytes - self.operations.len()) as u64;
        error
    }
}

impl<'a> Iterator for BatchIter<'a> {
    type Item = Result<BatchOp<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.operations.is_empty() {
            return None;
        }
        if let Some(operation) = self.decode() {
            return Some(Ok(operation));
        }
        let error = self.problem();
        self.operations = &[];
        Some(Err(error))
    }
}

/// Splits a length-prefixed byte string from the start of `bytes`, and returns it with the rest; `None` if it is cut
/// off.
#[inline]
fn split_length_prefixed(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, size) = read_varint32(bytes)?;
    bytes[size..].split_at_checked(length as usize)
}

fn length_prefixed_size_bytes(bytes: &[u8]) -> usize {
    varint_size_bytes(bytes.len() as u64) + bytes.len()
}

#[inline]
fn check_limit(what: &str, size_bytes: usize, limit_bytes: usize) -> Result<()> {
    if size_bytes > limit_bytes { Err(over_limit(what, size_bytes, limit_bytes)) } else { Ok(()) }
}

#[cold]
fn over_limit(what: &str, size_bytes: usize, limit_bytes: usize) -> FormatError {
    FormatError::unsupported(
        STRUCTURE,
        format!("{what} of {size_bytes} bytes; the limit is {limit_bytes}"),
        0,
    )
}

#[cfg(test)]
mod tests;
