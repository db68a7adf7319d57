//! The search of level 0 for one key. Predecessor: [`version`](super::version). Successor: the table cache, then the table.
//!
//! The tables are searched from the largest number to the smallest, which is mostly from new to old. An answer counts
//! once no remaining table can hold something newer. The counts of a table that this engine wrote record how new its
//! entries are, so the first answer is nearly always the last. LevelDB's tables do not record this, so all of them
//! whose range holds the key are searched: LevelDB's repair leaves tables in level 0 whose numbers do not reflect their
//! age ([decision 25](../../../../docs/decisions/0025-recency-in-level-0.md)).

use std::sync::Arc;

use crate::error::Result;
use crate::table::BlockReadOptions;
use crate::table::entry::FoundEntry;
use crate::table::hash_lookup::LookupKey;
use crate::version::file_meta::FileMeta;
use crate::version::table_cache::TableCache;

/// A search: the files, and the target.
pub(super) struct Level0Lookup<'a> {
    /// Largest number first.
    pub(super) files: &'a [Arc<FileMeta>],
    pub(super) tables: &'a TableCache,
    pub(super) key: &'a LookupKey<'a>,
    pub(super) options: &'a BlockReadOptions,
}

impl Level0Lookup<'_> {
    /// Hands `found` the newest entry in the files that are in range. Returns whether there is one.
    ///
    /// # Errors
    /// Those of [`Version::get_with`](super::version::Version::get_with).
    pub(super) fn get_with(
        &self,
        is_in_range: impl Fn(&FileMeta) -> bool,
        found: &mut impl FnMut(FoundEntry<'_>),
    ) -> Result<bool> {
        let mut newest = None;
        for (index, file) in self.files.iter().enumerate() {
            let known = newest.map(|(_, sequence)| sequence);
            let may_add = || known.is_none_or(|sequence| file.newest_sequence() > sequence);
            if !is_in_range(file) || !may_add() {
                continue;
            }
            let table = self.tables.lease(file, self.options.tier)?;
            // Only a table that is open has said how new its entries are.
            if !may_add() {
                continue;
            }
            let mut is_handed_over = false;
            table.get_with(self.key, self.options, &mut |entry| {
                let sequence = entry.sequence;
                if known.is_some_and(|known| sequence <= known) {
                    return;
                }
                newest = Some((file, sequence));
                let may_be_newer =
                    |file: &Arc<FileMeta>| file.newest_sequence() > sequence && is_in_range(file);
                if !self.files[index + 1..].iter().any(may_be_newer) {
                    is_handed_over = true;
                    found(entry);
                }
            })?;
            if is_handed_over {
                return Ok(true);
            }
        }
        match newest {
            Some((file, _)) => {
                self.tables.lease(file, self.options.tier)?.get_with(self.key, self.options, found)
            }
            None => Ok(false),
        }
    }
}
