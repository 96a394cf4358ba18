//! Timers by number, and which of them ends first: a tournament, so that setting one costs a walk to its root.
//!
//! ```text
//!                 1: the first of all           ties go to the lower number,
//!            2           3                      as the written order of ties wants it
//!          4   5       6   7
//!         s0 s1 s2 s3 s4 s5 s6 s7
//! ```
//! It has as many leaves as the highest number that ever had a timer needs: timers that were never set cost nothing.

use crate::time::BitInstant;

/// No instant: what has this one is not due at all.
pub(crate) const NEVER: BitInstant = BitInstant::new(u64::MAX);

#[derive(Debug)]
pub(crate) struct Timers {
    /// When each timer ends; as many as there are leaves.
    ends: Box<[BitInstant]>,
    /// Who ends first below each node; the leaves come after the inner nodes, node 0 is not used.
    first: Box<[u16]>,
}

impl Timers {
    pub fn new() -> Timers {
        Timers::with_leaves(2)
    }

    /// Nobody has a timer yet, so of each pair the lower number is first: the leftmost leaf below a node.
    fn with_leaves(leaves: usize) -> Timers {
        let leftmost = |node: usize| (node << (leaves.ilog2() - node.max(1).ilog2())) - leaves;
        Timers {
            ends: vec![NEVER; leaves].into(),
            first: (0..2 * leaves).map(|node| if node == 0 { 0 } else { leftmost(node) as u16 }).collect(),
        }
    }

    /// Makes room for timer number `index`.
    #[cold]
    fn grow(&mut self, index: usize) {
        let smaller = std::mem::replace(self, Timers::with_leaves((index + 1).next_power_of_two()));
        for (number, &at) in smaller.ends.iter().enumerate().filter(|(_, at)| **at != NEVER) {
            self.set(number, at);
        }
    }

    /// When the first timer ends; `NEVER` if there is none.
    #[inline]
    pub fn next(&self) -> BitInstant {
        self.ends[usize::from(self.first[1])]
    }

    /// Which timer ends first.
    #[inline]
    pub fn first(&self) -> usize {
        self.first[1].into()
    }

    pub fn set(&mut self, index: usize, at: BitInstant) {
        if index >= self.ends.len() {
            self.grow(index);
        }
        self.ends[index] = at;
        let mut node = (self.ends.len() + index) / 2;
        while node > 0 {
            let (left, right) = (self.first[2 * node], self.first[2 * node + 1]);
            // Chosen without a branch, and up to the root whatever was chosen: which it will be cannot be guessed.
            let right_first = self.ends[usize::from(right)] < self.ends[usize::from(left)];
            self.first[node] = std::hint::select_unpredictable(right_first, right, left);
            node /= 2;
        }
    }

    pub fn stop(&mut self, index: usize) {
        if self.ends.get(index).is_some_and(|&end| end != NEVER) {
            self.set(index, NEVER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backoff::Generator;

    #[test]
    fn the_first_is_the_earliest_and_of_those_the_lowest_number() {
        for count in [1, 2, 3, 7, 50, 1024] {
            let mut timers = Timers::new();
            let mut plain = vec![None; count];
            let mut generator = Generator::stream(1, count as u64);
            for _ in 0..5_000 {
                let number = (generator.next_u64() % count as u64) as usize;
                let at = BitInstant::new(generator.next_u64() % 40);
                if generator.next_u64().is_multiple_of(3) {
                    plain[number] = None;
                    timers.stop(number);
                } else {
                    plain[number] = Some(at);
                    timers.set(number, at);
                }
                let numbered = plain.iter().zip(0..).filter_map(|(at, number)| at.map(|at| (at, number)));
                let first = (timers.next() != NEVER).then(|| (timers.next(), timers.first()));
                assert_eq!(first, numbered.min(), "{count} timers, seed 1");
            }
        }
    }
}
