//! `terrace bench` as its users call it.

use std::process::{Command, Output};

fn terrace(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_terrace")).args(arguments).output().unwrap()
}

#[test]
fn a_line_a_workload() {
    let directory = tempfile::tempdir().unwrap();
    let db = format!("--db={}", directory.path().join("db").display());
    let results = directory.path().join("results.jsonl");
    let results = results.to_str().unwrap();
    let output = terrace(&[
        "bench",
        &db,
        "--num",
        "1000",
        "--benchmarks",
        "fillseq,readrandom",
        "--histogram=1",
        "--results",
        results,
    ]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    for workload in ["fillseq ", "readrandom "] {
        let line = text.lines().find(|line| line.starts_with(workload)).unwrap();
        assert!(line.contains("micros/op") && line.contains("p99.9"), "{line}");
    }
    assert!(text.contains("(1000 of 1000 found)"));
    assert_eq!(std::fs::read_to_string(results).unwrap().lines().count(), 2);

    let output = terrace(&["bench", "--plot", results]);
    assert!(output.status.success());
    assert!(directory.path().join("results.png").exists() && directory.path().join("results.svg").exists());
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let output = terrace(&["bench", "--benchmarks", "fillseq,fillsquare"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(
        error.contains("no benchmark is named `fillsquare`") && error.contains("readwhilewriting"),
        "{error}"
    );
}

#[test]
fn help_shows_examples_and_the_list_every_workload() {
    let help = String::from_utf8(terrace(&["bench", "--help"]).stdout).unwrap();
    assert!(help.contains("Examples:") && help.contains("--write_buffer_size"));
    let list = String::from_utf8(terrace(&["bench", "--list"]).stdout).unwrap();
    assert!(list.lines().any(|line| line.starts_with("ycsbe")));
}
