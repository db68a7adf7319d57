//! Keys in the encoding of npm's `bytewise` 1.x, which sorts structured keys byte by byte.
//!
//! ```text
//! 10 null · 20 false · 21 true · f0 undefined · 40 −Infinity · 43 Infinity
//! 42 number ≥ 0, 41 number < 0        double, big-endian; of a negative number the bits of its positive one, inverted
//! 52 date ≥ 1970, 51 date < 1970      milliseconds, likewise
//! 60 buffer · 70 string               bytes to the end; within an array or object escaped, ended by 00
//! a0 array · b0 object                elements, or names and values alternating, ended by 00
//! escape                              00 → 01 01, 01 → 01 02, fe → fe fd, ff → fe fe
//! ```

use super::date::iso_date;
use super::fields::Fields;
use super::json::Json;

/// Deepest nesting that is decoded.
const MAX_DEPTH: usize = 500;

/// The key as JSON; `None` if it is not entirely in this encoding. A value that JSON does not have becomes an object
/// of one member: `{"date": …}`, `{"hex": …}`, `{"number": "inf"}`, `{"undefined": true}`.
pub(crate) fn decode(key: &[u8]) -> Option<Json> {
    let mut fields = Fields(key);
    let json = match fields.byte()? {
        BUFFER => Json::hex(std::mem::take(&mut fields.0)),
        STRING => Json::String(String::from_utf8(std::mem::take(&mut fields.0).to_vec()).ok()?),
        tag => value(&mut fields, tag, 0)?,
    };
    fields.0.is_empty().then_some(json)
}

const BUFFER: u8 = 0x60;
const STRING: u8 = 0x70;
const END: u8 = 0x00;

/// The value after its tag, as within an array.
fn value(fields: &mut Fields<'_>, tag: u8, depth: usize) -> Option<Json> {
    let infinite = |value: f64| Some(Json::number(value));
    match tag {
        0x10 => Some(Json::Null),
        0x20 => Some(Json::Bool(false)),
        0x21 => Some(Json::Bool(true)),
        0xf0 => Some(Json::Object(vec![("undefined", Json::Bool(true))])),
        0x40 => infinite(f64::NEG_INFINITY),
        0x43 => infinite(f64::INFINITY),
        0x41 => Some(Json::number(negative(fields)?)),
        0x42 => Some(Json::number(fields.double(f64::from_be_bytes)?)),
        0x51 => Some(date(negative(fields)?)),
        0x52 => Some(date(fields.double(f64::from_be_bytes)?)),
        BUFFER => Some(Json::hex(&unescape(fields)?)),
        STRING => Some(Json::String(String::from_utf8(unescape(fields)?).ok()?)),
        0xa0 => Some(Json::Array(list(fields, depth)?)),
        0xb0 => {
            let mut members = Vec::new();
            let mut items = list(fields, depth)?.into_iter();
            while let Some(name) = items.next() {
                let Json::String(name) = name else { return None };
                members.push((name, items.next()?));
            }
            Some(Json::Map(members))
        }
        _ => None,
    }
}

fn list(fields: &mut Fields<'_>, depth: usize) -> Option<Vec<Json>> {
    if depth >= MAX_DEPTH {
        return None;
    }
    let mut items = Vec::new();
    loop {
        match fields.byte()? {
            END => return Some(items),
            tag => items.push(value(fields, tag, depth + 1)?),
        }
    }
}

fn negative(fields: &mut Fields<'_>) -> Option<f64> {
    fields.double(|bytes| -f64::from_be_bytes(bytes.map(|byte| !byte)))
}

/// Escaped bytes up to their end.
fn unescape(fields: &mut Fields<'_>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        match fields.byte()? {
            END => return Some(bytes),
            0x01 => bytes.push(fields.byte()?.checked_sub(1)?),
            0xfe => bytes.push(fields.byte()?.checked_add(1)?),
            0xff => return None,
            byte => bytes.push(byte),
        }
    }
}

/// A date as JSON shows it.
pub(crate) fn date(ms: f64) -> Json {
    Json::Object(vec![("date", iso_date(ms).map_or_else(|| Json::number(ms), Json::String))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::escape::unhex;

    fn shown(hex: &str) -> Option<String> {
        decode(&unhex(hex).unwrap()).map(|json| json.to_string())
    }

    /// All but the last are what bytewise 1.1.0 writes; the last, an object, is from its version 0.
    #[test]
    fn every_type() {
        for (hex, text) in [
            ("4240c81c8000000000", "12345"),
            ("41bf37e37fffffffff", "-12345"),
            ("10", "null"),
            ("20", "false"),
            ("21", "true"),
            ("40", "{\"number\":\"-inf\"}"),
            ("43", "{\"number\":\"inf\"}"),
            ("f0", "{\"undefined\":true}"),
            ("520000000000000000", "{\"date\":\"1970-01-01T00:00:00.000Z\"}"),
            ("51c00fffffffffffff", "{\"date\":\"1969-12-31T23:59:59.999Z\"}"),
            ("600001ff", "{\"hex\":\"0001ff\"}"),
            ("7061c3a9", "\"aé\""),
            ("a000", "[]"),
            ("a070610070620000", "[\"a\",\"b\"]"),
            ("a060010101 02fefdfefe0000", "[{\"hex\":\"0001feff\"}]"),
            ("a0a0100021f000", "[[null],true,{\"undefined\":true}]"),
            (
                "a070610101620041bffbffffffffffff51c00fffffffffffff00",
                "[\"a\\u0000b\",-2.5,{\"date\":\"1969-12-31T23:59:59.999Z\"}]",
            ),
            ("524278bcfe5687b000", "{\"date\":\"2023-11-14T22:13:20.123Z\"}"),
            ("a0a070000000", "[[\"\"]]"),
            ("b070610042000000000000000000", "{\"a\":0}"),
        ] {
            assert_eq!(shown(hex).as_deref(), Some(text), "{hex}");
        }
    }

    #[test]
    fn other_bytes_are_refused() {
        for hex in [
            "",
            "00",
            "ff",
            "42",
            "4200",
            "4200000000000000000000",
            "a0",
            "a010",
            "a07061",
            "70ff",
            "a00042",
            "a070fefd0000",
        ] {
            assert_eq!(shown(hex), None, "{hex}");
        }
        let deep = [vec![0xa0; 100_000], vec![0; 100_000]].concat();
        assert_eq!(decode(&deep), None);
    }
}
