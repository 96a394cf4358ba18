//! Random runs of every access method, and what is on their media by the reference models of `crates/medium`, which look
//! at every bit time and know no window.
//!
//! One file above 500 lines because the scenarios of one method are read beside those of the others.
#![allow(dead_code, reason = "each test file uses its own part of this module")]
#![allow(clippy::duplicate_mod, reason = "each model has signals of its own")]

#[path = "../../../medium/tests/common/dcf.rs"]
mod dcf;
#[path = "../../../../tests/common/logged.rs"]
mod logged;
#[path = "../../../medium/tests/common/model.rs"]
mod model;
#[path = "../../../medium/tests/common/plca.rs"]
mod plca;
#[path = "../../../medium/tests/common/scenario.rs"]
mod scenario;
#[path = "../../../medium/tests/common/aloha.rs"]
mod slotted;
#[path = "../../../medium/tests/common/tdma.rs"]
mod tdma_model;
#[path = "../../../medium/tests/common/unslotted.rs"]
mod unslotted;

use medium::{
    Aloha, BitInstant, BitTimes, Config, Csma, CsmaCa, Deed, Destination, Event, Fault, Frame, FrameId, Input, Kind,
    Method, Octets, OfdmRate, Persistence, Phy, Plca, Population, Reach, SlottedAloha, StationId, Tdma, Topology,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use scenario::{
    Scenario, any_cable, any_medium, any_policy, any_scenario, any_topology, clocks_off, cut_scenario, faulty_scenario,
    runner, some_capture, standard_config,
};
use sim::files::event_log::{Entry, EventLogReader, Header};
use sim::files::json_lines::LineReader;
use sim::run::view::{Note, View};
use sim::scene::Doing;
use sim::words::sentences::TIED;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;

/// How long a scenario is run.
pub const UNTIL: u64 = 40_000;
/// Cases of each method, unless said otherwise.
pub const CASES: u32 = 40;

/// A signal: sender, name, first bit, and the frame that it is about; none of BEACON and COMMIT.
pub type Key = (usize, String, u64, String);
/// The first bit without it, and which stations it gets to.
pub type Facts = (u64, Vec<bool>);
pub type Signals = BTreeMap<Key, Facts>;
/// What a model gives.
type OnAir = (usize, &'static str, FrameId, u64, u64, Vec<bool>);

/// A run of a scenario: what happened, and what was on its medium by the model.
pub struct Case {
    pub config: Config,
    pub header: Header,
    pub log: String,
    pub entries: Vec<Entry>,
    /// Every event that the model has.
    pub model: Vec<Event>,
    /// Every signal that the model has.
    pub all: Signals,
    /// Those that have ended by the horizon.
    pub truth: Signals,
    /// Signals that are not known to have ended by then are not compared.
    pub horizon: u64,
    /// Whom each frame is for.
    pub destinations: BTreeMap<FrameId, Destination>,
}

pub fn instant(entry: &Entry) -> Option<BitInstant> {
    match entry {
        Entry::Medium(event) => Some(event.at),
        Entry::Deed { at, .. } => Some(*at),
        Entry::Emulator(_) => None,
    }
}

/// The frame of a signal; that of BEACON and COMMIT may not be there yet.
pub fn about(what: &str, frame: String) -> String {
    if ["BEACON", "COMMIT"].contains(&what) { String::new() } else { frame }
}

pub fn name(frame: FrameId) -> String {
    format!("st{}#{}", frame.station.index() + 1, frame.serial)
}

/// A signal of a scene, as the models have it.
pub fn key(one: &sim::scene::Signal) -> Key {
    (one.source.index(), one.name().to_owned(), one.begin.get(), about(one.name(), name(one.frame)))
}

impl Case {
    /// Nothing of a scenario in which a cut falls together with a signal: which of them is first is not a window's affair.
    pub fn new(Scenario { config, inputs }: &Scenario, until: u64) -> Option<Case> {
        config.check().ok()?;
        let (model, signals): (Vec<Event>, Vec<OnAir>) = match &config.method {
            Method::CsmaCd => model::run_and_signals(config, inputs, until),
            Method::SlottedAloha(_) | Method::Tdma(_) if config.has_wrong_clocks() => {
                unslotted::run_and_signals(config, inputs, until)
            }
            Method::SlottedAloha(_) => slotted::run_and_signals(config, inputs, until),
            Method::Tdma(_) => tdma_model::run_and_signals(config, inputs, until),
            Method::Aloha(_) | Method::Csma(_) => unslotted::run_and_signals(config, inputs, until),
            Method::CsmaCa(_) => dcf::run_and_signals(config, inputs, until),
            Method::Plca(_) => plca::run_and_signals(config, inputs, until),
        };
        let cuts: BTreeSet<u64> =
            inputs.iter().filter(|(_, input)| matches!(input, Input::Deed(Deed::Cut(_)))).map(|(at, _)| *at).collect();
        if signals.iter().any(|one| cuts.contains(&one.3)) {
            return None;
        }
        let (_, log, _) = logged::logged(config, inputs, until);
        let mut reader = EventLogReader::new(LineReader::new(log.as_bytes(), "log".to_owned())).expect("a log");
        let header = reader.header().clone();
        let (mut entries, mut destinations) = (Vec::new(), BTreeMap::new());
        while let Some(entry) = reader.next_entry().expect("a whole log") {
            if let Entry::Medium(Event { frame, kind: Kind::Offered { .. }, .. }) = entry {
                destinations.insert(frame, reader.destination().expect("it is told"));
            }
            entries.push(entry);
        }
        let beacons: BTreeSet<u64> = entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Medium(Event { at, kind: Kind::Beacon { .. }, .. }) => Some(at.get()),
                _ => None,
            })
            .collect();
        let longest = config.topology.round_trip().get();
        let last = entries.iter().rev().find_map(instant).map_or(0, BitInstant::get);
        let horizon = until.saturating_sub(3 * longest + 2_000).min(last);
        // A log reports BEACONs after empty cycles later.
        let told = |one: &&OnAir| one.1 != "BEACON" || beacons.contains(&one.3);
        let all: Signals = signals
            .iter()
            .filter(told)
            .map(|(of, what, frame, begin, end, reaches)| {
                ((*of, (*what).to_owned(), *begin, about(what, name(*frame))), (*end, reaches.clone()))
            })
            .collect();
        let truth = all.iter().filter(|(_, (end, _))| *end < horizon).map(|(key, facts)| (key.clone(), facts.clone()));
        let truth = truth.collect();
        Some(Case { config: config.clone(), header, log, entries, model, all, truth, horizon, destinations })
    }

    pub fn stations(&self) -> usize {
        self.config.topology.stations()
    }

    pub fn nanos(&self, at: u64) -> u64 {
        (u128::from(at) * 1_000_000_000 / u128::from(self.config.rate.get())) as u64
    }

    /// From when to when a signal is at a place; none if it does not get there.
    pub fn there(&self, (key, facts): (&Key, &Facts), place: usize) -> Option<(u64, u64)> {
        let (source, place) = (StationId::new(key.0 as u16), StationId::new(place as u16));
        let way = self.config.way(source, BitInstant::new(key.2), place).get();
        facts.1[place.index()].then_some((key.2 + way, facts.0 + way))
    }

    /// The signals that lay over `own` at one of `places`: each of another frame, or a BEACON or COMMIT of another station.
    pub fn met(&self, own: (&Key, &Facts), places: impl Iterator<Item = usize> + Clone) -> BTreeSet<&Key> {
        let is_other = |key: &Key| if key.3.is_empty() { key.0 != own.0.0 } else { key.3 != own.0.3 };
        let meets = |other| {
            let both = |place| self.there(own, place).zip(self.there(other, place));
            places.clone().filter_map(both).any(|((begin, end), (from, to))| begin < to && from < end)
        };
        self.all.iter().filter(|(key, _)| is_other(key)).filter(|other| meets(*other)).map(|(key, _)| key).collect()
    }

    /// Where it matters to a sender without collision detection that its signal is met: at the place of the one station that
    /// it is for, or, if there is none or the signal does not get there, anywhere.
    pub fn matters(&self, own: (&Key, &Facts), frame: FrameId) -> std::ops::Range<usize> {
        match self.destinations.get(&frame) {
            _ if own.0.0 != frame.station.index() => frame.station.index()..frame.station.index() + 1,
            Some(Destination::Station(to)) if to.index() != own.0.0 && own.1.1[to.index()] => {
                to.index()..to.index() + 1
            }
            _ => 0..self.stations(),
        }
    }

    /// Senders notice collisions while they send.
    pub fn detects(&self) -> bool {
        matches!(self.config.method, Method::CsmaCd | Method::Plca(_))
    }

    /// One slot of a backoff, where nothing can move the end of a wait.
    pub fn slot(&self) -> Option<u64> {
        match &self.config.method {
            Method::CsmaCd | Method::Plca(_) => Some(self.config.parameters.slot_time.get()),
            Method::Aloha(own) => Some(own.slot.get()),
            Method::SlottedAloha(own) => Some(own.slot.get()),
            Method::Csma(own) => Some(own.slot.get()),
            Method::Tdma(own) => Some(own.slot.get()),
            Method::CsmaCa(_) => None,
        }
    }

    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Medium(event) => Some(event),
            Entry::Deed { .. } | Entry::Emulator(_) => None,
        })
    }
}

pub fn differs(what: &str, one: &Signals, truth: &Signals) -> Result<(), String> {
    let only = |a: &Signals, b: &Signals| {
        let list: Vec<String> =
            a.iter().filter(|(key, facts)| b.get(*key) != Some(*facts)).map(|one| format!("{one:?}")).collect();
        list.into_iter().take(4).collect::<Vec<_>>().join("\n    ")
    };
    if one == truth {
        return Ok(());
    }
    Err(format!("{what}\n  it has\n    {}\n  the model has\n    {}", only(one, truth), only(truth, one)))
}

/// The log of a run, without a model.
pub fn log_of(Scenario { config, inputs }: &Scenario, until: u64) -> String {
    logged::logged(config, inputs, until).1
}

/// More frames than the medium can carry: each station on a short cable has 20 of them for the next one.
pub fn storm(method: Method, stations: u16) -> Scenario {
    let (rate, length) = match &method {
        Method::CsmaCa(own) => (own.phy.rate(), 9),
        _ => (medium::BitRate::MBIT_10, 22),
    };
    let last = u64::from(stations - 1);
    let positions = (0..=last).map(|place| BitTimes::new(place * length / last)).collect();
    let config = Config::new(rate, Topology::Bus { positions }, 1);
    let offer = |(at, from): (u64, u16)| {
        let frame = Frame::new(Octets::new(64), medium::Destination::Station(StationId::new((from + 1) % stations)));
        (at * 97, Input::Offer { station: StationId::new(from), frame })
    };
    let inputs = (0..20).flat_map(|round| (0..stations).map(move |from| (round, from))).map(offer).collect();
    Scenario { config: Config { method, ..config }, inputs }
}

/// Which frames each station holds.
#[derive(Default)]
struct Queues(BTreeMap<usize, BTreeSet<u64>>);

impl Queues {
    fn take(&mut self, event: &Event) {
        let own = self.0.entry(event.frame.station.index()).or_default();
        match event.kind {
            Kind::Offered { .. } => _ = own.insert(event.frame.serial),
            Kind::Transmitted { .. } | Kind::Discarded { .. } | Kind::QueueDrop => _ = own.remove(&event.frame.serial),
            _ => {}
        }
    }
}

/// How many frames each station holds, after each instant, in nanoseconds, at which one comes or goes.
pub fn queue_lengths(case: &Case) -> BTreeMap<(usize, u64), u64> {
    let (mut queues, mut lengths) = (Queues::default(), BTreeMap::new());
    for event in case.events() {
        let station = event.frame.station.index();
        let before = queues.0.get(&station).map_or(0, BTreeSet::len);
        queues.take(event);
        let now = queues.0.get(&station).map_or(0, BTreeSet::len);
        if now != before {
            lengths.insert((station, case.nanos(event.at.get())), now as u64);
        }
    }
    lengths
}

/// What each station does, by the last event that says so: a derivation beside that of `sim::scene::stations`.
#[derive(Default)]
struct States(BTreeMap<usize, Event>);

impl States {
    fn take(&mut self, event: &Event) {
        let own = event.frame.station.index();
        match event.kind {
            // One further back in the queue says nothing of what the station does.
            Kind::Transmitted { .. } | Kind::Discarded { .. } => {
                self.0.retain(|of, last| *of != own || last.frame != event.frame);
            }
            Kind::Collision { .. } | Kind::Attempt { .. } | Kind::Rts { .. } | Kind::Data { .. } => {
                self.0.insert(own, *event);
            }
            Kind::Defer { .. } | Kind::Backoff { .. } => _ = self.0.insert(own, *event),
            _ => {}
        }
    }

    /// What is shown of a station that holds this many frames fits its last event.
    fn fits(&self, case: &Case, station: usize, held: usize, shown: Doing) -> bool {
        match self.0.get(&station).map(|last| (last.at.get(), last.kind)) {
            None => shown == if held == 0 { Doing::Idle } else { Doing::Ready },
            Some((_, Kind::Defer { .. })) => shown == Doing::Deferring,
            Some((_, Kind::Collision { episode: 0, .. })) => shown == Doing::ToldToWait,
            Some((_, Kind::Collision { .. })) if case.detects() => shown == Doing::Jamming,
            Some((at, Kind::Backoff { slots, .. })) => {
                let by_right_clocks = case.slot().map(|slot| BitInstant::new(at + slots * slot));
                let by_its_clock =
                    || case.config.backoff_end(StationId::new(station as u16), BitInstant::new(at), slots);
                let until = if case.config.has_wrong_clocks() { by_its_clock() } else { by_right_clocks };
                shown == Doing::BackingOff { slots, until }
            }
            Some(_) => shown == Doing::Sending,
        }
    }
}

/// What is wrong with what the view shows of a station, at an instant whose events are all known.
fn state_differs(case: &Case, view: &View, states: &States, station: usize, at: u64) -> Option<String> {
    let shown = view.station(StationId::new(station as u16));
    if case.config.population() == Population::Infinite {
        return None;
    }
    if !states.fits(case, station, shown.queue(), shown.doing) {
        let last = states.0.get(&station);
        return Some(format!("st{} is shown as {:?}, after {last:?}", station + 1, shown.doing));
    }
    let own = |((of, what, begin, _), (end, _)): (&Key, &Facts)| {
        *of == station && ["frame", "RTS"].contains(&what.as_str()) && *begin <= at && at < *end
    };
    let sends = case.all.iter().any(own);
    let is_shown = matches!(shown.doing, Doing::Sending | Doing::Jamming);
    // Elsewhere a station waits for an answer, or PLCA delays what it sends.
    let differs = if case.config.method == Method::CsmaCd { sends != is_shown } else { sends && !is_shown };
    let is_delayed = matches!(case.config.method, Method::Plca(_));
    (differs && !is_delayed && at < case.horizon)
        .then(|| format!("st{} is shown as {:?}, and the model sends: {sends}", station + 1, shown.doing))
}

/// What the live view has of each signal, as time goes on.
pub fn viewed(case: &Case) -> Result<(Signals, Vec<String>), String> {
    let mut view = View::new(Arc::new(case.config.clone()));
    let (mut all, mut sentences, mut queues) = (Signals::new(), Vec::new(), Queues::default());
    let mut states = States::default();
    let limit = case.config.attempt_limit();
    for (place, entry) in case.entries.iter().enumerate() {
        let at = match entry {
            Entry::Medium(event) => {
                view.take(&Note::Event(*event));
                queues.take(event);
                states.take(event);
                let told = view.sentence(event, &case.header.stations).replace(TIED, " ");
                if let Kind::Attempt { attempt, .. } = event.kind {
                    let of = limit.map_or(String::new(), |limit| format!(" of at most {limit}"));
                    let wanted = format!("Attempt {attempt}{of}.");
                    if !told.ends_with(&wanted) {
                        return Err(format!("{told:?} does not end with {wanted:?}"));
                    }
                }
                sentences.push(told);
                event.at
            }
            Entry::Deed { at, deed } => {
                view.take(&Note::Input { at: *at, input: Input::Deed(*deed) });
                *at
            }
            Entry::Emulator(_) => continue,
        };
        for station in 0..case.stations() {
            let held = queues.0.get(&station).map_or(0, BTreeSet::len);
            let shown = view.station(StationId::new(station as u16)).queue();
            if held != shown {
                return Err(format!("at {at:?} st{} holds {held} frames, and the view shows {shown}", station + 1));
            }
        }
        // Within an instant an attempt may still turn out to be an RTS.
        let next = case.entries.get(place + 1).and_then(instant);
        if next == Some(at) {
            continue;
        }
        let wrong = (0..case.stations()).find_map(|own| state_differs(case, &view, &states, own, at.get()));
        if let Some(wrong) = wrong {
            return Err(format!("at {at:?} {wrong}"));
        }
        // A node may still drop a COMMIT that has not begun.
        all.retain(|(_, _, begin, _), _| *begin <= at.get());
        for one in view.signals.iter() {
            let reaches: Vec<bool> =
                (0..case.stations() as u16).map(|to| one.reaches(StationId::new(to), &case.config)).collect();
            let end = one.end.map_or(u64::MAX, BitInstant::get);
            all.insert(key(one), (end, reaches));
        }
    }
    let goes_on = all.iter().find(|((of, _, begin, _), (end, _))| {
        let later = all.keys().any(|(other, _, at, _)| other == of && at > begin && *at < case.horizon);
        *end == u64::MAX && later && case.config.population() == Population::Stations
    });
    if let Some(one) = goes_on {
        return Err(format!("{one:?} goes on while its station sends another signal"));
    }
    all.retain(|_, (end, _)| *end < case.horizon);
    Ok((all, sentences))
}

/// With a port of a bridge where a medium has them, which changes nothing of what is on it, and with radio capture on a bus.
fn bridged_and_captured(Scenario { mut config, mut inputs }: Scenario, number: u32) -> Scenario {
    let capture = some_capture(&config.topology, config.seed);
    match &mut config.method {
        Method::CsmaCd | Method::Plca(_) if number % 4 == 1 => {
            // The queue of a port keeps its length.
            inputs.retain(|(_, input)| !matches!(input, Input::Deed(Deed::Queue { .. })));
            config.ports = vec![config.queue_limit];
        }
        Method::CsmaCd | Method::Plca(_) | Method::SlottedAloha(_) | Method::Tdma(_) => {}
        Method::Aloha(own) => own.capture = capture,
        Method::Csma(own) => own.capture = capture,
        Method::CsmaCa(own) => own.capture = capture,
    }
    Scenario { config, inputs }
}

/// Draws scenarios, and gives each that can be compared to `each`, with its name. In every third the clocks are off; the
/// model of PLCA has such clocks of its own.
fn hold(method: &str, scenarios: impl Strategy<Value = Scenario>, until: u64, each: &mut dyn FnMut(&str, Case)) {
    hold_cases(CASES, method, scenarios, until, each);
}

/// The same with as many cases as `usual` says, unless the environment does.
fn hold_cases(
    usual: u32,
    method: &str,
    scenarios: impl Strategy<Value = Scenario>,
    until: u64,
    each: &mut dyn FnMut(&str, Case),
) {
    let mut runner = runner(usual);
    let (mut kinds, cases) = (BTreeMap::<String, u64>::new(), runner.config().cases);
    for number in 0..cases {
        let drawn = scenarios.new_tree(&mut runner).expect("a scenario").current();
        let mut scenario = bridged_and_captured(drawn, number);
        if number % 3 == 2 && !matches!(scenario.config.method, Method::Plca(_)) {
            scenario = clocks_off(scenario, number.into());
        }
        let Some(case) = Case::new(&scenario, until) else { continue };
        case.truth.keys().for_each(|(_, what, ..)| *kinds.entry(what.clone()).or_default() += 1);
        let clocks = &scenario.config.clocks_ppm;
        each(&format!("{method}, case {number}, clocks {clocks:?}: {scenario:?}"), case);
    }
    println!("{method}: signals {kinds:?}");
    assert!(kinds.get("frame").is_some_and(|frames| *frames > u64::from(cases)), "{kinds:?}");
}

fn with(
    topology: impl Strategy<Value = Topology>,
    method: impl Strategy<Value = Method>,
) -> impl Strategy<Value = Config> {
    (standard_config(topology), method).prop_map(|(config, method)| Config { method, ..config })
}

fn limit() -> impl Strategy<Value = Option<NonZeroU32>> {
    prop_oneof![2 => Just(None), 1 => (1..=20_u32).prop_map(NonZeroU32::new)]
}

fn population() -> impl Strategy<Value = Population> {
    prop_oneof![2 => Just(Population::Stations), 1 => Just(Population::Infinite)]
}

/// Runs of this method.
pub fn csma_cd(each: &mut dyn FnMut(&str, Case)) {
    hold("CSMA/CD", any_scenario(any_medium()), 1 << 20, each);
    hold("CSMA/CD with cuts", cut_scenario(standard_config(any_cable())), 1 << 20, each);
    // Frames are out before their senders hear others, and arrive when what they met is over.
    let far = (3..=6_usize, 700..=1_500_u64).prop_map(|(stations, distance)| Topology::star(stations, distance));
    let method = "CSMA/CD with faults beyond slotTime";
    // In 1 of 60 a late signal has met one that is forgotten if only the gap counts.
    hold_cases(2 * CASES, method, faulty_scenario(standard_config(far)), 1 << 20, each);
}

/// Runs of this method.
pub fn aloha(each: &mut dyn FnMut(&str, Case)) {
    let own = (0..=3_u32, any_policy(), limit(), population(), 100..=900_u64, any::<bool>());
    let own = own.prop_map(|(ack_delay, backoff, attempt_limit, population, slot, holds_sender)| {
        let slot = BitTimes::new(slot);
        Method::Aloha(Aloha { slot, ack_delay, holds_sender, backoff, capture: None, attempt_limit, population })
    });
    hold("ALOHA", cut_scenario(with(any_cable(), own)), UNTIL, each);
}

/// Runs of this method.
pub fn csma(each: &mut dyn FnMut(&str, Case)) {
    let persistence = || {
        prop_oneof![
            Just(Persistence::One),
            Just(Persistence::Non),
            (20_000..=1_000_000_u32).prop_map(Persistence::Millionths),
        ]
    };
    let own = || {
        let own = (0..=3_u32, any_policy(), limit(), population(), 100..=900_u64, persistence(), any::<bool>());
        own.prop_map(|(ack_delay, backoff, attempt_limit, population, slot, persistence, holds_sender)| {
            let slot = BitTimes::new(slot);
            Method::Csma(Csma {
                persistence,
                slot,
                ack_delay,
                holds_sender,
                backoff,
                capture: None,
                attempt_limit,
                population,
            })
        })
    };
    hold("CSMA", faulty_scenario(with(any_topology(), own())), UNTIL, each);
    hold("CSMA with cuts", cut_scenario(with(any_cable(), own())), UNTIL, each);
}

/// Runs of this method.
pub fn slotted_aloha(each: &mut dyn FnMut(&str, Case)) {
    let star = (2..=6_usize, 0..=60_u64).prop_map(|(stations, distance)| Topology::star(stations, distance));
    let config =
        (star, 0..=3_u32, limit(), population(), any::<u64>()).prop_map(|(topology, ack, limit, population, seed)| {
            let way = BitTimes::new(topology.round_trip().get() / 2);
            let mut own = SlottedAloha::new(Octets::new(200), way);
            (own.ack_delay, own.attempt_limit, own.population) = (ack, limit, population);
            Config { method: Method::SlottedAloha(own), ..Config::new(medium::BitRate::MBIT_10, topology, seed) }
        });
    let scenarios = any_scenario(config).prop_map(|Scenario { config, mut inputs }| {
        let fits = |input: &Input| !matches!(input, Input::Offer { frame: Frame { size, .. }, .. } if !(18..=200).contains(&size.get()));
        inputs.retain(|(_, input)| fits(input));
        Scenario { config, inputs }
    });
    hold("slotted ALOHA", scenarios, UNTIL, each);
}

/// Runs of this method.
pub fn tdma(each: &mut dyn FnMut(&str, Case)) {
    let more = proptest::collection::vec((any::<u16>(), any::<usize>()), 0..=5);
    let own = (standard_config(any_cable()), 0..=40_u64, more, 0..=3_u32, limit());
    let config = own.prop_map(|(config, guard, more, ack_delay, attempt_limit)| {
        let stations = config.topology.stations();
        let guard = BitTimes::new(config.topology.round_trip().get() / 2 + guard);
        let mut own = Tdma::new(Octets::new(200), guard, stations);
        (own.ack_delay, own.attempt_limit) = (ack_delay, attempt_limit);
        for (owner, place) in more {
            own.owners.insert(place % (own.owners.len() + 1), StationId::new(owner % stations as u16));
        }
        Config { method: Method::Tdma(own), ..config }
    });
    let scenarios = cut_scenario(config).prop_map(|Scenario { config, mut inputs }| {
        inputs.iter_mut().for_each(|(_, input)| {
            if let Input::Offer { frame, .. } = input {
                frame.size = Octets::new(frame.size.get().clamp(18, 200));
            }
        });
        Scenario { config, inputs }
    });
    hold("TDMA", scenarios, UNTIL, each);
}

/// Runs of this method.
pub fn csma_ca(each: &mut dyn FnMut(&str, Case)) {
    let phy = prop_oneof![3 => Just(Phy::Dsss1), 1 => Just(Phy::Fhss1), 1 => Just(Phy::Ofdm(OfdmRate::Mbps6))];
    let places = proptest::collection::vec(0.0..1.0_f64, 2..=6);
    let own = (phy, places, any::<bool>(), any::<bool>(), 1..=16_u32, 0..=3_u32, any::<u64>());
    let config = own.prop_map(|(phy, places, hidden, rts, window, stages, seed)| {
        let most = (phy.slot().get() - 1) / 2;
        let length = if hidden { 3 * most } else { most };
        let positions: Vec<u64> = places.iter().map(|place| (place * (length + 1) as f64) as u64).collect();
        let mut own = CsmaCa::new(phy, Octets::new(64));
        (own.rts, own.window, own.most_window) = (rts, window, window << stages);
        own.reach = hidden.then(|| Reach { range: most, positions: positions.clone() });
        let topology = Topology::Bus { positions: positions.into_iter().map(BitTimes::new).collect() };
        Config { method: Method::CsmaCa(own), ..Config::new(phy.rate(), topology, seed) }
    });
    hold("CSMA/CA", cut_scenario(config), UNTIL, each);
}

/// Runs of this method. Its model knows no cuts.
pub fn plca(each: &mut dyn FnMut(&str, Case)) {
    let changes = proptest::collection::vec((0..10_000_u64, any::<u16>(), 0..8_u8), 0..=6);
    let scenarios = (any_scenario(plca_config()), changes).prop_map(|(scenario, changes)| {
        let Scenario { config, mut inputs } = fitting(scenario);
        inputs.extend(changes.iter().map(|&(at, station, what)| (at, change(&config, station, what))));
        inputs.sort_by_key(|(at, input)| (*at, input.station()));
        Scenario { config, inputs }
    });
    hold("PLCA", scenarios, UNTIL, each);
}

/// A node leaves, comes back, or gets other settings.
fn change(config: &Config, station: u16, what: u8) -> Input {
    let Method::Plca(plca) = &config.method else { panic!("a medium of PLCA") };
    let station = StationId::new(station % plca.nodes.len() as u16);
    let mut settings = plca.nodes[station.index()].settings;
    match what {
        0..=2 => return Input::Deed(Deed::Unplug { station }),
        3 | 4 => return Input::Deed(Deed::Plug { station }),
        5 => settings.enabled = false,
        6 => settings.burst_count ^= 1,
        _ => {}
    }
    Input::Deed(Deed::Plca { station, settings })
}

fn plca_config() -> impl Strategy<Value = Config> {
    let own = (2..=6_usize, 0..=3_u8, any::<(bool, bool)>(), any::<u64>(), 0..=8_u64);
    own.prop_map(|(nodes, bursts, (faulty, cold_start), seed, far)| {
        let mut plca = Plca { cold_start, ..Plca::right(nodes) };
        plca.nodes.iter_mut().for_each(|node| node.settings.burst_count = bursts);
        if faulty {
            // It knows nothing of turns, and meets others on the line.
            plca.nodes[nodes - 1].settings = medium::PlcaSettings::off();
        }
        let positions = (0..nodes as u64).map(|place| BitTimes::new(place * far / 8)).collect();
        Config {
            method: Method::Plca(plca),
            ..Config::new(medium::BitRate::MBIT_10, Topology::Bus { positions }, seed)
        }
    })
}

/// Without inputs that the model of PLCA does not take.
fn fitting(Scenario { config, mut inputs }: Scenario) -> Scenario {
    let most = config.parameters.max_frame_size.get();
    inputs.retain(|(_, input)| match input {
        Input::Offer { frame, .. } => (18..=most).contains(&frame.size.get()),
        Input::Deed(Deed::Fault { fault, .. }) => *fault != Some(Fault::Babble),
        Input::Deed(Deed::Cut(_)) => false,
        Input::Deed(Deed::Unplug { .. } | Deed::Plug { .. } | Deed::Plca { .. }) => true,
        Input::Deed(Deed::Add { .. } | Deed::Remove { .. } | Deed::Queue { .. }) => true,
    });
    Scenario { config, inputs }
}
