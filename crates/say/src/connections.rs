//! What stacks said to each other, for people: TCP connections, echo requests, datagrams.

use super::{NOT_MEASURED, plain_table};
use sim::figures::results::{Results, StationResults};
use sim::figures::stacks::{PingResults, UdpResults};
use sim::figures::tcp::TcpResults;
use sim::words::units::group;

/// The part of the table that only a run with stacks has.
pub fn connections(results: &Results) -> String {
    tcp(results) + &pings(results) + &datagrams(results)
}

/// What each station that has some came to, and all together.
fn rows<'a, T>(
    results: &'a Results,
    all: &'a T,
    own: impl Fn(&'a StationResults) -> Option<&'a T>,
) -> Vec<(&'a str, &'a T)> {
    let own = results.stations.iter().filter_map(|station| Some((station.name.as_str(), own(station)?)));
    let mut rows: Vec<_> = own.collect();
    if rows.len() != 1 {
        rows.push(("all", all));
    }
    rows
}

fn millis(results: &Results, bits: Option<f64>) -> String {
    let seconds = bits.map(|bits| bits / results.config.rate_bits_per_second as f64);
    seconds.map_or_else(|| NOT_MEASURED.to_owned(), |seconds| format!("{:.2}", seconds * 1e3))
}

fn pings(results: &Results) -> String {
    let Some(all) = &results.medium.ping else { return String::new() };
    let whole = |bits: Option<u64>| millis(results, bits.map(|bits| bits as f64));
    let row = |(name, ping): (&str, &PingResults)| {
        let counts = [ping.sent, ping.received, ping.lost].map(group);
        let times = [millis(results, ping.rtt_mean_bt), whole(ping.rtt_p99_bt), whole(ping.rtt_max_bt)];
        [&[name.to_owned()], &counts[..], &times].concat().try_into().expect("as many as the head has")
    };
    let head = ["ping from", "sent", "answered", "lost", "round trip, ms", "99 %", "longest"];
    plain_table::<7>(head, rows(results, all, |station| station.ping.as_ref()).into_iter().map(row)) + "\n"
}

fn datagrams(results: &Results) -> String {
    let Some(all) = &results.medium.udp else { return String::new() };
    let whole = |bits: Option<u64>| millis(results, bits.map(|bits| bits as f64));
    let row = |(name, udp): (&str, &UdpResults)| {
        let counts = [udp.sent, udp.received, udp.lost].map(group);
        let times = [millis(results, udp.delay_mean_bt), whole(udp.delay_p99_bt), whole(udp.delay_max_bt)];
        let first = [name.to_owned(), format!("{:.2}", udp.goodput_mbps)];
        [&first, &counts[..], &times].concat().try_into().expect("as many as the head has")
    };
    let head = ["UDP from", "Mb/s", "sent", "received", "lost", "delay, ms", "99 %", "longest"];
    plain_table::<8>(head, rows(results, all, |station| station.udp.as_ref()).into_iter().map(row)) + "\n"
}

fn tcp(results: &Results) -> String {
    let Some(all) = &results.medium.tcp else { return String::new() };
    let row = |(name, tcp): (&str, &TcpResults)| {
        [
            name.to_owned(),
            format!("{:.2}", tcp.goodput_mbps),
            group(tcp.segments),
            group(tcp.retransmissions),
            millis(results, tcp.rtt_mean_bt),
            group(tcp.transfers),
            millis(results, tcp.transfer_mean_bt),
        ]
    };
    let head = ["TCP from", "Mb/s", "segments", "again", "round trip, ms", "transfers", "each, ms"];
    let broken = match all.broken {
        0 => String::new(),
        count => format!("  broken        {} connections: the other end knew nothing of them\n", group(count)),
    };
    format!("{}{broken}\n", plain_table(head, rows(results, all, |station| station.tcp.as_ref()).into_iter().map(row)))
}
