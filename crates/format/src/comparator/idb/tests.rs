use proptest::prelude::*;

use super::*;
use crate::coding::put_varint64;

/// An IndexedDB key, ordered as the IndexedDB specification orders keys; the limits are Chromium's own additions.
#[derive(Clone, Debug)]
enum Key {
    Minimum,
    Number(f64),
    Date(f64),
    String(Vec<u16>),
    Binary(Vec<u8>),
    Array(Vec<Key>),
    Maximum,
}

impl Key {
    fn text(text: &str) -> Self {
        Self::String(text.encode_utf16().collect())
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Minimum => 0,
            Self::Number(_) => 1,
            Self::Date(_) => 2,
            Self::String(_) => 3,
            Self::Binary(_) => 4,
            Self::Array(_) => 5,
            Self::Maximum => 6,
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) | (Self::Date(a), Self::Date(b)) => a.partial_cmp(b).unwrap(),
            (Self::String(a), Self::String(b)) => a.cmp(b),
            (Self::Binary(a), Self::Binary(b)) => a.cmp(b),
            (Self::Array(a), Self::Array(b)) => {
                let first_difference =
                    a.iter().zip(b).map(|(a, b)| a.compare(b)).find(|&order| order.is_ne());
                first_difference.unwrap_or(a.len().cmp(&b.len()))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Minimum => out.push(5),
            Self::Maximum => out.push(0),
            Self::Number(value) => out.extend([&[3][..], &value.to_le_bytes()].concat()),
            Self::Date(value) => out.extend([&[2][..], &value.to_le_bytes()].concat()),
            Self::String(units) => {
                out.push(1);
                put_varint64(out, units.len() as u64);
                out.extend(units.iter().flat_map(|unit| unit.to_be_bytes()));
            }
            Self::Binary(bytes) => {
                out.push(6);
                put_varint64(out, bytes.len() as u64);
                out.extend(bytes);
            }
            Self::Array(elements) => {
                out.push(4);
                put_varint64(out, elements.len() as u64);
                elements.iter().for_each(|element| element.encode(out));
            }
        }
    }

    fn encoded(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode(&mut out);
        out
    }
}

fn prefix(database: u64, object_store: u64, index: u32) -> Vec<u8> {
    let width = |value: u64| (8 - value.leading_zeros() as usize / 8).max(1);
    let (d, s, i) = (width(database), width(object_store), width(u64::from(index)));
    let mut out = vec![((d - 1) << 5 | (s - 1) << 2 | (i - 1)) as u8];
    out.extend(&database.to_le_bytes()[..d]);
    out.extend(&object_store.to_le_bytes()[..s]);
    out.extend(&index.to_le_bytes()[..i]);
    out
}

fn with(prefix: Vec<u8>, rest: &[u8]) -> Vec<u8> {
    [&prefix, rest].concat()
}

fn string(text: &str) -> Vec<u8> {
    Key::text(text).encoded()[1..].to_vec()
}

fn varint(value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint64(&mut out, value);
    out
}

fn record(key: &Key) -> Vec<u8> {
    with(prefix(1, 1, 1), &key.encoded())
}

fn index_entry(key: &Key, sequence: u64, primary: &Key) -> Vec<u8> {
    with(prefix(1, 1, 30), &[key.encoded(), varint(sequence), primary.encoded()].concat())
}

fn assert_ascending(keys: &[Vec<u8>]) {
    for (index, a) in keys.iter().enumerate() {
        for (other, b) in keys.iter().enumerate() {
            assert_eq!(IdbComparator.compare(a, b), index.cmp(&other), "{index}: {a:x?}\n{other}: {b:x?}");
        }
    }
}

#[test]
fn the_keys_of_a_database_are_ordered_as_in_chromium() {
    let max = i64::MAX as u64;
    assert_ascending(&[
        // Global metadata.
        with(prefix(0, 0, 0), &[0]),
        with(prefix(0, 0, 0), &[1]),
        with(prefix(0, 0, 0), &[2]),
        with(prefix(0, 0, 0), &[6]),
        with(prefix(0, 0, 0), &[50]),
        with(prefix(0, 0, 0), &[50, 1]),
        with(prefix(0, 0, 0), &[50, 1, 200]),
        with(prefix(0, 0, 0), &[50, 200]),
        with(prefix(0, 0, 0), &[100, 1]),
        with(prefix(0, 0, 0), &[&[100], &varint(300)[..]].concat()),
        with(prefix(0, 0, 0), &[&[100], &varint(max)[..]].concat()),
        with(prefix(0, 0, 0), &[&[201], &string("")[..], &string("")].concat()),
        with(prefix(0, 0, 0), &[&[201], &string("origin")[..], &string("")].concat()),
        with(prefix(0, 0, 0), &[&[201], &string("origin")[..], &string("a")].concat()),
        with(prefix(0, 0, 0), &[&[201], &string("origin")[..], &string("ab")].concat()),
        with(prefix(0, 0, 0), &[&[201], &string("origin")[..], &string("b")].concat()),
        with(prefix(0, 0, 0), &[&[201], &string("origin\u{1}")[..], &string("")].concat()),
        // Metadata of a database.
        with(prefix(1, 0, 0), &[0]),
        with(prefix(1, 0, 0), &[5]),
        with(prefix(1, 0, 0), &[50, 1, 0]),
        with(prefix(1, 0, 0), &[50, 1, 255]),
        with(prefix(1, 0, 0), &[50, 2, 0]),
        with(prefix(1, 0, 0), &[&[50], &varint(max)[..], &[255]].concat()),
        with(prefix(1, 0, 0), &[100, 1, 30, 0]),
        with(prefix(1, 0, 0), &[100, 1, 30, 3]),
        with(prefix(1, 0, 0), &[100, 1, 31, 0]),
        with(prefix(1, 0, 0), &[100, 2, 30, 0]),
        with(prefix(1, 0, 0), &[150, 1]),
        with(prefix(1, 0, 0), &[150, 0x80, 1]),
        with(prefix(1, 0, 0), &[151, 1, 30]),
        with(prefix(1, 0, 0), &[151, 1, 31]),
        with(prefix(1, 0, 0), &[151, 2, 30]),
        with(prefix(1, 0, 0), &[&[200], &string("")[..]].concat()),
        with(prefix(1, 0, 0), &[&[200], &string("abc")[..]].concat()),
        with(prefix(1, 0, 0), &[&[201, 1], &string("b")[..]].concat()),
        with(prefix(1, 0, 0), &[&[201, 2], &string("a")[..]].concat()),
        // Data.
        prefix(1, 1, 1),
        with(prefix(1, 1, 1), &Key::Minimum.encoded()),
        with(prefix(1, 1, 1), &Key::Number(0.0).encoded()),
        with(prefix(1, 1, 1), &Key::Maximum.encoded()),
        with(prefix(1, 1, 2), &Key::Number(0.0).encoded()),
        with(prefix(1, 1, 3), &Key::Number(0.0).encoded()),
        prefix(1, 1, 30),
        index_entry(&Key::Minimum, 0, &Key::Minimum),
        index_entry(&Key::text("a"), 9, &Key::Number(1.0)),
        index_entry(&Key::text("a"), 2, &Key::Number(2.0)),
        index_entry(&Key::text("a"), 3, &Key::Number(2.0)),
        index_entry(&Key::text("b"), 0, &Key::Number(1.0)),
        index_entry(&Key::Maximum, max, &Key::Maximum),
        with(prefix(1, 1, 31), &Key::Minimum.encoded()),
        with(prefix(1, 1, 300), &Key::Minimum.encoded()),
        with(prefix(1, 1, 0x0100_0000), &Key::Minimum.encoded()),
        with(prefix(1, 2, 1), &Key::Minimum.encoded()),
        with(prefix(1, 256, 1), &Key::Minimum.encoded()),
        with(prefix(2, 0, 0), &[0]),
        with(prefix(256, 0, 0), &[0]),
        with(prefix(max, max, 1), &Key::Minimum.encoded()),
    ]);
}

#[test]
fn indexeddb_keys_are_ordered_by_type_and_then_by_value() {
    let array = |elements: &[Key]| Key::Array(elements.to_vec());
    let keys = [
        Key::Minimum,
        Key::Number(f64::NEG_INFINITY),
        Key::Number(-1.5),
        Key::Number(0.0),
        Key::Number(f64::MIN_POSITIVE),
        Key::Number(2.0),
        Key::Number(10.0),
        Key::Number(f64::INFINITY),
        Key::Date(-1.0),
        Key::Date(1_700_000_000_000.0),
        Key::text(""),
        Key::text("a"),
        Key::text("aa"),
        Key::text("b"),
        Key::text("\u{10000}"),
        Key::text("\u{ff00}"),
        Key::Binary(vec![]),
        Key::Binary(vec![0]),
        Key::Binary(vec![0, 0]),
        Key::Binary(vec![200]),
        array(&[]),
        array(&[Key::Number(1.0)]),
        array(&[Key::Number(1.0), Key::Number(1.0)]),
        array(&[Key::text("a")]),
        array(&[Key::text("a"), array(&[])]),
        array(&[array(&[])]),
        array(&[array(&[]), Key::Number(1.0)]),
        array(&[array(&[Key::Number(1.0)])]),
        array(&[array(&[array(&[])])]),
        Key::Maximum,
    ];
    assert_ascending(&keys.iter().map(record).collect::<Vec<_>>());
}

#[test]
fn what_chromium_calls_equal_is_equal() {
    let equal = |a: &[u8], b: &[u8]| {
        assert_eq!(IdbComparator.compare(a, b), Ordering::Equal, "{a:x?} {b:x?}");
        assert_eq!(IdbComparator.compare(b, a), Ordering::Equal);
    };
    equal(&record(&Key::Number(-0.0)), &record(&Key::Number(0.0)));
    equal(&with(record(&Key::text("a")), b"past the end"), &record(&Key::text("a")));
    equal(&with(prefix(0, 0, 0), &[3, 9]), &with(prefix(0, 0, 0), &[3]));
    equal(&with(prefix(7, 0, 0), &[5, 1]), &with(prefix(7, 0, 0), &[5]));
    equal(&with(prefix(0, 0, 0), &[100, 0x81, 0]), &with(prefix(0, 0, 0), &[100, 1]));
    equal(&[0x20, 1, 0, 1, 1, 5], &record(&Key::Minimum));
    // Without a primary key, the sequence number does not count.
    let without = with(prefix(1, 1, 30), &Key::text("a").encoded());
    equal(&without, &with(without.clone(), &[7]));
    assert_eq!(
        IdbComparator.compare(&without, &index_entry(&Key::text("a"), 0, &Key::Minimum)),
        Ordering::Less
    );
}

#[test]
fn what_cannot_be_decoded_comes_last_at_its_place_and_then_goes_by_bytes() {
    let number = |bytes: &[u8]| with(prefix(1, 1, 1), &[&[3], bytes].concat());
    assert_ascending(&[
        // An unknown type of global metadata sorts in its place; a missing one sorts last.
        with(prefix(0, 0, 0), &[77]),
        with(prefix(0, 0, 0), &[77, 0]),
        with(prefix(0, 0, 0), &[201, 1, 0, 97, 1, 0, 98]),
        with(prefix(0, 0, 0), &[201, 1, 0, 97, 1, 0]),
        prefix(0, 0, 0),
        record(&Key::Number(f64::INFINITY)),
        // Numbers that are cut off or invalid.
        number(&[0; 7]),
        number(&f64::NAN.to_le_bytes()),
        record(&Key::Date(0.0)),
        record(&Key::text("\u{ffff}")),
        // Strings longer than the key.
        with(prefix(1, 1, 1), &[1, 2, 0, 97]),
        with(prefix(1, 1, 1), &[1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
        record(&Key::Binary(vec![255; 9])),
        record(&Key::Array(vec![Key::Maximum])),
        // A missing element, after the elements that are there.
        with(prefix(1, 1, 1), &[4, 1]),
        with(prefix(1, 1, 1), &[4, 2]),
        record(&Key::Maximum),
        // Unknown types.
        with(prefix(1, 1, 1), &[7]),
        with(prefix(1, 1, 1), &[255]),
        // An invalid index id; no prefix.
        with(prefix(1, 1, 4), &[1]),
        with(prefix(1, 1, 4), &[2]),
        with(prefix(1, 1, 29), &[0]),
        vec![],
        vec![0xff],
        vec![0xff; 20],
    ]);
    // One byte more makes it a prefix, of negative ids.
    assert_ascending(&[vec![0xff; 21], prefix(0, 0, 0)]);
}

#[test]
fn deep_nesting_neither_overflows_the_stack_nor_loses_the_order() {
    let nested = |depth: usize, innermost: &Key| {
        let arrays = [4, 1].repeat(depth);
        with(prefix(1, 1, 1), &[arrays, innermost.encoded()].concat())
    };
    let deepest = MAX_IDB_KEY_DEPTH;
    assert_ascending(&[
        nested(deepest, &Key::Number(1.0)),
        nested(deepest, &Key::Number(2.0)),
        nested(deepest, &Key::Array(vec![])),
        nested(deepest + 1, &Key::Minimum),
    ]);
    let (a, b) = (nested(1_000_000, &Key::Minimum), nested(1_000_000, &Key::Number(0.0)));
    assert_eq!(IdbComparator.compare(&a, &b), a.cmp(&b), "deeper than Chromium stores: by bytes");
}

#[test]
fn separators_and_successors_are_left_alone() {
    let (mut key, limit) = (record(&Key::text("abcdef")), record(&Key::text("x")));
    IdbComparator.find_shortest_separator(&mut key, &limit);
    IdbComparator.find_short_successor(&mut key);
    assert_eq!(key, record(&Key::text("abcdef")));
}

fn key() -> impl Strategy<Value = Key> {
    let number = prop_oneof![Just(0.0), Just(-0.0), (-3..3i8).prop_map(f64::from), any::<f64>()]
        .prop_filter("not a number", |value| !value.is_nan());
    let leaf = prop_oneof![
        Just(Key::Minimum),
        Just(Key::Maximum),
        number.clone().prop_map(Key::Number),
        number.prop_map(Key::Date),
        proptest::collection::vec(prop_oneof![0..3u16, any::<u16>()], 0..4).prop_map(Key::String),
        proptest::collection::vec(prop_oneof![0..3u8, any::<u8>()], 0..4).prop_map(Key::Binary),
    ];
    leaf.prop_recursive(4, 16, 4, |element| proptest::collection::vec(element, 0..4).prop_map(Key::Array))
}

/// Valid, nearly valid and invalid keys, close together.
fn any_key() -> impl Strategy<Value = Vec<u8>> {
    let ids = (prop_oneof![0..3u64, any::<u64>()], 0..3u64, prop_oneof![0..5u32, 30..32u32]);
    let rest = prop_oneof![
        3 => (key(), 0..3u64, proptest::option::of(key())).prop_map(|(key, sequence, primary)| {
            [key.encoded(), varint(sequence), primary.map_or(vec![], |key| key.encoded())].concat()
        }),
        1 => proptest::collection::vec(0..8u8, 0..12),
        1 => (proptest::sample::select(vec![3u8, 50, 100, 150, 151, 200, 201]), proptest::collection::vec(0..3u8, 0..6))
            .prop_map(|(kind, rest)| [&[kind], &rest[..]].concat()),
    ];
    let whole = (ids, rest).prop_map(|((database, object_store, index), rest)| {
        with(prefix(database, object_store, index), &rest)
    });
    prop_oneof![
        4 => whole.clone(),
        2 => (whole, any::<proptest::sample::Index>(), proptest::option::of(0..8u8)).prop_map(|(mut key, position, byte)| {
            let position = position.index(key.len());
            match byte {
                Some(byte) => key[position] = byte,
                None => key.truncate(position),
            }
            key
        }),
        1 => any::<Vec<u8>>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn encoded_keys_are_ordered_as_their_values(a in key(), b in key(), primary_a in key(), primary_b in key()) {
        prop_assert_eq!(IdbComparator.compare(&record(&a), &record(&b)), a.compare(&b));
        let expected = a.compare(&b).then(primary_a.compare(&primary_b));
        let (entry_a, entry_b) = (index_entry(&a, 3, &primary_a), index_entry(&b, 3, &primary_b));
        prop_assert_eq!(IdbComparator.compare(&entry_a, &entry_b), expected);
    }

    #[test]
    fn the_order_is_total_over_all_bytes(a in any_key(), b in any_key(), c in any_key()) {
        let order = |x: &[u8], y: &[u8]| IdbComparator.compare(x, y);
        let mut keys = [&a[..], &b, &c];
        keys.sort_by(|x, y| order(x, y));
        let [low, middle, high] = keys;
        prop_assert_eq!(order(&a, &a), Ordering::Equal);
        for (x, y) in [(&a, &b), (&a, &c), (&b, &c)] {
            prop_assert_eq!(order(x, y), order(y, x).reverse());
        }
        prop_assert_ne!(order(low, middle), Ordering::Greater);
        prop_assert_ne!(order(middle, high), Ordering::Greater);
        prop_assert_eq!(order(low, high), order(low, middle).then(order(middle, high)));
    }
}
