//! Which lists have values: a bit for each list, a bit for each word of those, and one for each word of these.

/// There are no more lists: three levels of words of 64 bits.
pub(super) const MOST_LISTS: usize = 1 << 18;

/// How many words that number of lists needs.
pub(super) const fn words_for(lists: usize) -> usize {
    lists / 64 + lists.div_ceil(4096)
}

/// The bits of that many lists, which is a power of two from 64 on.
pub(super) struct Bits<'a> {
    /// A bit for each list, then a bit for each of these words.
    pub(super) words: &'a mut [u64],
    /// A bit for each word of the second kind.
    pub(super) top: &'a mut u64,
    pub(super) lists: usize,
}

impl Bits<'_> {
    #[inline(always)]
    pub(super) fn set(&mut self, list: usize) {
        let Some(word) = self.words.get_mut(list / 64) else { return };
        let was_empty = *word == 0;
        *word |= 1 << (list % 64);
        if was_empty && let Some(word) = self.words.get_mut(self.lists / 64 + list / 4096) {
            *word |= 1 << (list / 64 % 64);
            *self.top |= 1 << (list / 4096 % 64);
        }
    }

    /// Clears the bit of a list if `emptied`: as a number, because a branch would be guessed wrong where values are
    /// cancelled.
    #[inline(always)]
    pub(super) fn clear_if(&mut self, emptied: bool, list: usize) {
        let Some(word) = self.words.get_mut(list / 64) else { return };
        *word &= !(u64::from(emptied) << (list % 64));
        if *word == 0
            && let Some(word) = self.words.get_mut(self.lists / 64 + list / 4096)
        {
            *word &= !(1 << (list / 64 % 64));
            *self.top &= !(u64::from(*word == 0) << (list / 4096 % 64));
        }
    }
}

/// The first of that many lists that has its bit set: from `here` to the last one, then from the first one on. One has.
#[inline(always)]
pub(super) fn next(words: &[u64], top: u64, lists: usize, here: usize) -> usize {
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    let first = |word: u64| word.trailing_zeros() as usize % 64;
    let at_hand = word(here / 64) >> (here % 64);
    if at_hand != 0 {
        return here + at_hand.trailing_zeros() as usize;
    }
    // What is left of the words of `here` comes last.
    let behind = word(lists / 64 + here / 4096) & (u64::MAX << (here / 64 % 64) << 1);
    let index = if behind != 0 {
        here / 4096 * 64 + first(behind)
    } else {
        let later = top & (u64::MAX << (here / 4096 % 64) << 1);
        let upper = first(if later == 0 { top } else { later });
        upper * 64 + first(word(lists / 64 + upper))
    };
    index * 64 + first(word(index))
}
