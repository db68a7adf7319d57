//! Runs the picker against a database that exists only in memory: each file is a list of entries. Jobs run at the same
//! time and end in any order. Every change is followed by a check of the version's invariants and of what readers see.

mod fill;
mod interleavings;
mod within_level0;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use terrace_format::internal_key::{ValueKind, append_internal_key};
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::table::TableCounts;
use terrace_format::version_edit::{FileEntry, VersionEdit};

use super::{
    CompactPointers, CompactionPlan, CompactionReason, PickerOptions, RangeCompaction, RangeStep, pick,
};
use crate::compaction::reservations::{ReservationId, Reservations};
use crate::version::builder::{MissingFile, NewFiles, VersionBuilder};
use crate::version::checker;
use crate::version::file_meta::{FileOrigin, ObsoleteFiles};
use crate::version::testing::comparator;
use crate::version::version::Version;

const MAX_FILE_SIZE_BYTES: u64 = 8 << 10;
/// The size of an entry without its value.
const KEY_SIZE_BYTES: u64 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    key: u32,
    sequence: u64,
    /// `None` for a tombstone.
    value_size_bytes: Option<u32>,
}

impl Entry {
    fn size_bytes(self) -> u64 {
        KEY_SIZE_BYTES + u64::from(self.value_size_bytes.unwrap_or(0))
    }

    fn internal_key(self) -> Vec<u8> {
        let kind = if self.value_size_bytes.is_some() { ValueKind::Value } else { ValueKind::Deletion };
        let mut key = Vec::new();
        append_internal_key(&mut key, &user_key(self.key), self.sequence, kind);
        key
    }
}

fn user_key(key: u32) -> Vec<u8> {
    format!("{key:08}").into_bytes()
}

/// Seeded, so that a failure can be reproduced.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    fn shuffled(&mut self, count: u32) -> Vec<u32> {
        let mut keys: Vec<u32> = (0..count).collect();
        for index in (1..keys.len()).rev() {
            keys.swap(index, self.below(index as u64 + 1) as usize);
        }
        keys
    }
}

type State = BTreeMap<u32, Entry>;

struct Simulation {
    version: Version,
    entries: HashMap<u64, Vec<Entry>>,
    next_number: u64,
    last_sequence: u64,
    memtable: Vec<Entry>,
    /// What a new reader must see, without tombstones.
    state: State,
    snapshots: Vec<(u64, State)>,
    options: PickerOptions,
    pointers: CompactPointers,
    busy: Reservations,
    /// Whether files record how many deletions they hold.
    with_counts: bool,
    rewritten_bytes: u64,
    merges_within_level0: usize,
    checks: bool,
}

impl Simulation {
    fn new() -> Self {
        let mut options = PickerOptions::new(comparator(), MAX_FILE_SIZE_BYTES, 0.25, None);
        options.level1_size_bytes = 5 * MAX_FILE_SIZE_BYTES;
        options.level_multiplier = 5;
        Self {
            version: Version::empty(comparator()),
            entries: HashMap::new(),
            next_number: 1,
            last_sequence: 0,
            memtable: Vec::new(),
            state: State::new(),
            snapshots: Vec::new(),
            options,
            pointers: CompactPointers::default(),
            busy: Reservations::default(),
            with_counts: true,
            rewritten_bytes: 0,
            merges_within_level0: 0,
            checks: true,
        }
    }

    fn write(&mut self, key: u32, value_size_bytes: Option<u32>) {
        self.last_sequence += 1;
        let entry = Entry { key, sequence: self.last_sequence, value_size_bytes };
        self.memtable.push(entry);
        match value_size_bytes {
            Some(_) => self.state.insert(key, entry),
            None => self.state.remove(&key),
        };
        if self.memtable.iter().map(|entry| entry.size_bytes()).sum::<u64>() >= MAX_FILE_SIZE_BYTES {
            self.flush();
        }
    }

    /// As [`write`](Self::write), but compactions keep up after a flush.
    fn write_and_compact(&mut self, key: u32, value_size_bytes: Option<u32>) {
        self.write(key, value_size_bytes);
        if self.memtable.is_empty() {
            self.run_due(false);
        }
    }

    fn flush(&mut self) {
        let mut entries = std::mem::take(&mut self.memtable);
        if entries.is_empty() {
            return;
        }
        entries.sort_by_key(|entry| (entry.key, std::cmp::Reverse(entry.sequence)));
        let kept = self.drop_hidden(entries, |_| false);
        let number = self.next_number + 1;
        self.next_number += 2;
        self.install_as(VersionEdit::default(), vec![(0, kept)], Some(number));
        self.version.levels[0].iter().find(|file| file.number == number).unwrap().note_left_number();
    }

    fn snapshot(&mut self) {
        self.flush();
        self.snapshots.push((self.last_sequence, self.state.clone()));
        self.note_oldest_reader();
    }

    fn release_snapshot(&mut self, index: usize) {
        self.snapshots.remove(index);
        self.note_oldest_reader();
    }

    fn note_oldest_reader(&mut self) {
        self.options.oldest_reader =
            self.snapshots.iter().map(|(sequence, _)| *sequence).min().unwrap_or(u64::MAX >> 8);
    }

    /// What a flush or compaction keeps: the newest version for each reader, and no tombstone that hides nothing.
    fn drop_hidden(&self, sorted: Vec<Entry>, mut is_base: impl FnMut(u32) -> bool) -> Vec<Entry> {
        let mut readers: Vec<u64> = self.snapshots.iter().map(|(sequence, _)| *sequence).collect();
        readers.push(self.last_sequence);
        readers.sort_unstable();
        let mut kept = Vec::new();
        let mut last: Option<(u32, usize)> = None;
        for entry in sorted {
            let stripe = readers.partition_point(|reader| *reader < entry.sequence);
            let hidden = last == Some((entry.key, stripe));
            last = Some((entry.key, stripe));
            let gone = entry.value_size_bytes.is_none() && stripe == 0 && is_base(entry.key);
            if !hidden && !gone {
                kept.push(entry);
            }
        }
        kept
    }

    /// Numbers the outputs, the first of them with `number` if that is given, and applies the edit.
    fn install_as(
        &mut self,
        mut edit: VersionEdit,
        outputs: Vec<(usize, Vec<Entry>)>,
        mut number: Option<u64>,
    ) {
        let mut counts = Vec::new();
        for (level, entries) in outputs {
            let number = number.take().unwrap_or_else(|| {
                self.next_number += 1;
                self.next_number - 1
            });
            assert!(!self.entries.contains_key(&number), "two tables have the number {number}");
            let size_bytes = entries.iter().map(|entry| entry.size_bytes()).sum();
            let (first, last) = (entries[0], entries[entries.len() - 1]);
            let file = FileEntry {
                number,
                size_bytes,
                smallest: first.internal_key(),
                largest: last.internal_key(),
            };
            edit.new_files.push((level, file));
            let deletions = entries.iter().filter(|entry| entry.value_size_bytes.is_none()).count() as u64;
            let values = entries.iter().map(|entry| u64::from(entry.value_size_bytes.unwrap_or(0))).sum();
            let count = TableCounts {
                entries: entries.len() as u64,
                deletions,
                raw_key_bytes: KEY_SIZE_BYTES * entries.len() as u64,
                raw_value_bytes: values,
                newest_sequence: None,
            };
            if self.with_counts {
                counts.push((number, count));
            }
            self.entries.insert(number, entries);
        }
        let flushed = self.memtable.first().map_or(self.last_sequence, |entry| entry.sequence - 1);
        let new = NewFiles { newest_sequence: flushed, origin: FileOrigin::Written, counts: &counts };
        let mut builder = VersionBuilder::new(&self.version, Arc::new(ObsoleteFiles::new()), new);
        builder.apply(&edit.deleted_files, edit.new_files, MissingFile::Refuse).unwrap();
        let (version, removed) = builder.finish();
        for file in removed {
            self.entries.remove(&file.number);
        }
        self.version = version;
        if self.checks {
            self.check();
        }
    }

    /// Checks the invariants, and that every reader sees what it must.
    fn check(&self) {
        checker::check(&self.version).unwrap();
        let mut all: Vec<(Entry, usize)> = self.memtable.iter().map(|entry| (*entry, 0)).collect();
        for (depth, files) in self.version.levels.iter().enumerate() {
            for (place, file) in files.iter().enumerate() {
                let depth = if depth == 0 { 1 + place } else { 1_000_000 + depth };
                all.extend(self.entries[&file.number].iter().map(|entry| (*entry, depth)));
            }
        }
        all.sort_by_key(|(entry, _)| (entry.key, std::cmp::Reverse(entry.sequence)));
        for pair in all.windows(2) {
            let ((newer, above), (older, below)) = (pair[0], pair[1]);
            assert!(newer.key != older.key || above <= below, "{older:?} lies above {newer:?}");
        }
        let now = (self.last_sequence, self.state.clone());
        for (sequence, expected) in self.snapshots.iter().chain([&now]) {
            let mut seen = State::new();
            let mut last_key = None;
            for (entry, _) in all.iter().filter(|(entry, _)| entry.sequence <= *sequence) {
                if last_key != Some(entry.key) && entry.value_size_bytes.is_some() {
                    seen.insert(entry.key, *entry);
                }
                last_key = Some(entry.key);
            }
            assert!(seen == *expected, "a reader at {sequence} sees something else");
        }
    }

    fn pick(&mut self, idle: bool) -> Option<(CompactionPlan, ReservationId)> {
        let plan = pick(&self.version, &self.busy, &self.pointers, &self.options, idle)?;
        Some(self.reserve(plan))
    }

    fn reserve(&mut self, plan: CompactionPlan) -> (CompactionPlan, ReservationId) {
        assert!(!plan.inputs[0].is_empty());
        let id = plan.reserve(&mut self.busy);
        self.pointers.advance(&plan);
        (plan, id)
    }

    fn run(&mut self, (mut plan, id): (CompactionPlan, ReservationId)) {
        let mut edit = VersionEdit::default();
        for (level, files) in plan.input_levels() {
            edit.deleted_files.extend(files.iter().map(|file| (level, file.number)));
        }
        let mut outputs = Vec::new();
        if plan.trivial_move {
            assert!(plan.inputs[1..].iter().all(Vec::is_empty));
            edit.new_files.extend(plan.inputs[0].iter().map(|file| (plan.output_level, file.entry())));
        } else {
            self.rewritten_bytes += plan.input_bytes();
            let mut merged: Vec<Entry> =
                plan.inputs.iter().flatten().flat_map(|file| self.entries[&file.number].clone()).collect();
            merged.sort_by_key(|entry| (entry.key, std::cmp::Reverse(entry.sequence)));
            let kept = self.drop_hidden(merged, |key| plan.is_base_level_for_key(&user_key(key)));
            let mut open: Vec<Entry> = Vec::new();
            let mut open_bytes = 0;
            for entry in kept {
                let is_full = open_bytes >= MAX_FILE_SIZE_BYTES && plan.output_number.is_none();
                if is_full && open.last().is_some_and(|last| last.key != entry.key) {
                    outputs.push((plan.output_level, std::mem::take(&mut open)));
                    open_bytes = 0;
                }
                open_bytes += entry.size_bytes();
                open.push(entry);
            }
            if !open.is_empty() {
                outputs.push((plan.output_level, open));
            }
        }
        if plan.output_number.is_some() {
            self.merges_within_level0 += 1;
            assert!(outputs.len() <= 1 && plan.output_level == 0);
        }
        self.install_as(edit, outputs, plan.output_number);
        self.busy.release(id);
    }

    /// Picks until nothing is due. Fails if that takes too many picks.
    fn run_due(&mut self, idle: bool) -> Vec<CompactionReason> {
        let mut reasons = Vec::new();
        while let Some(job) = self.pick(idle) {
            reasons.push(job.0.reason);
            self.run(job);
            assert!(reasons.len() < 20_000, "no end of compactions");
        }
        reasons
    }

    fn table_bytes(&self) -> u64 {
        (0..LEVEL_COUNT).map(|level| self.version.level_size_bytes(level)).sum()
    }

    fn live_bytes(&self) -> u64 {
        self.state.values().map(|entry| entry.size_bytes()).sum()
    }

    fn tombstones(&self) -> usize {
        self.entries.values().flatten().filter(|entry| entry.value_size_bytes.is_none()).count()
    }

    /// Writes keys in random order and lets compactions keep up, as a database under load does.
    fn fill(&mut self, count: u32, random: &mut Random, value_size_bytes: impl Fn(u32) -> u32) {
        self.checks = false;
        for key in random.shuffled(count) {
            self.write_and_compact(key, Some(value_size_bytes(key)));
        }
        self.flush();
        self.run_due(false);
        self.checks = true;
        self.check();
    }

    fn delete(&mut self, keys: impl IntoIterator<Item = u32>) {
        self.checks = false;
        for key in keys {
            self.write_and_compact(key, None);
        }
        self.checks = true;
    }

    /// Does what the database does when no more writes come: flushes deletions, then picks until nothing is due.
    fn idle(&mut self) -> Vec<CompactionReason> {
        self.flush();
        self.checks = false;
        let reasons = self.run_due(true);
        self.checks = true;
        self.check();
        reasons
    }

    fn assert_small(&self) {
        let (table_bytes, live_bytes) = (self.table_bytes(), self.live_bytes());
        assert!(
            table_bytes * 2 < live_bytes * 3,
            "{live_bytes} bytes are live in {table_bytes}\n{}",
            self.version.describe()
        );
    }

    /// Carries out a manual compaction, alone.
    fn compact_range(&mut self, begin: Option<u32>, end: Option<u32>) -> usize {
        self.flush();
        let mut range = RangeCompaction::new(begin.map(user_key), end.map(user_key), self.next_number);
        let mut steps = 0;
        loop {
            match range.next_step(&self.version, &self.busy, &self.options) {
                RangeStep::Run(plan) => {
                    let job = self.reserve(*plan);
                    self.run(job);
                    steps += 1;
                }
                RangeStep::Wait => panic!("nothing runs"),
                RangeStep::Done => return steps,
            }
        }
    }
}

const KEYS: u32 = 20_000;

fn filled(seed: u64, value_size_bytes: impl Fn(u32) -> u32) -> (Simulation, Random) {
    let mut random = Random(seed);
    let mut simulation = Simulation::new();
    simulation.fill(KEYS, &mut random, value_size_bytes);
    (simulation, random)
}

#[test]
fn after_deleting_most_keys_in_random_order_space_comes_back_without_a_write() {
    for (seed, value_size_bytes) in [(1, 100), (2, 16), (3, 2000)] {
        let (mut simulation, mut random) = filled(seed, |_| value_size_bytes);
        let full_bytes = simulation.table_bytes();
        let doomed: Vec<u32> = random.shuffled(KEYS).into_iter().take(KEYS as usize / 10 * 9).collect();
        simulation.delete(doomed);
        let before = simulation.rewritten_bytes;
        simulation.idle();
        simulation.assert_small();
        let spent = simulation.rewritten_bytes - before;
        assert!(spent < 3 * full_bytes, "{spent} bytes rewritten to clean up {full_bytes}");
        assert_eq!(simulation.idle(), []);
    }
}

#[test]
fn after_deleting_whole_ranges_space_comes_back_without_a_write() {
    let (mut simulation, _) = filled(4, |_| 100);
    simulation.delete((0..KEYS).filter(|key| key % 2000 >= 200));
    simulation.idle();
    simulation.assert_small();
}

#[test]
fn a_few_deletions_over_large_values_are_worth_it() {
    let (mut simulation, _) = filled(5, |key| if key < 200 { 20_000 } else { 10 });
    simulation.delete(0..200);
    simulation.idle();
    simulation.assert_small();
}

/// Counts do not tell which entries of a file are large, so a deletion counts as a mean entry. If nearly all bytes are in
/// a few values, spread evenly, the picker cannot know that just these were deleted.
#[test]
fn a_manual_compaction_gives_back_what_estimates_miss() {
    let (mut simulation, _) = filled(12, |key| if key % 100 == 0 { 20_000 } else { 10 });
    simulation.delete((0..KEYS).filter(|key| key % 100 == 0));
    simulation.idle();
    simulation.compact_range(None, None);
    assert_eq!(simulation.table_bytes(), simulation.live_bytes());
}

#[test]
fn space_comes_back_from_files_without_counts() {
    let mut random = Random(6);
    let mut simulation = Simulation::new();
    simulation.with_counts = false;
    simulation.fill(KEYS, &mut random, |_| 100);
    simulation.with_counts = true;
    simulation.delete(random.shuffled(KEYS).into_iter().take(KEYS as usize / 10 * 9));
    simulation.idle();
    simulation.assert_small();
}

#[test]
fn deleting_everything_leaves_nothing() {
    let (mut simulation, mut random) = filled(7, |_| 100);
    simulation.delete(random.shuffled(KEYS));
    simulation.idle();
    assert!(simulation.live_bytes() == 0 && simulation.tombstones() < KEYS as usize / 100);
}

#[test]
fn while_a_snapshot_needs_what_is_deleted_nothing_is_rewritten_in_vain() {
    let (mut simulation, mut random) = filled(8, |_| 100);
    simulation.snapshot();
    simulation.delete(random.shuffled(KEYS).into_iter().take(KEYS as usize / 10 * 9));
    let by_tombstones =
        |reasons: Vec<_>| reasons.into_iter().filter(|r| *r == CompactionReason::Tombstones).count();
    assert_eq!(by_tombstones(simulation.idle()), 0);
    assert_eq!(simulation.idle(), []);
    simulation.release_snapshot(0);
    assert!(by_tombstones(simulation.idle()) > 0);
    simulation.assert_small();
}

#[test]
fn a_few_deletions_now_and_then_do_not_rewrite_the_database_each_time() {
    let (mut simulation, mut random) = filled(9, |_| 100);
    let full_bytes = simulation.table_bytes();
    simulation.idle();
    let before = simulation.rewritten_bytes;
    for _ in 0..50 {
        let keys: Vec<u32> = (0..10).map(|_| random.below(u64::from(KEYS)) as u32).collect();
        simulation.delete(keys);
        simulation.idle();
    }
    let spent = simulation.rewritten_bytes - before;
    assert!(spent < full_bytes, "{spent} bytes rewritten for 500 deletions in {full_bytes}");
}

#[test]
fn a_queue_does_not_pile_up_tombstones() {
    let mut simulation = Simulation::new();
    simulation.checks = false;
    for key in 0..40_000u32 {
        simulation.write_and_compact(key, Some(100));
        if key >= 500 {
            simulation.write_and_compact(key - 500, None);
        }
    }
    assert!(simulation.tombstones() < 4_000, "{} tombstones", simulation.tombstones());
    simulation.checks = true;
    simulation.check();
}

#[test]
fn one_manual_compaction_leaves_one_level_and_no_tombstones() {
    let (mut simulation, mut random) = filled(10, |_| 100);
    simulation.delete(random.shuffled(KEYS).into_iter().take(KEYS as usize / 3));
    assert!(simulation.compact_range(None, None) > 0);
    assert_eq!(simulation.version.levels.iter().filter(|files| !files.is_empty()).count(), 1);
    assert_eq!((simulation.tombstones(), simulation.table_bytes()), (0, simulation.live_bytes()));
    assert_eq!(simulation.compact_range(None, None), 0);
}

#[test]
fn a_manual_compaction_of_a_part_cleans_that_part() {
    let (mut simulation, mut random) = filled(11, |_| 100);
    simulation.delete(random.shuffled(KEYS).into_iter().take(KEYS as usize / 3));
    simulation.compact_range(Some(5_000), Some(9_999));
    let (begin, end) = (user_key(5_000), user_key(9_999));
    let levels =
        (0..LEVEL_COUNT).filter(|level| simulation.version.overlaps(*level, Some(&begin), Some(&end)));
    assert_eq!(levels.count(), 1);
    let left = simulation.entries.values().flatten();
    let left = left.filter(|entry| (5_000..10_000).contains(&entry.key) && entry.value_size_bytes.is_none());
    assert_eq!(left.count(), 0);
}

#[test]
fn a_manual_compaction_rewrites_the_deepest_level_if_it_holds_tombstones() {
    let mut simulation = Simulation::new();
    for key in 0..50 {
        simulation.write(key, Some(10));
    }
    simulation.snapshot();
    for key in 0..25 {
        simulation.write(key, None);
    }
    simulation.compact_range(None, None);
    assert_eq!(simulation.tombstones(), 25);
    simulation.release_snapshot(0);
    assert_eq!(simulation.compact_range(None, None), 1);
    assert_eq!((simulation.tombstones(), simulation.table_bytes()), (0, simulation.live_bytes()));
}
