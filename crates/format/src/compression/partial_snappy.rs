//! Snappy, decoded only as far as a reader needs it.
//!
//! Predecessor: a block's stored contents, their checksum verified. Successor: [`crate::block::find_from`], which looks for
//! one entry and needs nothing behind it.
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
//! A copy repeats bytes from `offset` back; it may reach into what it is making. Whatever has been decoded is what a
//! decoder of the whole makes too, since nothing in the stream reaches forward.

use std::ops::ControlFlow;

use super::{SNAPPY_MAX_EXPANSION, check_claimed_size};
use crate::coding::read_varint64;
use crate::error::{FormatError, Result};

const STRUCTURE: &str = "snappy block";

/// Bytes copied at once. Short pieces are copied as one such chunk: what it brings too much is overwritten later, and lies
/// beyond what is shown.
const CHUNK_SIZE_BYTES: usize = 16;

/// The same for literals longer than a chunk. The output has room for so many bytes behind its end.
const LARGE_CHUNK_SIZE_BYTES: usize = 64;

/// Longest literal whose length is in its tag.
const LARGEST_LENGTH_IN_TAG: usize = 60;

/// The literal that was decoded last. A copy of part of it, as most are of a value that repeats itself, is made from the
/// input: to read output that was written a moment ago, in other pieces, the processor must wait until it is in its cache.
#[derive(Clone, Copy, Debug, Default)]
struct Literal {
    /// Where it begins and ends in the output.
    start: usize,
    end: usize,
    /// Where it begins in the input.
    input_start: usize,
}

impl Literal {
    /// Where in the input `length` bytes from `start` of the output are, if all are part of this.
    #[inline(always)]
    fn find(&self, start: usize, length: usize) -> Option<usize> {
        (start >= self.start && start + length <= self.end).then(|| self.input_start + (start - self.start))
    }
}

/// A decoder of one block, which goes on from where it stopped.
#[derive(Debug)]
pub struct PartialSnappy<'a> {
    input: &'a [u8],
    /// Where the next element starts.
    position: usize,
    /// At least the decompressed size and a large chunk; the first `produced` bytes are decoded.
    output: &'a mut Vec<u8>,
    produced: usize,
    literal: Literal,
    size_bytes: usize,
}

impl<'a> PartialSnappy<'a> {
    /// A decoder of `input` into `output`, whose former content is dropped. The buffer only grows: give the same one
    /// again to save its being cleared.
    ///
    /// Fails if the stated size is cut off, above the limit of a block, or more than `input` can expand to.
    pub fn new(input: &'a [u8], output: &'a mut Vec<u8>) -> Result<Self> {
        let Some((size, header_size)) = read_varint64(input) else {
            return Err(FormatError::corrupt(STRUCTURE, "the decompressed size is cut off", 0));
        };
        let size_bytes = check_claimed_size(STRUCTURE, size, Some((input.len(), SNAPPY_MAX_EXPANSION)))?;
        if output.len() < size_bytes + LARGE_CHUNK_SIZE_BYTES {
            output.resize(size_bytes + LARGE_CHUNK_SIZE_BYTES, 0);
        }
        Ok(Self {
            input,
            position: header_size,
            output,
            produced: 0,
            literal: Literal::default(),
            size_bytes,
        })
    }

    /// The decompressed size of the whole block, as stated.
    #[inline]
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Whether nothing is left to decode.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.produced == self.size_bytes
    }

    /// What has been decoded: the beginning of the block.
    #[inline]
    pub fn decoded(&self) -> &[u8] {
        &self.output[..self.produced]
    }

    /// Decodes at least the first `wanted_bytes` of the block, or all of it if it has no more.
    ///
    /// Fails if an element on the way is damaged, and if the whole is wanted, if it does not end as it states. After an
    /// error nothing more can be decoded.
    pub fn decode_to(&mut self, wanted_bytes: usize) -> Result<()> {
        let wanted_bytes = wanted_bytes.min(self.size_bytes);
        let mut position = self.position;
        let mut produced = self.produced;
        let mut literal = self.literal;
        let output = &mut self.output[..self.size_bytes + LARGE_CHUNK_SIZE_BYTES];
        while produced < wanted_bytes {
            match element(self.input, &mut position, output, &mut produced, &mut literal, self.size_bytes) {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(problem) => {
                    return Err(FormatError::corrupt(STRUCTURE, problem, position as u64));
                }
            }
        }
        self.position = position;
        self.produced = produced;
        self.literal = literal;
        if self.is_complete() && position != self.input.len() {
            return Err(FormatError::corrupt(STRUCTURE, "more bytes than stated", position as u64));
        }
        Ok(())
    }
}

/// Decodes the element at `position`, or names what is wrong with it. `output` is a large chunk longer than `size_bytes`.
#[inline(always)]
fn element(
    input: &[u8],
    position: &mut usize,
    output: &mut [u8],
    produced: &mut usize,
    literal: &mut Literal,
    size_bytes: usize,
) -> ControlFlow<&'static str> {
    let Some(rest) = input.get(*position..) else {
        return ControlFlow::Break("an element is cut off");
    };
    let (offset, length, header_size) = match *rest {
        [tag, ..] if tag & 3 == 0 => {
            let length = usize::from(tag >> 2) + 1;
            let bytes = &rest[1..];
            if length <= size_bytes - *produced {
                let output = &mut output[*produced..];
                let is_copied = if length <= CHUNK_SIZE_BYTES {
                    copy_chunk::<CHUNK_SIZE_BYTES>(bytes, output)
                } else {
                    // Longer lengths are not in the tag.
                    length <= LARGEST_LENGTH_IN_TAG && copy_chunk::<LARGE_CHUNK_SIZE_BYTES>(bytes, output)
                };
                if is_copied {
                    *position += 1 + length;
                    *produced += length;
                    *literal = Literal {
                        start: *produced - length,
                        end: *produced,
                        input_start: *position - length,
                    };
                    return ControlFlow::Continue(());
                }
            }
            let start = *produced;
            long_literal(rest, position, output, produced, size_bytes)?;
            // Its bytes are the last of the element.
            *literal = Literal { start, end: *produced, input_start: *position - (*produced - start) };
            return ControlFlow::Continue(());
        }
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
    if offset == 0 || offset > *produced {
        return ControlFlow::Break("a copy from before the block");
    }
    if length > size_bytes - *produced {
        return ControlFlow::Break("more bytes than stated");
    }
    let is_copied = match literal.find(*produced - offset, length) {
        Some(start) => copy_chunk::<LARGE_CHUNK_SIZE_BYTES>(&input[start..], &mut output[*produced..]),
        None => false,
    };
    if !is_copied {
        copy_back(output, *produced, offset, length);
    }
    *position += header_size;
    *produced += length;
    ControlFlow::Continue(())
}

/// Copies a chunk, if there are as many bytes.
#[inline(always)]
fn copy_chunk<const SIZE_BYTES: usize>(bytes: &[u8], output: &mut [u8]) -> bool {
    match (bytes.first_chunk::<SIZE_BYTES>(), output.first_chunk_mut::<SIZE_BYTES>()) {
        (Some(chunk), Some(place)) => {
            *place = *chunk;
            true
        }
        _ => false,
    }
}

/// Makes `length` bytes at `end` from those `offset` back.
#[inline(always)]
fn copy_back(output: &mut [u8], end: usize, offset: usize, length: usize) {
    let start = end - offset;
    if offset >= CHUNK_SIZE_BYTES {
        // Each chunk begins at least a chunk behind where it goes, so that it is decoded already.
        let mut done = 0;
        while done < length {
            let mut chunk = [0; CHUNK_SIZE_BYTES];
            chunk.copy_from_slice(&output[start + done..start + done + CHUNK_SIZE_BYTES]);
            // The last chunk may end up to a chunk behind the stated size: the output is that much longer.
            output[end + done..end + done + CHUNK_SIZE_BYTES].copy_from_slice(&chunk);
            done += CHUNK_SIZE_BYTES;
        }
    } else {
        for index in 0..length {
            output[end + index] = output[start + index];
        }
    }
}

/// A literal that is long or near the end of the input.
#[inline(never)]
fn long_literal(
    rest: &[u8],
    position: &mut usize,
    output: &mut [u8],
    produced: &mut usize,
    size_bytes: usize,
) -> ControlFlow<&'static str> {
    let short = usize::from(rest[0] >> 2);
    let (length, header_size) = match (short + 1).checked_sub(LARGEST_LENGTH_IN_TAG) {
        None | Some(0) => (short + 1, 1),
        Some(length_bytes) => {
            let Some(stored) = rest.get(1..1 + length_bytes) else {
                return ControlFlow::Break("a literal's length is cut off");
            };
            let length = stored.iter().rev().fold(0u64, |length, &byte| length << 8 | u64::from(byte)) + 1;
            match usize::try_from(length) {
                Ok(length) => (length, 1 + length_bytes),
                Err(_) => return ControlFlow::Break("more bytes than stated"),
            }
        }
    };
    if length > size_bytes - *produced {
        return ControlFlow::Break("more bytes than stated");
    }
    let Some(literal) = rest[header_size..].get(..length) else {
        return ControlFlow::Break("a literal is cut off");
    };
    let output = &mut output[*produced..];
    let is_copied = length <= 2 * LARGE_CHUNK_SIZE_BYTES
        && rest.len() >= header_size + 2 * LARGE_CHUNK_SIZE_BYTES
        && output.len() >= 2 * LARGE_CHUNK_SIZE_BYTES
        && copy_chunk::<LARGE_CHUNK_SIZE_BYTES>(&rest[header_size..], output)
        && copy_chunk::<LARGE_CHUNK_SIZE_BYTES>(
            &rest[header_size + LARGE_CHUNK_SIZE_BYTES..],
            &mut output[LARGE_CHUNK_SIZE_BYTES..],
        );
    if !is_copied {
        output[..length].copy_from_slice(literal);
    }
    *position += header_size + length;
    *produced += length;
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests;
