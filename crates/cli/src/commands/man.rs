//! `terrace man`: the manual.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, ValueHint};
use clap_mangen::Man as Page;

use super::Failure;
use crate::failure::Answer;

const EXAMPLES: &str = r#"Examples:
  terrace man | man -l -
  terrace man --dir ~/.local/share/man/man1        one page per command: man terrace-scan"#;

/// Print the manual, or write its pages.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Man {
    /// Write a page for the program and one for each command into this directory.
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let mut program = crate::Arguments::command();
        program.build();
        let Some(directory) = &self.dir else {
            out.write_all(&page(program)?)?;
            return Ok(Answer::Yes);
        };
        fs::create_dir_all(directory)?;
        for command in program.get_subcommands().filter(|command| command.get_name() != "help") {
            let name = format!("terrace-{}", command.get_name());
            // The usage line has a blank there.
            let command = command.clone().name(leak(&name));
            write(directory, &name, &page(command)?)?;
        }
        write(directory, "terrace", &page(program)?)?;
        Ok(Answer::Yes)
    }
}

/// clap keeps names for as long as the program runs.
fn leak(name: &str) -> &'static str {
    Box::leak(name.to_owned().into_boxed_str())
}

fn page(command: clap::Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    Page::new(command).render(&mut page)?;
    Ok(page)
}

fn write(directory: &Path, name: &str, page: &[u8]) -> Result<(), Failure> {
    let path = directory.join(format!("{name}.1"));
    fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()).into())
}
