//! Budgets for retries that one thread keeps: a window with a floor, and a share of the requests under way.
//!
//! They must never read a clock, draw, or wait.

/// How many retries a [`Window`] lets through.
///
/// Source: `RetryBudget` of Finagle, and `TpsBudget` of tower after it, which have these numbers by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowLimits {
    /// How long a request counts, in nanoseconds; at least 10.
    pub window_ns: u64,
    /// How many retries for each 100 requests.
    pub percent: u32,
    /// How many besides for each second of the window: the floor for a client that sends little, or has just begun.
    pub least_per_second: u32,
}

impl WindowLimits {
    /// 10 s, 20 %, and 10 a second.
    pub const FINAGLE: WindowLimits = WindowLimits { window_ns: 10_000_000_000, percent: 20, least_per_second: 10 };

    /// How long a tenth of the window is.
    const fn slice_ns(&self) -> u64 {
        if self.window_ns < SLICES as u64 { 1 } else { self.window_ns / SLICES as u64 }
    }

    /// The floor, in hundredths of a retry.
    const fn floor(&self) -> i64 {
        let hundredths = (self.window_ns / 10_000_000).saturating_mul(self.least_per_second as u64);
        if hundredths > i64::MAX as u64 { i64::MAX } else { hundredths as i64 }
    }
}

/// In how many slices a window is divided, of which the oldest is forgotten at a time.
const SLICES: usize = 10;

/// A budget that forgets: a share of the requests of the last seconds may be retries, and some more in any case.
///
/// Plain data for one thread. A slice has what its requests gave, less what its retries took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Window {
    /// The number of the slice that was used last.
    pub slice: u64,
    /// In hundredths of a retry.
    pub slices: [i32; SLICES],
}

impl Window {
    /// No request yet.
    pub const fn new() -> Window {
        Window { slice: 0, slices: [0; SLICES] }
    }

    /// Counts a request at `now_ns`, of any clock; a time before the last one counts as that one.
    pub fn deposit(&mut self, limits: &WindowLimits, now_ns: u64) {
        let percent = i32::try_from(limits.percent).unwrap_or(i32::MAX);
        let slice = self.at(limits, now_ns);
        *slice = slice.saturating_add(percent);
    }

    /// Takes a retry at `now_ns`, if the window holds one; says whether it has.
    pub fn withdraw(&mut self, limits: &WindowLimits, now_ns: u64) -> bool {
        _ = self.at(limits, now_ns);
        // Ten slices of 32 bits and a floor of 50 do not pass 64.
        let held: i64 = self.slices.iter().map(|slice| i64::from(*slice)).sum();
        if held.saturating_add(limits.floor()) < 100 {
            return false;
        }
        let slice = self.at(limits, now_ns);
        *slice = slice.saturating_sub(100);
        true
    }

    /// The slice of that time; what has left the window since is forgotten.
    fn at(&mut self, limits: &WindowLimits, now_ns: u64) -> &mut i32 {
        let slice = now_ns.checked_div(limits.slice_ns()).unwrap_or(0).max(self.slice);
        let passed = slice - self.slice;
        for (number, held) in self.slices.iter_mut().enumerate() {
            // How many slices ago that place was last used, seen from the new one.
            let age = (slice % SLICES as u64 + SLICES as u64 - number as u64) % SLICES as u64;
            if age < passed {
                *held = 0;
            }
        }
        self.slice = slice;
        &mut self.slices[(slice % SLICES as u64) as usize]
    }
}

/// Whether another retry is allowed with these numbers of active requests and retries. It is allowed while retries are
/// fewer than that share of the requests, pending ones included, and always while they are fewer than `least`.
///
/// Source: `RetryBudget` of Envoy's circuit breakers, which has 20 % and 3 by default.
pub const fn share_allows(active_requests: u64, active_retries: u64, percent: u32, least: u32) -> bool {
    let share = match active_requests.checked_mul(percent as u64) {
        Some(product) => product / 100,
        None => (active_requests / 100).saturating_mul(percent as u64),
    };
    active_retries < share || active_retries < least as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Finagle's numbers: 100 retries without any request, 20 more for 100 requests; both come back as time passes.
    #[test]
    fn a_window_has_a_floor_and_a_share_and_forgets() {
        let (limits, mut window) = (WindowLimits::FINAGLE, Window::new());
        let spend = |window: &mut Window, now| (0..1000).filter(|_| window.withdraw(&limits, now)).count();
        assert_eq!(spend(&mut window, 0), 100);
        (0..100).for_each(|_| window.deposit(&limits, 0));
        assert_eq!(spend(&mut window, 9 * SECOND), 20);
        assert_eq!(spend(&mut window, 10 * SECOND - 1), 0);
        assert_eq!(spend(&mut window, 10 * SECOND), 80, "the slice of time 0 is forgotten, that of 9 s is not");
        assert_eq!(spend(&mut window, 5 * SECOND), 0, "a clock that went back");
        assert_eq!(spend(&mut window, 1 << 60), 100);
        assert_eq!(spend(&mut window, u64::MAX), 100);
    }

    /// tower has these numbers in its tests: what was deposited a window ago is gone.
    #[test]
    fn a_window_does_as_that_of_tower() {
        let limits = WindowLimits { window_ns: SECOND, percent: 50, least_per_second: 0 };
        let mut window = Window::new();
        (0..2).for_each(|_| window.deposit(&limits, 0));
        assert!(window.withdraw(&limits, 901_000_000) && !window.withdraw(&limits, 901_000_000));
        window.deposit(&limits, 3 * SECOND);
        window.deposit(&limits, 4 * SECOND);
        assert!(!window.withdraw(&limits, 4 * SECOND));
    }

    /// Envoy: 20 % of the active requests, but 3 in any case.
    #[test]
    fn a_share_of_what_is_under_way() {
        for (requests, retries, allowed) in
            [(0, 2, true), (0, 3, false), (15, 3, false), (100, 19, true), (100, 20, false), (u64::MAX, 1 << 60, true)]
        {
            assert_eq!(share_allows(requests, retries, 20, 3), allowed, "{requests} {retries}");
        }
    }
}
