//! Repairs that fail or are interrupted at any point.

use std::path::Path;
use std::sync::Arc;

use terrace_engine::env::Env;
use terrace_engine::{Compression, Db, RepairReport};

use super::faults::{Fault, FaultyEnv};
use super::fixture::{DIRECTORY, Files, PLAIN, contents, options, place, repair};
use crate::support::{distance, put};

/// Kinds of damage whose repairs take different paths.
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
            for call in (0..).step_by(distance(1)) {
                let env = place(&files);
                let faulty = Arc::new(FaultyEnv::new(Arc::clone(&env), call, fault));
                let result =
                    Db::repair(DIRECTORY, &options(Arc::clone(&faulty) as Arc<dyn Env>, Compression::None));
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

/// Checks that every file that the complete repair set aside still exists, in the directory or in `lost`.
fn assert_damaged_files_are_kept(env: &dyn Env, before: &Files, report: &RepairReport) {
    for file in &report.set_aside {
        let places = [Path::new(DIRECTORY).join(&file.name), Path::new(DIRECTORY).join(&file.moved_to)];
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
        let repaired =
            Db::repair(DIRECTORY, &options(Arc::clone(&faulty) as Arc<dyn Env>, Compression::None));
        if let Ok(db) = Db::open(DIRECTORY, options(Arc::clone(&env), Compression::None)) {
            put(&db, "key", "written after the repair");
            // Fails at the damaged block, unless the repair has taken effect.
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
