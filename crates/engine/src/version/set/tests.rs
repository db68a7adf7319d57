use std::collections::HashSet;
use std::path::{Path, PathBuf};

use terrace_env::{Env, EnvError, MemoryEnv};
use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::InternalKeyComparator;
use terrace_format::limits::LOG_BLOCK_SIZE_BYTES;
use terrace_format::log::LogEncoder;
use terrace_format::version_edit::FileEntry;

use super::*;
use crate::version::testing::{comparator, entry, internal_key};

mod opening;

const DIRECTORY: &str = "/db";

fn options(env: &MemoryEnv) -> VersionSetOptions {
    env.create_directory_all(Path::new(DIRECTORY)).unwrap();
    VersionSetOptions {
        env: Arc::new(env.clone()),
        directory: PathBuf::from(DIRECTORY),
        comparator: comparator(),
        manifest_size_limit_bytes: 4 << 20,
        read_only: false,
    }
}

fn create(env: &MemoryEnv) -> VersionSet {
    let set = VersionSet::create_new(options(env), Arc::default()).unwrap();
    set.renew(None).unwrap();
    set
}

fn recover(env: &MemoryEnv) -> Result<(VersionSet, RecoveredNumbers)> {
    VersionSet::recover(options(env), None, Arc::default())
}

fn path(name: &str) -> PathBuf {
    Path::new(DIRECTORY).join(name)
}

fn write_file(env: &MemoryEnv, name: &str, contents: &[u8]) {
    let mut file = env.create(&path(name)).unwrap();
    file.append(contents).unwrap();
    file.close().unwrap();
}

fn names(env: &MemoryEnv) -> Vec<String> {
    let mut names = env.list(Path::new(DIRECTORY)).unwrap();
    names.sort();
    names
}

/// Adds a table to `level`, file and all, with user keys between `smallest` and `largest`.
fn add(set: &VersionSet, level: usize, smallest: &str, largest: &str) -> u64 {
    let number = set.new_file_number();
    let table = set.options.directory.join(file_name::table_name(number));
    set.options.env.create(&table).unwrap().close().unwrap();
    let edit = VersionEdit {
        new_files: vec![(level, entry(number, (smallest, 3), (largest, 2)))],
        ..VersionEdit::default()
    };
    set.apply(edit, &[]).unwrap();
    number
}

#[test]
fn what_was_applied_is_recovered() {
    let env = MemoryEnv::new();
    let set = create(&env);
    assert_eq!(names(&env), ["CURRENT", "MANIFEST-000001"]);
    let first = add(&set, 0, "a", "m");
    let second = add(&set, 2, "n", "p");
    let log_number = set.new_file_number();
    let counts = TableCounts { entries: 5, deletions: 2, ..TableCounts::default() };
    let third = set.new_file_number();
    write_file(&env, &file_name::legacy_table_name(third), b"");
    let edit = VersionEdit {
        log_number: Some(log_number),
        last_sequence: Some(77),
        compact_pointers: vec![(2, internal_key("o", 1))],
        deleted_files: vec![(0, first)],
        new_files: vec![(1, entry(third, ("a", 9), ("m", 8)))],
        ..VersionEdit::default()
    };
    let version = set.apply(edit, &[(third, counts)]).unwrap();
    assert_eq!(version.levels[1][0].counts(), Some(counts));
    assert_eq!(version.levels[1][0].newest_sequence(), 77);
    assert_eq!((set.log_number(), set.last_sequence()), (log_number, 77));
    let expected = set.current().describe();

    drop(set);
    let (set, numbers) = recover(&env).unwrap();
    assert_eq!(
        numbers,
        RecoveredNumbers {
            log_number,
            previous_log_number: 0,
            last_sequence: 77,
            manifest_number: 1,
            next_file_number: third + 1,
            is_ours: true,
        }
    );
    assert_eq!(set.current().describe(), expected);
    assert_eq!(set.current().live_files(), HashSet::from([second, third]));
    assert_eq!(set.current().levels[1][0].newest_sequence(), 77);
    assert_eq!(set.current().levels[1][0].origin(), FileOrigin::Recovered);
    assert_eq!(set.compact_pointers()[2], Some(internal_key("o", 1)));
    assert!(set.next_file_number() > third);
    // Recovery wrote nothing; the first change writes a new MANIFEST and removes the old one.
    assert!(names(&env).contains(&"MANIFEST-000001".to_owned()));
    let fourth = add(&set, 3, "a", "b");
    assert!(names(&env).contains(&file_name::manifest_name(set.manifest_number())));
    assert!(!names(&env).contains(&"MANIFEST-000001".to_owned()));
    let (set, _) = recover(&env).unwrap();
    assert_eq!(set.current().live_files(), HashSet::from([second, third, fourth]));
    assert_eq!(set.compact_pointers()[2], Some(internal_key("o", 1)));
}

#[test]
fn numbers_only_grow() {
    let env = MemoryEnv::new();
    let set = create(&env);
    let log_number = set.new_file_number();
    let edit = VersionEdit { log_number: Some(log_number), last_sequence: Some(9), ..VersionEdit::default() };
    set.apply(edit, &[]).unwrap();
    let back = VersionEdit { log_number: Some(log_number - 1), ..VersionEdit::default() };
    assert_eq!(set.apply(back, &[]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let unknown = VersionEdit { log_number: Some(1000), ..VersionEdit::default() };
    assert_eq!(set.apply(unknown, &[]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    set.apply(VersionEdit { last_sequence: Some(5), ..VersionEdit::default() }, &[]).unwrap();
    assert_eq!((set.log_number(), set.last_sequence()), (log_number, 9));
    set.mark_file_number_used(500);
    assert_eq!(set.new_file_number(), 501);
}

#[test]
fn a_wrong_edit_changes_nothing_and_poisons_nothing() {
    let env = MemoryEnv::new();
    let set = create(&env);
    let number = add(&set, 1, "a", "b");
    let before = set.current().describe();
    let wrong = VersionEdit { deleted_files: vec![(2, number)], ..VersionEdit::default() };
    assert_eq!(set.apply(wrong, &[]).unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(set.current().describe(), before);
    add(&set, 1, "c", "d");
}

#[test]
fn removed_files_are_handed_over_when_the_last_reader_lets_go() {
    let env = MemoryEnv::new();
    let set = create(&env);
    let number = add(&set, 1, "a", "b");
    let reader = set.current();
    set.apply(VersionEdit { deleted_files: vec![(1, number)], ..VersionEdit::default() }, &[]).unwrap();
    assert!(set.obsolete.take().is_empty());
    drop(reader);
    assert_eq!(set.obsolete.take(), [number]);
}

#[test]
fn a_moved_file_is_not_obsolete() {
    let env = MemoryEnv::new();
    let set = create(&env);
    let number = add(&set, 1, "a", "b");
    let file = Arc::clone(&set.current().levels[1][0]);
    let edit = VersionEdit {
        deleted_files: vec![(1, number)],
        new_files: vec![(2, file.entry())],
        ..VersionEdit::default()
    };
    set.apply(edit, &[]).unwrap();
    assert!(Arc::ptr_eq(&set.current().levels[2][0], &file));
    let queue = Arc::clone(&set.obsolete);
    drop((file, set));
    assert!(queue.take().is_empty());
}

#[test]
fn the_manifest_is_replaced_at_its_limit_and_the_old_one_goes() {
    let env = MemoryEnv::new();
    let mut small = options(&env);
    small.manifest_size_limit_bytes = 300;
    let set = VersionSet::create_new(small, Arc::default()).unwrap();
    let mut manifests = HashSet::new();
    for index in 0..100 {
        add(&set, 1, &format!("{index:03}a"), &format!("{index:03}b"));
        manifests.insert(set.manifest_number());
        let present = names(&env).iter().filter(|name| name.starts_with("MANIFEST")).count();
        assert_eq!(present, 1);
    }
    // Each has at least doubled since it began, so there are few although the limit is far below the snapshot's size.
    assert!((4..=10).contains(&manifests.len()), "{} manifests", manifests.len());
    let expected = set.current().describe();
    drop(set);
    assert_eq!(recover(&env).unwrap().0.current().describe(), expected);
}

#[test]
fn a_snapshot_of_many_files_spans_records() {
    let env = MemoryEnv::new();
    let set = create(&env);
    let mut edit = VersionEdit::default();
    for index in 0..2500u64 {
        let number = set.new_file_number();
        write_file(&env, &file_name::table_name(number), b"");
        let key = format!("{index:05}");
        edit.new_files.push((4, entry(number, (&key, 2), (&key, 1))));
    }
    set.apply(edit, &[]).unwrap();
    drop(set);
    let (set, _) = recover(&env).unwrap();
    add(&set, 0, "a", "b");
    drop(set);
    let (set, _) = recover(&env).unwrap();
    assert_eq!((set.current().file_count(4), set.current().file_count(0)), (2500, 1));
}

mod failing {
    //! A write to the MANIFEST that fails.

    use std::sync::atomic::AtomicI32;
    use std::time::Duration;

    use terrace_env::{
        Background, FileLock, LockError, LogFile, RandomAccessFile, SequentialFile, ThreadHandle,
        WritableFile,
    };

    use super::*;

    /// A device that fails, by the system's number: on Windows, `ERROR_CRC`.
    const EIO: i32 = if cfg!(windows) { 23 } else { 5 };
    /// A full device: on Windows, `ERROR_DISK_FULL`.
    const ENOSPC: i32 = if cfg!(windows) { 112 } else { 28 };

    type EnvResult<T> = terrace_env::Result<T>;

    /// Passes everything on to a memory environment. While `fails` is not 0, syncs of files fail with
    /// that error of the system.
    #[derive(Debug, Clone)]
    struct FailingEnv {
        inner: MemoryEnv,
        fails: Arc<AtomicI32>,
    }

    struct FailingFile {
        inner: Box<dyn WritableFile>,
        fails: Arc<AtomicI32>,
    }

    impl WritableFile for FailingFile {
        fn append(&mut self, bytes: &[u8]) -> EnvResult<()> {
            self.inner.append(bytes)
        }
        fn flush(&mut self) -> EnvResult<()> {
            self.inner.flush()
        }
        fn sync(&mut self) -> EnvResult<()> {
            match self.fails.load(Ordering::Relaxed) {
                0 => self.inner.sync(),
                error => Err(EnvError::new("sync", "a file", std::io::Error::from_raw_os_error(error))),
            }
        }
        fn size_bytes(&self) -> u64 {
            self.inner.size_bytes()
        }
        fn close(self: Box<Self>) -> EnvResult<()> {
            self.inner.close()
        }
    }

    impl Env for FailingEnv {
        fn open_random(&self, path: &Path) -> EnvResult<Arc<dyn RandomAccessFile>> {
            self.inner.open_random(path)
        }
        fn open_sequential(&self, path: &Path) -> EnvResult<Box<dyn SequentialFile>> {
            self.inner.open_sequential(path)
        }
        fn create(&self, path: &Path) -> EnvResult<Box<dyn WritableFile>> {
            Ok(Box::new(FailingFile { inner: self.inner.create(path)?, fails: Arc::clone(&self.fails) }))
        }
        fn open_append(&self, path: &Path) -> EnvResult<Box<dyn WritableFile>> {
            self.inner.open_append(path)
        }
        fn create_log(&self, path: &Path) -> EnvResult<Box<dyn LogFile>> {
            self.inner.create_log(path)
        }
        fn replace_file(&self, path: &Path, contents: &[u8], temporary: &Path) -> EnvResult<()> {
            self.inner.replace_file(path, contents, temporary)
        }
        fn rename(&self, from: &Path, to: &Path) -> EnvResult<()> {
            self.inner.rename(from, to)
        }
        fn remove_file(&self, path: &Path) -> EnvResult<()> {
            self.inner.remove_file(path)
        }
        fn exists(&self, path: &Path) -> EnvResult<bool> {
            self.inner.exists(path)
        }
        fn file_size(&self, path: &Path) -> EnvResult<u64> {
            self.inner.file_size(path)
        }
        fn list(&self, directory: &Path) -> EnvResult<Vec<String>> {
            self.inner.list(directory)
        }
        fn create_directory_all(&self, path: &Path) -> EnvResult<()> {
            self.inner.create_directory_all(path)
        }
        fn remove_directory(&self, path: &Path) -> EnvResult<()> {
            self.inner.remove_directory(path)
        }
        fn sync_directory(&self, path: &Path) -> EnvResult<()> {
            self.inner.sync_directory(path)
        }
        fn link_or_copy(&self, from: &Path, to: &Path) -> EnvResult<()> {
            self.inner.link_or_copy(from, to)
        }
        fn lock(&self, path: &Path) -> std::result::Result<Box<dyn FileLock>, LockError> {
            self.inner.lock(path)
        }
        fn monotonic_micros(&self) -> u64 {
            self.inner.monotonic_micros()
        }
        fn unix_micros(&self) -> u64 {
            self.inner.unix_micros()
        }
        fn sleep(&self, duration: Duration) {
            self.inner.sleep(duration);
        }
        fn background(&self) -> Background {
            self.inner.background()
        }
        fn spawn(&self, name: &str, work: Box<dyn FnOnce() + Send>) -> EnvResult<Box<dyn ThreadHandle>> {
            self.inner.spawn(name, work)
        }
        fn available_parallelism(&self) -> usize {
            self.inner.available_parallelism()
        }
        fn process_id(&self) -> u32 {
            self.inner.process_id()
        }
    }

    fn failing(memory: &MemoryEnv) -> (VersionSetOptions, Arc<AtomicI32>) {
        let fails = Arc::new(AtomicI32::new(0));
        let env = FailingEnv { inner: memory.clone(), fails: Arc::clone(&fails) };
        (VersionSetOptions { env: Arc::new(env), ..options(memory) }, fails)
    }

    #[test]
    fn after_a_failed_sync_every_change_is_refused_until_the_next_open() {
        let memory = MemoryEnv::new();
        let (options, fails) = failing(&memory);
        let set = VersionSet::create_new(options, Arc::default()).unwrap();
        add(&set, 1, "a", "b");
        let before = set.current().describe();
        fails.store(EIO, Ordering::Relaxed);
        let lost = VersionEdit { last_sequence: Some(50), ..VersionEdit::default() };
        assert_eq!(set.apply(lost, &[]).unwrap_err().kind(), ErrorKind::Io);
        fails.store(0, Ordering::Relaxed);
        let error = set.apply(VersionEdit::default(), &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Poisoned);
        assert!(error.to_string().contains(&format!("os error {EIO}")), "{error}");
        assert_eq!((set.current().describe(), set.last_sequence()), (before.clone(), 0));
        drop(set);
        let (set, _) = recover(&memory).unwrap();
        assert_eq!(set.current().describe(), before);
        add(&set, 1, "c", "d");
    }

    #[test]
    fn a_change_that_found_no_room_is_undone_before_the_next_one() {
        let memory = MemoryEnv::new();
        let (options, fails) = failing(&memory);
        let set = VersionSet::create_new(options, Arc::default()).unwrap();
        let kept = add(&set, 1, "a", "b");
        let before = set.current().describe();
        // The edit reaches the file, and its sync finds no room: it may be on disk or not.
        let number = set.new_file_number();
        write_file(&memory, &file_name::table_name(number), b"a table");
        let edit =
            VersionEdit { new_files: vec![(1, entry(number, ("c", 1), ("d", 1)))], ..VersionEdit::default() };
        let counts = [(number, TableCounts::default())];
        fails.store(ENOSPC, Ordering::Relaxed);
        assert_eq!(set.apply(edit.clone(), &counts).unwrap_err().kind(), ErrorKind::DiskFull);
        assert_eq!(set.resolve_failed_change().unwrap_err().kind(), ErrorKind::DiskFull);
        recover(&memory).unwrap();
        assert_eq!(set.current().describe(), before);

        fails.store(0, Ordering::Relaxed);
        set.resolve_failed_change().unwrap();
        assert!(!names(&memory).contains(&file_name::table_name(number)), "what the change named is gone");
        assert_eq!(recover(&memory).unwrap().0.current().describe(), before);
        write_file(&memory, &file_name::table_name(number), b"again");
        set.apply(edit, &counts).unwrap();
        drop(set);
        let (set, _) = recover(&memory).unwrap();
        let files: Vec<u64> = set.current().files().map(|file| file.number).collect();
        assert_eq!(files, [kept, number]);
    }

    #[test]
    fn a_new_manifest_that_cannot_be_written_leaves_the_old_one_in_force() {
        let memory = MemoryEnv::new();
        drop(create(&memory));
        let (options, fails) = failing(&memory);
        let (set, _) = VersionSet::recover(options, None, Arc::default()).unwrap();
        fails.store(EIO, Ordering::Relaxed);
        assert!(set.apply(VersionEdit::default(), &[]).is_err());
        assert_eq!(names(&memory), ["CURRENT", "MANIFEST-000001"]);
        assert_eq!(set.manifest_number(), 1);
        recover(&memory).unwrap();
    }
}

#[test]
fn readers_and_several_writers_at_once() {
    let env = MemoryEnv::new();
    let set = create(&env);
    std::thread::scope(|scope| {
        for level in 1..5 {
            let set = &set;
            scope.spawn(move || {
                let mut last = None;
                for index in 0..50 {
                    let number = add(set, level, &format!("{index:03}a"), &format!("{index:03}b"));
                    if let Some(last) = last.replace(number).filter(|_| index % 2 == 0) {
                        let edit =
                            VersionEdit { deleted_files: vec![(level, last)], ..VersionEdit::default() };
                        set.apply(edit, &[]).unwrap();
                    }
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..2000 {
                checker::check(&set.current()).unwrap();
            }
        });
    });
    let expected = set.current().describe();
    assert!((1..5).all(|level| set.current().file_count(level) == 26), "{expected}");
    assert_eq!(set.obsolete.take().len(), 4 * 24);
    drop(set);
    assert_eq!(recover(&env).unwrap().0.current().describe(), expected);
}
