//! Finds a table's blocks without its index. Predecessor: a table whose footer or index is damaged. Successor:
//! [`table_salvage`](super::table_salvage).
//!
//! The block scan of `terrace_format` finds the blocks by their checksums. This module decides what each block is for.
//! After damage, a block counts only if it holds entries; others may be there by chance.
//!
//! The index is a block like any other, and it lists the places of all blocks, including the damaged ones. Its values
//! identify it: they are the handles of blocks that follow each other from the beginning of the file, wherever the file
//! ends now. If one of the handles is that of a data block that was found, the block is the index of this table, and
//! the scan follows it. Otherwise damage has moved the blocks, and the places in the index are wrong. It is then
//! skipped, because its entries are not data.
//!
//! A value may also hold a table. Blocks after a damaged place therefore count only if they lead, block by block, to
//! what the file's own footer names. Otherwise they may lie within a value of the damaged block and were never written
//! as entries.

use std::sync::Arc;

use terrace_env::RandomAccessFile;
use terrace_format::block::{Block, BlockIter};
use terrace_format::block_scan::{BlockScan, ScannedBlock};
use terrace_format::internal_key::parse_internal_key;
use terrace_format::limits::{BLOCK_TRAILER_SIZE_BYTES, FOOTER_SIZE_BYTES};
use terrace_format::table::{BlockHandle, Footer};

use crate::error::{ErrorKind, Result};
use crate::repair::repairer::read_options;
use crate::table::block_fetch::BlockSource;

/// What a block is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It holds entries of the table.
    Data,
    /// It holds entries that may be within a value of another block.
    PerhapsWithinValue,
    /// Its values are several handles.
    Index,
    /// Its only value is a handle: it is the index of a single block, or a data block with one entry.
    PerhapsIndex,
    /// A filter, the metaindex or another block after all data blocks.
    Other,
}

/// A block that an index lists, or that a scan found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundBlock {
    pub(super) handle: BlockHandle,
    /// No key of the block is greater: the index's separator, if there is an index.
    pub(super) separator: Option<Vec<u8>>,
    pub(super) role: Role,
}

impl FoundBlock {
    pub(super) fn listed(handle: BlockHandle, separator: &[u8]) -> Self {
        Self { handle, separator: Some(separator.to_vec()), role: Role::Data }
    }

    /// Where its trailer ends.
    pub(super) fn end(&self) -> u64 {
        self.handle.offset.saturating_add(self.handle.size).saturating_add(BLOCK_TRAILER_SIZE_BYTES as u64)
    }
}

/// The data blocks of the table that its index lists, if the scan finds the index; otherwise the blocks that were
/// found. In order.
pub(super) fn scan(
    file: &Arc<dyn RandomAccessFile>,
    size_bytes: u64,
    source: &BlockSource,
) -> Result<Vec<FoundBlock>> {
    // No writer leaves a hole, so a sparse file holds no blocks where it has no data.
    let end = size_bytes.min(file.end_of_data()?);
    let mut blocks = BlockScan::new(|offset, buffer: &mut [u8]| file.read_at(offset, buffer), end);
    let mut found: Vec<FoundBlock> = Vec::new();
    // The blocks listed by the last block that looks like an index.
    let mut index: Option<Vec<FoundBlock>> = None;
    // For each damaged place, the index in `found` of the first block after it.
    let mut resumptions: Vec<usize> = Vec::new();
    while let Some(ScannedBlock { handle, follows }) = blocks.next()? {
        let role = match classify(source, handle)? {
            // Most likely chance: a block without entries is accepted only where a block must begin.
            Contents::Other if !follows => {
                blocks.reject();
                continue;
            }
            Contents::Other => Role::Other,
            Contents::Entries => Role::Data,
            Contents::Handles(listed) if lists_one(&listed, &found) => return Ok(listed),
            Contents::Handles(listed) if listed[0].handle.offset == 0 => {
                let role = if listed.len() > 1 { Role::Index } else { Role::PerhapsIndex };
                index = Some(listed);
                role
            }
            Contents::Handles(_) => Role::Data,
        };
        if !follows {
            resumptions.push(found.len());
        }
        found.push(FoundBlock { handle, separator: None, role });
    }
    if let Some(listed) = index
        && found.iter().all(|block| block.role != Role::Data)
    {
        // Nothing is left of the data. The list tells which keys are lost.
        return Ok(listed);
    }
    doubt_blocks_after_damage(&mut found, &resumptions, read_footer(file, size_bytes)?);
    Ok(found)
}

/// Whether `listed` contains the handle of a data block that was found, and no entries were found after its last block. If so, it is the
/// index of this table, wherever damage has left copies of blocks.
///
/// A table within a value also has an index. If its blocks are all of one size and lie at multiples of it, their handles are those of
/// others of them. The last ones then lie after what its index lists.
fn lists_one(listed: &[FoundBlock], found: &[FoundBlock]) -> bool {
    let end = listed.last().map_or(0, FoundBlock::end);
    let mut has_listed = false;
    for block in found.iter().filter(|block| block.role != Role::Other) {
        if block.handle.offset >= end {
            return false;
        }
        let place = listed.binary_search_by_key(&block.handle.offset, |other| other.handle.offset);
        has_listed |= place.is_ok_and(|index| listed[index].handle == block.handle);
    }
    has_listed
}

/// Marks the blocks of entries after a damaged place that may lie within a value there. `resumptions` are the positions
/// in `found` of the blocks at which the walk resumed.
fn doubt_blocks_after_damage(found: &mut [FoundBlock], resumptions: &[usize], footer: Option<(Footer, u64)>) {
    let (Some(&first), Some(&last)) = (resumptions.first(), resumptions.last()) else { return };
    let leads_to_footer = footer.is_some_and(|(footer, offset)| {
        let chain = &found[last..];
        let names = |block: &FoundBlock| [footer.metaindex, footer.index].contains(&block.handle);
        // Bytes may be missing before the chain, and the footer then names places farther back.
        let ends_in_index = chain.last().is_some_and(|block| {
            block.end() == offset
                && block.handle.size == footer.index.size
                && block.handle.offset <= footer.index.offset
        });
        chain.iter().any(names) || ends_in_index
    });
    let end = if leads_to_footer { last } else { found.len() };
    for block in found[first..end].iter_mut().filter(|block| block.role == Role::Data) {
        block.role = Role::PerhapsWithinValue;
    }
}

/// The file's footer, if it has one, with its offset.
fn read_footer(file: &Arc<dyn RandomAccessFile>, size_bytes: u64) -> Result<Option<(Footer, u64)>> {
    let Some(offset) = size_bytes.checked_sub(FOOTER_SIZE_BYTES as u64) else { return Ok(None) };
    let mut bytes = [0; FOOTER_SIZE_BYTES];
    file.read_exact_at(offset, &mut bytes)?;
    Ok(Footer::decode(&bytes).ok().map(|footer| (footer, offset)))
}

enum Contents {
    Entries,
    /// Entries whose values are the handles of these blocks, as in an index.
    Handles(Vec<FoundBlock>),
    /// A filter, or the metaindex.
    Other,
}

fn classify(source: &BlockSource, handle: BlockHandle) -> Result<Contents> {
    let block = match source.read_block(handle, &read_options()) {
        Err(error) if matches!(error.kind(), ErrorKind::Corruption | ErrorKind::Unsupported) => {
            return Ok(Contents::Other);
        }
        block => block?,
    };
    if check_entries(&block).is_err() {
        return Ok(Contents::Other);
    }
    Ok(listed_blocks(&block).map_or(Contents::Entries, Contents::Handles))
}

/// Fails unless every entry decodes and every key is an internal key.
pub(super) fn check_entries(block: &Block) -> terrace_format::Result<()> {
    block.verify()?;
    let mut entries = BlockIter::new(block);
    entries.seek_to_first()?;
    while entries.valid() {
        parse_internal_key(entries.key())?;
        entries.next()?;
    }
    Ok(())
}

/// The blocks that `index` leads to, if each value is a handle and the blocks follow each other, in the file or beyond
/// its end. They must follow without a gap, as all writers store them, or else the entries must be stored as those of
/// an index are.
fn listed_blocks(index: &Block) -> Option<Vec<FoundBlock>> {
    let mut entries = BlockIter::new(index);
    let mut blocks = Vec::new();
    let (mut end, mut has_no_gap) = (0, true);
    entries.seek_to_first().ok()?;
    while entries.valid() {
        let (handle, rest) = BlockHandle::decode(entries.value()).ok()?;
        // The beginning of most values, text for example, can be read as a handle.
        if !rest.is_empty() {
            return None;
        }
        let range = handle.sealed_range(u64::MAX).ok()?;
        if range.start < end {
            return None;
        }
        has_no_gap &= blocks.is_empty() || range.start == end;
        end = range.end;
        blocks.push(FoundBlock::listed(handle, entries.key()));
        entries.next().ok()?;
    }
    let is_index = has_no_gap || index.has_only_restarts();
    (is_index && !blocks.is_empty()).then_some(blocks)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use terrace_env::{Env, MemoryEnv};
    use terrace_format::comparator::UserComparator;
    use terrace_format::compression::{Compression, CompressionIds};
    use terrace_format::internal_key::{InternalKeyComparator, ValueKind, append_internal_key};

    use super::*;
    use crate::cache::working_set::WorkingSet;
    use crate::table::{TableBuilder, TableBuilderOptions, TableReadContext};

    fn table(values: &[Vec<u8>], compression: Compression) -> Vec<u8> {
        let (env, path) = (MemoryEnv::new(), Path::new("/table"));
        let options = TableBuilderOptions {
            block_size_bytes: 512,
            restart_interval: 16,
            compression,
            filter_bits_per_key: 10,
            filter_policy: None,
            hash_index_percent: 100,
        };
        let comparator = InternalKeyComparator::new(UserComparator::Bytewise);
        let mut builder = TableBuilder::new(env.create(path).unwrap(), path.to_owned(), comparator, options);
        for (index, value) in values.iter().enumerate() {
            let mut key = Vec::new();
            append_internal_key(&mut key, &(index as u32).to_be_bytes(), 7, ValueKind::Value);
            builder.add(&key, value).unwrap();
        }
        builder.finish().unwrap();
        env.read_file(path).unwrap()
    }

    fn scan_bytes(bytes: &[u8]) -> Vec<FoundBlock> {
        let (env, path) = (MemoryEnv::new(), Path::new("/table"));
        let mut file = env.create(path).unwrap();
        file.append(bytes).unwrap();
        file.close().unwrap();
        let context = Arc::new(TableReadContext {
            comparator: InternalKeyComparator::new(UserComparator::Bytewise),
            block_cache: None,
            compression_ids: CompressionIds::LevelDb,
            use_filters: true,
            filter_policy: None,
            map_files: false,
            fit: WorkingSet::always(),
        });
        let file = env.open_random(path).unwrap();
        let (size, limit) = (bytes.len() as u64, (bytes.len() + FOOTER_SIZE_BYTES) as u64);
        let source = BlockSource::new(Arc::clone(&file), path.to_owned(), limit, context);
        scan(&file, size, &source).unwrap()
    }

    fn handles(blocks: &[FoundBlock]) -> Vec<BlockHandle> {
        blocks.iter().filter(|block| block.role == Role::Data).map(|block| block.handle).collect()
    }

    fn values(count: usize) -> Vec<Vec<u8>> {
        (0..count).map(|index| vec![index as u8; 20 + index % 50]).collect()
    }

    #[test]
    fn the_index_is_found_and_lists_blocks_that_are_damaged() {
        for compression in [Compression::None, Compression::Snappy] {
            let bytes = table(&values(300), compression);
            let whole = scan_bytes(&bytes);
            assert!(whole.len() > 5 && whole.iter().all(|block| block.separator.is_some()));
            for hit in [0, 1, whole.len() / 2, whole.len() - 1] {
                let mut damaged = bytes.clone();
                damaged[whole[hit].handle.offset as usize + 20] ^= 1;
                assert_eq!(handles(&scan_bytes(&damaged)), handles(&whole), "block {hit}");
            }
        }
    }

    fn footer_of(bytes: &[u8]) -> Footer {
        Footer::decode(&bytes[bytes.len() - FOOTER_SIZE_BYTES..]).unwrap()
    }

    #[test]
    fn without_the_index_all_blocks_are_found_but_the_damaged() {
        let bytes = table(&values(300), Compression::Snappy);
        let whole = handles(&scan_bytes(&bytes));
        for hit in [0, 3, whole.len() - 1] {
            let mut damaged = bytes.clone();
            damaged[whole[hit].offset as usize + 9] ^= 1;
            damaged[footer_of(&bytes).index.offset as usize + 9] ^= 1;
            let mut expected = whole.clone();
            expected.remove(hit);
            assert_eq!(handles(&scan_bytes(&damaged)), expected, "block {hit}");
        }
    }

    #[test]
    fn without_index_and_footer_blocks_behind_damage_may_be_parts_of_a_value() {
        let bytes = table(&values(300), Compression::Snappy);
        let whole = handles(&scan_bytes(&bytes));
        let data_end = {
            let last = whole.last().unwrap();
            last.offset + last.size + 5
        };
        for hit in [0, 3, whole.len() - 1] {
            let mut damaged = bytes[..data_end as usize].to_vec();
            damaged[whole[hit].offset as usize + 9] ^= 1;
            let found = scan_bytes(&damaged);
            assert_eq!(handles(&found), whole[..hit], "block {hit}");
            assert_eq!(found.len(), whole.len() - 1, "the others are named");
        }
    }

    #[test]
    fn a_table_within_a_value_is_never_taken_for_data() {
        let inner = table(&values(60)[7..], Compression::None);
        let mut outer = values(40);
        outer[20] = [&[b'v'; 700][..], &inner, &[b'v'; 100]].concat();
        let bytes = table(&outer, Compression::None);
        let whole = handles(&scan_bytes(&bytes));
        let holds_it = |handle: &&BlockHandle| handle.size > inner.len() as u64;
        let around = *whole.iter().find(holds_it).unwrap();
        let from_value = |handle: &BlockHandle| {
            around.offset < handle.offset && handle.offset < around.offset + around.size
        };
        let index = footer_of(&bytes).index.offset as usize;
        let cuts = [
            bytes.len(),
            index,
            (around.offset + around.size) as usize,
            around.offset as usize + 710 + inner.len(),
        ];
        for cut in cuts {
            let mut damaged = bytes[..cut].to_vec();
            damaged[around.offset as usize + 9] ^= 1;
            if cut > index {
                damaged[index + 9] ^= 1;
            }
            let found = handles(&scan_bytes(&damaged));
            assert!(!found.iter().any(from_value), "cut at {cut}: {found:?}");
            assert_eq!(found[0], whole[0], "what is before the damage stays");
        }
    }

    #[test]
    fn the_index_of_a_table_within_a_value_is_not_that_of_the_file_though_its_blocks_seem_to_be_listed() {
        // Blocks of one size: each is where the inner index says that another one is.
        let inner = table(&vec![vec![b'v'; 600]; 8], Compression::None);
        let blocks = handles(&scan_bytes(&inner));
        let stride = blocks[1].offset as usize;
        assert!(blocks.iter().all(|handle| handle.offset % stride as u64 == 0), "{blocks:?}");
        for before in [stride, 3 * stride] {
            let damaged = [&vec![b'x'; before][..], &inner[..inner.len() - FOOTER_SIZE_BYTES]].concat();
            assert!(handles(&scan_bytes(&damaged)).is_empty());
        }
    }

    #[test]
    fn an_index_is_no_data_wherever_bytes_are_missing() {
        let bytes = table(&values(60), Compression::None);
        let whole = handles(&scan_bytes(&bytes));
        for length in [1, 500, 600, bytes.len() / 2] {
            for start in (0..bytes.len() - length).step_by(151) {
                let mut damaged = bytes.clone();
                damaged.drain(start..start + length);
                for handle in handles(&scan_bytes(&damaged)) {
                    let back =
                        |handle: BlockHandle| BlockHandle { offset: handle.offset + length as u64, ..handle };
                    let is_data = whole.contains(&handle) || whole.contains(&back(handle));
                    assert!(is_data, "{length} bytes missing at {start}: {handle:?}");
                }
            }
        }
    }

    #[test]
    fn values_that_look_like_handles_are_no_index() {
        // An offset and a size, in ascending order, as the handles of the blocks before might be.
        let values: Vec<_> = (0..300u32).map(|index| vec![(index % 100) as u8, 0]).collect();
        let bytes = table(&values, Compression::None);
        let whole = handles(&scan_bytes(&bytes));
        assert!(whole.len() > 5);
        let data_end = whole.last().unwrap().offset + whole.last().unwrap().size + 5;
        assert_eq!(handles(&scan_bytes(&bytes[..data_end as usize])), whole);
    }

    #[test]
    fn text_that_reads_as_a_handle_is_no_index_though_all_before_it_is_lost() {
        // '1' and '0' stand for 49 and 48.
        let values = vec![vec![b'x'; 600], b"109:text".to_vec()];
        let bytes = table(&values, Compression::None);
        let whole = handles(&scan_bytes(&bytes));
        let last = *whole.last().unwrap();
        assert_eq!(whole.len(), 2);
        let mut damaged = bytes.clone();
        damaged[100] ^= 1;
        damaged[footer_of(&bytes).index.offset as usize + 1] ^= 1;
        assert_eq!(handles(&scan_bytes(&damaged)), [last]);
    }

    #[test]
    fn a_second_copy_of_the_index_is_not_taken_for_data() {
        let mut bytes = table(&values(300), Compression::None);
        let whole = handles(&scan_bytes(&bytes));
        let footer = bytes.split_off(bytes.len() - FOOTER_SIZE_BYTES);
        let index = terrace_format::table::Footer::decode(&footer).unwrap().index;
        bytes.extend_from_within(index.offset as usize..);
        assert_eq!(handles(&scan_bytes(&bytes)), whole);
    }

    #[test]
    fn a_large_block_is_found_and_noise_is_given_up() {
        let bytes = table(&[vec![1; 3_000_000], vec![2; 10]], Compression::None);
        assert_eq!(handles(&scan_bytes(&bytes)).len(), 2);
        let mut random = 1u64;
        let noise: Vec<u8> = (0..2_000_000)
            .map(|_| {
                random =
                    random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (random >> 56) as u8
            })
            .collect();
        assert!(scan_bytes(&noise).is_empty());
    }
}
