//! Output whose reader leaves: the program ends properly, without a message.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::support::{TestDirectory, program};

#[test]
fn a_closed_pipe_ends_the_output_in_order() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(30_000).into_os_string().into_string().unwrap();
    for arguments in [
        vec!["scan", &db],
        vec!["scan", &db, "--json", "--reverse"],
        vec!["export", &db],
        vec!["export", &db, "--form", "binary"],
        vec!["inspect", &db, "--detail", "all"],
        vec!["shell", &db],
    ] {
        let mut command = program();
        command.args(&arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        if arguments[0] == "shell" {
            use std::io::Write;
            child.stdin.take().unwrap().write_all(b"scan\nscan\n").unwrap();
        }
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = Vec::new();
        output.read_until(b'\n', &mut line).unwrap();
        assert!(!line.is_empty());
        drop(output);
        let rest = child.wait_with_output().unwrap();
        assert_eq!(rest.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&rest.stderr), "", "{arguments:?}");
    }
}

#[test]
fn nothing_is_drawn_where_standard_error_is_no_terminal() {
    let scratch = TestDirectory::new();
    let db = scratch.numbers(1000);
    let output = program().arg("verify").arg(&db).output().unwrap();
    assert!(output.stderr.is_empty());
}
