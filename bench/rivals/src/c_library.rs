//! Shared by the adapters over C interfaces: opaque types, error strings, paths.

use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;

use terrace_bench::Result;

/// Declares types that are only used behind pointers.
macro_rules! opaque {
    ($($name:ident),*) => { $(
        #[repr(C)]
        pub(super) struct $name {
            private: [u8; 0],
        }
    )* };
}

pub(crate) use opaque;

/// The error that a call left in `error`, which is freed with `free`.
///
/// # Safety
///
/// `error` is null, or a string that ends with a zero byte and that `free` may free.
pub(crate) unsafe fn check(error: *mut c_char, free: unsafe extern "C" fn(*mut c_void)) -> Result<()> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the caller guarantees it.
    let text = unsafe {
        let text = CStr::from_ptr(error).to_string_lossy().into_owned();
        free(error.cast());
        text
    };
    Err(text.into())
}

/// A directory's name as a C string.
pub(crate) fn c_path(directory: &Path) -> Result<CString> {
    Ok(CString::new(directory.as_os_str().as_encoded_bytes())?)
}
