//! Records how far files are known to have been synced, in the file `000000.dbtmp` in the database's directory. It is written
//! after a sync of a log that takes no more records, when an open has written a MANIFEST, and at a close. The next open reads
//! it.
//!
//! ```text
//! 000012.log 41984
//! 000015.log 2210
//! MANIFEST-000007 1234 2049 918273
//! checksum 5c0e92f1
//! ```
//!
//! Each of these files is durable up to the size given. Two things follow:
//!
//! - Damage in that part of a log is not taken for a loss of power (`recovery/log_replay`).
//! - A MANIFEST that is no longer than its size here is in force and durable, and so is `CURRENT`, so the open
//!   continues in it (`db/finish_open`) instead of writing a new one. This is a promise of durability, and a copy of the
//!   directory that has not reached the disk must not inherit it. The line therefore ends with what distinguishes the
//!   file from its copies: its file system and inode ([`FileId`]).
//!
//! The file states what was once true, and that remains true until another engine opens the database: a log's number is
//! never reused, and a MANIFEST only grows. If the MANIFEST is not ours, or if the database is newly created, the file
//! counts for nothing and is removed.
//!
//! The file may be missing or older than the others. In that case less is known, and nothing else changes: the file
//! itself is not synced, and other programs that use the database know nothing of it. If its checksum (CRC32C of the
//! bytes before the checksum's line) does not match, the file is ignored.
//!
//! To LevelDB, the name is that of a temporary file that its writer left behind. LevelDB removes it when it opens the database, after
//! which the file would count for nothing anyway, and when it destroys it. So do versions of Terrace that called the file `SYNCED`.
//! Theirs is read where the new one is missing, and removed once the new one is written.

use std::fmt::Write as _;
use std::path::Path;

use terrace_env::{Env, FileId};
use terrace_format::crc::crc32c;
use terrace_format::file_name::{self, FileKind};

/// A larger file is not ours.
const MAX_SIZE_BYTES: u64 = 1 << 20;

const CHECKSUM: &str = "checksum ";

/// What is known to have been synced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SyncedFiles {
    /// The number of each log and the size up to which it was synced.
    logs: Vec<(u64, u64)>,
    manifest: Option<SyncedManifest>,
}

/// A MANIFEST that was durable when it had this size, as was the `CURRENT` that named it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SyncedManifest {
    pub(crate) number: u64,
    pub(crate) size_bytes: u64,
    pub(crate) id: FileId,
}

impl SyncedFiles {
    /// Reads what is known of the files in `directory`. If anything is wrong with the file, nothing is known.
    pub(crate) fn read(env: &dyn Env, directory: &Path) -> Self {
        let read = |name| Self::read_file(env, &directory.join(name));
        read(file_name::SYNCED).or_else(|| read(file_name::FORMER_SYNCED)).unwrap_or_default()
    }

    fn read_file(env: &dyn Env, path: &Path) -> Option<Self> {
        if env.file_size(path).is_ok_and(|size| size <= MAX_SIZE_BYTES) {
            env.read_file(path).ok().and_then(|contents| Self::decode(&contents))
        } else {
            None
        }
    }

    /// Removes the file under both names. For a database to which it does not belong.
    pub(crate) fn remove(env: &dyn Env, directory: &Path, names: &[String]) -> terrace_env::Result<()> {
        let is_ours = |name: &&str| names.iter().any(|listed| listed == name);
        [file_name::SYNCED, file_name::FORMER_SYNCED]
            .into_iter()
            .filter(is_ours)
            .try_for_each(|name| env.remove_file(&directory.join(name)))
    }

    /// Moves what is known to the file's new name.
    pub(crate) fn rename_former(&self, env: &dyn Env, directory: &Path) {
        // Until the new one is written, the former one stays. Both are true.
        if *self == Self::default() || self.try_write(env, directory).is_ok() {
            let _ = env.remove_file(&directory.join(file_name::FORMER_SYNCED));
        }
    }

    /// The byte up to which the log `number` is known to have been synced.
    pub(crate) fn end_of_log(&self, number: u64) -> u64 {
        self.logs.iter().find(|log| log.0 == number).map_or(0, |log| log.1)
    }

    /// The MANIFEST that is known to have been synced.
    pub(crate) fn manifest(&self) -> Option<SyncedManifest> {
        self.manifest
    }

    /// Notes that the log `number` was synced, along with its name, when it had `size_bytes` bytes. Logs below `oldest`
    /// no longer count.
    pub(crate) fn note_log(&mut self, number: u64, size_bytes: u64, oldest: u64) {
        self.logs.retain(|log| log.0 >= oldest && log.0 != number);
        self.logs.push((number, size_bytes));
    }

    /// Notes that this MANIFEST was synced, and so was the `CURRENT` that names it.
    pub(crate) fn note_manifest(&mut self, manifest: SyncedManifest) {
        self.manifest = Some(manifest);
    }

    /// Writes the file. The file is useful but not needed, so errors are ignored.
    pub(crate) fn write(&self, env: &dyn Env, directory: &Path) {
        let _ = self.try_write(env, directory);
    }

    fn try_write(&self, env: &dyn Env, directory: &Path) -> terrace_env::Result<()> {
        let mut file = env.create(&directory.join(file_name::SYNCED))?;
        file.append(self.encode().as_bytes())?;
        file.close()
    }

    fn encode(&self) -> String {
        let mut text = String::new();
        for (number, size_bytes) in &self.logs {
            let _ = writeln!(text, "{} {size_bytes}", file_name::log_name(*number));
        }
        if let Some(SyncedManifest { number, size_bytes, id: FileId { device, inode } }) = self.manifest {
            let _ = writeln!(text, "{} {size_bytes} {device} {inode}", file_name::manifest_name(number));
        }
        let checksum = crc32c(text.as_bytes());
        let _ = writeln!(text, "{CHECKSUM}{checksum:08x}");
        text
    }

    fn decode(contents: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(contents).ok()?;
        let (lines, checksum) = text.split_at(text.rfind(CHECKSUM)?);
        let checksum = checksum.strip_prefix(CHECKSUM)?.strip_suffix('\n')?;
        if u32::from_str_radix(checksum, 16).ok()? != crc32c(lines.as_bytes()) {
            return None;
        }
        let mut synced = Self::default();
        for line in lines.lines() {
            let (name, numbers) = line.split_once(' ')?;
            let numbers: Vec<u64> =
                numbers.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
            match (file_name::parse(name)?, &numbers[..]) {
                (FileKind::Log(number), &[size_bytes]) => synced.logs.push((number, size_bytes)),
                (FileKind::Manifest(number), &[size_bytes, device, inode]) => {
                    let id = FileId { device, inode };
                    synced.manifest = Some(SyncedManifest { number, size_bytes, id });
                }
                _ => return None,
            }
        }
        Some(synced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_read_back_and_a_changed_bit_is_noticed() {
        let mut synced = SyncedFiles::default();
        synced.note_log(3, 10, 0);
        synced.note_log(12, 41_984, 5);
        synced.note_log(15, 2_210, 5);
        assert_eq!((synced.end_of_log(3), synced.end_of_log(12), synced.end_of_log(15)), (0, 41_984, 2_210));
        let id = FileId { device: 2049, inode: 918_273 };
        synced.note_manifest(SyncedManifest { number: 7, size_bytes: 1234, id });
        let text = synced.encode();
        assert!(
            text.starts_with(
                "000012.log 41984\n000015.log 2210\nMANIFEST-000007 1234 2049 918273\nchecksum "
            ),
            "{text}"
        );
        assert_eq!(SyncedFiles::decode(text.as_bytes()), Some(synced));
        for bit in 0..8 * text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let changed = SyncedFiles::decode(&bytes);
            // The checksum's digits may change their case.
            assert!(changed.is_none() || bytes.eq_ignore_ascii_case(text.as_bytes()), "bit {bit}");
        }
        for end in 0..text.len() {
            assert_eq!(SyncedFiles::decode(&text.as_bytes()[..end]), None, "cut at {end}");
        }
    }

    #[test]
    fn leveldb_takes_it_for_a_temporary_file_and_left_the_former_one_alone() {
        assert_eq!(file_name::parse(file_name::SYNCED), Some(FileKind::Temporary(0)));
        assert_eq!(file_name::parse(file_name::FORMER_SYNCED), None);
    }
}
