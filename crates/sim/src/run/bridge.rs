//! Several buses in virtual time, each a run of its own, and the bridges that join them.
//!
//! ```text
//!   bus front  ══════════════╪══ a frame ends at t ═════╪══════════════════════════╪═══
//!   bus rear   ══════════════╪══════════════════════════╪══ its copy: t + latency ═╪═══
//!                            k·L                    (k+1)·L                    (k+2)·L
//! ```
//! L is the shortest latency. All buses run from k·L to (k+1)·L, none knowing of the others. Then bridges forward what their
//! ports received in this time. A frame received at t ≥ k·L is offered at t + latency ≥ (k+1)·L, so no bus has run the
//! instant of an input: the run is the same as one with all buses in step. Instants are rounded up, from bits to
//! nanoseconds and back, and a bus runs up to the first bit that is not before (k+1)·L; since rounding up keeps the
//! order, t ≥ k·L in bits gives an input that is not before (k+1)·L in bits of any rate.
//!
//! Bridges take frames in order of time, and of port at one instant, whatever thread ran a bus. So results do not depend
//! on the number of threads.

mod address;
mod ear;
mod looks;
mod relay;
mod rounds;

use self::address::{Addresses, Clock};
use self::ear::{Delays, Ear, Heard};
use self::looks::{looks, nanos};
use self::relay::Relay;
use self::rounds::Rounds;
use super::measure::piecewise::Piecewise;
use super::measure::{self, Measured, RunError};
use crate::figures::bridge::{BridgeResults, BridgedResults, CrossingResults, PortResults};
use crate::figures::results::VERSION;
use crate::files::observer::End;
use crate::run::observer::Observer;
use crate::scenario::plan::bridged::Bridged;
use medium::{BitInstant, Event, Frame, Input};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

const NO_PANIC: &str = "no thread panics: a panic ends the process";

/// How often a run asks whether to continue.
const ASKED: u64 = 1000;

/// What a bus is observed by.
#[derive(Debug)]
struct Listening<O>(Ear, O);

impl<O: Observer> Observer for Listening<O> {
    type Error = O::Error;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), O::Error> {
        self.0.input(at, input);
        self.1.input(at, input, octets)
    }

    #[inline]
    fn event(&mut self, event: &Event) -> Result<(), O::Error> {
        self.0.event(event);
        self.1.event(event)
    }

    fn restart(&mut self, run_to: BitInstant, at: BitInstant) -> Result<(), O::Error> {
        self.0.restart();
        self.1.restart(run_to, at)
    }

    fn end(&mut self, end: End) -> Result<(), O::Error> {
        self.1.end(end)
    }
}

/// One bus while it runs.
#[derive(Debug)]
struct Bus<'a, O: Observer> {
    run: Piecewise<'a, Listening<O>>,
    clock: Clock,
    addresses: Addresses,
    failed: Option<RunError<O::Error>>,
}

impl<O: Observer> Bus<'_, O> {
    /// Runs up to `nanos`, or to its end.
    fn run_until(&mut self, nanos: u64) {
        let to = self.clock.bit(nanos).min(self.run.end());
        self.failed = self.failed.take().or_else(|| self.run.run_until(to).err());
    }
}

/// What a run of several buses gave.
#[derive(Debug)]
pub struct BridgedRun {
    /// Each bus, as if it were alone.
    pub buses: Vec<Measured>,
    bridges: Vec<Vec<PortResults>>,
    /// By the bus of the addressee and that of the sender.
    crossed: Vec<Vec<Delays>>,
}

impl BridgedRun {
    /// It was measured to its end.
    pub fn is_whole(&self) -> bool {
        self.buses.iter().all(|bus| bus.whole)
    }

    /// The results of this run alone.
    pub fn results(self, bridged: &Bridged) -> BridgedResults {
        results(bridged, vec![self])
    }

    /// This run and another one of the same buses.
    fn add(&mut self, other: &BridgedRun) {
        let ports = self.bridges.iter_mut().flatten().zip(other.bridges.iter().flatten());
        ports.for_each(|(port, more)| port.add(more));
        let crossed = self.crossed.iter_mut().flatten().zip(other.crossed.iter().flatten());
        crossed.for_each(|(delays, more)| delays.add(more));
    }
}

/// The results of the buses of `bridged` in all `runs` together, and of the bridges between them.
///
/// # Panics
/// There is no run.
pub fn results(bridged: &Bridged, runs: Vec<BridgedRun>) -> BridgedResults {
    let mut buses: Vec<Vec<Measured>> = bridged.buses.iter().map(|_| Vec::with_capacity(runs.len())).collect();
    let mut together: Option<BridgedRun> = None;
    for mut run in runs {
        buses.iter_mut().zip(run.buses.drain(..)).for_each(|(bus, measured)| bus.push(measured));
        match &mut together {
            Some(sum) => sum.add(&run),
            None => together = Some(run),
        }
    }
    let BridgedRun { bridges, crossed, .. } = together.expect("a run");
    let buses = bridged.buses.iter().zip(&buses).map(|(plan, runs)| measure::results(plan, runs));
    let bridges = bridged.bridges.iter().zip(bridges).map(|(bridge, ports)| BridgeResults {
        name: bridge.name.clone(),
        latency_s: bridge.latency.as_secs_f64(),
        ageing_s: bridge.ageing.as_secs_f64(),
        ports,
    });
    let buses = bridged.names.iter().cloned().zip(buses).collect();
    let mut results = BridgedResults {
        version: VERSION,
        name: bridged.name.clone(),
        seed: bridged.seed,
        buses,
        bridges: bridges.collect(),
        crossings: crossings(&bridged.names, &crossed),
    };
    for (bridge, plan) in results.bridges.iter_mut().zip(&bridged.bridges) {
        for (port, plan) in bridge.ports.iter_mut().zip(&plan.ports) {
            let bus = &results.buses[&port.bus];
            port.dropped = bus.stations[plan.station.index()].counter("queue_drops");
        }
    }
    results
}

/// Runs all buses together on up to `threads` threads, each with its observer. `go_on` gets the part that is done, and says
/// whether to continue.
///
/// # Errors
/// A bus whose medium or traffic cannot be made; what its observer could not keep.
pub fn run<O: Observer + Send>(
    bridged: &Bridged,
    observers: Vec<O>,
    threads: usize,
    go_on: impl FnMut(f64) -> bool + Send,
) -> Result<BridgedRun, RunError<O::Error>>
where
    O::Error: Send,
{
    let (addresses, looks) = (Addresses::of(bridged), looks(bridged));
    let buses = bridged.buses.iter().zip(observers).zip(addresses.clone()).enumerate();
    let buses = buses.map(|(number, ((plan, observer), addresses))| {
        let ear = Ear::new(number, bridged.buses.len(), &plan.medium, addresses.clone());
        let (mut run, clock) = (Piecewise::new(plan, Listening(ear, observer))?, Clock(plan.medium.rate));
        if let Some(looks) = &looks {
            run = run.with_looks(&looks.iter().map(|look| clock.bit(*look).get()).collect::<Vec<u64>>());
        }
        Ok(Mutex::new(Bus { run, clock, addresses, failed: None }))
    });
    let buses: Vec<Mutex<Bus<'_, O>>> = buses.collect::<Result<_, RunError<O::Error>>>()?;
    let threads = threads.clamp(1, buses.len());
    let leader = Mutex::new(Leader::new(bridged, &addresses, looks.unwrap_or_default(), go_on));
    let until = AtomicU64::new(leader.lock().expect(NO_PANIC).next(0));
    let work = |bus: usize| buses[bus].lock().expect(NO_PANIC).run_until(until.load(Ordering::Relaxed));
    let meet = || {
        let mut buses: Vec<_> = buses.iter().map(|bus| bus.lock().expect(NO_PANIC)).collect();
        let next = leader.lock().expect(NO_PANIC).meets(until.load(Ordering::Relaxed), &mut buses);
        until.store(next.unwrap_or_default(), Ordering::Relaxed);
        next.is_some()
    };
    Rounds::of(buses.len()).run(threads, work, meet);
    let buses = buses.into_iter().map(|bus| bus.into_inner().expect(NO_PANIC)).collect();
    leader.into_inner().expect(NO_PANIC).finish(bridged, buses)
}

/// What is done between two pieces of time, by one thread while the others wait.
struct Leader<G> {
    relays: Vec<Relay>,
    /// By bridge: the nanoseconds until a frame that it has received is offered.
    latencies: Vec<u64>,
    /// By bridge: its ports' buses and stations.
    ports: Vec<Vec<(usize, medium::StationId)>>,
    /// By number of a port: its bridge.
    bridge_of: Vec<usize>,
    first_port: usize,
    /// The shortest latency.
    window: u64,
    /// Frames before this are not counted.
    begin: u64,
    end: u64,
    heard: Vec<Heard>,
    /// Instants at which all buses look at what is known, the next one first.
    looks: VecDeque<u64>,
    asked: u64,
    go_on: G,
}

impl<G: FnMut(f64) -> bool> Leader<G> {
    fn new(bridged: &Bridged, addresses: &[Addresses], looks: Vec<u64>, go_on: G) -> Leader<G> {
        let latencies: Vec<u64> = bridged.bridges.iter().map(|bridge| nanos(bridge.latency)).collect();
        let stations = bridged.buses.iter().map(|bus| bus.stations.len() - bus.medium.ports.len()).sum();
        let ports: Vec<Vec<_>> =
            bridged.bridges.iter().map(|it| it.ports.iter().map(|port| (port.bus, port.station)).collect()).collect();
        let numbers: usize = stations + ports.iter().map(Vec::len).sum::<usize>();
        let relay = |(bridge, ports): (usize, &Vec<(usize, medium::StationId)>)| {
            let numbers_of_ports = ports.iter().map(|(bus, station)| addresses[*bus].number(*station)).collect();
            Relay::new(nanos(bridged.bridges[bridge].ageing), numbers_of_ports, numbers)
        };
        let end = bridged.run.warmup + bridged.run.duration;
        let bridge_of = (0..ports.len()).flat_map(|bridge| vec![bridge; ports[bridge].len()]).collect();
        Leader {
            relays: ports.iter().enumerate().map(relay).collect(),
            // Buses that nothing joins meet now and then, to be stopped.
            window: latencies.iter().copied().min().unwrap_or(1_000_000),
            latencies,
            ports,
            bridge_of,
            first_port: stations,
            begin: nanos(bridged.run.warmup),
            end: nanos(end),
            heard: Vec::new(),
            looks: looks.into(),
            asked: 0,
            go_on,
        }
    }

    /// All buses have run up to `nanos`: forwards what was received, and gives the end of the next piece; nothing if there
    /// is none.
    fn meets<O: Observer>(&mut self, nanos: u64, buses: &mut [MutexGuard<'_, Bus<'_, O>>]) -> Option<u64> {
        buses.iter_mut().for_each(|bus| self.heard.append(&mut bus.run.observer.0.heard));
        let mut heard = std::mem::take(&mut self.heard);
        heard.sort_by_key(|heard| (heard.at, heard.port));
        heard.drain(..).for_each(|heard| self.forward(&heard, buses));
        self.heard = heard;
        let (ended, failed) = (nanos >= self.end, buses.iter().any(|bus| bus.failed.is_some()));
        if ended || failed || self.is_enough(nanos, buses) || !self.ask(nanos) {
            return None;
        }
        Some(self.next(nanos))
    }

    /// The end of the piece of time that begins at `nanos`.
    fn next(&self, nanos: u64) -> u64 {
        let end = nanos.saturating_add(self.window);
        self.looks.front().map_or(end, |look| end.min(*look))
    }

    /// Whether the run ends here, since the metric is known well enough on each bus on which frames get through.
    fn is_enough<O: Observer>(&mut self, nanos: u64, buses: &mut [MutexGuard<'_, Bus<'_, O>>]) -> bool {
        if self.looks.pop_front_if(|look| *look == nanos).is_none() {
            return false;
        }
        let mut sending = buses.iter().filter(|bus| bus.run.has_sent()).peekable();
        if sending.peek().is_some() && sending.all(|bus| bus.run.is_enough()) {
            return true;
        }
        buses.iter_mut().for_each(|bus| bus.run.go_on());
        false
    }

    /// Whether to continue, asked a thousand times in a run.
    fn ask(&mut self, nanos: u64) -> bool {
        let part = nanos as f64 / self.end as f64;
        if part * (ASKED as f64) < self.asked as f64 {
            return true;
        }
        self.asked += 1;
        (self.go_on)(part)
    }

    fn forward<O: Observer>(&mut self, heard: &Heard, buses: &mut [MutexGuard<'_, Bus<'_, O>>]) {
        let bridge = self.bridge_of[usize::from(heard.port) - self.first_port];
        let relay = &mut self.relays[bridge];
        let port = relay.port(heard.port).expect("the port of this bridge");
        let at = heard.at.saturating_add(self.latencies[bridge]);
        for to in relay.hear(heard.at, port, &heard.frame, heard.at >= self.begin).filter(|to| *to != port) {
            let (bus, station) = self.ports[bridge][to];
            let bus = &mut *buses[bus];
            let destination = bus.addresses.destination(heard.frame.whom);
            let frame = Frame { size: heard.frame.size, destination, tagged: heard.frame.tagged };
            bus.run.offer(bus.clock.bit(at), station, frame);
            bus.run.observer.0.expect(station, heard.frame);
        }
    }

    fn finish<O: Observer>(self, bridged: &Bridged, buses: Vec<Bus<'_, O>>) -> Result<BridgedRun, RunError<O::Error>> {
        let (mut measured, mut ears) = (Vec::new(), Vec::new());
        for bus in buses {
            if let Some(failed) = bus.failed {
                return Err(failed);
            }
            let (run, Listening(ear, _)) = bus.run.finish()?;
            measured.push(run);
            ears.push(ear);
        }
        let mut bridges: Vec<Vec<PortResults>> = self.relays.into_iter().map(|relay| relay.counts).collect();
        for (ports, plan) in bridges.iter_mut().zip(&bridged.bridges) {
            for (port, plan) in ports.iter_mut().zip(&plan.ports) {
                port.bus.clone_from(&bridged.names[plan.bus]);
                port.highest_queue = ears[plan.bus].highest_queue(plan.station);
            }
        }
        Ok(BridgedRun { buses: measured, bridges, crossed: ears.into_iter().map(|ear| ear.crossed).collect() })
    }
}

/// The delays of frames that crossed, for each two buses between which some did.
fn crossings(names: &[String], crossed: &[Vec<Delays>]) -> Vec<CrossingResults> {
    let pairs = (0..names.len()).flat_map(|from| (0..names.len()).map(move |to| (from, to)));
    let crossing = |(from, to): (usize, usize)| {
        let delays = &crossed[to][from];
        let [p50, p99] = delays.histogram.quantiles([0.5, 0.99], delays.longest);
        Some(CrossingResults {
            from: names[from].clone(),
            to: names[to].clone(),
            frames: delays.histogram.total(),
            delay_mean_ns: delays.sum as f64 / delays.histogram.total() as f64,
            delay_p50_ns: p50?,
            delay_p99_ns: p99?,
            delay_max_ns: delays.longest,
        })
    };
    pairs.filter_map(crossing).collect()
}
