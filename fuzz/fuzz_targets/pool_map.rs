#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| terrace_fuzz::pool_map::run(bytes));
