//! Whether a live run is to be trusted: by how much the machine fell behind, against a tolerance that the user chooses.

use sim::figures::results::{EmulatorResults, FileResults, Results};
use sim::words::units::group;

/// How much of the time may be lost, unless said otherwise.
pub const TOLERANCE: f64 = 0.01;

/// What is to be said against a run; nothing if it can be trusted.
///
/// `tolerance` is a part: of the time in which the machine may have stopped the medium's clock, and of the frames that may
/// have been handed over late, dropped, or stamped too late.
pub fn against(results: &Results, tolerance: f64) -> Vec<String> {
    let Some(emulator) = &results.emulator else { return Vec::new() };
    let offered: u64 = results.stations.iter().map(|station| station.counter("offered")).sum();
    let lost = emulator.undelivered.ring_drops + emulator.machine.overload_drops;
    let parts = [
        stood_still(results, emulator),
        Part {
            count: emulator.machine.late_deliveries,
            of: emulator.timing.deliveries,
            what: "were more than 1 ms late",
            whole: Some(("delivery", "deliveries")),
        },
        Part {
            count: emulator.timing.late_arrivals,
            of: offered,
            what: "were seen too late for their place in the order",
            whole: Some(("frame", "frames")),
        },
        Part { count: lost, of: offered + lost, what: "were lost in the emulator", whole: Some(("frame", "frames")) },
    ];
    let above = parts.iter().filter(|part| part.share() > tolerance).map(Part::words);
    above.chain(incomplete(results).iter().map(not_whole)).collect()
}

/// The part of a whole that went wrong.
struct Part {
    count: u64,
    of: u64,
    what: &'static str,
    /// What one of the whole is called, and several; nothing of the time.
    whole: Option<(&'static str, &'static str)>,
}

impl Part {
    /// Below this many, a share says more than is known.
    const FEW: u64 = 100;

    fn share(&self) -> f64 {
        if self.of > 0 { self.count as f64 / self.of as f64 } else { 0.0 }
    }

    fn words(&self) -> String {
        let (share, what) = (100.0 * self.share(), self.what);
        match (self.whole, self.of) {
            (None, _) => format!("{share:.1} % of the time {what}"),
            (Some((one, _)), 1) => format!("the only {one} {}", what.replacen("were", "was", 1)),
            (Some((_, several)), of @ ..Part::FEW) => format!("{} of the {of} {several} {what}", self.count),
            (Some((_, several)), _) => format!("{share:.1} % of the {several} {what}"),
        }
    }
}

/// Files that were wanted and are not whole.
pub fn incomplete(results: &Results) -> &[FileResults] {
    results.emulator.as_ref().map_or(&[], |emulator| &emulator.observers.incomplete_files)
}

fn not_whole(FileResults { file, holds, missing }: &FileResults) -> String {
    match missing {
        0 => format!("{file} is not whole ({holds})"),
        missing => format!("{file} is not whole ({holds}, at least {} missing)", group(*missing)),
    }
}

/// The part of real time in which the medium's clock was stopped, since the machine did not keep up. Pauses are no part of it.
pub fn slipped(results: &Results, emulator: &EmulatorResults) -> f64 {
    stood_still(results, emulator).share()
}

fn stood_still(results: &Results, emulator: &EmulatorResults) -> Part {
    let scale = if emulator.machine.time_scale > 0.0 { emulator.machine.time_scale } else { 1.0 };
    let seconds = results.measured_bit_times as f64 / (results.config.rate_bits_per_second as f64 * scale);
    Part {
        count: emulator.machine.slip_ns,
        of: (seconds * 1e9) as u64 + emulator.machine.slip_ns,
        what: "the medium's clock stood still, as the machine did not keep up",
        whole: None,
    }
}

/// The line that a table ends with, and the value of `emulator.verdict`.
pub fn verdict(against: &[String]) -> String {
    if against.is_empty() { "trusted".to_owned() } else { against.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One late delivery is no share of anything.
    #[test]
    fn few_are_counted_and_many_are_a_share() {
        let words = |count, of| {
            Part { count, of, what: "were more than 1 ms late", whole: Some(("delivery", "deliveries")) }.words()
        };
        assert_eq!(words(1, 1), "the only delivery was more than 1 ms late");
        assert_eq!(words(2, 7), "2 of the 7 deliveries were more than 1 ms late");
        assert_eq!(words(20, 1_000), "2.0 % of the deliveries were more than 1 ms late");
    }
}
