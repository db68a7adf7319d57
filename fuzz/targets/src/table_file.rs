//! Whole table files, through the engine's reader.

use std::path::Path;
use std::sync::Arc;

use terrace_engine::env::{Env, MemoryEnv};
use terrace_engine::{Result, TableFileIterator, TableFileOptions, TableFileReader, ValueKind};
use terrace_format::block::{Block, BlockIter};
use terrace_format::compression::{CompressionIds, decompress};
use terrace_format::limits::{BLOCK_TRAILER_SIZE_BYTES, FOOTER_SIZE_BYTES};
use terrace_format::table::{BlockHandle, Footer, TABLE_MAGIC, seal_block, split_block};

const PATH: &str = "/table.ldb";
/// Largest number of entries that a walk of a damaged table visits: its index may name one block over and over.
const MAX_ENTRIES: usize = 1000;

/// An entry as the reader shows it.
#[derive(Debug, PartialEq)]
struct Entry {
    key: Vec<u8>,
    sequence: u64,
    kind: ValueKind,
    value: Vec<u8>,
}

/// The input is a table file: used unmodified, and with magic number and checksums corrected.
pub fn run(bytes: &[u8]) {
    read(bytes);
    let mut mended = bytes.to_vec();
    if mend(&mut mended).is_some() {
        read(&mended);
    }
}

fn read(bytes: &[u8]) {
    let env = MemoryEnv::with_steps();
    let written = env.create(Path::new(PATH)).and_then(|mut file| {
        file.append(bytes)?;
        file.close()
    });
    written.expect("a file in memory can be written");
    let options = TableFileOptions { env: Arc::new(env), ..TableFileOptions::default() };
    let Ok(reader) = TableFileReader::open(PATH, options) else { return };

    let forward = walk(&reader, TableFileIterator::seek_to_first, TableFileIterator::next);
    let backward = walk(&reader, TableFileIterator::seek_to_last, TableFileIterator::prev);
    let is_verified = reader.verify().is_ok();
    for target in [&[][..], b"a", b"key0001", &[0xff; 9]] {
        let sought = seek(&reader, target);
        let found = reader.get(target);
        if is_verified {
            found.expect("a verified table can be asked");
            sought.expect("a verified table can be searched");
        }
    }
    if is_verified {
        check_verified(
            &reader,
            &forward.expect("it can be read"),
            &backward.expect("it can be read backwards"),
        );
    }
}

/// A table that `verify` passes must be completely usable.
fn check_verified(reader: &TableFileReader, forward: &[Entry], backward: &[Entry]) {
    if forward.len() < MAX_ENTRIES {
        assert!(forward.iter().eq(backward.iter().rev()), "both ways give different entries");
    }
    let mut previous = None;
    for entry in forward {
        if previous != Some(&entry.key) {
            let expected = (entry.kind == ValueKind::Value).then_some(&entry.value);
            let found = reader.get(&entry.key).expect("a verified table can be asked");
            assert_eq!(found.as_ref(), expected, "get of {:x?}", entry.key);
            let sought = seek(reader, &entry.key).expect("a verified table can be searched");
            assert_eq!(sought.as_ref(), Some(entry));
        }
        previous = Some(&entry.key);
    }
    if let Some(counts) = reader.counts() {
        assert!(forward.len() == MAX_ENTRIES || counts.entries == forward.len() as u64);
    }
}

fn walk(
    reader: &TableFileReader,
    start: impl Fn(&mut TableFileIterator) -> Result<()>,
    step: impl Fn(&mut TableFileIterator) -> Result<()>,
) -> Result<Vec<Entry>> {
    let mut iter = reader.iter();
    let mut entries = Vec::new();
    start(&mut iter)?;
    while iter.valid() && entries.len() < MAX_ENTRIES {
        entries.push(entry(&iter));
        step(&mut iter)?;
    }
    Ok(entries)
}

fn seek(reader: &TableFileReader, target: &[u8]) -> Result<Option<Entry>> {
    let mut iter = reader.iter();
    iter.seek(target)?;
    let found = iter.valid().then(|| entry(&iter));
    // From wherever that led, both steps must be possible, even after an error.
    let _ = iter.prev();
    let _ = iter.next();
    Ok(found)
}

fn entry(iter: &TableFileIterator) -> Entry {
    let (key, value) = (iter.key().to_vec(), iter.value().to_vec());
    Entry { key, sequence: iter.sequence(), kind: iter.kind(), value }
}

/// Writes the magic number, and the correct checksum after each block that footer, index and metaindex name, so that
/// the checksum does not reveal a change of a block. `None` if there is not even a footer.
fn mend(table: &mut [u8]) -> Option<()> {
    let footer_offset = table.len().checked_sub(FOOTER_SIZE_BYTES)?;
    table[footer_offset + FOOTER_SIZE_BYTES - 8..].copy_from_slice(&TABLE_MAGIC.to_le_bytes());
    let footer = Footer::decode(&table[footer_offset..]).ok()?;
    for handle in [footer.metaindex, footer.index] {
        let Some(block) = mend_block(table, handle) else { continue };
        let mut entries = BlockIter::new(&block);
        let mut result = entries.seek_to_first();
        while result.is_ok() && entries.valid() {
            if let Ok((handle, _)) = BlockHandle::decode(entries.value()) {
                mend_block(table, handle);
            }
            result = entries.next();
        }
    }
    // The blocks may overlap: these two come last, because nothing is read without them.
    mend_block(table, footer.metaindex);
    mend_block(table, footer.index);
    Some(())
}

/// Corrects the checksum of one block, and reads it as a block if it is one.
fn mend_block(table: &mut [u8], handle: BlockHandle) -> Option<Block> {
    let range = handle.sealed_range((table.len() - FOOTER_SIZE_BYTES) as u64).ok()?;
    let sealed = &mut table[range.start as usize..range.end as usize];
    let (id, contents) = split_block(sealed).ok()?;
    let trailer = seal_block(contents, id);
    let decompressed = decompress(id, contents, CompressionIds::LevelDb);
    let trailer_offset = sealed.len() - BLOCK_TRAILER_SIZE_BYTES;
    sealed[trailer_offset..].copy_from_slice(&trailer);
    Block::new(decompressed.ok()?).ok()
}
