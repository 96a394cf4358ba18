//! Figures of TCP connections: sums, and what follows from them.

use crate::figures::stacks::mbps;
use medium::BitTimes;
use serde::{Deserialize, Serialize};

/// What the TCP connections of a station, or of all stations, came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TcpResults {
    /// Octets that receiving programs got, in Mb/s of the medium's time.
    pub goodput_mbps: f64,
    /// Segments with data that stacks handed over, those that were sent again included.
    pub segments: u64,
    /// Of these, those that had been sent before.
    pub retransmissions: u64,
    /// Mean time from handing a segment over until its acknowledgement arrives, in bit times; of segments that were sent once.
    pub rtt_mean_bt: Option<f64>,
    /// The longest.
    pub rtt_max_bt: Option<u64>,
    /// Transfers whose last octet has been read.
    pub transfers: u64,
    /// Mean time from the opening of their connections until the receiver knows that, in bit times.
    pub transfer_mean_bt: Option<f64>,
    /// Connections that a reset ended.
    pub broken: u64,
}

/// The sums from which the figures follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpSums {
    /// Octets that receiving programs got.
    pub octets: u64,
    /// Segments with data.
    pub segments: u64,
    /// Those of them that were sent again.
    pub retransmissions: u64,
    /// Round trips that were measured.
    pub round_trips: Spans,
    /// Transfers that are over.
    pub transfers: Spans,
    /// Connections that broke.
    pub broken: u64,
}

/// Spans of time, summed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    count: u64,
    sum: u64,
    longest: u64,
}

impl Spans {
    /// One more.
    pub fn add(&mut self, span: BitTimes) {
        *self = self.and(Spans { count: 1, sum: span.get(), longest: span.get() });
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Spans) -> Spans {
        Spans { count: self.count + other.count, sum: self.sum + other.sum, longest: self.longest.max(other.longest) }
    }

    fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }
}

impl TcpSums {
    /// Both together.
    #[must_use]
    pub fn and(self, other: TcpSums) -> TcpSums {
        TcpSums {
            octets: self.octets + other.octets,
            segments: self.segments + other.segments,
            retransmissions: self.retransmissions + other.retransmissions,
            round_trips: self.round_trips.and(other.round_trips),
            transfers: self.transfers.and(other.transfers),
            broken: self.broken + other.broken,
        }
    }

    /// The figures of `measured` bit times at `rate` bits a second.
    pub fn results(self, measured: u64, rate: u64) -> TcpResults {
        TcpResults {
            goodput_mbps: mbps(self.octets, measured, rate),
            segments: self.segments,
            retransmissions: self.retransmissions,
            rtt_mean_bt: self.round_trips.mean(),
            rtt_max_bt: (self.round_trips.count > 0).then_some(self.round_trips.longest),
            transfers: self.transfers.count,
            transfer_mean_bt: self.transfers.mean(),
            broken: self.broken,
        }
    }
}
