//! Damage of every kind in every kind of file, and what a repair saves.

mod faults;
mod fixture;
mod interruptions;
mod logs;
mod manifests;
mod tables;

use std::path::Path;
use std::sync::Arc;

use crate::support::{self, put};
use fixture::{DIRECTORY, Files, PLAIN, SNAPPY, contents, files, in_lost, options, place, repair};
use terrace_engine::{Compression, Db, ErrorKind, LevelSource, Options, UserComparator};

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
fn names_in_lost_are_never_reused_for_other_contents() {
    let table = PLAIN.names(".ldb").remove(0);
    let mut first = PLAIN.files[&table].clone();
    first[10] ^= 1;
    let env = place(&PLAIN.with(&table, Some(first.clone())));
    let lost = Path::new(DIRECTORY).join("lost");
    env.create_directory_all(&lost).unwrap();
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
    let kind = |options: &Options| Db::repair(DIRECTORY, options).unwrap_err().kind();
    assert_eq!(kind(&options), ErrorKind::NoDatabase);
    env.create_directory_all(Path::new(DIRECTORY)).unwrap();
    assert_eq!(kind(&options), ErrorKind::NoDatabase);
    assert_eq!(env.list(Path::new(DIRECTORY)).unwrap(), [] as [String; 0]);

    let db = Db::open(DIRECTORY, options.clone()).unwrap();
    put(&db, "k", "v");
    assert_eq!(kind(&options), ErrorKind::Locked);
    drop(db);
    assert_eq!(kind(&Options { read_only: true, ..options.clone() }), ErrorKind::InvalidArgument);

    let before = files(&*env, "");
    let comparator = UserComparator::by_name("idb_cmp1").unwrap();
    let error = Db::repair(DIRECTORY, &Options { comparator, ..options.clone() }).unwrap_err();
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
        fn name(&self) -> &[u8] {
            b"backwards"
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
    let db = Db::open(DIRECTORY, backwards.clone()).unwrap();
    for index in 0..100 {
        put(&db, &format!("{index:03}"), "v");
    }
    db.flush().unwrap();
    drop(db);
    for name in files(&*env, "").into_keys().filter(|name| name.starts_with("MANIFEST") || name == "CURRENT")
    {
        env.remove_file(&Path::new(DIRECTORY).join(name)).unwrap();
    }
    let error = Db::repair(DIRECTORY, &options(Arc::clone(&env), Compression::None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{error}");
    Db::repair(DIRECTORY, &backwards).unwrap();
    let db = Db::open(DIRECTORY, backwards).unwrap();
    assert_eq!(support::entries(&db, Default::default()).len(), 100);
}
