//! Stretches of carrier, where all places hear the same: on a star without distance.
//!
//! Asked in the decisions of an instant, before its signals: signals that begin at the instant itself are not there
//! yet.

use super::Carrier;
use crate::time::BitInstant;

/// The last three stretches, and whether every station has heard them.
#[derive(Debug)]
pub(super) struct Stretches {
    /// All places hear the same, if no station is deaf.
    possible: bool,
    /// No station has been deaf to any of them.
    valid: bool,
    last: [Option<Stretch>; 3],
}

/// From `begin` to `end`, its latest known end.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    begin: BitInstant,
    end: BitInstant,
}

impl Stretches {
    pub fn new(possible: bool) -> Stretches {
        Stretches { possible, valid: possible, last: [None; 3] }
    }

    /// A signal begins, with or without others already there.
    #[inline]
    pub fn begin(&mut self, now: BitInstant, first: bool) {
        if first && self.last[0].is_none_or(|stretch| stretch.end < now) {
            self.last = [Some(Stretch { begin: now, end: now }), self.last[0], self.last[1]];
        }
    }

    #[inline]
    pub fn end(&mut self, now: BitInstant) {
        if let Some(stretch) = &mut self.last[0] {
            stretch.end = now;
        }
    }

    /// All carrier ended long ago, so that no gap after it is in progress.
    #[inline]
    pub fn all_is_long_over(&mut self, somebody_is_deaf: bool) {
        if !self.valid && self.possible && !somebody_is_deaf {
            self.last = [None; 3];
            self.valid = true;
        }
    }

    /// Whether all stations hear the same.
    #[inline]
    pub fn are_valid(&self) -> bool {
        self.valid
    }

    /// The last stretch, from its begin to its end.
    pub fn last(&self) -> Option<(BitInstant, BitInstant)> {
        self.last[0].map(|stretch| (stretch.begin, stretch.end))
    }

    /// Some station is deaf to signals from now on.
    pub fn somebody_is_deaf(&mut self) {
        self.valid = false;
    }

    /// The stretch before the last, and the last, at `now`, for a station whose last signal began at `spoke`; `goes_on`
    /// says that there are signals without a known end. `None` if stations may have heard different signals.
    #[inline]
    pub fn heard(
        &self,
        now: BitInstant,
        spoke: Option<BitInstant>,
        goes_on: bool,
    ) -> Option<(Option<Carrier>, Option<Carrier>)> {
        if !self.valid {
            return None;
        }
        let begins_now = self.last[0].is_some_and(|stretch| stretch.begin == now);
        let at = usize::from(begins_now);
        let carrier = |stretch: Stretch, goes_on: bool| Carrier {
            begin: stretch.begin,
            end: (!goes_on).then_some(stretch.end),
            own: spoke.is_some_and(|spoke| stretch.begin <= spoke && spoke < now),
        };
        let last = self.last[at].map(|stretch| carrier(stretch, goes_on && !begins_now));
        Some((self.last[at + 1].map(|stretch| carrier(stretch, false)), last))
    }
}
