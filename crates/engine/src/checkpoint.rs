//! A consistent copy of a running database, made by hard links.
//!
//! The memtables are flushed first, so the copy needs no log. The copy is one version, whose tables never change; the
//! version is pinned while they are linked. Writers continue meanwhile, but what they write after the flush is not in
//! the copy. CURRENT is written last, so an unfinished copy is not a database.

use std::path::Path;
use std::sync::Arc;

use terrace_format::{current, file_name};

use crate::db::inner::DbInner;
use crate::error::{Error, ErrorKind, Result};

impl DbInner {
    /// See [`Db::checkpoint`](crate::Db::checkpoint).
    pub(crate) fn checkpoint(self: &Arc<Self>, target: &Path) -> Result<()> {
        let env = &*self.files.env;
        if env.exists(target)? && !env.list(target)?.is_empty() {
            let message =
                "the directory is not empty; a checkpoint needs one that is empty or does not exist";
            return Err(Error::at_path(ErrorKind::InvalidArgument, target, message));
        }
        self.writer.flush()?;
        let version = self.files.versions.current();
        let last_sequence = self.published.visible_sequence();
        env.create_directory_all(target)?;
        for file in version.levels.iter().flatten() {
            let name = file_name::table_name(file.number);
            let mut source = self.files.directory.join(&name);
            if !env.exists(&source)? {
                source = self.files.directory.join(file_name::legacy_table_name(file.number));
            }
            env.link_or_copy(&source, &target.join(&name))?;
        }
        let manifest_number = self.files.versions.new_file_number();
        self.files.versions.write_copy(&version, target, manifest_number, last_sequence)?;
        env.sync_directory(target)?;
        let temporary = target.join(file_name::temporary_name(manifest_number));
        let contents = current::encode(manifest_number);
        env.replace_file(&target.join(file_name::CURRENT), contents.as_bytes(), &temporary)?;
        if let Some(parent) = target.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            env.sync_directory(parent)?;
        }
        self.files.info_log.line(format_args!("wrote a checkpoint to {}", target.display()));
        Ok(())
    }
}
