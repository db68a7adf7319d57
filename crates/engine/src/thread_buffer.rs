//! Buffers that a thread keeps from one read to the next, so that a read allocates nothing. Predecessors: point reads.

use std::cell::Cell;
use std::thread::LocalKey;

/// The place where a thread keeps one buffer.
pub(crate) type ThreadBuffer = LocalKey<Cell<Vec<u8>>>;

/// Calls `work` with this thread's buffer, in the state in which its last user left it. A nested call gets its own buffer. A
/// buffer that has grown beyond `kept_bytes` is freed.
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
