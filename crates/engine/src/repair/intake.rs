//! Takes in one table: unchanged if it verifies from end to end, otherwise whatever can be salvaged. Predecessor: the
//! plan. Successors: [`levels`](super::levels), [`merge`](super::merge).

use std::sync::Arc;

use terrace_format::internal_key::user_key;
use terrace_format::version_edit::FileEntry;

use crate::error::{Error, ErrorKind, Result};
use crate::iterator::InternalIterator;
use crate::repair::repairer::{Repairer, WrittenTable, read_options};
use crate::repair::report::{Damage, KeyRange, SalvagedTable};
use crate::repair::table_salvage::{problem_of, read_table};
use crate::table::Table;

/// What became of a table.
#[derive(Debug)]
pub(super) enum Intake {
    /// It stays unchanged.
    Intact { file: FileEntry, entries: u64 },
    /// It is intact and holds no entries.
    Empty,
    /// Whatever was intact is now in another table.
    Salvaged { table: Option<WrittenTable>, report: SalvagedTable, lost_keys: Vec<KeyRange> },
}

/// Takes in the table `name`. `listed` is what the MANIFEST says of it, if the MANIFEST lists it.
pub(super) fn take_in(
    repairer: &Repairer,
    number: u64,
    name: &str,
    listed: Option<&FileEntry>,
) -> Result<Intake> {
    match verify(repairer, number, name, listed) {
        Err(error) if error.kind() == ErrorKind::Corruption => salvage(repairer, name, listed, &error),
        result => result,
    }
}

fn verify(repairer: &Repairer, number: u64, name: &str, listed: Option<&FileEntry>) -> Result<Intake> {
    let (file, actual_size_bytes) = repairer.open(name)?;
    let path = repairer.path(name);
    let size_bytes = listed.map_or(actual_size_bytes, |listed| listed.size_bytes);
    let table = Arc::new(Table::open(file, path.clone(), size_bytes, Arc::clone(&repairer.context))?);
    table.verify()?;
    let mut iterator = table.iter(read_options());
    iterator.seek_to_last()?;
    if !iterator.valid() {
        return match listed {
            Some(_) => {
                Err(Error::corruption(&path, 0, "the table is empty, but the MANIFEST lists keys in it"))
            }
            None => Ok(Intake::Empty),
        };
    }
    let largest = iterator.key().to_vec();
    iterator.seek_to_first()?;
    let smallest = iterator.key().to_vec();
    if listed.is_some_and(|listed| listed.smallest != smallest || listed.largest != largest) {
        let problem = "the table does not begin and end with the keys that the MANIFEST states";
        return Err(Error::corruption(&path, 0, problem));
    }
    let entries = match table.counts() {
        Some(counts) => counts.entries,
        None => count(iterator)?,
    };
    Ok(Intake::Intact { file: FileEntry { number, size_bytes, smallest, largest }, entries })
}

fn count(mut iterator: impl InternalIterator) -> Result<u64> {
    let mut entries = 0;
    while iterator.valid() {
        entries += 1;
        iterator.next()?;
    }
    Ok(entries)
}

fn salvage(repairer: &Repairer, name: &str, listed: Option<&FileEntry>, cause: &Error) -> Result<Intake> {
    let mut table = repairer.begin_table();
    let mut salvaged = read_table(repairer, name, listed, &mut |key, value| table.add(key, value))?;
    let table = table.finish()?;
    if salvaged.damage.is_empty() {
        // Everything could be read. The filter was damaged, for example, or the separators were out of order.
        let reason = problem_of(cause, &repairer.path(name));
        salvaged.damage.push(Damage { offset: cause.offset().unwrap_or(0), lost_bytes: 0, reason });
    }
    let report =
        SalvagedTable { name: name.to_owned(), entries_kept: salvaged.entries, damage: salvaged.damage };
    Ok(Intake::Salvaged { table, report, lost_keys: salvaged.lost_keys })
}

/// The range of all keys that `file` may hold.
pub(super) fn keys_of(file: &FileEntry) -> KeyRange {
    KeyRange { first: Some(user_key(&file.smallest).to_vec()), last: Some(user_key(&file.largest).to_vec()) }
}

/// Whether `file` may hold any of `keys`.
pub(super) fn may_hold(repairer: &Repairer, file: &FileEntry, keys: &KeyRange) -> bool {
    let user = repairer.comparator.user();
    keys.first.as_ref().is_none_or(|first| user.compare(first, user_key(&file.largest)).is_le())
        && keys.last.as_ref().is_none_or(|last| user.compare(user_key(&file.smallest), last).is_le())
}
