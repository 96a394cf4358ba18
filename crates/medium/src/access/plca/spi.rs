//! The host's side of a MAC-PHY behind SPI (OPEN Alliance TC6): when the MAC has the frame at the head of the queue. It must
//! never know a turn, or what is on the line.
//!
//! Frames go over SPI one after the other, in chunks, as long as there are credits. A frame keeps its credits until it is
//! sent: a logical collision begins it again. Meanwhile the next one is transferred. All that matters of a frame's transfer
//! has passed, or is certain, as it gets to the head: all frames before it are done. So its transfer is gone through then.

use super::Reconciliation;
use crate::config::{HostDelay, MacPhy};
use crate::engine::Engine;
use crate::frame::{FrameId, Queued, StationId};
use crate::time::BitInstant;
use std::collections::VecDeque;

/// A MAC-PHY with its host.
#[derive(Debug)]
pub(super) struct Spi {
    macphy: MacPhy,
    before: HostDelay,
    /// The frame at the head, by its serial number; 0 before the first.
    serial: u64,
    /// The chunks of it.
    chunks: u64,
    /// When the MAC has it.
    handed_over: BitInstant,
    /// When its last chunk was transferred.
    ended: BitInstant,
    /// Frames before it: when the MAC was done with each, and its chunks.
    done: VecDeque<(BitInstant, u64)>,
}

impl Spi {
    /// Nothing was sent yet; each frame takes its host `host_delay` before its transfer.
    pub fn new(macphy: MacPhy, host_delay: HostDelay) -> Spi {
        let (handed_over, ended) = (BitInstant::ZERO, BitInstant::ZERO);
        let before = macphy.before(host_delay);
        Spi { macphy, before, serial: 0, chunks: 0, handed_over, ended, done: VecDeque::new() }
    }

    /// When the MAC has the frame at the head.
    pub fn handed_over(&self) -> BitInstant {
        self.handed_over
    }

    /// `frame` is at the head since `head_since`: goes through its transfer, once.
    pub fn transfer(&mut self, seed: u64, frame: FrameId, head: &Queued, head_since: BitInstant) {
        if self.serial == frame.serial {
            return;
        }
        if head.arrived < head_since {
            self.done.push_back((head_since, self.chunks));
        } else {
            // The queue was empty: the MAC had nothing left.
            self.done.clear();
            self.ended = head.arrived;
        }
        let octets = head.unpadded.get();
        // A frame that is longer than the buffer, which only a tag makes it, takes the whole of it.
        let all = self.macphy.chunks(octets).min(self.macphy.credits);
        (self.serial, self.chunks) = (frame.serial, all);
        let begin = self.macphy.chunks_to_begin(octets).min(all);
        let mut now = head.arrived.max(self.ended) + self.before.of(seed, frame);
        let mut sent = 0;
        while sent < all {
            let wanted = if sent < begin { begin } else { all } - sent;
            let mut chunks = wanted.min(self.credits(now, sent));
            if chunks == 0 {
                now = self.credits_back(sent, all - sent);
                chunks = wanted.min(self.credits(now, sent));
            }
            now = now + self.macphy.time(chunks);
            if sent < begin && sent + chunks >= begin {
                self.handed_over = now;
            }
            sent += chunks;
        }
        self.ended = now;
    }

    /// Credits at `now`, where the frame that is transferred has `sent`.
    fn credits(&mut self, now: BitInstant, sent: u64) -> u64 {
        self.done.retain(|(done, _)| *done > now);
        self.macphy.credits - sent - self.done.iter().map(|(_, chunks)| chunks).sum::<u64>()
    }

    /// When the host, which has none, goes on with a frame of which `left` chunks are left.
    fn credits_back(&self, sent: u64, left: u64) -> BitInstant {
        let enough = self.macphy.threshold.min(left);
        let mut held = self.done.iter().map(|(_, chunks)| chunks).sum::<u64>();
        let mut done = self.done.iter();
        let back = done.find(|(_, chunks)| {
            held -= chunks;
            self.macphy.credits - sent - held >= enough
        });
        // Without other frames the buffer has room for the whole of this one.
        back.expect("credits come back").0
    }
}

/// Frames on their way from the host to the MAC.
impl Engine<Reconciliation> {
    /// When the host has handed over the frame at the head.
    #[inline]
    pub(super) fn handed_over(&self, station: StationId) -> BitInstant {
        let this = self.station(station);
        match &this.mac.spi {
            Some(spi) => spi.handed_over(),
            None => this.mac.mac.head_since + this.mac.node.own.host_delay.of(self.core.config.seed, this.frame()),
        }
    }

    /// Goes through the transfer of the frame at the head, if it has a MAC-PHY before it.
    #[inline]
    pub(super) fn transfer(&mut self, station: StationId) {
        let seed = self.core.config.seed;
        let this = &mut self.stations[station.index()];
        let (frame, head) = (this.frame(), *this.head());
        if let Some(spi) = &mut this.mac.spi {
            spi.transfer(seed, frame, &head, this.mac.mac.head_since);
        }
    }
}
