//! The capture effect: a station that has just sent tends to send again, since its next frame begins without backoff.

use super::row::{Row, share};
use super::{Check, Topic};
use crate::theory::two_stations::Chain;
use medium::{Event, Kind, StationId};

/// The other's collision up to which the first draw is looked at: from then on nearly all races are won. From the 2nd,
/// since both are at their first only once, at the start.
const COLLISIONS: usize = 8;
/// Races in a row that are shown: beyond the 16th collision, which ends a capture.
const RACES: usize = 17;

const TIES: &str = "the textbook stops at the first draw; here equal draws collide and are drawn again, by stations whose ranges have \
                    doubled, and each such collision counts against the loser's next race too";

pub(super) fn topic() -> Topic {
    let check: Check = Box::new(|bench| {
        let duration = bench.choose("1000s", "200s");
        let mut seen = Seen::default();
        let arguments = format!("--stations 2 --frame-size 64 --topology star:0bt --duration {duration} --warmup 0s");
        let run = bench.watch(&arguments, |event| seen.take(event))?;
        Ok(seen.rows().into_iter().map(|row| row.from(&run.command)).collect())
    });
    Topic {
        title: "The capture effect",
        source: "Peterson and Davie, Computer Networks, exercises of chapter 2 (5/8, then 13/16); ties drawn again: a Markov chain \
                 (crates/study/src/theory/two_stations.rs)",
        about: "Two saturated stations at distance 0. A's frame is new and has collided once, so that A draws from 0 and 1; B's has collided \
                n times. `validate` takes the races from the run's events.",
        checks: vec![check],
    }
}

/// How often, and of how many.
#[derive(Clone, Copy, Default)]
struct Share {
    hits: u64,
    of: u64,
}

impl Share {
    fn add(&mut self, hit: bool) {
        self.hits += u64::from(hit);
        self.of += 1;
    }
}

/// What was seen of all races.
#[derive(Default)]
struct Seen {
    /// After how many collisions each of the two has drawn since the last collision.
    drawn: [Option<u32>; 2],
    /// There was a collision since the last whole frame.
    race: bool,
    winner: Option<StationId>,
    /// Races that the winner has won in a row.
    in_a_row: usize,
    /// By B's collisions: A's first draw is the smaller.
    first_draws: [Share; COLLISIONS + 1],
    /// By races won in a row: the next is won too.
    races: [Share; RACES + 1],
}

impl Seen {
    fn take(&mut self, event: &Event) {
        match event.kind {
            Kind::Backoff { attempt, .. } => self.drawn[event.station.index()] = Some(attempt),
            Kind::Discarded { .. } => self.drawn = [None; 2],
            Kind::Collision { .. } => {
                self.end_draw(None);
                self.race = true;
            }
            Kind::Transmitted { .. } => {
                self.end_draw(Some(event.station));
                if std::mem::take(&mut self.race) {
                    self.end_race(event.station);
                }
            }
            _ => {}
        }
    }

    /// The draws since the last collision have come to a frame, or to a tie.
    fn end_draw(&mut self, winner: Option<StationId>) {
        if let [Some(first), Some(second)] = std::mem::take(&mut self.drawn) {
            let (new, other) = if first <= second { (0, second) } else { (1, first) };
            if first.min(second) == 1
                && let Some(share) = self.first_draws.get_mut(other as usize)
            {
                share.add(winner.is_some_and(|winner| winner.index() == new));
            }
        }
    }

    fn end_race(&mut self, winner: StationId) {
        let again = self.winner == Some(winner);
        if let Some(share) = self.races.get_mut(self.in_a_row) {
            share.add(again);
        }
        self.in_a_row = if again { self.in_a_row + 1 } else { 1 };
        self.winner = Some(winner);
    }

    fn rows(&self) -> Vec<Row> {
        let textbook = |n: usize| 1.0 - 3.0 / f64::from(2_u32 << n.min(10));
        let mut rows = Vec::new();
        for (n, seen) in self.first_draws.iter().enumerate().skip(2) {
            let what = format!("A wins the first draw, B after {}", times(n, "collision"));
            rows.push(Row::about(what, textbook(n), share(seen.hits, seen.of)));
        }
        let exact = Chain::stationary().streaks(RACES);
        for (won, (seen, exact)) in self.races.iter().skip(1).zip(&exact).enumerate() {
            let what = format!("A wins the next race, {} won in a row", times(won + 1, "race"));
            rows.push(Row::about(what, *exact, share(seen.hits, seen.of)));
        }
        for (won, (seen, exact)) in self.races.iter().skip(1).zip(&exact).enumerate().take(3) {
            let what = format!("the same, {}, beside the textbook", times(won + 1, "race"));
            let textbook = textbook(won + 2);
            let row = Row::about(what, textbook, share(seen.hits, seen.of));
            rows.push(row.explained(exact - textbook, 0.0, TIES));
        }
        rows
    }
}

fn times(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}
