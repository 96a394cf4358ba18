//! Whether the machine keeps up, and when to report overload. The coordinator acts on it.

use super::emulator::since;
use super::protocol::Told;
use sim::figures::results::emulator::{EmulatorResults, MachineResults};
use sim::words::choices::OnOverload;

/// A delivery that is late by more than this, or a sleep that is too long by more, is overload. In nanoseconds.
pub const OVERLOAD: u64 = 1_000_000;
/// How often overload is reported, in nanoseconds.
const TELLING: u64 = 1_000_000_000;

/// Whether the machine keeps up: when the data plane looked, and how late it was.
#[derive(Debug)]
pub struct Overload {
    mode: OnOverload,
    /// When the coordinator last looked at the ring and the medium.
    looked_at: u64,
    /// When it wants to look again, or should have.
    wanted_at: u64,
    next_telling: u64,
    told_slip: u64,
    told_drops: u64,
}

impl Overload {
    /// Nothing is late yet at `now`.
    pub fn new(mode: OnOverload, now: u64) -> Overload {
        Overload { mode, looked_at: now, wanted_at: now, next_telling: now + TELLING, told_slip: 0, told_drops: 0 }
    }

    /// The coordinator has looked at the ring and the medium at `now`, and made up for what was late.
    pub fn looked(&mut self, now: u64) {
        self.looked_at = now;
    }

    /// When it did so last.
    pub fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// The coordinator wants to look again at `instant`.
    pub fn want(&mut self, instant: u64) {
        self.wanted_at = instant;
    }

    /// Something came that the coordinator should have looked at by `instant`.
    pub fn should_have(&mut self, instant: u64) {
        self.wanted_at = self.wanted_at.min(instant);
    }

    /// For how long the medium's time must be stopped, if the coordinator looks at `now` and the next delivery was due
    /// `behind` ago.
    ///
    /// Lateness counts from the look that was wanted, and never from before the last one: wherever the thread was
    /// stopped between two looks, the stop is between them. The medium has run up to the last look, so no slip is longer
    /// than the time since.
    pub fn slip(&self, now: u64, behind: u64) -> Option<u64> {
        let late = now.saturating_sub(self.wanted_at.max(self.looked_at)).max(behind);
        let slip = late.min(now.saturating_sub(self.looked_at));
        (self.mode == OnOverload::Slip && late > OVERLOAD && slip > 0).then_some(slip)
    }

    /// Whether lateness of this size stops the medium's time before anything else is done.
    pub fn waits(&self, late: u64) -> bool {
        self.mode == OnOverload::Slip && late > OVERLOAD
    }

    /// Whether the thread was stopped since its last look, so that it has to look again first.
    pub fn stalled(&self, now: u64) -> bool {
        self.waits(now.saturating_sub(self.looked_at))
    }

    /// Whether a delivery that is this late is dropped.
    pub fn drops(&self, late: u64) -> bool {
        self.mode == OnOverload::Drop && late > OVERLOAD
    }

    /// The report, once a second, if the machine did not keep up.
    pub fn tell(&mut self, now: u64, counts: &EmulatorResults) -> Option<Told> {
        if now < self.next_telling {
            return None;
        }
        self.next_telling = now + TELLING;
        let MachineResults { slip_ns, overload_drops, .. } = counts.machine;
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
        overload.want(5_000_000);
        assert_eq!(overload.slip(6_000_000, 0), None);
        assert_eq!(overload.slip(6_000_001, 0), Some(1_000_001));
        assert_eq!(overload.slip(5_000_000, 2_000_000), Some(2_000_000));
        assert!(!overload.drops(2_000_000));
        let overload = Overload::new(OnOverload::Drop, 0);
        assert_eq!(overload.slip(9_000_000, 9_000_000), None);
        assert!(overload.drops(1_000_001) && !overload.drops(1_000_000));
    }

    /// The thread is stopped after a look at 10 ms, whatever it does then, and looks again at 30 ms (issue 12, 1).
    #[test]
    fn a_stop_between_two_looks_is_a_slip_wherever_it_was() {
        let after = |wanted| {
            let mut overload = Overload::new(OnOverload::Slip, 0);
            overload.looked(10_000_000);
            overload.want(wanted);
            overload
        };
        // A delivery was overdue, or due soon.
        assert_eq!(after(9_000_000).slip(30_000_000, 0), Some(20_000_000));
        assert_eq!(after(10_050_000).slip(30_000_000, 0), Some(19_950_000));
        // Nothing was due before 60 ms, and a frame came at 12 ms.
        let mut idle = after(60_000_000);
        assert_eq!(idle.slip(30_000_000, 0), None);
        idle.should_have(12_000_000);
        assert_eq!(idle.slip(30_000_000, 0), Some(18_000_000));
        assert!(idle.stalled(30_000_000) && !idle.stalled(11_000_000));
    }

    /// What the medium has run through cannot be taken back.
    #[test]
    fn no_slip_is_longer_than_the_time_since_the_last_look() {
        let mut overload = Overload::new(OnOverload::Slip, 0);
        overload.looked(10_000_000);
        assert_eq!(overload.slip(10_005_000, 7_000_000), Some(5_000));
        assert_eq!(overload.slip(10_000_000, 7_000_000), None);
    }

    #[test]
    fn overload_is_told_once_a_second_and_only_what_is_new() {
        let mut overload = Overload::new(OnOverload::Slip, 0);
        let counts = |slip_ns| EmulatorResults {
            machine: MachineResults { slip_ns, ..MachineResults::default() },
            ..EmulatorResults::default()
        };
        assert!(overload.tell(TELLING - 1, &counts(7)).is_none());
        assert!(matches!(overload.tell(TELLING, &counts(7)), Some(Told::Overload { slip_ns: 7, drops: 0 })));
        assert!(overload.tell(2 * TELLING, &counts(7)).is_none());
        assert!(matches!(overload.tell(3 * TELLING, &counts(9)), Some(Told::Overload { slip_ns: 2, drops: 0 })));
        assert!(matches!(overload.tell(4 * TELLING, &counts(3)), Some(Told::Overload { slip_ns: 3, drops: 0 })));
    }
}
