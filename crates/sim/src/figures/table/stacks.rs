//! Metrics of what stacks say to each other.

use super::{Metric, Number};
use crate::figures::stacks::Protocol;

/// The only figure of TCP connections that batches of a run have.
pub const TCP_GOODPUT: &str = "tcp_goodput_mbps";

/// Figures of TCP connections, all together or those of one sending station.
pub const TCP: &[Number<Metric>] = &[
    Number {
        name: TCP_GOODPUT,
        label: "TCP goodput",
        unit: "Mb/s",
        about: "data that receiving programs got, in Mb/s of the medium's time",
        key_figure: "TCP goodput in Mb/s",
        value: |m| Some(m.tcp.as_ref()?.goodput_mbps),
    },
    Number {
        name: "tcp_segments",
        label: "TCP segments",
        unit: "",
        about: "segments with data that stacks handed over",
        key_figure: "",
        value: |m| Some(m.tcp.as_ref()?.segments as f64),
    },
    Number {
        name: "tcp_retransmissions",
        label: "TCP retransmissions",
        unit: "",
        about: "segments with data that had been handed over before",
        key_figure: "TCP retransmissions",
        value: |m| Some(m.tcp.as_ref()?.retransmissions as f64),
    },
    Number {
        name: "tcp_rtt_mean_bt",
        label: "TCP round trip, mean",
        unit: "BT",
        about: "mean time from handing a segment over until its acknowledgement arrives, one at a time, of those sent once",
        key_figure: "TCP round trip, mean",
        value: |m| m.tcp.as_ref()?.rtt_mean_bt,
    },
    Number {
        name: "tcp_rtt_max_bt",
        label: "TCP round trip, longest",
        unit: "BT",
        about: "the longest round trip",
        key_figure: "",
        value: |m| m.tcp.as_ref()?.rtt_max_bt.map(|bits| bits as f64),
    },
    Number {
        name: "tcp_transfers",
        label: "TCP transfers",
        unit: "",
        about: "transfers whose last octet has been read",
        key_figure: "",
        value: |m| Some(m.tcp.as_ref()?.transfers as f64),
    },
    Number {
        name: "tcp_transfer_mean_bt",
        label: "TCP transfer, mean",
        unit: "BT",
        about: "mean time from the opening of the connection until the receiver knows that this was the last octet",
        key_figure: "",
        value: |m| m.tcp.as_ref()?.transfer_mean_bt,
    },
    Number {
        name: "tcp_broken",
        label: "TCP connections that broke",
        unit: "",
        about: "connections that a reset ended",
        key_figure: "",
        value: |m| Some(m.tcp.as_ref()?.broken as f64),
    },
];

/// Figures of echo requests, all together or those of one station that sends them.
pub const PING: &[Number<Metric>] = &[
    Number {
        name: "ping_sent",
        label: "Echo requests",
        unit: "",
        about: "echo requests that programs sent",
        key_figure: "",
        value: |m| Some(m.ping.as_ref()?.sent as f64),
    },
    Number {
        name: "ping_received",
        label: "Echo replies",
        unit: "",
        about: "replies that arrived in time",
        key_figure: "",
        value: |m| Some(m.ping.as_ref()?.received as f64),
    },
    Number {
        name: "ping_lost",
        label: "Echo requests lost",
        unit: "",
        about: "requests without a reply within `timeout`",
        key_figure: "Echo requests lost",
        value: |m| Some(m.ping.as_ref()?.lost as f64),
    },
    Number {
        name: "ping_rtt_mean_bt",
        label: "Ping round trip, mean",
        unit: "BT",
        about: "mean time from sending a request until the last frame of its reply arrives",
        key_figure: "Ping round trip, mean",
        value: |m| m.ping.as_ref()?.rtt_mean_bt,
    },
    Number {
        name: "ping_rtt_p50_bt",
        label: "Ping round trip, median",
        unit: "BT",
        about: "median round trip, like the 99th percentile at most one part in 128 above the exact one",
        key_figure: "",
        value: |m| Some(m.ping.as_ref()?.rtt_p50_bt? as f64),
    },
    Number {
        name: "ping_rtt_p99_bt",
        label: "Ping round trip, 99th percentile",
        unit: "BT",
        about: "99th percentile of the round trips",
        key_figure: "Ping round trip, 99th percentile",
        value: |m| Some(m.ping.as_ref()?.rtt_p99_bt? as f64),
    },
    Number {
        name: "ping_rtt_max_bt",
        label: "Ping round trip, longest",
        unit: "BT",
        about: "the longest round trip",
        key_figure: "",
        value: |m| Some(m.ping.as_ref()?.rtt_max_bt? as f64),
    },
];

/// Figures of UDP datagrams, all together or those of one station that sends them.
pub const UDP: &[Number<Metric>] = &[
    Number {
        name: "udp_goodput_mbps",
        label: "UDP goodput",
        unit: "Mb/s",
        about: "data of datagrams that receiving programs got, in Mb/s of the medium's time",
        key_figure: "UDP goodput in Mb/s",
        value: |m| Some(m.udp.as_ref()?.goodput_mbps),
    },
    Number {
        name: "udp_sent",
        label: "UDP datagrams",
        unit: "",
        about: "datagrams that programs sent",
        key_figure: "",
        value: |m| Some(m.udp.as_ref()?.sent as f64),
    },
    Number {
        name: "udp_received",
        label: "UDP datagrams received",
        unit: "",
        about: "datagrams that receiving programs got, all their fragments",
        key_figure: "",
        value: |m| Some(m.udp.as_ref()?.received as f64),
    },
    Number {
        name: "udp_lost",
        label: "UDP datagrams lost",
        unit: "",
        about: "datagrams that had not arrived when a later one did",
        key_figure: "UDP datagrams lost",
        value: |m| Some(m.udp.as_ref()?.lost as f64),
    },
    Number {
        name: "udp_delay_mean_bt",
        label: "UDP delay, mean",
        unit: "BT",
        about: "mean time from sending a datagram until its last frame arrives",
        key_figure: "UDP delay, mean",
        value: |m| m.udp.as_ref()?.delay_mean_bt,
    },
    Number {
        name: "udp_delay_p50_bt",
        label: "UDP delay, median",
        unit: "BT",
        about: "median delay, like the 99th percentile at most one part in 128 above the exact one",
        key_figure: "",
        value: |m| Some(m.udp.as_ref()?.delay_p50_bt? as f64),
    },
    Number {
        name: "udp_delay_p99_bt",
        label: "UDP delay, 99th percentile",
        unit: "BT",
        about: "99th percentile of the delays",
        key_figure: "UDP delay, 99th percentile",
        value: |m| Some(m.udp.as_ref()?.delay_p99_bt? as f64),
    },
    Number {
        name: "udp_delay_max_bt",
        label: "UDP delay, longest",
        unit: "BT",
        about: "the longest delay",
        key_figure: "",
        value: |m| Some(m.udp.as_ref()?.delay_max_bt? as f64),
    },
];

/// Figures of what stacks of this protocol say to each other.
pub fn of_protocol(protocol: Protocol) -> &'static [Number<Metric>] {
    match protocol {
        Protocol::Tcp => TCP,
        Protocol::Ping => PING,
        Protocol::Udp => UDP,
    }
}

/// Those of all protocols.
pub fn of_stacks() -> impl Iterator<Item = &'static Number<Metric>> {
    Protocol::ALL.into_iter().flat_map(of_protocol)
}
