//! Whether a frame's stamp is right. The kernel stamps with a clock that may be set.

/// A stamp this long before the ring was last empty was mapped while the clock was set: between its stamp and the ring
/// a frame waits only while another program has its sender's processor. In nanoseconds.
const STALE: u64 = 1_000_000_000;

/// A frame's stamp, as a time of the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// The handover to the MAC.
    Good(u64),
    /// Later than its reading. No frame comes from the future.
    Future,
    /// Long before the ring was last empty, in which the frame did not wait then.
    Stale,
}

impl Stamp {
    /// A stamp that was mapped to `nanos`, of a frame that was read at `now`; the ring was last empty at `ring_empty_at`.
    pub fn read(nanos: u64, now: u64, ring_empty_at: u64) -> Stamp {
        if nanos > now {
            Stamp::Future
        } else if nanos.saturating_add(STALE) < ring_empty_at {
            Stamp::Stale
        } else {
            Stamp::Good(nanos)
        }
    }

    /// When the frame came, for all that is known; `now` is its reading.
    pub fn or(self, now: u64) -> u64 {
        match self {
            Stamp::Good(nanos) => nanos,
            Stamp::Future | Stamp::Stale => now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The clock is set by an hour, forward or back, between a stamp and the next look at the clocks.
    #[test]
    fn a_clock_that_is_set_moves_no_frame() {
        let (now, hour) = (10_000 * STALE, 3_600 * STALE);
        let (stamp, empty) = (now - 5_000, now - 20_000);
        assert_eq!(Stamp::read(stamp, now, empty).or(now), stamp);
        assert_eq!(Stamp::read(stamp + hour, now, empty), Stamp::Future);
        assert_eq!(Stamp::read(stamp - hour, now, empty), Stamp::Stale);
        assert_eq!([Stamp::Future, Stamp::Stale].map(|stamp| stamp.or(now)), [now, now]);
    }

    /// A frame whose sender was preempted between stamp and ring is late, and has no other fault.
    #[test]
    fn a_stamp_a_little_before_an_empty_ring_is_good() {
        let now = 10_000 * STALE;
        assert_eq!(Stamp::read(now - STALE, now, now), Stamp::Good(now - STALE));
        assert_eq!(Stamp::read(now - STALE - 1, now, now), Stamp::Stale);
        assert_eq!(Stamp::read(0, 100, 0), Stamp::Good(0));
    }
}
