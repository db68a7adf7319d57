#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| terrace_fuzz::log_reader::run(bytes));
