//! Drives rusty-leveldb. The commands are those of `../../README.md`.

use std::io::{Write as _, stdin, stdout};
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use rusty_leveldb::{CompressorId as _, DB, LdbIterator as _, Options, compressor};

mod digest;
mod input;

use digest::Digest;
use input::Input;

type Problem = Box<dyn std::error::Error>;

#[derive(Clone, Copy, ValueEnum)]
enum Command {
    Apply,
    Digest,
    Hold,
}

#[derive(Clone, Copy, ValueEnum)]
enum Compression {
    None,
    Snappy,
}

#[derive(Parser)]
struct Arguments {
    command: Command,
    directory: PathBuf,
    #[arg(long)]
    operations: Option<PathBuf>,
    #[arg(long)]
    keys: Option<PathBuf>,
    #[arg(long, default_value_t = 0)]
    first: usize,
    #[arg(long, default_value_t = usize::MAX)]
    last: usize,
    #[arg(long)]
    acknowledge: bool,
    #[arg(long, value_enum, default_value = "snappy")]
    compression: Compression,
    #[arg(long, default_value_t = 4 << 20)]
    write_buffer: usize,
}

fn main() -> Result<(), Problem> {
    let arguments = Arguments::parse();
    let options = Options {
        create_if_missing: matches!(arguments.command, Command::Apply),
        write_buffer_size: arguments.write_buffer,
        compressor: match arguments.compression {
            Compression::None => compressor::NoneCompressor::ID,
            Compression::Snappy => compressor::SnappyCompressor::ID,
        },
        ..Options::default()
    };
    let mut db = DB::open(&arguments.directory, options)?;
    match arguments.command {
        Command::Apply => apply(&mut db, &arguments)?,
        Command::Digest => print_digests(&mut db, arguments.keys.as_deref().ok_or("digest needs --keys")?)?,
        Command::Hold => {
            writeln!(stdout(), "held")?;
            std::io::copy(&mut stdin(), &mut std::io::sink())?;
        }
    }
    Ok(db.close()?)
}

/// A write is in a buffer of the process until it is flushed. What is acknowledged must survive the process.
fn apply(db: &mut DB, arguments: &Arguments) -> Result<(), Problem> {
    let path = arguments.operations.as_deref().ok_or("apply needs --operations")?;
    let mut operations = Input::open(path)?;
    for index in 0..arguments.last {
        let Some(batch) = operations.write()? else { break };
        if index < arguments.first {
            continue;
        }
        db.write(batch, arguments.acknowledge)?;
        if arguments.acknowledge {
            writeln!(stdout(), "{}", index + 1)?;
        }
    }
    Ok(())
}

/// Forwards, and points by seeks; see `../../README.md`.
fn print_digests(db: &mut DB, keys: &Path) -> Result<(), Problem> {
    let mut forward = Digest::default();
    let mut entries = db.new_iter()?;
    while let Some((key, value)) = entries.next() {
        forward.add(&key, Some(&value));
    }
    println!("forward {forward}");

    let mut points = Digest::default();
    let mut input = Input::open(keys)?;
    while let Some(key) = input.key()? {
        entries.seek(&key);
        let value = entries.current().filter(|(found, _)| **found == *key).map(|(_, value)| value);
        points.add(&key, value.as_deref());
    }
    println!("points {points}");

    // The answers are not compared, but these calls must not panic over what they find in a table. They may begin
    // compactions, which remove files that iterators still read.
    let mut input = Input::open(keys)?;
    while let Some(key) = input.key()? {
        drop(db.get(&key));
    }
    Ok(())
}
