//! Shared by the tests of the program: running it, databases to run it on, and a program that owns one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use tempfile::TempDir;

/// The result of a run of the program.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    /// The lines on standard output.
    pub fn lines(&self) -> Vec<&str> {
        self.out.lines().collect()
    }

    /// The output of a run that must have succeeded.
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!((self.code, &*self.err), (0, ""), "{}", self.out);
        self.out
    }

    /// The message of a run that must have ended with this exit code.
    #[track_caller]
    pub fn failed(self, code: i32) -> String {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert!(
            self.err.starts_with("terrace: ") || code == 1 || self.err.starts_with("error: "),
            "{}",
            self.err
        );
        self.err
    }

    /// Standard output as lines of JSON.
    #[track_caller]
    pub fn json(&self) -> Vec<serde_json::Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
    }
}

pub fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_terrace"))
}

/// Runs the program with nothing on standard input.
pub fn terrace<const N: usize>(arguments: [&dyn AsArgument; N]) -> Run {
    with_input(arguments, b"")
}

/// Runs the program with `input` on standard input.
pub fn with_input<const N: usize>(arguments: [&dyn AsArgument; N], input: &[u8]) -> Run {
    let mut command = program();
    command.args(arguments.iter().map(|argument| argument.as_argument()));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = spawn(&mut command);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // The program may end without reading all of it.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        code: output.status.code().expect("no signal ended it"),
        out: String::from_utf8(output.stdout).expect("what it prints is UTF-8"),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Starts a program. Wine fails to start one in some ten thousand with an error that Windows does not have there.
fn spawn(command: &mut Command) -> std::process::Child {
    const INTERNAL_ERROR: i32 = 1359;
    const ATTEMPTS: usize = 10;
    let mut attempts = (1..=ATTEMPTS).map(|attempt| (attempt, command.spawn()));
    let is_refused = |error: &std::io::Error| cfg!(windows) && error.raw_os_error() == Some(INTERNAL_ERROR);
    let result = attempts.find_map(|(attempt, result)| match result {
        Err(error) if is_refused(&error) && attempt < ATTEMPTS => None,
        result => Some(result),
    });
    result.expect("the last attempt counts").unwrap()
}

/// A word of a command line.
pub trait AsArgument {
    fn as_argument(&self) -> &std::ffi::OsStr;
}

impl AsArgument for &str {
    fn as_argument(&self) -> &std::ffi::OsStr {
        self.as_ref()
    }
}

impl AsArgument for String {
    fn as_argument(&self) -> &std::ffi::OsStr {
        self.as_ref()
    }
}

impl AsArgument for PathBuf {
    fn as_argument(&self) -> &std::ffi::OsStr {
        self.as_ref()
    }
}

/// A directory for a test.
pub struct TestDirectory {
    directory: TempDir,
}

impl TestDirectory {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// A copy of a database of `testdata`, unpacked.
    pub fn copy(&self, name: &str) -> PathBuf {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name);
        let target = self.path(&name.replace('/', "-"));
        fs::create_dir(&target).unwrap();
        for entry in fs::read_dir(source).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let mut bytes = fs::read(entry.path()).unwrap();
            let name = match name.strip_suffix(".gz") {
                Some(unpacked) => {
                    let packed = std::mem::take(&mut bytes);
                    flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
                    unpacked
                }
                None => &name,
            };
            fs::write(target.join(name), bytes).unwrap();
        }
        target
    }

    /// Creates a database with `count` entries, from `00000` on, stored in tables.
    pub fn numbers(&self, count: usize) -> PathBuf {
        let db = self.path("numbers");
        let lines: String = (0..count).map(|n| format!("put\t{n:05}\t{}\n", value(n))).collect();
        with_input([&"batch", &db, &"--create"], lines.as_bytes()).ok();
        terrace([&"compact", &db]).ok();
        db
    }
}

/// The value of entry `n` of [`TestDirectory::numbers`].
pub fn value(n: usize) -> String {
    format!("value {n} {}", "x".repeat(60 + n % 50))
}

/// The files of a directory: name, content, time of the last change.
pub fn snapshot(directory: &Path) -> BTreeMap<String, (Vec<u8>, std::time::SystemTime)> {
    let entries = fs::read_dir(directory).unwrap();
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let modified = entry.metadata().unwrap().modified().unwrap();
        (name, (fs::read(entry.path()).unwrap(), modified))
    };
    entries.map(file).collect()
}

/// The first file of the directory whose name ends with `end`.
pub fn file_of(directory: &Path, end: &str) -> PathBuf {
    let mut names: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let is_it = |path: &PathBuf| path.to_str().unwrap().ends_with(end);
    names.into_iter().find(is_it).unwrap_or_else(|| panic!("{} has no *{end}", directory.display()))
}

/// Flips a bit of a file.
pub fn damage(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

/// Another process that has a database open for writing: a shell that takes commands.
pub struct Owner {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Owner {
    pub fn of(db: &Path) -> Self {
        let mut command = program();
        command.args(["shell", "--write"]).arg(db).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Makes it store an entry, and waits until that is done.
    pub fn put(&mut self, key: &str, value: &str) {
        writeln!(self.input, "put {key} {value}\nget {key}").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), value);
    }

    /// Ends it as a crash would.
    pub fn crash(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // It has already ended after a crash.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
