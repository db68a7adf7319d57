//! The report of a repair, for programs and for people. Predecessor: every step of the repair.

use std::fmt;

/// Where a repair took the list of tables and their levels from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LevelSource {
    /// From the MANIFEST. Every intact table stayed in its level.
    Manifest,
    /// From nowhere, because no MANIFEST could be relied on. All tables and logs were merged by their sequence numbers.
    Merge,
}

/// A damaged piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Damage {
    /// The byte offset in the file at which the piece begins.
    pub offset: u64,
    /// Bytes of entries or records that are lost with it; 0 if all of them could be read another way.
    pub lost_bytes: u64,
    /// What is wrong.
    pub reason: String,
}

/// A damaged table, and what the repair read from it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SalvagedTable {
    /// Name of its file before the repair.
    pub name: String,
    /// Entries read from it, deletions included. The database has them in a new table.
    pub entries_kept: u64,
    /// The damaged pieces, by offset.
    pub damage: Vec<Damage>,
}

/// A log whose writes the repair brought into tables.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayedLog {
    /// Name of its file before the repair.
    pub name: String,
    /// Batches read from it.
    pub records_kept: u64,
    /// Puts and deletions in these batches.
    pub writes_kept: u64,
    /// Pieces that could not be read, by offset.
    pub damage: Vec<Damage>,
    /// Bytes of an unfinished record at the end, as a crash leaves it. That write was never acknowledged.
    pub unfinished_tail_bytes: u64,
}

/// A file that the repair moved out of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAsideFile {
    /// Its name before the repair.
    pub name: String,
    /// Its path now, relative to the database's directory.
    pub moved_to: String,
    /// Why the repair moved it.
    pub reason: String,
}

/// A range of keys in the comparator's order, both ends included; `None` is an open end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyRange {
    /// The first key.
    pub first: Option<Vec<u8>>,
    /// The last key.
    pub last: Option<Vec<u8>>,
}

/// Keys whose value may now be older than the last one written, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Uncertainty {
    /// The range of the keys. It may be that only a few of them are affected.
    pub keys: KeyRange,
    /// What cannot be known.
    pub reason: String,
}

/// What [`Db::repair`](crate::Db::repair) found and did. `Display` writes a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepairReport {
    /// Where the levels came from.
    pub levels_from: LevelSource,
    /// Damage of CURRENT and of MANIFESTs: one sentence each, which names the file.
    pub manifest_damage: Vec<String>,
    /// Number of tables that are intact from end to end, whether they stayed or were merged.
    pub tables_kept: u64,
    /// Tables that were damaged.
    pub tables_salvaged: Vec<SalvagedTable>,
    /// Names of missing tables that the MANIFEST lists.
    pub tables_missing: Vec<String>,
    /// Names of missing logs that the MANIFEST needs.
    pub logs_missing: Vec<String>,
    /// Logs that were read.
    pub logs: Vec<ReplayedLog>,
    /// Files moved to the directory `lost`: damaged files, once their intact parts were saved, and unused files.
    pub set_aside: Vec<SetAsideFile>,
    /// Names of files that were in the directory `lost` before this repair. An earlier repair put them there, or an open that
    /// found a hole in a log. They are not part of the database.
    pub in_lost_before: Vec<String>,
    /// Entries in the database's tables after the repair. Deletions that still hide something count, and so do older values
    /// that no compaction has removed yet.
    pub entries_kept: u64,
    /// Keys whose newest value may have been lost; it cannot be known.
    pub uncertain: Vec<Uncertainty>,
}

impl RepairReport {
    pub(super) fn new() -> Self {
        Self {
            levels_from: LevelSource::Manifest,
            manifest_damage: Vec::new(),
            tables_kept: 0,
            tables_salvaged: Vec::new(),
            tables_missing: Vec::new(),
            logs_missing: Vec::new(),
            logs: Vec::new(),
            set_aside: Vec::new(),
            in_lost_before: Vec::new(),
            entries_kept: 0,
            uncertain: Vec::new(),
        }
    }

    /// Whether every entry that the database held is still there, as far as can be known. Files that were in
    /// [`lost`](Self::in_lost_before) before do not matter.
    pub fn nothing_lost(&self) -> bool {
        self.lost_bytes() == 0 && self.tables_missing.is_empty() && self.uncertain.is_empty()
    }

    /// Bytes of entries and records that could not be read, in all files that exist.
    pub fn lost_bytes(&self) -> u64 {
        let of_tables = self.tables_salvaged.iter().flat_map(|table| &table.damage);
        let of_logs = self.logs.iter().flat_map(|log| &log.damage);
        of_tables.chain(of_logs).map(|damage| damage.lost_bytes).sum()
    }
}

impl fmt::Display for KeyRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.first, &self.last) {
            (None, None) => f.write_str("all keys"),
            (Some(first), None) => write!(f, "keys from {}", Shown(first)),
            (None, Some(last)) => write!(f, "keys up to {}", Shown(last)),
            (Some(first), Some(last)) => write!(f, "keys from {} to {}", Shown(first), Shown(last)),
        }
    }
}

/// Shows a key to people: printable bytes unchanged, others escaped, long keys cut off.
struct Shown<'a>(&'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN_BYTES: usize = 40;
        let shown = &self.0[..self.0.len().min(SHOWN_BYTES)];
        write!(f, "\"{}\"", shown.escape_ascii())?;
        if self.0.len() > SHOWN_BYTES { write!(f, "… ({} bytes)", self.0.len()) } else { Ok(()) }
    }
}

impl fmt::Display for RepairReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.nothing_lost(), self.lost_bytes()) {
            (true, _) => writeln!(f, "Nothing is lost: {} entries.", self.entries_kept)?,
            (false, 0) => writeln!(f, "{} entries were kept.", self.entries_kept)?,
            (false, bytes) => {
                writeln!(f, "{} entries were kept; {bytes} bytes could not be read.", self.entries_kept)?;
            }
        }
        for damage in &self.manifest_damage {
            writeln!(f, "{damage}")?;
        }
        match self.levels_from {
            LevelSource::Manifest => {
                writeln!(f, "Tables: {} intact, left where they were.", self.tables_kept)?;
            }
            LevelSource::Merge => {
                writeln!(f, "Tables: {} intact, merged by sequence number into new ones.", self.tables_kept)?;
            }
        }
        for table in &self.tables_salvaged {
            writeln!(f, "{}: damaged, {} entries kept", table.name, table.entries_kept)?;
            write_damage(f, &table.damage)?;
        }
        for name in self.tables_missing.iter().chain(&self.logs_missing) {
            writeln!(f, "{name}: missing")?;
        }
        for log in &self.logs {
            write!(f, "{}: {} writes in {} records kept", log.name, log.writes_kept, log.records_kept)?;
            if log.unfinished_tail_bytes > 0 {
                write!(f, ", {} bytes of an unfinished record left out", log.unfinished_tail_bytes)?;
            }
            writeln!(f)?;
            write_damage(f, &log.damage)?;
        }
        for file in &self.set_aside {
            writeln!(f, "{}: moved to {} ({})", file.name, file.moved_to, file.reason)?;
        }
        if !self.in_lost_before.is_empty() {
            let names = self.in_lost_before.join(", ");
            writeln!(f, "In the directory lost from before, by an earlier open or repair: {names}")?;
        }
        for uncertainty in &self.uncertain {
            writeln!(f, "Uncertain, {}: {}", uncertainty.keys, uncertainty.reason)?;
        }
        Ok(())
    }
}

fn write_damage(f: &mut fmt::Formatter<'_>, damage: &[Damage]) -> fmt::Result {
    for piece in damage {
        write!(f, "  at byte {}: {}", piece.offset, piece.reason)?;
        if piece.lost_bytes > 0 {
            write!(f, "; {} bytes lost", piece.lost_bytes)?;
        }
        writeln!(f)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_says_what_people_need() {
        let mut report = RepairReport::new();
        report.entries_kept = 7;
        report.tables_kept = 2;
        assert_eq!(
            report.to_string(),
            "Nothing is lost: 7 entries.\nTables: 2 intact, left where they were.\n"
        );

        let damage = vec![Damage { offset: 40, lost_bytes: 300, reason: "a wrong checksum".into() }];
        report.tables_salvaged.push(SalvagedTable {
            name: "000005.ldb".into(),
            entries_kept: 3,
            damage: damage.clone(),
        });
        report.logs.push(ReplayedLog {
            name: "000009.log".into(),
            records_kept: 1,
            writes_kept: 2,
            damage,
            unfinished_tail_bytes: 12,
        });
        report.set_aside.push(SetAsideFile {
            name: "000005.ldb".into(),
            moved_to: "lost/000005.ldb".into(),
            reason: "it is damaged".into(),
        });
        report.in_lost_before = vec!["000001.log".into(), "000002.ldb".into()];
        let keys = KeyRange { first: Some(b"a\0".to_vec()), last: Some(vec![b'z'; 100]) };
        report.uncertain.push(Uncertainty { keys, reason: "a newer value may be lost".into() });
        let text = report.to_string();
        for part in [
            "7 entries were kept; 600 bytes could not be read.",
            "000005.ldb: damaged, 3 entries kept\n  at byte 40: a wrong checksum; 300 bytes lost",
            "000009.log: 2 writes in 1 records kept, 12 bytes of an unfinished record left out",
            "000005.ldb: moved to lost/000005.ldb (it is damaged)",
            "In the directory lost from before, by an earlier open or repair: 000001.log, 000002.ldb",
            "Uncertain, keys from \"a\\x00\" to \"zzz",
            "… (100 bytes): a newer value may be lost",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
    }
}
