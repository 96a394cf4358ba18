//! The results schema: what the demonstration, `stats` and every later command report. See docs/results.md.
//!
//! Everything under `medium` and `stations` is a fold of the engine's events; `snapshot` and `metrics` work it out.

pub mod check;
pub mod emulator;
pub mod estimates;
pub mod slotted;

pub use self::emulator::{ChangeResults, EmulatorResults, FileResults, LinkResults, ObserverResults};
pub use self::estimates::{HalfWidth, Intervals, UntilResults};
pub use self::slotted::{RanAway, SlottedResults};
use crate::figures::contention::{self, Contention};
pub use crate::figures::delays::DelayResults;
use crate::figures::messages::PlanResults;
use crate::figures::plca::{PlcaResults, PlcaStation};
use crate::figures::stacks::{PingResults, Protocol, UdpResults};
use crate::figures::tcp::TcpResults;
use crate::words::configuration::{WrittenConfig, kind};
use medium::{Config, Fault, Place};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The schema's version.
pub const VERSION: u32 = 1;

/// What happened on a bus.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Results {
    /// Version of this schema.
    pub version: u32,
    /// What the medium was made from.
    pub config: ConfigResults,
    /// Seed of every random draw.
    pub seed: u64,
    /// How long was measured.
    pub measured_bit_times: u64,
    /// The medium as a whole.
    pub medium: MediumResults,
    /// Each station, in order of station number.
    pub stations: Vec<StationResults>,
    /// The emulator itself; nothing for a run in virtual time.
    pub emulator: Option<EmulatorResults>,
    /// The messages of the table that a lab runs, with their bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanResults>,
    /// The programs that a virtual lab waits for, in order of stations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramResults>,
}

/// How a program of a virtual lab ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProgramResults {
    /// Its station.
    pub station: String,
    /// The command that was run.
    pub command: String,
    /// Its exit code; nothing while it has not ended.
    pub code: Option<u8>,
}

/// What the medium was made from.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConfigResults {
    /// The lab's name; empty in the demonstration.
    pub name: String,
    /// Bits per second.
    pub rate_bits_per_second: u64,
    /// `star`, `bus` or `segments`.
    pub topology: String,
    /// The longest distance between two stations, in bit times.
    pub longest_distance_bt: u64,
    /// Frames that a transmit queue holds.
    pub queue_limit: usize,
    /// The medium's whole configuration: places, and the parameters of 802.3, table 4-2.
    #[cfg_attr(test, schemars(with = "BTreeMap<String, serde_json::Value>"))]
    pub medium: WrittenConfig,
    /// What only a run in virtual time has.
    #[serde(flatten)]
    pub run: Option<RunResults>,
}

impl ConfigResults {
    /// Of a lab called `name`, whose medium is made from `medium`.
    pub fn new(medium: &WrittenConfig, name: &str) -> ConfigResults {
        let Config { rate, topology, queue_limit, .. } = medium.config();
        ConfigResults {
            name: name.to_owned(),
            rate_bits_per_second: rate.get(),
            topology: kind(topology).to_owned(),
            longest_distance_bt: topology.longest_distance().get(),
            queue_limit: *queue_limit,
            medium: medium.clone(),
            run: None,
        }
    }
}

/// What a run in virtual time was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunResults {
    /// Measured time of each run, in seconds.
    pub duration_s: f64,
    /// Warm-up of each run, in seconds.
    pub warmup_s: f64,
    /// The metric and half-width of `--until`, at which the run ended; `None` without that option.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<UntilResults>,
    /// Independent runs, seeded one after another from `seed`; counts are of all of them together.
    pub replications: u64,
    /// What the stations offer: one text if all offer the same, else one for each.
    pub traffic: Vec<String>,
    /// The part of the rate that the stations' frames are to take, from destination address to FCS; none if a source waits for
    /// the medium, an answer or a file, or the timetable changes what is offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_load: Option<f64>,
}

/// Metrics of the medium, under the names of 802.3 and of docs/results.md.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MediumResults {
    /// Octets of successful frames from destination address to FCS, as a part of the time measured.
    pub utilization_frame: f64,
    /// The same with preamble and SFD.
    pub utilization_wire: f64,
    /// The same with preamble, SFD and inter-packet gap: 1.0 for a lone saturated station.
    pub utilization_total: f64,
    /// Data octets only.
    pub utilization_payload: f64,
    /// Attempts per frame that was transmitted or discarded; like every mean of nothing, none if there was no frame.
    pub attempts_per_frame: Option<f64>,
    /// Frames discarded after attempt_limit attempts, as a part of those transmitted or so discarded.
    pub discard_fraction: Option<f64>,
    /// Overlaps on the medium.
    pub collision_episodes: u64,
    /// Attempts that collided, for each overlap.
    pub attempts_per_episode: Option<f64>,
    /// Part of the successful frames whose sender also sent the one before.
    pub same_winner: Option<f64>,
    /// Jain's index over successful octets of the stations that had something to send.
    pub fairness: Option<f64>,
    /// Head of the queue to first bit of the successful attempt.
    pub access_delay: DelayResults,
    /// Arrival in the queue to last bit.
    pub mac_delay: DelayResults,
    /// Frames that got through after 1, 2, 3 … collisions, up to one less than attempt_limit.
    pub collision_frames: Vec<u64>,
    /// Collision episodes of 1, 2, 3 … attempts that noticed the collision.
    #[serde(default)]
    pub collision_multiplicity: Vec<u64>,
    /// Successful frames that came after 0, 1, 2 … collision episodes since the one before; the last of 1,024 places
    /// counts those after more, too.
    #[serde(default)]
    pub episodes_before_success: Vec<u64>,
    /// Capture: runs of 1, 2, 3 … successful frames of one station in a row; the last of 1,024 places counts longer ones,
    /// too.
    #[serde(default)]
    pub capture_runs: Vec<u64>,
    /// Throughput, offered traffic, backlog and delay in slots, of a slotted medium in virtual time.
    #[serde(flatten)]
    pub slotted: Option<SlottedResults>,
    /// TCP connections, if stations have some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpResults>,
    /// Echo requests, if stations send some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ping: Option<PingResults>,
    /// UDP datagrams, if stations send some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp: Option<UdpResults>,
    /// Cycles of a bus with PLCA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plca: Option<PlcaResults>,
    /// Where the cable is cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "Option<crate::words::cable::Cut>"))]
    pub cut: Option<Place>,
    /// Half-widths of 95 % confidence intervals, where a figure is an estimate; live counts are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<Intervals>,
}

impl MediumResults {
    /// What stacks of stations said to each other.
    pub fn protocols(&self) -> impl Iterator<Item = Protocol> {
        let all = [self.tcp.is_some(), self.ping.is_some(), self.udp.is_some()];
        Protocol::ALL.into_iter().zip(all).filter_map(|(protocol, has)| has.then_some(protocol))
    }

    /// Takes in how stations contended.
    pub fn take_in(&mut self, contention: &Contention) {
        self.collision_multiplicity = contention.multiplicity().to_vec();
        self.episodes_before_success = contention.before_success().to_vec();
        self.capture_runs = contention.capture_runs().to_vec();
    }
}

/// One station.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StationResults {
    /// Its name.
    pub name: String,
    /// Whether it is on the medium.
    pub attached: bool,
    /// What is wrong with it, if somebody made it faulty.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub fault: Option<Fault>,
    /// Frames in its transmit queue at the start of the measurement.
    pub queued_at_start: u64,
    /// Frames in its transmit queue at the end, the one being sent included.
    pub queued: u64,
    /// Frames that got through after 1, 2, 3 … collisions, up to one less than attempt_limit.
    pub collision_frames: Vec<u64>,
    /// Its own access delay; in a live bus with PLCA alone, and without a histogram.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_delay: Option<DelayResults>,
    /// Its own MAC delay, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac_delay: Option<DelayResults>,
    /// The TCP connections over which it sends, if it has some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpResults>,
    /// The echo requests that it sends, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ping: Option<PingResults>,
    /// The UDP datagrams that it sends, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub udp: Option<UdpResults>,
    /// Its PLCA, on a bus that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plca: Option<PlcaStation>,
    /// Every counter under its name.
    #[serde(flatten)]
    pub counters: BTreeMap<String, u64>,
}

impl StationResults {
    /// Takes in what the same station did in another run, but for its delays.
    pub fn add(&mut self, other: &StationResults) {
        self.attached &= other.attached;
        self.queued_at_start += other.queued_at_start;
        self.queued += other.queued;
        if let (Some(own), Some(more)) = (&mut self.plca, &other.plca) {
            own.add(more);
        }
        contention::add(&mut self.collision_frames, &other.collision_frames);
        other.counters.iter().for_each(|(name, more)| *self.counters.entry(name.clone()).or_default() += more);
    }

    /// A counter's value.
    ///
    /// # Panics
    /// If there is no counter of this name: the caller's mistake.
    pub fn counter(&self, name: &str) -> u64 {
        *self.counters.get(name).unwrap_or_else(|| panic!("no counter is called {name}"))
    }

    /// Frames that will never be sent, for whatever cause.
    pub fn discarded(&self) -> u64 {
        ["queue_drops", "excessive_collisions", "late_collision_discards", "too_short", "too_long", "detached"]
            .map(|name| self.counter(name))
            .iter()
            .sum()
    }

    /// Conservation: offered + queued at the start = transmitted + discarded + queued at the end.
    pub fn adds_up(&self) -> bool {
        self.counter("offered") + self.queued_at_start
            == self.counter("frames_transmitted_ok") + self.discarded() + self.queued
    }
}

impl Results {
    /// A lab that runs a table of messages was late with one.
    pub fn misses_plan(&self) -> bool {
        self.plan.as_ref().is_some_and(PlanResults::is_missed)
    }

    /// The exit code of the first program that failed. One that has not ended counts as `unended`.
    pub fn code_of_programs(&self, unended: u8) -> u8 {
        self.programs.iter().map(|program| program.code.unwrap_or(unended)).find(|code| *code != 0).unwrap_or(0)
    }
}
