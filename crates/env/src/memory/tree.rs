//! Names, directories and locks of the file system in memory.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::file::{Body, Contents};

#[derive(Debug, Clone)]
enum Node {
    File(Arc<Contents>),
    Directory,
}

/// Every name of the file system, by its path from the root (the root itself is the empty path).
type Nodes = BTreeMap<PathBuf, Node>;

#[derive(Debug)]
pub(super) struct Tree {
    nodes: Mutex<Nodes>,
    /// Files that are locked. A lock belongs to the file, whatever its name.
    locked: Mutex<Vec<Arc<Contents>>>,
}

/// The path from the root, without `.` and `..`.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    normal
}

fn file(nodes: &Nodes, path: &Path) -> io::Result<Arc<Contents>> {
    match nodes.get(path) {
        Some(Node::File(contents)) => Ok(Arc::clone(contents)),
        Some(Node::Directory) => Err(ErrorKind::IsADirectory.into()),
        None => Err(ErrorKind::NotFound.into()),
    }
}

fn directory(nodes: &Nodes, path: &Path) -> io::Result<()> {
    match nodes.get(path) {
        Some(Node::Directory) => Ok(()),
        Some(Node::File(_)) => Err(ErrorKind::NotADirectory.into()),
        None => Err(ErrorKind::NotFound.into()),
    }
}

/// Checks that a name can be added at `path`: the directory exists and the name does not.
fn check_free(nodes: &Nodes, path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(_) if nodes.contains_key(path) => Err(ErrorKind::AlreadyExists.into()),
        Some(parent) => directory(nodes, parent),
        None => Err(ErrorKind::AlreadyExists.into()),
    }
}

/// Everything inside the directory at `path`, at any depth.
fn inside<'a>(nodes: &'a Nodes, path: &'a Path) -> impl Iterator<Item = &'a PathBuf> {
    let after = (Bound::Excluded(path), Bound::Unbounded);
    // Paths are ordered by their components, so the contents of a directory follow it.
    nodes.range::<Path, _>(after).map(|(inner, _)| inner).take_while(move |inner| inner.starts_with(path))
}

/// The file at `path`, created if missing.
fn create(nodes: &mut Nodes, path: PathBuf) -> io::Result<Arc<Contents>> {
    match file(nodes, &path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            check_free(nodes, &path)?;
            let contents = Arc::new(RwLock::new(Body::default()));
            nodes.insert(path, Node::File(Arc::clone(&contents)));
            Ok(contents)
        }
        result => result,
    }
}

impl Tree {
    pub(super) fn new() -> Self {
        let root = Nodes::from([(PathBuf::new(), Node::Directory)]);
        Self { nodes: Mutex::new(root), locked: Mutex::new(Vec::new()) }
    }

    pub(super) fn open(&self, path: &Path) -> io::Result<Arc<Contents>> {
        file(&self.nodes.lock(), &normal(path))
    }

    pub(super) fn create(&self, path: &Path) -> io::Result<Arc<Contents>> {
        create(&mut self.nodes.lock(), normal(path))
    }

    pub(super) fn replace(&self, path: &Path, contents: &[u8], temporary: &Path) -> io::Result<()> {
        let (path, temporary) = (normal(path), normal(temporary));
        let mut nodes = self.nodes.lock();
        create(&mut nodes, temporary.clone())?;
        nodes.remove(&temporary);
        create(&mut nodes, path.clone())?;
        // A new file, so that handles of the old one keep what they have.
        nodes.insert(path, Node::File(Arc::new(RwLock::new(Body::Growing(contents.to_vec())))));
        Ok(())
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (from, to) = (normal(from), normal(to));
        let mut nodes = self.nodes.lock();
        let contents = file(&nodes, &from)?;
        check_free(&nodes, &to)?;
        nodes.remove(&from);
        nodes.insert(to, Node::File(contents));
        Ok(())
    }

    pub(super) fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let to = normal(to);
        let mut nodes = self.nodes.lock();
        let contents = file(&nodes, &normal(from))?;
        check_free(&nodes, &to)?;
        nodes.insert(to, Node::File(contents));
        Ok(())
    }

    pub(super) fn remove_file(&self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        let mut nodes = self.nodes.lock();
        file(&nodes, &path)?;
        nodes.remove(&path);
        Ok(())
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        self.nodes.lock().contains_key(&normal(path))
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let path = normal(path);
        let nodes = self.nodes.lock();
        directory(&nodes, &path)?;
        let direct = inside(&nodes, &path).filter(|inner| inner.parent() == Some(&path));
        Ok(direct.filter_map(|inner| Some(inner.file_name()?.to_str()?.to_owned())).collect())
    }

    pub(super) fn check_directory(&self, path: &Path) -> io::Result<()> {
        directory(&self.nodes.lock(), &normal(path))
    }

    pub(super) fn create_directory_all(&self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        let mut nodes = self.nodes.lock();
        let directories: Vec<&Path> = path.ancestors().collect();
        for above in directories.into_iter().rev() {
            match directory(&nodes, above) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    nodes.insert(above.to_owned(), Node::Directory);
                }
                result => result?,
            }
        }
        Ok(())
    }

    pub(super) fn remove_directory(&self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        let mut nodes = self.nodes.lock();
        directory(&nodes, &path)?;
        if path.as_os_str().is_empty() {
            return Err(ErrorKind::InvalidInput.into());
        }
        if inside(&nodes, &path).next().is_some() {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        nodes.remove(&path);
        Ok(())
    }
}

/// A lock on one file of a tree, held until it is dropped.
#[derive(Debug)]
pub(super) struct MemoryLock {
    tree: Arc<Tree>,
    contents: Arc<Contents>,
}

impl MemoryLock {
    /// `None` if the file is locked.
    pub(super) fn acquire(tree: &Arc<Tree>, contents: Arc<Contents>) -> Option<Self> {
        let mut locked = tree.locked.lock();
        if locked.iter().any(|other| Arc::ptr_eq(other, &contents)) {
            return None;
        }
        locked.push(Arc::clone(&contents));
        drop(locked);
        Some(Self { tree: Arc::clone(tree), contents })
    }
}

impl Drop for MemoryLock {
    fn drop(&mut self) {
        self.tree.locked.lock().retain(|other| !Arc::ptr_eq(other, &self.contents));
    }
}

impl crate::FileLock for MemoryLock {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normal() {
        for (given, expected) in
            [("/a/b", "a/b"), ("a/./b/", "a/b"), ("/a/../../b", "b"), ("/", ""), (".", "")]
        {
            assert_eq!(normal(Path::new(given)), Path::new(expected), "{given}");
        }
    }

    #[test]
    fn a_sibling_with_a_longer_name_is_not_inside() {
        let tree = Tree::new();
        for path in ["a", "a/x", "ab", "a-", "a/x/y"] {
            tree.create_directory_all(Path::new(path)).unwrap();
        }
        assert_eq!(tree.list(Path::new("a")).unwrap(), ["x"]);
        let mut root = tree.list(Path::new("/")).unwrap();
        root.sort();
        assert_eq!(root, ["a", "a-", "ab"]);
    }

    #[test]
    fn the_root_stays() {
        let tree = Tree::new();
        assert_eq!(tree.remove_directory(Path::new("/")).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(tree.create(Path::new("/")).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert!(tree.exists(Path::new("/")));
    }
}
