//! A measurement in virtual time: warm-up, the measured time in batches, independent runs, and how far figures can be off.

pub mod piecewise;

use crate::figures::contention;
use crate::figures::delays::{Delays, PackedDelays};
use crate::figures::intervals::{Samples, Tails, intervals};
use crate::figures::metrics::Sums;
use crate::figures::plca::PlcaResults;
use crate::figures::results::{ConfigResults, HalfWidth, MediumResults, Results, RunResults, StationResults, VERSION};
use crate::figures::results::{RanAway, SlottedResults};
use crate::figures::slotted::{self, Edge, SlotSums};
use crate::figures::stacks::{Messages, Protocol, StackSums};
use crate::figures::tcp::TcpSums;
use crate::files::observer::End;
use crate::run::observer::Observer;
use crate::run::simulator::{Change, Simulator};
use crate::scenario::plan::Plan;
use crate::scenario::plan::endless::Endless;
use crate::scenario::plan::offered::part_of_rate;
use crate::traffic::{Arrivals, FurtherTraffic, Sizes, TrafficError, TrafficSpec, all_sources};
use crate::words::configuration::WrittenConfig;
use medium::{BitInstant, BitRate, BitTimes, Config, ConfigError, Deed, Input, Place, PlcaCycles, StationId};
use std::borrow::Cow;

/// Batches of one run: long enough each to be nearly independent, enough of them for a narrow interval.
pub const BATCHES: u64 = 32;
/// Bit times of the shortest measurement that ends because enough is known: 0.84 s at 10 Mb/s, thousands of frames.
const FIRST_LOOK: u64 = 1 << 23;
/// Looks at the clock, and at interrupts, in one batch.
const SLICES: u64 = 32;

/// In this number of slots a channel that runs away gets some thousand frames more, which is soon simulated.
const SLOTS_BETWEEN_LOOKS: u64 = 4096;

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub enum RunError<E> {
    /// The medium cannot be made.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Traffic cannot be had.
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    /// The observer of the run could not continue.
    #[error("{0}")]
    Observer(E),
}

/// What one run gave.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Bits a second.
    rate: u64,
    sums: Sums,
    delays: Delays,
    stations: Vec<StationResults>,
    batches: Vec<MediumResults>,
    /// The delays in each of them; of many runs together those are samples, and these are not kept.
    batched: Option<Vec<PackedDelays>>,
    /// What the batches were worked out from, where they may be joined.
    joinable: Option<Vec<Batch>>,
    /// Of a slotted medium, the sums of each batch; the last one may be cut short.
    slots: Vec<SlotSums>,
    /// Of a slotted medium, the bit times with 0, 1, 2 … backlogged frames.
    spent: Vec<u64>,
    /// Sums of all TCP connections; nothing if there are none.
    tcp: Option<TcpSums>,
    /// Sums of what each station's stacks said; of none if there are none.
    stacks: Vec<StackSums>,
    /// Cycles of a bus with PLCA.
    plca: Option<PlcaCycles>,
    /// Where the cable is cut at the end.
    cut: Option<Place>,
    /// It was measured to its end.
    pub whole: bool,
    /// Infinitely many users ran away, which ended it.
    pub ran_away: Option<BitInstant>,
    /// The longest that a frame had waited at the end with which the medium was not done.
    longest_waiting: Option<BitTimes>,
    /// The end of what was run.
    pub end: BitInstant,
}

/// Runs `plan` once, with `seed`. `go_on` gets the part that is done, and says whether to continue.
///
/// # Errors
/// A plan whose medium or traffic cannot be made; what `observer` could not keep.
pub fn run<O: Observer>(
    plan: &Plan,
    seed: u64,
    observer: &mut O,
    go_on: impl FnMut(f64) -> bool,
) -> Result<Measured, RunError<O::Error>> {
    let (warmup, duration) = spans(plan);
    let begin = BitInstant::new(warmup);
    let simulator = begun(plan, seed, observer)?;
    let mut running = Running { simulator, observer, go_on, all: warmup + duration, piece: u64::MAX };
    if let Some((edge, piece)) = edge(plan) {
        running.simulator.look_out(edge);
        running.piece = piece;
    }
    let mut measured = Measured::nothing(begin, plan.medium.rate);
    measured.joinable = plan.run.until_known().map(|_| Vec::new());
    measured.batched = (plan.run.replications == 1).then(Vec::new);
    let warm = running.advance(0, warmup)?;
    if warm == warmup {
        running.simulator.begin_measurement(begin);
        if warmup > 0 {
            running.observer.restart(before(begin), begin).map_err(RunError::Observer)?;
        }
        running.measure(plan, begin, duration, &mut measured)?;
        measured.delays.add(running.simulator.delays());
    } else if running.simulator.ran_away().is_some() {
        // Nothing comes after it, so the figures are of all the time until then.
        measured.end = BitInstant::new(warm);
        measured.end_batch(&mut running.simulator, BitTimes::new(warm), false);
        measured.delays.add(running.simulator.delays());
    } else {
        // Nothing was measured, so what the warm-up counted is forgotten.
        measured.end = BitInstant::new(warm);
        running.simulator.begin_measurement(measured.end);
    }
    let Running { mut simulator, observer, .. } = running;
    measured.close(plan, &mut simulator);
    observer.end(measured.observed_end()).map_err(RunError::Observer)?;
    Ok(measured)
}

/// Bit times of the warm-up and of the measured time.
fn spans(plan: &Plan) -> (u64, u64) {
    let bits = |span| BitTimes::within(span, plan.medium.rate).get();
    (bits(plan.run.warmup), bits(plan.run.duration).max(1))
}

/// How often the measured time doubles from the first look at what is known to the end; 0 if there is one look, at the end.
fn doublings(plan: &Plan, duration: u64) -> u32 {
    plan.run.until_known().map_or(0, |_| (duration / FIRST_LOOK).max(1).ilog2())
}

/// The simulator at instant 0, with the faults that stations have from there on.
fn begun<O: Observer>(plan: &Plan, seed: u64, observer: &mut O) -> Result<Simulator, RunError<O::Error>> {
    let config = Config { seed, ..plan.medium.clone() };
    let sources = all_sources(&plan.traffic, &plan.further, &plan.replays, &config, seed)?;
    let changes = changes(plan, &config, seed)?;
    let mut simulator = Simulator::with_addresses(config, sources, &plan.addresses(), changes)?;
    for (station, fault) in plan.faults() {
        let input = Input::Deed(Deed::Fault { station: StationId::new(station), fault: Some(fault) });
        simulator.begin_with(input, observer).map_err(RunError::Observer)?;
    }
    Ok(simulator)
}

/// What is done to medium and hosts, as far as a run in virtual time knows it.
fn changes(plan: &Plan, config: &Config, seed: u64) -> Result<Vec<(BitInstant, Change)>, TrafficError> {
    let mut changes = Vec::new();
    for (at, deed) in &plan.changes {
        changes.extend(deed.of_bus().map(|deed| (*at, Change::Input(Input::Deed(deed)))));
        if let Some(traffic) = deed.traffic() {
            changes.push((*at, Change::Traffic(Box::new(traffic.source(*at, config, seed)?))));
        }
    }
    Ok(changes)
}

/// The backlog at which the run has run away, and how many bit times may pass between two looks at it.
fn edge(plan: &Plan) -> Option<(Edge, u64)> {
    let endless = Endless::of(&plan.medium, &plan.traffic, &plan.further)?;
    let edge = endless.edge()?;
    // Whose first passage is measured has passed as soon as he is above.
    let gone = if plan.run.until_collapse() { edge.unstable + 1 } else { edge.gone };
    Some((Edge { gone, ..edge }, endless.slot.get().saturating_mul(SLOTS_BETWEEN_LOOKS)))
}

/// The last instant before `at`.
fn before(at: BitInstant) -> BitInstant {
    BitInstant::new(at.get().saturating_sub(1))
}

/// `number` of `of` parts of `whole`, without overflow.
pub(super) fn part(whole: u64, number: u64, of: u64) -> u64 {
    (u128::from(whole) * u128::from(number) / u128::from(of)) as u64
}

/// A run that can be stopped.
struct Running<'a, O, G> {
    simulator: Simulator,
    observer: &'a mut O,
    go_on: G,
    all: u64,
    /// How many bit times may pass between two looks at whether the channel has run away.
    piece: u64,
}

impl<O: Observer, G: FnMut(f64) -> bool> Running<'_, O, G> {
    /// Runs the measured time, in batches, to its end or until enough is known.
    ///
    /// Each look at what is known comes when the measured time has doubled since the last one: with many looks some would be
    /// at moments that agree by chance. So the batches always are as many, and become twice as long from look to look.
    fn measure(
        &mut self,
        plan: &Plan,
        begin: BitInstant,
        duration: u64,
        measured: &mut Measured,
    ) -> Result<(), RunError<O::Error>> {
        let doublings = doublings(plan, duration);
        let boundary = |batch: u64| begin.get() + part(duration, batch, BATCHES << doublings);
        let mut batches = 0..BATCHES;
        for doubled in 0..=doublings {
            for batch in batches {
                let (from, to) = (boundary(batch << doubled), boundary((batch + 1) << doubled));
                measured.end = BitInstant::new(self.advance(from, to)?);
                let whole = measured.end.get() == to;
                measured.end_batch(&mut self.simulator, measured.end.since(begin), whole);
                if !whole {
                    return Ok(());
                }
            }
            if doubled == doublings || measured.is_enough(plan) {
                break;
            }
            measured.join_batches();
            batches = BATCHES / 2..BATCHES;
        }
        measured.joinable = None;
        Ok(())
    }

    /// Runs from one instant to another, and tells how far it got.
    fn advance(&mut self, from: u64, to: u64) -> Result<u64, RunError<O::Error>> {
        let mut end = from;
        for slice in 1..=SLICES {
            let slice_end = from + part(to - from, slice, SLICES);
            while end < slice_end {
                end = slice_end.min(end.saturating_add(self.piece));
                self.simulator.run_until(BitInstant::new(end), self.observer).map_err(RunError::Observer)?;
                if self.simulator.ran_away().is_some() {
                    return Ok(end);
                }
            }
            if !(self.go_on)(end as f64 / self.all as f64) {
                break;
            }
        }
        Ok(end)
    }
}

/// What a batch is worked out from.
#[derive(Clone, Debug)]
struct Batch {
    sums: Sums,
    delays: PackedDelays,
    /// Octets that programs read from TCP connections, if there are some.
    read: Option<u64>,
}

impl Batch {
    fn results(&self, rate: u64) -> MediumResults {
        let tcp = self.read.map(|octets| TcpSums { octets, ..TcpSums::default() });
        let tcp = tcp.map(|tcp| tcp.results(self.sums.measured(), rate));
        MediumResults { tcp, ..MediumResults::new(&self.sums, self.delays.figures()) }
    }

    /// Neighbours as one.
    fn joined(batches: &[Batch]) -> Batch {
        let delays: Vec<PackedDelays> = batches.iter().map(|batch| batch.delays.clone()).collect();
        let sums = batches.iter().fold(Sums::default(), |sums, batch| sums.and(&batch.sums));
        Batch { sums, delays: PackedDelays::joined(&delays), read: batches.iter().map(|batch| batch.read).sum() }
    }
}

impl Measured {
    /// Its users ran away before the measurement began, so that the figures are of the time from 0 on.
    pub fn ran_away_in_warmup(&self, plan: &Plan) -> bool {
        let begin = BitTimes::within(plan.run.warmup, plan.medium.rate).get();
        self.ran_away.is_some() && self.batches.is_empty() && self.end.get() < begin
    }

    /// The run is over: the figures of its end alone.
    fn close(&mut self, plan: &Plan, simulator: &mut Simulator) {
        self.whole = self.batches.len() as u64 == BATCHES && self.joinable.is_none();
        self.ran_away = simulator.ran_away();
        self.longest_waiting = simulator.longest_waiting(self.end);
        self.stations = StationResults::all(&plan.all_names(), &simulator.snapshot(self.end));
        self.stacks = simulator.stacks().map_or_else(Vec::new, <[StackSums]>::to_vec);
        self.plca = simulator.medium().plca_cycles();
        self.cut = simulator.medium().cut();
    }

    /// The end, as an observer gets it.
    fn observed_end(&self) -> End {
        End { t: self.end.get(), run_to: before(self.end).get() }
    }

    /// It got as far as it can: to its end, or until its users ran away.
    pub fn is_done(&self) -> bool {
        self.whole || self.ran_away.is_some()
    }

    fn nothing(end: BitInstant, rate: BitRate) -> Measured {
        Measured {
            rate: rate.get(),
            sums: Sums::default(),
            delays: Delays::default(),
            stations: Vec::new(),
            batches: Vec::new(),
            batched: None,
            joinable: None,
            slots: Vec::new(),
            spent: Vec::new(),
            tcp: None,
            stacks: Vec::new(),
            plca: None,
            cut: None,
            whole: false,
            ran_away: None,
            longest_waiting: None,
            end,
        }
    }

    /// Its figures as a sample.
    fn figures(&self) -> MediumResults {
        let tcp = self.tcp.map(|tcp| tcp.results(self.sums.measured(), self.rate));
        MediumResults { tcp, ..MediumResults::new(&self.sums, self.delays.packed().figures()) }
    }

    fn end_batch(&mut self, simulator: &mut Simulator, measured: BitTimes, whole: bool) {
        let sums = simulator.sums(measured);
        let read = |tcp: Option<TcpSums>| tcp.map_or(0, |tcp| tcp.octets);
        let before = read(std::mem::replace(&mut self.tcp, simulator.all_tcp()));
        let delays = simulator.move_batch_to(&mut self.delays);
        self.slots.extend(simulator.take_slots(self.end));
        contention::add(&mut self.spent, &simulator.take_spent());
        if whole {
            let read = self.tcp.map(|tcp| tcp.octets - before);
            let batch = Batch { sums: sums.since(&self.sums), delays, read };
            self.batches.push(batch.results(self.rate));
            self.batched.as_mut().into_iter().for_each(|all| all.push(batch.delays.clone()));
            if let Some(all) = &mut self.joinable {
                all.push(batch);
            }
        }
        self.sums = sums;
    }

    /// Makes one batch of each two.
    fn join_batches(&mut self) {
        let Some(joinable) = &mut self.joinable else { return };
        *joinable = joinable.chunks(2).map(Batch::joined).collect();
        self.batched = Some(joinable.iter().map(|batch| batch.delays.clone()).collect());
        self.batches = joinable.iter().map(|batch| batch.results(self.rate)).collect();
        self.slots =
            self.slots.chunks(2).map(|pair| pair.iter().copied().fold(SlotSums::default(), SlotSums::and)).collect();
    }

    /// Whether the metric that the plan names is known well enough.
    fn is_enough(&self, plan: &Plan) -> bool {
        let until = plan.run.until_known();
        until.is_some_and(|until| until.results(&results(plan, std::slice::from_ref(self))).reached)
    }
}

/// What runs on a slotted medium came to, with half-widths; on another, nothing.
fn add_slotted(medium: &mut MediumResults, runs: &[Measured], edge: Option<Edge>) {
    let sum = |run: &Measured| run.slots.iter().copied().reduce(SlotSums::and);
    let of_runs: Vec<SlotSums> = runs.iter().filter_map(sum).collect();
    let Some(all) = of_runs.iter().copied().reduce(SlotSums::and) else { return };
    let mut spent = Vec::new();
    runs.iter().for_each(|run| contention::add(&mut spent, &run.spent));
    let longest = runs.iter().filter_map(|run| run.longest_waiting).max();
    let slots = runs.iter().filter_map(|run| Some(run.ran_away?.get() / all.slot().get())).collect();
    medium.slotted = Some(SlottedResults {
        longest_waiting_bt: longest.map(BitTimes::get),
        ran_away: edge.and_then(|edge| RanAway::of(edge.unstable, slots)),
        ..all.results().with_distribution(&spent)
    });
    let half = medium.slotted.as_ref().and_then(|slotted| slotted.ran_away.as_ref()?.half_width());
    if let Some(intervals) = &mut medium.ci95 {
        match runs {
            [one] => slotted::add_half_widths(intervals, &one.slots[..one.batches.len()], false),
            _ => slotted::add_half_widths(intervals, &of_runs, true),
        }
        intervals.half_widths.extend(half.map(|half| (slotted::RAN_AWAY.to_owned(), HalfWidth::Number(half))));
    }
}

/// What stacks said to each other in all runs of `plan`, all together and by the station that began.
fn add_stacks(medium: &mut MediumResults, stations: &mut [StationResults], plan: &Plan, runs: &[Measured]) {
    let (Some(rate), measured) = (runs.first().map(|run| run.rate), runs.iter().map(|run| run.sums.measured()).sum())
    else {
        return;
    };
    let mut all = StackSums::default();
    for (index, station) in stations.iter_mut().enumerate() {
        let mut own = StackSums::default();
        runs.iter().filter_map(|run| run.stacks.get(index)).for_each(|sums| own.add(sums));
        station.tcp = (own.tcp != TcpSums::default()).then(|| own.tcp.results(measured, rate));
        station.ping = (own.ping != Messages::default()).then(|| own.ping.ping());
        station.udp = (own.udp != Messages::default()).then(|| own.udp.udp(measured, rate));
        all.add(&own);
    }
    let protocols = plan.protocols();
    let has = |protocol: Protocol| protocols.contains(&protocol);
    medium.tcp = has(Protocol::Tcp).then(|| all.tcp.results(measured, rate));
    medium.ping = has(Protocol::Ping).then(|| all.ping.ping());
    medium.udp = has(Protocol::Udp).then(|| all.udp.udp(measured, rate));
}

/// The results of all runs of `plan` together; of none, nothing was counted.
pub fn results(plan: &Plan, runs: &[Measured]) -> Results {
    let sums = runs.iter().fold(Sums::default(), |sums, run| sums.and(&run.sums));
    let mut delays = Delays::default();
    runs.iter().for_each(|run| delays.add(&run.delays));
    let mut stations = runs.first().map_or_else(Vec::new, |run| run.stations.clone());
    for run in runs.iter().skip(1) {
        stations.iter_mut().zip(&run.stations).for_each(|(station, more)| station.add(more));
    }
    if runs.len() > 1 {
        let of_stations = delays.of_stations(stations.len());
        for (station, [access, mac]) in stations.iter_mut().zip(of_stations) {
            (station.access_delay, station.mac_delay) = (Some(access), Some(mac));
        }
    }
    let mut medium = MediumResults::new(&sums, delays.results());
    medium.take_in(delays.contention());
    let cycles = runs.iter().filter_map(|run| run.plca).reduce(PlcaCycles::and);
    medium.plca = cycles.as_ref().map(|cycles| PlcaResults::new(cycles, delays.longest_frame()));
    medium.cut = runs.first().and_then(|run| run.cut);
    add_stacks(&mut medium, &mut stations, plan, runs);
    let of_runs: Vec<MediumResults>;
    let samples = match runs {
        [] => None,
        [one] => Some(Samples::Batches(&one.batches)),
        _ => {
            let whole = runs.iter().filter(|run| run.whole);
            of_runs = whole.map(Measured::figures).collect();
            // That of one run's length: over all runs together shares would be more even.
            let fairness: Vec<f64> = of_runs.iter().filter_map(|run| run.fairness).collect();
            medium.fairness = (!fairness.is_empty()).then(|| fairness.iter().sum::<f64>() / fairness.len() as f64);
            Some(Samples::Runs(&of_runs))
        }
    };
    let parts = match runs {
        [one] => Cow::Borrowed(one.batched.as_deref().unwrap_or_default()),
        _ => runs.iter().filter(|run| run.whole).map(|run| run.delays.packed()).collect(),
    };
    let tails = Tails { samples: parts, whole: delays.packed() };
    medium.ci95 = samples.map(|samples| intervals(samples, Some(&tails), &medium, &sums, &plan.medium));
    add_slotted(&mut medium, runs, edge(plan).map(|(edge, _)| edge));
    let mut config = ConfigResults::new(&WrittenConfig::from(&plan.medium), &plan.name);
    config.run = Some(run_results(plan));
    let mut results = Results {
        version: VERSION,
        config,
        seed: plan.medium.seed,
        measured_bit_times: sums.measured,
        medium,
        stations,
        emulator: None,
        plan: None,
        programs: Vec::new(),
    };
    results.fit_places();
    let until = plan.run.until_known().map(|until| until.results(&results));
    results.config.run.iter_mut().for_each(|run| run.until = until.clone());
    results
}

/// The settings of the run, and the traffic of each station in words; one text if all have the same.
fn run_results(plan: &Plan) -> RunResults {
    let Plan { run, traffic, further, .. } = plan;
    let source = |spec: &TrafficSpec| {
        if spec.arrivals.protocol().is_some() || matches!(spec.arrivals, Arrivals::Silent | Arrivals::Replay { .. }) {
            return spec.arrivals.to_string();
        }
        let sizes = spec.sizes.as_ref().map_or_else(|| Sizes::DEFAULT.to_string(), Sizes::to_string);
        format!("{} of {sizes} octets", spec.arrivals)
    };
    let station = |(number, first): (usize, &TrafficSpec)| {
        let others = further.sources.iter().filter(|(station, _)| *station == number).map(|(_, spec)| source(spec));
        let scripted = further.frames.iter().filter(|frame| frame.station == number).count();
        let scripted = (scripted > 0).then(|| format!("{scripted} frames as written"));
        std::iter::once(source(first)).chain(others).chain(scripted).collect::<Vec<_>>().join(" and ")
    };
    let same = traffic.windows(2).all(|pair| pair[0] == pair[1]) && *further == FurtherTraffic::default();
    let texts = traffic.iter().enumerate().take(if same { 1 } else { traffic.len() }).map(station).collect();
    RunResults {
        duration_s: run.duration.as_secs_f64(),
        warmup_s: run.warmup.as_secs_f64(),
        until: None,
        replications: run.replications,
        traffic: texts,
        offered_load: part_of_rate(plan),
    }
}
