//! The names of files.

use terrace_format::file_name::{self, FileKind};

/// The input is a name; bytes that are not UTF-8 cannot be one.
pub fn run(bytes: &[u8]) {
    let Ok(name) = std::str::from_utf8(bytes) else { return };
    let Some(kind) = file_name::parse(name) else { return };
    let ours = match kind {
        FileKind::Log(number) => file_name::log_name(number),
        FileKind::Table(number) => file_name::table_name(number),
        FileKind::LegacyTable(number) => file_name::legacy_table_name(number),
        FileKind::Manifest(number) => file_name::manifest_name(number),
        FileKind::Temporary(number) => file_name::temporary_name(number),
        FileKind::Current => file_name::CURRENT.to_owned(),
        FileKind::Lock => file_name::LOCK.to_owned(),
        FileKind::InfoLog => file_name::LOG.to_owned(),
        FileKind::OldInfoLog => file_name::OLD_LOG.to_owned(),
    };
    assert_eq!(file_name::parse(&ours), Some(kind));
    if kind.number().is_none() {
        assert_eq!(ours, name);
    }
}
