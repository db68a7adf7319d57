//! Compiles and runs programs in C with the library that cargo built for these tests.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

/// The header in Debian's package libleveldb-dev.
pub const LEVELDB_HEADER: &str = "/usr/include/leveldb/c.h";

/// The library that a program is linked with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Library {
    /// `libterrace.so`.
    Shared,
    /// `libterrace.a`.
    Static,
    /// LevelDB's own, with LevelDB's own header.
    LevelDb,
}

/// The tool that watches a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    None,
    /// AddressSanitizer with its leak checker, and UndefinedBehaviorSanitizer.
    Sanitizers,
    /// Valgrind's memcheck, with its leak checker.
    Valgrind,
}

/// The ways in which Terrace takes the place of LevelDB for a program that is linked with that.
#[derive(Clone, Copy, Debug)]
pub enum InItsPlace {
    Preload,
    Soname,
}

pub const IN_ITS_PLACE: [InItsPlace; 2] = [InItsPlace::Preload, InItsPlace::Soname];

impl InItsPlace {
    pub fn variables(self) -> Vec<(&'static str, PathBuf)> {
        match self {
            Self::Preload => vec![("LD_PRELOAD", library_directory().join("libterrace.so.0"))],
            Self::Soname => vec![("LD_LIBRARY_PATH", library_directory().join("terrace/leveldb"))],
        }
    }
}

/// A compiled program, in a directory that is removed with it.
pub struct Program {
    path: PathBuf,
    _directory: TempDir,
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn include_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

/// Where the libraries are: beside `TERRACE_LIB`, which names the shared one. Otherwise they are built here. cargo does
/// not build them for tests, because no Rust code links them.
pub fn built_directory() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        if let Some(library) = std::env::var_os("TERRACE_LIB") {
            return Path::new(&library).parent().expect("TERRACE_LIB is the path of a file").to_owned();
        }
        // The test program is in `deps` of the profile's directory, which is in cargo's target directory.
        let program = std::env::current_exe().unwrap();
        let directory = program.ancestors().nth(2).unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "terrace-capi", "--target-dir"]);
        cargo.arg(directory.parent().unwrap()).current_dir(root());
        if !cfg!(debug_assertions) {
            cargo.arg("--release");
        }
        output(&mut cargo);
        directory.to_owned()
    })
}

/// A directory with the libraries under the names and links of an installation.
pub fn library_directory() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        let built = built_directory();
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libraries");
        fs::create_dir_all(directory.join("terrace/leveldb")).unwrap();
        let replace = |target: &Path, link: &str| {
            let link = directory.join(link);
            let _ = fs::remove_file(&link);
            symlink(target, &link).unwrap_or_else(|error| panic!("{}: {error}", link.display()));
        };
        for (library, name) in [("libterrace.so", "libterrace.so.0"), ("libterrace.a", "libterrace.a")] {
            let built = built.join(library);
            assert!(built.exists(), "cargo built no {}", built.display());
            replace(&built, name);
        }
        replace(Path::new("libterrace.so.0"), "libterrace.so");
        replace(Path::new("../../libterrace.so.0"), "terrace/leveldb/libleveldb.so.1d");
        directory
    })
}

pub fn has_leveldb() -> bool {
    let is_there = Path::new(LEVELDB_HEADER).exists();
    if !is_there {
        println!("not compared with LevelDB: there is no {LEVELDB_HEADER} (Debian's package libleveldb-dev)");
    }
    is_there
}

/// Whether tests take their short form: `TERRACE_SHORT=1`.
pub fn is_short() -> bool {
    std::env::var_os("TERRACE_SHORT").is_some_and(|value| value == "1")
}

/// Whether programs are run under valgrind: if it is there, and not in the short form, in which sanitizers alone watch them.
pub fn runs_valgrind() -> bool {
    if is_short() {
        println!("not run under valgrind: this is the short form");
        return false;
    }
    let is_there = Command::new("valgrind").arg("--version").output().is_ok();
    if !is_there {
        println!("not run under valgrind: it is not installed");
    }
    is_there
}

/// Runs a command; returns what it prints.
pub fn output(command: &mut Command) -> String {
    let result = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let printed = String::from_utf8_lossy(&result.stdout).into_owned();
    assert!(
        result.status.success(),
        "{command:?}: {}\n{}\n{}",
        result.status,
        printed.lines().rev().take(5).collect::<Vec<_>>().join("\n"),
        String::from_utf8_lossy(&result.stderr)
    );
    printed
}

/// Compiles files of `tests/c`.
pub fn compile(name: &str, sources: &[&str], library: Library, tool: Tool) -> Program {
    let directory = tempfile::tempdir().unwrap();
    let sources: Vec<PathBuf> = sources
        .iter()
        .map(|source| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c").join(source))
        .collect();
    let path = directory.path().join(name);
    link(&sources, &path, library, tool);
    Program { path, _directory: directory }
}

/// Compiles one file to a program in `directory`.
pub fn compile_file(source: &Path, directory: &Path, library: Library, tool: Tool) -> PathBuf {
    let path = directory.join("program");
    link(&[source.to_owned()], &path, library, tool);
    path
}

fn link(sources: &[PathBuf], program: &Path, library: Library, tool: Tool) {
    let mut command = Command::new("cc");
    command.args(["-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Werror", "-g", "-O1"]);
    if tool == Tool::Sanitizers {
        command.arg("-fsanitize=address,undefined");
    }
    if library != Library::LevelDb {
        command.arg("-I").arg(include_directory());
    }
    command.args(sources).arg("-o").arg(program);
    match library {
        Library::Shared => command.arg("-L").arg(library_directory()).args(["-lterrace", "-lpthread"]),
        Library::Static => command.arg(library_directory().join("libterrace.a")).args([
            "-lpthread",
            "-ldl",
            "-lm",
            "-lgcc_s",
        ]),
        Library::LevelDb => command.args(["-lleveldb", "-lpthread"]),
    };
    output(&mut command);
}

/// Runs a program. Without arguments it gets its own directory.
pub fn run(program: &Program, tool: Tool, variables: &[(&str, PathBuf)], arguments: &[String]) -> String {
    let directory = tempfile::tempdir().unwrap();
    if arguments.is_empty() {
        let argument = directory.path().display().to_string();
        return run_in(&program.path, directory.path(), tool, variables, &[argument]);
    }
    run_in(&program.path, directory.path(), tool, variables, arguments)
}

/// Runs a program in `directory`.
pub fn run_in(
    program: &Path,
    directory: &Path,
    tool: Tool,
    variables: &[(&str, PathBuf)],
    arguments: &[String],
) -> String {
    let mut command = Command::new("timeout");
    command.arg("600");
    if tool == Tool::Valgrind {
        command.args(["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full"]);
        command.args(["--errors-for-leak-kinds=definite,indirect"]);
    }
    command.arg(program).args(arguments).current_dir(directory);
    // The same for every run, because the transcript contains it.
    command.env("TEST_TMPDIR", std::env::temp_dir().join("terrace-c-tests"));
    command.env("LD_LIBRARY_PATH", library_directory()).env("RUST_BACKTRACE", "0");
    command.envs(variables.iter().map(|(name, value)| (*name, value)));
    output(&mut command)
}
