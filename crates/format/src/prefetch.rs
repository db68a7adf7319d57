//! A hint to the processor that bytes, probably in none of its caches, will be read soon.

/// Number of bytes that the processor moves at once.
#[cfg(target_arch = "x86_64")]
const CACHE_LINE_SIZE_BYTES: usize = 64;

/// Starts to load these bytes into the cache, all at once: loading them one after the other, as they are read, takes
/// several times as long. Has no other effect.
#[inline]
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(CACHE_LINE_SIZE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and cannot fault; SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}
