#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| terrace_fuzz::file_name::run(bytes));
