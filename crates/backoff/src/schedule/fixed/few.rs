//! Buckets of few values: they are given as they lie in their one chunk, sorted there, and never see the wheel.

use super::super::lists::Place;
use super::{Stop, Work};

impl Work<'_> {
    /// Gives the values of the next buckets, as long as the wheel is empty, each bucket has one chunk without a ticket,
    /// all of its values are up to `limit`, and there is room. `None`: nothing is changed, and [`Work::step`]
    /// continues.
    #[inline(always)]
    pub(super) fn give_few<P: Place>(&mut self, limit: u64, room: &mut [P], given: &mut usize) -> Option<Stop> {
        let before = *given;
        while self.state.waiting == 0
            && self.state.summaries[0] == 0
            && let Some(bucket) = self.first_bucket(1)
            && self.give_bucket(bucket, limit, room, given)
        {}
        if *given == before {
            return None;
        }
        self.go_on(1);
        Some(if *given == room.len() { Stop::Done } else { Stop::Step })
    }

    /// Gives the values of that bucket of level 1, the first one that has any, if they are few; gives whether it has.
    #[inline(always)]
    fn give_bucket<P: Place>(&mut self, bucket: u64, limit: u64, room: &mut [P], given: &mut usize) -> bool {
        let (first, list) = (self.state.start(1, bucket), self.state.list(1, bucket));
        let last = first | !(u64::MAX << (self.state.bits & 63));
        // A bucket that now is not in at level 2 may still be dealt out from there.
        let enters = (first ^ self.state.now) >> ((2 * self.state.bits) & 63) != 0;
        if last > limit || enters {
            return false;
        }
        let Some(places) = room.get_mut(*given..) else { return false };
        let (taken, slot) = self.lists.give_chunk(list, first >> 32 << 32, places);
        if taken == 0 {
            return false;
        }
        *given += taken;
        if let Some(count) = self.lists.behind.get_mut(list) {
            (count.values, count.limit) = (0, super::FEW);
        }
        let slots = self.state.slots();
        self.bits().clear(1, list, slots);
        self.state.pending = self.state.pending.wrapping_sub(taken as u32);
        self.state.now = slot;
        self.state.set_edge(1, bucket + 1);
        true
    }
}
