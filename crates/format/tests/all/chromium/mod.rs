//! Databases that Chromium wrote, read with this crate alone: every structure decodes, and `idb_cmp1` is Chromium's order.

mod directory;

use std::cmp::Ordering;
use std::fs;

use directory::{Directory, Entries, test_data};
use terrace_format::comparator::UserComparator;
use terrace_format::file_name::table_name;
use terrace_format::internal_key::InternalKeyComparator;

fn is_ascending(comparator: &UserComparator, entries: &Entries) -> bool {
    let order = InternalKeyComparator::new(comparator.clone());
    entries.windows(2).all(|pair| order.compare(&pair[0].0, &pair[1].0) == Ordering::Less)
}

#[test]
fn the_keys_of_every_table_ascend() {
    let (mut tables, mut entries) = (0, 0);
    for directory in Directory::all() {
        let comparator = directory.comparator();
        for (name, table) in directory.tables() {
            assert!(is_ascending(&comparator, &table), "{} {name}", directory.path.display());
            tables += 1;
            entries += table.len();
            let is_indexed_db = directory.path.ends_with("indexeddb");
            assert_eq!(
                comparator.name_text(),
                if is_indexed_db { "idb_cmp1" } else { "leveldb.BytewiseComparator" }
            );
            if is_indexed_db {
                assert!(
                    !is_ascending(&UserComparator::Bytewise, &table),
                    "{name} does not tell the orders apart"
                );
            }
        }
    }
    assert_eq!(tables, 8);
    assert!(entries > 20_000, "{entries}");
}

#[test]
fn the_manifest_describes_the_tables() {
    let mut described = 0;
    for directory in Directory::all() {
        let tables = directory.tables();
        for (_, file) in directory.edits().into_iter().flat_map(|edit| edit.new_files) {
            let name = table_name(file.number);
            if let Some((_, entries)) = tables.iter().find(|(table, _)| *table == name) {
                assert_eq!((&file.smallest, &file.largest), (&entries[0].0, &entries[entries.len() - 1].0));
                described += 1;
            }
        }
    }
    assert_eq!(described, 8, "each table that is still there");
}

#[test]
fn the_logs_are_whole() {
    let sizes: Vec<usize> = Directory::all()
        .iter()
        .flat_map(|directory| directory.logs())
        .map(|(_, entries)| entries.len())
        .collect();
    assert_eq!(sizes.len(), 10);
    assert!(sizes.iter().all(|&size| size > 0), "{sizes:?}");
}

/// The key prefix of the data of the object store `name`, with ids from the metadata.
fn object_store_prefix(entries: &Entries, name: &str) -> Vec<u8> {
    let utf16: Vec<u8> = name.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let suffix = [&[200, name.len() as u8], &utf16[..]].concat();
    let is_name = |key: &[u8]| key.len() == 4 + suffix.len() && key[0] == 0 && key.ends_with(&suffix);
    let (key, id) = entries.iter().find(|(key, _)| is_name(key)).unwrap();
    assert_eq!(id.len(), 1);
    vec![0, key[1], id[0], 1]
}

/// The strings of the first list called `name` from `text` on.
fn list<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let (_, list) = text.split_once(&format!("\"{name}\": [")).unwrap();
    let (list, _) = list.split_once(']').unwrap();
    list.split(',').map(|item| item.trim().trim_matches('"')).collect()
}

#[test]
fn keys_of_every_kind_are_in_the_order_that_the_page_saw() {
    let seen = fs::read_to_string(test_data().join("seen-by-the-page.json")).unwrap();
    let (first, second) = seen.split_once("\"2\": {").unwrap();
    for (visit, seen, count) in [("visit1-closed", first, 1000), ("visit2-killed", second, 1266)] {
        let entries = Directory::one(visit, "indexeddb").newest();
        let prefix = object_store_prefix(&entries, "kinds");
        let values: Vec<&[u8]> =
            entries.iter().filter(|(key, _)| key.starts_with(&prefix)).map(|(_, value)| &value[..]).collect();
        let expected = list(seen, "kindsInOrder");
        assert_eq!((values.len(), expected.len()), (count, count), "{visit}");
        for (value, expected) in values.iter().zip(expected) {
            // A value is a string as V8 serializes it: it ends with its length and its bytes.
            let string = [&[expected.len() as u8], expected.as_bytes()].concat();
            assert!(value.ends_with(&string), "{visit}: {expected} is at the place of {value:x?}");
        }
    }
}
