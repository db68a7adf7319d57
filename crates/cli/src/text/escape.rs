//! Escaped text: any bytes as one line of printable text, and back.
//!
//! ```text
//! printable UTF-8      as it is
//! \\  \t  \n  \r       backslash, tab, line feed, carriage return
//! \xNN                 any byte, two hexadecimal digits
//! ```
//!
//! Bytes that are not UTF-8 are escaped one by one. The same goes for characters that a terminal would obey, or that
//! would hide or reorder others: control characters, line and paragraph separators, direction marks, characters without
//! width.

use std::io::{self, Write};

/// Writes `bytes` as escaped text.
pub(crate) fn write_escaped(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    if bytes.iter().all(|byte| matches!(byte, b' '..=b'[' | b']'..=b'~')) {
        return out.write_all(bytes);
    }
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        let mut written = 0;
        for (at, character) in valid.char_indices() {
            if is_plain(character) {
                continue;
            }
            out.write_all(&valid.as_bytes()[written..at])?;
            written = at + character.len_utf8();
            match character {
                '\\' => out.write_all(b"\\\\")?,
                '\t' => out.write_all(b"\\t")?,
                '\n' => out.write_all(b"\\n")?,
                '\r' => out.write_all(b"\\r")?,
                _ => write_bytes(out, &valid.as_bytes()[at..written])?,
            }
        }
        out.write_all(&valid.as_bytes()[written..])?;
        write_bytes(out, chunk.invalid())?;
    }
    Ok(())
}

/// `bytes` as escaped text.
pub(crate) fn escaped(bytes: &[u8]) -> String {
    let mut out = Vec::with_capacity(bytes.len());
    write_escaped(&mut out, bytes).expect("memory takes every write");
    String::from_utf8(out).expect("escaped text is UTF-8")
}

/// The bytes that escaped text stands for.
///
/// # Errors
///
/// A sentence that names the invalid escape.
pub(crate) fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let escape = &rest[at + 1..];
        let (byte, taken) = match escape.as_bytes() {
            [b'\\', ..] => (b'\\', 1),
            [b't', ..] => (b'\t', 1),
            [b'n', ..] => (b'\n', 1),
            [b'r', ..] => (b'\r', 1),
            [b'0', ..] => (0, 1),
            [b'x', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                (digit(*high) << 4 | digit(*low), 3)
            }
            _ => {
                let shown: String = escape.chars().take(3).collect();
                return Err(format!(
                    "`\\{shown}` is not an escape; use \\\\ for a backslash, \\n, \\r, \\t, \\0 or \\xNN for a byte"
                ));
            }
        };
        bytes.push(byte);
        rest = &escape[taken..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

/// `bytes` in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The bytes that hexadecimal digits stand for; blanks between bytes are allowed.
///
/// # Errors
///
/// A sentence that describes what is invalid.
pub(crate) fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return Err(format!("`{text}` is not a sequence of hexadecimal bytes, such as 00ff7a"));
    }
    Ok(digits.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect())
}

fn digit(byte: u8) -> u8 {
    (byte as char).to_digit(16).unwrap_or_default() as u8
}

fn is_plain(character: char) -> bool {
    character != '\\' && is_harmless(character)
}

/// Whether a terminal shows the character as what it is.
pub(crate) fn is_harmless(character: char) -> bool {
    match character {
        ' '..='~' => true,
        _ => {
            !character.is_control()
                && !matches!(
                    character,
                    '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
                )
        }
    }
}

fn write_bytes(out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
    bytes.iter().try_for_each(|byte| write!(out, "\\x{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_read_back() {
        let every_byte: Vec<u8> = (0..=255).collect();
        for bytes in [
            &b""[..],
            b"plain",
            b"a\\b\tc\nd\re\0f",
            "größer \u{1f600}".as_bytes(),
            "a\u{202e}b\u{85}c\u{feff}".as_bytes(),
            b"\xff\xfe\xe2\x82",
            &every_byte,
        ] {
            let text = escaped(bytes);
            assert!(!text.contains(['\n', '\t', '\0', '\u{202e}', '\u{85}']), "{text}");
            assert_eq!(unescape(&text).unwrap(), bytes, "{text}");
            assert_eq!(unhex(&hex(bytes)).unwrap(), bytes);
        }
    }

    #[test]
    fn printable_text_stays_as_it_is() {
        assert_eq!(escaped("größer [1] \"x\"".as_bytes()), "größer [1] \"x\"");
        assert_eq!(escaped(b"\0\x01a\\"), "\\x00\\x01a\\\\");
    }

    #[test]
    fn what_is_no_escape_is_refused() {
        for text in ["\\", "\\q", "\\x", "\\x1", "\\xgg", "\\xé"] {
            assert!(unescape(text).is_err(), "{text}");
        }
        for text in ["0", "0g", "é0"] {
            assert!(unhex(text).is_err(), "{text}");
        }
    }
}
