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
    /// Whole pieces.
    counts: Vec<u64>,
    /// The sum of them.
    total: u64,
}

/// Buckets that are passed over at once if they are empty.
const PIECE: usize = 16;

/// Bins of [`Packed::bins`]: four for each doubling.
type Coarse = Histogram<3>;

impl<const BITS: u32> Histogram<BITS> {
    /// Buckets of one doubling.
    const HALF: u64 = 1 << (BITS - 1);

    /// Moves what has been counted, of which no number is above `longest`, to `whole`, and gives it packed. The room stays,
    /// since what comes next is likely to need it.
    pub fn move_to(&mut self, whole: &mut Histogram<BITS>, longest: u64) -> Packed<BITS> {
        let buckets = (Self::bucket(longest) as usize + 1).next_multiple_of(PIECE).min(self.counts.len());
        whole.counts.resize(whole.counts.len().max(buckets), 0);
        let mut packed = Packed::new(buckets, std::mem::take(&mut self.total));
        whole.total += packed.total;
        let (pieces, _) = self.counts[..buckets].as_chunks_mut::<PIECE>();
        let (sums, _) = whole.counts[..buckets].as_chunks_mut::<PIECE>();
        for (piece, sums) in pieces.iter_mut().zip(sums).rev() {
            if packed.take_in(piece) {
                sums.iter_mut().zip(&*piece).for_each(|(sum, count)| *sum += count);
                piece.fill(0);
            }
        }
        packed.octets.shrink_to_fit();
        packed
    }

    /// Takes in one number.
    #[inline]
    pub fn record(&mut self, number: u64) {
        self.count(Self::bucket(number), 1);
    }

    #[inline]
    fn count(&mut self, bucket: u64, numbers: u64) {
        self.total += numbers;
        match self.counts.get_mut(bucket as usize) {
            Some(count) => *count += numbers,
            None => self.grow(bucket as usize, numbers),
        }
    }

    /// Makes room for the first numbers of `bucket`, and takes them in.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, bucket: usize, numbers: u64) {
        // A doubling of the numbers at a time, and no more: a thousand stations have two thousand of these.
        let room = (bucket + 1).next_multiple_of(PIECE.max(Self::HALF as usize));
        self.counts.reserve_exact(room - self.counts.len());
        self.counts.resize((bucket + 1).next_multiple_of(PIECE), 0);
        self.counts[bucket] = numbers;
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

    /// As [`Packed::quantiles`].
    pub fn quantiles<const N: usize>(&self, parts: [f64; N], longest: u64) -> [Option<u64>; N] {
        Packed::from(self).quantiles(parts, longest)
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
/// Numbers of seven bits an octet, the low bits first. Each bucket that is not empty, the last one first, is twice its count;
/// if empty ones are above it, one more, and then their number.
#[derive(Clone, Debug, Default)]
pub struct Packed<const BITS: u32> {
    octets: Vec<u8>,
    /// Empty buckets below the last count that was packed.
    empty: u64,
    buckets: u64,
    total: u64,
}

impl<const BITS: u32> From<&Histogram<BITS>> for Packed<BITS> {
    fn from(from: &Histogram<BITS>) -> Packed<BITS> {
        let mut packed = Packed::new(from.counts.len(), from.total);
        from.counts.as_chunks().0.iter().rev().for_each(|piece| _ = packed.take_in(piece));
        packed
    }
}

impl<const BITS: u32> Packed<BITS> {
    /// Those of `all` together.
    pub fn joined<'a>(all: impl IntoIterator<Item = &'a Packed<BITS>>) -> Packed<BITS> {
        let mut joined = Histogram::default();
        all.into_iter().flat_map(Packed::counts).for_each(|(bucket, count)| joined.count(bucket, count));
        Packed::from(&joined)
    }

    fn new(buckets: usize, total: u64) -> Packed<BITS> {
        Packed { octets: Vec::new(), empty: 0, buckets: buckets as u64, total }
    }

    /// Packs the counts of the buckets below those so far; false if all of them are empty.
    fn take_in(&mut self, piece: &[u64; PIECE]) -> bool {
        let mut below = &piece[..];
        if piece.iter().fold(0, |any, count| any | count) > 0 {
            while let Some(last) = below.iter().rposition(|&count| count > 0) {
                let empty = std::mem::take(&mut self.empty) + (below.len() - 1 - last) as u64;
                pack(below[last] << 1 | u64::from(empty > 0), &mut self.octets);
                if empty > 0 {
                    pack(empty, &mut self.octets);
                }
                below = &below[..last];
            }
        }
        self.empty += below.len() as u64;
        below.len() < piece.len()
    }

    /// The buckets that are not empty, the last one first, each with its count.
    fn counts(&self) -> impl Iterator<Item = (u64, u64)> {
        let (mut octets, mut bucket) = (self.octets.iter(), self.buckets);
        std::iter::from_fn(move || {
            let count = unpack(&mut octets)?;
            bucket -= 1 + if count & 1 == 1 { unpack(&mut octets)? } else { 0 };
            Some((bucket, count >> 1))
        })
    }

    /// How many numbers there are.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// How many numbers are in buckets above that of `number`.
    pub fn above(&self, number: u64) -> u64 {
        let last = Histogram::<BITS>::bucket(number);
        self.counts().take_while(|(bucket, _)| *bucket > last).map(|(_, count)| count).sum()
    }

    /// For each of `parts`, which rise from 0 to 1: the largest number of the bucket up to which that part of all
    /// numbers lies, or `longest`, the largest number that was taken in, if that is less; none of nothing.
    pub fn quantiles<const N: usize>(&self, parts: [f64; N], longest: u64) -> [Option<u64>; N] {
        let ranks = parts.map(|part| ((part * self.total as f64).ceil() as u64).max(1));
        let (mut found, mut next, mut below) = ([None; N], N, self.total);
        for (bucket, count) in self.counts() {
            below -= count;
            while next > 0 && below < ranks[next - 1] {
                next -= 1;
                found[next] = Some(Histogram::<BITS>::last(bucket).min(longest));
            }
            if next == 0 {
                break;
            }
        }
        found
    }

    /// How many numbers are in each bin, four bins for each doubling, under the bin's largest number.
    pub fn bins(&self) -> BTreeMap<u64, u64> {
        let mut bins = Coarse::default();
        let bin = |bucket| Coarse::bucket(Histogram::<BITS>::first(bucket));
        self.counts().for_each(|(bucket, count)| bins.count(bin(bucket), count));
        Packed::from(&bins).counts().map(|(bin, count)| (Coarse::last(bin), count)).collect()
    }
}

fn pack(mut number: u64, into: &mut Vec<u8>) {
    while number >= 0x80 {
        into.push(number as u8 | 0x80);
        number >>= 7;
    }
    into.push(number as u8);
}

#[inline(always)]
fn unpack(from: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let octet = u64::from(*from.next()?);
        number |= (octet & 0x7f) << shift;
        if octet < 0x80 {
            return Some(number);
        }
        shift += 7;
    }
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
            let packed = Packed::from(&histogram);
            for (part, found) in parts.into_iter().zip(packed.quantiles(parts, longest)) {
                let rank = (part * numbers.len() as f64).ceil() as usize;
                let (exact, found) = (numbers[rank - 1], found.expect("not empty"));
                prop_assert!(packed.above(found) <= (numbers.len() - rank) as u64);
                prop_assert!(exact <= found && found - exact <= exact / 1000, "{part}: {exact}, {found}");
                prop_assert!(found <= longest, "{part}: {found} above {longest}");
            }
        }
    }

    proptest! {
        /// Batches hold what was counted since they were moved before, at each edge of a bucket in use and elsewhere; the whole
        /// holds all of it.
        #[test]
        fn what_is_moved_is_what_was_counted(
            batches in prop::collection::vec(prop::collection::vec((0_u64..1 << 40, 0_u32..40, 1_u64..300), 0..30), 1..4),
            others in prop::collection::vec(0_u64..1 << 41, 20),
        ) {
            let (mut histogram, mut whole) = (Histogram::<11>::default(), Histogram::<11>::default());
            let (mut all, mut packed) = (Vec::new(), Vec::new());
            for (batch, exact) in batches.into_iter().zip([true, false].into_iter().cycle()) {
                let numbers: Vec<(u64, u64)> = batch.into_iter().map(|(it, shift, count)| (it >> shift, count)).collect();
                for &(number, count) in &numbers {
                    (0..count).for_each(|_| histogram.record(number));
                }
                let longest = numbers.iter().map(|(number, _)| *number).max().filter(|_| exact);
                packed.push(histogram.move_to(&mut whole, longest.unwrap_or(u64::MAX)));
                all.extend(&numbers);
                check(&packed[packed.len() - 1], &numbers, &others)?;
            }
            check(&Packed::from(&whole), &all, &others)?;
            check(&Packed::joined(&packed), &all, &others)?;
        }
    }

    /// Of `numbers`, each with how often it came, as many are in `packed` in all and above any number as there should be.
    fn check(packed: &Packed<11>, numbers: &[(u64, u64)], others: &[u64]) -> Result<(), TestCaseError> {
        prop_assert_eq!(packed.total(), numbers.iter().map(|(_, count)| count).sum::<u64>());
        let edges = numbers.iter().flat_map(|&(number, _)| [number.saturating_sub(1), number, number + 1]);
        for number in edges.chain(others.iter().copied()) {
            let bucket = Histogram::<11>::bucket;
            let above = numbers.iter().filter(|(one, _)| bucket(*one) > bucket(number)).map(|(_, count)| count);
            prop_assert_eq!(packed.above(number), above.sum::<u64>(), "above {}", number);
        }
        Ok(())
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
        assert_eq!(Packed::from(&fine).bins(), expected);
        assert_eq!(Packed::from(&coarse).bins(), expected);
        assert_eq!(Histogram::<11>::default().quantiles([0.5], u64::MAX), [None]);
    }
}
