//! Buffers that a thread keeps from one read to the next, so that a read allocates nothing. Predecessors: point reads.

use std::cell::Cell;
use std::thread::LocalKey;

/// Where a thread keeps one buffer.
pub(crate) type ThreadBuffer = LocalKey<Cell<Vec<u8>>>;

/// Calls `work` with this thread's buffer, as the last user left it. A nested call gets a buffer of its own. One that has
/// grown beyond `kept_bytes` is given back to the allocator.
pub(crate) fn with_buffer<R>(
    buffer: &'static ThreadBuffer,
    kept_bytes: usize,
    work: impl FnOnce(&mut Vec<u8>) -> R,
) -> R {
    let mut bytes = buffer.take();
    let result = work(&mut bytes);
    if bytes.capacity() <= kept_bytes {
        buffer.set(bytes);
    }
    result
}
