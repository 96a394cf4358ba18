//! The figures of a medium without collision detection; `figures::slotted` works them out.

use serde::{Deserialize, Serialize};

/// The figures of a slotted medium.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SlottedResults {
    /// S: frames that got through, a slot.
    pub throughput: f64,
    /// G: attempts, and with CSMA frames that found the line busy and gave way, a slot.
    pub offered_traffic: f64,
    /// Mean number of backlogged frames.
    pub backlog: f64,
    /// The part of the time in which 0, 1, 2 … frames were backlogged; the last of 65,536 places has more, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backlog_distribution: Vec<f64>,
    /// Mean time from a frame's arrival to its last bit, in slots; none if no frame got through.
    pub delay: Option<f64>,
    /// Of CSMA/CA: data of acknowledged frames, and of those for groups, in Mb/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput_mbps: Option<f64>,
    /// Of CSMA/CA: the part of attempts that met another signal and got no answer; none without attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collision_probability: Option<f64>,
    /// Of CSMA/CA: attempts in a slot of the sender's own counter; none without attempts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tau: Option<f64>,
    /// The longest that a frame has waited which is not through at the end, in bit times; none if no frame waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_waiting_bt: Option<u64>,
    /// Of infinitely many users: when they ran away, if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_away: Option<RanAway>,
}

/// When the backlog of infinitely many users got out of hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RanAway {
    /// Above how many backlogged frames more come than get through.
    pub unstable_backlog: u64,
    /// Of each run that ran away, the slot in which the backlog passed that for the last time.
    pub slots: Vec<u64>,
}

impl RanAway {
    /// Of runs that ran away in these slots; none if no run did.
    pub fn of(unstable_backlog: u64, slots: Vec<u64>) -> Option<RanAway> {
        (!slots.is_empty()).then_some(RanAway { unstable_backlog, slots })
    }

    /// Their mean.
    pub fn mean_slot(&self) -> f64 {
        self.slots.iter().sum::<u64>() as f64 / self.slots.len() as f64
    }
}
