//! Damage of CURRENT and of the MANIFEST, and tables that no MANIFEST lists.

use std::path::Path;
use std::sync::Arc;

use terrace_engine::{Compression, Db, LevelSource, Options};

use terrace_format::version_edit::{FileEntry, VersionEdit};

use super::fixture::{
    DIRECTORY, PLAIN, SNAPPY, compare, contents, edits, files, in_lost, manifest_of, options, place, repair,
};
use crate::support::{delete, get, memory, put};

#[test]
fn any_damage_of_the_manifest_loses_nothing_and_brings_nothing_back() {
    for fixture in [&*PLAIN, &*SNAPPY] {
        let name = fixture.name("MANIFEST");
        let manifest = &fixture.files[&name];
        let mut cases: Vec<Vec<u8>> = Vec::new();
        for position in (0..manifest.len()).step_by(9) {
            let mut flipped = manifest.clone();
            flipped[position] ^= 0x04;
            cases.push(flipped);
            cases.push(manifest[..position].to_vec());
            let mut zeroed = manifest.clone();
            let end = (position + 100).min(zeroed.len());
            zeroed[position..end].fill(0);
            cases.push(zeroed);
        }
        for (index, damaged) in cases.into_iter().enumerate() {
            let env = place(&fixture.with(&name, Some(damaged)));
            let report = repair(&env);
            let difference = compare(&contents(&env), &fixture.model);
            assert!(
                difference.gone.is_empty() && difference.stale.is_empty(),
                "{index}: {difference:?}\n{report}"
            );
        }
    }
}

#[test]
fn a_manifest_that_lost_its_last_flushes_does_not_hide_them() {
    let name = PLAIN.name("MANIFEST");
    let mut all = edits(&PLAIN.files[&name]);
    // LevelDB records the current sequence number, not that of the tables.
    all.iter_mut().for_each(|edit| edit.last_sequence = Some(1_000_000));
    for lost in 1..=3 {
        let manifest = manifest_of(&all[..all.len() - lost]);
        let env = place(&PLAIN.with(&name, Some(manifest)));
        let report = repair(&env);
        assert_eq!(report.levels_from, LevelSource::Merge, "{report}");
        assert_eq!(contents(&env), PLAIN.model, "{lost}: {report}");
    }
}

#[test]
fn a_table_that_a_power_cut_left_behind_is_not_brought_back() {
    let env = memory();
    let open = || Db::open(DIRECTORY, options(Arc::clone(&env), Compression::None)).unwrap();
    let db = open();
    put(&db, "kept", "value");
    db.flush().unwrap();
    db.close().unwrap();
    let before = files(&*env, "");
    let db = open();
    ["more", "than what", "is written later"].iter().for_each(|key| put(&db, key, "value"));
    put(&db, "undone", "by the power cut");
    db.flush().unwrap();
    db.close().unwrap();
    let (name, table) =
        files(&*env, ".ldb").into_iter().find(|(name, _)| !before.contains_key(name)).unwrap();

    let env = place(&before);
    let open = || Db::open(DIRECTORY, options(Arc::clone(&env), Compression::None)).unwrap();
    open().close().unwrap();
    let db = open();
    put(&db, "later", "value");
    db.flush().unwrap();
    db.close().unwrap();
    assert!(!files(&*env, "").contains_key(&name), "the number is free");
    let mut file = env.create(&Path::new(DIRECTORY).join(name)).unwrap();
    file.append(&table).unwrap();
    file.close().unwrap();
    let report = repair(&env);
    assert_eq!(report.levels_from, LevelSource::Manifest, "{report}");
    let db = open();
    assert_eq!((get(&db, "kept").as_deref(), get(&db, "later").as_deref()), (Some("value"), Some("value")));
    assert_eq!(get(&db, "undone"), None);
}

#[test]
fn current_and_manifest_may_be_missing_or_nonsense() {
    let manifest = PLAIN.name("MANIFEST");
    for contents_of_current in
        [&b""[..], b"MANIFEST-000001", b"MANIFEST-999999\n", b"\xff\0\0", b"MANIFEST-1\n"]
    {
        let env = place(&PLAIN.with("CURRENT", Some(contents_of_current.to_vec())));
        let report = repair(&env);
        assert_eq!(report.levels_from, LevelSource::Manifest, "{report}");
        assert!(report.nothing_lost(), "{report}");
        assert!(
            report.to_string().contains("CURRENT") || report.to_string().contains("MANIFEST-999999"),
            "{report}"
        );
        assert_eq!(contents(&env), PLAIN.model);
    }
    let without_current = place(&PLAIN.with("CURRENT", None));
    assert_eq!(repair(&without_current).levels_from, LevelSource::Manifest);
    assert_eq!(contents(&without_current), PLAIN.model);

    let without_manifest = place(&PLAIN.with(&manifest, None));
    let report = repair(&without_manifest);
    assert_eq!(report.levels_from, LevelSource::Merge);
    assert!(!report.uncertain.is_empty(), "{report}");
    assert_eq!(contents(&without_manifest), PLAIN.model);
    let again = repair(&without_manifest);
    assert!(again.nothing_lost(), "{again}");
    assert_eq!(contents(&without_manifest), PLAIN.model);

    let mut neither = PLAIN.with(&manifest, None);
    neither.remove("CURRENT");
    let env = place(&neither);
    repair(&env);
    assert_eq!(contents(&env), PLAIN.model);
}

#[test]
fn a_half_written_newer_manifest_is_not_trusted() {
    let manifest = &PLAIN.files[&PLAIN.name("MANIFEST")];
    for (cut, current) in [(0, true), (60, true), (200, true), (60, false), (200, false)] {
        let mut files = PLAIN.with("MANIFEST-000900", Some(manifest[..cut].to_vec()));
        if !current {
            files.remove("CURRENT");
        }
        let env = place(&files);
        let report = repair(&env);
        assert_eq!(report.levels_from, LevelSource::Manifest, "{report}");
        assert_eq!(contents(&env), PLAIN.model, "{report}");
    }
}

#[test]
fn replaced_tables_that_are_still_there_bring_nothing_back() {
    let mut stray = PLAIN.files.clone();
    stray.extend(PLAIN.replaced.clone());
    let env = place(&stray);
    let report = repair(&env);
    assert_eq!(report.levels_from, LevelSource::Manifest);
    assert_eq!(contents(&env), PLAIN.model, "{report}");
    for name in PLAIN.replaced.keys() {
        assert!(report.set_aside.iter().any(|file| file.name == *name), "{report}");
        assert!(in_lost(&*env).contains(name));
    }
}

#[test]
fn the_newest_of_several_tables_wins_by_sequence_number_without_a_manifest() {
    // LevelDB's repair puts all tables in level 0, where the file number decides.
    let env = memory();
    let options = options(Arc::clone(&env), Compression::None);
    let db = Db::open(DIRECTORY, options.clone()).unwrap();
    put(&db, "deleted", "once");
    put(&db, "overwritten", "old");
    db.flush().unwrap();
    let old = files(&*env, ".ldb");
    delete(&db, "deleted");
    put(&db, "overwritten", "new");
    db.close().unwrap();
    let mut swapped = files(&*env, "");
    swapped.retain(|name, _| name.ends_with(".log"));
    let (_, oldest) = old.into_iter().next().unwrap();
    swapped.insert("000900.ldb".to_owned(), oldest);
    let env = place(&swapped);
    repair(&env);
    let db = Db::open(DIRECTORY, Options { env, ..options }).unwrap();
    assert_eq!((get(&db, "deleted"), get(&db, "overwritten").as_deref()), (None, Some("new")));
}

#[test]
fn a_lost_table_is_reported_even_if_no_manifest_names_it() {
    let (env, options) = only_table_and_log();
    let directory = std::path::Path::new(DIRECTORY);
    for name in env.list(directory).unwrap() {
        if name.starts_with("MANIFEST") || name.ends_with(".ldb") {
            env.remove_file(&directory.join(name)).unwrap();
        }
    }
    let report = Db::repair(DIRECTORY, &options).unwrap();
    assert!(!report.nothing_lost(), "{report}");
}

#[test]
fn a_manifest_of_an_interrupted_repair_does_not_count_the_log_as_used_up() {
    let (env, options) = only_table_and_log();
    let directory = std::path::Path::new(DIRECTORY);
    for name in env.list(directory).unwrap() {
        if name.starts_with("MANIFEST") {
            env.remove_file(&directory.join(name)).unwrap();
        }
    }
    // A loss of power took the table that the edit names, and left CURRENT unchanged.
    let edit = VersionEdit {
        comparator: Some(b"leveldb.BytewiseComparator".to_vec()),
        log_number: Some(99),
        next_file_number: Some(100),
        last_sequence: Some(50),
        new_files: vec![(
            1,
            FileEntry {
                number: 98,
                size_bytes: 500,
                smallest: b"a\x01\x01\0\0\0\0\0\0".to_vec(),
                largest: b"z\x01\x01\0\0\0\0\0\0".to_vec(),
            },
        )],
        ..VersionEdit::default()
    };
    let mut file = env.create(&directory.join("MANIFEST-000099")).unwrap();
    file.append(&manifest_of(&[edit])).unwrap();
    file.close().unwrap();
    Db::repair(DIRECTORY, &options).unwrap();
    let db = Db::open(DIRECTORY, options).unwrap();
    assert_eq!(get(&db, "in a table").as_deref(), Some("value"));
    assert_eq!(get(&db, "in a log").as_deref(), Some("value"));
}

/// A database of one table and one log.
fn only_table_and_log() -> (Arc<dyn terrace_engine::env::Env>, Options) {
    let env = memory();
    let options = options(Arc::clone(&env), Compression::None);
    let db = Db::open(DIRECTORY, options.clone()).unwrap();
    put(&db, "in a table", "value");
    db.flush().unwrap();
    put(&db, "in a log", "value");
    db.close().unwrap();
    (env, options)
}
