//! What a window and acknowledgements on one bus make of each other: a transfer such as TCP's, in virtual time, by hosts
//! that take no time but what is asked for.
//!
//! `cargo run --release -p ethbus-medium --example windowed -- 1 100 300 50`
//!
//! Arguments: pairs, seconds at 10 Mb/s, how long a host takes to answer in BT, and frames in a window; without the last,
//! a table over windows. The sender has a window's worth of 1518-octet frames (1448 octets of payload) under way; the
//! receiver answers every second one with 70 octets, cumulatively. Nothing else of TCP is here: no loss but what the MAC
//! gives up, no pacing, and a window that stays. So this is what the access method leaves of the line, whatever the host.

use medium::{
    BitInstant, BitRate, BitTimes, Config, Destination, Event, Frame, Input, Kind, Medium, Octets, StationId, Topology,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const DATA: u32 = 1518;
const PAYLOAD: u64 = 1448;
const ACK: u32 = 70;

/// One sender (an even station) and its receiver (the next).
#[derive(Clone, Copy, Default)]
struct Pair {
    /// Frames that the receiver has.
    received: u64,
    /// Of these, how many its next acknowledgements tell of, in order: one for every second frame.
    acknowledged: u64,
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse::<u64>().expect("a number"));
    let mut argument = |default| arguments.next().unwrap_or(default);
    let (pairs, seconds, answer) = (argument(1), argument(100), argument(300));
    let windows: Vec<u64> =
        arguments.next().map_or(vec![2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256], |one| vec![one]);
    println!("{pairs} pairs, {seconds} s, answers after {answer} BT\nwindow  Mb/s of payload  collisions a data frame");
    for window in windows {
        let (goodput, collisions) = transfer(pairs, seconds, BitTimes::new(answer), window);
        println!("{window:>6}  {goodput:>15.3}  {collisions:>23.3}");
    }
}

/// Payload carried in Mb/s, and collisions for each frame with payload.
fn transfer(pairs: u64, seconds: u64, answer: BitTimes, window: u64) -> (f64, f64) {
    let config = Config::new(BitRate::MBIT_10, Topology::star(2 * pairs as usize, 0), 1);
    let mut medium = Medium::new(Config { keep_outputs: false, ..config }).expect("a valid configuration");
    let mut hosts = vec![Pair::default(); pairs as usize];
    let mut ready: BinaryHeap<Reverse<(BitInstant, StationId)>> = BinaryHeap::new();
    for _ in 0..window {
        ready.extend((0..pairs).map(|pair| Reverse((BitInstant::ZERO, StationId::new(2 * pair as u16)))));
    }
    let end = BitInstant::ZERO + BitTimes::new(seconds * BitRate::MBIT_10.get());
    loop {
        let (arrival, due) = (ready.peek().map(|Reverse((at, _))| *at), medium.next_timeout());
        let Some(at) = [arrival, due].into_iter().flatten().min().filter(|&at| at < end) else { break };
        if arrival == Some(at) {
            let Some(Reverse((_, station))) = ready.pop() else { break };
            medium.handle_input(at, Input::Offer { station, frame: frame(station) });
        } else {
            medium.advance(at + BitTimes::new(1));
        }
        while let Some(Event { at, station, kind, .. }) = medium.poll_event() {
            let sends_data = station.index() % 2 == 0;
            let host = &mut hosts[station.index() / 2];
            match kind {
                Kind::Transmitted { .. } if sends_data => {
                    host.received += 1;
                    if host.received.is_multiple_of(2) {
                        ready.push(Reverse((at + answer, other(station))));
                    }
                }
                Kind::Transmitted { .. } => {
                    // It tells of all that was received as it was made, so it stands for those lost before it too.
                    let told = (host.acknowledged + 2).min(host.received);
                    (host.acknowledged..told).for_each(|_| ready.push(Reverse((at + answer, other(station)))));
                    host.acknowledged = told;
                }
                // The window stays as it is: sent again at once, or told of by the next acknowledgement.
                Kind::Discarded { .. } => ready.push(Reverse((at + answer, station))),
                _ => {}
            }
        }
    }
    let data: u64 = hosts.iter().map(|host| host.received).sum();
    let counters = medium.tally().stations();
    let attempts: u64 = counters.iter().map(|counters| counters.attempts).sum();
    let sent: u64 = counters.iter().map(|counters| counters.frames_transmitted_ok).sum();
    ((data * PAYLOAD * 8) as f64 / seconds as f64 / 1e6, (attempts - sent) as f64 / data as f64)
}

fn other(station: StationId) -> StationId {
    StationId::new((station.index() ^ 1) as u16)
}

fn frame(station: StationId) -> Frame {
    let size = if station.index().is_multiple_of(2) { DATA } else { ACK };
    Frame::new(Octets::new(size), Destination::Station(other(station)))
}
