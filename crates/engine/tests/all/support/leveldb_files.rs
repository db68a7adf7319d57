//! Files as LevelDB writes them, assembled block by block, without our own additions.
use std::path::Path;

use terrace_engine::ValueKind;
use terrace_engine::env::Env;
use terrace_format::block::BlockBuilder;
use terrace_format::current;
use terrace_format::file_name;
use terrace_format::internal_key::append_internal_key;
use terrace_format::log::LogEncoder;
use terrace_format::table::{BlockHandle, Footer, seal_block};
use terrace_format::version_edit::{FileEntry, VersionEdit};

/// User key, sequence, and the value; `None` for a deletion.
pub type Version<'a> = (&'a [u8], u64, Option<&'a [u8]>);

pub fn internal_key(user_key: &[u8], sequence: u64, kind: ValueKind) -> Vec<u8> {
    let mut key = Vec::new();
    append_internal_key(&mut key, user_key, sequence, kind);
    key
}

/// A table under construction. Nothing is checked.
#[derive(Default)]
pub struct TableFile {
    bytes: Vec<u8>,
    index: Vec<(Vec<u8>, Vec<u8>)>,
}

impl TableFile {
    /// Stores a block with any contents.
    pub fn store(&mut self, contents: &[u8], compression_id: u8) -> BlockHandle {
        let handle = BlockHandle { offset: self.bytes.len() as u64, size: contents.len() as u64 };
        self.bytes.extend_from_slice(contents);
        self.bytes.extend_from_slice(&seal_block(contents, compression_id));
        handle
    }

    /// Lists a block in the index.
    pub fn list(&mut self, separator: &[u8], handle: BlockHandle) {
        let mut value = Vec::new();
        handle.encode_to(&mut value);
        self.index.push((separator.to_vec(), value));
    }

    /// The file, with an empty metaindex.
    pub fn finish(mut self) -> Vec<u8> {
        let metaindex = self.store(&block(&[], 16), 0);
        let index = block(&self.index, 1);
        let index = self.store(&index, 0);
        self.bytes.extend_from_slice(&Footer { metaindex, index }.encode());
        self.bytes
    }
}

/// The contents of a block of these keys and values.
pub fn block(entries: &[(Vec<u8>, Vec<u8>)], restart_interval: usize) -> Vec<u8> {
    let mut builder = BlockBuilder::new(restart_interval);
    for (key, value) in entries {
        builder.add(key, value);
    }
    builder.finish().to_vec()
}

/// A table of these versions, which may be in any order, and its entry for a MANIFEST.
pub fn table(number: u64, versions: &[Version<'_>]) -> (Vec<u8>, FileEntry) {
    const ENTRIES_PER_BLOCK: usize = 5;
    let mut versions = versions.to_vec();
    versions.sort_by(|a, b| a.0.cmp(b.0).then(b.1.cmp(&a.1)));
    let entries: Vec<(Vec<u8>, Vec<u8>)> = versions
        .iter()
        .map(|(key, sequence, value)| {
            let kind = if value.is_some() { ValueKind::Value } else { ValueKind::Deletion };
            (internal_key(key, *sequence, kind), value.unwrap_or_default().to_vec())
        })
        .collect();
    let mut file = TableFile::default();
    for entries in entries.chunks(ENTRIES_PER_BLOCK) {
        let handle = file.store(&block(entries, 16), 0);
        file.list(&entries[entries.len() - 1].0, handle);
    }
    let bytes = file.finish();
    let (smallest, largest) = (entries[0].0.clone(), entries[entries.len() - 1].0.clone());
    let entry = FileEntry { number, size_bytes: bytes.len() as u64, smallest, largest };
    (bytes, entry)
}

/// Writes a whole file.
pub fn write(env: &dyn Env, path: &Path, contents: &[u8]) {
    let mut file = env.create(path).unwrap();
    file.append(contents).unwrap();
    file.close().unwrap();
}

/// A MANIFEST of these edits.
pub fn manifest(edits: &[VersionEdit]) -> Vec<u8> {
    let mut encoder = LogEncoder::new();
    let mut bytes = Vec::new();
    edits.iter().for_each(|edit| encoder.encode_into(&edit.encode(), &mut bytes));
    bytes
}

/// A log of one batch of puts, whose first has `sequence`. Keys and values are shorter than 128 bytes.
pub fn log(sequence: u64, puts: &[(&str, &str)]) -> Vec<u8> {
    let mut batch = sequence.to_le_bytes().to_vec();
    batch.extend((puts.len() as u32).to_le_bytes());
    for (key, value) in puts {
        batch.extend([1, key.len() as u8]);
        batch.extend(key.as_bytes());
        batch.push(value.len() as u8);
        batch.extend(value.as_bytes());
    }
    let mut bytes = Vec::new();
    LogEncoder::new().encode_into(&batch, &mut bytes);
    bytes
}

/// Makes `directory` a database of these tables, given by level, in the form that LevelDB's repair leaves: one edit, no log.
pub fn write_database(
    env: &dyn Env,
    directory: &Path,
    last_sequence: u64,
    tables: Vec<(usize, Vec<u8>, FileEntry)>,
) {
    env.create_directory_all(directory).unwrap();
    let mut edit = VersionEdit {
        comparator: Some(b"leveldb.BytewiseComparator".to_vec()),
        log_number: Some(0),
        next_file_number: Some(1_000),
        last_sequence: Some(last_sequence),
        ..VersionEdit::default()
    };
    for (level, bytes, entry) in tables {
        write(env, &directory.join(file_name::table_name(entry.number)), &bytes);
        edit.new_files.push((level, entry));
    }
    write(env, &directory.join(file_name::manifest_name(999)), &manifest(&[edit]));
    write(env, &directory.join(file_name::CURRENT), current::encode(999).as_bytes());
}
