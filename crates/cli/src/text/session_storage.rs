//! Keys and values in Chromium's Session Storage.
//!
//! ```text
//! version                       version of the schema, as text
//! next-map-id                   the number of the map that is made next, as text
//! namespace-ID-origin           the number of the map with the entries of this origin in a tab, as text
//! map-N-key                     an entry of a map: string → UTF-16 in little-endian order
//! ```
//!
//! The identity of a tab is a UUID with underscores.

use super::fields::utf16;
use super::json::Json;

/// The bytes of a tab's identity.
const ID_BYTES: usize = 36;

enum Key<'a> {
    Version,
    NextMap,
    Namespace { tab: &'a str, origin: &'a str },
    Entry { map: u64, name: &'a str },
}

fn parse(key: &[u8]) -> Option<Key<'_>> {
    let key = std::str::from_utf8(key).ok()?;
    if let Some(rest) = key.strip_prefix("namespace-") {
        let (tab, origin) = rest.split_at_checked(ID_BYTES)?;
        return Some(Key::Namespace { tab, origin: origin.strip_prefix('-')? });
    }
    if let Some(rest) = key.strip_prefix("map-") {
        let (map, name) = rest.split_once('-')?;
        return Some(Key::Entry { map: map.parse().ok()?, name });
    }
    match key {
        "version" => Some(Key::Version),
        "next-map-id" => Some(Key::NextMap),
        _ => None,
    }
}

/// The key as JSON; `None` if it is not one of Session Storage.
pub(crate) fn decode_key(key: &[u8]) -> Option<Json> {
    let kind = |name: &str| ("kind", Json::from(name));
    Some(Json::Object(match parse(key)? {
        Key::Version => vec![kind("version")],
        Key::NextMap => vec![kind("next map")],
        Key::Namespace { tab, origin } => {
            vec![kind("namespace"), ("tab", tab.into()), ("origin", origin.into())]
        }
        Key::Entry { map, name } => vec![kind("entry"), ("map", map.into()), ("key", name.into())],
    }))
}

/// The value of `key` as JSON; `None` if Session Storage has no such value under such a key.
pub(crate) fn decode_value(key: &[u8], value: &[u8]) -> Option<Json> {
    match parse(key)? {
        Key::Entry { .. } => value.len().is_multiple_of(2).then(|| utf16(value, u16::from_le_bytes).into()),
        Key::Version => Some(std::str::from_utf8(value).ok()?.into()),
        Key::NextMap | Key::Namespace { .. } => {
            Some(std::str::from_utf8(value).ok()?.parse::<u64>().ok()?.into())
        }
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

    const NAMESPACE: &[u8] = b"namespace-ee4885db_7bba_4328_af1e_6b575a8927b7-https://a.b/";

    #[test]
    fn every_kind_of_key() {
        assert_eq!(key(b"version").unwrap(), "{\"kind\":\"version\"}");
        assert_eq!(key(b"next-map-id").unwrap(), "{\"kind\":\"next map\"}");
        assert_eq!(
            key(NAMESPACE).unwrap(),
            "{\"kind\":\"namespace\",\"tab\":\"ee4885db_7bba_4328_af1e_6b575a8927b7\",\"origin\":\"https://a.b/\"}"
        );
        assert_eq!(key("map-12-k-é".as_bytes()).unwrap(), "{\"kind\":\"entry\",\"map\":12,\"key\":\"k-é\"}");
        for other in [
            &b""[..],
            b"versio",
            b"map-",
            b"map-x-k",
            b"map-1",
            b"namespace-",
            b"namespace-x-o",
            b"map-1-\xff",
        ] {
            assert_eq!(key(other), None, "{other:?}");
        }
    }

    #[test]
    fn values_follow_their_keys() {
        assert_eq!(value(b"version", b"1").unwrap(), "\"1\"");
        assert_eq!(value(b"next-map-id", b"7").unwrap(), "7");
        assert_eq!(value(NAMESPACE, b"0").unwrap(), "0");
        assert_eq!(value(b"map-0-k", b"a\0\xa9\x03").unwrap(), "\"aΩ\"");
        assert_eq!(value(b"map-0-k", b"a").as_deref(), None);
        assert_eq!(value(NAMESPACE, b"x"), None);
        assert_eq!(value(b"other", b"1"), None);
    }
}
