//! Delays of successful frames, of all stations together and of each; and how stations contended meanwhile.
//!
//! A fold of the engine's events.

use crate::figures::contention::Contention;
use crate::figures::histogram::{Histogram, Packed};
use medium::{Event, Kind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::mem::take;

/// Delays up to some 30 hours at 10 Mb/s, in bit times; beyond it they count as that long.
const LONGEST: u64 = 1 << 40;
/// A quantile of all frames is off by less than one part in a thousand.
const FINE: u32 = 11;
/// One of a station's by less than one part in 16: a thousand stations' delays take a few megabytes.
const COARSE: u32 = 5;

/// Delays of successful frames: their mean and maximum exactly, their quantiles to a part in a thousand.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    access: Delay<FINE>,
    mac: Delay<FINE>,
    /// Access delay and MAC delay of each station that had a frame get through, and of those before it.
    stations: Vec<[Delay<COARSE>; 2]>,
    /// Octets of the longest frame that got through.
    longest_frame: u32,
    contention: Contention,
}

/// A delay, in bit times; none of its figures if there was no frame. Percentiles are at most one part in a thousand
/// above the exact ones; those of a station one part in 16.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DelayResults {
    /// Its mean.
    pub mean_bt: Option<f64>,
    /// Its median.
    #[serde(default)]
    pub p50_bt: Option<u64>,
    /// Its 90th percentile.
    #[serde(default)]
    pub p90_bt: Option<u64>,
    /// Its 95th percentile.
    #[serde(default)]
    pub p95_bt: Option<u64>,
    /// Its 99th percentile.
    #[serde(default)]
    pub p99_bt: Option<u64>,
    /// Its 99.9th percentile.
    #[serde(default)]
    pub p999_bt: Option<u64>,
    /// The longest.
    pub max_bt: Option<u64>,
    /// Frames in each bin, under the longest delay of the bin; four bins for each doubling, empty ones left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub histogram: BTreeMap<u64, u64>,
}

/// Delays of one kind: their mean and maximum exactly, their quantiles to one part in 2^(BITS − 1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Delay<const BITS: u32> {
    histogram: Histogram<BITS>,
    sum: u128,
    max: u64,
}

impl Delays {
    /// Takes one more event in. Where its kind is known when this is compiled, most events cost nothing.
    #[inline(always)]
    pub fn record(&mut self, event: &Event) {
        self.contention.record(event);
        if let Kind::Transmitted { access_delay, mac_delay, size, .. } = event.kind {
            self.longest_frame = self.longest_frame.max(size.get());
            self.transmitted(event.station.index(), access_delay.get(), mac_delay.get());
        }
    }

    fn transmitted(&mut self, station: usize, access_delay: u64, mac_delay: u64) {
        if station >= self.stations.len() {
            self.make_room(station);
        }
        let [access, mac] = &mut self.stations[station];
        access.record(access_delay);
        mac.record(mac_delay);
        self.access.record(access_delay);
        self.mac.record(mac_delay);
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, station: usize) {
        self.stations.resize_with(station + 1, Default::default);
    }

    /// Takes in the delays of another stretch of time, or of another run.
    pub fn add(&mut self, other: &Delays) {
        self.access.add(&other.access);
        self.mac.add(&other.mac);
        self.stations.resize_with(self.stations.len().max(other.stations.len()), Default::default);
        for ([access, mac], [other_access, other_mac]) in self.stations.iter_mut().zip(&other.stations) {
            access.add(other_access);
            mac.add(other_mac);
        }
        self.longest_frame = self.longest_frame.max(other.longest_frame);
        self.contention.add(&other.contention);
    }

    /// Forgets everything, but for what it takes to know a collision that goes on.
    pub fn restart(&mut self) {
        let mut contention = std::mem::take(&mut self.contention);
        contention.restart();
        *self = Delays { contention, ..Delays::default() };
    }

    /// Moves the delays of all stations together to `whole`, and gives them packed; the rest stays.
    pub fn move_batch_to(&mut self, whole: &mut Delays) -> PackedDelays {
        PackedDelays([self.access.move_to(&mut whole.access), self.mac.move_to(&mut whole.mac)])
    }

    /// The figures of access delay, then of MAC delay, with their histograms.
    pub fn results(&self) -> [DelayResults; 2] {
        [self.access.results(), self.mac.results()]
    }

    /// The same of each of `stations` stations.
    pub fn of_stations(&self, stations: usize) -> Vec<[DelayResults; 2]> {
        let mut all: Vec<_> = self.stations.iter().map(|[access, mac]| [access.results(), mac.results()]).collect();
        all.resize_with(stations, Default::default);
        all
    }

    /// The same without histograms.
    pub fn figures_of_stations(&self, stations: usize) -> Vec<[DelayResults; 2]> {
        let mut all: Vec<_> = self.stations.iter().map(|[access, mac]| [access.figures(), mac.figures()]).collect();
        all.resize_with(stations, Default::default);
        all
    }

    /// Octets of the longest frame that got through; 0 if none did.
    pub fn longest_frame(&self) -> u32 {
        self.longest_frame
    }

    /// The delays of all stations together so far.
    pub fn packed(&self) -> PackedDelays {
        PackedDelays([self.access.packed(), self.mac.packed()])
    }

    /// How stations contended.
    pub fn contention(&self) -> &Contention {
        &self.contention
    }
}

/// Access delay and MAC delay of all stations together, in little room.
#[derive(Clone, Debug, Default)]
pub struct PackedDelays([PackedDelay<FINE>; 2]);

/// A delay to which nothing is added any more.
#[derive(Clone, Debug, Default)]
struct PackedDelay<const BITS: u32> {
    histogram: Packed<BITS>,
    sum: u128,
    max: u64,
}

impl PackedDelays {
    /// Those of neighbouring stretches of time together.
    pub fn joined(all: &[PackedDelays]) -> PackedDelays {
        PackedDelays([0, 1].map(|which| {
            let all = || all.iter().map(|delays| &delays.0[which]);
            PackedDelay {
                histogram: Packed::joined(all().map(|delay| &delay.histogram)),
                sum: all().map(|delay| delay.sum).sum(),
                max: all().map(|delay| delay.max).max().unwrap_or_default(),
            }
        }))
    }

    /// The figures of access delay, then of MAC delay.
    pub fn figures(&self) -> [DelayResults; 2] {
        self.0.each_ref().map(PackedDelay::figures)
    }

    /// Of access delay (0) or MAC delay (1): how many frames there are, and how many had a delay above `bits`, in buckets
    /// of a part in a thousand.
    pub fn beyond(&self, which: usize, bits: u64) -> (u64, u64) {
        let histogram = &self.0[which].histogram;
        (histogram.total(), histogram.above(bits))
    }

    /// Likewise, the delay up to which this part of the frames lies; none of no frames.
    pub fn quantile(&self, which: usize, part: f64) -> Option<u64> {
        let [found] = self.0[which].histogram.quantiles([part], u64::MAX);
        found
    }
}

impl<const BITS: u32> PackedDelay<BITS> {
    fn figures(&self) -> DelayResults {
        let frames = self.histogram.total();
        if frames == 0 {
            return DelayResults::default();
        }
        let parts = [0.50, 0.90, 0.95, 0.99, 0.999];
        let [p50_bt, p90_bt, p95_bt, p99_bt, p999_bt] = self.histogram.quantiles(parts, self.max);
        DelayResults {
            mean_bt: Some(self.sum as f64 / frames as f64),
            p50_bt,
            p90_bt,
            p95_bt,
            p99_bt,
            p999_bt,
            max_bt: Some(self.max),
            ..DelayResults::default()
        }
    }

    fn results(&self) -> DelayResults {
        DelayResults { histogram: self.histogram.bins(), ..self.figures() }
    }
}

impl<const BITS: u32> Delay<BITS> {
    fn move_to(&mut self, whole: &mut Delay<BITS>) -> PackedDelay<BITS> {
        let (sum, max) = (take(&mut self.sum), take(&mut self.max));
        (whole.sum, whole.max) = (whole.sum + sum, whole.max.max(max));
        PackedDelay { histogram: self.histogram.move_to(&mut whole.histogram, max.min(LONGEST)), sum, max }
    }

    fn packed(&self) -> PackedDelay<BITS> {
        PackedDelay { histogram: Packed::from(&self.histogram), sum: self.sum, max: self.max }
    }

    #[inline]
    pub(super) fn record(&mut self, bits: u64) {
        self.sum += u128::from(bits);
        self.max = self.max.max(bits);
        self.histogram.record(bits.min(LONGEST));
    }

    pub(super) fn add(&mut self, other: &Delay<BITS>) {
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        self.histogram.add(&other.histogram);
    }

    pub(super) fn figures(&self) -> DelayResults {
        self.packed().figures()
    }

    fn results(&self) -> DelayResults {
        self.packed().results()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_keeps_mean_and_maximum_exactly() {
        let mut delay = Delay::<FINE>::default();
        [0, 7, 1_000_003, 1 << 41].into_iter().for_each(|bits| delay.record(bits));
        let results = delay.results();
        assert_eq!(results.max_bt, Some(1 << 41));
        assert_eq!(results.mean_bt, Some(((1_u64 << 41) + 1_000_010) as f64 / 4.0));
        assert_eq!(results.p50_bt, Some(7));
        assert_eq!(results.histogram.values().sum::<u64>(), 4);
    }

    #[test]
    fn of_no_frames_there_is_no_delay() {
        let [access, mac] = Delays::default().results();
        assert_eq!((access.mean_bt, access.max_bt, mac.p50_bt), (None, None, None));
        assert!(access.histogram.is_empty());
    }
}
