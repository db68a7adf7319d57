//! Snappy, decoded only as far as a reader needs, from contents whose checksum was verified. It serves
//! [`crate::block::find_from`], which looks for one entry and needs nothing after it.
//!
//! ```text
//! stream    decompressed size, varint32 · elements
//! element   tag, whose two low bits are its kind
//!             0  literal     length - 1 in the upper six bits; 60 to 63: in the next 1 to 4 bytes instead · the bytes
//!             1  copy        length - 4 in three bits, offset in the upper three and the next byte
//!             2  copy        length - 1 in the upper six bits, offset in the next two bytes
//!             3  copy        the same with four bytes
//! ```
//!
//! A copy repeats bytes from `offset` back; it may overlap its own output. Nothing in the stream refers forward, so
//! the decoded part equals the beginning of the whole.

use std::ops::ControlFlow;

use super::{SNAPPY_MAX_EXPANSION, check_claimed_size};
use crate::coding::read_varint64;
use crate::error::{FormatError, Result};

mod common_elements;

const STRUCTURE: &str = "snappy block";

/// Longest literal whose length is in its tag.
const LARGEST_LENGTH_IN_TAG: usize = 60;

/// How far a stream has been decoded.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// Where in the input the next element starts.
    position: usize,
    /// Number of bytes of the output decoded so far.
    produced: usize,
}

/// A decoder of one block that can stop and resume.
#[derive(Debug)]
pub struct PartialSnappy<'a> {
    input: &'a [u8],
    /// As long as the stated size.
    output: &'a mut [u8],
    progress: Progress,
}

impl<'a> PartialSnappy<'a> {
    /// Creates a decoder of `input` into `output`, whose former content is dropped. The buffer only grows: pass the
    /// same one again, so that it need not be cleared.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the stated size is cut off, above the limit of a block, or more than `input` can expand to.
    pub fn new(input: &'a [u8], output: &'a mut Vec<u8>) -> Result<Self> {
        let (size_bytes, position) = stated_size(input)?;
        if output.len() < size_bytes {
            output.resize(size_bytes, 0);
        }
        let output = &mut output[..size_bytes];
        Ok(Self { input, output, progress: Progress { position, produced: 0 } })
    }

    /// The decompressed size of the whole block, as stated.
    #[inline]
    pub fn size_bytes(&self) -> usize {
        self.output.len()
    }

    /// Whether the whole block is decoded.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.progress.produced == self.output.len()
    }

    /// The decoded beginning of the block.
    #[inline]
    pub fn decoded(&self) -> &[u8] {
        &self.output[..self.progress.produced]
    }

    /// Decodes at least the first `wanted_bytes` of the block, or all of it if it has fewer.
    ///
    /// # Errors
    ///
    /// `Corrupt` if an element up to there is damaged or, when the whole block is wanted, if it does not end where it
    /// states. After an error nothing more can be decoded.
    pub fn decode_to(&mut self, wanted_bytes: usize) -> Result<()> {
        decode_to(self.input, self.output, &mut self.progress, wanted_bytes)
    }
}

/// The decompressed size that `input` states, if it is possible, and the offset of its elements.
pub(super) fn stated_size(input: &[u8]) -> Result<(usize, usize)> {
    let Some((size, position)) = read_varint64(input) else {
        return Err(FormatError::corrupt(STRUCTURE, "the decompressed size is cut off", 0));
    };
    let size_bytes = check_claimed_size(STRUCTURE, size, Some((input.len(), SNAPPY_MAX_EXPANSION)))?;
    Ok((size_bytes, position))
}

/// Decodes all of `input` into `output`, which is as long as [stated](stated_size).
pub(super) fn decode_all(input: &[u8], output: &mut [u8]) -> Result<()> {
    let (size_bytes, position) = stated_size(input)?;
    debug_assert_eq!(size_bytes, output.len());
    decode_to(input, output, &mut Progress { position, produced: 0 }, size_bytes)
}

/// Resumes at `progress` until `wanted_bytes` of `output`, or all of it if it is shorter, are decoded.
fn decode_to(input: &[u8], output: &mut [u8], progress: &mut Progress, wanted_bytes: usize) -> Result<()> {
    let wanted_bytes = wanted_bytes.min(output.len());
    while progress.produced < wanted_bytes {
        common_elements::decode(input, output, progress, wanted_bytes);
        if progress.produced < wanted_bytes
            && let ControlFlow::Break(problem) = element(input, output, progress)
        {
            return Err(FormatError::corrupt(STRUCTURE, problem, progress.position as u64));
        }
    }
    if progress.produced == output.len() && progress.position != input.len() {
        return Err(FormatError::corrupt(STRUCTURE, "more bytes than stated", progress.position as u64));
    }
    Ok(())
}

/// Decodes an element of any kind, or returns what is wrong with it.
#[inline(never)]
fn element(input: &[u8], output: &mut [u8], progress: &mut Progress) -> ControlFlow<&'static str> {
    let rest = input.get(progress.position..).unwrap_or_default();
    let (offset, length, header_size) = match *rest {
        [tag, ..] if tag & 3 == 0 => return literal(tag, rest, output, progress),
        [tag, low, ..] if tag & 3 == 1 => {
            (usize::from(tag >> 5) << 8 | usize::from(low), usize::from(tag >> 2 & 7) + 4, 2)
        }
        [tag, a, b, ..] if tag & 3 == 2 => {
            (usize::from(u16::from_le_bytes([a, b])), usize::from(tag >> 2) + 1, 3)
        }
        [tag, a, b, c, d, ..] if tag & 3 == 3 => {
            (u32::from_le_bytes([a, b, c, d]) as usize, usize::from(tag >> 2) + 1, 5)
        }
        _ => return ControlFlow::Break("an element is cut off"),
    };
    let end = progress.produced;
    if offset == 0 || offset > end {
        return ControlFlow::Break("a copy from before the block");
    }
    if length > output.len() - end {
        return ControlFlow::Break("more bytes than stated");
    }
    // A copy that overlaps itself doubles with each turn.
    let mut done = 0;
    while done < length {
        let piece = (offset + done).min(length - done);
        output.copy_within(end - offset..end - offset + piece, end + done);
        done += piece;
    }
    progress.position += header_size;
    progress.produced += length;
    ControlFlow::Continue(())
}

fn literal(tag: u8, rest: &[u8], output: &mut [u8], progress: &mut Progress) -> ControlFlow<&'static str> {
    let short = usize::from(tag >> 2);
    let length_bytes = (short + 1).saturating_sub(LARGEST_LENGTH_IN_TAG);
    let Some(stored) = rest.get(1..1 + length_bytes) else {
        return ControlFlow::Break("a literal's length is cut off");
    };
    let length = match length_bytes {
        0 => short as u64 + 1,
        _ => stored.iter().rev().fold(0u64, |length, &byte| length << 8 | u64::from(byte)) + 1,
    };
    let Some(target) =
        usize::try_from(length).ok().and_then(|length| output[progress.produced..].get_mut(..length))
    else {
        return ControlFlow::Break("more bytes than stated");
    };
    let Some(bytes) = rest[1 + length_bytes..].get(..target.len()) else {
        return ControlFlow::Break("a literal is cut off");
    };
    target.copy_from_slice(bytes);
    progress.position += 1 + length_bytes + bytes.len();
    progress.produced += bytes.len();
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests;
