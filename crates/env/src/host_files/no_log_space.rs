//! Stands in for `log_space` where no space is made ready after a log and records are written: `log_space` needs
//! Linux on a processor that has a guarded store.

use std::fs::File;
use std::io;

use crate::LOG_RECORD_HEADER_SIZE_BYTES;
use crate::system::raw_file::write_all_at;

pub(crate) struct LogSpace {}

impl LogSpace {
    pub(crate) fn new(_file: &File, _may_map: bool) -> Self {
        Self {}
    }

    pub(crate) fn note_sync(&mut self) {}

    pub(crate) fn is_ready(&self, _end: u64) -> bool {
        false
    }

    pub(crate) fn store(
        &mut self,
        _file: &File,
        _offset: u64,
        _header: &[u8; LOG_RECORD_HEADER_SIZE_BYTES],
        _payload: &[u8],
    ) -> io::Result<()> {
        unreachable!("nothing is ever ready");
    }

    pub(crate) fn give_up(&mut self) {}

    pub(crate) fn write(&mut self, file: &File, offset: u64, pieces: &[&[u8]]) -> io::Result<()> {
        write_all_at(file, &pieces.concat(), offset)
    }

    pub(crate) fn give_back(&mut self, file: &File, size_bytes: u64) -> io::Result<()> {
        file.set_len(size_bytes)
    }

    pub(crate) fn has_more_than(&self, _size_bytes: u64) -> bool {
        false
    }
}
