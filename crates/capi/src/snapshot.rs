//! Snapshots. They may be released after their database was closed: they keep its object alive.

use std::sync::Arc;

use terrace_engine::Snapshot;

use crate::barrier;
use crate::database::Database;
use crate::memory::drop_box;
use crate::read_write_options::ReadOptionsHandle;

/// A `leveldb_snapshot_t`.
pub(crate) struct SnapshotHandle {
    snapshot: Snapshot,
    _database: Arc<Database>,
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_create_snapshot(database: Option<&Database>) -> *mut SnapshotHandle {
    barrier::or_else(std::ptr::null_mut(), || {
        let Some(database) = database.and_then(Database::share) else { return std::ptr::null_mut() };
        let snapshot = database.db().snapshot();
        Box::into_raw(Box::new(SnapshotHandle { snapshot, _database: database }))
    })
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_readoptions_set_snapshot(
    options: Option<&mut ReadOptionsHandle>,
    snapshot: Option<&SnapshotHandle>,
) {
    barrier::or_else((), || {
        if let Some(options) = options {
            options.0.snapshot = snapshot.map(|held| held.snapshot.clone());
        }
    });
}

/// The snapshot knows its database, so it does not matter if the pointer to it is out of date.
#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_release_snapshot(_database: *const Database, snapshot: *mut SnapshotHandle) {
    // SAFETY: by the header's rule it is NULL or came from `leveldb_create_snapshot`, and is no longer used.
    barrier::or_else((), || unsafe { drop_box(snapshot) });
}
