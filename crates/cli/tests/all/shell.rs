//! The shell, with input from a pipe.

use crate::support::{TestDirectory, terrace, value, with_input};

#[test]
fn commands_are_run_one_after_the_other() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(100);
    let typed = "get 00007\n\nscan --prefix 0000 --keys -n 2\ncount\nput a b\nreload\nnonsense\nget 'not closed\nexit\nget 00008\n";
    let run = with_input([&"shell", &db], typed.as_bytes());
    assert_eq!(run.out, format!("{}\n00000\n00001\n100\n", value(7)));
    for part in ["--write", "unrecognized subcommand 'nonsense'", "is not closed"] {
        assert!(run.err.contains(part), "{part} in {}", run.err);
    }
    assert_eq!(run.code, 1, "the last command before leaving failed");
}

#[test]
fn it_changes_a_database_only_when_started_so() {
    let scratch = TestDirectory::new();
    let db = scratch.path("db");
    let typed = "put 'a key' \"it's\"\nput b\\x00 c\nscan\ndel b\\x00\ncount\nhelp\n";
    let run = with_input([&"shell", &db, &"--write", &"--create"], typed.as_bytes());
    assert_eq!(run.err, "");
    assert!(run.out.starts_with("a key\tit's\nb\\x00\tc\n1\nCommands on the open database"), "{}", run.out);
    assert_eq!(terrace([&"scan", &db]).ok(), "a key\tit's\n");
}
