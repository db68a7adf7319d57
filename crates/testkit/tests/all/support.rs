//! Shared by the tests of this crate.

/// The arguments that make this test program run only `test`, given with its whole path, in a separate process.
#[cfg(unix)]
pub fn only(test: &str) -> [String; 3] {
    let (_program, test) = test.split_once("::").expect("a path begins with the name of the program");
    ["--exact".to_owned(), test.to_owned(), "--nocapture".to_owned()]
}
