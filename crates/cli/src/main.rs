//! The program `terrace`: one command a module of [`commands`].

mod commands;

use std::process::ExitCode;

use clap::Parser;

/// Terrace, an embedded key/value database in LevelDB's file format.
#[derive(Parser)]
#[command(name = "terrace", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    match Arguments::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("terrace: {error}");
            ExitCode::FAILURE
        }
    }
}
