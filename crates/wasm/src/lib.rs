//! The engine as a WebAssembly module, `terrace.wasm`, for browsers. An instance holds one database, on files that the
//! host has opened. `packages/terrace/src/browser/wasm/engine.ts` types the functions exported here; `viewer` uses
//! those of a directory.
//!
//! `terrace-wasm-abi` defines how arguments, results and failures are passed. [`host_files`] has the functions that the module imports.
//!
//! With the feature `directory`, it is the module of the viewer: `given_directory` defines the functions that it
//! exports in addition.
//!
//! There are no threads. Flushes and compactions run within [`terrace_step`], or within the writes that make them necessary.

mod database;
mod export;
mod failures;
#[cfg(feature = "directory")]
mod given_directory;
mod host_files;
mod import;
mod import_calls;
mod iterator;
mod repair;
mod writes;

use database::{Opening, with_database};
use terrace_wasm_abi as abi;
use terrace_wasm_abi::{NOT_FOUND, Outcome, answer, report};

/// Flags of [`terrace_open`].
const CREATE_IF_MISSING: u32 = 1;
const ERROR_IF_EXISTS: u32 = 2;

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

/// Whether the host should open more files before it calls [`terrace_open`], which may fail for want of them. Returns 1 or 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_open_wants_files() -> i32 {
    abi::report_to_host();
    report(database::wants_files().map(i32::from))
}

/// Opens the database on the files that are open; if all are empty, it is new. Flags: 1 creates it if it is missing, with 2 it is an error
/// if it exists. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_open(flags: u32, write_buffer_size_bytes: u32, block_cache_size_bytes: u32) -> i32 {
    abi::report_to_host();
    let opening = Opening {
        create_if_missing: flags & CREATE_IF_MISSING != 0,
        error_if_exists: flags & ERROR_IF_EXISTS != 0,
        write_buffer_size_bytes: write_buffer_size_bytes as usize,
        block_cache_size_bytes: block_cache_size_bytes as usize,
    };
    report(database::open(opening).map(|()| 0))
}

/// Closes the database, and releases all snapshots and iterators. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_close() -> i32 {
    report(database::close().map(|()| 0))
}

/// Looks up the key of `key_length` bytes, in a snapshot unless `snapshot` is 0. Returns 0, and the value as output; or
/// [`NOT_FOUND`].
#[unsafe(no_mangle)]
pub extern "C" fn terrace_get(snapshot: u32, key_length: u32) -> i32 {
    let found = with_database(|database| {
        answer(|input, output| database.get(&input[..key_length as usize], snapshot, output))
    });
    report(found.map(|found| if found { 0 } else { NOT_FOUND }))
}

/// Looks up as [`terrace_get`] does. The output is the version of the entry (8 bytes), then the value.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_get_entry(snapshot: u32, key_length: u32) -> i32 {
    let found = with_database(|database| {
        answer(|input, output| database.get_entry(&input[..key_length as usize], snapshot, output))
    });
    report(found.map(|found| if found { 0 } else { NOT_FOUND }))
}

/// Writes a batch in LevelDB's form, which has `length` bytes. On return it survives the death of the process, and a loss of power if
/// `sync` is not 0. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_write(length: u32, sync: u32) -> i32 {
    let written =
        with_database(|database| answer(|input, _| database.write(&input[..length as usize], sync != 0)));
    report(written.map(|()| 0))
}

/// Writes as [`terrace_write`] does, if all conditions hold. The input has the [conditions](abi::conditions), then the batch. Returns the
/// number of those that do not hold, and as output their indices, 4 bytes each.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_write_if(conditions_length: u32, batch_length: u32, sync: u32) -> i32 {
    let written = with_database(|database| {
        answer(|input, output| {
            let (conditions, rest) = input.split_at(conditions_length as usize);
            let failed = database.write_if(conditions, &rest[..batch_length as usize], sync != 0)?;
            Ok(abi::report_failed(&failed, output))
        })
    });
    report(written)
}

/// Deletes up to `limit` entries of a range, or those of them that a snapshot has, as [`terrace_iterator`] would come to them. Returns 0, or
/// the number of the rest if the host should open more files before [`terrace_clear_rest`].
#[unsafe(no_mangle)]
pub extern "C" fn terrace_clear(
    snapshot: u32,
    flags: u32,
    lower_length: u32,
    upper_length: u32,
    limit: u32,
) -> i32 {
    let cleared = with_database(|database| {
        let lengths = [lower_length, upper_length];
        answer(|input, _| database.clear(input, snapshot, abi::RangeFlags(flags), lengths, limit))
    });
    report(cleared)
}

/// Deletes what [`terrace_clear`], or this function, has left: with `must_end` all of it, with the files that are open. Returns what
/// [`terrace_clear`] does.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_clear_rest(number: u32, must_end: u32) -> i32 {
    report(with_database(|database| database.clear_rest(number, must_end != 0)))
}

/// Runs one background job, if one waits. Returns 1 if it ran one, otherwise 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_step() -> i32 {
    report(with_database(|database| Ok(database.step().into())))
}

/// How many files can be created before the host has to open more.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_free_files() -> i32 {
    report(with_database(|database| Ok(database.free_files() as i32)))
}

/// Keeps the current state. Returns the number of the snapshot.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_snapshot() -> i32 {
    report(with_database(|database| Ok(database.snapshot())))
}

/// Releases a snapshot. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_snapshot_release(snapshot: u32) -> i32 {
    report(with_database(|database| {
        database.release_snapshot(snapshot);
        Ok(0)
    }))
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
            database.iterator_at(iterator)?.seek(&input[..target_length as usize]).map_err(failures::failed)
        })
    });
    report(moved.map(|()| 0))
}

/// Reads up to `entries` entries, and stops earlier once they exceed `high_water_mark_bytes`. Returns 1 if the end was reached,
/// otherwise 0. For the output see [`Page`](abi::Page).
#[unsafe(no_mangle)]
pub extern "C" fn terrace_iterator_read(iterator: u32, entries: u32, high_water_mark_bytes: u32) -> i32 {
    let read = with_database(|database| {
        answer(|_, output| {
            let iterator = database.iterator_at(iterator)?;
            let read = iterator.read(entries as usize, high_water_mark_bytes as usize, output);
            read.map_err(failures::failed)
        })
    });
    report(read.map(i32::from))
}

/// Releases an iterator. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_iterator_release(iterator: u32) -> i32 {
    report(with_database(|database| {
        database.release_iterator(iterator);
        Ok(0)
    }))
}

/// Stores in the output how many bytes the keys from the first bound up to the second one take: 8 bytes, little-endian. Returns
/// 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_approximate_size(start_length: u32, end_length: u32) -> i32 {
    let measured: Outcome<()> = with_database(|database| {
        answer(|input, output| {
            let (start, rest) = input.split_at(start_length as usize);
            let size_bytes = database.approximate_size(start, &rest[..end_length as usize])?;
            output.extend_from_slice(&size_bytes.to_le_bytes());
            Ok(())
        })
    });
    report(measured.map(|()| 0))
}

/// Begins to compact the keys from the first bound to the second one, both included. Returns the number of the compaction.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_compact_range(start_length: u32, end_length: u32) -> i32 {
    report(with_database(|database| {
        answer(|input, _| {
            let (start, rest) = input.split_at(start_length as usize);
            database.compact_range(start, &rest[..end_length as usize])
        })
    }))
}

/// Runs a step of a compaction. Returns 1 if there may be another one; 0 if it has ended, as it also has after a failure.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_compact_step(compaction: u32) -> i32 {
    report(with_database(|database| database.compact_step(compaction).map(i32::from)))
}

/// Makes a copy of the current state. Returns its number, and as output a line for each file: its size in bytes and its name.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_export() -> i32 {
    report(with_database(|database| answer(|_, output| database.export(output))))
}

/// Reads up to `length` bytes of a file of a copy, by its place in the list. Returns 0, and the bytes as output.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_export_read(export: u32, file: u32, offset: f64, length: u32) -> i32 {
    let read = with_database(|database| {
        answer(|_, output| {
            database.export_at(export)?.read(file as usize, offset as u64, length as usize, output)
        })
    });
    report(read.map(|()| 0))
}

/// Releases a copy. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_export_release(export: u32) -> i32 {
    report(with_database(|database| {
        database.release_export(export);
        Ok(0)
    }))
}
