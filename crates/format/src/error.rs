//! The only error of this crate: bytes that are not as they should be.

/// What the caller can do about a [`FormatError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FormatErrorKind {
    /// The bytes break the format's rules: they are damaged, or they are something else.
    Corrupt,
    /// The bytes are well formed as far as they can be read, but their version, dialect or size is one that this
    /// crate does not support. A newer release, or another program, may read them.
    Unsupported,
}

/// A structure could not be decoded, or encoding it would exceed a limit.
///
/// Prints as `structure: problem (at byte N)`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{structure}: {problem} (at byte {offset})")]
pub struct FormatError {
    /// What the caller can do about it.
    pub kind: FormatErrorKind,
    /// The structure being decoded, in the words of `docs/format`: "version edit", "block", …
    pub structure: &'static str,
    /// What is wrong, and with which field.
    pub problem: String,
    /// Where it is wrong, in bytes from the start of the structure.
    pub offset: u64,
}

impl FormatError {
    /// Creates an error of kind [`FormatErrorKind::Corrupt`].
    #[cold]
    pub fn corrupt(structure: &'static str, problem: impl Into<String>, offset: u64) -> Self {
        Self { kind: FormatErrorKind::Corrupt, structure, problem: problem.into(), offset }
    }

    /// Creates an error of kind [`FormatErrorKind::Unsupported`].
    #[cold]
    pub fn unsupported(structure: &'static str, problem: impl Into<String>, offset: u64) -> Self {
        Self { kind: FormatErrorKind::Unsupported, structure, problem: problem.into(), offset }
    }
}

/// A result whose error is a [`FormatError`].
pub type Result<T> = std::result::Result<T, FormatError>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_structure_the_problem_and_the_place() {
        let error = FormatError::corrupt("version edit", "unknown tag 8", 17);
        assert_eq!(error.to_string(), "version edit: unknown tag 8 (at byte 17)");
        assert_eq!(error.kind, FormatErrorKind::Corrupt);
        assert_eq!(FormatError::unsupported("block", "x", 0).kind, FormatErrorKind::Unsupported);
    }
}
