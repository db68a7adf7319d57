//! The slots of a pool: which are free, and the files in the others.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::Handles;
use super::read_ahead::{Read, ReadAhead};

/// All slots of a pool. A slot is free once its file has no name, in a map that is durable, and no open handle.
#[derive(Debug)]
pub(super) struct Slots {
    handles: Arc<dyn Handles>,
    free: Mutex<Free>,
    ahead: Mutex<ReadAhead>,
}

#[derive(Debug)]
struct Free {
    /// The one that has been free for the longest time comes first.
    slots: VecDeque<usize>,
    /// Handles from this number on were opened by the host since the last look.
    known: usize,
    /// How many free slots are kept from new files.
    reserved: usize,
}

impl Free {
    fn usable(&self) -> usize {
        self.slots.len().saturating_sub(self.reserved)
    }
}

impl Slots {
    /// Of the handles that are open, those from 1 on that are not `used` are free.
    pub(super) fn new(handles: Arc<dyn Handles>, used: &BTreeSet<usize>) -> Arc<Self> {
        let known = handles.count();
        let slots: VecDeque<usize> = (1..known).filter(|slot| !used.contains(slot)).collect();
        let free = Mutex::new(Free { slots, known, reserved: 0 });
        Arc::new(Self { handles, free, ahead: Mutex::default() })
    }

    /// Empties what is free: a process may have died before it could do that. If it fails, the next file in the slot does it.
    pub(super) fn empty_free(&self) {
        for slot in &self.free.lock().slots {
            if self.handles.size_bytes(*slot).is_ok_and(|size_bytes| size_bytes > 0) {
                let _ = self.handles.truncate(*slot, 0);
            }
        }
    }

    pub(super) fn handles(&self) -> &dyn Handles {
        &*self.handles
    }

    pub(super) fn free_count(&self) -> usize {
        let mut free = self.free.lock();
        self.note_new(&mut free);
        free.usable()
    }

    /// The map's handle is none of them.
    pub(super) fn used_count(&self) -> usize {
        let free = self.free.lock();
        free.known - 1 - free.slots.len()
    }

    /// Whether fewer slots are free than are reserved.
    pub(super) fn lacks_reserve(&self) -> bool {
        let mut free = self.free.lock();
        self.note_new(&mut free);
        free.slots.len() < free.reserved
    }

    /// Keeps `count` free slots from new files.
    pub(super) fn reserve(&self, count: usize) {
        self.free.lock().reserved = count;
    }

    /// Takes a free slot for a new, empty file.
    ///
    /// It is empty durably: after a loss of power, a file never holds bytes of the file that had the slot before.
    pub(super) fn take(self: &Arc<Self>) -> io::Result<Arc<SlotFile>> {
        let mut free = self.free.lock();
        self.note_new(&mut free);
        let full = || io::Error::new(io::ErrorKind::StorageFull, "all files of the pool are in use");
        let slot = if free.usable() > 0 { free.slots.pop_front() } else { None }.ok_or_else(full)?;
        drop(free);
        // From here on the slot is given back if something fails.
        let file = self.file(slot, 0, false);
        self.handles.truncate(slot, 0)?;
        self.handles.flush(slot)?;
        Ok(file)
    }

    /// A file that has a name.
    pub(super) fn named_file(self: &Arc<Self>, slot: usize, size_bytes: u64) -> Arc<SlotFile> {
        self.file(slot, size_bytes, true)
    }

    fn file(self: &Arc<Self>, slot: usize, size_bytes: u64, is_named: bool) -> Arc<SlotFile> {
        let (is_named, size_bytes) = (is_named.into(), size_bytes.into());
        let read_end = AtomicU64::new(0);
        Arc::new(SlotFile { slot, is_named, size_bytes, read_end, slots: Arc::clone(self) })
    }

    /// Adds what the host has opened.
    fn note_new(&self, free: &mut Free) {
        let count = self.handles.count();
        free.slots.extend(free.known..count);
        free.known = count.max(free.known);
    }
}

/// A file in a slot. Its names and its handles share it.
#[derive(Debug)]
pub(super) struct SlotFile {
    slot: usize,
    /// Whether the map lists it. If not, the slot is free when the last handle is gone.
    is_named: AtomicBool,
    /// The host is queried for the size only once, when the pool is opened.
    size_bytes: AtomicU64,
    /// Where the last read has ended.
    read_end: AtomicU64,
    slots: Arc<Slots>,
}

impl SlotFile {
    pub(super) fn slot(&self) -> usize {
        self.slot
    }

    /// Notes whether the map lists it, now that this is durable.
    pub(super) fn set_named(&self, is_named: bool) {
        self.is_named.store(is_named, Ordering::Release);
    }

    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes.load(Ordering::Acquire)
    }

    /// Reads bytes. Sequential reads fetch the bytes that follow ahead of time.
    pub(super) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest_bytes = self.size_bytes().saturating_sub(offset);
        let wanted_bytes = usize::try_from(rest_bytes).unwrap_or(usize::MAX).min(buffer.len());
        if wanted_bytes == 0 {
            return Ok(0);
        }
        let last_end = self.read_end.swap(offset + wanted_bytes as u64, Ordering::Relaxed);
        let read = Read { slot: self.slot, offset, rest_bytes, follows: last_end == offset };
        let host = |offset, bytes: &mut [u8]| self.slots.handles.read_at(self.slot, offset, bytes);
        self.slots.ahead.lock().read(&read, &mut buffer[..wanted_bytes], host)
    }

    pub(super) fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let written = self.slots.handles.write_at(self.slot, offset, bytes);
        // Also after a failed write, which may have changed some bytes.
        self.slots.ahead.lock().forget(self.slot);
        written?;
        self.size_bytes.fetch_max(offset + bytes.len() as u64, Ordering::AcqRel);
        Ok(())
    }

    pub(super) fn truncate(&self, size_bytes: u64) -> io::Result<()> {
        self.slots.handles.truncate(self.slot, size_bytes)?;
        self.size_bytes.store(size_bytes, Ordering::Release);
        Ok(())
    }

    pub(super) fn flush(&self) -> io::Result<()> {
        self.slots.handles.flush(self.slot)
    }
}

impl Drop for SlotFile {
    fn drop(&mut self) {
        if *self.is_named.get_mut() {
            return;
        }
        if self.size_bytes() > 0 {
            // Gives the space back. If it fails, the next file in the slot does it.
            let _ = self.slots.handles.truncate(self.slot, 0);
        }
        self.slots.free.lock().slots.push_back(self.slot);
    }
}
