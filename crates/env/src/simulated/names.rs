//! Names of the simulated file system: as the running system sees them, as the disk has them, and the changes that
//! wait between the two.
//!
//! What a power cut leaves:
//!
//! * [`Mode::StrictPosix`]: any subset of the waiting changes. Each change (including a rename) happens completely or
//!   not at all. Changes of one name take effect in their order, because a later one overwrites an earlier one.
//! * [`Mode::Ext4Ordered`]: the changes are in a journal in the order in which they were made, and some prefix of it
//!   reached the disk.
//!
//! Syncing a directory makes every change of a name in it durable; in the journal also everything before the last of
//! them. A rename between two directories: syncing the directory of the new name makes that name durable; syncing
//! that of the old name makes the whole rename durable.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use super::Mode;
use super::contents::Contents;
use super::random::{Fate, Random};

/// A file: what its names and handles share.
pub(super) type File = Arc<Mutex<Contents>>;

#[derive(Debug, Clone)]
enum Node {
    File(File),
    Directory,
}

/// Names by their path from the root; the root itself is the empty path.
type Nodes = BTreeMap<PathBuf, Node>;

#[derive(Debug, Clone)]
enum Change {
    Add { path: PathBuf, node: Node },
    Remove { path: PathBuf },
    Rename { from: PathBuf, to: PathBuf, file: File },
}

impl Change {
    fn is_in(&self, directory: &Path) -> bool {
        match self {
            Self::Add { path, .. } | Self::Remove { path } => path.parent() == Some(directory),
            Self::Rename { from, to, .. } => {
                from.parent() == Some(directory) || to.parent() == Some(directory)
            }
        }
    }

    fn is_of(&self, wanted: &File) -> bool {
        match self {
            Self::Add { node: Node::File(file), .. } | Self::Rename { file, .. } => Arc::ptr_eq(file, wanted),
            Self::Add { node: Node::Directory, .. } | Self::Remove { .. } => false,
        }
    }

    fn apply(&self, nodes: &mut Nodes) {
        match self {
            Self::Add { path, node } => {
                nodes.insert(path.clone(), node.clone());
            }
            Self::Remove { path } => {
                // A directory that is gone takes with it what the disk still had inside.
                nodes.retain(|other, _| !other.starts_with(path));
            }
            Self::Rename { from, to, file } => {
                nodes.remove(from);
                nodes.insert(to.clone(), Node::File(Arc::clone(file)));
            }
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Add { path, node: Node::File(_) } => format!("add {}", path.display()),
            Self::Add { path, node: Node::Directory } => format!("make directory {}", path.display()),
            Self::Remove { path } => format!("remove {}", path.display()),
            Self::Rename { from, to, .. } => format!("rename {} to {}", from.display(), to.display()),
        }
    }
}

/// Descriptions of the changes of names that a power cut kept and lost.
#[derive(Debug, Default)]
pub(super) struct NameFates {
    pub(super) kept: Vec<String>,
    pub(super) lost: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Names {
    current: Nodes,
    durable: Nodes,
    waiting: Vec<Change>,
}

impl Names {
    pub(super) fn new() -> Self {
        let root = Nodes::from([(PathBuf::new(), Node::Directory)]);
        Self { current: root.clone(), durable: root, waiting: Vec::new() }
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.current);
        self.waiting.push(change);
    }

    pub(super) fn file(&self, path: &Path) -> io::Result<File> {
        match self.current.get(path) {
            Some(Node::File(file)) => Ok(Arc::clone(file)),
            Some(Node::Directory) => Err(ErrorKind::IsADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn check_directory(&self, path: &Path) -> io::Result<()> {
        match self.current.get(path) {
            Some(Node::Directory) => Ok(()),
            Some(Node::File(_)) => Err(ErrorKind::NotADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    /// Checks that a name can be added at `path`.
    fn check_free(&self, path: &Path) -> io::Result<()> {
        match path.parent() {
            Some(_) if self.current.contains_key(path) => Err(ErrorKind::AlreadyExists.into()),
            Some(directory) => self.check_directory(directory),
            None => Err(ErrorKind::AlreadyExists.into()),
        }
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        self.current.contains_key(path)
    }

    /// The file at `path`, created if missing.
    pub(super) fn create(&mut self, path: &Path) -> io::Result<File> {
        match self.file(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.check_free(path)?;
                let file = File::default();
                self.change(Change::Add { path: path.to_owned(), node: Node::File(Arc::clone(&file)) });
                Ok(file)
            }
            result => result,
        }
    }

    pub(super) fn create_directory(&mut self, path: &Path) -> io::Result<()> {
        self.check_free(path)?;
        self.change(Change::Add { path: path.to_owned(), node: Node::Directory });
        Ok(())
    }

    pub(super) fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let file = self.file(from)?;
        self.check_free(to)?;
        self.change(Change::Add { path: to.to_owned(), node: Node::File(file) });
        Ok(())
    }

    pub(super) fn rename_to_new(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let file = self.file(from)?;
        self.check_free(to)?;
        self.change(Change::Rename { from: from.to_owned(), to: to.to_owned(), file });
        Ok(())
    }

    /// Renames; replaces a file that has the new name.
    pub(super) fn rename_over(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let file = self.file(from)?;
        match self.file(to) {
            Err(error) if error.kind() == ErrorKind::NotFound => self.check_free(to)?,
            result => drop(result?),
        }
        self.change(Change::Rename { from: from.to_owned(), to: to.to_owned(), file });
        Ok(())
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.file(path)?;
        self.change(Change::Remove { path: path.to_owned() });
        Ok(())
    }

    pub(super) fn remove_directory(&mut self, path: &Path) -> io::Result<()> {
        self.check_directory(path)?;
        if path.as_os_str().is_empty() {
            return Err(ErrorKind::InvalidInput.into());
        }
        if self.inside(path).next().is_some() {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        self.change(Change::Remove { path: path.to_owned() });
        Ok(())
    }

    /// Everything inside the directory, at any depth.
    fn inside<'a>(&'a self, directory: &'a Path) -> impl Iterator<Item = &'a PathBuf> {
        let after = (Bound::Excluded(directory), Bound::Unbounded);
        // Paths are ordered by their components, so the contents of a directory follow it.
        let following = self.current.range::<Path, _>(after).map(|(path, _)| path);
        following.take_while(move |path| path.starts_with(directory))
    }

    pub(super) fn list(&self, directory: &Path) -> io::Result<Vec<String>> {
        self.check_directory(directory)?;
        let direct = self.inside(directory).filter(|path| path.parent() == Some(directory));
        Ok(direct.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    /// Every file that has a name, once, with its first name.
    pub(super) fn files(&self) -> Vec<(PathBuf, File)> {
        files_of(&self.current)
    }

    pub(super) fn sync_directory(&mut self, mode: Mode, directory: &Path) -> io::Result<()> {
        self.check_directory(directory)?;
        match mode {
            Mode::Ext4Ordered => self.commit_journal(|change| change.is_in(directory)),
            Mode::StrictPosix => {
                let waiting = std::mem::take(&mut self.waiting);
                for change in waiting {
                    match change {
                        // Only the new name is in this directory. The removal of the old one still waits.
                        Change::Rename { from, to, file } if from.parent() != Some(directory) => {
                            if to.parent() == Some(directory) {
                                self.durable.insert(to, Node::File(file));
                                self.waiting.push(Change::Remove { path: from });
                            } else {
                                self.waiting.push(Change::Rename { from, to, file });
                            }
                        }
                        change if change.is_in(directory) => change.apply(&mut self.durable),
                        change => self.waiting.push(change),
                    }
                }
            }
        }
        Ok(())
    }

    /// What the sync of a file does to its names.
    pub(super) fn sync_file(&mut self, mode: Mode, file: &File) {
        if mode == Mode::Ext4Ordered {
            self.commit_journal(|change| change.is_of(file));
        }
    }

    /// Makes all changes up to the last `wanted` one durable.
    fn commit_journal(&mut self, wanted: impl Fn(&Change) -> bool) {
        if let Some(last) = self.waiting.iter().rposition(wanted) {
            for change in self.waiting.drain(..=last) {
                change.apply(&mut self.durable);
            }
        }
    }

    /// Leaves what the disk has after a power cut. Names then lead to the files that `survivor` returns.
    pub(super) fn cut_power(
        &mut self,
        mode: Mode,
        random: &mut Random,
        mut survivor: impl FnMut(&Path, &File, &mut Random) -> File,
    ) -> NameFates {
        let mut fates = NameFates::default();
        let waiting = std::mem::take(&mut self.waiting);
        let fate = match (Fate::draw(random), mode) {
            (Fate::Mixed(_), Mode::Ext4Ordered) => Fate::Prefix,
            (fate, _) => fate,
        };
        let prefix = random.below(waiting.len() + 1);
        for (index, change) in waiting.iter().enumerate() {
            let kept = match fate {
                Fate::None => false,
                Fate::All => true,
                Fate::Prefix => index < prefix,
                Fate::Mixed(quarters) => random.chance(quarters, 4),
            };
            if kept {
                change.apply(&mut self.durable);
                fates.kept.push(change.describe());
            } else {
                fates.lost.push(change.describe());
            }
        }
        remove_unreachable(&mut self.durable);
        let mut renewed: Vec<(File, File)> = Vec::new();
        for (path, file) in files_of(&self.durable) {
            let survivor = survivor(&path, &file, random);
            renewed.push((file, survivor));
        }
        for node in self.durable.values_mut() {
            if let Node::File(file) = node
                && let Some((_, survivor)) = renewed.iter().find(|(old, _)| Arc::ptr_eq(old, file))
            {
                *file = Arc::clone(survivor);
            }
        }
        self.current = self.durable.clone();
        fates
    }
}

/// Removes entries in directories that the disk does not have.
fn remove_unreachable(nodes: &mut Nodes) {
    let mut directories = BTreeSet::from([PathBuf::new()]);
    // Paths are ordered by their components, so a directory comes before its contents.
    nodes.retain(|path, node| {
        let is_reachable = path.parent().is_none_or(|directory| directories.contains(directory));
        if is_reachable && matches!(node, Node::Directory) {
            directories.insert(path.clone());
        }
        is_reachable
    });
}

fn files_of(nodes: &Nodes) -> Vec<(PathBuf, File)> {
    let mut files: Vec<(PathBuf, File)> = Vec::new();
    for (path, node) in nodes {
        if let Node::File(file) = node
            && !files.iter().any(|(_, other)| Arc::ptr_eq(other, file))
        {
            files.push((path.clone(), Arc::clone(file)));
        }
    }
    files
}

#[cfg(test)]
mod tests;
