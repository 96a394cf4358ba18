//! A MAC-PHY behind SPI (OPEN Alliance TC6): how long the host takes to hand over a frame. It must never know when
//! a frame is sent, or what a bound is.
//!
//! Lengths are those that the host hands over: the MAC-PHY pads, and adds the FCS.
//!
//! ```text
//!   host |release |host-delay |transfer under way |chunk|chunk| … |last chunk|
//!   SPI           |           |4 octets of header, 64 of the frame: a chunk  |
//!   MAC                                                 ^ cut-through        ^ store and forward
//! ```

use super::HostDelay;
use super::error::{ConfigError, rule};
use crate::frame::FCS;
use crate::time::{BitRate, BitTimes, Octets};

/// The header of a chunk, in octets.
const HEADER: u64 = 4;

/// A MAC-PHY, and the SPI bus to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacPhy {
    /// The clock of the SPI bus, in hertz.
    pub clock: u64,
    /// Octets of a frame in a chunk.
    pub chunk: u64,
    /// Chunks of a transfer that may be under way when the host wants to send.
    pub transfer: u64,
    /// Chunks in the transmit buffer: the most transmit credits (TXC).
    pub credits: u64,
    /// Credits at which a host that had none goes on (TXCTHRESH), or fewer if the rest of its frame needs no more.
    pub threshold: u64,
    /// Chunks of a frame from which on the MAC may send it (CTTHR). Otherwise it waits for the whole frame.
    pub cut_through: Option<u64>,
}

impl MacPhy {
    /// That of LAN8650/1 after a reset.
    pub const fn new(clock: u64) -> MacPhy {
        MacPhy { clock, chunk: 64, transfer: 0, credits: 48, threshold: 1, cut_through: None }
    }

    /// The chunks of a frame; the MAC-PHY adds the FCS.
    pub fn chunks(&self, octets: u32) -> u64 {
        u64::from(octets - FCS.get()).div_ceil(self.chunk)
    }

    /// The chunks of a frame from which on the MAC may send it.
    pub fn chunks_to_begin(&self, octets: u32) -> u64 {
        let all = self.chunks(octets);
        self.cut_through.map_or(all, |some| some.min(all))
    }

    /// How long chunks take on SPI, each rounded up to a bit time.
    pub fn time(&self, chunks: u64) -> BitTimes {
        BitTimes::new(chunks * (8 * (HEADER + self.chunk) * BitRate::MBIT_10.get()).div_ceil(self.clock))
    }

    /// What passes before the first chunk of a frame, where its host needs `host` and the buffer has room.
    pub fn before(&self, host: HostDelay) -> HostDelay {
        HostDelay { most: host.most + self.time(self.transfer), ..host }
    }

    /// What passes until the MAC may send a frame of this size, where its host needs `host` and has no other.
    pub fn lone(&self, host: HostDelay, size: Octets) -> HostDelay {
        let HostDelay { least, most } = self.before(host);
        let transfer = self.time(self.chunks_to_begin(size.get()));
        HostDelay { least: least + transfer, most: most + transfer }
    }

    /// A chunk takes longer on SPI than its octets on the line: a frame that is sent before it is whole runs dry.
    pub fn is_slower_than_the_line(&self) -> bool {
        self.time(1).get() > 8 * self.chunk
    }

    /// The longest frame that the transmit buffer holds, in octets.
    pub fn longest_frame(&self) -> u64 {
        self.credits * self.chunk + u64::from(FCS.get())
    }

    /// Checks each value against its range, where frames have up to `longest` octets.
    pub(super) fn check(&self, longest: Octets) -> Result<(), ConfigError> {
        rule((100_000..=100_000_000).contains(&self.clock), "spi-clock", "0.1 to 100 MHz")?;
        rule([8, 16, 32, 64].contains(&self.chunk), "spi-chunk", "8, 16, 32 or 64 octets")?;
        rule(self.transfer <= 255 && self.credits <= 255, "tx-credits", "at most 255 chunks, like spi-transfer")?;
        rule(self.longest_frame() >= longest.get().into(), "tx-credits", "chunks for the longest frame")?;
        rule((1..=self.credits).contains(&self.threshold), "tx-threshold", "1 to the number of credits")?;
        let whole = self.cut_through != Some(0) && !(self.cut_through.is_some() && self.is_slower_than_the_line());
        rule(whole, "cut-through", "1 or more chunks, behind an SPI bus that is faster than the line")
    }
}
