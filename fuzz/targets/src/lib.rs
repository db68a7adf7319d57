//! What each fuzz target does with its bytes: one function per decoder, and one for whole histories of a database.
//!
//! A target panics if a rule is broken: a decoder that panics, a loop that does not end, an encoding that is not read
//! back, an answer that differs from the model's. libFuzzer, which calls the targets through `fuzz/fuzz_targets`, adds
//! limits of time and memory; see `fuzz/README.md`. Tests of `crates/testkit` replay the corpus.

pub mod batch;
pub mod block;
pub mod current;
pub mod decompress;
pub mod file_name;
pub mod filter;
pub mod history;
pub mod idb_order;
mod input;
pub mod log_reader;
pub mod pool_map;
pub mod table_file;
pub mod table_parts;
pub mod version_edit;

/// A target: a name, which its program and its directories of inputs share, and what it does with an input.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name.
    pub name: &'static str,
    /// Takes any bytes; panics if a rule is broken.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "batch", run: batch::run },
    Target { name: "block", run: block::run },
    Target { name: "current", run: current::run },
    Target { name: "decompress", run: decompress::run },
    Target { name: "file_name", run: file_name::run },
    Target { name: "filter", run: filter::run },
    Target { name: "history", run: history::run },
    Target { name: "idb_order", run: idb_order::run },
    Target { name: "log_reader", run: log_reader::run },
    Target { name: "pool_map", run: pool_map::run },
    Target { name: "table_file", run: table_file::run },
    Target { name: "table_parts", run: table_parts::run },
    Target { name: "version_edit", run: version_edit::run },
];
