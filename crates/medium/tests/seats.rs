//! A seat is a station that is off the medium from the first instant on; a join and a leave are an attach and a detach.

use medium::{
    BitInstant, BitRate, BitTimes, Config, Csma, Deed, Destination, Event, Frame, Input, Joiner, Medium, Method,
    Octets, Place, Plca, Repeater, Segments, StationId, Tdma, Topology,
};

const STATIONS: u16 = 5;
const SEATS: usize = 3;

/// Every method that a live bus can have.
fn methods() -> [Method; 4] {
    let size = Octets::new(1518);
    [
        Method::CsmaCd,
        Method::Csma(Csma::new(size)),
        Method::Tdma(Tdma::new(size, BitTimes::new(20), STATIONS.into())),
        Method::Plca(Plca { cold_start: true, ..Plca::right(STATIONS.into()) }),
    ]
}

/// Numbers that only look random: the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Frames of all stations, and joins and leaves of those at seats.
fn inputs(seed: u64) -> Vec<(BitInstant, Input)> {
    let (mut numbers, mut at) = (Numbers(seed), 0);
    let who = Joiner::new("late", [2, 0, 0, 0, 0, 9]).expect("a name");
    let input = |_| {
        at += numbers.below(3_000);
        let station = StationId::new(numbers.below(STATIONS.into()) as u16);
        let seat = StationId::new(STATIONS - 1 - numbers.below(SEATS as u64) as u16);
        let frame = Frame::new(Octets::new(64 + numbers.below(400) as u32), Destination::All);
        let input = match numbers.below(8) {
            0 => Input::Deed(Deed::Add { station: seat, who }),
            1 => Input::Deed(Deed::Remove { station: seat }),
            _ => Input::Offer { station, frame },
        };
        (BitInstant::new(at), input)
    };
    (0..300).map(input).collect()
}

fn run(config: Config, inputs: impl Iterator<Item = (BitInstant, Input)>) -> Vec<Event> {
    let mut medium = Medium::new(config).expect("a medium");
    let mut events = Vec::new();
    for (at, input) in inputs {
        medium.handle_input(at, input);
        events.extend(std::iter::from_fn(|| medium.poll_event()));
    }
    medium.advance(BitInstant::new(10_000_000));
    events.extend(std::iter::from_fn(|| medium.poll_event()));
    events
}

#[test]
fn a_seat_is_a_detached_station_and_a_join_an_attach() {
    for (method, keep_outputs) in methods().into_iter().flat_map(|method| [(method.clone(), false), (method, true)]) {
        for seed in 0..20 {
            let name = format!("{method:?}, outputs {keep_outputs}, seed {seed}");
            let topology = Topology::star(STATIONS.into(), 20 * (seed % 2));
            let config =
                Config { method: method.clone(), keep_outputs, ..Config::new(BitRate::MBIT_10, topology, seed) };
            let seats = run(Config { seats: SEATS, ..config.clone() }, inputs(seed).into_iter());
            let off = (STATIONS - SEATS as u16..STATIONS)
                .map(|number| (BitInstant::ZERO, Input::Deed(Deed::Unplug { station: StationId::new(number) })));
            let plain = inputs(seed).into_iter().map(|(at, input)| match input {
                Input::Deed(Deed::Add { station, .. }) => (at, Input::Deed(Deed::Plug { station })),
                Input::Deed(Deed::Remove { station }) => (at, Input::Deed(Deed::Unplug { station })),
                input => (at, input),
            });
            let detached = run(config, off.chain(plain));
            assert!(seats.len() > 300, "{name}: {}", seats.len());
            assert!(seats == detached, "{name}: {:?}", seats.iter().zip(&detached).find(|(one, other)| one != other));
        }
    }
}

/// A station that joins at a place is there as if its seat had been there from the beginning: all events are the same.
#[test]
fn a_place_of_ones_own_is_as_if_the_seat_had_always_been_there() {
    let methods = methods().into_iter().filter(|method| !matches!(method, Method::Plca(_)));
    let (mut receptions, mut collisions) = (0, 0);
    for (method, keep_outputs) in methods.flat_map(|method| [(method.clone(), false), (method, true)]) {
        for seed in 0..40 {
            let name = format!("{method:?}, outputs {keep_outputs}, seed {seed}");
            let mut numbers = Numbers(seed + 1_000);
            let far = if matches!(method, Method::Tdma(_)) { 20 } else { 200 };
            let is_cable = seed % 2 == 0;
            let config = Config { method: method.clone(), keep_outputs, seats: SEATS, ..planned(is_cable, far, seed) };
            let last = config.topology.place(StationId::new(1)).expect("a cable");
            let at = |_| {
                let places = config.places(last.segment).expect("places");
                let (low, high) = (places.start().get(), places.end().get());
                Place { position: BitTimes::new(low + numbers.below(high - low + 1)), ..last }
            };
            let places: Vec<Place> = (0..SEATS).map(at).collect();
            let mut joined = [false; SEATS];
            let placed: Vec<(BitInstant, Input)> = inputs(seed)
                .into_iter()
                .map(|(at, input)| match input {
                    Input::Deed(Deed::Add { station, who }) => {
                        let seat = station.index() - (usize::from(STATIONS) - SEATS);
                        let first = !std::mem::replace(&mut joined[seat], true);
                        (at, Input::Deed(Deed::Add { station, who: who.at(first.then_some(places[seat])) }))
                    }
                    input => (at, input),
                })
                .collect();
            let mut always = config.clone();
            for (seat, place) in places.iter().enumerate() {
                let station = StationId::new(STATIONS - SEATS as u16 + seat as u16);
                always.topology = always.topology.with_place(station, *place).expect("a place").expect("a cable");
            }
            let moved = run(config, placed.into_iter());
            let there = run(always, inputs(seed).into_iter());
            assert!(moved == there, "{name}: {:?}", moved.iter().zip(&there).find(|(one, other)| one != other));
            let late = |event: &&Event| event.station.index() >= usize::from(STATIONS) - SEATS;
            let is = |name: &str| moved.iter().filter(late).filter(|event| event.kind.name() == name).count();
            receptions += is("delivered");
            collisions += is("collision");
        }
    }
    assert!(receptions > 1_000 && collisions > 100, "{receptions} receptions, {collisions} collisions");
}

/// Two stations far apart and seats where the last one is: on a bus, or on two segments with a repeater.
fn planned(is_bus: bool, far: u64, seed: u64) -> Config {
    let place = |segment, position| Place { segment, position: BitTimes::new(position) };
    let topology = if is_bus {
        let positions = [0, far, far, far, far].map(BitTimes::new).to_vec();
        Topology::Bus { positions }
    } else {
        let repeater = Repeater {
            delay: BitTimes::new(far / 5),
            jitter: BitTimes::ZERO,
            ports: vec![place(0, far / 3), place(1, far / 2)],
        };
        let last = place(1, 0);
        let places = vec![place(0, 0), last, last, last, last];
        Topology::Segments(Segments::new(places, &[repeater]).expect("a tree"))
    };
    Config::new(BitRate::MBIT_10, topology, seed)
}

#[test]
fn a_place_beyond_the_outermost_stations_is_refused_by_the_highest() {
    let positions = [5, 90, 40, 40].map(BitTimes::new).to_vec();
    let bus = Config { seats: 2, ..Config::new(BitRate::MBIT_10, Topology::Bus { positions }, 1) };
    let check = |config: &Config, segment, position| {
        let place = Place { segment, position: BitTimes::new(position) };
        config.check_place(place).map_err(|error| error.to_string())
    };
    for position in [5, 6, 90] {
        assert_eq!(check(&bus, 0, position), Ok(()), "{position}");
    }
    for position in [4, 91, u64::MAX] {
        let refusal = check(&bus, 0, position).expect_err("too far");
        assert!(refusal.contains("the lowest place is 5 BT, the highest 90 BT"), "{refusal}");
    }
    assert!(check(&bus, 1, 5).expect_err("no segment").starts_with("segment 1 has no place"));
    let star = Config { topology: Topology::star(4, 5), ..bus.clone() };
    assert!(check(&star, 0, 5).expect_err("a star").starts_with("a star has no places"));
    let plca = Config { method: Method::Plca(Plca::right(4)), ..bus };
    assert!(check(&plca, 0, 5).expect_err("PLCA").starts_with("with PLCA"));
    // A place is right exactly if no station's farthest other is farther away with it.
    let segments = planned(false, 60, 1);
    for (segment, position) in (0..2).flat_map(|segment| (0..200).map(move |position| (segment, position))) {
        let place = Place { segment, position: BitTimes::new(position) };
        let (topology, seat) = (&segments.topology, StationId::new(4));
        let moved = topology.with_place(seat, place).expect("a place").expect("a cable");
        let others = (0..4).map(StationId::new);
        let fits = others.into_iter().all(|other| moved.distance(other, seat) <= topology.farthest(other));
        assert_eq!(segments.check_place(place).is_ok(), fits, "{place:?}");
    }
}

#[test]
fn a_name_that_no_station_can_have_is_no_joiners() {
    let address = [2, 0, 0, 0, 0, 1];
    assert_eq!(
        Joiner::new("fifteen-octets!", address).map(|who| who.name().to_owned()),
        Some("fifteen-octets!".to_owned())
    );
    for name in ["", "sixteen-octets!!", "a\0b"] {
        assert_eq!(Joiner::new(name, address), None, "{name}");
    }
}
