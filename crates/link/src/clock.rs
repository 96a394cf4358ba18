//! Clocks, and precise timing.
//!
//! The kernel stamps frames with CLOCK_REALTIME, which can be set. Everything else here uses CLOCK_MONOTONIC, which
//! cannot. [`ClockMap`] converts one into the other.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::resource::{Resource, setrlimit};
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::sys::timerfd::{ClockId as TimerClock, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::{ClockId, clock_gettime};
use nix::unistd::{Pid, getpid, getsid};

use crate::sys;

/// How often the two clocks are read to measure their distance.
const BRACKETS: usize = 50;

/// SCHED_FIFO's priority for the bus: above ordinary programs, below the kernel's own threads.
const FIFO_PRIORITY: i32 = 10;

/// An instant on CLOCK_REALTIME, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RealtimeNanos(pub u64);

impl RealtimeNanos {
    /// The instant now.
    pub fn now() -> RealtimeNanos {
        RealtimeNanos(nanos_of(ClockId::CLOCK_REALTIME))
    }

    /// From the kernel's two numbers.
    pub(crate) fn from_parts(seconds: u64, nanos: u64) -> RealtimeNanos {
        RealtimeNanos(seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos))
    }
}

/// CLOCK_MONOTONIC now, in nanoseconds since an instant that is fixed until reboot.
pub fn monotonic_nanos() -> u64 {
    nanos_of(ClockId::CLOCK_MONOTONIC)
}

fn nanos_of(clock: ClockId) -> u64 {
    let time = clock_gettime(clock).expect("every Linux has this clock");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// Converts CLOCK_REALTIME to CLOCK_MONOTONIC.
///
/// The distance changes when the clock is set or slewed: measure again every 100 ms, and when [`ClockSteps`] reports a
/// step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockMap {
    /// CLOCK_REALTIME − CLOCK_MONOTONIC, in nanoseconds.
    offset: i128,
    /// Width of the narrowest bracket, in nanoseconds.
    bracket_nanos: u64,
}

impl ClockMap {
    /// Measures the distance of the clocks.
    ///
    /// One clock is read between two readings of the other, 50 times; the narrowest bracket counts. The reading in the
    /// middle is off by at most half of its width, usually some 20 ns.
    pub fn measure() -> ClockMap {
        (0..BRACKETS)
            .map(|_| {
                let before = monotonic_nanos();
                let RealtimeNanos(middle) = RealtimeNanos::now();
                ClockMap::from_bracket(before, middle, monotonic_nanos())
            })
            .min_by_key(|map| map.bracket_nanos)
            .expect("there is more than one bracket")
    }

    /// Measures again.
    pub fn refresh(&mut self) {
        *self = ClockMap::measure();
    }

    /// The instant of a stamp, in nanoseconds on CLOCK_MONOTONIC; 0 if that was before its begin.
    pub fn to_monotonic(&self, stamp: RealtimeNanos) -> u64 {
        (i128::from(stamp.0) - self.offset).clamp(0, u64::MAX.into()) as u64
    }

    /// The other way round.
    pub fn to_realtime(&self, monotonic: u64) -> RealtimeNanos {
        RealtimeNanos((i128::from(monotonic) + self.offset).clamp(0, u64::MAX.into()) as u64)
    }

    /// How far CLOCK_REALTIME has moved ahead since `before`, in nanoseconds: a step, or a slew.
    pub fn moved_since(&self, before: &ClockMap) -> i64 {
        (self.offset - before.offset).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    /// Width of the bracket: the map's uncertainty is half of it, in nanoseconds.
    pub fn bracket_nanos(&self) -> u64 {
        self.bracket_nanos
    }

    fn from_bracket(before: u64, middle: u64, after: u64) -> ClockMap {
        let bracket_nanos = after - before;
        let monotonic = before + bracket_nanos / 2;
        ClockMap { offset: i128::from(middle) - i128::from(monotonic), bracket_nanos }
    }
}

/// Reports when CLOCK_REALTIME is set: its descriptor becomes readable.
#[derive(Debug)]
pub struct ClockSteps {
    timer: TimerFd,
}

impl ClockSteps {
    /// Begins to watch.
    pub fn watch() -> io::Result<ClockSteps> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let steps = ClockSteps { timer: TimerFd::new(TimerClock::CLOCK_REALTIME, flags)? };
        steps.arm()?;
        Ok(steps)
    }

    /// Whether the clock was set since the last call.
    pub fn stepped(&self) -> io::Result<bool> {
        let mut count = [0; 8];
        match nix::unistd::read(self.timer.as_fd(), &mut count) {
            Err(Errno::EAGAIN) => Ok(false),
            Ok(_) | Err(Errno::ECANCELED) => self.arm().map(|()| true),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Sets a timer that never ends, but is cancelled by a step.
    fn arm(&self) -> io::Result<()> {
        let never = Expiration::OneShot(TimeSpec::seconds(i32::MAX.into()));
        let flags = TimerSetTimeFlags::TFD_TIMER_ABSTIME | TimerSetTimeFlags::TFD_TIMER_CANCEL_ON_SET;
        match self.timer.set(never, flags) {
            // A step that was not read yet also cancels this call, once.
            Err(Errno::ECANCELED) => Ok(self.timer.set(never, flags)?),
            set => Ok(set?),
        }
    }
}

impl AsFd for ClockSteps {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.timer.as_fd()
    }
}

/// Limits to `slack` how much later the kernel may end the calling thread's sleeps.
///
/// The default is 50 µs. Slack under 1 ns counts as 1 ns, the minimum.
pub fn set_timer_slack(slack: Duration) -> io::Result<()> {
    let nanos = slack.as_nanos().clamp(1, i32::MAX as u128);
    Ok(nix::sys::prctl::set_timerslack(nanos as libc::c_ulong)?)
}

/// The result of [`raise_priority`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// SCHED_FIFO: ahead of all ordinary threads.
    ///
    /// Such a thread must sleep from time to time: otherwise the kernel stalls it for 50 ms in each second.
    Fifo,
    /// An ordinary thread with this nice value, below zero.
    Nice(i32),
    /// No higher priority was allowed.
    Normal,
}

/// Raises the priority of the calling thread as far as the system allows, and gives the result.
///
/// SCHED_FIFO, else the lowest nice value allowed, else nothing. Threads and processes started later by it do not get
/// SCHED_FIFO. Wait for stamps first ([`crate::packet::wait_for_stamps`]): a kernel thread switches them on, and would
/// wait behind this thread.
pub fn raise_priority() -> Priority {
    if sys::schedule::set_fifo(0, FIFO_PRIORITY).is_ok() { Priority::Fifo } else { raise_nice() }
}

/// Gives the calling thread the lowest nice value allowed, and returns it.
///
/// For a thread that may be busy nearly all the time, for which [`Priority::Fifo`] is wrong. Threads that it starts
/// later are ordinary ones.
pub fn raise_nice() -> Priority {
    if sys::schedule::reset_on_fork().is_err() {
        // Without it those threads would inherit the priority, which they must not.
        return Priority::Normal;
    }
    let raised = (-20..0).find(|nice| sys::schedule::set_nice(*nice).is_ok());
    if let Some(nice) = raised {
        raise_session(nice);
    }
    raised.map_or(Priority::Normal, Priority::Nice)
}

/// Gives the process's session a nice value, if this process leads the session.
///
/// Many kernels first share processors out among sessions, so a thread's own nice value has no effect beside other
/// sessions.
fn raise_session(nice: i32) {
    if getsid(None) == Ok(getpid()) {
        // A kernel that does not group by session has no such file.
        let _ = std::fs::write("/proc/self/autogroup", nice.to_string());
    }
}

/// Puts the first thread of process `pid` under SCHED_FIFO: ahead of all ordinary threads. Threads that it starts are
/// ordinary ones. Needs CAP_SYS_NICE.
///
/// Not for a thread that is busy all the time: see [`Priority::Fifo`].
pub fn give_fifo(pid: Pid) -> io::Result<()> {
    sys::schedule::set_fifo(pid.as_raw(), FIFO_PRIORITY)
}

/// Makes the calling thread an ordinary one again, with its former nice value. This needs no right.
pub fn leave_fifo() -> io::Result<()> {
    sys::schedule::reset_on_fork()
}

/// Whether the calling thread is under SCHED_FIFO.
pub fn has_fifo() -> bool {
    sys::schedule::is_fifo()
}

/// Makes the kernel end this process if one of its threads runs under SCHED_FIFO for a second without a sleep, so that
/// a fault in it cannot block other programs.
pub fn limit_fifo() -> io::Result<()> {
    const LONGEST_MICROS: u64 = 1_000_000;
    Ok(setrlimit(Resource::RLIMIT_RTTIME, LONGEST_MICROS, LONGEST_MICROS)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_bracket_is_when_the_other_clock_was_read() {
        let map = ClockMap::from_bracket(1_000, 5_000_020, 1_040);
        assert_eq!(map.bracket_nanos(), 40);
        assert_eq!(map.to_monotonic(RealtimeNanos(5_000_020)), 1_020);
        assert_eq!(map.to_monotonic(RealtimeNanos(5_000_120)), 1_120);
        assert_eq!(map.to_monotonic(RealtimeNanos(0)), 0, "before the clock began");
        assert_eq!(ClockMap::from_bracket(2_000, 4_001_020, 2_040).moved_since(&map), -1_000_000);
    }

    #[test]
    fn a_clock_that_stands_before_the_other_is_mapped_too() {
        let map = ClockMap::from_bracket(u64::MAX - 10, 5, u64::MAX - 10);
        assert_eq!(map.to_monotonic(RealtimeNanos(5)), u64::MAX - 10);
        assert_eq!(map.to_monotonic(RealtimeNanos(1_000)), u64::MAX);
    }

    #[test]
    fn a_reading_of_realtime_is_mapped_between_two_readings_of_monotonic() {
        let mut map = ClockMap::measure();
        map.refresh();
        let before = monotonic_nanos();
        let stamp = RealtimeNanos::now();
        let after = monotonic_nanos();
        let mapped = map.to_monotonic(stamp);
        let slack = map.bracket_nanos() + 1_000;
        assert!(before.saturating_sub(slack) <= mapped && mapped <= after + slack);
    }

    #[test]
    fn a_clock_that_nobody_sets_has_no_step() {
        let steps = ClockSteps::watch().expect("timers are always there");
        assert!(!steps.stepped().unwrap());
    }

    #[test]
    fn no_slack_is_the_least_slack() {
        std::thread::spawn(|| {
            set_timer_slack(Duration::ZERO).unwrap();
            assert_eq!(nix::sys::prctl::get_timerslack().unwrap(), 1);
        })
        .join()
        .unwrap();
    }
}
