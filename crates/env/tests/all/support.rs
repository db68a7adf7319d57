//! Shared by the tests of the environments.

/// What this test program takes to run only `test`, given with its whole path, in a process of its own.
pub fn only(test: &str) -> [String; 3] {
    let (_program, test) = test.split_once("::").expect("a path begins with the name of the program");
    ["--exact".to_owned(), test.to_owned(), "--nocapture".to_owned()]
}

/// Gives back the room that the file at `ballast` took.
#[cfg(target_os = "linux")]
pub fn make_room(ballast: &std::path::Path) {
    // A program that another test is starting has the files of this process open for a moment, and room in an open file comes back only
    // when it is cut off.
    std::fs::File::create(ballast).unwrap();
    std::fs::remove_file(ballast).unwrap();
}
