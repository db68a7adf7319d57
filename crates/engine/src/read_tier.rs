//! Whether a read may wait for the disk. Everything on the path of a read asks for it.

/// Whether a read may wait for the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadTier {
    /// The read may use the disk.
    #[default]
    Disk,
    /// The read uses memory only. It fails with [`WouldBlock`](crate::error::ErrorKind::WouldBlock) if it needs the disk, or
    /// work that takes as long: an iterator that would have to sort many new entries, or to pass over many deleted ones.
    MemoryOnly,
}
