//! Where the entries of a sound database lie: file, bytes, sequence. The engine's decoders of single blocks and
//! records are trusted here; the code that combines them is not.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use terrace_format::block::{Block, BlockIter};
use terrace_format::compression::{CompressionIds, decompress};
use terrace_format::file_name::{self, FileKind};
use terrace_format::internal_key::parse_internal_key;
use terrace_format::limits::{BLOCK_TRAILER_SIZE_BYTES, FOOTER_SIZE_BYTES};
use terrace_format::log::{LogEvent, LogReader};
use terrace_format::table::{BlockHandle, Footer, check_block};
use terrace_format::version_edit::VersionEdit;
use terrace_format::{batch::BatchRef, current};

use super::database::Files;

/// A range of bytes of a file.
#[derive(Clone, Debug)]
pub struct FileRange {
    pub file: String,
    pub bytes: Range<usize>,
}

/// A part of a table, named by its purpose.
pub struct Part {
    pub name: &'static str,
    pub bytes: Range<usize>,
}

/// Which files belong to the database, and what lies where.
pub struct Anatomy {
    /// Live tables with their parts.
    pub tables: BTreeMap<String, Vec<Part>>,
    /// Logs whose writes are in no table.
    pub logs: BTreeSet<String>,
    pub manifest: String,
    /// Where the records of live logs lie.
    pub records: BTreeMap<String, Vec<Range<usize>>>,
    /// Where the write of each sequence lies in live files.
    places: HashMap<u64, Vec<FileRange>>,
    /// The newest sequence in any live table.
    pub newest_in_tables: u64,
}

impl Anatomy {
    /// # Panics
    ///
    /// If the files are not those of a sound database.
    pub fn of(files: &Files) -> Self {
        let number = current::decode(&files["CURRENT"]).expect("a sound CURRENT");
        let manifest = file_name::manifest_name(number);
        let (live, log_number) = read_manifest(&files[&manifest]);
        let mut anatomy = Self {
            tables: BTreeMap::new(),
            logs: BTreeSet::new(),
            manifest,
            records: BTreeMap::new(),
            places: HashMap::new(),
            newest_in_tables: 0,
        };
        for number in live {
            anatomy.table(&file_name::table_name(number), files);
        }
        for (name, bytes) in files {
            if matches!(file_name::parse(name), Some(FileKind::Log(number)) if number >= log_number) {
                anatomy.log(name, bytes);
            }
        }
        anatomy
    }

    /// Whether the file belongs to the database.
    pub fn is_live(&self, name: &str) -> bool {
        name == "CURRENT"
            || name == self.manifest
            || self.logs.contains(name)
            || self.tables.contains_key(name)
    }

    /// Where the write of `sequence` lies; empty if a compaction dropped it.
    pub fn places(&self, sequence: u64) -> &[FileRange] {
        self.places.get(&sequence).map_or(&[], Vec::as_slice)
    }

    fn table(&mut self, name: &str, files: &Files) {
        let bytes = &files[name];
        let footer_start = bytes.len() - FOOTER_SIZE_BYTES;
        let footer = Footer::decode(&bytes[footer_start..]).expect("a sound footer");
        let mut parts = vec![
            Part { name: "footers", bytes: footer_start..bytes.len() },
            Part { name: "indexes", bytes: sealed(footer.index) },
            Part { name: "metaindexes", bytes: sealed(footer.metaindex) },
        ];
        for (meta_name, value) in entries(bytes, footer.metaindex) {
            if meta_name.starts_with(b"filter.") {
                let (handle, _) = BlockHandle::decode(&value).expect("a sound handle");
                parts.push(Part { name: "filters", bytes: sealed(handle) });
            }
        }
        for (_, value) in entries(bytes, footer.index) {
            let (handle, _) = BlockHandle::decode(&value).expect("a sound handle");
            parts.push(Part { name: "data blocks", bytes: sealed(handle) });
            for (key, _) in entries(bytes, handle) {
                let sequence = parse_internal_key(&key).expect("a sound key").sequence;
                self.newest_in_tables = self.newest_in_tables.max(sequence);
                self.add_place(sequence, name, sealed(handle));
            }
        }
        self.tables.insert(name.to_owned(), parts);
    }

    fn log(&mut self, name: &str, bytes: &[u8]) {
        self.logs.insert(name.to_owned());
        self.records.insert(name.to_owned(), Vec::new());
        let mut reader = LogReader::new(bytes);
        loop {
            let (offset, sequences) = match reader.next().expect("memory can be read") {
                LogEvent::Record { payload, offset } => {
                    let batch = BatchRef::parse(payload).expect("a sound batch");
                    (offset, batch.sequence()..batch.sequence() + u64::from(batch.count()))
                }
                LogEvent::End => break,
                other => panic!("{name} is not sound: {other:?}"),
            };
            let range = offset as usize..reader.end_of_last_record() as usize;
            self.records.entry(name.to_owned()).or_default().push(range.clone());
            sequences.for_each(|sequence| self.add_place(sequence, name, range.clone()));
        }
    }

    fn add_place(&mut self, sequence: u64, file: &str, bytes: Range<usize>) {
        self.places.entry(sequence).or_default().push(FileRange { file: file.to_owned(), bytes });
    }
}

fn sealed(handle: BlockHandle) -> Range<usize> {
    handle.offset as usize..handle.offset as usize + handle.size as usize + BLOCK_TRAILER_SIZE_BYTES
}

/// The entries of the block at `handle`.
fn entries(table: &[u8], handle: BlockHandle) -> Vec<(Vec<u8>, Vec<u8>)> {
    let (id, contents) = check_block(&table[sealed(handle)]).expect("a sound block");
    let contents = decompress(id, contents, CompressionIds::LevelDb).expect("a sound block");
    let block = Block::new(contents).expect("a sound block");
    let mut iterator = BlockIter::new(&block);
    let mut entries = Vec::new();
    iterator.seek_to_first().expect("a sound block");
    while iterator.valid() {
        entries.push((iterator.key().to_vec(), iterator.value().to_vec()));
        iterator.next().expect("a sound block");
    }
    entries
}

/// Numbers of the live tables and of the first live log.
fn read_manifest(bytes: &[u8]) -> (BTreeSet<u64>, u64) {
    let mut live = BTreeSet::new();
    let mut log_number = 0;
    let mut reader = LogReader::new(bytes);
    while let LogEvent::Record { payload, .. } = reader.next().expect("memory can be read") {
        let edit = VersionEdit::decode(payload).expect("a sound edit");
        for (_, number) in edit.deleted_files {
            live.remove(&number);
        }
        live.extend(edit.new_files.iter().map(|(_, file)| file.number));
        log_number = edit.log_number.unwrap_or(log_number);
    }
    (live, log_number)
}
