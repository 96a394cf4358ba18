//! Where the doubling of a range stops: the chance of a collision and the delay by ceiling 2^k and number of stations.
//!
//! A larger ceiling spreads the attempts over more slots, so fewer collide; and each wait is longer. Both follow from
//! Lam's chain with K = 2^k: every wait is one of 2^k slots. A sender that doubles up to the ceiling waits less at first.
//!
//! ```text
//! attempts a slot        G = (N - n) s + n p at the mean backlog n
//! chance of a collision  1 - S/G
//! if all N contend       1 - (1 - p)^(N - 1)
//! ```

use super::lam::{Channel, Population};
use super::{Answer, Refusal, Value};

const SOURCE: &str = "Lam, dissertation, UCLA-ENG-7429, 1974, chapter 5: the chain of N users with K = 2^k; \
    Tanenbaum and Wetherall 2010, p. 285: a ceiling trades collisions for delay";
const HOLDS: &str = "slotted ALOHA; each wait is one of 2^k slots, so the doubling below the ceiling is not in it: a sender \
    that doubles needs up to twice the ceiling, and waits less";

/// The largest exponent of a ceiling.
const MOST_EXPONENT: u32 = 14;
/// The largest N: the chain is solved once for each ceiling.
const MOST_STATIONS: u32 = 2000;

/// What a ceiling does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceiling {
    /// 2^k slots.
    pub slots: u32,
    /// The chance that an attempt collides if all stations contend.
    pub all_collide: f64,
    /// The same in the long run; none if the channel is unstable.
    pub collision_probability: Option<f64>,
    /// Mean slots from ready to success, that of the success counted; none if the channel is unstable.
    pub mean_delay_slots: Option<f64>,
}

/// All ceilings for `stations` with an input of `load` packets a slot.
///
/// # Errors
/// Fewer than two stations or more than 2,000; a load outside of 0 to 1.
pub fn ceilings(stations: u32, load: f64) -> Result<Vec<Ceiling>, Refusal> {
    let given = || format!("--stations {stations}");
    if stations < 2 {
        return Err(Refusal::new(given(), "one station never collides", "the smallest number is 2"));
    }
    if stations > MOST_STATIONS {
        let because = "each ceiling has a chain of its own, and these take too long";
        return Err(Refusal::new(given(), because, format!("the largest number is {MOST_STATIONS}")));
    }
    (1..=MOST_EXPONENT).map(|exponent| of(stations, load, 1 << exponent)).collect()
}

fn of(stations: u32, load: f64, slots: u32) -> Result<Ceiling, Refusal> {
    let channel = Channel::new(Population::Finite(stations), load, slots, 0)?;
    let (steady, p) = (channel.steady(), channel.retransmission_probability());
    let collides = steady.map(|it| 1.0 - it.throughput / (channel.input(it.mean_backlog) + it.mean_backlog * p));
    Ok(Ceiling {
        slots,
        all_collide: 1.0 - (1.0 - p).powi(stations as i32 - 1),
        collision_probability: collides,
        mean_delay_slots: steady.map(|it| it.mean_delay_slots),
    })
}

/// The ceiling with the shortest delay; none if no ceiling makes the channel stable.
pub fn best(ceilings: &[Ceiling]) -> Option<&Ceiling> {
    let stable = ceilings.iter().filter_map(|it| Some((it, it.mean_delay_slots?)));
    stable.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(it, _)| it)
}

/// What `ethbus theory ceiling` prints.
///
/// # Errors
/// As [`ceilings`].
pub fn answer(stations: &[u32], load: f64) -> Result<Answer, Refusal> {
    let (mut rows, mut bests) = (Vec::new(), Vec::new());
    for &count in stations {
        let ceilings = ceilings(count, load)?;
        let row = |it: &Ceiling| {
            let known = [f64::from(count), f64::from(it.slots), it.all_collide].map(Some);
            known.into_iter().chain([it.collision_probability, it.mean_delay_slots]).collect::<Vec<_>>()
        };
        rows.extend(ceilings.iter().map(row));
        bests.extend(best(&ceilings).map(row));
    }
    let columns = || vec!["stations", "ceiling", "all_collide", "collision_probability", "mean_delay_slots"];
    Ok(Answer::new("ceiling", SOURCE, HOLDS)
        .with("load", "S, input in packets a slot if no user is blocked", Value::Number(load))
        .with("ceilings", "by N and 2^k; `-` where the channel is unstable", Value::Curve { columns: columns(), rows })
        .with("best_ceiling", "the ceiling with the shortest delay", Value::Curve { columns: columns(), rows: bests }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each doubling of a large ceiling halves the chance that an attempt collides where all contend.
    #[test]
    fn collisions_fall_and_delays_grow_with_the_ceiling() {
        let ceilings = ceilings(50, 0.32).expect("a channel");
        let stable: Vec<&Ceiling> = ceilings.iter().filter(|it| it.mean_delay_slots.is_some()).collect();
        assert_eq!((stable[0].slots, best(&ceilings).map(|it| it.slots)), (32, Some(32)));
        for pair in stable.windows(2) {
            assert!(pair[1].collision_probability < pair[0].collision_probability, "{pair:?}");
            assert!(pair[1].mean_delay_slots > pair[0].mean_delay_slots, "{pair:?}");
            assert!(pair[1].all_collide < pair[0].all_collide, "{pair:?}");
        }
        let [.., last, least] = &ceilings[..] else { panic!("fourteen ceilings") };
        assert!((last.all_collide / least.all_collide - 2.0).abs() < 0.01);
    }

    /// Too small a ceiling is unstable; of those that are stable for few stations the smallest is not the best.
    #[test]
    fn more_stations_need_a_larger_ceiling() {
        let slots = [10, 50, 200].map(|stations| {
            let ceilings = ceilings(stations, 0.32).expect("a channel");
            best(&ceilings).expect("a stable one").slots
        });
        assert_eq!(slots, [8, 32, 128]);
        assert!(ceilings(1, 0.32).is_err() && ceilings(2001, 0.32).is_err() && ceilings(10, 1.5).is_err());
    }
}
