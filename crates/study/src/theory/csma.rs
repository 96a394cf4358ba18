//! CSMA without collision detection: S over G for the nonpersistent, 1-persistent and p-persistent protocols.
//!
//! Time is measured in packets; a is the time of a signal across the channel, in packets. A slot, where time has slots, is a.
//! S(G) is the useful part of a cycle, which is an idle time and a busy one:
//!
//! ```text
//! nonpersistent            S = G e^(-aG) / (G (1 + 2a) + e^(-aG))
//! nonpersistent, slotted   S = aG e^(-aG) / (1 - e^(-aG) + a)
//! 1-persistent             S = G [1 + G + aG (1 + G + aG/2)] e^(-G(1 + 2a))
//!                              / (G (1 + 2a) - (1 - e^(-aG)) + (1 + aG) e^(-G(1 + a)))
//! 1-persistent, slotted    S = G e^(-G(1 + a)) [1 + a - e^(-aG)] / ((1 + a) (1 - e^(-aG)) + a e^(-G(1 + a)))
//! p-persistent, slotted    S = [P' pi + P (1 - pi)] / (a t' pi + a t (1 - pi) + 1 + a + a pi / (1 - e^(-aG)))
//! ```
//!
//! In the p-persistent formula pi = e^(-(1 + a)G) is the chance that no user became ready during a transmission. P and t
//! are the chance of success and the mean wait in slots after a transmission during which n > 0 users became ready. P' and
//! t' are the same after an idle slot.
//!
//! The maxima at a = 0.01 are those of the paper's table I for unslotted time, 0.529 (1-persistent) and 0.815 (nonpersistent),
//! and 0.531 (1-persistent, slotted). Three other maxima are higher here than in the table, as others quote it: 0.865 against 0.857
//! (nonpersistent, slotted), 0.841 against 0.791 (p = 0.1) and 0.864 against 0.827 (p = 0.03). 0.857 follows if each cycle
//! has one idle slot at least: the denominator is then (1 + a) (1 - e^(-aG)) + a. No such reading was found for the other
//! two. The formulas above give the values here, and a simulation of the p-persistent protocol
//! slot by slot, which is a test, agrees with them.

use super::roots::highest;
use super::{Answer, Refusal, Value, offered_traffic};

const SOURCE: &str = "Kleinrock and Tobagi, Packet Switching in Radio Channels: Part I, IEEE Trans. Comm. 23 (12), 1975: \
    equations for S in its section III (nonpersistent, 1-persistent and p-persistent CSMA)";
const HOLDS: &str = "infinitely many users, Poisson attempts whose rate does not change, every pair of users a apart, \
    collisions last to the end of the packets, and acknowledgements are free";

/// The largest G: beyond it S is nearly 0 unless a is tiny, and sums over the number of ready users get long.
const MOST_LOAD: f64 = 1e4;
/// Terms of a sum below this part of it do not count.
const SMALL: f64 = 1e-16;

/// What a user does who finds the channel busy or free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Persistence {
    /// Busy: tries again much later. Free: sends.
    Non,
    /// Waits until the channel is free, then sends.
    One,
    /// Waits until the channel is free, then sends in each slot with this chance.
    Probability(f64),
}

/// A protocol on a channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Csma {
    persistence: Persistence,
    slotted: bool,
    distance: f64,
}

impl Csma {
    /// The protocol on a channel `distance` packets long; p-persistent CSMA is always slotted.
    ///
    /// # Errors
    /// A probability outside of 0 to 1, or a distance outside of 0 to 1.
    pub fn new(persistence: Persistence, slotted: bool, distance: f64) -> Result<Csma, Refusal> {
        if !(0.0..=1.0).contains(&distance) {
            let nearest = if distance > 1.0 { "the largest is 1" } else { "the smallest is 0" };
            let because = "a is the time of a signal across the channel in packets; beyond 1 listening tells nothing";
            return Err(Refusal::new(format!("--distance {distance}"), because, nearest));
        }
        let Persistence::Probability(p) = persistence else {
            return Ok(Csma { persistence, slotted, distance });
        };
        if !(p > 0.0 && p <= 1.0) {
            let nearest = if p > 1.0 { "the largest is 1" } else { "it has to be above 0" };
            return Err(Refusal::new(format!("--persistence {p}"), "p is a probability", nearest));
        }
        if distance == 0.0 {
            let because = "p-persistent users wait for slots of a, and these have no length";
            return Err(Refusal::new("--distance 0", because, "take an a above 0, like 0.001"));
        }
        if p < 1e-4 {
            let because = "the sums over the slots of a wait get too long";
            return Err(Refusal::new(format!("--persistence {p}"), because, "the smallest is 0.0001"));
        }
        Ok(Csma { persistence, slotted: true, distance })
    }

    /// S at the offered traffic `load`, in packets a packet time.
    ///
    /// # Errors
    /// A negative load, or one above 10,000.
    pub fn throughput(&self, load: f64) -> Result<f64, Refusal> {
        offered_traffic(load)?;
        if load > MOST_LOAD {
            let because = "nothing that can be told from 0 is left of S, or a has no length";
            return Err(Refusal::new(format!("--load {load}"), because, format!("the largest is {MOST_LOAD}")));
        }
        Ok(if load == 0.0 { 0.0 } else { self.s(load) })
    }

    fn s(&self, g: f64) -> f64 {
        let a = self.distance;
        // 1 - e^(-aG), also where aG is tiny.
        let arrival = -(-a * g).exp_m1();
        match (self.persistence, self.slotted) {
            (Persistence::Non, true) if a > 0.0 => a * g * (-a * g).exp() / (arrival + a),
            (Persistence::Non, _) => g * (-a * g).exp() / (g * (1.0 + 2.0 * a) + (-a * g).exp()),
            (Persistence::One, true) if a > 0.0 => {
                let none = (-g * (1.0 + a)).exp();
                g * none * (a + arrival) / ((1.0 + a) * arrival + a * none)
            }
            (Persistence::One, _) => {
                let top = g * (1.0 + g + a * g * (1.0 + g + a * g / 2.0)) * (-g * (1.0 + 2.0 * a)).exp();
                top / (g * (1.0 + 2.0 * a) - arrival + (1.0 + a * g) * (-g * (1.0 + a)).exp())
            }
            (Persistence::Probability(p), _) => {
                let none = (-(1.0 + a) * g).exp();
                let after_packet = ready(p, a * g, (1.0 + a) * g);
                let after_idle = ready(p, a * g, a * g);
                let useful = after_idle.success * none + after_packet.success * (1.0 - none);
                let wait = a * (after_idle.wait * none + after_packet.wait * (1.0 - none));
                useful / (wait + 1.0 + a + a * none / arrival)
            }
        }
    }

    /// The largest S, and the G that has it.
    ///
    /// # Errors
    /// There is none: without a distance a nonpersistent channel carries the more the more is offered.
    pub fn maximum(&self) -> Result<(f64, f64), Refusal> {
        if self.persistence == Persistence::Non && self.distance == 0.0 {
            let because = "S = G / (1 + G) rises to 1 and has no maximum";
            return Err(Refusal::new("--distance 0", because, "take an a above 0, or give --load"));
        }
        // The hill may be anywhere between G = 0.01 and G = 10,000: it is looked for along log G.
        let log = highest(-2.0, MOST_LOAD.log10(), |log| self.s(10_f64.powf(log)));
        let load = 10_f64.powf(log);
        Ok((self.s(load), load))
    }

    /// What `ethbus theory csma` prints.
    ///
    /// # Errors
    /// As [`throughput`](Self::throughput), and [`maximum`](Self::maximum) if there is no load.
    pub fn answer(&self, load: Option<f64>) -> Result<Answer, Refusal> {
        let persistence = match self.persistence {
            Persistence::Non => Value::Text("non".to_owned()),
            Persistence::One => Value::Number(1.0),
            Persistence::Probability(p) => Value::Number(p),
        };
        let answer = Answer::new("csma", SOURCE, HOLDS)
            .with("persistence", "what a user does who finds the channel busy", persistence)
            .with("slotted", "users begin with slots of a", Value::Flag(self.slotted))
            .with("distance", "a, the longest delay of a signal, in packets", Value::Number(self.distance));
        let answer = match load {
            Some(load) => answer.with("load", "G, attempts in a packet time", Value::Number(load)).with(
                "throughput",
                "S, successes in a packet time",
                Value::Number(self.throughput(load)?),
            ),
            None => answer,
        };
        let (best, at, why) = match self.maximum() {
            Ok((best, at)) => (Some(Value::Number(best)), Some(Value::Number(at)), String::new()),
            Err(refusal) if load.is_some() => (None, None, refusal.because),
            Err(refusal) => return Err(refusal),
        };
        Ok(answer.with_some("max_throughput", "the largest S", best, || why.clone()).with_some(
            "max_at_load",
            "the G that has it",
            at,
            || why.clone(),
        ))
    }
}

/// What comes of some users that have become ready.
struct Ready {
    /// The chance that the first transmission is alone.
    success: f64,
    /// Mean slots until it begins.
    wait: f64,
}

/// The means for a number of ready users that is Poisson with `mean`, without 0; `arrivals` more come in each slot.
fn ready(p: f64, arrivals: f64, mean: f64) -> Ready {
    let mut sums = Ready { success: 0.0, wait: 0.0 };
    // By log: e^(-mean) may be smaller than any double.
    let (mut log, some) = (-mean, -(-mean).exp_m1());
    let mut users = 0_u32;
    loop {
        users += 1;
        log += (mean / f64::from(users)).ln();
        let chance = log.exp() / some;
        if chance < SMALL && f64::from(users) > mean {
            return sums;
        }
        if chance >= SMALL {
            let of = from(p, arrivals, users);
            sums.success += chance * of.success;
            sums.wait += chance * of.wait;
        }
    }
}

/// `users` are ready at the first slot; `arrivals` more join in each one that follows.
///
/// Up to slot k no user has sent with the chance q^(n (k + 1)) e^(g (q w - k)), w = (1 - q^k)/p, q = 1 - p: users who
/// came in slot i have let k + 1 - i slots pass. Weighted with the users there are, the same gives exactly one sender
/// in slot k.
fn from(p: f64, arrivals: f64, users: u32) -> Ready {
    let (q, n) = (1.0 - p, f64::from(users));
    let mut sums = Ready { success: 0.0, wait: 0.0 };
    // q^(n k), and how many of the later arrivals count: (1 - q^k) / p.
    let (mut passed, mut left) = (1.0, 1.0);
    let mut slot = 0.0;
    loop {
        let weight = (1.0 - left) / p;
        let quiet = passed * (arrivals * (q * weight - slot)).exp();
        sums.success += p * quiet * (n * q.powf(n - 1.0) + q.powf(n) * arrivals * weight);
        sums.wait += quiet * q.powf(n);
        if quiet * (n + arrivals * weight) < SMALL * p {
            return sums;
        }
        passed *= q.powf(n);
        left *= q;
        slot += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csma(persistence: Persistence, slotted: bool, distance: f64) -> Csma {
        Csma::new(persistence, slotted, distance).expect("a protocol")
    }

    /// Kleinrock and Tobagi 1975, table I: the capacities at a = 0.01 (see the head of this file for the others).
    #[test]
    fn the_maxima_are_those_of_the_paper() {
        for (persistence, slotted, capacity) in
            [(Persistence::One, false, 0.529), (Persistence::One, true, 0.531), (Persistence::Non, false, 0.815)]
        {
            let (best, at) = csma(persistence, slotted, 0.01).maximum().expect("there is one");
            assert!((best - capacity).abs() < 0.0006, "{persistence:?}, slotted {slotted}: {best} at G = {at}");
        }
    }

    /// Table I has 0.857 for slotted nonpersistent CSMA. The equation gives 0.865; with an idle slot more in each cycle that is
    /// not idle anyway, 0.857.
    #[test]
    fn the_slotted_nonpersistent_maximum_of_the_table_has_an_idle_slot_more() {
        let a = 0.01;
        let protocol = csma(Persistence::Non, true, a);
        let (best, _) = protocol.maximum().expect("there is one");
        assert!((best - 0.8655).abs() < 0.0001, "{best}");
        let with_idle_slot = |log: f64| {
            let x = a * 10_f64.powf(log);
            x * (-x).exp() / ((1.0 + a) * (1.0 - (-x).exp()) + a)
        };
        let most = with_idle_slot(highest(-2.0, 3.0, with_idle_slot));
        assert!((most - 0.8575).abs() < 0.0001, "{most}");
    }

    /// Maxima of the p-persistent equations at a = 0.01. Table I is quoted with 0.791 and 0.827.
    #[test]
    fn p_persistent_maxima_stay_what_the_equations_give() {
        for (p, capacity) in [(0.1, 0.8414), (0.03, 0.8643)] {
            let (best, _) = csma(Persistence::Probability(p), true, 0.01).maximum().expect("there is one");
            assert!((best - capacity).abs() < 0.0002, "{p}-persistent: {best}");
        }
    }

    /// The p-persistent protocol slot by slot, with random draws: who has waited and finds the channel busy tries again
    /// much later.
    #[test]
    fn p_persistent_sums_are_what_the_protocol_does() {
        const SEED: u64 = 7;
        const PACKETS: u32 = 100_000;
        let mut state = SEED;
        let mut uniform = move || {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        };
        for (p, a, g) in [(0.1, 0.01, 2.6), (0.03, 0.01, 5.2), (0.5, 0.2, 1.0)] {
            let (mut time, mut successes, mut packets, mut users) = (0.0, 0_u32, 0_u32, 0_u32);
            let mut poisson = |mean: f64| {
                let (mut count, mut product) = (0, uniform());
                while product > (-mean).exp() {
                    (count, product) = (count + 1, product * uniform());
                }
                (count, uniform())
            };
            while packets < PACKETS {
                let senders = (0..users).filter(|_| poisson(0.0).1 < p).count();
                if senders == 0 {
                    time += a;
                    users += poisson(a * g).0;
                } else {
                    (packets, successes) = (packets + 1, successes + u32::from(senders == 1));
                    time += 1.0 + a;
                    users = poisson((1.0 + a) * g).0;
                }
            }
            let (measured, expected) = (f64::from(successes) / time, csma(Persistence::Probability(p), true, a).s(g));
            // Three standard deviations of a share of this number of draws.
            assert!((measured - expected).abs() < 0.005, "seed {SEED}, p = {p}: {measured}, {expected}");
        }
    }

    /// p-persistent CSMA with p = 1 is 1-persistent slotted CSMA.
    #[test]
    fn certain_senders_are_one_persistent() {
        for load in [0.01, 0.3, 1.0, 3.0, 10.0] {
            for distance in [0.001, 0.01, 0.2, 1.0] {
                let certain = csma(Persistence::Probability(1.0), true, distance).throughput(load).expect("a load");
                let one = csma(Persistence::One, true, distance).throughput(load).expect("a load");
                assert!((certain - one).abs() < 1e-12, "G = {load}, a = {distance}: {certain}, {one}");
            }
        }
    }

    /// Without a distance slots do not matter: G / (1 + G), and G (1 + G) e^(-G) / (G + e^(-G)).
    #[test]
    fn without_a_distance_slotted_and_unslotted_agree() {
        for load in [0.1_f64, 1.0, 5.0] {
            let none = (-load).exp();
            for slotted in [false, true] {
                let non = csma(Persistence::Non, slotted, 0.0).throughput(load).expect("a load");
                assert!((non - load / (1.0 + load)).abs() < 1e-12);
                let one = csma(Persistence::One, slotted, 0.0).throughput(load).expect("a load");
                assert!((one - load * (1.0 + load) * none / (load + none)).abs() < 1e-12);
                let near = csma(Persistence::One, slotted, 1e-7).throughput(load).expect("a load");
                assert!((one - near).abs() < 1e-6);
            }
        }
    }

    /// One ready user and no arrivals: it succeeds after a geometric wait of (1 - p)/p slots. Two: p q / (1 - q^2) twice.
    #[test]
    fn few_users_are_worked_out_by_hand() {
        let (p, q) = (0.3, 0.7);
        let one = from(p, 0.0, 1);
        assert!((one.success - 1.0).abs() < 1e-12 && (one.wait - q / p).abs() < 1e-12);
        let two = from(p, 0.0, 2);
        assert!((two.success - 2.0 * p * q / (1.0 - q * q)).abs() < 1e-12);
        assert!((two.wait - q * q / (1.0 - q * q)).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(Csma::new(Persistence::Probability(1.5), true, 0.01).is_err());
        assert!(Csma::new(Persistence::Probability(0.0), true, 0.01).is_err());
        assert!(Csma::new(Persistence::Probability(0.5), true, 0.0).is_err());
        assert!(Csma::new(Persistence::Non, false, 1.5).is_err() && Csma::new(Persistence::Non, false, -0.1).is_err());
        let ideal = csma(Persistence::Non, false, 0.0);
        assert!(ideal.maximum().is_err() && ideal.answer(None).is_err());
        let answer = ideal.answer(Some(1.0)).expect("a load");
        assert_eq!(answer.value("throughput"), Some(&Value::Number(0.5)));
        assert!(matches!(answer.value("max_throughput"), Some(Value::None(_))));
        assert!(ideal.throughput(-1.0).is_err() && ideal.throughput(1e9).is_err());
    }
}
