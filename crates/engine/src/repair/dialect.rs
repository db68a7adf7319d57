//! Decides the dialect of the tables that a repair writes. Predecessors: the inventory and the logs that are not used up.
//! Successor: [`repairer`](super::repairer), which begins each table.

use std::sync::Arc;

use terrace_format::internal_key::{MAX_SEQUENCE_NUMBER, SEEK_KIND, append_internal_key, user_key};

use crate::dialect::{KEYS, decide, is_entry_of_bedrock};
use crate::error::Result;
use crate::iterator::InternalIterator;
use crate::repair::inventory::Inventory;
use crate::repair::repairer::{Repairer, read_options};
use crate::repair::replay::any_put;
use crate::table::Table;

/// Decides the dialect, unless the options state it. `logs` are the logs that are not used up.
pub(super) fn decide_dialect(repairer: &Repairer, inventory: &Inventory, logs: &[u64]) {
    repairer.dialect.get_or_init(|| {
        let names = || inventory.tables.values();
        // A log that cannot be read fails the repair when its writes are kept.
        let has_entry = || {
            any_put(repairer, logs, is_entry_of_bedrock).unwrap_or(false)
                || names().any(|name| has_entry_of_bedrock(repairer, name).unwrap_or(false))
        };
        let tables = names().map(|name| repairer.path(name));
        decide(&*repairer.env, &repairer.directory, tables, has_entry)
    });
}

fn has_entry_of_bedrock(repairer: &Repairer, name: &str) -> Result<bool> {
    let (file, size_bytes) = repairer.open(name)?;
    let context = Arc::clone(&repairer.context);
    let table = Arc::new(Table::open(file, repairer.path(name), size_bytes, context)?);
    let mut entries = table.iter(read_options());
    for key in KEYS {
        let mut target = Vec::new();
        append_internal_key(&mut target, key, MAX_SEQUENCE_NUMBER, SEEK_KIND);
        entries.seek(&target)?;
        if entries.valid() && is_entry_of_bedrock(user_key(entries.key()), entries.value()) {
            return Ok(true);
        }
    }
    Ok(false)
}
