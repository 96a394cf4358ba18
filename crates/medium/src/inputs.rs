//! The inputs of the medium, and the host that a run calls.

use crate::config::PlcaSettings;
use crate::event::Event;
use crate::frame::{Frame, StationId};
use crate::noise::{BitErrors, Mishap};
use crate::time::BitInstant;
use crate::topology::segments::Place;

/// An input of the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The host of `station` hands a frame to its MAC.
    Offer {
        /// The host's station.
        station: StationId,
        /// The frame.
        frame: Frame,
    },
    /// The station is taken off. A present attempt continues to its end; every other frame is discarded then or at
    /// once. The station receives nothing whose last bit comes while it is off.
    Detach {
        /// The station.
        station: StationId,
    },
    /// The station is put back.
    Attach {
        /// The station.
        station: StationId,
    },
    /// A station joins at a [seat](crate::Config::seats), or joins again: as [`Input::Attach`].
    Join {
        /// The seat.
        station: StationId,
        /// Who it is.
        who: Joiner,
    },
    /// The station leaves the medium: as [`Input::Detach`].
    Leave {
        /// The station.
        station: StationId,
    },
    /// The station has a fault from now on, or, with `None`, none.
    SetFault {
        /// The station.
        station: StationId,
        /// Its fault; replaces the one before.
        fault: Option<Fault>,
    },
    /// A node of a medium with [PLCA](crate::Method::Plca) gets other settings, and plca_reset makes it begin anew; on
    /// any other medium this has no effect.
    SetPlca {
        /// The station of the node.
        station: StationId,
        /// All of them.
        settings: PlcaSettings,
    },
    /// The cable is cut in two just before a place, each end terminated, or, with `None`, whole again. A new cut
    /// replaces the one before.
    ///
    /// A transmission passes the place of the cut whole or not at all: one that began before the cut passes, one that
    /// begins during it never does.
    SetCut {
        /// The place: stations at it and beyond it are on the far side.
        cut: Option<Place>,
    },
    /// Transmit queues hold this number of frames from now on. A longer queue keeps its frames, and takes no other one
    /// until it is below the limit.
    SetQueue {
        /// How many, at least 1.
        limit: usize,
    },
}

impl Input {
    /// The station that it is about, if it is not about all of them.
    pub fn station(&self) -> Option<StationId> {
        match *self {
            Input::Offer { station, .. } | Input::Attach { station } | Input::Detach { station } => Some(station),
            Input::SetFault { station, .. } | Input::SetPlca { station, .. } => Some(station),
            Input::Join { station, .. } | Input::Leave { station } => Some(station),
            Input::SetCut { .. } | Input::SetQueue { .. } => None,
        }
    }

    /// The station that comes onto the medium (`true`) or goes off it.
    pub fn plugs(&self) -> Option<(StationId, bool)> {
        match *self {
            Input::Attach { station } | Input::Join { station, .. } => Some((station, true)),
            Input::Detach { station } | Input::Leave { station } => Some((station, false)),
            Input::Offer { .. } | Input::SetFault { .. } | Input::SetPlca { .. } => None,
            Input::SetCut { .. } | Input::SetQueue { .. } => None,
        }
    }
}

/// A station that joins: its name and address, which the engine passes on and never reads, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joiner {
    name: [u8; Joiner::LONGEST],
    /// Its address.
    pub address: [u8; 6],
    /// Where it is from now on, if that is not where its seat was: one of [`Config::places`](crate::Config::places), and
    /// only of a station that joins for the first time.
    pub place: Option<Place>,
}

impl Joiner {
    /// Octets of the longest name.
    pub const LONGEST: usize = 15;

    /// One called `name`; nothing if that is empty, too long, or has an octet 0.
    pub fn new(name: &str, address: [u8; 6]) -> Option<Joiner> {
        let fits = (1..=Joiner::LONGEST).contains(&name.len()) && !name.contains('\0');
        let mut octets = [0; Joiner::LONGEST];
        octets.get_mut(..name.len())?.copy_from_slice(name.as_bytes());
        fits.then_some(Joiner { name: octets, address, place: None })
    }

    /// The same at a place of its own, if it has one.
    #[must_use]
    pub fn at(self, place: Option<Place>) -> Joiner {
        Joiner { place, ..self }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        let length = self.name.iter().position(|octet| *octet == 0).unwrap_or(Joiner::LONGEST);
        std::str::from_utf8(&self.name[..length]).expect("it was made from text")
    }
}

/// A fault of a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// It has no carrier sense: it never defers to transmissions that begin during the fault, its own too, and no gap
    /// follows them. It hears a transmission whole or not at all: one that began before the fault it hears to its end,
    /// and waits for the gap after it; after the fault, the next one that begins is the next that it hears. Each frame
    /// whose transmission it begins during the fault and finishes without collision counts a carrier sense error. It
    /// still detects collisions.
    Deaf,
    /// Each frame whose transmission it begins during the fault arrives everywhere with a bad FCS.
    BadFcs,
    /// Its MAC takes frames of any length from the host. Its MAU cuts a transmission off at jabber_limit, and the MAC
    /// does not notice: a longer frame is transmitted as if it had the number of whole octets that fit. An addressee
    /// counts such a frame as too long, and does not hand it up.
    Babble,
    /// It hears nothing that begins at its place during the fault, and sends as ever: it has no carrier sense, as with
    /// [`Fault::Deaf`], and receives no frame. With PLCA its node hears no BEACON, no COMMIT and no collision; without
    /// PLCA its transmitter still detects collisions.
    OneWay,
    /// Bits are wrong at its place. A frame with a wrong bit has a bad FCS there, and a BEACON with one is not recognised.
    BitErrors(BitErrors),
    /// Signals of PLCA have a mishap at its place; without PLCA this has no effect.
    Signals {
        /// Which signals, and what happens to them.
        mishap: Mishap,
        /// To how many in a million.
        millionths: u32,
    },
}

impl Fault {
    /// Its station has no carrier sense.
    pub const fn is_deaf(self) -> bool {
        matches!(self, Fault::Deaf | Fault::OneWay)
    }

    /// It changes what its station receives, and nothing that the station sends.
    pub const fn is_of_receiver(self) -> bool {
        match self {
            Fault::OneWay | Fault::BitErrors(_) | Fault::Signals { .. } => true,
            Fault::Deaf | Fault::BadFcs | Fault::Babble => false,
        }
    }
}

/// The host of all stations while [`Medium::run_until`](crate::Medium::run_until) runs: it sees every event at once,
/// and provides the next frame of a station that has finished one.
///
/// The engine is compiled once for any host. [`Medium::run_until_for`](crate::Medium::run_until_for) has it compiled for
/// one type of host as well: an event that this host ignores then costs nothing.
pub trait Host {
    /// Whether [`Host::next_frame`] is called at all; always the same.
    fn feeds(&self) -> bool {
        false
    }

    /// A fact of the medium.
    fn event(&mut self, event: &Event);

    /// `station` has finished a frame, transmitted or discarded, at `at`: gives the frame that its host hands over at
    /// this very instant, if any.
    ///
    /// The engine calls this with the arrivals of the instant, after the ends of all timers and after an input at the
    /// same instant, in the order in which the stations finished.
    fn next_frame(&mut self, at: BitInstant, station: StationId) -> Option<Frame> {
        let _ = (at, station);
        None
    }

    /// Whether the run is to end early, before the next event.
    fn stops(&self) -> bool {
        false
    }
}

/// A host of any type, as one type.
pub(crate) struct AnyHost<'a>(pub &'a mut dyn Host);

impl Host for AnyHost<'_> {
    #[inline]
    fn feeds(&self) -> bool {
        self.0.feeds()
    }

    #[inline]
    fn event(&mut self, event: &Event) {
        self.0.event(event);
    }

    #[inline]
    fn next_frame(&mut self, at: BitInstant, station: StationId) -> Option<Frame> {
        self.0.next_frame(at, station)
    }

    #[inline]
    fn stops(&self) -> bool {
        self.0.stops()
    }
}
