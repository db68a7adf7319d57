//! Words of commands that the user may copy into a shell.

use std::path::Path;

/// The path as one word of a command line: of a POSIX shell, and on Windows of cmd and PowerShell. It never begins with a dash, so
/// that no program takes it for an option.
pub(crate) fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let text = if text.starts_with('-') { format!("./{text}") } else { text };
    let plain = if cfg!(windows) { "\\/._-+=:" } else { "/._-+=:,@%" };
    if !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || plain.contains(c)) {
        return text;
    }
    // No path has a double quote on Windows.
    if cfg!(windows) { format!("\"{text}\"") } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_reads_the_path_as_one_word() {
        for path in
            ["db", "/a/b-c_1.2", "my db", "it's", "$HOME", "a;b", "*", "`x`", "a\nb", "\"", "-rf", "ü", "~"]
        {
            let word = shell_word(Path::new(path));
            if cfg!(unix) {
                let output = Command::new("sh").args(["-c", &format!("printf %s {word}")]).output().unwrap();
                let read = String::from_utf8(output.stdout).unwrap();
                assert_eq!(read.strip_prefix("./").unwrap_or(&read), path, "{word}");
            }
            assert!(!word.starts_with('-'), "{word}");
        }
        assert_eq!(shell_word(Path::new("/a/b-c_1.2")), "/a/b-c_1.2");
        assert_eq!(shell_word(Path::new("my db")), if cfg!(windows) { "\"my db\"" } else { "'my db'" });
        assert_eq!(shell_word(Path::new(r"C:\a\b")), if cfg!(windows) { r"C:\a\b" } else { r"'C:\a\b'" });
    }
}
