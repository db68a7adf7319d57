//! A record that the end of the file cuts off.

use std::ops::RangeInclusive;

use super::fragment::FragmentHeader;

/// The beginning of a record that the end of the file cuts off. Only the bytes of whole fragments are covered by a
/// checksum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornRecord {
    /// Its first bytes.
    pub payload: Vec<u8>,
    /// The size of the whole record, as far as the headers of its fragments tell.
    pub size_bytes: RangeInclusive<usize>,
}

impl TornRecord {
    /// The record that begins with the bytes `gathered` from whole fragments, if a record is open, and continues with
    /// `rest`, which is what the file has after them: the beginning of a fragment, or nothing. `None` if that fragment
    /// does not belong to the record.
    ///
    /// ```
    /// use terrace_format::log::{LogEncoder, TornRecord};
    ///
    /// let mut file = Vec::new();
    /// LogEncoder::new().encode_into(b"hello", &mut file);
    /// let torn = TornRecord::new(None, &file[..9]).unwrap();
    /// assert_eq!((&torn.payload[..], torn.size_bytes), (&b"he"[..], 5..=5));
    /// ```
    pub fn new(gathered: Option<Vec<u8>>, rest: &[u8]) -> Option<Self> {
        let is_open = gathered.is_some();
        let mut payload = gathered.unwrap_or_default();
        let Some((header, fragment)) = FragmentHeader::split(rest) else {
            let at_least = payload.len() + usize::from(is_open);
            return Some(Self { payload, size_bytes: at_least..=usize::MAX });
        };
        let kind = header.kind()?;
        // A new record may begin after a first fragment without bytes: old writers filled blocks with those.
        if kind.begins_record() && !payload.is_empty() || !kind.begins_record() && !is_open {
            return None;
        }
        let size = payload.len() + header.length_bytes;
        payload.extend_from_slice(fragment);
        let size_bytes = if kind.ends_record() { size..=size } else { size + 1..=usize::MAX };
        Some(Self { payload, size_bytes })
    }
}
