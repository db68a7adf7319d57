//! A value that was read without a copy: a range of a block or of a mapped file, which the value keeps in memory.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use terrace_format::block::Block;

/// The bytes of a value, kept alive by this handle.
///
/// A value read from a table shares the block or the mapped file that it lies in. A small value may therefore keep a block
/// of some KiB, or a table that was deleted from the disk, in memory. To keep a value for long, copy it with
/// [`into_vec`](Self::into_vec). Cloning never copies a shared block.
#[derive(Clone)]
pub struct PinnedValue {
    source: Source,
}

#[derive(Clone)]
enum Source {
    /// `range` lies within the block's contents.
    Block {
        block: Arc<Block>,
        range: Range<usize>,
    },
    /// Part of a mapped file.
    InFile(Bytes),
    Owned(Vec<u8>),
}

/// A value in the place where it was found, for the duration of a call.
#[derive(Debug)]
pub(crate) enum TableValue<'a> {
    /// In a block, shared with the cache.
    InBlock { block: &'a Arc<Block>, range: Range<usize> },
    /// In a file that is mapped.
    InFile { file: &'a Bytes, value: &'a [u8] },
    /// In a buffer that will be used again.
    Copied(&'a [u8]),
}

impl<'a> TableValue<'a> {
    /// The value.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::InBlock { block, range } => &block.contents()[range.clone()],
            Self::InFile { value, .. } | Self::Copied(value) => value,
        }
    }

    /// Makes the value one to keep, without a copy where that is possible.
    pub(crate) fn pin(self) -> PinnedValue {
        let source = match self {
            Self::InBlock { block, range } => Source::Block { block: block.clone(), range },
            Self::InFile { file, value } => Source::InFile(file.slice_ref(value)),
            Self::Copied(value) => Source::Owned(value.to_vec()),
        };
        PinnedValue { source }
    }
}

impl PinnedValue {
    /// A copy of the bytes, or the bytes themselves if this value owns them.
    pub fn into_vec(self) -> Vec<u8> {
        match self.source {
            Source::Block { block, range } => block.contents()[range].to_vec(),
            Source::InFile(bytes) => bytes.to_vec(),
            Source::Owned(bytes) => bytes,
        }
    }
}

impl From<Vec<u8>> for PinnedValue {
    fn from(bytes: Vec<u8>) -> Self {
        Self { source: Source::Owned(bytes) }
    }
}

impl AsRef<[u8]> for PinnedValue {
    fn as_ref(&self) -> &[u8] {
        match &self.source {
            Source::Block { block, range } => &block.contents()[range.clone()],
            Source::InFile(bytes) => bytes,
            Source::Owned(bytes) => bytes,
        }
    }
}

impl fmt::Debug for PinnedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PinnedValue({} bytes)", self.as_ref().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_format::block::BlockBuilder;

    #[test]
    fn a_value_in_a_block_outlives_other_owners_of_the_block() {
        let mut builder = BlockBuilder::new(1);
        builder.add(b"key", b"some value");
        let block = Arc::new(Block::new(builder.finish().to_vec()).unwrap());
        let start = block.contents().windows(10).position(|window| window == b"some value").unwrap();
        let value = TableValue::InBlock { block: &block, range: start..start + 10 }.pin();
        drop(block);
        assert_eq!(value.as_ref(), b"some value");
        assert_eq!(value.clone().into_vec(), b"some value");
    }

    #[test]
    fn an_owned_value_gives_its_bytes_back() {
        let value = PinnedValue::from(b"abc".to_vec());
        assert_eq!(value.as_ref(), b"abc");
        assert_eq!(value.into_vec(), b"abc");
    }
}
