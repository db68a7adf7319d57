//! The machine of a run, for the record.

use std::path::Path;
use std::process::Command;
use std::{fmt, fs};

use serde::{Deserialize, Serialize};

use crate::usage::field;

/// The machine of a run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Machine {
    /// The processor's model.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Memory of the machine, in bytes.
    pub memory_bytes: u64,
    /// The operating system's kernel and its release.
    pub kernel: String,
    /// The file system of the database.
    pub file_system: String,
}

const UNKNOWN: &str = "unknown";

impl fmt::Display for Machine {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, cores, memory_bytes, kernel, file_system } = self;
        let memory_gib = *memory_bytes as f64 / f64::from(1 << 30);
        write!(text, "{cpu}, {cores} cores, {memory_gib:.0} GiB, {kernel}, {file_system}")
    }
}

impl Machine {
    /// This machine, with the file system of `directory`.
    pub fn here(directory: &Path) -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let cpu = read("/proc/cpuinfo").lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == "model name").then(|| value.trim().to_owned())
        });
        let release = read("/proc/sys/kernel/osrelease");
        Self {
            cpu: cpu.unwrap_or_else(|| UNKNOWN.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: field(&read("/proc/meminfo"), "MemTotal:").map_or(0, |kib| kib << 10),
            kernel: format!("{} {}", std::env::consts::OS, release.trim()).trim().to_owned(),
            file_system: file_system(&read("/proc/mounts"), directory).unwrap_or_else(|| UNKNOWN.to_owned()),
        }
    }
}

/// The type of the file system that is mounted closest above `directory`.
fn file_system(mounts: &str, directory: &Path) -> Option<String> {
    let directory = directory.canonicalize().ok()?;
    let columns = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    columns
        .filter(|columns| columns.len() > 2 && directory.starts_with(columns[1]))
        .max_by_key(|columns| columns[1].len())
        .map(|columns| columns[2].to_owned())
}

/// The current commit of the working directory, with `-dirty` if there are changes apart from results, which a benchmark
/// writes itself; `None` outside a repository.
pub fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let changes =
        git(&["status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)bench/results"])?;
    let commit = git(&["describe", "--always", "--abbrev=12"])?;
    Some(if changes.is_empty() { commit } else { commit + "-dirty" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closest_mount_counts() {
        let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n";
        assert_eq!(file_system(mounts, Path::new("/")).as_deref(), Some("ext4"));
        assert_eq!(file_system(mounts, Path::new("/does/not/exist")), None);
    }

    #[test]
    fn this_machine_has_a_core() {
        assert!(Machine::here(Path::new(".")).cores >= 1);
    }
}
