//! Options, from JavaScript to the engine. `packages/terrace/src/options.ts` has checked their types and names.

use std::ffi::CStr;
use std::ops::Bound;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use terrace_engine::{
    BlockCache, Bounds, Compression, Error, ErrorKind, Options, ReadOptions, ReadTier, UserComparator,
};

use crate::call::Call;
use crate::database::HeldSnapshot;
use crate::error::{Failure, Fallible};
use crate::value::{Env, Value};

/// LevelDB's own default.
const ZSTD_LEVEL: i32 = 1;

/// Choices of one call, as bits of one number, which crosses from JavaScript faster than an object. The same
/// constants are in `packages/terrace/src/binding.ts`.
#[derive(Clone, Copy)]
pub struct Flags(u32);

impl Flags {
    /// Put blocks that are read into the block cache.
    pub const FILL_CACHE: u32 = 1;
    /// Return keys as buffers, not as strings.
    pub const KEYS_AS_BUFFERS: u32 = 2;
    /// Return values as buffers, not as strings.
    pub const VALUES_AS_BUFFERS: u32 = 4;
    /// Make a write survive a power cut before it is acknowledged.
    pub const SYNC: u32 = 8;
    /// Let a read wait for the disk on the JavaScript thread.
    pub const BLOCKING: u32 = 16;
    /// Make an iterator yield keys.
    pub const KEYS: u32 = 32;
    /// Make an iterator yield values.
    pub const VALUES: u32 = 64;
    /// Go from the last key to the first.
    pub const REVERSE: u32 = 128;
    /// A snapshot is passed.
    pub const SNAPSHOT: u32 = 256;

    /// The flags that JavaScript passed as a number.
    #[inline]
    pub fn of(env: Env, number: Value) -> Fallible<Self> {
        Ok(Self(env.get_u32(number)?))
    }

    #[inline]
    pub fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }
}

/// How to read, with the snapshot in the argument `snapshot` if the flags say that there is one.
#[inline]
pub fn read_options(call: &Call<'_>, snapshot: usize, flags: Flags) -> Fallible<ReadOptions> {
    let snapshot = if flags.has(Flags::SNAPSHOT) {
        let held = call.held::<HeldSnapshot>(snapshot)?.0.borrow();
        Some(held.clone().ok_or(Failure::Argument("the snapshot is closed"))?)
    } else {
        None
    };
    let tier = if flags.has(Flags::BLOCKING) { ReadTier::Disk } else { ReadTier::MemoryOnly };
    Ok(ReadOptions { snapshot, fill_cache: flags.has(Flags::FILL_CACHE), tier, ..ReadOptions::default() })
}

/// The range in the properties gte, gt, lte and lt of `range`.
pub fn bounds(env: Env, range: Value) -> Fallible<Bounds> {
    let bound = |inclusive: &CStr, exclusive: &CStr| -> Fallible<Bound<Vec<u8>>> {
        let mut key = Vec::new();
        if let Some(value) = env.property(range, inclusive)? {
            env.append_bytes(value, &mut key)?;
            return Ok(Bound::Included(key));
        }
        if let Some(value) = env.property(range, exclusive)? {
            env.append_bytes(value, &mut key)?;
            return Ok(Bound::Excluded(key));
        }
        Ok(Bound::Unbounded)
    };
    Ok(Bounds { lower: bound(c"gte", c"gt")?, upper: bound(c"lte", c"lt")? })
}

/// The arguments of `open`.
pub struct OpenOptions {
    pub options: Options,
    /// Share the engine with other openings of the same directory in this process.
    pub multithreading: bool,
}

/// Sets the given options. The others stay as the preset has them.
macro_rules! set_given {
    ($options:ident: $($given:expr => $option:ident;)*) => {
        $(if let Some(value) = $given? {
            $options.$option = value as _;
        })*
    };
}

/// Options of `open`, from an object.
pub fn open_options(env: Env, object: Value) -> Fallible<OpenOptions> {
    let flag = |name: &CStr| -> Fallible<Option<bool>> {
        env.property(object, name)?.map(|value| env.get_bool(value)).transpose()
    };
    let text = |name: &CStr| -> Fallible<Option<String>> {
        env.property(object, name)?.map(|value| env.get_string(value)).transpose()
    };
    // Numbers have been checked to be non-negative integers.
    let number = |name: &CStr| -> Fallible<Option<f64>> {
        env.property(object, name)?.map(|value| env.get_f64(value)).transpose()
    };
    let mut options = match text(c"preset")?.as_deref() {
        None | Some("embedded") => Options::embedded(),
        Some("server") => Options::server(),
        Some(other) => return Err(unknown("preset", other)),
    };
    if let Some(name) = text(c"comparator")? {
        options.comparator = UserComparator::by_name(&name).ok_or_else(|| unknown("comparator", &name))?;
    }
    options.compression = match text(c"compression")?.as_deref() {
        None => options.compression,
        Some("none") => Compression::None,
        Some("snappy") => Compression::Snappy,
        Some("zstd") => Compression::Zstd { level: ZSTD_LEVEL },
        Some(other) => return Err(unknown("compression", other)),
    };
    set_given! { options:
        flag(c"createIfMissing") => create_if_missing;
        flag(c"errorIfExists") => error_if_exists;
        // options.json: plain values (make options)
        flag(c"readOnly") => read_only;
        number(c"cacheSize") => block_cache_size_bytes;
        number(c"writeBufferSize") => write_buffer_size_bytes;
        number(c"blockSize") => block_size_bytes;
        number(c"blockRestartInterval") => block_restart_interval;
        number(c"maxFileSize") => max_file_size_bytes;
        number(c"maxOpenFiles") => max_open_files;
        number(c"filterBitsPerKey") => filter_bits_per_key;
        number(c"hashIndexPercent") => hash_index_percent;
        flag(c"mapTables") => map_tables;
        flag(c"mapLog") => map_log;
        flag(c"paranoidChecks") => paranoid_checks;
        // options.json: end
    }
    if flag(c"sharedResources")? == Some(true) {
        share_cache(&mut options);
    }
    Ok(OpenOptions { options, multithreading: flag(c"multithreading")? == Some(true) })
}

fn unknown(option: &str, name: &str) -> Failure {
    let message = format!("the {option} {name:?} is not known");
    Failure::Engine(Error::new(ErrorKind::InvalidArgument, message))
}

/// Gives `options` the cache of the databases that were opened with `sharedResources`. The first of them decides its size, and
/// it is dropped when the last has closed.
fn share_cache(options: &mut Options) {
    static SHARED: Mutex<Weak<BlockCache>> = parking_lot::const_mutex(Weak::new());
    let mut shared = SHARED.lock();
    options.block_cache = Some(shared.upgrade().unwrap_or_else(|| {
        let cache = Arc::new(BlockCache::new(options.block_cache_size_bytes));
        *shared = Arc::downgrade(&cache);
        cache
    }));
}
