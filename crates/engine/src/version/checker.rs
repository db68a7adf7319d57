//! The invariants that a single version can show. Predecessor: `builder`. They are checked for every version recovered from a
//! MANIFEST, and, in debug builds, after each edit.
//!
//! 1. Each key is a well-formed internal key, and a file's smallest is not after its largest.
//! 2. No file number is listed twice.
//! 3. Level 0 is ordered by file number, newest first: that order is the order of recency.
//! 4. The files of a deeper level are ordered by key and do not overlap.
//! 5. No user key is in two neighbouring files of a level if this session wrote one of the two. Files found at open may
//!    share one, because LevelDB splits keys.
//!
//! A single version cannot show that no older entry lies above a newer one, or that no tombstone was dropped too early. The
//! picker, and the tests that run it against a model, see to that.

use std::collections::HashSet;

use terrace_format::internal_key::{KeyCompare, parse_internal_key};

use crate::error::{Error, ErrorKind, Result};
use crate::version::file_meta::{FileMeta, FileOrigin};
use crate::version::version::Version;

/// Fails with kind `Corruption`, naming the table and the rule, if `version` breaks an invariant.
pub fn check(version: &Version) -> Result<()> {
    let comparator = version.comparator();
    let mut numbers = HashSet::new();
    for (level, files) in version.levels.iter().enumerate() {
        for file in files {
            if parse_internal_key(&file.smallest).is_err() || parse_internal_key(&file.largest).is_err() {
                return Err(broken(level, file, "has a bound that is not an internal key"));
            }
            if comparator.compare_keys(&file.smallest, &file.largest).is_gt() {
                return Err(broken(level, file, "has a first key after its last"));
            }
            if !numbers.insert(file.number) {
                return Err(broken(level, file, "is listed twice"));
            }
        }
        for (file, next) in files.iter().zip(files.iter().skip(1)) {
            if level == 0 {
                if file.number < next.number {
                    return Err(broken(level, next, "comes after an older table"));
                }
                continue;
            }
            if comparator.compare_keys(&file.largest, &next.smallest).is_ge() {
                return Err(broken(level, next, &format!("overlaps table {}", file.number)));
            }
            let split = comparator.user().compare(file.largest_user_key(), next.smallest_user_key()).is_eq();
            if split && [file, next].iter().any(|file| file.origin() == FileOrigin::Written) {
                return Err(broken(level, next, &format!("shares a user key with table {}", file.number)));
            }
        }
    }
    Ok(())
}

fn broken(level: usize, file: &FileMeta, problem: &str) -> Error {
    Error::new(ErrorKind::Corruption, format!("table {} of level {level} {problem}", file.number))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use terrace_format::limits::LEVEL_COUNT;

    use super::*;
    use crate::version::file_meta::ObsoleteFiles;
    use crate::version::testing::{comparator, entry, file, file_with_keys, version};

    fn level_of(level: usize, files: Vec<FileMeta>) -> Version {
        let mut levels: [Vec<Arc<FileMeta>>; LEVEL_COUNT] = Default::default();
        levels[level] = files.into_iter().map(Arc::new).collect();
        Version::new(comparator(), levels)
    }

    fn problem(version: &Version) -> String {
        let error = check(version).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        error.to_string()
    }

    #[test]
    fn a_sound_version_passes() {
        check(&version(&[(0, 9, "a", "z"), (0, 8, "a", "z"), (1, 3, "a", "c"), (1, 4, "d", "d")])).unwrap();
        check(&Version::empty(comparator())).unwrap();
    }

    #[test]
    fn each_broken_rule_is_named() {
        let mut cut = file(1, "a", "b");
        cut.largest.truncate(3);
        assert_eq!(
            problem(&level_of(2, vec![cut])),
            "table 1 of level 2 has a bound that is not an internal key"
        );
        let reversed = level_of(1, vec![file(1, "b", "a")]);
        assert_eq!(problem(&reversed), "table 1 of level 1 has a first key after its last");
        let older_key_first = level_of(1, vec![file_with_keys(1, ("a", 1), ("a", 2))]);
        assert_eq!(problem(&older_key_first), "table 1 of level 1 has a first key after its last");
        let twice = version(&[(1, 1, "a", "b"), (2, 1, "a", "b")]);
        assert_eq!(problem(&twice), "table 1 of level 2 is listed twice");
        let unordered = level_of(0, vec![file(1, "a", "b"), file(2, "c", "d")]);
        assert_eq!(problem(&unordered), "table 2 of level 0 comes after an older table");
        let overlap = version(&[(3, 1, "a", "d"), (3, 2, "c", "e")]);
        assert_eq!(problem(&overlap), "table 2 of level 3 overlaps table 1");
    }

    #[test]
    fn only_recovered_files_may_share_a_user_key() {
        let split = |origins: [FileOrigin; 2]| {
            let queue = Arc::new(ObsoleteFiles::new());
            let left = FileMeta::new(entry(1, ("a", 9), ("k", 7)), 9, origins[0], queue.clone());
            let right = FileMeta::new(entry(2, ("k", 5), ("p", 3)), 9, origins[1], queue);
            check(&level_of(1, vec![left, right]))
        };
        split([FileOrigin::Recovered, FileOrigin::Recovered]).unwrap();
        assert!(split([FileOrigin::Written, FileOrigin::Recovered]).is_err());
        assert!(split([FileOrigin::Recovered, FileOrigin::Written]).is_err());
    }
}
