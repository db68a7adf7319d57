//! Stops after each page of the shell's output until the user has read it.

use std::io::{self, BufRead, Write};

/// Passes output on to another writer, a page at a time.
pub(crate) struct Pager<'a> {
    out: &'a mut dyn Write,
    /// Number of lines of a page; 0 means that it never stops.
    page: usize,
    lines: usize,
    is_stopped: bool,
}

impl<'a> Pager<'a> {
    /// Creates a pager for a terminal with this many rows; 0 is for output that is not read as it comes.
    pub(crate) fn new(out: &'a mut dyn Write, rows: usize) -> Self {
        // The question takes a row.
        Self { out, page: rows.saturating_sub(1), lines: 0, is_stopped: false }
    }

    /// Whether the user wanted no more: writes then fail as on a closed pipe.
    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    fn ask(&mut self) -> io::Result<()> {
        self.out.write_all(b"-- Enter for more, q to stop: ")?;
        self.out.flush()?;
        let mut line = String::new();
        let read = io::stdin().lock().read_line(&mut line)?;
        if read == 0 || line.trim_start().starts_with(['q', 'Q']) {
            self.is_stopped = true;
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.lines = 0;
        Ok(())
    }
}

impl Write for Pager<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.page == 0 {
            return self.out.write(bytes);
        }
        if self.is_stopped {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        if self.lines >= self.page {
            self.ask()?;
        }
        let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
        let written = self.out.write(&bytes[..end])?;
        self.lines += usize::from(bytes[..written].ends_with(b"\n"));
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_reads_as_it_comes_is_written_at_once() {
        let mut out = Vec::new();
        let mut pager = Pager::new(&mut out, 0);
        pager.write_all(&b"line\n".repeat(1000)).unwrap();
        assert!(!pager.is_stopped());
        assert_eq!(out.len(), 5000);
    }

    #[test]
    fn a_page_that_fits_does_not_ask() {
        let mut out = Vec::new();
        Pager::new(&mut out, 24).write_all(&b"line\n".repeat(23)).unwrap();
        assert_eq!(out.len(), 115);
    }
}
