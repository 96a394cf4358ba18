//! The metrics of docs/results.md: sums over a stretch of time, the delays of its frames, and what follows from both.
//!
//! Everything here is a fold of the engine's events. Half-widths of confidence intervals come from stretches of one run
//! (batch means) or from independent runs.

use crate::figures::results::{DelayResults, MediumResults};
use hdrhistogram::Histogram;
use medium::{Counters, Event, Kind, MediumTally, Tally};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Delays up to some 30 hours at 10 Mb/s, in bit times; beyond it they count as that long.
const LONGEST: u64 = 1 << 40;
/// A quantile is off by less than one part in a thousand.
const DIGITS: u8 = 3;

/// The sums over a stretch of time from which metrics follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// How long the stretch is, in bit times.
    pub measured: u64,
    frames: u64,
    payload_octets: u64,
    attempts: u64,
    excessive_collisions: u64,
    late_collision_discards: u64,
    episodes: u64,
    collisions: u64,
    same_winner: u64,
    collision_frames: Vec<u64>,
    /// Octets of each station's successful frames, from destination address to FCS.
    station_octets: Vec<u64>,
}

impl Sums {
    /// The sums that a tally holds after `measured` bit times.
    pub fn of(tally: &Tally, measured: u64) -> Sums {
        let sum = |counter: fn(&Counters) -> u64| tally.stations().iter().map(counter).sum::<u64>();
        let MediumTally { collision_episodes, collisions, same_winner, .. } = *tally.medium();
        Sums {
            measured,
            frames: sum(|c| c.frames_transmitted_ok),
            payload_octets: sum(|c| c.octets_transmitted_ok),
            attempts: sum(|c| c.attempts),
            excessive_collisions: sum(|c| c.excessive_collisions),
            late_collision_discards: sum(|c| c.late_collision_discards),
            episodes: collision_episodes,
            collisions,
            same_winner,
            collision_frames: after_collisions(tally),
            station_octets: tally.stations().iter().map(Counters::frame_octets_transmitted).collect(),
        }
    }

    /// The sums since `earlier`, which was taken from the same tally.
    pub fn since(&self, earlier: &Sums) -> Sums {
        let mut stretch = self.clone();
        stretch.change(earlier, |now, before| *now -= before);
        stretch
    }

    /// The sums of this stretch and `other`, another of the same medium.
    pub fn and(&self, other: &Sums) -> Sums {
        let mut both = self.clone();
        both.change(other, |one, another| *one += another);
        both
    }

    fn change(&mut self, other: &Sums, change: fn(&mut u64, u64)) {
        self.station_octets.resize(self.station_octets.len().max(other.station_octets.len()), 0);
        let singles = [
            (&mut self.measured, other.measured),
            (&mut self.frames, other.frames),
            (&mut self.payload_octets, other.payload_octets),
            (&mut self.attempts, other.attempts),
            (&mut self.excessive_collisions, other.excessive_collisions),
            (&mut self.late_collision_discards, other.late_collision_discards),
            (&mut self.episodes, other.episodes),
            (&mut self.collisions, other.collisions),
            (&mut self.same_winner, other.same_winner),
        ];
        singles.into_iter().for_each(|(value, other)| change(value, other));
        self.collision_frames.resize(self.collision_frames.len().max(other.collision_frames.len()), 0);
        let frames = self.collision_frames.iter_mut().zip(&other.collision_frames);
        frames.for_each(|(value, other)| change(value, *other));
        let octets = self.station_octets.iter_mut().zip(&other.station_octets);
        octets.for_each(|(value, other)| change(value, *other));
    }
}

/// How many frames of all stations got through after n collisions, at index n − 1.
fn after_collisions(tally: &Tally) -> Vec<u64> {
    let places = tally.stations().iter().map(|counters| counters.collision_frames.len()).max().unwrap_or(0);
    let at = |n: usize| tally.stations().iter().filter_map(move |counters| counters.collision_frames.get(n));
    (0..places).map(|n| at(n).sum()).collect()
}

/// Delays of successful frames: their mean and maximum exactly, their quantiles to a part in a thousand.
#[derive(Clone, Debug)]
pub struct Delays {
    access: Delay,
    mac: Delay,
}

#[derive(Clone, Debug)]
struct Delay {
    histogram: Histogram<u64>,
    sum: u128,
    max: u64,
}

impl Default for Delays {
    fn default() -> Delays {
        Delays { access: Delay::new(), mac: Delay::new() }
    }
}

impl Delays {
    /// Takes one more event in.
    #[inline]
    pub fn record(&mut self, event: &Event) {
        if let Kind::Transmitted { access_delay, mac_delay, .. } = event.kind {
            self.access.record(access_delay.get());
            self.mac.record(mac_delay.get());
        }
    }

    /// Takes in the delays of another stretch of time.
    pub fn add(&mut self, other: &Delays) {
        self.access.add(&other.access);
        self.mac.add(&other.mac);
    }

    /// Forgets everything.
    pub fn restart(&mut self) {
        self.access.restart();
        self.mac.restart();
    }

    /// Access delay, then MAC delay.
    pub fn results(&self) -> [DelayResults; 2] {
        [self.access.results(), self.mac.results()]
    }
}

impl Delay {
    fn new() -> Delay {
        let mut histogram =
            Histogram::new_with_max(1 << 20, DIGITS).expect("a range and digits that the histogram supports");
        histogram.auto(true);
        Delay { histogram, sum: 0, max: 0 }
    }

    #[inline]
    fn record(&mut self, bits: u64) {
        self.sum += u128::from(bits);
        self.max = self.max.max(bits);
        self.histogram.record(bits.min(LONGEST)).expect("the histogram grows to hold any value up to LONGEST");
    }

    fn add(&mut self, other: &Delay) {
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        self.histogram.add(&other.histogram).expect("the histogram grows to hold any value up to LONGEST");
    }

    fn restart(&mut self) {
        self.histogram.reset();
        (self.sum, self.max) = (0, 0);
    }

    fn results(&self) -> DelayResults {
        let frames = self.histogram.len();
        DelayResults {
            mean_bt: if frames == 0 { 0.0 } else { self.sum as f64 / frames as f64 },
            p50_bt: self.histogram.value_at_quantile(0.50).min(self.max),
            p99_bt: self.histogram.value_at_quantile(0.99).min(self.max),
            max_bt: self.max,
        }
    }
}

impl MediumResults {
    /// Works out every metric of a stretch of time.
    pub fn new(sums: &Sums, delays: [DelayResults; 2]) -> MediumResults {
        let Sums { measured, frames, payload_octets, attempts, excessive_collisions, episodes, .. } = *sums;
        let frame_bits = 8 * sums.station_octets.iter().sum::<u64>();
        let part = |bits: u64| ratio(bits, measured);
        let finished = frames + excessive_collisions + sums.late_collision_discards;
        let [access_delay, mac_delay] = delays;
        MediumResults {
            utilization_frame: part(frame_bits),
            utilization_wire: part(frame_bits + 64 * frames),
            utilization_total: part(frame_bits + 160 * frames),
            utilization_payload: part(8 * payload_octets),
            attempts_per_frame: ratio(attempts, finished),
            discard_fraction: ratio(excessive_collisions, finished),
            collision_episodes: episodes,
            stations_per_collision: ratio(sums.collisions, episodes),
            same_winner: ratio(sums.same_winner, frames),
            fairness: jain(&sums.station_octets),
            access_delay,
            mac_delay,
            collision_frames: sums.collision_frames.to_vec(),
            cut: None,
            ci95: None,
        }
    }
}

/// How a metric is had from results.
pub type Metric = fn(&MediumResults) -> f64;
/// How a delay is had from results.
pub type DelayOf = fn(&MediumResults) -> &DelayResults;
/// How a figure is had from a delay.
pub type Figure = fn(&DelayResults) -> f64;

/// Metrics that are one number, under their names.
pub const NUMBERS: &[(&str, Metric)] = &[
    ("utilization_frame", |m| m.utilization_frame),
    ("utilization_wire", |m| m.utilization_wire),
    ("utilization_total", |m| m.utilization_total),
    ("utilization_payload", |m| m.utilization_payload),
    ("attempts_per_frame", |m| m.attempts_per_frame),
    ("discard_fraction", |m| m.discard_fraction),
    ("stations_per_collision", |m| m.stations_per_collision),
    ("same_winner", |m| m.same_winner),
    ("fairness", |m| m.fairness),
];

/// Metrics that are delays, under their names.
pub const DELAYS: &[(&str, DelayOf)] = &[("access_delay", |m| &m.access_delay), ("mac_delay", |m| &m.mac_delay)];

/// The figures of a delay that are estimates.
pub const FIGURES: &[(&str, Figure)] =
    &[("mean_bt", |d| d.mean_bt), ("p50_bt", |d| d.p50_bt as f64), ("p99_bt", |d| d.p99_bt as f64)];

/// 0 where there is nothing to divide by.
fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}

/// Jain's fairness index: 1 if all have the same, 1/n if one has everything, 0 if nobody has anything.
fn jain(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|&x| x as f64).sum();
    let squares: f64 = shares.iter().map(|&x| (x as f64).powi(2)).sum();
    if squares == 0.0 { 0.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

/// Half-width of the 95 % interval of the mean of independent samples: t × s / √n (Student's t, n − 1 degrees of
/// freedom); `None` for fewer than two.
pub fn half_width(samples: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let (sum, n) = samples.clone().fold((0.0, 0_usize), |(sum, n), x| (sum + x, n + 1));
    half_width_around(sum / n as f64, samples)
}

/// The same around `centre`, a figure of all samples together: what is between it and the samples' mean widens the
/// interval (sectioning; Asmussen and Glynn, Stochastic Simulation, III.5).
pub fn half_width_around(centre: f64, samples: impl Iterator<Item = f64>) -> Option<f64> {
    let (squares, n) = samples.fold((0.0, 0_usize), |(squares, n), x| (squares + (x - centre).powi(2), n + 1));
    (n > 1).then(|| student_t(n - 1) * (squares / (n - 1) as f64 / n as f64).sqrt())
}

/// The 97.5 % quantile of Student's t with so many degrees of freedom.
fn student_t(freedom: usize) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom as f64).expect("a positive number of degrees of freedom");
    t.inverse_cdf(0.975)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of any table of Student's t.
    #[test]
    fn student_t_is_that_of_the_tables() {
        for (freedom, t) in [(1, 12.706), (2, 4.303), (9, 2.262), (31, 2.040), (1000, 1.962)] {
            assert!((student_t(freedom) - t).abs() < 5e-4, "{freedom}: {}", student_t(freedom));
        }
    }

    #[test]
    fn an_interval_needs_two_samples() {
        assert_eq!(half_width([1.0].into_iter()), None);
        // Mean 2, s = √2, n = 2: t(1) × √2 / √2.
        let half = half_width([1.0, 3.0].into_iter()).expect("two samples");
        assert!((half - 12.706).abs() < 1e-3, "{half}");
    }

    #[test]
    fn shares_are_fair_when_they_are_equal() {
        assert_eq!(jain(&[5, 5, 5, 5]), 1.0);
        assert_eq!(jain(&[5, 0, 0, 0]), 0.25);
        assert_eq!(jain(&[0, 0]), 0.0);
    }

    #[test]
    fn a_delay_keeps_mean_and_maximum_exactly() {
        let mut delay = Delay::new();
        [0, 7, 1_000_003, 1 << 41].into_iter().for_each(|bits| delay.record(bits));
        let results = delay.results();
        assert_eq!(results.max_bt, 1 << 41);
        assert_eq!(results.mean_bt, ((1_u64 << 41) + 1_000_010) as f64 / 4.0);
        assert_eq!(results.p50_bt, 7);
    }
}
