//! One operation of a batch or an import.

/// What to do with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Put { key: Vec<u8>, value: Vec<u8> },
    Delete { key: Vec<u8> },
}
