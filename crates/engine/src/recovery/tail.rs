//! Examines single records of logs and MANIFESTs.
//!
//! A record whose length leads beyond the end of the file looks like one that was being written at a crash. If only its
//! length is damaged, stopping there would silently hide every record after it. Such files only grow, so nothing
//! follows a record that was never finished. (LevelDB continues with the older state.)

use std::path::Path;

use terrace_env::Env;
use terrace_format::limits::LOG_BLOCK_SIZE_BYTES;
use terrace_format::log::{Fragment, FragmentHeader, next_header_offset};

use crate::error::Result;

const BLOCK_SIZE_BYTES: u64 = LOG_BLOCK_SIZE_BYTES as u64;

/// Whether a record at `offset` directly follows the one that ended at `end`: at once, or at the start of the next
/// block if no header fits in the current one.
pub(crate) fn is_next(end: u64, offset: u64) -> bool {
    offset == end || offset == next_header_offset(end)
}

/// Finds the record in the MANIFEST at `path` which shows that the seemingly unfinished record at `torn_offset` is
/// damaged: a later record whose checksum matches, or this one, if it is whole and only its length is wrong.
///
/// Only the last block is examined: earlier blocks are full, so a length that leads beyond one of them is damage. Only
/// bytes before `end` are examined, because a writer may be adding others. If the last block continues a record that
/// began earlier, it is not searched for another record, because the bytes of that record may be anything.
pub(crate) fn find_record_after(
    env: &dyn Env,
    path: &Path,
    torn_offset: u64,
    end: u64,
) -> Result<Option<u64>> {
    let file = env.open_random(path)?;
    let end = end.min(file.size_bytes()?);
    let start = torn_offset.max(end.saturating_sub(1) / BLOCK_SIZE_BYTES * BLOCK_SIZE_BYTES);
    let mut tail = vec![0; LOG_BLOCK_SIZE_BYTES];
    let tail_bytes = file.read_at(start, &mut tail)?;
    tail.truncate(tail_bytes.min(end.saturating_sub(start) as usize));
    if is_whole_but_for_its_length(&tail) {
        return Ok(Some(start));
    }
    if start > torn_offset {
        return Ok(None);
    }
    Ok((1..tail.len()).find(|at| record_at(&tail[*at..]).is_some()).map(|at| start + at as u64))
}

/// Whether `bytes` are, by the checksum, exactly one fragment whose header states another length. A record may well be
/// cut off between two fragments; its last fragment is then whole, and so is its length.
fn is_whole_but_for_its_length(bytes: &[u8]) -> bool {
    FragmentHeader::split(bytes)
        .is_some_and(|(header, payload)| header.length_bytes != payload.len() && header.matches(payload))
}

/// The fragment at the beginning of `bytes` that starts a record and whose checksum matches. `bytes` must be those of
/// one block.
pub(crate) fn record_at(bytes: &[u8]) -> Option<Fragment<'_>> {
    Fragment::parse(bytes).filter(|fragment| fragment.kind.begins_record())
}
