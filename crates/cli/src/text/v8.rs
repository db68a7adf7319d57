//! JavaScript values in V8's serialisation, in which Chromium stores the records of IndexedDB. After Chromium's
//! `third_party/blink/renderer/bindings/core/v8/serialization` and V8's `src/objects/value-serializer.cc`, format 13 to 16.
//!
//! ```text
//! ff version                     Blink's; from 21 on, fe and twelve bytes follow, the place of a trailer
//!   ff version value             V8's
//!   11 01 size index             the value is in a file beside the database
//!   11 02 snappy                 all of it compressed
//! ```

use terrace_format::compression::{CompressionIds, SNAPPY_ID, decompress};

use super::bytewise::date;
use super::fields::{Fields, utf16};
use super::json::Json;

/// Deepest nesting that is decoded.
const MAX_DEPTH: usize = 200;

/// From this version of Blink's on, the place of a trailer is stated.
const BLINK_WITH_TRAILER: u64 = 21;

/// In the place of Blink's version: a value that is stored in another way.
const WRAPPED: u64 = 0x11;

/// From this version of V8's on, views have flags.
const V8_WITH_FLAGS: u64 = 14;

/// The value as JSON; `None` if it is not decoded from end to end. A value that JSON does not have becomes an object: `{"undefined": true}`,
/// `{"date": …}`, `{"number": "NaN"}`, `{"bigint": "…"}`, `{"hex": …}` of bytes with the `type` of their view, `{"map": …}`, `{"set": …}`,
/// `{"regexp": …}`, `{"error": …}`, `{"blob": …}`, and `{"reference": n}` for the object that began as the n-th, from 0 on.
pub(crate) fn decode(bytes: &[u8]) -> Option<Json> {
    let mut fields = Fields(bytes);
    match (fields.byte()?, fields.varint()?) {
        (0xff, WRAPPED) if matches!(fields.0.first(), Some(1 | 2)) => wrapped(&mut fields),
        (0xff, version) => {
            let mut has_trailer = false;
            if version >= BLINK_WITH_TRAILER && fields.0.first() == Some(&0xfe) {
                has_trailer = fields.bytes(13)?[1..].iter().any(|byte| *byte != 0);
            }
            let version = match fields.0.first()? {
                0xff => {
                    fields.byte()?;
                    fields.varint()?
                }
                _ => version,
            };
            let mut reader = Reader { fields, version, objects: 0 };
            let value = reader.value(0)?;
            // Blink fills up to an even number of bytes.
            (has_trailer || matches!(reader.fields.0, [] | [0])).then_some(value)
        }
        _ => None,
    }
}

fn wrapped(fields: &mut Fields<'_>) -> Option<Json> {
    if fields.byte()? == 2 {
        let value = decompress(SNAPPY_ID, fields.0, CompressionIds::default()).ok()?;
        // It is not wrapped twice.
        let is_plain = !matches!(value[..], [0xff, 0x11, 1 | 2, ..]);
        return is_plain.then(|| decode(&value)).flatten();
    }
    let (size_bytes, index) = (fields.varint()?, fields.varint()?);
    let blob = Json::Object(vec![("blob", index.into()), ("size_bytes", size_bytes.into())]);
    fields.0.is_empty().then_some(blob)
}

struct Reader<'a> {
    fields: Fields<'a>,
    version: u64,
    /// How many objects have begun, which references count.
    objects: u64,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Json> {
        let tag = self.tag()?;
        self.tagged(tag, depth)
    }

    /// The next tag. Zeros align what follows.
    fn tag(&mut self) -> Option<u8> {
        loop {
            match self.fields.byte()? {
                0 => {}
                // A number of objects, which older versions state.
                b'?' => _ = self.fields.varint()?,
                tag => return Some(tag),
            }
        }
    }

    fn tagged(&mut self, tag: u8, depth: usize) -> Option<Json> {
        if depth >= MAX_DEPTH {
            return None;
        }
        if b"oaADyxnzsR;'B~r\\".contains(&tag) {
            self.objects += 1;
        }
        let one = |name, json| Some(Json::Object(vec![(name, json)]));
        match tag {
            b'_' => one("undefined", true.into()),
            b'0' | b'-' => Some(Json::Null),
            b'T' | b'y' => Some(true.into()),
            b'F' | b'x' => Some(false.into()),
            b'I' => {
                let zigzag = u32::try_from(self.fields.varint()?).ok()?;
                Some(Json::Integer(((zigzag >> 1) as i32 ^ -((zigzag & 1) as i32)).into()))
            }
            b'U' => Some(self.fields.varint()?.into()),
            b'N' | b'n' => Some(Json::number(self.double()?)),
            b'Z' | b'z' => self.bigint(),
            b'"' | b'c' | b'S' => self.string(tag).map(Json::String),
            b's' => {
                let tag = self.tag()?;
                self.string(tag).map(Json::String)
            }
            b'^' => one("reference", self.fields.varint()?.into()),
            b'D' => Some(date(self.double()?)),
            b'R' => {
                let tag = self.tag()?;
                let source = self.string(tag)?;
                let flags = self.fields.varint()?;
                // In the order of V8's bits; one of them is V8's own.
                let letters = "gimyusldv".chars().enumerate();
                let set: String =
                    letters.filter(|(bit, _)| flags >> bit & 1 == 1).map(|(_, letter)| letter).collect();
                one("regexp", format!("/{source}/{set}").into())
            }
            b'o' => self.properties(b'{', depth).map(Json::Map),
            b'a' => {
                self.fields.varint()?;
                let members = self.properties(b'@', depth)?;
                self.fields.varint()?;
                Some(Json::Map(members))
            }
            b'A' => self.dense_array(depth),
            b';' => {
                let mut entries = Vec::new();
                for pair in self.items(b':', depth)?.chunks(2) {
                    entries.push(Json::Array(pair.to_vec()));
                }
                one("map", Json::Array(entries))
            }
            b'\'' => one("set", Json::Array(self.items(b',', depth)?)),
            b'B' | b'~' => self.buffer(tag),
            b'r' => self.error(depth),
            // What Blink adds, of which files and blobs lie beside the database.
            b'\\' => match self.fields.byte()? {
                b'i' => one("blob", self.fields.varint()?.into()),
                b'e' => one("file", self.fields.varint()?.into()),
                _ => None,
            },
            _ => None,
        }
    }

    fn double(&mut self) -> Option<f64> {
        self.fields.double(f64::from_le_bytes)
    }

    fn string(&mut self, tag: u8) -> Option<String> {
        let bytes = self.fields.counted_bytes()?;
        match tag {
            b'"' => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
            b'c' if bytes.len().is_multiple_of(2) => Some(utf16(bytes, u16::from_le_bytes)),
            b'S' => String::from_utf8(bytes.to_vec()).ok(),
            _ => None,
        }
    }

    /// In decimal up to 128 bits, beyond that in hexadecimal.
    fn bigint(&mut self) -> Option<Json> {
        let shape = self.fields.varint()?;
        let digits = self.fields.bytes(usize::try_from(shape >> 1).ok()?)?;
        let significant = &digits[..digits.iter().rposition(|digit| *digit != 0).map_or(0, |last| last + 1)];
        let sign = if shape & 1 == 1 { "-" } else { "" };
        let text = if significant.len() <= 16 {
            let mut padded = [0; 16];
            padded[..significant.len()].copy_from_slice(significant);
            format!("{sign}{}", u128::from_le_bytes(padded))
        } else {
            let hex: String = significant.iter().rev().map(|digit| format!("{digit:02x}")).collect();
            format!("{sign}0x{hex}")
        };
        Some(Json::Object(vec![("bigint", text.into())]))
    }

    /// Names and values up to `end`, and their number after it.
    fn properties(&mut self, end: u8, depth: usize) -> Option<Vec<(String, Json)>> {
        let mut members = Vec::new();
        let mut items = self.items(end, depth)?.into_iter();
        while let Some(name) = items.next() {
            let name = match name {
                Json::String(name) => name,
                number @ (Json::Integer(_) | Json::Float(_)) => number.to_string(),
                _ => return None,
            };
            members.push((name, items.next()?));
        }
        Some(members)
    }

    fn dense_array(&mut self, depth: usize) -> Option<Json> {
        // Each element takes at least a byte, so that a false count ends soon.
        let mut items = Vec::new();
        for _ in 0..self.fields.count()? {
            items.push(self.value(depth + 1)?);
        }
        let properties = self.properties(b'$', depth)?;
        self.fields.varint()?;
        Some(match properties[..] {
            [] => Json::Array(items),
            _ => Json::Object(vec![("array", Json::Array(items)), ("properties", Json::Map(properties))]),
        })
    }

    /// Values up to `end`, and their number after it.
    fn items(&mut self, end: u8, depth: usize) -> Option<Vec<Json>> {
        let mut items = Vec::new();
        loop {
            let tag = self.tag()?;
            if tag == end {
                self.fields.varint()?;
                return Some(items);
            }
            items.push(self.tagged(tag, depth + 1)?);
        }
    }

    /// Bytes, as what a view of them shows if one follows.
    fn buffer(&mut self, tag: u8) -> Option<Json> {
        let count = self.fields.count()?;
        if tag == b'~' {
            self.fields.varint()?;
        }
        let bytes = self.fields.bytes(count)?;
        if self.fields.0.first() != Some(&b'V') {
            return Some(Json::hex(bytes));
        }
        self.fields.byte()?;
        self.objects += 1;
        let kind = match self.fields.byte()? {
            b'b' => "Int8Array",
            b'B' => "Uint8Array",
            b'C' => "Uint8ClampedArray",
            b'w' => "Int16Array",
            b'W' => "Uint16Array",
            b'd' => "Int32Array",
            b'D' => "Uint32Array",
            b'h' => "Float16Array",
            b'f' => "Float32Array",
            b'F' => "Float64Array",
            b'q' => "BigInt64Array",
            b'Q' => "BigUint64Array",
            b'?' => "DataView",
            _ => return None,
        };
        let (offset, length) = (self.fields.count()?, self.fields.count()?);
        if self.version >= V8_WITH_FLAGS {
            self.fields.varint()?;
        }
        let shown = bytes.get(offset..offset.checked_add(length)?)?;
        let Json::Object(mut members) = Json::hex(shown) else { return None };
        members.push(("type", kind.into()));
        Some(Json::Object(members))
    }

    fn error(&mut self, depth: usize) -> Option<Json> {
        let mut members = vec![("error", Json::from("Error"))];
        loop {
            let tag = self.fields.byte()?;
            let name = match tag {
                b'E' => "EvalError",
                b'R' => "RangeError",
                b'F' => "ReferenceError",
                b'S' => "SyntaxError",
                b'T' => "TypeError",
                b'U' => "URIError",
                b'm' | b's' => {
                    let string = self.tag()?;
                    let text = self.string(string)?;
                    members.push((if tag == b'm' { "message" } else { "stack" }, text.into()));
                    continue;
                }
                b'c' => {
                    members.push(("cause", self.value(depth + 1)?));
                    continue;
                }
                b'.' => return Some(Json::Object(members)),
                _ => return None,
            };
            members[0].1 = name.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::escape::unhex;

    fn shown(hex: &str) -> Option<String> {
        decode(&unhex(hex).unwrap()).map(|json| json.to_string())
    }

    /// As Node's `v8.serialize` has written them.
    #[test]
    fn values_that_v8_has_written() {
        for (hex, text) in [
            (
                "ff0f6f22016149022201622201e922016361034900490249044906400203220164440000000000000000220165302201665f\
                 2201674e000000000000f83f22016849032201695a10d20a1feb8ca954ab22016a5a11050000000000000022016b547b0b",
                "{\"a\":1,\"b\":\"é\",\"c\":{\"0\":1,\"2\":3},\"d\":{\"date\":\"1970-01-01T00:00:00.000Z\"},\"e\":null,\
                 \"f\":{\"undefined\":true},\"g\":1.5,\"h\":-2,\"i\":{\"bigint\":\"12345678901234567890\"},\
                 \"j\":{\"bigint\":\"-5\"},\"k\":true}",
            ),
            ("ff0f3b2201612749022c013a02", "{\"map\":[[\"a\",{\"set\":[1]}]]}"),
            ("ff0f522202612b03", "{\"regexp\":\"/a+/gi\"}"),
            ("ff0f6f2201784902220473656c665e007b02", "{\"x\":1,\"self\":{\"reference\":0}}"),
            ("ff0f61e90749d00f49022201702201714002e907", "{\"1000\":1,\"p\":\"q\"}"),
            ("ff0f41014902220170220171240101", "{\"array\":[1],\"properties\":{\"p\":\"q\"}}"),
            ("ff0f42020102", "{\"hex\":\"0102\"}"),
            (
                "ff0f4104796e00000000000000407322017a7a100300000000000000240004",
                "[true,2,\"z\",{\"bigint\":\"3\"}]",
            ),
            ("ff0f72546d2204626f6f6d2e", "{\"error\":\"TypeError\",\"message\":\"boom\"}"),
            ("ff0f6304e5652c67", "\"日本\""),
            ("ff0f4e000000c00b5ae641", "3000000000"),
            ("ff0f4e000000000000f87f", "{\"number\":\"NaN\"}"),
            ("ff0f42040000803f5666000400", "{\"hex\":\"0000803f\",\"type\":\"Float32Array\"}"),
        ] {
            assert_eq!(shown(hex).as_deref(), Some(text), "{hex}");
        }
    }

    #[test]
    fn the_envelopes_of_chromium() {
        let trailer = "fe000000000000000000000000";
        assert_eq!(shown(&format!("ff15{trailer}ff1049 02")).as_deref(), Some("1"));
        assert_eq!(shown(&format!("ff15{trailer}ff104902 00")).as_deref(), Some("1"), "filled up");
        assert_eq!(shown(&format!("ff15{trailer}ff104902 01")), None);
        assert_eq!(shown("ff1101 ac02 03").as_deref(), Some("{\"blob\":3,\"size_bytes\":300}"));
        // A literal of four bytes.
        assert_eq!(shown("ff1102 040c ff0f4902").as_deref(), Some("1"));
        assert_eq!(shown("ff1102 040c ff110201"), None);
        assert_eq!(shown("ff0f5c6902").as_deref(), Some("{\"blob\":2}"));
    }

    #[test]
    fn other_bytes_are_refused() {
        for hex in [
            "",
            "ff",
            "ff0f",
            "000f49",
            "ff0f 51",
            "ff0f 6f 2201",
            "ff0f 41 ffffffff0f",
            "ff0f 5c 23",
            "ff0f 22 05 61",
        ] {
            assert_eq!(shown(hex), None, "{hex}");
        }
        let mut deep = unhex("ff0f").unwrap();
        deep.extend(b"A\x01".repeat(100_000));
        assert_eq!(decode(&deep), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_decoded_or_refused(mut bytes in proptest::collection::vec(any::<u8>(), 0..100), tags in "[_0TFIUNZ\"cS^oaADyxnzsR;'B~Vr{@$:,\\\\]{0,40}") {
            bytes.splice(0..0, [0xff, 0x0f]);
            decode(&bytes);
            let mixed: Vec<u8> = tags.bytes().zip(bytes.iter().copied().cycle()).flat_map(|(tag, byte)| [tag, byte & 3]).collect();
            decode(&[&[0xff, 0x0f], &mixed[..]].concat());
        }
    }
}
