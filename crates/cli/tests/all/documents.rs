//! Runs every command of docs/inspecting-leveldb.md, which must print what the document shows below it.
//!
//! `TERRACE_UPDATE_DOCUMENTS=1` writes the output into the document (`make docs-inspecting`).

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::TestDirectory;

/// A line of the document.
enum Part<'a> {
    Text(&'a str),
    /// `$ command` in a console block; the output that follows is left out.
    Shown(&'a str),
    /// `<!-- $ command -->`: run, not shown.
    Hidden(&'a str),
}

fn parts(document: &str) -> Vec<Part<'_>> {
    let mut is_console = false;
    let mut parts = Vec::new();
    for line in document.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
            parts.push(Part::Text(line));
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            parts.push(Part::Shown(command));
        } else if let Some(command) = line.strip_prefix("<!-- $ ").and_then(|rest| rest.strip_suffix(" -->"))
        {
            parts.push(Part::Hidden(command));
        } else if !is_console {
            parts.push(Part::Text(line));
        }
    }
    parts
}

/// Runs all commands in one shell, so that mounts last; returns what each printed.
fn run(parts: &[Part<'_>], directory: &Path) -> Vec<String> {
    const MARK: &str = "@@@@";
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = PathBuf::from(env!("CARGO_BIN_EXE_terrace"));
    let mut script = format!(
        "export PATH={}:$PATH LC_ALL=C\n\
         copy() {{ cp -r {}/testdata/$1 $2 && (cd $2 && for f in *.gz; do [ ! -e $f ] || gunzip $f; done); }}\n",
        program.parent().unwrap().display(),
        root.display()
    );
    for part in parts {
        match part {
            Part::Text(_) => {}
            Part::Shown(command) => writeln!(script, "echo {MARK}\n{command}").unwrap(),
            Part::Hidden(command) => {
                writeln!(script, "{{ {command}; }} > hidden 2>&1 || cat hidden").unwrap()
            }
        }
    }
    fs::write(directory.join("script"), script).unwrap();
    let mut bash = Command::new("unshare");
    bash.args(["-rm", "bash", "-c", "exec 2>&1; source ./script"]).current_dir(directory);
    let output = bash.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mark = format!("{MARK}\n");
    let mut outputs = text.split(&mark).map(str::to_owned);
    assert_eq!(outputs.next().as_deref(), Some(""), "what is hidden prints nothing");
    outputs.collect()
}

/// A line without the part that varies: the file LOG contains times, so its size differs.
fn steady(line: &str) -> &str {
    let depends_on_times = |name: &&str| line.starts_with(*name);
    ["size on disk", "  other files"].into_iter().find(depends_on_times).unwrap_or(line)
}

fn may_mount(directory: &Path) -> bool {
    let mut mount = Command::new("unshare");
    mount.args(["-rm", "mount", "-t", "tmpfs", "tmpfs"]).arg(directory);
    mount.output().is_ok_and(|output| output.status.success())
}

#[test]
fn what_the_document_shows_is_what_is_printed() {
    let scratch = TestDirectory::new();
    let directory = scratch.path("directory");
    fs::create_dir(&directory).unwrap();
    if !may_mount(&directory) {
        use std::io::Write as _;
        // Written without a macro, whose output the test runner would hide.
        let _ = writeln!(std::io::stderr(), "skipped: this user may not mount");
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/inspecting-leveldb.md");
    let document = fs::read_to_string(&path).unwrap();
    let parts = parts(&document);
    let mut outputs = run(&parts, &directory).into_iter();
    let mut made = String::new();
    for part in &parts {
        match part {
            Part::Text(line) => writeln!(made, "{line}").unwrap(),
            Part::Hidden(command) => writeln!(made, "<!-- $ {command} -->").unwrap(),
            Part::Shown(command) => {
                let output = outputs.next().unwrap_or_else(|| panic!("no output of {command}"));
                assert!(output.is_empty() || output.ends_with('\n'), "{command}: {output}");
                write!(made, "$ {command}\n{output}").unwrap();
            }
        }
    }
    if std::env::var_os("TERRACE_UPDATE_DOCUMENTS").is_some() {
        fs::write(&path, made).unwrap();
        return;
    }
    for (line, (made, kept)) in made.lines().zip(document.lines()).enumerate() {
        assert_eq!(steady(made), steady(kept), "line {}: run `make docs-inspecting`", line + 1);
    }
    assert_eq!(made.lines().count(), document.lines().count());
}
