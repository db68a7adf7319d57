//! `--key-format`, `--value-format` and `--json`: how a command prints keys and values, and how it reads them.

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use super::escape::{escaped, hex, unescape, unhex, write_escaped};
use super::json::{Json, harmless, write_bytes};
use super::{bytewise, idb, local_storage, session_storage};

/// How to interpret bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// Escaped text: UTF-8, with \xNN for other bytes.
    #[default]
    Utf8,
    /// Hexadecimal digits.
    Hex,
    /// JSON, as `level` stores it with the encoding `json`.
    Json,
    /// Chromium's IndexedDB.
    Idb,
    /// Chromium's Local Storage.
    Localstorage,
    /// Chromium's Session Storage.
    Sessionstorage,
    /// npm's bytewise 1.x (keys).
    Bytewise,
}

impl TextFormat {
    /// Parses a key or value that was given as an argument or typed.
    ///
    /// # Errors
    ///
    /// A sentence that describes the problem.
    pub(crate) fn parse(self, text: &str) -> Result<Vec<u8>, String> {
        match self {
            Self::Hex => unhex(text),
            Self::Json => match serde_json::from_str::<serde_json::Value>(text) {
                Ok(_) => Ok(text.as_bytes().to_vec()),
                Err(error) => Err(format!("`{text}` is not JSON ({error}); put a string in double quotes")),
            },
            // These formats only decode.
            Self::Utf8 | Self::Idb | Self::Localstorage | Self::Sessionstorage | Self::Bytewise => {
                unescape(text)
            }
        }
    }

    /// The decoded key; `None` if the format has no structure, or the key is not in it.
    fn decode_key(self, key: &[u8]) -> Option<Json> {
        match self {
            Self::Utf8 | Self::Hex => None,
            Self::Json => verbatim(key),
            Self::Idb => idb::decode_key(key),
            Self::Localstorage => local_storage::decode_key(key),
            Self::Sessionstorage => session_storage::decode_key(key),
            Self::Bytewise => bytewise::decode(key),
        }
    }

    fn decode_value(self, key: &[u8], value: &[u8]) -> Option<Json> {
        match self {
            Self::Utf8 | Self::Hex => None,
            Self::Json => verbatim(value),
            Self::Idb => idb::decode_value(key, value),
            Self::Localstorage => local_storage::decode_value(key, value),
            Self::Sessionstorage => session_storage::decode_value(key, value),
            Self::Bytewise => bytewise::decode(value),
        }
    }
}

/// JSON text, on one line.
fn verbatim(bytes: &[u8]) -> Option<Json> {
    let text = std::str::from_utf8(bytes).ok()?;
    serde_json::from_str::<serde_json::Value>(text).ok()?;
    Some(Json::Verbatim(harmless(text.to_owned())))
}

/// How keys and values are read and printed.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct FormatArguments {
    /// Format of printed keys and, for utf8, hex and json, also of given keys.
    ///
    /// Keys that do not decode are printed as escaped text after `undecoded:`. For idb, localstorage,
    /// sessionstorage and bytewise, keys are given as escaped text.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) key_format: TextFormat,
    /// The same for values.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub(crate) value_format: TextFormat,
}

impl FormatArguments {
    /// Writes a key as text on one line.
    pub(crate) fn write_key(self, out: &mut dyn Write, key: &[u8]) -> io::Result<()> {
        write_text(out, self.key_format, key, || self.key_format.decode_key(key))
    }

    /// Writes the value of `key` as text on one line.
    pub(crate) fn write_value(self, out: &mut dyn Write, key: &[u8], value: &[u8]) -> io::Result<()> {
        write_text(out, self.value_format, value, || self.value_format.decode_value(key, value))
    }

    /// Writes a key as a member of a JSON object. A decoded key is also written as escaped text.
    pub(crate) fn write_json_key(self, out: &mut dyn Write, key: &[u8]) -> io::Result<()> {
        out.write_all(b"\"key\":")?;
        match self.key_format.decode_key(key) {
            Some(json) => write!(out, "{json},\"escaped\":{}", Json::from(escaped(key))),
            None => write_json(out, self.key_format, key, || None),
        }
    }

    /// Writes the value of `key` as JSON.
    pub(crate) fn write_json_value(self, out: &mut dyn Write, key: &[u8], value: &[u8]) -> io::Result<()> {
        write_json(out, self.value_format, value, || self.value_format.decode_value(key, value))
    }

    /// A key as text, cut to about `most_bytes` if it is longer (0: never); `(empty)` if it has no bytes.
    pub(crate) fn key_text(self, key: &[u8], most_bytes: usize) -> String {
        if let Some(json) = self.key_format.decode_key(key) {
            return cut_text(json.to_string(), most_bytes);
        }
        let mut out = Vec::new();
        let result = match key {
            [] => out.write_all(b"(empty)"),
            _ => write_cut(&mut out, key, most_bytes, |out, key| self.write_key(out, key)),
        };
        into_text(out, result)
    }

    /// The value of `key` as text, cut like [`key_text`](Self::key_text).
    pub(crate) fn value_text(self, key: &[u8], value: &[u8], most_bytes: usize) -> String {
        if let Some(json) = self.value_format.decode_value(key, value) {
            return cut_text(json.to_string(), most_bytes);
        }
        let mut out = Vec::new();
        let result = write_cut(&mut out, value, most_bytes, |out, value| self.write_value(out, key, value));
        into_text(out, result)
    }
}

/// The text, or its beginning.
fn cut_text(mut text: String, most_bytes: usize) -> String {
    if most_bytes > 0 && text.len() > most_bytes {
        let length = text.len();
        let end = (0..=most_bytes).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or_default());
        text += &format!("… ({length} bytes)");
    }
    text
}

fn into_text(out: Vec<u8>, written: io::Result<()>) -> String {
    written.expect("memory takes every write");
    String::from_utf8(out).expect("what is printed is UTF-8")
}

/// Writes `bytes`, or their beginning and their number.
fn write_cut(
    out: &mut Vec<u8>,
    bytes: &[u8],
    most_bytes: usize,
    write: impl Fn(&mut Vec<u8>, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    if most_bytes == 0 || bytes.len() <= most_bytes {
        return write(out, bytes);
    }
    let mut end = most_bytes;
    // Not within a character.
    while end > 0 && bytes[end] & 0xc0 == 0x80 && most_bytes - end < 4 {
        end -= 1;
    }
    write(out, &bytes[..end])?;
    write!(out, "… ({} bytes)", bytes.len())
}

fn write_text(
    out: &mut dyn Write,
    format: TextFormat,
    bytes: &[u8],
    decode: impl FnOnce() -> Option<Json>,
) -> io::Result<()> {
    match format {
        TextFormat::Utf8 => write_escaped(out, bytes),
        TextFormat::Hex => out.write_all(hex(bytes).as_bytes()),
        _ => match decode() {
            Some(json) => write!(out, "{json}"),
            None => {
                out.write_all(b"undecoded:")?;
                write_escaped(out, bytes)
            }
        },
    }
}

fn write_json(
    out: &mut dyn Write,
    format: TextFormat,
    bytes: &[u8],
    decode: impl FnOnce() -> Option<Json>,
) -> io::Result<()> {
    match format {
        TextFormat::Utf8 => write_bytes(out, bytes),
        TextFormat::Hex => write!(out, "{}", Json::hex(bytes)),
        _ => match decode() {
            Some(json) => write!(out, "{json}"),
            None => write!(out, "{}", Json::Object(vec![("undecoded", escaped(bytes).into())])),
        },
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Bytes that begin like keys and values of some format.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let beginnings: [&[u8]; 12] = [
            b"",
            b"\0\x01\x01\x01\x04\x02",
            b"\0\x01\x01\x1e\x01",
            b"\0\x01\0\0\x64\x01",
            b"\0\0\0\0\xc9",
            b"_http://a\0\x01",
            b"_http://a\0\0",
            b"META:a",
            b"\xa0\x70",
            b"\xb0",
            b"\x08",
            b"{\"",
        ];
        let beginning = prop::sample::select(beginnings.to_vec());
        (beginning, vec(any::<u8>(), 0..40)).prop_map(|(beginning, rest)| [beginning, &rest].concat())
    }

    proptest! {
        #[test]
        fn any_bytes_are_one_line_of_text_and_json(key in bytes(), value in bytes(), cut in 0..50usize) {
            for format in TextFormat::value_variants() {
                let formats = FormatArguments { key_format: *format, value_format: *format };
                for text in [formats.key_text(&key, cut), formats.value_text(&key, &value, cut)] {
                    prop_assert!(!text.contains(['\n', '\r', '\t', '\0', '\x1b']), "{text}");
                }
                let mut json = Vec::new();
                json.push(b'{');
                formats.write_json_key(&mut json, &key).unwrap();
                json.extend_from_slice(b",\"value\":");
                formats.write_json_value(&mut json, &key, &value).unwrap();
                json.push(b'}');
                prop_assert!(!json.contains(&b'\n'));
                let parsed: serde_json::Value = serde_json::from_slice(&json).unwrap();
                prop_assert!(parsed.get("value").is_some());
            }
            let utf8 = TextFormat::Utf8;
            prop_assert_eq!(utf8.parse(&escaped(&key)).unwrap(), key);
        }
    }

    #[test]
    fn a_long_value_is_cut_between_characters() {
        let formats = FormatArguments::default();
        assert_eq!(formats.value_text(b"k", "ääää".as_bytes(), 3), "ä… (8 bytes)");
        assert_eq!(formats.value_text(b"k", b"abc", 3), "abc");
        assert_eq!(formats.value_text(b"k", &[0x80; 9], 6), "\\x80\\x80… (9 bytes)");
    }

    #[test]
    fn what_does_not_decode_is_still_printed() {
        let formats = FormatArguments { key_format: TextFormat::Idb, value_format: TextFormat::Json };
        assert_eq!(formats.key_text(b"\xff", 0), "undecoded:\\xff");
        assert_eq!(formats.value_text(b"k", b"{\n\"a\": 1}", 0), "{ \"a\": 1}");
        assert_eq!(formats.value_text(b"k", b"{", 0), "undecoded:{");
        assert!(TextFormat::Json.parse("abc").is_err());
        assert_eq!(TextFormat::Json.parse("\"a\"").unwrap(), b"\"a\"");
    }
}
