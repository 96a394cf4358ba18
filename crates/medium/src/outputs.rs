//! What the medium gives to the world outside, beside events.

use crate::frame::{FrameId, StationId};
use crate::time::BitInstant;

/// What the world outside has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Nothing can change any more: every attached station but the sender hears `frame` whole.
    ///
    /// Its last bit, of its extension if it has one, leaves at `end` and reaches a station at
    /// `end` + [`Medium::distance`](crate::Medium::distance) to it.
    Carried {
        /// The frame.
        frame: FrameId,
        /// The instant after its last bit, at the sender's place.
        end: BitInstant,
        /// Stations that do not hand it up: another signal spoilt it at their place, which takes an undetected
        /// collision; a cut of the cable kept it from them; or all but the sender, if it has a bad FCS or is too long.
        damaged: Vec<StationId>,
    },
    /// The medium is done with the frame: it was transmitted, dropped or discarded.
    Released {
        /// The frame.
        frame: FrameId,
    },
}
