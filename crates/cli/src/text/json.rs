//! JSON to print: members keep their order, and nothing is built unnecessarily.

use std::fmt;
use std::io::{self, Write};

use super::escape::{hex, is_harmless};

/// A value to be printed as JSON on one line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Integer(i128),
    /// A finite number.
    Float(f64),
    String(String),
    /// Text that is already JSON.
    Verbatim(String),
    Array(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
    /// An object whose member names are data.
    Map(Vec<(String, Json)>),
}

impl Json {
    /// A string if the bytes are UTF-8, otherwise `{"hex": "…"}`.
    pub(crate) fn bytes(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::String(text.to_owned()),
            Err(_) => Self::hex(bytes),
        }
    }

    /// `{"hex": "…"}`.
    pub(crate) fn hex(bytes: &[u8]) -> Self {
        Self::Object(vec![("hex", Self::String(hex(bytes)))])
    }

    /// A number as JavaScript writes it: without a fraction if it has none.
    pub(crate) fn number(value: f64) -> Self {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if value.fract() == 0.0 && value.abs() <= EXACT {
            Self::Integer(value as i128)
        } else if value.is_finite() {
            Self::Float(value)
        } else {
            Self::Object(vec![("number", Self::String(value.to_string()))])
        }
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Self::Integer(value.into())
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Self {
        Self::Integer(value as i128)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Self {
        Self::String(value)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => match serde_json::Number::from_f64(*value) {
                Some(number) => write!(f, "{number}"),
                None => f.write_str("null"),
            },
            Self::String(text) => f.write_str(&quoted(text)),
            Self::Verbatim(text) => f.write_str(text),
            Self::Array(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if index > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
            Self::Object(members) => write_members(f, members.iter().map(|(name, value)| (*name, value))),
            Self::Map(members) => {
                write_members(f, members.iter().map(|(name, value)| (name.as_str(), value)))
            }
        }
    }
}

fn write_members<'a>(
    f: &mut fmt::Formatter<'_>,
    members: impl Iterator<Item = (&'a str, &'a Json)>,
) -> fmt::Result {
    f.write_str("{")?;
    for (index, (name, value)) in members.enumerate() {
        write!(f, "{}{}:{value}", if index > 0 { "," } else { "" }, quoted(name))?;
    }
    f.write_str("}")
}

fn quoted(text: &str) -> String {
    harmless(serde_json::to_string(text).expect("a string is JSON"))
}

/// JSON on one line in which everything that a terminal would obey is escaped. Between tokens there can only be
/// blanks, so whatever else is replaced is within a string.
pub(crate) fn harmless(json: String) -> String {
    if json.chars().all(is_harmless) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        match character {
            '\n' | '\r' | '\t' => out.push(' '),
            _ if is_harmless(character) => out.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    out += &format!("\\u{unit:04x}");
                }
            }
        }
    }
    out
}

/// Writes bytes as [`Json::bytes`] prints them, without a copy.
pub(crate) fn write_bytes(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    if bytes.iter().all(|byte| matches!(byte, b' ' | b'!' | b'#'..=b'[' | b']'..=b'~')) {
        out.write_all(b"\"")?;
        out.write_all(bytes)?;
        return out.write_all(b"\"");
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => out.write_all(quoted(text).as_bytes()),
        Err(_) => write!(out, "{{\"hex\":\"{}\"}}", hex(bytes)),
    }
}

/// The bytes that a JSON value stands for, in the form of [`Json::bytes`].
///
/// # Errors
///
/// A sentence that names what was expected.
pub(crate) fn bytes_of(value: &serde_json::Value) -> Result<Vec<u8>, String> {
    match value {
        serde_json::Value::String(text) => Ok(text.clone().into_bytes()),
        serde_json::Value::Object(members) if members.len() == 1 => match members.get("hex") {
            Some(serde_json::Value::String(text)) => super::escape::unhex(text),
            _ => Err(expected(value)),
        },
        _ => Err(expected(value)),
    }
}

fn expected(value: &serde_json::Value) -> String {
    let mut shown = value.to_string();
    if let Some((at, _)) = shown.char_indices().nth(40) {
        shown.truncate(at);
    }
    format!("expected a string or {{\"hex\": \"…\"}}, not {shown}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        for bytes in [&b""[..], b"a\"b\\c\n\0", "ä\u{1f600}".as_bytes(), b"\xff\x00"] {
            let mut out = Vec::new();
            write_bytes(&mut out, bytes).unwrap();
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text, Json::bytes(bytes).to_string());
            assert_eq!(bytes_of(&serde_json::from_str(&text).unwrap()).unwrap(), bytes);
        }
        for other in ["1", "{}", "{\"hex\":1}", "{\"hex\":\"0\"}", "null", "[\"a\"]"] {
            assert!(bytes_of(&serde_json::from_str(other).unwrap()).is_err(), "{other}");
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped() {
        let text = "a\u{9b}b\u{202e}c\u{7f}\u{1b}\u{e0001}";
        let printed = Json::from(text).to_string();
        assert!(printed.chars().all(|character| matches!(character, ' '..='~')), "{printed}");
        assert_eq!(serde_json::from_str::<String>(&printed).unwrap(), text);
        assert_eq!(harmless("{\n\t\"a\": 1}".to_owned()), "{  \"a\": 1}");
    }

    #[test]
    fn numbers_are_javascripts() {
        for (value, text) in [(0.0, "0"), (-0.0, "0"), (1.5, "1.5"), (-7.0, "-7"), (1e300, "1e+300")] {
            assert_eq!(Json::number(value).to_string(), text);
        }
        assert_eq!(Json::number(f64::NEG_INFINITY).to_string(), "{\"number\":\"-inf\"}");
    }

    #[test]
    fn members_keep_their_order() {
        let json = Json::Object(vec![("b", 1u64.into()), ("a", Json::Array(vec![Json::Null, true.into()]))]);
        assert_eq!(json.to_string(), "{\"b\":1,\"a\":[null,true]}");
    }
}
