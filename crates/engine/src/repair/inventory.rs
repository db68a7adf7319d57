//! The files in the directory, by kind. Predecessor: the names in the directory. Successors:
//! [`manifest`](super::manifest), [`plan`](super::plan).

use std::collections::BTreeMap;

use terrace_format::file_name::{self, FileKind};

use crate::recovery::needed_logs::is_log_needed;
use crate::version::recover::FILE_NUMBER_LIMIT;

/// The files that the engine would open by their number, and all others.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    /// Names by number.
    pub(super) tables: BTreeMap<u64, String>,
    pub(super) logs: Vec<String>,
    /// Numbers.
    pub(super) manifests: Vec<u64>,
    pub(super) has_current: bool,
    /// Other files of a database: temporary files, and files with names that the engine would not write.
    pub(super) others: Vec<String>,
    /// The largest number of all these files.
    pub(super) largest_number: u64,
}

impl Inventory {
    pub(super) fn new(mut names: Vec<String>) -> Self {
        names.sort();
        let mut inventory = Self::default();
        for name in names {
            let Some(kind) = file_name::parse(&name).filter(|_| name != file_name::SYNCED) else { continue };
            if let Some(number) = kind.number().filter(|number| *number < FILE_NUMBER_LIMIT) {
                inventory.largest_number = inventory.largest_number.max(number);
            }
            inventory.add(name, kind);
        }
        inventory
    }

    fn add(&mut self, name: String, kind: FileKind) {
        match kind {
            FileKind::Current => self.has_current = true,
            FileKind::Lock | FileKind::InfoLog | FileKind::OldInfoLog => {}
            FileKind::Log(number) if is_canonical(&name, number, file_name::log_name) => self.logs.push(name),
            FileKind::Manifest(number) if is_canonical(&name, number, file_name::manifest_name) => {
                self.manifests.push(number);
            }
            // The names are sorted, so `.ldb` comes first: the engine opens that one.
            FileKind::Table(number)
                if is_canonical(&name, number, file_name::table_name)
                    && !self.tables.contains_key(&number) =>
            {
                self.tables.insert(number, name);
            }
            FileKind::LegacyTable(number)
                if is_canonical(&name, number, file_name::legacy_table_name)
                    && !self.tables.contains_key(&number) =>
            {
                self.tables.insert(number, name);
            }
            _ => self.others.push(name),
        }
    }

    /// Whether the directory holds anything of a database.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_current && self.tables.is_empty() && self.logs.is_empty() && self.manifests.is_empty()
    }

    /// The numbers of the logs that are not used up, ascending.
    pub(super) fn needed_logs(&self, log_number: u64, previous_log_number: u64) -> Vec<u64> {
        let numbers = self.logs.iter().filter_map(|name| file_name::parse(name)?.number());
        let mut needed: Vec<u64> =
            numbers.filter(|number| is_log_needed(*number, log_number, previous_log_number)).collect();
        needed.sort_unstable();
        needed
    }
}

fn is_canonical(name: &str, number: u64, name_of: fn(u64) -> String) -> bool {
    number < FILE_NUMBER_LIMIT && name == name_of(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_name() {
        let names = [
            "000005.sst",
            "000005.ldb",
            "000007.sst",
            "9.ldb",
            "000010.log",
            "10.log",
            "MANIFEST-000003",
            "CURRENT",
            "000011.dbtmp",
            "LOCK",
            "LOG",
            "photo.jpg",
            "18446744073709551615.ldb",
        ];
        let inventory = Inventory::new(names.map(str::to_owned).to_vec());
        let tables: Vec<_> = inventory.tables.values().map(String::as_str).collect();
        assert_eq!(tables, ["000005.ldb", "000007.sst"]);
        assert_eq!(inventory.logs, ["000010.log"]);
        assert_eq!(inventory.manifests, [3]);
        assert_eq!(
            inventory.others,
            ["000005.sst", "000011.dbtmp", "10.log", "18446744073709551615.ldb", "9.ldb"]
        );
        assert_eq!((inventory.has_current, inventory.largest_number), (true, 11));
        assert!(Inventory::new(vec!["LOCK".to_owned(), "photo.jpg".to_owned()]).is_empty());
    }
}
