//! The tests that run the program `terrace`, themselves in one program: most of the time to build a test goes into linking.

mod bad_input;
mod bench;
mod copying;
mod documents;
mod help;
mod inspecting;
mod interchange;
mod other_back_ends;
mod pipes;
mod read_only;
mod reading;
mod shell;
mod support;
mod verifying;
mod writing;
