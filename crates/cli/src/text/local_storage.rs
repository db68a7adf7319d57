//! Keys and values in Chromium's Local Storage.
//!
//! ```text
//! VERSION                       version of the schema, as text
//! META:origin                   when the origin was last written, and its size (protocol buffer)
//! METAACCESS:origin             when it was last used (protocol buffer)
//! _origin 00 string             an entry: string → string
//! string                        01 and Latin-1, or 00 and UTF-16 in little-endian order
//! ```
//!
//! An origin may be followed by `^` and the key of its partition.

use super::date::windows_time;
use super::fields::utf16;
use super::json::Json;
use super::protobuf::{Content, message};

/// The kind of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key<'a> {
    Version,
    Written(&'a str),
    Used(&'a str),
    Entry(&'a str, &'a [u8]),
}

fn parse(key: &[u8]) -> Option<Key<'_>> {
    let text = |bytes| std::str::from_utf8(bytes).ok();
    if key == b"VERSION" {
        return Some(Key::Version);
    }
    if let Some(origin) = key.strip_prefix(b"META:") {
        return Some(Key::Written(text(origin)?));
    }
    if let Some(origin) = key.strip_prefix(b"METAACCESS:") {
        return Some(Key::Used(text(origin)?));
    }
    let rest = key.strip_prefix(b"_")?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    Some(Key::Entry(text(&rest[..end])?, &rest[end + 1..]))
}

/// The key as JSON; `None` if it is not one of Local Storage.
pub(crate) fn decode_key(key: &[u8]) -> Option<Json> {
    let kind = |name: &str| ("kind", Json::from(name));
    Some(Json::Object(match parse(key)? {
        Key::Version => vec![kind("version")],
        Key::Written(origin) => vec![kind("meta"), ("origin", origin.into())],
        Key::Used(origin) => vec![kind("access"), ("origin", origin.into())],
        Key::Entry(origin, name) => {
            vec![kind("entry"), ("origin", origin.into()), ("key", string(name)?.into())]
        }
    }))
}

/// The value of `key` as JSON; `None` if Local Storage has no such value under such a key.
pub(crate) fn decode_value(key: &[u8], value: &[u8]) -> Option<Json> {
    match parse(key)? {
        Key::Version => Some(std::str::from_utf8(value).ok()?.into()),
        Key::Entry(..) => Some(string(value)?.into()),
        Key::Written(_) => {
            let (mut time, mut size_bytes) = (None, None);
            for field in message(value)? {
                match field {
                    (1, Content::Number(number)) => time = Some(number),
                    (2, Content::Number(number)) => size_bytes = Some(number),
                    _ => {}
                }
            }
            Some(Json::Object(vec![("written", windows_time(time?)), ("size_bytes", size_bytes.into())]))
        }
        Key::Used(_) => message(value)?.into_iter().find_map(|field| match field {
            (1, Content::Number(micros)) => Some(Json::Object(vec![("used", windows_time(micros))])),
            _ => None,
        }),
    }
}

fn string(bytes: &[u8]) -> Option<String> {
    let (encoding, rest) = bytes.split_first()?;
    match encoding {
        0 if rest.len().is_multiple_of(2) => Some(utf16(rest, u16::from_le_bytes)),
        1 => Some(rest.iter().map(|byte| char::from(*byte)).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(bytes: &[u8]) -> Option<String> {
        decode_key(bytes).map(|json| json.to_string())
    }

    fn value(key: &[u8], bytes: &[u8]) -> Option<String> {
        decode_value(key, bytes).map(|json| json.to_string())
    }

    #[test]
    fn every_kind_of_key() {
        assert_eq!(key(b"VERSION").unwrap(), "{\"kind\":\"version\"}");
        assert_eq!(key(b"META:https://a.b").unwrap(), "{\"kind\":\"meta\",\"origin\":\"https://a.b\"}");
        assert_eq!(
            key(b"METAACCESS:https://a.b").unwrap(),
            "{\"kind\":\"access\",\"origin\":\"https://a.b\"}"
        );
        let entry = "{\"kind\":\"entry\",\"origin\":\"https://a.b\",\"key\":\"ké\"}";
        assert_eq!(key(b"_https://a.b\0\x01k\xe9").unwrap(), entry);
        assert_eq!(key(b"_https://a.b\0\0k\0\xe9\0").unwrap(), entry);
        for other in
            [&b""[..], b"VERSIO", b"_https://a.b", b"_a\0", b"_a\0\x02x", b"_a\0\0x", b"_\xff\0\x01x"]
        {
            assert_eq!(key(other), None, "{other:?}");
        }
    }

    #[test]
    fn values_follow_their_keys() {
        assert_eq!(value(b"VERSION", b"1").unwrap(), "\"1\"");
        assert_eq!(value(b"_a\0\x01k", b"\x01text").unwrap(), "\"text\"");
        assert_eq!(value(b"_a\0\x01k", b"\0\x3d\xd8\0\xde").unwrap(), "\"\u{1f600}\"");
        assert_eq!(value(b"_a\0\x01k", b""), None);
        // Field 1: 11,644,473,600,000,000 µs; field 2: 300.
        let meta = b"\x08\x80\x80\x99\xc4\xe4\xd2\xd7\x14\x10\xac\x02";
        assert_eq!(
            value(b"META:a", meta).unwrap(),
            "{\"written\":\"1970-01-01T00:00:00.000Z\",\"size_bytes\":300}"
        );
        assert_eq!(value(b"META:a", b"\x08"), None);
        assert_eq!(value(b"META:a", b"\x0a\x01x"), None);
        assert_eq!(value(b"other", b"x"), None);
    }
}
