//! Which interface is which station, whose a MAC address is, and who hears whom after how long.

use super::learned::Behind;
use super::protocol::Port;
use medium::{BitTimes, Destination, Joiner, StationId, Topology};
use sim::files::event_log::Container;
use sim::traffic::octets;
use sim::words::choices::PortState;
use std::collections::HashMap;
use std::sync::Arc;

/// The stations' ports.
#[derive(Debug)]
pub struct Ports {
    ports: Vec<Port>,
    /// How many there were as the bus began.
    first: usize,
    by_index: HashMap<u32, StationId>,
    /// The first station of each address.
    by_mac: HashMap<[u8; 6], StationId>,
    behind: Behind,
    /// For each station as a sender: the others by when they hear it.
    hearers: Vec<Vec<Vec<StationId>>>,
    plugs: Vec<Plug>,
    /// The containers that stations are which are there.
    containers: HashMap<StationId, Arc<Container>>,
}

/// What a station must have to be on the medium.
#[derive(Clone, Copy, Debug)]
struct Plug {
    /// Both ends of its link are up.
    link: bool,
    /// No user has detached it.
    attached: bool,
    /// Its interface has vanished.
    gone: bool,
}

impl Ports {
    /// Ports in order of station number.
    pub fn new(ports: Vec<Port>, topology: &Topology) -> Ports {
        let numbered = || (0_u16..).map(StationId::new).zip(&ports);
        let by_index: HashMap<u32, StationId> = numbered().map(|(station, port)| (port.index, station)).collect();
        let by_mac = owners(&ports, &by_index);
        let all: Vec<StationId> = numbered().map(|(station, _)| station).collect();
        let hearers = all.iter().map(|&source| hearers_of(source, &all, topology)).collect();
        let plugs = vec![Plug { link: true, attached: true, gone: false }; ports.len()];
        let containers = HashMap::new();
        Ports { first: ports.len(), ports, by_index, by_mac, behind: Behind::default(), hearers, plugs, containers }
    }

    /// A station joins at the next seat, or takes its old one again; whether there is such a seat.
    pub fn join(&mut self, station: StationId, port: Port, topology: &Topology) -> bool {
        let (index, plug) = (station.index(), Plug { link: true, attached: true, gone: false });
        if index > self.ports.len() || index >= topology.stations() {
            return false;
        }
        self.leave(station);
        self.by_index.insert(port.index, station);
        if index == self.ports.len() {
            self.ports.push(port);
            self.plugs.push(plug);
            let all: Vec<StationId> = (0..self.ports.len() as u16).map(StationId::new).collect();
            self.hearers = all.iter().map(|&source| hearers_of(source, &all, topology)).collect();
        } else {
            (self.ports[index], self.plugs[index]) = (port, plug);
        }
        self.by_mac = owners(&self.ports, &self.by_index);
        true
    }

    /// All stations that are there or were.
    pub fn stations(&self) -> impl Iterator<Item = StationId> + use<> {
        (0..self.ports.len() as u16).map(StationId::new)
    }

    /// Who a station is that has joined since the bus began. The medium knows where.
    pub fn joiner(&self, station: StationId) -> Option<Joiner> {
        let port = self.ports.get(station.index()).filter(|_| station.index() >= self.first)?;
        Joiner::new(&port.name, port.mac)
    }

    /// A station is this container.
    pub fn label(&mut self, station: StationId, container: Arc<Container>) {
        self.containers.insert(station, container);
    }

    /// The container that a station is, if that is known.
    pub fn container(&self, station: StationId) -> Option<&Arc<Container>> {
        self.containers.get(&station)
    }

    /// A station's port is about to vanish.
    pub fn leave(&mut self, station: StationId) {
        self.by_index.retain(|_, known| *known != station);
        self.containers.remove(&station);
        self.by_mac = owners(&self.ports, &self.by_index);
    }

    /// Notes the new state of a station's port; returns whether the station must be on the medium.
    pub fn note(&mut self, station: StationId, state: PortState) -> bool {
        let plug = &mut self.plugs[station.index()];
        plug.gone |= state == PortState::Gone;
        match state {
            PortState::Up => plug.link = true,
            PortState::Down | PortState::Gone => plug.link = false,
            PortState::Attached => plug.attached = true,
            PortState::Detached => plug.attached = false,
        }
        plug.link && plug.attached
    }

    /// Whether a station's interface has vanished, for good.
    pub fn is_gone(&self, station: StationId) -> bool {
        self.plugs[station.index()].gone
    }

    /// The station behind an interface.
    pub fn station(&self, index: u32) -> Option<StationId> {
        self.by_index.get(&index).copied()
    }

    /// The interface of a station.
    pub fn index(&self, station: StationId) -> u32 {
        self.ports[station.index()].index
    }

    /// The station's name.
    pub fn name(&self, station: StationId) -> &str {
        &self.ports[station.index()].name
    }

    /// Notes the sender of a frame, if its station's port leads to unknown hosts.
    pub fn learn(&mut self, source: StationId, octets: &[u8]) {
        let address = octets.get(6..).and_then(<[u8]>::first_chunk::<6>);
        if let Some(&address) =
            address.filter(|address| self.ports[source.index()].outside && !self.by_mac.contains_key(*address))
        {
            self.behind.learn(address, source);
        }
    }

    /// The destination of a frame of `source`: a station of the lab, or one with the host behind it.
    pub fn destination(&self, source: StationId, octets: &[u8]) -> Destination {
        let known = |address: &[u8; 6]| self.by_mac.get(address).copied().or_else(|| self.behind.station(address));
        octets::destination(source, octets, known)
    }

    /// The stations that hear `source`, nearest first; those of one group hear each signal at one instant.
    pub fn hearers(&self, source: StationId) -> &[Vec<StationId>] {
        &self.hearers[source.index()]
    }
}

/// The first station of each address, of those that are there.
fn owners(ports: &[Port], by_index: &HashMap<u32, StationId>) -> HashMap<[u8; 6], StationId> {
    let there = (0..).map(StationId::new).zip(ports);
    let mut owners = HashMap::new();
    for (station, port) in there.filter(|(station, port)| by_index.get(&port.index) == Some(station)) {
        owners.entry(port.mac).or_insert(station);
    }
    owners
}

fn hearers_of(source: StationId, all: &[StationId], topology: &Topology) -> Vec<Vec<StationId>> {
    let mut others: Vec<_> = all.iter().filter(|&&other| other != source).collect();
    // Behind repeaters with jitter, only stations on one segment hear each signal at one instant.
    let segment = |station| topology.place(station).map(|place| place.segment);
    let is_steady = topology.jitter() == BitTimes::ZERO;
    let when = |other: StationId| (topology.distance(source, other), segment(other).filter(|_| !is_steady));
    others.sort_by_key(|&&other| when(other));
    let groups = others.chunk_by(|&&a, &&b| when(a) == when(b));
    groups.map(|group| group.iter().map(|&&station| station).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use medium::{Place, Repeater, Segments};

    fn ports() -> Ports {
        let port = |n: u8| {
            let (name, index, mac) = (format!("st{n}"), 10 + u32::from(n), [2, 0, 0, 0, 0, n]);
            Port { name, index, mac, outside: n == 2, watched: None }
        };
        let positions = [0, 10, 20].map(BitTimes::new).to_vec();
        Ports::new(vec![port(0), port(1), port(2)], &Topology::Bus { positions })
    }

    #[test]
    fn a_frame_is_for_a_station_everyone_or_nobody() {
        let (ports, from) = (ports(), StationId::new(0));
        assert_eq!(ports.destination(from, &[2, 0, 0, 0, 0, 1, 9]), Destination::Station(StationId::new(1)));
        assert_eq!(ports.destination(from, &[0xff; 14]), Destination::All);
        assert_eq!(ports.destination(from, &[0x33, 0x33, 0, 0, 0, 1]), Destination::All);
        assert_eq!(ports.destination(from, &[2, 0, 0, 0, 0, 77]), Destination::Nobody);
        assert_eq!(ports.destination(from, &[2, 0, 0]), Destination::Nobody);
        assert_eq!(ports.destination(from, &[2, 0, 0, 0, 0, 0, 9]), Destination::Nobody);
    }

    #[test]
    fn the_first_of_two_with_one_address_counts_its_frames() {
        let (mut ports, [from, first, second]) = (ports(), [0, 1, 2].map(StationId::new));
        let own = ports.ports[first.index()].mac;
        ports.ports[second.index()].mac = own;
        ports = Ports::new(ports.ports, &Topology::Bus { positions: [0, 10, 20].map(BitTimes::new).to_vec() });
        assert_eq!(ports.destination(from, &own), Destination::Station(first));
        ports.leave(first);
        assert_eq!(ports.destination(from, &own), Destination::Station(second));
        ports.leave(second);
        assert_eq!(ports.destination(from, &own), Destination::Nobody);
    }

    #[test]
    fn what_a_port_to_the_outside_sends_tells_who_is_behind_it() {
        let (mut ports, [inside, other, outside]) = (ports(), [0, 1, 2].map(StationId::new));
        let (stranger, frame_from) = ([2, 0, 0, 0, 0, 77], |mac: [u8; 6]| [[0xff; 6], mac].concat());
        ports.learn(inside, &frame_from(stranger));
        assert_eq!(ports.destination(other, &stranger), Destination::Nobody, "nobody is behind a station of the lab");
        ports.learn(outside, &frame_from(stranger));
        assert_eq!(ports.destination(other, &stranger), Destination::Station(outside));
        assert_eq!(ports.destination(outside, &stranger), Destination::Nobody);
        // A host that uses a station's own address does not get its counters.
        ports.learn(outside, &frame_from([2, 0, 0, 0, 0, 0]));
        assert_eq!(ports.destination(other, &[2, 0, 0, 0, 0, 0]), Destination::Station(inside));
        ports.learn(outside, &[2, 0]);
    }

    #[test]
    fn a_station_is_on_the_medium_if_its_link_is_up_and_nobody_detached_it() {
        let (mut ports, station) = (ports(), StationId::new(1));
        for (state, on) in [
            (PortState::Detached, false),
            (PortState::Down, false),
            (PortState::Up, false),
            (PortState::Attached, true),
            (PortState::Down, false),
            (PortState::Detached, false),
            (PortState::Attached, false),
            (PortState::Up, true),
        ] {
            assert_eq!(ports.note(station, state), on, "{state:?}");
        }
    }

    #[test]
    fn hearers_are_grouped_by_distance_and_leave_the_sender_out() {
        let ports = ports();
        let [a, b, c] = [0, 1, 2].map(StationId::new);
        assert_eq!(ports.hearers(a), [[b], [c]]);
        assert_eq!(ports.hearers(b), [[a, c]]);
    }

    /// st1 and st2 are equally far from st0, and only where the repeaters have no jitter does every signal of st0 come to
    /// both at one instant.
    #[test]
    fn jitter_parts_hearers_on_different_segments() {
        let place = |segment| Place { segment, position: BitTimes::ZERO };
        let hearers = |jitter| {
            let repeater = |other| Repeater {
                delay: BitTimes::new(8),
                jitter: BitTimes::new(jitter),
                ports: vec![place(0), place(other)],
            };
            let places = [0, 1, 2, 2].map(place).to_vec();
            let segments = Segments::new(places, &[repeater(1), repeater(2)]).expect("a tree");
            let all = [0, 1, 2, 3].map(StationId::new);
            hearers_of(all[0], &all, &Topology::Segments(segments)).iter().map(Vec::len).collect::<Vec<_>>()
        };
        assert_eq!(hearers(0), [3]);
        assert_eq!(hearers(4), [1, 2]);
    }
}
