//! How far logs are known to have been synced: the file `SYNCED` in the database's directory. Written after a log was synced
//! that takes no more records; read at the next open, by `recovery`.
//!
//! ```text
//! 000012.log 41984
//! 000015.log 2210
//! checksum 5c0e92f1
//! ```
//!
//! What was synced is not lost with the power, so no damage below such a point is taken for that. The file says what was
//! once true and remains so, as long as no other engine has the database: a log's number is never used again. Under a
//! MANIFEST that is not ours, and in a database that is made anew, it counts for nothing and is removed.
//!
//! It may be missing or older than the logs, and then only less is known: it is not synced itself, and other programs that use
//! the database know nothing of it. One whose checksum (CRC32C of the bytes before its line) does not match is passed over.
//!
//! LevelDB's parser of file names rejects the name, so LevelDB leaves the file alone.

use std::fmt::Write as _;
use std::path::Path;

use terrace_env::Env;
use terrace_format::crc::crc32c;
use terrace_format::file_name::{self, FileKind};

/// Larger ones are not ours.
const MAX_SIZE_BYTES: u64 = 1 << 20;

const CHECKSUM: &str = "checksum ";

/// Logs by number, with the size up to which each was synced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SyncedLogs {
    logs: Vec<(u64, u64)>,
}

impl SyncedLogs {
    /// What is known of the logs in `directory`. Whatever is wrong with the file, nothing is known then.
    pub(crate) fn read(env: &dyn Env, directory: &Path) -> Self {
        let path = directory.join(file_name::SYNCED);
        if env.file_size(&path).is_ok_and(|size| size <= MAX_SIZE_BYTES) {
            env.read_file(&path).ok().and_then(|contents| Self::decode(&contents)).unwrap_or_default()
        } else {
            Self::default()
        }
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.logs.is_empty()
    }

    /// Up to which byte the log `number` is known to have been synced.
    pub(crate) fn end_of(&self, number: u64) -> u64 {
        self.logs.iter().find(|log| log.0 == number).map_or(0, |log| log.1)
    }

    /// The log `number` was synced, with its name, when it had `size_bytes` bytes. Logs below `oldest` count no more.
    pub(crate) fn note(&mut self, number: u64, size_bytes: u64, oldest: u64) {
        self.logs.retain(|log| log.0 >= oldest && log.0 != number);
        self.logs.push((number, size_bytes));
    }

    /// Writes the file. It is of use, not needed: what goes wrong is passed over.
    pub(crate) fn write(&self, env: &dyn Env, directory: &Path) {
        let write = || -> terrace_env::Result<()> {
            let mut file = env.create(&directory.join(file_name::SYNCED))?;
            file.append(self.encode().as_bytes())?;
            file.close()
        };
        let _ = write();
    }

    fn encode(&self) -> String {
        let mut text = String::new();
        for (number, size_bytes) in &self.logs {
            let _ = writeln!(text, "{} {size_bytes}", file_name::log_name(*number));
        }
        let checksum = crc32c(text.as_bytes());
        let _ = writeln!(text, "{CHECKSUM}{checksum:08x}");
        text
    }

    fn decode(contents: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(contents).ok()?;
        let logs_end = text.rfind(CHECKSUM)?;
        let (logs, checksum) = text.split_at(logs_end);
        let checksum = checksum.strip_prefix(CHECKSUM)?.strip_suffix('\n')?;
        if u32::from_str_radix(checksum, 16).ok()? != crc32c(logs.as_bytes()) {
            return None;
        }
        let log = |line: &str| {
            let (name, size_bytes) = line.split_once(' ')?;
            let Some(FileKind::Log(number)) = file_name::parse(name) else { return None };
            Some((number, size_bytes.parse().ok()?))
        };
        Some(Self { logs: logs.lines().map(log).collect::<Option<_>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_read_back_and_a_changed_bit_is_noticed() {
        let mut synced = SyncedLogs::default();
        synced.note(3, 10, 0);
        synced.note(12, 41_984, 5);
        synced.note(15, 2_210, 5);
        assert_eq!((synced.end_of(3), synced.end_of(12), synced.end_of(15)), (0, 41_984, 2_210));
        let text = synced.encode();
        assert!(text.starts_with("000012.log 41984\n000015.log 2210\nchecksum "), "{text}");
        assert_eq!(SyncedLogs::decode(text.as_bytes()), Some(synced));
        for bit in 0..8 * text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let changed = SyncedLogs::decode(&bytes);
            // The checksum's digits may change their case.
            assert!(changed.is_none() || bytes.eq_ignore_ascii_case(text.as_bytes()), "bit {bit}");
        }
        for end in 0..text.len() {
            assert_eq!(SyncedLogs::decode(&text.as_bytes()[..end]), None, "cut at {end}");
        }
    }

    #[test]
    fn leveldb_does_not_know_the_name() {
        assert_eq!(file_name::parse(file_name::SYNCED), None);
    }
}
