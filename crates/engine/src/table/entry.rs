//! What a lookup finds in a table: an entry, where it lies or kept.
//!
//! predecessor: [`lookup`](super::lookup), [`hash_lookup`](super::hash_lookup) · successor: [`pinned_value`](super::pinned_value)

use terrace_format::internal_key::{SequenceNumber, ValueKind};

use super::pinned_value::{PinnedValue, TableValue};

/// What a table says about a user key.
#[derive(Debug, Clone)]
pub struct TableEntry {
    /// Whether the key was written or deleted.
    pub kind: ValueKind,
    /// The value; empty for a deletion.
    pub value: PinnedValue,
}

/// An entry in the place where it was found, for the duration of a call.
#[derive(Debug)]
pub(crate) struct FoundEntry<'a> {
    pub(crate) sequence: SequenceNumber,
    pub(crate) kind: ValueKind,
    pub(crate) value: TableValue<'a>,
}
