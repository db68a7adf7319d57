//! Writes files of operations, which the drivers of the interop matrix apply; `tests/interop/operations.py` describes them.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::crash::Batch;

/// Writes the file at `path`, with one write per batch.
///
/// # Errors
///
/// If the file cannot be written.
pub fn save(path: &Path, batches: &[Batch]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for batch in batches {
        file.write_all(&(batch.len() as u32).to_le_bytes())?;
        for (key, value) in batch {
            file.write_all(&[u8::from(value.is_some())])?;
            write_bytes(&mut file, key)?;
            if let Some(value) = value {
                write_bytes(&mut file, value)?;
            }
        }
    }
    file.flush()
}

fn write_bytes(file: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    file.write_all(&(bytes.len() as u32).to_le_bytes())?;
    file.write_all(bytes)
}
