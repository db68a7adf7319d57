//! Reads operations from an exported file of either form, and keeps track of the byte at which to resume.

use std::collections::VecDeque;
use std::io::BufRead;

use super::Operation;
use super::binary::{self, Frame, MAGIC};
use super::json_lines::parse_line;
use crate::failure::{Failure, Problem};

/// Operations of a file, in order.
pub(crate) struct EntryReader<'a> {
    source: &'a mut dyn BufRead,
    is_binary: bool,
    /// Operations of the current frame that were not returned yet.
    pending: VecDeque<Operation>,
    /// Everything before this offset was returned.
    offset: u64,
    lines: u64,
    entries: u64,
    line: Vec<u8>,
    is_over: bool,
}

impl<'a> EntryReader<'a> {
    /// Creates a reader at the start of `source`; the first bytes tell the form.
    pub(crate) fn new(source: &'a mut dyn BufRead) -> Result<Self, Failure> {
        let is_binary = source.fill_buf()?.starts_with(MAGIC);
        if is_binary {
            source.consume(MAGIC.len());
        }
        let offset = if is_binary { MAGIC.len() as u64 } else { 0 };
        Ok(Self {
            source,
            is_binary,
            pending: VecDeque::new(),
            offset,
            lines: 0,
            entries: 0,
            line: Vec::new(),
            is_over: false,
        })
    }

    /// Resumes at byte `offset`, where another reader stopped after this many lines and entries.
    ///
    /// # Errors
    ///
    /// Those of the source; also if it ends before `offset`.
    pub(crate) fn skip_to(&mut self, offset: u64, lines: u64, entries: u64) -> Result<(), Failure> {
        let mut left = offset.saturating_sub(self.offset);
        while left > 0 {
            let available = self.source.fill_buf()?.len() as u64;
            if available == 0 {
                return Err(Problem::usage("the input is shorter than the part that was already imported"));
            }
            let step = available.min(left);
            self.source.consume(step as usize);
            left -= step;
        }
        (self.offset, self.lines, self.entries) = (offset, lines, entries);
        Ok(())
    }

    /// Where to resume later: after the returned operations, at the start of a line or frame. `None` within one.
    pub(crate) fn place(&self) -> Option<(u64, u64, u64)> {
        self.pending.is_empty().then_some((self.offset, self.lines, self.entries))
    }

    /// The next operation; `None` at the end.
    ///
    /// # Errors
    ///
    /// Names the line or byte at which the input is wrong.
    pub(crate) fn next(&mut self) -> Result<Option<Operation>, Failure> {
        if self.is_binary { self.next_binary() } else { self.next_line() }
    }

    fn next_line(&mut self) -> Result<Option<Operation>, Failure> {
        loop {
            self.line.clear();
            let taken = self.source.read_until(b'\n', &mut self.line)?;
            if taken == 0 {
                return Ok(None);
            }
            self.offset += taken as u64;
            self.lines += 1;
            if self.line.trim_ascii().is_empty() {
                continue;
            }
            self.entries += 1;
            return match parse_line(&self.line) {
                Ok(operation) => Ok(Some(operation)),
                Err(problem) => Err(Problem::usage(format!("line {}: {problem}", self.lines))),
            };
        }
    }

    fn next_binary(&mut self) -> Result<Option<Operation>, Failure> {
        let at = self.offset;
        let wrong = |problem: &str| Problem::usage(format!("the input at byte {at}: {problem}"));
        while self.pending.is_empty() && !self.is_over {
            match binary::read_frame(&mut self.source) {
                Ok(Frame::Payload(payload)) => {
                    let count = binary::entries::<String>(&payload, |key, value| {
                        self.pending.push_back(Operation::Put { key: key.to_vec(), value: value.to_vec() });
                        Ok(())
                    })
                    .map_err(|problem| wrong(&problem))?;
                    self.entries += count;
                    self.offset += (binary::FRAME_HEADER_BYTES + payload.len()) as u64;
                }
                Ok(Frame::End(count)) if count == self.entries => self.is_over = true,
                Ok(Frame::End(count)) => {
                    let problem = format!("{} entries were found, but {count} were exported", self.entries);
                    return Err(wrong(&problem));
                }
                Ok(Frame::Torn) => return Err(wrong("it is cut off here; everything before was imported")),
                Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                    return Err(wrong(&error.to_string()));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.pending.pop_front())
    }
}
