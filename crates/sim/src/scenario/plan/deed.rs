//! What can be done to a lab or a run while its medium runs: by a timetable, or by a command to a lab that is up. Both are
//! read here, so that they are written alike.

use super::StationPlan;
use super::at::Written;
use super::cuts::some_names;
use super::planner::Planner;
use crate::scenario::file::{AtSection, SourceSection, StationSection, value};
use crate::settings::values::FaultText;
use crate::settings::wrong::PlanError;
use crate::traffic::{Arrivals, LaterTraffic, TrafficError, TrafficSpec};
use crate::words::cable;
use crate::words::choices::{FilterChoice, LinkChoice};
use medium::{BitInstant, Config, Deed, Fault, Joiner, Place, StationId};
use toml::Spanned;

/// What is done.
#[derive(Clone, Debug)]
pub enum LabDeed {
    /// Something is done to the bus: not a station that joins.
    Bus(Deed),
    /// A station joins.
    Join(Box<Joining>),
    /// A station offers something else from now on.
    Traffic(LaterTraffic),
    /// *live*: which stations a frame is copied to.
    Filter(FilterChoice),
    /// *live*: whether interfaces of stations that are off the medium have carrier.
    Link(LinkChoice),
    /// The lab, or the run, ends at this instant of the medium's time.
    Until(BitInstant),
}

impl LabDeed {
    /// What the medium gets.
    pub fn of_bus(&self) -> Option<Deed> {
        match self {
            LabDeed::Bus(deed) => Some(*deed),
            LabDeed::Join(joining) => Some(joining.deed()),
            LabDeed::Traffic(_) | LabDeed::Filter(_) | LabDeed::Link(_) | LabDeed::Until(_) => None,
        }
    }

    /// The station that it is about.
    pub fn station(&self) -> Option<StationId> {
        match self {
            LabDeed::Bus(deed) => deed.station(),
            LabDeed::Join(joining) => Some(joining.seat),
            LabDeed::Traffic(traffic) => Some(StationId::new(traffic.station as u16)),
            LabDeed::Filter(_) | LabDeed::Link(_) | LabDeed::Until(_) => None,
        }
    }

    /// What a station offers by it.
    pub fn traffic(&self) -> Option<&LaterTraffic> {
        match self {
            LabDeed::Join(joining) => Some(&joining.traffic),
            LabDeed::Traffic(traffic) => Some(traffic),
            LabDeed::Bus(_) | LabDeed::Filter(_) | LabDeed::Link(_) | LabDeed::Until(_) => None,
        }
    }
}

/// A station that joins.
#[derive(Clone, Debug)]
pub struct Joining {
    /// Its seat.
    pub seat: StationId,
    /// The station.
    pub station: StationPlan,
    /// What it offers.
    pub traffic: LaterTraffic,
    /// Where it is from now on, if its seat is elsewhere.
    pub place: Option<Place>,
    /// The scenario says what it offers: in a live lab that is otherwise left to programs.
    pub has_traffic: bool,
}

impl Joining {
    /// What the medium gets.
    ///
    /// # Panics
    /// If no station can have its name: the plan has checked that.
    pub fn deed(&self) -> Deed {
        let who = Joiner::new(&self.station.name, self.station.mac.octets());
        let who = who.expect("a name that a station can have");
        Deed::Add { station: self.seat, who: who.at(self.place) }
    }
}

/// The stations of a lab or a run, by seat, as things are done to them.
#[derive(Clone, Debug, Default)]
pub struct Course {
    seats: Vec<Seat>,
    is_cut: bool,
}

/// Who sits there, or has sat there.
#[derive(Clone, Debug)]
struct Seat {
    station: StationPlan,
    is_there: bool,
    offers: TrafficSpec,
    /// The sources that it has had.
    sources: usize,
}

impl Course {
    /// The stations that are there from the first instant on, and what each offers; `further` are the stations of further
    /// sources.
    pub fn new(
        stations: &[StationPlan],
        traffic: &[TrafficSpec],
        further: impl Iterator<Item = usize> + Clone,
    ) -> Course {
        let seat = |(number, (station, offers)): (usize, (&StationPlan, &TrafficSpec))| Seat {
            station: station.clone(),
            is_there: true,
            offers: offers.clone(),
            sources: 1 + further.clone().filter(|of| *of == number).count(),
        };
        Course { seats: stations.iter().zip(traffic).enumerate().map(seat).collect(), is_cut: false }
    }

    /// The number of a station that is there.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.seats.iter().position(|seat| seat.is_there && seat.station.name == name)
    }

    /// The numbers of all that are there.
    fn there(&self) -> impl Iterator<Item = usize> {
        (0..).zip(&self.seats).filter(|(_, seat)| seat.is_there).map(|(number, _)| number)
    }

    /// The names of all that are there or were.
    pub fn names(&self) -> Vec<&str> {
        self.seats.iter().map(|seat| seat.station.name.as_str()).collect()
    }

    /// The station at a seat that was taken once.
    pub fn station(&self, seat: usize) -> &StationPlan {
        &self.seats[seat].station
    }

    /// The stations that are there, without one. A station that has left leaves its addresses to others.
    pub fn others(&self, name: &str) -> Vec<StationPlan> {
        let others = self.seats.iter().filter(|seat| seat.is_there && seat.station.name != name);
        others.map(|seat| seat.station.clone()).collect()
    }

    /// The seat of a station that joins under a name: its own, or the next one.
    pub fn seat(&self, name: Option<&str>) -> usize {
        let own = self.seats.iter().position(|seat| Some(seat.station.name.as_str()) == name);
        own.unwrap_or(self.seats.len())
    }

    /// Takes in what is done.
    pub fn take(&mut self, deed: &LabDeed) {
        match deed {
            LabDeed::Bus(Deed::Remove { station }) => self.seats[station.index()].is_there = false,
            LabDeed::Bus(Deed::Cut(cut)) => self.is_cut = cut.is_some(),
            LabDeed::Bus(_) | LabDeed::Filter(_) | LabDeed::Link(_) | LabDeed::Until(_) => {}
            LabDeed::Join(joining) => {
                let Joining { seat, station, traffic, .. } = &**joining;
                let (station, offers, sources) = (station.clone(), traffic.spec.clone(), traffic.number + 1);
                let taken = Seat { station, is_there: true, offers, sources };
                match self.seats.get_mut(seat.index()) {
                    Some(known) => *known = taken,
                    None => self.seats.push(taken),
                }
            }
            LabDeed::Traffic(traffic) => {
                let seat = &mut self.seats[traffic.station];
                (seat.offers, seat.sources) = (traffic.spec.clone(), traffic.number + 1);
            }
        }
    }
}

/// The keys that say what is done, for messages.
const DONE: &str = "`add`, `remove`, `plug`, `unplug`, `fault`, `plca`, `cut`, `mend = true`, `arrivals`, `queue`, `filter`, `link` and `until`";

impl Planner<'_> {
    /// What a section does, at `at`, to the stations of `course`.
    pub(super) fn deeds(
        &self,
        at: BitInstant,
        section: &Spanned<AtSection>,
        course: &Course,
        medium: &Config,
    ) -> Result<Vec<LabDeed>, PlanError> {
        let given = section.get_ref();
        self.check_keys(section)?;
        let names = course.names();
        if let Some(plca) = &given.plca {
            let missing = "`station` is missing: write whose PLCA it is, like `station = \"st1\"`".to_owned();
            let station = given.station.as_ref().ok_or_else(|| self.at("at", section, missing))?;
            let station = self.present("station", station, course)?;
            return Ok(vec![LabDeed::Bus(self.set_plca(plca, station, medium)?)]);
        }
        if let Some(fault) = &given.fault {
            let faults = self.set_fault(section, fault, given.station.as_ref(), course)?;
            return Ok(faults.into_iter().map(LabDeed::Bus).collect());
        }
        if let Some(arrivals) = &given.arrivals {
            return self.traffic_changes(at, section, &arrivals.get_ref().0, course, medium);
        }
        if let Some(joiner) = &given.add {
            let joining = self.joining_at(at, joiner, course, medium)?;
            let (station, fault) = (joining.seat, joining.station.fault);
            let fault = fault.map(|fault| LabDeed::Bus(Deed::Fault { station, fault: Some(fault) }));
            return Ok([LabDeed::Join(Box::new(joining))].into_iter().chain(fault).collect());
        }
        let deed = if let Some(between) = &given.cut {
            Deed::Cut(Some(self.place_between("cut", section, between.get_ref(), &names, medium)?))
        } else if let Some(station) = &given.plug {
            Deed::Plug { station: self.present("plug", station, course)? }
        } else if let Some(station) = &given.unplug {
            Deed::Unplug { station: self.present("unplug", station, course)? }
        } else if let Some(station) = &given.remove {
            Deed::Remove { station: self.present("remove", station, course)? }
        } else if let Some(limit) = value(&given.queue) {
            Deed::Queue { limit }
        } else if let Some(filter) = value(&given.filter) {
            return Ok(vec![LabDeed::Filter(filter)]);
        } else if let Some(link) = value(&given.link) {
            return Ok(vec![LabDeed::Link(link)]);
        } else if let Some(until) = value(&given.until) {
            return Ok(vec![LabDeed::Until(until.on_medium(medium.rate))]);
        } else {
            Deed::Cut(None)
        };
        self.check_cut(section, deed, course)?;
        Ok(vec![LabDeed::Bus(deed)])
    }

    /// One thing happens in a section, and nothing is beside it that belongs to another.
    fn check_keys(&self, section: &Spanned<AtSection>) -> Result<(), PlanError> {
        let given = section.get_ref();
        let mends = given.mend.as_ref().is_some_and(|mend| *mend.get_ref());
        let stations = [&given.plug, &given.unplug, &given.remove].map(Option::is_some);
        let settings = [given.arrivals.is_some(), given.queue.is_some(), given.until.is_some()];
        let of_hosts = [given.filter.is_some(), given.link.is_some()];
        let others = [given.fault.is_some(), given.cut.is_some(), mends, given.plca.is_some(), given.add.is_some()];
        let all = stations.into_iter().chain(settings).chain(of_hosts).chain(others);
        let size = given.frame_size.as_ref().map(|size| ("frame_size", size.span()));
        let to = given.destination.as_ref().map(|to| ("destination", to.span()));
        if let Some((key, span)) = size.or(to).filter(|_| given.arrivals.is_none()) {
            let what = "it belongs to `arrivals`: write these too, like `arrivals = \"poisson:0.4\"`".to_owned();
            return Err(self.wrong(key, Some(span), what));
        }
        if all.filter(|given| *given).count() != 1 {
            let what = format!("one thing happens in each section: write one of {DONE}");
            return Err(self.at("at", section, what));
        }
        let has_station = given.fault.is_some() || given.plca.is_some() || given.arrivals.is_some();
        if let Some(station) = given.station.as_ref().filter(|_| !has_station) {
            let what =
                "it belongs to `fault`, `plca` and `arrivals`: leave it out, or write `plug`, `unplug` or `remove` with the station's name"
                    .to_owned();
            return Err(self.at("station", station, what));
        }
        Ok(())
    }

    /// A cable has one cut at a time.
    fn check_cut<T>(&self, section: &Spanned<T>, deed: Deed, course: &Course) -> Result<(), PlanError> {
        let Deed::Cut(cut) = deed else { return Ok(()) };
        let what = match (course.is_cut, cut) {
            (true, Some(_)) => {
                "a cable has one cut at a time, and it is cut already then: mend it before, with `mend = true`"
            }
            (false, None) => "the cable is whole then: leave this section out, or cut the cable before",
            (true, None) | (false, Some(_)) => return Ok(()),
        };
        Err(self.at("at", section, what.to_owned()))
    }

    /// A fault of one station, or of all.
    fn set_fault(
        &self,
        section: &Spanned<AtSection>,
        fault: &Spanned<FaultText>,
        station: Option<&Spanned<String>>,
        course: &Course,
    ) -> Result<Vec<Deed>, PlanError> {
        let fault = fault.get_ref().0;
        if let Some(station) = station {
            return Ok(vec![Deed::Fault { station: self.present("station", station, course)?, fault }]);
        }
        let of_all = fault.map(Fault::of_all).transpose();
        let missing = |what| format!("`station` is missing, and {what}: write whose it is, like `station = \"st1\"`");
        let fault = of_all.map_err(|what| self.at("at", section, missing(what)))?;
        let there = course.there().map(|seat| StationId::new(seat as u16));
        Ok(there.map(|station| Deed::Fault { station, fault }).collect())
    }

    /// Other traffic of one station, or of all together.
    fn traffic_changes(
        &self,
        at: BitInstant,
        section: &Spanned<AtSection>,
        arrivals: &Arrivals,
        course: &Course,
        medium: &Config,
    ) -> Result<Vec<LabDeed>, PlanError> {
        let AtSection { station, frame_size, destination, .. } = section.get_ref();
        let (stations, arrivals): (Vec<usize>, Arrivals) = match station {
            Some(station) => (vec![self.present("station", station, course)?.index()], arrivals.clone()),
            None => (course.there().collect(), arrivals.clone().split(course.there().count().max(1))),
        };
        let names = course.names();
        let own = SourceSection {
            frame_size: frame_size.clone(),
            destination: destination.clone(),
            ..SourceSection::default()
        };
        let longest = medium.parameters.max_frame_size;
        let spec = self.source(arrivals, &own, &StationSection::default(), &names, longest)?;
        let deed = |station: usize| {
            let before = &course.seats[station].offers;
            if let Some(protocol) = before.arrivals.protocol() {
                let (name, noun) = (names[station], protocol.noun());
                let what = format!("{name} has {noun}, which lasts as long as the run: leave this out");
                return Err(self.at("arrivals", section, what));
            }
            let spec = TrafficSpec {
                arrivals: spec.arrivals.clone(),
                sizes: if frame_size.is_some() { spec.sizes.clone() } else { before.sizes.clone() },
                destination: if destination.is_some() { spec.destination } else { before.destination },
            };
            let (number, stations) = (course.seats[station].sources, course.seats.len());
            let traffic = LaterTraffic { station, spec, number, stations };
            self.check_traffic(at, section, &traffic, &names, medium)?;
            Ok(LabDeed::Traffic(traffic))
        };
        Self::all(stations.into_iter().map(deed))
    }

    /// Whether a station can have such a source.
    fn check_traffic<T>(
        &self,
        at: BitInstant,
        section: &Spanned<T>,
        traffic: &LaterTraffic,
        names: &[&str],
        medium: &Config,
    ) -> Result<(), PlanError> {
        let name = names.get(traffic.station).copied().unwrap_or("the station");
        if let Arrivals::Replay { .. } = traffic.spec.arrivals {
            let what = "the frames of a capture file begin with the run: write it in `[traffic]` or `[[station]]`, or other arrivals here";
            return Err(self.at("arrivals", section, what.to_owned()));
        }
        if let Some(protocol) = traffic.spec.arrivals.protocol() {
            let noun = protocol.noun();
            let what =
                format!("{noun} begins with the run: write it in `[traffic]` or `[[station]]`, or other arrivals here");
            return Err(self.at("arrivals", section, what));
        }
        // The seed changes draws, never whether there is a source.
        let what = match traffic.source(at, medium, 0) {
            Ok(_) => return Ok(()),
            Err(TrafficError::Range { what, .. }) => format!("{name}: {what}"),
            Err(TrafficError::Destination { to, problem, .. }) => {
                let to = names.get(to).map_or_else(|| to.to_string(), |name| format!("`{name}`"));
                return Err(self.at("destination", section, format!("for {name}, {to} is {problem}")));
            }
            Err(error) => error.to_string(),
        };
        Err(self.at("arrivals", section, what))
    }

    /// A station that joins as the timetable has it.
    fn joining_at(
        &self,
        at: BitInstant,
        section: &Spanned<StationSection>,
        course: &Course,
        medium: &Config,
    ) -> Result<Joining, PlanError> {
        let own = section.get_ref();
        let lab = value(&self.scenario.name).unwrap_or_else(|| super::DEFAULT_NAME.to_owned());
        let name = self.station_name(course.seats.len(), own)?;
        let seat = course.seat(Some(&name));
        if course.position(&name).is_some() {
            let what =
                format!("a station is called `{name}` already then: `remove` it before, or write another `name`");
            return Err(self.at("add", section, what));
        }
        if let Some(known) = course.seats.get(seat)
            && (own.position.is_some() || own.segment.is_some())
        {
            let what = format!("`{}` joins again, at its old place: leave the place out", known.station.name);
            return Err(self.at("add", section, what));
        }
        let mut taken = super::stations::Taken::by(&course.others(&name));
        let station = self.station(&lab, seat, own, &mut taken)?;
        let mut names = course.names();
        if seat == names.len() {
            names.push(&name);
        }
        let spec = self.first_source(own, &names, medium.parameters.max_frame_size)?;
        let number = course.seats.get(seat).map_or(0, |seat| seat.sources);
        let traffic = LaterTraffic { station: seat, spec, number, stations: names.len() };
        self.check_traffic(at, section, &traffic, &names, medium)?;
        let has_traffic = own.arrivals.is_some() || self.scenario.traffic.arrivals.is_some();
        let seat = StationId::new(seat as u16);
        let place = self.place_of_own(section, seat, course, medium)?;
        Ok(Joining { seat, station, traffic, place, has_traffic })
    }

    /// The place that a joining station's section gives it, unless its seat is there.
    fn place_of_own(
        &self,
        section: &Spanned<StationSection>,
        seat: StationId,
        course: &Course,
        medium: &Config,
    ) -> Result<Option<Place>, PlanError> {
        let own = section.get_ref();
        let planned = self.place_in(&self.sections()?, own, medium.rate)?;
        // Seats that are all taken are refused elsewhere.
        let is_seat = seat.index() < medium.topology.stations();
        let Some(place) = planned.filter(|place| is_seat && medium.topology.place(seat) != Some(*place)) else {
            return Ok(None);
        };
        let span = own.place_of("position").or_else(|| own.place_of("segment"));
        if course.is_cut {
            let what = "the cable is cut: mend it before a station joins at a place of its own";
            return Err(self.wrong("position", span, what.to_owned()));
        }
        medium.check_place(place).map_err(|error| self.wrong("position", span, error.to_string()))?;
        Ok(Some(place))
    }

    /// The station that `key` names, if it is there then.
    fn present(&self, key: &str, name: &Spanned<String>, course: &Course) -> Result<StationId, PlanError> {
        let station = self.number(key, name, &course.names())?;
        if course.seats[station.index()].is_there {
            return Ok(station);
        }
        let what = format!("`{}` is not there then: it was removed, so `add` it again before", name.get_ref());
        Err(self.at(key, name, what))
    }

    /// The station that `key` names.
    pub(super) fn number(&self, key: &str, name: &Spanned<String>, names: &[&str]) -> Result<StationId, PlanError> {
        let found = names.iter().position(|known| known == name.get_ref());
        let unknown = || format!("`{}` is no station: write {}", name.get_ref(), some_names(names));
        found.map(|number| StationId::new(number as u16)).ok_or_else(|| self.at(key, name, unknown()))
    }

    /// Halfway between two stations that `key` of `section` names.
    pub(super) fn place_between<T>(
        &self,
        key: &str,
        section: &Spanned<T>,
        between: &[Spanned<String>],
        names: &[&str],
        medium: &Config,
    ) -> Result<Place, PlanError> {
        let [one, other] = between else {
            let what = format!("a cut is between two stations: write `{key} = [\"st1\", \"st2\"]`");
            return Err(self.at(key, section, what));
        };
        let stations = [self.number(key, one, names)?.index(), self.number(key, other, names)?.index()];
        let cut = cable::between(&medium.topology, [one.get_ref(), other.get_ref()], stations);
        cut.map_err(|what| self.at(key, one, what))
    }

    /// A cut or a mend of `[[cut]]`, which is checked already.
    pub(super) fn of_cable(written: &Written) -> Option<LabDeed> {
        written.cut.map(|cut| LabDeed::Bus(Deed::Cut(cut)))
    }
}
