//! A seat is a station that is off the medium from the first instant on; a join and a leave are an attach and a detach.

use medium::{
    BitInstant, BitRate, Config, Csma, Destination, Event, Frame, Input, Joiner, Medium, Method, Octets, Plca,
    StationId, Tdma, Topology,
};

const STATIONS: u16 = 5;
const SEATS: usize = 3;

/// Every method that a live bus can have.
fn methods() -> [Method; 4] {
    let size = Octets::new(1518);
    [
        Method::CsmaCd,
        Method::Csma(Csma::new(size)),
        Method::Tdma(Tdma::new(size, medium::BitTimes::new(20), STATIONS.into())),
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
            0 => Input::Join { station: seat, who },
            1 => Input::Leave { station: seat },
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
                .map(|number| (BitInstant::ZERO, Input::Detach { station: StationId::new(number) }));
            let plain = inputs(seed).into_iter().map(|(at, input)| match input {
                Input::Join { station, .. } => (at, Input::Attach { station }),
                Input::Leave { station } => (at, Input::Detach { station }),
                input => (at, input),
            });
            let detached = run(config, off.chain(plain));
            assert!(seats.len() > 300, "{name}: {}", seats.len());
            assert!(seats == detached, "{name}: {:?}", seats.iter().zip(&detached).find(|(one, other)| one != other));
        }
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
