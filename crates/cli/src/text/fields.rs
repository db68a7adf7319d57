//! Reads encoded fields from bytes: what the decoders of keys have in common. Nothing is trusted: every read says `None`
//! where the bytes end.

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

    /// An integer of `width` bytes, at most eight, the lowest first.
    pub(crate) fn integer(&mut self, width: usize) -> Option<i64> {
        let mut padded = [0; 8];
        padded.get_mut(..width)?.copy_from_slice(self.bytes(width)?);
        Some(i64::from_le_bytes(padded))
    }

    /// A number of one to ten bytes, seven bits each, the lowest first.
    pub(crate) fn varint(&mut self) -> Option<u64> {
        let (value, size) = terrace_format::coding::read_varint64(self.0)?;
        self.0 = self.0.get(size..)?;
        Some(value)
    }

    /// How many of something follow, as an index of memory.
    pub(crate) fn count(&mut self) -> Option<usize> {
        self.varint()?.try_into().ok()
    }

    /// A count of bytes, and the bytes.
    pub(crate) fn counted_bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        self.bytes(count)
    }

    /// A count of UTF-16 units, and the units in big-endian order. Half a pair becomes a replacement character.
    pub(crate) fn counted_utf16_be(&mut self) -> Option<String> {
        let count = self.count()?.checked_mul(2)?;
        Some(utf16(self.bytes(count)?, u16::from_be_bytes))
    }

    /// Eight bytes of a number, as `read` takes them.
    pub(crate) fn double(&mut self, read: fn([u8; 8]) -> f64) -> Option<f64> {
        Some(read(self.bytes(8)?.try_into().ok()?))
    }
}

/// Text of UTF-16 units; an odd byte at the end is left out.
pub(crate) fn utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> String {
    let (units, _) = bytes.as_chunks::<2>();
    let units = units.iter().map(|unit| read(*unit));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}
