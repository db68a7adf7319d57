//! Checks of the write-ahead log.

use std::io::ErrorKind;

use super::{TestDirectory, pattern};
use crate::{LOG_BLOCK_SIZE_BYTES, LOG_RECORD_HEADER_SIZE_BYTES};

/// Asserts that the log holds `expected`, followed by nothing but zeros.
#[track_caller]
fn assert_begins(scratch: &TestDirectory, expected: &[u8]) {
    let found = scratch.read("log");
    assert!(found.starts_with(expected));
    assert!(found[expected.len()..].iter().all(|&byte| byte == 0));
}

pub(super) fn readable_at_once(scratch: &TestDirectory) {
    let contents = pattern(500_000);
    let mut log = scratch.env.create_log(&scratch.path("log")).unwrap();
    assert_eq!(log.size_bytes(), 0);
    let mut end = 0;
    for size in [0, 1, 33, 32_768, 100, 65_536, 300_000, 5] {
        log.append(&contents[end..end + size]).unwrap();
        end += size;
        assert_eq!(log.size_bytes(), end as u64);
        assert_begins(scratch, &contents[..end]);
        if size % 2 == 0 {
            log.sync().unwrap();
        }
    }
    assert!(!log.is_damaged());
    log.close().unwrap();
    assert!(scratch.read("log") == contents[..end], "closed, it has its true size");
}

pub(super) fn truncated(scratch: &TestDirectory) {
    let mut log = scratch.env.create_log(&scratch.path("log")).unwrap();
    log.append(b"first,second").unwrap();
    log.truncate(6).unwrap();
    assert_eq!(log.size_bytes(), 6);
    assert_begins(scratch, b"first,");
    log.append(b"third").unwrap();
    assert_begins(scratch, b"first,third");

    let error = log.truncate(12).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(log.size_bytes(), 11);
    log.truncate(11).unwrap();
    log.sync().unwrap();
    log.append(b".").unwrap();
    assert!(!log.is_damaged());
    log.close().unwrap();
    assert_eq!(scratch.read("log"), b"first,third.");

    let mut log = scratch.env.create_log(&scratch.path("log")).unwrap();
    log.append(b"all of it").unwrap();
    log.truncate(0).unwrap();
    log.close().unwrap();
    assert_eq!(scratch.read("log"), b"");
}

pub(super) fn begin_empty(scratch: &TestDirectory) {
    scratch.write("log", &[0xff; 5000]);
    let mut log = scratch.env.create_log(&scratch.path("log")).unwrap();
    assert_begins(scratch, b"");
    log.append(b"new").unwrap();
    assert_begins(scratch, b"new");
    log.close().unwrap();
    assert_eq!(scratch.read("log"), b"new");
}

pub(super) fn where_no_file_can_be(scratch: &TestDirectory) {
    let error = scratch.env.create_log(&scratch.path("missing/log")).err().unwrap();
    assert!(error.is_not_found(), "{error}");
    scratch.env.create_directory_all(&scratch.path("directory")).unwrap();
    assert!(scratch.env.create_log(&scratch.path("directory")).is_err());
}

/// Records one by one, with bytes of any length between them.
pub(super) fn records(scratch: &TestDirectory) {
    let contents = pattern(1_000_000);
    let header = |number: usize| [number as u8 + 1; LOG_RECORD_HEADER_SIZE_BYTES];
    let mut log = scratch.env.create_log(&scratch.path("log")).unwrap();
    let mut expected = Vec::new();
    for (number, padding, size) in [
        (0, 0, 100),
        (1, 0, 0),
        (2, 5, 1),
        (3, 0, 32_761),
        (4, 20_000, 7),
        (5, 0, 8),
        (6, 1, 9),
        (7, 0, 200_000),
        (8, 0, 3),
    ] {
        let payload = &contents[number * 1000..][..size];
        log.append_record(padding, &header(number), payload).unwrap();
        expected.resize(expected.len() + padding, 0);
        expected.extend(header(number));
        expected.extend(payload);
        assert_eq!(log.size_bytes(), expected.len() as u64);
        assert_begins(scratch, &expected);
        // A first fragment fills its block; zeros after it would look like damage.
        let end_of_block = (expected.len() as u64).next_multiple_of(LOG_BLOCK_SIZE_BYTES);
        assert!(scratch.env.file_size(&scratch.path("log")).unwrap() <= end_of_block);
        match number {
            3 | 7 => log.sync().unwrap(),
            5 => {
                log.append(&contents[..40_000]).unwrap();
                expected.extend(&contents[..40_000]);
                assert_begins(scratch, &expected);
            }
            6 => {
                expected.truncate(expected.len() - 3);
                log.truncate(expected.len() as u64).unwrap();
                assert_begins(scratch, &expected);
            }
            _ => {}
        }
    }
    for number in 9..5000 {
        log.append_record(number % 3, &header(number % 200), &contents[number..][..number % 300]).unwrap();
        expected.resize(expected.len() + number % 3, 0);
        expected.extend(header(number % 200));
        expected.extend(&contents[number..][..number % 300]);
    }
    log.sync().unwrap();
    assert_eq!(log.size_bytes(), expected.len() as u64);
    assert_begins(scratch, &expected);
    log.close().unwrap();
    assert!(scratch.read("log") == expected, "closed, it has its true size");
}
