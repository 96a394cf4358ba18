//! Counts of whole numbers in buckets that grow with them. Knows nothing of what is counted.

use std::collections::BTreeMap;

/// How often each number came: exact below 2^BITS, above it to one part in 2^(BITS − 1).
///
/// ```text
///   BITS = 3:  0 1 2 3 4 5 6 7 | 8-9 10-11 12-13 14-15 | 16-19 20-23 24-27 28-31 | 32-39 …
/// ```
/// It has as many buckets as its largest number needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram<const BITS: u32> {
    counts: Vec<u64>,
    /// The sum of them.
    total: u64,
}

/// Buckets that are looked at in one go.
const PIECE: usize = 64;

/// Bins of [`Histogram::bins`]: four for each doubling.
type Coarse = Histogram<3>;

impl<const BITS: u32> Histogram<BITS> {
    /// Buckets of one doubling.
    const HALF: u64 = 1 << (BITS - 1);

    /// Takes out what has been counted. What comes next is likely to need as many buckets, so there is room for them.
    pub fn take(&mut self) -> Histogram<BITS> {
        let counts = Vec::with_capacity(self.counts.len());
        Histogram { counts: std::mem::replace(&mut self.counts, counts), total: std::mem::take(&mut self.total) }
    }

    /// Takes in one number.
    #[inline]
    pub fn record(&mut self, number: u64) {
        let bucket = Self::bucket(number) as usize;
        self.total += 1;
        match self.counts.get_mut(bucket) {
            Some(count) => *count += 1,
            None => self.grow(bucket),
        }
    }

    /// Makes room for the first number of `bucket`, and takes it in.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, bucket: usize) {
        // A doubling of the numbers at a time, and no more: a thousand stations have two thousand of these.
        let room = (bucket + 1).next_multiple_of(Self::HALF as usize);
        self.counts.reserve_exact(room - self.counts.len());
        self.counts.resize(bucket + 1, 0);
        self.counts[bucket] = 1;
    }

    /// Takes in what another one has.
    pub fn add(&mut self, other: &Histogram<BITS>) {
        self.counts.resize(self.counts.len().max(other.counts.len()), 0);
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.total += other.total;
    }

    /// How many numbers there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many numbers are in buckets above that of `number`.
    pub fn above(&self, number: u64) -> u64 {
        self.counts.iter().skip(Self::bucket(number) as usize + 1).sum()
    }

    /// For each of `parts`, which rise from 0 to 1: the largest number of the bucket up to which that part of all
    /// numbers lies, or `longest`, the largest number that was taken in, if that is less; none of nothing.
    pub fn quantiles<const N: usize>(&self, parts: [f64; N], longest: u64) -> [Option<u64>; N] {
        let mut found = [None; N];
        let total = self.total();
        if total == 0 {
            return found;
        }
        let ranks = parts.map(|part| ((part * total as f64).ceil() as u64).max(1));
        let (mut seen, mut next) = (0, 0);
        for (begin, piece) in (0..).step_by(PIECE).zip(self.counts.chunks(PIECE)) {
            if next == N {
                break;
            }
            let sum: u64 = piece.iter().sum();
            // Nearly all pieces are passed over at once.
            let mut within = seen;
            for (bucket, count) in (begin..).zip(piece) {
                if next == N || seen + sum < ranks[next] {
                    break;
                }
                within += count;
                while next < N && within >= ranks[next] {
                    found[next] = Some(Self::last(bucket).min(longest));
                    next += 1;
                }
            }
            seen += sum;
        }
        found
    }

    /// How many numbers are in each bin, four bins for each doubling, under the bin's largest number.
    pub fn bins(&self) -> BTreeMap<u64, u64> {
        let mut bins = BTreeMap::new();
        for (bucket, &count) in (0..).zip(&self.counts).filter(|(_, count)| **count > 0) {
            *bins.entry(Coarse::last(Coarse::bucket(Self::first(bucket)))).or_default() += count;
        }
        bins
    }

    #[inline]
    fn bucket(number: u64) -> u64 {
        let width = u64::BITS - number.leading_zeros();
        let shift = width.saturating_sub(BITS);
        u64::from(shift) * Self::HALF + (number >> shift)
    }

    /// The least number of a bucket.
    fn first(bucket: u64) -> u64 {
        let shift = (bucket / Self::HALF).saturating_sub(1);
        (bucket - shift * Self::HALF) << shift
    }

    /// The largest.
    fn last(bucket: u64) -> u64 {
        Self::first(bucket + 1) - 1
    }
}

/// A histogram that takes in no more numbers, in little room.
///
/// Numbers of seven bits an octet, the low bits first: the count of each bucket, the last bucket first. A row of empty
/// buckets is a 0 and their number; those below the least number are left out.
#[derive(Clone, Debug, Default)]
pub struct Packed<const BITS: u32> {
    octets: Box<[u8]>,
    buckets: u64,
    total: u64,
}

impl<const BITS: u32> From<&Histogram<BITS>> for Packed<BITS> {
    fn from(from: &Histogram<BITS>) -> Packed<BITS> {
        let (mut octets, mut empty) = (Vec::new(), 0);
        for piece in from.counts.rchunks(PIECE) {
            // Of a short batch nearly all pieces are passed over at once.
            if piece.iter().fold(0, |any, count| any | count) == 0 {
                empty += piece.len() as u64;
                continue;
            }
            for &count in piece.iter().rev() {
                if count == 0 {
                    empty += 1;
                    continue;
                }
                if empty > 0 {
                    octets.push(0);
                    pack(empty, &mut octets);
                    empty = 0;
                }
                pack(count, &mut octets);
            }
        }
        Packed { octets: octets.into(), buckets: from.counts.len() as u64, total: from.total }
    }
}

impl<const BITS: u32> Packed<BITS> {
    /// As [`Histogram::total`].
    pub fn total(&self) -> u64 {
        self.total
    }

    /// As [`Histogram::above`].
    pub fn above(&self, number: u64) -> u64 {
        let last = Histogram::<BITS>::bucket(number);
        let (mut octets, mut bucket, mut sum) = (&*self.octets, self.buckets, 0);
        while let Some(count) = unpack(&mut octets) {
            if count == 0 {
                bucket -= unpack(&mut octets).expect("the number of empty buckets");
                continue;
            }
            bucket -= 1;
            if bucket <= last {
                break;
            }
            sum += count;
        }
        sum
    }
}

fn pack(mut number: u64, into: &mut Vec<u8>) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

fn unpack(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..).step_by(7) {
        let octet = *from.split_off_first()?;
        number |= u64::from(octet & 0x7f) << shift;
        if octet < 0x80 {
            break;
        }
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every number is in the bucket that says so, and a bucket is at most one part in 2^(BITS − 1) wide.
        #[test]
        fn a_bucket_holds_its_numbers(number in 0_u64..1 << 62) {
            let bucket = Histogram::<11>::bucket(number);
            let (first, last) = (Histogram::<11>::first(bucket), Histogram::<11>::last(bucket));
            prop_assert!((first..=last).contains(&number), "{} in {}..={}", number, first, last);
            prop_assert!((last - first) as f64 <= first as f64 / 1024.0);
            prop_assert!(last == first || first >= 2048);
        }

        /// A quantile is the number of that rank, or less than one part in a thousand above it.
        #[test]
        fn quantiles_are_those_of_the_sorted_numbers(mut numbers in prop::collection::vec(0_u64..1 << 30, 1..200)) {
            let mut histogram = Histogram::<11>::default();
            numbers.iter().for_each(|&number| histogram.record(number));
            numbers.sort_unstable();
            let longest = numbers[numbers.len() - 1];
            let parts = [0.5, 0.9, 0.95, 0.99, 0.999];
            for (part, found) in parts.into_iter().zip(histogram.quantiles(parts, longest)) {
                let rank = (part * numbers.len() as f64).ceil() as usize;
                let (exact, found) = (numbers[rank - 1], found.expect("not empty"));
                prop_assert!(histogram.above(found) <= (numbers.len() - rank) as u64);
                prop_assert!(exact <= found && found - exact <= exact / 1000, "{part}: {exact}, {found}");
                prop_assert!(found <= longest, "{part}: {found} above {longest}");
            }
        }
    }

    proptest! {
        /// A packed histogram answers as it did before, at each edge of a bucket in use and elsewhere.
        #[test]
        fn packed_counts_are_the_same(
            numbers in prop::collection::vec((0_u64..1 << 40, 0_u32..40, 1_u64..300), 0..60),
            others in prop::collection::vec(0_u64..1 << 41, 20),
        ) {
            let mut histogram = Histogram::<11>::default();
            let numbers: Vec<(u64, u64)> = numbers.into_iter().map(|(it, shift, count)| (it >> shift, count)).collect();
            for &(number, count) in &numbers {
                (0..count).for_each(|_| histogram.record(number));
            }
            let packed = Packed::from(&histogram);
            prop_assert_eq!(packed.total(), histogram.total());
            let edges = numbers.iter().flat_map(|&(number, _)| [number.saturating_sub(1), number, number + 1]);
            for number in edges.chain(others) {
                prop_assert_eq!(packed.above(number), histogram.above(number), "above {}", number);
            }
        }
    }

    /// The delays of a run's batches are kept to its end: most buckets of a long run take an octet instead of eight.
    #[test]
    fn packed_counts_take_an_octet_each() {
        let mut histogram = Histogram::<11>::default();
        (0..1 << 15).for_each(|number| histogram.record(number));
        let packed = Packed::from(&histogram);
        assert!(packed.octets.len() <= histogram.counts.len(), "{} octets", packed.octets.len());
    }

    #[test]
    fn bins_are_four_for_each_doubling_whatever_the_precision() {
        let numbers = [0, 7, 8, 9, 100, 1_000_000];
        let expected: BTreeMap<u64, u64> = [(0, 1), (7, 1), (9, 2), (111, 1), (1_048_575, 1)].into();
        let (mut fine, mut coarse) = (Histogram::<11>::default(), Histogram::<5>::default());
        numbers.into_iter().for_each(|number| fine.record(number));
        numbers.into_iter().for_each(|number| coarse.record(number));
        assert_eq!(fine.bins(), expected);
        assert_eq!(coarse.bins(), expected);
        assert_eq!(Histogram::<11>::default().quantiles([0.5], u64::MAX), [None]);
    }
}
