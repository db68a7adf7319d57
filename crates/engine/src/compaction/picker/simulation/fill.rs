//! Computes what a fill with random keys costs, with the real picker and throttle. Of its tables, only the range, the
//! number of entries and the size exist. Merges are computed in expectation, so a hundred million entries take seconds.
//!
//! `cargo test --release -p terrace-engine simulation::fill -- --nocapture` prints the figures. `TERRACE_MODEL=16:8:30`
//! adds those for a buffer of 16 MiB, tables of 8 MiB and thirty million entries.
//!
//! The machine has two cores. The writer has one of them while it does not sleep, and a flush and a compaction share
//! the other. What an entry costs each of them, and the space it takes, were measured on such a machine, with keys of
//! 16 bytes and values of 100 bytes that compress to half.

use std::collections::HashMap;
use std::sync::Arc;

use terrace_format::internal_key::{ValueKind, append_internal_key};
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::table::TableCounts;
use terrace_format::version_edit::{FileEntry, VersionEdit};

use crate::background::state::Throughput;
use crate::compaction::picker::{CompactPointers, CompactionPlan, PickerOptions, pick, plan};
use crate::compaction::reservations::{ReservationId, Reservations};
use crate::version::builder::{MissingFile, NewFiles, VersionBuilder};
use crate::version::checker;
use crate::version::file_meta::{FileOrigin, ObsoleteFiles};
use crate::version::testing::comparator;
use crate::version::version::Version;
use crate::write::throttle::{Pressure, STOP_FILES, Throttle};

/// Keys and values of db_bench.
const USER_BYTES: f64 = 116.0;
/// An entry in the memtable.
const MEMTABLE_BYTES: f64 = 178.0;
/// An entry in the log.
const LOG_BYTES: f64 = 139.0;
/// An entry in a table that is not compressed, with its share of index and filter.
const RAW_BYTES: f64 = 123.4;
/// An entry in a compressed table.
const COMPRESSED_BYTES: f64 = 79.0;
/// What a writer that nothing slows needs for an entry.
const WRITE_MICROS: f64 = 0.36;
/// What a flush needs for an entry.
const FLUSH_MICROS: f64 = 0.32;
/// What a compaction needs for an entry that it reads.
const MERGE_MICROS: f64 = 0.30;
/// Entries that the writer writes between two looks at the background.
const STEP_ENTRIES: f64 = 250.0;
/// Keys are positions below this.
const POSITIONS: u64 = 1 << 40;
const MAX_SEALED: usize = 2;
/// The place of flushes among what is written by level.
const FLUSHED: usize = LEVEL_COUNT;

/// The entries of a table, spread evenly over its range.
#[derive(Clone, Copy, Debug)]
struct Spread {
    from: u64,
    to: u64,
    entries: f64,
}

impl Spread {
    fn file(&self, number: u64, size_bytes: u64) -> FileEntry {
        let key = |position: u64| {
            let mut key = Vec::new();
            append_internal_key(&mut key, &position.to_be_bytes(), 1, ValueKind::Value);
            key
        };
        FileEntry { number, size_bytes, smallest: key(self.from), largest: key(self.to - 1) }
    }
}

struct Model {
    version: Version,
    spreads: HashMap<u64, Spread>,
    keys: f64,
    buffer_bytes: f64,
    options: PickerOptions,
    pointers: CompactPointers,
    busy: Reservations,
    throttle: Throttle,
    next_number: u64,
    now_micros: f64,
    sealed: Vec<f64>,
    flush_left_micros: f64,
    job: Option<(CompactionPlan, ReservationId)>,
    job_left_micros: f64,
    job_micros: f64,
    merges_since_drain_micros: f64,
    drained_bytes: f64,
    /// Bytes written to tables of each level, except for flushes, which are counted at index [`FLUSHED`].
    written: [f64; FLUSHED + 1],
    user_entries: f64,
    runs: Vec<usize>,
    noise: u64,
    /// Whether no write has come for a while.
    idle: bool,
}

impl Model {
    fn new(buffer_mib: u64, table_mib: u64, keys: f64) -> Self {
        let options = PickerOptions::new(comparator(), table_mib << 20, 2.0, None)
            .with_write_buffer_size(buffer_mib << 20);
        Self {
            version: Version::empty(comparator()),
            spreads: HashMap::new(),
            keys,
            buffer_bytes: (buffer_mib << 20) as f64,
            options,
            pointers: CompactPointers::default(),
            busy: Reservations::default(),
            throttle: Throttle::new(),
            next_number: 2,
            now_micros: 0.0,
            sealed: Vec::new(),
            flush_left_micros: 0.0,
            job: None,
            job_left_micros: 0.0,
            job_micros: 0.0,
            merges_since_drain_micros: 0.0,
            drained_bytes: 0.0,
            written: [0.0; FLUSHED + 1],
            user_entries: 0.0,
            runs: Vec::new(),
            noise: 1,
            idle: false,
        }
    }

    fn fill(&mut self) {
        let mut memtable = 0.0;
        while self.user_entries < self.keys {
            if self.throttle.is_active() {
                let delay = self.throttle.delay_micros(self.now_micros as u64);
                if delay > 0 {
                    self.pass(delay as f64, true);
                }
                if delay > 0 || self.throttle.is_stale() {
                    self.note_pressure(memtable);
                }
                self.throttle.charge((STEP_ENTRIES * USER_BYTES) as usize, self.now_micros as u64);
            }
            self.pass(STEP_ENTRIES * WRITE_MICROS, false);
            memtable += STEP_ENTRIES;
            self.user_entries += STEP_ENTRIES;
            if memtable * MEMTABLE_BYTES >= self.buffer_bytes {
                while self.sealed.len() >= MAX_SEALED || self.version.levels[0].len() >= STOP_FILES {
                    self.pass(200.0, true);
                }
                self.sealed.push(std::mem::take(&mut memtable));
                if self.drained_bytes > 0.0 {
                    let micros = std::mem::take(&mut self.merges_since_drain_micros) as u64;
                    let bytes = std::mem::take(&mut self.drained_bytes) as u64;
                    self.throttle.record_drain(Throughput { bytes, micros });
                }
                self.note_pressure(0.0);
                let deeper = self.version.levels[1..].iter().filter(|files| !files.is_empty()).count();
                self.runs.push(self.version.levels[0].len() + deeper);
            }
        }
    }

    fn note_pressure(&mut self, memtable: f64) {
        let room = (self.sealed.len() >= MAX_SEALED)
            .then(|| (self.buffer_bytes - memtable * MEMTABLE_BYTES).max(0.0) as usize);
        let level0_files = self.version.levels[0].len();
        self.throttle.set_pressure(Pressure { level0_files, room_bytes: room });
    }

    /// Lets time pass. A writer that sleeps leaves its core to others.
    fn pass(&mut self, micros: f64, writer_sleeps: bool) {
        self.now_micros += micros;
        let both = !self.sealed.is_empty() && self.job.is_some() && !writer_sleeps;
        let share = if both { micros / 1.5 } else { micros };
        if let Some(entries) = self.sealed.first().copied() {
            if self.flush_left_micros <= 0.0 {
                self.flush_left_micros = entries * FLUSH_MICROS;
            }
            self.flush_left_micros -= share;
            if self.flush_left_micros <= 0.0 {
                self.flush_left_micros = 0.0;
                self.sealed.remove(0);
                self.flush(entries);
            }
        }
        if self.job.is_some() {
            self.job_left_micros -= share;
            self.job_micros += micros;
            if self.job_left_micros <= 0.0 {
                self.finish_job();
            }
        }
        if self.job.is_none() {
            self.start_job();
        }
    }

    fn flush(&mut self, drawn: f64) {
        // Of so many draws from all keys, so many are different.
        let entries = self.keys * -(-drawn / self.keys).exp_m1();
        let spread = Spread { from: 0, to: POSITIONS, entries };
        self.install(VersionEdit::default(), 0, vec![spread], None);
    }

    fn start_job(&mut self) {
        while let Some(plan) = pick(&self.version, &self.busy, &self.pointers, &self.options, self.idle) {
            let id = plan.reserve(&mut self.busy);
            self.pointers.advance(&plan);
            let read: f64 = plan.inputs.iter().flatten().map(|file| self.spreads[&file.number].entries).sum();
            self.job_left_micros = if plan.trivial_move { 0.0 } else { read * MERGE_MICROS };
            self.job_micros = 0.0;
            self.job = Some((plan, id));
            if self.job_left_micros > 0.0 {
                return;
            }
            self.finish_job();
        }
    }

    fn finish_job(&mut self) {
        let Some((plan, id)) = self.job.take() else { return };
        let mut edit = VersionEdit::default();
        for (level, files) in plan.input_levels() {
            edit.deleted_files.extend(files.iter().map(|file| (level, file.number)));
        }
        self.merges_since_drain_micros += self.job_micros;
        if plan.level == 0 && plan.output_level > 0 {
            self.drained_bytes += plan.inputs[0].iter().map(|file| file.raw_bytes() as f64).sum::<f64>();
        }
        if plan.trivial_move {
            edit.new_files.extend(plan.inputs[0].iter().map(|file| (plan.output_level, file.entry())));
            self.install(edit, plan.output_level, Vec::new(), None);
        } else {
            let outputs = self.merge(&plan);
            self.install(edit, plan.output_level, outputs, plan.output_number);
        }
        self.busy.release(id);
    }

    /// What a merge of the plan's inputs writes.
    fn merge(&mut self, plan: &CompactionPlan) -> Vec<Spread> {
        let inputs: Vec<Spread> =
            plan.inputs.iter().flatten().map(|file| self.spreads[&file.number]).collect();
        let mut cuts: Vec<u64> = inputs.iter().flat_map(|spread| [spread.from, spread.to]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut ends: Vec<(u64, u64)> =
            plan.grandparents.iter().map(|file| (self.spreads[&file.number].to, file.size_bytes)).collect();
        ends.reverse();

        let most_overlap = plan::max_grandparent_overlap_bytes(self.options.max_file_size_bytes);
        let mut overlap = 0;
        let mut outputs = Vec::new();
        let mut open: Option<Spread> = None;
        let mut full = if plan.output_number.is_some() { f64::INFINITY } else { self.full_entries() };
        for pair in cuts.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let keys = self.keys * (to - from) as f64 / POSITIONS as f64;
            let mut missing = 1.0;
            for spread in inputs.iter().filter(|spread| spread.from <= from && to <= spread.to) {
                let share =
                    spread.entries / (self.keys * (spread.to - spread.from) as f64 / POSITIONS as f64);
                missing *= 1.0 - share.min(1.0);
            }
            let density = (1.0 - missing) * keys / (to - from) as f64;
            if density == 0.0 {
                continue;
            }
            let mut at = from;
            while at < to {
                let table = open.get_or_insert(Spread { from: at, to: at, entries: 0.0 });
                let until_full = ((full - table.entries) / density).max(1.0);
                let mut next = if until_full >= (to - at) as f64 { to } else { at + until_full as u64 };
                let mut crossed = false;
                if let Some((end, size_bytes)) = ends.last().copied().filter(|(end, _)| *end <= next) {
                    next = end.max(at);
                    overlap += size_bytes;
                    ends.pop();
                    crossed = overlap > most_overlap;
                }
                table.entries += density * (next - at) as f64;
                table.to = next;
                at = next;
                if (table.entries >= full * 0.999_999 || crossed) && table.to > table.from {
                    outputs.extend(open.take());
                    full = self.full_entries();
                }
                if crossed {
                    overlap = 0;
                }
            }
        }
        outputs.extend(open);
        outputs
    }

    /// The entries of a full table, which differ a little from table to table.
    fn full_entries(&mut self) -> f64 {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        let entries = self.options.max_file_size_bytes as f64 / COMPRESSED_BYTES;
        entries * (1.0 + ((self.noise % 1000) as f64 / 1000.0 - 0.5) * 0.02)
    }

    fn install(&mut self, mut edit: VersionEdit, level: usize, outputs: Vec<Spread>, number: Option<u64>) {
        let is_flush = level == 0 && edit.deleted_files.is_empty();
        let mut counts = Vec::new();
        for spread in outputs {
            let number = number.unwrap_or(self.next_number);
            self.next_number += 2;
            let size = spread.entries * if is_flush { RAW_BYTES } else { COMPRESSED_BYTES };
            self.written[if is_flush { FLUSHED } else { level }] += size;
            edit.new_files.push((level, spread.file(number, size as u64)));
            let raw_value_bytes = (spread.entries * USER_BYTES) as u64;
            counts.push((number, TableCounts { raw_value_bytes, ..TableCounts::default() }));
            self.spreads.insert(number, spread);
        }
        let new = NewFiles { newest_sequence: 1, origin: FileOrigin::Written, counts: &counts };
        let mut builder = VersionBuilder::new(&self.version, Arc::new(ObsoleteFiles::new()), new);
        builder.apply(&edit.deleted_files, edit.new_files, MissingFile::Refuse).unwrap();
        let (version, removed) = builder.finish();
        for file in removed {
            self.spreads.remove(&file.number);
        }
        checker::check(&version).unwrap();
        self.version = version;
        if is_flush {
            self.version.levels[0][0].note_left_number();
        }
    }

    /// Bytes written for each of the user's, the log included.
    fn amplification(&self) -> f64 {
        (self.written.iter().sum::<f64>() / self.user_entries + LOG_BYTES) / USER_BYTES
    }

    /// Lets the background finish what is due, as in an idle database.
    fn run_due(&mut self) {
        self.idle = true;
        self.pass(1.0, true);
        while self.job.is_some() || !self.sealed.is_empty() {
            self.pass(10_000.0, true);
        }
    }
}

/// What a model of a fill came to.
struct Fill {
    micros: f64,
    /// Bytes written for each of the user's when the last write returns.
    written: f64,
    /// Sorted runs that a read meets, on average over the writes.
    mean_runs: f64,
}

/// Models a fill with a buffer and tables of so many MiB and so many million entries, and prints what it comes to.
fn fill(buffer_mib: u64, table_mib: u64, million: u64) -> Fill {
    let mut model = Model::new(buffer_mib, table_mib, million as f64 * 1e6);
    model.fill();
    let (micros, written) = (model.now_micros / model.user_entries, model.amplification());
    let mean_runs = model.runs.iter().sum::<usize>() as f64 / model.runs.len() as f64;
    let most_runs = model.runs.iter().max().copied().unwrap_or_default();
    let share = |bytes: f64| format!("{:.2}", bytes / model.user_entries / USER_BYTES);
    let by_level = model.written[..FLUSHED].iter().map(|bytes| share(*bytes)).collect::<Vec<_>>().join(" ");
    let flushed = share(model.written[FLUSHED]);
    let mib = (0..LEVEL_COUNT).map(|level| model.version.level_size_bytes(level) >> 20).collect::<Vec<_>>();
    model.run_due();
    println!(
        "buffer {buffer_mib} MiB, tables {table_mib} MiB, {million} million entries: {micros:.2} µs, written {written:.2} times \
         (log {:.2}, flushes {flushed}, levels {by_level}), {:.2} once nothing is due; runs {mean_runs:.1}, at most {most_runs}; MiB \
         {mib:?}",
        LOG_BYTES / USER_BYTES,
        model.amplification(),
    );
    Fill { micros, written, mean_runs }
}

#[test]
fn a_random_fill_writes_little_more_the_larger_it_is() {
    let small = fill(16, 8, 1);
    for (buffer_mib, table_mib, million, most_written) in
        [(16, 8, 10, 3.6), (16, 8, 100, 5.1), (4, 2, 10, 4.4)]
    {
        let Fill { micros, written, mean_runs } = fill(buffer_mib, table_mib, million);
        assert!(written < most_written, "{million} million entries are written {written} times");
        assert!(mean_runs < 19.0, "a read meets {mean_runs} runs");
        assert!(micros < 3.5 * small.micros, "{micros} µs an entry, and {} µs with few", small.micros);
    }
}

#[test]
fn fills_of_other_sizes() {
    let sizes = std::env::var("TERRACE_MODEL").unwrap_or_else(|_| "4:2:1".to_owned());
    for size in sizes.split_ascii_whitespace() {
        let numbers: Vec<u64> = size.split(':').map(|number| number.parse().unwrap()).collect();
        let [buffer_mib, table_mib, million] = numbers[..] else {
            panic!("{size} is not BUFFER:TABLE:MILLIONS")
        };
        assert!(fill(buffer_mib, table_mib, million).written > 1.0);
    }
}
