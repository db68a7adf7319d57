//! The options of a database, set one by one, with LevelDB's defaults and bounds. The engine's [`Options`] are made
//! from them when a database is opened, destroyed or repaired.

use std::ffi::c_int;
use std::sync::Arc;

use parking_lot::Mutex;
use terrace_engine::env::default_env;
use terrace_engine::{Compression, FilterPolicy, Options, UserComparator};

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

/// The level of zstd that LevelDB uses if it has zstd.
const ZSTD_LEVEL: i32 = 1;

/// A `leveldb_options_t`.
#[derive(Clone)]
pub(crate) struct OptionsHandle {
    /// The options that are passed on to the engine as they were set.
    engine: Options,
    comparator: Option<Arc<CallbackComparator>>,
    filter_policy: Option<FilterPolicyHandle>,
    block_restart_interval: c_int,
    compression: c_int,
}

impl Default for OptionsHandle {
    fn default() -> Self {
        let engine = Options {
            // options.json: defaults (make options)
            create_if_missing: false,
            block_cache_size_bytes: 8 * MIB,
            write_buffer_size_bytes: 4 * MIB,
            max_file_size_bytes: 2 * MIB as u64,
            filter_bits_per_key: 0,
            // options.json: end
            ..Options::default()
        };
        Self { engine, comparator: None, filter_policy: None, block_restart_interval: 16, compression: 1 }
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
    ///
    /// `Invalid argument` if a value is invalid, or if callbacks were destroyed or have no name.
    pub(crate) fn to_engine(&self) -> Result<(Options, CallbacksInUse)> {
        let mut options = Options {
            block_restart_interval: usize::try_from(self.block_restart_interval)
                .ok()
                .filter(|interval| *interval > 0)
                .ok_or_else(|| bad_value("block_restart_interval", self.block_restart_interval))?,
            compression: match self.compression {
                0 => Compression::None,
                1 => Compression::Snappy,
                2 => Compression::Zstd { level: ZSTD_LEVEL },
                other => return Err(bad_value("compression", other)),
            },
            ..self.engine.clone()
        };
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

/// Changes the options, if there are any.
fn set(options: Option<&mut OptionsHandle>, change: impl FnOnce(&mut OptionsHandle)) {
    barrier::or_else((), || {
        if let Some(options) = options {
            change(options);
        }
    });
}

/// Functions that set options of the engine to plain values.
macro_rules! setters {
    ($($function:ident($value:ident: $argument:ty) => $option:ident = $converted:expr;)*) => {
        $(#[unsafe(no_mangle)]
        extern "C" fn $function(options: Option<&mut OptionsHandle>, $value: $argument) {
            set(options, |options| options.engine.$option = $converted);
        })*
    };
}

// LevelDB bounds numbers silently; these functions do the same.
setters! {
    // options.json: setters (make options)
    leveldb_options_set_create_if_missing(value: u8) => create_if_missing = value != 0;
    leveldb_options_set_error_if_exists(value: u8) => error_if_exists = value != 0;
    leveldb_options_set_write_buffer_size(value: usize) => write_buffer_size_bytes = value.clamp(64 * KIB, GIB);
    leveldb_options_set_block_size(value: usize) => block_size_bytes = value.clamp(KIB, 4 * MIB);
    leveldb_options_set_max_file_size(value: usize) => max_file_size_bytes = value.clamp(MIB, GIB) as u64;
    leveldb_options_set_max_open_files(value: c_int) => max_open_files = value.clamp(74, 50_000) as usize;
    terrace_options_set_map_tables(value: u8) => map_tables = value != 0;
    terrace_options_set_map_log(value: u8) => map_log = value != 0;
    leveldb_options_set_paranoid_checks(value: u8) => paranoid_checks = value != 0;
    // options.json: end
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_create() -> *mut OptionsHandle {
    barrier::or_else(std::ptr::null_mut(), || Box::into_raw(Box::default()))
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_options_destroy(options: *mut OptionsHandle) {
    // SAFETY: by the header's rule it is NULL or came from `leveldb_options_create`, and is no longer used.
    barrier::or_else((), || unsafe { drop_box(options) });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_options_set_comparator(
    options: Option<&mut OptionsHandle>,
    comparator: *const CallbackComparator,
) {
    set(options, |options| {
        options.comparator = (!comparator.is_null()).then(|| {
            // SAFETY: by the header's rule it came from `leveldb_comparator_create`, as an `Arc`, and was not
            // destroyed: the program still holds its reference, and this is one more.
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
extern "C" fn leveldb_options_set_env(options: Option<&mut OptionsHandle>, env: Option<&EnvHandle>) {
    set(options, |options| options.engine.env = env.map_or_else(default_env, EnvHandle::env));
}

/// The interface has no way to create a logger, so there is nothing to set: the database writes its LOG in any case.
#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_info_log(
    _options: Option<&mut OptionsHandle>,
    _logger: *mut std::ffi::c_void,
) {
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_cache(options: Option<&mut OptionsHandle>, cache: Option<&CacheHandle>) {
    set(options, |options| options.engine.block_cache = cache.map(CacheHandle::cache));
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_block_restart_interval(
    options: Option<&mut OptionsHandle>,
    interval: c_int,
) {
    set(options, |options| options.block_restart_interval = interval);
}

#[unsafe(no_mangle)]
extern "C" fn leveldb_options_set_compression(options: Option<&mut OptionsHandle>, compression: c_int) {
    set(options, |options| options.compression = compression);
}
