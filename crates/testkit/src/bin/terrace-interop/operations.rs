//! Reads the files of operations and keys that `tests/interop/operations.py` writes and describes.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use terrace_engine::WriteBatch;

use crate::Problem;

/// The numbers and byte strings of a file, one after the other.
pub struct Input {
    file: BufReader<File>,
}

impl Input {
    /// Opens a file of operations or keys.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: BufReader::new(File::open(path)?) })
    }

    /// The next write, or `None` at the end.
    pub fn write(&mut self) -> Result<Option<WriteBatch>, Problem> {
        if self.at_end()? {
            return Ok(None);
        }
        let mut batch = WriteBatch::new();
        for _ in 0..self.number()? {
            let mut kind = [0];
            self.file.read_exact(&mut kind)?;
            let key = self.bytes()?;
            if kind == [1] { batch.put(&key, &self.bytes()?)? } else { batch.delete(&key)? }
        }
        Ok(Some(batch))
    }

    /// The next key, or `None` at the end.
    pub fn key(&mut self) -> Result<Option<Vec<u8>>, Problem> {
        if self.at_end()? { Ok(None) } else { Ok(Some(self.bytes()?)) }
    }

    fn at_end(&mut self) -> io::Result<bool> {
        Ok(self.file.fill_buf()?.is_empty())
    }

    fn number(&mut self) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.file.read_exact(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.number()? as usize];
        self.file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}
