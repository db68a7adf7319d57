//! Tells damage that a loss of power explains from damage that it does not.
//!
//! Logs and MANIFESTs only grow. A loss of power takes from such a file only what was written and not yet synced: its
//! sectors read as zeros, from where the write began to the end of the sector. A sync would have made them durable, so
//! nothing that was synced lies after such a place. Damage without a lost sector has another cause, such as a flipped
//! bit or a program that wrote into the file. What follows may well have been synced, and must not be dropped.

use std::path::Path;

use terrace_env::Env;

use crate::error::Result;

/// The smallest unit that a disk writes or loses.
const SECTOR_SIZE_BYTES: u64 = 512;

/// The number of bytes read at once.
const PIECE_SIZE_BYTES: u64 = 64 << 10;

/// Whether all or part of a sector of the file at `path` was lost between the bytes `start` and `end`.
pub(crate) fn has_lost_sector(env: &dyn Env, path: &Path, start: u64, end: u64) -> Result<bool> {
    let is_zeros = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
    let file = env.open_random(path)?;
    let end = end.min(file.size_bytes()?);
    let mut position = start;
    let mut piece = vec![0; PIECE_SIZE_BYTES as usize];
    while position < end {
        let piece_end = ((position / PIECE_SIZE_BYTES + 1) * PIECE_SIZE_BYTES).min(end);
        let bytes = &mut piece[..(piece_end - position) as usize];
        file.read_exact_at(position, bytes)?;
        let first_sector = (SECTOR_SIZE_BYTES - position % SECTOR_SIZE_BYTES) as usize;
        let (first, others) = bytes.split_at(first_sector.min(bytes.len()));
        if is_zeros(first) || others.chunks(SECTOR_SIZE_BYTES as usize).any(is_zeros) {
            return Ok(true);
        }
        position = piece_end;
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use terrace_env::MemoryEnv;

    use super::*;

    fn lost(bytes: &[u8], start: u64, end: u64) -> bool {
        let env = MemoryEnv::new();
        let path = Path::new("/file");
        let mut file = env.create(path).unwrap();
        file.append(bytes).unwrap();
        file.close().unwrap();
        has_lost_sector(&env, path, start, end).unwrap()
    }

    #[test]
    fn a_sector_that_reads_as_zeros_is_lost() {
        let mut bytes = vec![1; 2000];
        assert!(!lost(&bytes, 0, 2000));
        bytes[512..1023].fill(0);
        assert!(!lost(&bytes, 0, 2000), "one byte of it is there");
        bytes[1023] = 0;
        assert!(lost(&bytes, 0, 2000));
        assert!(!lost(&bytes, 1024, 2000));
    }

    #[test]
    fn a_write_may_begin_or_end_within_the_sector() {
        let mut bytes = vec![1; 2000];
        bytes[700..1024].fill(0);
        assert!(lost(&bytes, 700, 2000));
        assert!(!lost(&bytes, 600, 2000));
        bytes[1536..].fill(0);
        assert!(lost(&bytes, 1100, 9999));
        assert!(!lost(&bytes, 0, 0));
    }
}
