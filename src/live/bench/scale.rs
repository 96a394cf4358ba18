//! How large a bus, and how fast a medium, this machine holds: to be known before a lab is built on it.

use super::bus::{BenchError, Context, Wanted};
use super::load::{SLIP_ALLOWED, saturated, slip_percent};
use super::row::{Asked, Figure, Row};
use crate::live::driver::source::saturating_level;
use medium::{BitRate, Octets};

const SHORTEST: Octets = Octets::new(64);
const LONGEST: Octets = Octets::new(1518);
/// Stations of the buses that are tried, beyond the sixty-four of a row of their own.
const STATIONS: [usize; 2] = [128, 254];
/// Parts of real time that a medium of 1 Gb/s is tried at, the fastest first.
const TIME_SCALES: [f64; 7] = [1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01];

/// Many stations at 10 Mb/s, each saturated with the shortest frames; then the fastest medium of 1 Gb/s that is in time.
///
/// # Errors
/// A bus that cannot be made.
pub fn scale(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    for stations in STATIONS {
        let rate = BitRate::MBIT_10;
        let wanted = Wanted { queue_limit: Some(saturating_level(rate, SHORTEST)), ..Wanted::silent(stations, rate) };
        let (results, conditions) = saturated(context, &wanted, SHORTEST)?;
        let slip = Figure::new(format!("{stations} stations of 64 octets, slip"), slip_percent(&results), "%");
        row.figures.push(slip.asked(Asked::AtMost(SLIP_ALLOWED)));
        row.runs.push(super::bus::run(format!("{stations} stations"), &results, conditions));
    }
    let shorter = Context { duration: context.short(), ..*context };
    let mut held = 0.0;
    for time_scale in TIME_SCALES {
        let rate = BitRate::MBIT_1000;
        // As many frames as a real second takes, at this part of it.
        let level = saturating_level(rate, LONGEST);
        let wanted = Wanted { time_scale, queue_limit: Some(level), ..Wanted::silent(4, rate) };
        let (results, conditions) = saturated(&shorter, &wanted, LONGEST)?;
        let slip = slip_percent(&results);
        row.runs.push(super::bus::run(format!("1 Gb/s at {time_scale}"), &results, conditions));
        if slip <= SLIP_ALLOWED {
            held = time_scale;
            break;
        }
    }
    row.figures.push(Figure::new("4 stations of 1518 octets at 1 Gb/s, largest `--time-scale` in time", held, ""));
    row.notes.push(format!("in time: the medium's clock stands still for at most {SLIP_ALLOWED} % of the run"));
    Ok(())
}
