//! Numbers of things in words.

/// `1 record`, `2 records`.
pub(crate) fn plural(count: u64, singular: &str) -> String {
    format!("{count} {singular}{}", if count == 1 { "" } else { "s" })
}
