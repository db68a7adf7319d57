//! The functions for databases in memory that JavaScript sees, and those of them that concern a database as a whole.

use std::cell::RefCell;

use super::state::{HeldMemory, HeldMemorySnapshot};
use super::{cursor, reads, writes};
use crate::call::Call;
use crate::callback;
use crate::environment::Function;
use crate::error::Fallible;
use crate::external;
use crate::maintenance::numbers;
use crate::value::Value;

/// The functions by name.
pub const FUNCTIONS: [(&str, Function); 26] = [
    ("memory", callback!(create)),
    ("memoryLimit", callback!(limit)),
    ("memoryStats", callback!(stats)),
    ("memorySize", callback!(size)),
    ("memorySnapshot", callback!(snapshot)),
    ("memorySnapshotClose", callback!(snapshot_close)),
    ("memoryGet", callback!(reads::get)),
    ("memoryHas", callback!(reads::has)),
    ("memoryGetMany", callback!(reads::get_many)),
    ("memoryHasMany", callback!(reads::has_many)),
    ("memoryPut", callback!(writes::put)),
    ("memoryDel", callback!(writes::del)),
    ("memoryWrite", callback!(writes::write)),
    ("memoryWriteIf", callback!(writes::write_if)),
    ("memoryClear", callback!(writes::clear)),
    ("memoryBatch", callback!(writes::batch)),
    ("memoryBatchPut", callback!(writes::batch_put)),
    ("memoryBatchDel", callback!(writes::batch_del)),
    ("memoryBatchAppend", callback!(writes::batch_append)),
    ("memoryBatchClear", callback!(writes::batch_clear)),
    ("memoryBatchIf", callback!(writes::batch_if)),
    ("memoryBatchWrite", callback!(writes::batch_write)),
    ("memoryIterator", callback!(cursor::create)),
    ("memoryIteratorSeek", callback!(cursor::seek)),
    ("memoryIteratorRead", callback!(cursor::read)),
    ("memoryIteratorClose", callback!(cursor::close)),
];

/// `memory()`: an empty database.
fn create(call: &Call<'_>) -> Fallible<Value> {
    external::hold(call.env, HeldMemory::new())
}

/// `memoryLimit(memory, limitBytes)`: sets the most that its entries may count.
fn limit(call: &Call<'_>) -> Fallible<Value> {
    // Infinity becomes the largest number.
    let limit = call.env.get_f64(call.argument(1))?.max(0.0) as usize;
    call.held::<HeldMemory>(0)?.limit_bytes.set(limit);
    call.env.undefined()
}

/// `memoryStats(memory)`: an object of numbers.
fn stats(call: &Call<'_>) -> Fallible<Value> {
    let map = call.held::<HeldMemory>(0)?.map.borrow();
    numbers(call.env, &[(c"entries", map.len() as f64), (c"sizeBytes", map.size_bytes() as f64)])
}

/// `memorySize(memory, start, end)`: what the entries from `start` up to, but not including, `end` count.
fn size(call: &Call<'_>) -> Fallible<Value> {
    let held = call.held::<HeldMemory>(0)?;
    let (mut start, mut end) = (Vec::new(), Vec::new());
    call.env.append_bytes(call.argument(1), &mut start)?;
    call.env.append_bytes(call.argument(2), &mut end)?;
    let size = held.map.borrow().range_size_bytes(&start, &end);
    call.env.number(size as f64)
}

/// `memorySnapshot(memory)`
fn snapshot(call: &Call<'_>) -> Fallible<Value> {
    let map = call.held::<HeldMemory>(0)?.map.borrow().clone();
    external::hold(call.env, HeldMemorySnapshot(RefCell::new(Some(map))))
}

/// `memorySnapshotClose(snapshot)`: releases what only it shows.
fn snapshot_close(call: &Call<'_>) -> Fallible<Value> {
    call.held::<HeldMemorySnapshot>(0)?.0.borrow_mut().take();
    call.env.undefined()
}
