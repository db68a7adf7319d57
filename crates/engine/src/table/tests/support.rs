//! Helpers of the tests in this directory: test data, a file in memory that counts its reads, and a builder of tables.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use terrace_env::locks::Mutex;
use terrace_env::{Env, MemoryEnv, RandomAccessFile, ReadPattern};
use terrace_format::block::{Block, BlockIter};
use terrace_format::comparator::UserComparator;
use terrace_format::compression::{Compression, CompressionIds};
use terrace_format::internal_key::{InternalKeyComparator, ValueKind, append_internal_key};
use terrace_format::limits::BLOCK_TRAILER_SIZE_BYTES;
use terrace_format::table::{BlockHandle, check_block};

use crate::cache::block_cache::BlockCache;
use crate::cache::working_set::WorkingSet;
use crate::error::Result;
use crate::table::builder::FinishedTable;
use crate::table::{Table, TableBuilder, TableBuilderOptions, TableReadContext};

/// Internal keys and values in the order of a table.
pub(super) type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// A generator of test data that is the same in each run (Marsaglia's xorshift64*).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize) % bound
    }
}

/// A file with the given bytes. As with a real file, none of it or only its beginning may be in memory.
#[derive(Debug)]
pub(super) struct TestFile {
    pub(super) bytes: Vec<u8>,
    /// Bytes from here on are gone.
    pub(super) end: AtomicUsize,
    pub(super) reads: AtomicUsize,
    /// Whether a read without waiting finds the bytes.
    pub(super) resident: AtomicBool,
    /// Bytes of the mapping from here on are not resident, whatever `resident` says.
    pub(super) evicted_from: AtomicUsize,
    /// Likewise, bytes before here.
    pub(super) evicted_until: AtomicUsize,
    /// Whether a read without waiting finds all but the last of the bytes.
    pub(super) half_resident: AtomicBool,
    /// Whether the file is read through a mapping.
    maps: bool,
    /// The advice about the mapping that the system received.
    pub(super) advice: Mutex<Advice>,
}

/// Advice to the system about the mapping of a file.
#[derive(Debug, Default)]
pub(super) struct Advice {
    /// The last pattern.
    pub(super) pattern: Option<ReadPattern>,
    /// The ranges to read, in turn.
    pub(super) asked: Vec<Range<u64>>,
    /// The ranges that will not be read.
    pub(super) given_up: Vec<Range<u64>>,
}

impl TestFile {
    pub(super) fn new(bytes: Vec<u8>) -> Arc<Self> {
        Self::new_mapped(bytes, false)
    }

    pub(super) fn new_mapped(bytes: Vec<u8>, maps: bool) -> Arc<Self> {
        Arc::new(Self {
            end: AtomicUsize::new(bytes.len()),
            evicted_from: AtomicUsize::new(usize::MAX),
            evicted_until: AtomicUsize::new(0),
            bytes,
            reads: AtomicUsize::new(0),
            resident: AtomicBool::new(false),
            half_resident: AtomicBool::new(false),
            maps,
            advice: Mutex::default(),
        })
    }

    pub(super) fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }
}

impl RandomAccessFile for TestFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> terrace_env::Result<usize> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let rest = self.bytes[..self.end.load(Ordering::Relaxed)].get(offset as usize..).unwrap_or(&[]);
        let size_bytes = rest.len().min(buffer.len());
        buffer[..size_bytes].copy_from_slice(&rest[..size_bytes]);
        Ok(size_bytes)
    }

    fn read_at_without_waiting(&self, offset: u64, buffer: &mut [u8]) -> terrace_env::Result<Option<usize>> {
        if self.half_resident.load(Ordering::Relaxed) {
            return Ok(Some(self.read_at(offset, buffer)? - 1));
        }
        if !self.resident.load(Ordering::Relaxed) {
            return Ok(None);
        }
        self.read_at(offset, buffer).map(Some)
    }

    fn mapped(&self) -> Option<Bytes> {
        self.maps.then(|| self.bytes.clone().into())
    }

    fn mapped_is_in_memory(&self, offset: u64, size_bytes: usize) -> bool {
        let end = offset as usize + size_bytes;
        self.resident.load(Ordering::Relaxed)
            && end <= self.evicted_from.load(Ordering::Relaxed)
            && offset as usize >= self.evicted_until.load(Ordering::Relaxed)
    }

    fn expect_reads(&self, pattern: ReadPattern) {
        self.advice.lock().pattern = Some(pattern);
    }

    fn start_reading(&self, offset: u64, size_bytes: usize) {
        self.advice.lock().asked.push(offset..offset + size_bytes as u64);
    }

    fn stop_reading(&self, offset: u64, size_bytes: usize) {
        self.advice.lock().given_up.push(offset..offset + size_bytes as u64);
    }

    fn size_bytes(&self) -> terrace_env::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn path(&self) -> &Path {
        Path::new("/test.ldb")
    }
}

pub(super) fn bytewise() -> InternalKeyComparator {
    InternalKeyComparator::new(UserComparator::Bytewise)
}

pub(super) fn idb() -> InternalKeyComparator {
    InternalKeyComparator::new(UserComparator::by_name("idb_cmp1").unwrap())
}

pub(super) fn options() -> TableBuilderOptions {
    TableBuilderOptions {
        block_size_bytes: 256,
        restart_interval: 4,
        compression: Compression::None,
        filter_bits_per_key: 10,
        filter_policy: None,
        hash_index_percent: 100,
    }
}

pub(super) fn context(comparator: &InternalKeyComparator) -> TableReadContext {
    TableReadContext {
        comparator: comparator.clone(),
        block_cache: Some(Arc::new(BlockCache::new(1 << 20))),
        compression_ids: CompressionIds::LevelDb,
        use_filters: true,
        filter_policy: None,
        map_files: true,
        fit: WorkingSet::always(),
    }
}

pub(super) fn internal_key(user_key: &[u8], sequence: u64, kind: ValueKind) -> Vec<u8> {
    let mut key = Vec::new();
    append_internal_key(&mut key, user_key, sequence, kind);
    key
}

/// The internal key of a value at sequence 7.
pub(super) fn key(user_key: &[u8]) -> Vec<u8> {
    internal_key(user_key, 7, ValueKind::Value)
}

/// Writes a table and returns the bytes of its file.
pub(super) fn build(
    entries: &Entries,
    comparator: &InternalKeyComparator,
    options: TableBuilderOptions,
) -> (Vec<u8>, FinishedTable) {
    let env = MemoryEnv::new();
    let path = PathBuf::from("/test.ldb");
    let file = env.create(&path).unwrap();
    let mut builder = TableBuilder::new(file, path.clone(), comparator.clone(), options);
    for (key, value) in entries {
        builder.add(key, value).unwrap();
    }
    let finished = builder.finish().unwrap();
    let bytes = env.read_file(&path).unwrap();
    assert_eq!(finished.size_bytes, bytes.len() as u64);
    (bytes, finished)
}

/// The contents of an uncompressed block of a file.
pub(super) fn block_at(bytes: &[u8], handle: BlockHandle) -> Block {
    let stored = &bytes[handle.offset as usize..][..handle.size as usize + BLOCK_TRAILER_SIZE_BYTES];
    let (id, contents) = check_block(stored).unwrap();
    assert_eq!(id, 0);
    Block::new(contents.to_vec()).unwrap()
}

/// The entries of a block.
pub(super) fn entries_of(block: &Block) -> Entries {
    let mut iter = BlockIter::new(block);
    let mut entries = Entries::new();
    iter.seek_to_first().unwrap();
    while iter.valid() {
        entries.push((iter.key().to_vec(), iter.value().to_vec()));
        iter.next().unwrap();
    }
    entries
}

pub(super) fn open(bytes: Vec<u8>, context: TableReadContext) -> Result<Arc<Table>> {
    open_file(TestFile::new(bytes), context)
}

pub(super) fn open_file(file: Arc<TestFile>, context: TableReadContext) -> Result<Arc<Table>> {
    let size_bytes = file.bytes.len() as u64;
    Table::open(file, PathBuf::from("/test.ldb"), size_bytes, Arc::new(context)).map(Arc::new)
}

/// `count` user keys, each with up to three versions, some of them deletions; values from empty to larger than a block.
pub(super) fn bytewise_entries(seed: u64, count: usize) -> Entries {
    let random = &mut Random::new(seed);
    let mut entries = Entries::new();
    for number in 0..count {
        let mut user_key = Vec::new();
        if number > 0 {
            user_key.extend(format!("{:06}", number * 3).into_bytes());
            user_key.extend(std::iter::repeat_n(b'x', random.below(12)));
        }
        add_versions(&mut entries, &user_key, random);
    }
    entries
}

/// As [`bytewise_entries`], with keys of IndexedDB in Chromium: records of one object store under string keys, with
/// shorter strings first, so that the order is not bytewise.
pub(super) fn idb_entries(seed: u64, count: usize) -> Entries {
    let random = &mut Random::new(seed);
    let mut keys: Vec<Vec<u8>> = (0..count).map(|number| idb_key(&format!("{number}"))).collect();
    let comparator = idb();
    keys.sort_by(|a, b| comparator.user().compare(a, b));
    assert!(
        count < 100 || keys.windows(2).any(|pair| pair[0] > pair[1]),
        "the order should not be that of the bytes"
    );
    let mut entries = Entries::new();
    for user_key in keys {
        add_versions(&mut entries, &user_key, random);
    }
    entries
}

/// Database 1, object store 1, index 1 (records), string key.
pub(super) fn idb_key(string: &str) -> Vec<u8> {
    let mut key = vec![0, 1, 1, 1, 1, string.len() as u8];
    key.extend(string.encode_utf16().flat_map(u16::to_be_bytes));
    key
}

fn add_versions(entries: &mut Entries, user_key: &[u8], random: &mut Random) {
    let mut sequence = 1_000 + random.below(1_000) as u64;
    for _ in 0..1 + random.below(3) {
        let (kind, value) = match random.below(8) {
            0 => (ValueKind::Deletion, Vec::new()),
            1 => (ValueKind::Value, Vec::new()),
            2 => (ValueKind::Value, vec![b'v'; random.below(700)]),
            _ => (ValueKind::Value, format!("value {sequence} of {user_key:?}").into_bytes()),
        };
        entries.push((internal_key(user_key, sequence, kind), value));
        sequence -= 1 + random.below(300) as u64;
    }
}
