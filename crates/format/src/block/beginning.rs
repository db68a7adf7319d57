//! Whether bytes can be the beginning of a block, before the rest of it is decompressed.

use super::block::Block;

/// Whether `bytes` can be the beginning of a block at least four times as long: every entry that lies within them
/// decodes, and no key equals the one before it. (Restart points take at most four sevenths of a block, so `bytes`
/// holds only entries.)
pub(crate) fn may_begin_block(bytes: &[u8]) -> bool {
    let mut key = Vec::new();
    let mut offset = 0;
    while let Some(entry) = Block::entry_in(bytes, offset) {
        if entry.shared > key.len() {
            return false;
        }
        let suffix = &bytes[entry.key_start..entry.value_start];
        if offset > 0 && key[entry.shared..] == *suffix {
            return false;
        }
        key.truncate(entry.shared);
        key.extend_from_slice(suffix);
        offset = entry.value_end;
    }
    // This entry reaches beyond the bytes or does not decode.
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::BlockBuilder;

    #[test]
    fn zeros_and_repeated_keys_begin_no_block() {
        assert!(!may_begin_block(&[0; 100]));
        let entry = [0, 1, 0, b'k'];
        assert!(may_begin_block(&entry));
        assert!(!may_begin_block(&entry.repeat(2)));
        assert!(!may_begin_block(&[0, 1, 0, b'k', 2, 1, 0, b'l']), "more shared than there is");
    }

    #[test]
    fn every_beginning_of_a_block_is_one() {
        let mut builder = BlockBuilder::new(16);
        builder.add(b"", b"the empty key");
        for number in 0..200u32 {
            builder.add(format!("key {number:04}").as_bytes(), &vec![0; number as usize]);
        }
        let block = builder.finish().to_vec();
        for length in 0..block.len() / 4 {
            assert!(may_begin_block(&block[..length]), "{length}");
        }
    }
}
