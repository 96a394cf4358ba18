//! What bridges did, for people.

use super::plain_table;
use sim::figures::bridge::BridgedResults;
use sim::words::units::group;

/// The tables of all bridges: their ports, and what crossed.
pub fn bridges(results: &BridgedResults) -> String {
    let ports = results.bridges.iter().flat_map(|bridge| bridge.ports.iter().map(move |port| (bridge, port)));
    let rows = ports.map(|(bridge, port)| {
        [
            format!("{} on {}", bridge.name, port.bus),
            group(port.received),
            group(port.forwarded),
            group(port.flooded),
            group(port.filtered),
            group(port.dropped),
            group(port.highest_queue),
        ]
    });
    let header = ["bridge", "received", "forwarded", "flooded", "filtered", "dropped", "highest queue"];
    let mut text = plain_table(header, rows);
    text += "  received = forwarded + flooded + filtered; dropped: by the full queue of this port\n";
    let us = |nanos: f64| format!("{:.1}", nanos / 1000.0);
    let rows: Vec<_> = results
        .crossings
        .iter()
        .map(|crossing| {
            [
                format!("{} to {}", crossing.from, crossing.to),
                group(crossing.frames),
                us(crossing.delay_mean_ns),
                us(crossing.delay_p50_ns as f64),
                us(crossing.delay_p99_ns as f64),
                us(crossing.delay_max_ns as f64),
            ]
        })
        .collect();
    if rows.is_empty() {
        return text + "\nNo frame crossed a bridge to its addressee.\n";
    }
    text + "\n" + &plain_table(["crossed, us", "frames", "mean", "p50", "p99", "longest"], rows)
}
