//! JavaScript values, as thin wrappers of Node-API handles. A [`Value`] is valid until the callback that received or
//! created it returns; nothing here keeps one longer.

use std::ffi::{CStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr;

use napi_sys as sys;
use terrace_engine::{Error, ErrorKind};

use crate::error::{Failure, Fallible, check};

/// Keys and small values are copied into a buffer of this size first, without an allocation.
const STACK_BYTES: usize = 1024;

/// A string that fills a buffer up to this many bytes before its end may have been cut: UTF-8 sequences are copied
/// whole or not at all.
const LONGEST_UTF8_SEQUENCE_BYTES: usize = 4;

/// The largest number up to which all integers are exact in JavaScript.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// The environment (the main thread's or a worker's) of the running callback.
#[derive(Clone, Copy)]
pub struct Env(sys::napi_env);

/// A JavaScript value of the running callback.
#[derive(Clone, Copy)]
pub struct Value(sys::napi_value);

/// The means to settle a promise, once.
pub struct Deferred(sys::napi_deferred);

/// Memory of JavaScript into which small values are stored: creating a `Buffer` for each costs ten times as much.
/// Valid during the callback that received it.
pub struct Slab {
    start: *mut u8,
    size: usize,
}

impl Slab {
    /// Stores `bytes` at its start if they fit.
    #[inline]
    pub fn store(&self, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= self.size;
        if fits {
            // SAFETY: `slab` made this of a view with that many bytes, which is an argument of the running callback.
            // Only `packages/terrace` passes it, with a part of it that it has not handed out yet: nothing else reads
            // or writes there, and `bytes` do not lie there either.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.start, bytes.len()) };
        }
        fits
    }
}

impl Value {
    pub fn new(raw: sys::napi_value) -> Self {
        Self(raw)
    }

    pub fn raw(self) -> sys::napi_value {
        self.0
    }
}

impl Env {
    pub fn new(raw: sys::napi_env) -> Self {
        Self(raw)
    }

    pub fn raw(self) -> sys::napi_env {
        self.0
    }

    /// Runs a Node-API function whose last argument receives a value.
    pub fn make(self, call: impl FnOnce(*mut sys::napi_value) -> sys::napi_status) -> Fallible<Value> {
        let mut result = ptr::null_mut();
        check(call(&mut result))?;
        Ok(Value(result))
    }

    pub fn undefined(self) -> Fallible<Value> {
        // SAFETY: the environment is that of the running callback.
        self.make(|result| unsafe { sys::napi_get_undefined(self.0, result) })
    }

    pub fn boolean(self, value: bool) -> Fallible<Value> {
        // SAFETY: as above.
        self.make(|result| unsafe { sys::napi_get_boolean(self.0, value, result) })
    }

    pub fn number(self, value: f64) -> Fallible<Value> {
        // SAFETY: as above.
        self.make(|result| unsafe { sys::napi_create_double(self.0, value, result) })
    }

    /// A string of UTF-8 bytes; invalid UTF-8 becomes U+FFFD. Fails above V8's longest string.
    pub fn string(self, bytes: &[u8]) -> Fallible<Value> {
        let data = bytes.as_ptr().cast::<c_char>();
        let length = bytes.len() as isize;
        let made = if bytes.is_ascii() {
            // SAFETY: `data` has `length` bytes; ASCII is Latin-1, which V8 copies without decoding.
            self.make(|result| unsafe { sys::napi_create_string_latin1(self.0, data, length, result) })
        } else {
            // SAFETY: `data` has `length` bytes.
            self.make(|result| unsafe { sys::napi_create_string_utf8(self.0, data, length, result) })
        };
        made.map_err(|failure| match failure {
            Failure::NodeApi(_) => Failure::TooLarge(bytes.len()),
            other => other,
        })
    }

    /// A `Buffer` with a copy of `bytes`.
    pub fn buffer(self, bytes: &[u8]) -> Fallible<Value> {
        let data = bytes.as_ptr().cast::<c_void>();
        // SAFETY: `data` has exactly that many bytes; the copy belongs to JavaScript.
        self.make(|result| unsafe {
            sys::napi_create_buffer_copy(self.0, bytes.len(), data, ptr::null_mut(), result)
        })
        .map_err(|_| Failure::TooLarge(bytes.len()))
    }

    /// `bytes` as a string or a `Buffer`.
    pub fn bytes(self, bytes: &[u8], as_buffer: bool) -> Fallible<Value> {
        if as_buffer { self.buffer(bytes) } else { self.string(bytes) }
    }

    pub fn array(self, length: usize) -> Fallible<Value> {
        // SAFETY: the environment is that of the running callback.
        self.make(|result| unsafe { sys::napi_create_array_with_length(self.0, length, result) })
    }

    pub fn object(self) -> Fallible<Value> {
        // SAFETY: as above.
        self.make(|result| unsafe { sys::napi_create_object(self.0, result) })
    }

    pub fn set_element(self, array: Value, index: usize, element: Value) -> Fallible<()> {
        // SAFETY: both values belong to the running callback.
        check(unsafe { sys::napi_set_element(self.0, array.0, index as u32, element.0) })
    }

    pub fn set_property(self, object: Value, name: &CStr, property: Value) -> Fallible<()> {
        // SAFETY: both values belong to the running callback, and the name ends with a zero.
        check(unsafe { sys::napi_set_named_property(self.0, object.0, name.as_ptr(), property.0) })
    }

    /// The property `name`, unless it is missing or undefined.
    pub fn property(self, object: Value, name: &CStr) -> Fallible<Option<Value>> {
        // SAFETY: as above.
        let property = self.make(|result| unsafe {
            sys::napi_get_named_property(self.0, object.0, name.as_ptr(), result)
        })?;
        Ok(if self.is_type(property, sys::ValueType::napi_undefined)? { None } else { Some(property) })
    }

    pub fn is_type(self, value: Value, expected: sys::napi_valuetype) -> Fallible<bool> {
        let mut found = 0;
        // SAFETY: the value belongs to the running callback.
        check(unsafe { sys::napi_typeof(self.0, value.0, &mut found) })?;
        Ok(found == expected)
    }

    pub fn is_null(self, value: Value) -> Fallible<bool> {
        self.is_type(value, sys::ValueType::napi_null)
    }

    pub fn get_bool(self, value: Value) -> Fallible<bool> {
        let mut result = false;
        // SAFETY: as above.
        check(unsafe { sys::napi_get_value_bool(self.0, value.0, &mut result) })?;
        Ok(result)
    }

    pub fn get_u32(self, value: Value) -> Fallible<u32> {
        let mut result = 0;
        // SAFETY: as above.
        check(unsafe { sys::napi_get_value_uint32(self.0, value.0, &mut result) })?;
        Ok(result)
    }

    pub fn get_f64(self, value: Value) -> Fallible<f64> {
        let mut result = 0.0;
        // SAFETY: as above.
        check(unsafe { sys::napi_get_value_double(self.0, value.0, &mut result) })?;
        Ok(result)
    }

    /// A version of an entry.
    pub fn get_version(self, value: Value) -> Fallible<u64> {
        let version = self.get_f64(value)?;
        let is_exact = (0.0..=MAX_SAFE_INTEGER).contains(&version) && version.fract() == 0.0;
        if is_exact { Ok(version as u64) } else { Err(Failure::Argument("not a version")) }
    }

    /// A version as a number.
    ///
    /// # Errors
    /// `Unsupported` if it is too large for a number of JavaScript, as only a made-up database has it.
    pub fn version(self, version: u64) -> Fallible<Value> {
        if version as f64 > MAX_SAFE_INTEGER {
            let message = format!("the version {version} is too large for JavaScript");
            return Err(Error::new(ErrorKind::Unsupported, message).into());
        }
        self.number(version as f64)
    }

    pub fn get_string(self, value: Value) -> Fallible<String> {
        let mut bytes = Vec::new();
        self.append_bytes(value, &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Calls `use_bytes` with the bytes of a string (as UTF-8) or of a typed array or `DataView`, without copying
    /// those. `use_bytes` must not run JavaScript.
    #[inline]
    pub fn with_bytes<R>(self, value: Value, use_bytes: impl FnOnce(&[u8]) -> R) -> Fallible<R> {
        let mut stack = [MaybeUninit::<u8>::uninit(); STACK_BYTES];
        let mut written = 0;
        // SAFETY: the buffer has the size given.
        let status = unsafe {
            sys::napi_get_value_string_utf8(
                self.0,
                value.0,
                stack.as_mut_ptr().cast(),
                STACK_BYTES,
                &mut written,
            )
        };
        if status == sys::Status::napi_ok {
            if written < STACK_BYTES - LONGEST_UTF8_SEQUENCE_BYTES {
                // SAFETY: Node-API has written that many bytes.
                return Ok(use_bytes(unsafe { std::slice::from_raw_parts(stack.as_ptr().cast(), written) }));
            }
            let mut heap = Vec::new();
            self.append_string(value, &mut heap)?;
            return Ok(use_bytes(&heap));
        }
        Ok(use_bytes(self.view(value)?))
    }

    /// Appends the bytes of a string (as UTF-8), typed array or `DataView` to `target`.
    pub fn append_bytes(self, value: Value, target: &mut Vec<u8>) -> Fallible<()> {
        self.with_bytes(value, |bytes| target.extend_from_slice(bytes))
    }

    fn append_string(self, value: Value, target: &mut Vec<u8>) -> Fallible<()> {
        let mut length = 0;
        // SAFETY: without a buffer, only the length is computed.
        check(unsafe { sys::napi_get_value_string_utf8(self.0, value.0, ptr::null_mut(), 0, &mut length) })?;
        target.reserve(length + 1);
        let start = target.len();
        let mut written = 0;
        // SAFETY: room for `length` bytes and the final zero was reserved after `start`.
        check(unsafe {
            let end = target.as_mut_ptr().add(start);
            sys::napi_get_value_string_utf8(self.0, value.0, end.cast(), length + 1, &mut written)
        })?;
        // SAFETY: that many bytes were written after `start`.
        unsafe { target.set_len(start + written) };
        Ok(())
    }

    /// The bytes of a typed array or `DataView`. They are valid as long as no JavaScript runs, on any thread that
    /// shares them.
    fn view<'a>(self, value: Value) -> Fallible<&'a [u8]> {
        let (mut kind, mut length, mut data) = (0, 0, ptr::null_mut());
        // SAFETY: the value belongs to the running callback; unused results are null.
        let status = unsafe {
            sys::napi_get_typedarray_info(
                self.0,
                value.0,
                &mut kind,
                &mut length,
                &mut data,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        if status == sys::Status::napi_ok {
            length *= element_size_bytes(kind);
        } else {
            // SAFETY: as above.
            let status = unsafe {
                sys::napi_get_dataview_info(
                    self.0,
                    value.0,
                    &mut length,
                    &mut data,
                    ptr::null_mut(),
                    ptr::null_mut(),
                )
            };
            if status != sys::Status::napi_ok {
                return Err(Failure::Argument("expected a string, a Buffer or another view of bytes"));
            }
        }
        if length == 0 {
            return Ok(&[]);
        }
        // SAFETY: the view has `length` bytes at `data`, and its value is alive until the callback returns. No
        // JavaScript of this thread changes them in the meantime; a caller that passes a view of a
        // `SharedArrayBuffer` must keep other threads from it during the call.
        Ok(unsafe { std::slice::from_raw_parts(data.cast(), length) })
    }

    /// The bytes of a typed array from `offset` on, to store into.
    pub fn slab(self, array: Value, offset: usize) -> Fallible<Slab> {
        let bytes = self.view(array)?;
        let free = bytes.get(offset..).ok_or(Failure::Argument("the offset is beyond the end"))?;
        Ok(Slab { start: free.as_ptr().cast_mut(), size: free.len() })
    }

    /// A new promise and the means to settle it.
    pub fn promise(self) -> Fallible<(Deferred, Value)> {
        let (mut deferred, mut promise) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the environment is that of the running callback.
        check(unsafe { sys::napi_create_promise(self.0, &mut deferred, &mut promise) })?;
        Ok((Deferred(deferred), Value(promise)))
    }

    /// Settles a promise. Has no effect while the environment is torn down, when no code can observe it.
    pub fn resolve(self, deferred: Deferred, value: Value) {
        // SAFETY: settling consumes the `Deferred`, so this happens once.
        unsafe { sys::napi_resolve_deferred(self.0, deferred.0, value.0) };
    }

    /// Settles a promise with an error, under the same conditions.
    pub fn reject(self, deferred: Deferred, error: Value) {
        // SAFETY: as above.
        unsafe { sys::napi_reject_deferred(self.0, deferred.0, error.0) };
    }

    /// Runs `body` in a separate handle scope, so that its values are released when it returns.
    pub fn scoped(self, body: impl FnOnce()) {
        let mut scope = ptr::null_mut();
        // SAFETY: the scope is closed below, in the order of nesting.
        let opened = unsafe { sys::napi_open_handle_scope(self.0, &mut scope) } == sys::Status::napi_ok;
        body();
        if opened {
            // SAFETY: it was opened above and is the innermost.
            unsafe { sys::napi_close_handle_scope(self.0, scope) };
        }
    }
}

fn element_size_bytes(kind: sys::napi_typedarray_type) -> usize {
    use sys::TypedarrayType as Kind;
    match kind {
        Kind::int16_array | Kind::uint16_array => 2,
        Kind::int32_array | Kind::uint32_array | Kind::float32_array => 4,
        Kind::float64_array | Kind::bigint64_array | Kind::biguint64_array => 8,
        _ => 1,
    }
}
