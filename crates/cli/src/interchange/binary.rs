//! Entries in a compact binary form, in frames with checksums, which reveal truncation and damage.
//!
//! ```text
//! file      magic "terrace-entries\x01" · frame · … · end frame
//! frame     length of the payload, fixed32, not 0 · masked crc32c of the payload, fixed32 · payload
//! payload   entries: length of the key, varint · length of the value, varint · key · value
//! end       0, fixed32 · masked crc32c of the next eight bytes, fixed32 · number of entries, fixed64
//! ```
//!
//! Integers are little-endian. A frame ends once it has [`FRAME_BYTES`]; an entry is never split.

use std::io::{self, BufRead, Read, Write};

use terrace_format::coding::{
    Decoder, decode_fixed32, decode_fixed64, put_fixed32, put_fixed64, put_varint64,
};
use terrace_format::crc;
use terrace_format::limits::{MAX_KEY_SIZE_BYTES, MAX_VALUE_SIZE_BYTES};

use super::EntryWriter;

/// The first bytes of a file.
pub(crate) const MAGIC: &[u8; 16] = b"terrace-entries\x01";

/// A frame is written once it has this many bytes.
const FRAME_BYTES: usize = 64 << 10;

/// Largest frame, in bytes: its last entry may be as long as any.
const LARGEST_FRAME_BYTES: usize = FRAME_BYTES + MAX_KEY_SIZE_BYTES + MAX_VALUE_SIZE_BYTES + 20;

/// Length and checksum before a payload.
pub(crate) const FRAME_HEADER_BYTES: usize = 8;

/// Writes entries in frames.
pub(crate) struct BinaryWriter {
    is_new: bool,
    payload: Vec<u8>,
    entries: u64,
}

impl BinaryWriter {
    /// Creates a writer. Unless `is_new`, it continues the output of another one.
    pub(crate) fn new(is_new: bool) -> Self {
        Self { is_new, payload: Vec::new(), entries: 0 }
    }

    /// Counts entries that the output already has.
    pub(crate) fn go_on_after(&mut self, entries: u64) {
        self.entries = entries;
    }

    fn write_frame(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if std::mem::take(&mut self.is_new) {
            out.write_all(MAGIC)?;
        }
        if self.payload.is_empty() {
            return Ok(());
        }
        let mut header = Vec::with_capacity(FRAME_HEADER_BYTES);
        put_fixed32(&mut header, self.payload.len() as u32);
        put_fixed32(&mut header, crc::mask(crc::crc32c(&self.payload)));
        out.write_all(&header)?;
        out.write_all(&self.payload)?;
        self.payload.clear();
        Ok(())
    }
}

impl EntryWriter for BinaryWriter {
    fn write(&mut self, out: &mut dyn Write, key: &[u8], value: &[u8]) -> io::Result<()> {
        put_varint64(&mut self.payload, key.len() as u64);
        put_varint64(&mut self.payload, value.len() as u64);
        self.payload.extend_from_slice(key);
        self.payload.extend_from_slice(value);
        self.entries += 1;
        if self.payload.len() >= FRAME_BYTES { self.write_frame(out) } else { Ok(()) }
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.write_frame(out)?;
        let mut count = Vec::new();
        put_fixed64(&mut count, self.entries);
        let mut end = Vec::new();
        put_fixed32(&mut end, 0);
        put_fixed32(&mut end, crc::mask(crc::crc32c(&count)));
        end.extend_from_slice(&count);
        out.write_all(&end)
    }
}

/// What [`read_frame`] finds next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    /// The entries of this payload, which [`entries`] decodes.
    Payload(Vec<u8>),
    /// The end, with the number of all entries.
    End(u64),
    /// The file ends within a frame, or before the end frame.
    Torn,
}

/// Reads the next frame; the magic comes before the first.
///
/// # Errors
///
/// Those of the source, and `InvalidData` if the bytes are not a frame or are damaged.
pub(crate) fn read_frame(source: &mut dyn BufRead) -> io::Result<Frame> {
    let mut header = [0; FRAME_HEADER_BYTES];
    if !read_whole(source, &mut header)? {
        return Ok(Frame::Torn);
    }
    let (length, stored) = (decode_fixed32(&header) as usize, crc::unmask(decode_fixed32(&header[4..])));
    let invalid = |problem: &str| io::Error::new(io::ErrorKind::InvalidData, problem.to_owned());
    if length == 0 {
        let mut count = [0; 8];
        if !read_whole(source, &mut count)? {
            return Ok(Frame::Torn);
        }
        if crc::crc32c(&count) != stored {
            return Err(invalid("the checksum of the last frame does not match"));
        }
        return Ok(Frame::End(decode_fixed64(&count)));
    }
    if length > LARGEST_FRAME_BYTES {
        return Err(invalid("a frame is longer than any that is written"));
    }
    // Grows as bytes come in: a false length takes no memory.
    let mut payload = Vec::new();
    source.take(length as u64).read_to_end(&mut payload)?;
    if payload.len() < length {
        return Ok(Frame::Torn);
    }
    if crc::crc32c(&payload) != stored {
        return Err(invalid("the checksum of a frame does not match"));
    }
    Ok(Frame::Payload(payload))
}

/// Fills `buffer`; `false` if the source ends first.
fn read_whole(source: &mut dyn BufRead, buffer: &mut [u8]) -> io::Result<bool> {
    match source.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Calls `found` with each entry of a payload; returns their number.
///
/// # Errors
///
/// A sentence if the payload is not a sequence of entries; those of `found`.
pub(crate) fn entries<E: From<String>>(
    payload: &[u8],
    mut found: impl FnMut(&[u8], &[u8]) -> Result<(), E>,
) -> Result<u64, E> {
    let mut decoder = Decoder::new("frame", payload);
    let mut count = 0;
    while !decoder.is_empty() {
        let (key, value) = entry(&mut decoder).map_err(|error| error.to_string())?;
        found(key, value)?;
        count += 1;
    }
    Ok(count)
}

fn entry<'a>(decoder: &mut Decoder<'a>) -> terrace_format::Result<(&'a [u8], &'a [u8])> {
    let key_length = decoder.varint64("length of the key")?;
    let value_length = decoder.varint64("length of the value")?;
    let too_long = |_| decoder.corrupt("a length that does not fit into memory");
    let (key_length, value_length) =
        (usize::try_from(key_length).map_err(too_long)?, usize::try_from(value_length).map_err(too_long)?);
    Ok((decoder.bytes(key_length, "key")?, decoder.bytes(value_length, "value")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(count: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = BinaryWriter::new(true);
        for index in 0..count {
            let value = vec![index as u8; index % 3000];
            writer.write(&mut out, format!("{index:05}").as_bytes(), &value).unwrap();
        }
        writer.finish(&mut out).unwrap();
        out
    }

    /// The number of entries, and how the file ends.
    fn read(bytes: &[u8]) -> io::Result<(u64, Option<u64>)> {
        let mut rest = bytes.strip_prefix(MAGIC).unwrap();
        let mut found = 0;
        loop {
            match read_frame(&mut rest)? {
                Frame::Payload(payload) => {
                    found += entries::<String>(&payload, |key, value| {
                        let index: usize = std::str::from_utf8(key).unwrap().parse().unwrap();
                        assert_eq!(value, vec![index as u8; index % 3000]);
                        Ok(())
                    })
                    .unwrap();
                }
                Frame::End(count) => return Ok((found, Some(count))),
                Frame::Torn => return Ok((found, None)),
            }
        }
    }

    #[test]
    fn entries_come_back() {
        for count in [0, 1, 500] {
            assert_eq!(read(&written(count)).unwrap(), (count as u64, Some(count as u64)));
        }
    }

    #[test]
    fn what_is_cut_off_or_damaged_is_noticed() {
        let bytes = written(100);
        for end in MAGIC.len()..bytes.len() {
            assert_eq!(read(&bytes[..end]).unwrap().1, None, "cut off at {end}");
        }
        for at in (MAGIC.len()..bytes.len()).step_by(97) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            assert!(!matches!(read(&damaged), Ok((_, Some(100)))), "byte {at}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_frames_or_refused(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..64)) {
            let mut rest = &bytes[..];
            while let Ok(Frame::Payload(payload)) = read_frame(&mut rest) {
                let _ = entries::<String>(&payload, |_, _| Ok(()));
            }
            let _ = entries::<String>(&bytes, |_, _| Ok(()));
        }
    }

    #[test]
    fn any_bytes_are_a_payload_or_refused() {
        for payload in [&b"\x01"[..], b"\x05\x00ab", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", b"\xff"]
        {
            assert!(entries::<String>(payload, |_, _| Ok(())).is_err(), "{payload:?}");
        }
    }
}
