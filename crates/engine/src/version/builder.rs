//! Base version + version edits → version. Predecessor: `set`. Successor: `checker`, then readers.
//!
//! Edits are collected first and merged with the base once. A MANIFEST of a million edits therefore costs memory only for
//! the files that exist at its end, not for all that ever existed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use terrace_format::internal_key::{KeyCompare, SequenceNumber};
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::table::TableCounts;
use terrace_format::version_edit::{FileEntry, VersionEdit};

use crate::error::{Error, ErrorKind, Result};
use crate::version::file_meta::{FileMeta, FileOrigin, ObsoleteFiles};
use crate::version::version::Version;

/// What to do with an edit that deletes a file that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFile {
    /// Ignore the deletion, as LevelDB does: for MANIFESTs written by others.
    Ignore,
    /// Fail: for edits of this engine, where it would be a bug.
    Refuse,
}

/// What the files that an edit adds have in common.
#[derive(Clone, Debug)]
pub struct NewFiles<'a> {
    /// No entry of these files is newer.
    pub newest_sequence: SequenceNumber,
    /// Where the files come from.
    pub origin: FileOrigin,
    /// What is known about their contents, by file number.
    pub counts: &'a [(u64, TableCounts)],
}

/// Collects edits on top of a base version.
#[derive(Debug)]
pub struct VersionBuilder<'a> {
    base: &'a Version,
    on_obsolete: Arc<ObsoleteFiles>,
    deleted: [HashSet<u64>; LEVEL_COUNT],
    added: [HashMap<u64, Arc<FileMeta>>; LEVEL_COUNT],
}

impl<'a> VersionBuilder<'a> {
    /// A builder without edits. The files that it makes report to `on_obsolete`.
    pub fn new(base: &'a Version, on_obsolete: Arc<ObsoleteFiles>) -> Self {
        Self { base, on_obsolete, deleted: Default::default(), added: Default::default() }
    }

    /// Adds one edit. Its deletions come before its additions, so that a file can move from level to level. Such a
    /// file keeps its [`FileMeta`], with the open table and the counts.
    ///
    /// # Errors
    /// `InvalidArgument`, with [`MissingFile::Refuse`], if the edit deletes a file that is not there. The builder is
    /// useless then.
    pub fn apply(&mut self, edit: &VersionEdit, missing: MissingFile, new: &NewFiles<'_>) -> Result<()> {
        let mut taken_out: HashMap<u64, Arc<FileMeta>> = HashMap::new();
        for &(level, number) in &edit.deleted_files {
            match self.take_out(level, number) {
                Some(file) => {
                    taken_out.insert(number, file);
                }
                None if missing == MissingFile::Refuse => {
                    let message =
                        format!("the edit removes table {number} from level {level}, which does not have it");
                    return Err(Error::new(ErrorKind::InvalidArgument, message));
                }
                None => {}
            }
        }
        for (level, entry) in &edit.new_files {
            let moved = taken_out.remove(&entry.number).filter(|file| describes(file, entry));
            let file = moved.unwrap_or_else(|| self.new_file(entry.clone(), new));
            self.added[*level].insert(entry.number, file);
        }
        Ok(())
    }

    fn take_out(&mut self, level: usize, number: u64) -> Option<Arc<FileMeta>> {
        if let Some(file) = self.added[level].remove(&number) {
            return Some(file);
        }
        if self.deleted[level].contains(&number) {
            return None;
        }
        let file = self.base.levels[level].iter().find(|file| file.number == number)?;
        self.deleted[level].insert(number);
        Some(Arc::clone(file))
    }

    fn new_file(&self, entry: FileEntry, new: &NewFiles<'_>) -> Arc<FileMeta> {
        let number = entry.number;
        let file = FileMeta::new(entry, new.newest_sequence, new.origin, Arc::clone(&self.on_obsolete));
        if let Some((_, counts)) = new.counts.iter().find(|(other, _)| *other == number) {
            file.set_counts(Some(*counts));
        }
        Arc::new(file)
    }

    /// Returns the resulting version, and the files of the base that it no longer lists.
    pub fn finish(self) -> (Version, Vec<Arc<FileMeta>>) {
        let comparator = self.base.comparator();
        let mut levels: [Vec<Arc<FileMeta>>; LEVEL_COUNT] = Default::default();
        let mut removed = Vec::new();
        for (level, (added, deleted)) in self.added.into_iter().zip(&self.deleted).enumerate() {
            let (gone, kept): (Vec<_>, Vec<_>) =
                self.base.levels[level].iter().cloned().partition(|file| deleted.contains(&file.number));
            removed.extend(gone);
            let files = &mut levels[level];
            *files = kept;
            if added.is_empty() {
                continue;
            }
            files.extend(added.into_values());
            if level == 0 {
                files.sort_by_key(|file| std::cmp::Reverse(file.number));
            } else {
                files.sort_by(|a, b| {
                    comparator.compare_keys(&a.smallest, &b.smallest).then(a.number.cmp(&b.number))
                });
            }
        }
        removed.retain(|file| !levels.iter().flatten().any(|kept| Arc::ptr_eq(kept, file)));
        (Version::new(comparator.clone(), levels), removed)
    }
}

fn describes(file: &FileMeta, entry: &FileEntry) -> bool {
    file.size_bytes == entry.size_bytes && file.smallest == entry.smallest && file.largest == entry.largest
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::version::checker;
    use crate::version::testing::{comparator, entry, version};

    fn written(counts: &[(u64, TableCounts)]) -> NewFiles<'_> {
        NewFiles { newest_sequence: 9, origin: FileOrigin::Written, counts }
    }

    fn queue() -> Arc<ObsoleteFiles> {
        Arc::new(ObsoleteFiles::new())
    }

    #[test]
    fn deletions_come_before_additions_so_a_moved_file_stays_the_same_object() {
        let base = version(&[(1, 4, "a", "c"), (1, 5, "e", "f")]);
        let moved = Arc::clone(&base.levels[1][0]);
        let edit = VersionEdit {
            deleted_files: vec![(1, 4), (1, 5)],
            new_files: vec![(2, moved.entry()), (1, entry(7, ("e", 1), ("g", 1)))],
            ..VersionEdit::default()
        };
        let counts = [(7, TableCounts { entries: 3, ..TableCounts::default() })];
        let mut builder = VersionBuilder::new(&base, queue());
        builder.apply(&edit, MissingFile::Refuse, &written(&counts)).unwrap();
        let (next, removed) = builder.finish();
        assert!(Arc::ptr_eq(&next.levels[2][0], &moved));
        assert_eq!(next.levels[1][0].counts().unwrap().entries, 3);
        assert_eq!(next.levels[1][0].newest_sequence(), 9);
        assert_eq!(removed.iter().map(|file| file.number).collect::<Vec<_>>(), [5]);
    }

    #[test]
    fn a_file_that_is_not_there_is_ignored_or_refused() {
        let base = version(&[(1, 4, "a", "c")]);
        let edit = VersionEdit { deleted_files: vec![(2, 4)], ..VersionEdit::default() };
        let mut builder = VersionBuilder::new(&base, queue());
        builder.apply(&edit, MissingFile::Ignore, &written(&[])).unwrap();
        let (next, removed) = builder.finish();
        assert_eq!((next.file_count(1), removed.len()), (1, 0));

        let mut builder = VersionBuilder::new(&base, queue());
        let error = builder.apply(&edit, MissingFile::Refuse, &written(&[])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        let twice = VersionEdit { deleted_files: vec![(1, 4), (1, 4)], ..VersionEdit::default() };
        let mut builder = VersionBuilder::new(&base, queue());
        assert!(builder.apply(&twice, MissingFile::Refuse, &written(&[])).is_err());
    }

    /// One step of a random history: slots are disjoint key ranges of a level.
    #[derive(Clone, Debug)]
    enum Step {
        Add { level: usize, slot: u8 },
        Remove { pick: usize },
        Move { pick: usize },
        Install,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..LEVEL_COUNT, 0..40u8).prop_map(|(level, slot)| Step::Add { level, slot }),
            2 => any::<usize>().prop_map(|pick| Step::Remove { pick }),
            2 => any::<usize>().prop_map(|pick| Step::Move { pick }),
            1 => Just(Step::Install),
        ]
    }

    /// Where each file is, and which slot it fills.
    type Model = BTreeMap<u64, (usize, u8)>;

    fn model_edit(model: &mut Model, next_number: &mut u64, step: &Step) -> VersionEdit {
        let mut edit = VersionEdit::default();
        let free = |model: &Model, level: usize, slot: u8| {
            level == 0 || model.values().all(|other| *other != (level, slot))
        };
        let bounds = |slot: u8| (format!("{slot:02}a"), format!("{slot:02}z"));
        let pick_file = |model: &Model, pick: usize| {
            (!model.is_empty())
                .then(|| model.iter().nth(pick % model.len()).map(|(n, at)| (*n, *at)).unwrap())
        };
        match *step {
            Step::Add { level, slot } if free(model, level, slot) => {
                let (smallest, largest) = bounds(slot);
                edit.new_files.push((level, entry(*next_number, (&smallest, 5), (&largest, 5))));
                model.insert(*next_number, (level, slot));
                *next_number += 1;
            }
            Step::Remove { pick } => {
                if let Some((number, (level, _))) = pick_file(model, pick) {
                    edit.deleted_files.push((level, number));
                    model.remove(&number);
                }
            }
            Step::Move { pick } => {
                if let Some((number, (level, slot))) = pick_file(model, pick)
                    && level + 1 < LEVEL_COUNT
                    && free(model, level + 1, slot)
                {
                    let (smallest, largest) = bounds(slot);
                    edit.deleted_files.push((level, number));
                    edit.new_files.push((level + 1, entry(number, (&smallest, 5), (&largest, 5))));
                    model.insert(number, (level + 1, slot));
                }
            }
            Step::Add { .. } | Step::Install => {}
        }
        edit
    }

    proptest! {
        #[test]
        fn any_history_of_edits_leads_to_the_model(steps in proptest::collection::vec(step(), 0..120)) {
            let queue = queue();
            let mut base = Version::empty(comparator());
            let mut at_base = Model::new();
            let mut model = Model::new();
            let mut next_number = 1;
            let mut pending: Vec<VersionEdit> = Vec::new();
            for step in steps.iter().chain([&Step::Install]) {
                if !matches!(step, Step::Install) {
                    pending.push(model_edit(&mut model, &mut next_number, step));
                    continue;
                }
                let mut builder = VersionBuilder::new(&base, Arc::clone(&queue));
                for edit in pending.drain(..) {
                    builder.apply(&edit, MissingFile::Refuse, &written(&[])).unwrap();
                }
                let (next, removed) = builder.finish();
                checker::check(&next).unwrap();
                let found: BTreeMap<u64, usize> = next
                    .levels
                    .iter()
                    .enumerate()
                    .flat_map(|(level, files)| files.iter().map(move |file| (file.number, level)))
                    .collect();
                let expected: BTreeMap<u64, usize> =
                    model.iter().map(|(number, (level, _))| (*number, *level)).collect();
                prop_assert_eq!(found, expected);
                let mut gone: Vec<u64> = removed.iter().map(|file| file.number).collect();
                gone.sort_unstable();
                let expected_gone: Vec<u64> =
                    at_base.keys().filter(|number| !model.contains_key(number)).copied().collect();
                prop_assert_eq!(gone, expected_gone);
                base = next;
                at_base = model.clone();
            }
        }
    }
}
