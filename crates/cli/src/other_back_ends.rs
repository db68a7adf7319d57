//! `terrace copy` with a URL of another back-end. The program `terrace-copy` does that: this one hands over to it, as
//! git does to `git-NAME`, without a shell.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::Command;

use clap::ArgAction;
use serde_json::Value;

use crate::failure::{Failure, Problem};

const PROGRAM: &str = "terrace-copy";

/// Its file, where npm has installed it: in `node_modules/.bin`, or in a directory of the PATH.
const FILE: &str = if cfg!(windows) { "terrace-copy.cmd" } else { PROGRAM };

/// The other back-ends, as that program lists them: packages/copy/back-ends.json. `make registry` copies the list.
const BACK_ENDS: &str = include_str!("back_ends.json");

/// The arguments for the other program, if `terrace` was called with `copy` and a URL in place of a database.
///
/// `copy` is the command as clap knows it. It defines which options take a value, since a value may look like a URL.
pub(crate) fn arguments_for_it<'a>(
    arguments: &'a [OsString],
    copy: &clap::Command,
) -> Option<&'a [OsString]> {
    let (name, rest) = arguments.split_first()?;
    let is_its_business = name == copy.get_name() && places(rest, copy).any(is_url);
    is_its_business.then_some(rest)
}

/// Becomes the other program, or ends as it ends. Returns only if it cannot be run.
pub(crate) fn hand_over(arguments: &[OsString]) -> Failure {
    let program = installed_here().unwrap_or_else(|| FILE.into());
    // What is on the PATH is found by the system.
    let error = become_program(Command::new(&program).args(arguments));
    if error.kind() == io::ErrorKind::NotFound {
        return Problem::database(
            format!(
                "copying from or to another back-end needs the program {PROGRAM}, which is not installed"
            ),
            format!("Install it: npm install {PROGRAM} {}", packages(arguments).join(" ")),
        );
    }
    format!("{} cannot be run: {error}", program.display()).into()
}

#[cfg(unix)]
fn become_program(command: &mut Command) -> io::Error {
    std::os::unix::process::CommandExt::exec(command)
}

/// No program can become another one here.
#[cfg(not(unix))]
fn become_program(command: &mut Command) -> io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

/// The program in the `node_modules/.bin` of this directory or the nearest one above it.
fn installed_here() -> Option<PathBuf> {
    let directory = env::current_dir().ok()?;
    let program = |directory: &std::path::Path| directory.join("node_modules/.bin").join(FILE);
    directory.ancestors().map(program).find(|path| path.is_file())
}

/// The arguments that are neither options nor their values.
fn places<'a>(arguments: &'a [OsString], copy: &clap::Command) -> impl Iterator<Item = &'a OsStr> {
    let with_values = options_with_values(copy);
    let (mut is_value, mut is_after_options) = (false, false);
    arguments.iter().map(OsString::as_os_str).filter(move |argument| {
        let text = argument.to_string_lossy();
        if is_after_options {
            return true;
        }
        is_after_options = text == "--";
        let is_place = !is_value && !text.starts_with('-');
        is_value = !is_value && with_values.iter().any(|name| text == name.as_str());
        is_place
    })
}

fn options_with_values(copy: &clap::Command) -> Vec<String> {
    let takes_value = |argument: &&clap::Arg| {
        !argument.is_positional() && matches!(argument.get_action(), ArgAction::Set | ArgAction::Append)
    };
    let names = |argument: &clap::Arg| {
        let aliases = argument.get_all_aliases().unwrap_or_default();
        argument.get_long().into_iter().chain(aliases).map(|name| format!("--{name}")).collect::<Vec<_>>()
    };
    copy.get_arguments().filter(takes_value).flat_map(names).collect()
}

fn is_url(place: &OsStr) -> bool {
    let text = place.to_string_lossy();
    // A scheme that is not known yet is for the other program to refuse, or to know.
    package_of(&text).is_some() || text.find("://").is_some_and(|end| is_scheme(&text[..end]))
}

fn is_scheme(text: &str) -> bool {
    // One letter is a drive of Windows.
    text.len() > 1
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
}

/// The npm package that knows what a URL names.
fn package_of(text: &str) -> Option<String> {
    let (scheme, _) = text.split_once(':')?;
    let back_ends: Value = serde_json::from_str(BACK_ENDS).expect("a test reads the list");
    let knows = |back_end: &&Value| {
        let schemes = back_end["schemes"].as_array().into_iter().flatten();
        schemes.filter_map(Value::as_str).any(|known| known.eq_ignore_ascii_case(scheme))
    };
    let found = back_ends.as_object()?.values().find(knows)?;
    found["package"].as_str().map(ToOwned::to_owned)
}

/// The packages that the arguments need. One that is a path needs that for LevelDB's format.
fn packages(arguments: &[OsString]) -> Vec<String> {
    let texts = arguments.iter().map(|argument| argument.to_string_lossy());
    let places = texts.filter(|text| !text.starts_with('-')).take(2);
    let mut packages: Vec<_> =
        places.map(|text| package_of(&text).unwrap_or_else(|| "terrace".into())).collect();
    packages.dedup();
    packages
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command as ClapCommand};

    fn copy() -> ClapCommand {
        ClapCommand::new("copy")
            .arg(Arg::new("db"))
            .arg(Arg::new("prefix").long("prefix"))
            .arg(Arg::new("gte").long("gte").visible_alias("from"))
            .arg(Arg::new("flag").long("flag").action(ArgAction::SetTrue))
    }

    fn is_wanted(line: &str) -> bool {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        arguments_for_it(&arguments, &copy()).is_some()
    }

    #[test]
    fn the_list_of_back_ends_names_their_packages() {
        let packages = ["level:a", "lmdb:a", "mysqls://a", "slatedb:a", "unix:a"].map(package_of);
        let names = ["terrace", "terrace-lmdb", "terrace-mysql", "terrace-slatedb", "terrace-net"];
        assert_eq!(packages, names.map(|name| Some(name.to_owned())));
        assert_eq!(package_of("a"), None);
        assert_eq!(package_of("C:a"), None);
    }

    #[test]
    fn urls_are_handed_over_where_a_database_is_named() {
        for line in [
            "copy a lmdb:b",
            "copy level:a b",
            "copy mysql://u@h/s b --prefix x",
            "copy --merge lmdb:a b",
            "copy --flag lmdb:a b",
            "copy --prefix=x unix:a b",
            "copy a -- tls://h:1",
            "copy a new+scheme://h",
            "copy MYSQL://u@h/s b",
            "copy a Lmdb:b",
        ] {
            assert!(is_wanted(line), "{line}");
        }
        for line in [
            "copy a b",
            "copy a b:c",
            "copy ./lmdb:a b",
            "copy a b --prefix lmdb:x",
            "copy a b --from tcp://x",
            "scan lmdb:a",
            "copy a C://b",
        ] {
            assert!(!is_wanted(line), "{line}");
        }
    }
}
