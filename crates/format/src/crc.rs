//! crc32c (Castagnoli), the checksum of log records and blocks, and the mask under which LevelDB stores it.
//!
//! Short inputs (most log records) go through the processor's own crc instruction in an inlined loop, eight bytes at
//! a time; from 256 bytes on the wide folding of the `crc-fast` crate is faster. Both are chosen at run time
//! according to the processor. WebAssembly has no such instructions, and that crate brings 580 KB of tables: there, sums
//! are made from 8 KiB of our own.
//!
//! The mask: a crc over bytes that contain a crc has weak spots, and a value may well contain a log block. The stored
//! number is therefore the crc rotated right by 15 bits, plus a constant.

#[cfg(not(target_family = "wasm"))]
use crc_fast::{CrcAlgorithm, Digest};

#[cfg(any(target_family = "wasm", test))]
use crate::crc_by_table;

/// What [`mask`] adds after the rotation. Fixed by the format.
pub const MASK_DELTA: u32 = 0xa282_ead8;

/// Inputs shorter than this are summed inline. Measured: setting up the folding costs some 15 ns.
const INLINE_LIMIT_BYTES: usize = 256;

/// The crc32c of `bytes`.
#[inline]
pub fn crc32c(bytes: &[u8]) -> u32 {
    extend(0, bytes)
}

/// Extends `crc`, the crc32c of some bytes, to the crc32c of those bytes followed by `bytes`.
#[inline]
pub fn extend(crc: u32, bytes: &[u8]) -> u32 {
    if bytes.len() < INLINE_LIMIT_BYTES {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("sse4.2") {
            // SAFETY: the processor has SSE4.2, as just checked; the function has no other condition.
            return unsafe { extend_sse42(crc, bytes) };
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("crc") {
            // SAFETY: the processor has the crc extension, as just checked; the function has no other condition.
            return unsafe { extend_aarch64(crc, bytes) };
        }
    }
    extend_wide(crc, bytes)
}

/// The number stored for `crc`: rotated right by 15 bits, plus [`MASK_DELTA`].
#[inline]
pub fn mask(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(MASK_DELTA)
}

/// The crc stored as `masked`: the inverse of [`mask`].
#[inline]
pub fn unmask(masked: u32) -> u32 {
    masked.wrapping_sub(MASK_DELTA).rotate_left(15)
}

#[cfg(target_family = "wasm")]
fn extend_wide(crc: u32, bytes: &[u8]) -> u32 {
    crc_by_table::extend(crc, bytes)
}

#[cfg(not(target_family = "wasm"))]
fn extend_wide(crc: u32, bytes: &[u8]) -> u32 {
    // The digest's state is the crc before its final inversion.
    let mut digest = Digest::new_with_init_state(CrcAlgorithm::Crc32Iscsi, u64::from(!crc));
    digest.update(bytes);
    digest.finalize() as u32
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
#[inline]
fn extend_sse42(crc: u32, bytes: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64};

    let (words, mut tail) = bytes.as_chunks::<8>();
    let mut state = u64::from(!crc);
    for word in words {
        state = _mm_crc32_u64(state, u64::from_le_bytes(*word));
    }
    let mut state = state as u32;
    if let Some((half, rest)) = tail.split_first_chunk::<4>() {
        state = _mm_crc32_u32(state, u32::from_le_bytes(*half));
        tail = rest;
    }
    for &byte in tail {
        state = _mm_crc32_u8(state, byte);
    }
    !state
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "crc")]
#[inline]
fn extend_aarch64(crc: u32, bytes: &[u8]) -> u32 {
    use std::arch::aarch64::{__crc32cb, __crc32cd, __crc32cw};

    let (words, mut tail) = bytes.as_chunks::<8>();
    let mut state = !crc;
    for word in words {
        state = __crc32cd(state, u64::from_le_bytes(*word));
    }
    if let Some((half, rest)) = tail.split_first_chunk::<4>() {
        state = __crc32cw(state, u32::from_le_bytes(*half));
        tail = rest;
    }
    for &byte in tail {
        state = __crc32cb(state, byte);
    }
    !state
}

#[cfg(test)]
mod tests {
    use super::*;

    /// crc32c bit by bit, from its definition: polynomial 0x1EDC6F41, here reflected.
    fn slow_extend(crc: u32, bytes: &[u8]) -> u32 {
        let mut state = !crc;
        for &byte in bytes {
            state ^= u32::from(byte);
            for _ in 0..8 {
                state = if state & 1 == 1 { (state >> 1) ^ 0x82f6_3b78 } else { state >> 1 };
            }
        }
        !state
    }

    #[test]
    fn the_vectors_of_rfc_3720_hold() {
        let ascending: Vec<u8> = (0..32).collect();
        let descending: Vec<u8> = (0..32).rev().collect();
        let command: [u8; 48] = [
            0x01, 0xc0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0,
            0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc32c(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc32c(&ascending), 0x46dd_794e);
        assert_eq!(crc32c(&descending), 0x113f_db5c);
        assert_eq!(crc32c(&command), 0xd996_3a56);
        assert_eq!(crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c(b""), 0);
    }

    #[test]
    fn every_path_agrees_at_every_length_and_alignment() {
        let data: Vec<u8> = (0..5000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for length in (0..600).chain([1000, 4096, 4097, 4900]) {
            for start in [0, 1, 3, 7] {
                let bytes = &data[start..start + length];
                for before in [0, 0xdead_beef] {
                    let expected = slow_extend(before, bytes);
                    assert_eq!(extend(before, bytes), expected, "length {length}, start {start}");
                    assert_eq!(extend_wide(before, bytes), expected, "length {length}, start {start}");
                    let by_table = crc_by_table::extend(before, bytes);
                    assert_eq!(by_table, expected, "length {length}, start {start}");
                }
            }
        }
    }

    #[test]
    fn a_sum_may_be_extended_piece_by_piece() {
        let data: Vec<u8> = (0..1024u32).map(|i| (i * 7) as u8).collect();
        for cut in [0, 1, 8, 255, 256, 257, 1000, 1024] {
            assert_eq!(extend(crc32c(&data[..cut]), &data[cut..]), crc32c(&data));
        }
    }

    #[test]
    fn the_mask_changes_a_sum_and_comes_off() {
        let crc = crc32c(b"foo");
        assert_ne!(mask(crc), crc);
        assert_ne!(mask(mask(crc)), crc);
        assert_eq!(unmask(mask(crc)), crc);
        assert_eq!(unmask(unmask(mask(mask(crc)))), crc);
        assert_eq!(mask(0), 0xa282_ead8);
        assert_eq!(mask(0x1234_5678), 0x4f73_0f40, "0x12345678 rotated right by 15 is 0xacf02468");
    }
}
