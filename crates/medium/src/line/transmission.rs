//! One transmission: its frame, its sender, its begin, and its course.

use super::deafness::Deafness;
use crate::frame::{Addressed, FrameId, Queued, StationId, TransmissionId};
use crate::rules::Span;
use crate::time::{BitInstant, Octets};
use std::sync::Arc;

/// The course of a transmission, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// In progress; it ends at `end` unless a collision is detected.
    OnAir { end: BitInstant },
    /// Its sender detected a collision: jam, and silence from `end`.
    Cut { end: BitInstant },
    /// Sent to its last bit; silence from `end`.
    Whole { end: BitInstant },
}

impl Course {
    /// When it ends, or will end if no collision is detected.
    pub fn end(self) -> BitInstant {
        let (Course::OnAir { end } | Course::Cut { end } | Course::Whole { end }) = self;
        end
    }
}

/// How a receiver treats a whole frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Worth {
    Good,
    BadFcs,
    TooLong,
}

/// One attempt, as a signal.
#[derive(Clone, Debug)]
pub(crate) struct Transmission {
    pub frame: FrameId,
    pub size: Octets,
    pub destination: Addressed,
    pub begin: BitInstant,
    /// The first bit of the preamble, after the extension bits that precede a later frame of a burst; `None` if a
    /// collision in those came before it.
    pub preamble: Option<BitInstant>,
    /// The frame's own last bit is out; the rest is extension.
    pub frame_end: BitInstant,
    /// How receivers treat it if it is whole.
    pub worth: Worth,
    /// Its sender had no carrier sense as it began.
    pub deaf: bool,
    /// Its sender was in full duplex as it began: it detects no collision, and receives beside it.
    pub duplex: bool,
    pub course: Course,
    /// The collision that it took part in.
    pub episode: Option<u64>,
    /// Its deliveries have been reported.
    pub settled: bool,
    /// The previous one of the same station.
    pub previous: Option<TransmissionId>,
    /// The cable was cut as it began: for each station, whether it was on the far side. The transmission never reaches
    /// the other side.
    pub parted: Option<Sides>,
}

/// For each station, whether it is on the far side of a cut.
pub(crate) type Sides = Arc<[bool]>;

impl Transmission {
    /// A transmission that ends on its own: `queued` under the name `frame`, from `begin` to `end`.
    pub fn whole(frame: FrameId, queued: &Queued, begin: BitInstant, end: BitInstant, worth: Worth) -> Transmission {
        Transmission {
            frame,
            size: queued.size,
            destination: queued.destination,
            begin,
            preamble: Some(begin),
            frame_end: end,
            worth,
            deaf: false,
            duplex: false,
            course: Course::Whole { end },
            episode: None,
            settled: false,
            previous: None,
            parted: None,
        }
    }

    /// A transmission that leaves only its carrier, from `begin` to `end`.
    pub fn unheard_of(frame: FrameId, begin: BitInstant, end: BitInstant) -> Transmission {
        let (serial, size, destination) = (frame.serial, Octets::new(0), Addressed::NOBODY);
        let queued = Queued { serial, size, unpadded: size, destination, arrived: begin, too_long: false };
        Transmission::whole(frame, &queued, begin, end, Worth::Good)
    }

    pub fn source(&self) -> StationId {
        self.frame.station
    }

    /// Whether the station at `place` receives it: it is an addressee, and not the sender.
    pub fn is_for(&self, place: StationId) -> bool {
        self.source() != place && self.destination.is_for(place)
    }

    /// The station at `place`, with this `deafness`, senses it: it has this `number`. A station in full duplex senses its
    /// own transmission, and leaves a gap after it.
    #[inline]
    pub fn is_sensed(&self, place: StationId, number: u64, deafness: &Deafness) -> bool {
        deafness.hears(number) || (self.duplex && self.source() == place)
    }

    /// Its signal reaches `place`.
    pub fn reaches(&self, place: StationId) -> bool {
        self.parted.as_ref().is_none_or(|far| far[place.index()] == far[self.source().index()])
    }

    /// Its begin and end at its source.
    pub fn span(&self) -> Span {
        Span { begin: self.begin, preamble: self.preamble.unwrap_or(self.begin), end: self.known_end() }
    }

    /// The first instant of silence, once it is final.
    pub fn known_end(&self) -> Option<BitInstant> {
        match self.course {
            Course::OnAir { .. } => None,
            Course::Cut { end } | Course::Whole { end } => Some(end),
        }
    }
}
