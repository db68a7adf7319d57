//! compact. (The other one, open, is in [`crate::bench`], because it closes the database.)

use crate::Result;
use crate::lane::{Lane, Plan};
use crate::live_keys::LiveKeys;
use crate::workload::Work;

/// Compacts the whole database: one operation.
pub(super) struct Compact;

impl Work for Compact {
    fn run(&self, lane: &mut Lane<'_>) -> Result<()> {
        lane.store.compact()?;
        lane.meter.done(0);
        Ok(())
    }

    fn check(&self, _lanes: &[Lane<'_>], _live: &mut LiveKeys) -> Result<String> {
        Ok(String::new())
    }

    fn operations(&self, _plan: &Plan) -> Option<u64> {
        None
    }
}
