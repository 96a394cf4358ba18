//! Slotted ALOHA whose retransmissions go out in one of the next K slots: S(G, K) for infinitely many users.
//!
//! A packet is new or comes again. Both kinds have their own chance of success, since a packet that comes again knows
//! that its slot K back held a collision:
//!
//! ```text
//! new            q_n = [e^(-G/K) + (G/K) e^(-G)]^K e^(-S)
//! coming again   q_t = [e^(-G/K) - e^(-G)] / (1 - e^(-G)) [e^(-G/K) + (G/K) e^(-G)]^(K - 1) e^(-S)
//! throughput     S = G q_t / (q_t + 1 - q_n)
//! delay          D = 1 + (G/S - 1) (R + (K + 1)/2), G/S - 1 being the times that a packet comes again
//! ```

use super::roots::{highest, root};
use super::{Answer, Refusal, Value, offered_traffic};

const SOURCE: &str = "Kleinrock and Lam, ASS Note 12 (NIC 11294), 1972; Packet-Switching in a Multi-Access Broadcast \
    Channel: Performance Evaluation, IEEE Trans. Comm. 23 (4), 1975: q_n, q_t and S = G q_t / (q_t + 1 - q_n)";
const HOLDS: &str = "infinitely many users, Poisson arrivals, and a state that lasts, which this channel does not have: \
    it says what the channel carries until it drifts away (see `ethbus theory lam --stations infinite`)";

/// Values of G in the curve.
const CURVE: [f64; 14] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0, 3.0];

/// Values of S for which the best K is given.
const CARRIED: [f64; 8] = [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.33, 0.35];
/// The largest K that is tried for the best one.
const MOST_K: u32 = 1000;

/// S at the offered traffic `load` with retransmission in one of the next `retransmit` slots, in packets a slot.
///
/// # Errors
/// A negative load; K = 0.
pub fn throughput(load: f64, retransmit: u32) -> Result<f64, Refusal> {
    offered_traffic(load)?;
    check(retransmit)?;
    Ok(solve(load, retransmit))
}

fn check(retransmit: u32) -> Result<(), Refusal> {
    if retransmit > 0 {
        return Ok(());
    }
    Err(Refusal::new("--retransmit 0", "a packet waits for one of the next K slots", "the smallest K is 1"))
}

/// The S that both sides of S = G q_t / (q_t + 1 - q_n) agree on. The right side falls as S rises, so there is one.
fn solve(load: f64, retransmit: u32) -> f64 {
    if load == 0.0 || retransmit == 1 {
        // With K = 1 all packets of a collision come again together: q_t = 0.
        return 0.0;
    }
    let k = f64::from(retransmit);
    let part = (-load / k).exp() + load / k * (-load).exp();
    // e^(S) q_n and e^(S) q_t.
    let new = part.powf(k);
    let again = ((-load / k).exp() - (-load).exp()) / (1.0 - (-load).exp()) * part.powf(k - 1.0);
    let right = |s: f64| load * again / (again + s.exp() - new);
    root(0.0, load, |s| s - right(s))
}

/// The largest S over all G, and the G that has it.
///
/// # Errors
/// K = 0; K = 1, which carries nothing at any load.
pub fn maximum(retransmit: u32) -> Result<(f64, f64), Refusal> {
    check(retransmit)?;
    if retransmit == 1 {
        let because = "all packets of a collision come again in the same slot, so S is 0 at every load";
        return Err(Refusal::new("--retransmit 1", because, "the smallest K that carries anything is 2"));
    }
    let load = highest(0.0, 4.0, |load| solve(load, retransmit));
    Ok((solve(load, retransmit), load))
}

/// Slots from the one in which a packet is sent first to that of its success, both counted; the acknowledgement of a
/// collision takes `ack_delay` slots. `None` if nothing gets through.
pub fn delay(load: f64, retransmit: u32, ack_delay: u32) -> Option<f64> {
    let carried = solve(load, retransmit);
    let again = if load == 0.0 { 0.0 } else { load / carried - 1.0 };
    let delay = 1.0 + again * (f64::from(ack_delay) + (f64::from(retransmit) + 1.0) / 2.0);
    delay.is_finite().then_some(delay)
}

/// The K with the shortest delay of a channel that carries `throughput`, the least G of that K, and the delay.
pub fn best(throughput: f64, ack_delay: u32) -> Option<(u32, f64, f64)> {
    let of = |retransmit| {
        let (most, at) = maximum(retransmit).ok()?;
        let load = (most > throughput).then(|| root(0.0, at, |load| solve(load, retransmit) - throughput))?;
        Some((retransmit, load, delay(load, retransmit, ack_delay)?))
    };
    (2..=MOST_K).filter_map(of).min_by(|one, other| one.2.total_cmp(&other.2))
}

/// What `ethbus theory kleinrock-lam` prints.
///
/// # Errors
/// As [`throughput`] and [`maximum`].
pub fn answer(retransmit: u32, load: Option<f64>, ack_delay: u32) -> Result<Answer, Refusal> {
    let (most, at) = maximum(retransmit)?;
    let answer = Answer::new("kleinrock-lam", SOURCE, HOLDS).with(
        "retransmit",
        "K: a packet comes again in one of the next K slots",
        Value::Count(retransmit.into()),
    );
    let answer = answer.with("ack_delay", "R, slots until a collision is known", Value::Count(ack_delay.into()));
    let answer = match load {
        Some(load) => answer
            .with("load", "G, attempts a slot", Value::Number(load))
            .with("throughput", "S, successes a slot", Value::Number(throughput(load, retransmit)?))
            .with_some(
                "mean_delay_slots",
                "slots from ready to success, that of the success counted",
                delay(load, retransmit, ack_delay).map(Value::Number),
                || "nothing gets through".to_owned(),
            ),
        None => answer,
    };
    let point = |&load: &f64| vec![Some(load), Some(solve(load, retransmit)), delay(load, retransmit, ack_delay)];
    let rows = CURVE.iter().map(point).collect();
    let best_k = |&carried: &f64| {
        let (k, load, delay) = best(carried, ack_delay)?;
        Some([carried, load, f64::from(k), delay].map(Some).to_vec())
    };
    let best_ks = CARRIED.iter().filter_map(best_k).collect();
    Ok(answer
        .with("max_throughput", "the largest S; 1/e for K without end", Value::Number(most))
        .with("max_at_load", "the G that has it", Value::Number(at))
        .with(
            "curve",
            "S(G, K) and the delay",
            Value::Curve { columns: vec!["load", "throughput", "mean_delay_slots"], rows },
        )
        .with(
            "best_k",
            "the K with the shortest delay, by S, and its G",
            Value::Curve { columns: vec!["throughput", "load", "retransmit", "mean_delay_slots"], rows: best_ks },
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's result: more K, more throughput, and 1/e in the end.
    #[test]
    fn the_maximum_climbs_to_one_over_e() {
        let mut last = 0.0;
        for retransmit in [2, 3, 5, 10, 15, 60, 200, 1000] {
            let (best, _) = maximum(retransmit).expect("K above 1");
            assert!(best > last, "K = {retransmit}: {best} after {last}");
            last = best;
        }
        let limit = (-1.0_f64).exp();
        assert!(last < limit && limit - last < 2e-4, "{last}");
    }

    /// As K grows a packet succeeds at each attempt with e^(-G), so it comes again e^G - 1 times.
    #[test]
    fn the_delay_is_that_of_the_attempts() {
        for load in CURVE {
            let again = (delay(load, 1_000_000, 12).expect("a delay") - 1.0) / (12.0 + 500_000.5);
            assert!((again - load.exp_m1()).abs() < 1e-4, "G = {load}: {again}");
        }
        assert_eq!((delay(0.0, 10, 0), delay(0.5, 1, 0)), (Some(1.0), None));
    }

    /// A K that is larger carries more and waits longer, so the best one grows with S.
    #[test]
    fn the_best_k_grows_with_the_throughput() {
        let ks: Vec<u32> = CARRIED.iter().filter_map(|&s| Some(best(s, 12)?.0)).collect();
        assert!(ks.len() == CARRIED.len() && ks.windows(2).all(|pair| pair[0] <= pair[1]), "{ks:?}");
    }

    /// For K without end both kinds of packets have the chance e^(-G), which is slotted ALOHA.
    #[test]
    fn many_slots_make_it_slotted_aloha() {
        for load in CURVE {
            let s = throughput(load, 1_000_000).expect("a load");
            assert!((s - load * (-load).exp()).abs() < 1e-5, "G = {load}: {s}");
        }
    }

    #[test]
    fn a_choice_of_one_slot_carries_nothing() {
        assert_eq!(throughput(1.0, 1), Ok(0.0));
        assert!(maximum(1).expect_err("no maximum").to_string().contains("K that carries anything is 2"));
        assert!(throughput(1.0, 0).is_err() && throughput(-1.0, 10).is_err());
    }
}
