//! LevelDB's benchmark, db_bench, over any ordered key/value database, and YCSB's six workloads.
//!
//! The workloads, their names and their options are those of `db_bench.cc` (LevelDB, commit 78a352f), so that numbers
//! compare. In addition, every run checks its own results: its expected contents are known at each moment
//! ([`live_keys`]), so counts must be exact and values correct.
//!
//! ```no_run
//! use terrace_bench::{Bench, Settings, Silent, TerraceEngine};
//!
//! let settings = Settings { num: 10_000, ..Settings::default() };
//! let engine = TerraceEngine::new(&settings);
//! let mut bench = Bench::new(Box::new(engine), settings, "target/bench".as_ref(), &Silent)?;
//! for name in ["fillseq", "readrandom"] {
//!     if let Some(report) = bench.run(name)? {
//!         println!("{}", report.line());
//!     }
//! }
//! bench.close()?;
//! # Ok::<(), terrace_bench::Failure>(())
//! ```
//!
//! | to understand | read |
//! |---|---|
//! | what a database must offer | [`store`], and [`terrace`] as an example |
//! | what each workload does | [`workload`] |
//! | how a run is timed and checked | [`bench`] |
//! | what is recorded of a run | [`report`] |

pub mod bench;
pub mod entries;
pub mod lane;
pub mod live_keys;
pub mod machine;
pub mod medians;
pub mod meter;
pub mod nothing;
#[cfg(feature = "plot")]
pub mod plot;
pub mod progress;
pub mod random;
mod recovery;
pub mod report;
pub mod settings;
pub mod store;
pub mod table;
pub mod terrace;
pub mod usage;
pub mod workload;

pub use bench::Bench;
pub use nothing::NothingEngine;
pub use progress::{Bar, Progress, Silent};
pub use report::Report;
pub use settings::Settings;
pub use store::{BatchSink, Engine, Reader, Start, Store};
pub use terrace::TerraceEngine;

/// Why a benchmark ended early: a database's error, or a wrong result.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The result of anything that may fail.
pub type Result<T> = std::result::Result<T, Failure>;
