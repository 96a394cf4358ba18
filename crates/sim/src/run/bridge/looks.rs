//! When a run of several buses looks at whether enough is known: at instants of real time, the same for all buses.

use crate::run::measure::{part, piecewise};
use crate::scenario::plan::bridged::Bridged;
use std::time::Duration;

pub(super) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// Each look but the one at the end, in nanoseconds; nothing if the run is not to end when enough is known.
///
/// The slowest bus has the longest first look, so its time doubles least often.
pub(super) fn looks(bridged: &Bridged) -> Option<Vec<u64>> {
    bridged.run.until_known()?;
    let doublings = bridged.buses.iter().map(piecewise::doublings_of).min()?;
    let look =
        |doubled: u32| nanos(bridged.run.warmup) + part(nanos(bridged.run.duration), 1, 1 << (doublings - doubled));
    Some((0..doublings).map(look).collect())
}
