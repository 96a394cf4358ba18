//! What a station senses just before it sends.

use super::{Line, Transmission};
use crate::frame::StationId;
use crate::time::BitInstant;

impl Line {
    /// The station at `place` heard a signal, of its own or another's, in the bit time before `now`.
    ///
    /// Asked in the decisions of an instant, before its signals.
    #[inline]
    pub fn was_busy(&self, place: StationId, now: BitInstant) -> bool {
        if let Some((_, last)) = self.stretches(place, now) {
            return last.is_some_and(|carrier| carrier.end.is_none_or(|end| end >= now));
        }
        let deafness = &self.deafness[place.index()];
        let was_there = |(number, other): (u64, &Transmission)| {
            let distance = self.way(other, place);
            let sounds = other.begin + distance < now && other.known_end().is_none_or(|end| end + distance >= now);
            sounds && deafness.hears(number) && other.reaches(place)
        };
        (self.first..).zip(&self.transmissions).any(was_there)
    }
}
