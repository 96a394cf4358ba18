//! What a bus costs: processor time of the data plane, and of the supervisor.

use super::bus::{BenchError, Bus, Context, Files, Wanted, frames_per_second, rest, run, system};
use super::machine::{Conditions, Meter};
use super::row::{Asked, Figure, Row};
use crate::driver::offering::Offering;
use crate::driver::sender::{Spacing, line_rate, saturating_level};
use link::Pid;
use link::process::cpu_time;
use medium::{BitRate, Octets};
use sim::figures::results::Results;
use std::time::{Duration, Instant};

const STATIONS: usize = 4;
const LONGEST: Octets = Octets::new(1518);
const SHORTEST: Octets = Octets::new(64);
/// What all stations offer together, as a part of what fills the medium.
const OFFERED: f64 = 1.2;

/// A bus on which no station sends.
///
/// # Errors
/// A bus that cannot be made.
pub fn idle(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    let mut bus = Bus::start(context, &Wanted::silent(STATIONS, BitRate::MBIT_10))?;
    bus.plane.restart()?;
    let (meter, clock) = (Meter::start(), Clock::start(&bus)?);
    rest(context, context.duration)?;
    let (plane, supervisor) = clock.stop(&bus)?;
    let (conditions, results) = (meter.stop(), bus.plane.report()?);
    let figure = |name, value| Figure::new(name, value, "% of a core");
    row.figures.push(figure("data plane and supervisor", plane + supervisor).asked(Asked::AtMost(1.0)));
    row.figures.push(figure("data plane", plane));
    row.runs.push(run("bus", &results, conditions));
    Ok(())
}

/// A bus that is full of the longest frames.
///
/// # Errors
/// A bus that cannot be made.
pub fn longest(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    let rate = BitRate::MBIT_10;
    let mut bus = Bus::start(context, &Wanted::silent(STATIONS, rate))?;
    let gap = 1e9 * STATIONS as f64 / (OFFERED * line_rate(rate, LONGEST));
    let offering = Offering::paced(bus.senders(LONGEST, |_| Spacing::Even(gap))?);
    let (used, results, conditions) = plane_time(context, &mut bus, offering)?;
    row.figures.push(Figure::new("data plane", used, "% of a core").asked(Asked::AtMost(15.0)));
    row.figures.push(Figure::new("frames of 1518 octets", frames_per_second(&results), "frames/s"));
    row.figures.push(Figure::new("utilization (total)", 100.0 * results.medium.utilization_total, "%"));
    row.notes.push(format!(
        "{STATIONS} stations that offer {OFFERED} times the line rate together; the supervisor only waits, as on an idle bus"
    ));
    row.runs.push(run("bus", &results, conditions));
    Ok(())
}

/// A full bus of the shortest frames with no file, and with files: what they cost.
///
/// # Errors
/// A bus that cannot be made.
pub fn windows(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    let (slow, fast) = (BitRate::MBIT_10, BitRate::MBIT_100);
    files_cost(context, row, slow, ("with every file", Files::Every))?;
    files_cost(context, row, fast, ("with a binary event log, 100 Mb/s", Files::BinaryLog))?;
    row.notes.push("every file: record, event log, pcapng, Perfetto, VCD; all files are in memory".to_owned());
    Ok(())
}

fn files_cost(
    context: &Context<'_>,
    row: &mut Row,
    rate: BitRate,
    (name, files): (&'static str, Files),
) -> Result<(), BenchError> {
    let figure = |name, value| Figure::new(name, value, "% of a core");
    let mut before = 0.0;
    for (name, files) in [("without files", Files::None), (name, files)] {
        let queue_limit = Some(saturating_level(rate, SHORTEST));
        let mut bus = Bus::start(context, &Wanted { files, queue_limit, ..Wanted::silent(STATIONS, rate) })?;
        let offering = bus.saturated(SHORTEST)?;
        let (used, results, conditions) = plane_time(context, &mut bus, offering)?;
        row.figures.push(figure(name, used));
        if files != Files::None {
            row.figures.push(figure("what the files cost", used - before).asked(Asked::AtMost(5.0)));
            let octets = bus.written().map_err(system("look at a file in memory"))?;
            row.figures.push(Figure::new("written", octets as f64 / 1e6, "MB"));
            let observers = results.emulator.as_ref().map(|emulator| emulator.observers.clone()).unwrap_or_default();
            let lost = observers.inputs_skipped + observers.events_skipped + observers.files_incomplete;
            row.figures.push(Figure::new("missing in files", lost as f64, "").asked(Asked::AtMost(0.0)));
        }
        before = used;
        row.figures.push(Figure::new("frames of 64 octets", frames_per_second(&results), "frames/s"));
        row.runs.push(run(name, &results, conditions));
    }
    Ok(())
}

/// Which part of a core the data plane used while a bus was measured, in %.
fn plane_time(
    context: &Context<'_>,
    bus: &mut Bus,
    mut offering: Offering,
) -> Result<(f64, Results, Conditions), BenchError> {
    let mut times = Vec::new();
    let measured = bus.measure(context, &mut offering, |bus| {
        let time = cpu_time(bus.plane.pid());
        times.push((Instant::now(), time));
    });
    offering.stop();
    let (results, conditions) = measured?;
    let [(begin, before), (end, after)]: [_; 2] = times.try_into().expect("at the beginning and at the end");
    let (before, after) = (before.map_err(system(READ))?, after.map_err(system(READ))?);
    Ok((percent(after - before, end - begin), results, conditions))
}

const READ: &str = "read a process's processor time";

fn percent(used: Duration, of: Duration) -> f64 {
    100.0 * used.as_secs_f64() / of.as_secs_f64()
}

/// What both processes have used when a measurement begins. This process is the supervisor.
struct Clock {
    begin: Instant,
    plane: Duration,
    supervisor: Duration,
}

impl Clock {
    fn start(bus: &Bus) -> Result<Clock, BenchError> {
        let time = |pid| cpu_time(pid).map_err(system(READ));
        Ok(Clock { plane: time(bus.plane.pid())?, supervisor: time(Pid::this())?, begin: Instant::now() })
    }

    /// Processor time of data plane and supervisor since then, in % of a core.
    fn stop(self, bus: &Bus) -> Result<(f64, f64), BenchError> {
        let (now, elapsed) = (Clock::start(bus)?, self.begin.elapsed());
        Ok((percent(now.plane - self.plane, elapsed), percent(now.supervisor - self.supervisor, elapsed)))
    }
}
