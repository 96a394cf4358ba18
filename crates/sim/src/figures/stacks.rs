//! Figures of what stations' stacks say to each other: the protocols, sums of each, and what follows from them.

use crate::figures::delays::Delay;
use crate::figures::tcp::TcpSums;
use medium::BitTimes;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a source's stack and its destination's have to say to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// A TCP connection.
    Tcp,
    /// Echo requests and replies.
    Ping,
    /// Datagrams.
    Udp,
}

impl Protocol {
    /// All, in the order of columns.
    pub const ALL: [Protocol; 3] = [Protocol::Tcp, Protocol::Ping, Protocol::Udp];

    /// What a message calls a source of it.
    pub fn noun(self) -> &'static str {
        match self {
            Protocol::Tcp => "a TCP connection",
            Protocol::Ping => "a ping",
            Protocol::Udp => "UDP traffic",
        }
    }
}

/// As traffic and results call it.
impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Tcp => "tcp",
            Protocol::Ping => "ping",
            Protocol::Udp => "udp",
        })
    }
}

/// What the echo requests of a station, or of all stations, came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PingResults {
    /// Echo requests that programs sent.
    pub sent: u64,
    /// Replies that arrived in time.
    pub received: u64,
    /// Requests without a reply in time.
    pub lost: u64,
    /// Mean time from sending a request until the last frame of its reply arrives, in bit times.
    pub rtt_mean_bt: Option<f64>,
    /// Its median.
    pub rtt_p50_bt: Option<u64>,
    /// Its 99th percentile.
    pub rtt_p99_bt: Option<u64>,
    /// The longest.
    pub rtt_max_bt: Option<u64>,
}

/// What the UDP datagrams of a station, or of all stations, came to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UdpResults {
    /// Data that receiving programs got, in Mb/s of the medium's time.
    pub goodput_mbps: f64,
    /// Datagrams that programs sent.
    pub sent: u64,
    /// Datagrams that receiving programs got.
    pub received: u64,
    /// Datagrams that had not arrived when a later one did.
    pub lost: u64,
    /// Mean time from sending a datagram until its last frame arrives, in bit times.
    pub delay_mean_bt: Option<f64>,
    /// Its median.
    pub delay_p50_bt: Option<u64>,
    /// Its 99th percentile.
    pub delay_p99_bt: Option<u64>,
    /// The longest.
    pub delay_max_bt: Option<u64>,
}

/// Quantiles are off by less than one part in 128: a thousand stations' times take some megabytes.
const BITS: u32 = 8;

/// What became of messages, and how long they took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Those that programs sent.
    pub sent: u64,
    /// Those that are lost.
    pub lost: u64,
    /// Octets of data of those that arrived.
    octets: u64,
    times: Delay<BITS>,
    received: u64,
}

impl Messages {
    /// One has arrived, or its answer has.
    pub fn arrives(&mut self, octets: u64, after: BitTimes) {
        self.received += 1;
        self.octets += octets;
        self.times.record(after.get());
    }

    /// Takes in another's.
    pub fn add(&mut self, other: &Messages) {
        self.sent += other.sent;
        self.lost += other.lost;
        self.octets += other.octets;
        self.received += other.received;
        self.times.add(&other.times);
    }

    /// The figures of echo requests.
    pub fn ping(&self) -> PingResults {
        let times = self.times.figures();
        PingResults {
            sent: self.sent,
            received: self.received,
            lost: self.lost,
            rtt_mean_bt: times.mean_bt,
            rtt_p50_bt: times.p50_bt,
            rtt_p99_bt: times.p99_bt,
            rtt_max_bt: times.max_bt,
        }
    }

    /// The figures of datagrams in `measured` bit times at `rate` bits a second.
    pub fn udp(&self, measured: u64, rate: u64) -> UdpResults {
        let times = self.times.figures();
        UdpResults {
            goodput_mbps: mbps(self.octets, measured, rate),
            sent: self.sent,
            received: self.received,
            lost: self.lost,
            delay_mean_bt: times.mean_bt,
            delay_p50_bt: times.p50_bt,
            delay_p99_bt: times.p99_bt,
            delay_max_bt: times.max_bt,
        }
    }
}

/// `octets` in `measured` bit times at `rate` bits a second, in Mb/s.
pub(super) fn mbps(octets: u64, measured: u64, rate: u64) -> f64 {
    if measured == 0 { 0.0 } else { octets as f64 * 8.0 * rate as f64 / measured as f64 / 1e6 }
}

/// The sums of one station's stacks, by the stations that begin to talk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackSums {
    /// Of its TCP connections.
    pub tcp: TcpSums,
    /// Of its echo requests.
    pub ping: Messages,
    /// Of its datagrams.
    pub udp: Messages,
}

impl StackSums {
    /// Takes in another's.
    pub fn add(&mut self, other: &StackSums) {
        self.tcp = self.tcp.and(other.tcp);
        self.ping.add(&other.ping);
        self.udp.add(&other.udp);
    }
}
