//! Handles of files in memory. Each shares its file's bytes with the tree and with all other handles of the file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::RwLock;

use crate::{
    EnvError, LOG_RECORD_HEADER_SIZE_BYTES, LogFile, RandomAccessFile, Result, SequentialFile, WritableFile,
};

/// One file.
pub(super) type Contents = RwLock<Body>;

/// The immutable bytes of a file that the embedding program supplies: one that a page's user chose, for example.
pub trait GivenFile: Send + Sync + fmt::Debug + 'static {
    /// Size of the file, in bytes.
    fn size_bytes(&self) -> u64;

    /// Reads bytes from `offset` on into the front of `buffer` and returns their number: less than `buffer.len()` only where the file
    /// ends.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

/// The bytes of one file. Those of a table are shared with its readers from their first request on.
#[derive(Debug)]
pub(super) enum Body {
    Growing(Vec<u8>),
    Shared(Bytes),
    /// They are not here, and are read each time.
    Given(Arc<dyn GivenFile>),
}

impl Body {
    /// The bytes, to be changed. Readers that share them keep what they have. Those of a given file are read first; the giver's do not
    /// change.
    pub(super) fn growing(&mut self) -> io::Result<&mut Vec<u8>> {
        match self {
            Self::Growing(_) => {}
            Self::Shared(bytes) => *self = Self::Growing(std::mem::take(bytes).into()),
            Self::Given(file) => *self = Self::Growing(read_all(&**file)?),
        }
        match self {
            Self::Growing(bytes) => Ok(bytes),
            _ => unreachable!("made growing above"),
        }
    }

    /// The bytes, for readers to keep without a copy; `None` if they are not here.
    fn shared(&mut self) -> Option<Bytes> {
        if let Self::Growing(bytes) = self {
            *self = Self::Shared(std::mem::take(bytes).into());
        }
        match self {
            Self::Shared(bytes) => Some(bytes.clone()),
            _ => None,
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Self::Growing(bytes) => bytes.len() as u64,
            Self::Shared(bytes) => bytes.len() as u64,
            Self::Given(file) => file.size_bytes(),
        }
    }

    /// Copies bytes from `offset` on and returns their number.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes: &[u8] = match self {
            Self::Growing(bytes) => bytes,
            Self::Shared(bytes) => bytes,
            Self::Given(file) => return file.read_at(offset, buffer),
        };
        let rest = usize::try_from(offset).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::Growing(Vec::new())
    }
}

/// All bytes of a given file; an error if there is no memory for them, or fewer than its size says.
fn read_all(file: &dyn GivenFile) -> io::Result<Vec<u8>> {
    let size = usize::try_from(file.size_bytes()).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
    bytes.resize(size, 0);
    let mut filled = 0;
    while filled < size {
        match file.read_at(filled as u64, &mut bytes[filled..])? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
    }
    Ok(bytes)
}

/// Adds bytes at the end; if there is no memory, adds nothing and returns an error.
fn extend(contents: &Contents, path: &Path, pieces: &[&[u8]]) -> Result<()> {
    let mut contents = contents.write();
    let contents = contents.growing().map_err(|source| EnvError::new("write", path, source))?;
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
        let read = self.contents.read().read_at(offset, buffer);
        read.map_err(|source| EnvError::new("read", &self.path, source))
    }

    fn read_at_without_waiting(&self, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        match &*self.contents.read() {
            Body::Given(_) => Ok(None),
            body => Ok(Some(body.read_at(offset, buffer).expect("bytes in memory can be read"))),
        }
    }

    fn mapped(&self) -> Option<Bytes> {
        self.contents.write().shared()
    }

    fn mapped_is_in_memory(&self, _offset: u64, _size_bytes: usize) -> bool {
        true
    }

    fn size_bytes(&self) -> Result<u64> {
        Ok(self.contents.read().len())
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

pub(super) struct MemorySequentialFile {
    file: MemoryRandomAccessFile,
    offset: u64,
}

impl MemorySequentialFile {
    pub(super) fn new(contents: Arc<Contents>, path: &Path) -> Self {
        Self { file: MemoryRandomAccessFile::new(contents, path), offset: 0 }
    }
}

impl SequentialFile for MemorySequentialFile {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let count = self.file.read_at(self.offset, buffer)?;
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
        let size_bytes = contents.read().len();
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
            Ok(size) if size_bytes <= self.size_bytes => {
                let mut contents = self.contents.write();
                let cut = contents.growing().map(|bytes| bytes.truncate(size));
                cut.map_err(|source| EnvError::new("truncate", &self.path, source))?;
            }
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
