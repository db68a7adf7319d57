//! Histories of changes at random, beside a map of the standard library, with snapshots that must not change.

use std::collections::BTreeMap;
use std::ops::Bound;

use proptest::prelude::*;
use terrace_memory::Map;

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

#[derive(Clone, Debug)]
enum Step {
    Put(Vec<u8>, usize, u8),
    Remove(Vec<u8>),
    RemoveRange(Bound<Vec<u8>>, Bound<Vec<u8>>, bool, usize),
    Clear,
    Snapshot,
    DropSnapshot(usize),
}

/// Keys of few letters, so that they meet; some are long.
fn key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => prop::collection::vec(prop::sample::select(vec![0u8, 1, 97, 98, 99, 255]), 0..6),
        8 => (0u32..3000).prop_map(|number| format!("prefix{number:05}").into_bytes()),
        1 => (0usize..9000).prop_map(|length| vec![b'l'; length]),
    ]
}

fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
    prop_oneof![key().prop_map(Bound::Included), key().prop_map(Bound::Excluded), Just(Bound::Unbounded)]
}

fn step() -> impl Strategy<Value = Step> {
    let length = prop_oneof![8 => 0usize..130, 2 => Just(513), 1 => 500usize..6000];
    prop_oneof![
        60 => (key(), length, any::<u8>()).prop_map(|(key, length, byte)| Step::Put(key, length, byte)),
        30 => key().prop_map(Step::Remove),
        3 => (bound(), bound(), any::<bool>(), prop_oneof![0usize..50, Just(usize::MAX)])
            .prop_map(|(lower, upper, reverse, limit)| Step::RemoveRange(lower, upper, reverse, limit)),
        1 => Just(Step::Clear),
        4 => Just(Step::Snapshot),
        3 => (0usize..8).prop_map(Step::DropSnapshot),
    ]
}

fn is_possible(lower: &Bound<Vec<u8>>, upper: &Bound<Vec<u8>>) -> bool {
    match (lower, upper) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => true,
        (Bound::Included(a), Bound::Included(b)) => a <= b,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => a < b,
    }
}

fn borrowed(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

fn apply(step: &Step, map: &mut Map, model: &mut Model) {
    match step {
        Step::Put(key, length, byte) => {
            let value = vec![*byte; *length];
            map.put(key, &value);
            model.insert(key.clone(), value);
        }
        Step::Remove(key) => assert_eq!(map.remove(key), model.remove(key).is_some()),
        Step::RemoveRange(lower, upper, reverse, limit) => {
            map.remove_range((borrowed(lower), borrowed(upper)), *reverse, *limit);
            if is_possible(lower, upper) {
                let within = model.range((lower.clone(), upper.clone())).map(|(key, _)| key.clone());
                let keys: Vec<_> = if *reverse {
                    within.rev().take(*limit).collect()
                } else {
                    within.take(*limit).collect()
                };
                keys.iter().for_each(|key| drop(model.remove(key)));
            }
        }
        Step::Clear => {
            map.clear();
            model.clear();
        }
        Step::Snapshot | Step::DropSnapshot(_) => {}
    }
}

fn check(map: &Map, model: &Model) {
    assert_eq!(map.len(), model.len());
    assert_eq!(map.is_empty(), model.is_empty());
    assert_eq!(map.data_bytes(), model.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>());
    for reverse in [false, true] {
        let mut cursor = map.cursor();
        cursor.seek_within((Bound::Unbounded, Bound::Unbounded), reverse);
        let mut found = Vec::new();
        while let Some((key, value)) = cursor.entry() {
            found.push((key.to_vec(), value.to_vec()));
            cursor.step(reverse);
        }
        if reverse {
            found.reverse();
        }
        assert!(found.iter().map(|(key, value)| (key, value)).eq(model.iter()));
    }
}

fn check_key(map: &Map, model: &Model, key: &[u8]) {
    assert_eq!(map.get(key), model.get(key).map(Vec::as_slice));
    let mut cursor = map.cursor();
    for lower in [Bound::Included(key), Bound::Excluded(key)] {
        cursor.seek(lower);
        let expected = model.range::<[u8], _>((lower, Bound::Unbounded)).next();
        assert_eq!(cursor.entry(), expected.map(|(key, value)| (&key[..], &value[..])));
    }
    for upper in [Bound::Included(key), Bound::Excluded(key)] {
        cursor.seek_back(upper);
        let expected = model.range::<[u8], _>((Bound::Unbounded, upper)).next_back();
        assert_eq!(cursor.entry(), expected.map(|(key, value)| (&key[..], &value[..])));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_history_is_that_of_a_map(steps in prop::collection::vec(step(), 1..600), keys in prop::collection::vec(key(), 20)) {
        let (mut map, mut model) = (Map::default(), Model::new());
        let mut snapshots: Vec<(Map, Model)> = Vec::new();
        for step in &steps {
            apply(step, &mut map, &mut model);
            match step {
                Step::Snapshot => snapshots.push((map.clone(), model.clone())),
                Step::DropSnapshot(index) if *index < snapshots.len() => drop(snapshots.swap_remove(*index)),
                _ => {}
            }
        }
        for (map, model) in snapshots.iter().chain([&(map, model)]) {
            check(map, model);
            keys.iter().for_each(|key| check_key(map, model, key));
        }
    }
}

/// Numbers that are all different and look random.
fn scattered(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[test]
fn many_entries_in_any_order_are_found_and_deleted() {
    let orders: [fn(u64) -> u64; 3] = [|i| i, |i| u64::MAX - i, scattered];
    for order in orders {
        let (mut map, mut model) = (Map::default(), Model::new());
        for i in 0..60_000 {
            let key = order(i).to_be_bytes();
            map.put(&key, &i.to_le_bytes());
            model.insert(key.to_vec(), i.to_le_bytes().to_vec());
        }
        check(&map, &model);
        let before = (map.clone(), model.clone());
        for i in (0..60_000).filter(|i| i % 50 != 0) {
            assert!(map.remove(&order(i).to_be_bytes()));
            model.remove(&order(i).to_be_bytes()[..]);
        }
        check(&map, &model);
        check(&before.0, &before.1);
        for key in model.into_keys() {
            assert!(map.remove(&key));
        }
        check(&map, &Model::new());
    }
}

#[test]
fn entries_written_in_order_are_all_seen_while_they_are_deleted_from_either_end() {
    for from_end in [false, true] {
        let (mut map, mut model) = (Map::default(), Model::new());
        for i in 0..40_000u64 {
            map.put(&i.to_be_bytes(), &[7; 100]);
            model.insert(i.to_be_bytes().to_vec(), vec![7; 100]);
        }
        for i in 0..40_000u64 {
            let key = (if from_end { 39_999 - i } else { i }).to_be_bytes();
            assert!(map.remove(&key));
            model.remove(&key[..]);
            if i % 1733 == 0 || i > 39_950 {
                check(&map, &model);
            }
        }
    }
}
