//! A set of ids: one bit for each.

/// Ids of nodes, which are the numbers of their turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ids([u64; 4]);

impl Ids {
    /// No id.
    pub const NONE: Ids = Ids([0; 4]);

    #[inline]
    pub fn has(&self, id: u8) -> bool {
        self.0[usize::from(id) / 64] >> (id % 64) & 1 == 1
    }

    pub fn insert(&mut self, id: u8) {
        self.0[usize::from(id) / 64] |= 1 << (id % 64);
    }

    /// The first of them from `from` on.
    #[inline]
    pub fn next(&self, from: u8) -> Option<u8> {
        let mut word = usize::from(from) / 64;
        let mut rest = self.0[word] & (u64::MAX << (from % 64));
        while rest == 0 {
            word += 1;
            rest = *self.0.get(word)?;
        }
        Some((64 * word) as u8 + rest.trailing_zeros() as u8)
    }

    /// The highest of them; 0 if there is none.
    pub fn highest(&self) -> u8 {
        (0..=u8::MAX).rev().find(|&id| self.has(id)).unwrap_or(0)
    }

    /// All of `some` are in it from now on, or none of them.
    #[inline]
    pub fn set(&mut self, some: &Ids, are_in: bool) {
        let bits = if are_in { u64::MAX } else { 0 };
        for (word, ids) in self.0.iter_mut().zip(some.0) {
            *word = (*word & !ids) | (ids & bits);
        }
    }
}
