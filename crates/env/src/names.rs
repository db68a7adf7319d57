//! Names and directories of a file system whose names are in memory: [`MemoryEnv`](crate::MemoryEnv)'s, and that of a pool of handles.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};

#[derive(Debug, Clone)]
enum Node<File> {
    File(File),
    Directory,
}

/// Every name of the file system, by its path from the root. The root itself is the empty path; it always exists.
#[derive(Debug, Clone)]
pub(crate) struct Names<File> {
    nodes: BTreeMap<PathBuf, Node<File>>,
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

impl<File: Clone> Names<File> {
    pub(crate) fn new() -> Self {
        Self { nodes: BTreeMap::from([(PathBuf::new(), Node::Directory)]) }
    }

    /// The file at `path`.
    pub(crate) fn file(&self, path: &Path) -> io::Result<File> {
        self.file_at(&normal(path))
    }

    /// The file at `path`; if there is none, the one that `make` returns gets this name.
    pub(crate) fn create(
        &mut self,
        path: &Path,
        make: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<File> {
        let path = normal(path);
        match self.file_at(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.check_free(&path)?;
                let file = make()?;
                self.nodes.insert(path, Node::File(file.clone()));
                Ok(file)
            }
            result => result,
        }
    }

    /// Gives the name `path` to the file that `make` returns, in place of the file that has it, if any. The file at `temporary`, if any,
    /// loses its name.
    pub(crate) fn replace(
        &mut self,
        path: &Path,
        temporary: &Path,
        make: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<()> {
        let (path, temporary) = (normal(path), normal(temporary));
        self.check_may_be_file(&temporary)?;
        self.check_may_be_file(&path)?;
        let file = make()?;
        self.nodes.remove(&temporary);
        self.nodes.insert(path, Node::File(file));
        Ok(())
    }

    pub(crate) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.link(from, to)?;
        self.nodes.remove(&normal(from));
        Ok(())
    }

    /// Gives a file a second name.
    pub(crate) fn link(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let to = normal(to);
        let file = self.file(from)?;
        self.check_free(&to)?;
        self.nodes.insert(to, Node::File(file));
        Ok(())
    }

    pub(crate) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        self.file_at(&path)?;
        self.nodes.remove(&path);
        Ok(())
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.nodes.contains_key(&normal(path))
    }

    /// Names directly inside a directory.
    pub(crate) fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let path = normal(path);
        self.directory_at(&path)?;
        let direct = self.inside(&path).filter(|inner| inner.parent() == Some(&path));
        Ok(direct.filter_map(|inner| Some(inner.file_name()?.to_str()?.to_owned())).collect())
    }

    pub(crate) fn check_directory(&self, path: &Path) -> io::Result<()> {
        self.directory_at(&normal(path))
    }

    pub(crate) fn create_directory_all(&mut self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        let directories: Vec<&Path> = path.ancestors().collect();
        for above in directories.into_iter().rev() {
            match self.directory_at(above) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.nodes.insert(above.to_owned(), Node::Directory);
                }
                result => result?,
            }
        }
        Ok(())
    }

    pub(crate) fn remove_directory(&mut self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        self.directory_at(&path)?;
        if path.as_os_str().is_empty() {
            return Err(ErrorKind::InvalidInput.into());
        }
        if self.inside(&path).next().is_some() {
            return Err(ErrorKind::DirectoryNotEmpty.into());
        }
        self.nodes.remove(&path);
        Ok(())
    }

    /// Removes the directory at `path` and everything inside. Does nothing if there is none.
    pub(crate) fn remove_all(&mut self, path: &Path) {
        let path = normal(path);
        self.nodes.retain(|name, _| name.as_os_str().is_empty() || !name.starts_with(&path));
    }

    /// Puts what is inside the directory at `path` in the root, in place of everything else.
    pub(crate) fn make_root(&mut self, path: &Path) -> io::Result<()> {
        let path = normal(path);
        self.directory_at(&path)?;
        let inside = self.inside(&path).cloned().collect::<Vec<_>>();
        let mut root = Self::new();
        for name in inside {
            let below = name.strip_prefix(&path).map_err(|_| ErrorKind::InvalidInput)?.to_owned();
            if let Some(node) = self.nodes.remove(&name) {
                root.nodes.insert(below, node);
            }
        }
        *self = root;
        Ok(())
    }

    /// Every name but the root, each directory before what is inside it. `None` stands for a directory.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Path, Option<&File>)> {
        self.nodes.iter().skip(1).map(|(path, node)| match node {
            Node::File(file) => (path.as_path(), Some(file)),
            Node::Directory => (path.as_path(), None),
        })
    }

    fn file_at(&self, path: &Path) -> io::Result<File> {
        match self.nodes.get(path) {
            Some(Node::File(file)) => Ok(file.clone()),
            Some(Node::Directory) => Err(ErrorKind::IsADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    fn directory_at(&self, path: &Path) -> io::Result<()> {
        match self.nodes.get(path) {
            Some(Node::Directory) => Ok(()),
            Some(Node::File(_)) => Err(ErrorKind::NotADirectory.into()),
            None => Err(ErrorKind::NotFound.into()),
        }
    }

    /// Checks that a name can be added at `path`: the directory exists and the name does not.
    fn check_free(&self, path: &Path) -> io::Result<()> {
        match path.parent() {
            Some(_) if self.nodes.contains_key(path) => Err(ErrorKind::AlreadyExists.into()),
            Some(parent) => self.directory_at(parent),
            None => Err(ErrorKind::AlreadyExists.into()),
        }
    }

    /// Checks that there is a file at `path`, or can be.
    fn check_may_be_file(&self, path: &Path) -> io::Result<()> {
        match self.file_at(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => self.check_free(path),
            result => result.map(drop),
        }
    }

    /// Everything inside the directory at `path`, at any depth.
    fn inside<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = &'a PathBuf> {
        let after = (Bound::Excluded(path), Bound::Unbounded);
        // Paths are ordered by their components, so the contents of a directory follow it.
        self.nodes
            .range::<Path, _>(after)
            .map(|(inner, _)| inner)
            .take_while(move |inner| inner.starts_with(path))
    }
}

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
        let mut names = Names::<()>::new();
        for path in ["a", "a/x", "ab", "a-", "a/x/y"] {
            names.create_directory_all(Path::new(path)).unwrap();
        }
        assert_eq!(names.list(Path::new("a")).unwrap(), ["x"]);
        let mut root = names.list(Path::new("/")).unwrap();
        root.sort();
        assert_eq!(root, ["a", "a-", "ab"]);
    }

    #[test]
    fn what_is_inside_a_directory_becomes_the_root() {
        let mut names = Names::new();
        for path in ["a", "a/x", "ab", "a/x/y"] {
            names.create_directory_all(Path::new(path)).unwrap();
        }
        for (path, file) in [("a/x/1", 1), ("a/2", 2), ("ab/3", 3), ("4", 4)] {
            names.create(Path::new(path), || Ok(file)).unwrap();
        }
        names.make_root(Path::new("/a")).unwrap();
        let all: Vec<_> = names.all().map(|(path, file)| (path.to_owned(), file.copied())).collect();
        let expected = [("2", Some(2)), ("x", None), ("x/1", Some(1)), ("x/y", None)];
        assert_eq!(all, expected.map(|(path, file)| (path.into(), file)));
        assert_eq!(names.make_root(Path::new("2")).unwrap_err().kind(), ErrorKind::NotADirectory);
        names.remove_all(Path::new("x"));
        names.remove_all(Path::new("missing"));
        assert_eq!(names.list(Path::new("/")).unwrap(), ["2"]);
        names.remove_all(Path::new("/"));
        assert_eq!(names.list(Path::new("/")).unwrap(), [""; 0]);
    }

    #[test]
    fn the_root_stays() {
        let mut names = Names::new();
        assert_eq!(names.remove_directory(Path::new("/")).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(names.create(Path::new("/"), || Ok(())).unwrap_err().kind(), ErrorKind::IsADirectory);
        assert!(names.exists(Path::new("/")));
    }
}
