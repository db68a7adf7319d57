//! How much of their work tests do: all of it, or as much as shows that each kind of it is still right.

/// The environment variable that asks for the short form by `1`.
pub const SHORT_VARIABLE: &str = "TERRACE_SHORT";

/// Whether tests take their short form.
pub fn is_short() -> bool {
    std::env::var_os(SHORT_VARIABLE).is_some_and(|value| value == "1")
}

/// `full`, or a tenth of it in the short form, rounded up.
pub fn scaled(full: u64) -> u64 {
    if is_short() { full.div_ceil(10) } else { full }
}
