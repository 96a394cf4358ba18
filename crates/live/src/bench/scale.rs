//! How large a bus, and how fast a medium, this machine holds: to be known before a lab is built on it.

use super::bus::{BenchError, Context, Wanted, run};
use super::load::{SLIP_ALLOWED, saturated, slip_percent};
use super::row::{Asked, Figure, Row};
use crate::driver::sender::saturating_level;
use medium::{BitRate, Octets};
use sim::words::choices::FilterChoice;

const SHORTEST: Octets = Octets::new(64);
const LONGEST: Octets = Octets::new(1518);
/// Buses that are tried, beyond the sixty-four stations of a row of their own.
const BUSES: [(usize, FilterChoice); 3] =
    [(128, FilterChoice::None), (254, FilterChoice::None), (254, FilterChoice::Address)];
/// Parts of real time that a medium of 1 Gb/s is tried at, the fastest first.
const TIME_SCALES: [f64; 7] = [1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01];
/// A medium is said to be full if it is for this part of its time, in %: four stations that are saturated fill more.
const FULL: f64 = 80.0;
/// How often the time between one part that is too fast and the next that is not is halved.
const HALVES: usize = 2;

/// Many stations at 10 Mb/s, each saturated with the shortest frames; then the fastest medium of 1 Gb/s that is in time.
///
/// # Errors
/// A bus that cannot be made.
pub fn scale(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    for (stations, filter) in BUSES {
        let rate = BitRate::MBIT_10;
        let queue_limit = Some(saturating_level(rate, SHORTEST));
        let wanted = Wanted { queue_limit, filter, ..Wanted::silent(stations, rate) };
        let (results, conditions) = saturated(context, &wanted, SHORTEST)?;
        let who = match filter {
            FilterChoice::None => format!("{stations} stations of 64 octets"),
            FilterChoice::Address => format!("{stations} stations of 64 octets, filter = \"address\""),
        };
        let slip = Figure::new(format!("{who}, slip"), slip_percent(&results), "%");
        row.figures.push(slip.asked(Asked::AtMost(SLIP_ALLOWED)));
        row.figures.push(Figure::new(format!("{who}, utilization"), 100.0 * results.medium.utilization_total, "%"));
        row.runs.push(run(who, &results, conditions));
    }
    let held = largest_in_time(|time_scale| is_in_time(context, row, time_scale))?;
    row.figures.push(Figure::new("4 stations of 1518 octets at 1 Gb/s, largest `--time-scale` in time", held, ""));
    row.notes.push(format!(
        "in time: the medium's clock stands still for at most {SLIP_ALLOWED} % of the run, and the medium is full for at \
         least {FULL} % of it"
    ));
    Ok(())
}

/// Whether four saturated stations are, at this part of real time.
fn is_in_time(context: &Context<'_>, row: &mut Row, time_scale: f64) -> Result<bool, BenchError> {
    let (rate, shorter) = (BitRate::MBIT_1000, Context { duration: context.short(), ..*context });
    // As many frames as a real second takes, at this part of it.
    let level = saturating_level(rate, LONGEST);
    let wanted = Wanted { time_scale, queue_limit: Some(level), ..Wanted::silent(4, rate) };
    let (results, conditions) = saturated(&shorter, &wanted, LONGEST)?;
    row.runs.push(run(format!("1 Gb/s at {time_scale:.3}"), &results, conditions));
    // A medium that runs empty says how slow its stations' drivers are, and nothing of the bus.
    let full = 100.0 * results.medium.utilization_total >= FULL;
    Ok(slip_percent(&results) <= SLIP_ALLOWED && full)
}

/// The largest part of real time that is in time; 0 if none is.
fn largest_in_time(mut is: impl FnMut(f64) -> Result<bool, BenchError>) -> Result<f64, BenchError> {
    let (mut too_fast, mut held) = (None, 0.0);
    for time_scale in TIME_SCALES {
        if is(time_scale)? {
            held = time_scale;
            break;
        }
        too_fast = Some(time_scale);
    }
    let Some(mut too_fast) = too_fast.filter(|_| held > 0.0) else { return Ok(held) };
    for _ in 0..HALVES {
        let between = (held + too_fast) / 2.0;
        *(if is(between)? { &mut held } else { &mut too_fast }) = between;
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_part_that_is_in_time_is_found_between_those_tried_first() {
        for (limit, found) in [(2.0, 1.0), (0.5, 0.5), (0.3, 0.275), (0.2, 0.2), (0.001, 0.0)] {
            let mut tried = 0;
            let held = largest_in_time(|time_scale| {
                tried += 1;
                Ok(time_scale <= limit)
            });
            assert_eq!((held.expect("nothing goes wrong"), tried <= 9), (found, true), "up to {limit}");
        }
    }
}
