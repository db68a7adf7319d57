//! Reads the hex examples from `docs/format` and runs one check on each.
//!
//! An example is a fenced block whose info string is `hex name=some-name`. Inside, `#` starts a comment that runs to
//! the end of the line; the rest is bytes of two hex digits, separated by any white space. `00*7` stands for seven
//! bytes of zero.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of an example and the check that its bytes must pass.
pub type Check = (&'static str, fn(&[u8]));

/// The directory `docs/format` of the repository.
pub fn docs_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format")
}

/// Runs the check of every example in `files`. Fails if an example has no check, a check has no example, or two
/// examples share a name.
pub fn check_examples(files: &[&str], checks: &[Check]) {
    let mut seen = BTreeSet::new();
    for file in files {
        let text =
            fs::read_to_string(docs_directory().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        for (name, bytes) in examples(file, &text) {
            assert!(seen.insert(name.clone()), "{file}: a second example is named {name}");
            let Some((_, check)) = checks.iter().find(|(check_name, _)| *check_name == name) else {
                panic!("{file}: the example {name} has no check");
            };
            println!("{file}: {name}");
            check(&bytes);
        }
    }
    for (name, _) in checks {
        assert!(seen.contains(*name), "no example is named {name} in {files:?}");
    }
}

fn examples(file: &str, text: &str) -> Vec<(String, Vec<u8>)> {
    let mut examples = Vec::new();
    let mut open: Option<(String, Vec<u8>)> = None;
    for (index, line) in text.lines().enumerate() {
        let place = format!("{file}:{}", index + 1);
        if let Some((_, bytes)) = &mut open {
            if line.starts_with("```") {
                examples.extend(open.take());
            } else {
                let words = line.split('#').next().unwrap_or_default().split_whitespace();
                words.for_each(|word| push_word(bytes, word, &place));
            }
        } else if let Some(info) = line.strip_prefix("```hex") {
            let name =
                info.trim().strip_prefix("name=").unwrap_or_else(|| panic!("{place}: no name= after ```hex"));
            open = Some((name.to_owned(), Vec::new()));
        }
    }
    assert!(open.is_none(), "{file}: an example is not closed");
    examples
}

fn push_word(bytes: &mut Vec<u8>, word: &str, place: &str) {
    let (digits, count) = word.split_once('*').unwrap_or((word, "1"));
    let byte = u8::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 2);
    let byte = byte.unwrap_or_else(|| panic!("{place}: {word} is not a byte"));
    let count: usize = count.parse().unwrap_or_else(|_| panic!("{place}: {word} has no count"));
    bytes.resize(bytes.len() + count, byte);
}
