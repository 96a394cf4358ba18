//! Rules of the medium that whoever tells of a run needs as well as the engine: when two signals meet at a place, what
//! counts as late, as a fragment, and when the jam begins. Knows values only, no state.

use crate::access::csma_cd::Parameters;
use crate::frame::PREAMBLE_AND_SFD;
use crate::time::{BitInstant, BitTimes};

/// When a signal is at a place.
///
/// ```text
///   begin    preamble        end
///     |eeeeeeee|pppp|========|          e: extension bits before a later frame of a burst
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its first bit.
    pub begin: BitInstant,
    /// The first bit of its preamble; `begin` if a collision came before that.
    pub preamble: BitInstant,
    /// The first instant without it, once nothing can move it.
    pub end: Option<BitInstant>,
}

impl Span {
    /// The same `distance` away from where it was.
    #[inline]
    pub fn after(self, distance: BitTimes) -> Span {
        let Span { begin, preamble, end } = self;
        Span { begin: begin + distance, preamble: preamble + distance, end: end.map(|end| end + distance) }
    }

    /// It is there at `now`, as signals see it: ends and begins of that instant included.
    #[inline]
    pub fn sounds(&self, now: BitInstant) -> bool {
        self.end.is_none_or(|end| end > now) && self.begin <= now
    }

    /// It is there at `now`, or was until less than `gap` ago, as decisions see it: just before that instant.
    pub fn matters(&self, now: BitInstant, gap: BitTimes) -> bool {
        self.begin < now && self.end.is_none_or(|end| end + gap > now)
    }

    /// `other` spoils this packet where both are.
    ///
    /// What meets only the extension bits before a preamble does the frame no harm: a receiver skips them (802.3,
    /// 4.2.9, PhysicalSignalDecap).
    #[inline]
    pub fn spoilt_by(&self, other: &Span) -> bool {
        let ends_by = |of: &Span, at: BitInstant| of.end.is_some_and(|end| end <= at);
        !ends_by(self, other.begin) && !ends_by(other, self.preamble)
    }
}

impl Parameters {
    /// A collision that a station notices `sent` after its first bit is late: later than slotTime, or in a burst, after
    /// its first frame, at all (802.3, 4.2.3.2.3 and 4.2.8).
    #[inline]
    pub fn late(&self, sent: BitTimes, goes_on_with_burst: bool) -> bool {
        goes_on_with_burst || sent > self.slot_time
    }

    /// When the jam begins after a collision at `now`: at once, but a preamble that has begun is finished first (802.3,
    /// 4.2.3.2.4). `preamble` is when it begins or began.
    #[inline]
    pub fn jam_begin(&self, now: BitInstant, preamble: BitInstant) -> BitInstant {
        if preamble <= now { now.max(preamble + PREAMBLE_AND_SFD) } else { now }
    }

    /// What a receiver hears below this, after preamble and SFD, is a collision fragment and no error (802.3, 4.2.9):
    /// slotTime for what is `first` in a burst or alone, where frames are extended; otherwise minFrameSize.
    #[inline]
    pub fn least_received(&self, first: bool) -> BitTimes {
        if first { self.least_carrier() } else { self.min_frame_size.bit_times() }
    }
}
