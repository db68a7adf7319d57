//! The Node-API addon of the npm package `terrace`. It is glue only: it turns JavaScript values into calls of the
//! engine, and results into JavaScript values. `packages/terrace/src/binding.ts` types every function registered here.
//!
//! Which thread runs what:
//!
//! | thread | work |
//! |---|---|
//! | JavaScript (the main thread, or one per worker) | every function registered here; a get that memory answers; a
//! write that need not wait; making JavaScript values; settling promises |
//! | a few for reads ([`threads`]) | reads that may wait for the disk: get, has, getMany, hasMany, an iterator's next entries, approximate sizes |
//! | others ([`threads`]) | open, close |
//! | the engine's commit thread | writes that were queued, many with one sync; it hands results to [`completions`] |
//! | a thread for one operation ([`environment`]) | what may take long, so that it never blocks the few threads: clear,
//! compactRange, checkpoint, refresh, destroy, repair |
//!
//! Frequently called functions use Node-API directly: they allocate no strings or buffers for arguments, and make no
//! promise if the answer is available at once.

mod call;
mod clear;
mod completions;
mod conditions;
mod database;
mod environment;
mod error;
mod exception;
mod external;
mod functions;
mod iterator;
mod maintenance;
mod memory;
mod open_database;
mod options;
mod parts;
mod reads;
mod threads;
mod value;
mod write_order;
mod write_queue;
mod writes;

use std::sync::Once;

use napi_sys as sys;

/// Node-API version that the addon needs (Node 18.17, 20.3).
const NODE_API_VERSION: i32 = 9;

/// Node calls this to learn for which version of Node-API the addon was made.
#[unsafe(no_mangle)]
pub extern "C" fn node_api_module_get_api_version_v1() -> i32 {
    NODE_API_VERSION
}

/// Node calls this once for every environment (the main thread and each worker) that loads the addon.
///
/// # Safety
///
/// Only Node calls it, with an environment and an object of that environment, on its thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn napi_register_module_v1(
    env: sys::napi_env,
    exports: sys::napi_value,
) -> sys::napi_value {
    static SYMBOLS: Once = Once::new();
    SYMBOLS.call_once(|| {
        // SAFETY: Node has loaded us, so its symbols are there; `Once` makes this the only writer. The handle of the
        // program itself has nothing to release.
        std::mem::forget(unsafe { sys::setup() });
        #[cfg(windows)]
        stay_loaded();
    });
    let (env, exports) = (value::Env::new(env), value::Value::new(exports));
    if let Err(failure) = functions::register(env, exports) {
        exception::throw(env, None, failure);
    }
    exports.raw()
}

/// Keeps the library loaded when a worker thread that loaded it ends, because background threads of a database may
/// still run. On other systems, a linker option does that.
#[cfg(windows)]
fn stay_loaded() {
    use windows_sys::Win32::System::LibraryLoader::{
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS, GET_MODULE_HANDLE_EX_FLAG_PIN, GetModuleHandleExW,
    };

    let flags = GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
    let address: *const u16 = (stay_loaded as fn() as *const ()).cast();
    let mut module = std::ptr::null_mut();
    // SAFETY: with these flags the text is any address in the library, which is that of this function; the handle lives
    // during the call.
    unsafe { GetModuleHandleExW(flags, address, &raw mut module) };
}
