//! The jobs of the background: a flush and a compaction, with what the database does around them. Predecessor:
//! `compaction/scheduler`. Successors: `flush` and `compaction/job`.

use std::sync::Arc;

use terrace_format::file_name;

use crate::compaction::picker::{CompactionPlan, CompactionReason};
use crate::db::inner::DbInner;
use crate::error::Result;
use crate::flush::flush;
use crate::read::super_version::SealedMemTable;

impl DbInner {
    /// Flushes `sealed`, which must be the oldest. Runs on one thread at a time.
    pub(crate) fn flush_sealed(&self, sealed: &Arc<SealedMemTable>) -> Result<()> {
        let started = self.files.env.monotonic_micros();
        let unneeded = std::mem::take(&mut self.background.lock().logs_to_close);
        // Before the table is written: on a full disk it may need the room.
        drop(unneeded);
        let table = flush(&self.files, &self.published, sealed)?;

        let micros = self.files.env.monotonic_micros() - started;
        let size_bytes = table.as_ref().map_or(0, |table| table.entry.size_bytes);
        let mut background = self.background.lock();
        background.stats[0].record(micros, 0, size_bytes);
        background.flushed.add(table.map_or(0, |table| table.counts.raw_bytes()), micros);
        self.update_super_version(&background, |view| {
            view.replace_by_table(sealed, self.files.versions.current());
        });
        drop(background);
        self.files.info_log.line(format_args!(
            "flushed {} entries to table {} ({size_bytes} bytes, {} ms)",
            sealed.table.entries(),
            sealed.file_number,
            micros / 1000
        ));
        self.remove_old_logs();
        Ok(())
    }

    /// Removes logs that hold nothing which is not in tables.
    fn remove_old_logs(&self) {
        let log_number = self.files.versions.log_number();
        let mut background = self.background.lock();
        let old: Vec<u64> = background.logs.extract_if(.., |number| *number < log_number).collect();
        drop(background);
        for number in old {
            let _ = self.files.env.remove_file(&self.files.directory.join(file_name::log_name(number)));
        }
    }

    /// Runs `plan`, whose range is reserved, and shows readers the result.
    ///
    /// `helpers`: how many threads of the pool may take part besides this one.
    pub(crate) fn run_compaction(&self, plan: &CompactionPlan, helpers: usize) -> Result<()> {
        let started = self.files.env.monotonic_micros();
        let done = self.compactor.run(plan, helpers)?;

        let micros = self.files.env.monotonic_micros() - started;
        let mut background = self.background.lock();
        background.stats[plan.output_level].record(micros, done.read_bytes, done.written_bytes);
        if plan.reason != CompactionReason::Manual {
            let leaving = if plan.level == 0 { &plan.inputs[0][..] } else { &[] };
            background.level0_drained.add(leaving.iter().map(|file| file.raw_bytes()).sum(), micros);
        }
        self.update_super_version(&background, |view| view.version = self.files.versions.current());
        drop(background);
        self.files.info_log.line(format_args!(
            "compacted {} + {} tables of level {} to {} tables of level {} ({:?}; read {}, wrote {} bytes, {} ms)",
            plan.inputs[0].len(),
            plan.inputs[1].len(),
            plan.level,
            done.tables,
            plan.output_level,
            plan.reason,
            done.read_bytes,
            done.written_bytes,
            micros / 1000
        ));
        Ok(())
    }
}
