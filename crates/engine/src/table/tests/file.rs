//! Single table files, through the public API.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use terrace_env::MemoryEnv;
use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::ValueKind;

use super::support::*;
use crate::error::ErrorKind;
use crate::table::{TableFileOptions, TableFileReader, TableFileWriter};

fn in_memory() -> TableFileOptions {
    TableFileOptions { env: Arc::new(MemoryEnv::new()), block_size_bytes: 100, ..TableFileOptions::default() }
}

#[test]
fn what_was_written_is_read_back_in_both_directions() {
    let options = in_memory();
    let path = Path::new("/some.ldb");
    let model: BTreeMap<Vec<u8>, Option<Vec<u8>>> = (0..300)
        .map(|n| {
            (format!("{:04}", n * 7).into_bytes(), (n % 5 != 0).then(|| format!("value {n}").into_bytes()))
        })
        .collect();
    let mut writer = TableFileWriter::create(path, options.clone()).unwrap();
    for (key, value) in &model {
        match value {
            Some(value) => writer.put(key, value).unwrap(),
            None => writer.delete(key).unwrap(),
        }
    }
    assert!(writer.estimated_size_bytes() > 300);
    let summary = writer.finish().unwrap();
    assert_eq!((summary.entries, summary.deletions), (300, 60));
    assert_eq!((&summary.smallest[..], &summary.largest[..]), (&b"0000"[..], &b"2093"[..]));
    assert_eq!(summary.size_bytes, options.env.file_size(path).unwrap());

    let reader = TableFileReader::open(path, options).unwrap();
    reader.verify().unwrap();
    assert_eq!((reader.counts().unwrap().entries, reader.size_bytes()), (300, summary.size_bytes));
    for number in 0..2_200 {
        let key = format!("{number:04}").into_bytes();
        assert_eq!(reader.get(&key).unwrap(), model.get(&key).cloned().flatten());
    }
    let mut iter = reader.iter();
    assert!(!iter.valid());
    iter.next().unwrap();
    assert!(!iter.valid());
    iter.seek_to_first().unwrap();
    for (key, value) in &model {
        assert_eq!((iter.key(), iter.value()), (&key[..], value.as_deref().unwrap_or(b"")));
        let kind = if value.is_some() { ValueKind::Value } else { ValueKind::Deletion };
        assert_eq!((iter.sequence(), iter.kind()), (0, kind));
        iter.next().unwrap();
    }
    assert!(!iter.valid());
    iter.seek_to_last().unwrap();
    for key in model.keys().rev() {
        assert_eq!(iter.key(), key);
        iter.prev().unwrap();
    }
    assert!(!iter.valid());
    iter.seek(b"0008").unwrap();
    assert_eq!(iter.key(), b"0014");
    iter.seek(b"9").unwrap();
    assert!(!iter.valid());
}

#[test]
fn keys_that_do_not_ascend_are_refused() {
    let mut writer = TableFileWriter::create("/some.ldb", in_memory()).unwrap();
    writer.put(b"b", b"1").unwrap();
    for key in [&b"b"[..], b"a", b""] {
        assert_eq!(writer.put(key, b"2").unwrap_err().kind(), ErrorKind::InvalidArgument);
        assert_eq!(writer.delete(key).unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
    writer.delete(b"c").unwrap();
    assert_eq!(writer.finish().unwrap().entries, 2);
}

#[test]
fn the_comparators_order_counts() {
    let comparator = UserComparator::by_name("idb_cmp1").unwrap();
    let options = TableFileOptions { comparator, ..in_memory() };
    let mut writer = TableFileWriter::create("/some.ldb", options.clone()).unwrap();
    // In bytewise order, which compares the length first, "2" would come before "10".
    writer.put(&idb_key("10"), b"ten").unwrap();
    assert!(writer.put(&idb_key("1"), b"one").is_err());
    writer.put(&idb_key("2"), b"two").unwrap();
    writer.finish().unwrap();
    let reader = TableFileReader::open("/some.ldb", options).unwrap();
    reader.verify().unwrap();
    assert_eq!(reader.get(&idb_key("2")).unwrap().unwrap(), b"two");
    assert_eq!(reader.get(&idb_key("1")).unwrap(), None);
}

#[test]
fn an_unfinished_or_missing_file_does_not_open() {
    let options = in_memory();
    let mut writer = TableFileWriter::create("/some.ldb", options.clone()).unwrap();
    for number in 0..100 {
        writer.put(format!("{number:03}").as_bytes(), &[1; 100]).unwrap();
    }
    drop(writer);
    let error = TableFileReader::open("/some.ldb", options.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    let error = TableFileReader::open("/none.ldb", options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("/none.ldb"), "{error}");
}

#[test]
fn a_file_without_entries_is_a_table() {
    let options = in_memory();
    let summary = TableFileWriter::create("/none.ldb", options.clone()).unwrap().finish().unwrap();
    assert_eq!((summary.entries, summary.smallest.len(), summary.largest.len()), (0, 0, 0));
    let reader = TableFileReader::open("/none.ldb", options).unwrap();
    assert_eq!(reader.get(b"").unwrap(), None);
    let mut iter = reader.iter();
    iter.seek_to_first().unwrap();
    assert!(!iter.valid());
    reader.verify().unwrap();
}

#[test]
fn a_relative_path_of_the_current_directory_is_durable_too() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer =
        TableFileWriter::create(directory.path().join("a.ldb"), TableFileOptions::default()).unwrap();
    writer.put(b"k", b"v").unwrap();
    writer.finish().unwrap();
    let reader = TableFileReader::open(directory.path().join("a.ldb"), TableFileOptions::default()).unwrap();
    assert_eq!(reader.get(b"k").unwrap().unwrap(), b"v");
}
