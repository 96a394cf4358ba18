//! The results of a saturated star or cable in virtual time: `cargo run --release -p ethbus-medium --example saturated
//! -- 4 64 0 100`
//!
//! Arguments: stations, frame size in octets, distance in BT, seconds at 10 Mb/s, and `bus` for stations evenly along a
//! cable of that length, or another method: `csma`, `plca`, `slotted-aloha`, `csma-ca` or `csma-ca-rts`. A physical
//! layer may follow after a colon, and then the first window and the largest. A frame is ready at the instant at which
//! the station's last one ends or is discarded, so no queue ever runs empty and none overflows.

#![allow(clippy::disallowed_types, reason = "an example looks at the clock; the engine does not")]

use backoff::Policy;
use medium::{
    BitInstant, BitRate, BitTimes, Config, Csma, CsmaCa, Destination, Event, Frame, Host, Input, Medium, Method,
    Octets, Phy, Plca, SlottedAloha, StationId, Topology,
};

/// Hosts that always have another frame, and ignore all events.
struct Saturated {
    stations: u64,
    size: u32,
}

impl Host for Saturated {
    fn feeds(&self) -> bool {
        true
    }

    fn event(&mut self, _: &Event) {}

    fn next_frame(&mut self, _: BitInstant, station: StationId) -> Option<Frame> {
        let next = (station.index() as u64 + 1) % self.stations;
        Some(Frame::new(Octets::new(self.size), Destination::Station(StationId::new(next as u16))))
    }
}

/// The method with this name, and the rate of its medium.
fn method(name: &str, stations: u64, size: Octets, distance: BitTimes) -> (Method, BitRate) {
    let parts: Vec<&str> = name.split(':').collect();
    let layer = |name: &&str| Phy::ALL.into_iter().find(|phy| phy.name() == *name).expect("a physical layer");
    match parts[0] {
        "csma" => (Method::Csma(Csma::new(size)), BitRate::MBIT_10),
        "plca" => (Method::Plca(Plca::right(stations as usize)), BitRate::MBIT_10),
        "slotted-aloha" => {
            let backoff = Policy::aloha_uniform(SlottedAloha::SLOT, 1000);
            (Method::SlottedAloha(SlottedAloha { backoff, ..SlottedAloha::new(size, distance) }), BitRate::MBIT_10)
        }
        "csma-ca" | "csma-ca-rts" => {
            let phy = parts.get(1).map_or(Phy::Dsss11, layer);
            let mut own = CsmaCa { rts: parts[0] == "csma-ca-rts", ..CsmaCa::new(phy, size) };
            if let [_, _, first, most] = parts[..] {
                (own.window, own.most_window) = (first.parse().expect("a window"), most.parse().expect("a window"));
            }
            (Method::CsmaCa(own), phy.rate())
        }
        _ => (Method::CsmaCd, BitRate::MBIT_10),
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let argument = |index: usize, default| arguments.get(index).map_or(default, |text| text.parse().expect("a number"));
    let (stations, size, distance, seconds) = (argument(0, 4), argument(1, 64), argument(2, 0), argument(3, 100));
    let along = |station: u64| BitTimes::new(station * distance / (stations - 1).max(1));
    let last = arguments.get(4).map_or("", String::as_str);
    let topology = match last {
        "bus" => Topology::Bus { positions: (0..stations).map(along).collect() },
        _ => Topology::star(stations as usize, distance),
    };
    let (method, rate) = method(last, stations, Octets::new(size as u32), BitTimes::new(distance));
    let config = Config { method, ..Config::new(rate, topology, 1) };
    let mut medium = Medium::new(Config { keep_outputs: false, ..config }).expect("a valid configuration");
    let mut hosts = Saturated { stations, size: size as u32 };
    for station in (0..stations).map(|station| StationId::new(station as u16)) {
        let frame = hosts.next_frame(BitInstant::ZERO, station).expect("saturated");
        medium.give_for(BitInstant::ZERO, Input::Offer { station, frame }, &mut hosts);
    }
    let end = seconds * rate.get();
    let begin = std::time::Instant::now();
    medium.run_until_for(BitInstant::new(end), &mut hosts);
    let (tally, wall) = (medium.tally(), begin.elapsed().as_secs_f64());
    let sum = |counter: fn(&medium::Counters) -> u64| tally.stations().iter().map(counter).sum::<u64>();
    let frames = sum(|counters| counters.frames_transmitted_ok);
    println!(
        "{stations} stations, {size} octets, {distance} BT: {:.1} frames/s, utilization_total {:.4}, \
         attempts per frame {:.3}, {} discarded; {:.0} frames a wall second",
        frames as f64 / seconds as f64,
        frames as f64 * (size * 8 + 160) as f64 / end as f64,
        sum(|counters| counters.attempts) as f64 / (frames + sum(|counters| counters.excessive_collisions)) as f64,
        sum(|counters| counters.excessive_collisions),
        frames as f64 / wall,
    );
}
