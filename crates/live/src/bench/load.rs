//! Frames of our own raw-socket driver: how many a bus carries, and how late it is.

use super::bus::{BenchError, Bus, Context, Wanted, frames_per_second, real_seconds, run};
use super::machine::{Conditions, Meter};
use super::row::{Asked, Figure, Row, drops};
use super::yardstick::{Pair, Yardstick};
use crate::driver::ETHERTYPE;
use crate::driver::offering::Offering;
use crate::driver::sender::{Sender, Spacing, line_rate, saturating_level};
use crate::lab::INTERFACE;
use link::station::StationSocket;
use medium::{BitRate, Octets};
use sim::figures::results::Results;
use sim::run::measure;
use sim::scenario::plan::Plan;
use sim::traffic::{Arrivals, Every, Load, Sizes, TrafficSpec};
use sim::words::units::group;
use std::time::{Duration, Instant};

const SHORTEST: Octets = Octets::new(64);
const LONGEST: Octets = Octets::new(1518);
/// What each of two senders offers, as a part of what fills the medium alone.
const ABOVE_LINE_RATE: f64 = 1.2;
/// What two stations offer together at 100 Mb/s, in frames a second: a little more than is asked for.
const PACED: f64 = 61_000.0;
/// How long the simulator runs for a figure to compare with, in the medium's time.
const SIMULATED: Duration = Duration::from_secs(60);
/// The medium's time may be stopped for this part of a run that counts as real time, in %.
pub const SLIP_ALLOWED: f64 = 1.0;

/// Two senders, each above line rate, beside the simulator with the same traffic.
///
/// # Errors
/// A bus that cannot be made.
pub fn pairs(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    let rate = BitRate::MBIT_10;
    let wanted = Wanted { queue_limit: Some(saturating_level(rate, SHORTEST) * 4), ..Wanted::silent(4, rate) };
    let mut bus = Bus::start(context, &wanted)?;
    let gap = 1e9 / (ABOVE_LINE_RATE * line_rate(rate, SHORTEST));
    let mut senders = bus.senders(SHORTEST, |_| Spacing::Even(gap))?;
    // Stations 2 and 4 only listen.
    let listeners = [senders.remove(3), senders.remove(1)];
    let mut offering = Offering::paced(senders);
    let measured = bus.measure(context, &mut offering, |_| ());
    offering.stop();
    let (results, conditions) = measured?;
    drop(listeners);
    drop(bus);
    let load = f64::from(8 * SHORTEST.get()) / gap * 1e9 / rate.get() as f64;
    let sender = TrafficSpec {
        arrivals: Arrivals::Periodic {
            every: Every::Load(Load::Rate(load)),
            phase: None,
            jitter: Duration::ZERO,
            frames: 1,
        },
        sizes: Some(Sizes::Fixed(SHORTEST.get())),
        ..TrafficSpec::default()
    };
    let listener = TrafficSpec { arrivals: Arrivals::Silent, ..TrafficSpec::default() };
    let mut plan = wanted.plan(context)?;
    plan.traffic = [&sender, &listener, &sender, &listener].map(TrafficSpec::clone).to_vec();
    let (live, simulated) = (frames_per_second(&results), simulated(context, plan)?);
    let deviation = 100.0 * (live / simulated - 1.0);
    row.figures.push(Figure::new("frames of 64 octets", live, "frames/s"));
    row.figures.push(Figure::new("the simulator, same traffic", simulated, "frames/s"));
    row.figures.push(Figure::new("deviation", deviation, "%").asked(Asked::Within(2.0)));
    row.notes.push(format!(
        "each sender offers {ABOVE_LINE_RATE} times the line rate of {}/s",
        group(line_rate(rate, SHORTEST) as u64)
    ));
    row.runs.push(run("bus", &results, conditions));
    Ok(())
}

/// What the simulator says of a plan, in frames a second.
fn simulated(context: &Context<'_>, mut plan: Plan) -> Result<f64, BenchError> {
    plan.run.duration = SIMULATED;
    let go_on = |_| context.interrupts.is_empty();
    let run = measure::run(&plan, plan.medium.seed, &mut (), go_on);
    let run = run.unwrap_or_else(|error| panic!("a plan that was checked: {error}"));
    if !run.whole {
        return Err(BenchError::Interrupted);
    }
    Ok(frames_per_second(&measure::results(&plan, &[run])))
}

/// Sixteen stations, each saturated with the shortest frames.
///
/// # Errors
/// A bus that cannot be made.
pub fn sixteen(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    full(context, row, 16)
}

/// The same with sixty-four.
///
/// # Errors
/// A bus that cannot be made.
pub fn sixty_four(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    full(context, row, 64)
}

fn full(context: &Context<'_>, row: &mut Row, stations: usize) -> Result<(), BenchError> {
    let rate = BitRate::MBIT_10;
    let (results, conditions) = saturated_at(context, stations, rate, SHORTEST)?;
    let emulator = results.emulator.clone().unwrap_or_default();
    let wanted = Wanted { queue_limit: Some(saturating_level(rate, SHORTEST)), ..Wanted::silent(stations, rate) };
    row.figures.push(Figure::new("drops in the emulator", drops(&emulator) as f64, "").asked(Asked::AtMost(0.0)));
    row.figures.push(Figure::new("slip", slip_percent(&results), "%").asked(Asked::AtMost(SLIP_ALLOWED)));
    row.figures.push(Figure::new("frames of 64 octets", frames_per_second(&results), "frames/s"));
    row.figures.push(Figure::new(
        "the simulator, same traffic",
        simulated(context, wanted.plan(context)?)?,
        "frames/s",
    ));
    row.figures.push(Figure::new(
        "copies delivered",
        emulator.timing.deliveries as f64 / real_seconds(&results),
        "frames/s",
    ));
    lateness(row, &results, None);
    let way = if emulator.copying.fan_out == "kernel" { "copied by the kernel" } else { "sent one by one" };
    row.notes.push(format!("frames are {way} to the stations (`fan_out`: {})", emulator.copying.fan_out));
    row.runs.push(run("bus", &results, conditions));
    Ok(())
}

/// The shortest frames at 100 Mb/s, beside what a veth pair and a bridge take from the same driver.
///
/// # Errors
/// A bus that cannot be made.
pub fn shortest_at_100(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    let rate = BitRate::MBIT_100;
    for stations in [2, 4] {
        let (results, conditions) = saturated_at(context, stations, rate, SHORTEST)?;
        tell_frames(row, &format!("{stations} saturated stations"), &results, conditions);
    }
    let wanted = Wanted { queue_limit: Some(saturating_level(rate, SHORTEST)), ..Wanted::silent(2, rate) };
    let mut bus = Bus::start(context, &wanted)?;
    let mut offering = Offering::paced(bus.senders(SHORTEST, |_| Spacing::Even(2e9 / PACED))?);
    let measured = bus.measure(context, &mut offering, |_| ());
    offering.stop();
    let (results, conditions) = measured?;
    drop(bus);
    tell_frames(row, "2 stations, 61,000/s offered", &results, conditions);
    for yardstick in Yardstick::ALL {
        let pair = Pair::make(context, yardstick)?;
        let meter = Meter::start();
        let frames = flood(context, &pair)?;
        row.runs.push(pair.run(meter));
        row.figures.push(Figure::new(format!("a {}, as fast as it takes them", yardstick.name()), frames, "frames/s"));
    }
    row.notes.push("frames/s are of real time: what the medium's time stood still is in it".to_owned());
    Ok(())
}

fn tell_frames(row: &mut Row, who: &str, results: &Results, conditions: Conditions) {
    let frames = Figure::new(format!("{who}, frames of 64 octets"), frames_per_second(results), "frames/s");
    row.figures.push(frames.asked(Asked::AtLeast(60_000.0)));
    row.figures.push(Figure::new(format!("{who}, slip"), slip_percent(results), "%"));
    row.runs.push(run(who, results, conditions));
}

/// Four stations with the longest frames at 100 Mb/s.
///
/// # Errors
/// A bus that cannot be made.
pub fn longest_at_100(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    let (results, conditions) = saturated_at(context, 4, BitRate::MBIT_100, LONGEST)?;
    lateness(row, &results, Some(Asked::AtMost(10.0)));
    row.figures.push(Figure::new("frames of 1518 octets", frames_per_second(&results), "frames/s"));
    row.runs.push(run("bus", &results, conditions));
    Ok(())
}

/// This number of stations, each saturated with frames of `size`.
fn saturated_at(
    context: &Context<'_>,
    stations: usize,
    rate: BitRate,
    size: Octets,
) -> Result<(Results, Conditions), BenchError> {
    let wanted = Wanted { queue_limit: Some(saturating_level(rate, size)), ..Wanted::silent(stations, rate) };
    saturated(context, &wanted, size)
}

/// A bus whose stations are all saturated with frames of `size`.
///
/// # Errors
/// A bus that cannot be made, or an interrupt.
pub fn saturated(
    context: &Context<'_>,
    wanted: &Wanted<'_>,
    size: Octets,
) -> Result<(Results, Conditions), BenchError> {
    let mut bus = Bus::start(context, wanted)?;
    let mut offering = bus.saturated(size)?;
    bus.measure(context, &mut offering, |_| ())
}

fn lateness(row: &mut Row, results: &Results, asked: Option<Asked>) {
    let Some(emulator) = &results.emulator else { return };
    let p50 = Figure::new("lateness, p50", emulator.timing.lateness_p50_ns as f64 / 1e3, "us");
    row.figures.push(asked.map_or(p50.clone(), |asked| p50.asked(asked)));
    row.figures.push(Figure::new("lateness, p99", emulator.timing.lateness_p99_ns as f64 / 1e3, "us"));
}

/// For how much of a run the medium's time was stopped.
pub fn slip_percent(results: &Results) -> f64 {
    let slip = results.emulator.as_ref().map_or(0, |emulator| emulator.machine.slip_ns);
    100.0 * slip as f64 / 1e9 / real_seconds(results)
}

/// Frames a second that a pair takes from a driver that never waits.
fn flood(context: &Context<'_>, pair: &Pair) -> Result<f64, BenchError> {
    let open = |station| StationSocket::open(station, INTERFACE, ETHERTYPE);
    let (socket, mut receiver) = (open(&pair.stations[0])?, open(&pair.stations[1])?);
    let mut sender = Sender::new(socket, pair.mac, SHORTEST, 0, Spacing::Asked, None);
    let (begin, end) = (Instant::now(), context.short());
    while begin.elapsed() < end {
        sender.fill(64, sender.sent().frames);
        if !context.interrupts.is_empty() {
            return Err(BenchError::Interrupted);
        }
    }
    let seen = receiver.statistics()?;
    Ok((seen.received + seen.dropped) as f64 / begin.elapsed().as_secs_f64())
}
