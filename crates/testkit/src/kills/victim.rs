//! A writer in a separate process, which can be killed at any moment.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use terrace_engine::env::conformance::HANGS_AFTER;

use super::transcript::{Line, Transcript};

const SIGKILL: i32 = 9;
/// However much a writer reports, what is awaited must come.
const LIMIT: Duration = HANGS_AFTER.saturating_mul(2);

/// A living writer.
pub struct Victim {
    process: Child,
    lines: Receiver<String>,
    transcript: Transcript,
    started: Instant,
}

/// The path of the program of that name next to the running program.
///
/// # Panics
///
/// If the system does not know the running program.
pub fn beside_this_program(name: &str) -> PathBuf {
    std::env::current_exe().expect("the running program is known").with_file_name(name)
}

impl Victim {
    /// Starts `writer` in `directory`, which holds that many batches of each lane. It makes checkpoints if it gets a
    /// directory for them.
    ///
    /// # Errors
    ///
    /// If the process cannot be started.
    pub fn start(
        writer: &Path,
        directory: &Path,
        seed: u64,
        checkpoints: Option<&Path>,
        counts: Vec<u64>,
    ) -> Result<Self, String> {
        let mut command = Command::new(writer);
        command.arg(directory).arg(seed.to_string()).args(checkpoints);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("{}: {error}", writer.display()))?;
        let output = BufReader::new(process.stdout.take().ok_or("no pipe from the writer")?);
        let (sender, lines) = channel();
        // Keeps reading, so that the writer never waits for us. Ends with the writer.
        thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Ok(Self { process, lines, transcript: Transcript::nothing(counts), started: Instant::now() })
    }

    /// Listens until a line satisfies `wanted`.
    ///
    /// # Errors
    ///
    /// If the writer ends, hangs, or reports something impossible.
    pub fn wait_for(&mut self, mut wanted: impl FnMut(&Line, &Transcript) -> bool) -> Result<(), String> {
        let limit = Instant::now() + LIMIT;
        while Instant::now() < limit {
            let Some(line) = self.hear(HANGS_AFTER)? else {
                return Err(format!("the writer reported nothing for {HANGS_AFTER:?}"));
            };
            if wanted(&line, &self.transcript) {
                return Ok(());
            }
        }
        Err(format!("the writer did not get on in {LIMIT:?}"))
    }

    /// Listens until a line satisfies `wanted`, or for that long. Returns whether there was one.
    ///
    /// # Errors
    ///
    /// If the writer ends or reports something impossible.
    pub fn listen(
        &mut self,
        patience: Duration,
        mut wanted: impl FnMut(&Line, &Transcript) -> bool,
    ) -> Result<bool, String> {
        let deadline = Instant::now() + patience;
        while let Some(line) = self.hear(deadline.saturating_duration_since(Instant::now()))? {
            if wanted(&line, &self.transcript) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The next line that it reports, if one comes within that time.
    fn hear(&mut self, patience: Duration) -> Result<Option<Line>, String> {
        match self.lines.recv_timeout(patience) {
            Ok(text) => {
                let line = text.parse()?;
                self.transcript.hear(&line)?;
                Ok(Some(line))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.last_words()),
        }
    }

    /// What it has reported so far, as far as anybody listened.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// How long it has lived.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// Kills it, waits until it is gone, and returns everything that it reported.
    ///
    /// # Errors
    ///
    /// If it ended before the kill or reported something impossible.
    pub fn kill(mut self) -> Result<Transcript, String> {
        self.process.kill().map_err(|error| format!("kill: {error}"))?;
        let status = self.process.wait().map_err(|error| format!("wait: {error}"))?;
        for text in self.lines.iter() {
            self.transcript.hear(&text.parse()?)?;
        }
        if status.signal() != Some(SIGKILL) {
            return Err(self.last_words());
        }
        Ok(std::mem::take(&mut self.transcript))
    }

    fn last_words(&mut self) -> String {
        let mut words = String::new();
        if let Some(mut stderr) = self.process.stderr.take() {
            let _ = stderr.read_to_string(&mut words);
        }
        format!("the writer ended by itself: {}", words.trim_end())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // After a failure it may still live.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
