//! The commands, one module each.

mod batch;
mod bench;
mod checkpoint;
mod compact;
mod completions;
mod copy;
mod count;
mod del;
mod destroy;
mod diff;
mod export;
mod get;
mod import;
mod ingest;
mod inspect;
mod man;
mod put;
mod repair;
mod scan;
mod shell;
mod stats;
mod verify;

use std::io::Write;

use clap::Subcommand;

use crate::failure::Answer;
pub(crate) use crate::failure::Failure;

#[derive(Subcommand)]
pub(crate) enum Command {
    Get(get::Get),
    Put(put::Put),
    Del(del::Del),
    Scan(scan::Scan),
    Batch(batch::Batch),
    Count(count::Count),
    Stats(stats::Stats),
    Verify(verify::Verify),
    Repair(repair::Repair),
    Compact(compact::Compact),
    Destroy(destroy::Destroy),
    Checkpoint(checkpoint::Checkpoint),
    Copy(copy::Copy),
    Export(export::Export),
    Import(import::Import),
    Ingest(ingest::Ingest),
    Inspect(inspect::Inspect),
    Diff(diff::Diff),
    Shell(shell::Shell),
    Bench(bench::Bench),
    Completions(completions::Completions),
    Man(man::Man),
}

impl Command {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        match self {
            Self::Get(get) => get.run(out),
            Self::Put(put) => put.run(),
            Self::Del(del) => del.run(out),
            Self::Scan(scan) => scan.run(out),
            Self::Batch(batch) => batch.run(out),
            Self::Count(count) => count.run(out),
            Self::Stats(stats) => stats.run(out),
            Self::Verify(verify) => verify.run(out),
            Self::Repair(repair) => repair.run(out),
            Self::Compact(compact) => compact.run(out),
            Self::Destroy(destroy) => destroy.run(),
            Self::Checkpoint(checkpoint) => checkpoint.run(out),
            Self::Copy(copy) => copy.run(out),
            Self::Export(export) => export.run(out),
            Self::Import(import) => import.run(out),
            Self::Ingest(ingest) => ingest.run(out),
            Self::Inspect(inspect) => inspect.run(out),
            Self::Diff(diff) => diff.run(out),
            Self::Shell(shell) => shell.run(out),
            Self::Bench(bench) => bench.run().map(|()| Answer::Yes),
            Self::Completions(completions) => completions.run(out),
            Self::Man(man) => man.run(out),
        }
    }
}
