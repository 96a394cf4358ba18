//! The signals that a station without carrier sense misses. Knows transmissions by their numbers only.

use std::ops::Range;

/// The numbers of transmissions that a station does not hear: those that began while it had no carrier sense.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deafness(Vec<Range<u64>>);

impl Deafness {
    pub fn hears(&self, number: u64) -> bool {
        !self.0.iter().any(|unheard| unheard.contains(&number))
    }

    /// Deafness begins; `number` will be the next transmission.
    pub fn begin(&mut self, number: u64) {
        if self.0.last().is_none_or(|unheard| unheard.end < u64::MAX) {
            self.0.push(number..u64::MAX);
        }
    }

    pub fn end(&mut self, number: u64) {
        if let Some(unheard) = self.0.last_mut().filter(|unheard| unheard.end == u64::MAX) {
            unheard.end = number;
        }
    }

    /// It hears all transmissions, present and future.
    pub fn hears_all(&self) -> bool {
        self.0.is_empty()
    }

    /// No later question is about transmissions before `first`.
    pub fn forget_before(&mut self, first: u64) {
        self.0.retain(|unheard| unheard.end > first);
    }
}
