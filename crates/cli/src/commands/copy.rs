//! `terrace copy`: the entries of a database, as they are now, in a new one. With URLs, `other_back_ends` takes over
//! before this is called.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use terrace_engine::{Db, Options};

use super::Failure;
use crate::database::{Directory, WriteArguments};
use crate::failure::Answer;
use crate::interchange::{BatchWriter, UnfinishedCopy};
use crate::progress::{Progress, Unit};
use crate::range::RangeArguments;
use crate::text::FormatArguments;

const EXAMPLES: &str = r#"Examples:
  terrace copy fruit fruit-today                   works while the program that uses it is running
  terrace copy fruit small --prefix a
  terrace copy fruit packed --compression zstd
  terrace copy fruit lmdb:fruit-lmdb               done by terrace-copy, which has other options"#;

/// Copy all entries, as of one moment, into a new database.
///
/// The copy has no deletions and no older values. A copy that is interrupted leaves no database in TARGET; run it
/// again to start over. If the database is not in use, `terrace checkpoint` is faster.
///
/// DB and TARGET may also be URLs of other back-ends: lmdb:PATH, mysql://USER@HOST/SCHEMA, slatedb:URL, level:PATH, or
/// a server: tcp://HOST:PORT, tls:, ws:, wss:, unix:PATH. The program terrace-copy then does all of it; `terrace-copy --help`
/// lists its options. It is looked for in node_modules/.bin of this directory and those above
/// it, then on the PATH; `npm install terrace-copy` installs it. A path that begins like a URL is written ./lmdb:PATH.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Copy {
    #[command(flatten)]
    directory: Directory,
    /// Directory of the new database.
    #[arg(value_name = "TARGET", value_hint = ValueHint::DirPath)]
    target: PathBuf,
    #[command(flatten)]
    range: RangeArguments,
    #[command(flatten)]
    formats: FormatArguments,
    #[command(flatten)]
    write: WriteArguments,
}

impl Copy {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let source = self.directory.read()?;
        let selection = self.range.selection(self.formats, &source.options().comparator)?;
        let options = Options {
            create_if_missing: true,
            error_if_exists: true,
            comparator: source.options().comparator.clone(),
            dialect: self.write.dialect_for_copy_of(&source),
            ..self.write.options(&self.directory.db)?
        };
        let unfinished = UnfinishedCopy::begin(&self.target, &options)?;
        let target = Db::open(unfinished.directory(), options)?;
        let progress = Progress::new("copying", Unit::Pieces, None);
        let mut writer = BatchWriter::new(&target, &progress);
        let mut walk = selection.walk(&source, false)?;
        while let Some((key, value)) = walk.next()? {
            writer.put(key, value)?;
        }
        let copied = writer.finish()?;
        target.flush()?;
        target.close()?;
        unfinished.finish()?;
        drop(progress);
        writeln!(out, "{copied} entries copied to {}", self.target.display())?;
        Ok(Answer::Yes)
    }
}
