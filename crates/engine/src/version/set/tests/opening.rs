//! What is read at open, and what damage does to it.

use super::*;

#[test]
fn an_empty_directory_is_no_database_and_data_without_current_is_damage() {
    let env = MemoryEnv::new();
    assert_eq!(recover(&env).unwrap_err().kind(), ErrorKind::NoDatabase);
    // What a creation that failed half-way leaves behind.
    write_file(&env, "MANIFEST-000001", b"half");
    write_file(&env, "LOCK", b"");
    assert_eq!(recover(&env).unwrap_err().kind(), ErrorKind::NoDatabase);
    let set = create(&env);
    assert_eq!(set.manifest_number(), 2);
    add(&set, 1, "a", "b");
    assert_eq!(
        VersionSet::create_new(options(&env), Arc::default()).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    env.remove_file(&path("CURRENT")).unwrap();
    let error = recover(&env).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert_eq!(error.path(), Some(&*path("CURRENT")));
}

#[test]
fn an_unreadable_current_or_a_missing_manifest_is_named() {
    let env = MemoryEnv::new();
    drop(create(&env));
    write_file(&env, "CURRENT", b"MANIFEST-000001");
    let error = recover(&env).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Corruption, Some(&*path("CURRENT"))));
    write_file(&env, "CURRENT", b"MANIFEST-000009\n");
    let error = recover(&env).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Corruption, Some(&*path("MANIFEST-000009"))));
}

#[test]
fn a_missing_table_is_named() {
    let env = MemoryEnv::new();
    let set = create(&env);
    let number = add(&set, 1, "a", "b");
    drop(set);
    let table = path(&file_name::table_name(number));
    env.remove_file(&table).unwrap();
    let error = recover(&env).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Corruption, Some(&*table)));
}

#[test]
fn another_comparator_is_refused_with_both_names() {
    let env = MemoryEnv::new();
    drop(create(&env));
    let mut other = options(&env);
    other.comparator = InternalKeyComparator::new(UserComparator::by_name("idb_cmp1").unwrap());
    let error = VersionSet::recover(other, None, Arc::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let text = error.to_string();
    assert!(text.contains("leveldb.BytewiseComparator") && text.contains("idb_cmp1"), "{text}");
}

#[test]
fn read_only_writes_nothing() {
    let env = MemoryEnv::new();
    let set = create(&env);
    add(&set, 1, "a", "b");
    drop(set);
    let before = names(&env);
    let mut read_only = options(&env);
    read_only.read_only = true;
    let (set, _) = VersionSet::recover(read_only.clone(), None, Arc::default()).unwrap();
    assert_eq!(set.current().file_count(1), 1);
    assert_eq!(set.apply(VersionEdit::default(), &[]).unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(names(&env), before);
    assert_eq!(
        VersionSet::create_new(read_only, Arc::default()).unwrap_err().kind(),
        ErrorKind::InvalidArgument
    );
}

#[test]
fn numbers_of_files_that_the_manifest_does_not_know_are_not_used_again() {
    let env = MemoryEnv::new();
    drop(create(&env));
    write_file(&env, &file_name::table_name(4711), b"");
    // So large that it cannot be ours; taking it for used would leave no numbers.
    write_file(&env, &file_name::log_name(u64::MAX), b"");
    let (set, _) = recover(&env).unwrap();
    assert_eq!(set.new_file_number(), 4712);
}

/// Writes `edits` to a separate MANIFEST, as another program might.
fn write_manifest(env: &MemoryEnv, edits: &[VersionEdit]) {
    options(env);
    let mut encoder = LogEncoder::new();
    let mut bytes = Vec::new();
    for edit in edits {
        encoder.encode_into(&edit.encode(), &mut bytes);
    }
    write_file(env, "MANIFEST-000005", &bytes);
    write_file(env, "CURRENT", b"MANIFEST-000005\n");
}

fn sound_edit() -> VersionEdit {
    VersionEdit {
        comparator: Some(b"leveldb.BytewiseComparator".to_vec()),
        log_number: Some(3),
        next_file_number: Some(6),
        last_sequence: Some(100),
        ..VersionEdit::default()
    }
}

#[test]
fn a_manifest_must_state_its_numbers_and_sound_files() {
    let env = MemoryEnv::new();
    write_manifest(&env, &[sound_edit()]);
    let (set, _) = recover(&env).unwrap();
    assert_eq!(set.new_file_number(), 6);

    let overlap = vec![(1, entry(1, ("a", 1), ("m", 1))), (1, entry(2, ("k", 1), ("z", 1)))];
    let huge = FileEntry { number: u64::MAX, ..entry(1, ("a", 1), ("b", 1)) };
    for (broken, said) in [
        (VersionEdit { log_number: None, ..sound_edit() }, "log number"),
        (VersionEdit { next_file_number: None, ..sound_edit() }, "next file number"),
        (VersionEdit { last_sequence: None, ..sound_edit() }, "last sequence"),
        (VersionEdit { next_file_number: Some(u64::MAX), ..sound_edit() }, "out of range"),
        (VersionEdit { new_files: vec![(1, huge)], ..sound_edit() }, "out of range"),
        (VersionEdit { new_files: overlap, ..sound_edit() }, "overlaps"),
    ] {
        write_manifest(&env, &[broken]);
        let error = recover(&env).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        assert_eq!(error.path(), Some(&*path("MANIFEST-000005")));
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn edits_that_delete_unknown_files_are_passed_over_as_leveldb_does() {
    let env = MemoryEnv::new();
    let odd = VersionEdit { deleted_files: vec![(3, 99)], previous_log_number: Some(2), ..sound_edit() };
    write_manifest(&env, &[odd]);
    let (_, numbers) = recover(&env).unwrap();
    assert_eq!(numbers.previous_log_number, 2);
}

/// A MANIFEST in which each record adds one file, and the sizes at which each record is complete.
fn manifest_of_many_records(env: &MemoryEnv, records: usize) -> (Vec<u8>, Vec<usize>) {
    let mut edits = vec![sound_edit()];
    for number in 10..10 + records as u64 {
        let key = format!("{number:05}");
        let edit = VersionEdit {
            next_file_number: Some(number + 1),
            new_files: vec![(2, entry(number, (&key, 5), (&key, 4)))],
            ..VersionEdit::default()
        };
        write_file(env, &file_name::table_name(number), b"");
        edits.push(edit);
    }
    let mut encoder = LogEncoder::new();
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    for edit in edits {
        encoder.encode_into(&edit.encode(), &mut bytes);
        ends.push(bytes.len());
    }
    write_file(env, "CURRENT", b"MANIFEST-000005\n");
    (bytes, ends)
}

fn recover_bytes(env: &MemoryEnv, bytes: &[u8]) -> Result<usize> {
    write_file(env, "MANIFEST-000005", bytes);
    recover(env).map(|(set, _)| set.current().file_count(2))
}

#[test]
fn a_torn_last_record_is_a_silent_end_wherever_it_is_torn() {
    let env = MemoryEnv::new();
    options(&env);
    let (bytes, ends) = manifest_of_many_records(&env, 12);
    for length in ends[0]..=bytes.len() {
        let whole = ends.iter().filter(|end| **end <= length).count() - 1;
        assert_eq!(recover_bytes(&env, &bytes[..length]).unwrap(), whole, "cut at {length}");
        let mut with_zeros = bytes[..length].to_vec();
        if ends.contains(&length) {
            with_zeros.resize(length + 5000, 0);
            assert_eq!(recover_bytes(&env, &with_zeros).unwrap(), whole, "zeros from {length}");
        }
    }
}

#[test]
fn a_damaged_byte_never_panics_and_never_loses_a_record_but_the_last_in_silence() {
    let env = MemoryEnv::new();
    options(&env);
    let (bytes, ends) = manifest_of_many_records(&env, 12);
    let files = ends.len() - 1;
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            match recover_bytes(&env, &damaged) {
                Ok(found) => {
                    assert!(found + 1 >= files, "byte {at} ^ {flip}: {found} of {files} files");
                    assert!(found == files || at >= ends[files - 1], "byte {at} ^ {flip}");
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Corruption, "byte {at} ^ {flip}: {error}");
                    assert_eq!(error.path(), Some(&*path("MANIFEST-000005")));
                    assert!(error.offset().is_some(), "{error}");
                }
            }
        }
    }
}

#[test]
fn zeros_in_the_middle_are_damage() {
    let env = MemoryEnv::new();
    options(&env);
    let (bytes, ends) = manifest_of_many_records(&env, 2000);
    assert!(bytes.len() > 2 * LOG_BLOCK_SIZE_BYTES);
    assert_eq!(recover_bytes(&env, &bytes).unwrap(), 2000);
    // A hole from a record's start to the end of its block reads as padding. A record follows.
    let start = ends[100];
    let mut holed = bytes[..start].to_vec();
    holed.resize(LOG_BLOCK_SIZE_BYTES, 0);
    assert_eq!(recover_bytes(&env, &holed).unwrap(), 100);
    let mut encoder = LogEncoder::at_offset(LOG_BLOCK_SIZE_BYTES as u64);
    encoder.encode_into(&VersionEdit::default().encode(), &mut holed);
    let error = recover_bytes(&env, &holed).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Corruption, Some(start as u64)));
}

#[test]
fn a_damaged_byte_in_any_block_is_reported() {
    let env = MemoryEnv::new();
    options(&env);
    let (bytes, ends) = manifest_of_many_records(&env, 2000);
    let files = ends.len() - 1;
    for at in (0..bytes.len()).step_by(101).chain(LOG_BLOCK_SIZE_BYTES - 20..LOG_BLOCK_SIZE_BYTES + 20) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        match recover_bytes(&env, &damaged) {
            Ok(found) => assert!(at >= ends[files - 1] && found + 1 >= files, "byte {at}: {found} files"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corruption, "byte {at}: {error}"),
        }
    }
}

#[test]
fn an_unknown_tag_is_unsupported() {
    let env = MemoryEnv::new();
    options(&env);
    let mut bytes = Vec::new();
    LogEncoder::new().encode_into(&[10, 1], &mut bytes);
    write_file(&env, "CURRENT", b"MANIFEST-000005\n");
    assert_eq!(recover_bytes(&env, &bytes).unwrap_err().kind(), ErrorKind::Unsupported);
}
