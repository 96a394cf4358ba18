//! What PLCA did, for people: each node's turns, and the bus's cycles.

use super::plain_table;
use sim::figures::plca::PlcaResults;
use sim::figures::results::Results;
use sim::words::units::group;

/// The part of the table that only a bus with PLCA has.
pub fn turns(results: &Results) -> String {
    let Some(cycles) = &results.medium.plca else { return String::new() };
    let rows = results.stations.iter().filter_map(|station| {
        let plca = station.plca.as_ref()?;
        let counter = |name: &str| group(plca.counters.get(name).copied().unwrap_or(0));
        let id = if plca.settings.node_id == 255 { "none".to_owned() } else { plca.settings.node_id.to_string() };
        Some([
            station.name.clone(),
            id,
            if plca.status { "on" } else { "off" }.to_owned(),
            counter("opportunities"),
            counter("used"),
            counter("yielded"),
            counter("logical_collisions"),
            counter("corrupted"),
        ])
    });
    let table =
        plain_table(["turns", "id", "status", "in all", "used", "empty", "told to wait", "met on the line"], rows);
    format!("{table}{}\n\n{}", told(cycles), waits(results, cycles))
}

/// How long each node's frames waited from the head of the queue to the first bit, beside the bound.
fn waits(results: &Results, cycles: &PlcaResults) -> String {
    let bits = |bits: Option<u64>| bits.map_or_else(|| "-".to_owned(), group);
    let rows = results.stations.iter().filter_map(|station| {
        let delay = station.access_delay.as_ref().filter(|delay| delay.max_bt.is_some())?;
        Some([station.name.clone(), bits(delay.p50_bt), bits(delay.p99_bt), bits(delay.p999_bt), bits(delay.max_bt)])
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return String::new();
    }
    let table = plain_table(["wait, BT", "p50", "p99", "p99.9", "longest"], rows);
    let bound = match (cycles.access_delay_bound_bt.zip(cycles.frame_max_octets), cycles.noise_until_bt) {
        (Some((bound, octets)), _) => {
            format!("  bound              {} BT, with frames of up to {} octets\n", group(bound), group(octets.into()))
        }
        (None, Some(until)) => {
            let all = group(results.measured_bit_times);
            format!("  bound              none: noise at a node until {} BT of {all} BT measured\n", group(until))
        }
        (None, None) => String::new(),
    };
    format!("{table}{bound}\n")
}

fn told(cycles: &PlcaResults) -> String {
    let Some(mean) = cycles.cycle_mean_bt else { return "  cycles             none ended".to_owned() };
    let silences = match cycles.silences {
        0 => String::new(),
        count => format!("; {} silences", group(count)),
    };
    format!(
        "  cycles             {}, {} of them empty; {} BT mean, {} to {} BT{silences}",
        group(cycles.cycles),
        group(cycles.empty_cycles),
        group(mean.round() as u64),
        group(cycles.cycle_min_bt),
        group(cycles.cycle_max_bt)
    )
}
