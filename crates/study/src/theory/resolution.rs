//! How long n stations that have collided need until all are done.

use super::contention::slots_lost;
use super::{Answer, Refusal, Value};

const SOURCE: &str = "Metcalfe and Boggs, CACM 19 (7), 1976: W slots are lost before each packet of k stations, summed over \
    k = n, n - 1 ... 1. Two stations under IEEE 802.3, 4.2.3.2.5: T(c) = [(M + 1)/2 + T(c + 1)]/M + (1 - 1/M) 2 (M + 1)/3, \
    M = 2^min(c, 10), T(16) = 0";
const HOLDS: &str = "slots as long as a packet, no new packets, and stations that know how many are left; binary exponential \
    backoff, which does not know, for two stations only";

/// The largest n: its sum has a term for each station.
const MOST_STATIONS: u32 = 1_000_000;

/// attemptLimit: the 16th collision discards (IEEE 802.3, 4.4.2).
const ATTEMPT_LIMIT: u32 = 16;
/// backoffLimit (IEEE 802.3, 4.4.2).
const BACKOFF_LIMIT: u32 = 10;

/// The mean number of slots after the collision until each of `stations` has sent alone, if each of k that are left sends
/// with the chance 1/k in a slot.
///
/// # Errors
/// Fewer than two stations, which do not collide; more than 1,000,000.
pub fn best_slots(stations: u32) -> Result<f64, Refusal> {
    check(stations)?;
    (1..=stations).map(|left| Ok(slots_lost(left)? + 1.0)).sum()
}

/// The mean number of slots after the first collision until two stations are done under binary exponential backoff: both
/// have sent, or their 16th collision has discarded their frames.
pub fn two_under_beb() -> f64 {
    // After their collision number c both choose one of M slots. Equal: a collision, in the mean in slot (M + 1)/2. Else
    // the later of two different slots ends it, in the mean 2 (M + 1)/3.
    (1..ATTEMPT_LIMIT).rev().fold(0.0, |after, collisions| {
        let m = f64::from(1_u32 << collisions.min(BACKOFF_LIMIT));
        ((m + 1.0) / 2.0 + after) / m + (1.0 - 1.0 / m) * 2.0 * (m + 1.0) / 3.0
    })
}

fn check(stations: u32) -> Result<(), Refusal> {
    let given = || format!("--stations {stations}");
    match stations {
        0 | 1 => Err(Refusal::new(given(), "one station does not collide", "the smallest number is 2")),
        2..=MOST_STATIONS => Ok(()),
        _ => Err(Refusal::new(given(), "the sum gets too long", format!("the largest number is {MOST_STATIONS}"))),
    }
}

/// What `ethbus theory resolution` prints.
///
/// # Errors
/// As [`best_slots`].
pub fn answer(stations: u32) -> Result<Answer, Refusal> {
    let best = best_slots(stations)?;
    let beb = (stations == 2).then(|| Value::Number(two_under_beb()));
    Ok(Answer::new("resolution", SOURCE, HOLDS)
        .with("stations", "n, which have just collided", Value::Count(stations.into()))
        .with("mean_time_slots", "until all are done, each sending with the chance 1/k", Value::Number(best))
        .with("slots_lost", "of these, empty or with a collision", Value::Number(best - f64::from(stations)))
        .with_some("beb_mean_time_slots", "until both are done under 802.3", beb, || {
            "timers of more than two stations run across each other's collisions, and no closed form is known; the \
             largest n is 2"
                .to_owned()
        }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two stations: one slot in two has one sender, so two slots for the first packet and one for the second.
    #[test]
    fn two_stations_need_three_slots_at_best() {
        assert_eq!(best_slots(2), Ok(3.0));
    }

    /// For many stations each packet takes e slots: 1/A.
    #[test]
    fn many_stations_need_e_slots_each() {
        let slots = best_slots(100_000).expect("stations");
        assert!((slots / 100_000.0 - std::f64::consts::E).abs() < 1e-3, "{slots}");
    }

    /// By counting all draws up to the 7th collision, rarer than 2^-21: the mean and the recursion agree.
    #[test]
    fn binary_backoff_of_two_is_that_of_a_count_of_all_draws() {
        fn count(collisions: u32) -> f64 {
            if collisions == 7 {
                return 0.0;
            }
            let m = 1_u32 << collisions;
            let after = count(collisions + 1);
            let end = |a: u32, b: u32| if a == b { f64::from(a) + after } else { f64::from(a.max(b)) };
            let sum: f64 = (1..=m).flat_map(|a| (1..=m).map(move |b| (a, b))).map(|(a, b)| end(a, b)).sum();
            sum / f64::from(m * m)
        }
        assert!((two_under_beb() - count(1)).abs() < 1e-4, "{} {}", two_under_beb(), count(1));
    }

    #[test]
    fn no_number_where_none_is_known() {
        assert!(answer(1).is_err() && answer(0).is_err() && answer(MOST_STATIONS + 1).is_err());
        let three = answer(3).expect("stations");
        assert!(matches!(three.value("beb_mean_time_slots"), Some(Value::None(why)) if why.contains("largest n is 2")));
    }
}
