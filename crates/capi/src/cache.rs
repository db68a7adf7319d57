//! Block caches, which a program may give to several databases. The engine's [`BlockCache`] lives as long as a database
//! uses it.

use std::sync::Arc;

use terrace_engine::BlockCache;

use crate::barrier;
use crate::memory::drop_box;

/// A `leveldb_cache_t`.
pub(crate) struct CacheHandle(Arc<BlockCache>);

impl CacheHandle {
    pub(crate) fn cache(&self) -> Arc<BlockCache> {
        Arc::clone(&self.0)
    }
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_cache_create_lru(capacity: usize) -> *mut CacheHandle {
    barrier::or_else(std::ptr::null_mut(), || {
        Box::into_raw(Box::new(CacheHandle(Arc::new(BlockCache::new(capacity)))))
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_cache_destroy(cache: *mut CacheHandle) {
    // SAFETY: by the header's rule it is NULL or came from `leveldb_cache_create_lru`, and is no longer used.
    barrier::or_else((), || unsafe { drop_box(cache) });
}
