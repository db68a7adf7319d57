//! Calls to the simulated system: their kinds, counts and trace, and the plans that make them fail.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::TOO_MANY_FILES;

/// Number of calls that the trace keeps.
const TRACE_LENGTH: usize = 80;

/// A kind of call to the simulated system. A method of an `Env` or a file makes one call, several or (an append that
/// stays in the buffer) none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// Opening a file to read.
    Open,
    /// Reading from an open file.
    Read,
    /// Creating or emptying a file, or opening it to append.
    Create,
    /// Writing to a file that is not a log.
    Write,
    /// Syncing a file that is not a log.
    Sync,
    /// Creating or emptying a log.
    CreateLog,
    /// Writing to a log.
    WriteLog,
    /// Truncating a log.
    TruncateLog,
    /// Syncing a log.
    SyncLog,
    /// Closing a file that was written.
    Close,
    /// Each of the five steps of [`replace_file`](crate::Env::replace_file), in order: creating the temporary file,
    /// writing it, syncing it, renaming it, syncing the directory; after a failed step also removing the temporary
    /// file.
    Replace,
    /// Renaming a file.
    Rename,
    /// Linking a file to a second name.
    Link,
    /// Removing a file.
    Remove,
    /// Asking whether a name exists, or for a size.
    Look,
    /// Listing a directory.
    List,
    /// Creating a directory and syncing the one above it: two calls.
    CreateDirectory,
    /// Removing a directory.
    RemoveDirectory,
    /// Opening a directory, to hold it or to sync one that is not held.
    OpenDirectory,
    /// Syncing a directory.
    SyncDirectory,
    /// Taking the lock.
    Lock,
}

impl CallKind {
    /// Whether a call of this kind can fail for lack of a descriptor.
    pub fn opens(self) -> bool {
        use CallKind::{Create, CreateLog, List, Lock, Open, OpenDirectory};
        matches!(self, Open | Create | CreateLog | List | OpenDirectory | Lock)
    }

    /// Every kind.
    pub const ALL: [Self; 21] = [
        Self::Open,
        Self::Read,
        Self::Create,
        Self::Write,
        Self::Sync,
        Self::CreateLog,
        Self::WriteLog,
        Self::TruncateLog,
        Self::SyncLog,
        Self::Close,
        Self::Replace,
        Self::Rename,
        Self::Link,
        Self::Remove,
        Self::Look,
        Self::List,
        Self::CreateDirectory,
        Self::RemoveDirectory,
        Self::OpenDirectory,
        Self::SyncDirectory,
        Self::Lock,
    ];
}

/// Number of calls of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCounts {
    counts: [u64; CallKind::ALL.len()],
}

impl CallCounts {
    /// Number of calls of one kind.
    pub fn of(&self, kind: CallKind) -> u64 {
        self.counts[kind as usize]
    }

    /// Number of calls of all kinds.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Calls made after `earlier` was taken.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut counts = self.counts;
        counts.iter_mut().zip(earlier.counts).for_each(|(count, before)| *count -= before);
        Self { counts }
    }

    fn add(&mut self, kind: CallKind) {
        self.counts[kind as usize] += 1;
    }
}

/// The error of a call that fails by plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The device fails (`EIO`).
    Io,
    /// The device is full (`ENOSPC`).
    NoSpace,
    /// The call itself proceeds. Before it, however, the system has tried on its own to write what waits, and the
    /// device has failed (`EIO`): see [`FaultPlan`].
    WriteBack,
    /// The process has reached its limit of open files (`EMFILE`). Only for calls that [open](CallKind::opens) one.
    NoDescriptor,
    /// Any other error of the system, such as one of [`OTHERS`](Self::OTHERS).
    Other(io::ErrorKind),
}

impl Failure {
    /// Errors that tempt a caller to conclude more than that the call failed.
    pub const OTHERS: [Self; 9] = [
        Self::Other(io::ErrorKind::QuotaExceeded),
        Self::Other(io::ErrorKind::ReadOnlyFilesystem),
        Self::Other(io::ErrorKind::PermissionDenied),
        Self::Other(io::ErrorKind::OutOfMemory),
        Self::Other(io::ErrorKind::InvalidInput),
        Self::Other(io::ErrorKind::TimedOut),
        Self::Other(io::ErrorKind::ResourceBusy),
        Self::Other(io::ErrorKind::StaleNetworkFileHandle),
        Self::Other(io::ErrorKind::Unsupported),
    ];

    pub(super) fn error(self) -> io::Error {
        match self {
            Self::Io | Self::WriteBack => io::Error::other("simulated input/output error"),
            Self::NoSpace => io::Error::new(io::ErrorKind::StorageFull, "simulated full device"),
            Self::NoDescriptor => io::Error::from_raw_os_error(TOO_MANY_FILES[0]),
            Self::Other(kind) => kind.into(),
        }
    }
}

/// Which calls fail, and how. See [`SimulatedEnv::fail_at`](super::SimulatedEnv::fail_at).
///
/// A failing sync does what Linux does: pages that were waiting are each written or dropped, by the seed, and count
/// as clean from then on. Readers still see all of them, the next sync succeeds, and a power cut shows which were
/// dropped. Half of the time, what is written later to a dropped page that the disk never held is lost as well, as on ext4.
///
/// The same happens to most files when the system fails to write them [in the background](Failure::WriteBack). The next
/// sync by each handle that was open at the time then reports it, once. A handle opened later learns of it only if no
/// other handle has, and if the system still knows (it forgets when the file leaves memory); the seed decides both.
///
/// Names are not dropped: a file system that cannot write its journal accepts no further change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultPlan {
    call: u64,
    kind: Option<CallKind>,
    path_contains: Option<String>,
    failure: Failure,
    short: bool,
    lasting: bool,
}

impl FaultPlan {
    /// The `call`-th call from now on fails, where 1 is the next; it has no effect.
    pub fn new(call: u64, failure: Failure) -> Self {
        Self { call, kind: None, path_contains: None, failure, short: false, lasting: false }
    }

    /// Counts only calls of this kind.
    pub fn of(mut self, kind: CallKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Counts only calls on paths that contain `text`.
    pub fn on(mut self, text: &str) -> Self {
        self.path_contains = Some(text.to_owned());
        self
    }

    /// A failing write first does part of its work, by the seed.
    pub fn short(mut self) -> Self {
        self.short = true;
        self
    }

    /// Later calls fail too, until [`heal`](super::SimulatedEnv::heal).
    pub fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }

    /// The kind of the calls that fail; `None` means any.
    pub fn kind(&self) -> Option<CallKind> {
        self.kind
    }

    /// The error of the calls.
    pub fn failure(&self) -> Failure {
        self.failure
    }

    /// Whether later calls fail too.
    pub fn is_lasting(&self) -> bool {
        self.lasting
    }

    fn matches(&self, kind: CallKind, path: &Path) -> bool {
        (self.failure != Failure::NoDescriptor || kind.opens())
            && self.kind.is_none_or(|wanted| wanted == kind)
            && self.path_contains.as_ref().is_none_or(|text| path.to_string_lossy().contains(text))
    }
}

/// A fault that hits the current call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fault {
    pub(super) failure: Failure,
    pub(super) short: bool,
}

#[derive(Debug)]
struct ActivePlan {
    plan: FaultPlan,
    seen: u64,
}

/// One call, as the trace shows it.
#[derive(Debug, Clone)]
struct Traced {
    number: u64,
    step: &'static str,
    path: PathBuf,
    /// Offset and length, for reads and writes.
    range: Option<(u64, usize)>,
    error: Option<io::ErrorKind>,
}

impl fmt::Display for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:6} {} {}", self.number, self.step, self.path.display())?;
        if let Some((offset, length)) = self.range {
            write!(f, " [{offset}, +{length}]")?;
        }
        match self.error {
            Some(kind) => write!(f, " FAILED: {kind}"),
            None => Ok(()),
        }
    }
}

/// One call, described for counts, plans and trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) kind: CallKind,
    /// Its name in the trace.
    pub(super) step: &'static str,
    pub(super) path: &'a Path,
    pub(super) range: Option<(u64, usize)>,
}

impl<'a> Call<'a> {
    pub(super) fn new(kind: CallKind, step: &'static str, path: &'a Path) -> Self {
        Self { kind, step, path, range: None }
    }

    pub(super) fn at(self, offset: u64, length: usize) -> Self {
        Self { range: Some((offset, length)), ..self }
    }
}

/// Counts, plans and trace of all calls so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    counts: CallCounts,
    number: u64,
    plans: Vec<ActivePlan>,
    /// Whether a call of this process failed by plan.
    has_failed: bool,
    /// The number of the call at which the machine stops.
    halts_at: Option<u64>,
    halted: bool,
    trace: VecDeque<Traced>,
}

impl Calls {
    /// Records a call. Returns an error if the machine has stopped; otherwise the fault that hits the call, if any.
    pub(super) fn begin(&mut self, call: Call<'_>) -> io::Result<Option<Fault>> {
        if self.halts_at.is_some_and(|halts_at| self.number + 1 >= halts_at) {
            self.halted = true;
        }
        if self.halted {
            return Err(halted());
        }
        self.number += 1;
        self.counts.add(call.kind);
        if self.trace.len() == TRACE_LENGTH {
            self.trace.pop_front();
        }
        let Call { step, path, range, .. } = call;
        self.trace.push_back(Traced { number: self.number, step, path: path.to_owned(), range, error: None });
        let mut fault = None;
        for active in &mut self.plans {
            let ActivePlan { plan, seen } = active;
            if plan.matches(call.kind, path) {
                *seen += 1;
                if *seen == plan.call || (plan.lasting && *seen > plan.call) {
                    fault = Some(Fault { failure: plan.failure, short: plan.short });
                }
            }
        }
        self.has_failed |= fault.is_some();
        self.plans.retain(|active| active.plan.lasting || active.seen < active.plan.call);
        Ok(fault)
    }

    /// Records how the last call ended.
    pub(super) fn end<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let (Err(error), Some(last)) = (&result, self.trace.back_mut()) {
            last.error = Some(error.kind());
        }
        result
    }

    /// Adds a separate line to the trace.
    pub(super) fn remark(&mut self, step: &'static str) {
        if self.trace.len() == TRACE_LENGTH {
            self.trace.pop_front();
        }
        let number = self.number;
        self.trace.push_back(Traced { number, step, path: PathBuf::new(), range: None, error: None });
    }

    pub(super) fn counts(&self) -> CallCounts {
        self.counts
    }

    pub(super) fn add_plan(&mut self, plan: FaultPlan) {
        self.plans.push(ActivePlan { plan, seen: 0 });
    }

    pub(super) fn clear_plans(&mut self) {
        self.plans.clear();
    }

    pub(super) fn has_failed(&self) -> bool {
        self.has_failed
    }

    pub(super) fn halt_after(&mut self, calls: u64) {
        self.halts_at = Some(self.number.saturating_add(calls).saturating_add(1));
    }

    pub(super) fn is_halted(&self) -> bool {
        self.halted
    }

    /// Makes the machine run again.
    pub(super) fn restart(&mut self, remark: &'static str) {
        self.halted = false;
        self.has_failed = false;
        self.halts_at = None;
        self.remark(remark);
    }

    pub(super) fn trace(&self) -> String {
        self.trace.iter().map(|call| format!("{call}\n")).collect()
    }
}

/// The error of every call after the machine has stopped.
pub(super) fn halted() -> io::Error {
    io::Error::other("the simulated machine has stopped")
}
