//! Recognises databases of engines related to LevelDB by the names in their directories. Those engines use the same
//! file names for other formats, so without this check their databases would count as damaged. Predecessors: `db/open`,
//! `db/read_only`, `repair`.

use std::path::Path;

use crate::error::{Error, ErrorKind, Result};

/// Fails if the files with these names are those of an engine whose format is not readable here.
///
/// # Errors
/// `Unsupported`, naming the engine.
pub(crate) fn refuse_foreign_layout(names: &[String], directory: &Path) -> Result<()> {
    let has = |is_foreign: fn(&str) -> bool| names.iter().find(|name| is_foreign(name));
    // Basho's filters and compression ids mean other things under the same names.
    let found = has(|name| name == "sst_0")
        .map(|name| ("Basho's fork of LevelDB", name))
        .or_else(|| has(is_marker).map(|name| ("Pebble", name)))
        .or_else(|| {
            let options = has(is_options)?;
            Some((
                if has(|name| name == "IDENTITY").is_some() { "RocksDB" } else { "RocksDB or Pebble" },
                options,
            ))
        });
    let Some((writer, name)) = found else { return Ok(()) };
    let message = format!(
        "this is a database of {writer} (it has {name}), whose format Terrace cannot read; open it with {writer}"
    );
    Err(Error::at_path(ErrorKind::Unsupported, directory, message))
}

/// `marker.manifest.000002.MANIFEST-000006` takes the place of CURRENT.
fn is_marker(name: &str) -> bool {
    name.starts_with("marker.manifest.") || name.starts_with("marker.format-version.")
}

/// `OPTIONS-000007` has a database's options as text.
fn is_options(name: &str) -> bool {
    let number = name.strip_prefix("OPTIONS-");
    number.is_some_and(|number| number.len() >= 6 && number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_relative_is_named_and_leveldb_is_none() {
        let refuse = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
            refuse_foreign_layout(&names, Path::new("/db")).map_err(|error| (error.kind(), error.to_string()))
        };
        for (names, writer) in [
            (&["CURRENT", "sst_0"][..], "Basho's fork of LevelDB"),
            (&["CURRENT", "marker.manifest.000002.MANIFEST-000006", "OPTIONS-000007"], "Pebble"),
            (&["CURRENT", "IDENTITY", "OPTIONS-000007"], "RocksDB"),
            (&["CURRENT", "OPTIONS-000007"], "RocksDB or Pebble"),
        ] {
            let (kind, message) = refuse(names).unwrap_err();
            assert_eq!(kind, ErrorKind::Unsupported);
            assert!(message.contains(&format!("a database of {writer} (")), "{message}");
        }
        for names in [&["CURRENT", "000005.ldb", "LOCK", "SYNCED"][..], &["IDENTITY"], &["OPTIONS-new"]] {
            refuse(names).unwrap();
        }
    }
}
