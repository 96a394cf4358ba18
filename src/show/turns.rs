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
    format!("{table}{}\n\n", told(cycles))
}

fn told(cycles: &PlcaResults) -> String {
    let Some(mean) = cycles.cycle_mean_bt else { return "  cycles             none ended".to_owned() };
    format!(
        "  cycles             {}, {} of them empty; {} BT mean, {} to {} BT",
        group(cycles.cycles),
        group(cycles.empty_cycles),
        group(mean.round() as u64),
        group(cycles.cycle_min_bt),
        group(cycles.cycle_max_bt)
    )
}
