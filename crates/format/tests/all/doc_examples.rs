//! Decodes the examples of `docs/format` on integers, internal keys, logs, batches, version edits and comparators, and
//! encodes them back. `doc_examples_table.rs` does the same for tables and what is in them.

use std::cmp::Ordering;
use std::fs;

use crate::support;
use terrace_format::batch::{BatchOp, BatchRef, WriteBatch};
use terrace_format::coding::{self, Decoder};
use terrace_format::comparator::UserComparator;
use terrace_format::crc;
use terrace_format::current;
use terrace_format::error::FormatErrorKind;
use terrace_format::file_name::{FileKind, parse};
use terrace_format::internal_key::{MAX_SEQUENCE_NUMBER, ValueKind, append_internal_key, parse_internal_key};
use terrace_format::log::{LogEncoder, LogEvent, LogReader};
use terrace_format::version_edit::{FileEntry, VersionEdit};

const FILES: &[&str] =
    &["README.md", "log.md", "batch.md", "version-edit.md", "file-names.md", "comparators.md"];

const CHECKS: &[support::Check] = &[
    ("coding-fixed32", fixed32),
    ("coding-fixed64", fixed64),
    ("coding-varint", |bytes| varint(bytes, 300)),
    ("coding-varint-max", |bytes| varint(bytes, u64::MAX)),
    ("coding-length-prefixed", length_prefixed),
    ("checksum-masked", checksum_masked),
    ("internal-key-value", |bytes| internal_key(bytes, b"key", 100, ValueKind::Value)),
    ("internal-key-deletion", |bytes| internal_key(bytes, b"", MAX_SEQUENCE_NUMBER, ValueKind::Deletion)),
    ("log-full-record", |bytes| log_records(bytes, &[b"hello"])),
    ("log-empty-record", |bytes| log_records(bytes, &[b""])),
    ("log-fragmented-record", |bytes| log_records(bytes, &[b"hello", &[b'b'; 32_768]])),
    ("log-zero-tail", log_zero_tail),
    ("log-padded-block", |bytes| {
        assert_eq!(read_records(bytes), [&[b'c'; 32_000][..], &[b'd'; 1_000]]);
    }),
    ("log-torn-tail", |bytes| {
        hello_and_then(bytes, &[LogEvent::TornTail { offset: 12, dropped_bytes: 9 }]);
    }),
    ("log-header-without-payload", |bytes| {
        let reason = "a checksum that does not match";
        hello_and_then(bytes, &[LogEvent::Damage { offset: 12, dropped_bytes: 12, reason }]);
    }),
    ("log-payload-without-header", |bytes| hello_and_then(bytes, &[])),
    ("log-first-then-zeros", |bytes| {
        let (reason, dropped_bytes) = ("zeros within a fragmented record", 32_768 - 12 + 100);
        hello_and_then(bytes, &[LogEvent::Damage { offset: 12, dropped_bytes, reason }]);
    }),
    ("batch-three-operations", batch_three_operations),
    ("batch-long-value", batch_long_value),
    ("batch-empty", batch_empty),
    ("batch-wrong-count", |bytes| assert!(BatchRef::parse(bytes).is_err())),
    ("edit-new-database", edit_new_database),
    ("edit-flush", edit_flush),
    ("edit-compaction", edit_compaction),
    ("edit-basho", |bytes| edit_is_refused(bytes, FormatErrorKind::Unsupported, "Basho")),
    ("edit-future", |bytes| edit_is_refused(bytes, FormatErrorKind::Unsupported, "a future format")),
    ("edit-goleveldb", |bytes| edit_is_refused(bytes, FormatErrorKind::Unsupported, "goleveldb")),
    ("edit-bad-level", |bytes| edit_is_refused(bytes, FormatErrorKind::Corrupt, "level 64")),
    ("manifest-new-database", manifest_new_database),
    ("current", current_names_a_manifest),
    ("current-without-newline", |bytes| assert!(current::decode(bytes).is_err())),
    ("idb-schema-version", |bytes| idb_key(bytes, 0)),
    ("idb-database-name", |bytes| idb_key(bytes, 1)),
    ("idb-object-store-name", |bytes| idb_key(bytes, 2)),
    ("idb-record-number", |bytes| idb_key(bytes, 3)),
    ("idb-record-larger-number", |bytes| idb_key(bytes, 4)),
    ("idb-record-date", |bytes| idb_key(bytes, 5)),
    ("idb-record-string", |bytes| idb_key(bytes, 6)),
    ("idb-record-binary", |bytes| idb_key(bytes, 7)),
    ("idb-record-array", |bytes| idb_key(bytes, 8)),
    ("idb-exists-entry", |bytes| idb_key(bytes, 9)),
    ("idb-index-entry", |bytes| idb_key(bytes, 10)),
    ("idb-index-entry-next-primary-key", |bytes| idb_key(bytes, 11)),
    ("idb-wide-ids", |bytes| idb_key(bytes, 12)),
    ("idb-undecodable-string", |bytes| idb_key(bytes, 13)),
    ("idb-undecodable-prefix", |bytes| idb_key(bytes, 14)),
];

#[test]
fn the_examples_are_what_the_text_says() {
    support::check_examples(FILES, CHECKS);
}

#[test]
fn every_document_is_checked() {
    // Keys above the engine, unknown to the crates: the npm package terrace-bytewise checks those examples.
    let checked_in_javascript = ["bytewise.md"];
    let checked_elsewhere = include_str!("doc_examples_table.rs");
    for entry in fs::read_dir(support::docs_directory()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let is_checked = FILES.contains(&&name[..])
            || checked_in_javascript.contains(&&name[..])
            || checked_elsewhere.contains(&format!("\"{name}\""));
        assert!(is_checked, "no test reads the examples of {name}");
    }
}

#[test]
fn the_file_names_in_the_table_are_those_of_the_code() {
    let text = fs::read_to_string(support::docs_directory().join("file-names.md")).unwrap();
    let names = text.lines().filter(|line| line.starts_with("| `")).filter_map(|line| line.split('|').nth(1));
    let kinds: Vec<FileKind> = names
        .flat_map(|cell| cell.split(", "))
        .map(|name| {
            let name = name.trim().trim_matches('`').replace("NNNNNN", "000012");
            parse(&name).unwrap_or_else(|| panic!("{name}"))
        })
        .collect();
    use FileKind::*;
    let expected = [
        Current,
        Lock,
        InfoLog,
        OldInfoLog,
        Manifest(12),
        Log(12),
        Table(12),
        LegacyTable(12),
        Temporary(12),
        Temporary(0),
    ];
    assert_eq!(kinds, expected);
}

fn fixed32(bytes: &[u8]) {
    assert_eq!(coding::decode_fixed32(bytes), 0x1234_5678);
    let mut out = Vec::new();
    coding::put_fixed32(&mut out, 0x1234_5678);
    assert_eq!(out, bytes);
}

fn fixed64(bytes: &[u8]) {
    assert_eq!(coding::decode_fixed64(bytes), 0x0123_4567_89ab_cdef);
    let mut out = Vec::new();
    coding::put_fixed64(&mut out, 0x0123_4567_89ab_cdef);
    assert_eq!(out, bytes);
}

fn varint(bytes: &[u8], expected: u64) {
    assert_eq!(coding::read_varint64(bytes), Some((expected, bytes.len())));
    let mut out = Vec::new();
    coding::put_varint64(&mut out, expected);
    assert_eq!(out, bytes);
}

fn length_prefixed(bytes: &[u8]) {
    let mut decoder = Decoder::new("example", bytes);
    assert_eq!(decoder.length_prefixed("bytes").unwrap(), b"key");
    assert!(decoder.is_empty());
    let mut out = Vec::new();
    coding::put_length_prefixed(&mut out, b"key");
    assert_eq!(out, bytes);
}

fn checksum_masked(bytes: &[u8]) {
    let stored = coding::decode_fixed32(bytes);
    assert_eq!((bytes.len(), crc::unmask(stored)), (4, crc::crc32c(b"123456789")));
    assert_eq!((crc::unmask(stored), crc::mask(0xe306_9283)), (0xe306_9283, stored));
}

fn internal_key(bytes: &[u8], user_key: &[u8], sequence: u64, kind: ValueKind) {
    let parsed = parse_internal_key(bytes).unwrap();
    assert_eq!((parsed.user_key, parsed.sequence, parsed.kind), (user_key, sequence, kind));
    let mut out = Vec::new();
    append_internal_key(&mut out, user_key, sequence, kind);
    assert_eq!(out, bytes);
}

/// The payloads of the records of a log file that holds nothing else.
fn read_records(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = LogReader::new(bytes);
    let mut records = Vec::new();
    loop {
        match reader.next().unwrap() {
            LogEvent::Record { payload, .. } => records.push(payload.to_vec()),
            LogEvent::End => return records,
            other => panic!("{other:?}"),
        }
    }
}

fn log_records(bytes: &[u8], expected: &[&[u8]]) {
    assert_eq!(read_records(bytes), expected);
    let mut encoder = LogEncoder::new();
    let mut out = Vec::new();
    expected.iter().for_each(|record| encoder.encode_into(record, &mut out));
    assert_eq!(out, bytes);
}

fn log_zero_tail(bytes: &[u8]) {
    let (record, zeros) = bytes.split_at(12);
    log_records(record, &[b"hello"]);
    assert_eq!(zeros, [0; 100]);
    assert_eq!(read_records(bytes), [b"hello"]);
}

fn hello_and_then(bytes: &[u8], expected: &[LogEvent<'_>]) {
    log_records(&bytes[..12], &[b"hello"]);
    let mut reader = LogReader::new(bytes);
    assert_eq!(reader.next(), Ok(LogEvent::Record { payload: b"hello", offset: 0 }));
    for event in expected.iter().chain([&LogEvent::End]) {
        assert_eq!(reader.next(), Ok(*event));
    }
}

fn batch(bytes: &[u8], sequence: u64, expected: &[BatchOp<'_>]) {
    let decoded = WriteBatch::from_bytes(bytes.to_vec()).unwrap();
    let operations: Vec<BatchOp<'_>> = decoded.iter().map(|operation| operation.unwrap()).collect();
    assert_eq!((decoded.sequence(), &operations[..]), (sequence, expected));
    let mut encoded = WriteBatch::new();
    encoded.set_sequence(sequence);
    for operation in expected {
        match operation {
            BatchOp::Put { key, value } => encoded.put(key, value).unwrap(),
            BatchOp::Delete { key } => encoded.delete(key).unwrap(),
        }
    }
    assert_eq!(encoded.as_bytes(), bytes);
}

fn batch_three_operations(bytes: &[u8]) {
    let operations = [
        BatchOp::Put { key: b"key", value: b"value" },
        BatchOp::Delete { key: b"old" },
        BatchOp::Put { key: b"", value: b"" },
    ];
    batch(bytes, 4_660, &operations);
}

fn batch_long_value(bytes: &[u8]) {
    batch(bytes, 1, &[BatchOp::Put { key: b"k", value: &[b'v'; 300] }]);
}

fn batch_empty(bytes: &[u8]) {
    batch(bytes, 7, &[]);
}

fn internal(user_key: &[u8], sequence: u64, kind: ValueKind) -> Vec<u8> {
    let mut out = Vec::new();
    append_internal_key(&mut out, user_key, sequence, kind);
    out
}

fn edit(bytes: &[u8], expected: &VersionEdit) {
    assert_eq!(VersionEdit::decode(bytes).as_ref(), Ok(expected));
    assert_eq!(expected.encode(), bytes);
}

fn edit_new_database(bytes: &[u8]) {
    let expected = VersionEdit {
        comparator: Some("leveldb.BytewiseComparator".into()),
        log_number: Some(0),
        next_file_number: Some(2),
        last_sequence: Some(0),
        ..VersionEdit::default()
    };
    edit(bytes, &expected);
}

fn edit_flush(bytes: &[u8]) {
    let file = FileEntry {
        number: 5,
        size_bytes: 2_048,
        smallest: internal(b"apple", 1, ValueKind::Value),
        largest: internal(b"pear", 300, ValueKind::Value),
    };
    let expected = VersionEdit {
        log_number: Some(6),
        previous_log_number: Some(0),
        next_file_number: Some(8),
        last_sequence: Some(300),
        new_files: vec![(0, file)],
        ..VersionEdit::default()
    };
    edit(bytes, &expected);
}

fn edit_compaction(bytes: &[u8]) {
    let file = FileEntry {
        number: 8,
        size_bytes: 4_000,
        smallest: internal(b"apple", 1, ValueKind::Value),
        largest: internal(b"plum", 250, ValueKind::Deletion),
    };
    let expected = VersionEdit {
        compact_pointers: vec![(1, internal(b"pear", 300, ValueKind::Value))],
        deleted_files: vec![(0, 5), (1, 3)],
        new_files: vec![(1, file)],
        ..VersionEdit::default()
    };
    edit(bytes, &expected);
}

fn edit_is_refused(bytes: &[u8], kind: FormatErrorKind, problem: &str) {
    let error = VersionEdit::decode(bytes).unwrap_err();
    assert_eq!((error.kind, error.problem.contains(problem)), (kind, true), "{error}");
}

fn manifest_new_database(bytes: &[u8]) {
    let records = read_records(bytes);
    assert_eq!(records.len(), 1);
    edit_new_database(&records[0]);
    log_records(bytes, &[&records[0]]);
}

fn current_names_a_manifest(bytes: &[u8]) {
    assert_eq!(current::decode(bytes), Ok(2));
    assert_eq!(current::encode(2).as_bytes(), bytes);
}

/// The keys of the examples of `idb_cmp1`, built from what the text says about them, in ascending order.
fn idb_keys() -> Vec<Vec<u8>> {
    let number = |value: f64| [&[3], &value.to_le_bytes()[..]].concat();
    let string = |text: &str| {
        let units: Vec<u16> = text.encode_utf16().collect();
        let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        [&[units.len() as u8], &bytes[..]].concat()
    };
    let string_key = |text: &str| [&[1], &string(text)[..]].concat();
    let record = |key: &[u8]| [&[0, 1, 1, 1], key].concat();
    vec![
        vec![0, 0, 0, 0, 0],
        [&[0, 0, 0, 0, 201], &string("o")[..], &string("db")].concat(),
        [&[0, 1, 0, 0, 200], &string("cats")[..]].concat(),
        record(&number(2.0)),
        record(&number(10.0)),
        record(&[&[2], &(-1.0f64).to_le_bytes()[..]].concat()),
        record(&string_key("aé")),
        record(&[6, 2, 0x00, 0xff]),
        record(&[&[4, 2], &string_key("a")[..], &number(1.0)].concat()),
        [&[0, 1, 1, 2], &number(2.0)[..]].concat(),
        [&[0, 1, 1, 30], &string_key("a")[..], &[9], &number(1.0)].concat(),
        [&[0, 1, 1, 30], &string_key("a")[..], &[2], &number(2.0)].concat(),
        vec![0x20, 44, 1, 1, 1, 5],
        vec![0x20, 44, 1, 1, 1, 1, 9, 0, b'a'],
        vec![0, 1],
    ]
}

/// The example at `place` in the document is that key, and compares accordingly with all the others.
fn idb_key(bytes: &[u8], place: usize) {
    let comparator = UserComparator::by_name("idb_cmp1").unwrap();
    let keys = idb_keys();
    assert_eq!(bytes, keys[place]);
    for (other_place, other) in keys.iter().enumerate() {
        let ordering: Ordering = comparator.compare(bytes, other);
        assert_eq!(ordering, place.cmp(&other_place), "against the example at {other_place}");
    }
}
