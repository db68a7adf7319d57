//! The resources of a process and a directory: bytes written, memory, space. From Linux's `/proc`; unknown elsewhere.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Result;

/// Number of bytes that this process has written so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Passed to `write` and its kin. Does not include those of mapped files.
    pub by_calls_bytes: u64,
    /// Dirtied in the page cache, including those of mapped files. Bytes that are dirtied twice before they reach the
    /// disk count once, and each page counts whole.
    pub to_disk_bytes: u64,
}

impl Written {
    /// The numbers as of now; `None` if the system does not tell.
    pub fn now() -> Option<Self> {
        let io = fs::read_to_string("/proc/self/io").ok()?;
        Some(Self { by_calls_bytes: field(&io, "wchar:")?, to_disk_bytes: field(&io, "write_bytes:")? })
    }

    /// The bytes written since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            by_calls_bytes: self.by_calls_bytes - earlier.by_calls_bytes,
            to_disk_bytes: self.to_disk_bytes - earlier.to_disk_bytes,
        }
    }
}

/// What was read from the device. `None` where the system does not tell.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
pub struct DeviceReads {
    /// Reads of the device below the database's directory, by any process.
    pub reads: Option<u64>,
    /// Bytes that this process caused to be read from any device.
    pub bytes: Option<u64>,
    /// Faults of this process that waited for a device.
    pub major_faults: Option<u64>,
}

impl DeviceReads {
    /// The numbers so far, for a database in `directory`.
    pub fn now(directory: &Path) -> Self {
        let io = fs::read_to_string("/proc/self/io").unwrap_or_default();
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        // The second field, a name in parentheses, may hold anything; major faults are the tenth after it.
        let fields = stat.rsplit(')').next().unwrap_or_default();
        Self {
            reads: reads_of_device(directory),
            bytes: field(&io, "read_bytes:"),
            major_faults: fields.split_ascii_whitespace().nth(9).and_then(|number| number.parse().ok()),
        }
    }

    /// What was read since `earlier`.
    pub fn since(self, earlier: Self) -> Self {
        let since =
            |now: Option<u64>, then: Option<u64>| now.zip(then).and_then(|(now, then)| now.checked_sub(then));
        Self {
            reads: since(self.reads, earlier.reads),
            bytes: since(self.bytes, earlier.bytes),
            major_faults: since(self.major_faults, earlier.major_faults),
        }
    }
}

#[cfg(target_os = "linux")]
fn reads_of_device(directory: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    let device = fs::metadata(directory).ok()?.dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let stat = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")).ok()?;
    stat.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(not(target_os = "linux"))]
fn reads_of_device(_directory: &Path) -> Option<u64> {
    None
}

/// The first number after `name` in a file of `/proc`.
pub(crate) fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Starts a new measurement of [`peak_memory_bytes`].
pub fn reset_peak_memory() {
    // If that is not allowed, the peak is the whole process's, which is better than nothing.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The most memory that this process had since [`reset_peak_memory`]; `None` if the system does not tell.
pub fn peak_memory_bytes() -> Option<u64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, "VmHWM:").map(|kib| kib << 10)
}

/// Samples the memory that is not backed by a file: the process's own, without mapped tables.
pub struct MemoryWatch {
    end: Sender<()>,
    thread: JoinHandle<Option<u64>>,
}

impl MemoryWatch {
    /// Starts to watch.
    pub fn start() -> Self {
        const EVERY: Duration = Duration::from_millis(100);
        let (end, ended) = mpsc::channel();
        let thread = thread::spawn(move || {
            let mut most = anonymous_bytes();
            while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                most = most.max(anonymous_bytes());
            }
            most.max(anonymous_bytes())
        });
        Self { end, thread }
    }

    /// The most that was seen; `None` if the system does not tell.
    pub fn stop(self) -> Option<u64> {
        // If the thread is gone, its result says so.
        let _ = self.end.send(());
        self.thread.join().ok().flatten()
    }
}

fn anonymous_bytes() -> Option<u64> {
    field(&fs::read_to_string("/proc/self/status").ok()?, "RssAnon:").map(|kib| kib << 10)
}

/// Number of bytes that can still be written below `directory`; `None` if the system does not tell.
#[cfg(unix)]
pub fn free_bytes(directory: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(directory).ok()?;
    Some(about.f_bavail * about.f_frsize)
}

/// Unknown here.
#[cfg(not(unix))]
pub fn free_bytes(_directory: &Path) -> Option<u64> {
    None
}

/// Size of the files below `directory`.
pub fn directory_bytes(directory: &Path) -> Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        // A file may disappear after the listing.
        let Ok(metadata) = entry.metadata() else { continue };
        total += if metadata.is_dir() { directory_bytes(&entry.path())? } else { occupied_bytes(&metadata) };
    }
    Ok(total)
}

/// Space that a file occupies: a mapped or preallocated file may claim more than that.
#[cfg(unix)]
fn occupied_bytes(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;
    /// The unit of `st_blocks`, whatever the file system's own blocks are.
    const SECTOR_SIZE_BYTES: u64 = 512;
    metadata.blocks() * SECTOR_SIZE_BYTES
}

#[cfg(not(unix))]
fn occupied_bytes(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        assert_eq!(field("rchar: 1\nwchar: 22\n", "wchar:"), Some(22));
        assert_eq!(field("VmHWM:\t    1234 kB\n", "VmHWM:"), Some(1234));
        assert_eq!(field("a: 1\n", "b:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_written_counts() {
        let directory = tempfile::tempdir().unwrap();
        let before = Written::now().unwrap();
        fs::create_dir(directory.path().join("inner")).unwrap();
        fs::write(directory.path().join("inner/file"), vec![1; 100_000]).unwrap();
        assert!(Written::now().unwrap().since(before).by_calls_bytes >= 100_000);
        assert!(peak_memory_bytes().unwrap() >= MemoryWatch::start().stop().unwrap());
        assert!(free_bytes(directory.path()).unwrap() > 0);
    }
}
