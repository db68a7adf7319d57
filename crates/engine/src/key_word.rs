//! The beginning of a key as a number, so that most comparisons are of two numbers. Predecessors: the memtable's sort, and
//! the index of a table.

/// Bytes of a key that a word holds.
pub(crate) const WORD_BYTES: usize = size_of::<u64>();

/// The first eight bytes as a number, in whose order they are; zeros stand for bytes that are not there.
#[inline]
pub(crate) fn first_word(bytes: &[u8]) -> u64 {
    if let Some(word) = bytes.first_chunk() {
        return u64::from_be_bytes(*word);
    }
    let mut word = [0; WORD_BYTES];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_be_bytes(word)
}
