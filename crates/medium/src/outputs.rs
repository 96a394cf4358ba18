//! The outputs of the medium, beside events.

use crate::frame::{FrameId, StationId};
use crate::time::BitInstant;

/// An instruction to the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// The outcome is final: every attached station but the sender hears `frame` whole.
    ///
    /// Its last bit, of its extension if it has one, leaves at `end` and reaches a station at `end` +
    /// [`Config::way`](crate::Config::way) to it.
    Carried {
        /// The frame.
        frame: FrameId,
        /// Its first bit, at the sender's place.
        begin: BitInstant,
        /// The instant after its last bit, at the sender's place.
        end: BitInstant,
        /// Stations that do not hand it up: another signal spoilt it at their place, without a collision that the
        /// sender detected; a cut of the cable kept it from them; or all but the sender, if it has a bad FCS or is too
        /// long.
        damaged: Vec<StationId>,
    },
    /// The medium has finished with the frame: it was transmitted, dropped or discarded.
    Released {
        /// The frame.
        frame: FrameId,
    },
}
