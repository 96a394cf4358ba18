//! The emulator's own part of the results: how well it kept time, and everything that it could not keep.
//!
//! The parts have names in the program. In JSON their fields stand side by side, as they always have.

use crate::words::choices::FilterChoice;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How well the emulator kept time, and what it could not keep. Nothing here is the medium's doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EmulatorResults {
    /// `trusted`, or what is to be said against the run: what fell behind by more than the tolerance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// When copies and arrivals were handled, against when they were due.
    #[serde(flatten)]
    pub timing: TimingResults,
    /// Whether the machine kept up, and who took its time.
    #[serde(flatten)]
    pub machine: MachineResults,
    /// How copies for several stations are made, and for whom none is.
    #[serde(flatten)]
    pub copying: CopyResults,
    /// Frames and copies that did not reach their station, by cause.
    #[serde(flatten)]
    pub undelivered: UndeliveredResults,
    /// What was unusual about frames that came from stations.
    #[serde(flatten)]
    pub arrivals: ArrivalResults,
    /// What happened to the stations' interfaces.
    #[serde(flatten)]
    pub ports: PortResults,
    /// What traces and reports miss.
    #[serde(flatten)]
    pub observers: ObserverResults,
    /// How the kernel schedules the data plane.
    pub priority: String,
    /// What is spent on being punctual, in words: what was asked for, and what the machine gave of it.
    #[serde(default)]
    pub latency: String,
    /// Copies in each bin of lateness, under the bin's end in nanoseconds: a bin for each doubling from a microsecond on,
    /// empty ones left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lateness_histogram_ns: BTreeMap<u64, u64>,
    /// What the kernel counts on the way between each station and the bus; not in the demonstration.
    #[serde(default)]
    pub links: Vec<LinkResults>,
    /// The latest change of each kind to each station and to the cable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ChangeResults>,
}

/// A change to a station or to the cable while the bus runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangeResults {
    /// The station; empty for the cable.
    pub station: String,
    /// The change, like `attach` or `fault deaf`.
    pub change: String,
    /// Its latest instant, in nanoseconds since 1970.
    pub unix_ns: u64,
}

/// When copies and arrivals were handled, against when they were due.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TimingResults {
    /// Frames copied to stations.
    pub deliveries: u64,
    /// Median of how late a delivery was handed to the kernel.
    pub lateness_p50_ns: u64,
    /// 99th percentile of it.
    pub lateness_p99_ns: u64,
    /// The latest.
    pub lateness_max_ns: u64,
    /// Copies that are not due yet, or due this very moment.
    #[serde(default)]
    pub deliveries_pending: u64,
    /// Frames that were read and that the medium has not been given yet.
    #[serde(default)]
    pub arrivals_pending: u64,
    /// Frames whose stamp was before the engine's now; they were applied at its now.
    pub late_arrivals: u64,
    /// The latest of them.
    pub late_arrival_max_ns: u64,
}

/// Whether the machine kept up, and who took its time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MachineResults {
    /// Real time in which the medium's time stood still, because the machine did not keep up.
    #[serde(default)]
    pub slip_ns: u64,
    /// How often it stood still.
    #[serde(default)]
    pub slips: u64,
    /// Real time in which the medium's time stood still, because a user stopped it.
    #[serde(default)]
    pub paused_ns: u64,
    /// Frames of which copies were handed over more than a millisecond after they were due.
    #[serde(default)]
    pub late_deliveries: u64,
    /// Deliveries that were dropped because the machine did not keep up.
    #[serde(default)]
    pub overload_drops: u64,
    /// Time in which a hypervisor gave the processors to others, all together; nothing if the kernel does not say.
    #[serde(default)]
    pub steal_ns: Option<u64>,
    /// Time in which the data plane was ready to run and others had the processor; likewise.
    #[serde(default)]
    pub cpu_wait_ns: Option<u64>,
    /// Times that the real-time clock was set.
    #[serde(default)]
    pub clock_steps: u64,
    /// The medium's time as a part of real time, as asked for.
    #[serde(default)]
    pub time_scale: f64,
}

/// How copies for several stations are made, and for whom none is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CopyResults {
    /// How frames get to several stations: `kernel` makes the copies, or they are sent as a `batch`, one by one.
    #[serde(default)]
    pub fan_out: String,
    /// Of the frames copied to stations, those that the kernel made the copies of.
    #[serde(default)]
    pub kernel_copies: u64,
    /// Of these, copies that another processor made at the same time.
    #[serde(default)]
    pub helped_copies: u64,
    /// Frames that the kernel did not make the copies of, though it should; they were sent one by one.
    #[serde(default)]
    pub fan_out_failures: u64,
    /// Whom frames are copied to.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "String"))]
    pub filter: FilterChoice,
    /// Copies that were not made, since the frame was for another station and this one had no reader for it.
    #[serde(default)]
    pub filtered: u64,
    /// With a filter: stations that hear everything all the same, at this moment.
    #[serde(default)]
    pub stations_unfiltered: u64,
}

/// Frames and copies that did not reach their station, by cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UndeliveredResults {
    /// Frames the kernel dropped because the receive ring was full.
    pub ring_drops: u64,
    /// Deliveries the kernel refused because the station's namespace is gone or its interface is down.
    pub deliveries_to_absent: u64,
    /// Deliveries the kernel refused for another reason.
    pub delivery_failures: u64,
    /// Copies that were not made, because their station was off the medium when the frame was carried.
    #[serde(default)]
    pub copies_to_detached: u64,
    /// Copies that a station's host refused, because somebody lowered the MTU of its interface.
    #[serde(default)]
    pub refused_by_mtu: u64,
}

/// What was unusual about frames that came from stations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ArrivalResults {
    /// Frames that the kernel stamped as it put them into the ring, a few microseconds late: TCP's, as the place of
    /// the stamp holds TCP's own departure time, and those before stamping was switched on.
    pub stamped_at_ring: u64,
    /// Frames whose stamp was later than their reading, because somebody set the clock; the reading served.
    pub future_stamps: u64,
    /// Frames whose stamp was long before the ring was last empty, for the same reason; the reading served.
    #[serde(default)]
    pub stale_stamps: u64,
    /// Frames longer than the ring's slot: super-frames of a station that switched offloads on.
    pub oversized: u64,
    /// Frames that came with a partial checksum, which was filled in.
    pub checksums_repaired: u64,
    /// Frames that came with a partial checksum which could not be filled in.
    pub checksums_left: u64,
    /// Frames whose VLAN tag the kernel had stripped and which got it back.
    pub vlan_tags_restored: u64,
    /// Frames from an interface that is no station's.
    pub strays: u64,
}

/// What happened to the stations' interfaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PortResults {
    /// Times that a station's interface went down or vanished.
    pub ports_lost: u64,
    /// Of these, times that it vanished, as with its namespace.
    #[serde(default)]
    pub ports_gone: u64,
    /// Times that news of interfaces came faster than it was read.
    pub link_changes_missed: u64,
}

/// What traces and reports miss.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ObserverResults {
    /// Reports that an observer did not take in time.
    pub reports_skipped: u64,
    /// Inputs that are not in a trace of inputs, because its disk was too slow or full.
    pub inputs_skipped: u64,
    /// Events that are not in a trace, for the same reasons; it ends before the first.
    pub events_skipped: u64,
    /// How many files were wanted and are not whole.
    pub files_incomplete: u64,
    /// These files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete_files: Vec<FileResults>,
    /// How many files have the last seconds before something.
    #[serde(default)]
    pub files_kept: u64,
    /// These files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept_files: Vec<String>,
    /// Triggers whose last seconds were not written.
    #[serde(default)]
    pub keeps_missed: u64,
}

/// A file that was wanted and is not whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileResults {
    /// Its name, as the user gave it.
    pub file: String,
    /// What is in it: `trace`, `capture`, `Perfetto trace`, `VCD`, `table of events` or `last seconds`.
    pub holds: String,
    /// Inputs and events that are known to be missing in it; 0 for a file of another kind.
    pub missing: u64,
}

/// What the kernel counts on the way between a station and the bus, since the lab came up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LinkResults {
    /// The station's name.
    pub station: String,
    /// Offloads that somebody has switched on again in the station. Looked at only if frames came that show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offloads: Vec<String>,
    /// Frames from the station that got to the bus's end of its link.
    pub from_station: u64,
    /// Copies that got to the station's end.
    pub to_station: u64,
    /// Frames from the station that the kernel dropped on the way to the bus's end.
    pub lost_from_station: u64,
    /// Frames that the station's host dropped since the station was off the medium, and its interface without carrier.
    #[serde(default)]
    pub without_carrier: u64,
    /// Copies that it dropped on the way to the station's end.
    pub lost_to_station: u64,
    /// Frames that it dropped at the station's TAP device, in either direction: the program did not read in time, or
    /// none had the device open.
    pub lost_at_tap: u64,
    /// Frames that it dropped at the interface or the end of the tunnel that the station leads outside by, in either
    /// direction: for a tunnel, those for which there was no way to the other machine.
    #[serde(default)]
    pub lost_outside: u64,
    /// The round trip to the other machine of a tunnel, by the network below it, as the tunnel was made: the least of
    /// three. Missing if there is no tunnel, or one was not answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tunnel_round_trip_ns: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of version 1, as they have always followed one another.
    const KEYS: &str = "verdict deliveries lateness_p50_ns lateness_p99_ns lateness_max_ns \
        deliveries_pending arrivals_pending late_arrivals late_arrival_max_ns slip_ns \
        slips late_deliveries overload_drops steal_ns cpu_wait_ns clock_steps \
        time_scale fan_out kernel_copies helped_copies fan_out_failures filter filtered \
        stations_unfiltered ring_drops deliveries_to_absent delivery_failures \
        copies_to_detached refused_by_mtu stamped_at_ring future_stamps stale_stamps \
        oversized checksums_repaired checksums_left vlan_tags_restored strays \
        ports_lost ports_gone link_changes_missed reports_skipped inputs_skipped \
        events_skipped files_incomplete priority latency links";

    #[test]
    fn parts_leave_no_trace_in_json() {
        let mut results = EmulatorResults { verdict: Some("trusted".to_owned()), ..EmulatorResults::default() };
        results.machine.steal_ns = Some(u64::MAX);
        results.lateness_histogram_ns.insert(2048, 7);
        results.links.push(LinkResults::default());
        let text = serde_json::to_string(&results).expect("figures");
        let mut from = 0;
        for key in KEYS.split(' ') {
            let found = text[from..].find(&format!("\"{key}\":"));
            from += found.unwrap_or_else(|| panic!("{key} is not where it was: {text}"));
        }
        assert_eq!(serde_json::from_str::<EmulatorResults>(&text).expect("figures"), results);
    }

    #[test]
    fn results_of_before_a_field_was_there_are_read() {
        let text = serde_json::to_string(&EmulatorResults::default()).expect("figures");
        let mut old: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).expect("an object");
        for key in ["slip_ns", "fan_out", "filter", "copies_to_detached", "stale_stamps", "ports_gone", "links"] {
            old.remove(key).expect("a key");
        }
        assert_eq!(serde_json::from_value::<EmulatorResults>(old.into()).expect("figures"), EmulatorResults::default());
    }
}
