//! The program `terrace`, with one module of [`commands`] per command.
//!
//! ```text
//! arguments ─► commands/X ─► database ─► engine ─► range: iteration ─► text ─► standard output
//!                            order: the comparator, from the MANIFEST        failure: exit code, advice
//!                            dialect: which other program must be able to read what is written
//! ```
//!
//! Rules:
//! 1. Read-only commands open with `Options::read_only`: they take no lock, change no byte and replay the logs in memory. They
//!    therefore work beside a running owner and after its crash. `tests/all/read_only.rs` compares every byte before and after.
//! 2. The order of keys is read from the MANIFEST. A database in an order that is not built in is refused, but `inspect` reads
//!    its files.
//! 3. `text` turns any bytes into one line of printable text and back. Structured formats (IndexedDB, Local Storage, bytewise)
//!    are only decoded; what does not decode is printed as escaped text.
//! 4. `inspect` uses the decoders of `terrace-format` directly, because the engine stops at the first damage. It reports the
//!    damage and continues after it. `verify` runs the engine first, then `inspect` for the list.
//! 5. Exports and imports can resume (`interchange`): an export after the last whole entry of its file, an import at the position
//!    that its state file recorded after a sync.
//! 6. `count` splits the keys at the tables of the largest level, with one thread per part. The threads of `verify` take one
//!    table at a time.
//! 7. `failure` lists the exit codes, and `terrace help` documents them. A closed pipe ends a command in an orderly way.

mod commands;
mod database;
mod failure;
mod inspect;
mod interchange;
mod order;
mod other_back_ends;
mod owner;
mod pager;
mod progress;
mod range;
mod redaction;
mod text;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use failure::{Answer, EXIT_CODES, Failure, code, explain, is_closed_pipe};
use redaction::Redaction;

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
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let command = Arguments::command();
    let copy = command.find_subcommand("copy").expect("the command exists");
    if let Some(arguments) = other_back_ends::arguments_for_it(&arguments, copy) {
        return fail(&other_back_ends::hand_over(arguments));
    }
    let arguments = Arguments::try_parse().unwrap_or_else(|error| exit(&error));
    let mut out = BufWriter::with_capacity(64 << 10, io::stdout().lock());
    let result = arguments.command.run(&mut out);
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
        Err(failure) => fail(&failure),
    }
}

/// Prints what went wrong.
fn fail(failure: &Failure) -> ExitCode {
    let (code, message) = explain(failure);
    // Standard error may be closed.
    let _ = writeln!(io::stderr(), "terrace: {}", redaction().redact(&message));
    ExitCode::from(code)
}

/// Prints help, or what is wrong with the command line.
fn exit(error: &clap::Error) -> ! {
    let text = error.to_string();
    let masked = redaction().redact(&text);
    if masked == text {
        error.exit();
    }
    // Standard error may be closed.
    let _ = write!(io::stderr(), "{masked}");
    std::process::exit(error.exit_code())
}

/// The secrets in the arguments of this process.
fn redaction() -> Redaction {
    Redaction::of(&std::env::args_os().skip(1).collect::<Vec<_>>())
}
