//! For the same batches, the log is LevelDB's, byte for byte.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use terrace_engine::{Db, Options, WriteBatch, WriteOptions};
use terrace_format::log::LogEncoder;
use terrace_testkit::form::scaled;
use terrace_testkit::kills::leveldb;
use terrace_testkit::operations_file;
use terrace_testkit::random::{Random, seed};

/// Keys with their value, or `None` if deleted.
type Batch = Vec<(Vec<u8>, Option<Vec<u8>>)>;

const BLOCK_SIZE_BYTES: usize = 32 << 10;
/// Large enough for everything that a test writes, so that there is one log.
const WRITE_BUFFER_BYTES: usize = 64 << 20;

fn write_batch(batch: &Batch) -> WriteBatch {
    let mut operations = WriteBatch::new();
    for (key, value) in batch {
        match value {
            Some(value) => operations.put(key, value),
            None => operations.delete(key),
        }
        .unwrap();
    }
    operations
}

fn write_by_terrace(directory: &Path, batches: &[Batch], options: Options) {
    let options = Options { write_buffer_size_bytes: WRITE_BUFFER_BYTES, ..options };
    let db = Db::open(directory, options).unwrap();
    for batch in batches {
        db.write(write_batch(batch), &WriteOptions::default()).unwrap();
    }
    db.close().unwrap();
}

fn only_log(directory: &Path) -> Vec<u8> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let logs: Vec<_> = entries.filter(|path| path.extension().is_some_and(|name| name == "log")).collect();
    assert_eq!(logs.len(), 1, "{logs:?}");
    fs::read(&logs[0]).unwrap()
}

/// Checks that both write the same log, mapped or not, and returns its size.
fn assert_same_log(batches: &[Batch]) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let operations = directory.path().join("operations");
    operations_file::save(&operations, batches).unwrap();
    leveldb::apply(&directory.path().join("leveldb"), &operations, WRITE_BUFFER_BYTES).unwrap();
    let expected = only_log(&directory.path().join("leveldb"));
    for (name, map_log) in [("mapped", true), ("unmapped", false)] {
        let ours = directory.path().join(name);
        write_by_terrace(&ours, batches, Options { map_log, ..Options::default() });
        let found = only_log(&ours);
        let differs = found.iter().zip(&expected).position(|(ours, theirs)| ours != theirs);
        assert_eq!(differs, None, "{name}: the first byte that differs");
        assert_eq!(found.len(), expected.len(), "{name}");
    }
    expected.len()
}

/// Batches of one put that end, one after the other, that many bytes before the end of a block.
fn ending_before_block_ends(remainders: impl IntoIterator<Item = usize>) -> Vec<Batch> {
    let mut encoder = LogEncoder::new();
    let mut log = Vec::new();
    let mut batches = Vec::new();
    for (number, left) in remainders.into_iter().enumerate() {
        let batch_of = |size| vec![(format!("key {number:04}").into_bytes(), Some(vec![number as u8; size]))];
        let ends_well = |size: &usize| {
            let end = log.len() + encoder.encoded_size_bytes(write_batch(&batch_of(*size)).as_bytes().len());
            (end + left).is_multiple_of(BLOCK_SIZE_BYTES)
        };
        // Large enough that the length always takes three bytes, and each size gives another end.
        let size = (16_500..16_500 + BLOCK_SIZE_BYTES + 8).find(ends_well).expect("a size that ends there");
        let batch = batch_of(size);
        let mut operations = write_batch(&batch);
        operations.set_sequence(number as u64 + 1);
        encoder.encode_into(operations.as_bytes(), &mut log);
        batches.push(batch);
    }
    batches
}

/// Puts of values of one size, `total_bytes` in total.
fn puts(value_bytes: usize, total_bytes: usize) -> Vec<Batch> {
    let mut random = Random::new(7);
    (0..total_bytes / value_bytes)
        .map(|number| vec![(format!("{number:06}").into_bytes(), Some(random.bytes(value_bytes)))])
        .collect()
}

fn random_batches(random: &mut Random) -> Vec<Batch> {
    (0..300)
        .map(|_| {
            let longest = random.choose(&[10, 100, 3_000, 12_000, 40_000, 200_000]);
            (0..random.choose(&[1, 1, 2, 10]))
                .map(|_| {
                    let key = format!("{:04}", random.below(500)).into_bytes();
                    let size = random.below(longest + 1);
                    (key, (!random.one_in(4)).then(|| random.bytes(size)))
                })
                .collect()
        })
        .collect()
}

/// Whether LevelDB is here. If not, prints once that the test compared nothing.
fn has_leveldb(test: &str) -> bool {
    if !leveldb::is_there() {
        // Written without a macro, whose output the test runner would hide.
        let _ = writeln!(std::io::stderr(), "skipped, no LevelDB to compare with: {test}");
    }
    leveldb::is_there()
}

#[test]
fn records_that_end_where_a_block_ends_or_just_before_are_leveldbs() {
    if has_leveldb("records that end where a block ends") {
        // After 7 bytes, a header fits but no byte of the next record. Each remainder follows every other one.
        let remainders = (0..=8).flat_map(|one| (0..=8).flat_map(move |other| [one, other]));
        assert_same_log(&ending_before_block_ends(remainders));
    }
}

#[test]
fn records_of_many_blocks_are_leveldbs() {
    if has_leveldb("records of many blocks") {
        let sizes = [100, 40_000, 1 << 20, 0, 65_536, 3 * BLOCK_SIZE_BYTES - 7, 5_000_000, 1];
        let batches: Vec<Batch> =
            sizes.map(|size| vec![(b"key".to_vec(), Some(vec![b'v'; size]))]).into_iter().collect();
        assert_same_log(&batches);
    }
}

#[test]
fn random_batches_are_leveldbs() {
    if has_leveldb("random batches") {
        let first = seed();
        for seed in first..first + scaled(3) {
            println!("TERRACE_SEED={seed}");
            assert_same_log(&random_batches(&mut Random::new(seed)));
        }
    }
}

#[test]
fn a_log_of_values_of_11_or_16_kib_takes_no_more_room_than_they_do() {
    if has_leveldb("values of 11 and 16.5 kB") {
        for value_bytes in [11_000, 11 << 10, 16_500, 33 << 9] {
            let batches = puts(value_bytes, 8_000_000);
            let size_bytes = assert_same_log(&batches);
            let payload_bytes = batches.len() * value_bytes;
            println!("{value_bytes}: {size_bytes} bytes for {payload_bytes}");
            assert!(size_bytes * 100 < payload_bytes * 101, "{size_bytes} bytes for {payload_bytes}");
        }
    }
}
