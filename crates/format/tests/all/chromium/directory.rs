//! Reads a database's directory with nothing but this crate's decoders.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use terrace_format::batch::{BatchOp, BatchRef};
use terrace_format::block::{Block, BlockIter};
use terrace_format::comparator::UserComparator;
use terrace_format::compression::{CompressionIds, decompress};
use terrace_format::file_name::{FileKind, manifest_name, parse};
use terrace_format::internal_key::{SequenceNumber, ValueKind, append_internal_key, parse_internal_key};
use terrace_format::limits::FOOTER_SIZE_BYTES;
use terrace_format::log::{LogEvent, LogReader};
use terrace_format::table::{BlockHandle, Footer, check_block};
use terrace_format::version_edit::VersionEdit;

/// Internal keys and their values, in the order of the file.
pub type Entries = Vec<(Vec<u8>, Vec<u8>)>;

/// One database: the bytes of its files by name, unpacked.
pub struct Directory {
    pub path: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
}

impl Directory {
    /// Every database of `testdata/chromium`.
    pub fn all() -> Vec<Self> {
        let mut directories = Vec::new();
        for visit in ["visit1-closed", "visit2-killed"] {
            for entry in fs::read_dir(test_data().join(visit)).unwrap() {
                directories.push(Self::read(entry.unwrap().path()));
            }
        }
        assert_eq!(directories.len(), 10);
        directories
    }

    /// The database `name` of the visit `visit`.
    pub fn one(visit: &str, name: &str) -> Self {
        Self::read(test_data().join(visit).join(name))
    }

    fn read(path: PathBuf) -> Self {
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&path).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let bytes = fs::read(entry.path()).unwrap();
            match name.strip_suffix(".gz") {
                Some(unpacked) => {
                    let mut out = Vec::new();
                    flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut out).unwrap();
                    files.insert(unpacked.to_owned(), out);
                }
                None => drop(files.insert(name, bytes)),
            }
        }
        Self { path, files }
    }

    /// The edits of the manifest that CURRENT names.
    pub fn edits(&self) -> Vec<VersionEdit> {
        let number = terrace_format::current::decode(&self.files["CURRENT"]).unwrap();
        let manifest = &self.files[&manifest_name(number)];
        let edits: Vec<VersionEdit> =
            records(manifest).iter().map(|record| VersionEdit::decode(record).unwrap()).collect();
        assert!(!edits.is_empty(), "{}", self.path.display());
        for (edit, record) in edits.iter().zip(records(manifest)) {
            assert_eq!(edit.encode(), record, "LevelDB's bytes");
        }
        edits
    }

    pub fn comparator(&self) -> UserComparator {
        let edits = self.edits();
        let name = edits.iter().find_map(|edit| edit.comparator.as_deref()).unwrap();
        UserComparator::by_name(name).unwrap_or_else(|| panic!("{}", name.escape_ascii()))
    }

    /// The entries of each table.
    pub fn tables(&self) -> Vec<(&str, Entries)> {
        let is_table = |name: &str| matches!(parse(name), Some(FileKind::Table(_)));
        self.files
            .iter()
            .filter(|(name, _)| is_table(name))
            .map(|(name, file)| (&name[..], table(file)))
            .collect()
    }

    /// The entries of each log, in the order of writing.
    pub fn logs(&self) -> Vec<(&str, Entries)> {
        let is_log = |name: &str| matches!(parse(name), Some(FileKind::Log(_)));
        self.files
            .iter()
            .filter(|(name, _)| is_log(name))
            .map(|(name, file)| (&name[..], log(file)))
            .collect()
    }

    /// What a reader of the database sees: user keys and values in the order of the database.
    pub fn newest(&self) -> Entries {
        let comparator = self.comparator();
        let mut versions: Vec<(Vec<u8>, SequenceNumber, ValueKind, Vec<u8>)> = Vec::new();
        for (_, entries) in self.tables().into_iter().chain(self.logs()) {
            for (key, value) in entries {
                let parsed = parse_internal_key(&key).unwrap();
                versions.push((parsed.user_key.to_vec(), parsed.sequence, parsed.kind, value));
            }
        }
        versions.sort_by(|a, b| comparator.compare(&a.0, &b.0).then(b.1.cmp(&a.1)));
        versions.dedup_by(|later, earlier| comparator.compare(&later.0, &earlier.0).is_eq());
        let values = versions.into_iter().filter(|(_, _, kind, _)| *kind == ValueKind::Value);
        values.map(|(key, _, _, value)| (key, value)).collect()
    }
}

/// `testdata/chromium` of the repository.
pub fn test_data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/chromium")
}

/// The records of a log file. A torn tail is accepted, damage is not.
fn records(file: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = LogReader::new(file);
    let mut records = Vec::new();
    loop {
        match reader.next().unwrap() {
            LogEvent::Record { payload, .. } => records.push(payload.to_vec()),
            LogEvent::End => return records,
            LogEvent::TornTail { .. } => {}
            damage @ LogEvent::Damage { .. } => panic!("{damage:?}"),
        }
    }
}

fn log(file: &[u8]) -> Entries {
    let mut entries = Vec::new();
    for record in records(file) {
        let batch = BatchRef::parse(&record).unwrap();
        for (sequence, operation) in (batch.sequence()..).zip(batch.iter()) {
            let (user_key, kind, value) = match operation.unwrap() {
                BatchOp::Put { key, value } => (key, ValueKind::Value, value),
                BatchOp::Delete { key } => (key, ValueKind::Deletion, &b""[..]),
            };
            let mut key = Vec::new();
            append_internal_key(&mut key, user_key, sequence, kind);
            entries.push((key, value.to_vec()));
        }
    }
    entries
}

fn table(file: &[u8]) -> Entries {
    let footer = Footer::decode(&file[file.len() - FOOTER_SIZE_BYTES..]).unwrap();
    let mut entries = Vec::new();
    for (_, handle) in block(file, footer.index) {
        entries.extend(block(file, BlockHandle::decode(&handle).unwrap().0));
    }
    entries
}

fn block(file: &[u8], handle: BlockHandle) -> Entries {
    let range = handle.sealed_range((file.len() - FOOTER_SIZE_BYTES) as u64).unwrap();
    let (id, stored) = check_block(&file[range.start as usize..range.end as usize]).unwrap();
    let block = Block::new(decompress(id, stored, CompressionIds::LevelDb).unwrap()).unwrap();
    let mut iter = BlockIter::new(&block);
    let mut entries = Vec::new();
    iter.seek_to_first().unwrap();
    while iter.valid() {
        entries.push((iter.key().to_vec(), iter.value().to_vec()));
        iter.next().unwrap();
    }
    entries
}
