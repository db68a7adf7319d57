//! The commands. Predecessor: `main`. Successors: one module a command.

mod bench;

use clap::Subcommand;

/// What a command may end with.
type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Subcommand)]
pub(crate) enum Command {
    Bench(bench::Bench),
}

impl Command {
    pub(crate) fn run(self) -> Result<(), Failure> {
        match self {
            Self::Bench(bench) => bench.run(),
        }
    }
}
