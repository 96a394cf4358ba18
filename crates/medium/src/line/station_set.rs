//! A set of stations, iterated in order of their numbers.

use crate::frame::StationId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StationSet {
    words: Box<[u64]>,
    members: usize,
}

impl StationSet {
    /// An empty set, for `stations`.
    pub fn new(stations: usize) -> StationSet {
        StationSet { words: vec![0; stations.div_ceil(64).max(1)].into(), members: 0 }
    }

    // With branches on purpose: release builds of rustc 1.95.0 lost count where `members` grew by a `bool`.
    /// Adds `station`; false if it was a member already.
    #[inline]
    pub fn insert(&mut self, station: StationId) -> bool {
        let is_new = !self.contains(station);
        if is_new {
            self.words[station.index() / 64] |= 1 << (station.index() % 64);
            self.members += 1;
        }
        is_new
    }

    /// Removes `station`; false if it was no member.
    #[inline]
    pub fn remove(&mut self, station: StationId) -> bool {
        let was_in = self.contains(station);
        if was_in {
            self.words[station.index() / 64] &= !(1 << (station.index() % 64));
            self.members -= 1;
        }
        was_in
    }

    /// The number of members.
    #[inline]
    pub fn len(&self) -> usize {
        self.members
    }

    #[inline]
    pub fn contains(&self, station: StationId) -> bool {
        self.words[station.index() / 64] >> (station.index() % 64) & 1 == 1
    }

    /// Its first member from number `from` on. Members may be added and removed during the iteration.
    #[inline]
    pub fn next(&self, from: usize) -> Option<StationId> {
        let mut index = from / 64;
        let mut word = *self.words.get(index)? & (u64::MAX << (from % 64));
        while word == 0 {
            index += 1;
            word = *self.words.get(index)?;
        }
        Some(StationId::new((index * 64) as u16 + word.trailing_zeros() as u16))
    }

    pub fn iter(&self) -> impl Iterator<Item = StationId> {
        let mut from = 0;
        std::iter::from_fn(move || {
            let next = self.next(from)?;
            from = next.index() + 1;
            Some(next)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_gone_through_in_order() {
        let mut set = StationSet::new(1024);
        for number in [1000, 3, 64, 63, 128, 3] {
            set.insert(StationId::new(number));
        }
        set.remove(StationId::new(128));
        set.remove(StationId::new(127));
        let numbers: Vec<usize> = set.iter().map(StationId::index).collect();
        assert_eq!(numbers, [3, 63, 64, 1000]);
        assert!(set.contains(StationId::new(63)) && !set.contains(StationId::new(128)));
        assert_eq!(StationSet::new(1).next(0), None);
        assert_eq!(set.next(1001), None);
    }
}
