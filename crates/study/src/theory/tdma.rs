//! The mean delay of TDMA: every station has one slot of a frame, and a queue without a limit.
//!
//! ```text
//!   W = N / (2 (1 - S))     from the arrival of a packet to the begin of its slot, in slots
//!   D = W + 1               to the end of its slot
//! ```
//! Each queue is an M/D/1 queue with vacations: a server that finds the queue empty leaves for one frame of N slots. Its
//! wait is that of M/D/1 with a service time of N slots, S N / (2 (1 - S)), and the mean rest of a vacation, N / 2
//! (Bertsekas and Gallager 1992, 3.5.1). Lam 1977 has the same for one packet a message.

use super::{Answer, Refusal, Value};

/// The mean wait in slots for `stations` that offer `load` packets a slot together.
///
/// # Errors
/// No stations; a load below 0, or one that no queue can stand.
pub fn wait(stations: u32, load: f64) -> Result<f64, Refusal> {
    if stations == 0 {
        return Err(Refusal::new("--stations 0", "a frame has a slot for each station", "the smallest number is 1"));
    }
    if !(0.0..1.0).contains(&load) {
        return Err(Refusal::new(
            format!("--load {load}"),
            "S is a mean number of packets a slot, and a slot takes one",
            "take 0 or above, and below 1",
        ));
    }
    Ok(f64::from(stations) / (2.0 * (1.0 - load)))
}

/// What `ethbus theory tdma` prints.
///
/// # Errors
/// Those of [`wait`].
pub fn answer(stations: u32, load: f64) -> Result<Answer, Refusal> {
    let wait = wait(stations, load)?;
    let source = "Bertsekas and Gallager, Data Networks, 2nd ed. 1992, 3.5.1: M/D/1 queues with vacations; Lam 1977";
    let holds =
        "one slot a frame for each station, equal Poisson arrivals, packets of one slot, queues without a limit";
    Ok(Answer::new("tdma", source, holds)
        .with("stations", "N, stations and slots of a frame", Value::Count(stations.into()))
        .with("load", "S, packets a slot of all stations together", Value::Number(load))
        .with(
            "rest_of_frame_slots",
            "N / 2, to the own slot if the queue is empty",
            Value::Number(f64::from(stations) / 2.0),
        )
        .with("mean_wait_slots", "W = N / (2 (1 - S)), to the begin of the packet's slot", Value::Number(wait))
        .with("mean_delay_slots", "D = W + 1, to the end of the packet's slot", Value::Number(wait + 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The wait is the sum that the text gives: M/D/1 with a service time of N slots, and half a frame.
    #[test]
    fn the_wait_is_that_of_md1_and_the_rest_of_a_vacation() {
        for (stations, load) in [(1, 0.0), (4, 0.5), (20, 0.9)] {
            let n = f64::from(stations);
            let sum = load * n / (2.0 * (1.0 - load)) + n / 2.0;
            assert!((wait(stations, load).expect("a load") - sum).abs() < 1e-9, "{stations}, {load}");
        }
        assert!(wait(4, 1.0).is_err() && wait(4, -0.1).is_err() && wait(0, 0.5).is_err() && wait(4, f64::NAN).is_err());
    }
}
