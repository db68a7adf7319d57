//! Shared by the tests of the environments.

/// The arguments that make this test program run only `test`, given with its whole path, in a separate process.
pub fn only(test: &str) -> [String; 3] {
    let (_program, test) = test.split_once("::").expect("a path begins with the name of the program");
    ["--exact".to_owned(), test.to_owned(), "--nocapture".to_owned()]
}

/// Gives back the room that the file at `ballast` took.
#[cfg(target_os = "linux")]
pub fn make_room(ballast: &std::path::Path) {
    // A program that another test is starting has the files of this process open for a moment. The room of an open file
    // is reclaimed only when the file is truncated.
    std::fs::File::create(ballast).unwrap();
    std::fs::remove_file(ballast).unwrap();
}
