//! The functions that JavaScript sees. `packages/terrace/src/binding.ts` has the same names, with their types.

use crate::callback;
use crate::environment::{Environment, define};
use crate::error::Fallible;
use crate::value::{Env, Value};
use crate::{iterator, maintenance, memory, reads, writes};

/// Adds every function to `exports`.
pub fn register(env: Env, exports: Value) -> Fallible<()> {
    let data = Environment::create(env)?;
    let functions = [
        ("setHelpers", callback!(maintenance::set_helpers)),
        ("open", callback!(maintenance::open)),
        ("close", callback!(maintenance::close)),
        ("get", callback!(reads::get)),
        ("getEntry", callback!(reads::get_entry)),
        ("has", callback!(reads::has)),
        ("getMany", callback!(reads::get_many)),
        ("hasMany", callback!(reads::has_many)),
        ("put", callback!(writes::put)),
        ("del", callback!(writes::del)),
        ("write", callback!(writes::write)),
        ("writeIf", callback!(writes::write_if)),
        ("clear", callback!(writes::clear)),
        ("batch", callback!(writes::batch)),
        ("batchPut", callback!(writes::batch_put)),
        ("batchDel", callback!(writes::batch_del)),
        ("batchAppend", callback!(writes::batch_append)),
        ("batchClear", callback!(writes::batch_clear)),
        ("batchIf", callback!(writes::batch_if)),
        ("batchWrite", callback!(writes::batch_write)),
        ("batchClose", callback!(writes::batch_close)),
        ("iterator", callback!(iterator::create)),
        ("iteratorSeek", callback!(iterator::seek)),
        ("iteratorRead", callback!(iterator::read)),
        ("iteratorAbort", callback!(iterator::abort)),
        ("iteratorClose", callback!(iterator::close)),
        ("snapshot", callback!(maintenance::snapshot)),
        ("snapshotClose", callback!(maintenance::snapshot_close)),
        ("approximateSize", callback!(maintenance::approximate_size)),
        ("compactRange", callback!(maintenance::compact_range)),
        ("checkpoint", callback!(maintenance::checkpoint)),
        ("refresh", callback!(maintenance::refresh)),
        ("property", callback!(maintenance::property)),
        ("stats", callback!(maintenance::stats)),
        ("leftOutLogs", callback!(maintenance::left_out_logs)),
        ("destroy", callback!(maintenance::destroy)),
        ("repair", callback!(maintenance::repair)),
    ];
    for (name, function) in functions.into_iter().chain(memory::FUNCTIONS) {
        define(env, exports, name, function, data)?;
    }
    Ok(())
}
