//! The bytes that the host and the module give each other, and how failures are reported.

use std::cell::RefCell;

/// What a function of a module returns if it has failed.
pub const FAILED: i32 = -2;

/// What `terrace_get` returns if there is no such key.
pub const NOT_FOUND: i32 = -1;

/// A length that says that there are no such bytes.
pub const NONE: u32 = u32::MAX;

/// Memory beyond this size is given back once it is no longer needed.
const MAX_KEPT_BYTES: usize = 1 << 20;

/// Why a call failed: a kind and a message.
pub struct Failure {
    /// The kind, which the host turns into a code.
    pub kind: String,
    /// For people to read.
    pub message: String,
}

impl Failure {
    /// Makes a failure.
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        Self { kind: kind.into(), message: message.into() }
    }

    /// The failure of a call that names what does not exist.
    pub fn unknown(what: &str) -> Self {
        Self::new("InvalidArgument", format!("there is no such {what}"))
    }
}

/// The result of a call that can fail.
pub type Outcome<T> = Result<T, Failure>;

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The most bytes that arguments may have: 512 MiB, like a write batch, and some room for encoding them.
const MAX_INPUT_BYTES: usize = (512 << 20) + (1 << 20);

/// Makes room for the bytes of arguments. Null if there are too many, or no memory for them.
pub fn input(size_bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        if size_bytes < MAX_KEPT_BYTES && input.capacity() > MAX_KEPT_BYTES {
            *input = Vec::new();
        }
        if input.len() < size_bytes {
            // What it holds is not needed any more, and need not be copied.
            input.clear();
            if size_bytes > MAX_INPUT_BYTES || input.try_reserve_exact(size_bytes).is_err() {
                return std::ptr::null_mut();
            }
            input.resize(size_bytes, 0);
        }
        input.as_mut_ptr()
    })
}

/// Where the output is.
pub fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

/// The length of the output, in bytes.
pub fn output_length() -> u32 {
    OUTPUT.with_borrow(|output| output.len() as u32)
}

/// Runs a call with the bytes of its arguments.
pub fn with_input<T>(call: impl FnOnce(&[u8]) -> T) -> T {
    INPUT.with_borrow(|input| call(input))
}

/// Runs a call with the bytes of its arguments and the output, which is empty at first.
pub fn answer<T>(call: impl FnOnce(&[u8], &mut Vec<u8>) -> Outcome<T>) -> Outcome<T> {
    with_input(|input| {
        OUTPUT.with_borrow_mut(|output| {
            output.clear();
            if output.capacity() > MAX_KEPT_BYTES {
                *output = Vec::new();
            }
            call(input, output)
        })
    })
}

/// What the host gets: the result, or [`FAILED`] with the error as output.
pub fn report(outcome: Outcome<i32>) -> i32 {
    outcome.unwrap_or_else(|Failure { kind, message }| {
        OUTPUT.with_borrow_mut(|output| {
            output.clear();
            output.extend_from_slice(format!("{kind}\n{message}").as_bytes());
        });
        FAILED
    })
}

/// Takes two keys from the bytes of arguments. Each may be missing, which its length [`NONE`] says.
pub fn split_bounds(
    input: &[u8],
    lower_length: u32,
    upper_length: u32,
) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    let mut rest = input;
    let mut bound = |length: u32| {
        (length != NONE).then(|| {
            let (bytes, after) = rest.split_at(length as usize);
            rest = after;
            bytes.to_vec()
        })
    };
    let lower = bound(lower_length);
    (lower, bound(upper_length))
}
