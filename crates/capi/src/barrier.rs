//! The barrier that no panic crosses, around every exported function, and where failures become messages in `*errptr`.
//!
//! A panic is a bug of ours, or of a callback's owner (an invalid order). The call then fails like any other; the
//! engine ensures that locks are free again and that writes are rejected if necessary.

use std::any::Any;
use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failure::{Failure, Result};
use crate::memory::{copy_text, free};

/// The last argument of functions that can fail: where the program wants the message. NULL discards it.
pub(crate) type ErrorPointer<'a> = Option<&'a mut *mut c_char>;

/// Does `work`; returns `otherwise` if it panics.
#[inline]
pub(crate) fn or_else<R>(otherwise: R, work: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

/// Does `work`; if it fails or panics, stores the message through `pointer` and returns `otherwise`.
#[inline]
pub(crate) fn or_report<R>(pointer: ErrorPointer<'_>, otherwise: R, work: impl FnOnce() -> Result<R>) -> R {
    match catch(work) {
        Ok(value) => value,
        Err(failure) => {
            report(pointer, &failure);
            otherwise
        }
    }
}

/// Stores the message of `failure` through `pointer`, and frees the old one.
#[cold]
pub(crate) fn report(pointer: ErrorPointer<'_>, failure: &Failure) {
    if let Some(pointer) = pointer {
        let old: *mut c_char = std::mem::replace(pointer, copy_text(failure.message()));
        // SAFETY: by the header's rule the old one is NULL or came from malloc.
        unsafe { free(old.cast()) };
    }
}

/// Does `work` and turns a panic into a failure.
#[inline]
pub(crate) fn catch<R>(work: impl FnOnce() -> Result<R>) -> Result<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(panicked(&*panic)))
}

#[cold]
fn panicked(panic: &(dyn Any + Send)) -> Failure {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let message = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("unknown");
    Failure::io(format!("internal error: {message}"))
}
