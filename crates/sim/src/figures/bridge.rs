//! What came of several buses together: each bus as alone, the ports of bridges, and frames that crossed.

use crate::figures::results::Results;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What happened on several buses.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BridgedResults {
    /// Version of the results' schema.
    pub version: u32,
    /// The name of all buses together.
    pub name: String,
    /// Seed of all buses together.
    pub seed: u64,
    /// Each bus, by its name.
    pub buses: BTreeMap<String, Results>,
    /// Each bridge, as written.
    pub bridges: Vec<BridgeResults>,
    /// Frames that crossed, by the buses that they went from and to.
    pub crossings: Vec<CrossingResults>,
}

/// One bridge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BridgeResults {
    /// Its name.
    pub name: String,
    /// From the last bit of a frame to when its copy is offered.
    pub latency_s: f64,
    /// How long a silent station stays learned.
    pub ageing_s: f64,
    /// Its ports, in the order in which it names their buses.
    pub ports: Vec<PortResults>,
}

/// One port of a bridge, while it was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PortResults {
    /// Its bus.
    pub bus: String,
    /// Frames that arrived here whole, each of which is in one of the next three counts.
    pub received: u64,
    /// Of these, forwarded to the one port behind which the addressee was learned.
    pub forwarded: u64,
    /// Of these, forwarded to all other ports: for a group, or for an address that was not learned.
    pub flooded: u64,
    /// Of these, kept: the addressee was learned here, or is the bridge.
    pub filtered: u64,
    /// Frames for this port that its full queue dropped.
    pub dropped: u64,
    /// The most frames that its queue held.
    pub highest_queue: u64,
}

impl PortResults {
    /// Takes in what this port did in another run.
    pub fn add(&mut self, other: &PortResults) {
        self.received += other.received;
        self.forwarded += other.forwarded;
        self.flooded += other.flooded;
        self.filtered += other.filtered;
        self.dropped += other.dropped;
        self.highest_queue = self.highest_queue.max(other.highest_queue);
    }
}

/// Frames for one station that arrived there from another bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CrossingResults {
    /// The bus of their sender.
    pub from: String,
    /// The bus of their addressee.
    pub to: String,
    /// How many there were.
    pub frames: u64,
    /// From when its host offered the frame to when the addressee had it, on average, in nanoseconds.
    pub delay_mean_ns: f64,
    /// The same of half of them at most.
    pub delay_p50_ns: u64,
    /// The same of 99 in 100 of them at most.
    pub delay_p99_ns: u64,
    /// The longest.
    pub delay_max_ns: u64,
}
