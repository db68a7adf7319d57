//! Our engine's side of the interop matrix; the commands are described in `tests/interop/README.md`.

use std::io::{Write as _, stdin, stdout};
use std::path::{Path, PathBuf};

use terrace_engine::{Compression, Db, IterOptions, Options, ReadOptions, UserComparator, WriteOptions};
use terrace_testkit::digest::Digest;

mod operations;

use operations::Input;

type Problem = Box<dyn std::error::Error>;

struct Arguments {
    command: String,
    directory: PathBuf,
    operations: PathBuf,
    keys: PathBuf,
    first: u64,
    last: u64,
    acknowledge: bool,
    options: Options,
}

fn main() -> Result<(), Problem> {
    let arguments = parse(std::env::args().skip(1))?;
    let db = Db::open(&arguments.directory, arguments.options.clone())?;
    match arguments.command.as_str() {
        "apply" => apply(&db, &arguments)?,
        "digest" => print_digests(&db, &arguments.keys)?,
        "verify" => db.verify()?,
        "hold" => {
            writeln!(stdout(), "held")?;
            std::io::copy(&mut stdin(), &mut std::io::sink())?;
        }
        other => return Err(format!("unknown command {other}").into()),
    }
    Ok(db.close()?)
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, Problem> {
    let mut next = || words.next().ok_or("use: terrace-interop apply|digest|hold|verify DIRECTORY [OPTIONS]");
    let command = next()?;
    let directory = next()?.into();
    let options = Options { create_if_missing: command == "apply", ..Options::default() };
    let (operations, keys) = (PathBuf::new(), PathBuf::new());
    let mut arguments = Arguments {
        command,
        directory,
        operations,
        keys,
        first: 0,
        last: u64::MAX,
        acknowledge: false,
        options,
    };
    while let Ok(word) = next() {
        let options = &mut arguments.options;
        match word.as_str() {
            "--operations" => arguments.operations = next()?.into(),
            "--keys" => arguments.keys = next()?.into(),
            "--first" => arguments.first = next()?.parse()?,
            "--last" => arguments.last = next()?.parse()?,
            "--acknowledge" => arguments.acknowledge = true,
            "--paranoid" => options.paranoid_checks = true,
            "--read-only" => options.read_only = true,
            "--bloom" => options.filter_bits_per_key = next()?.parse()?,
            "--write-buffer" => options.write_buffer_size_bytes = next()?.parse()?,
            "--comparator" => {
                options.comparator = UserComparator::by_name(&next()?).ok_or("unknown comparator")?;
            }
            "--compression" => {
                options.compression = match next()?.as_str() {
                    "none" => Compression::None,
                    "snappy" => Compression::Snappy,
                    "zstd" => Compression::Zstd { level: 1 },
                    other => return Err(format!("unknown compression {other}").into()),
                };
            }
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    Ok(arguments)
}

/// Does the writes from `first` to before `last`. With `acknowledge`, reports each on standard output, unbuffered,
/// before the next one begins.
fn apply(db: &Db, arguments: &Arguments) -> Result<(), Problem> {
    let mut input = Input::open(&arguments.operations)?;
    for index in 0..arguments.last {
        let Some(batch) = input.write()? else { break };
        if index < arguments.first {
            continue;
        }
        db.write(batch, &WriteOptions::default())?;
        if arguments.acknowledge {
            writeln!(stdout(), "{}", index + 1)?;
        }
    }
    Ok(())
}

fn print_digests(db: &Db, keys: &Path) -> Result<(), Problem> {
    let mut iterator = db.iter(IterOptions::default())?;
    println!("forward {}", Digest::forward(&mut iterator)?);
    println!("backward {}", Digest::backward(&mut iterator)?);

    let mut points = Digest::default();
    let mut keys = Input::open(keys)?;
    while let Some(key) = keys.key()? {
        points.add(&key, db.get(&key, &ReadOptions::default())?.as_deref());
    }
    println!("points {points}");
    Ok(())
}
