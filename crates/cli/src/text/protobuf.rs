//! Protocol buffers without a schema, as far as Chromium's records need it.

use super::fields::Fields;

/// A field's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    Number(u64),
    /// A text, bytes or another message.
    Bytes(&'a [u8]),
}

/// The numbered fields of a message in their order; `None` if the bytes are not a message, or contain a type of field
/// that Chromium's records never use.
///
/// Source: <https://protobuf.dev/programming-guides/encoding/>.
pub(crate) fn message(bytes: &[u8]) -> Option<Vec<(u64, Content<'_>)>> {
    let mut fields = Fields(bytes);
    let mut found = Vec::new();
    while !fields.0.is_empty() {
        let tag = fields.varint()?;
        let content = match tag & 7 {
            0 => Content::Number(fields.varint()?),
            2 => Content::Bytes(fields.counted_bytes()?),
            _ => return None,
        };
        found.push((tag >> 3, content));
    }
    Some(found)
}
