//! One transmission: what is sent, by whom, from when, and how it goes on.

use crate::frame::{Destination, FrameId, Queued, StationId, TransmissionId};
use crate::rules::Span;
use crate::time::{BitInstant, Octets};
use std::sync::Arc;

/// How a transmission goes on, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// Going on; it ends at `end` unless a collision is detected.
    OnAir { end: BitInstant },
    /// Its sender detected a collision: jam, and silence from `end`.
    Cut { end: BitInstant },
    /// Sent to its last bit; silence from `end`.
    Whole { end: BitInstant },
}

/// What a whole frame is worth to a receiver.
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
    pub destination: Destination,
    pub begin: BitInstant,
    /// The first bit of the preamble, after the extension bits that lead a later frame of a burst; none if a
    /// collision in those came before it.
    pub preamble: Option<BitInstant>,
    /// The frame's own last bit is out; what follows is extension.
    pub frame_end: BitInstant,
    /// How receivers take it if it is whole.
    pub worth: Worth,
    /// Its sender had no carrier sense as it began.
    pub deaf: bool,
    pub course: Course,
    /// The collision that it took part in.
    pub episode: Option<u64>,
    /// Its deliveries have been given out.
    pub settled: bool,
    /// The one before it by the same station.
    pub previous: Option<TransmissionId>,
    /// The cable was cut as it began: which stations were on the far side. It never gets to the other side than its own.
    pub parted: Option<Sides>,
}

/// For each station, whether it is on the far side of a cut.
pub(crate) type Sides = Arc<[bool]>;

impl Transmission {
    /// One that nothing will cut short: `queued` under the name `frame`, from `begin` to `end`.
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
            course: Course::Whole { end },
            episode: None,
            settled: false,
            previous: None,
            parted: None,
        }
    }

    /// One of which nothing is left but its carrier, from `begin` to `end`.
    pub fn unheard_of(frame: FrameId, begin: BitInstant, end: BitInstant) -> Transmission {
        let (serial, size, destination) = (frame.serial, Octets::new(0), Destination::Nobody);
        let queued = Queued { serial, size, destination, arrived: begin, too_long: false };
        Transmission::whole(frame, &queued, begin, end, Worth::Good)
    }

    pub fn source(&self) -> StationId {
        self.frame.station
    }

    /// Whether the station at `place` takes it in: it is addressed there, and is not its own.
    pub fn is_for(&self, place: StationId) -> bool {
        self.source() != place
            && match self.destination {
                Destination::Station(addressee) => addressee == place,
                Destination::All => true,
                Destination::Nobody => false,
            }
    }

    /// Its signal gets to `place`.
    pub fn reaches(&self, place: StationId) -> bool {
        self.parted.as_ref().is_none_or(|far| far[place.index()] == far[self.source().index()])
    }

    /// When it is at its source.
    pub fn span(&self) -> Span {
        Span { begin: self.begin, preamble: self.preamble.unwrap_or(self.begin), end: self.known_end() }
    }

    /// The first instant of silence, once nothing can move it.
    pub fn known_end(&self) -> Option<BitInstant> {
        match self.course {
            Course::OnAir { .. } => None,
            Course::Cut { end } | Course::Whole { end } => Some(end),
        }
    }
}
