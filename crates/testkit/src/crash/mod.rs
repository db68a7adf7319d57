//! Databases on a simulated machine that loses power, or whose process dies, at any call; in some lives a call fails.
//!
//! After each such end the database is opened again. After a power cut it must hold some prefix of the batches, with at
//! least all up to the last that was promised to be durable; after the death of the process every batch that was
//! acknowledged. Each batch is there whole or not at all. Finished checkpoints hold what they held.

mod history;
mod life;

pub(crate) use history::{Batch, Model, compare};
pub use life::run;
