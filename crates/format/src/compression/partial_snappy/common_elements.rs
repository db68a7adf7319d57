//! Decodes the common case of snappy elements quickly: away from the ends of input and output, a copy may write too
//! many bytes. The elements that follow overwrite them. [`PartialSnappy`](super::PartialSnappy) decodes the other
//! elements.

use super::{LARGEST_LENGTH_IN_TAG, Progress};

/// Number of bytes copied at once: the most that a copy has.
const CHUNK_SIZE_BYTES: usize = 64;
/// The same for a copy that may overlap its own output.
const SMALL_CHUNK_SIZE_BYTES: usize = 16;
/// The most that may be read from an element's start on: a tag, a length or an offset, and a chunk.
const LARGEST_ELEMENT_BYTES: usize = 1 + 4 + CHUNK_SIZE_BYTES;

/// Decodes elements until `wanted_bytes` are decoded, or up to an element that is damaged, rare, or near the end of
/// input or output.
pub(super) fn decode(input: &[u8], output: &mut [u8], progress: &mut Progress, wanted_bytes: usize) {
    let (Some(last_position), Some(last_start)) =
        (input.len().checked_sub(LARGEST_ELEMENT_BYTES), output.len().checked_sub(CHUNK_SIZE_BYTES))
    else {
        return;
    };
    let stop = wanted_bytes.min(last_start + 1);
    let Progress { mut position, mut produced } = *progress;
    let from = input.as_ptr();
    let to = output.as_mut_ptr();
    // The literal decoded last: its range in the output and its position in the input. A copy of part of it, as is
    // common in a value that repeats itself, reads from the input: to read output that was just written in other
    // pieces, the processor would have to wait until it is in its cache.
    let (mut literal_start, mut literal_end, mut literal_position) = (0, 0, 0);
    while produced < stop && position <= last_position {
        // SAFETY: here `position + LARGEST_ELEMENT_BYTES <= input.len()` and `produced + CHUNK_SIZE_BYTES <=
        // output.len()`. An element makes at most a chunk, all of it written from `produced` on, so `produced` stays
        // within the output. For a longer literal, another chunk is required on both sides. Reads from the input lie
        // within the largest element; if a copy is made from the literal, its source begins inside the literal,
        // before `position`, and ends at most a chunk further on. A copy reads output from `start` on, which lies
        // before `produced`, up to a chunk: the bound of the writes. Input and output are different slices; within
        // the output a chunk is read whole, then written.
        unsafe {
            let tag = *from.add(position);
            if tag & 3 == 0 {
                let short = usize::from(tag >> 2);
                let (mut length, mut start) = (short + 1, position + 1);
                if short >= LARGEST_LENGTH_IN_TAG {
                    length = usize::from(*from.add(start)) + 1;
                    start += 1;
                    let is_common = short == LARGEST_LENGTH_IN_TAG
                        && length <= 2 * CHUNK_SIZE_BYTES
                        && position + CHUNK_SIZE_BYTES <= last_position
                        && produced + CHUNK_SIZE_BYTES <= last_start;
                    if !is_common {
                        break;
                    }
                    let done = CHUNK_SIZE_BYTES;
                    copy::<CHUNK_SIZE_BYTES>(from.add(start + done), to.add(produced + done));
                }
                copy::<CHUNK_SIZE_BYTES>(from.add(start), to.add(produced));
                (literal_start, literal_position) = (produced, start);
                produced += length;
                literal_end = produced;
                position = start + length;
                continue;
            }
            let following = from.add(position + 1).cast::<[u8; 2]>().read();
            // Branches, because they are predicted: looking up the element's length would delay the next element.
            let (offset, length, size_bytes) = match tag & 3 {
                1 => {
                    (usize::from(tag >> 5) << 8 | usize::from(following[0]), usize::from(tag >> 2 & 7) + 4, 2)
                }
                2 => (usize::from(u16::from_le_bytes(following)), usize::from(tag >> 2) + 1, 3),
                _ => break,
            };
            if offset > produced || offset == 0 {
                break;
            }
            let start = produced - offset;
            if start >= literal_start && start + length <= literal_end {
                let source = literal_position + (start - literal_start);
                copy::<CHUNK_SIZE_BYTES>(from.add(source), to.add(produced));
            } else if offset >= SMALL_CHUNK_SIZE_BYTES {
                // Each chunk begins at least a chunk before its target, so it is already decoded.
                copy::<SMALL_CHUNK_SIZE_BYTES>(to.add(start), to.add(produced));
                if length > SMALL_CHUNK_SIZE_BYTES {
                    for done in (SMALL_CHUNK_SIZE_BYTES..CHUNK_SIZE_BYTES).step_by(SMALL_CHUNK_SIZE_BYTES) {
                        copy::<SMALL_CHUNK_SIZE_BYTES>(to.add(start + done), to.add(produced + done));
                    }
                }
            } else {
                break;
            }
            produced += length;
            position += size_bytes;
        }
    }
    *progress = Progress { position, produced };
}

/// Copies a chunk.
///
/// # Safety
///
/// `from` is readable and `to` writable for `SIZE_BYTES` bytes.
#[inline(always)]
unsafe fn copy<const SIZE_BYTES: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller guarantees it; arrays of bytes have no alignment.
    unsafe { to.cast::<[u8; SIZE_BYTES]>().write(from.cast::<[u8; SIZE_BYTES]>().read()) }
}
