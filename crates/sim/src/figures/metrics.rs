//! The metrics of docs/results.md: sums over a stretch of time, and what follows from them and from delays.
//!
//! Everything here is a fold of the engine's events.

use crate::figures::contention::{self, Contention};
pub use crate::figures::delays::Delays;
use crate::figures::results::{DelayResults, MediumResults};
use medium::{Counters, Tally};
use std::num::NonZeroU32;

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
    /// Frames that each station had to send: its queue at the beginning, and what its host offered.
    station_frames: Vec<u64>,
}

impl Sums {
    /// The sums that `tally` and `contention` hold after `measured` bit times, before which `queued` frames waited at each station.
    pub fn of(tally: &Tally, contention: &Contention, queued: &[u64], measured: u64) -> Sums {
        let sum = |counter: fn(&Counters) -> u64| tally.stations().iter().map(counter).sum::<u64>();
        Sums {
            measured,
            frames: sum(|c| c.frames_transmitted_ok),
            payload_octets: sum(|c| c.octets_transmitted_ok),
            attempts: sum(|c| c.attempts),
            excessive_collisions: sum(|c| c.excessive_collisions),
            late_collision_discards: sum(|c| c.late_collision_discards),
            episodes: contention.episodes(),
            collisions: contention.attempts(),
            same_winner: tally.medium().same_winner,
            collision_frames: after_collisions(tally),
            station_octets: tally.stations().iter().map(Counters::frame_octets_transmitted).collect(),
            station_frames: tally.stations().iter().zip(queued).map(|(it, queued)| it.offered + queued).collect(),
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

    /// Bit times.
    pub fn measured(&self) -> u64 {
        self.measured
    }

    /// Frames that got through.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Frames that got through or were discarded for their collisions.
    pub fn finished(&self) -> u64 {
        self.frames + self.excessive_collisions + self.late_collision_discards
    }

    /// Frames that were discarded after attempt_limit attempts.
    pub fn excessive_collisions(&self) -> u64 {
        self.excessive_collisions
    }

    /// Attempts that collided, in episodes that began in the stretch.
    pub fn collisions(&self) -> u64 {
        self.collisions
    }

    /// Frames that got through after 1, 2, 3 … collisions.
    pub fn collision_frames(&self) -> &[u64] {
        &self.collision_frames
    }

    fn change(&mut self, other: &Sums, change: fn(&mut u64, u64)) {
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
        let lists = [
            (&mut self.collision_frames, &other.collision_frames),
            (&mut self.station_octets, &other.station_octets),
            (&mut self.station_frames, &other.station_frames),
        ];
        for (values, others) in lists {
            values.resize(values.len().max(others.len()), 0);
            values.iter_mut().zip(others).for_each(|(value, other)| change(value, *other));
        }
    }
}

/// Frames that got through after 1, 2, 3 … collisions, of all stations together.
fn after_collisions(tally: &Tally) -> Vec<u64> {
    let mut sums = Vec::new();
    tally.stations().iter().for_each(|counters| contention::add(&mut sums, &counters.collision_frames));
    sums
}

/// The most places that `collision_frames` has unless a frame got through after more collisions.
const MOST_PLACES: usize = 1_023;

/// How many places `collision_frames` has where a frame has at most `attempt_limit` attempts; if there is no limit, as
/// many as were needed.
pub fn places(attempt_limit: Option<NonZeroU32>) -> usize {
    attempt_limit.map_or(0, |limit| (limit.get() as usize - 1).min(MOST_PLACES))
}

/// `collision_frames` with as many places as `attempt_limit` asks for, and never without a frame that it has.
pub fn with_places(mut collision_frames: Vec<u64>, attempt_limit: Option<NonZeroU32>) -> Vec<u64> {
    let used = collision_frames.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    collision_frames.resize(places(attempt_limit).max(used), 0);
    collision_frames
}

impl MediumResults {
    /// Works out every metric of a stretch of time.
    pub fn new(sums: &Sums, delays: [DelayResults; 2]) -> MediumResults {
        let Sums { measured, frames, payload_octets, attempts, excessive_collisions, episodes, .. } = *sums;
        let frame_bits = 8 * sums.station_octets.iter().sum::<u64>();
        let part = |bits: u64| ratio(bits, measured).unwrap_or(0.0);
        let finished = sums.finished();
        let [access_delay, mac_delay] = delays;
        MediumResults {
            utilization_frame: part(frame_bits),
            utilization_wire: part(frame_bits + 64 * frames),
            utilization_total: part(frame_bits + 160 * frames),
            utilization_payload: part(8 * payload_octets),
            attempts_per_frame: ratio(attempts, finished),
            discard_fraction: ratio(excessive_collisions, finished),
            collision_episodes: episodes,
            attempts_per_episode: ratio(sums.collisions, episodes),
            same_winner: ratio(sums.same_winner, frames),
            fairness: jain(sums.station_octets.iter().copied().zip(sums.station_frames.iter().copied())),
            access_delay,
            mac_delay,
            collision_frames: sums.collision_frames.clone(),
            ..MediumResults::default()
        }
    }
}

/// None where there is nothing to divide by.
fn ratio(a: u64, b: u64) -> Option<f64> {
    (b > 0).then(|| a as f64 / b as f64)
}

/// Jain's fairness index of shares, each beside what was wanted of it: 1 if all have the same, 1/n if one of n has
/// everything, none if all have nothing. A share of which nothing was wanted is left out.
pub fn jain(shares: impl Iterator<Item = (u64, u64)>) -> Option<f64> {
    let wanted = shares.filter(|(_, wanted)| *wanted > 0).map(|(share, _)| share as f64);
    let (n, sum, squares) = wanted.fold((0.0, 0.0, 0.0), |(n, sum, squares), x| (n + 1.0, sum + x, squares + x * x));
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_fair_when_they_are_equal() {
        let jain = |shares: &[u64], wanted: &[u64]| jain(shares.iter().copied().zip(wanted.iter().copied()));
        assert_eq!(jain(&[5, 5, 5, 5], &[9; 4]), Some(1.0));
        assert_eq!(jain(&[5, 0, 0, 0], &[9; 4]), Some(0.25));
        assert_eq!(jain(&[0, 0], &[9, 0]), None);
        assert_eq!(jain(&[5, 0, 5], &[5, 0, 5]), Some(1.0), "the second wanted nothing");
        assert_eq!(jain(&[5, 0, 5], &[5, 1, 5]), Some(100.0 / 150.0), "the second was refused");
    }

    /// A place for each number of collisions after which a frame can still get through.
    #[test]
    fn collision_frames_has_a_place_less_than_attempt_limit() {
        let limit = NonZeroU32::new;
        assert_eq!(with_places(vec![3; 15], limit(16)), vec![3; 15]);
        assert_eq!(with_places(vec![0; 15], limit(5)), vec![0; 4]);
        assert_eq!(with_places(vec![0; 15], limit(17)).len(), 16);
        assert_eq!(with_places(Vec::new(), limit(1)), Vec::<u64>::new());
        assert_eq!(with_places(vec![0, 1], limit(1)), [0, 1], "no frame is lost");
        assert_eq!(with_places(Vec::new(), limit(u32::MAX)).len(), MOST_PLACES);
        assert_eq!(with_places(vec![1, 0, 2, 0], None), [1, 0, 2]);
    }
}
