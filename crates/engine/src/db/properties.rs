//! What a database reports about itself: its tables, statistics and properties.

use std::fmt::Write as _;
use std::sync::Arc;

use terrace_format::limits::LEVEL_COUNT;
use terrace_format::table::TableCounts;

use crate::db::inner::DbInner;
use crate::error::{Error, ErrorKind, Result};

/// Figures about one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelInfo {
    /// Tables in the level.
    pub files: usize,
    /// Size of these tables, in bytes.
    pub size_bytes: u64,
    /// Flushes and compactions into the level since the database was opened.
    pub jobs: u64,
    /// Time that these jobs took, in microseconds.
    pub micros: u64,
    /// Bytes that these jobs read.
    pub read_bytes: u64,
    /// Bytes that these jobs wrote.
    pub written_bytes: u64,
}

/// Figures about a database's size and work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// The levels, from level 0 on.
    pub levels: [LevelInfo; LEVEL_COUNT],
    /// Memory of the active and the sealed memtables, in bytes.
    pub memtable_bytes: usize,
    /// Memory of the blocks in the block cache, in bytes. Each database that shares a cache counts all of it.
    pub block_cache_bytes: usize,
    /// Sealed memtables that wait for their flush.
    pub sealed_memtables: usize,
    /// Compactions that are running in the background.
    pub compactions_running: usize,
    /// Sequence number of the newest write that reads can see.
    pub last_sequence: u64,
    /// Bytes of logs that the open left out; see [`LeftOutLog`](crate::LeftOutLog).
    pub left_out_log_bytes: u64,
}

/// One table of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableInfo {
    /// The number in the name of its file.
    pub number: u64,
    /// The level that it is in.
    pub level: usize,
    /// Size of its file, in bytes.
    pub size_bytes: u64,
    /// Its first key.
    pub smallest: Vec<u8>,
    /// Its last key.
    pub largest: Vec<u8>,
    /// What its writer counted; `None` if the table cannot be opened or Terrace did not write it.
    pub counts: Option<TableCounts>,
}

impl DbInner {
    /// See [`Db::verify`](crate::Db::verify).
    pub(crate) fn verify(&self) -> Result<()> {
        if let Some(left_out) = self.left_out.first().filter(|_| self.options.read_only) {
            return Err(left_out.reason.clone());
        }
        self.files.versions.current().files().try_for_each(|file| self.files.tables.table(file)?.verify())
    }

    /// See [`Db::tables`](crate::Db::tables).
    pub(crate) fn tables(&self) -> Vec<TableInfo> {
        let version = self.files.versions.current();
        let in_levels = version.levels.iter().enumerate();
        in_levels
            .flat_map(|(level, files)| files.iter().map(move |file| (level, file)))
            .map(|(level, file)| TableInfo {
                number: file.number,
                level,
                size_bytes: file.size_bytes,
                smallest: file.smallest_user_key().to_vec(),
                largest: file.largest_user_key().to_vec(),
                counts: self.files.tables.table(file).ok().and_then(|table| table.counts()),
            })
            .collect()
    }

    /// See [`Db::verify_table`](crate::Db::verify_table).
    pub(crate) fn verify_table(&self, number: u64) -> Result<()> {
        let version = self.files.versions.current();
        let Some(file) = version.files().find(|file| file.number == number) else {
            let message = format!("the database has no table {number}");
            return Err(Error::new(ErrorKind::InvalidArgument, message));
        };
        self.files.tables.table(file)?.verify()
    }

    pub(crate) fn stats(&self) -> Stats {
        if self.health.check_process().is_err() {
            return Stats::default();
        }
        let view = self.published.super_version();
        let active_bytes = view.active.approximate_memory_bytes() + view.active.prepared_memory_bytes();
        let sealed_bytes: usize =
            view.sealed.iter().map(|sealed| sealed.table.approximate_memory_bytes()).sum();
        let background = self.background.lock();
        let levels = std::array::from_fn(|level| {
            let files = &view.version.levels[level];
            let work = background.stats[level];
            LevelInfo {
                files: files.len(),
                size_bytes: files.iter().map(|file| file.size_bytes).sum(),
                jobs: work.jobs,
                micros: work.micros,
                read_bytes: work.read_bytes,
                written_bytes: work.written_bytes,
            }
        });
        Stats {
            levels,
            memtable_bytes: active_bytes + sealed_bytes,
            block_cache_bytes: self.block_cache.as_ref().map_or(0, |cache| cache.used_bytes() as usize),
            sealed_memtables: view.sealed.len(),
            compactions_running: background.compactions_running,
            last_sequence: self.published.visible_sequence(),
            left_out_log_bytes: self.left_out.iter().map(|left_out| left_out.bytes).sum(),
        }
    }

    pub(crate) fn property(&self, name: &str) -> Option<String> {
        match name {
            "terrace.left-out" => {
                return Some(self.left_out.iter().map(|left_out| format!("{left_out}\n")).collect());
            }
            "terrace.left-out-log-bytes" => return Some(self.stats().left_out_log_bytes.to_string()),
            "terrace.has-outgrown-memory" => {
                return Some(u8::from(self.files.tables.fit().is_outgrown()).to_string());
            }
            _ => {}
        }
        match name.strip_prefix("leveldb.")? {
            "stats" => Some(self.stats_table()),
            "sstables" => Some(self.files.versions.current().describe()),
            "approximate-memory-usage" => {
                let stats = self.stats();
                Some((stats.memtable_bytes + stats.block_cache_bytes).to_string())
            }
            other => {
                let digits = other.strip_prefix("num-files-at-level")?;
                let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
                let level: usize = if is_number { digits.parse().ok()? } else { return None };
                let version = self.files.versions.current();
                Some(version.levels.get(level)?.len().to_string())
            }
        }
    }

    /// The table that LevelDB prints, so that tools that read it continue to work.
    fn stats_table(&self) -> String {
        let mut text = String::from(
            "                               Compactions\n\
             Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n\
             --------------------------------------------------\n",
        );
        let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        for (level, info) in self.stats().levels.iter().enumerate() {
            if info.files > 0 || info.micros > 0 {
                let _ = writeln!(
                    text,
                    "{level:3} {:8} {:8.0} {:9.0} {:8.0} {:9.0}",
                    info.files,
                    mebibytes(info.size_bytes),
                    info.micros as f64 / 1e6,
                    mebibytes(info.read_bytes),
                    mebibytes(info.written_bytes),
                );
            }
        }
        text
    }

    /// See [`Db::approximate_size`](crate::Db::approximate_size).
    pub(crate) fn approximate_size(self: &Arc<Self>, start: &[u8], end: &[u8]) -> Result<u64> {
        let view = self.published.super_version();
        self.health.check_open()?;
        let from = view.version.approximate_offset_of(start, &self.files.tables)?;
        let to = view.version.approximate_offset_of(end, &self.files.tables)?;
        let memtables = std::iter::once(&view.active).chain(view.sealed.iter().map(|sealed| &sealed.table));
        let in_memory: u64 = memtables.map(|table| table.approximate_size_between(start, end)).sum();
        Ok(to.saturating_sub(from).saturating_add(in_memory))
    }
}
