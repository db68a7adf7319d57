//! Base version + version edits → version. Predecessor: `set`. Successor: `checker`, then readers.
//!
//! Edits are collected first and merged with the base once. A MANIFEST of a million edits therefore costs memory only for
//! the files that exist at its end, not for all that ever existed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use terrace_format::internal_key::{KeyCompare, SequenceNumber};
use terrace_format::limits::LEVEL_COUNT;
use terrace_format::table::TableCounts;
use terrace_format::version_edit::FileEntry;

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
    new: NewFiles<'a>,
    deleted: [HashSet<u64>; LEVEL_COUNT],
    /// By number: in that order, files are often almost sorted by key.
    added: [BTreeMap<u64, Added>; LEVEL_COUNT],
}

/// A file that edits added.
#[derive(Debug)]
enum Added {
    /// Most of these are removed again by a later edit of a MANIFEST.
    New(FileEntry),
    /// A file of the base, which was moved.
    Kept(Arc<FileMeta>),
}

impl<'a> VersionBuilder<'a> {
    /// A builder without edits. The files that it makes report to `on_obsolete`; `new` holds what else is known of
    /// them.
    pub fn new(base: &'a Version, on_obsolete: Arc<ObsoleteFiles>, new: NewFiles<'a>) -> Self {
        Self { base, on_obsolete, new, deleted: Default::default(), added: Default::default() }
    }

    /// Adds one edit: the files that it deletes, by level and number, and those that it adds. Deletions come before
    /// additions, so that a file can move from level to level. Such a file keeps its [`FileMeta`], with the open table and
    /// the counts.
    ///
    /// # Errors
    /// `InvalidArgument`, with [`MissingFile::Refuse`], if the edit deletes a file that is not there. The builder is
    /// useless then.
    pub fn apply(
        &mut self,
        deleted: &[(usize, u64)],
        added: impl IntoIterator<Item = (usize, FileEntry)>,
        missing: MissingFile,
    ) -> Result<()> {
        let mut taken_out: HashMap<u64, Arc<FileMeta>> = HashMap::new();
        for &(level, number) in deleted {
            match self.take_out(level, number) {
                Some(Added::Kept(file)) => {
                    taken_out.insert(number, file);
                }
                Some(Added::New(_)) => {}
                None if missing == MissingFile::Refuse => {
                    let message =
                        format!("the edit removes table {number} from level {level}, which does not have it");
                    return Err(Error::new(ErrorKind::InvalidArgument, message));
                }
                None => {}
            }
        }
        for (level, entry) in added {
            let number = entry.number;
            let moved = taken_out.remove(&number).filter(|file| describes(file, &entry));
            self.added[level].insert(number, moved.map_or(Added::New(entry), Added::Kept));
        }
        Ok(())
    }

    fn take_out(&mut self, level: usize, number: u64) -> Option<Added> {
        if let Some(file) = self.added[level].remove(&number) {
            return Some(file);
        }
        if self.deleted[level].contains(&number) {
            return None;
        }
        let file = self.base.levels[level].iter().find(|file| file.number == number)?;
        self.deleted[level].insert(number);
        Some(Added::Kept(Arc::clone(file)))
    }

    /// Returns the resulting version, and the files of the base that it no longer lists.
    pub fn finish(self) -> (Version, Vec<Arc<FileMeta>>) {
        let Self { base, on_obsolete, new, deleted, added } = self;
        let comparator = base.comparator();
        let mut levels: [Vec<Arc<FileMeta>>; LEVEL_COUNT] = Default::default();
        let mut removed = Vec::new();
        for (level, (added, deleted)) in added.into_iter().zip(&deleted).enumerate() {
            let (gone, kept): (Vec<_>, Vec<_>) =
                base.levels[level].iter().cloned().partition(|file| deleted.contains(&file.number));
            removed.extend(gone);
            let files = &mut levels[level];
            *files = kept;
            if added.is_empty() {
                continue;
            }
            files.extend(added.into_values().map(|file| match file {
                Added::New(entry) => Arc::new(new_file(entry, &new, &on_obsolete)),
                Added::Kept(file) => file,
            }));
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

fn new_file(entry: FileEntry, new: &NewFiles<'_>, on_obsolete: &Arc<ObsoleteFiles>) -> FileMeta {
    let number = entry.number;
    let file = FileMeta::new(entry, new.newest_sequence, new.origin, Arc::clone(on_obsolete));
    if let Some((_, counts)) = new.counts.iter().find(|(other, _)| *other == number) {
        file.set_counts(Some(*counts));
    }
    file
}

fn describes(file: &FileMeta, entry: &FileEntry) -> bool {
    file.size_bytes == entry.size_bytes && file.smallest == entry.smallest && file.largest == entry.largest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use terrace_format::version_edit::VersionEdit;

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
        let mut builder = VersionBuilder::new(&base, queue(), written(&counts));
        builder.apply(&edit.deleted_files, edit.new_files, MissingFile::Refuse).unwrap();
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
        let mut builder = VersionBuilder::new(&base, queue(), written(&[]));
        builder.apply(&edit.deleted_files, [], MissingFile::Ignore).unwrap();
        let (next, removed) = builder.finish();
        assert_eq!((next.file_count(1), removed.len()), (1, 0));

        let mut builder = VersionBuilder::new(&base, queue(), written(&[]));
        let error = builder.apply(&edit.deleted_files, [], MissingFile::Refuse).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument);
        let mut builder = VersionBuilder::new(&base, queue(), written(&[]));
        assert!(builder.apply(&[(1, 4), (1, 4)], [], MissingFile::Refuse).is_err());
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
                let mut builder = VersionBuilder::new(&base, Arc::clone(&queue), written(&[]));
                for edit in pending.drain(..) {
                    builder.apply(&edit.deleted_files, edit.new_files, MissingFile::Refuse).unwrap();
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
