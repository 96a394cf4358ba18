//! Every metric, declared once: name, label, unit, what it is, and where it comes from in results.
//!
//! The columns of CSV and Parquet, half-widths, `--until`, labels of plots, key figures of reports, OpenMetrics and the
//! tables of docs/results.md and docs/access.md are made from these.

mod stacks;

pub use stacks::{TCP_GOODPUT, of_protocol, of_stacks};

use crate::figures::results::{DelayResults, MediumResults, RanAway, SlottedResults};
use crate::figures::{counters, emulator};
use stacks::{PING, TCP, UDP};

/// How a metric is had from results; a mean of nothing is none.
pub type Metric = fn(&MediumResults) -> Option<f64>;
/// How a delay is had from results.
pub type DelayOf = fn(&MediumResults) -> &DelayResults;
/// How a figure is had from a delay; of no frames there is none.
pub type Figure = fn(&DelayResults) -> Option<f64>;
/// How a figure is had from the results of a slotted medium.
pub type SlottedFigure = fn(&SlottedResults) -> Option<f64>;

/// A metric that is one number, had by a function of type `F`.
#[derive(Clone, Copy, Debug)]
pub struct Number<F> {
    /// Its name in results, and that of its column.
    pub name: &'static str,
    /// Its name in a figure.
    pub label: &'static str,
    /// Its unit; metrics of one unit can share an axis.
    pub unit: &'static str,
    /// The figure's meaning in Markdown.
    pub about: &'static str,
    /// What a report calls it among its key figures; empty if it is none of these.
    pub key_figure: &'static str,
    /// Its value.
    pub value: F,
}

const RATE: &str = "part of the rate";
const FRAMES: &str = "part of frames";

/// Metrics of any medium that are one number.
pub const NUMBERS: &[Number<Metric>] = &[
    Number {
        name: "utilization_frame",
        label: "Utilization, frames",
        unit: RATE,
        about: "Σ 8L / T over successful frames",
        key_figure: "",
        value: |m| Some(m.utilization_frame),
    },
    Number {
        name: "utilization_wire",
        label: "Utilization, with preambles",
        unit: RATE,
        about: "the same with preamble and SFD (64 bit)",
        key_figure: "",
        value: |m| Some(m.utilization_wire),
    },
    Number {
        name: "utilization_total",
        label: "Utilization, with preambles and gaps",
        unit: RATE,
        about: "with a gap of 96 bit too, whatever `inter_packet_gap` says",
        key_figure: "utilization: frames with preamble and gap, as a part of the rate",
        value: |m| Some(m.utilization_total),
    },
    Number {
        name: "utilization_payload",
        label: "Utilization, payload",
        unit: RATE,
        about: "Σ 8(L − 18) / T",
        key_figure: "utilization: data alone",
        value: |m| Some(m.utilization_payload),
    },
    Number {
        name: "attempts_per_frame",
        label: "Attempts per frame",
        unit: "",
        about: "attempts / F; F: frames that were successful, or discarded after attempt_limit attempts or, at 1000 Mb/s, after a late collision",
        key_figure: "attempts for each frame",
        value: |m| m.attempts_per_frame,
    },
    Number {
        name: "discard_fraction",
        label: "Discarded frames",
        unit: FRAMES,
        about: "frames discarded after attempt_limit attempts / F",
        key_figure: "frames that were discarded after too many attempts, as a part",
        value: |m| m.discard_fraction,
    },
    Number {
        name: "attempts_per_episode",
        label: "Attempts per episode",
        unit: "",
        about: "mean number of attempts that collided in an episode and whose stations noticed it; two stations can make many in a long episode",
        key_figure: "attempts in a collision episode",
        value: |m| m.attempts_per_episode,
    },
    Number {
        name: SAME_WINNER,
        label: "Same winner as before",
        unit: FRAMES,
        about: "part of the successful frames whose sender also sent the one before",
        key_figure: "capture: frames whose sender also sent the one before, as a part",
        value: |m| m.same_winner,
    },
    Number {
        name: FAIRNESS,
        label: "Fairness, Jain's index",
        unit: "",
        about: "Jain's index over successful octets of the stations that had something to send: 1 if all have as many, 1/n if one of n has all",
        key_figure: "fairness of octets (Jain's index)",
        value: |m| m.fairness,
    },
];

/// The name of the delay until the first bit.
pub const ACCESS_DELAY: &str = "access_delay";
/// The delay that has the wait in the queue.
pub const MAC_DELAY: &str = "mac_delay";

/// The frames that follow another frame of their station.
pub const SAME_WINNER: &str = "same_winner";

/// The one whose batches say nothing of the run: shares become even with time.
pub const FAIRNESS: &str = "fairness";

/// A delay of frames.
#[derive(Clone, Copy, Debug)]
pub struct Delay {
    /// Its name in results.
    pub name: &'static str,
    /// Its name in a figure.
    pub label: &'static str,
    /// The figure's meaning in Markdown.
    pub about: &'static str,
    /// The same in OpenMetrics.
    pub help: &'static str,
    /// It.
    pub of: DelayOf,
}

/// Metrics that are delays.
pub const DELAYS: &[Delay] = &[
    Delay {
        name: ACCESS_DELAY,
        label: "Access delay",
        about: "from the head of the queue to the first bit of the successful attempt",
        help: "From the head of the queue to the first bit",
        of: |m| &m.access_delay,
    },
    Delay {
        name: MAC_DELAY,
        label: "MAC delay",
        about: "from arrival in the queue to the last bit",
        help: "From the queue's tail to the last bit",
        of: |m| &m.mac_delay,
    },
];

/// A figure of a delay: an estimate, in bit times.
#[derive(Clone, Copy, Debug)]
pub struct OfDelay {
    /// Its name in results.
    pub name: &'static str,
    /// Its name behind that of the delay, in a figure.
    pub label: &'static str,
    /// What a report calls it among its key figures, for each delay; empty if it is none of these.
    pub key_figures: &'static [&'static str],
    /// Of a quantile, the part of the frames at or below it.
    pub part: Option<f64>,
    /// Its value.
    pub value: Figure,
}

/// The figures of a delay that are estimates.
pub const FIGURES: &[OfDelay] = &[
    OfDelay {
        name: "mean_bt",
        label: "mean",
        key_figures: &["access delay, mean, BT", "MAC delay, mean, BT"],
        part: None,
        value: |d| d.mean_bt,
    },
    OfDelay {
        name: "p50_bt",
        label: "median",
        key_figures: &[],
        part: Some(0.5),
        value: |d| d.p50_bt.map(|bits| bits as f64),
    },
    OfDelay {
        name: "p90_bt",
        label: "90 % quantile",
        key_figures: &[],
        part: Some(0.9),
        value: |d| d.p90_bt.map(|bits| bits as f64),
    },
    OfDelay {
        name: "p95_bt",
        label: "95 % quantile",
        key_figures: &[],
        part: Some(0.95),
        value: |d| d.p95_bt.map(|bits| bits as f64),
    },
    OfDelay {
        name: "p99_bt",
        label: "99 % quantile",
        key_figures: &["access delay, 99th percentile, BT"],
        part: Some(0.99),
        value: |d| d.p99_bt.map(|bits| bits as f64),
    },
    OfDelay {
        name: "p999_bt",
        label: "99.9 % quantile",
        key_figures: &[],
        part: Some(0.999),
        value: |d| d.p999_bt.map(|bits| bits as f64),
    },
];

/// The longest delay: it is no estimate.
pub const LONGEST: (&str, &str) = ("max_bt", "longest");

/// Figures of methods that count in slots or frame times.
pub const SLOTTED: &[Number<SlottedFigure>] = &[
    Number {
        name: "throughput",
        label: "Throughput",
        unit: "",
        about: "S, frames that got through, a slot or frame time",
        key_figure: "",
        value: |slotted| Some(slotted.throughput),
    },
    Number {
        name: "offered_traffic",
        label: "Offered traffic",
        unit: "",
        about: "G: attempts, a slot or frame time; with `csma` also frames that gave way",
        key_figure: "",
        value: |slotted| Some(slotted.offered_traffic),
    },
    Number {
        name: "backlog",
        label: "Backlog",
        unit: "",
        about: "mean number of frames to be sent again, from when their senders know",
        key_figure: "",
        value: |slotted| Some(slotted.backlog),
    },
    Number {
        name: "delay",
        label: "Delay",
        unit: "",
        about: "mean time from a frame's arrival to its last bit, in slots or frame times; `null` if no frame got through",
        key_figure: "",
        value: |slotted| slotted.delay,
    },
];

/// The further figures of CSMA/CA.
pub const CSMA_CA: &[Number<SlottedFigure>] = &[
    Number {
        name: "goodput_mbps",
        label: "Goodput",
        unit: "Mb/s",
        about: "data of frames that were acknowledged, or sent to a group, in Mb/s",
        key_figure: "",
        value: |slotted| slotted.goodput_mbps,
    },
    Number {
        name: "collision_probability",
        label: "Collision probability",
        unit: "",
        about: "p: the part of the attempts that met another signal",
        key_figure: "",
        value: |slotted| slotted.collision_probability,
    },
    Number {
        name: "tau",
        label: "Tau",
        unit: "",
        about: "attempts in a slot of the sender's own counter: attempts / (attempts + slots drawn)",
        key_figure: "",
        value: |slotted| slotted.tau,
    },
];

/// The column of the slot in which infinitely many users ran away.
pub const RAN_AWAY: &str = "ran_away_slot";

/// The further figures of ALOHA and CSMA, which no batch of a run has.
pub const WHOLE: &[Number<SlottedFigure>] = &[
    Number {
        name: "longest_waiting_bt",
        label: "Longest waiting",
        unit: "BT",
        about: "the longest wait, in bit times, of a frame that is not over at the end; not with `csma-ca`",
        key_figure: "",
        value: |slotted| slotted.longest_waiting_bt.map(|bits| bits as f64),
    },
    Number {
        name: RAN_AWAY,
        label: "Ran away slot",
        unit: "",
        about: "in CSV, of `ran_away`: the mean of the slots in which [users ran away](access.md#infinitely-many-users-run-away), if they did",
        key_figure: "",
        value: |slotted| slotted.ran_away.as_ref().map(RanAway::mean_slot),
    },
];

/// Columns that are no metrics: their names, labels and units.
pub const OTHERS: &[(&str, &str, &str)] = &[
    ("wall_s", "Wall-clock time", "s"),
    ("frames_per_wall_s", "Simulated frames per second of wall-clock time", "1/s"),
    ("stations", "Stations", ""),
    ("rate_bits_per_second", "Rate", "bit/s"),
    ("measured_bit_times", "Measured", "BT"),
    ("offered_load", "Offered load", RATE),
];

/// Label and unit of a column, if the table has it.
pub fn label(column: &str) -> Option<(String, &'static str)> {
    if let Some((delay, figure)) =
        DELAYS.iter().find_map(|it| Some((it, column.strip_prefix(it.name)?.strip_prefix('_')?)))
    {
        let figures = FIGURES.iter().map(|it| (it.name, it.label)).chain([LONGEST]);
        let (_, words) = figures.into_iter().find(|(name, _)| *name == figure)?;
        return Some((format!("{}, {words}", delay.label), "BT"));
    }
    let numbers = NUMBERS.iter().map(|it| (it.name, it.label, it.unit));
    let numbers = numbers.chain(of_stacks().map(|it| (it.name, it.label, it.unit)));
    let slotted = SLOTTED.iter().chain(CSMA_CA).chain(WHOLE).map(|it| (it.name, it.label, it.unit));
    let (_, words, unit) = numbers.chain(slotted).chain(OTHERS.iter().copied()).find(|(name, ..)| *name == column)?;
    Some((words.to_owned(), unit))
}

/// What a column is, in Markdown, if the table has it.
pub fn definition(column: &str) -> Option<String> {
    if let Some(of) = column.strip_prefix(HALF_WIDTH) {
        return Some(format!("half-width of the 95 % confidence interval of `{of}`"));
    }
    if let Some(after) = column.strip_prefix("collision_frames_") {
        return Some(format!("frames that got through after collisions: {after}"));
    }
    if let Some((delay, figure)) =
        DELAYS.iter().find_map(|it| Some((it, column.strip_prefix(it.name)?.strip_prefix('_')?)))
    {
        let figures = FIGURES.iter().map(|it| (it.name, it.label)).chain([LONGEST]);
        let (_, words) = figures.into_iter().find(|(name, _)| *name == figure)?;
        return Some(format!("{words} of the delay {}", delay.about));
    }
    let numbers = NUMBERS.iter().map(|it| (it.name, it.about));
    let numbers = numbers.chain(of_stacks().map(|it| (it.name, it.about)));
    let slotted = SLOTTED.iter().chain(CSMA_CA).chain(WHOLE).map(|it| (it.name, it.about));
    let found = numbers.chain(slotted).find(|(name, _)| *name == column).map(|(_, about)| about.to_owned());
    found.or_else(|| counters::about(column).map(|about| format!("{about}; the sum over stations")))
}

/// How columns of half-widths begin.
pub const HALF_WIDTH: &str = "ci95_";

/// Whether a column is a measure, whatever digits stand in it.
pub fn is_measure(column: &str) -> bool {
    if column.starts_with(HALF_WIDTH) || column.ends_with("wall_s") {
        return true;
    }
    let of_delay = |delay: &Delay| FIGURES.iter().any(|figure| column == format!("{}_{}", delay.name, figure.name));
    NUMBERS.iter().any(|number| number.name == column)
        || DELAYS.iter().any(of_delay)
        || of_stacks().any(|number| number.name == column)
        || SLOTTED.iter().chain(CSMA_CA).chain(WHOLE).any(|number| number.name == column)
}

/// The figures that stand at the top of a report: their columns, and what they are called.
pub fn key_figures() -> Vec<(String, &'static str)> {
    let numbers = NUMBERS.iter().map(|number| (number.name.to_owned(), number.key_figure));
    let of_delay = |(place, delay): (usize, &Delay)| {
        let name = delay.name;
        let named = move |figure: &OfDelay| Some((format!("{name}_{}", figure.name), *figure.key_figures.get(place)?));
        FIGURES.iter().filter_map(named).collect::<Vec<_>>()
    };
    let delays = DELAYS.iter().enumerate().flat_map(of_delay);
    let stacks = of_stacks().map(|number| (number.name.to_owned(), number.key_figure));
    numbers.chain(delays).chain(stacks).filter(|(_, words)| !words.is_empty()).collect()
}

/// The rows of these metrics, of the counters of a station, or of the emulator's figures, in docs/results.md and docs/access.md;
/// nothing for a name that is none of the tables'.
pub fn rows(table: &str) -> Option<String> {
    let row = |name: &str, about: &str| format!("| `{name}` | {about} |\n");
    let slotted =
        |numbers: &[Number<SlottedFigure>]| numbers.iter().map(|it| row(it.name, it.about)).collect::<String>();
    let figures = FIGURES.iter().map(|figure| figure.name).chain([LONGEST.0, "histogram"]);
    let figures = figures.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let numbers = |numbers: &[Number<Metric>]| numbers.iter().map(|it| row(it.name, it.about)).collect::<String>();
    let head = "| key | what it is |\n|---|---|\n".to_owned();
    Some(
        head + &match table {
            "NUMBERS" => numbers(NUMBERS),
            "DELAYS" => {
                DELAYS.iter().map(|delay| row(delay.name, &format!("{}: {figures}", delay.about))).collect::<String>()
            }
            "SLOTTED" => slotted(SLOTTED) + &slotted(WHOLE),
            "CSMA_CA" => slotted(CSMA_CA),
            "TCP" => numbers(TCP),
            "PING" => numbers(PING),
            "UDP" => numbers(UDP),
            "COUNTERS" => return Some(counters::rows()),
            "EMULATOR" => emulator::rows(false),
            "LINKS" => emulator::rows(true),
            _ => return None,
        },
    )
}
