//! Databases that are open in this process: one object for each opening by JavaScript.
//!
//! With `multithreading`, all objects of one directory share one engine, whichever thread opened them; closing the
//! last one closes the engine.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs;
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Weak};
use std::thread::{self, JoinHandle};

use parking_lot::Mutex;
use terrace_engine::env::{FileId, default_env};
use terrace_engine::{Db, Error, ErrorKind, Options, Result};

/// One opening of a database. If it is dropped without having been closed, it is closed then, on another thread if
/// necessary.
pub struct OpenDatabase {
    db: Db,
    shared: Option<Arc<SharedSlot>>,
    closed: AtomicBool,
}

/// The engine of one directory, and the number of objects that use it. Locked while it opens or closes.
///
/// A slot lives as long as any object that used it, closed or not. The directory may since have been removed, and
/// another one may have its inode, so a slot without an engine does not determine where the next engine opens. An open
/// engine holds its directory, whose inode no other directory can have.
struct SharedSlot {
    state: Mutex<Option<Shared>>,
}

struct Shared {
    db: Db,
    users: usize,
}

static SLOTS: LazyLock<Mutex<HashMap<DirectoryId, Weak<SharedSlot>>>> = LazyLock::new(Mutex::default);

/// Identifies a directory. Two paths may lead to one directory; and if an open one was moved, another may take its
/// old path.
#[derive(Clone, PartialEq, Eq, Hash)]
enum DirectoryId {
    Directory(FileId),
    Missing(PathBuf),
}

impl DirectoryId {
    fn of(directory: &Path) -> Self {
        match default_env().file_id(directory) {
            Ok(Some(id)) => Self::Directory(id),
            Ok(None) | Err(_) => Self::Missing(directory.to_owned()),
        }
    }
}

impl OpenDatabase {
    /// Opens the database in `directory`. May wait for the disk.
    pub fn open(directory: &Path, options: Options, multithreading: bool) -> Result<Self> {
        if !multithreading {
            let db = Db::open(directory, options)?;
            return Ok(Self { db, shared: None, closed: AtomicBool::new(false) });
        }
        if options.create_if_missing && !options.read_only {
            // So that a directory that is yet to be created also has a canonical path, and durably, which the engine takes
            // an existing directory to be.
            options.env.create_directory_all(directory)?;
        }
        let directory = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
        let slot = SharedSlot::of(&directory);
        let mut state = slot.state.lock();
        let db = match &mut *state {
            Some(shared) => shared.join(&directory, &options)?,
            none => {
                let db = Db::open(&directory, options)?;
                *none = Some(Shared { db: db.clone(), users: 1 });
                db
            }
        };
        drop(state);
        Ok(Self { db, shared: Some(slot), closed: AtomicBool::new(false) })
    }

    /// The engine.
    #[inline]
    pub fn db(&self) -> &Db {
        &self.db
    }

    /// Closes it, after waiting for running operations. The engine stays open if other objects share it. A second call
    /// does nothing.
    pub fn close(&self) -> Result<()> {
        if self.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        release(&self.db, self.shared.as_deref())
    }
}

thread_local! {
    static MAY_WAIT: Cell<bool> = const { Cell::new(false) };
}

/// Threads that close databases which a JavaScript thread has dropped.
static CLOSING: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// Declares that the calling thread, unlike a JavaScript one, may wait for a database to close.
pub fn allow_waiting() {
    MAY_WAIT.set(true);
}

/// Waits until every database that was dropped so far is closed, those of other environments included.
pub fn wait_for_closing() {
    let threads = mem::take(&mut *CLOSING.lock());
    for thread in threads {
        // A panic has no receiver, as an error of the close has none.
        let _ = thread.join();
    }
}

/// Closes the engine unless other objects share it.
fn release(db: &Db, shared: Option<&SharedSlot>) -> Result<()> {
    let Some(slot) = shared else { return db.close() };
    let mut state = slot.state.lock();
    if let Some(shared) = &mut *state {
        shared.users -= 1;
        if shared.users > 0 {
            return Ok(());
        }
    }
    *state = None;
    db.close()
}

impl SharedSlot {
    /// The slot of the directory at a canonical path.
    fn of(directory: &Path) -> Arc<Self> {
        let id = DirectoryId::of(directory);
        let mut slots = SLOTS.lock();
        if let Some(slot) = slots.get(&id).and_then(Weak::upgrade) {
            return slot;
        }
        slots.retain(|_, slot| slot.strong_count() > 0);
        let slot = Arc::new(Self { state: Mutex::default() });
        slots.insert(id, Arc::downgrade(&slot));
        slot
    }
}

impl Shared {
    /// Adds a user, unless its options do not fit those of the open engine.
    fn join(&mut self, directory: &Path, options: &Options) -> Result<Db> {
        if options.error_if_exists {
            return Err(Error::at_path(ErrorKind::AlreadyExists, directory, "the database exists already"));
        }
        let present = self.db.options();
        let (wanted_order, order) = (options.comparator.name_text(), present.comparator.name_text());
        let conflict = if options.read_only != present.read_only {
            let purpose = if present.read_only { "reading only" } else { "writing" };
            Some(format!("the database is open in this process for {purpose}"))
        } else if wanted_order != order {
            Some(format!("the comparator {wanted_order} is not that of the open database, {order}"))
        } else {
            None
        };
        if let Some(message) = conflict {
            return Err(Error::at_path(ErrorKind::InvalidArgument, directory, message));
        }
        self.users += 1;
        Ok(self.db.clone())
    }
}

impl Drop for OpenDatabase {
    /// JavaScript lost the database without closing it, or ended while it was opened. The error has no caller to go to;
    /// acknowledged writes are in the log.
    fn drop(&mut self) {
        if *self.closed.get_mut() {
            return;
        }
        let (db, shared) = (self.db.clone(), self.shared.clone());
        let close = move || {
            let _ = release(&db, shared.as_deref());
        };
        if MAY_WAIT.get() {
            close();
            return;
        }
        match thread::Builder::new().name("terrace-close".to_owned()).spawn(close) {
            Ok(thread) => {
                let mut closing = CLOSING.lock();
                closing.retain(|thread| !thread.is_finished());
                closing.push(thread);
            }
            Err(_) => {
                let _ = release(&self.db, self.shared.as_deref());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use terrace_engine::env::MemoryEnv;

    use super::*;

    /// An environment makes the names above a new directory durable; the library does not.
    #[test]
    fn directories_above_a_new_shared_database_are_created_by_its_environment() {
        let above = std::env::temp_dir().join(format!("terrace-shared-{}", std::process::id()));
        let directory = above.join("a").join("db");
        let options = Options { env: Arc::new(MemoryEnv::new()), ..Options::default() };
        let database = OpenDatabase::open(&directory, options.clone(), true).unwrap();
        assert!(options.env.exists(&directory).unwrap());
        assert!(!above.exists());
        database.close().unwrap();
    }

    #[test]
    fn what_is_dropped_where_nobody_may_wait_can_be_waited_for() {
        let options = Options { env: Arc::new(MemoryEnv::new()), ..Options::default() };
        for _ in 0..200 {
            // Fails if it is locked.
            drop(OpenDatabase::open(Path::new("/db"), options.clone(), false).unwrap());
            wait_for_closing();
        }
    }
}
