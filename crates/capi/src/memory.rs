//! Bytes that cross the boundary: the program's as slices, ours in memory from malloc, which `leveldb_free` frees.

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr;

use crate::failure::{Failure, Result, given};

/// The `length` bytes at `start`. For no bytes, NULL is as good as any other pointer.
///
/// # Errors
///
/// `Invalid argument`, naming the argument, for NULL and for an impossible length.
///
/// # Safety
///
/// If `start` is not NULL, `length` bytes are readable there, and are not written to, for `'a`.
#[inline]
pub(crate) unsafe fn bytes<'a>(name: &str, start: *const c_char, length: usize) -> Result<&'a [u8]> {
    if length == 0 {
        return Ok(&[]);
    }
    if start.is_null() || isize::try_from(length).is_err() {
        return Err(no_bytes(name, length));
    }
    // SAFETY: the caller guarantees it; the length is one that a slice may have.
    Ok(unsafe { std::slice::from_raw_parts(start.cast(), length) })
}

#[cold]
fn no_bytes(name: &str, length: usize) -> Failure {
    Failure::argument(format_args!("{name} is NULL, or {length} is not a possible length"))
}

/// The string at `start`, up to its zero.
///
/// # Errors
///
/// `Invalid argument`, naming the argument, for NULL.
///
/// # Safety
///
/// If `start` is not NULL, a string that ends with a zero is there, and is not written to, for `'a`.
pub(crate) unsafe fn text<'a>(name: &str, start: *const c_char) -> Result<&'a CStr> {
    let start = given(name, (!start.is_null()).then_some(start))?;
    // SAFETY: the caller guarantees it.
    Ok(unsafe { CStr::from_ptr(start) })
}

/// The directory that the string at `start` names, which the program calls `name`.
///
/// # Errors
///
/// `Invalid argument`, naming the argument, for NULL and, on Windows, for what is not UTF-8.
///
/// # Safety
///
/// Those of [`text`].
pub(crate) unsafe fn directory<'a>(name: &str, start: *const c_char) -> Result<&'a Path> {
    // SAFETY: passed on to the caller.
    path_of(name, unsafe { text(name, start)? }.to_bytes())
}

/// On Unix the names of files are bytes.
#[cfg(unix)]
fn path_of<'a>(_: &str, bytes: &'a [u8]) -> Result<&'a Path> {
    use std::os::unix::ffi::OsStrExt;
    Ok(Path::new(std::ffi::OsStr::from_bytes(bytes)))
}

/// On Windows they are UTF-16, which bytes say as UTF-8.
#[cfg(windows)]
fn path_of<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a Path> {
    let text =
        std::str::from_utf8(bytes).map_err(|_| Failure::argument(format_args!("{name} is not UTF-8")))?;
    Ok(Path::new(text))
}

/// A copy of `bytes` in memory from malloc; never NULL, not even for no bytes.
///
/// # Errors
///
/// `IO error` if there is no memory.
#[inline]
pub(crate) fn copy(bytes: &[u8]) -> Result<*mut c_char> {
    // SAFETY: malloc takes any size.
    let start: *mut u8 = unsafe { libc::malloc(bytes.len().max(1)) }.cast();
    if start.is_null() {
        return Err(Failure::io(format_args!("no memory for {} bytes", bytes.len())));
    }
    // SAFETY: `start` has room for that many bytes, and nothing else has a pointer to it.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) };
    Ok(start.cast())
}

/// A copy of `text` as a string in memory from malloc, up to its first zero. NULL if there is no memory.
pub(crate) fn copy_text(text: &str) -> *mut c_char {
    let end = text.find('\0').unwrap_or(text.len());
    let mut bytes = Vec::with_capacity(end + 1);
    bytes.extend_from_slice(&text.as_bytes()[..end]);
    bytes.push(0);
    copy(&bytes).unwrap_or(ptr::null_mut())
}

/// Stores a length where the program wants it; NULL discards it.
#[inline]
pub(crate) fn put_length(target: Option<&mut MaybeUninit<usize>>, length: usize) {
    if let Some(target) = target {
        target.write(length);
    }
}

/// Frees memory.
///
/// # Safety
///
/// `start` is NULL or came from malloc, and is no longer used.
pub(crate) unsafe fn free(start: *mut c_void) {
    // SAFETY: the caller guarantees it.
    unsafe { libc::free(start) };
}

/// Drops the object at `object`, which a function of this crate returned as a `Box`. Does nothing for NULL.
///
/// # Safety
///
/// `object` is NULL or came from `Box::into_raw`, and is no longer used.
pub(crate) unsafe fn drop_box<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: the caller guarantees it.
        drop(unsafe { Box::from_raw(object) });
    }
}

/// Frees memory that a function of this library returned: a value, a property, an error. Does nothing for NULL.
#[unsafe(no_mangle)]
unsafe extern "C" fn leveldb_free(start: *mut c_void) {
    // SAFETY: by the header's rule it came from one of our functions, which use malloc.
    unsafe { free(start) };
}
