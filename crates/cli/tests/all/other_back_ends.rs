//! `terrace copy` with URLs becomes `terrace-copy`.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::{TestDirectory, program, terrace};

/// Installs a program that prints its name and its arguments, one per line, and ends with a distinctive exit code.
#[cfg(unix)]
fn install(directory: &Path, name: &str) {
    fs::create_dir_all(directory).unwrap();
    let script = format!("#!/bin/sh\necho {name}\nprintf '<%s>\\n' \"$@\"\necho noise >&2\nexit 42\n");
    // Another process writes it: one that another test starts while this process has it open would inherit it, and what is open for
    // writing cannot be run.
    let text = directory.join("text");
    fs::write(&text, script).unwrap();
    let copied =
        std::process::Command::new("cp").arg(&text).arg(directory.join("terrace-copy")).status().unwrap();
    assert!(copied.success());
    allow_to_run(directory, 0o755);
}

/// The same, as npm installs programs there.
#[cfg(windows)]
fn install(directory: &Path, name: &str) {
    fs::create_dir_all(directory).unwrap();
    let script = [
        "@echo off",
        &format!("echo {name}"),
        ":next",
        "if [%1]==[] exit /b 42",
        "echo ^<%~1^>",
        "shift",
        "goto next",
        "",
    ];
    fs::write(directory.join("terrace-copy.cmd"), script.join("\r\n")).unwrap();
}

#[cfg(unix)]
fn allow_to_run(directory: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(directory.join("terrace-copy"), fs::Permissions::from_mode(mode)).unwrap();
}

fn copy(cwd: &Path, path: &Path, arguments: &[&str]) -> Output {
    program().arg("copy").args(arguments).current_dir(cwd).env("PATH", path).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap().replace("\r\n", "\n")
}

#[test]
fn the_nearest_program_gets_the_arguments_as_they_are() {
    let scratch = TestDirectory::new();
    let deep = scratch.path("project").join("a/b");
    fs::create_dir_all(&deep).unwrap();
    let on_path = scratch.path("bin");
    install(&on_path, "path");
    // Batch files cannot take every argument unmodified.
    let arguments: &[_] = if cfg!(windows) {
        &["./a b", "lmdb:x", "--json", "--prefix", "\\xff"]
    } else {
        &["./a b", "lmdb:$(touch hacked);'", "--json", "*", "", "--prefix", "\\xff"]
    };

    let output = copy(&deep, &on_path, arguments);
    assert_eq!(output.status.code(), Some(42));
    assert_eq!(output.stderr, if cfg!(windows) { "" } else { "noise\n" }.as_bytes());
    let listed: String = arguments.iter().map(|argument| format!("<{argument}>\n")).collect();
    assert_eq!(out(&output), format!("path\n{listed}"));
    assert!(!deep.join("hacked").exists());

    for (directory, name) in [("project", "project"), ("project/a", "nearer")] {
        install(&scratch.path(directory).join("node_modules/.bin"), name);
        assert_eq!(out(&copy(&deep, &on_path, arguments)), format!("{name}\n{listed}"));
    }
    // Beside it, what is nearer to others does not count.
    assert!(out(&copy(&scratch.path("project"), &on_path, arguments)).starts_with("project\n"));
}

#[test]
fn a_program_that_is_missing_is_named() {
    let scratch = TestDirectory::new();
    let (cwd, nowhere) = (scratch.path("here"), scratch.path("nowhere"));
    fs::create_dir(&cwd).unwrap();
    for (arguments, packages) in [
        (["fruit", "lmdb:x"], "terrace terrace-lmdb"),
        (["mysql://ada:hunter2@host/s", "slatedb:s3://b/x"], "terrace-mysql terrace-slatedb"),
        (["tcp://host:1", "unix:x"], "terrace-net"),
    ] {
        let output = copy(&cwd, &nowhere, &arguments);
        assert_eq!(output.status.code(), Some(3));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            error.starts_with("terrace: copying from or to another back-end needs the program terrace-copy")
        );
        assert!(error.ends_with(&format!("\nInstall it: npm install terrace-copy {packages}\n")), "{error}");
        assert!(!error.contains("hunter2"));
    }
}

#[cfg(unix)]
#[test]
fn a_program_that_may_not_run_is_named() {
    let scratch = TestDirectory::new();
    let (cwd, nowhere) = (scratch.path("here"), scratch.path("nowhere"));
    let bin = cwd.join("node_modules/.bin");
    install(&bin, "here");
    allow_to_run(&bin, 0o644);
    let output = copy(&cwd, &nowhere, &["fruit", "lmdb:x"]);
    assert_eq!(output.status.code(), Some(3));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("terrace-copy cannot be run"), "{error}");
}

/// No directory of Windows has such a name.
#[cfg(unix)]
#[test]
fn directories_are_copied_without_it_whatever_their_names() {
    let scratch = TestDirectory::new();
    let (db, nowhere) = (scratch.path("lmdb:db"), scratch.path("nowhere"));
    terrace([&"put", &db, &"lmdb:key", &"1", &"--create"]).ok();
    let cwd = db.parent().unwrap();
    let output = copy(cwd, &nowhere, &["./lmdb:db", "copy", "--prefix", "lmdb:"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(terrace([&"get", &scratch.path("copy"), &"lmdb:key"]).ok(), "1\n");
}

#[test]
fn a_command_line_that_is_refused_is_shown_without_passwords() {
    for arguments in [
        ["checkpoint", "db", "new", "mysql://ada:hunter2@host/s"],
        ["scan", "db", "--nonsense", "mysql://ada:hunter2@host/s"],
        ["count", "db", "--gt=a", "--gte=mysql://ada:hunter2@host/s"],
        ["checkpoint", "db", "new", "MYSQL://ada:se/hunter2@host/s"],
        ["checkpoint", "db", "new", "slatedb:s3://ID:a/hunter2@bucket"],
        ["checkpoint", "db", "new", "slatedb:az://account/c?sig=hunter2"],
        ["checkpoint", "db", "new", "tcp://hunter2@host"],
    ] {
        let error = terrace([&arguments[0], &arguments[1], &arguments[2], &arguments[3]]).failed(2);
        assert!(!error.contains("hunter2"), "{error}");
    }
    let error = terrace([&"checkpoint", &"db", &"new", &"mysql://ada:hunter2@host/s"]).failed(2);
    assert!(error.contains("mysql://ada:***@host/s"), "{error}");
}
