//! Copies of a database's directory as a killed writer left it.

use std::fs;
use std::io;
use std::path::Path;

/// Copies a directory without its subdirectories. Tables are hard-linked: a finished table never changes, and opening
/// the copy removes an unfinished one.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.path().extension().is_some_and(|extension| extension == "ldb") {
            // Linking fails if the copy is on another file system.
            fs::hard_link(entry.path(), &target).or_else(|_| fs::copy(entry.path(), &target).map(drop))?;
        } else if entry.file_type()?.is_file() {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Whether the directory holds a database, which its writer finished creating.
pub(super) fn holds_database(directory: &Path) -> bool {
    directory.join("CURRENT").exists()
}
