//! The block at the end of a log, mapped into memory, so that storing a record needs no system call.
//!
//! The file ends where the last block of the log ends, and reads as zeros after the log. A reader of what a killed
//! process left therefore finds zeros to the end of the last block; and the first fragment of a record that continues
//! in the next block is followed by the end of the file until the rest is written. LevelDB's own logs may end in both
//! ways.
//!
//! A block is made ready by writing zeros to its end, together with the bytes that begin it. A full disk causes an
//! error there. The first record after a sync is written there instead of stored.
//!
//! Only file systems are used on which a store into written bytes cannot fail for lack of room. Extents that files may
//! share, as on XFS and btrfs (where `cp` shares them by default), or a server in between would break that promise.
//! Other failures are caught.

use std::fs::File;
use std::io::{self, IoSlice};

use rustix::fs::{SeekFrom, fstatfs, seek};
use rustix::io::{Errno, pwritev};

use super::fault_handler;
use super::log_mapping::{LogMapping, MAPPING_STEP_BYTES};
use crate::{LOG_BLOCK_SIZE_BYTES, LOG_RECORD_HEADER_SIZE_BYTES};

/// Number of bytes of the file that are mapped at once, even beyond its end: addresses cost nothing.
const WINDOW_BYTES: u64 = 4 << 20;

/// Logs that are synced are written page by page: the system then keeps their pages small, and a sync of a small
/// record writes no more than necessary.
const PAGE_SIZE_BYTES: u64 = 4 << 10;

/// The first bytes of a log, which show whether the log will be synced.
const FIRST_BYTES: u64 = 128 << 10;

/// Nothing is written page by page.
const WHOLLY_LARGE: u64 = u64::MAX;

/// The number of slices that the system takes at once.
const MAX_SLICES: usize = 1024;

/// The number of slices that are written at once where a write is cut: 8 fragments, or the pieces of a page.
const MAX_CUT_SLICES: usize = 16;

static ZEROS: [u8; LOG_BLOCK_SIZE_BYTES as usize] = [0; LOG_BLOCK_SIZE_BYTES as usize];

/// ext4 and tmpfs, by their numbers in `statfs`.
const SUITABLE_FILE_SYSTEMS: [u64; 2] = [0xef53, 0x0102_1994];

/// The space that is ready after the end of a log.
pub(crate) struct LogSpace {
    /// `Some` whenever something is ready.
    mapping: Option<LogMapping>,
    /// Zeros are in the file, and mapped, up to here; 0 if nothing is ready.
    end: u64,
    is_possible: bool,
    is_synced: bool,
    /// Whether nothing was stored or written since the last sync.
    is_clean: bool,
}

impl LogSpace {
    /// Creates the space for a log in `file`. Nothing is ready yet, and nothing ever will be unless `may_map`.
    pub(crate) fn new(file: &File, may_map: bool) -> Self {
        let is_possible = may_map
            && fstatfs(file)
                .is_ok_and(|file_system| SUITABLE_FILE_SYSTEMS.contains(&(file_system.f_type as u64)));
        Self { mapping: None, end: 0, is_possible, is_synced: false, is_clean: false }
    }

    /// Notes that the log was synced. Such logs will be synced again, each time with little that is new.
    pub(crate) fn note_sync(&mut self) {
        if let Some(mapping) = self.mapping.as_ref().filter(|_| !self.is_synced) {
            mapping.keep_pages_small();
        }
        self.is_synced = true;
        self.is_clean = true;
    }

    /// Whether a record that ends at `end` can be stored.
    #[inline]
    pub(crate) fn is_ready(&self, end: u64) -> bool {
        end <= self.end
    }

    /// Stores a record at `offset` of `file`. It must be ready.
    ///
    /// # Errors
    ///
    /// If the file has no page for the record, because it was truncated or the device fails. The caller must [give
    /// the log up](Self::give_up).
    #[inline]
    pub(crate) fn store(
        &mut self,
        file: &File,
        offset: u64,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        payload: &[u8],
    ) -> io::Result<()> {
        if self.is_clean {
            return self.write_ready(file, offset, header, payload);
        }
        let stored = self.mapping.as_mut().map_or(Ok(()), |mapping| mapping.store(offset, header, payload));
        stored.map_err(io::Error::from)
    }

    /// Writes a record that could be stored. After a sync, the first store into a page is a fault, and mapping the page
    /// makes the next sync dearer as well: two writes take less.
    ///
    /// As with stores, the header comes last and at once: the system does not end a process within a write to one page.
    #[cold]
    fn write_ready(
        &mut self,
        file: &File,
        offset: u64,
        header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        payload: &[u8],
    ) -> io::Result<()> {
        self.is_clean = false;
        let head_size_bytes = header.len() + 1;
        let crosses_pages = offset % PAGE_SIZE_BYTES + head_size_bytes as u64 > PAGE_SIZE_BYTES;
        let (Some((first, body)), false) = (payload.split_first(), crosses_pages) else {
            return self.store(file, offset, header, payload);
        };
        debug_assert!(self.is_ready(offset + (header.len() + payload.len()) as u64));
        // A write would make a file that was truncated longer again, with zeros instead of its records.
        // Since Linux 6.13, a call that reads the times of a file makes the next write change them, and the next sync
        // write the inode too. Seeking tells the size alone; no call here depends on the position.
        if seek(file, SeekFrom::End(0))? < self.end {
            return Err(Errno::IO.into());
        }
        let mut head = [*first; LOG_RECORD_HEADER_SIZE_BYTES + 1];
        head[..header.len()].copy_from_slice(header);
        write_all(file, offset + head.len() as u64, &mut [IoSlice::new(body)], WHOLLY_LARGE)?;
        Ok(write_all(file, offset, &mut [IoSlice::new(&head)], WHOLLY_LARGE)?)
    }

    /// Leaves the file as it is for good, because its state is unknown.
    pub(crate) fn give_up(&mut self) {
        self.mapping = None;
        self.end = 0;
        self.is_possible = false;
    }

    /// Writes `pieces`, one after another, at the end of the log, `offset`, and makes the rest of their last block ready if
    /// possible. If the process dies during the call, a prefix of them remains, and the file ends there.
    ///
    /// # Errors
    ///
    /// If the system cannot write them; a part of them may then be in the file.
    pub(crate) fn write(&mut self, file: &File, offset: u64, pieces: &[&[u8]]) -> io::Result<()> {
        let end = offset + pieces.iter().map(|piece| piece.len() as u64).sum::<u64>();
        if self.is_possible {
            let ready_end = end.next_multiple_of(LOG_BLOCK_SIZE_BYTES);
            let zeros = &ZEROS[..(ready_end - end) as usize];
            let keeps_pages_small = self.is_synced || ready_end <= FIRST_BYTES;
            // Large pages are good for all blocks but the last: nothing more is stored into those.
            let small_from = if keeps_pages_small { ready_end - LOG_BLOCK_SIZE_BYTES } else { WHOLLY_LARGE };
            match write_pieces(file, offset, pieces, zeros, small_from) {
                Ok(()) => {
                    self.map(file, offset, end, ready_end, keeps_pages_small);
                    self.is_clean = false;
                    return Ok(());
                }
                // The rest may fit without the zeros.
                Err(Errno::NOSPC | Errno::DQUOT) => self.give_back(file, offset)?,
                Err(error) => return Err(error.into()),
            }
        }
        write_pieces(file, offset, pieces, &[], WHOLLY_LARGE)?;
        Ok(())
    }

    /// Maps the zeros from `end` to `ready_end`. If that is impossible, records are written.
    fn map(&mut self, file: &File, offset: u64, end: u64, ready_end: u64, keeps_pages_small: bool) {
        if !self.mapping.as_ref().is_some_and(|mapping| mapping.covers(ready_end)) {
            let start = offset / MAPPING_STEP_BYTES * MAPPING_STEP_BYTES;
            let window_end = (start + WINDOW_BYTES).max(ready_end).next_multiple_of(MAPPING_STEP_BYTES);
            // A program that has since set its own signal handler keeps it.
            let may_map = fault_handler::is_in_place();
            self.mapping = may_map.then(|| LogMapping::new(file, start, window_end).ok()).flatten();
            if let Some(mapping) = self.mapping.as_ref().filter(|_| keeps_pages_small) {
                mapping.keep_pages_small();
            }
        }
        self.end = 0;
        match &mut self.mapping {
            Some(mapping) => {
                mapping.set_ready(ready_end);
                // Most logs of a program with many databases never fill their first block. Where each record is synced, none
                // is stored.
                if end > LOG_BLOCK_SIZE_BYTES && !self.is_clean {
                    mapping.populate(end, ready_end);
                }
                self.end = ready_end;
            }
            None => {
                self.is_possible = false;
                // Zeros that remain do no harm.
                let _ = file.set_len(end);
            }
        }
    }

    /// Truncates the file to the log's size, after which nothing is ready any more.
    pub(crate) fn give_back(&mut self, file: &File, size_bytes: u64) -> io::Result<()> {
        self.mapping = None;
        self.end = 0;
        // If the file is not longer, nothing is requested from the disk, which may be full: on XFS, cutting a block
        // that another file shares takes room.
        if file.metadata()?.len() > size_bytes { file.set_len(size_bytes) } else { Ok(()) }
    }

    /// Whether the file may be longer than the log.
    pub(crate) fn has_more_than(&self, size_bytes: u64) -> bool {
        self.end > size_bytes
    }
}

/// Writes `pieces`, and then `zeros`, from `offset` on; what lies after `small_from` page by page.
fn write_pieces(
    file: &File,
    offset: u64,
    pieces: &[&[u8]],
    zeros: &[u8],
    small_from: u64,
) -> Result<(), Errno> {
    // A record that fits a block, or its only fragment in the next one.
    if let [_] | [_, _] = pieces {
        let mut slices = [IoSlice::new(zeros); 3];
        for (slice, piece) in slices.iter_mut().zip(pieces) {
            *slice = IoSlice::new(piece);
        }
        return write_all(file, offset, &mut slices[..=pieces.len()], small_from);
    }
    let mut slices: Vec<_> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
    slices.push(IoSlice::new(zeros));
    write_all(file, offset, &mut slices, small_from)
}

/// Writes `bytes` from `offset` on; what lies after `small_from` page by page.
fn write_all(
    file: &File,
    mut offset: u64,
    mut bytes: &mut [IoSlice<'_>],
    small_from: u64,
) -> Result<(), Errno> {
    // Removes slices that are empty.
    IoSlice::advance_slices(&mut bytes, 0);
    while !bytes.is_empty() {
        let most = match small_from.checked_sub(offset) {
            Some(until_small @ 1..) => until_small,
            _ => PAGE_SIZE_BYTES - offset % PAGE_SIZE_BYTES,
        };
        let written = if small_from == WHOLLY_LARGE {
            pwritev(file, &bytes[..bytes.len().min(MAX_SLICES)], offset)
        } else {
            let (cut, count) = first_bytes(bytes, most);
            pwritev(file, &cut[..count], offset)
        };
        match written {
            Ok(0) => return Err(Errno::IO),
            Ok(written) => {
                IoSlice::advance_slices(&mut bytes, written);
                offset += written as u64;
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The beginning of `bytes`: at most so many of them, and as many slices as there is room for. Returns the number of slices.
fn first_bytes<'a>(bytes: &'a [IoSlice<'_>], most: u64) -> ([IoSlice<'a>; MAX_CUT_SLICES], usize) {
    let mut first = [IoSlice::new(&[]); MAX_CUT_SLICES];
    let mut count = 0;
    let mut left = usize::try_from(most).unwrap_or(usize::MAX);
    for (cut, slice) in first.iter_mut().zip(bytes) {
        let size_bytes = slice.len().min(left);
        *cut = IoSlice::new(&slice[..size_bytes]);
        left -= size_bytes;
        count += usize::from(size_bytes > 0);
    }
    (first, count)
}
