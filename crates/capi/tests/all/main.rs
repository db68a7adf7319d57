//! The tests of the C library from outside, in one program.

mod programs;
mod support;
