//! The names of the files in a database's directory.
//!
//! Logs, tables, manifests and temporary files share one sequence of numbers, written with at least six digits. A
//! name that [`parse`] does not know is not the database's: neither Terrace nor LevelDB touches such a file.

/// The file that names the current manifest.
pub const CURRENT: &str = "CURRENT";

/// The file that is locked while a database is open. It is empty.
pub const LOCK: &str = "LOCK";

/// The info log, a text for humans.
pub const LOG: &str = "LOG";

/// The info log of the previous opening.
pub const OLD_LOG: &str = "LOG.old";

/// The file in which Terrace records how far files were synced. To other engines it is a temporary file that its writer left
/// behind: they remove it when they open or destroy the database. No temporary file has the number 0.
pub const SYNCED: &str = "000000.dbtmp";

/// The name of the same file before Terrace 0.1. Other engines leave it alone.
pub const FORMER_SYNCED: &str = "SYNCED";

/// The kind of a file in a database's directory, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// `NNNNNN.log`: a write-ahead log.
    Log(u64),
    /// `NNNNNN.ldb`: a table.
    Table(u64),
    /// `NNNNNN.sst`: a table, under the name that LevelDB gave it before 1.14.
    LegacyTable(u64),
    /// `MANIFEST-NNNNNN`: a manifest.
    Manifest(u64),
    /// `NNNNNN.dbtmp`: a file that was meant to replace another when its writer died.
    Temporary(u64),
    /// `CURRENT`.
    Current,
    /// `LOCK`.
    Lock,
    /// `LOG`.
    InfoLog,
    /// `LOG.old`.
    OldInfoLog,
}

impl FileKind {
    /// The file's number, if it has one.
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Log(number)
            | Self::Table(number)
            | Self::LegacyTable(number)
            | Self::Manifest(number)
            | Self::Temporary(number) => Some(number),
            Self::Current | Self::Lock | Self::InfoLog | Self::OldInfoLog => None,
        }
    }
}

/// The kind of the file `name` of a database's directory; `None` if LevelDB has no such file name. Like LevelDB's
/// parser, it accepts a number of any length up to the largest `u64`.
pub fn parse(name: &str) -> Option<FileKind> {
    match name {
        CURRENT => return Some(FileKind::Current),
        LOCK => return Some(FileKind::Lock),
        LOG => return Some(FileKind::InfoLog),
        OLD_LOG => return Some(FileKind::OldInfoLog),
        _ => {}
    }
    if let Some(digits) = name.strip_prefix("MANIFEST-") {
        return parse_number(digits).map(FileKind::Manifest);
    }
    let (digits, suffix) = name.split_once('.')?;
    let number = parse_number(digits)?;
    match suffix {
        "log" => Some(FileKind::Log(number)),
        "ldb" => Some(FileKind::Table(number)),
        "sst" => Some(FileKind::LegacyTable(number)),
        "dbtmp" => Some(FileKind::Temporary(number)),
        _ => None,
    }
}

/// Accepts digits only: the standard parser would also accept a plus sign.
fn parse_number(digits: &str) -> Option<u64> {
    if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
}

/// The kind of the file `name`, if an engine gives a file this name. [`parse`] also knows numbers with fewer than six digits, which
/// no engine writes.
pub fn parse_canonical(name: &str) -> Option<FileKind> {
    let kind = parse(name)?;
    let canonical = match kind {
        FileKind::Log(number) => log_name(number),
        FileKind::Table(number) => table_name(number),
        FileKind::LegacyTable(number) => legacy_table_name(number),
        FileKind::Manifest(number) => manifest_name(number),
        FileKind::Temporary(number) => temporary_name(number),
        FileKind::Current | FileKind::Lock | FileKind::InfoLog | FileKind::OldInfoLog => return Some(kind),
    };
    (canonical == name).then_some(kind)
}

/// The name `NNNNNN.log` of a log.
pub fn log_name(number: u64) -> String {
    format!("{number:06}.log")
}

/// The name `NNNNNN.ldb` of a table.
pub fn table_name(number: u64) -> String {
    format!("{number:06}.ldb")
}

/// The name `NNNNNN.sst` of a table from before LevelDB 1.14.
pub fn legacy_table_name(number: u64) -> String {
    format!("{number:06}.sst")
}

/// The name `MANIFEST-NNNNNN` of a manifest.
pub fn manifest_name(number: u64) -> String {
    format!("MANIFEST-{number:06}")
}

/// The name `NNNNNN.dbtmp` of a temporary file.
pub fn temporary_name(number: u64) -> String {
    format!("{number:06}.dbtmp")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn leveldbs_names_are_known() {
        for (name, kind) in [
            ("100.log", FileKind::Log(100)),
            ("0.log", FileKind::Log(0)),
            ("0.sst", FileKind::LegacyTable(0)),
            ("0.ldb", FileKind::Table(0)),
            ("000012.ldb", FileKind::Table(12)),
            ("CURRENT", FileKind::Current),
            ("LOCK", FileKind::Lock),
            ("MANIFEST-2", FileKind::Manifest(2)),
            ("MANIFEST-007", FileKind::Manifest(7)),
            ("LOG", FileKind::InfoLog),
            ("LOG.old", FileKind::OldInfoLog),
            ("000077.dbtmp", FileKind::Temporary(77)),
            ("18446744073709551615.log", FileKind::Log(u64::MAX)),
        ] {
            assert_eq!(parse(name), Some(kind), "{name}");
        }
    }

    #[test]
    fn only_names_that_engines_write_are_canonical() {
        for name in ["000012.ldb", "1234567.log", "MANIFEST-000007", "CURRENT", "LOG.old", SYNCED] {
            assert_eq!(parse_canonical(name), parse(name), "{name}");
            assert!(parse(name).is_some(), "{name}");
        }
        for name in ["2024.log", "0000012.ldb", "MANIFEST-7", "0.dbtmp", "mine.txt", FORMER_SYNCED] {
            assert_eq!(parse_canonical(name), None, "{name}");
        }
    }

    #[test]
    fn other_names_are_nobodys() {
        for name in [
            "",
            "foo",
            "foo-dx-100.log",
            ".log",
            "manifest",
            "CURREN",
            "CURRENTX",
            "MANIFES",
            "MANIFEST",
            "MANIFEST-",
            "XMANIFEST-3",
            "MANIFEST-3x",
            "LOC",
            "LOCKx",
            "LO",
            "LOGx",
            "18446744073709551616.log",
            "184467440737095516150.log",
            "100",
            "100.",
            "100.lop",
            "+100.log",
            "-1.log",
            "1.2.log",
            "100.log ",
            "MANIFEST-+3",
            "１.log",
        ] {
            assert_eq!(parse(name), None, "{name}");
        }
    }

    proptest! {
        #[test]
        fn names_are_parsed_back(number in any::<u64>(), shift in 0..64) {
            let number = number >> shift;
            prop_assert_eq!(parse(&log_name(number)), Some(FileKind::Log(number)));
            prop_assert_eq!(parse(&table_name(number)), Some(FileKind::Table(number)));
            prop_assert_eq!(parse(&legacy_table_name(number)), Some(FileKind::LegacyTable(number)));
            prop_assert_eq!(parse(&manifest_name(number)), Some(FileKind::Manifest(number)));
            prop_assert_eq!(parse(&temporary_name(number)), Some(FileKind::Temporary(number)));
            prop_assert_eq!(parse(&table_name(number)).and_then(FileKind::number), Some(number));
        }

        #[test]
        fn any_name_is_parsed_or_not(name in any::<String>()) {
            parse(&name);
        }
    }
}
