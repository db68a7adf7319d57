//! Opening a database: for reading, which changes no byte and needs no lock, or for writing.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use terrace_engine::{Compression, Db, Dialect, Error as EngineError, ErrorKind, Options, UserComparator};
use terrace_format::file_name;

use crate::failure::{Failure, Problem};
use crate::order;
use crate::progress::{Progress, Unit};
use crate::text::{Json, shell_word};

/// The argument that names the database's directory.
#[derive(Args, Clone, Debug)]
pub(crate) struct Directory {
    /// Directory of the database.
    #[arg(value_name = "DB", value_hint = ValueHint::DirPath)]
    pub(crate) db: PathBuf,
}

impl Directory {
    /// Opens the database for reading.
    pub(crate) fn read(&self) -> Result<Db, Failure> {
        open_to_read(&self.db)
    }
}

/// The compression of new blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum CompressionArgument {
    None,
    Snappy,
    /// Smaller; LevelDB 1.23 and older cannot read it.
    Zstd,
}

/// Which program must be able to read what is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArgument {
    /// Decide by the database, or by a Minecraft world around the directory.
    #[default]
    Auto,
    /// LevelDB: blocks are compressed with snappy.
    Leveldb,
    /// Minecraft Bedrock: blocks are compressed with deflate.
    Bedrock,
}

impl From<DialectArgument> for Dialect {
    fn from(argument: DialectArgument) -> Self {
        match argument {
            DialectArgument::Auto => Self::Auto,
            DialectArgument::Leveldb => Self::LevelDb,
            DialectArgument::Bedrock => Self::Bedrock,
        }
    }
}

/// Arguments of commands that open a database for writing.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct WriteArguments {
    /// Compression of new blocks [default: snappy]. In a Minecraft Bedrock world, deflate takes the place of snappy and
    /// zstd.
    #[arg(long, value_enum, value_name = "HOW")]
    compression: Option<CompressionArgument>,
    /// The program that must be able to read what is written.
    #[arg(long, value_enum, default_value_t, value_name = "WHOSE")]
    dialect: DialectArgument,
}

impl WriteArguments {
    /// The engine's options for the database in `directory`.
    pub(crate) fn options(self, directory: &Path) -> Result<Options, Failure> {
        let compression = match self.compression {
            Some(CompressionArgument::None) => Compression::None,
            None | Some(CompressionArgument::Snappy) => Compression::Snappy,
            Some(CompressionArgument::Zstd) => Compression::Zstd { level: 0 },
        };
        let comparator = order::of_directory(directory)?;
        let dialect = self.dialect.into();
        Ok(Options { create_if_missing: false, comparator, compression, dialect, ..Options::default() })
    }

    /// The dialect of a copy: the source's, unless one was requested.
    pub(crate) fn dialect_for_copy_of(self, source: &Db) -> Dialect {
        match self.dialect {
            DialectArgument::Auto => source.dialect(),
            requested => requested.into(),
        }
    }

    /// Opens an existing database.
    pub(crate) fn open(self, directory: &Path) -> Result<Db, Failure> {
        check_is_directory(directory)?;
        open(directory, self.options(directory)?)
    }
}

/// Arguments of commands that open a database for writing and may create it.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct CreateArguments {
    /// Create the database if there is none.
    #[arg(long)]
    create: bool,
    /// Order of the keys of a new database: leveldb.BytewiseComparator or idb_cmp1.
    #[arg(long, value_name = "NAME", requires = "create")]
    comparator: Option<String>,
    #[command(flatten)]
    write: WriteArguments,
}

impl CreateArguments {
    /// The order that the database in `directory` has, or will have.
    pub(crate) fn order(&self, directory: &Path) -> Result<UserComparator, Failure> {
        match &self.comparator {
            Some(name) => order::by_name(name),
            None => order::of_directory(directory),
        }
    }

    /// Opens the database, or creates it if requested.
    pub(crate) fn open(&self, directory: &Path) -> Result<Db, Failure> {
        if !self.create {
            return self.write.open(directory).map_err(|failure| {
                if directory.join(file_name::CURRENT).exists() || !is_nothing_there(&failure) {
                    return failure;
                }
                let message = format!("there is no database in {}", directory.display());
                Problem::database(message, "Use --create to create one there.")
            });
        }
        let mut options = self.write.options(directory)?;
        if let Some(name) = &self.comparator {
            options.comparator = order::by_name(name)?;
        }
        options.create_if_missing = true;
        open(directory, options)
    }
}

/// Opens the database in `directory` for reading, as it is now, without a lock and without changing a byte.
pub(crate) fn open_to_read(directory: &Path) -> Result<Db, Failure> {
    let db = open_to_check(directory)?;
    warn_of_left_out(&db);
    Ok(db)
}

/// Like [`open_to_read`], for a command that itself reports what the open left out.
pub(crate) fn open_to_check(directory: &Path) -> Result<Db, Failure> {
    check_is_directory(directory)?;
    let comparator = order::of_directory(directory)?;
    let options = Options {
        read_only: true,
        comparator,
        block_cache_size_bytes: 8 << 20,
        // A user who inspects a database may have a failing disk: a read error names the file, while a mapping would
        // end the program.
        map_tables: false,
        ..Options::default()
    };
    open_quietly(directory, options)
}

/// Opens a database. That takes long if its logs are large.
fn open(directory: &Path, options: Options) -> Result<Db, Failure> {
    let db = open_quietly(directory, options)?;
    warn_of_left_out(&db);
    Ok(db)
}

fn open_quietly(directory: &Path, options: Options) -> Result<Db, Failure> {
    let _progress = Progress::new("opening", Unit::Time, None);
    Ok(Db::open(directory, options)?)
}

/// Prints a line for each log of which writes are left out.
fn warn_of_left_out(db: &Db) {
    for left_out in db.left_out_logs() {
        // Standard error may be closed.
        let _ = writeln!(io::stderr(), "terrace: {left_out}");
    }
}

/// The member of a JSON object that states what the open left out of the logs.
pub(crate) fn left_out_member(db: &Db) -> (&'static str, Json) {
    let left_out = db.left_out_logs().iter().map(|left_out| {
        Json::Object(vec![
            ("file", left_out.name.as_str().into()),
            ("bytes", left_out.bytes.into()),
            ("problem", left_out.to_string().into()),
        ])
    });
    ("left_out", Json::Array(left_out.collect()))
}

/// The same for the lines of a command that prints one for each entry, with a comma before it; empty if nothing is left out.
pub(crate) fn left_out_in_line(db: &Db) -> String {
    if db.left_out_logs().is_empty() {
        return String::new();
    }
    let (name, left_out) = left_out_member(db);
    format!(",\"{name}\":{left_out}")
}

/// Whether a directory is missing or contains no database.
fn is_nothing_there(failure: &Failure) -> bool {
    match failure.downcast_ref::<EngineError>() {
        Some(error) => error.kind() == ErrorKind::NoDatabase,
        None => failure.downcast_ref::<Problem>().is_some_and(Problem::is_missing),
    }
}

/// Fails with an explanation if the path cannot be a database's.
pub(crate) fn check_is_directory(directory: &Path) -> Result<(), Failure> {
    let shown = directory.display();
    match fs::metadata(directory) {
        Ok(metadata) if !metadata.is_dir() => Err(Problem::database(
            format!("{shown} is a file, not a database's directory"),
            format!(
                "Give the directory that contains it. `terrace inspect {}` explains the file.",
                shell_word(directory)
            ),
        )),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let advice = "Give the directory that contains the file CURRENT.";
            Err(Problem::missing(format!("there is no directory {shown}"), advice))
        }
        Err(error) => {
            Err(Problem::database(format!("cannot access {shown}: {error}"), "Check its permissions."))
        }
    }
}
