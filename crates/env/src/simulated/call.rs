//! Calls to the simulated system: their kinds, counts and trace, and the plans by which they fail.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::TOO_MANY_FILES;

/// How many calls the trace remembers.
const TRACE_LENGTH: usize = 80;

/// A kind of call to the simulated system. A method of an `Env` or a file makes one call, several or (an append
/// that stays in the buffer) none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallKind {
    /// Opening a file to read.
    Open,
    /// Reading from an open file.
    Read,
    /// Creating or emptying a file, or opening it to append.
    Create,
    /// Writing to a file that is no log.
    Write,
    /// Syncing a file that is no log.
    Sync,
    /// Creating or emptying a log.
    CreateLog,
    /// Writing to a log.
    WriteLog,
    /// Cutting a log.
    TruncateLog,
    /// Syncing a log.
    SyncLog,
    /// Closing a file that was written.
    Close,
    /// Each of the five steps of [`replace_file`](crate::Env::replace_file), in order: create the temporary file,
    /// write it, sync it, rename it, sync the directory; and, after one that failed, removing the temporary file.
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
    /// Whether a call of this kind may be told that no descriptor is left.
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

/// How many calls were made, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCounts {
    counts: [u64; CallKind::ALL.len()],
}

impl CallCounts {
    /// Calls of one kind.
    pub fn of(&self, kind: CallKind) -> u64 {
        self.counts[kind as usize]
    }

    /// Calls of all kinds.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Calls that were made after `earlier` was counted.
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
    /// The call itself goes on. But before it the system has tried to write what waits, without being asked to, and the
    /// device has failed (`EIO`): see [`FaultPlan`].
    WriteBack,
    /// The process has as many files open as it may (`EMFILE`). Only of calls that [open](CallKind::opens) one.
    NoDescriptor,
}

impl Failure {
    pub(super) fn error(self) -> io::Error {
        match self {
            Self::Io | Self::WriteBack => io::Error::other("simulated input/output error"),
            Self::NoSpace => io::Error::new(io::ErrorKind::StorageFull, "simulated full device"),
            Self::NoDescriptor => io::Error::from_raw_os_error(TOO_MANY_FILES[0]),
        }
    }
}

/// Which calls fail, and how. See [`SimulatedEnv::fail_at`](super::SimulatedEnv::fail_at).
///
/// A sync that fails does what Linux does: pages that were waiting to be written are each written or dropped, by the
/// seed, and from then on count as clean. Readers still see all of them, the next sync succeeds, and a power cut
/// shows what was dropped.
///
/// The same happens to most files when the system fails to write them [by itself](Failure::WriteBack). Then the next sync
/// by each handle that was open at the time reports it, once. A handle that is opened later hears of it only if nobody else
/// has, and if the system still knows (it forgets with the file's place in memory): both by the seed.
///
/// Names are not dropped: a file system whose journal cannot be written takes no further change.
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
    /// The `call`-th call from now on fails; 1 is the next. Nothing of it is done.
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

    /// A write that fails has done a part of its work before, by the seed.
    pub fn short(mut self) -> Self {
        self.short = true;
        self
    }

    /// The calls after it fail too, until [`heal`](super::SimulatedEnv::heal).
    pub fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }

    /// The kind of the calls that fail; `None` is any.
    pub fn kind(&self) -> Option<CallKind> {
        self.kind
    }

    /// The error.
    pub fn failure(&self) -> Failure {
        self.failure
    }

    /// Whether the calls after it fail, too.
    pub fn is_lasting(&self) -> bool {
        self.lasting
    }

    fn matches(&self, kind: CallKind, path: &Path) -> bool {
        (self.failure != Failure::NoDescriptor || kind.opens())
            && self.kind.is_none_or(|wanted| wanted == kind)
            && self.path_contains.as_ref().is_none_or(|text| path.to_string_lossy().contains(text))
    }
}

/// A fault that hits the present call.
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

/// What one call is, for counts, plans and trace.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) kind: CallKind,
    /// As the trace shows it.
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
    /// Takes note of a call. An error if the machine stands still; otherwise the fault that hits the call, if any.
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

    /// Takes note of how the last call ended.
    pub(super) fn end<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        if let (Err(error), Some(last)) = (&result, self.trace.back_mut()) {
            last.error = Some(error.kind());
        }
        result
    }

    /// Puts a line of its own into the trace.
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

    /// The machine runs again.
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
