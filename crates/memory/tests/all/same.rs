//! Comparing ranges of two maps.

use std::ops::Bound::{Excluded, Included, Unbounded};

use terrace_memory::Map;

/// So many entries that the tree has several levels.
const ENTRIES: u32 = 20_000;

fn key(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

fn filled() -> Map {
    let mut map = Map::default();
    for number in 0..ENTRIES {
        map.put(&key(number), b"value");
    }
    map
}

#[test]
fn a_range_is_the_same_until_an_entry_in_it_is_added_changed_or_deleted() {
    let before = filled();
    assert!(before.is_same_within(&filled(), (Unbounded, Unbounded)), "the same entries, nothing shared");
    assert!(Map::default().is_same_within(&Map::default(), (Unbounded, Unbounded)));

    for changed in [0, 1, 777, ENTRIES / 2, ENTRIES - 1] {
        let mut replaced = before.clone();
        replaced.put(&key(changed), b"other");
        let mut deleted = before.clone();
        deleted.remove(&key(changed));
        let mut added = before.clone();
        added.put(&[&key(changed)[..], b"+"].concat(), b"");

        for now in [&replaced, &deleted, &added] {
            for (map, other) in [(now, &before), (&before, now)] {
                assert!(!map.is_same_within(other, (Unbounded, Unbounded)), "{changed}");
                assert!(!map.is_same_within(other, (Included(&key(changed)), Unbounded)), "{changed}");
                assert!(!map.is_same_within(other, (Unbounded, Excluded(&key(changed + 1)))), "{changed}");
                assert!(map.is_same_within(other, (Unbounded, Excluded(&key(changed)))), "{changed}");
                assert!(map.is_same_within(other, (Included(&key(changed + 1)), Unbounded)), "{changed}");
            }
        }
        let rewritten = {
            let mut map = replaced;
            map.put(&key(changed), b"value");
            map
        };
        assert!(rewritten.is_same_within(&before, (Unbounded, Unbounded)), "{changed}");
    }
}
