//! The memtables with which a session begins, and its log. Predecessor: `db/assemble`. Successors: the memtable, and `wal/writer`.

use std::sync::Arc;

use terrace_format::file_name::log_name;
use terrace_format::internal_key::InternalKeyComparator;

use crate::directory::HeldDirectory;
use crate::error::Result;
use crate::memtable::MemTable;
use crate::read::super_version::SealedMemTable;
use crate::recovery::recovered_logs::RecoveredMemTable;
use crate::version::VersionSet;
use crate::wal::writer::WalWriter;

/// The memtables of a database that is being opened.
pub(super) struct FirstMemTables {
    pub(super) active: Arc<MemTable>,
    /// Newest first.
    pub(super) sealed: Vec<Arc<SealedMemTable>>,
    /// The log that this session begins; `None` if it only reads.
    pub(super) wal: Option<WalWriter>,
}

impl FirstMemTables {
    /// The memtables of a session that only reads. Nothing is flushed: the recovered memtables are used directly.
    pub(super) fn to_read(recovered: Vec<RecoveredMemTable>, comparator: &InternalKeyComparator) -> Self {
        let sealed = recovered.into_iter().rev().map(|memtable| {
            let RecoveredMemTable { table, last_sequence, .. } = memtable;
            Arc::new(SealedMemTable { table, file_number: 0, next_log_number: 0, last_sequence })
        });
        let active = Arc::new(MemTable::new(comparator.clone()));
        Self { active, sealed: sealed.collect(), wal: None }
    }

    /// Those of a session that writes, which begins a log. The recovered memtables are to be flushed. If the logs of the last
    /// one are kept, it becomes the active one instead.
    pub(super) fn to_write(
        mut recovered: Vec<RecoveredMemTable>,
        keeps_last: bool,
        directory: &HeldDirectory,
        comparator: &InternalKeyComparator,
        versions: &VersionSet,
        maps_log: bool,
    ) -> Result<Self> {
        let active = match recovered.pop_if(|_| keeps_last) {
            Some(kept) => kept.table,
            None => Arc::new(MemTable::new(comparator.clone())),
        };
        let filled = recovered.into_iter().filter(|memtable| !memtable.table.is_empty());
        let filled: Vec<_> = filled.map(|memtable| (versions.new_flush_number(), memtable)).collect();
        let number = versions.new_file_number();
        let path = directory.path.join(log_name(number));
        let wal = WalWriter::create(&*directory.env, path, number, maps_log)?;
        let sealed = filled.into_iter().rev().map(|(file_number, memtable)| {
            Arc::new(SealedMemTable {
                table: memtable.table,
                file_number,
                next_log_number: memtable.next_log_number.unwrap_or(number),
                last_sequence: memtable.last_sequence,
            })
        });
        Ok(Self { active, sealed: sealed.collect(), wal: Some(wal) })
    }
}
