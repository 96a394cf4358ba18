//! Pure and slotted ALOHA: throughput S over offered traffic G, both in frames a frame time.
//!
//! Time is measured in frames. Every attempt lasts one; an attempt succeeds if no other one overlaps it.

use super::roots::highest;
use super::{Answer, Refusal, Value, offered_traffic};

const PURE_SOURCE: &str = "Abramson, The ALOHA System, AFIPS 37 (1970): S = G e^(-2G). For N stations: the same argument, \
    each station alternating between a frame and an exponential pause: S = G [(1 - g) e^(-g/(1 - g))]^(N - 1), g = G/N";
const SLOTTED_SOURCE: &str = "Roberts, ASS Note 8 (1972), Computer Communication Review 5 (2), 1975: S = G e^(-G). For N \
    stations: Abramson, NCC 42 (1973): S = G (1 - G/N)^(N - 1)";
const HOLDS: &str = "attempts are independent and their rate does not change: a channel without retransmissions, or one \
    whose retransmissions wait so long that they are as good as new ones. With infinitely many stations and \
    retransmissions no such state lasts (see `ethbus theory lam --stations infinite`)";

/// Pure or slotted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// A frame may begin at any time.
    Pure,
    /// A frame begins with a slot, and slots last one frame.
    Slotted,
}

/// S at the offered traffic `load`, in frames a frame time; `None` stations are infinitely many.
///
/// # Errors
/// A load that is negative, or above 1 for each station.
pub fn throughput(time: Time, load: f64, stations: Option<u32>) -> Result<f64, Refusal> {
    offered_traffic(load)?;
    let Some(stations) = stations else {
        return Ok(match time {
            Time::Pure => load * (-2.0 * load).exp(),
            Time::Slotted => load * (-load).exp(),
        });
    };
    check_stations(stations)?;
    let (n, own) = (f64::from(stations), load / f64::from(stations));
    if own > 1.0 {
        let because = format!("{stations} stations attempt at most {stations} frames in a frame time");
        return Err(Refusal::new(format!("--load {load}"), because, format!("the largest is {stations}")));
    }
    let others = n - 1.0;
    Ok(match time {
        Time::Slotted => load * (1.0 - own).powf(others),
        // A lone station that never pauses: no other can overlap.
        Time::Pure if stations == 1 => load,
        Time::Pure if own == 1.0 => 0.0,
        Time::Pure => load * ((1.0 - own) * (-own / (1.0 - own)).exp()).powf(others),
    })
}

fn check_stations(stations: u32) -> Result<(), Refusal> {
    if stations > 0 {
        return Ok(());
    }
    Err(Refusal::new("--stations 0", "there is nobody to send", "the smallest number is 1"))
}

/// The largest S, and the G that has it.
///
/// # Errors
/// No stations.
pub fn maximum(time: Time, stations: Option<u32>) -> Result<(f64, f64), Refusal> {
    let load = match (time, stations) {
        (Time::Pure, None) => 0.5,
        (Time::Slotted, None) | (_, Some(1)) => 1.0,
        // d/dG [G (1 - G/N)^(N - 1)] is 0 at G = 1 for every N.
        (Time::Slotted, Some(_)) => 1.0,
        (Time::Pure, Some(stations)) => {
            check_stations(stations)?;
            let n = f64::from(stations);
            highest(0.0, n.min(2.0), |load| throughput(time, load, Some(stations)).unwrap_or(0.0))
        }
    };
    Ok((throughput(time, load, stations)?, load))
}

/// The longest backlog in [`known_backlog`].
const MOST_BACKLOG: usize = 4_000;

/// Mean backlog at the begin of a slot, and mean delay in slots, from the arrival of a frame within a slot to its end, where
/// each of n frames goes out with the chance 1/n: Rivest 1987; Bertsekas and Gallager 1992, 4.2.3. `load` new frames a slot,
/// Poisson. `None` at 1/e and above, where the backlog grows.
///
/// The chain of n rises by the new frames of a slot and falls by one with the chance that exactly one frame goes out.
pub fn known_backlog(load: f64) -> Option<(f64, f64)> {
    if !(load > 0.0 && load < 0.36) {
        return None;
    }
    // At n, a slot has a success with this chance.
    let success = |n: usize| if n == 0 { 0.0 } else { (1.0 - 1.0 / n as f64).powi(n as i32 - 1) };
    let mut new = vec![(-load).exp()];
    while new.last().is_some_and(|&chance| chance > 1e-18) {
        new.push(new[new.len() - 1] * load / new.len() as f64);
    }
    // More than m new frames.
    let more: Vec<f64> = (0..new.len()).map(|m| new[m + 1..].iter().sum()).collect();
    let more = |m: usize| more.get(m).copied().unwrap_or(0.0);
    // Cuts: as often down from n + 1 as up from n and below. Up by j: j new without success, j + 1 with one.
    let mut shares = vec![1.0];
    for n in 0..MOST_BACKLOG {
        let rises = |from: usize| {
            let beyond = n - from;
            (1.0 - success(from)) * more(beyond) + success(from) * more(beyond + 1)
        };
        let up: f64 = (n.saturating_sub(new.len())..=n).map(|from| shares[from] * rises(from)).sum();
        shares.push(up / (success(n + 1) * new[0]));
    }
    let all: f64 = shares.iter().sum();
    let backlog = shares.iter().enumerate().map(|(n, share)| n as f64 * share).sum::<f64>() / all;
    Some((backlog, 0.5 + backlog / load))
}

/// What `ethbus theory aloha` and `slotted-aloha` print.
///
/// # Errors
/// As [`throughput`].
pub fn answer(time: Time, load: Option<f64>, stations: Option<u32>) -> Result<Answer, Refusal> {
    let (name, source) = match time {
        Time::Pure => ("aloha", PURE_SOURCE),
        Time::Slotted => ("slotted-aloha", SLOTTED_SOURCE),
    };
    let population = stations.map_or(Value::Text("infinite".to_owned()), |n| Value::Count(n.into()));
    let answer = Answer::new(name, source, HOLDS).with("stations", "N", population);
    let (best, at) = maximum(time, stations)?;
    let answer = match load {
        Some(load) => answer.with("load", "G, attempts in a frame time", Value::Number(load)).with(
            "throughput",
            "S, successes in a frame time",
            Value::Number(throughput(time, load, stations)?),
        ),
        None => answer,
    };
    Ok(answer.with("max_throughput", "the largest S", Value::Number(best)).with(
        "max_at_load",
        "the G that has it",
        Value::Number(at),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::E;

    /// Abramson 1970 and Roberts 1972: 1/(2e) at G = 1/2 and 1/e at G = 1.
    #[test]
    fn the_maxima_are_those_of_the_papers() {
        let (pure, at) = maximum(Time::Pure, None).expect("infinitely many");
        assert!((pure - 1.0 / (2.0 * E)).abs() < 1e-15 && at == 0.5);
        let (slotted, at) = maximum(Time::Slotted, None).expect("infinitely many");
        assert!((slotted - 1.0 / E).abs() < 1e-15 && at == 1.0);
    }

    /// One station never collides with itself; two slotted ones get half of the slots at best; many are as good as
    /// infinitely many.
    #[test]
    fn finite_populations_lie_between_one_station_and_infinitely_many() {
        for time in [Time::Pure, Time::Slotted] {
            assert_eq!(maximum(time, Some(1)).expect("one station"), (1.0, 1.0));
            let mut last = 1.0;
            for stations in [2, 3, 10, 100, 1_000_000] {
                let (best, _) = maximum(time, Some(stations)).expect("stations");
                assert!(best < last, "{time:?}, {stations} stations");
                last = best;
            }
            let (limit, _) = maximum(time, None).expect("infinitely many");
            assert!((last - limit).abs() < 1e-6, "{time:?}");
        }
        let (two, _) = maximum(Time::Slotted, Some(2)).expect("two stations");
        assert!((two - 0.5).abs() < 1e-12);
    }

    /// Bertsekas and Gallager's approximation has a success with the chance 1/e from two frames on, so it is longer:
    /// W = (e - 1/2)/(1 - λe) - (e - 1)(e^λ - 1)/(λ (1 - (e - 1)(e^λ - 1))), without the slot of the frame itself.
    #[test]
    fn a_known_backlog_has_about_the_delay_of_bertsekas_and_gallager() {
        for (load, least) in [(0.01_f64, 0.99), (0.05, 0.96), (0.1, 0.92), (0.2, 0.78)] {
            let (_, delay) = known_backlog(load).expect("below 1/e");
            let grown = (E - 1.0) * load.exp_m1();
            let approximation = (E - 0.5) / (1.0 - load * E) - grown / (load * (1.0 - grown)) + 1.0;
            assert!(delay < approximation && delay > least * approximation, "{load}: {delay}, {approximation}");
        }
        assert!(known_backlog(0.37).is_none());
    }

    /// The same chain slot by slot, from an empty channel until nothing changes.
    #[test]
    fn a_known_backlog_is_its_chain_slot_by_slot() {
        let load = 0.2_f64;
        let new: Vec<f64> =
            (0..20).map(|m| (-load).exp() * (1..=m).fold(1.0, |p, i| p * load / f64::from(i))).collect();
        let mut shares = [0.0; 120];
        shares[0] = 1.0;
        for _ in 0..4_000 {
            let mut next = [0.0; 120];
            for (n, share) in shares.iter().enumerate() {
                let success = if n == 0 { 0.0 } else { (1.0 - 1.0 / n as f64).powi(n as i32 - 1) };
                for (m, chance) in new.iter().enumerate() {
                    next[(n + m).min(119)] += share * chance * (1.0 - success);
                    next[(n + m).saturating_sub(1).min(119)] += share * chance * success;
                }
            }
            shares = next;
        }
        let mean: f64 = shares.iter().enumerate().map(|(n, share)| n as f64 * share).sum();
        let (backlog, _) = known_backlog(load).expect("below 1/e");
        assert!((mean - backlog).abs() < 1e-9, "{mean}, {backlog}");
    }

    /// Slot by slot, by counting: each of 3 stations sends or not.
    #[test]
    fn slotted_throughput_is_the_chance_of_exactly_one_sender() {
        let own = 0.2_f64;
        let mut one = 0.0;
        for senders in 0_u32..8 {
            let count = senders.count_ones();
            if count == 1 {
                one += own.powi(1) * (1.0 - own).powi(2);
            }
        }
        let s = throughput(Time::Slotted, 3.0 * own, Some(3)).expect("a load");
        assert!((s - one).abs() < 1e-15);
    }

    #[test]
    fn loads_that_cannot_be_are_refused_with_the_nearest() {
        for load in [-0.1, f64::NAN, f64::INFINITY] {
            assert!(throughput(Time::Pure, load, None).is_err(), "{load}");
        }
        let refusal = throughput(Time::Slotted, 3.5, Some(3)).expect_err("more than the stations have");
        assert!(refusal.to_string().contains("the largest is 3"), "{refusal}");
        assert!(answer(Time::Pure, None, Some(0)).is_err());
    }
}
