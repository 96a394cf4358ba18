//! How fast the service works at each instant: full speed, and dips of it.

/// A stretch in which the service is slower, or out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dip {
    /// When it begins, in nanoseconds.
    pub start: u64,
    /// How long it lasts, in nanoseconds.
    pub length: u64,
    /// The part of the capacity that is left. With 0 the service is out: it refuses every request.
    pub left: f64,
}

impl Dip {
    /// Its end.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.length)
    }
}

/// Dips in the order of time, which do not overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct Capacity {
    dips: Vec<Dip>,
    /// The first one that has not ended at the instant of the last question.
    next: usize,
}

impl Capacity {
    /// With these dips.
    pub fn new(mut dips: Vec<Dip>) -> Capacity {
        dips.sort_by_key(|dip| dip.start);
        Capacity { dips, next: 0 }
    }

    /// Whether the service is out at `now`; questions come in the order of time.
    pub fn is_out(&mut self, now: u64) -> bool {
        while self.dips.get(self.next).is_some_and(|dip| dip.end() <= now) {
            self.next += 1;
        }
        self.dips.get(self.next).is_some_and(|dip| dip.start <= now && dip.left == 0.0)
    }

    /// When work of `work` nanoseconds at full speed ends that begins at `start`.
    pub fn finish(&self, start: u64, work: u64) -> u64 {
        if self.dips.is_empty() {
            return start.saturating_add(work);
        }
        let (mut at, mut rest) = (start, work);
        for dip in self.dips.iter().filter(|dip| dip.end() > start) {
            let before = dip.start.saturating_sub(at);
            if rest <= before {
                break;
            }
            (at, rest) = (at.max(dip.start), rest - before);
            let within = (dip.end() - at) as f64 * dip.left;
            if rest as f64 <= within {
                return at.saturating_add((rest as f64 / dip.left).round() as u64);
            }
            (at, rest) = (dip.end(), rest - within as u64);
        }
        at.saturating_add(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 units at full speed from 50 on, with a dip of 10 % from 100 to 200 and an outage from 210 to 300.
    #[test]
    fn work_takes_longer_in_a_dip() {
        let dip = |start, length, left| Dip { start, length, left };
        let mut capacity = Capacity::new(vec![dip(210, 90, 0.0), dip(100, 100, 0.1)]);
        assert_eq!(capacity.finish(0, 100), 100);
        assert_eq!(capacity.finish(50, 55), 150, "50 before the dip, 5 in half of it");
        assert_eq!(capacity.finish(50, 70), 210, "50, 10 in the dip, 10 behind it");
        assert_eq!(capacity.finish(50, 71), 301);
        assert_eq!(capacity.finish(400, 7), 407);
        assert!(!capacity.is_out(150) && capacity.is_out(210) && capacity.is_out(299) && !capacity.is_out(300));
    }
}
