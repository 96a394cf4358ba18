//! A signal on the medium, and where it is heard when.

use medium::{Destination, FrameId, Kind};
use std::rc::Rc;

/// Preamble and start frame delimiter, in bits (802.3, 4.2.5 and 4.2.6).
pub const PREAMBLE_AND_SFD: u64 = 64;

/// The part of a signal that a collision hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The extension bits between two frames of a burst.
    Filling,
    /// Preamble or frame.
    Packet,
    /// The carrier extension after a frame.
    Extension,
}

/// One transmission, from first to last bit at its sender's place. It is heard elsewhere later.
///
/// ```text
///   |filling|preamble, SFD|frame|extension|     or     |preamble, SFD|part of it|jam|
///   begin   packet              frame_end end
/// ```
#[derive(Debug)]
pub struct Signal {
    /// Its number on the medium.
    pub number: u64,
    pub station: usize,
    /// The frame; of an acknowledgement that which it is about.
    pub frame: FrameId,
    /// It carries the frame to its addressees.
    pub is_frame: bool,
    /// It asks for a CTS.
    pub is_rts: bool,
    /// How long it reserves the medium from its end on.
    pub reserves: u64,
    /// From destination address to FCS, in octets, padded.
    pub size: u64,
    pub destination: Destination,
    pub too_long: bool,
    pub bad_fcs: bool,
    /// Its sender was in full duplex.
    pub full_duplex: bool,
    pub begin: u64,
    pub packet: u64,
    pub frame_end: u64,
    /// When its last bit will be out, if nothing comes.
    pub planned: u64,
    /// When its last bit was out, if it was.
    pub end: Option<u64>,
    /// It begins with a preamble: it is no continued burst.
    pub is_first: bool,
    pub cut: Option<Cut>,
    pub late: bool,
    /// By place: how long it takes to it.
    pub way: Vec<u64>,
    /// By place: the station there ignores this carrier.
    pub unheard: Rc<[bool]>,
    /// By place: it gets there.
    pub reaches: Rc<[bool]>,
    /// Receptions that are not settled.
    pub pending: usize,
}

impl Signal {
    pub fn begin_at(&self, place: usize) -> u64 {
        self.begin + self.way[place]
    }

    /// The first bit time without it; far away while it goes on.
    pub fn end_at(&self, place: usize) -> u64 {
        self.end.map_or(u64::MAX, |end| end + self.way[place])
    }

    /// Its carrier is sensed at `place`.
    pub fn is_sensed(&self, place: usize) -> bool {
        self.reaches[place] && !self.unheard[place]
    }

    /// The first instant of `from..until` at which it is at `place`.
    pub fn first_within(&self, place: usize, from: u64, until: u64) -> Option<u64> {
        let begin = self.begin_at(place).max(from);
        (self.reaches[place] && begin < until.min(self.end_at(place))).then_some(begin)
    }

    /// The station there receives it with wires apart from those on which it sends.
    pub fn is_apart(&self, place: usize) -> bool {
        self.station == place && self.full_duplex
    }
}

/// The end of a signal at one of its addressees.
#[derive(Debug)]
pub struct Due {
    pub place: usize,
    pub signal: u64,
    pub got: Option<Kind>,
}
