//! The background threads that databases share unless they are given a pool: one pool for each environment of a process.
//! Predecessor: `db/open`. Successor: `pool`.
//!
//! A thousand databases then have as many threads as one. Threads start when there is work, and end when the last of the
//! databases is closed.

use std::sync::{Arc, Weak};

use terrace_env::locks::Mutex;
use terrace_env::{Background, Env, ProcessLocal};

use crate::pool::BackgroundPool;

/// The pools that some database uses. A forked child can use none of its parent's.
static POOLS: ProcessLocal<Mutex<Vec<Shared>>> = ProcessLocal::new();

struct Shared {
    /// Where the environment is. It stays there as long as the pool, which holds it.
    env: usize,
    pool: Weak<BackgroundPool>,
}

/// The pool of `env`, with up to half as many threads for compactions as there are processors, and no fewer than
/// `compaction_threads` of the database that comes first. Where there are no threads, each database has its own pool, whose
/// jobs its owner runs.
pub(crate) fn of_process(env: &Arc<dyn Env>, compaction_threads: usize) -> Arc<BackgroundPool> {
    if env.background() == Background::Steps {
        return Arc::new(BackgroundPool::new(Arc::clone(env), compaction_threads));
    }
    let address = Arc::as_ptr(env).cast::<()>().addr();
    let mut pools = POOLS.get().lock();
    pools.retain(|shared| shared.pool.strong_count() > 0);
    let found = pools.iter().find(|shared| shared.env == address).and_then(|shared| shared.pool.upgrade());
    found.unwrap_or_else(|| {
        let threads = compaction_threads.max(env.available_parallelism() / 2);
        let pool = Arc::new(BackgroundPool::new(Arc::clone(env), threads));
        pools.push(Shared { env: address, pool: Arc::downgrade(&pool) });
        pool
    })
}

#[cfg(test)]
mod tests {
    use terrace_env::MemoryEnv;

    use super::*;

    #[test]
    fn databases_of_one_environment_share_a_pool_as_long_as_one_of_them_is_open() {
        let (env, other): (Arc<dyn Env>, Arc<dyn Env>) =
            (Arc::new(MemoryEnv::new()), Arc::new(MemoryEnv::new()));
        let first = of_process(&env, 1);
        assert!(Arc::ptr_eq(&first, &of_process(&env, 4)));
        assert!(!Arc::ptr_eq(&first, &of_process(&other, 1)));
        let weak = Arc::downgrade(&first);
        drop(first);
        assert!(weak.upgrade().is_none());
        assert_eq!(Arc::strong_count(&of_process(&env, 1)), 1);
    }

    #[test]
    fn without_threads_each_database_has_its_own() {
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::with_steps());
        assert!(!Arc::ptr_eq(&of_process(&env, 1), &of_process(&env, 1)));
    }
}
