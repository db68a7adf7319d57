//! How a cursor holds a block, and the memory that it uses for one block after another.
//!
//! predecessor: [`iterator`](super::iterator) · successors: [`block_fetch`](super::block_fetch), which fills it

use std::cell::Cell;
use std::ops::Deref;
use std::sync::Arc;

use bytes::BytesMut;
use terrace_format::block::{Block, BlockIterMemory};

/// A block's memory larger than this is not kept for the next block.
const MAX_KEPT_BLOCK_BYTES: usize = 1 << 20;

/// For how many future cursors a thread keeps the memory of earlier ones. A cursor over a database has one table cursor for
/// each table of level 0 and for each level.
const MAX_KEPT_MEMORIES: usize = 16;
/// The largest memory that is kept for one cursor, in blocks and in keys.
const MAX_KEPT_MEMORY_BYTES: usize = 16 << 10;

/// The block that a cursor stands in: shared with the cache, or the cursor's own, which needs no reference count.
pub(crate) enum HeldBlock {
    Shared(Arc<Block>),
    Own(Block),
}

impl Deref for HeldBlock {
    type Target = Block;

    #[inline]
    fn deref(&self) -> &Block {
        match self {
            Self::Shared(block) => block,
            Self::Own(block) => block,
        }
    }
}

/// The memory that a cursor over a table reuses.
#[derive(Debug, Default)]
pub(crate) struct CursorMemory {
    /// The memory for the cursor over the next block; empty while a block is held.
    pub(crate) entries: BlockIterMemory,
    /// The memory into which the next block may be decompressed.
    pub(crate) block: BytesMut,
}

impl CursorMemory {
    /// Takes back the memory of a block that is no longer needed, unless the cache, the file or another owner shares it.
    pub(crate) fn keep_block(&mut self, block: HeldBlock) {
        let block = match block {
            HeldBlock::Own(block) => block,
            HeldBlock::Shared(block) => match Arc::try_unwrap(block) {
                Ok(block) => block,
                Err(_) => return,
            },
        };
        if block.size_bytes() <= MAX_KEPT_BLOCK_BYTES
            && let Ok(memory) = block.into_contents().try_into_mut()
        {
            self.block = memory;
        }
    }

    /// The memory of an earlier cursor of this thread, or none.
    pub(crate) fn of_thread() -> Self {
        KEPT.with(|kept| {
            let mut memories = kept.take();
            let memory = memories.pop().unwrap_or_default();
            kept.set(memories);
            memory
        })
    }

    /// Keeps the memory for later cursors of this thread, if it is of usual size.
    pub(crate) fn give_to_thread(self) {
        if self.block.capacity() + self.entries.size_bytes() > MAX_KEPT_MEMORY_BYTES {
            return;
        }
        // A cursor may be dropped while the thread is ending.
        let _ = KEPT.try_with(|kept| {
            let mut memories = kept.take();
            if memories.len() < MAX_KEPT_MEMORIES {
                memories.push(self);
            }
            kept.set(memories);
        });
    }
}

thread_local! {
    static KEPT: Cell<Vec<CursorMemory>> = const { Cell::new(Vec::new()) };
}
