//! When infinitely many users of ALOHA run away: from some backlog on, more frames are sent in vain than get through, and it
//! only grows.
//!
//! With G attempts a slot, G e^-G get through (Roberts 1972), without slots G e^-2G (Abramson 1970). At a backlog of n the
//! attempts are G = S + n p: S new ones, and each backlogged frame with the chance p. As many get through as come, S, at two
//! values of G. Above the larger one the backlog grows (Kleinrock and Lam 1975).

use super::offered::offered_load;
use crate::figures::slotted::Edge;
use crate::traffic::{FurtherTraffic, TrafficSpec};
use backoff::Policy;
use medium::{Aloha, BitTimes, Config, Method, Population, SlottedAloha};
use std::num::NonZeroU32;

/// After this number of failures a backoff is at its longest.
const MANY: u64 = 64;
/// More attempts a slot than any equilibrium has that counts.
const MOST_ATTEMPTS: f64 = 60.0;

/// A channel whose users never wait for one another, and give up no frame.
#[derive(Clone, Copy, Debug)]
pub struct Endless {
    /// The slot, or the frame time.
    pub slot: BitTimes,
    /// Frames begin with slots.
    pub slotted: bool,
    /// S: frames that are offered in one.
    pub load: f64,
    /// R: slots until a sender knows of a collision.
    pub ack_delay: u32,
    /// How it waits then.
    pub backoff: Policy,
}

impl Endless {
    /// The channel of a medium and its traffic, if it is one.
    pub fn of(medium: &Config, traffic: &[TrafficSpec], further: &FurtherTraffic) -> Option<Endless> {
        let (population, attempt_limit, slot, slotted, ack_delay, backoff) = match &medium.method {
            // Stations that follow the backlog do not run away below 1/e; with limits the first exit time is unknown.
            Method::SlottedAloha(SlottedAloha { control: Some(_), .. }) => return None,
            // Capture carries more than Lam's channel, whose exit time is known.
            _ if medium.capture().is_some() => return None,
            Method::SlottedAloha(SlottedAloha { population, attempt_limit, slot, ack_delay, backoff, .. }) => {
                (population, attempt_limit, slot, true, ack_delay, backoff)
            }
            Method::Aloha(Aloha { population, attempt_limit, slot, ack_delay, backoff, .. }) => {
                (population, attempt_limit, slot, false, ack_delay, backoff)
            }
            _ => return None,
        };
        let (_, load) = offered_load(medium, traffic, further);
        let gives_up: Option<NonZeroU32> = *attempt_limit;
        let endless = *population == Population::Infinite && gives_up.is_none() && load > 0.0;
        let (slot, ack_delay, backoff) = (*slot, *ack_delay, *backoff);
        endless.then_some(Endless { slot, slotted, load, ack_delay, backoff })
    }

    /// p: the chance that a backlogged frame is sent in a slot, once its backoff is as long as it gets.
    fn chance(&self) -> Option<f64> {
        let wait = self.backoff.with_attempt_limit(0).law(MANY)?.mean_ns();
        Some(1.0 / (f64::from(self.ack_delay) + wait + 1.0))
    }

    /// How many get through at `attempts`.
    fn carried(&self, attempts: f64) -> f64 {
        attempts * (-attempts * if self.slotted { 1.0 } else { 2.0 }).exp()
    }

    /// The attempts at which most get through.
    fn best(&self) -> f64 {
        if self.slotted { 1.0 } else { 0.5 }
    }

    /// The attempts beyond the best at which `carried` get through; the best ones if more than those carry.
    fn attempts(&self, carried: f64) -> f64 {
        let (mut low, mut high) = (self.best(), MOST_ATTEMPTS);
        for _ in 0..60 {
            let middle = low.midpoint(high);
            if self.carried(middle) > carried { low = middle } else { high = middle }
        }
        low
    }

    /// From which backlog on it grows, and from which on it is certain that it does not come back.
    pub fn edge(&self) -> Option<Edge> {
        let chance = self.chance()?;
        let backlog = |attempts: f64| ((attempts - self.load).max(0.0) / chance) as u64;
        let most = self.carried(self.best());
        // More than gets through at best has no equilibrium: the backlog grows from nothing.
        let unstable = if self.load > most { 0 } else { backlog(self.attempts(self.load)) };
        // Where a tenth of the arrivals gets through, chance does not bring the backlog back.
        let gone = backlog(self.attempts(self.load.min(most) / 10.0)).max(unstable + 20);
        Some(Edge { unstable, gone })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endless(slotted: bool, load: f64, k: u32) -> Endless {
        let backoff = Policy::aloha_uniform(SlottedAloha::SLOT, k);
        Endless { slot: BitTimes::new(576), slotted, load, ack_delay: 0, backoff }
    }

    /// G e^-G is 0.3 at G = 1.7813, and 1/p = 10.5: 15.6 backlogged frames. Lam's chain has its second equilibrium at 15.5.
    #[test]
    fn the_edge_is_where_input_and_output_are_equal_again() {
        assert_eq!(endless(true, 0.3, 20).edge().map(|edge| edge.unstable), Some(15));
        assert_eq!(endless(true, 0.3, 200).edge().map(|edge| edge.unstable), Some(148));
        // Without slots, half of either.
        assert_eq!(endless(false, 0.15, 20).edge().map(|edge| edge.unstable), Some(7));
        let edge = endless(true, 0.5, 20).edge().expect("a chance");
        assert!(edge.unstable == 0 && edge.gone > 30, "more than 1/e is offered: {edge:?}");
    }
}
