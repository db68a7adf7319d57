//! Inconsistent orders of keys, as a program may supply one by mistake. Calls may fail, but nothing panics, and every call
//! ends.

use std::cmp::Ordering;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use crate::support::{memory, tiny};
use terrace_engine::env::conformance::HANGS_AFTER;
use terrace_engine::{Comparator, Db, IterOptions, Options, ReadOptions, UserComparator, WriteOptions};

#[derive(Clone, Copy, Debug)]
enum NoOrder {
    AlwaysLess,
    AlwaysGreater,
    AlwaysEqual,
    /// Stone, paper, scissors, by the last byte.
    Circle,
    /// By bits of both keys that are unrelated.
    Hashed,
}

const KINDS: [NoOrder; 5] =
    [NoOrder::AlwaysLess, NoOrder::AlwaysGreater, NoOrder::AlwaysEqual, NoOrder::Circle, NoOrder::Hashed];

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(7, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

impl Comparator for NoOrder {
    fn name(&self) -> &[u8] {
        b"test.no-order"
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let hand = |key: &[u8]| key.last().map_or(0, |byte| byte % 3);
        match self {
            Self::AlwaysLess => Ordering::Less,
            Self::AlwaysGreater => Ordering::Greater,
            Self::AlwaysEqual => Ordering::Equal,
            Self::Circle if hand(a) == hand(b) => a.cmp(b),
            Self::Circle if (hand(a) + 1) % 3 == hand(b) => Ordering::Less,
            Self::Circle => Ordering::Greater,
            Self::Hashed => ((hash(a).wrapping_mul(31) ^ hash(b)) % 3).cmp(&1),
        }
    }

    fn find_shortest_separator(&self, _start: &mut Vec<u8>, _limit: &[u8]) {}

    fn find_short_successor(&self, _key: &mut Vec<u8>) {}
}

/// Steps and seeks in both directions, with more steps than there are entries.
fn walk(db: &Db, read: &ReadOptions) {
    let Ok(mut entries) = db.iter(IterOptions { read: read.clone(), ..IterOptions::default() }) else {
        return;
    };
    let _ = entries.seek_to_first();
    for _ in 0..3_000 {
        if entries.next().is_err() || !entries.valid() {
            break;
        }
    }
    let _ = entries.seek_to_last();
    for _ in 0..3_000 {
        if entries.prev().is_err() || !entries.valid() {
            break;
        }
    }
    for number in (0..700).step_by(23) {
        let key = format!("{number}");
        let _ = entries.seek(key.as_bytes());
        let _ = entries.next();
        let _ = entries.prev();
        let _ = entries.seek_for_prev(key.as_bytes());
        let _ = entries.prev();
        let _ = entries.next();
    }
}

fn use_database(kind: NoOrder) {
    let options = Options { comparator: UserComparator::Custom(Arc::new(kind)), ..tiny(memory()) };
    for _ in 0..2 {
        // What the first round left may be refused.
        let Ok(db) = Db::open(Path::new("/db"), options.clone()) else { break };
        let mut read = ReadOptions::default();
        for number in 0..1_500u64 {
            let key = format!("{}", number * 7919 % 700);
            let written = if number % 5 < 2 {
                db.delete(key.as_bytes(), &WriteOptions::default())
            } else {
                db.put(key.as_bytes(), key.as_bytes(), &WriteOptions::default())
            };
            if number % 250 == 0 {
                walk(&db, &read);
                let _ = db.get(key.as_bytes(), &read);
            }
            if number == 700 {
                read.snapshot = Some(db.snapshot());
            }
            if written.is_err() {
                break;
            }
        }
        walk(&db, &ReadOptions::default());
        let _ = db.compact_range(None, None);
        walk(&db, &ReadOptions::default());
        let _ = db.verify();
        let _ = db.close();
    }
    let _ = Db::repair(Path::new("/db"), &options);
}

#[test]
fn an_inconsistent_order_neither_panics_nor_runs_for_ever() {
    for kind in KINDS {
        let (done, finished) = mpsc::channel();
        let run = thread::spawn(move || {
            use_database(kind);
            let _ = done.send(());
        });
        match finished.recv_timeout(HANGS_AFTER) {
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("{kind:?} runs for ever"),
            _ => run.join().unwrap_or_else(|_| panic!("{kind:?} panics")),
        }
    }
}
