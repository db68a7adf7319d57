//! The program `terrace`, with one module of [`commands`] per command.

mod commands;
mod database;
mod dialect;
mod failure;
mod inspect;
mod interchange;
mod order;
mod owner;
mod pager;
mod progress;
mod range;
mod text;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::Parser;

use failure::{Answer, EXIT_CODES, code, explain, is_closed_pipe};

/// Terrace, an embedded key/value database in LevelDB's file format.
///
/// It also reads and writes databases of LevelDB, classic-level, Chromium and Minecraft Bedrock. Commands that only
/// read change no byte of a directory, and work while its owner is running.
///
/// Keys and values are printed as escaped text, one entry per line, and accepted in that form: printable UTF-8 as it
/// is, \\ for a backslash, \n, \r, \t, and \xNN for any byte. With --json, bytes that are UTF-8 are JSON strings,
/// others are {"hex":"00ff"}.
#[derive(Parser)]
#[command(name = "terrace", version, arg_required_else_help = true, after_help = EXIT_CODES)]
struct Arguments {
    #[command(subcommand)]
    command: commands::Command,
}

fn main() -> ExitCode {
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    let result = Arguments::parse().command.run(&mut out);
    // What was printed before a failure comes before its message.
    let result = out.flush().map_err(Into::into).and(result);
    match result {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(code::NO),
        Err(failure) if is_closed_pipe(&failure) => {
            // Dropping it would try to write again.
            std::mem::forget(out);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let (code, message) = explain(&failure);
            // Nobody may be listening.
            let _ = writeln!(io::stderr(), "terrace: {message}");
            ExitCode::from(code)
        }
    }
}
