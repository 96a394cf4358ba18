//! Control limits: what stations do at a backlog of n frames that collided, or at their estimate v of it.
//!
//! The estimate takes the backlog for Poisson with mean v, as Rivest (1987) does. New frames come with mean λ and go out at
//! once, so the frames of a slot are Poisson with mean G = λ + v p, and those that wait on with mean v (1 - p) are
//! independent of them. A slot with a collision adds its mean number of frames:
//!
//! ```text
//! idle, success   v ← v (1 - p)
//! collision       v ← v (1 - p) + G (1 - e^-G) / (1 - e^-G - G e^-G)
//! ```
//! Nothing here knows frames or stations.

use crate::config::ControlLimits;

/// What stations do in the present slot.
#[derive(Debug)]
pub(super) struct Limits {
    own: ControlLimits,
    /// v, and λ; none if stations know n.
    estimate: Option<(f64, f64)>,
    /// n as the present slot began, before frames drew.
    backlog: u64,
}

/// A slot with less than this many frames on average has two if it has a collision.
const FEW: f64 = 1e-4;

impl Limits {
    pub fn new(own: ControlLimits) -> Limits {
        let estimate = own.arrivals_millionths.map(|arrivals| (0.0, f64::from(arrivals) / 1e6));
        Limits { own, estimate, backlog: 0 }
    }

    /// p at a backlog of `n`.
    fn probability(&self, n: f64) -> f64 {
        let longer = self.own.longer.filter(|&(_, limit)| n > f64::from(limit));
        2.0 / (f64::from(longer.map_or(self.own.retransmit, |(k, _)| k)) + 1.0)
    }

    /// `slots` have ended, of which the last one had `sent` frames, and the others none.
    pub fn slots_end(&mut self, slots: u64, sent: usize) {
        let idle = if sent > 0 { slots - 1 } else { slots };
        self.estimate = self.estimate.map(|(v, arrivals)| (self.after_idle(v, idle), arrivals));
        let Some((v, arrivals)) = self.estimate.filter(|_| sent > 0) else { return };
        let p = self.probability(v);
        let attempts = arrivals + v * p;
        let collided = if sent > 1 { mean_of_two_and_more(attempts) } else { 0.0 };
        self.estimate = Some((v * (1.0 - p) + collided, arrivals));
    }

    fn after_idle(&self, mut v: f64, slots: u64) -> f64 {
        for _ in 0..slots {
            if v < 1e-9 {
                return 0.0;
            }
            v *= 1.0 - self.probability(v);
        }
        v
    }

    /// The chance of each of the `waiting` frames in the slot that begins, of 2^64; `None`: certain.
    pub fn chance(&mut self, waiting: usize) -> Option<u64> {
        self.backlog = waiting as u64;
        let p = self.probability(self.estimate.map_or(self.backlog as f64, |(v, _)| v));
        (p < 1.0).then(|| (p * 2_f64.powi(64)) as u64)
    }

    /// New frames are dropped in the present slot.
    pub fn rejects(&self) -> bool {
        let n = self.estimate.map_or(self.backlog as f64, |(v, _)| v);
        self.own.input.is_some_and(|limit| n > f64::from(limit))
    }
}

/// The mean of a Poisson number with mean `attempts`, if it is two at least.
fn mean_of_two_and_more(attempts: f64) -> f64 {
    if attempts < FEW {
        return 2.0;
    }
    let none = (-attempts).exp();
    attempts * (1.0 - none) / (1.0 - none - attempts * none)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean by its sum.
    #[test]
    fn a_collision_adds_its_mean_number_of_frames() {
        for attempts in [1e-5, 0.01, 0.3, 1.0, 5.0, 60.0_f64] {
            let mut chance = (-attempts).exp();
            let (mut part, mut sum) = (0.0, 0.0);
            for number in 1..400 {
                chance *= attempts / f64::from(number);
                if number > 1 {
                    (part, sum) = (part + chance, sum + chance * f64::from(number));
                }
            }
            let mean = mean_of_two_and_more(attempts);
            assert!((mean / (sum / part) - 1.0).abs() < 1e-4, "{attempts}: {mean}");
        }
    }

    #[test]
    fn limits_change_what_stations_do_above_them() {
        let own = ControlLimits { arrivals_millionths: None, retransmit: 10, longer: Some((200, 7)), input: Some(9) };
        let mut limits = Limits::new(own);
        let part = |chance: Option<u64>| chance.expect("below 1") as f64 / 2_f64.powi(64);
        assert!((part(limits.chance(7)) - 2.0 / 11.0).abs() < 1e-12 && !limits.rejects());
        assert!((part(limits.chance(8)) - 2.0 / 201.0).abs() < 1e-12 && !limits.rejects());
        limits.chance(10);
        assert!(limits.rejects());
    }
}
