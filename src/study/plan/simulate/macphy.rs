//! A host with a MAC-PHY behind SPI: when the MAC gets its frames. It must never know a bound.
//!
//! Frames go over SPI one after the other, in chunks, as long as there are credits. A frame keeps its credits until it is
//! sent: a logical collision begins it again. Meanwhile the next one is transferred.

use medium::{BitInstant, Frame, FrameId, HostDelay, Octets, StationId};
use sim::scenario::messages::{MacPhy, Node};
use std::collections::VecDeque;

/// A frame of the host: its message, its release, itself.
type Item = (usize, BitInstant, Frame);

/// What the SPI bus does, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The host has no frame.
    Idle,
    /// The host prepares the first frame, or a transfer is under way.
    Before(BitInstant),
    /// Chunks of the first frame are on the bus.
    Transfer { until: BitInstant, chunks: u64 },
    /// The host waits for credits.
    NoCredits,
}

/// The host's side of a MAC-PHY, and its transmit buffer.
#[derive(Clone)]
pub(super) struct Spi {
    macphy: MacPhy,
    before: HostDelay,
    seed: u64,
    state: State,
    waiting: VecDeque<Item>,
    /// Frames that were prepared so far: the last one draws by this number.
    number: u64,
    /// Chunks of the first frame that the MAC-PHY has.
    sent: u64,
    credits: u64,
    /// The chunks of each frame that the MAC has.
    in_mac: VecDeque<u64>,
}

impl Spi {
    /// Nothing was sent yet.
    pub fn new(node: &Node, macphy: MacPhy, seed: u64) -> Spi {
        Spi {
            macphy,
            before: macphy.before(node.host_delay),
            seed,
            state: State::Idle,
            waiting: VecDeque::new(),
            number: 0,
            sent: 0,
            credits: macphy.credits,
            in_mac: VecDeque::new(),
        }
    }

    /// A frame is released.
    pub fn release(&mut self, at: BitInstant, station: StationId, item: Item) {
        self.waiting.push_back(item);
        if self.state == State::Idle {
            self.prepare(at, station);
        }
    }

    /// The MAC is done with a frame: its credits come back.
    pub fn finished(&mut self, at: BitInstant) {
        self.credits += self.in_mac.pop_front().unwrap_or(0);
        if self.state == State::NoCredits && self.credits >= self.macphy.threshold {
            self.transfer(at);
        }
    }

    /// When something ends.
    pub fn due(&self) -> Option<BitInstant> {
        match self.state {
            State::Before(until) | State::Transfer { until, .. } => Some(until),
            State::Idle | State::NoCredits => None,
        }
    }

    /// Goes on at `at`. Returns the frame that the MAC gets now.
    pub fn go_on(&mut self, at: BitInstant, station: StationId) -> Option<Item> {
        match self.state {
            State::Before(until) if until == at => self.transfer(at),
            State::Transfer { until, chunks } if until == at => return self.transferred(at, station, chunks),
            State::Before(_) | State::Transfer { .. } | State::Idle | State::NoCredits => {}
        }
        None
    }

    /// The host turns to the first frame.
    fn prepare(&mut self, at: BitInstant, station: StationId) {
        self.state = State::Idle;
        if !self.waiting.is_empty() {
            self.number += 1;
            self.state = State::Before(at + self.before.of(self.seed, FrameId { station, serial: self.number }));
        }
    }

    /// The size of the first frame.
    fn octets(&self) -> u32 {
        self.waiting.front().map_or(Octets::new(64), |(.., frame)| frame.size).get()
    }

    /// Sends what credits allow, up to the chunk with which the MAC gets the frame.
    fn transfer(&mut self, at: BitInstant) {
        let (begin, all) = (self.macphy.chunks_to_begin(self.octets()), self.macphy.chunks(self.octets()));
        let wanted = if self.sent < begin { begin } else { all } - self.sent;
        let chunks = wanted.min(self.credits);
        self.credits -= chunks;
        self.state = match chunks {
            0 => State::NoCredits,
            _ => State::Transfer { until: at + self.macphy.time(chunks), chunks },
        };
    }

    fn transferred(&mut self, at: BitInstant, station: StationId, chunks: u64) -> Option<Item> {
        let (begin, all) = (self.macphy.chunks_to_begin(self.octets()), self.macphy.chunks(self.octets()));
        let has_begun = self.sent >= begin;
        self.sent += chunks;
        let item = self.waiting.front().copied().filter(|_| !has_begun && self.sent >= begin);
        self.in_mac.extend(item.map(|_| all));
        if self.sent < all {
            self.transfer(at);
        } else {
            self.waiting.pop_front();
            self.sent = 0;
            self.prepare(at, station);
        }
        item
    }
}

#[cfg(test)]
mod tests {
    use super::{BitInstant, Frame, Octets, Spi, StationId};
    use medium::{BitTimes, Destination, HostDelay};
    use sim::scenario::messages::{MacPhy, Node};

    /// The instants at which the MAC gets frames of these sizes, all released at 0; it is done with each 100,000 BT after the
    /// one before.
    fn handed(macphy: MacPhy, octets: &[u32]) -> Vec<u64> {
        let delay = HostDelay::fixed(BitTimes::new(100));
        let node =
            Node { name: "n".into(), id: 0, burst_count: 0, burst_timer: 128, host_delay: delay, macphy: Some(macphy) };
        let (mut spi, station) = (Spi::new(&node, macphy, 1), StationId::new(0));
        for &octets in octets {
            let frame = Frame::new(Octets::new(octets), Destination::All);
            spi.release(BitInstant::ZERO, station, (0, BitInstant::ZERO, frame));
        }
        let (mut handed, mut done) = (Vec::new(), 1);
        while handed.len() < octets.len() {
            match spi.due().filter(|at| at.get() < done * 100_000) {
                Some(at) => handed.extend(spi.go_on(at, station).map(|_| at.get())),
                None => {
                    spi.finished(BitInstant::new(done * 100_000));
                    done += 1;
                }
            }
        }
        handed
    }

    /// At 25 MHz a chunk of 68 octets takes 544 clocks, which are 218 BT. A frame of 1518 octets has 24 chunks, one of 64 has
    /// one. Store and forward waits for all of them, cut-through for two.
    #[test]
    fn a_frame_takes_its_chunks() {
        let macphy = MacPhy::new(25_000_000);
        assert_eq!(handed(macphy, &[64, 1518, 64]), [318, 318 + 100 + 24 * 218, 318 + 100 + 24 * 218 + 318]);
        let cut_through = MacPhy { cut_through: Some(2), ..macphy };
        assert_eq!(handed(cut_through, &[1518, 64]), [100 + 2 * 218, 100 + 24 * 218 + 318]);
    }

    /// A buffer of 30 chunks has 6 left beside a long frame. The 18 others of the next one follow when that is sent. With a
    /// threshold of 16 a host goes on as soon as 24 are free, and not at 1 or 8.
    #[test]
    fn a_host_without_credits_waits() {
        let macphy = MacPhy { credits: 30, ..MacPhy::new(25_000_000) };
        assert_eq!(handed(macphy, &[1518, 1518]), [100 + 24 * 218, 100_000 + 18 * 218]);
        let small = [64; 32];
        let one = handed(macphy, &small);
        assert_eq!(one[30..], [100_000 + 218, 200_000 + 218], "{one:?}");
        let sixteen = handed(MacPhy { threshold: 16, ..macphy }, &small);
        assert_eq!(sixteen[30..], [1_600_000 + 218, 1_600_000 + 218 + 318], "{sixteen:?}");
    }
}
