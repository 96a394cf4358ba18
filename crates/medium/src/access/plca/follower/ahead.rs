//! What lies ahead, in order: few things at a time.

/// Things in order, the first one last, so that it is taken without moving the others.
#[derive(Debug)]
pub(super) struct Ahead<T>(Vec<T>);

impl<T: Copy + Ord> Ahead<T> {
    pub fn new() -> Ahead<T> {
        Ahead(Vec::new())
    }

    #[inline]
    pub fn first(&self) -> Option<&T> {
        self.0.last()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Drops the first.
    #[inline]
    pub fn pass(&mut self) {
        self.0.pop();
    }

    /// Of equal ones, the last that was added is the first.
    #[inline]
    pub fn add(&mut self, one: T) {
        let mut index = self.0.len();
        self.0.push(one);
        while index > 0 && self.0[index - 1] < one {
            self.0[index] = self.0[index - 1];
            index -= 1;
        }
        self.0[index] = one;
    }

    /// Removes one that is among them, nearly always the first.
    #[inline]
    pub fn remove(&mut self, one: T) {
        if self.0.last() == Some(&one) {
            self.0.pop();
        } else {
            self.remove_later(one);
        }
    }

    #[cold]
    #[inline(never)]
    fn remove_later(&mut self, one: T) {
        if let Some(index) = self.0.iter().rposition(|other| *other == one) {
            self.0.remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_comes_in_order() {
        let mut ahead = Ahead::new();
        [5, 1, 9, 3, 1, 7].into_iter().for_each(|one| ahead.add(one));
        ahead.remove(3);
        ahead.remove(1);
        ahead.add(8);
        ahead.add(1);
        let mut all = Vec::new();
        while let Some(&one) = ahead.first() {
            all.push(one);
            ahead.pass();
        }
        assert_eq!(all, [1, 1, 5, 7, 8, 9]);
        assert!(ahead.is_empty());
    }
}
