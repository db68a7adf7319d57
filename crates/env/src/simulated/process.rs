//! A process on the simulated machine, and its calls to the system, which are those that the posix environment would
//! make.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use super::call::{Call, CallKind, Failure, Fault, halted};
use super::machine::{Machine, State};
use super::names::{File, Names};
use crate::error::sync_failed;
use crate::names::normal;

/// A process. Clones are the same one.
#[derive(Clone)]
pub(super) struct Process {
    pub(super) machine: Arc<Machine>,
    /// Which life of the machine the process belongs to. It is dead once the machine has another one.
    pub(super) life: u64,
}

impl Process {
    /// Returns an error if the process is dead or the machine has stopped.
    pub(super) fn check_alive(&self) -> io::Result<()> {
        let state = self.machine.state.lock();
        if state.life == self.life && !state.calls.is_halted() { Ok(()) } else { Err(halted()) }
    }

    /// A system call that a fault prevents.
    fn call<T>(&self, call: Call<'_>, work: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        self.call_with_fault(call, |state, fault| match fault {
            Some(fault) => Err(fault.failure.error()),
            None => work(state),
        })
    }

    /// A system call that handles its fault itself.
    fn call_with_fault<T>(
        &self,
        call: Call<'_>,
        work: impl FnOnce(&mut State, Option<Fault>) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.machine.state.lock();
        self.begin(&mut state, call).and_then(|fault| {
            let result = work(&mut state, fault);
            state.calls.end(result)
        })
    }

    fn begin(&self, state: &mut State, call: Call<'_>) -> io::Result<Option<Fault>> {
        if state.life != self.life {
            return Err(halted());
        }
        let mut fault = state.calls.begin(call)?;
        if fault.take_if(|fault| fault.failure == Failure::WriteBack).is_some() {
            state.fail_write_back();
        }
        Ok(fault)
    }

    pub(super) fn open(&self, path: &Path) -> io::Result<File> {
        self.call(Call::new(CallKind::Open, "open", path), |state| state.names.file(&normal(path)))
    }

    /// Opens a file to write; creates it if missing, or empties it if `empties`.
    pub(super) fn create(&self, call: Call<'_>, empties: bool) -> io::Result<File> {
        self.call(call, |state| {
            let file = state.names.create(&normal(call.path))?;
            if empties {
                file.lock().truncate(0);
            }
            Ok(file)
        })
    }

    /// Opens a log to write; creates it if missing, or empties it.
    pub(super) fn create_log(&self, path: &Path) -> io::Result<File> {
        let file = self.create(Call::new(CallKind::CreateLog, "create log", path), true)?;
        file.lock().begin_log();
        Ok(file)
    }

    /// Writes everything, or a part and returns an error.
    pub(super) fn write(&self, call: Call<'_>, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_log(call, file, offset, bytes, None)
    }

    /// Like [`write`](Self::write); at offset `header` in `bytes` a header begins that a mapped log would store last.
    pub(super) fn write_log(
        &self,
        call: Call<'_>,
        file: &File,
        offset: u64,
        bytes: &[u8],
        header: Option<usize>,
    ) -> io::Result<()> {
        let mut state = self.machine.state.lock();
        let has_stopped = state.calls.is_halted();
        let place = usize::try_from(offset).map_err(|_| ErrorKind::FileTooLarge)?;
        let fault = self.begin(&mut state, call.at(offset, bytes.len())).inspect_err(|_| {
            if !has_stopped && state.calls.is_halted() {
                file.lock().note_underway(place, bytes, header);
            }
        })?;
        let result = write_part(&mut state, fault, file, place, bytes, header);
        state.calls.end(result)
    }

    pub(super) fn truncate_log(&self, path: &Path, file: &File, size_bytes: u64) -> io::Result<()> {
        let call = Call::new(CallKind::TruncateLog, "truncate log", path).at(size_bytes, 0);
        self.call(call, |_| {
            file.lock().truncate(usize::try_from(size_bytes).unwrap_or(usize::MAX));
            Ok(())
        })
    }

    /// How many failures to write `file` will never be reported to a handle opened now.
    pub(super) fn failures_at_open(&self, file: &File) -> u64 {
        let mut state = self.machine.state.lock();
        file.lock().failures_at_open(&mut state.random)
    }

    /// Syncs `file` through a handle that knows of `known_failures` failures to write it.
    pub(super) fn sync(&self, call: Call<'_>, file: &File, known_failures: &mut u64) -> io::Result<()> {
        self.call_with_fault(call, |state, fault| match fault {
            Some(fault) => {
                let mut contents = file.lock();
                contents.fail_write_back(&mut state.random);
                contents.report_failure(known_failures);
                Err(sync_failed(fault.failure.error()))
            }
            None => {
                state.names.sync_file(self.machine.mode, file);
                let mut contents = file.lock();
                contents.sync();
                if contents.report_failure(known_failures) {
                    return Err(Failure::WriteBack.error());
                }
                Ok(())
            }
        })
    }

    pub(super) fn close(&self, path: &Path) -> io::Result<()> {
        self.call(Call::new(CallKind::Close, "close", path), |_| Ok(()))
    }

    pub(super) fn read(&self, path: &Path, file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.call(Call::new(CallKind::Read, "read", path).at(offset, buffer.len()), |_| {
            let contents = file.lock();
            let start = usize::try_from(offset).ok();
            let rest = start.and_then(|start| contents.bytes().get(start..)).unwrap_or_default();
            let count = rest.len().min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            Ok(count)
        })
    }

    pub(super) fn size_of(&self, path: &Path, file: &File) -> io::Result<u64> {
        let call = Call::new(CallKind::Look, "get the size of", path);
        self.call(call, |_| Ok(file.lock().bytes().len() as u64))
    }

    /// A call that reads or changes names.
    pub(super) fn on_names<T>(
        &self,
        call: Call<'_>,
        work: impl FnOnce(&mut Names) -> io::Result<T>,
    ) -> io::Result<T> {
        self.call(call, |state| work(&mut state.names))
    }

    pub(super) fn sync_directory(&self, call: Call<'_>) -> io::Result<()> {
        let mode = self.machine.mode;
        self.call_with_fault(call, |state, fault| match fault.map(|fault| fault.failure) {
            // To sync a directory, the system has to open it.
            Some(failure @ (Failure::NoDescriptor | Failure::Other(ErrorKind::PermissionDenied))) => {
                Err(failure.error())
            }
            Some(failure) => Err(sync_failed(failure.error())),
            None => state.names.sync_directory(mode, &normal(call.path)),
        })
    }

    /// Locks the file at `path`, creating it if missing. `None` if it is locked.
    pub(super) fn lock(&self, path: &Path) -> io::Result<Option<File>> {
        self.call(Call::new(CallKind::Lock, "lock", path), |state| {
            let file = state.names.create(&normal(path))?;
            if state.locked.iter().any(|other| Arc::ptr_eq(other, &file)) {
                return Ok(None);
            }
            state.locked.push(Arc::clone(&file));
            Ok(Some(file))
        })
    }

    /// Releases a lock. This is not a call: it cannot fail, and a dead process has no locks.
    pub(super) fn unlock(&self, file: &File) {
        let mut state = self.machine.state.lock();
        if state.life == self.life {
            state.locked.retain(|other| !Arc::ptr_eq(other, file));
        }
    }
}

/// Writes as much of `bytes` as the fault and the room allow.
fn write_part(
    state: &mut State,
    fault: Option<Fault>,
    file: &File,
    offset: usize,
    bytes: &[u8],
    header: Option<usize>,
) -> io::Result<()> {
    let (done, failure) = match fault {
        Some(Fault { failure, short: true }) => (state.random.below(bytes.len()), Some(failure)),
        Some(Fault { failure, short: false }) => (0, Some(failure)),
        None => (bytes.len(), None),
    };
    let growth = (offset + done).saturating_sub(file.lock().bytes().len());
    let room = state.room_bytes(growth);
    let written = &bytes[..done - (growth - room)];
    // A writer that stores into memory has room for everything.
    let stored = header.filter(|_| written.len() == bytes.len());
    file.lock().write_log(offset, written, stored);
    if written.len() < bytes.len() {
        file.lock().note_cut_write(offset + written.len(), header.is_some());
    }
    match failure {
        Some(failure) => Err(failure.error()),
        None if room < growth => Err(Failure::NoSpace.error()),
        None => Ok(()),
    }
}
