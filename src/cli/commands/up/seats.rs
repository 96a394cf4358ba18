//! Stations that join and leave a lab that is up.
//!
//! A seat belongs to a name for as long as the lab is up: its counters stay in the results after the station has left,
//! and a station that joins again under this name continues them.

use super::addresses_of;
use super::returns::Returns;
use super::serve::Serving;
use crate::live::control::Added;
use crate::live::control::answer::{Answer, RpcError};
use crate::live::lab::{self, INTERFACE, MakeError, existing, namespace_name};
use crate::live::plane::protocol::{Port, Request};
use crate::live::supervisor::SupervisorError;
use crate::show::{say, with_causes};
use serde_json::{Map, Value};
use sim::scenario::plan::host::Host;
use sim::scenario::plan::{Plan, StationPlan};

/// The stations of a lab, by seat.
#[derive(Debug)]
pub struct Seats {
    stations: Vec<Seat>,
    /// How many there can be.
    capacity: usize,
    /// Stations whose containers have ended.
    pub(super) returns: Returns,
}

#[derive(Debug)]
struct Seat {
    station: StationPlan,
    is_there: bool,
}

impl Seats {
    /// Those of the scenario, and free seats.
    pub fn new(plan: &Plan) -> Seats {
        let seat = |station: &StationPlan| Seat { station: station.clone(), is_there: true };
        let (stations, capacity) = (plan.stations.iter().map(seat).collect(), plan.medium.topology.stations());
        Seats { stations, capacity, returns: Returns::new() }
    }

    /// The number of a station that is there.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.stations.iter().position(|seat| seat.is_there && seat.station.name == name)
    }

    /// The names of all that are there or were.
    pub fn names(&self) -> Vec<String> {
        self.stations.iter().map(|seat| seat.station.name.clone()).collect()
    }

    /// The plan of a station that joins, and its seat.
    fn plan(&self, plan: &Plan, section: &Map<String, Value>) -> Result<(usize, StationPlan), RpcError> {
        let name = section.get("name").and_then(Value::as_str);
        if let Some(name) = name.filter(|name| self.position(name).is_some()) {
            return Err(RpcError::invalid_params(&format!("add: name: a station is called `{name}` already")));
        }
        let old = self.stations.iter().position(|seat| Some(seat.station.name.as_str()) == name);
        let seat = old.unwrap_or(self.stations.len());
        if seat >= self.capacity {
            let why = format!(
                "all {} places are taken: a station that was there can join again under its name, and `ethbus up --capacity N` has more",
                self.capacity
            );
            return Err(RpcError::refused(&why));
        }
        let others: Vec<StationPlan> = self.stations.iter().map(|seat| seat.station.clone()).collect();
        let station = plan.joining(section, seat, &others);
        station.map(|station| (seat, station)).map_err(|error| RpcError::invalid_params(&format!("add: {error}")))
    }

    fn take(&mut self, seat: usize, station: StationPlan) {
        let taken = Seat { station, is_there: true };
        match self.stations.get_mut(seat) {
            Some(known) => *known = taken,
            None => self.stations.push(taken),
        }
    }
}

impl Serving<'_> {
    /// Has a station join: it is made, and then put onto the medium.
    pub(super) fn add(&mut self, section: &Map<String, Value>, answer: Answer) -> Result<(), SupervisorError> {
        let (seat, mut station) = match self.stations.plan(self.plan, section) {
            Ok(planned) => planned,
            Err(error) => {
                answer.refuse(&error);
                return Ok(());
            }
        };
        match self.make(&mut station) {
            Ok(port) => {
                self.watchers.join(&station.name);
                self.discards.join(&station.name);
                self.put(seat, &station, port)?;
                answer.give(&self.added(&station));
                self.stations.take(seat, station);
            }
            Err(error) => answer.refuse(&RpcError::refused(&with_causes(&error))),
        }
        Ok(())
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
    fn put(&mut self, seat: usize, station: &StationPlan, port: Port) -> Result<(), SupervisorError> {
        self.links.join(seat, station, self.record, &port);
        self.plane.ask(Request::Join { station: seat as u16, port })?;
        say(&format!("ethbus: {} joins\n", station.name));
        Ok(())
    }

    /// The interface of a station is gone: if it was in a container, the station waits for the container's next start.
    pub(super) fn lose(&mut self, name: &str) {
        if let Some(seat) = self.stations.position(name) {
            let Seats { stations, returns, .. } = &mut self.stations;
            returns.wait_for(&stations[seat].station);
        }
    }

    /// The container of a station has been started again: the station leaves, and joins again in the new namespace.
    pub(super) fn follow(&mut self, name: &str) -> Result<(), SupervisorError> {
        let seat = self.stations.position(name);
        let (Some(seat), true) = (seat, self.stations.returns.forget(name)) else { return Ok(()) };
        let mut station = self.stations.stations[seat].station.clone();
        self.plane.ask(Request::Leave(seat as u16))?;
        let removed = lab::join::remove(name, self.record).map_err(MakeError::from);
        match removed.and_then(|()| self.make(&mut station)) {
            Ok(port) => self.put(seat, &station, port),
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

    /// Has a station leave: it is taken off the medium, and then removed.
    pub(super) fn remove(&mut self, name: &str, answer: Answer) -> Result<(), SupervisorError> {
        let Some(seat) = self.stations.position(name) else {
            answer.refuse(&RpcError::no_station(name));
            return Ok(());
        };
        self.stations.returns.forget(name);
        self.plane.ask(Request::Leave(seat as u16))?;
        self.stations.stations[seat].is_there = false;
        say(&format!("ethbus: {name} leaves\n"));
        match lab::join::remove(name, self.record) {
            Ok(()) => self.ask_for(answer),
            Err(error) => {
                let what = format!("{name} is off the medium, but not all of it is removed: {}", with_causes(&error));
                answer.refuse(&RpcError::refused(&what));
                Ok(())
            }
        }
    }
}
