//! How stations contended: how many attempts met in a collision, how many collisions stood between two successes, and
//! how often one station won in a row.
//!
//! A fold of the engine's events.

use medium::{Event, Kind, StationId};
use std::cmp::Ordering;

/// The latest collisions, which may still get another attempt: far more than can go on at once, since each has two stations
/// or more.
const OPEN: usize = 2_048;
/// The last place of `episodes_before_success`, which counts all from there on.
const MOST_EPISODES: usize = 1_023;

/// The last place of `capture_runs`, which counts all from there on.
const LONGEST_RUN: usize = 1_023;

/// What collisions were like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contention {
    multiplicity: Vec<u64>,
    before_success: Vec<u64>,
    /// The first episode that is counted, and the one after the latest.
    first: u64,
    next: u64,
    /// Each of the latest episodes and its attempts, episode n in place n modulo [`OPEN`]; empty before the first.
    attempts: Vec<(u64, usize)>,
    /// Episodes since the last frame that got through.
    since: usize,
    runs: Vec<u64>,
    /// Who won last, and the place of `runs` of its run.
    winner: Option<(StationId, usize)>,
}

impl Contention {
    /// Episodes that began since the counting did.
    pub fn episodes(&self) -> u64 {
        self.multiplicity.iter().sum()
    }

    /// The attempts that collided in these episodes.
    pub fn attempts(&self) -> u64 {
        (1..).zip(&self.multiplicity).map(|(attempts, episodes)| attempts * episodes).sum()
    }

    /// Episodes in which 1, 2, 3 … attempts collided, as far as their stations noticed it.
    pub fn multiplicity(&self) -> &[u64] {
        &self.multiplicity
    }

    /// Frames that got through after 0, 1, 2 … episodes since the one that got through before; the last of 1,024 places
    /// counts those after more, too.
    pub fn before_success(&self) -> &[u64] {
        &self.before_success
    }

    /// Runs of 1, 2, 3 … frames of one station that got through without another station's in between, the last run as long
    /// as it is; the last of 1,024 places counts longer ones, too.
    pub fn capture_runs(&self) -> &[u64] {
        &self.runs
    }

    /// Takes one more event in.
    #[inline(always)]
    pub fn record(&mut self, event: &Event) {
        if let Kind::Collision { episode, .. } = event.kind {
            self.collision(episode);
        } else if let Kind::Transmitted { .. } = event.kind {
            self.success(event.frame.station);
        }
    }

    #[inline]
    fn success(&mut self, station: StationId) {
        increment(&mut self.before_success, self.since.min(MOST_EPISODES));
        self.since = 0;
        let run = match self.winner {
            Some((winner, before)) if winner == station => {
                self.runs[before] -= 1;
                (before + 1).min(LONGEST_RUN)
            }
            Some(_) | None => 0,
        };
        self.winner = Some((station, run));
        increment(&mut self.runs, run);
    }

    fn collision(&mut self, episode: u64) {
        // A logical collision of PLCA met no signal on the medium, and one that began before the counting did is not counted.
        if episode < self.first.max(1) {
            return;
        }
        self.next = self.next.max(episode + 1);
        if self.attempts.is_empty() {
            self.attempts.resize(OPEN, (0, 0));
        }
        let (latest, attempts) = &mut self.attempts[episode as usize % OPEN];
        match episode.cmp(latest) {
            // A later one has taken its place.
            Ordering::Less => return,
            Ordering::Equal => self.multiplicity[*attempts - 1] -= 1,
            Ordering::Greater => {
                (*latest, *attempts) = (episode, 0);
                self.since += 1;
            }
        }
        increment(&mut self.multiplicity, *attempts);
        *attempts += 1;
    }

    /// Counts from zero again. A collision that goes on is not counted a second time.
    pub fn restart(&mut self) {
        let Contention { next, since, .. } = *self;
        *self = Contention { first: next, next, since, ..Contention::default() };
    }

    /// Takes in what was counted in another run.
    pub fn add(&mut self, other: &Contention) {
        add(&mut self.multiplicity, &other.multiplicity);
        add(&mut self.before_success, &other.before_success);
        add(&mut self.runs, &other.runs);
    }
}

#[inline]
fn increment(counts: &mut Vec<u64>, index: usize) {
    match counts.get_mut(index) {
        Some(count) => *count += 1,
        None => begin_place(counts, index),
    }
}

#[cold]
#[inline(never)]
fn begin_place(counts: &mut Vec<u64>, index: usize) {
    counts.resize(index + 1, 0);
    counts[index] = 1;
}

/// Adds counts to others place by place.
pub fn add(counts: &mut Vec<u64>, more: &[u64]) {
    counts.resize(counts.len().max(more.len()), 0);
    counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::{BitInstant, BitTimes, FrameId, Octets, StationId};

    fn event(kind: Kind) -> Event {
        let station = StationId::new(0);
        Event { at: BitInstant::ZERO, station, frame: FrameId { station, serial: 1 }, kind }
    }

    fn collision(episode: u64) -> Event {
        event(Kind::Collision { attempt: 1, late: false, episode })
    }

    fn success() -> Event {
        event(Kind::Transmitted {
            size: Octets::new(64),
            attempts: 1,
            deferred: false,
            access_delay: BitTimes::ZERO,
            mac_delay: BitTimes::ZERO,
            extension: BitTimes::ZERO,
            no_carrier: false,
        })
    }

    /// Episode 0 is none: PLCA told a MAC to wait for its turn.
    #[test]
    fn logical_collisions_are_no_episodes() {
        let mut contention = Contention::default();
        contention.record(&collision(0));
        contention.record(&collision(0));
        assert_eq!(contention.multiplicity(), &[] as &[u64]);
    }

    /// Three attempts, then two, then a success; and one without a collision before it.
    #[test]
    fn attempts_of_an_episode_are_counted_together() {
        let mut contention = Contention::default();
        let events = [collision(1), collision(1), collision(2), collision(1), collision(2), success(), success()];
        events.iter().for_each(|event| contention.record(event));
        assert_eq!(contention.multiplicity(), [0, 1, 1]);
        assert_eq!(contention.before_success(), [1, 0, 1]);
        assert_eq!(contention.capture_runs(), [0, 1]);
    }

    #[test]
    fn a_collision_that_goes_on_at_the_start_is_not_counted_again() {
        let mut contention = Contention::default();
        contention.record(&collision(7));
        contention.restart();
        [collision(7), collision(8), collision(8), success()].iter().for_each(|event| contention.record(event));
        assert_eq!(contention.multiplicity(), [0, 1]);
        assert_eq!((contention.episodes(), contention.attempts()), (1, 2));
        // The success ends a contention that began before the counting.
        assert_eq!(contention.before_success(), [0, 0, 1]);
    }

    /// st1 three times, st2 once, st1 once; and a run that goes on at the start is counted from there.
    #[test]
    fn capture_runs_are_as_long_as_one_station_wins() {
        let of = |station: u16| {
            let station = StationId::new(station);
            Event { station, frame: FrameId { station, serial: 1 }, ..success() }
        };
        let mut contention = Contention::default();
        [of(0), of(0), of(0), of(1), of(0)].iter().for_each(|event| contention.record(event));
        assert_eq!(contention.capture_runs(), [2, 0, 1]);
        contention.restart();
        (0..2_000).for_each(|_| contention.record(&of(0)));
        assert_eq!(contention.capture_runs().iter().rposition(|&count| count == 1), Some(LONGEST_RUN));
        assert_eq!(contention.capture_runs().iter().sum::<u64>(), 1);
    }

    #[test]
    fn very_many_episodes_take_little_room() {
        let mut contention = Contention::default();
        for episode in 1..=100_000 {
            contention.record(&collision(episode));
            contention.record(&collision(episode));
        }
        contention.record(&success());
        assert_eq!(contention.multiplicity(), [0, 100_000]);
        assert_eq!(contention.before_success().iter().rposition(|&count| count == 1), Some(MOST_EPISODES));
        assert!(contention.attempts.len() <= OPEN);
    }

    /// Attempts are added to each of the latest episodes, and to no older one.
    #[test]
    fn an_old_episode_gets_no_further_attempt() {
        let latest = OPEN as u64 + 10;
        let mut contention = Contention::default();
        for episode in [1, 11, latest, 10, 11] {
            contention.record(&collision(episode));
        }
        assert_eq!(contention.multiplicity(), [2, 1]);
    }
}
