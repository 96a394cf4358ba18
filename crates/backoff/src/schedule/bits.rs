//! Which lists have values: a bit for each list of the wheel, then for each block; after these a bit for each of the words of
//! the wheel, then of the blocks. The head has a bit for each word of the second kind.

/// There are no more lists in the wheel, and no more blocks: three levels of words of 64 bits.
pub(super) const MOST_LISTS: usize = 1 << 18;

/// How many words that number of lists needs: both are multiples of 64.
pub(super) const fn words_for(wheel: usize, blocks: usize) -> usize {
    (wheel + blocks) / 64 + wheel.div_ceil(4096) + blocks.div_ceil(4096)
}

/// Where the bits of the wheel or of the blocks are, counted in words.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// Those of the lists.
    pub(super) lists: usize,
    /// Those of these words.
    pub(super) words: usize,
}

impl Part {
    /// The first list that has its bit set: from `here` to the last one, then from the first one on. One has. Lists are those
    /// of this part.
    #[inline(always)]
    pub(super) fn next(self, words: &[u64], top: u64, here: usize) -> usize {
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        let first = |word: u64| word.trailing_zeros() as usize % 64;
        let at_hand = word(self.lists + here / 64) >> (here % 64);
        if at_hand != 0 {
            return here + at_hand.trailing_zeros() as usize;
        }
        // What is left of the words of `here` comes last.
        let behind = word(self.words + here / 4096) & (u64::MAX << (here / 64 % 64) << 1);
        let index = if behind != 0 {
            here / 4096 * 64 + first(behind)
        } else {
            let later = top & (u64::MAX << (here / 4096 % 64) << 1);
            let upper = first(if later == 0 { top } else { later });
            upper * 64 + first(word(self.words + upper))
        };
        index * 64 + first(word(self.lists + index))
    }

    /// Whether the word of that list is empty or not has changed: `is_set` says to what.
    #[inline(always)]
    pub(super) fn note(self, words: &mut [u64], top: &mut u64, list: usize, is_set: bool) {
        let Some(word) = words.get_mut(self.words + list / 4096) else { return };
        *word = *word & !(1 << (list / 64 % 64)) | u64::from(is_set) << (list / 64 % 64);
        *top = *top & !(1 << (list / 4096 % 64)) | u64::from(*word != 0) << (list / 4096 % 64);
    }
}
