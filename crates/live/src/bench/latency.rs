//! Round trips over a bus as it is, over one with `latency = "low"`, over a veth pair and a kernel bridge: in turns
//! within one run, so that other work of the machine affects all of them alike.

use super::bus::{BenchError, Bus, Context, Wanted, run, system};
use super::echo::{self, Echo, Ends, Trips};
use super::machine::{Conditions, Meter};
use super::row::{Asked, Figure, Row, Run};
use super::yardstick::{Pair, Yardstick};
use link::process::cpu_time;
use medium::BitRate;
use sim::words::choices::LatencyChoice;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// With 10 ms between echoes the way through the kernel is cold each time, as it is for most programs; with 2 ms it is not.
const INTERVAL: Duration = Duration::from_millis(10);
const SHORT_INTERVAL: Duration = Duration::from_millis(2);
/// How often each has its turn.
const ROUNDS: u32 = 5;
const PARTS: [f64; 3] = [0.5, 0.9, 0.99];

/// The station that answers echoes, and the round trips.
struct Subject {
    name: String,
    echo: Echo,
    bus: Option<Bus>,
    /// Keeps what joins its stations, if there is no bus.
    _pair: Option<Pair>,
    /// What the medium alone takes for a round trip, in microseconds.
    ideal: f64,
    /// In its turn the processors are kept from sleeping deeply.
    keeps_awake: bool,
    trips: Trips,
    /// The data plane's time on a processor, and the time in which echoes were sent.
    used: Duration,
    asked: Duration,
}

/// Echoes at 10 Mb/s, each 10 ms, and each 2 ms.
///
/// # Errors
/// A bus that cannot be made.
pub fn at_10(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    let rate = BitRate::MBIT_10;
    let mut subjects = subjects(context, rate)?;
    let conditions = in_turns(context, &mut subjects, INTERVAL, context.duration)?;
    let asked = [Some(([30.0, 60.0, 200.0], 2.5)), Some(([20.0, 35.0, 100.0], 8.0)), None, None];
    for (subject, asked) in subjects.iter().zip(asked) {
        tell(row, subject, "", asked);
    }
    beside(row, &subjects);
    row.runs = subjects.iter_mut().map(|subject| subject.run(conditions.clone())).collect::<Result<_, _>>()?;
    subjects.iter_mut().for_each(Subject::forget);
    in_turns(context, &mut subjects, SHORT_INTERVAL, context.short())?;
    subjects.iter().for_each(|subject| tell(row, subject, ", an echo each 2 ms", None));
    row.notes.push(format!(
        "{} above the ideal of {:.0} us, from the call that sends to the kernel's stamp of the answer; {ROUNDS} turns each",
        "a bus's times are",
        ideal(rate)
    ));
    Ok(())
}

/// Echoes at 100 Mb/s, each 2 ms.
///
/// # Errors
/// A bus that cannot be made.
pub fn at_100(context: &Context<'_>, row: &mut Row) -> Result<(), BenchError> {
    let mut subjects = subjects(context, BitRate::MBIT_100)?;
    let conditions = in_turns(context, &mut subjects, SHORT_INTERVAL, context.duration)?;
    for subject in &subjects {
        tell(row, subject, "", None);
    }
    if let Some(figure) = row.figures.iter_mut().find(|figure| figure.name.starts_with("low, p50")) {
        *figure = figure.clone().asked(Asked::AtMost(12.0));
    }
    row.runs = subjects.iter_mut().map(|subject| subject.run(conditions.clone())).collect::<Result<_, _>>()?;
    Ok(())
}

/// Two frames with preamble and SFD, in microseconds.
fn ideal(rate: BitRate) -> f64 {
    2.0 * 8.0 * (echo::OCTETS + 8) as f64 / rate.get() as f64 * 1e6
}

fn subjects(context: &Context<'_>, rate: BitRate) -> Result<Vec<Subject>, BenchError> {
    let mut subjects = Vec::new();
    for choice in [LatencyChoice::Normal, LatencyChoice::Low] {
        subjects.push(on_a_bus(context, rate, choice)?);
    }
    for yardstick in Yardstick::ALL {
        let pair = Pair::make(context, yardstick)?;
        let ends = Ends { from: pair.from, to: pair.address, mac: pair.mac };
        let echo = Echo::open(&pair.stations[0], ends)?;
        let subject = Subject::new(yardstick.name(), echo, None, 0.0);
        subjects.push(Subject { _pair: Some(pair), ..subject });
    }
    Ok(subjects)
}

fn on_a_bus(context: &Context<'_>, rate: BitRate, choice: LatencyChoice) -> Result<Subject, BenchError> {
    let bus = Bus::start(context, &Wanted { latency: choice, ..Wanted::ip(2, rate) })?;
    let address = |station: usize| match bus.plan.stations[station].addresses[0].address {
        IpAddr::V4(address) => address,
        IpAddr::V6(_) => unreachable!("a bench's first addresses are IPv4"),
    };
    let ends = Ends { from: address(0), to: address(1), mac: bus.plan.stations[1].mac };
    let echo = Echo::open(&bus.segment.stations[0], ends)?;
    let name = match choice {
        LatencyChoice::Normal => "normal",
        LatencyChoice::Low => "low",
    };
    Ok(Subject::new(name, echo, Some(bus), ideal(rate)))
}

impl Subject {
    fn new(name: &str, echo: Echo, bus: Option<Bus>, ideal: f64) -> Subject {
        let (trips, used, asked) = (Trips::default(), Duration::ZERO, Duration::ZERO);
        let mut subject =
            Subject { name: name.to_owned(), echo, bus, _pair: None, ideal, keeps_awake: false, trips, used, asked };
        subject.keeps_awake = subject.bus.as_mut().is_some_and(|bus| bus.plane.let_sleep());
        subject
    }

    fn turn(&mut self, context: &Context<'_>, interval: Duration, duration: Duration) -> Result<(), BenchError> {
        let pid = self.bus.as_ref().map(|bus| bus.plane.pid());
        let time = || pid.map_or(Ok(Duration::ZERO), cpu_time).map_err(system("read a process's processor time"));
        if let Some(bus) = self.bus.as_mut().filter(|_| self.keeps_awake) {
            bus.plane.awaken();
        }
        let done = self.measured_turn(context, interval, duration, time);
        if let Some(bus) = self.bus.as_mut() {
            // It would keep them awake for the others too.
            self.keeps_awake |= bus.plane.let_sleep();
        }
        done
    }

    fn measured_turn(
        &mut self,
        context: &Context<'_>,
        interval: Duration,
        duration: Duration,
        time: impl Fn() -> Result<Duration, BenchError>,
    ) -> Result<(), BenchError> {
        let mut warm = Trips::default();
        self.echo.ask(context, interval, 5 * interval, &mut warm)?;
        let (begin, before) = (Instant::now(), time()?);
        self.echo.ask(context, interval, duration, &mut self.trips)?;
        self.used += time()?.saturating_sub(before);
        self.asked += begin.elapsed();
        Ok(())
    }

    fn forget(&mut self) {
        (self.trips, self.used, self.asked) = (Trips::default(), Duration::ZERO, Duration::ZERO);
    }

    fn percent(&self) -> f64 {
        100.0 * self.used.as_secs_f64() / self.asked.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    fn above(&self) -> [f64; 3] {
        self.trips.quantiles(PARTS).map(|micros| micros - self.ideal)
    }

    fn run(&mut self, conditions: Conditions) -> Result<Run, BenchError> {
        match &mut self.bus {
            Some(bus) => Ok(run(self.name.clone(), &bus.plane.report()?, conditions)),
            None => Ok(Run { name: self.name.clone(), conditions, emulator: None }),
        }
    }
}

fn in_turns(
    context: &Context<'_>,
    subjects: &mut [Subject],
    interval: Duration,
    duration: Duration,
) -> Result<Conditions, BenchError> {
    let meter = Meter::start();
    for _ in 0..ROUNDS {
        for subject in &mut *subjects {
            subject.turn(context, interval, duration / ROUNDS)?;
        }
    }
    Ok(meter.stop())
}

fn tell(row: &mut Row, subject: &Subject, what: &str, asked: Option<([f64; 3], f64)>) {
    let (name, above) = (&subject.name, subject.above());
    for (place, part) in ["p50", "p90", "p99"].into_iter().enumerate() {
        let figure = Figure::new(format!("{name}, {part}{what}"), above[place], "us");
        row.figures.push(asked.map_or(figure.clone(), |(most, _)| figure.asked(Asked::AtMost(most[place]))));
    }
    if subject.bus.is_some() {
        let figure = Figure::new(format!("{name}, data plane{what}"), subject.percent(), "% of a core");
        row.figures.push(asked.map_or(figure.clone(), |(_, most)| figure.asked(Asked::AtMost(most))));
    }
    let (count, lost) = (subject.trips.count(), subject.trips.lost);
    if lost > 0 {
        row.notes.push(format!("{name}{what}: {lost} of {} echoes did not come back", count as u64 + lost));
    }
}

/// What the bus adds to what the machine takes anyway.
fn beside(row: &mut Row, subjects: &[Subject]) {
    let [normal, low, _, bridge] = subjects else { return };
    for bus in [normal, low] {
        let beyond = bus.above()[0] - bridge.above()[0];
        row.figures.push(Figure::new(format!("{}, p50 above the bridge's", bus.name), beyond, "us"));
    }
}
