//! Runs the fuzz targets on their seeds, on every input that ever broke one, and briefly on inputs drawn from these,
//! so that a fuzzer's findings stay fixed without a fuzzer.
//!
//! `TERRACE_SEED` sets the seed of the drawing, `TERRACE_TRIALS` the number of inputs for each target.

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use terrace_fuzz::{TARGETS, Target};
use terrace_testkit::campaign::{Campaign, Tally, trials};
use terrace_testkit::form::scaled;
use terrace_testkit::random::{Random, seed};

/// Largest useful seed, in bytes: a larger one slows the fuzzer down more than it helps.
const MAX_SEED_SIZE_BYTES: u64 = 4096;

/// Number of inputs drawn for a target that decodes, and for one whose inputs are whole histories.
const DRAWN: u64 = 20_000;
const DRAWN_HISTORIES: u64 = 1000;

fn fuzz_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The sorted contents of a directory; empty if it does not exist.
fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a directory entry").path()).collect();
    paths.sort();
    paths
}

fn names(directory: &Path) -> BTreeSet<String> {
    let name = |path: &PathBuf| path.file_stem().expect("a name").to_string_lossy().into_owned();
    entries(directory).iter().map(name).collect()
}

#[test]
fn every_target_takes_its_seeds_and_regressions() {
    let mut failed = Vec::new();
    for target in TARGETS {
        let [seeds, regressions] =
            ["corpus", "regressions"].map(|kind| entries(&fuzz_directory().join(kind).join(target.name)));
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
fn every_target_has_a_program_and_every_directory_a_target() {
    let targets: BTreeSet<_> = TARGETS.iter().map(|target| target.name.to_owned()).collect();
    assert_eq!(targets.len(), TARGETS.len(), "two targets share a name");
    assert_eq!(names(&fuzz_directory().join("fuzz_targets")), targets);
    assert_eq!(names(&fuzz_directory().join("corpus")), targets);
    assert!(names(&fuzz_directory().join("regressions")).is_subset(&targets));
}

#[test]
fn seeds_are_small() {
    let directories = entries(&fuzz_directory().join("corpus"));
    let large: Vec<_> = directories
        .iter()
        .flat_map(|directory| entries(directory))
        .filter(|path| fs::metadata(path).expect("a seed").len() > MAX_SEED_SIZE_BYTES)
        .collect();
    assert!(large.is_empty(), "{large:#?}");
}

/// An input like one of `seeds`, with some bytes changed, cut out, doubled, or taken from another seed.
fn draw(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut input = seeds[random.below(seeds.len())].clone();
    for _ in 0..random.between(1, 6) {
        let at = random.below(input.len() + 1);
        let end = (at + random.choose(&[1, 1, 4, 50])).min(input.len());
        match random.below(6) {
            0 if at < end => input[at] ^= 1 << random.below(8),
            1 if at < end => input[at] = random.choose(&[0, 1, 0x7f, 0x80, 0xff]),
            2 => drop(input.drain(at..end)),
            3 => {
                let doubled = input[at..end].to_vec();
                input.splice(at..at, doubled);
            }
            4 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len() + 1);
                input.splice(at..end, other[from..].iter().copied().take(50));
            }
            _ => {
                let count = random.below(9);
                let new = random.bytes(count);
                input.splice(at..at, new);
            }
        }
    }
    input.truncate(MAX_SEED_SIZE_BYTES as usize);
    input
}

fn run_drawn(target: &Target, seeds: &[Vec<u8>], seed: u64) -> Result<Tally, String> {
    let input = draw(&mut Random::new(seed), seeds);
    if catch_unwind(|| (target.run)(&input)).is_err() {
        let hex: String = input.iter().map(|byte| format!("{byte:02x}")).collect();
        return Err(format!("{} breaks; put this into fuzz/regressions/{0}: {hex}", target.name));
    }
    let mut tally = Tally::default();
    tally.one("inputs");
    Ok(tally)
}

#[test]
fn every_target_takes_inputs_drawn_from_its_seeds() {
    for target in TARGETS {
        let paths = entries(&fuzz_directory().join("corpus").join(target.name));
        let seeds: Vec<_> = paths.iter().map(|path| fs::read(path).expect("a seed can be read")).collect();
        let usual = if target.name == "history" { DRAWN_HISTORIES } else { DRAWN };
        Campaign::assert(target.name, seed(), trials(scaled(usual)), |seed| run_drawn(target, &seeds, seed));
    }
}
