//! Native objects that JavaScript holds as opaque values ("externals"). Each begins with a tag, so that a value of
//! another kind is refused rather than misread.

use std::ffi::c_void;
use std::ptr;

use napi_sys as sys;

use crate::error::{Failure, Fallible, check};
use crate::value::{Env, Value};

/// A type that JavaScript may hold. It is dropped on the JavaScript thread when it is garbage-collected, or when the
/// environment ends.
pub trait Held: 'static {
    /// Distinguishes this type from the others; unlikely to occur in foreign memory.
    const TAG: u64;

    /// Called on the JavaScript thread before it is dropped.
    fn release(&self, _env: Env) {}
}

#[repr(C)]
struct Tagged<T> {
    tag: u64,
    held: T,
}

/// Hands `held` to JavaScript.
pub fn hold<T: Held>(env: Env, held: T) -> Fallible<Value> {
    let tagged = Box::into_raw(Box::new(Tagged { tag: T::TAG, held }));
    // SAFETY: `tagged` is a live allocation that the finalizer below frees, once.
    let made = env.make(|result| unsafe {
        sys::napi_create_external(env.raw(), tagged.cast(), Some(finalize::<T>), ptr::null_mut(), result)
    });
    if made.is_err() {
        // SAFETY: no value was made, so no finalizer will run.
        drop(unsafe { Box::from_raw(tagged) });
    }
    made
}

/// The object in `value`. The reference must not be kept beyond the running callback, whose arguments keep the value
/// alive.
#[inline]
pub fn held<'a, T: Held>(env: Env, value: Value) -> Fallible<&'a T> {
    const WRONG: Failure = Failure::Argument("expected a native object of another kind");
    let mut data: *mut c_void = ptr::null_mut();
    // SAFETY: the value belongs to the running callback.
    check(unsafe { sys::napi_get_value_external(env.raw(), value.raw(), &mut data) }).map_err(|_| WRONG)?;
    let tagged = data.cast::<Tagged<T>>();
    if tagged.is_null() || !tagged.is_aligned() {
        return Err(WRONG);
    }
    // SAFETY: this module makes all externals that `packages/terrace` passes, each with a tag at its start.
    if unsafe { ptr::addr_of!((*tagged).tag).read() } != T::TAG {
        return Err(WRONG);
    }
    // SAFETY: the tag says that it is a `Tagged<T>`, alive until its value is collected.
    Ok(unsafe { &(*tagged).held })
}

unsafe extern "C" fn finalize<T: Held>(env: sys::napi_env, data: *mut c_void, _hint: *mut c_void) {
    // SAFETY: `data` came from `Box::into_raw` in `hold`, and Node runs a finalizer once.
    let tagged = unsafe { Box::from_raw(data.cast::<Tagged<T>>()) };
    tagged.held.release(Env::new(env));
}
