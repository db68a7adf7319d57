//! Records of logs and MANIFESTs, looked at one by one.
//!
//! A record whose length leads beyond the end of the file looks like one that was being written at a crash. If only the
//! length is damaged, that would hide every record behind it, silently: such files only grow, so there is nothing behind
//! a record that was never finished. (LevelDB goes on with the older state.)

use std::path::Path;

use terrace_env::Env;
use terrace_format::limits::LOG_BLOCK_SIZE_BYTES;
use terrace_format::log::{Fragment, FragmentHeader, next_header_offset};

use crate::error::Result;

const BLOCK_SIZE_BYTES: u64 = LOG_BLOCK_SIZE_BYTES as u64;

/// Whether a record at `offset` comes straight after the one that ended at `end`: at once, or, where no header fits any
/// more, at the start of the next block.
pub(crate) fn is_next(end: u64, offset: u64) -> bool {
    offset == end || offset == next_header_offset(end)
}

/// Where a record lies in the MANIFEST at `path` that shows that the record at `torn_offset`, which seems unfinished, is
/// damaged: another after it that checks, or this one, if it is whole and only its length is wrong.
///
/// Only the last block is looked at: earlier ones are full, so there a length that leads beyond the block is damage. And
/// only bytes before `end`: a writer may be adding others. Where the last block goes on with a record that began before,
/// no other is looked for within it: its bytes may be anything.
pub(crate) fn find_record_behind(
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

/// Whether `bytes` are one fragment, to the end, by its checksum, and the length says otherwise. A record may well be cut
/// off between two fragments: the last one is whole then, and so is its length.
fn is_whole_but_for_its_length(bytes: &[u8]) -> bool {
    FragmentHeader::split(bytes)
        .is_some_and(|(header, payload)| header.length_bytes != payload.len() && header.matches(payload))
}

/// The fragment, checksum and all, that starts a record where `bytes` begin, which are those of one block.
pub(crate) fn record_at(bytes: &[u8]) -> Option<Fragment<'_>> {
    Fragment::parse(bytes).filter(|fragment| fragment.kind.begins_record())
}
