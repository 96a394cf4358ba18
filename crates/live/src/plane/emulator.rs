//! How well the emulator itself does: lateness, and everything it could not keep.

use hdrhistogram::Histogram;
use link::packet::{PartialChecksum, Segments};
use sim::figures::results::emulator::{ChangeResults, CopyResults, EmulatorResults, MachineResults};
use sim::words::choices::FilterChoice;

/// Lateness up to a minute, to three digits.
const LONGEST: u64 = 60_000_000_000;
/// Nanoseconds of the first bin of the histogram in results.
const FIRST_BIN: u64 = 1 << 10;

/// Counts and the lateness histogram; quantiles are computed on request.
#[derive(Debug)]
pub struct Emulator {
    /// The counts.
    pub counts: EmulatorResults,
    /// What is said of frames that stations left to hardware.
    pub oddities: Oddities,
    lateness: Histogram<u64>,
}

/// What stations left to hardware that no wire has: each kind is said of the first station alone.
#[derive(Debug, Default)]
pub struct Oddities {
    left: bool,
    segments: bool,
    /// What the supervisor does not know yet.
    pub unsaid: Vec<String>,
}

impl Oddities {
    /// A checksum was not finished, in a frame of this number of octets.
    pub fn left(&mut self, station: &str, PartialChecksum { start, offset }: PartialChecksum, octets: usize) {
        if !std::mem::replace(&mut self.left, true) {
            self.unsaid.push(format!(
                "{station} left a checksum to its interface that cannot be filled in, {offset} octets after octet {start} of a frame of {octets}: `checksums_left` counts such frames, and stations get them as they are"
            ));
        }
    }

    /// A frame was several.
    pub fn segments(&mut self, station: &str, Segments { kind, octets }: Segments) {
        if !std::mem::replace(&mut self.segments, true) {
            self.unsaid.push(format!(
                "{station} left it to its interface to cut frames ({kind}, {octets} octets a piece), and no wire carries them whole: `ethtool -K eth0 tso off gso off` there ends it"
            ));
        }
    }
}

impl Emulator {
    /// Nothing has happened yet.
    pub fn new(priority: String, time_scale: f64, fan_out: &str, filter: FilterChoice) -> Emulator {
        let lateness = Histogram::new_with_max(LONGEST, 3).expect("a range and digits that the histogram supports");
        let fan_out = fan_out.to_owned();
        let machine = MachineResults { time_scale, ..MachineResults::default() };
        let copying = CopyResults { fan_out, filter, ..CopyResults::default() };
        let counts = EmulatorResults { priority, machine, copying, ..EmulatorResults::default() };
        Emulator { counts, oddities: Oddities::default(), lateness }
    }

    /// A frame was handed to the kernel for `copies` stations, `late` nanoseconds after it was due.
    pub fn delivered(&mut self, late: u64, copies: u64) {
        self.counts.timing.deliveries += copies;
        self.lateness.saturating_record_n(late, copies);
    }

    /// A frame's stamp was `late` nanoseconds before the engine's now.
    pub fn arrived_late(&mut self, late: u64) {
        self.counts.timing.late_arrivals += 1;
        self.counts.timing.late_arrival_max_ns = self.counts.timing.late_arrival_max_ns.max(late);
    }

    /// The medium's time was stopped for this number of nanoseconds.
    pub fn slipped(&mut self, nanos: u64) {
        self.counts.machine.slips += 1;
        self.counts.machine.slip_ns += nanos;
    }

    /// A station, or with an empty name the cable, was changed at this instant in nanoseconds since 1970.
    pub fn changed(&mut self, station: &str, change: String, unix_ns: u64) {
        let changes = &mut self.counts.changes;
        changes.retain(|known| known.station != station || known.change != change);
        changes.push(ChangeResults { station: station.to_owned(), change, unix_ns });
    }

    /// Counts and quantiles so far.
    pub fn results(&self) -> EmulatorResults {
        let mut results = self.counts.clone();
        results.timing.lateness_p50_ns = self.lateness.value_at_quantile(0.50);
        results.timing.lateness_p99_ns = self.lateness.value_at_quantile(0.99);
        results.timing.lateness_max_ns = self.lateness.max();
        let bins = self.lateness.iter_log(FIRST_BIN, 2.0);
        let bins = bins.map(|bin| (bin.value_iterated_to(), bin.count_since_last_iteration()));
        results.lateness_histogram_ns = bins.filter(|(_, count)| *count > 0).collect();
        results
    }

    /// Counts from zero again.
    pub fn restart(&mut self) {
        let EmulatorResults { priority, latency, machine, copying, changes, .. } = std::mem::take(&mut self.counts);
        let MachineResults { time_scale, .. } = machine;
        let CopyResults { fan_out, filter, stations_unfiltered, .. } = copying;
        self.counts = EmulatorResults {
            priority,
            latency,
            changes,
            machine: MachineResults { time_scale, ..MachineResults::default() },
            copying: CopyResults { fan_out, filter, stations_unfiltered, ..CopyResults::default() },
            ..EmulatorResults::default()
        };
        self.lateness.reset();
    }
}

/// How much has been counted since a count was `before`; counting may have begun anew meanwhile.
pub fn since(before: u64, now: u64) -> u64 {
    if now < before { now } else { now - before }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_told_to_three_digits() {
        let mut emulator = Emulator::new("none".to_owned(), 1.0, "batch", FilterChoice::None);
        (1..=100).for_each(|n| emulator.delivered(n * 1_000, 1));
        let results = emulator.results();
        assert_eq!((results.timing.deliveries, results.timing.lateness_max_ns / 1_000), (100, 100));
        assert!((50_000..=50_100).contains(&results.timing.lateness_p50_ns), "{results:?}");
        emulator.restart();
        let anew = Emulator::new("none".to_owned(), 1.0, "batch", FilterChoice::None);
        assert_eq!(emulator.results(), anew.results());
    }
}
