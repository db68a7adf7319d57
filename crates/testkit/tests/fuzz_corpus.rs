//! The fuzz targets over their seeds and over every input that ever broke one: what a fuzzer found stays found, without
//! a fuzzer.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use terrace_fuzz::TARGETS;

/// A seed larger than this, in bytes, slows the fuzzer down more than it helps.
const MAX_SEED_SIZE_BYTES: u64 = 4096;

fn fuzz_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// What is in a folder, sorted; nothing if it does not exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a folder entry").path()).collect();
    paths.sort();
    paths
}

fn names(folder: &Path) -> BTreeSet<String> {
    let name = |path: &PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    entries(folder).iter().map(name).collect()
}

#[test]
fn every_target_takes_its_seeds_and_regressions() {
    let mut failed = Vec::new();
    for target in TARGETS {
        let [seeds, regressions] =
            ["corpus", "regressions"].map(|kind| entries(&fuzz_folder().join(kind).join(target.name)));
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        println!("{}: {} seeds, {} regressions", target.name, seeds.len(), regressions.len());
        for path in seeds.iter().chain(&regressions) {
            let bytes = fs::read(path).expect("an input can be read");
            if catch_unwind(|| (target.run)(&bytes)).is_err() {
                failed.push(path.clone());
            }
        }
    }
    assert!(failed.is_empty(), "these inputs break their target, see above: {failed:#?}");
}

#[test]
fn the_empty_input_is_an_input() {
    TARGETS.iter().for_each(|target| (target.run)(&[]));
}

#[test]
fn every_target_has_a_program_and_every_folder_a_target() {
    let targets: BTreeSet<_> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(targets.len(), TARGETS.len(), "two targets share a name");
    assert_eq!(names(&fuzz_folder().join("fuzz_targets")), targets);
    assert_eq!(names(&fuzz_folder().join("corpus")), targets);
    assert!(names(&fuzz_folder().join("regressions")).is_subset(&targets));
}

#[test]
fn seeds_are_small() {
    let folders = entries(&fuzz_folder().join("corpus"));
    let large: Vec<_> = folders
        .iter()
        .flat_map(|folder| entries(folder))
        .filter(|path| fs::metadata(path).expect("a seed").len() > MAX_SEED_SIZE_BYTES)
        .collect();
    assert!(large.is_empty(), "{large:#?}");
}
