//! The order `idb_cmp1`, as in Chromium's IndexedDB: a total order over any bytes.

use std::cmp::Ordering;

use terrace_format::comparator::UserComparator;

use crate::input::Input;

/// The input is three keys: the lengths of two, a byte each, and their bytes; the rest is the third. Keys with a common
/// beginning are compared deepest, so one more byte gives the length of the beginning of the first key that the others
/// share.
pub fn run(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let shared = usize::from(input.byte());
    let first = input.string().to_vec();
    let begin = &first[..shared.min(first.len())];
    let second = [begin, input.string()].concat();
    let third = [begin, input.rest()].concat();
    for name in ["idb_cmp1", "leveldb.BytewiseComparator"] {
        let comparator = UserComparator::by_name(name).expect("a known comparator");
        check_order(&comparator, [&first, &second, &third]);
        check_separators(&comparator, [&first, &second, &third]);
    }
}

fn check_order(comparator: &UserComparator, keys: [&[u8]; 3]) {
    for a in keys {
        assert_eq!(comparator.compare(a, a), Ordering::Equal, "{a:x?}");
        for b in keys {
            let ordering = comparator.compare(a, b);
            assert_eq!(comparator.compare(b, a), ordering.reverse(), "{a:x?} {b:x?}");
            for c in keys {
                // a ≤ b ≤ c gives a ≤ c, and a < c unless all three are equal.
                let onward = comparator.compare(b, c);
                if ordering.is_le() && onward.is_le() {
                    assert_eq!(comparator.compare(a, c), ordering.then(onward), "{a:x?} {b:x?} {c:x?}");
                }
            }
        }
    }
}

fn check_separators(comparator: &UserComparator, keys: [&[u8]; 3]) {
    for start in keys {
        let mut successor = start.to_vec();
        comparator.find_short_successor(&mut successor);
        assert!(comparator.compare(start, &successor).is_le());
        for limit in keys {
            if comparator.compare(start, limit).is_lt() {
                let mut separator = start.to_vec();
                comparator.find_shortest_separator(&mut separator, limit);
                assert!(comparator.compare(start, &separator).is_le());
                assert!(comparator.compare(&separator, limit).is_lt());
            }
        }
    }
}
