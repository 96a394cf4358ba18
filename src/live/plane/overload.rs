//! Whether the machine keeps up, and when that is to be told. What is done about it is the coordinator's.

use super::emulator::since;
use super::protocol::Told;
use sim::figures::results::EmulatorResults;
use sim::words::choices::OnOverload;

/// A delivery later than this, or a sleep longer by this than was asked for, is overload. In nanoseconds.
pub const OVERLOAD: u64 = 1_000_000;
/// How often overload is told, in nanoseconds.
const TELLING: u64 = 1_000_000_000;

/// What is known of the machine's keeping up.
#[derive(Debug)]
pub struct Overload {
    mode: OnOverload,
    /// By when the coordinator wanted to look after things again.
    awake_by: u64,
    next_telling: u64,
    told_slip: u64,
    told_drops: u64,
}

impl Overload {
    /// Nothing is late yet at `now`.
    pub fn new(mode: OnOverload, now: u64) -> Overload {
        Overload { mode, awake_by: now, next_telling: now + TELLING, told_slip: 0, told_drops: 0 }
    }

    /// The coordinator wants to be awake again at `instant`.
    pub fn awake_by(&mut self, instant: u64) {
        self.awake_by = instant;
    }

    /// For how long the medium's time is to stand still, if the next delivery was due `behind` ago.
    pub fn slip(&self, now: u64, behind: u64) -> Option<u64> {
        let late = now.saturating_sub(self.awake_by).max(behind);
        (self.mode == OnOverload::Slip && late > OVERLOAD).then_some(late)
    }

    /// Whether a delivery that is this late is dropped.
    pub fn drops(&self, late: u64) -> bool {
        self.mode == OnOverload::Drop && late > OVERLOAD
    }

    /// What is to be told, once a second, if the machine did not keep up.
    pub fn tell(&mut self, now: u64, counts: &EmulatorResults) -> Option<Told> {
        if now < self.next_telling {
            return None;
        }
        self.next_telling = now + TELLING;
        let EmulatorResults { slip_ns, overload_drops, .. } = *counts;
        let (slip, drops) = (since(self.told_slip, slip_ns), since(self.told_drops, overload_drops));
        (self.told_slip, self.told_drops) = (slip_ns, overload_drops);
        (slip > 0 || drops > 0).then_some(Told::Overload { slip_ns: slip, drops })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_lasts_as_long_as_the_latest_thing_is_late() {
        let mut overload = Overload::new(OnOverload::Slip, 0);
        overload.awake_by(5_000_000);
        assert_eq!(overload.slip(6_000_000, 0), None);
        assert_eq!(overload.slip(6_000_001, 0), Some(1_000_001));
        assert_eq!(overload.slip(5_000_000, 2_000_000), Some(2_000_000));
        assert!(!overload.drops(2_000_000));
        let overload = Overload::new(OnOverload::Drop, 0);
        assert_eq!(overload.slip(9_000_000, 9_000_000), None);
        assert!(overload.drops(1_000_001) && !overload.drops(1_000_000));
    }

    #[test]
    fn overload_is_told_once_a_second_and_only_what_is_new() {
        let mut overload = Overload::new(OnOverload::Slip, 0);
        let counts = |slip_ns| EmulatorResults { slip_ns, ..EmulatorResults::default() };
        assert!(overload.tell(TELLING - 1, &counts(7)).is_none());
        assert!(matches!(overload.tell(TELLING, &counts(7)), Some(Told::Overload { slip_ns: 7, drops: 0 })));
        assert!(overload.tell(2 * TELLING, &counts(7)).is_none());
        assert!(matches!(overload.tell(3 * TELLING, &counts(9)), Some(Told::Overload { slip_ns: 2, drops: 0 })));
        assert!(matches!(overload.tell(4 * TELLING, &counts(3)), Some(Told::Overload { slip_ns: 3, drops: 0 })));
    }
}
