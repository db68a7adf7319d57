//! The progress of an import: a small file beside the input, so that another run can continue it.
//!
//! It is replaced as a whole, after the entries that it covers were synced into the database. Later entries are
//! imported again, which changes nothing.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

use crate::failure::{Failure, Problem};
use crate::text::Json;

/// The progress of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// Number of bytes of the input that are done.
    pub(crate) offset: u64,
    /// Number of its lines that are done.
    pub(crate) lines: u64,
    /// Number of its entries that are done.
    pub(crate) entries: u64,
    /// Checksum of the input's first bytes, to recognise it.
    pub(crate) beginning: u32,
    /// How many bytes that checksum covers.
    pub(crate) beginning_bytes: u64,
}

impl State {
    /// Reads the file at `path`; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If it is not the state of an import.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Failure> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Problem::usage(format!("{}: {error}", path.display()))),
        };
        let parsed: Option<Value> = serde_json::from_slice(&text).ok();
        let number = |name: &str| parsed.as_ref()?.get(name)?.as_u64();
        let state = || {
            Some(Self {
                offset: number("offset")?,
                lines: number("lines")?,
                entries: number("entries")?,
                beginning: number("beginning")?.try_into().ok()?,
                beginning_bytes: number("beginning_bytes")?,
            })
        };
        match state() {
            Some(state) => Ok(Some(state)),
            None => Err(Problem::usage(format!(
                "{} is not the state of an import; choose another name",
                path.display()
            ))),
        }
    }

    /// Replaces the file at `path`.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        let json = Json::Object(vec![
            ("offset", self.offset.into()),
            ("lines", self.lines.into()),
            ("entries", self.entries.into()),
            ("beginning", u64::from(self.beginning).into()),
            ("beginning_bytes", self.beginning_bytes.into()),
        ]);
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(".new");
        fs::write(&temporary, format!("{json}\n"))?;
        fs::rename(&temporary, path)?;
        Ok(())
    }
}
