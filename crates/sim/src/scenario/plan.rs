//! What a lab or a run will be, wholly checked before anything is made.
//!
//! Here is what a plan has, and the order in which its parts are made; each part has its checks in a file of its own.
//!
//! One file above 500 lines because what a plan has, and the order in which its parts are made, is one list.

mod access;
mod at;
pub mod bridged;
mod clocks;
mod csma_ca;
mod cuts;
mod deed;
pub mod endless;
pub mod host;
pub mod join;
mod kernel;
mod medium;
pub mod offered;
mod planner;
mod plca;
mod ports;
mod run;
mod script;
mod stations;
mod tdma;

pub use crate::settings::overrides::Overrides;
pub use crate::settings::wrong::PlanError;
pub use deed::{Course, Joining, LabDeed};
pub use kernel::KernelPlan;
pub use medium::usual_speed;
pub use stations::{default_address, default_mac};

use self::csma_ca::range_warnings;
use self::endless::Endless;
use self::offered::overload_warning;
use self::planner::Planner;
use self::plca::plca_warnings;
use crate::figures::stacks::Protocol;
use crate::figures::until::Until;
use crate::scenario::file::{
    Network, Reading, Scenario, ScenarioError, SourceText, StationSection, file_text, span, value,
};
use crate::settings::overrides::Written;
use crate::settings::wrong::{FilePlace, Wrong, Wrongs};
use crate::traffic::{Capture, FurtherTraffic, Recorded, TrafficSpec};
use crate::words::MacAddr;
use crate::words::choices::{FanOutChoice, FilterChoice, LinkChoice, Pace};
use crate::words::configuration::slot;
use crate::words::interface::Address;
use crate::words::units::many;
use ::medium::{BitInstant, BitRate, BitTimes, Config, Fault, Method, Place};
use host::Host;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Sections that say where stations are.
const PLACED: [&str; 5] = ["", "medium", "station", "segment", "repeater"];

/// A lab's name unless said otherwise.
pub const DEFAULT_NAME: &str = "ethbus";

/// A lab that can be made.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The lab's name.
    pub name: String,
    /// The medium.
    pub medium: Config,
    /// The stations, in order of station number. After them the medium has seats for those that join.
    pub stations: Vec<StationPlan>,
    /// The names of those that join there by the timetable, in order of their seats.
    pub joiners: Vec<String>,
    /// What is done while the medium runs, in order of time.
    pub changes: Vec<(BitInstant, LabDeed)>,
    /// What each station offers in virtual time; a load is its own.
    pub traffic: Vec<TrafficSpec>,
    /// What stations offer besides: further sources, and frames whose instants are written down.
    pub further: FurtherTraffic,
    /// What the scenario and the command line say: what is done later is read as if it were written there.
    scenario: Arc<Scenario>,
    /// The same as text; nothing of one of several buses.
    pub written: Option<Written>,
    /// The capture files that it names.
    pub replays: Arc<[Capture]>,
    /// How long a run in virtual time is.
    pub run: RunPlan,
    /// How a live bus follows real time.
    pub pace: Pace,
    /// How its frames get to several stations.
    pub fan_out: FanOutChoice,
    /// An interface may be taken even if it carries a default route.
    pub even_default_route: bool,
    /// The stations that they are copied to.
    pub filter: FilterChoice,
    /// Whether their interfaces show that they are off the medium.
    pub link: LinkChoice,
    /// How long a read of the clock lasts in a virtual lab.
    pub clock_cost: Duration,
    /// What is allowed, and perhaps not meant.
    pub warnings: Vec<String>,
    /// The same of a run in virtual time, which has an end.
    pub run_warnings: Vec<String>,
    /// Whose first source is written in the scenario, in order of station: in a live lab the others' is left to programs.
    pub has_traffic: Vec<bool>,
    /// Where the scenario cuts or mends a cable later than at the first instant.
    timed_cut: Option<FilePlace>,
    /// Where the scenario has a station join or leave, or offer something else, or gives an end.
    host_change: Option<FilePlace>,
    /// The scenario says how many stations there can be.
    has_capacity: bool,
    /// The addresses of the stations of all buses, by number, if this bus is one of several and a lab: see
    /// [`Bridged::lab`](bridged::Bridged::lab).
    pub beyond: Arc<[MacAddr]>,
    /// The scenario says how long a slot of TDMA is.
    has_slot: bool,
    /// Where the scenario gives the medium's rate.
    rate_place: Option<FilePlace>,
    /// Where the file names the processor of the data plane.
    processor_place: Option<FilePlace>,
}

/// How long a run in virtual time is, and how often it is repeated.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPlan {
    /// Measured time of each run.
    pub duration: Duration,
    /// Time before it.
    pub warmup: Duration,
    /// Independent runs.
    pub replications: u64,
    /// What ends it before `duration` is over.
    pub until: Option<Until>,
}

impl RunPlan {
    /// Unless said otherwise.
    pub const DEFAULT: RunPlan =
        RunPlan { duration: Duration::from_secs(100), warmup: Duration::from_secs(2), replications: 1, until: None };
    /// The longest run, and the longest warm-up.
    pub const LONGEST: Duration = Duration::from_secs(86_400_000);

    /// The metric that is to be known well, if one is.
    pub fn until_known(&self) -> Option<&Until> {
        self.until.as_ref().filter(|until| !until.is_collapse())
    }

    /// It is to end when infinitely many users have run away.
    pub fn until_collapse(&self) -> bool {
        self.until.as_ref().is_some_and(Until::is_collapse)
    }

    /// What is said of things at these instants that come after the run's end: how many of all that are meant by `what`.
    fn misses(&self, instants: impl ExactSizeIterator<Item = BitInstant>, what: &str, rate: BitRate) -> Option<String> {
        let (all, span) = (instants.len(), self.warmup + self.duration);
        let end = BitInstant::ZERO + BitTimes::within(span, rate);
        let late = instants.filter(|at| *at >= end).count();
        (late > 0)
            .then(|| format!("{late} of {all} {what} after the run's end, which is at {span:?} (warm-up and duration)"))
    }

    /// What is said of `what`, frames that arrive by `last`, if that is in the warm-up.
    fn precedes(&self, last: Duration, what: &str) -> Option<String> {
        (last < self.warmup).then(|| {
            format!(
                "{what} is offered in the warm-up of {:?}, and only frames after it are counted: write `--warmup 0`",
                self.warmup
            )
        })
    }
}

/// One station of a plan.
#[derive(Clone, Debug)]
pub struct StationPlan {
    /// Its name, and that of its interface on the bus's side.
    pub name: String,
    /// Its MAC address.
    pub mac: MacAddr,
    /// Its addresses.
    pub addresses: Vec<Network>,
    /// What its host is.
    pub host: Host,
    /// What is wrong with it from the first instant on.
    pub fault: Option<Fault>,
    /// Its kernel in a virtual lab.
    pub kernel: KernelPlan,
}

impl StationPlan {
    /// The address of its interface.
    pub fn address(&self) -> Address {
        let ipv4 = self.addresses.iter().find_map(|network| match network.address {
            IpAddr::V4(address) => Some(address.octets()),
            IpAddr::V6(_) => None,
        });
        Address { mac: self.mac.octets(), ipv4: ipv4.unwrap_or_default() }
    }
}

/// A cut of the cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutPlan {
    /// Where.
    pub place: Place,
    /// Since when.
    pub from: BitInstant,
    /// Until when, if it is mended at all.
    pub until: Option<BitInstant>,
}

/// Why a scenario file makes no plan.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It cannot be read, or a key or value is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Its values make no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl Plan {
    /// The stations' names, in order of station number, and those of stations that join by the timetable.
    pub fn all_names(&self) -> Vec<String> {
        [&self.station_names()[..], &self.joiners].concat()
    }

    /// Stations' interfaces are watched: frames are filtered by address, or will be.
    pub fn watches(&self) -> bool {
        let is_filter = |deed: &LabDeed| matches!(deed, LabDeed::Filter(FilterChoice::Address));
        self.filter == FilterChoice::Address || self.changes.iter().any(|(_, deed)| is_filter(deed))
    }

    /// Stations' interfaces take every XDP program.
    pub fn takes_xdp(&self) -> bool {
        value(&self.scenario.emulator.xdp).unwrap_or_default()
    }

    /// The stations, as things will be done to them: those of the first instant.
    pub fn course(&self) -> Course {
        Course::new(&self.stations, &self.traffic, self.further.sources.iter().map(|(station, _)| *station))
    }

    /// The stations' names, in order of station number.
    pub fn station_names(&self) -> Vec<String> {
        self.stations.iter().map(|station| station.name.clone()).collect()
    }

    /// What the stations' interfaces are known by, in order of station number; seats have what they would get by themselves.
    pub fn addresses(&self) -> Vec<Address> {
        let stations = self.stations.iter().map(StationPlan::address);
        let seats = (self.stations.len()..self.medium.topology.stations()).map(default_address);
        stations.chain(seats).collect()
    }

    /// What stations' stacks say to each other in virtual time.
    pub fn protocols(&self) -> BTreeSet<Protocol> {
        protocols(&self.traffic, &self.further).collect()
    }

    /// Fits a scenario and the command line together. `drawn_seed` serves where neither gives a seed.
    ///
    /// # Errors
    /// Values out of range, that contradict each other, or that clash between stations.
    pub fn new(
        scenario: &Scenario,
        source: Option<&SourceText>,
        overrides: &Overrides,
        drawn_seed: u64,
    ) -> Result<Plan, PlanError> {
        Planner::new(scenario, source, overrides, &[]).plan(drawn_seed)
    }

    /// Reads the scenario, if there is one, and fits it and the command line together.
    ///
    /// # Errors
    /// As [`Scenario::read`] and [`Plan::new`]: all that is wrong in the file and beside it.
    pub fn read(scenario: Option<&Path>, overrides: &Overrides, drawn_seed: u64) -> Result<Plan, ReadError> {
        let Some(path) = scenario else {
            let plan = Plan::new(&Scenario::default(), None, overrides, drawn_seed)?;
            return Ok(Plan { written: overrides.under(""), ..plan });
        };
        Plan::of_text(path, file_text(path)?, overrides, drawn_seed)
    }

    /// The same from `text`, which is the content of the file `path`.
    ///
    /// # Errors
    /// As [`Plan::read`].
    pub fn of_text(path: &Path, text: String, overrides: &Overrides, drawn_seed: u64) -> Result<Plan, ReadError> {
        Plan::of_reading(Reading::of(path, text), overrides, drawn_seed)
    }

    fn of_reading(reading: Reading, overrides: &Overrides, drawn_seed: u64) -> Result<Plan, ReadError> {
        let planner = Planner::new(&reading.scenario, Some(&reading.source), overrides, &reading.broken);
        if reading.wrongs.is_empty() {
            let written = overrides.under(reading.source.whole());
            return Ok(Plan { written, ..planner.plan(drawn_seed)? });
        }
        let mut wrongs = reading.wrongs;
        if !reading.is_broken
            && let Err(PlanError(more)) = planner.plan(drawn_seed)
        {
            wrongs.extend(more.into_vec());
        }
        Err(ScenarioError::Content(Wrongs::new(wrongs)).into())
    }

    /// The stations with which something is wrong from the first instant on, by number, and what.
    pub fn faults(&self) -> impl Iterator<Item = (u16, Fault)> {
        let numbered = (0..).zip(&self.stations);
        numbered.filter_map(|(number, station)| station.fault.map(|fault| (number, fault)))
    }

    /// The plan of a live bus, whose frames come from programs.
    ///
    /// # Errors
    /// Those of [`require_real_time`](Plan::require_real_time).
    pub fn in_real_time(mut self) -> Result<Plan, PlanError> {
        self.require_real_time()?;
        self.widen_slots();
        Ok(self)
    }

    /// The plan of a lab in virtual time whose frames come from programs.
    ///
    /// # Errors
    /// Slots of TDMA, as written, without room for the frames of programs; stations that join or leave.
    pub fn of_programs(mut self) -> Result<Plan, PlanError> {
        if let Some(place) = &self.host_change {
            let what = "kernels are there from the first instant to the last, and their programs offer the frames: leave `add`, `remove`, `arrivals` and `until` out, and write `plug` and `unplug`, programs in `run`, or `--duration TIME`";
            return Err(Wrong { place: Some(place.clone()), name: "at".to_owned(), what: what.to_owned() }.into());
        }
        self.check_live_slots()?;
        self.widen_slots();
        if self.has_traffic.contains(&true) || self.further != FurtherTraffic::default() {
            let what = "the frames of kernels come from programs, so traffic of the scenario is left out: run it with `ethbus sim`, or leave `[traffic]`, `arrivals` and `[[frame]]` out";
            self.warnings.push(what.to_owned());
        }
        Ok(self)
    }

    /// `root` and `files` of stations count from this folder, that of the scenario's file.
    pub fn count_paths_from(&mut self, folder: &Path) {
        for kernel in self.stations.iter_mut().map(|station| &mut station.kernel) {
            kernel.root = folder.join(&kernel.root);
            kernel.files.iter_mut().for_each(|files| *files = folder.join(&files));
        }
    }

    /// Refuses what only a run in virtual time can do.
    ///
    /// # Errors
    /// More than 100 million bits in a real second; a cable that is cut later than at the first instant, or mended; a
    /// processor that this machine does not have.
    pub fn require_real_time(&self) -> Result<(), PlanError> {
        if let Some(place) = &self.timed_cut {
            let what = "in real time a cable is cut from the first instant on, by an `[[at]]` section, or by `ethbus cut` and `ethbus mend`: leave out `from` and `until`";
            return Err(Wrong { place: Some(place.clone()), name: "cut".to_owned(), what: what.to_owned() }.into());
        }
        let in_virtual_time_only = match self.medium.method {
            Method::Aloha(_) | Method::SlottedAloha(_) => Some("ALOHA"),
            Method::CsmaCa(_) => Some("CSMA/CA"),
            _ => None,
        };
        if let Some(name) = in_virtual_time_only {
            let what = format!(
                "{name} runs in virtual time only: take `csma-cd`, `plca`, `csma` or `tdma`, or run it with `ethbus sim`"
            );
            return Err(PlanError::option("access", what));
        }
        self.check_live_slots()?;
        self.check_processor()?;
        if self.pace.rate(self.medium.rate) <= BitRate::MBIT_100 {
            return Ok(());
        }
        let what = format!(
            "{}: in real time a bus carries up to 100Mbit/s; write `--time-scale 0.1` to slow it down, or run it in virtual time with `ethbus sim`",
            self.medium.rate
        );
        let name = if self.rate_place.is_some() { "rate" } else { "--rate" };
        Err(Wrong { place: self.rate_place.clone(), name: name.to_owned(), what }.into())
    }
}

fn protocols<'a>(traffic: &'a [TrafficSpec], further: &'a FurtherTraffic) -> impl Iterator<Item = Protocol> + use<'a> {
    let specs = traffic.iter().chain(further.sources.iter().map(|(_, spec)| spec));
    specs.filter_map(|spec| spec.arrivals.protocol())
}

/// Late collisions are a thing to study, so a medium that is too long is no error (802.3, 4.2.3.2.3).
fn round_trip_warning(medium: &Config) -> Option<String> {
    let (longest, slot_time) = (medium.topology.longest_distance(), medium.parameters.slot_time);
    let round_trip = longest * 2;
    (medium.method == Method::CsmaCd && round_trip > slot_time).then(|| {
        format!(
            "the longest round trip is {} ({} there, as much back), above slot_time of {}: collisions can be late, and a sender can miss one altogether",
            round_trip, longest, slot_time
        )
    })
}

/// What is allowed, and perhaps not meant.
fn warnings(
    medium: &Config,
    names: &[&str],
    traffic: &[TrafficSpec],
    further: &FurtherTraffic,
    replays: &[Capture],
) -> Vec<String> {
    let own = round_trip_warning(medium).into_iter().chain(plca_warnings(medium, names));
    let own = own.chain(range_warnings(medium, names, traffic, further));
    own.chain(replays.iter().flat_map(|replay| replay_warnings(replay, medium))).collect()
}

/// The same of a run in virtual time.
fn run_warnings(
    run: &RunPlan,
    medium: &Config,
    traffic: &[TrafficSpec],
    further: &FurtherTraffic,
    changes: &[(BitInstant, LabDeed)],
    replays: &[Capture],
) -> Vec<String> {
    let replay = |replay: &Capture| {
        run.precedes(replay.frames().last()?.at, &format!("every frame of {}", replay.path().display()))
    };
    let last = further.frames.iter().map(|frame| frame.at.since(BitInstant::ZERO).at(medium.rate)).max();
    let written = last.and_then(|last| run.precedes(last, "every frame of [[frame]] sections"));
    let late = [
        run.misses(further.frames.iter().map(|frame| frame.at), "[[frame]] sections are offered", medium.rate),
        run.misses(changes.iter().map(|(at, _)| *at), "changes ([[at]] and [[cut]]) come", medium.rate),
    ];
    late.into_iter()
        .chain([written, overload_warning(medium, traffic, further)])
        .flatten()
        .chain(replays.iter().filter_map(replay))
        .collect()
}

/// What the user should know of a capture file.
fn replay_warnings(replay: &Capture, medium: &Config) -> Vec<String> {
    let longest = medium.parameters.max_frame_size.get();
    let too_long = |frame: &&Recorded| frame.size.get() > longest + if frame.tagged { 4 } else { 0 };
    let counts = [
        (replay.unordered(), "whose stamps go back: put in order"),
        (replay.frames().iter().filter(too_long).count(), "above max_frame_size: offered, and discarded"),
    ];
    let warning = |(count, what): (usize, &str)| {
        format!("{} has {} {what}", replay.path().display(), many(count as u64, "frame"))
    };
    let left_out = replay.left_out().map(|(link_type, count)| {
        let (path, packets) = (replay.path().display(), many(count as u64, "packet"));
        format!("{path} has {packets} of link type {link_type} without a whole frame of Ethernet: left out")
    });
    counts.into_iter().filter(|(count, _)| *count > 0).map(warning).chain(left_out).collect()
}

impl Planner<'_> {
    /// The plan, or all that is wrong.
    fn plan(self, drawn_seed: u64) -> Result<Plan, PlanError> {
        self.one_bus()?;
        let plan = self.parts(drawn_seed);
        let found = self.found.into_inner();
        match plan {
            Some(plan) if found.is_empty() => Ok(plan),
            Some(_) | None => Err(PlanError(Wrongs::new(found))),
        }
    }

    /// Every part by itself, so that what is wrong with one does not hide what is wrong with others.
    fn parts(&self, drawn_seed: u64) -> Option<Plan> {
        let name = value(&self.scenario.name).unwrap_or_else(|| DEFAULT_NAME.to_owned());
        // Only the medium knows how long a slot is: what is wrong otherwise is found before.
        let (run, pace) = (self.keep(self.run(BitTimes::new(1), BitRate::MBIT_10)), self.keep(self.pace()));
        let rate = self.keep(self.rate());
        let parameters = rate.and_then(|rate| self.keep(self.parameters(rate)));
        let queue_limit = value(&self.scenario.medium.queue).unwrap_or(Config::DEFAULT_QUEUE_LIMIT);
        let sections = self.keep(self.sections())?;
        let stations = self.if_sound(&["station", ""]).and_then(|()| self.stations(&name, &sections));
        let of_rate = |rate| self.if_sound(&PLACED).and_then(|()| self.keep(self.topology(&sections, rate)));
        let topology = rate.and_then(of_rate);
        let (run, pace, rate, stations) = (run?, pace?, rate?, stations?);
        let joiners = self.keep(self.if_sound(&["at"]).map_or(Ok(vec![]), |()| self.joiners(&stations, rate)))?;
        let seats = self.keep(self.seats(&sections, &joiners))?;
        let seed = value(&self.scenario.seed).unwrap_or(drawn_seed);
        let (topology, parameters) = (join::with_seats(topology?, seats, self.cable(rate)), parameters?);
        let topology = self.keep(self.with_places(topology, &sections, &joiners, rate))?;
        let with_seats = join::and_seats(&sections, &joiners, seats);
        let (method, backoff) =
            self.if_sound(&["access"]).and_then(|()| self.keep(self.method(&with_seats, &parameters, &topology)))?;
        self.keep(self.check_until(&run, &method));
        let clocks_ppm = self.keep(self.clocks(&with_seats, &method))?;
        let config = Config { ports: self.keep(self.ports(&method, seats))?, ..Config::new(rate, topology, seed) };
        let medium = Config { method, backoff, parameters, queue_limit, seats, clocks_ppm, ..config };
        self.keep(medium.check().map_err(|error| self.wrong_medium(&error)))?;
        let run = self.keep(self.run(slot(&medium.method).unwrap_or(medium.parameters.slot_time), medium.rate))?;
        let names: Vec<&str> = stations.iter().map(|station| station.name.as_str()).collect();
        let cuts = self.if_sound(&["cut"]).and_then(|()| self.keep(self.cuts(&names, &medium)));
        let frames = self.if_sound(&["frame"]).and_then(|()| self.keep(self.script(&sections, &names, &medium)));
        self.if_sound(&["traffic"])?;
        let (traffic, sources) = self.keep(self.traffic(&sections, &names, medium.parameters.max_frame_size))?;
        let further = FurtherTraffic { sources, frames: frames? };
        let in_order = |cuts: Vec<CutPlan>| self.deeds_in_order(&stations, &traffic, &further, &medium, &cuts);
        let changes = cuts.and_then(|cuts| self.if_sound(&["at"]).and_then(|()| self.keep(in_order(cuts))));
        let replays = self.keep(self.replays(&sections, &traffic, &further, &stations, &medium))?;
        let told = warnings(&medium, &names, &traffic, &further, &replays).into_iter();
        let (endless, changes) = (Endless::of(&medium, &traffic, &further).is_some(), changes?);
        let end = self.check_end(&run, endless, &traffic, &further);
        self.keep(end.and_then(|()| self.check_endless(endless, &changes)))?;
        let run = self.keep(self.with_end(run, &changes, medium.rate))?;
        Some(Plan {
            run_warnings: run_warnings(&run, &medium, &traffic, &further, &changes, &replays),
            warnings: told.chain(self.unread_plca(&sections, &medium.method)).collect(),
            name,
            stations,
            joiners: joiners.into_iter().map(|(name, _)| name).collect(),
            written: None,
            has_capacity: self.scenario.capacity.is_some(),
            changes,
            traffic,
            further,
            scenario: Arc::new(self.scenario.clone()),
            replays,
            run,
            pace,
            fan_out: value(&self.scenario.emulator.fan_out).unwrap_or_default(),
            filter: value(&self.scenario.emulator.filter).unwrap_or_default(),
            link: value(&self.scenario.emulator.link).unwrap_or_else(|| LinkChoice::of(&medium.topology)),
            medium,
            clock_cost: self.keep(self.clock_cost())?,
            even_default_route: self.overrides.even_default_route,
            has_traffic: self.has_traffic(&sections),
            timed_cut: self.place(self.timed_cut()),
            host_change: self.place(self.host_change()),
            beyond: Arc::default(),
            has_slot: self.scenario.access.slot.is_some(),
            rate_place: self.place(span(&self.scenario.medium.rate)),
            processor_place: self.place(span(&self.scenario.emulator.processor)),
        })
    }

    fn has_traffic(&self, sections: &[StationSection]) -> Vec<bool> {
        let common = self.scenario.traffic.arrivals.is_some();
        let own = |section: &StationSection| section.arrivals.is_some() || !section.source.is_empty();
        sections.iter().map(|section| common || own(section)).collect()
    }
}
