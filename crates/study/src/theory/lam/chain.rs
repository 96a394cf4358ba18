//! The chain itself: transition probabilities, the stationary distribution and the first exit, by state reduction.
//!
//! The highest state is taken out, and what went through it goes where it would have led; then the next, down to 0.
//! Grassmann, Taksar and Heyman (Operations Research 33, 1985) do so for the stationary distribution. No step subtracts, so
//! every digit is kept even for exit times of 1e100 slots, where a general linear solver has lost all of them at 1e16.
//! As the backlog falls by one at most, only a band of the matrix is ever used: time grows with N and not with its cube.
//! Tests hold both against a general solver.

use super::{Channel, Population};

/// Chances below this are none.
const NONE: f64 = 1e-300;
/// Weights above this are scaled down, lest they overflow.
const LARGE: f64 = 1e200;

/// Backlogs 0 to `last`, and what leaves them upwards.
pub(super) struct Chain {
    /// By n: the chance of n - 1.
    pub down: Vec<f64>,
    /// By n: the chances of n + 1, n + 2 … up to `last`.
    pub up: Vec<Vec<f64>>,
    /// By n: the chance of more than `last`.
    out: Vec<f64>,
    /// The largest step upwards of any state.
    widest: usize,
}

impl Chain {
    /// The chain of `channel` for backlogs 0 to `last`.
    pub fn new(channel: &Channel, last: u32) -> Chain {
        let p = channel.retransmission_probability();
        let mut chain = Chain { down: Vec::new(), up: Vec::new(), out: Vec::new(), widest: 1 };
        for n in 0..=last {
            let new = arrivals(channel, n);
            let count = f64::from(n);
            // Among the blocked: none sends, at least one does, exactly one does.
            let some = if p < 1.0 { -(count * (-p).ln_1p()).exp_m1() } else { f64::from(u8::from(n > 0)) };
            let one = if n == 0 { 0.0 } else { count * p * (1.0 - p).powf(count - 1.0) };
            // One new packet collides if any blocked user sends; two collide with each other.
            let mut up: Vec<f64> = new.iter().skip(1).copied().collect();
            if let Some(single) = up.first_mut() {
                *single *= some;
            }
            let inside = ((last - n) as usize).min(up.len());
            chain.out.push(up[inside..].iter().rev().sum());
            up.truncate(inside);
            chain.widest = chain.widest.max(inside);
            chain.up.push(up);
            chain.down.push(new[0] * one);
        }
        chain
    }

    /// A chain with these chances, which nothing leaves upwards.
    pub fn of(down: Vec<f64>, up: Vec<Vec<f64>>) -> Chain {
        let (out, widest) = (vec![0.0; down.len()], up.iter().map(Vec::len).max().unwrap_or(0).max(1));
        Chain { down, up, out, widest }
    }

    /// The weight of each backlog in the long run; `None` if a backlog is never left downwards as far as doubles tell.
    pub fn stationary(mut self) -> Option<Vec<f64>> {
        let last = self.down.len() - 1;
        for m in (1..=last).rev() {
            if self.down[m] < NONE {
                return None;
            }
            // All that goes up to m comes down to m - 1.
            self.take_out(m, 1.0, |_, _| ());
        }
        let mut weight = vec![1.0];
        for m in 1..=last {
            let into: f64 = (self.lowest_to(m)..m).map(|i| weight[i] * self.chance_up(i, m)).sum();
            let here = into / self.down[m];
            weight.push(here);
            if here > LARGE {
                weight.iter_mut().for_each(|weight| *weight /= LARGE);
            }
        }
        let all: f64 = weight.iter().sum();
        Some(weight.into_iter().map(|weight| weight / all).collect())
    }

    /// The mean number of steps from 0 until the backlog is above the last; infinite if doubles cannot hold it.
    pub fn first_exit(mut self) -> f64 {
        let last = self.down.len() - 1;
        let mut steps = vec![1.0; last + 1];
        let mut out = std::mem::take(&mut self.out);
        for m in (1..=last).rev() {
            let leaves = self.down[m] + out[m];
            let (steps_there, out_there) = (steps[m], out[m]);
            self.take_out(m, self.down[m] / leaves, |i, chance| {
                steps[i] += chance * (steps_there / leaves);
                out[i] += chance * (out_there / leaves);
            });
        }
        steps[0] / out[0]
    }

    /// Takes state `m` out: the part `share` of what goes up to it goes on to m - 1. `also` gets each state that goes
    /// up to it, with its chance.
    fn take_out(&mut self, m: usize, share: f64, mut also: impl FnMut(usize, f64)) {
        for i in self.lowest_to(m)..m {
            let chance = self.chance_up(i, m);
            if chance == 0.0 {
                continue;
            }
            also(i, chance);
            // Into i itself is no leaving.
            if i + 1 < m {
                self.up[i][m - i - 2] += chance * share;
            }
        }
    }

    /// No state below this one goes up to `m` at once.
    fn lowest_to(&self, m: usize) -> usize {
        m.saturating_sub(self.widest)
    }

    fn chance_up(&self, from: usize, to: usize) -> f64 {
        self.up[from].get(to - from - 1).copied().unwrap_or(0.0)
    }
}

/// The chances of 0, 1, 2 … new packets in a slot at the backlog `n`.
fn arrivals(channel: &Channel, n: u32) -> Vec<f64> {
    let (mut chances, s) = (Vec::new(), channel.arrival_probability());
    let (mut chance, idle) = match channel.population {
        Population::Finite(stations) => ((1.0 - s).powf(f64::from(stations - n)), stations - n),
        Population::Infinite => ((-channel.load).exp(), u32::MAX),
    };
    if s == 1.0 {
        // Every idle user has a packet.
        chances.resize(idle as usize, 0.0);
        chances.push(1.0);
        return chances;
    }
    for count in 0..=idle {
        if count > 0 && chance < NONE {
            break;
        }
        chances.push(chance);
        let more = f64::from(count) + 1.0;
        chance *= match channel.population {
            Population::Finite(_) => f64::from(idle - count) / more * s / (1.0 - s),
            Population::Infinite => channel.load / more,
        };
    }
    chances
}
