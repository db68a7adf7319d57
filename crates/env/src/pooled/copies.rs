//! The two copies of the map in its file, and the order in which they are written.
//!
//! ```text
//!              first copy           second copy
//!   g returned     g                    g
//!   g + 1          written, flushed     g
//!                  g + 1                written, flushed
//!   g + 1 returned g + 1                g + 1
//! ```
//!
//! * Only one copy is written at a time, while the other one is whole and durable. So whenever the process or the machine stops, one copy at
//!   least is whole, and it is not older than the last change that returned.
//! * When a change has returned, both copies hold it. So it does not matter whether a copy that is not whole was torn by a stop or damaged by
//!   the device: the other one is right. A slot that it does not list belongs to no file, and may be emptied.
//! * What a process finds need not be durable: the one before may have died before a flush, or a flush failed and the system forgot what it
//!   could not write. So [`make_durable`] writes the newest copy again, with the bytes that it has, and then the other one, each with a flush. Only
//!   then may a slot be emptied or a name change: until then, a loss of power could bring back the generation before, which lists it.
//!
//! If a stop tears one copy and the device damages the other, no copy is whole. That is noticed, and nothing is changed.

use std::io;

use super::Handles;
use super::map::{COPY_SIZE_BYTES, damaged, decode, encode};

/// The handle that holds the map.
pub(super) const MAP_HANDLE: usize = 0;

/// The newest copy that is whole.
#[derive(Debug)]
pub(super) struct Newest {
    /// 0 if no name was ever given.
    pub(super) generation: u64,
    /// The bytes of the names.
    pub(super) names: Vec<u8>,
    /// Which copy it is: 0 or 1.
    place: usize,
}

/// Finds the newest copy.
///
/// # Errors
///
/// Kind [`io::ErrorKind::InvalidData`] if there is none, though there once was. Also if the host cannot read.
pub(super) fn newest(handles: &dyn Handles) -> io::Result<Newest> {
    let mut bytes = vec![0; 2 * COPY_SIZE_BYTES];
    let read_bytes = handles.read_at(MAP_HANDLE, 0, &mut bytes)?;
    bytes[read_bytes..].fill(0);
    let (first, second) = bytes.split_at(COPY_SIZE_BYTES);
    let whole = [first, second].into_iter().map(decode).enumerate();
    let newest = whole
        .filter_map(|(place, copy)| copy.map(|(generation, names)| (generation, names, place)))
        // Of two that are the same, the first one was flushed before.
        .max_by_key(|(generation, _, place)| (*generation, 1 - *place));
    match newest {
        Some((generation, names, place)) => Ok(Newest { generation, names: names.to_vec(), place }),
        // The first change may have torn the first copy, but then it has not returned.
        None if second.iter().all(|&byte| byte == 0) && are_empty(handles)? => {
            Ok(Newest { generation: 0, names: Vec::new(), place: 0 })
        }
        None => Err(damaged("no copy of the map is whole")),
    }
}

/// Whether all slots are empty.
fn are_empty(handles: &dyn Handles) -> io::Result<bool> {
    for slot in MAP_HANDLE + 1..handles.count() {
        if handles.size_bytes(slot)? > 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Makes both copies what the newest one is, durably, and the file as long as it will ever be.
pub(super) fn make_durable(handles: &dyn Handles, newest: &Newest) -> io::Result<()> {
    if newest.generation == 0 {
        return Ok(());
    }
    let mut copy = encode(newest.generation, &newest.names)?;
    copy.resize(COPY_SIZE_BYTES, 0);
    write_both(handles, &copy, newest.place)
}

/// What a change to these names writes.
///
/// # Errors
///
/// Kind [`io::ErrorKind::StorageFull`] if there are too many names.
pub(super) fn encode_change(generation: u64, names: &[u8]) -> io::Result<Vec<u8>> {
    let mut copy = encode(generation, names)?;
    if generation == 1 {
        // The file gets its whole size, so that no later change needs room.
        copy.resize(COPY_SIZE_BYTES, 0);
    }
    Ok(copy)
}

/// Writes what a change writes. On return it is durable.
pub(super) fn store(handles: &dyn Handles, copy: &[u8]) -> io::Result<()> {
    write_both(handles, copy, 0)
}

fn write_both(handles: &dyn Handles, copy: &[u8], first: usize) -> io::Result<()> {
    for place in [first, 1 - first] {
        handles.write_at(MAP_HANDLE, (place * COPY_SIZE_BYTES) as u64, copy)?;
        handles.flush(MAP_HANDLE)?;
    }
    Ok(())
}
