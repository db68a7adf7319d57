//! Readers beside seals, flushes and compactions. The version set, the super version, snapshots and the drop rule are the
//! engine's own. A table here is only a file's entry in a version: it holds one internal key, which is both its smallest and
//! its largest.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use loom::thread;
use terrace_env::{Env, MemoryEnv};
use terrace_format::internal_key::{ValueKind, parse_internal_key, tag};
use terrace_format::version_edit::{FileEntry, VersionEdit};

use super::explore;
use crate::compaction::drop_rule::DropRule;
use crate::iterator::InternalIterator;
use crate::memtable::{MemEntry, MemTable};
use crate::read::published::Published;
use crate::read::super_version::{SealedMemTable, SuperVersion};
use crate::sync::{AtomicU64, Mutex};
use crate::version::testing::{comparator, internal_key};
use crate::version::{ObsoleteFiles, VersionSet, VersionSetOptions};

/// The parts of a database that readers and the background share.
struct Model {
    published: Published,
    versions: VersionSet,
    obsolete: Arc<ObsoleteFiles>,
    /// Like the lock of `Background`: super versions change one after another.
    background: Mutex<()>,
    /// One bit for the number of each file that was removed.
    removed: AtomicU64,
}

impl Model {
    fn new() -> Arc<Self> {
        let env = Arc::new(MemoryEnv::with_steps());
        let directory = PathBuf::from("/db");
        env.create_directory_all(&directory).unwrap();
        let options = VersionSetOptions {
            env,
            directory,
            comparator: comparator(),
            manifest_size_limit_bytes: 1 << 20,
            read_only: false,
        };
        let obsolete = Arc::new(ObsoleteFiles::new());
        let versions = VersionSet::create_new(options, Arc::clone(&obsolete)).unwrap();
        let view = SuperVersion {
            active: Arc::new(MemTable::new(comparator())),
            sealed: Vec::new(),
            version: versions.current(),
            hold: None,
        };
        Arc::new(Self {
            published: Published::new(view, 0),
            versions,
            obsolete,
            background: Mutex::new(()),
            removed: AtomicU64::new(0),
        })
    }

    /// Like `Writer::commit_batch`: inserts the entry, then publishes its sequence, which the value repeats.
    fn put(&self, key: &str, sequence: u64) {
        let active = Arc::clone(&self.published.super_version().active);
        active.insert(sequence, ValueKind::Value, key.as_bytes(), &[sequence as u8]);
        self.published.publish(sequence);
    }

    /// As `Writer::seal_memtable`.
    fn seal(&self, last_sequence: u64) -> Arc<SealedMemTable> {
        let sealed = Arc::new(SealedMemTable {
            table: Arc::clone(&self.published.super_version().active),
            file_number: self.versions.new_file_number(),
            next_log_number: 0,
            last_sequence,
        });
        let active = Arc::new(MemTable::new(comparator()));
        let _background = self.background.lock();
        self.published.change(|view| view.seal(active, Arc::clone(&sealed)));
        sealed
    }

    /// As `flush::flush` and `DbInner::flush_sealed`.
    fn flush(&self, sealed: &Arc<SealedMemTable>) {
        let mut rule = DropRule::new(comparator().user().clone(), self.published.reader_sequences());
        let mut number = sealed.file_number;
        let mut edit = VersionEdit { last_sequence: Some(sealed.last_sequence), ..VersionEdit::default() };
        let mut entries = sealed.table.iter();
        entries.seek_to_first().unwrap();
        while entries.valid() {
            if !rule.may_drop(&parse_internal_key(entries.key()).unwrap(), |_| false) {
                edit.new_files.push((0, table(number, entries.key())));
                number = self.versions.new_file_number();
            }
            entries.next().unwrap();
        }
        self.versions.apply(edit, &[]).unwrap();
        let _background = self.background.lock();
        self.published
            .change(|view| view.replace_by_tables(std::slice::from_ref(sealed), self.versions.current()));
    }

    /// As `Compactor::run`, of one table from level 0, and the removal of obsolete files after it.
    fn compact(&self, old: u64, key: &[u8]) {
        let edit = VersionEdit {
            deleted_files: vec![(0, old)],
            new_files: vec![(1, table(self.versions.new_file_number(), key))],
            ..VersionEdit::default()
        };
        self.versions.apply(edit, &[]).unwrap();
        let background = self.background.lock();
        self.published.change(|view| view.version = self.versions.current());
        drop(background);
        self.remove_obsolete();
    }

    fn remove_obsolete(&self) {
        for number in self.obsolete.take() {
            self.removed.fetch_or(1 << number, Ordering::AcqRel);
        }
    }
}

fn table(number: u64, key: &[u8]) -> FileEntry {
    FileEntry { number, size_bytes: 1, smallest: key.to_vec(), largest: key.to_vec() }
}

/// The sequence of the newest entry of `key` in `view` that a reader at `sequence` sees.
fn newest(view: &SuperVersion, key: &str, sequence: u64) -> Option<u64> {
    let sealed = view.sealed.iter().map(|sealed| &sealed.table);
    for memtable in std::iter::once(&view.active).chain(sealed) {
        if !memtable.is_empty()
            && let Some(MemEntry::Value(value)) = memtable.get(key.as_bytes(), sequence)
        {
            return Some(u64::from(value[0]));
        }
    }
    let in_tables = view.version.files().filter(|file| file.smallest_user_key() == key.as_bytes());
    in_tables.map(|file| tag(&file.smallest) >> 8).filter(|found| *found <= sequence).max()
}

#[test]
fn a_reader_finds_everything_published_whatever_is_sealed_or_flushed_meanwhile() {
    explore(|| {
        let model = Model::new();
        model.put("a", 1);
        let reader = spawn(&model, |model| {
            let (view, sequence) = model.published.for_read(None);
            let found: Vec<_> = ["a", "b", "c"].iter().map(|key| newest(&view, key, sequence)).collect();
            // A view that is older than the newest memtable shows everything that was published before that memtable began.
            let seen = if sequence == 3 && found[2].is_none() { 2 } else { sequence };
            let expected: Vec<_> = (1..=3).map(|entry| (entry <= seen).then_some(entry)).collect();
            assert_eq!(found, expected, "at {sequence}");
        });
        model.put("b", 2);
        let sealed = model.seal(2);
        let flush = spawn(&model, move |model| model.flush(&sealed));
        model.put("c", 3);
        flush.join().unwrap();
        reader.join().unwrap();
    });
}

#[test]
fn a_flush_drops_no_version_that_a_reader_or_a_new_snapshot_sees() {
    explore(|| {
        let model = Model::new();
        model.put("k", 1);
        let reader = spawn(&model, |model| {
            let snapshot = model.published.snapshot();
            let (view, sequence) = model.published.for_read(Some(&snapshot));
            assert_eq!(newest(&view, "k", sequence), Some(sequence));
        });
        model.put("k", 2);
        model.flush(&model.seal(2));
        reader.join().unwrap();
    });
}

#[test]
fn a_flush_drops_no_version_that_a_plain_read_sees() {
    explore(|| {
        let model = Model::new();
        model.put("k", 1);
        let reader = spawn(&model, |model| {
            let (view, sequence) = model.published.for_read(None);
            assert_eq!(newest(&view, "k", sequence), Some(sequence));
        });
        model.put("k", 2);
        model.flush(&model.seal(2));
        reader.join().unwrap();
    });
}

#[test]
fn no_file_is_removed_while_a_reader_holds_it_and_then_it_is() {
    explore(|| {
        let model = Model::new();
        model.put("k", 1);
        let sealed = model.seal(1);
        model.flush(&sealed);
        let old = sealed.file_number;
        drop(sealed);
        let reader = spawn(&model, |model| {
            let (view, sequence) = model.published.for_read(None);
            assert_eq!(newest(&view, "k", sequence), Some(1));
            let removed = model.removed.fetch_or(0, Ordering::AcqRel);
            assert!(view.version.files().all(|file| removed & (1 << file.number) == 0));
        });
        model.compact(old, &internal_key("k", 1));
        reader.join().unwrap();
        model.remove_obsolete();
        assert_eq!(model.removed.fetch_or(0, Ordering::AcqRel), 1 << old);
    });
}

fn spawn(model: &Arc<Model>, work: impl FnOnce(&Model) + 'static) -> thread::JoinHandle<()> {
    let model = Arc::clone(model);
    thread::spawn(move || work(&model))
}
