//! What a power cut did, for a failing test's message.

use std::fmt;
use std::path::PathBuf;

/// What happened to one file in a power cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLoss {
    /// One of its names.
    pub path: PathBuf,
    /// Its size before the cut, in bytes.
    pub size_before_bytes: u64,
    /// Its size after the cut, in bytes.
    pub size_after_bytes: u64,
    /// Number of sectors that were waiting for the disk.
    pub waiting_sectors: usize,
    /// Number of those that hold their newest state.
    pub kept_sectors: usize,
    /// Number of those that hold a state between the last synced one and the newest.
    pub older_sectors: usize,
    /// Number of those that hold what was synced last, or zeros.
    pub lost_sectors: usize,
}

/// What a power cut did. Displays a line for each change of a name and each file that was at stake.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CutSummary {
    /// Size of a sector in this cut, in bytes: 512 or 4096.
    pub sector_size_bytes: usize,
    /// Descriptions of the waiting changes of names that reached the disk.
    pub kept_names: Vec<String>,
    /// Descriptions of those that did not reach it.
    pub lost_names: Vec<String>,
    /// Files with bytes that waited for the disk, or that a failed sync had left behind.
    pub files: Vec<FileLoss>,
}

impl CutSummary {
    /// Whether anything differs from before the cut.
    pub fn lost_something(&self) -> bool {
        let lost_bytes = |file: &FileLoss| {
            file.kept_sectors < file.waiting_sectors || file.size_before_bytes != file.size_after_bytes
        };
        !self.lost_names.is_empty() || self.files.iter().any(lost_bytes)
    }
}

impl fmt::Display for CutSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "power cut, sectors of {} bytes", self.sector_size_bytes)?;
        for name in &self.kept_names {
            writeln!(f, "  kept: {name}")?;
        }
        for name in &self.lost_names {
            writeln!(f, "  lost: {name}")?;
        }
        for file in &self.files {
            writeln!(
                f,
                "  {}: {} bytes, now {}; of {} waiting sectors {} kept, {} older, {} lost",
                file.path.display(),
                file.size_before_bytes,
                file.size_after_bytes,
                file.waiting_sectors,
                file.kept_sectors,
                file.older_sectors,
                file.lost_sectors
            )?;
        }
        Ok(())
    }
}
