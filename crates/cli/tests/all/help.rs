//! Help, completions and manual are complete and have examples.

use std::fs;

use crate::support::{TestDirectory, program, terrace};

/// The names of all commands, as the help lists them.
fn commands() -> Vec<String> {
    let help = terrace([&"--help"]).ok();
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    listed
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .filter(|name| name != "help")
        .collect()
}

#[test]
fn every_command_has_help_with_examples() {
    let commands = commands();
    assert_eq!(commands.len(), 22, "{commands:?}");
    for command in &commands {
        let help = terrace([command, &"--help"]).ok();
        assert!(help.contains("Examples:\n"), "{command}");
        assert!(help.lines().any(|line| line.starts_with(&format!("  terrace {command}"))
            || line.contains(&format!("terrace {command} "))));
    }
}

#[test]
fn the_exit_codes_are_documented() {
    let help = terrace([&"help"]).ok();
    for code in 0..=5 {
        assert!(help.lines().any(|line| line.starts_with(&format!("  {code}  "))), "{code}");
    }
    assert_eq!(program().output().unwrap().status.code(), Some(2), "without a command");
}

#[test]
fn completions_and_manual_know_every_command() {
    let scratch = TestDirectory::new();
    let commands = commands();
    for shell in ["bash", "zsh", "fish"] {
        let script = terrace([&"completions", &shell]).ok();
        assert!(commands.iter().all(|command| script.contains(command.as_str())), "{shell}");
    }
    let directory = scratch.path("man");
    terrace([&"man", &"--dir", &directory]).ok();
    for command in &commands {
        let page = fs::read_to_string(directory.join(format!("terrace-{command}.1"))).unwrap();
        assert!(page.contains("Examples:"), "{command}");
    }
    assert!(terrace([&"man"]).ok().contains("Exit codes:"));
}

/// The long flags that a command's help lists, without their dashes.
fn flags(help: &str) -> Vec<String> {
    let words = help.split(|c: char| c.is_whitespace() || c == ',' || c == '=');
    let options = words.filter_map(|word| word.strip_prefix("--")).filter(|name| !name.is_empty());
    options.map(|name| name.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned()).collect()
}

/// What a script has for one command.
fn part(shell: &str, script: &str, command: &str) -> String {
    let between = |begin: &str, end: &str| {
        let (_, rest) = script.split_once(begin).unwrap_or_else(|| panic!("{shell} lacks {command}"));
        rest.split(end).next().unwrap().to_owned()
    };
    match shell {
        "bash" => between(&format!("\n        terrace__subcmd__{command})\n"), "return 0"),
        "zsh" => between(&format!("({command})\n"), "\n;;"),
        _ => {
            let of_command = format!("__fish_terrace_using_subcommand {command}\"");
            script.lines().filter(|line| line.contains(&of_command)).collect::<Vec<_>>().join("\n")
        }
    }
}

/// All of them are made from one declaration of each command.
#[test]
fn completions_and_manual_know_every_flag_of_every_command() {
    let scratch = TestDirectory::new();
    let directory = scratch.path("man");
    terrace([&"man", &"--dir", &directory]).ok();
    let scripts = ["bash", "zsh", "fish"].map(|shell| (shell, terrace([&"completions", &shell]).ok()));
    let mut checked = 0;
    for command in commands() {
        let help = terrace([&command, &"--help"]).ok();
        let (_, rest) = help.split_once("Options:").unwrap();
        let options = rest.split("Examples:").next().unwrap();
        let declared = options.lines().filter(|line| line.trim_start().starts_with('-'));
        let page = fs::read_to_string(directory.join(format!("terrace-{command}.1"))).unwrap();
        for flag in flags(&declared.collect::<Vec<_>>().join("\n")) {
            let in_page = format!("\\-\\-{}", flag.replace('-', "\\-"));
            assert!(page.contains(&in_page), "the manual of {command} lacks --{flag}");
            for (shell, script) in &scripts {
                let written = if *shell == "fish" { format!("-l {flag}") } else { format!("--{flag}") };
                assert!(part(shell, script, &command).contains(&written), "{shell}: {command} --{flag}");
            }
            checked += 1;
        }
    }
    assert!(checked > 60, "{checked} flags");
}

/// The committed manual is this program's: `make man` writes it.
#[test]
fn the_committed_manual_is_up_to_date() {
    let scratch = TestDirectory::new();
    let directory = scratch.path("man");
    terrace([&"man", &"--dir", &directory]).ok();
    let committed = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/man");
    let names = |directory: &std::path::Path| {
        let mut names: Vec<_> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names(&directory), names(&committed));
    for name in names(&directory) {
        let (made, kept) = (
            fs::read_to_string(directory.join(&name)).unwrap(),
            fs::read_to_string(committed.join(&name)).unwrap(),
        );
        assert!(made == kept, "{name:?} is not up to date: run `make man`");
    }
}
