//! Counts a case's instructions, system calls and allocations by running it in a separate process under valgrind, whose
//! processor is the same everywhere.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use terrace_bench::Result;

/// The cost of a case.
pub struct Counts {
    /// Instructions in user space.
    pub instructions: u64,
    /// System calls.
    pub calls: u64,
    /// Allocations of memory.
    pub allocations: u64,
}

/// Why valgrind cannot be used here; `None` if it can.
pub fn problem() -> Option<String> {
    match Command::new("valgrind").arg("--version").stdout(Stdio::null()).status() {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("valgrind --version: {status}")),
        Err(error) => Some(format!("valgrind does not start: {error}")),
    }
}

/// Runs the case `name` and counts.
pub fn count(name: &str) -> Result<Counts> {
    let place = tempfile::tempdir()?;
    let (counts, log) = (place.path().join("counts"), place.path().join("log"));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--trace-syscalls=yes", "--toggle-collect=*measured_part*"])
        .arg(format!("--callgrind-out-file={}", counts.display()))
        .arg(format!("--log-file={}", log.display()))
        .arg(std::env::current_exe()?)
        .args(["--case", name, "--directory"])
        .arg(place.path().join("db"))
        .output()?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name}: {}: {printed}", output.status).into());
    }
    Ok(Counts {
        instructions: instructions(&counts)?,
        calls: calls(&fs::read_to_string(&log)?)?,
        allocations: String::from_utf8(output.stdout)?.trim().parse()?,
    })
}

/// The total in callgrind's file.
fn instructions(file: &Path) -> Result<u64> {
    let text = fs::read_to_string(file)?;
    let total =
        text.lines().find_map(|line| line.strip_prefix("totals: ")).ok_or("callgrind gave no total")?;
    match total.trim().parse() {
        Ok(0) => Err("valgrind found no measured part: was the program stripped?".into()),
        Ok(count) => Ok(count),
        Err(error) => Err(format!("callgrind's total: {error}").into()),
    }
}

/// Number of system calls between the two that mark the measured part.
fn calls(log: &str) -> Result<u64> {
    const MARK: &str = "sys_getppid";
    let (_, rest) = log.split_once(MARK).ok_or("the log has no mark")?;
    let (between, _) = rest.split_once(MARK).ok_or("the log has only one mark")?;
    // The line of a mark begins before the mark; a call that waited has a second line without a name.
    let begun = between.matches(" sys_").count() + between.matches("unhandled").count();
    Ok(begun as u64)
}
