//! Tables with sound checksums whose index and keys are out of order. Every walk must end, in both directions.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;

use crate::support::leveldb_files::{TableFile, block, internal_key, write_database};
use crate::support::{Random, memory, tiny};
use terrace_engine::env::Env;
use terrace_engine::env::conformance::HANGS_AFTER;
use terrace_engine::{Bounds, Db, IterOptions, Options, ValueKind};
use terrace_format::version_edit::FileEntry;

const DIRECTORY: &str = "/db";
const LAST_SEQUENCE: u64 = 60;
const LAST_SEQUENCE_OF_ALL: u64 = 100;

fn random_key(random: &mut Random) -> Vec<u8> {
    let name = [b'a' + random.below(5) as u8];
    let kind = if random.below(4) == 0 { ValueKind::Deletion } else { ValueKind::Value };
    internal_key(&name, random.below(LAST_SEQUENCE_OF_ALL), kind)
}

/// Makes a table of blocks of keys, sorted or not, that are listed in any order and more than once. Returns how many entries
/// the index leads to.
fn hostile_table(random: &mut Random) -> (Vec<u8>, u64) {
    let mut file = TableFile::default();
    let mut stored = Vec::new();
    for _ in 0..1 + random.below(4) {
        let mut entries: Vec<(Vec<u8>, Vec<u8>)> =
            (0..1 + random.below(30)).map(|_| (random_key(random), b"value".to_vec())).collect();
        if random.below(3) > 0 {
            // Sorted as it should be: by user key, newest first.
            entries.sort_by(|a, b| a.0[..1].cmp(&b.0[..1]).then(b.0[1..].cmp(&a.0[1..])));
        }
        let count = entries.len() as u64;
        stored.push((file.store(&block(&entries, 1 + random.below(16) as usize), 0), count));
    }
    let mut listed = 0;
    for _ in 0..1 + random.below(6) {
        let (handle, entries) = stored[random.below(stored.len() as u64) as usize];
        listed += entries;
        file.list(&random_key(random), handle);
    }
    (file.finish(), listed)
}

fn hostile_database(seed: u64) -> (Arc<dyn Env>, u64) {
    let mut random = Random(seed);
    let env = memory();
    let mut listed = 0;
    let mut tables = Vec::new();
    for number in 0..1 + random.below(3) {
        let (bytes, entries) = hostile_table(&mut random);
        listed += entries;
        let (smallest, largest) =
            (internal_key(b"a", 99, ValueKind::Value), internal_key(b"z", 0, ValueKind::Value));
        let entry = FileEntry { number: 5 + number, size_bytes: bytes.len() as u64, smallest, largest };
        tables.push((0, bytes, entry));
    }
    write_database(&*env, Path::new(DIRECTORY), LAST_SEQUENCE, tables);
    (env, listed)
}

/// Walks through all entries, in both directions and with turns. Damage may end a walk.
fn walk(seed: u64) -> Result<(), String> {
    let (env, listed) = hostile_database(seed);
    let options = Options { read_only: true, ..tiny(env) };
    let Ok(db) = Db::open(DIRECTORY, options) else { return Ok(()) };
    let walks = |bounds: Bounds| -> terrace_engine::Result<Option<&'static str>> {
        let mut iterator = db.iter(IterOptions { bounds, ..IterOptions::default() })?;
        let mut steps = 0;
        iterator.seek_to_last()?;
        while iterator.valid() {
            steps += 1;
            if steps > listed {
                return Ok(Some("backward"));
            }
            iterator.prev()?;
        }
        steps = 0;
        iterator.seek_to_first()?;
        while iterator.valid() {
            steps += 1;
            if steps > listed {
                return Ok(Some("forward"));
            }
            iterator.next()?;
        }
        let mut random = Random(seed);
        iterator.seek(b"c")?;
        for _ in 0..20 {
            if iterator.valid() {
                if random.below(2) == 0 { iterator.next()? } else { iterator.prev()? }
            }
        }
        Ok(None)
    };
    let bounds =
        [Bounds::default(), Bounds { lower: std::ops::Bound::Included(b"b".to_vec()), ..Bounds::default() }];
    for bounds in bounds {
        // Damage should give an error.
        if let Ok(Some(direction)) = walks(bounds) {
            return Err(format!("seed {seed}: more than {listed} steps {direction}"));
        }
    }
    Ok(())
}

#[test]
fn iteration_over_a_crafted_index_ends_in_both_directions() {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for seed in 0..4_000 {
            sender.send((seed, walk(seed))).unwrap();
        }
    });
    let mut last = None;
    loop {
        match receiver.recv_timeout(HANGS_AFTER) {
            Ok((seed, result)) => {
                result.unwrap_or_else(|problem| panic!("{problem}"));
                last = Some(seed);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("a walk after seed {last:?} does not end"),
        }
    }
    assert_eq!(last, Some(3_999));
}
