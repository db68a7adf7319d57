//! LevelDB 1.23, which opens what a killed writer left, with paranoid checks.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use crate::digest::Digest;

/// The Python for which Debian's python3-plyvel is built.
pub(super) const PYTHON: &str = "/usr/bin/python3";
const CHECKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/interop/drivers/plyvel_checker.py");

const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/interop/drivers/plyvel_driver.py");

/// A process that opens one directory after the other.
pub struct LevelDb {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl LevelDb {
    /// Starts the process. If plyvel is missing, prints the reason and returns `None`.
    ///
    /// # Errors
    ///
    /// If the process does not start although plyvel is there.
    pub fn start() -> Result<Option<Self>, String> {
        if !is_there() {
            return Ok(None);
        }
        let started = Command::new(PYTHON).arg(CHECKER).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = started.map_err(|error| format!("{PYTHON}: {error}"))?;
        let questions = process.stdin.take().ok_or("no pipe to LevelDB")?;
        let answers = BufReader::new(process.stdout.take().ok_or("no pipe from LevelDB")?);
        Ok(Some(Self { process, questions, answers }))
    }

    /// Asks it to open `directory`, recover it and read everything. [`expect`](Self::expect) waits for the answer.
    ///
    /// # Errors
    ///
    /// If the process is gone.
    pub fn ask(&mut self, directory: &Path) -> Result<(), String> {
        writeln!(self.questions, "{}", directory.display())
            .map_err(|error| format!("LevelDB is gone: {error}"))
    }

    /// Receives the answer: it must have read exactly the entries with this `digest`.
    ///
    /// # Errors
    ///
    /// LevelDB's different answer.
    pub fn expect(&mut self, digest: &Digest) -> Result<(), String> {
        let mut answer = String::new();
        self.answers.read_line(&mut answer).map_err(|error| format!("LevelDB is gone: {error}"))?;
        if answer.trim_end() == digest.to_string() {
            return Ok(());
        }
        if answer.is_empty() {
            return Err("LevelDB crashed".to_owned());
        }
        Err(format!("LevelDB answers {:?}, expected \"{digest}\"", answer.trim_end()))
    }
}

/// Makes LevelDB write the batches of a [file](crate::operations_file) to a new database in `directory`, one after
/// the other, and close it. A memtable holds `write_buffer_bytes`.
///
/// # Errors
///
/// LevelDB's message.
pub fn apply(directory: &Path, operations: &Path, write_buffer_bytes: usize) -> Result<(), String> {
    let mut command = Command::new(PYTHON);
    command.args([DRIVER, "apply"]).arg(directory).arg("--operations").arg(operations);
    command.args(["--write-buffer", &write_buffer_bytes.to_string()]);
    let output = command.output().map_err(|error| format!("{PYTHON}: {error}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

impl Drop for LevelDb {
    fn drop(&mut self) {
        // It holds nothing that would need a proper close.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whether this machine has plyvel. The first call that finds it missing prints so.
pub fn is_there() -> bool {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    *IS_THERE.get_or_init(|| {
        let output = Command::new(PYTHON).args(["-c", "import plyvel"]).output();
        let is_there = output.is_ok_and(|output| output.status.success());
        if !is_there {
            // Written without a macro, whose output the test runner would hide.
            let _ = writeln!(
                std::io::stderr(),
                "LevelDB does not check: {PYTHON} has no plyvel (python3-plyvel)"
            );
        }
        is_there
    })
}
