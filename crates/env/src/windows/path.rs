//! What a path means: from which directory it is followed, in the form that calls without a limit of 260 characters
//! want, and names that Windows keeps for itself.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf, Prefix};
use std::sync::{Arc, Weak};

use windows_sys::Win32::Foundation::ERROR_FILENAME_EXCED_RANGE;

use super::open;
use crate::DirectoryHold;

/// The longest name in a path, in UTF-16 units.
const MAX_NAME_LENGTH: usize = 255;

/// A directory whose path keeps its meaning if the process changes its working directory. While it is open here,
/// Windows prevents moving and removing it.
#[derive(Debug)]
pub(super) struct HeldDirectory {
    given: PathBuf,
    absolute: PathBuf,
    _open: File,
}

impl DirectoryHold for HeldDirectory {}

impl HeldDirectory {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let absolute = std::path::absolute(path)?;
        let open = open::directory_to_hold(&absolute)?;
        if !open.metadata()?.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        Ok(Self { given: path.to_owned(), absolute, _open: open })
    }
}

/// The directory that an environment holds, until its last holder drops it.
#[derive(Debug, Clone)]
pub(super) struct HeldName {
    path: PathBuf,
    hold: Weak<HeldDirectory>,
}

impl HeldName {
    pub(super) fn of(directory: &Arc<HeldDirectory>) -> Self {
        Self { path: directory.given.clone(), hold: Arc::downgrade(directory) }
    }
}

/// Where `path` leads.
///
/// # Errors
///
/// If it leads into the directory that `held` holds, and that is no longer held. Also if the system would read the path
/// differently: a name in it is that of a device, or Windows would shorten it.
pub(super) fn resolve<'a>(held: Option<&HeldName>, path: &'a Path) -> io::Result<Cow<'a, Path>> {
    let inside = held.and_then(|held| Some((held, path.strip_prefix(&held.path).ok()?)));
    let Some((HeldName { hold, .. }, inside)) = inside else {
        return check_names(path).map(|()| Cow::Borrowed(path));
    };
    let Some(held) = hold.upgrade() else {
        return Err(io::Error::other("the database and its directory were closed"));
    };
    // Joining an empty path would add a separator.
    let is_itself = inside.as_os_str().is_empty();
    Ok(Cow::Owned(if is_itself { held.absolute.clone() } else { held.absolute.join(inside) }))
}

/// The path as calls want it, ended by a zero. Beyond 260 characters they want it in full, with a prefix.
pub(super) fn wide(path: &Path) -> io::Result<Vec<u16>> {
    /// With a file name of the usual form, which programs may add to a directory.
    const SHORT: usize = 248;

    let full = std::path::absolute(path)?;
    let text: Vec<u16> = full.as_os_str().encode_wide().collect();
    if text.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has a zero in it"));
    }
    let (prefix, rest) = match full.components().next() {
        Some(Component::Prefix(prefix)) if text.len() >= SHORT => match prefix.kind() {
            Prefix::Disk(_) => (r"\\?\", &text[..]),
            Prefix::UNC(..) => (r"\\?\UNC\", &text[2..]),
            _ => ("", &text[..]),
        },
        _ => ("", &text[..]),
    };
    Ok(OsStr::new(prefix).encode_wide().chain(rest.iter().copied()).chain([0]).collect())
}

/// Refuses a path with a name that Windows would take for a device, or shorten, or that is too long.
fn check_names(path: &Path) -> io::Result<()> {
    let mut components = path.components().peekable();
    if let Some(Component::Prefix(prefix)) = components.peek()
        && prefix.kind().is_verbatim()
    {
        return Ok(());
    }
    for component in components {
        if let Component::Normal(name) = component {
            if name.encode_wide().count() > MAX_NAME_LENGTH {
                return Err(io::Error::from_raw_os_error(ERROR_FILENAME_EXCED_RANGE as i32));
            }
            let name = name.to_string_lossy();
            if let Some(problem) = problem_of(&name) {
                let text = format!("'{name}' {problem}: choose another name");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
            }
        }
    }
    Ok(())
}

/// What is wrong with a name, if anything.
fn problem_of(name: &str) -> Option<&'static str> {
    if name.ends_with(['.', ' ']) {
        return Some("ends with a dot or a space, which Windows leaves out");
    }
    let stem = name.split(['.', ':']).next().unwrap_or(name).trim_end();
    let is_numbered = |device: &str| {
        let rest = stem.get(..3).filter(|start| start.eq_ignore_ascii_case(device)).map(|_| &stem[3..]);
        rest.is_some_and(|rest| {
            let mut characters = rest.chars();
            matches!(characters.next(), Some('1'..='9' | '¹' | '²' | '³')) && characters.next().is_none()
        })
    };
    let is_device = ["CON", "PRN", "AUX", "NUL"].iter().any(|device| stem.eq_ignore_ascii_case(device))
        || is_numbered("COM")
        || is_numbered("LPT");
    is_device.then_some("is the name of a device in Windows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_names_of_devices_and_names_that_windows_shortens() {
        for name in ["CON", "con", "nul.txt", "Com1", "LPT9.a.b", "AUX ", "a.", "b ", "COM²", r"x\prn\y"] {
            let error = check_names(Path::new(name)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name}");
            assert!(error.to_string().contains("choose another name"), "{error}");
        }
        for name in
            ["CONFIG", "com", "COM10", "a.b", ".hidden", "ä ö", "lpt0", r"..\x", r"C:\x", r"\\?\C:\con"]
        {
            check_names(Path::new(name)).unwrap();
        }
        check_names(Path::new(&"ä".repeat(255))).unwrap();
        assert!(check_names(Path::new(&"ä".repeat(256))).is_err());
    }

    #[test]
    fn long_paths_get_the_prefix_that_lifts_the_limit() {
        let text = |path: &str| {
            let wide = wide(Path::new(path)).unwrap();
            String::from_utf16(&wide[..wide.len() - 1]).unwrap()
        };
        let long = "x".repeat(300);
        assert_eq!(text(r"C:\a\b"), r"C:\a\b");
        assert_eq!(text(&format!(r"C:\{long}")), format!(r"\\?\C:\{long}"));
        assert_eq!(text(&format!(r"\\server\share\{long}")), format!(r"\\?\UNC\server\share\{long}"));
        assert_eq!(text(&format!(r"\\?\C:\{long}")), format!(r"\\?\C:\{long}"));
        assert!(wide(Path::new("a\0b")).is_err());
    }
}
