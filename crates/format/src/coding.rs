//! Integers and byte strings as LevelDB writes them: fixed-width little-endian, and varints of seven bits a byte.
//!
//! ```text
//! fixed32   b0 b1 b2 b3                value = b0 | b1<<8 | b2<<16 | b3<<24
//! fixed64   b0 … b7                    likewise
//! varint    1xxxxxxx … 0xxxxxxx        low seven bits first; the top bit says that another byte follows
//! slice     varint32 length · bytes    a length-prefixed byte string
//! ```
//!
//! A 32-bit varint takes 1 to 5 bytes, a 64-bit one 1 to 10. As in LevelDB, readers drop bits of the last byte that
//! exceed the integer's width, and accept an encoding that is longer than necessary. Writers produce neither.

use crate::error::{FormatError, Result};

/// Appends `value` as four little-endian bytes.
#[inline]
pub fn put_fixed32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends `value` as eight little-endian bytes.
#[inline]
pub fn put_fixed64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends `value` as a varint of one to five bytes.
#[inline]
pub fn put_varint32(out: &mut Vec<u8>, value: u32) {
    put_varint64(out, u64::from(value));
}

/// Appends `value` as a varint of one to ten bytes.
#[inline]
pub fn put_varint64(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends the length of `bytes` as a 32-bit varint, then `bytes`.
///
/// # Panics
///
/// If `bytes` is 4 GiB or longer. The limits of [`crate::limits`] keep every caller in this crate far below that.
#[inline]
pub fn put_length_prefixed(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).expect("a byte string within the limits is shorter than 4 GiB");
    put_varint32(out, length);
    out.extend_from_slice(bytes);
}

/// Number of bytes that `value` takes as a varint.
#[inline]
pub fn varint_size_bytes(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// Reads four little-endian bytes from the start of `bytes`.
///
/// # Panics
///
/// If `bytes` is shorter than four bytes: the caller must check the length.
#[inline]
pub fn decode_fixed32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(*bytes.first_chunk().expect("the caller checked for four bytes"))
}

/// Reads eight little-endian bytes from the start of `bytes`.
///
/// # Panics
///
/// If `bytes` is shorter than eight bytes: the caller must check the length.
#[inline]
pub fn decode_fixed64(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(*bytes.first_chunk().expect("the caller checked for eight bytes"))
}

/// Reads a 32-bit varint from the start of `bytes`. Returns the value and the number of bytes it took, or `None` if
/// it is cut off or longer than five bytes.
#[inline]
pub fn read_varint32(bytes: &[u8]) -> Option<(u32, usize)> {
    match bytes.first() {
        Some(&first) if first < 0x80 => Some((u32::from(first), 1)),
        Some(_) => read_long_varint32(bytes),
        None => None,
    }
}

/// Reads a 64-bit varint from the start of `bytes`. Returns the value and the number of bytes it took, or `None` if
/// it is cut off or longer than ten bytes.
#[inline]
pub fn read_varint64(bytes: &[u8]) -> Option<(u64, usize)> {
    match bytes.first() {
        Some(&first) if first < 0x80 => Some((u64::from(first), 1)),
        Some(_) => read_long_varint64(bytes),
        None => None,
    }
}

fn read_long_varint32(bytes: &[u8]) -> Option<(u32, usize)> {
    let mut value = 0u32;
    for (index, &byte) in bytes.iter().take(crate::limits::MAX_VARINT32_SIZE_BYTES).enumerate() {
        value |= u32::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Some((value, index + 1));
        }
    }
    None
}

fn read_long_varint64(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().take(crate::limits::MAX_VARINT64_SIZE_BYTES).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Some((value, index + 1));
        }
    }
    None
}

/// Reads a structure field by field. Its errors name the field that failed and its offset.
///
/// ```
/// use terrace_format::coding::Decoder;
///
/// let mut decoder = Decoder::new("greeting", &[5, 0, 0, 0, 2, b'h', b'i']);
/// assert_eq!(decoder.fixed32("number")?, 5);
/// assert_eq!(decoder.length_prefixed("text")?, b"hi");
/// assert!(decoder.is_empty());
/// assert_eq!(decoder.fixed64("end").unwrap_err().to_string(), "greeting: end is cut off (at byte 7)");
/// # Ok::<(), terrace_format::FormatError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    structure: &'static str,
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Decoder<'a> {
    /// Creates a decoder at the start of `bytes`; its errors call them `structure`.
    #[inline]
    pub fn new(structure: &'static str, bytes: &'a [u8]) -> Self {
        Self { structure, bytes, offset: 0 }
    }

    /// Reads four little-endian bytes.
    ///
    /// # Errors
    ///
    /// `Corrupt` if fewer bytes remain.
    #[inline]
    pub fn fixed32(&mut self, field: &str) -> Result<u32> {
        Ok(decode_fixed32(self.bytes(4, field)?))
    }

    /// Reads eight little-endian bytes.
    ///
    /// # Errors
    ///
    /// `Corrupt` if fewer bytes remain.
    #[inline]
    pub fn fixed64(&mut self, field: &str) -> Result<u64> {
        Ok(decode_fixed64(self.bytes(8, field)?))
    }

    /// Reads a 32-bit varint.
    ///
    /// # Errors
    ///
    /// `Corrupt` if it is cut off or longer than five bytes.
    #[inline]
    pub fn varint32(&mut self, field: &str) -> Result<u32> {
        match read_varint32(self.remaining()) {
            Some((value, size)) => {
                self.offset += size;
                Ok(value)
            }
            None => Err(self.bad_varint(field, crate::limits::MAX_VARINT32_SIZE_BYTES)),
        }
    }

    /// Reads a 64-bit varint.
    ///
    /// # Errors
    ///
    /// `Corrupt` if it is cut off or longer than ten bytes.
    #[inline]
    pub fn varint64(&mut self, field: &str) -> Result<u64> {
        match read_varint64(self.remaining()) {
            Some((value, size)) => {
                self.offset += size;
                Ok(value)
            }
            None => Err(self.bad_varint(field, crate::limits::MAX_VARINT64_SIZE_BYTES)),
        }
    }

    /// Reads a byte string prefixed by its length.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the length or the bytes are cut off.
    #[inline]
    pub fn length_prefixed(&mut self, field: &str) -> Result<&'a [u8]> {
        let length = self.varint32(field)?;
        self.bytes(length as usize, field)
    }

    /// Reads `count` bytes.
    ///
    /// # Errors
    ///
    /// `Corrupt` if fewer bytes remain.
    #[inline]
    pub fn bytes(&mut self, count: usize, field: &str) -> Result<&'a [u8]> {
        match self.remaining().get(..count) {
            Some(bytes) => {
                self.offset += count;
                Ok(bytes)
            }
            None => Err(self.corrupt(format!("{field} is cut off"))),
        }
    }

    /// Whether everything has been read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.offset == self.bytes.len()
    }

    /// Number of bytes read so far.
    #[inline]
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The bytes that have not been read yet.
    #[inline]
    pub fn remaining(&self) -> &'a [u8] {
        &self.bytes[self.offset..]
    }

    /// Creates an error of kind [`Corrupt`](crate::FormatErrorKind::Corrupt) at the current offset.
    #[cold]
    pub fn corrupt(&self, problem: impl Into<String>) -> FormatError {
        FormatError::corrupt(self.structure, problem, self.offset as u64)
    }

    /// Creates an error of kind [`Unsupported`](crate::FormatErrorKind::Unsupported) at the current offset.
    #[cold]
    pub fn unsupported(&self, problem: impl Into<String>) -> FormatError {
        FormatError::unsupported(self.structure, problem, self.offset as u64)
    }

    #[cold]
    fn bad_varint(&self, field: &str, longest_size_bytes: usize) -> FormatError {
        if self.remaining().len() < longest_size_bytes {
            self.corrupt(format!("{field} is cut off"))
        } else {
            self.corrupt(format!("{field} is a varint of more than {longest_size_bytes} bytes"))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn varints_have_the_known_bytes() {
        for (value, bytes) in [
            (0u64, &[0u8][..]),
            (1, &[1]),
            (127, &[0x7f]),
            (128, &[0x80, 1]),
            (300, &[0xac, 2]),
            (16_383, &[0xff, 0x7f]),
            (16_384, &[0x80, 0x80, 1]),
            (u64::from(u32::MAX), &[0xff, 0xff, 0xff, 0xff, 0x0f]),
            (u64::MAX, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]),
        ] {
            let mut out = Vec::new();
            put_varint64(&mut out, value);
            assert_eq!(out, bytes, "{value}");
            assert_eq!(read_varint64(bytes), Some((value, bytes.len())));
            assert_eq!(varint_size_bytes(value), bytes.len());
        }
    }

    #[test]
    fn overlong_varints_are_read_and_endless_ones_refused() {
        assert_eq!(read_varint32(&[0x81, 0x00]), Some((1, 2)));
        assert_eq!(read_varint32(&[0xff, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(read_varint32(&[0x80; 5]), None);
        assert_eq!(read_varint64(&[0x80; 10]), None);
        assert_eq!(
            read_varint32(&[0xff, 0xff, 0xff, 0xff, 0x7f]),
            Some((u32::MAX, 5)),
            "excess bits are dropped"
        );
    }

    #[test]
    fn the_decoder_names_what_failed() {
        let mut decoder = Decoder::new("thing", &[0x80]);
        assert_eq!(decoder.varint32("size").unwrap_err().problem, "size is cut off");
        let mut decoder = Decoder::new("thing", &[0x80; 11]);
        assert_eq!(decoder.varint32("size").unwrap_err().problem, "size is a varint of more than 5 bytes");
        assert_eq!(decoder.varint64("size").unwrap_err().problem, "size is a varint of more than 10 bytes");
        let mut decoder = Decoder::new("thing", &[3, 1, 2]);
        let error = decoder.length_prefixed("name").unwrap_err();
        assert_eq!((error.problem.as_str(), error.offset), ("name is cut off", 1));
    }

    proptest! {
        #[test]
        fn everything_written_is_read_back(
            a in any::<u32>(), b in any::<u64>(), c in any::<u32>(), d in any::<u64>(), e in any::<Vec<u8>>(),
            shift in 0u32..64,
        ) {
            let d = d >> shift;
            let mut out = Vec::new();
            put_fixed32(&mut out, a);
            put_fixed64(&mut out, b);
            put_varint32(&mut out, c);
            put_varint64(&mut out, d);
            put_length_prefixed(&mut out, &e);
            let mut decoder = Decoder::new("test", &out);
            prop_assert_eq!(decoder.fixed32("a"), Ok(a));
            prop_assert_eq!(decoder.fixed64("b"), Ok(b));
            prop_assert_eq!(decoder.varint32("c"), Ok(c));
            prop_assert_eq!(decoder.varint64("d"), Ok(d));
            prop_assert_eq!(decoder.length_prefixed("e"), Ok(&e[..]));
            prop_assert!(decoder.is_empty());
            prop_assert_eq!(decoder.offset(), out.len());
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in any::<Vec<u8>>()) {
            let mut decoder = Decoder::new("test", &bytes);
            while decoder.length_prefixed("x").is_ok() && !decoder.is_empty() {}
            if let Some((value, size)) = read_varint64(&bytes) {
                prop_assert!(size <= bytes.len() && size >= varint_size_bytes(value));
            }
            if let Some((_, size)) = read_varint32(&bytes) {
                prop_assert!(size <= bytes.len());
            }
        }
    }
}
