//! Whether a live run is to be trusted: by how much the machine fell behind, against a tolerance that the user chooses.

use sim::figures::results::{EmulatorResults, Results};

/// How much of the time may be lost, unless said otherwise.
pub const TOLERANCE: f64 = 0.01;

/// What is to be said against a run; nothing if it can be trusted.
///
/// `tolerance` is a part: of the time in which the medium's clock may have stood, and of the frames that may have been
/// handed over late, dropped, or stamped too late.
pub fn against(results: &Results, tolerance: f64) -> Vec<String> {
    let Some(emulator) = &results.emulator else { return Vec::new() };
    let offered: u64 = results.stations.iter().map(|station| station.counter("offered")).sum();
    let lost = emulator.undelivered.ring_drops + emulator.machine.overload_drops;
    let parts = [
        (slipped(results, emulator), "of the time the medium's clock stood still"),
        (
            part(emulator.machine.late_deliveries, emulator.timing.deliveries as f64),
            "of the deliveries were more than 1 ms late",
        ),
        (
            part(emulator.timing.late_arrivals, offered as f64),
            "of the frames were seen too late for their place in the order",
        ),
        (part(lost, (offered + lost) as f64), "of the frames were lost in the emulator"),
    ];
    let above = parts.into_iter().filter(|(part, _)| *part > tolerance);
    above.map(|(part, what)| format!("{:.1} % {what}", 100.0 * part)).collect()
}

/// The part of the run in which the medium's clock stood still.
pub fn slipped(results: &Results, emulator: &EmulatorResults) -> f64 {
    let scale = if emulator.machine.time_scale > 0.0 { emulator.machine.time_scale } else { 1.0 };
    let seconds = results.measured_bit_times as f64 / (results.config.rate_bits_per_second as f64 * scale);
    part(emulator.machine.slip_ns, seconds * 1e9)
}

fn part(count: u64, of: f64) -> f64 {
    if of > 0.0 { count as f64 / of } else { 0.0 }
}

/// The line that a table ends with, and the value of `emulator.verdict`.
pub fn verdict(against: &[String]) -> String {
    if against.is_empty() { "trusted".to_owned() } else { against.join("; ") }
}
