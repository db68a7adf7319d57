//! The file CURRENT.

use terrace_format::current;

/// The input is the file.
pub fn run(bytes: &[u8]) {
    if let Ok(number) = current::decode(bytes) {
        assert_eq!(current::encode(number).as_bytes(), bytes);
    }
}
