//! What is said to the system, and asked of it, about the pages of a mapping.

/// A hint to the system about how bytes of a mapping will be used.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Advice {
    /// They will be read as most are.
    Usual,
    /// They will be read in no order.
    Random,
    /// They will be read soon.
    Soon,
    /// They will not be read for a while.
    NotSoon,
}

/// How many pages one query to the system covers: the bits of a word.
#[cfg(any(target_os = "linux", windows))]
pub(crate) const PAGES_AT_ONCE: usize = u64::BITS as usize;
