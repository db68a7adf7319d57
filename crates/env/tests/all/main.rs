//! The tests of the environments from outside, in one program: most of the time to build a test goes into linking.

mod full_disk;
mod lock;
mod mapped_log;
mod memory;
mod pooled;
mod posix;
mod simulated;
mod support;
mod windows;
