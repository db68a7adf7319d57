//! Reads encoded fields from bytes: the common part of the decoders of keys. Nothing is trusted: every read returns
//! `None` where the bytes end.

/// Bytes from the next field on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// The next `count` bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// The next byte.
    pub(crate) fn byte(&mut self) -> Option<u8> {
        Some(self.bytes(1)?[0])
    }

    /// An integer of `width` bytes, at most eight, little-endian.
    pub(crate) fn integer(&mut self, width: usize) -> Option<i64> {
        let mut padded = [0; 8];
        padded.get_mut(..width)?.copy_from_slice(self.bytes(width)?);
        Some(i64::from_le_bytes(padded))
    }

    /// A number of one to ten bytes, seven bits each, lowest first.
    pub(crate) fn varint(&mut self) -> Option<u64> {
        let (value, size) = terrace_format::coding::read_varint64(self.0)?;
        self.0 = self.0.get(size..)?;
        Some(value)
    }

    /// The number of items that follow, as a memory index.
    pub(crate) fn count(&mut self) -> Option<usize> {
        self.varint()?.try_into().ok()
    }

    /// A number of bytes, and the bytes.
    pub(crate) fn counted_bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        self.bytes(count)
    }

    /// A number of UTF-16 units, and the units in big-endian order. Half a pair becomes a replacement character.
    pub(crate) fn counted_utf16_be(&mut self) -> Option<String> {
        let count = self.count()?.checked_mul(2)?;
        Some(utf16(self.bytes(count)?, u16::from_be_bytes))
    }

    /// Eight bytes of a number, which `read` interprets.
    pub(crate) fn double(&mut self, read: fn([u8; 8]) -> f64) -> Option<f64> {
        Some(read(self.bytes(8)?.try_into().ok()?))
    }
}

/// Text of UTF-16 units; ignores an odd byte at the end.
pub(crate) fn utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> String {
    let (units, _) = bytes.as_chunks::<2>();
    let units = units.iter().map(|unit| read(*unit));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}
