//! The options of a database, as they are set one by one, with LevelDB's defaults and bounds.
//!
//! Predecessor: the program's setters. Successor: the engine's [`Options`], made when a database is opened, destroyed or
//! repaired.

use std::ffi::c_int;
use std::sync::Arc;

use parking_lot::Mutex;
use terrace_engine::env::Env;
use terrace_engine::{BlockCache, Compression, FilterPolicy, Options, UserComparator};

use crate::barrier;
use crate::cache::CacheHandle;
use crate::comparator::CallbackComparator;
use crate::env::EnvHandle;
use crate::failure::{Failure, Result};
use crate::filter_policy::FilterPolicyHandle;
use crate::memory::drop_box;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;

/// The size of the cache of a database that was given none, as in LevelDB.
const DEFAULT_CACHE_SIZE_BYTES: usize = 8 * MIB;

/// The level of zstd that LevelDB takes where it has zstd.
const ZSTD_LEVEL: i32 = 1;

/// A `leveldb_options_t`.
#[derive(Clone)]
pub(crate) struct OptionsHandle {
    comparator: Option<Arc<CallbackComparator>>,
    filter_policy: Option<FilterPolicyHandle>,
    create_if_missing: bool,
    error_if_exists: bool,
    paranoid_checks: bool,
    env: Option<Arc<dyn Env>>,
    write_buffer_size_bytes: usize,
    max_open_files: c_int,
    cache: Option<Arc<BlockCache>>,
    block_size_bytes: usize,
    block_restart_interval: c_int,
    max_file_size_bytes: usize,
    compression: c_int,
    map_tables: bool,
    map_log: bool,
}

impl Default for OptionsHandle {
    fn default() -> Self {
        Self {
            comparator: None,
            filter_policy: None,
            create_if_missing: false,
            error_if_exists: false,
            paranoid_checks: false,
            env: None,
            write_buffer_size_bytes: 4 * MIB,
            max_open_files: 1000,
            cache: None,
            block_size_bytes: 4 * KIB,
            block_restart_interval: 16,
            max_file_size_bytes: 2 * MIB,
            compression: 1,
            map_tables: true,
            map_log: true,
        }
    }
}

/// Keeps the program's callbacks in use until a database that calls them is closed.
#[derive(Default)]
pub(crate) struct CallbacksInUse {
    comparator: Option<Arc<CallbackComparator>>,
    filter_policy: Option<FilterPolicyHandle>,
}

impl Drop for CallbacksInUse {
    fn drop(&mut self) {
        if let Some(comparator) = self.comparator.take() {
            comparator.end_use();
        }
        if let Some(FilterPolicyHandle::Callbacks(policy)) = self.filter_policy.take() {
            policy.end_use();
        }
    }
}

/// Where an open database keeps its [`CallbacksInUse`]; closing takes them out.
pub(crate) type HeldCallbacks = Mutex<Option<CallbacksInUse>>;

impl OptionsHandle {
    /// The engine's options, and what must be kept as long as they are in use.
    ///
    /// # Errors
    /// `Invalid argument` for a value that means nothing, and for callbacks that were destroyed or have no name.
    pub(crate) fn to_engine(&self) -> Result<(Options, CallbacksInUse)> {
        let mut options = Options {
            create_if_missing: self.create_if_missing,
            error_if_exists: self.error_if_exists,
            paranoid_checks: self.paranoid_checks,
            // LevelDB bounds these silently, and so does this.
            write_buffer_size_bytes: self.write_buffer_size_bytes.clamp(64 * KIB, GIB),
            max_open_files: self.max_open_files.clamp(74, 50_000) as usize,
            block_cache_size_bytes: DEFAULT_CACHE_SIZE_BYTES,
            block_cache: self.cache.clone(),
            block_size_bytes: self.block_size_bytes.clamp(KIB, 4 * MIB),
            block_restart_interval: usize::try_from(self.block_restart_interval)
                .ok()
                .filter(|interval| *interval > 0)
                .ok_or_else(|| bad_value("block_restart_interval", self.block_restart_interval))?,
            max_file_size_bytes: self.max_file_size_bytes.clamp(MIB, GIB) as u64,
            compression: match self.compression {
                0 => Compression::None,
                1 => Compression::Snappy,
                2 => Compression::Zstd { level: ZSTD_LEVEL },
                other => return Err(bad_value("compression", other)),
            },
            filter_bits_per_key: 0,
            map_tables: self.map_tables,
            map_log: self.map_log,
            ..Options::default()
        };
        if let Some(env) = &self.env {
            options.env = Arc::clone(env);
        }
        let mut in_use = CallbacksInUse::default();
        if let Some(comparator) = &self.comparator {
            comparator.begin_use()?;
            in_use.comparator = Some(Arc::clone(comparator));
            options.comparator = UserComparator::Custom(Arc::clone(comparator) as _);
        }
        match &self.filter_policy {
            None => {}
            Some(FilterPolicyHandle::Bloom(bits_per_key)) => options.filter_bits_per_key = *bits_per_key,
            Some(FilterPolicyHandle::Callbacks(policy)) => {
                policy.begin_use()?;
                in_use.filter_policy = self.filter_policy.clone();
                options.filter_policy = Some(Arc::clone(policy) as Arc<dyn FilterPolicy>);
            }
        }
        Ok((options, in_use))
    }
}

fn bad_value(option: &str, value: c_int) -> Failure {
    Failure::argument(format_args!("{option} cannot be {value}"))
}

/// Changes options, if there are any.
fn set(options: Option<&mut OptionsHandle>, change: impl FnOnce(&mut OptionsHandle)) {
    barrier::or_else((), || {
        if let Some(options) = options {
            change(options);
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_create() -> *mut OptionsHandle {
    barrier::or_else(std::ptr::null_mut(), || Box::into_raw(Box::default()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_options_destroy(options: *mut OptionsHandle) {
    // SAFETY: by the header's rule it is NULL or came from `leveldb_options_create`, and is used no more.
    barrier::or_else((), || unsafe { drop_box(options) });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_options_set_comparator(
    options: Option<&mut OptionsHandle>,
    comparator: *const CallbackComparator,
) {
    set(options, |options| {
        options.comparator = (!comparator.is_null()).then(|| {
            // SAFETY: by the header's rule it came from `leveldb_comparator_create`, as an `Arc`, and was not destroyed: the
            // reference that the program holds is still there, and this is one more.
            unsafe {
                Arc::increment_strong_count(comparator);
                Arc::from_raw(comparator)
            }
        });
    });
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_filter_policy(
    options: Option<&mut OptionsHandle>,
    policy: Option<&FilterPolicyHandle>,
) {
    set(options, |options| options.filter_policy = policy.cloned());
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_create_if_missing(options: Option<&mut OptionsHandle>, value: u8) {
    set(options, |options| options.create_if_missing = value != 0);
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_error_if_exists(options: Option<&mut OptionsHandle>, value: u8) {
    set(options, |options| options.error_if_exists = value != 0);
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_paranoid_checks(options: Option<&mut OptionsHandle>, value: u8) {
    set(options, |options| options.paranoid_checks = value != 0);
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_env(options: Option<&mut OptionsHandle>, env: Option<&EnvHandle>) {
    set(options, |options| options.env = env.map(EnvHandle::env));
}

/// The interface has no way to make a logger, so there is nothing to set: the database writes its LOG, as without it.
#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_info_log(
    _options: Option<&mut OptionsHandle>,
    _logger: *mut std::ffi::c_void,
) {
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_write_buffer_size(options: Option<&mut OptionsHandle>, size: usize) {
    set(options, |options| options.write_buffer_size_bytes = size);
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_max_open_files(options: Option<&mut OptionsHandle>, count: c_int) {
    set(options, |options| options.max_open_files = count);
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_cache(options: Option<&mut OptionsHandle>, cache: Option<&CacheHandle>) {
    set(options, |options| options.cache = cache.map(CacheHandle::cache));
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_block_size(options: Option<&mut OptionsHandle>, size: usize) {
    set(options, |options| options.block_size_bytes = size);
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_block_restart_interval(
    options: Option<&mut OptionsHandle>,
    interval: c_int,
) {
    set(options, |options| options.block_restart_interval = interval);
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_max_file_size(options: Option<&mut OptionsHandle>, size: usize) {
    set(options, |options| options.max_file_size_bytes = size);
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_compression(options: Option<&mut OptionsHandle>, compression: c_int) {
    set(options, |options| options.compression = compression);
}

#[unsafe(no_mangle)]
extern "C" fn terrace_options_set_map_tables(options: Option<&mut OptionsHandle>, value: u8) {
    set(options, |options| options.map_tables = value != 0);
}

#[unsafe(no_mangle)]
extern "C" fn terrace_options_set_map_log(options: Option<&mut OptionsHandle>, value: u8) {
    set(options, |options| options.map_log = value != 0);
}
