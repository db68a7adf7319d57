//! How a cursor holds a block, and the memory that it uses for one block after the other.
//!
//! predecessor: [`iterator`](super::iterator) · successors: [`block_fetch`](super::block_fetch), which fills it

use std::cell::Cell;
use std::ops::Deref;
use std::sync::Arc;

use bytes::BytesMut;
use terrace_format::block::{Block, BlockIterMemory};

/// A block's memory that is larger is not kept for the next one.
const MAX_KEPT_BLOCK_BYTES: usize = 1 << 20;

/// What a thread keeps from its cursors that are gone for those to come: so much memory, in blocks and in keys, for so many
/// cursors. A cursor over a database has one for each table of level 0 and for each level.
const MAX_KEPT_MEMORIES: usize = 16;
const MAX_KEPT_MEMORY_BYTES: usize = 16 << 10;

/// A block that a cursor stands in: of the cache, or of its own, which saves counting its owners.
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

/// The memory that a cursor over a table uses again and again.
#[derive(Debug, Default)]
pub(crate) struct CursorMemory {
    /// What the cursor over the next block will use; empty while a block is held.
    pub(crate) entries: BlockIterMemory,
    /// What the next block may be decompressed into.
    pub(crate) block: BytesMut,
}

impl CursorMemory {
    /// Takes back the memory of a block that is done with, unless it is the cache's or the file's or another's as well.
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

    /// Memory that an earlier cursor of this thread had, or none.
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
        // A cursor may be dropped when the thread is nearly gone.
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
