//! Helpers with which the tests of versions and of the picker build files.

use std::collections::HashSet;
use std::sync::Arc;

use terrace_format::comparator::UserComparator;
use terrace_format::internal_key::{InternalKeyComparator, ValueKind, append_internal_key};
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::version_edit::FileEntry;

use crate::version::file_meta::{FileMeta, FileOrigin, ObsoleteFiles};
use crate::version::version::Version;

/// The bytewise comparator.
pub(crate) fn comparator() -> InternalKeyComparator {
    InternalKeyComparator::new(UserComparator::Bytewise)
}

/// An internal key of a value.
pub(crate) fn internal_key(user_key: &str, sequence: u64) -> Vec<u8> {
    let mut key = Vec::new();
    append_internal_key(&mut key, user_key.as_bytes(), sequence, ValueKind::Value);
    key
}

/// An edit's entry for a file of 100 bytes.
pub(crate) fn entry(number: u64, smallest: (&str, u64), largest: (&str, u64)) -> FileEntry {
    FileEntry {
        number,
        size_bytes: 100,
        smallest: internal_key(smallest.0, smallest.1),
        largest: internal_key(largest.0, largest.1),
    }
}

/// A file written by this session, with these first and last keys and sequences.
pub(crate) fn file_with_keys(number: u64, smallest: (&str, u64), largest: (&str, u64)) -> FileMeta {
    let queue = Arc::new(ObsoleteFiles::new());
    FileMeta::new(entry(number, smallest, largest), 1, FileOrigin::Written, queue)
}

/// A file written by this session, whose keys have sequence 1.
pub(crate) fn file(number: u64, smallest: &str, largest: &str) -> FileMeta {
    file_with_keys(number, (smallest, 1), (largest, 1))
}

/// A version of files given as level, number, smallest and largest user key.
pub(crate) fn version(files: &[(usize, u64, &str, &str)]) -> Version {
    let mut levels: [Vec<Arc<FileMeta>>; LEVEL_COUNT] = Default::default();
    for (level, number, smallest, largest) in files {
        levels[*level].push(Arc::new(file(*number, smallest, largest)));
    }
    levels[0].sort_by_key(|file| std::cmp::Reverse(file.number));
    for files in &mut levels[1..] {
        files.sort_by(|a, b| a.smallest.cmp(&b.smallest));
    }
    Version::new(comparator(), levels)
}

impl Version {
    /// The numbers of all files.
    pub(crate) fn live_files(&self) -> HashSet<u64> {
        self.files().map(|file| file.number).collect()
    }

    /// The number of files in `level`.
    pub(crate) fn file_count(&self, level: usize) -> usize {
        self.levels[level].len()
    }

    /// The sum of the sizes of the files of `level`.
    pub(crate) fn level_size_bytes(&self, level: usize) -> u64 {
        self.levels[level].iter().map(|file| file.size_bytes).sum()
    }
}
