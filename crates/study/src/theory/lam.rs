//! Lam's Markov chain of slotted ALOHA: N users, equilibria, stability, throughput and delay, first exit.
//!
//! Each of N users has one packet at most. In a slot an idle user has a new packet with the chance s = S/N and sends it
//! at once; a blocked user, whose packet has collided, sends it with the chance p. The state is the backlog n, the
//! number of blocked users. It falls by one at most and may rise by any number:
//!
//! ```text
//! input at n     (N - n) s
//! output at n    (1 - p)^n (N - n) s (1 - s)^(N - n - 1)  +  n p (1 - p)^(n - 1) (1 - s)^(N - n)
//! 1/p            R + (K + 1)/2: the mean time until a packet comes again, with an acknowledgement after R slots
//! ```
//!
//! Where input and output are equal the channel is in equilibrium. One equilibrium: the channel is stable. Three: it
//! stays near the first for a while, then leaves past the second one and hardly carries anything at the third.

mod chain;
pub mod control;

use super::roots::{highest, root};
use super::{Answer, Refusal, Value};
use chain::Chain;

const SOURCE: &str = "Lam, dissertation, UCLA-ENG-7429, 1974, chapter 5; Kleinrock and Lam, IEEE Trans. Comm. 23 (4), \
    1975: the linear feedback model, its equilibrium contour, and the definition of a stable channel";
const HOLDS: &str = "a user has one packet at most; blocked users send with the chance p in each slot, which has the mean of \
    one of the next K slots; slots are one packet long. A new packet is not counted while its acknowledgement is awaited";

/// The largest N whose chain is worked out.
pub const MOST_STATIONS: u32 = 20_000;
/// The largest N that is looked at for `largest_stable_n`, and the largest K for `smallest_stable_k`.
const MOST_SEARCHED: u32 = 1 << 20;

/// How many users there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Population {
    /// N users.
    Finite(u32),
    /// Poisson arrivals, whatever the backlog.
    Infinite,
}

/// A slotted ALOHA channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channel {
    population: Population,
    load: f64,
    retransmit: u32,
    ack_delay: u32,
}

/// What a stable channel does in the long run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// Successes a slot.
    pub throughput: f64,
    /// Blocked users.
    pub mean_backlog: f64,
    /// Slots from the one in which a packet is ready and sent first to the one in which it succeeds, both counted.
    pub mean_delay_slots: f64,
}

/// Where and how a channel rests.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibria {
    /// Backlogs at which input and output are equal, in rising order.
    pub backlogs: Vec<f64>,
    /// There is exactly one.
    pub stable: bool,
    /// The only one has more than one attempt a slot: nearly every user is blocked.
    pub overloaded: bool,
}

impl Channel {
    /// A channel with an input of `load` packets a slot when no user is blocked.
    ///
    /// # Errors
    /// No users, K = 0, or a load outside of 0 to 1.
    pub fn new(population: Population, load: f64, retransmit: u32, ack_delay: u32) -> Result<Channel, Refusal> {
        if population == Population::Finite(0) {
            return Err(Refusal::new("--stations 0", "there is nobody to send", "the smallest number is 1"));
        }
        if let Population::Finite(stations) = population
            && stations > MOST_STATIONS
        {
            let because = "the chain has a state for each station, and this one takes too long";
            return Err(Refusal::new(
                format!("--stations {stations}"),
                because,
                format!("the largest number is {MOST_STATIONS}, or `infinite`"),
            ));
        }
        if load.is_nan() || load <= 0.0 {
            let because = "S is the input in packets a slot";
            return Err(Refusal::new(format!("--load {load}"), because, "it has to be above 0"));
        }
        if load > 1.0 {
            let because = "a slot carries at most one packet";
            return Err(Refusal::new(format!("--load {load}"), because, "the largest is 1"));
        }
        if retransmit == 0 {
            let because = "a packet waits for one of the next K slots";
            return Err(Refusal::new("--retransmit 0", because, "the smallest K is 1"));
        }
        Ok(Channel { population, load, retransmit, ack_delay })
    }

    /// s, the chance of a new packet in a slot at an idle user; 0 for infinitely many users.
    pub fn arrival_probability(&self) -> f64 {
        match self.population {
            Population::Finite(stations) => self.load / f64::from(stations),
            Population::Infinite => 0.0,
        }
    }

    /// p, the chance that a blocked user sends in a slot.
    pub fn retransmission_probability(&self) -> f64 {
        1.0 / (f64::from(self.ack_delay) + (f64::from(self.retransmit) + 1.0) / 2.0)
    }

    /// New packets a slot at the backlog n.
    pub fn input(&self, n: f64) -> f64 {
        match self.population {
            Population::Finite(stations) => (f64::from(stations) - n) * self.arrival_probability(),
            Population::Infinite => self.load,
        }
    }

    /// Successes a slot at the backlog n.
    pub fn output(&self, n: f64) -> f64 {
        let p = self.retransmission_probability();
        if p == 1.0 && n.fract() != 0.0 {
            // Every blocked user sends: between whole backlogs a power of 0 says nothing.
            let part = n.fract();
            return (1.0 - part) * self.output(n.floor()) + part * self.output(n.ceil());
        }
        // The chances that no idle user sends and that exactly one does.
        let (none, one) = match self.population {
            Population::Finite(stations) => {
                let (s, idle) = (self.arrival_probability(), f64::from(stations) - n);
                let one = if idle > 0.0 && s < 1.0 {
                    idle * s * (1.0 - s).powf(idle - 1.0)
                } else {
                    f64::from(u8::from(idle == 1.0)) * s
                };
                ((1.0 - s).powf(idle), one)
            }
            Population::Infinite => ((-self.load).exp(), self.load * (-self.load).exp()),
        };
        let again = if n > 0.0 { n * p * (1.0 - p).powf(n - 1.0) } else { 0.0 };
        (1.0 - p).powf(n) * one + again * none
    }

    fn drift(&self, n: f64) -> f64 {
        self.input(n) - self.output(n)
    }

    /// The backlog from which on there is no equilibrium.
    fn last_backlog(&self) -> u32 {
        match self.population {
            Population::Finite(stations) => stations,
            // With 50 attempts a slot nothing that counts comes through.
            Population::Infinite => (50.0 / self.retransmission_probability()).ceil() as u32 + 2,
        }
    }

    /// The backlogs at which input and output are equal.
    pub fn equilibria(&self) -> Equilibria {
        let drift: Vec<f64> = (0..=self.last_backlog()).map(|n| self.drift(f64::from(n))).collect();
        let mut backlogs = Vec::new();
        for (place, window) in drift.windows(2).enumerate() {
            let (n, here, next) = (place as f64, window[0], window[1]);
            if here == 0.0 {
                backlogs.push(n);
            } else if here * next < 0.0 {
                backlogs.push(root(n, n + 1.0, |n| self.drift(n)));
            } else if place > 0 && drift[place - 1] * here > 0.0 && next * here > 0.0 {
                backlogs.extend(self.two_near(n, drift[place - 1], here, next));
            }
        }
        if drift.last() == Some(&0.0) {
            backlogs.push(f64::from(self.last_backlog()));
        }
        let stable = backlogs.len() == 1;
        let attempts = |n: f64| self.input(n) + n * self.retransmission_probability();
        let overloaded = backlogs.len() <= 1 && backlogs.first().is_none_or(|&n| attempts(n) > 1.0);
        Equilibria { backlogs, stable: stable && self.population != Population::Infinite, overloaded }
    }

    /// Two equilibria around the whole backlog n, between which the drift changes its sign without being seen at whole
    /// backlogs.
    fn two_near(&self, n: f64, before: f64, here: f64, after: f64) -> Vec<f64> {
        let sign = here.signum();
        if here * sign > before * sign || here * sign > after * sign || self.retransmission_probability() == 1.0 {
            return Vec::new();
        }
        let turn = highest(n - 1.0, n + 1.0, |n| -sign * self.drift(n));
        if self.drift(turn) * sign >= 0.0 {
            return Vec::new();
        }
        vec![root(n - 1.0, turn, |n| self.drift(n)), root(turn, n + 1.0, |n| self.drift(n))]
    }

    /// Throughput, backlog and delay of a channel that is stable; `None` if it is not, or if a double cannot hold how
    /// rarely the backlog falls.
    pub fn steady(&self) -> Option<Steady> {
        let Population::Finite(stations) = self.population else { return None };
        if !self.equilibria().stable {
            return None;
        }
        let stationary = Chain::new(self, stations).stationary()?;
        let mean_backlog = stationary.iter().enumerate().map(|(n, part)| n as f64 * part).sum::<f64>();
        let throughput = stationary.iter().enumerate().map(|(n, part)| self.input(n as f64) * part).sum::<f64>();
        // By Little: the mean time blocked. The slot in which the packet is sent first comes before it.
        let mean_delay_slots = mean_backlog / throughput + 1.0;
        mean_delay_slots.is_finite().then_some(Steady { throughput, mean_backlog, mean_delay_slots })
    }

    /// The mean number of slots until the backlog, which begins at 0, is above the second equilibrium for the first
    /// time; `None` if there is no second one, or if no double holds the number.
    pub fn first_exit_time_slots(&self) -> Option<f64> {
        let unstable = *self.equilibria().backlogs.get(1)?;
        let time = Chain::new(self, unstable.floor() as u32).first_exit();
        time.is_finite().then_some(time)
    }

    /// Whether the channel rests where it carries something.
    fn usable(&self) -> bool {
        let equilibria = self.equilibria();
        equilibria.stable && !equilibria.overloaded
    }

    /// K(N, s): the smallest K with which the channel is stable and not overloaded.
    pub fn smallest_stable_k(&self) -> Option<u32> {
        if self.population == Population::Infinite {
            return None;
        }
        let with = |retransmit: u32| Channel { retransmit, ..*self };
        first_true(|retransmit| with(retransmit).usable())
    }

    /// The largest N with which the channel is stable and not overloaded, S and K as they are.
    pub fn largest_stable_n(&self) -> Option<u32> {
        let with = |stations: u32| Channel { population: Population::Finite(stations), ..*self };
        match first_true(|stations| !with(stations).usable()) {
            Some(1) | None => None,
            Some(first) => Some(first - 1),
        }
    }

    fn population_value(&self) -> Value {
        match self.population {
            Population::Finite(stations) => Value::Count(stations.into()),
            Population::Infinite => Value::Text("infinite".to_owned()),
        }
    }

    /// What `ethbus theory lam` prints.
    pub fn answer(&self) -> Answer {
        let equilibria = self.equilibria();
        let steady = self.steady();
        let number = |figure: fn(&Steady) -> f64| steady.as_ref().map(figure).map(Value::Number);
        let not_steady = || self.why_not_steady(&equilibria);
        Answer::new("lam", SOURCE, HOLDS)
            .with("stations", "N", self.population_value())
            .with("load", "S, input in packets a slot if nobody is blocked", Value::Number(self.load))
            .with("retransmit", "K", Value::Count(self.retransmit.into()))
            .with("ack_delay", "R, slots until a collision is known", Value::Count(self.ack_delay.into()))
            .with("s", "a new packet in a slot at an idle user", Value::Number(self.arrival_probability()))
            .with("p", "a blocked user sends in a slot", Value::Number(self.retransmission_probability()))
            .with(
                "equilibria",
                "backlogs at which input and output are equal",
                Value::List(equilibria.backlogs.clone()),
            )
            .with("stable", "there is one equilibrium", Value::Flag(equilibria.stable))
            .with(
                "overloaded",
                "it rests where nearly all users are blocked, if at all",
                Value::Flag(equilibria.overloaded),
            )
            .with_some("throughput", "successes a slot", number(|steady| steady.throughput), not_steady)
            .with_some("mean_backlog", "blocked users", number(|steady| steady.mean_backlog), not_steady)
            .with_some(
                "mean_delay_slots",
                "slots from ready to success, that of the success counted",
                number(|steady| steady.mean_delay_slots),
                not_steady,
            )
            .with_some(
                "first_exit_time_slots",
                "mean slots from an empty backlog past the second equilibrium",
                self.first_exit_time_slots().map(Value::Number),
                || why_no_exit(&equilibria),
            )
            .with_some(
                "smallest_stable_k",
                "the smallest K that makes this channel stable",
                self.smallest_stable_k().map(|k| Value::Count(k.into())),
                || match self.population {
                    Population::Infinite => "no K makes an infinite population stable".to_owned(),
                    Population::Finite(_) => format!("no K up to {MOST_SEARCHED} makes it stable"),
                },
            )
            .with_some(
                "largest_stable_n",
                "the most stations that are stable with this S and K",
                self.largest_stable_n().map(|n| Value::Count(n.into())),
                || format!("more than {MOST_SEARCHED}"),
            )
    }

    fn why_not_steady(&self, equilibria: &Equilibria) -> String {
        let rest = "has no value in the long run";
        match (self.population, equilibria.stable) {
            (Population::Infinite, _) => {
                format!("an infinite population has no stationary state, so this {rest}; take a finite N")
            }
            (Population::Finite(_), true) => {
                "the backlog falls so rarely that no number can hold it; take a larger K".to_owned()
            }
            (Population::Finite(_), false) => match self.smallest_stable_k() {
                Some(k) => format!("the channel is unstable, so this {rest}; the nearest stable one has K = {k}"),
                None => format!("the channel is unstable, so this {rest}"),
            },
        }
    }
}

fn why_no_exit(equilibria: &Equilibria) -> String {
    match equilibria.backlogs.len() {
        0 => "there is no equilibrium to leave: the backlog grows from the first slot".to_owned(),
        1 => "a channel with one equilibrium does not leave it for good".to_owned(),
        _ => "longer than a number can hold, above 1e300 slots".to_owned(),
    }
}

/// The smallest number from 1 for which `f` is true, where it stays true; `None` if it is not up to [`MOST_SEARCHED`].
fn first_true(f: impl Fn(u32) -> bool) -> Option<u32> {
    let mut high = 1;
    while !f(high) {
        if high >= MOST_SEARCHED {
            return None;
        }
        high *= 2;
    }
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low.midpoint(high);
        if f(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests;
