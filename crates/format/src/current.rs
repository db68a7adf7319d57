//! The file `CURRENT`: the name of the current manifest, and a newline.
//!
//! It is replaced as a whole, never written in place, because it decides which database this is. The newline is
//! mandatory: LevelDB treats a `CURRENT` without one as cut off.
//!
//! The manifest is written and synced before `CURRENT` names it. An open reads `CURRENT` first.

use crate::error::{FormatError, Result};
use crate::file_name::{FileKind, manifest_name, parse};

const STRUCTURE: &str = "CURRENT";

/// The contents of `CURRENT` for the manifest numbered `manifest_number`.
pub fn encode(manifest_number: u64) -> String {
    format!("{}\n", manifest_name(manifest_number))
}

/// The number of the manifest that `contents` names.
///
/// # Errors
///
/// `Corrupt` for anything that [`encode`] does not produce.
pub fn decode(contents: &[u8]) -> Result<u64> {
    if contents.is_empty() {
        return Err(FormatError::corrupt(STRUCTURE, "the file is empty", 0));
    }
    let Some(name) = contents.strip_suffix(b"\n") else {
        return Err(FormatError::corrupt(STRUCTURE, "no newline at the end", contents.len() as u64));
    };
    match std::str::from_utf8(name).ok().and_then(parse) {
        Some(FileKind::Manifest(number)) if manifest_name(number).as_bytes() == name => Ok(number),
        _ => Err(FormatError::corrupt(STRUCTURE, "the name is not a manifest's", 0)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_bytes_are_the_formats() {
        assert_eq!(encode(5), "MANIFEST-000005\n");
        assert_eq!(encode(12_345_678), "MANIFEST-12345678\n");
    }

    #[test]
    fn anything_else_is_refused() {
        for contents in [
            "",
            "\n",
            "MANIFEST-000005",
            "MANIFEST-000005\r\n",
            "MANIFEST-000005\n\n",
            "MANIFEST-5\n",
            "000005.ldb\n",
            "CURRENT\n",
            "/MANIFEST-000005\n",
            "MANIFEST-0000\x005\n",
        ] {
            assert!(decode(contents.as_bytes()).is_err(), "{contents:?}");
        }
        assert_eq!(decode(b"MANIFEST-000005").unwrap_err().problem, "no newline at the end");
    }

    proptest! {
        #[test]
        fn any_number_is_read_back(number in any::<u64>()) {
            prop_assert_eq!(decode(encode(number).as_bytes()), Ok(number));
        }

        #[test]
        fn any_bytes_are_decoded_or_refused(bytes in any::<Vec<u8>>()) {
            if let Ok(number) = decode(&bytes) {
                prop_assert_eq!(encode(number).into_bytes(), bytes);
            }
        }
    }
}
