//! Runs the scripts in `compaction/testdata`; the README there explains them.

use std::fmt::Write as _;
use std::sync::Arc;

use terrace_format::internal_key::MAX_SEQUENCE_NUMBER;
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::table::TableCounts;

use super::{
    CompactPointers, CompactionPlan, PickerOptions, RangeCompaction, RangeStep, neighbours, pick, scores,
};
use crate::compaction::reservations::{ReservationId, Reservations};
use crate::version::file_meta::{FileMeta, FileOrigin, ObsoleteFiles};
use crate::version::testing::{comparator, entry, internal_key};
use crate::version::version::Version;

struct Script {
    levels: [Vec<Arc<FileMeta>>; LEVEL_COUNT],
    options: PickerOptions,
    pointers: CompactPointers,
    busy: Reservations,
    reserved: Vec<ReservationId>,
    range: Option<RangeCompaction>,
    last: Option<CompactionPlan>,
    /// Whether the next line that states a level begins a new set of files.
    files_used: bool,
}

impl Script {
    fn new() -> Self {
        Self {
            levels: Default::default(),
            options: PickerOptions::new(comparator(), 2 << 20, 0.25, None),
            pointers: CompactPointers::default(),
            busy: Reservations::default(),
            reserved: Vec::new(),
            range: None,
            last: None,
            files_used: true,
        }
    }

    fn version(&self) -> Version {
        Version::new(comparator(), self.levels.clone())
    }

    fn line(&mut self, line: &str, out: &mut String) {
        if let Some((level, files)) = line.strip_prefix('L').and_then(|rest| rest.split_once(':')) {
            if std::mem::take(&mut self.files_used) {
                self.levels = Default::default();
            }
            let level: usize = level.parse().unwrap();
            self.levels[level] = files.split_whitespace().map(parse_file).map(Arc::new).collect();
            if level == 0 {
                self.levels[0].sort_by_key(|file| std::cmp::Reverse(file.number));
            }
            return;
        }
        self.files_used = true;
        let mut words = line.split_whitespace();
        let command = words.next().unwrap();
        match command {
            "set" => words.for_each(|word| self.set(word)),
            "pick" => {
                let idle = words.next() == Some("idle");
                let plan = pick(&self.version(), &self.busy, &self.pointers, &self.options, idle);
                writeln!(out, "{}", plan.as_ref().map_or("nothing".to_owned(), describe)).unwrap();
                self.last = plan;
            }
            "reserve" => {
                let plan = self.last.as_ref().expect("a plan to reserve");
                self.reserved.push(plan.reserve(&mut self.busy));
            }
            "release" => {
                let number: usize = words.next().unwrap().parse().unwrap();
                self.busy.release(self.reserved[number - 1]);
                if self.busy.is_empty() {
                    self.reserved.clear();
                }
            }
            "pointer" => {
                let level: usize = words.next().unwrap().parse().unwrap();
                let mut stored = crate::version::StoredCompactPointers::default();
                stored[level] = Some(internal_key(words.next().unwrap(), 1));
                self.pointers = CompactPointers::from_stored(stored);
            }
            "range" => {
                let (begin, end) = words.next().unwrap().split_once("..").unwrap();
                let bound = |key: &str| (key != "-").then(|| key.as_bytes().to_vec());
                let mut range = RangeCompaction::new(bound(begin), bound(end), 1000);
                if let Some(size) = words.next() {
                    range.merge_below(parse_size(size));
                }
                self.range = Some(range);
                self.step(out);
            }
            "step" => self.step(out),
            "neighbours" => {
                let least_saved = words.next().unwrap().parse().unwrap();
                let plan = neighbours::pick(&self.version(), &self.busy, &self.options, least_saved);
                writeln!(out, "{}", plan.as_ref().map_or("nothing".to_owned(), describe)).unwrap();
                self.last = plan;
            }
            "base" => {
                let key = words.next().unwrap();
                let base = self.last.as_mut().unwrap().is_base_level_for_key(key.as_bytes());
                writeln!(out, "{key} {}", if base { "may go" } else { "stays" }).unwrap();
            }
            "scores" => {
                let scores = scores(&self.version(), &self.busy, &self.options);
                writeln!(out, "{}", scores.map(|score| format!("{score:.2}")).join(" ")).unwrap();
            }
            other => panic!("unknown command {other}"),
        }
    }

    fn step(&mut self, out: &mut String) {
        let version = self.version();
        let range = self.range.as_mut().expect("a range");
        match range.next_step(&version, &self.busy, &self.options) {
            RangeStep::Run(plan) => {
                writeln!(out, "{}", describe(&plan)).unwrap();
                self.last = Some(*plan);
            }
            RangeStep::Wait => writeln!(out, "wait").unwrap(),
            RangeStep::Done => writeln!(out, "done").unwrap(),
        }
    }

    fn set(&mut self, word: &str) {
        let (name, value) = word.split_once('=').unwrap();
        match name {
            "merge" => self.options.level0_merge_trigger = value.parse().unwrap(),
            "manual" => self.options.merges_within_level0 = value == "no",
            "trigger" => self.options.level0_trigger = value.parse().unwrap(),
            "level1" => self.options.level1_size_bytes = parse_size(value),
            "multiplier" => self.options.level_multiplier = value.parse().unwrap(),
            "file" => self.options.max_file_size_bytes = parse_size(value),
            "ratio" => self.options.deletion_ratio_trigger = value.parse().unwrap(),
            "reader" => self.options.oldest_reader = value.parse::<u64>().unwrap().min(MAX_SEQUENCE_NUMBER),
            other => panic!("unknown option {other}"),
        }
    }
}

fn parse_size(text: &str) -> u64 {
    let (number, unit) = text.split_at(text.len() - 1);
    let unit = match unit {
        "K" => 1 << 10,
        "M" => 1 << 20,
        other => panic!("unknown unit {other}"),
    };
    number.parse::<u64>().unwrap() * unit
}

/// `number[smallest..largest]:size:deletions/entries@newest`; with a `+` before it if the number before its own is free.
fn parse_file(text: &str) -> FileMeta {
    let (text, leaves_number) = text.strip_prefix('+').map_or((text, false), |rest| (rest, true));
    let (number, rest) = text.split_once('[').unwrap();
    let (range, rest) = rest.split_once(']').unwrap();
    let (smallest, largest) = range.split_once("..").unwrap();
    let (rest, newest) = rest.split_once('@').unwrap_or((rest, "1"));
    let mut parts = rest.split(':').skip(1);
    let size_bytes = parts.next().map_or(1 << 20, parse_size);
    // If one table ends with a key and the next begins with it, the key is newer in the first.
    let mut file = entry(number.parse().unwrap(), (smallest, 1), (largest, 2));
    if smallest == largest {
        file.smallest = internal_key(smallest, 2);
    }
    file.size_bytes = size_bytes;
    let file =
        FileMeta::new(file, newest.parse().unwrap(), FileOrigin::Recovered, Arc::new(ObsoleteFiles::new()));
    if let Some((deletions, entries)) = parts.next().and_then(|counts| counts.split_once('/')) {
        let counts = TableCounts {
            entries: entries.parse().unwrap(),
            deletions: deletions.parse().unwrap(),
            ..TableCounts::default()
        };
        file.set_counts(Some(counts));
    }
    if leaves_number {
        file.note_left_number();
    }
    file
}

fn describe(plan: &CompactionPlan) -> String {
    let numbers = |files: &[Arc<FileMeta>]| {
        files.iter().map(|file| file.number.to_string()).collect::<Vec<_>>().join(" ")
    };
    let inputs: Vec<String> = plan.inputs.iter().map(|files| format!("[{}]", numbers(files))).collect();
    let mut text = format!(
        "{:?} {}->{} {} {}..{}",
        plan.reason,
        plan.level,
        plan.output_level,
        inputs.join(" + "),
        plan.hull.smallest.escape_ascii(),
        plan.hull.largest.escape_ascii(),
    );
    if !plan.grandparents.is_empty() {
        write!(text, " ({})", numbers(&plan.grandparents)).unwrap();
    }
    if plan.trivial_move {
        text.push_str(" move");
    }
    if let Some(number) = plan.output_number {
        write!(text, " as {number}").unwrap();
    }
    text
}

fn run(name: &str, script: &str) {
    let mut state = Script::new();
    let mut cases = 0;
    for case in script.trim_end().split("\n\n") {
        state.pointers = CompactPointers::default();
        let (input, expected) =
            case.split_once("----").unwrap_or_else(|| panic!("{name}: no ---- in\n{case}"));
        let mut out = String::new();
        for line in input.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            state.line(line, &mut out);
        }
        assert_eq!(out.trim(), expected.trim(), "{name}:\n{input}gives\n{out}");
        assert!(state.busy.is_empty(), "{name}: a case must release what it reserves\n{case}");
        cases += 1;
    }
    assert!(cases > 4);
}

#[test]
fn by_size() {
    run("size.txt", include_str!("../testdata/size.txt"));
}

#[test]
fn by_neighbours() {
    run("neighbours.txt", include_str!("../testdata/neighbours.txt"));
}

#[test]
fn by_tombstones() {
    run("tombstones.txt", include_str!("../testdata/tombstones.txt"));
}

#[test]
fn by_hand() {
    run("range.txt", include_str!("../testdata/range.txt"));
}
