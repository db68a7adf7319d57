//! The write-ahead log: what makes an acknowledged write survive the death of the process.

pub(crate) mod writer;
