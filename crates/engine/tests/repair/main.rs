//! Damage of every kind in every kind of file, and what a repair makes of it.

#[path = "../support/mod.rs"]
mod support;

mod faults;
mod fixture;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use faults::{Fault, FaultyEnv};
use fixture::{
    FOLDER, Files, Fixture, assert_stale_are_reported, compare, contents, files, options, place, records,
    repair, replayed,
};
use support::{Random, delete, get, put};
use terrace_engine::env::Env;
use terrace_engine::{Compression, Db, ErrorKind, LevelSource, Options, RepairReport, UserComparator};

static PLAIN: LazyLock<Fixture> = LazyLock::new(|| Fixture::new(Compression::None));
static SNAPPY: LazyLock<Fixture> = LazyLock::new(|| Fixture::new(Compression::Snappy));

/// More entries than a block of 256 bytes holds.
const MAX_ENTRIES_A_BLOCK: usize = 16;

fn in_lost(env: &dyn Env) -> Vec<String> {
    let mut names = env.list(&Path::new(FOLDER).join("lost")).unwrap_or_default();
    names.sort();
    names
}

#[test]
fn an_undamaged_database_keeps_every_entry_however_often_it_is_repaired() {
    for fixture in [&*PLAIN, &*SNAPPY] {
        let env = place(&fixture.files);
        let tables = fixture.names(".ldb").len() as u64;
        for run in 0..3 {
            let report = repair(&env);
            assert_eq!(report.levels_from, LevelSource::Manifest);
            assert!(report.nothing_lost(), "{report}");
            assert_eq!(report.tables_kept, tables + u64::from(run > 0), "{report}");
            assert_eq!(report.set_aside, []);
            let untouched =
                fixture.names(".ldb").iter().all(|name| files(&*env, "")[name] == fixture.files[name]);
            assert!(untouched, "intact tables stay as they are");
        }
        assert_eq!(contents(&env), fixture.model);
        assert_eq!(in_lost(&*env), [] as [String; 0]);
    }
}

#[test]
fn a_flipped_byte_in_a_table_costs_at_most_its_block() {
    for fixture in [&*PLAIN, &*SNAPPY] {
        for name in fixture.names(".ldb") {
            let size = fixture.files[&name].len();
            for position in (0..size).step_by(211).chain((size - 400..size).step_by(7)) {
                let mut damaged = fixture.files[&name].clone();
                damaged[position] ^= 0x40;
                check_table_damage(fixture, &name, damaged, MAX_ENTRIES_A_BLOCK, position);
            }
        }
    }
}

#[test]
fn zeros_in_a_table_cost_at_most_the_blocks_they_touch() {
    let mut random = Random(3);
    for name in PLAIN.names(".ldb") {
        let size = PLAIN.files[&name].len();
        for _ in 0..10 {
            let start = random.below(size as u64) as usize;
            let end = (start + 1 + random.below(1500) as usize).min(size);
            let mut damaged = PLAIN.files[&name].clone();
            damaged[start..end].fill(0);
            let blocks = (end - start) / 200 + 2;
            check_table_damage(&PLAIN, &name, damaged, blocks * MAX_ENTRIES_A_BLOCK, start);
        }
    }
}

#[test]
fn a_truncated_table_keeps_all_blocks_before_the_cut() {
    for fixture in [&*PLAIN, &*SNAPPY] {
        for name in fixture.names(".ldb") {
            let size = fixture.files[&name].len();
            for cut in (0..size).step_by(311).chain([1, size - 1, size - 48]) {
                let damaged = fixture.files[&name][..cut].to_vec();
                // An entry takes at least 16 bytes, compressed ones perhaps 6.
                let bound = (size - cut) / 6 + MAX_ENTRIES_A_BLOCK;
                check_table_damage(fixture, &name, damaged, bound, cut);
            }
        }
    }
}

/// Repairs the database with this table damaged.
fn check_table_damage(fixture: &Fixture, name: &str, damaged: Vec<u8>, max_lost: usize, position: usize) {
    if damaged == fixture.files[name] {
        return;
    }
    let env = place(&fixture.with(name, Some(damaged.clone())));
    let report = repair(&env);
    assert_eq!(report.levels_from, LevelSource::Manifest);
    let size = fixture.files[name].len();
    if (size - 48..size - 8).contains(&position) && report.tables_salvaged.is_empty() {
        // The footer's filling means nothing.
        assert_eq!(contents(&env), fixture.model);
        return;
    }
    let difference = compare(&contents(&env), &fixture.model);
    let lost = difference.gone.len() + difference.stale.len();
    assert!(lost <= max_lost, "{name} at {position}: {difference:?}\n{report}");
    assert_stale_are_reported(&difference, &report);
    assert_eq!(report.tables_salvaged.len(), 1, "{name} at {position}: {report}");
    assert!(lost == 0 || report.lost_bytes() > 0, "{name} at {position}: {report}");
    assert_eq!(report.tables_salvaged[0].name, name);
    let kept = env.read_file(&Path::new(FOLDER).join("lost").join(name)).unwrap();
    assert_eq!(kept, damaged, "the damaged table is set aside");
    let again = repair(&env);
    assert!(again.nothing_lost(), "{again}");
    assert_eq!(compare(&contents(&env), &fixture.model).gone, difference.gone);
}

#[test]
fn damage_in_the_last_part_of_a_table_loses_no_entry() {
    // Filter, metaindex, index and footer: the blocks are found without them.
    for fixture in [&*PLAIN, &*SNAPPY] {
        for name in fixture.names(".ldb") {
            let size = fixture.files[&name].len();
            for position in (size - 48..size).step_by(3) {
                let mut damaged = fixture.files[&name].clone();
                damaged[position] ^= 1;
                let env = place(&fixture.with(&name, Some(damaged)));
                let report = repair(&env);
                assert!(report.nothing_lost(), "{name} at {position}: {report}");
                assert_eq!(contents(&env), fixture.model, "{name} at {position}");
            }
        }
    }
}

#[test]
fn a_missing_table_costs_its_own_entries_only() {
    for name in PLAIN.names(".ldb") {
        let env = place(&PLAIN.with(&name, None));
        let report = repair(&env);
        assert_eq!(report.tables_missing, [name.clone()]);
        assert!(!report.nothing_lost());
        let difference = compare(&contents(&env), &PLAIN.model);
        assert_stale_are_reported(&difference, &report);
        let mut table = PLAIN.files.clone();
        table.retain(|other, _| *other == name);
        // Alone it is merged as it is: these are its keys.
        let alone = place(&table);
        repair(&alone);
        let keys = contents(&alone);
        for key in &difference.gone {
            assert!(keys.contains_key(key), "{} was in another table", key.escape_ascii());
        }
    }
}

#[test]
fn a_flipped_byte_in_a_log_costs_at_most_its_record() {
    let name = PLAIN.name(".log");
    let log = &PLAIN.files[&name];
    let all = records(log);
    for position in 0..log.len() {
        {
            let mut damaged = log.clone();
            damaged[position] ^= if position % 2 == 0 { 0x01 } else { 0x80 };
            let env = place(&PLAIN.with(&name, Some(damaged)));
            let report = repair(&env);
            let found = contents(&env);
            let is_hit = |index: &usize| all[*index].start <= position && position < all[*index].end;
            let hit = (0..all.len()).find(is_hit).unwrap();
            let others = all.iter().enumerate().filter(|(index, _)| *index != hit).map(|(_, record)| record);
            let without = replayed(&PLAIN.in_tables, others);
            if report.nothing_lost() {
                assert_eq!(found, PLAIN.model, "position {position}: {report}");
            } else {
                assert_eq!(
                    compare(&found, &without).gone,
                    [] as [Vec<u8>; 0],
                    "position {position}: {report}"
                );
                assert_eq!(found, without, "position {position}: {report}");
                // The last record looks like one that was never finished when its length leads beyond the file.
                assert!(in_lost(&*env).contains(&name));
            }
            let lost_whole_records = report.logs[0].records_kept < all.len() as u64;
            let is_tail = report.logs[0].unfinished_tail_bytes > 0;
            assert!(
                !lost_whole_records || !report.nothing_lost() || is_tail,
                "position {position}: {report}"
            );
        }
    }
}

#[test]
fn a_truncated_log_keeps_the_records_before_the_cut() {
    let name = PLAIN.name(".log");
    let log = &PLAIN.files[&name];
    let all = records(log);
    for cut in (0..log.len()).step_by(3) {
        let env = place(&PLAIN.with(&name, Some(log[..cut].to_vec())));
        let report = repair(&env);
        let expected = replayed(&PLAIN.in_tables, all.iter().filter(|record| record.end <= cut));
        assert_eq!(contents(&env), expected, "cut {cut}: {report}");
    }
}

#[test]
fn zeros_in_a_log_cost_the_records_they_touch() {
    let name = PLAIN.name(".log");
    let log = &PLAIN.files[&name];
    let all = records(log);
    let mut random = Random(5);
    for _ in 0..200 {
        let start = random.below(log.len() as u64) as usize;
        let end = (start + 1 + random.below(800) as usize).min(log.len());
        let mut damaged = log.clone();
        damaged[start..end].fill(0);
        if damaged == *log {
            continue;
        }
        let env = place(&PLAIN.with(&name, Some(damaged)));
        let report = repair(&env);
        let found = contents(&env);
        let untouched = all.iter().filter(|record| record.end <= start || record.start >= end);
        let expected = replayed(&PLAIN.in_tables, untouched);
        // Where only a length or a type was zeroed, the record is found again.
        let is_recovered = report.logs[0].damage.iter().any(|damage| damage.lost_bytes == 0);
        assert!(found == expected || is_recovered, "{start}..{end}: {report}");
        assert!(start == 0 || found != PLAIN.in_tables || all[0].end > start, "{start}..{end}: {report}");
    }
}

#[test]
fn a_missing_log_is_survived() {
    let name = PLAIN.name(".log");
    let env = place(&PLAIN.with(&name, None));
    repair(&env);
    assert_eq!(contents(&env), PLAIN.in_tables);
}

#[test]
fn writes_in_several_blocks_of_a_log_survive_damage_of_one() {
    let env = support::memory();
    let db = Db::open(FOLDER, Options { env: Arc::clone(&env), ..Options::default() }).unwrap();
    let mut random = Random(11);
    let mut expected = support::Model::new();
    for index in 0..200u32 {
        let (key, value) =
            (format!("{index:04}").into_bytes(), random.bytes(3_000 + (index as usize * 37) % 5_000));
        db.put(&key, &value, &Default::default()).unwrap();
        expected.insert(key, value);
    }
    drop(db);
    let whole = files(&*env, "");
    let name = whole.keys().find(|name| name.ends_with(".log")).unwrap();
    for position in (0..whole[name].len()).step_by(16_007) {
        let mut damaged = whole.clone();
        damaged.get_mut(name).unwrap()[position] ^= 0x10;
        let env = place(&damaged);
        let report = repair(&env);
        let difference = compare(&contents(&env), &expected);
        assert!(
            difference.gone.len() <= 1 && difference.stale.is_empty(),
            "{position}: {difference:?} {report}"
        );
        assert_eq!(report.nothing_lost(), difference.gone.is_empty(), "{position}: {report}");
    }
}

#[test]
fn a_log_inside_a_value_is_not_taken_for_records() {
    let env = support::memory();
    let options = Options { env: Arc::clone(&env), ..Options::default() };
    let db = Db::open(FOLDER, options.clone()).unwrap();
    put(&db, "a", "old");
    put(&db, "a", "older than this");
    let inner = files(&*env, ".log").into_values().next().unwrap();
    put(&db, "a", "new");
    db.put(b"log", &inner, &Default::default()).unwrap();
    put(&db, "z", "last");
    drop(db);
    let mut damaged = files(&*env, "");
    let name = damaged.keys().find(|name| name.ends_with(".log")).unwrap().clone();
    let records = records(&damaged[&name]);
    let header = records[3].start;
    // Length and checksum: where the record ends cannot be known.
    damaged.get_mut(&name).unwrap()[header..header + 6].fill(0xee);
    let env = place(&damaged);
    let report = repair(&env);
    let db = Db::open(FOLDER, Options { env, ..options }).unwrap();
    assert_eq!(get(&db, "a").as_deref(), Some("new"), "{report}");
    assert_eq!(get(&db, "log"), None);
    assert_eq!(get(&db, "z").as_deref(), Some("last"), "{report}");
}

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
fn a_half_written_newer_manifest_is_not_believed() {
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
    let env = support::memory();
    let options = options(Arc::clone(&env), Compression::None);
    let db = Db::open(FOLDER, options.clone()).unwrap();
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
    let db = Db::open(FOLDER, Options { env, ..options }).unwrap();
    assert_eq!((get(&db, "deleted"), get(&db, "overwritten").as_deref()), (None, Some("new")));
}

/// The ways of damage whose repairs take different paths.
fn scenarios() -> Vec<(&'static str, Files)> {
    let fixture = &*PLAIN;
    let flipped = |name: &str, position: usize| {
        let mut damaged = fixture.files[name].clone();
        damaged[position] ^= 0x20;
        fixture.with(name, Some(damaged))
    };
    let tables = fixture.names(".ldb");
    // Level 0 holds the tables with the largest numbers.
    let oldest_of_level0 = &tables[tables.len() - 3];
    let manifest = fixture.name("MANIFEST");
    let log = fixture.name(".log");
    let mut cut_manifest = fixture.files[&manifest].clone();
    cut_manifest.truncate(cut_manifest.len() / 2);
    vec![
        ("nothing", fixture.files.clone()),
        ("a deep table", flipped(&tables[0], 10)),
        ("a table of level 0", flipped(oldest_of_level0, 10)),
        ("a log", flipped(&log, 30)),
        ("CURRENT", fixture.with("CURRENT", Some(b"?".to_vec()))),
        ("no MANIFEST", fixture.with(&manifest, None)),
        ("a short MANIFEST", fixture.with(&manifest, Some(cut_manifest))),
        ("a missing table", fixture.with(&tables[1], None)),
    ]
}

#[test]
fn an_interrupted_repair_can_be_run_again() {
    for (what, files) in scenarios() {
        let undisturbed = place(&files);
        let whole_report = repair(&undisturbed);
        let expected = contents(&undisturbed);
        for fault in [Fault::FromThenOn, Fault::Once] {
            for call in 0.. {
                let env = place(&files);
                let faulty = Arc::new(FaultyEnv::new(Arc::clone(&env), call, fault));
                let result =
                    Db::repair(FOLDER, &options(Arc::clone(&faulty) as Arc<dyn Env>, Compression::None));
                if result.is_err() {
                    assert_damaged_files_are_kept(&*env, &files, &whole_report);
                    repair(&env);
                }
                assert_damaged_files_are_kept(&*env, &files, &whole_report);
                assert_eq!(contents(&env), expected, "{what}, {fault:?} at call {call}");
                if !faulty.has_failed() {
                    assert!(call > 5 && result.is_ok());
                    break;
                }
            }
        }
    }
}

/// Every file that the whole repair set aside is still there, in the folder or in `lost`.
fn assert_damaged_files_are_kept(env: &dyn Env, before: &Files, report: &RepairReport) {
    for file in &report.set_aside {
        let places = [Path::new(FOLDER).join(&file.name), Path::new(FOLDER).join(&file.moved_to)];
        let is_kept =
            places.iter().any(|path| env.read_file(path).is_ok_and(|bytes| bytes == before[&file.name]));
        assert!(is_kept, "{} is gone", file.name);
    }
}

#[test]
fn opening_after_an_interrupted_repair_deletes_no_damaged_file_for_good() {
    let (_, damaged) = scenarios().swap_remove(1);
    let whole = place(&damaged);
    let report = repair(&whole);
    let mut opened = 0;
    for call in 0.. {
        let env = place(&damaged);
        let faulty = Arc::new(FaultyEnv::new(Arc::clone(&env), call, Fault::FromThenOn));
        let repaired = Db::repair(FOLDER, &options(Arc::clone(&faulty) as Arc<dyn Env>, Compression::None));
        if let Ok(db) = Db::open(FOLDER, options(Arc::clone(&env), Compression::None)) {
            put(&db, "key", "written after the repair");
            // Fails at the damaged block, unless the repair has come into force.
            let compacted = db.compact_range(None, None);
            assert!(compacted.is_ok() || repaired.is_err());
            drop(db);
            opened += u32::from(compacted.is_ok());
        }
        assert_damaged_files_are_kept(&*env, &damaged, &report);
        if !faulty.has_failed() {
            break;
        }
    }
    assert!(opened > 0);
}

#[test]
fn names_in_lost_are_never_reused_for_other_contents() {
    let table = PLAIN.names(".ldb").remove(0);
    let mut first = PLAIN.files[&table].clone();
    first[10] ^= 1;
    let env = place(&PLAIN.with(&table, Some(first.clone())));
    let lost = Path::new(FOLDER).join("lost");
    env.create_folder_all(&lost).unwrap();
    let mut file = env.create(&lost.join(&table)).unwrap();
    file.append(b"from an earlier repair").unwrap();
    file.close().unwrap();
    let report = repair(&env);
    let moved = report.set_aside.iter().find(|file| file.name == table).unwrap();
    assert_eq!(moved.moved_to, format!("lost/{table}.1"));
    assert_eq!(env.read_file(&lost.join(&table)).unwrap(), b"from an earlier repair");
    assert_eq!(env.read_file(&lost.join(format!("{table}.1"))).unwrap(), first);
}

#[test]
fn what_cannot_be_repaired_is_refused_and_nothing_is_changed() {
    let env = support::memory();
    let options = options(Arc::clone(&env), Compression::None);
    let kind = |options: &Options| Db::repair(FOLDER, options).unwrap_err().kind();
    assert_eq!(kind(&options), ErrorKind::NoDatabase);
    env.create_folder_all(Path::new(FOLDER)).unwrap();
    assert_eq!(kind(&options), ErrorKind::NoDatabase);
    assert_eq!(env.list(Path::new(FOLDER)).unwrap(), [] as [String; 0]);

    let db = Db::open(FOLDER, options.clone()).unwrap();
    put(&db, "k", "v");
    assert_eq!(kind(&options), ErrorKind::Locked);
    drop(db);
    assert_eq!(kind(&Options { read_only: true, ..options.clone() }), ErrorKind::InvalidArgument);

    let before = files(&*env, "");
    let comparator = UserComparator::by_name("idb_cmp1").unwrap();
    let error = Db::repair(FOLDER, &Options { comparator, ..options.clone() }).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument);
    let text = error.to_string();
    assert!(text.contains("idb_cmp1") && text.contains("leveldb.BytewiseComparator"), "{text}");
    let without_log =
        |files: Files| files.into_iter().filter(|(name, _)| !name.starts_with("LOG")).collect::<Files>();
    assert_eq!(without_log(files(&*env, "")), without_log(before));
}

#[test]
fn tables_in_another_order_are_refused_when_no_manifest_names_it() {
    #[derive(Debug)]
    struct Backwards;
    impl terrace_engine::Comparator for Backwards {
        fn name(&self) -> &str {
            "backwards"
        }
        fn compare(&self, a: &[u8], b: &[u8]) -> std::cmp::Ordering {
            b.cmp(a)
        }
        fn find_shortest_separator(&self, _: &mut Vec<u8>, _: &[u8]) {}
        fn find_short_successor(&self, _: &mut Vec<u8>) {}
    }
    let env = support::memory();
    let backwards = Options {
        comparator: UserComparator::Custom(Arc::new(Backwards)),
        ..options(Arc::clone(&env), Compression::None)
    };
    let db = Db::open(FOLDER, backwards.clone()).unwrap();
    for index in 0..100 {
        put(&db, &format!("{index:03}"), "v");
    }
    db.flush().unwrap();
    drop(db);
    for name in files(&*env, "").into_keys().filter(|name| name.starts_with("MANIFEST") || name == "CURRENT")
    {
        env.remove_file(&Path::new(FOLDER).join(name)).unwrap();
    }
    let error = Db::repair(FOLDER, &options(Arc::clone(&env), Compression::None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    Db::repair(FOLDER, &backwards).unwrap();
    let db = Db::open(FOLDER, backwards).unwrap();
    assert_eq!(support::entries(&db, Default::default()).len(), 100);
}

#[test]
fn a_file_of_noise_costs_no_more_than_itself() {
    let mut random = Random(17);
    for name in PLAIN.names(".ldb").into_iter().take(4).chain([PLAIN.name(".log")]) {
        let noise = random.bytes(PLAIN.files[&name].len());
        let env = place(&PLAIN.with(&name, Some(noise)));
        let report = repair(&env);
        assert!(!report.nothing_lost(), "{report}");
        let difference = compare(&contents(&env), &PLAIN.model);
        if name.ends_with(".ldb") {
            assert_stale_are_reported(&difference, &report);
        }
    }
}
