//! What an open database may still do: whether it belongs to this process, is open, and takes writes. Every operation
//! checks this first. The state moves in one direction: open, perhaps *poisoned* (reads continue, writes are refused),
//! closed.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use terrace_env::locks::Mutex;
use terrace_env::{ProcessMark, RevocableMark};

use crate::error::{Error, ErrorKind, Result};
use crate::info_log::InfoLog;

/// The state that decides which operations are refused, and with which error.
pub(crate) struct Health {
    directory: PathBuf,
    /// The process that opened the database. A forked child has none of the background threads, and locks that another
    /// thread held at the fork stay held there for good. Every operation is therefore refused in the child, reads
    /// included, and nothing is released.
    process: ProcessMark,
    read_only: bool,
    info_log: Arc<InfoLog>,
    close_begun: AtomicBool,
    /// Revoked by the close.
    may_read: RevocableMark,
    /// Revoked by the close, by the first failure after it was noted, and from the start in a read-only database.
    may_write: RevocableMark,
    poisoned: AtomicBool,
    /// The first failure after which writes could no longer be trusted.
    failure: Mutex<Option<Error>>,
    /// Whether a call has returned that failure, or an error because of it.
    failure_reported: AtomicBool,
}

impl Health {
    /// The health of a database that this process has just opened in `directory`.
    pub(crate) fn new(directory: PathBuf, read_only: bool, info_log: Arc<InfoLog>) -> Self {
        let process = ProcessMark::here();
        let may_write = RevocableMark::new(process);
        if read_only {
            may_write.revoke();
        }
        Self {
            directory,
            process,
            read_only,
            info_log,
            close_begun: AtomicBool::new(false),
            may_read: RevocableMark::new(process),
            may_write,
            poisoned: AtomicBool::new(false),
            failure: Mutex::new(None),
            failure_reported: AtomicBool::new(false),
        }
    }

    /// The process that opened the database.
    pub(crate) fn process(&self) -> ProcessMark {
        self.process
    }

    /// Returns an error in a process that was forked from the one that opened the database.
    #[inline]
    pub(crate) fn check_process(&self) -> Result<()> {
        if self.process.is_here() { Ok(()) } else { Err(Error::forked()) }
    }

    /// Returns an error if the database is closed or belongs to another process.
    #[inline]
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.may_read.is_here() { Ok(()) } else { Err(self.why_not_open()) }
    }

    /// Returns an error if the database takes no writes.
    #[inline]
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.may_write.is_here() { Ok(()) } else { Err(self.why_not_writable()) }
    }

    /// Whether the database takes writes, for work that no call asks for: it leaves the failure to one that reports it.
    pub(crate) fn takes_writes(&self) -> bool {
        self.may_write.is_here()
    }

    #[cold]
    fn why_not_open(&self) -> Error {
        self.check_process().err().unwrap_or_else(Error::closed)
    }

    #[cold]
    fn why_not_writable(&self) -> Error {
        if let Err(error) = self.check_open() {
            return error;
        }
        if let Some(failure) = self.failure() {
            self.note_failure_reported();
            return Error::poisoned(&failure);
        }
        debug_assert!(self.read_only, "nothing else refuses writes");
        Error::at_path(ErrorKind::ReadOnly, &self.directory, "the database was opened read-only")
    }

    /// Whether writes are refused because of a failure.
    #[inline]
    pub(crate) fn is_poisoned(&self) -> bool {
        self.poisoned.load(Ordering::Acquire)
    }

    /// Refuses writes from now on because of `cause`. Only the first cause counts.
    pub(crate) fn poison(&self, cause: &Error) {
        let mut failure = self.failure.lock();
        if failure.is_none() {
            self.info_log.line(format_args!("writes are refused from now on: {cause}"));
            *failure = Some(cause.clone());
        }
        self.may_write.revoke();
        self.poisoned.store(true, Ordering::Release);
    }

    /// The failure that poisoned the database.
    pub(crate) fn failure(&self) -> Option<Error> {
        self.failure.lock().clone()
    }

    /// Notes that a call returns the failure to the program.
    pub(crate) fn note_failure_reported(&self) {
        self.failure_reported.store(true, Ordering::Release);
    }

    /// Returns the failure that poisoned the database, as `Poisoned` if a call has returned it before.
    pub(crate) fn report_failure_at_close(&self) -> Result<()> {
        let Some(failure) = self.failure() else { return Ok(()) };
        let is_known = self.failure_reported.swap(true, Ordering::AcqRel);
        Err(if is_known { Error::poisoned(&failure) } else { failure })
    }

    /// Notes that a close begins. Returns `false` if one has begun before.
    pub(crate) fn begin_close(&self) -> bool {
        !self.close_begun.swap(true, Ordering::AcqRel)
    }

    /// Refuses every operation from now on.
    pub(crate) fn mark_closed(&self) {
        self.may_read.revoke();
        self.may_write.revoke();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use terrace_env::{Env, MemoryEnv};
    use terrace_format::file_name;

    use super::*;

    fn health(read_only: bool) -> Health {
        Health::new(PathBuf::from("/db"), read_only, Arc::new(InfoLog::none(Arc::new(MemoryEnv::new()))))
    }

    fn kinds(health: &Health) -> (Option<ErrorKind>, Option<ErrorKind>) {
        let kind = |result: Result<()>| result.err().map(|error| error.kind());
        (kind(health.check_open()), kind(health.check_writable()))
    }

    #[test]
    fn an_open_database_takes_reads_and_writes_and_a_read_only_one_reads() {
        assert_eq!(kinds(&health(false)), (None, None));
        let read_only = health(true);
        assert_eq!(kinds(&read_only), (None, Some(ErrorKind::ReadOnly)));
        let error = read_only.check_writable().unwrap_err();
        assert_eq!(error.path(), Some(Path::new("/db")));
    }

    #[test]
    fn a_poisoned_database_refuses_writes_for_the_first_cause_and_goes_on_with_reads() {
        let env: Arc<dyn Env> = Arc::new(MemoryEnv::new());
        env.create_directory_all(Path::new("/db")).unwrap();
        let info_log = Arc::new(InfoLog::open(Arc::clone(&env), Path::new("/db")));
        let health = Health::new(PathBuf::from("/db"), false, info_log);
        assert!(!health.is_poisoned() && health.failure().is_none());
        health.poison(&Error::new(ErrorKind::Io, "the disk is gone"));
        health.poison(&Error::new(ErrorKind::Corruption, "something later"));
        assert_eq!(kinds(&health), (None, Some(ErrorKind::Poisoned)));
        assert!(health.check_writable().unwrap_err().to_string().contains("the disk is gone"));
        assert_eq!(health.failure().unwrap().kind(), ErrorKind::Io);
        let log = env.read_file(&Path::new("/db").join(file_name::LOG)).unwrap();
        let log = String::from_utf8(log).unwrap();
        assert_eq!(log.matches("writes are refused").count(), 1, "{log}");
    }

    #[test]
    fn a_closed_database_refuses_everything_and_closes_once() {
        let health = health(false);
        assert!(health.begin_close() && !health.begin_close());
        assert_eq!(kinds(&health), (None, None), "what came before the close is still served");
        health.poison(&Error::new(ErrorKind::Io, "too late"));
        health.mark_closed();
        assert_eq!(kinds(&health), (Some(ErrorKind::Closed), Some(ErrorKind::Closed)));
    }
}
