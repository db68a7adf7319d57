//! `terrace completions`: what a shell needs to complete the program's arguments.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::Failure;
use crate::failure::Answer;

const EXAMPLES: &str = r#"Examples:
  terrace completions bash > ~/.local/share/bash-completion/completions/terrace
  terrace completions zsh > ~/.zfunc/_terrace
  terrace completions fish > ~/.config/fish/completions/terrace.fish"#;

/// Print completions for a shell.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Completions {
    /// The shell.
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Answer, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::Arguments::command(), "terrace", &mut script);
        out.write_all(&script)?;
        Ok(Answer::Yes)
    }
}
