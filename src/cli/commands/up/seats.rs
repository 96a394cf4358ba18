//! Stations that join and leave a lab that is up.
//!
//! A seat belongs to a name for as long as the lab is up: its counters stay in the results after the station has left,
//! and a station that joins again under this name continues them.

use super::addresses_of;
use super::returns::Returns;
use super::serve::Serving;
use live::control::Added;
use live::control::answer::{Answer, RpcError};
use live::lab::{self, INTERFACE, MakeError, existing, namespace_name};
use live::plane::protocol::{Port, Request};
use live::supervisor::SupervisorError;
use medium::{Deed, Place, StationId};
use say::{say, with_causes};
use serde_json::{Map, Value};
use sim::files::event_log::Container;
use sim::scenario::plan::host::Host;
use sim::scenario::plan::{Course, Joining, LabDeed, Plan, StationPlan};

/// The stations of a lab, by seat.
#[derive(Debug)]
pub struct Seats {
    /// Those that are there or were.
    pub(super) course: Course,
    /// How many there can be.
    capacity: usize,
    /// Stations whose containers have ended.
    pub(super) returns: Returns,
}

impl Seats {
    /// Those of the scenario, and free seats.
    pub fn new(plan: &Plan) -> Seats {
        Seats { course: plan.course(), capacity: plan.medium.topology.stations(), returns: Returns::new() }
    }

    /// The number of a station that is there.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.course.position(name)
    }

    /// The names of all that are there or were.
    pub fn names(&self) -> Vec<String> {
        self.course.names().into_iter().map(str::to_owned).collect()
    }

    /// Whether a station with this name, or one without, can join: not at a seat that the timetable, with `joiners` to
    /// come, has for another one.
    fn check(&self, name: Option<&str>, joiners: &[&str]) -> Result<(), RpcError> {
        if let Some(name) = name.filter(|name| self.position(name).is_some()) {
            return Err(RpcError::invalid_params(&format!("add: name: a station is called `{name}` already")));
        }
        let seat = self.course.seat(name);
        if seat >= self.capacity {
            let why = format!(
                "all {} places are taken: a station that was there can join again under its name, and `ethbus up --capacity N` has more",
                self.capacity
            );
            return Err(RpcError::refused(&why));
        }
        let next = joiners.iter().find(|joiner| self.course.seat(Some(joiner)) == self.course.names().len());
        match next.filter(|next| seat == self.course.names().len() && name != Some(**next)) {
            None => Ok(()),
            Some(next) => Err(RpcError::refused(&format!(
                "the next place is for {next}, which joins as the scenario has it: add {next} first, or others after it"
            ))),
        }
    }
}

impl Serving<'_> {
    /// Has a station join at a client's request: it is made, and then put onto the medium.
    pub(super) fn add(&mut self, section: &Map<String, Value>, answer: Answer) -> Result<(), SupervisorError> {
        let joiners = self.schedule.joiners();
        let checked = self.stations.check(section.get("name").and_then(Value::as_str), &joiners);
        let planned = checked.and_then(|()| {
            let deeds = self.plan.adding(section, &self.stations.course);
            deeds.map_err(|error| RpcError::invalid_params(&format!("add: {error}")))
        });
        match planned {
            Ok(deeds) => {
                let seat =
                    deeds.iter().find_map(|deed| if let LabDeed::Join(it) = deed { Some(it.seat) } else { None });
                match self.do_all(deeds)? {
                    Ok(()) => answer.give(&seat.map(|seat| self.added(self.stations.course.station(seat.index())))),
                    Err(why) => answer.refuse(&RpcError::refused(&why)),
                }
            }
            Err(error) => answer.refuse(&error),
        }
        Ok(())
    }

    /// Has a station join; or says why it cannot.
    pub(super) fn join(&mut self, joining: &mut Joining) -> Result<Result<(), String>, SupervisorError> {
        let (seat, station) = (joining.seat.index(), &mut joining.station);
        let port = match self.make(station) {
            Ok(port) => port,
            Err(error) => return Ok(Err(with_causes(&error))),
        };
        self.watchers.join(&station.name);
        self.discards.join(&station.name);
        self.put(seat, station, port, joining.place)?;
        self.offers.knows(seat, station.mac);
        if joining.has_traffic
            && let Err(why) = self.offer(&joining.traffic, &joining.station)
        {
            say(&format!("ethbus: warning: {} offers nothing of what is written: {why}\n", joining.station.name));
        }
        Ok(Ok(()))
    }

    /// Makes a station, and notes it.
    fn make(&mut self, station: &mut StationPlan) -> Result<Port, MakeError> {
        if self.record.has_names() {
            existing::adapt_station(station)?;
        }
        let port = lab::join::make(station, self.plan, self.record)?;
        self.record.join(&port, addresses_of(station))?;
        Ok(port)
    }

    /// Puts a station that has been made onto the medium.
    fn put(
        &mut self,
        seat: usize,
        station: &StationPlan,
        port: Port,
        place: Option<Place>,
    ) -> Result<(), SupervisorError> {
        self.links.join(seat, station, self.record, &port);
        self.plane.ask(Request::Join { station: seat as u16, port, place })?;
        say(&format!("ethbus: {} joins\n", station.name));
        Ok(())
    }

    /// The interface of a station is gone: if it was in a container, the station waits for the container's next start.
    pub(super) fn lose(&mut self, name: &str) {
        if let Some(seat) = self.stations.position(name) {
            let Seats { course, returns, .. } = &mut self.stations;
            returns.wait_for(course.station(seat));
        }
    }

    /// The container of a station has been started again: the station leaves, and joins again in the new namespace.
    pub(super) fn follow(&mut self, name: &str) -> Result<(), SupervisorError> {
        let seat = self.stations.position(name);
        let (Some(seat), true) = (seat, self.stations.returns.forget(name)) else { return Ok(()) };
        let mut station = self.stations.course.station(seat).clone();
        self.plane.leave(StationId::new(seat as u16))?;
        let removed = lab::join::remove(name, self.record).map_err(MakeError::from);
        match removed.and_then(|()| self.make(&mut station)) {
            Ok(port) => self.put(seat, &station, port, None),
            Err(error) => {
                say(&format!("ethbus: {name} does not follow its container yet: {}\n", with_causes(&error)));
                self.stations.returns.wait_for(&station);
                Ok(())
            }
        }
    }

    fn added(&self, station: &StationPlan) -> Added {
        let named = || self.record.has_names().then(|| namespace_name(&self.plan.name, &station.name));
        let (interface, netns) = match &station.host {
            Host::Existing(existing) => (Some(existing.interface.clone()), Some(existing.netns.to_string())),
            Host::Veth => (Some(INTERFACE.to_owned()), named()),
            Host::Tap | Host::Interface(_) | Host::Vxlan(_) => (None, named()),
            Host::Bridge(_) => (None, None),
        };
        // A host that has addresses of its own gets none from the lab.
        let given = station.addresses.iter().filter(|_| !addresses_of(station).is_empty());
        let addresses = given.map(|network| format!("{}/{}", network.address, network.prefix));
        Added {
            name: station.name.clone(),
            mac: station.mac.to_string(),
            addresses: addresses.collect(),
            interface,
            netns,
        }
    }

    /// Has a station leave at a client's request.
    pub(super) fn remove(&mut self, name: &str, answer: Answer) -> Result<(), SupervisorError> {
        let Some(seat) = self.stations.position(name) else {
            answer.refuse(&RpcError::no_station(name));
            return Ok(());
        };
        match self.do_one(LabDeed::Bus(Deed::Remove { station: StationId::new(seat as u16) }))? {
            Ok(_) => self.ask_for(answer),
            Err(what) => {
                answer.refuse(&RpcError::refused(&what));
                Ok(())
            }
        }
    }

    /// Notes what a container engine calls a station's container, or the network that the lab is.
    pub(super) fn label(
        &mut self,
        container: Option<(String, String)>,
        name: String,
        answer: Answer,
    ) -> Result<(), SupervisorError> {
        let noted = match container {
            None => self.record.label_network(&name),
            Some((station, id)) => match self.stations.position(&station) {
                None => {
                    answer.refuse(&RpcError::no_station(&station));
                    return Ok(());
                }
                Some(seat) => {
                    let container = Container { name, id };
                    self.plane.ask(Request::Container(seat as u16, container.clone()))?;
                    self.record.label(&station, container)
                }
            },
        };
        match noted {
            Ok(()) => self.ask_for(answer),
            Err(error) => {
                answer.refuse(&RpcError::refused(&with_causes(&error)));
                Ok(())
            }
        }
    }

    /// Has a station leave: it is taken off the medium, and then removed; or says what could not be removed.
    pub(super) fn leave(&mut self, seat: StationId) -> Result<Result<(), String>, SupervisorError> {
        let name = self.stations.course.station(seat.index()).name.clone();
        self.stations.returns.forget(&name);
        self.plane.leave(seat)?;
        // Its socket would keep the station's namespace.
        self.offers.silence(seat);
        say(&format!("ethbus: {name} leaves\n"));
        let removed = lab::join::remove(&name, self.record);
        let what = |error| format!("{name} is off the medium, but not all of it is removed: {}", with_causes(&error));
        Ok(removed.map_err(what))
    }
}
