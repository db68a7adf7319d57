//! Blocks: walking in both directions, seeking, finding.

use std::collections::BTreeMap;

use terrace_format::block::{Block, BlockBuilder, BlockIter};
use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::{InternalKeyComparator, KeyCompare};

use crate::input::Input;

type Entry = (Vec<u8>, Vec<u8>);
type Entries = Vec<Entry>;
type LookUp = terrace_format::Result<Option<Entry>>;

/// The input is a block's contents, followed by keys for a block of our own.
pub fn run(bytes: &[u8]) {
    if let Ok(block) = Block::new(bytes.to_vec()) {
        check(&block, &bytes[..bytes.len().min(12)]);
    }
    build(bytes);
}

fn check(block: &Block, target: &[u8]) {
    let forward = walk(block, BlockIter::seek_to_first, BlockIter::next);
    let backward = walk(block, BlockIter::seek_to_last, BlockIter::prev);
    let idb = UserComparator::by_name("idb_cmp1").expect("a known comparator");
    let _ = look_up(block, &InternalKeyComparator::new(idb), target);
    let _ = look_up(block, &InternalKeyComparator::new(UserComparator::Bytewise), target);
    let (sought, found) = look_up(block, &UserComparator::Bytewise, target);

    if block.verify().is_ok() {
        let forward = forward.expect("a verified block can be read");
        let backward = backward.expect("a verified block can be read backwards");
        assert!(forward.iter().eq(backward.iter().rev()), "both ways give different entries");
        if forward.is_sorted_by(|(a, _), (b, _)| a < b) {
            let expected = forward.iter().find(|(key, _)| **key >= *target);
            assert_eq!(sought.expect("a verified block can be sought in").as_ref(), expected);
            assert_eq!(found.expect("a verified block can be searched").as_ref(), expected);
        }
    }
}

/// All entries in one direction; `None` if one is damaged. Fails if there are more than there can be.
fn walk<'a>(
    block: &'a Block,
    start: impl Fn(&mut BlockIter<&'a Block>) -> terrace_format::Result<()>,
    step: impl Fn(&mut BlockIter<&'a Block>) -> terrace_format::Result<()>,
) -> Option<Entries> {
    let mut entries = Vec::new();
    let mut iter = BlockIter::new(block);
    let mut result = start(&mut iter);
    while result.is_ok() && iter.valid() {
        entries.push((iter.key().to_vec(), iter.value().to_vec()));
        assert!(entries.len() <= block.size_bytes(), "the walk does not end");
        result = step(&mut iter);
    }
    assert!(!iter.valid());
    result.ok().map(|()| entries)
}

/// The first entry at or after `target`, by a cursor's seek and by `find`. The two agree if the block is sound and
/// its keys ascend; otherwise each may lead somewhere else.
fn look_up(block: &Block, comparator: &impl KeyCompare, target: &[u8]) -> (LookUp, LookUp) {
    let mut iter = BlockIter::new(block);
    let sought = iter
        .seek(comparator, target)
        .map(|()| iter.valid().then(|| (iter.key().to_vec(), iter.value().to_vec())));
    let mut key = Vec::new();
    let found = block.find(comparator, target, &mut key);
    let found = found.map(|range| range.map(|range| (key.clone(), block.contents()[range].to_vec())));

    // From wherever that led, both steps must be possible, and the step back must end where it began.
    if iter.valid() && iter.prev().is_ok() && iter.valid() && iter.next().is_ok() && block.verify().is_ok() {
        let back = iter.valid().then(|| (iter.key().to_vec(), iter.value().to_vec()));
        assert_eq!(Some(&back), sought.as_ref().ok());
    }
    (sought, found)
}

fn build(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut builder = BlockBuilder::new(usize::from(input.byte() % 20) + 1);
    let mut entries = BTreeMap::new();
    while !input.is_empty() {
        entries.insert(input.string(), input.string());
    }
    for (key, value) in &entries {
        builder.add(key, value);
    }
    let block = Block::new(builder.finish().to_vec()).expect("what we write can be read");
    block.verify().expect("what we write is right");
    for target in entries.keys().copied().chain([&[][..], &[0x80]]) {
        check(&block, target);
    }
    let read = walk(&block, BlockIter::seek_to_first, BlockIter::next).expect("what we write can be read");
    assert!(read.iter().map(|(key, value)| (&key[..], &value[..])).eq(entries));
}
