//! `terrace-memory` as a WebAssembly module, `terrace-memory.wasm`, for `MemoryLevel` in browsers. An instance holds
//! one database, in its own memory. `packages/terrace/src/browser/wasm/engine.ts` types every function exported here.
//!
//! `terrace-wasm-abi` defines how arguments, results and failures are passed.

mod database;
mod iterator;

use database::with_database;
use terrace_wasm_abi as abi;
use terrace_wasm_abi::{NOT_FOUND, answer, report};

/// Returns room for the bytes of arguments: at least `size_bytes`, up to the next call of this function.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_input(size_bytes: u32) -> *mut u8 {
    abi::input(size_bytes as usize)
}

/// Where the output is.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_output() -> *const u8 {
    abi::output()
}

/// The length of the output, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_output_length() -> u32 {
    abi::output_length()
}

/// Sets the most that the entries may count, in bytes; 2^32 − 1 is no limit. Call it before all others. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_limit(limit_bytes: u32) -> i32 {
    abi::report_to_host();
    with_database(|database| database.set_limit(limit_bytes));
    0
}

/// Looks up the key of `key_length` bytes, in a snapshot unless `snapshot` is 0. Returns 0, and the value as output; or
/// [`NOT_FOUND`].
#[unsafe(no_mangle)]
pub extern "C" fn terrace_get(snapshot: u32, key_length: u32) -> i32 {
    let found = with_database(|database| {
        answer(|input, output| match database.state(snapshot)?.get(&input[..key_length as usize]) {
            Some(value) => {
                output.extend_from_slice(value);
                Ok(0)
            }
            None => Ok(NOT_FOUND),
        })
    });
    report(found)
}

/// Writes a batch in LevelDB's form, which has `length` bytes. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_write(length: u32) -> i32 {
    let written = with_database(|database| answer(|input, _| database.write(&input[..length as usize])));
    report(written.map(|()| 0))
}

/// Writes as [`terrace_write`] does, if all conditions hold. The input has the [conditions](abi::conditions), then the batch. Returns the
/// number of those that do not hold, and as output their indices, 4 bytes each.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_write_if(conditions_length: u32, batch_length: u32) -> i32 {
    let written = with_database(|database| {
        answer(|input, output| {
            let (conditions, rest) = input.split_at(conditions_length as usize);
            let failed = database.write_if(conditions, &rest[..batch_length as usize])?;
            Ok(abi::report_failed(&failed, output))
        })
    });
    report(written)
}

/// Keeps the current state. Returns the number of the snapshot.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_snapshot() -> i32 {
    with_database(|database| database.snapshot())
}

/// Releases a snapshot. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_snapshot_release(snapshot: u32) -> i32 {
    with_database(|database| database.release_snapshot(snapshot));
    0
}

/// Makes an iterator over the current state, or over that of a snapshot. The input has the lower and the upper bound; the length of a
/// bound that is missing is [`NONE`](abi::NONE). `flags`: see [`RangeFlags`](abi::RangeFlags). Returns the number of the iterator.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_iterator(snapshot: u32, flags: u32, lower_length: u32, upper_length: u32) -> i32 {
    let made = with_database(|database| {
        answer(|input, _| database.iterator(input, snapshot, flags, lower_length, upper_length))
    });
    report(made)
}

/// Moves an iterator to the first key that is not before the target, in its direction. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_iterator_seek(iterator: u32, target_length: u32) -> i32 {
    let moved = with_database(|database| {
        answer(|input, _| {
            database.iterator_at(iterator)?.seek(&input[..target_length as usize]);
            Ok(0)
        })
    });
    report(moved)
}

/// Reads up to `entries` entries, and stops earlier once they exceed `high_water_mark_bytes`. Returns 1 if the end was reached,
/// otherwise 0. For the output see [`Page`](abi::Page).
#[unsafe(no_mangle)]
pub extern "C" fn terrace_iterator_read(iterator: u32, entries: u32, high_water_mark_bytes: u32) -> i32 {
    let read = with_database(|database| {
        answer(|_, output| {
            let iterator = database.iterator_at(iterator)?;
            Ok(iterator.read(entries as usize, high_water_mark_bytes as usize, output).into())
        })
    });
    report(read)
}

/// Releases an iterator. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_iterator_release(iterator: u32) -> i32 {
    with_database(|database| database.release_iterator(iterator));
    0
}

/// The number of entries.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_entries() -> u32 {
    with_database(|database| database.map().len() as u32)
}

/// What all entries count, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_size() -> u32 {
    with_database(|database| database.map().size_bytes() as u32)
}

/// What the entries from the first key up to, but not including, the second one count, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_range_size(start_length: u32, end_length: u32) -> u32 {
    with_database(|database| {
        abi::with_input(|input| {
            let (start, rest) = input.split_at(start_length as usize);
            database.map().range_size_bytes(start, &rest[..end_length as usize]) as u32
        })
    })
}
