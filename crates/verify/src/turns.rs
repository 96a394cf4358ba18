//! The figures of PLCA, counted again from the rows of a trace, where its nodes are in step all the time (802.3, clause 148).
//!
//! ```text
//!   row BEACON               the cycles that no row tells of              row BEACON
//!   │ turn taken │ … │ cycle without a frame │ … │ cycle with the next frame │
//! ```
//! A row of a BEACON ends a cycle in which a node sent; those before it without a frame are all as long.

use crate::arithmetic::is_same;
use crate::cycle::Cycle;
use medium::{Config, Event, MacKind, Method, Part, PlcaKind};
use std::ops::Range;

/// A turn under way as the measurement begins or ends may count or not.
const APART: f64 = 1.0;

/// Cycles and turns, from the beginning of the measurement on.
#[derive(Debug)]
pub struct Turns {
    measured: Range<u64>,
    /// The length of a cycle without a frame; none where nodes are, or were once, not in step.
    idle: Option<u64>,
    /// The latest BEACON of a row, and the first turn that was taken since.
    beacon: Option<u64>,
    taken: Option<u64>,
    cycles: u64,
    empty: u64,
    sum: u64,
    lengths: Option<(u64, u64)>,
    /// By station: the turns that it took, and the collisions that PLCA told its MAC of.
    used: Vec<u64>,
    told: Vec<u64>,
    longest_frame: u32,
    longest_wait: u64,
}

impl Turns {
    /// Those of a bus that is measured in these bit times; `None` without PLCA.
    pub fn new(config: &Config, measured: Range<u64>) -> Option<Turns> {
        let Method::Plca(own) = &config.method else { return None };
        let (cycle, stations) = (Cycle::new(config), config.topology.stations());
        // A burst is one turn, and its rows are several.
        let is_single = own.nodes.iter().all(|node| node.settings.burst_count == 0 && node.ids().count() == 1);
        let is_plain = cycle.is_in_step() && is_single;
        Some(Turns {
            measured,
            idle: cycle.idle.filter(|_| is_plain).map(|(_, idle)| idle),
            beacon: None,
            taken: None,
            cycles: 0,
            empty: 0,
            sum: 0,
            lengths: None,
            used: vec![0; stations],
            told: vec![0; stations],
            longest_frame: 0,
            longest_wait: 0,
        })
    }

    /// Takes one more event.
    pub fn take(&mut self, event: &Event) {
        let (now, own) = (event.at.get(), event.station.index());
        let is_measured = u64::from(now >= self.measured.start);
        match event.kind.part() {
            Part::Plca(PlcaKind::Beacon { empty, length }) => self.beacon(now, empty, length.get()),
            // It has no frame any more: its turn is longer than an unused one, and its cycle counts as empty.
            Part::Plca(PlcaKind::Commit { .. }) if event.frame.serial == 0 => self.idle = None,
            Part::Plca(PlcaKind::Commit { .. }) => {
                self.taken.get_or_insert(now);
                self.used[own] += is_measured;
            }
            Part::Plca(PlcaKind::PlcaStatus { ok: false } | PlcaKind::PlcaId { .. }) => self.idle = None,
            Part::Mac(MacKind::Collision { episode: 0, .. }) => self.told[own] += is_measured,
            Part::Mac(MacKind::Collision { .. } | MacKind::Discarded { .. }) => self.idle = None,
            Part::Mac(MacKind::Transmitted { size, access_delay, .. }) if is_measured == 1 => {
                self.longest_frame = self.longest_frame.max(size.get());
                self.longest_wait = self.longest_wait.max(access_delay.get());
            }
            _ => {}
        }
    }

    fn beacon(&mut self, now: u64, empty: u64, length: u64) {
        if length > 0 {
            let first =
                now.saturating_sub(length).saturating_sub(empty.saturating_sub(1) * self.idle.unwrap_or_default());
            self.idle_cycles(first, empty);
            if now >= self.measured.start {
                self.cycle(length, 1);
            }
        }
        (self.beacon, self.taken) = (Some(now), None);
    }

    /// Cycles without a frame, of which the first ended at `first`.
    fn idle_cycles(&mut self, first: u64, count: u64) {
        let Some(idle) = self.idle else { return };
        let before = self.measured.start.saturating_sub(first).div_ceil(idle);
        let count = count.saturating_sub(before);
        self.cycle(idle, count);
        self.empty += count;
    }

    fn cycle(&mut self, length: u64, count: u64) {
        if count > 0 {
            let (shortest, longest) = self.lengths.unwrap_or((length, length));
            self.lengths = Some((shortest.min(length), longest.max(length)));
            self.cycles += count;
            self.sum += count * length;
        }
    }

    /// Whether the figure `told` is right, and what it should be; `None` for one that is not computed.
    pub fn figure(&self, path: &str, told: f64) -> Option<(bool, f64)> {
        let same = |own: f64| Some((is_same(told, own), own));
        if let Some(name) = path.strip_prefix("medium/plca/") {
            self.idle?;
            let (shortest, longest) = self.lengths.unwrap_or_default();
            return match name {
                "cycles" => same(self.cycles as f64),
                "empty_cycles" => same(self.empty as f64),
                "cycle_mean_bt" => same(self.sum as f64 / self.cycles as f64),
                "cycle_min_bt" => same(shortest as f64),
                "cycle_max_bt" => same(longest as f64),
                "frame_max_octets" => same(self.longest_frame.into()),
                "silences" => same(0.0),
                "access_delay_bound_bt" => Some((told >= self.longest_wait as f64, self.longest_wait as f64)),
                _ => None,
            };
        }
        let (station, name) = path.strip_prefix("stations/")?.split_once("/plca/counters/")?;
        let station = station.parse::<usize>().ok().filter(|station| *station < self.used.len())?;
        let about = |own: u64, apart: f64| Some(((told - own as f64).abs() <= apart, own as f64));
        self.idle?;
        match name {
            "used" => about(self.used[station], APART),
            "logical_collisions" => same(self.told[station] as f64),
            "beacons" | "opportunities" => about(self.cycles, APART),
            "empty_cycles" => about(self.empty, APART),
            "yielded" => about(self.cycles.saturating_sub(self.used[station]), 2.0 * APART),
            // Nothing of the kind while all nodes are in step.
            "beacons_before_turn"
            | "collisions_in_turn"
            | "corrupted"
            | "received_in_own_turn"
            | "status_losses"
            | "unexpected_beacons" => same(0.0),
            _ => None,
        }
    }

    /// The measurement is over: the cycles that no row tells of any more.
    pub fn close(&mut self) {
        let Some((idle, beacon)) = self.idle.zip(self.beacon) else { return };
        let until = self.taken.unwrap_or(self.measured.end - 1);
        self.idle_cycles(beacon + idle, until.saturating_sub(beacon) / idle);
    }
}
