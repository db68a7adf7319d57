//! Checks of the write-ahead log.

use std::io::ErrorKind;

use super::{Place, pattern};

/// Whether `file` holds `expected` and, at most, zeros behind it.
#[track_caller]
fn assert_begins(place: &Place, expected: &[u8]) {
    let found = place.read("log");
    assert!(found.starts_with(expected));
    assert!(found[expected.len()..].iter().all(|&byte| byte == 0));
}

pub(super) fn readable_at_once(place: &Place) {
    let contents = pattern(500_000);
    let mut log = place.env.create_log(&place.path("log")).unwrap();
    assert_eq!(log.size_bytes(), 0);
    let mut end = 0;
    for size in [0, 1, 33, 32_768, 100, 65_536, 300_000, 5] {
        log.append(&contents[end..end + size]).unwrap();
        end += size;
        assert_eq!(log.size_bytes(), end as u64);
        assert_begins(place, &contents[..end]);
        if size % 2 == 0 {
            log.sync().unwrap();
        }
    }
    assert!(!log.is_damaged());
    log.close().unwrap();
    assert!(place.read("log") == contents[..end], "closed, it has its true size");
}

pub(super) fn truncated(place: &Place) {
    let mut log = place.env.create_log(&place.path("log")).unwrap();
    log.append(b"first,second").unwrap();
    log.truncate(6).unwrap();
    assert_eq!(log.size_bytes(), 6);
    assert_begins(place, b"first,");
    log.append(b"third").unwrap();
    assert_begins(place, b"first,third");

    let error = log.truncate(12).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(log.size_bytes(), 11);
    log.truncate(11).unwrap();
    log.sync().unwrap();
    log.append(b".").unwrap();
    assert!(!log.is_damaged());
    log.close().unwrap();
    assert_eq!(place.read("log"), b"first,third.");

    let mut log = place.env.create_log(&place.path("log")).unwrap();
    log.append(b"all of it").unwrap();
    log.truncate(0).unwrap();
    log.close().unwrap();
    assert_eq!(place.read("log"), b"");
}

pub(super) fn begin_empty(place: &Place) {
    place.write("log", &[0xff; 5000]);
    let mut log = place.env.create_log(&place.path("log")).unwrap();
    assert_begins(place, b"");
    log.append(b"new").unwrap();
    assert_begins(place, b"new");
    log.close().unwrap();
    assert_eq!(place.read("log"), b"new");
}

pub(super) fn where_no_file_can_be(place: &Place) {
    let error = place.env.create_log(&place.path("missing/log")).err().unwrap();
    assert!(error.is_not_found(), "{error}");
    place.env.create_folder_all(&place.path("folder")).unwrap();
    assert!(place.env.create_log(&place.path("folder")).is_err());
}
