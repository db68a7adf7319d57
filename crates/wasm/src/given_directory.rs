//! A LevelDB directory whose files the host has, such as one that a page's user chose. It is opened read-only, and nothing in it changes: a
//! repair writes to memory.

use std::cell::RefCell;
use std::io;
use std::path::Path;
use std::sync::Arc;

use terrace_engine::env::{GivenFile, MemoryEnv};
use terrace_engine::{Db, Options, UserComparator};
use terrace_wasm_abi::{Failure, Outcome, answer, report, report_to_host};

use crate::database;
use crate::failures::failed;
use crate::host_files;

/// A flag of [`terrace_open_directory`].
const REPAIR: u32 = 1;

thread_local! {
    /// The files that the host has given so far.
    static FILES: RefCell<Option<MemoryEnv>> = const { RefCell::new(None) };
}

/// One file of the host.
#[derive(Debug)]
struct HostFile {
    handle: u32,
    size_bytes: u64,
}

impl GivenFile for HostFile {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest_bytes = self.size_bytes.saturating_sub(offset);
        let wanted = buffer.len().min(usize::try_from(rest_bytes).unwrap_or(usize::MAX));
        if wanted == 0 { Ok(0) } else { host_files::read(self.handle, offset, &mut buffer[..wanted]) }
    }
}

/// How to open the directory.
struct Opening<'a> {
    directory: &'a str,
    /// The name of the order of keys if no MANIFEST says so.
    order: &'a str,
    repairs: bool,
    block_cache_size_bytes: usize,
}

/// Adds a file of the host at `path`.
fn add(path: &str, handle: u32, size_bytes: u64) -> Outcome<()> {
    FILES.with_borrow_mut(|files| {
        let env = files.get_or_insert_with(MemoryEnv::with_steps);
        let file = Arc::new(HostFile { handle, size_bytes });
        env.give(Path::new(path), file).map_err(|error| Failure::new("InvalidArgument", error.to_string()))
    })
}

/// Opens the directory. Writes the name of the order of its keys to `output`, a line break, and the report of the repair if there was one.
fn open(opening: &Opening<'_>, output: &mut Vec<u8>) -> Outcome<()> {
    let env = FILES.with_borrow(Clone::clone).unwrap_or_else(MemoryEnv::with_steps);
    let stored = Db::comparator_name(opening.directory, &env);
    let name = stored.as_deref().unwrap_or(opening.order.as_bytes());
    let Some(comparator) = UserComparator::by_name(name) else {
        let shown = String::from_utf8_lossy(name);
        return Err(Failure::new("Unsupported", format!("the keys are in an unknown order, `{shown}`")));
    };
    output.extend_from_slice(comparator.name_text().as_bytes());
    output.push(b'\n');
    let options = Options {
        comparator,
        create_if_missing: false,
        block_cache_size_bytes: opening.block_cache_size_bytes,
        hash_index_percent: 0,
        env: Arc::new(env),
        ..Options::default()
    };
    if opening.repairs {
        let report = Db::repair(opening.directory, &options).map_err(failed)?;
        output.extend_from_slice(report.to_string().as_bytes());
    }
    let db = Db::open(opening.directory, Options { read_only: true, ..options }).map_err(failed)?;
    database::adopt(db, None);
    Ok(())
}

/// Adds a file that the host has, of `size_bytes`, which `file_read` reads by `handle`. The input is its path of `path_length` bytes: the
/// name of the directory, `/`, and its own name. Returns 0.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_give_file(path_length: u32, handle: u32, size_bytes: f64) -> i32 {
    let given = answer(|input, _| add(text(&input[..path_length as usize])?, handle, size_bytes as u64));
    report(given.map(|()| 0))
}

/// Opens the directory whose files were given, read-only. The input is the name of the directory, of `directory_length` bytes, and that of the
/// order of keys if the directory does not tell, of `order_length` bytes. Flags: 1 repairs it before, in memory. Returns 0. The output is the
/// name of the order of keys, a line break, and the report of the repair. After a failure it can be called again.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_open_directory(
    flags: u32,
    block_cache_size_bytes: u32,
    directory_length: u32,
    order_length: u32,
) -> i32 {
    report_to_host();
    let opened = answer(|input, output| {
        let (directory, rest) = input.split_at(directory_length as usize);
        let opening = Opening {
            directory: text(directory)?,
            order: text(&rest[..order_length as usize])?,
            repairs: flags & REPAIR != 0,
            block_cache_size_bytes: block_cache_size_bytes as usize,
        };
        open(&opening, output)
    });
    report(opened.map(|()| 0))
}

fn text(bytes: &[u8]) -> Outcome<&str> {
    std::str::from_utf8(bytes).map_err(|error| Failure::new("InvalidArgument", error.to_string()))
}
