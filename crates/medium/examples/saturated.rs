//! What a saturated star gives in virtual time: `cargo run --release -p ethbus-medium --example saturated -- 4 64 0 100`
//!
//! Arguments: stations, frame size in octets, distance in BT, seconds at 10 Mb/s. A frame is ready at the instant at
//! which the station's last one ends or is discarded, so no queue ever runs empty and none overflows.

use medium::{
    BitInstant, BitRate, Config, Destination, Event, Frame, Input, Kind, Medium, Octets, StationId, Topology,
};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let mut argument = |default| arguments.next().unwrap_or(default);
    let (stations, size, distance, seconds) = (argument(4), argument(64), argument(0), argument(100));
    let config = Config::new(BitRate::MBIT_10, Topology::star(stations as usize, distance), 1);
    let mut medium = Medium::new(Config { keep_outputs: false, ..config }).expect("a valid configuration");
    let offer = |station: u64| Input::Offer {
        station: StationId::new(station as u16),
        frame: Frame::new(
            Octets::new(size as u32),
            Destination::Station(StationId::new(((station + 1) % stations) as u16)),
        ),
    };
    let end = seconds * BitRate::MBIT_10.get();
    (0..stations).for_each(|station| medium.handle_input(BitInstant::ZERO, offer(station)));
    let begin = std::time::Instant::now();
    while let Some(due) = medium.next_timeout().filter(|due| due.get() < end) {
        medium.handle_input(due, Input::Timeout);
        while let Some(Event { at, station, kind, .. }) = medium.poll_event() {
            if matches!(kind, Kind::Transmitted { .. } | Kind::Discarded { .. }) {
                medium.handle_input(at, offer(station.index() as u64));
            }
        }
    }
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
