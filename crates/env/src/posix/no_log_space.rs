//! Systems on which no space is set aside behind a log: records are written. In place of `log_space`, which is Linux's, on processors for which there is a guarded store.

use std::fs::File;
use std::io;

use crate::LOG_RECORD_HEADER_SIZE_BYTES;

pub(super) struct LogSpace {}

impl LogSpace {
    pub(super) fn new(_file: &File, _may_map: bool) -> Self {
        Self {}
    }

    pub(super) fn note_sync(&mut self) {}

    pub(super) fn needs_no_more(&self, _end: u64) -> bool {
        true
    }

    pub(super) fn is_ready(&self, _end: u64) -> bool {
        false
    }

    pub(super) fn store(
        &mut self,
        _offset: u64,
        _header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        _payload: &[u8],
    ) -> io::Result<()> {
        unreachable!("nothing is ever ready");
    }

    pub(super) fn give_up(&mut self) {}

    pub(super) fn make_ready(&mut self, _file: &File, _size_bytes: u64, _end: u64) -> io::Result<bool> {
        Ok(false)
    }

    pub(super) fn give_back(&mut self, _file: &File, _size_bytes: u64) -> io::Result<()> {
        Ok(())
    }
}
