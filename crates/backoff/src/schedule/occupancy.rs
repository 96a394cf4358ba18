//! Which of 4096 buckets have anything: a bit for each, and a bit for each 64 of those.

/// How many bits of a slot tell the buckets of one level apart.
pub(super) const BITS: u32 = 12;
pub(super) const BUCKETS: usize = 1 << BITS;

#[repr(C)]
#[derive(Clone, Debug)]
pub(super) struct Occupancy {
    summary: u64,
    occupied: [u64; BUCKETS / 64],
}

impl Occupancy {
    pub(super) const NOTHING: Occupancy = Occupancy { summary: 0, occupied: [0; BUCKETS / 64] };

    #[inline]
    pub(super) fn set(&mut self, index: usize) {
        let word = &mut self.occupied[word_of(index)];
        // Asking for the word is cheap: it hardly ever changes. Asking for the bit would be guessed wrong too often.
        if *word == 0 {
            self.summary |= 1 << word_of(index);
        }
        *word |= 1 << (index % 64);
    }

    #[inline]
    pub(super) fn clear(&mut self, index: usize) {
        self.occupied[word_of(index)] &= !(1 << (index % 64));
        if self.occupied[word_of(index)] == 0 {
            self.summary &= !(1 << word_of(index));
        }
    }

    /// The first set one from `index` on.
    #[inline]
    pub(super) fn next(&self, index: usize) -> Option<usize> {
        let here = self.occupied[word_of(index)] >> (index % 64);
        if here != 0 {
            return Some(index + here.trailing_zeros() as usize);
        }
        let later = self.summary & (u64::MAX << word_of(index)) & !(1 << word_of(index));
        if later == 0 {
            return None;
        }
        let word = later.trailing_zeros() as usize;
        Some(word * 64 + self.occupied[word].trailing_zeros() as usize)
    }
}

/// The word of a bucket's bit; a mask, so that no index is out of bounds.
#[inline]
const fn word_of(index: usize) -> usize {
    index / 64 % (BUCKETS / 64)
}
