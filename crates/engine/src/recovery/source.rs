//! Presents a log or MANIFEST as the source that the reader in `terrace_format::log` expects. Successor: `env`.
//!
//! Such a file may be sparse: arbitrarily large by its size, with next to nothing on the disk. Ranges that the file
//! system knows to be zeros are skipped, so the time to read a file depends on what is really there.

use terrace_env::{EnvError, RandomAccessFile};
use terrace_format::limits::LOG_BLOCK_SIZE_BYTES;
use terrace_format::log::LogSource;

use crate::error::Result;

const BLOCK_SIZE_BYTES: u64 = LOG_BLOCK_SIZE_BYTES as u64;

/// The number of bytes read at once when looking past zeros.
const PIECE_SIZE_BYTES: u64 = 64 << 10;

/// A log or MANIFEST that is read from front to back, for [`LogReader`](terrace_format::log::LogReader). Holes of a sparse file
/// are skipped.
pub struct FileSource<'a> {
    file: &'a dyn RandomAccessFile,
    position: u64,
}

impl<'a> FileSource<'a> {
    /// Starts at the beginning of the file.
    pub fn new(file: &'a dyn RandomAccessFile) -> Self {
        Self { file, position: 0 }
    }
}

impl LogSource for FileSource<'_> {
    type Error = EnvError;

    fn read(&mut self, buffer: &mut [u8]) -> std::result::Result<usize, EnvError> {
        let count = self.file.read_at(self.position, buffer)?;
        self.position += count as u64;
        Ok(count)
    }

    fn skip_zeros(&mut self) -> std::result::Result<u64, EnvError> {
        let data = match self.file.next_data(self.position)? {
            Some(data) => data,
            None => self.file.size_bytes()?,
        };
        let skipped = data.saturating_sub(self.position) / BLOCK_SIZE_BYTES * BLOCK_SIZE_BYTES;
        self.position += skipped;
        Ok(skipped)
    }
}

/// The offset of the first byte between `start` and `end` that is not zero; `None` if there is none.
pub(crate) fn first_content(file: &dyn RandomAccessFile, start: u64, end: u64) -> Result<Option<u64>> {
    let end = end.min(file.size_bytes()?);
    let mut position = start;
    let mut piece = vec![0; PIECE_SIZE_BYTES.min(end.saturating_sub(start)) as usize];
    while position < end {
        let Some(data) = file.next_data(position)?.filter(|data| *data < end) else { return Ok(None) };
        let piece_bytes = (end - data).min(PIECE_SIZE_BYTES) as usize;
        let bytes = &mut piece[..piece_bytes];
        file.read_exact_at(data, bytes)?;
        if let Some(at) = bytes.iter().position(|byte| *byte != 0) {
            return Ok(Some(data + at as u64));
        }
        position = data + piece_bytes as u64;
    }
    Ok(None)
}

/// On Windows, the system would write the 60 GB.
#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::path::Path;

    use terrace_env::default_env;
    use terrace_format::log::{LogEncoder, LogEvent, LogReader};

    use super::*;

    /// Counts the bytes that are read.
    #[derive(Debug)]
    struct Counted {
        file: std::sync::Arc<dyn RandomAccessFile>,
        read_bytes: std::sync::atomic::AtomicU64,
    }

    impl RandomAccessFile for Counted {
        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> terrace_env::Result<usize> {
            let count = self.file.read_at(offset, buffer)?;
            self.read_bytes.fetch_add(count as u64, std::sync::atomic::Ordering::Relaxed);
            Ok(count)
        }

        fn next_data(&self, offset: u64) -> terrace_env::Result<Option<u64>> {
            self.file.next_data(offset)
        }

        fn size_bytes(&self) -> terrace_env::Result<u64> {
            self.file.size_bytes()
        }

        fn path(&self) -> &Path {
            self.file.path()
        }
    }

    #[test]
    fn a_sparse_log_of_60_gb_is_read_in_a_few_blocks() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let env = default_env();
        let mut bytes = Vec::new();
        LogEncoder::new().encode_into(b"first", &mut bytes);
        std::fs::write(&path, &bytes).unwrap();
        let far = 60 << 30;
        let sparse = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        sparse.set_len(far + 100).unwrap();
        let read = |expected: &[LogEvent<'_>]| {
            let file = Counted { file: env.open_random(&path).unwrap(), read_bytes: 0.into() };
            let mut reader = LogReader::new(FileSource::new(&file));
            for event in expected {
                assert_eq!(reader.next().unwrap(), *event);
            }
            assert_eq!(reader.end_of_bytes(), far + 100);
            let content = first_content(&file, bytes.len() as u64, u64::MAX).unwrap();
            assert_eq!(content.is_some(), expected.len() > 2);
            let read_bytes = file.read_bytes.into_inner();
            assert!(read_bytes < 1 << 20, "{read_bytes} bytes were read");
            let end = env.open_random(&path).unwrap().end_of_data().unwrap();
            assert_eq!(end > far, expected.len() > 2, "{end}");
            assert!(end <= far + 100 && end >= bytes.len() as u64, "{end}");
        };
        let first = LogEvent::Record { payload: b"first", offset: 0 };
        read(&[first, LogEvent::End]);
        std::os::unix::fs::FileExt::write_all_at(&sparse, &bytes, far).unwrap();
        read(&[first, LogEvent::Record { payload: b"first", offset: far }, LogEvent::End]);
    }
}
