//! Version edits: the records of a manifest. Replayed in order, they give the set of tables that make up the
//! database.
//!
//! ```text
//! edit   fields, each a tag (varint32) and what belongs to it, in any order
//!
//!  tag   field              encoding
//!   1    comparator         name, length-prefixed
//!   2    log number         varint64          logs below it are no longer needed
//!   9    previous log       varint64          another log that is still needed; 0 since LevelDB 1.0
//!   3    next file number   varint64
//!   4    last sequence      varint64
//!   5    compact pointer    level varint32 · internal key, length-prefixed
//!   6    deleted file       level varint32 · number varint64
//!   7    new file           level varint32 · number varint64 · size varint64 · smallest · largest internal key,
//!                           both length-prefixed
//! ```
//!
//! Within one edit, deletions apply before additions. If a field that should occur once is repeated, the last one
//! counts. LevelDB used tag 8 before it was published. Basho's fork writes new files with tags 10 and 11. RocksDB and
//! Pebble use tags from 100 on, and RocksDB uses 10 for a log. goleveldb has no fixed number of levels.
//!
//! Flushes, compactions and ingestions write edits. [`crate::log`] frames an edit as one record of the manifest.

use crate::coding::{Decoder, put_length_prefixed, put_varint32, put_varint64};
use crate::error::Result;
use crate::internal_key::{MAX_SEQUENCE_NUMBER, SequenceNumber, parse_internal_key};
use crate::limits::LEVEL_COUNT;

const STRUCTURE: &str = "version edit";

const TAG_COMPARATOR: u32 = 1;
const TAG_LOG_NUMBER: u32 = 2;
const TAG_NEXT_FILE_NUMBER: u32 = 3;
const TAG_LAST_SEQUENCE: u32 = 4;
const TAG_COMPACT_POINTER: u32 = 5;
const TAG_DELETED_FILE: u32 = 6;
const TAG_NEW_FILE: u32 = 7;
const TAG_PREVIOUS_LOG_NUMBER: u32 = 9;
const TAG_BASHO_NEW_FILE: u32 = 10;
const TAG_BASHO_NEW_FILE_WITH_EXPIRY: u32 = 11;
/// RocksDB's and Pebble's own tags for files and column families.
const TAGS_OF_ROCKSDB: std::ops::Range<u32> = 100..400;

/// goleveldb adds levels as a database grows. No database needs as many as this.
const MAX_FOREIGN_LEVELS: usize = 64;

/// A table that a version edit adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// The number in its name.
    pub number: u64,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Its first internal key.
    pub smallest: Vec<u8>,
    /// Its last internal key.
    pub largest: Vec<u8>,
}

/// A change to the set of tables and to the numbers that belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionEdit {
    /// Name of the order of user keys; any bytes. In the first edit of a manifest.
    pub comparator: Option<Vec<u8>>,
    /// Number of the oldest log whose records are not all in tables.
    pub log_number: Option<u64>,
    /// Number of one more log that is still needed. Terrace writes 0, as LevelDB does, and honours another's number.
    pub previous_log_number: Option<u64>,
    /// The next file number: no file has this number or a larger one.
    pub next_file_number: Option<u64>,
    /// A sequence number that no entry in the tables exceeds. Records of a log may be at or below it too.
    pub last_sequence: Option<SequenceNumber>,
    /// Level, and the internal key at which its next size-triggered compaction begins.
    pub compact_pointers: Vec<(usize, Vec<u8>)>,
    /// Level and number of each file that is removed.
    pub deleted_files: Vec<(usize, u64)>,
    /// Level and description of each file that is added.
    pub new_files: Vec<(usize, FileEntry)>,
}

impl VersionEdit {
    /// Encodes the edit, with the fields in LevelDB's order.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(name) = &self.comparator {
            put_varint32(&mut out, TAG_COMPARATOR);
            put_length_prefixed(&mut out, name);
        }
        for (tag, number) in [
            (TAG_LOG_NUMBER, self.log_number),
            (TAG_PREVIOUS_LOG_NUMBER, self.previous_log_number),
            (TAG_NEXT_FILE_NUMBER, self.next_file_number),
            (TAG_LAST_SEQUENCE, self.last_sequence),
        ] {
            if let Some(number) = number {
                put_varint32(&mut out, tag);
                put_varint64(&mut out, number);
            }
        }
        for (level, key) in &self.compact_pointers {
            put_tag_and_level(&mut out, TAG_COMPACT_POINTER, *level);
            put_length_prefixed(&mut out, key);
        }
        for (level, number) in &self.deleted_files {
            put_tag_and_level(&mut out, TAG_DELETED_FILE, *level);
            put_varint64(&mut out, *number);
        }
        for (level, file) in &self.new_files {
            put_tag_and_level(&mut out, TAG_NEW_FILE, *level);
            put_varint64(&mut out, file.number);
            put_varint64(&mut out, file.size_bytes);
            put_length_prefixed(&mut out, &file.smallest);
            put_length_prefixed(&mut out, &file.largest);
        }
        out
    }

    /// Decodes a record of a manifest.
    ///
    /// # Errors
    ///
    /// `Corrupt` if a field is cut off, no engine has such a level, or a key is not an internal key. `Unsupported` if a tag
    /// is unknown to LevelDB, because its field cannot be skipped, and for levels that only goleveldb has.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut edit = Self::default();
        let mut decoder = Decoder::new(STRUCTURE, bytes);
        while !decoder.is_empty() {
            let tag_at = decoder.clone();
            match decoder.varint32("tag")? {
                TAG_COMPARATOR => {
                    edit.comparator = Some(decoder.length_prefixed("comparator name")?.to_vec())
                }
                TAG_LOG_NUMBER => edit.log_number = Some(decoder.varint64("log number")?),
                TAG_PREVIOUS_LOG_NUMBER => {
                    edit.previous_log_number = Some(decoder.varint64("previous log number")?);
                }
                TAG_NEXT_FILE_NUMBER => edit.next_file_number = Some(decoder.varint64("next file number")?),
                TAG_LAST_SEQUENCE => edit.last_sequence = Some(read_sequence(&mut decoder)?),
                TAG_COMPACT_POINTER => {
                    let level = read_level(&mut decoder)?;
                    edit.compact_pointers.push((level, read_internal_key(&mut decoder, "compact pointer")?));
                }
                TAG_DELETED_FILE => {
                    let level = read_level(&mut decoder)?;
                    edit.deleted_files.push((level, decoder.varint64("deleted file")?));
                }
                TAG_NEW_FILE => {
                    let level = read_level(&mut decoder)?;
                    edit.new_files.push((level, read_file(&mut decoder)?));
                }
                // RocksDB has another meaning for it.
                tag @ TAG_BASHO_NEW_FILE => {
                    let problem = format!("tag {tag}: a database of RocksDB or of Basho's LevelDB fork");
                    return Err(tag_at.unsupported(problem));
                }
                tag @ TAG_BASHO_NEW_FILE_WITH_EXPIRY => {
                    return Err(tag_at.unsupported(format!("tag {tag}: a database of Basho's LevelDB fork")));
                }
                tag if TAGS_OF_ROCKSDB.contains(&tag) => {
                    return Err(tag_at.unsupported(format!("tag {tag}: a database of RocksDB or Pebble")));
                }
                tag => return Err(tag_at.unsupported(format!("tag {tag}: a future format"))),
            }
        }
        Ok(edit)
    }
}

fn put_tag_and_level(out: &mut Vec<u8>, tag: u32, level: usize) {
    debug_assert!(level < LEVEL_COUNT);
    put_varint32(out, tag);
    put_varint64(out, level as u64);
}

fn read_sequence(decoder: &mut Decoder<'_>) -> Result<SequenceNumber> {
    let at = decoder.clone();
    let sequence = decoder.varint64("last sequence")?;
    if sequence > MAX_SEQUENCE_NUMBER {
        return Err(at.corrupt(format!("last sequence {sequence} is too large")));
    }
    Ok(sequence)
}

fn read_level(decoder: &mut Decoder<'_>) -> Result<usize> {
    let at = decoder.clone();
    let level = decoder.varint32("level")? as usize;
    if (LEVEL_COUNT..MAX_FOREIGN_LEVELS).contains(&level) {
        let problem = format!("level {level}: a database of goleveldb with more than {LEVEL_COUNT} levels");
        return Err(at.unsupported(problem));
    }
    if level >= LEVEL_COUNT {
        return Err(at.corrupt(format!("level {level}; there are {LEVEL_COUNT}")));
    }
    Ok(level)
}

fn read_internal_key(decoder: &mut Decoder<'_>, field: &str) -> Result<Vec<u8>> {
    let at = decoder.clone();
    let key = decoder.length_prefixed(field)?;
    parse_internal_key(key).map_err(|error| at.corrupt(format!("{field}: {}", error.problem)))?;
    Ok(key.to_vec())
}

fn read_file(decoder: &mut Decoder<'_>) -> Result<FileEntry> {
    Ok(FileEntry {
        number: decoder.varint64("file number")?,
        size_bytes: decoder.varint64("file size")?,
        smallest: read_internal_key(decoder, "smallest key")?,
        largest: read_internal_key(decoder, "largest key")?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::FormatErrorKind;
    use crate::internal_key::{ValueKind, append_internal_key};

    fn refuse(bytes: &[u8]) -> (FormatErrorKind, String, u64) {
        let error = VersionEdit::decode(bytes).unwrap_err();
        (error.kind, error.problem, error.offset)
    }

    #[test]
    fn an_empty_edit_is_no_bytes() {
        assert_eq!(VersionEdit::default().encode(), []);
        assert_eq!(VersionEdit::decode(&[]), Ok(VersionEdit::default()));
    }

    #[test]
    fn a_fresh_databases_edit_has_leveldbs_bytes() {
        let edit = VersionEdit {
            comparator: Some("leveldb.BytewiseComparator".into()),
            log_number: Some(0),
            next_file_number: Some(2),
            last_sequence: Some(0),
            ..VersionEdit::default()
        };
        assert_eq!(edit.encode(), b"\x01\x1aleveldb.BytewiseComparator\x02\x00\x03\x02\x04\x00");
    }

    #[test]
    fn the_last_of_a_repeated_field_counts_and_overlong_varints_are_read() {
        let edit = VersionEdit::decode(&[2, 5, 0x82, 0, 0x86, 0]).unwrap();
        assert_eq!((edit.log_number, edit.encode()), (Some(6), vec![2, 6]));
    }

    #[test]
    fn unknown_tags_are_unsupported_and_bashos_are_named() {
        use FormatErrorKind::Unsupported;
        assert_eq!(refuse(&[2, 7, 8]), (Unsupported, "tag 8: a future format".into(), 2));
        assert_eq!(refuse(&[0]).0, Unsupported);
        assert_eq!(refuse(&[12, 1]).0, Unsupported);
        for (tag, writers) in [(10, "RocksDB or of Basho's"), (11, "Basho's"), (103, "RocksDB or Pebble")] {
            let (kind, problem, _) = refuse(&[tag, 1, 1]);
            assert_eq!((kind, problem.contains(writers)), (Unsupported, true), "{problem}");
        }
        assert!(refuse(&[0xc8, 1, 1]).1.contains("RocksDB"), "a column family");
        let (kind, problem, offset) = refuse(&[6, 7, 1]);
        assert_eq!((kind, offset, problem.contains("goleveldb")), (Unsupported, 1, true), "{problem}");
    }

    #[test]
    fn damage_is_named_with_its_offset() {
        use FormatErrorKind::Corrupt;
        assert_eq!(refuse(&[6, 64, 1]), (Corrupt, "level 64; there are 7".into(), 1));
        assert_eq!(refuse(&[6, 1]), (Corrupt, "deleted file is cut off".into(), 2));
        assert_eq!(refuse(&[1, 3, b'a']), (Corrupt, "comparator name is cut off".into(), 2));
        assert_eq!(
            VersionEdit::decode(&[1, 1, 0xff]).unwrap().comparator,
            Some(vec![0xff]),
            "any bytes are a name"
        );
        assert_eq!(refuse(&[0x80]), (Corrupt, "tag is cut off".into(), 0));
        assert_eq!(refuse(&[5, 0, 2, 1, 1]), (Corrupt, "compact pointer: 2 bytes are too short".into(), 2));
        let key = [8, 9, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(refuse(&[&[7, 0, 1, 1], &key[..]].concat()).1, "smallest key: unknown kind 9");
        let large = [4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(refuse(&large), (Corrupt, "last sequence 144115188075855871 is too large".into(), 1));
    }

    fn internal_key() -> impl Strategy<Value = Vec<u8>> {
        (any::<Vec<u8>>(), 0..=MAX_SEQUENCE_NUMBER).prop_map(|(user_key, sequence)| {
            let mut key = Vec::new();
            append_internal_key(&mut key, &user_key, sequence, ValueKind::Value);
            key
        })
    }

    fn file() -> impl Strategy<Value = FileEntry> {
        (any::<u64>(), any::<u64>(), internal_key(), internal_key()).prop_map(
            |(number, size_bytes, smallest, largest)| FileEntry { number, size_bytes, smallest, largest },
        )
    }

    prop_compose! {
        fn edit()(
            comparator in proptest::option::of(any::<Vec<u8>>()),
            numbers in any::<[Option<u64>; 3]>(),
            last_sequence in proptest::option::of(0..=MAX_SEQUENCE_NUMBER),
            compact_pointers in proptest::collection::vec((0..LEVEL_COUNT, internal_key()), 0..3),
            deleted_files in proptest::collection::vec((0..LEVEL_COUNT, any::<u64>()), 0..5),
            new_files in proptest::collection::vec((0..LEVEL_COUNT, file()), 0..3),
        ) -> VersionEdit {
            let [log_number, previous_log_number, next_file_number] = numbers;
            VersionEdit {
                comparator, log_number, previous_log_number, next_file_number, last_sequence, compact_pointers,
                deleted_files, new_files,
            }
        }
    }

    proptest! {
        #[test]
        fn an_edit_is_read_back_and_a_cut_one_is_a_shorter_one_or_refused(edit in edit()) {
            let bytes = edit.encode();
            prop_assert_eq!(VersionEdit::decode(&bytes), Ok(edit));
            for cut in 0..bytes.len() {
                if let Ok(shorter) = VersionEdit::decode(&bytes[..cut]) {
                    prop_assert_eq!(shorter.encode(), &bytes[..cut]);
                }
            }
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(
            bytes in any::<Vec<u8>>(), small in proptest::collection::vec(0u8..12, 0..60),
        ) {
            for bytes in [bytes, small] {
                if let Ok(edit) = VersionEdit::decode(&bytes) {
                    prop_assert_eq!(VersionEdit::decode(&edit.encode()), Ok(edit));
                }
            }
        }
    }
}
