//! The ABI of `terrace-wasm` and `terrace-wasm-memory`. It passes only numbers, and bytes in the module's memory.
//!
//! * The host requests room with `terrace_input` and stores the bytes of arguments there, one after another. A function
//!   takes their lengths, and the bytes are gone after the call.
//! * Bytes of results are at `terrace_output`, `terrace_output_length` of them, until the next call.
//! * A function that fails returns [`FAILED`]. The output is then the kind of the error, a line break and the
//!   message.
//! * Snapshots and iterators are numbers above 0.
//!
//! A module imports the function `terrace.panicked(pointer, length)`, which receives the message of a panic, which is a
//! bug of ours. The instance traps after it and must not be used again.

mod buffers;
mod conditions;
mod numbered;
mod page;
mod panic;

pub use buffers::{
    FAILED, Failure, NONE, NOT_FOUND, Outcome, answer, input, output, output_length, report, split_bounds,
    with_input,
};
pub use conditions::{Condition, conditions, report_failed};
pub use numbered::Numbered;
pub use page::{Page, RangeFlags};
pub use panic::report_to_host;
