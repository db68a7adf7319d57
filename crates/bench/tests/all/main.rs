//! The tests of the benchmark from outside, in one program.

mod workloads;
