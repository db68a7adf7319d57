//! Whether the tables of a database fit into the memory that the system has for files.
//!
//! predecessor: version (asks now and then), [`block_fetch`](crate::table) (reads the answer) · successor:
//! [`Env::memory_for_files_bytes`]
//!
//! While they fit, a page of a table is read once and stays. The system may then read whatever is near, and the engine may look
//! wherever it is quick. Once they do not fit, each page costs a read of the device again and again, and a page that is read
//! in vain pushes out one that is needed. The database has then *outgrown* memory, and its tables are read as
//! [decision 36](../../../../docs/decisions/0036-larger-than-memory.md) says.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use terrace_env::Env;

/// How long an answer holds.
const ANSWER_HOLDS_MICROS: u64 = 1_000_000;

/// A thread looks at the clock once in this many reads. It is prime, so that a pattern in the reads of several databases does
/// not leave one of them out.
const READS_A_LOOK: u32 = 127;

/// Smaller databases fit everywhere, and need no answer.
const LEAST_OUTGROWN_BYTES: u64 = 4 << 20;

/// The answer for one database. Threads share it.
pub struct WorkingSet {
    /// `None` for tables outside a database, which count as fitting.
    env: Option<Arc<dyn Env>>,
    outgrown: AtomicBool,
    /// When to ask again, on the clock of `env`.
    next_answer_micros: AtomicU64,
}

impl WorkingSet {
    /// Asks `env`.
    pub fn new(env: Arc<dyn Env>) -> Arc<Self> {
        Self::with(Some(env))
    }

    /// For tables that are read outside a database: they count as fitting.
    pub fn always() -> Arc<Self> {
        Self::with(None)
    }

    /// For tables that count as larger than memory.
    #[cfg(test)]
    pub(crate) fn never() -> Arc<Self> {
        let fit = Self::with(None);
        fit.outgrown.store(true, Ordering::Relaxed);
        fit
    }

    fn with(env: Option<Arc<dyn Env>>) -> Arc<Self> {
        let (outgrown, next_answer_micros) = (AtomicBool::new(false), AtomicU64::new(0));
        Arc::new(Self { env, outgrown, next_answer_micros })
    }

    /// Whether the tables have outgrown memory, as of the last answer.
    #[inline]
    pub(crate) fn is_outgrown(&self) -> bool {
        self.outgrown.load(Ordering::Relaxed)
    }

    /// Notes a read of tables that have `tables_bytes` together. Now and then this finds out whether they still fit.
    #[inline]
    pub(crate) fn note_read(&self, tables_bytes: impl FnOnce() -> u64) {
        thread_local! {
            static READS: Cell<u32> = const { Cell::new(0) };
        }
        let reads = READS.get();
        READS.set(if reads == 0 { READS_A_LOOK - 1 } else { reads - 1 });
        if reads == 0 {
            self.look(tables_bytes);
        }
    }

    /// Finds out whether tables that have `tables_bytes` together fit, unless that was done within the last second.
    #[cold]
    pub(crate) fn look(&self, tables_bytes: impl FnOnce() -> u64) {
        let Some(env) = &self.env else { return };
        let now_micros = env.monotonic_micros();
        let next_micros = self.next_answer_micros.load(Ordering::Relaxed);
        let renewed = now_micros + ANSWER_HOLDS_MICROS;
        // Of several threads one asks.
        let exchange = |from, to| {
            self.next_answer_micros.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed)
        };
        if now_micros < next_micros || exchange(next_micros, renewed).is_err() {
            return;
        }
        let tables_bytes = tables_bytes();
        let outgrown = tables_bytes >= LEAST_OUTGROWN_BYTES
            && env.memory_for_files_bytes().is_some_and(|memory| self.is_too_much(tables_bytes, memory));
        self.outgrown.store(outgrown, Ordering::Relaxed);
    }

    /// Other files take some of the memory, too. An answer changes only if the sizes have changed by an eighth, because each
    /// change gives up what the other way of reading has brought into memory.
    fn is_too_much(&self, tables_bytes: u64, memory_bytes: u64) -> bool {
        let eighths = if self.is_outgrown() { 6 } else { 7 };
        tables_bytes > memory_bytes / 8 * eighths
    }
}

impl fmt::Debug for WorkingSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkingSet").field("outgrown", &self.is_outgrown()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use terrace_env::{HeldClock, MemoryEnv};

    const MIB: u64 = 1 << 20;

    fn with_clock() -> (MemoryEnv, HeldClock, Arc<WorkingSet>) {
        let clock = HeldClock::new();
        let env = MemoryEnv::new().with_clock(clock.clone());
        let fit = WorkingSet::new(Arc::new(env.clone()));
        (env, clock, fit)
    }

    #[test]
    fn tables_outgrow_memory_and_fit_again() {
        let (env, clock, fit) = with_clock();
        // Whether tables of `tables_bytes` have outgrown `memory_bytes`, a second after the last question.
        let is_outgrown = |tables_bytes: u64, memory_bytes: Option<u64>| {
            env.set_memory_for_files_bytes(memory_bytes);
            clock.advance(Duration::from_secs(1));
            fit.look(|| tables_bytes);
            fit.is_outgrown()
        };
        assert!(!is_outgrown(80 * MIB, None));
        assert!(!is_outgrown(80 * MIB, Some(100 * MIB)));
        assert!(is_outgrown(90 * MIB, Some(100 * MIB)));
        assert!(is_outgrown(80 * MIB, Some(100 * MIB)), "small changes change nothing");
        assert!(!is_outgrown(70 * MIB, Some(100 * MIB)));
        assert!(is_outgrown(70 * MIB, Some(60 * MIB)));
        assert!(!is_outgrown(3 * MIB, Some(MIB)), "so little fits everywhere");
    }

    #[test]
    fn an_answer_holds_for_a_second() {
        let (env, clock, fit) = with_clock();
        env.set_memory_for_files_bytes(Some(MIB));
        fit.look(|| 80 * MIB);
        assert!(fit.is_outgrown());
        env.set_memory_for_files_bytes(None);
        clock.advance(Duration::from_micros(999_999));
        fit.look(|| unreachable!("it was answered less than a second ago"));
        assert!(fit.is_outgrown());
        clock.advance(Duration::from_micros(1));
        fit.look(|| 80 * MIB);
        assert!(!fit.is_outgrown());
    }

    #[test]
    fn one_read_in_many_looks_and_the_first_of_a_thread() {
        let env = MemoryEnv::new();
        env.set_memory_for_files_bytes(Some(MIB));
        let looks = std::thread::spawn(move || {
            let mut looks = 0;
            for _ in 0..10 * READS_A_LOOK {
                let fit = WorkingSet::new(Arc::new(env.clone()));
                fit.note_read(|| 80 * MIB);
                looks += u32::from(fit.is_outgrown());
            }
            looks
        });
        assert_eq!(looks.join().unwrap(), 10);
    }
}
