//! The inputs of the medium, and the host that a run calls.

use crate::deed::Deed;
use crate::event::Event;
use crate::frame::{Frame, StationId};
use crate::time::BitInstant;

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
    /// Something is done to the bus.
    Deed(Deed),
}

impl Input {
    /// The station that it is about, if it is not about all of them.
    pub fn station(&self) -> Option<StationId> {
        match self {
            Input::Offer { station, .. } => Some(*station),
            Input::Deed(deed) => deed.station(),
        }
    }

    /// What is done to the bus; nothing of a frame.
    pub fn deed(&self) -> Option<&Deed> {
        match self {
            Input::Offer { .. } => None,
            Input::Deed(deed) => Some(deed),
        }
    }

    /// The station that comes onto the medium (`true`) or goes off it.
    pub fn plugs(&self) -> Option<(StationId, bool)> {
        self.deed().and_then(Deed::plugs)
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
