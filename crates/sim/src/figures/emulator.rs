//! The figures of a live bus about itself, declared once: for OpenMetrics, for the printed table, and for docs/results.md.

use crate::figures::results::{EmulatorResults, LinkResults};

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number that only grows.
    Counter,
    /// A number as it is now.
    Gauge,
    /// No single number.
    Other,
}

/// Where the printed table has a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Under these words in the line of drops.
    Drop(&'static str),
    /// Under these words in the line of what is unusual, if it is not 0.
    Also(&'static str),
    /// In a line of its own, or not at all.
    Elsewhere,
}

/// A figure of the emulator.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its name in results; that of a time ends in `_ns`.
    pub name: &'static str,
    /// Counter, gauge, or no single number.
    pub kind: Kind,
    /// The figure's meaning in a line.
    pub help: &'static str,
    /// The figure's meaning in Markdown.
    pub about: &'static str,
    /// Where the printed table has it.
    pub shown: Shown,
    /// Its value; none if the kernel does not say, or if it is no number.
    pub value: fn(&EmulatorResults) -> Option<f64>,
}

impl Figure {
    const fn drop(self, words: &'static str) -> Figure {
        Figure { shown: Shown::Drop(words), ..self }
    }

    const fn also(self, words: &'static str) -> Figure {
        Figure { shown: Shown::Also(words), ..self }
    }
}

type Value = fn(&EmulatorResults) -> Option<f64>;

const fn counter(name: &'static str, help: &'static str, about: &'static str, value: Value) -> Figure {
    Figure { name, kind: Kind::Counter, help, about, shown: Shown::Elsewhere, value }
}

const fn gauge(name: &'static str, help: &'static str, about: &'static str, value: Value) -> Figure {
    Figure { kind: Kind::Gauge, ..counter(name, help, about, value) }
}

const fn other(name: &'static str, about: &'static str) -> Figure {
    Figure { kind: Kind::Other, ..counter(name, "", about, |_| None) }
}

fn some(number: u64) -> Option<f64> {
    Some(number as f64)
}

/// When copies and arrivals were handled, against when they were due.
const TIMING: &[Figure] = &[
    other("verdict", "see above"),
    counter("deliveries", "Frames copied to stations", "copies handed to stations", |e| some(e.timing.deliveries)),
    gauge(
        "lateness_p50_ns",
        "Median of how late deliveries were handed to the kernel",
        "how late a copy was, at the end of the call that handed it over: the median",
        |e| some(e.timing.lateness_p50_ns),
    ),
    gauge(
        "lateness_p99_ns",
        "99th percentile of how late deliveries were handed to the kernel",
        "the 99th percentile of it",
        |e| some(e.timing.lateness_p99_ns),
    ),
    gauge("lateness_max_ns", "The latest delivery", "the longest of it", |e| some(e.timing.lateness_max_ns)),
    other(
        "lateness_histogram_ns",
        "copies under the end of their bin in ns; a bin for each doubling from 1024 on, empty ones left out",
    ),
    gauge("deliveries_pending", "Copies that are not due yet", "copies that are not due yet", |e| {
        some(e.timing.deliveries_pending)
    }),
    gauge(
        "arrivals_pending",
        "Frames that were read and not given to the medium yet",
        "frames that were read and not yet given to the medium",
        |e| some(e.timing.arrivals_pending),
    ),
    counter(
        "late_arrivals",
        "Frames whose stamp was before the engine's now",
        "frames whose stamp was before the instant that the medium had reached, at which they count as offered",
        |e| some(e.timing.late_arrivals),
    ),
    gauge("late_arrival_max_ns", "The latest of these", "the latest of these: how long before", |e| {
        some(e.timing.late_arrival_max_ns)
    }),
];

/// Whether the machine kept up, and what took its time.
const MACHINE: &[Figure] = &[
    counter(
        "slip_ns",
        "Time for which the medium's clock stood still, since the machine did not keep up",
        "real time for which the medium's clock was stopped, since the machine did not keep up",
        |e| some(e.machine.slip_ns),
    ),
    counter("slips", "How often it stood still", "how often the clock stopped", |e| some(e.machine.slips)),
    counter(
        "paused_ns",
        "Time for which the medium's clock stood still, since a user stopped it",
        "real time for which `ethbus pause` stopped the medium's clock",
        |e| some(e.machine.paused_ns),
    ),
    counter(
        "late_deliveries",
        "Frames handed over more than a millisecond late",
        "frames with copies more than 1 ms late",
        |e| some(e.machine.late_deliveries),
    ),
    counter(
        "steal_ns",
        "Time in which a hypervisor gave the processors to others",
        "time for which a hypervisor gave the processors, all together, to others, in steps of the kernel's tick; `null` if unknown",
        |e| e.machine.steal_ns.and_then(some),
    ),
    counter(
        "cpu_wait_ns",
        "Time in which the data plane waited for a processor",
        "time for which the data plane was ready to run and others had the processor; `null` likewise",
        |e| e.machine.cpu_wait_ns.and_then(some),
    ),
    counter("clock_steps", "Times that the real-time clock was set", "times that the real-time clock was set", |e| {
        some(e.machine.clock_steps)
    })
    .also("clock set"),
    gauge(
        "time_scale",
        "The medium's time as a part of real time",
        "the medium's time as a part of real time, as asked for",
        |e| Some(e.machine.time_scale),
    ),
];

/// How copies for several stations are made, and which are left out.
const COPYING: &[Figure] = &[
    other("fan_out", "who makes copies: the `kernel`, or a `batch` of calls"),
    counter(
        "kernel_copies",
        "Copies that the kernel made",
        "of `deliveries`, those by the kernel: of frames up to 1514 octets without FCS, for three stations or more that are equally far",
        |e| some(e.copying.kernel_copies),
    ),
    counter(
        "helped_copies",
        "Of these, copies that another processor made at the same time",
        "of `kernel_copies`, those that another processor made at the same time, with more than 64 stations",
        |e| some(e.copying.helped_copies),
    ),
    counter(
        "fan_out_failures",
        "Frames that the kernel did not copy, though it should",
        "frames sent one by one, because the interface at which the kernel copies was removed",
        |e| some(e.copying.fan_out_failures),
    )
    .also("failures of the fan-out"),
    other("filter", "`none` or `address` ([scenario.md](scenario.md))"),
    counter("filtered", "Copies left out by the filter", "copies left out by the filter", |e| some(e.copying.filtered))
        .also("left out by the filter"),
    gauge(
        "stations_unfiltered",
        "Stations that hear everything in spite of the filter",
        "stations that hear everything in spite of the filter",
        |e| some(e.copying.stations_unfiltered),
    )
    .also("stations it is lifted for"),
];

/// Frames and copies that did not reach their station, by cause.
const UNDELIVERED: &[Figure] = &[
    counter(
        "ring_drops",
        "Frames that the kernel dropped because the receive ring was full",
        "frames lost because the receive ring was full",
        |e| some(e.undelivered.ring_drops),
    )
    .drop("ring"),
    counter(
        "overload_drops",
        "Copies dropped because the machine did not keep up",
        "copies dropped in place of a stopped clock, with `on_overload = \"drop\"`",
        |e| some(e.machine.overload_drops),
    )
    .drop("overload"),
    counter(
        "deliveries_to_absent",
        "Copies for a station whose interface is down or gone",
        "copies for a station that was detached, or whose interface was down or gone, when they were due",
        |e| some(e.undelivered.deliveries_to_absent),
    )
    .drop("absent stations"),
    counter(
        "delivery_failures",
        "Copies that the kernel refused for another reason",
        "copies that the kernel refused for other reasons",
        |e| some(e.undelivered.delivery_failures),
    )
    .drop("failed deliveries"),
    counter(
        "copies_to_detached",
        "Copies for a station that was off the medium",
        "copies not made, because the station was off the medium when the frame was sent",
        |e| some(e.undelivered.copies_to_detached),
    )
    .also("copies not made for detached stations"),
    counter(
        "refused_by_mtu",
        "Copies above the MTU of a station's interface",
        "copies above the MTU of a station's interface, which was lowered",
        |e| some(e.undelivered.refused_by_mtu),
    )
    .drop("a station's MTU"),
];

/// What was unusual about frames that came from stations.
const ARRIVALS: &[Figure] = &[
    counter(
        "stamped_at_ring",
        "Frames stamped as they came into the ring",
        "frames stamped as they entered the ring, a few microseconds late: those of TCP, whose departure time is in the place of the stamp",
        |e| some(e.arrivals.stamped_at_ring),
    )
    .also("stamped at the ring"),
    counter(
        "future_stamps",
        "Frames whose stamp was later than their reading",
        "frames whose stamp was later than their reading, since the clock was set; the reading counts",
        |e| some(e.arrivals.future_stamps),
    )
    .also("stamps from the future"),
    counter(
        "stale_stamps",
        "Frames whose stamp was too old",
        "frames whose stamp was more than a second before the ring was last empty, likewise",
        |e| some(e.arrivals.stale_stamps),
    )
    .also("stale stamps"),
    counter(
        "oversized",
        "Frames longer than the ring's slot",
        "frames longer than the ring's slot, from stations whose offloads are on",
        |e| some(e.arrivals.oversized),
    )
    .also("oversized"),
    counter(
        "checksums_repaired",
        "Partial checksums that were filled in",
        "frames with a partial checksum that was filled in, from stations whose offloads are on",
        |e| some(e.arrivals.checksums_repaired),
    )
    .also("checksums repaired"),
    counter(
        "checksums_left",
        "Partial checksums that could not be filled in",
        "frames with a partial checksum that could not be filled in, likewise",
        |e| some(e.arrivals.checksums_left),
    )
    .also("checksums left"),
    counter(
        "vlan_tags_restored",
        "VLAN tags that the kernel had stripped",
        "frames without their VLAN tag, which was put back, likewise",
        |e| some(e.arrivals.vlan_tags_restored),
    )
    .also("VLAN tags restored"),
    counter("strays", "Frames from an interface that is no station's", "frames from no station's interface", |e| {
        some(e.arrivals.strays)
    })
    .also("strays"),
];

/// What happened to the stations' interfaces.
const PORTS: &[Figure] = &[
    counter(
        "ports_lost",
        "Times that a station's interface went down or vanished",
        "times that a station's interface went down or vanished",
        |e| some(e.ports.ports_lost),
    )
    .also("ports lost"),
    counter("ports_gone", "Times that it vanished", "interfaces that vanished, as with `ip netns del`", |e| {
        some(e.ports.ports_gone)
    })
    .also("ports gone"),
    counter(
        "link_changes_missed",
        "Times that news of interfaces was lost",
        "times that the kernel's news of interfaces came faster than ethbus read it",
        |e| some(e.ports.link_changes_missed),
    )
    .also("link changes missed"),
];

/// What was done to the bus.
const CHANGES: &[Figure] = &[other(
    "changes",
    "the latest change of each kind to each station and to the cable: `station` (empty for the cable), `change` (`plug`, `unplug`, `add`, `remove`, `fault deaf`, `fault none`, `plca`, `cut`, `mend`, `queue` …), and `unix_ns`, in nanoseconds since 1970; not there if nothing was changed",
)];

/// What traces and reports miss.
const OBSERVERS: &[Figure] = &[
    counter(
        "reports_skipped",
        "Reports that the supervisor did not take in time",
        "reports of the data plane that the supervisor did not take in time",
        |e| some(e.observers.reports_skipped),
    )
    .drop("reports"),
    counter(
        "inputs_skipped",
        "Inputs that are not in the trace",
        "inputs not in a trace, because the disk was full or too slow ([trace.md](trace.md#full-disks-and-slow-ones))",
        |e| some(e.observers.inputs_skipped),
    )
    .drop("inputs"),
    counter(
        "events_skipped",
        "Events that are not in the trace",
        "events not in a trace, likewise",
        |e| some(e.observers.events_skipped),
    )
    .drop("events"),
    gauge("files_incomplete", "Wanted files that are not whole", "files that are not whole", |e| {
        some(e.observers.files_incomplete)
    }),
    other(
        "incomplete_files",
        "these: `file`, what it `holds`, and how much is known to be `missing`; not there if all are whole",
    ),
    counter(
        "files_kept",
        "Files that have the last seconds before something",
        "files with the last seconds before a trigger of `--on`, or before `ethbus capture --last` ([seeing.md](seeing.md))",
        |e| some(e.observers.files_kept),
    )
    .also("files of last seconds"),
    other("kept_files", "their names; not there if there are none"),
    counter(
        "keeps_missed",
        "Triggers whose last seconds were not written",
        "triggers without a file: 20 were there, or the one before was being written",
        |e| some(e.observers.keeps_missed),
    )
    .also("triggers without a file"),
    other(
        "latency",
        "`normal`, or `low` and what the machine granted of it ([live.md](live.md#latency))",
    ),
    other(
        "links",
        "what the kernel counts between each `station` and the bus, read a moment after the rest; below",
    ),
    other(
        "priority",
        "of the data plane: `SCHED_FIFO` while it sleeps most of the time, else `nice -20`; `normal` without root",
    ),
];

/// All figures, in the order of the page.
pub fn figures() -> impl Iterator<Item = &'static Figure> {
    [TIMING, MACHINE, UNDELIVERED, ARRIVALS, PORTS, CHANGES, COPYING, OBSERVERS].into_iter().flatten()
}

/// A counter of the link between a station and the bus.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Its name in results.
    pub name: &'static str,
    /// What it counts, in a line.
    pub help: &'static str,
    /// What it counts, in Markdown.
    pub about: &'static str,
    /// Where frames are lost that it counts; empty if it counts none of these.
    pub place: &'static str,
    /// Its value; none if it is no number.
    pub value: fn(&LinkResults) -> Option<u64>,
}

/// All of them, in the order of results.
pub const LINKS: &[Link] = &[
    Link {
        name: "offloads",
        help: "",
        about: "offloads that were switched on again in the station, in words; only if a frame has shown it",
        place: "",
        value: |_| None,
    },
    Link {
        name: "from_station",
        help: "Frames from the station that got to the bus",
        about: "frames from the station that got to the bus's end of its link",
        place: "",
        value: |link| Some(link.from_station),
    },
    Link {
        name: "to_station",
        help: "Copies that got to the station",
        about: "copies that got to the station's end",
        place: "",
        value: |link| Some(link.to_station),
    },
    Link {
        name: "lost_from_station",
        help: "Frames that the kernel dropped on the way to the bus",
        about: "frames that the kernel dropped in between: its backlog was full, or the other end was down",
        place: "on the way from it",
        value: |link| Some(link.lost_from_station),
    },
    Link {
        name: "without_carrier",
        help: "Frames that the host dropped for want of carrier",
        about: "frames that the station's host dropped while its interface had no carrier ([live.md](live.md#links))",
        place: "",
        value: |link| Some(link.without_carrier),
    },
    Link {
        name: "lost_to_station",
        help: "Copies that it dropped on the way to the station",
        about: "copies that it dropped in between, likewise",
        place: "on the way to it",
        value: |link| Some(link.lost_to_station),
    },
    Link {
        name: "lost_at_tap",
        help: "Frames that it dropped at the station's TAP device",
        about: "frames that it dropped at the station's TAP device: no program read it in time",
        place: "at its TAP device",
        value: |link| Some(link.lost_at_tap),
    },
    Link {
        name: "lost_outside",
        help: "Frames that it dropped on the way outside",
        about: "frames that it dropped at the interface or tunnel by which the station leads outside ([ports.md](ports.md)): for a tunnel, without a way to the other machine",
        place: "on the way outside",
        value: |link| Some(link.lost_outside),
    },
    Link {
        name: "tunnel_round_trip_ns",
        help: "",
        about: "round trip of a tunnel by the network below it, as it was made ([ports.md](ports.md#another-machine)): the least of three ICMP echoes, if all were answered",
        place: "",
        value: |_| None,
    },
];

/// The rows of docs/results.md: those of the emulator, or those of its links.
pub(super) fn rows(links: bool) -> String {
    let row = |name: &str, about: &str| format!("| `{name}` | {about} |\n");
    match links {
        true => LINKS.iter().map(|link| row(link.name, link.about)).collect(),
        false => figures().map(|figure| row(figure.name, figure.about)).collect(),
    }
}
