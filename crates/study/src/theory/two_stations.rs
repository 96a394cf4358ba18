//! Two saturated stations at distance 0, worked out exactly: a Markov chain from one collision to the next.
//!
//! After a collision, the station that has just sent (the winner, W) and the other (the loser, L) have a number of
//! collisions of their frames each; both draw. With distance 0 no other random choice remains:
//!
//! ```text
//!   collision  jam's end     W starts: 96 + max(96, 512 r)                  both start: they collide again
//!   |  96 BT   |- gap 96 -|  |    frame     |- gap -|    frame     |- gap -|
//!              |------ 512 s: L's timer, ends somewhere here ------|
//! ```
//!
//! Equal draws collide again. Else the smaller sends, frame after frame, until the gap at whose end the other is ready
//! too. A 16th collision discards, and the next frame has no delay. It must never look at the engine: it is the other
//! opinion.

use super::{Answer, Refusal, Value};

const SLOT_TIME: u64 = 512;
const GAP: u64 = 96;
/// Preamble, SFD and jam: both start in the same bit time.
const COLLISION: u64 = 96;
const ATTEMPTS: usize = 16;
const LARGEST: usize = 10;
/// Ties in a row beyond this are too rare for a double.
const TIES: usize = 64;
/// Races in a row that an answer shows: the 16th collision ends a capture.
const RACES: usize = 15;

/// How many values the delay can have after this number of collisions; after none there is no delay.
fn range(collisions: usize) -> u64 {
    1 << collisions.min(LARGEST)
}

/// Collisions of the frame at the head after one more: none if that discards it.
fn one_more(collisions: usize) -> usize {
    (collisions + 1) % ATTEMPTS
}

/// How one draw of both can end.
#[derive(Clone, Copy)]
struct Odds {
    win: f64,
    tie: f64,
    lose: f64,
}

/// W has had `winner` collisions, L `loser`.
fn odds(winner: usize, loser: usize) -> Odds {
    let (a, b) = (range(winner) as f64, range(loser) as f64);
    let tie = 1.0 / a.max(b);
    // Of the pairs without a tie, the smaller range m is below in m x (M - 1) - m x (m - 1) / 2 of m x M.
    let smaller_wins = |m: f64, of: f64| (m * (of - 1.0) - m * (m - 1.0) / 2.0) / (m * of);
    let win = if a <= b { smaller_wins(a, b) } else { 1.0 - tie - smaller_wins(b, a) };
    Odds { win, tie, lose: 1.0 - tie - win }
}

/// How likely each state after a collision is: by collisions of W and of L.
#[derive(Clone, Debug)]
pub struct Chain([[f64; ATTEMPTS]; ATTEMPTS]);

/// What a state's weight flows to: W's and L's collisions, and which part.
fn flows(winner: usize, loser: usize) -> [(usize, usize, f64); 3] {
    let Odds { win, tie, lose } = odds(winner, loser);
    [
        (1, one_more(loser), win),
        (one_more(winner), one_more(loser), tie),
        // Now the other is the winner, and its next frame is new.
        (1, one_more(winner), lose),
    ]
}

impl Chain {
    /// The chain in the long run.
    pub fn stationary() -> Chain {
        const ROUNDS: usize = 5_000;
        let mut weight = [[0.0; ATTEMPTS]; ATTEMPTS];
        weight[1][1] = 1.0;
        for _ in 0..ROUNDS {
            let mut next = [[0.0; ATTEMPTS]; ATTEMPTS];
            for (w, l) in states() {
                for (to_w, to_l, part) in flows(w, l) {
                    next[to_w][to_l] += weight[w][l] * part;
                }
            }
            // Half of the old one: a chain that goes round in a circle settles too.
            states().for_each(|(w, l)| weight[w][l] = (weight[w][l] + next[w][l]) / 2.0);
        }
        Chain(weight)
    }

    /// The probability that W wins race k + 1 after it has won k in a row, for k = 1, 2 …; ties are drawn again.
    pub fn streaks(&self, longest: usize) -> Vec<f64> {
        // By L's collisions after the first collision of the race; W's next frame always has one.
        let mut before = [0.0; ATTEMPTS];
        for (w, l) in states() {
            before[one_more(w)] += self.0[w][l] * odds(w, l).lose;
        }
        let mut streaks = Vec::with_capacity(longest);
        for _ in 0..longest {
            let (all, mut after) = (before.iter().sum::<f64>(), [0.0; ATTEMPTS]);
            for (loser, &weight) in before.iter().enumerate() {
                let (mut w, mut l, mut rest) = (1, loser, weight);
                for _ in 0..TIES {
                    let Odds { win, tie, .. } = odds(w, l);
                    after[one_more(l)] += rest * win;
                    (w, l, rest) = (one_more(w), one_more(l), rest * tie);
                }
            }
            streaks.push(after.iter().sum::<f64>() / all);
            before = after;
        }
        streaks
    }

    /// Means over the long run for frames of `size` octets.
    pub fn means(&self, size: u32) -> Means {
        /// What is rarer has no part in any digit shown.
        const RARE: f64 = 1e-13;
        let mut sums = Sums::default();
        for (w, l) in states().filter(|&(w, l)| self.0[w][l] > RARE) {
            sums.add(self.0[w][l], w, l, 64 + 8 * u64::from(size));
        }
        Means {
            utilization_total: sums.frames * f64::from(8 * size + 160) / sums.time,
            attempts_per_frame: (2.0 + sums.frames) / (sums.frames + sums.discards),
            discard_fraction: sums.discards / (sums.frames + sums.discards),
            same_winner: 1.0 - sums.changes / sums.frames,
        }
    }
}

fn states() -> impl Iterator<Item = (usize, usize)> {
    (0..ATTEMPTS).flat_map(|w| (0..ATTEMPTS).map(move |l| (w, l)))
}

/// From one collision to the next, in the mean.
#[derive(Default)]
struct Sums {
    frames: f64,
    time: f64,
    discards: f64,
    /// Times that the loser sends.
    changes: f64,
}

/// What `ethbus sim` measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Means {
    /// The part of the time with packets and the gap after each.
    pub utilization_total: f64,
    /// Attempts a frame, discarded ones counted.
    pub attempts_per_frame: f64,
    /// The part of the frames that is discarded.
    pub discard_fraction: f64,
    /// The part of the frames sent by the sender of the frame before.
    pub same_winner: f64,
}

impl Sums {
    /// A state of probability `weight`, and a packet of `packet` bits.
    fn add(&mut self, weight: f64, w: usize, l: usize, packet: u64) {
        let pair = weight / (range(w) as f64 * range(l) as f64);
        for r in 0..range(w) {
            for s in 0..range(l) {
                let start = COLLISION + GAP.max(SLOT_TIME * r.min(s));
                let ready = COLLISION + SLOT_TIME * r.max(s);
                let frames = if r == s { 0 } else { (ready - start).div_ceil(packet + GAP).max(1) };
                self.frames += pair * frames as f64;
                self.time += pair * (start + frames * (packet + GAP)) as f64;
            }
        }
        self.changes += weight * odds(w, l).lose;
        // None is what the last collision discarded.
        self.discards += weight * (f64::from(u8::from(w == 0)) + f64::from(u8::from(l == 0)));
    }
}

/// What `ethbus theory two-stations` prints, for frames of `size` octets from destination address to FCS.
///
/// # Errors
/// A size outside of 64 to 1518 octets.
pub fn answer(size: u32) -> Result<Answer, Refusal> {
    if !(64..=1518).contains(&size) {
        let nearest = if size < 64 { "the smallest is 64" } else { "the largest is 1518" };
        return Err(Refusal::new(format!("--frame-size {size}"), "no basic frame has so many octets", nearest));
    }
    let chain = Chain::stationary();
    let means = chain.means(size);
    let rows = (1..).zip(chain.streaks(RACES)).map(|(won, next)| vec![Some(f64::from(won)), Some(next)]).collect();
    let source = "IEEE 802.3, 4.2.3.2: a Markov chain over both stations' collisions, from one collision to the next";
    let holds = "two stations in one place that always have a frame, 10 or 100 Mb/s; nothing is approximated";
    Ok(Answer::new("two-stations", source, holds)
        .with("frame_size", "octets, destination address to FCS", Value::Count(size.into()))
        .with("utilization_total", "time with packets and their gaps", Value::Number(means.utilization_total))
        .with("attempts_per_frame", "attempts a frame", Value::Number(means.attempts_per_frame))
        .with("discard_fraction", "frames that are discarded", Value::Number(means.discard_fraction))
        .with("same_winner", "frames whose sender sent the one before too", Value::Number(means.same_winner))
        .with(
            "curve",
            "the winner of so many races in a row wins the next",
            Value::Curve { columns: vec!["races_won", "next_race"], rows },
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odds_are_those_of_a_count_of_all_pairs() {
        for (w, l) in [(1, 1), (1, 2), (2, 1), (3, 5), (0, 1), (1, 0), (0, 0), (4, 15)] {
            let (mut wins, mut ties) = (0, 0);
            for (r, s) in (0..range(w)).flat_map(|r| (0..range(l)).map(move |s| (r, s))) {
                wins += u64::from(r < s);
                ties += u64::from(r == s);
            }
            let (all, odds) = ((range(w) * range(l)) as f64, odds(w, l));
            assert!((odds.win - wins as f64 / all).abs() < 1e-12, "{w} {l}");
            assert!((odds.tie - ties as f64 / all).abs() < 1e-12, "{w} {l}");
        }
    }

    #[test]
    fn the_chain_loses_no_weight_and_has_settled() {
        let Chain(weight) = Chain::stationary();
        assert!((weight.iter().flatten().sum::<f64>() - 1.0).abs() < 1e-9);
        let mut next = [[0.0; ATTEMPTS]; ATTEMPTS];
        for (w, l) in states() {
            flows(w, l).into_iter().for_each(|(to_w, to_l, part)| next[to_w][to_l] += weight[w][l] * part);
        }
        assert!(states().all(|(w, l)| (next[w][l] - weight[w][l]).abs() < 1e-12));
    }

    #[test]
    fn a_frame_is_a_basic_one() {
        assert!(answer(63).is_err() && answer(1519).is_err());
        let answer = answer(64).expect("a basic frame");
        assert!(
            matches!(answer.value("utilization_total"), Some(Value::Number(part)) if (part - 0.996_63).abs() < 1e-5)
        );
    }
}
