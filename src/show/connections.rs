//! What TCP connections came to, for people.

use super::{NOT_MEASURED, plain_table};
use sim::figures::results::Results;
use sim::figures::tcp::TcpResults;
use sim::words::units::group;

/// The part of the table that only a run with TCP connections has.
pub fn connections(results: &Results) -> String {
    let Some(all) = &results.medium.tcp else { return String::new() };
    let own = results.stations.iter().filter_map(|station| Some((station.name.as_str(), station.tcp.as_ref()?)));
    let mut rows: Vec<(&str, &TcpResults)> = own.collect();
    if rows.len() != 1 {
        rows.push(("all", all));
    }
    let millis = |bits: Option<f64>| {
        let seconds = bits.map(|bits| bits / results.config.rate_bits_per_second as f64);
        seconds.map_or_else(|| NOT_MEASURED.to_owned(), |seconds| format!("{:.2}", seconds * 1e3))
    };
    let row = |(name, tcp): (&str, &TcpResults)| {
        [
            name.to_owned(),
            format!("{:.2}", tcp.goodput_mbps),
            group(tcp.segments),
            group(tcp.retransmissions),
            millis(tcp.rtt_mean_bt),
            group(tcp.transfers),
            millis(tcp.transfer_mean_bt),
        ]
    };
    let head = ["TCP from", "Mb/s", "segments", "again", "round trip, ms", "transfers", "each, ms"];
    let broken = match all.broken {
        0 => String::new(),
        count => format!("  broken        {} connections: the other end knew nothing of them\n", group(count)),
    };
    format!("{}{broken}\n", plain_table(head, rows.into_iter().map(row)))
}
