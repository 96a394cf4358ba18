//! A ring of buckets, one for each stretch of time: one bit says whether a bucket is empty.

/// Buckets around the ring.
pub(crate) const RING: u64 = 1024;
const WORDS: usize = RING as usize / 64;

/// The place of bucket number `bucket` in the ring.
#[inline(always)]
pub(crate) const fn place(bucket: u64) -> usize {
    (bucket % RING) as usize
}

/// The places that are not empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filled([u64; WORDS]);

impl Filled {
    #[inline]
    pub fn set(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    #[inline]
    pub fn clear(&mut self, place: usize) {
        self.0[place / 64] &= !(1 << (place % 64));
    }

    /// The number of the next bucket after `bucket`, once around, that is not empty.
    #[inline]
    pub fn after(&self, bucket: u64) -> Option<u64> {
        let from = (bucket + 1) % RING;
        let place = self.first_from(from)?;
        Some(bucket + 1 + (place + RING - from) % RING)
    }

    fn first_from(&self, from: u64) -> Option<u64> {
        let (word, bit) = (from as usize / 64, from % 64);
        let first = self.0[word] & (u64::MAX << bit);
        if first != 0 {
            return Some((word * 64) as u64 + u64::from(first.trailing_zeros()));
        }
        // The word of the start comes last, with the places before `from`.
        let word = (1..=WORDS).map(|ahead| (word + ahead) % WORDS).find(|&word| self.0[word] != 0)?;
        Some((word * 64) as u64 + u64::from(self.0[word].trailing_zeros()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_bucket_is_found_all_around() {
        let mut filled = Filled::default();
        assert_eq!(filled.after(7), None);
        for (bucket, next) in [(8, 8), (63, 63), (64, 64), (1031, 1031)] {
            filled.set(place(bucket));
            assert_eq!(filled.after(7), Some(next));
            filled.clear(place(bucket));
        }
        filled.set(place(5_000));
        assert_eq!((filled.after(4_999), filled.after(5_000)), (Some(5_000), Some(6_024)));
    }
}
