//! Handles of files in memory. Each shares its file's bytes with the tree and with all other handles of the file.

use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;

use crate::{
    EnvError, LOG_RECORD_HEADER_SIZE_BYTES, LogFile, RandomAccessFile, Result, SequentialFile, WritableFile,
};

/// One file.
pub(super) type Contents = RwLock<Body>;

/// The bytes of one file. Those of a table are shared with its readers from their first request on.
#[derive(Debug)]
pub(super) enum Body {
    Growing(Vec<u8>),
    Shared(Bytes),
}

impl Body {
    /// The bytes, to be changed. Readers that share them keep what they have.
    pub(super) fn growing(&mut self) -> &mut Vec<u8> {
        if let Self::Shared(bytes) = self {
            *self = Self::Growing(std::mem::take(bytes).into());
        }
        match self {
            Self::Growing(bytes) => bytes,
            Self::Shared(_) => unreachable!("made growing above"),
        }
    }

    /// The bytes, for readers to keep without a copy.
    fn shared(&mut self) -> Bytes {
        if let Self::Growing(bytes) = self {
            *self = Self::Shared(std::mem::take(bytes).into());
        }
        match self {
            Self::Shared(bytes) => bytes.clone(),
            Self::Growing(_) => unreachable!("made shared above"),
        }
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::Growing(Vec::new())
    }
}

impl Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Growing(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// Copies bytes from `offset` on and returns their number.
fn copy_from(contents: &Contents, offset: u64, buffer: &mut [u8]) -> usize {
    let contents = contents.read();
    let rest = usize::try_from(offset).ok().and_then(|start| contents.get(start..)).unwrap_or_default();
    let count = rest.len().min(buffer.len());
    buffer[..count].copy_from_slice(&rest[..count]);
    count
}

/// Adds bytes at the end; if there is no memory, adds nothing and returns an error.
fn extend(contents: &Contents, path: &Path, pieces: &[&[u8]]) -> Result<()> {
    let mut contents = contents.write();
    let contents = contents.growing();
    contents
        .try_reserve(pieces.iter().map(|piece| piece.len()).sum())
        .map_err(|_| EnvError::new("write", path, io::ErrorKind::OutOfMemory.into()))?;
    pieces.iter().for_each(|piece| contents.extend_from_slice(piece));
    Ok(())
}

#[derive(Debug)]
pub(super) struct MemoryRandomAccessFile {
    contents: Arc<Contents>,
    path: PathBuf,
}

impl MemoryRandomAccessFile {
    pub(super) fn new(contents: Arc<Contents>, path: &Path) -> Self {
        Self { contents, path: path.to_owned() }
    }
}

impl RandomAccessFile for MemoryRandomAccessFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        Ok(copy_from(&self.contents, offset, buffer))
    }

    fn read_at_without_waiting(&self, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        Ok(Some(copy_from(&self.contents, offset, buffer)))
    }

    fn mapped(&self) -> Option<Bytes> {
        Some(self.contents.write().shared())
    }

    fn mapped_is_in_memory(&self, _offset: u64, _size_bytes: usize) -> bool {
        true
    }

    fn size_bytes(&self) -> Result<u64> {
        Ok(self.contents.read().len() as u64)
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

pub(super) struct MemorySequentialFile {
    contents: Arc<Contents>,
    offset: u64,
}

impl MemorySequentialFile {
    pub(super) fn new(contents: Arc<Contents>) -> Self {
        Self { contents, offset: 0 }
    }
}

impl SequentialFile for MemorySequentialFile {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let count = copy_from(&self.contents, self.offset, buffer);
        self.offset += count as u64;
        Ok(count)
    }
}

pub(super) struct MemoryWritableFile {
    contents: Arc<Contents>,
    path: PathBuf,
    size_bytes: u64,
    /// Whether an append failed: by the contract, the file is then given up.
    failed: bool,
}

impl MemoryWritableFile {
    pub(super) fn new(contents: Arc<Contents>, path: &Path) -> Self {
        let size_bytes = contents.read().len() as u64;
        Self { contents, path: path.to_owned(), size_bytes, failed: false }
    }

    fn check(&self, operation: &'static str) -> Result<()> {
        if self.failed {
            Err(EnvError::new(operation, &self.path, io::ErrorKind::OutOfMemory.into()))
        } else {
            Ok(())
        }
    }
}

impl WritableFile for MemoryWritableFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        self.check("write")?;
        let extended = extend(&self.contents, &self.path, &[bytes]);
        self.failed = extended.is_err();
        extended?;
        self.size_bytes += bytes.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.check("write")
    }

    fn sync(&mut self) -> Result<()> {
        self.check("sync")
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.check("close")
    }
}

pub(super) struct MemoryLogFile {
    contents: Arc<Contents>,
    path: PathBuf,
    size_bytes: u64,
}

impl MemoryLogFile {
    /// Creates a log in `contents`, which is empty.
    pub(super) fn new(contents: Arc<Contents>, path: &Path) -> Self {
        Self { contents, path: path.to_owned(), size_bytes: 0 }
    }
}

impl LogFile for MemoryLogFile {
    fn append(&mut self, bytes: &[u8]) -> Result<()> {
        extend(&self.contents, &self.path, &[bytes])?;
        self.size_bytes += bytes.len() as u64;
        Ok(())
    }

    fn append_record(
        &mut self,
        padding_bytes: usize,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        payload: &[u8],
    ) -> Result<()> {
        extend(&self.contents, &self.path, &[&vec![0; padding_bytes], header, payload])?;
        self.size_bytes += (padding_bytes + header.len() + payload.len()) as u64;
        Ok(())
    }

    fn is_damaged(&self) -> bool {
        false
    }

    fn truncate(&mut self, size_bytes: u64) -> Result<()> {
        match usize::try_from(size_bytes) {
            Ok(size) if size_bytes <= self.size_bytes => self.contents.write().growing().truncate(size),
            _ => return Err(EnvError::new("truncate", &self.path, io::ErrorKind::InvalidInput.into())),
        }
        self.size_bytes = size_bytes;
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
