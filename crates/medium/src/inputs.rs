//! What the medium is given: inputs, and the host that a run asks.

use crate::access::plca::PlcaSettings;
use crate::event::Event;
use crate::frame::{Frame, StationId};
use crate::time::BitInstant;
use crate::topology::segments::Place;

/// What the medium is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The host of `station` hands a frame to its MAC.
    Offer {
        /// Whose host.
        station: StationId,
        /// The frame.
        frame: Frame,
    },
    /// The station is taken off: an attempt under way ends as it would, every other frame is discarded then or at once,
    /// and it receives nothing whose last bit comes while it is off.
    Detach {
        /// Which one.
        station: StationId,
    },
    /// The station is put back.
    Attach {
        /// Which one.
        station: StationId,
    },
    /// Something is wrong with the station from now on, or, with `None`, right again.
    SetFault {
        /// Which station.
        station: StationId,
        /// What is wrong with it; replaces what was wrong before.
        fault: Option<Fault>,
    },
    /// A node of a medium with [PLCA](crate::Method::Plca) is told other settings, and plca_reset has it begin anew; on any
    /// other medium nothing happens.
    SetPlca {
        /// Which station's.
        station: StationId,
        /// All of them.
        settings: PlcaSettings,
    },
    /// The cable is cut in two just before a place, each end terminated, or, with `None`, whole again. A cut replaces the
    /// one before.
    ///
    /// A transmission gets past the place of the cut whole or not at all: one that began before the cut does, one that
    /// begins during it never will.
    SetCut {
        /// Where: stations at this place and beyond it are on the far side.
        cut: Option<Place>,
    },
}

/// What can be wrong with a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// It has no carrier sense: to transmissions that begin while it is so, its own too, it never defers, and no gap
    /// follows them. It hears a transmission whole or not at all: what had begun before the fault it hears to its
    /// end, and waits for the gap after it; what begins after the station is right again is what it hears next.
    /// Each frame whose transmission it begins so and finishes without collision counts a carrier sense error.
    /// Collisions it still detects.
    Deaf,
    /// Each frame whose transmission it begins now arrives everywhere with a bad FCS.
    BadFcs,
    /// Its MAC takes frames of any length from the host; its MAU cuts a transmission off at jabber_limit, and the
    /// MAC does not notice: a longer frame is transmitted as if it had as many whole octets as fit. A station that
    /// such a frame is for counts it as too long, and nobody hands it up.
    Babble,
}

/// Who is there while [`Medium::run_until`](crate::Medium::run_until) runs: it sees every event as it happens, and hands
/// over the next frame of a station that is done with one.
///
/// The engine is compiled for each host: an event that a host does not look at costs nothing.
pub trait Host {
    /// Whether [`Host::next_frame`] is called at all.
    const FEEDS: bool = false;

    /// A fact of the medium.
    fn event(&mut self, event: &Event);

    /// `station` is done with a frame, transmitted or discarded, at `at`: the frame that its host hands over at this
    /// very instant, if any.
    ///
    /// Called with the arrivals of the instant, after the ends of all timers and after an input that was given at it,
    /// in the order in which stations were done.
    fn next_frame(&mut self, at: BitInstant, station: StationId) -> Option<Frame> {
        let _ = (at, station);
        None
    }

    /// Whether the run is to end early, before whatever is due next.
    fn stops(&self) -> bool {
        false
    }
}
