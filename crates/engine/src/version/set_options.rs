//! Options of a version set.

use std::path::PathBuf;
use std::sync::Arc;

use terrace_env::Env;
use terrace_format::internal_key::InternalKeyComparator;

/// Where the database is and how it is ordered.
#[derive(Clone, Debug)]
pub struct VersionSetOptions {
    /// The environment.
    pub env: Arc<dyn Env>,
    /// The database's directory. It must exist.
    pub directory: PathBuf,
    /// The order of the keys.
    pub comparator: InternalKeyComparator,
    /// Size from which a MANIFEST is replaced by a new one. One that holds many files may grow to twice its snapshot
    /// before that.
    pub manifest_size_limit_bytes: u64,
    /// Write nothing: every [`VersionSet::apply`] fails with kind `ReadOnly`.
    pub read_only: bool,
}
