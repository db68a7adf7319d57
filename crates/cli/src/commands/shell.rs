//! `terrace shell`: commands on one open database, typed one after the other.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{Config, Context, Editor, Helper};
use terrace_engine::Db;

use super::{Failure, count, del, get, put, scan, stats};
use crate::database::{CreateArguments, Directory};
use crate::failure::{Answer, Problem, explain, is_closed_pipe};
use crate::pager::Pager;

const EXAMPLES: &str = r#"Examples:
  terrace shell fruit
  terrace shell fruit --write
  echo 'scan --limit 3' | terrace shell fruit"#;

/// Type commands on an open database, with history, completion and paging.
///
/// The database is opened for reading, as it is at that moment; `reload` opens it again. With --write, commands can
/// also change it, and no other program can open it for writing in the meantime. `help` lists the commands. Blanks
/// separate words, except in quotes. If the commands come from a pipe, the exit code is 1 if the last one failed.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Shell {
    #[command(flatten)]
    directory: Directory,
    /// Open the database for writing.
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    create: CreateArguments,
}

/// Commands on the open database. `scan --help` explains one of them.
#[derive(Parser)]
#[command(multicall = true, disable_version_flag = true)]
struct Line {
    #[command(subcommand)]
    command: Typed,
}

#[derive(Subcommand)]
enum Typed {
    /// Print the values of keys.
    Get(get::What),
    /// Print entries in the order of their keys.
    Scan(scan::What),
    /// Count entries.
    Count(count::What),
    /// Print the size of the database.
    Stats(stats::What),
    /// Store a value under a key.
    Put(put::What),
    /// Remove keys, or all keys of a range.
    Del(del::What),
    /// Open the database again, as it is now.
    Reload,
    /// Leave the shell.
    #[command(visible_alias = "quit")]
    Exit,
}

impl Shell {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let mut db = self.open()?;
        let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let config = Config::builder().max_history_size(10_000)?.history_ignore_space(true).build();
        let mut editor: Editor<Words, FileHistory> = Editor::with_config(config)?;
        editor.set_helper(Some(Words));
        let history = history_file().filter(|_| is_terminal);
        if let Some(path) = &history {
            // The first time there is none yet.
            let _ = editor.load_history(path);
        }
        let mut answer = Answer::Yes;
        loop {
            out.flush()?;
            let line = match editor.readline(if is_terminal { "terrace> " } else { "" }) {
                Ok(line) => line,
                Err(ReadlineError::Interrupted) => continue,
                Err(ReadlineError::Eof) => break,
                Err(error) => return Err(error.into()),
            };
            if line.trim().is_empty() {
                continue;
            }
            let _ = editor.add_history_entry(line.as_str());
            let rows = editor.dimensions().map_or(0, |(_, rows)| usize::from(rows));
            let mut pager = Pager::new(out, if is_terminal { rows } else { 0 });
            match self.execute(&line, &mut db, &mut pager) {
                Ok(Some(next)) => answer = next,
                Ok(None) => break,
                Err(failure) if pager.is_stopped() && is_closed_pipe(&failure) => {}
                Err(failure) if is_closed_pipe(&failure) => return Err(failure),
                Err(failure) => {
                    out.flush()?;
                    let (_, message) = explain(&failure);
                    writeln!(io::stderr(), "{message}")?;
                    answer = Answer::No;
                }
            }
        }
        if let Some(path) = &history {
            if let Some(directory) = path.parent() {
                let _ = std::fs::create_dir_all(directory);
            }
            // A failure loses only convenience.
            let _ = editor.save_history(path);
        }
        db.close()?;
        Ok(if is_terminal { Answer::Yes } else { answer })
    }

    fn open(&self) -> Result<Db, Failure> {
        if self.write { self.create.open(&self.directory.db) } else { self.directory.read() }
    }

    /// Runs one line; `None` means leave.
    fn execute(&self, line: &str, db: &mut Db, out: &mut dyn Write) -> Result<Option<Answer>, Failure> {
        let words = split(line).map_err(Problem::usage)?;
        let typed = match Line::try_parse_from(words) {
            Ok(line) => line.command,
            Err(error) if error.use_stderr() => {
                return Err(Problem::usage(error.to_string().trim_end().to_owned()));
            }
            // The line asked for help, or is wrong.
            Err(error) => {
                write!(out, "{error}")?;
                return Ok(Some(Answer::Yes));
            }
        };
        match typed {
            Typed::Get(what) => what.run(db, out),
            Typed::Scan(what) => what.run(db, out),
            Typed::Count(what) => what.run(db, out),
            Typed::Stats(what) => what.run(db, out),
            Typed::Put(_) | Typed::Del(_) if !self.write => Err(Problem::usage(
                "the database is open for reading; start the shell with --write to change it",
            )),
            Typed::Put(what) => what.run(db),
            Typed::Del(what) => what.run(db, out),
            Typed::Reload => {
                db.close()?;
                *db = self.open()?;
                Ok(Answer::Yes)
            }
            Typed::Exit => return Ok(None),
        }
        .map(Some)
    }
}

/// The file that stores the history: the XDG base directory specification's place for state, or that of Windows.
fn history_file() -> Option<PathBuf> {
    let named =
        |variable| std::env::var_os(variable).filter(|directory| !directory.is_empty()).map(PathBuf::from);
    let state = named("XDG_STATE_HOME").or_else(|| {
        if cfg!(windows) { named("LOCALAPPDATA") } else { Some(named("HOME")?.join(".local/state")) }
    });
    Some(state?.join("terrace/history"))
}

/// Splits a line into words, separated by blanks except within quotes. A backslash stays in the escaped text that it
/// begins.
fn split(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for character in line.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None, _) if character.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(character),
        }
    }
    if let Some(open) = quote {
        return Err(format!(
            "the quote {open} is not closed; \\x27 and \\x22 stand for quotes in keys and values"
        ));
    }
    words.extend(word);
    Ok(words)
}

/// Completes names of commands and of their options.
struct Words;

impl Helper for Words {}
impl Highlighter for Words {}
impl Validator for Words {}

impl Hinter for Words {
    type Hint = String;
}

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(candidates(line.get(..position).unwrap_or(line)))
    }
}

/// Where the word at the end of `line` begins, and its possible completions.
fn candidates(line: &str) -> (usize, Vec<String>) {
    let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &line[start..];
    let program = Line::command();
    let names: Vec<String> = match line.split_whitespace().next().filter(|_| start > 0) {
        None => program
            .get_subcommands()
            .map(|command| command.get_name().to_owned())
            .chain(["help".into()])
            .collect(),
        Some("help") => program.get_subcommands().map(|command| command.get_name().to_owned()).collect(),
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command
                .get_arguments()
                .filter_map(|argument| Some(format!("--{}", argument.get_long()?)))
                .collect(),
            None => Vec::new(),
        },
    };
    (start, names.into_iter().filter(|name| name.starts_with(word)).map(|name| name + " ").collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_line() {
        let words = |line| split(line).unwrap();
        assert_eq!(words("put a  b"), ["put", "a", "b"]);
        assert_eq!(words("put 'a b' \"c'd\" ''"), ["put", "a b", "c'd", ""]);
        assert_eq!(words("get a\\x00\\\\"), ["get", "a\\x00\\\\"]);
        assert!(split("get 'a").is_err());
    }

    #[test]
    fn commands_and_options_complete() {
        assert_eq!(candidates("sc"), (0, vec!["scan ".to_owned()]));
        let (start, options) = candidates("scan --rev");
        assert_eq!((start, options), (5, vec!["--reverse ".to_owned()]));
        assert!(candidates("nothing --").1.is_empty());
        assert!(candidates("").1.len() >= 8);
    }

    #[test]
    fn the_commands_are_well_formed() {
        Line::command().debug_assert();
        crate::Arguments::command().debug_assert();
    }
}
