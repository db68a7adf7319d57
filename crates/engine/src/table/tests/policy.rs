//! Filters that a program supplies: written, found and used under their own name.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use terrace_format::block::{Block, BlockIter};
use terrace_format::filter::FilterPolicy;

use super::support::{Entries, TestFile, build, bytewise, context, key, open_file, options};
use crate::table::{BlockReadOptions, Table, TableBuilderOptions, TableReadContext};

/// Filters that hold the keys themselves, each after its length.
#[derive(Debug, Default)]
struct WholeKeys {
    asked: AtomicUsize,
    denies_all: bool,
}

impl FilterPolicy for WholeKeys {
    fn name(&self) -> &[u8] {
        b"test.whole-keys"
    }

    fn create_filter(&self, user_keys: &[&[u8]]) -> Option<Vec<u8>> {
        Some(user_keys.iter().flat_map(|key| [&[key.len() as u8], *key].concat()).collect())
    }

    fn may_contain(&self, user_key: &[u8], filter: &[u8]) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let mut rest = filter;
        while let Some((length, tail)) = rest.split_first() {
            let (key, tail) = tail.split_at(usize::from(*length));
            if key == user_key {
                return !self.denies_all;
            }
            rest = tail;
        }
        false
    }
}

const ENTRIES: usize = 2_000;

fn entries() -> Entries {
    (0..ENTRIES).map(|n| (key(format!("{:06}", n * 2).as_bytes()), b"v".to_vec())).collect()
}

/// The file of a table, written with a policy or with Bloom filters.
fn file(with_policy: bool, maps: bool) -> Arc<TestFile> {
    let filter_policy = with_policy.then(|| Arc::<WholeKeys>::default() as Arc<dyn FilterPolicy>);
    let (bytes, _) = build(&entries(), &bytewise(), TableBuilderOptions { filter_policy, ..options() });
    TestFile::new_mapped(bytes, maps)
}

fn open_with(file: &Arc<TestFile>, policy: Option<&Arc<WholeKeys>>) -> Arc<Table> {
    let filter_policy = policy.map(|policy| Arc::clone(policy) as Arc<dyn FilterPolicy>);
    let context = TableReadContext { block_cache: None, filter_policy, ..context(&bytewise()) };
    open_file(Arc::clone(file), context).unwrap()
}

fn has(table: &Table, number: usize) -> bool {
    let key = key(format!("{number:06}").as_bytes());
    table.get(&key, &BlockReadOptions::default()).unwrap().is_some()
}

/// Counts the blocks that are read to look for keys that are not there.
fn reads_of_absent(file: &TestFile, table: &Table) -> usize {
    let before = file.reads();
    assert!((0..ENTRIES).all(|number| !has(table, number * 2 + 1)));
    file.reads() - before
}

#[test]
fn a_policy_is_named_in_the_metaindex_and_asked_for_every_key() {
    for maps in [false, true] {
        let file = file(true, maps);
        let policy = Arc::<WholeKeys>::default();
        let table = open_with(&file, Some(&policy));
        let metaindex =
            table.source.read_block(table.footer.metaindex, &BlockReadOptions::default()).unwrap();
        assert_eq!(names(&metaindex), ["filter.test.whole-keys", "terrace.counts"], "no hash index");
        table.verify().unwrap();
        policy.asked.store(0, Ordering::Relaxed);
        assert!((0..ENTRIES).all(|number| has(&table, number * 2)));
        assert_eq!(policy.asked.load(Ordering::Relaxed), ENTRIES);
        assert_eq!(reads_of_absent(&file, &table), 0);
    }
}

fn names(metaindex: &Block) -> Vec<String> {
    let mut names = Vec::new();
    let mut entries = BlockIter::new(metaindex);
    entries.seek_to_first().unwrap();
    while entries.valid() {
        names.push(String::from_utf8(entries.key().to_vec()).unwrap());
        entries.next().unwrap();
    }
    names
}

#[test]
fn a_policy_that_denies_its_own_keys_is_trusted_and_reported_by_verify() {
    let file = file(true, false);
    let table = open_with(&file, Some(&Arc::new(WholeKeys { denies_all: true, ..WholeKeys::default() })));
    assert!(!has(&table, 0));
    let error = table.verify().unwrap_err();
    assert!(error.to_string().contains("the filter denies a key"), "{error}");
}

#[test]
fn filters_of_a_policy_are_ignored_without_it_and_bloom_filters_are_used_with_it() {
    let of_policy = file(true, false);
    let table = open_with(&of_policy, None);
    table.verify().unwrap();
    assert!(has(&table, 0) && !has(&table, 1));
    assert!(reads_of_absent(&of_policy, &table) > ENTRIES / 2, "there is nothing to ask");

    // Mapped files too: a program that supplies a policy wants its filters and not the hash index.
    for maps in [false, true] {
        let of_bloom = file(false, maps);
        let policy = Arc::<WholeKeys>::default();
        let table = open_with(&of_bloom, Some(&policy));
        table.verify().unwrap();
        assert!((0..ENTRIES).all(|number| has(&table, number * 2)));
        assert!(reads_of_absent(&of_bloom, &table) < ENTRIES / 10);
        assert_eq!(policy.asked.load(Ordering::Relaxed), 0);
    }
}
