//! The map of names as bytes.
//!
//! ```text
//! handle 0   0        first copy
//!            64 KiB   second copy
//!
//! copy       magic (8) · generation (8) · length of the names (4) · names · CRC-32 of all before (4)
//! name       slot (2) · length (2) · path, parts separated by `/` (UTF-8)
//! ```
//!
//! Numbers are little-endian. The slot of a directory is [`DIRECTORY`]. A file with two names is listed twice.

use std::io;
use std::path::{Path, PathBuf};

/// Where the second copy begins, and the most that a copy takes, in bytes.
pub(super) const COPY_SIZE_BYTES: usize = 64 << 10;

const MAGIC: &[u8; 8] = b"terrpool";
const HEADER_SIZE_BYTES: usize = MAGIC.len() + 8 + 4;
const CHECKSUM_SIZE_BYTES: usize = 4;
const DIRECTORY: u16 = u16::MAX;

/// One name: the slot of its file, or `None` for a directory.
pub(super) type Name = (PathBuf, Option<usize>);

/// Adds a name to the bytes of the names.
pub(super) fn encode_name(path: &Path, slot: Option<usize>, names: &mut Vec<u8>) -> io::Result<()> {
    let parts: Option<Vec<&str>> = path.iter().map(|part| part.to_str()).collect();
    let parts = parts.ok_or_else(|| refused("a name is not UTF-8"))?;
    let text = parts.join("/");
    let length = u16::try_from(text.len()).map_err(|_| refused("a path is longer than 65,535 bytes"))?;
    let slot = slot.map_or(DIRECTORY, |slot| u16::try_from(slot).expect("a pool has fewer slots"));
    names.extend_from_slice(&slot.to_le_bytes());
    names.extend_from_slice(&length.to_le_bytes());
    names.extend_from_slice(text.as_bytes());
    Ok(())
}

fn refused(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, problem)
}

/// Makes a copy of the map.
pub(super) fn encode(generation: u64, names: &[u8]) -> io::Result<Vec<u8>> {
    let size_bytes = HEADER_SIZE_BYTES + names.len() + CHECKSUM_SIZE_BYTES;
    if size_bytes > COPY_SIZE_BYTES {
        return Err(io::Error::new(
            io::ErrorKind::StorageFull,
            "the map of the pool has no room for more names",
        ));
    }
    let mut copy = Vec::with_capacity(size_bytes);
    copy.extend_from_slice(MAGIC);
    copy.extend_from_slice(&generation.to_le_bytes());
    copy.extend_from_slice(&(names.len() as u32).to_le_bytes());
    copy.extend_from_slice(names);
    copy.extend_from_slice(&crc32fast::hash(&copy).to_le_bytes());
    Ok(copy)
}

/// Reads a copy at the front of `bytes`: its generation and the bytes of the names. `None` if it is not whole, or there is none.
pub(super) fn decode(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (generation, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (names, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    let (checksum, _) = rest.split_first_chunk()?;
    let is_whole =
        crc32fast::hash(&bytes[..HEADER_SIZE_BYTES + names.len()]) == u32::from_le_bytes(*checksum);
    is_whole.then(|| (u64::from_le_bytes(*generation), names))
}

/// Reads the names of a whole copy. `None` if they are not what [`encode_name`] writes.
pub(super) fn decode_names(mut names: &[u8]) -> Option<Vec<Name>> {
    let mut decoded = Vec::new();
    while !names.is_empty() {
        let (slot, rest) = names.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (text, rest) = rest.split_at_checked(u16::from_le_bytes(*length).into())?;
        let slot = u16::from_le_bytes(*slot);
        decoded.push((PathBuf::from(str::from_utf8(text).ok()?), (slot != DIRECTORY).then_some(slot.into())));
        names = rest;
    }
    Some(decoded)
}

/// The error of a pool whose map, or a file of it, is not what it should be.
pub(super) fn damaged(problem: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the pool of files is damaged: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> (Vec<Name>, Vec<u8>) {
        let names = vec![
            (PathBuf::from("db"), None),
            (PathBuf::from("db/CURRENT"), Some(1)),
            (PathBuf::from("db/ä ö"), Some(300)),
        ];
        let mut bytes = Vec::new();
        names.iter().for_each(|(path, slot)| encode_name(path, *slot, &mut bytes).unwrap());
        (names, bytes)
    }

    #[test]
    fn copies_are_read_back() {
        let (names, bytes) = sample();
        let mut copy = encode(7, &bytes).unwrap();
        copy.resize(COPY_SIZE_BYTES, 0xaa);
        let (generation, found) = decode(&copy).unwrap();
        assert_eq!((generation, found), (7, &bytes[..]));
        assert_eq!(decode_names(found).unwrap(), names);
    }

    #[test]
    fn every_changed_or_missing_byte_is_noticed() {
        let copy = encode(7, &sample().1).unwrap();
        for at in 0..copy.len() {
            let mut changed = copy.clone();
            changed[at] ^= 1;
            assert_eq!(decode(&changed), None, "byte {at}");
            assert_eq!(decode(&copy[..at]), None, "the first {at} bytes");
        }
        assert_eq!(decode(&[0; COPY_SIZE_BYTES]), None);
    }

    #[test]
    fn names_that_are_cut_off_are_refused() {
        let bytes = sample().1;
        let ends = [0, 6, 20];
        for end in 0..bytes.len() {
            assert_eq!(decode_names(&bytes[..end]).is_some(), ends.contains(&end), "{end} bytes");
        }
    }

    #[test]
    fn a_map_has_a_largest_size() {
        let error = encode(1, &vec![0; COPY_SIZE_BYTES]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
