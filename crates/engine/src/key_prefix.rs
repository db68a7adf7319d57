//! The beginning of a key as a number, so that most comparisons compare two numbers. Predecessors: the memtable's sort, and
//! the index of a table.

/// The number of a key's bytes that a word holds.
pub(crate) const WORD_BYTES: usize = size_of::<u64>();

/// The first eight bytes, padded with zeros, as a number that is ordered as the bytes are.
#[inline]
pub(crate) fn first_word(bytes: &[u8]) -> u64 {
    if let Some(word) = bytes.first_chunk() {
        return u64::from_be_bytes(*word);
    }
    let mut word = [0; WORD_BYTES];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_be_bytes(word)
}
