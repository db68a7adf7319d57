//! Entries on their way out of a database and into one: the forms of `export`, `import`, `batch` and `copy`.
//!
//! ```text
//! export ─► json_lines or binary ─► file ─► reader ─► import ─► batch_writer ─► database
//! ```

mod batch_writer;
pub(crate) mod binary;
pub(crate) mod json_lines;
mod operation;
mod reader;
pub(crate) mod state;
mod unfinished_copy;

pub(crate) use batch_writer::BatchWriter;
pub(crate) use operation::Operation;
pub(crate) use reader::EntryReader;
pub(crate) use unfinished_copy::UnfinishedCopy;

use std::io::{self, Write};

use clap::ValueEnum;

/// A form of exported entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// Lines of JSON, {"key":…,"value":…}.
    #[default]
    Jsonl,
    /// Terrace's binary form, with checksums.
    Binary,
}

/// Writes entries in one of the forms.
pub(crate) trait EntryWriter {
    /// Writes one entry.
    fn write(&mut self, out: &mut dyn Write, key: &[u8], value: &[u8]) -> io::Result<()>;

    /// Writes what follows the last entry.
    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()>;
}

impl Form {
    /// Creates a writer of this form. `is_new` means that the output starts here, and is not continued.
    pub(crate) fn writer(self, is_new: bool) -> Box<dyn EntryWriter> {
        match self {
            Self::Jsonl => Box::new(json_lines::JsonLinesWriter),
            Self::Binary => Box::new(binary::BinaryWriter::new(is_new)),
        }
    }
}
