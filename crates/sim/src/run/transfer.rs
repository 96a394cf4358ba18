//! What a window and acknowledgements on one bus make of each other: a transfer such as TCP's, in virtual time, by hosts
//! that take no time but what is asked for.
//!
//! The sender has a window's worth of 1518-octet frames (1448 octets of payload) under way; the receiver answers every
//! second one with 70 octets, cumulatively. Nothing else of TCP is here: no loss but what the MAC gives up, no pacing, and
//! a window that stays. So this is what the access method leaves of the line, whatever the host.

use medium::{
    BitInstant, BitRate, BitTimes, Config, Destination, Event, Frame, Input, Kind, Medium, Octets, StationId, Topology,
};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const DATA: u32 = 1518;
const PAYLOAD: u64 = 1448;
const ACK: u32 = 70;

/// Mb/s of payload that a lone sender at 10 Mb/s gets if no other station ever sends: 1,448 octets in each 1,538 that a
/// frame takes with preamble, SFD and gap.
pub const CEILING: f64 = 10.0 * PAYLOAD as f64 / (DATA + 20) as f64;

/// Transfers at 10 Mb/s, all at once, each from an even station to the one after it.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// How many.
    pub pairs: usize,
    /// For how long, in seconds of the medium.
    pub seconds: u64,
    /// How long a host takes to answer.
    pub answer: BitTimes,
    /// Frames that each sender has under way.
    pub window: u64,
    /// Seed of every backoff.
    pub seed: u64,
}

/// Their results, together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transferred {
    /// Payload that arrived, in Mb/s.
    pub megabits: f64,
    /// Collisions for each frame with payload.
    pub collisions: f64,
}

/// One sender (an even station) and its receiver (the next).
#[derive(Clone, Copy, Default)]
struct Pair {
    /// Frames that the receiver has.
    received: u64,
    /// Of these, how many its next acknowledgements cover, in order: one for every second frame.
    acknowledged: u64,
}

impl Transfer {
    /// Runs them.
    ///
    /// # Panics
    /// If there are no pairs, or more than a medium has stations for: the caller's mistake.
    pub fn run(self) -> Transferred {
        transfer(self)
    }
}

fn transfer(Transfer { pairs, seconds, answer, window, seed }: Transfer) -> Transferred {
    let config = Config::new(BitRate::MBIT_10, Topology::star(2 * pairs, 0), seed);
    let mut medium = Medium::new(Config { keep_outputs: false, ..config }).expect("a valid configuration");
    let mut hosts = vec![Pair::default(); pairs];
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
                    // It acknowledges all that was received when it was made, so it also replaces the acknowledgements
                    // lost before it.
                    let told = (host.acknowledged + 2).min(host.received);
                    (host.acknowledged..told).for_each(|_| ready.push(Reverse((at + answer, other(station)))));
                    host.acknowledged = told;
                }
                // The window stays as it is: the frame is sent again at once, or covered by the next acknowledgement.
                Kind::Discarded { .. } => ready.push(Reverse((at + answer, station))),
                _ => {}
            }
        }
    }
    let data: u64 = hosts.iter().map(|host| host.received).sum();
    let counters = medium.tally().stations();
    let attempts: u64 = counters.iter().map(|counters| counters.attempts).sum();
    let sent: u64 = counters.iter().map(|counters| counters.frames_transmitted_ok).sum();
    Transferred {
        megabits: (data * PAYLOAD * 8) as f64 / seconds as f64 / 1e6,
        collisions: (attempts - sent) as f64 / data as f64,
    }
}

fn other(station: StationId) -> StationId {
    StationId::new((station.index() ^ 1) as u16)
}

fn frame(station: StationId) -> Frame {
    let size = if station.index().is_multiple_of(2) { DATA } else { ACK };
    Frame::new(Octets::new(size), Destination::Station(other(station)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of docs/live.md for 100 s of one pair and of two (seed 1).
    #[test]
    fn a_transfer_gives_what_the_documentation_says() {
        for (pairs, window, megabits) in [(1, 2, 9.00), (1, 32, 6.88), (1, 96, 7.97), (2, 96, 8.43)] {
            let transfer = Transfer { pairs, seconds: 100, answer: BitTimes::new(300), window, seed: 1 };
            let got = transfer.run().megabits;
            assert!((got - megabits).abs() < 0.006 && got < CEILING, "{transfer:?}: {got}");
        }
    }
}
