//! The tests of the engine against models and by trials, in one program: most of the time to build a test goes into linking.

mod damage;
mod failing_calls;
mod few_descriptors;
mod foreign;
mod full_disk;
mod fuzz_corpus;
mod kills;
mod leveldb_lives;
mod log_bytes;
mod model;
mod power_cut;
mod stress;
mod support;
