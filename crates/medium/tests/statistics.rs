//! Consequences of chance: the capture effect and the mean backoff, each with a written seed and threshold.
//!
//! The seeds are fixed, so that a test always passes or always fails. A threshold is four standard deviations of the
//! bounded value: of 16,000 seeds, a correct engine would miss one.

mod common;

use common::{offer, run};
use medium::{BitRate, Config, Event, Input, Kind, StationId, Topology};
use std::collections::BTreeMap;

const END: u64 = 1 << 40;
const STANDARD_DEVIATIONS: f64 = 4.0;

/// The events of `stations` stations at distance 0 with `frames` frames of 64 octets each from the start.
fn saturated(stations: u16, frames: usize, seed: u64) -> Vec<Event> {
    let mut config = Config::new(BitRate::MBIT_10, Topology::star(usize::from(stations), 0), seed);
    config.queue_limit = frames;
    let of = |number: u16| vec![offer(0, number, (number + 1) % stations, 64); frames];
    let inputs: Vec<(u64, Input)> = (0..stations).flat_map(of).collect();
    run(config, &inputs, END).1
}

/// A race: both stations drew after the same collision, and then one sent a frame, or they collided again.
#[derive(Clone, Copy, Debug)]
struct Race {
    /// The number of the attempt that collided, by station.
    attempts: [u32; 2],
    /// The next sender; `None` for a tie.
    winner: Option<StationId>,
}

/// All races of two stations. A collision begins one, and the next collision or the next whole frame ends it.
fn races(events: &[Event]) -> Vec<Race> {
    let mut races = Vec::new();
    let mut drawn: BTreeMap<StationId, u32> = BTreeMap::new();
    for event in events {
        let winner = match event.kind {
            Kind::Backoff { attempt, .. } => {
                drawn.insert(event.station, attempt);
                continue;
            }
            Kind::Collision { .. } => None,
            Kind::Transmitted { .. } => Some(event.station),
            _ => continue,
        };
        // A discard instead of a draw makes no race.
        if let [(_, &first), (_, &second)] = drawn.iter().collect::<Vec<_>>()[..] {
            races.push(Race { attempts: [first, second], winner });
        }
        drawn.clear();
    }
    races
}

/// The number of successes, and of trials.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    hits: u64,
    of: u64,
}

impl Share {
    fn count(&mut self, hit: bool) {
        self.hits += u64::from(hit);
        self.of += 1;
    }
}

fn assert_probability(what: &str, Share { hits, of }: Share, probability: f64) {
    assert!(of >= 2_000, "{what}: only {of} races");
    let (measured, of) = (hits as f64 / of as f64, of as f64);
    let tolerance = STANDARD_DEVIATIONS * (probability * (1.0 - probability) / of).sqrt();
    println!("{what}: {measured:.4} of {of} races, expected {probability:.4} ± {tolerance:.4}");
    assert!((measured - probability).abs() < tolerance, "{what}: {measured}, not {probability} ± {tolerance}");
}

/// Peterson and Davie, Computer Networks, 2.6: two saturated stations, and A has won the first race.
///
/// In the second A, with a new frame, draws from {0, 1} and B, on its second attempt, from {0 … 3}; A wins if its draw
/// is lower: (3/4 + 2/4) / 2 = 5/8. If it does, B draws from {0 … 7} in the third: (7/8 + 6/8) / 2 = 13/16. Equal draws
/// are a tie without a winner; the collision that follows begins another race. Runs whose first race is a tie do not
/// count. For the third race, runs whose second one A did not win do not count either.
#[test]
fn who_won_the_first_race_wins_the_second_in_five_of_eight() {
    let (mut second, mut third) = (Share::default(), Share::default());
    for seed in 1..=8_000 {
        let races = races(&saturated(2, 12, seed));
        let Some(winner) = races[0].winner else { continue };
        let of_winner_and_loser = |race: Race| [race.attempts[winner.index()], race.attempts[1 - winner.index()]];
        assert_eq!(races[0].attempts, [1, 1], "seed {seed}");
        assert_eq!(of_winner_and_loser(races[1]), [1, 2], "seed {seed}");
        second.count(races[1].winner == Some(winner));
        if races[1].winner == Some(winner) {
            assert_eq!(of_winner_and_loser(races[2]), [1, 3], "seed {seed}");
            third.count(races[2].winner == Some(winner));
        }
    }
    assert_probability("second race", second, 5.0 / 8.0);
    assert_probability("third race", third, 13.0 / 16.0);
}

/// STANDARD.md: the mean backoff after the n-th collision is (2^min(n, 10) − 1)/2 slots; 802.3, 4.2.3.2.5.
#[test]
fn the_mean_backoff_is_half_of_the_longest() {
    let mut drawn: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for event in saturated(200, 60, 1) {
        if let Kind::Backoff { attempt, slots } = event.kind {
            let sum = drawn.entry(attempt).or_default();
            *sum = (sum.0 + slots, sum.1 + 1);
        }
    }
    assert!(drawn.keys().copied().eq(1..=15), "{drawn:?}");
    for (attempt, (sum, number)) in drawn {
        assert!(number >= 500, "only {number} draws after collision {attempt}");
        let range = f64::from(1_u32 << attempt.min(10));
        let (mean, expected) = (sum as f64 / number as f64, (range - 1.0) / 2.0);
        let tolerance = STANDARD_DEVIATIONS * ((range * range - 1.0) / 12.0 / number as f64).sqrt();
        println!("collision {attempt}: mean {mean:.3} of {number} draws, expected {expected} ± {tolerance:.3}");
        assert!((mean - expected).abs() < tolerance, "collision {attempt}: {mean}, not {expected} ± {tolerance}");
    }
}
