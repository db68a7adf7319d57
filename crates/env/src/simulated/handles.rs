//! The files of a pool on a simulated machine.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use parking_lot::Mutex;

use super::Mode;
use super::contents::{Contents, Cut};
use super::random::Random;
use crate::pooled::Handles;

/// Open files on a machine that loses power and whose calls fail, as a seed decides. `contents` defines what survives.
///
/// A process lives until [`cut_power`](Self::cut_power) or [`kill_process`](Self::kill_process). The value on which the
/// test called that lives on as the next process. For clones made before, every call fails and changes nothing.
#[derive(Debug, Clone)]
pub struct SimulatedHandles {
    machine: Arc<Mutex<Machine>>,
    life: u64,
}

#[derive(Debug)]
struct Machine {
    life: u64,
    random: Random,
    files: Vec<Contents>,
    /// Calls that change a file or make it durable, so far.
    calls: u64,
    /// The number of the first such call that fails, and whether all later ones do too.
    failure: Option<(u64, bool)>,
}

impl SimulatedHandles {
    /// Makes a machine with so many empty files.
    pub fn new(seed: u64, count: usize) -> Self {
        let machine = Machine {
            life: 0,
            random: Random::new(seed),
            files: vec![Contents::default(); count],
            calls: 0,
            failure: None,
        };
        Self { machine: Arc::new(Mutex::new(machine)), life: 0 }
    }

    /// Opens more files, which are empty.
    pub fn grow(&self, count: usize) {
        let mut machine = self.machine.lock();
        let grown = machine.files.len() + count;
        machine.files.resize(grown, Contents::default());
    }

    /// Number of calls so far that change a file or make it durable.
    pub fn calls(&self) -> u64 {
        self.machine.lock().calls
    }

    /// Lets `calls` more calls that change a file or make it durable succeed, and the next one fail.
    pub fn fail_after(&self, calls: u64) {
        let mut machine = self.machine.lock();
        machine.failure = Some((machine.calls + calls, false));
    }

    /// As [`fail_after`](Self::fail_after), for a machine that stops: no call succeeds after that.
    pub fn halt_after(&self, calls: u64) {
        let mut machine = self.machine.lock();
        machine.failure = Some((machine.calls + calls, true));
    }

    /// Cuts the power: any of what was not flushed is lost.
    pub fn cut_power(&mut self) {
        let mut machine = self.machine.lock();
        let Machine { random, files, .. } = &mut *machine;
        let cut = Cut::draw(Mode::StrictPosix, false, random);
        files.iter_mut().for_each(|file| *file = file.after_power_cut(cut, random).0);
        self.life = machine.begin_life();
    }

    /// Ends the process. The machine keeps what it wrote.
    pub fn kill_process(&mut self) {
        self.life = self.machine.lock().begin_life();
    }

    /// Changes a byte of a file, as a device does that fails.
    ///
    /// # Panics
    ///
    /// If the file has no such byte.
    pub fn damage(&self, handle: usize, offset: u64) {
        let mut machine = self.machine.lock();
        let file = &mut machine.files[handle];
        let byte = !file.bytes()[offset as usize];
        file.write(offset as usize, &[byte]);
        file.sync();
    }

    fn with_file<T>(&self, handle: usize, call: impl FnOnce(&Contents) -> T) -> io::Result<T> {
        let machine = self.machine.lock();
        machine.check_life(self.life)?;
        Ok(call(&machine.files[handle]))
    }

    /// Makes a call that changes a file. It gets the machine's dice if it is to fail.
    fn change(&self, handle: usize, call: impl FnOnce(&mut Contents, Option<&mut Random>)) -> io::Result<()> {
        let mut machine = self.machine.lock();
        machine.check_life(self.life)?;
        let number = machine.calls;
        machine.calls += 1;
        let fails = match machine.failure {
            Some((at, false)) => number == at,
            Some((at, true)) => number >= at,
            None => false,
        };
        // Of a machine that has stopped, only the call during which it stopped has any effect.
        let has_stopped = matches!(machine.failure, Some((at, true)) if number > at);
        if !has_stopped {
            let Machine { files, random, .. } = &mut *machine;
            call(&mut files[handle], fails.then_some(random));
        }
        if fails { Err(io::Error::other("the simulated call fails")) } else { Ok(()) }
    }
}

impl Machine {
    fn begin_life(&mut self) -> u64 {
        self.life += 1;
        self.failure = None;
        self.life
    }

    fn check_life(&self, life: u64) -> io::Result<()> {
        if life == self.life { Ok(()) } else { Err(ErrorKind::BrokenPipe.into()) }
    }
}

impl Handles for SimulatedHandles {
    fn count(&self) -> usize {
        self.machine.lock().files.len()
    }

    fn read_at(&self, handle: usize, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.with_file(handle, |file| {
            let rest = usize::try_from(offset).ok().and_then(|start| file.bytes().get(start..));
            let rest = rest.unwrap_or_default();
            let read_bytes = rest.len().min(buffer.len());
            buffer[..read_bytes].copy_from_slice(&rest[..read_bytes]);
            read_bytes
        })
    }

    fn write_at(&self, handle: usize, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.change(handle, |file, failure| {
            let written_bytes = failure.map_or(bytes.len(), |random| random.below(bytes.len() + 1));
            file.write(offset as usize, &bytes[..written_bytes]);
        })
    }

    fn truncate(&self, handle: usize, size_bytes: u64) -> io::Result<()> {
        self.change(handle, |file, failure| {
            if failure.is_none() {
                file.truncate(size_bytes as usize);
            }
        })
    }

    fn flush(&self, handle: usize) -> io::Result<()> {
        self.change(handle, |file, failure| match failure {
            None => file.sync(),
            Some(random) => file.fail_write_back(random),
        })
    }

    fn size_bytes(&self, handle: usize) -> io::Result<u64> {
        self.with_file(handle, |file| file.bytes().len() as u64)
    }
}
