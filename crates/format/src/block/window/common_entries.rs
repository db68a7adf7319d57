//! Decodes the common case of entries quickly: short lengths, short keys, away from the block's end.
//! [`Window`](super::Window) decodes the other entries.
//!
//! A key is assembled from the previous key, which is in registers, and from bytes of the block: the read starts as
//! many bytes before the suffix as the two keys share. To build the key in memory, on top of the previous key, would
//! mean reading in two pieces what was just written, and waiting for it.
//!
//! ```text
//!   key before       a s t e r │ . . .
//!   from the block   ░ ░ ░ u t │ e . .      suffix "ute", after its entry's header ░
//!   mask for 3       ■ ■ ■ □ □ │ □ □ □
//!   key              a s t u t │ e . .
//! ```

use super::{DecodedEntry, Progress};

/// Longest key that is assembled here, in bytes.
const LARGEST_KEY_BYTES: usize = 32;
/// Three lengths of one byte each.
const HEADER_SIZE_BYTES: usize = 3;

/// `n` ones followed by zeros, from index `LARGEST_KEY_BYTES - n` on.
const MASKS: [u8; 2 * LARGEST_KEY_BYTES] = {
    let mut masks = [0; 2 * LARGEST_KEY_BYTES];
    let mut index = 0;
    while index < LARGEST_KEY_BYTES {
        masks[index] = 0xff;
        index += 1;
    }
    masks
};

type Key = [u8; LARGEST_KEY_BYTES];

/// Decodes entries of `contents` that begin before `end`. Stops at `max_entries`, when no room is left for keys, or
/// at an entry that is damaged or not of the common kind; the caller cannot tell which.
#[inline(always)]
pub(super) fn decode(
    contents: &[u8],
    end: usize,
    least_key_length: usize,
    max_entries: usize,
    entries: &mut Vec<DecodedEntry>,
    keys: &mut [u8],
    progress: &mut Progress,
) {
    let Some(last_offset) = contents.len().checked_sub(HEADER_SIZE_BYTES + LARGEST_KEY_BYTES) else { return };
    let Some(last_key_start) = keys.len().checked_sub(LARGEST_KEY_BYTES) else { return };
    let Progress { mut offset, mut before_start, mut before_length, mut key_start } = *progress;
    let max_entries = max_entries.min(entries.capacity());
    let Some(&(mut key)) = keys.get(before_start..).and_then(<[u8]>::first_chunk::<LARGEST_KEY_BYTES>) else {
        return;
    };
    while offset < end && offset <= last_offset && key_start <= last_key_start && entries.len() < max_entries
    {
        // SAFETY: `offset + HEADER_SIZE_BYTES + LARGEST_KEY_BYTES` lies within the contents.
        let header = unsafe { contents.get_unchecked(offset..offset + HEADER_SIZE_BYTES) };
        let (shared, suffix, value) = (header[0], header[1], header[2]);
        if (shared | suffix | value) >= 0x80 {
            break;
        }
        let (shared, suffix) = (usize::from(shared), usize::from(suffix));
        let key_length = shared + suffix;
        let suffix_start = offset + HEADER_SIZE_BYTES;
        let value_start = suffix_start + suffix;
        let value_end = value_start + usize::from(value);
        let is_common = shared <= before_length
            && key_length >= least_key_length
            && key_length <= LARGEST_KEY_BYTES
            && shared <= suffix_start
            && value_end <= end;
        if !is_common {
            break;
        }
        // SAFETY: `shared` is at most `suffix_start` and at most a key's length, so the first range begins within the
        // contents and ends at most a key after `suffix_start`, and the second lies within the masks. The third lies
        // within the keys by the loop's condition.
        unsafe {
            let block = contents.as_ptr().add(suffix_start - shared).cast::<Key>().read();
            let mask = MASKS.as_ptr().add(LARGEST_KEY_BYTES - shared).cast::<Key>().read();
            key = std::array::from_fn(|index| (key[index] & mask[index]) | (block[index] & !mask[index]));
            keys.as_mut_ptr().add(key_start).cast::<Key>().write(key);
        }
        entries.push(DecodedEntry { key_start, key_end: key_start + key_length, value_start, value_end });
        offset = value_end;
        (before_start, before_length) = (key_start, key_length);
        key_start += key_length;
    }
    *progress = Progress { offset, before_start, before_length, key_start };
}
