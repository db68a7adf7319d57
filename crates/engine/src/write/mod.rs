//! Writing: the commit line that orders writers, and the queue for writers that do not wait.

mod cohort;
pub(crate) mod commit;
mod gather;
pub(crate) mod line;
pub(crate) mod submit;
pub(crate) mod submit_queue;
