//! How large the parts of a schedule of fixed size are, and which of its lists have anything.

/// A schedule for this number of values or fewer has no heap: all of them may be in one bucket.
const SMALL: u32 = 64;
/// The wheel has no more slots.
const BUCKETS: usize = 4096;

/// What a capacity asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub(super) capacity: u32,
    /// Each level has twice 2^bits lists, of 2^bits times as many slots as those of the level below.
    pub(super) bits: u32,
    /// How many levels there are above the wheel.
    pub(super) levels: u32,
}

impl Shape {
    /// For `capacity` values. The wheel has four times as many slots, at least 64 and at most 4096.
    pub const fn of(capacity: u32) -> Shape {
        let mut bits = 5;
        while 2 << bits < BUCKETS && (2_u64 << bits) < capacity as u64 * 4 {
            bits += 1;
        }
        let mut levels = 1;
        while bits * (levels + 1) + 1 < u64::BITS {
            levels += 1;
        }
        Shape { capacity, bits, levels }
    }

    /// How many slots the wheel has.
    pub const fn slots(&self) -> usize {
        2 << self.bits
    }

    /// How many lists there are.
    pub const fn lists(&self) -> usize {
        self.slots() * (self.levels as usize + 1)
    }

    /// Where the first item of a list goes, at first: lists of the wheel have a chunk of their own.
    pub const fn end(&self, list: usize) -> u32 {
        if list < self.slots() { (list as u32) << 3 } else { u32::MAX }
    }

    /// How many words of bits there are.
    pub const fn words(&self) -> usize {
        self.slots() / 64 * (self.levels as usize + 1)
    }

    /// How many chunks.
    pub const fn chunks(&self) -> usize {
        self.slots() + self.capacity as usize + 1
    }

    /// How many places the heap has: none where no bucket can have too many values.
    pub const fn waiting(&self) -> usize {
        if self.capacity <= SMALL { 0 } else { self.capacity as usize }
    }
}

/// There are no more levels, the wheel included.
pub(super) const LEVELS: usize = 14;

/// A bit for each list that has anything; and for each level a bit for each word of those that is not 0.
pub(super) struct Bits<'a> {
    pub(super) words: &'a mut [u64],
    pub(super) summaries: &'a mut [u64; LEVELS],
}

impl Bits<'_> {
    #[inline(always)]
    fn word(&self, index: usize) -> u64 {
        self.words.get(index).copied().unwrap_or(0)
    }

    /// `list` is counted from the first list of the first level, and `slots` is how many a level has.
    #[inline(always)]
    pub(super) fn set(&mut self, level: u32, list: usize, slots: usize) {
        let Some(word) = self.words.get_mut(list / 64) else { return };
        // Asking for the word is cheap: it hardly ever changes. Asking for the bit would be guessed wrong too often.
        let was_empty = *word == 0;
        *word |= 1 << (list % 64);
        if was_empty && let Some(summary) = self.summaries.get_mut(level as usize) {
            *summary |= 1 << ((list & (slots - 1)) / 64 % 64);
        }
    }

    #[inline(always)]
    pub(super) fn clear(&mut self, level: u32, list: usize, slots: usize) {
        self.clear_if(true, level, list, slots);
    }

    /// Clears it if `emptied`, as a number and not as a branch: that is random where values are cancelled. A list that has
    /// anything has its bit.
    #[inline(always)]
    pub(super) fn clear_if(&mut self, emptied: bool, level: u32, list: usize, slots: usize) {
        let Some(word) = self.words.get_mut(list / 64) else { return };
        *word &= !(u64::from(emptied) << (list % 64));
        let none = u64::from(*word == 0);
        if let Some(summary) = self.summaries.get_mut(level as usize) {
            *summary &= !(none << ((list & (slots - 1)) / 64 % 64));
        }
    }

    /// The first one of a level that is set, counted from its first list: from `index` on, and then from the first on.
    #[inline(always)]
    pub(super) fn next(&self, level: u32, index: usize, slots: usize) -> Option<usize> {
        let base = level as usize * (slots / 64);
        let here = self.word(base + index / 64) >> (index % 64);
        if here != 0 {
            return Some(index + here.trailing_zeros() as usize);
        }
        let summary = self.summaries.get(level as usize).copied().unwrap_or(0);
        if summary == 0 {
            return None;
        }
        // Of the word in which `index` is only the bits before it are left, and they come last.
        let later = summary & (u64::MAX << (index / 64 % 64) << 1);
        let word = if later == 0 { summary } else { later }.trailing_zeros() as usize;
        Some(word * 64 + self.word(base + word).trailing_zeros() as usize % 64)
    }
}
