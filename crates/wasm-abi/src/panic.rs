//! Panics: the host gets the message, then the instance traps.

#[link(wasm_import_module = "terrace")]
unsafe extern "C" {
    /// Takes the message of a panic. Its bytes are valid during the call.
    fn panicked(message: *const u8, length: u32);
}

/// Lets the host have the message of a panic.
pub fn report_to_host() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.to_string();
        // SAFETY: the host only reads the bytes, during the call.
        unsafe { panicked(message.as_ptr(), message.len() as u32) };
    }));
}
