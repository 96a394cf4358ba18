//! What an addressee makes of a frame: the only place where an arrival becomes an event.
//!
//! Holds values only. Which stations are there, which of them have sent meanwhile, and which signals have met is up to
//! the access method and its line.

use crate::config::Parameters;
use crate::event::Kind;
use crate::fault::Fault;
use crate::frame::PREAMBLE_AND_SFD;
use crate::line::Worth;
use crate::time::{BitInstant, BitTimes, Octets};

/// How a frame that was sent to its last bit arrived at an addressee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// No other signal was there.
    Clear,
    /// The same, and the station has received the frame before: its acknowledgement was lost.
    Again,
    /// Another signal was there, or the addressee could not decode it for another reason.
    Spoilt,
}

impl Arrival {
    #[inline]
    pub fn met(other: bool) -> Arrival {
        if other { Arrival::Spoilt } else { Arrival::Clear }
    }
}

impl Worth {
    /// How receivers treat a frame from a station with this `fault`; `too_long` if the station babbled it.
    #[inline]
    pub fn sent(too_long: bool, fault: Option<Fault>) -> Worth {
        match fault {
            _ if too_long => Worth::TooLong,
            Some(Fault::BadFcs) => Worth::BadFcs,
            Some(
                Fault::Deaf
                | Fault::Babble
                | Fault::OneWay
                | Fault::FullDuplex
                | Fault::BitErrors(_)
                | Fault::Signals { .. },
            )
            | None => Worth::Good,
        }
    }

    /// What an addressee makes of a whole frame of `size` octets.
    #[inline]
    pub fn received(self, size: Octets, arrival: Arrival) -> Kind {
        match (self, arrival) {
            // A length above the limit comes before a bad FCS (802.3, 4.2.9 ReceiveDataDecap).
            (Worth::TooLong, _) => Kind::TooLong { size },
            (Worth::Good, Arrival::Clear) => Kind::Delivered { size },
            (Worth::Good, Arrival::Again) => Kind::Duplicate { size },
            (Worth::Good, Arrival::Spoilt) | (Worth::BadFcs, _) => Kind::Damaged { bits: size.bit_times() },
        }
    }

    /// Whether an addressee hands the frame up, if another signal `met` it there or not.
    #[inline]
    pub fn is_handed_up(self, met: bool) -> bool {
        self == Worth::Good && !met
    }
}

/// A signal that a collision cut short, as it is heard at its addressee's distance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    pub begin: BitInstant,
    /// The first bit of the preamble: later than `begin` in a burst.
    pub preamble: BitInstant,
    /// The end that its frame would have had.
    pub frame_end: BitInstant,
    /// The end of its jam.
    pub end: BitInstant,
}

impl Cut {
    /// What an addressee makes of it. 802.3, 4.2.9: a frame below slotTime, or in a burst below minFrameSize, is a
    /// collision fragment, and no error.
    pub fn received(self, parameters: &Parameters) -> Kind {
        let bits = (self.end - self.preamble).get() - PREAMBLE_AND_SFD.get();
        let first = self.preamble == self.begin;
        if bits < parameters.least_received(first).get() {
            return Kind::Fragment { bits: BitTimes::new(bits) };
        }
        // The jam of an extension counts with the octets, and the error is in the extension.
        let in_extension = self.end >= self.frame_end + parameters.jam_size;
        Kind::Damaged { bits: BitTimes::new(if in_extension { bits - bits % 8 } else { bits }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of the checks of 802.3, 4.2.9: the length, then the FCS; a frame that is received again is good.
    #[test]
    fn length_comes_before_fcs_and_only_a_good_frame_is_a_duplicate() {
        let size = Octets::new(64);
        let damaged = Kind::Damaged { bits: BitTimes::new(512) };
        for arrival in [Arrival::Clear, Arrival::Again, Arrival::Spoilt] {
            assert_eq!(Worth::TooLong.received(size, arrival), Kind::TooLong { size });
            assert_eq!(Worth::BadFcs.received(size, arrival), damaged);
        }
        assert_eq!(Worth::Good.received(size, Arrival::Clear), Kind::Delivered { size });
        assert_eq!(Worth::Good.received(size, Arrival::Again), Kind::Duplicate { size });
        assert_eq!(Worth::Good.received(size, Arrival::Spoilt), damaged);
    }

    /// A host gets a frame exactly if the event says that it was delivered.
    #[test]
    fn what_is_handed_up_is_what_is_delivered() {
        for worth in [Worth::Good, Worth::BadFcs, Worth::TooLong] {
            for met in [false, true] {
                let kind = worth.received(Octets::new(64), Arrival::met(met));
                assert_eq!(worth.is_handed_up(met), matches!(kind, Kind::Delivered { .. }), "{worth:?}, {met}");
            }
        }
    }
}
