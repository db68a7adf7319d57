//! Space that is set aside behind the end of a log, and mapped into memory, so that a record is stored without a call to
//! the system. Predecessor: `log_file`. Successor: `log_mapping`.
//!
//! The space is allocated step by step, each as large as all before it together, up to [`LARGEST_STEP_BYTES`]: so a
//! database with little data takes little room. A full disk shows here, as an error. Space behind the end reads as zeros.
//!
//! Only file systems are used on which a store into allocated space cannot fail for want of room. Extents that files may share, as
//! on XFS and btrfs (`cp` does that by itself), or a server in between take that promise back. What else may fail is caught.

use std::fs::File;
use std::io;

use rustix::fs::{FallocateFlags, fallocate, fstatfs};
use rustix::io::Errno;

use super::fault_handler;
use super::log_mapping::{LogMapping, MAPPING_STEP_BYTES};
use crate::LOG_RECORD_HEADER_SIZE_BYTES;

/// The first step.
const SMALLEST_STEP_BYTES: u64 = 128 << 10;

/// The largest step. Larger ones gain nothing measurable.
const LARGEST_STEP_BYTES: u64 = 8 << 20;

/// So many zeros stay behind the last record. By them, recovery knows a record that a killed process did not finish from
/// one that was damaged; and one byte of them is stored together with a header.
const SPARE_BYTES: u64 = 4 << 10;

/// So much is brought into memory at once.
const POPULATED_AT_ONCE_BYTES: u64 = 256 << 10;

/// ext4 and tmpfs, by their numbers in `statfs`.
const SUITABLE_FILE_SYSTEMS: [u64; 2] = [0xef53, 0x0102_1994];

/// The space behind the end of a log.
pub(super) struct LogSpace {
    mapping: Option<LogMapping>,
    /// Stores may go on to here: pages up to here are in memory, and spare bytes follow.
    ready_end: u64,
    /// The space set aside ends here; 0 if there is none.
    end: u64,
    next_step_bytes: u64,
    is_possible: bool,
    is_synced: bool,
}

impl LogSpace {
    /// No space yet, behind a log in `file`, and none ever unless `may_map`.
    pub(super) fn new(file: &File, may_map: bool) -> Self {
        let is_possible = may_map
            && fstatfs(file)
                .is_ok_and(|file_system| SUITABLE_FILE_SYSTEMS.contains(&(file_system.f_type as u64)));
        Self {
            mapping: None,
            ready_end: 0,
            end: 0,
            next_step_bytes: SMALLEST_STEP_BYTES,
            is_possible,
            is_synced: false,
        }
    }

    /// The log was synced. Logs that are will be again, each time with little that is new.
    pub(super) fn note_sync(&mut self) {
        if let Some(mapping) = self.mapping.as_ref().filter(|_| !self.is_synced) {
            mapping.keep_pages_small();
        }
        self.is_synced = true;
    }

    /// Whether a record that ends at `end` can be stored without setting more space aside, or written. The first step of a
    /// log does not count: it is small, and nothing is under way that it would have to wait for.
    #[inline]
    pub(super) fn needs_no_more(&self, end: u64) -> bool {
        match &self.mapping {
            Some(mapping) => mapping.reaches(end + SPARE_BYTES),
            None => true,
        }
    }

    /// Whether a record that ends at `end` can be stored at once.
    #[inline]
    pub(super) fn is_ready(&self, end: u64) -> bool {
        end <= self.ready_end
    }

    /// Stores a record at `offset`. It must be ready.
    ///
    /// # Errors
    /// The file has no page for it, since it was cut or the device fails. The log is to be [given up](Self::give_up).
    #[inline]
    pub(super) fn store(
        &mut self,
        offset: u64,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        payload: &[u8],
    ) -> Result<(), Errno> {
        self.mapping.as_mut().map_or(Ok(()), |mapping| mapping.store(offset, header, payload))
    }

    /// Leaves the file as it is, for good: nobody knows what it is like any more.
    pub(super) fn give_up(&mut self) {
        self.mapping = None;
        self.ready_end = 0;
        self.end = 0;
        self.is_possible = false;
    }

    /// Makes a record ready that ends at `end`, in the log of `size_bytes` bytes. `false` if it has to be written
    /// instead; the file is then as long as the log.
    ///
    /// # Errors
    /// The file could not be cut to its size.
    pub(super) fn make_ready(&mut self, file: &File, size_bytes: u64, end: u64) -> io::Result<bool> {
        if !self.is_possible {
            return Ok(false);
        }
        let needed_end = end + SPARE_BYTES;
        if !self.mapping.as_ref().is_some_and(|mapping| mapping.reaches(needed_end)) {
            let end_before = self.end.max(size_bytes);
            let whole_step = (end_before + self.next_step_bytes).max(needed_end);
            let result = self.extend(file, size_bytes, whole_step).or_else(|error| match error {
                // What is left may do.
                Errno::NOSPC | Errno::DQUOT => self.extend(file, size_bytes, needed_end),
                error => Err(error),
            });
            if let Err(error) = result {
                // The write that follows will say what is wrong, if anything is.
                self.is_possible = matches!(error, Errno::NOSPC | Errno::DQUOT);
                // The file may be longer by a part of what was asked for.
                self.end = self.end.max(whole_step);
                self.give_back(file, size_bytes)?;
                return Ok(false);
            }
            self.next_step_bytes = self.end.clamp(SMALLEST_STEP_BYTES, LARGEST_STEP_BYTES);
        }
        let populated_end = needed_end.max(size_bytes + POPULATED_AT_ONCE_BYTES).min(self.end);
        if let Some(mapping) = &self.mapping {
            mapping.populate(self.ready_end.max(size_bytes), populated_end);
        }
        self.ready_end = populated_end - SPARE_BYTES;
        Ok(true)
    }

    /// Allocates space up to `end` or a bit more, and maps it from the end of the log on.
    fn extend(&mut self, file: &File, size_bytes: u64, end: u64) -> Result<(), Errno> {
        if !fault_handler::is_in_place() {
            return Err(Errno::NOTSUP);
        }
        let allocated_end = self.end.max(size_bytes);
        let end = end.next_multiple_of(MAPPING_STEP_BYTES);
        fallocate(file, FallocateFlags::empty(), allocated_end, end - allocated_end)?;
        let start = size_bytes / MAPPING_STEP_BYTES * MAPPING_STEP_BYTES;
        let mapping = LogMapping::new(file, start, end).map_err(|_| Errno::NOMEM)?;
        // Whether it will be synced shows in the first step.
        if self.is_synced || end <= SMALLEST_STEP_BYTES {
            mapping.keep_pages_small();
        }
        self.mapping = Some(mapping);
        self.end = end;
        Ok(())
    }

    /// Cuts the file to the log's size, if it is longer.
    pub(super) fn give_back(&mut self, file: &File, size_bytes: u64) -> io::Result<()> {
        self.mapping = None;
        self.ready_end = 0;
        if self.end > size_bytes {
            file.set_len(size_bytes)?;
        }
        self.end = 0;
        self.next_step_bytes = SMALLEST_STEP_BYTES;
        Ok(())
    }
}
