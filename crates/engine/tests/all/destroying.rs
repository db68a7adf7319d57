//! Removing databases from disk, and symbolic links in their directories.

use std::path::Path;
use std::sync::Arc;

use crate::support::{get, put};
use terrace_engine::env::Env;
use terrace_engine::env::simulated::{Mode, SimulatedEnv};
use terrace_engine::{Db, ErrorKind, Options};
use terrace_format::file_name;

#[test]
fn destroy_removes_the_database_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("db");
    let destroy = || Db::destroy(&path, &Options::default());
    let db = Db::open(&path, Options::default()).unwrap();
    put(&db, "k", "v");
    assert_eq!(destroy().unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!(get(&db, "k").as_deref(), Some("v"));
    db.close().unwrap();
    let mine = ["notes.txt", "2024.log", "7.ldb", "lost/mine.txt", "lost/2024.log", "lost/mine.1"];
    let ours = [
        "000007.ldb",
        "SYNCED",
        "lost/000005.ldb",
        "lost/000005.ldb.1",
        "lost/MANIFEST-000003",
        "lost/000009.log.12",
    ];
    std::fs::create_dir(path.join("lost")).unwrap();
    for name in mine.into_iter().chain(ours) {
        std::fs::write(path.join(name), "contents").unwrap();
    }
    assert!(destroy().unwrap());
    assert_eq!(files_below(&path), sorted(mine));
    assert!(!destroy().unwrap(), "there is no database any more");
    assert_eq!(files_below(&path), sorted(mine));
    std::fs::remove_dir_all(&path).unwrap();
    assert!(!Db::destroy(directory.path().join("never"), &Options::default()).unwrap());

    Db::open(&path, Options::default()).unwrap().close().unwrap();
    assert!(destroy().unwrap());
    assert!(!path.exists(), "nothing else was in it");
}

/// Each case is a directory that never held a database.
#[test]
fn destroy_leaves_a_directory_alone_that_never_held_a_database() {
    for names in [
        &["2024.log"][..],
        &["20241231.log", "20250101.log"],
        &["LOG", "LOG.old", "20241231.log"],
        &["LOCK", "LOG", "123456.log"],
        &["000000.dbtmp"],
        &["SYNCED"],
        &["lost/000005.ldb"],
        &[],
    ] {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("lost")).unwrap();
        for name in names {
            std::fs::write(directory.path().join(name), "contents").unwrap();
        }
        assert!(!Db::destroy(directory.path(), &Options::default()).unwrap(), "{names:?}");
        assert_eq!(files_below(directory.path()), sorted(names.iter().copied()));
    }
}

/// A process dies at each call of a destroy. Another destroy then removes the rest.
#[test]
fn a_destroy_that_was_interrupted_can_be_repeated() {
    let mut interrupted = 0;
    for calls in 0..200 {
        let mut env = SimulatedEnv::new(calls, Mode::StrictPosix);
        let options = || Options { env: Arc::new(env.clone()), ..Options::default() };
        let db = Db::open("/data/db", options()).unwrap();
        for round in 0..3 {
            put(&db, "key", &format!("{round}"));
            db.flush().unwrap();
        }
        put(&db, "key", "in the log");
        db.close().unwrap();
        env.halt_after(calls);
        let _ = Db::destroy("/data/db", &options());
        interrupted += u64::from(env.is_halted());
        env.kill_process();
        let was_there = env.exists(Path::new("/data/db/CURRENT")).unwrap();
        let options = || Options { env: Arc::new(env.clone()), ..Options::default() };
        if !was_there && let Ok(db) = Db::open("/data/db", Options { create_if_missing: false, ..options() })
        {
            panic!("after {calls} calls it opens: {:?}", db.path());
        }
        Db::destroy("/data/db", &options()).unwrap();
        let left = if env.exists(Path::new("/data/db")).unwrap() {
            env.list(Path::new("/data/db")).unwrap()
        } else {
            vec![]
        };
        assert!(left.is_empty() || left == [file_name::LOCK], "after {calls} calls: {left:?}");
    }
    assert!(interrupted > 10, "{interrupted}");
}

#[cfg(unix)]
#[test]
fn tables_that_are_symbolic_links_are_followed_by_reads_copies_and_repairs_and_left_by_a_destroy() {
    use std::os::unix::fs::symlink;
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let (path, elsewhere) = (at("db"), at("elsewhere"));
    let db = Db::open(&path, Options::default()).unwrap();
    put(&db, "k", "v");
    db.flush().unwrap();
    db.close().unwrap();
    std::fs::create_dir(&elsewhere).unwrap();
    let tables: Vec<String> = files_below(&path).into_iter().filter(|name| name.ends_with(".ldb")).collect();
    for name in &tables {
        std::fs::rename(path.join(name), elsewhere.join(name)).unwrap();
        symlink(Path::new("../elsewhere").join(name), path.join(name)).unwrap();
    }
    let holds = |path: &Path| get(&Db::open(path, Options::default()).unwrap(), "k").as_deref() == Some("v");

    let db = Db::open(&path, Options::default()).unwrap();
    db.checkpoint(at("far/away/copy")).unwrap();
    db.close().unwrap();
    // The copy has the bytes, wherever it is, and keeps them.
    let copied = at("far/away/copy").join(&tables[0]);
    assert!(std::fs::symlink_metadata(&copied).unwrap().is_file());
    assert!(holds(&at("far/away/copy")));

    // What a repair sets aside is the file, not the link.
    std::fs::write(elsewhere.join("000099.ldb"), "no table").unwrap();
    symlink("../elsewhere/000099.ldb", path.join("000099.ldb")).unwrap();
    std::fs::remove_file(path.join("CURRENT")).unwrap();
    Db::repair(&path, &Options::default()).unwrap();
    assert!(holds(&path));
    let set_aside = files_below(&path.join("lost"));
    assert!(set_aside.contains(&"000099.ldb".to_owned()), "{set_aside:?}");
    assert!(std::fs::symlink_metadata(path.join("lost/000099.ldb")).unwrap().is_file());

    // Neither the tables that links lead to nor a directory that `lost` leads to are removed.
    std::fs::remove_dir_all(path.join("lost")).unwrap();
    std::fs::create_dir(at("backup")).unwrap();
    std::fs::write(at("backup/000005.ldb"), "a table of another database").unwrap();
    symlink("../backup", path.join("lost")).unwrap();
    assert!(Db::destroy(&path, &Options::default()).unwrap());
    assert_eq!(files_below(&at("backup")), ["000005.ldb"]);
    assert!(tables.iter().all(|name| elsewhere.join(name).exists()));
    assert_eq!(files_below(&path), ["lost"]);
}

fn sorted<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    names.sort();
    names
}

/// The files below a directory, and links, by their paths.
fn files_below(directory: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            files.extend(files_below(&entry.path()).into_iter().map(|below| format!("{name}/{below}")));
        } else {
            files.push(name);
        }
    }
    files.sort();
    files
}
