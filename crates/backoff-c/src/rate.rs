//! Rate control, as a C program sees it.

use core::mem::offset_of;
use core::time::Duration;

use backoff_core::{Rate as CoreRate, RateLimits, RateParts};

use crate::Status;
use crate::config::{Sized32, read};

/// What tells a rate from memory that is none: "rate".
const MARK: u32 = 0x7261_7465;

/// How a rate falls and recovers: f = 1 / (interval * base^level). A field that is 0 means its default.
#[repr(C)]
pub struct RateConfig {
    /// `sizeof(struct backoff_rate_config)`; the one field without a default.
    size: u32,
    /// By how much an adverse event divides the rate; 0 and 1: 2.
    base: u32,
    /// The largest level; 0: 10.
    level_limit: u32,
    /// 0; room for later versions, and refused if it is not 0.
    reserved: u32,
    /// The time between two actions at the full rate; 0: 1 ms.
    interval_ns: u64,
    /// The time without adverse events after which the rate recovers by one level; 0: 1 s.
    cooling_off_ns: u64,
    /// The cooling-off period doubles up to here when the rate recovered too early; 0: 64 s. At or below cooling_off_ns
    /// the period is always cooling_off_ns.
    cooling_off_limit_ns: u64,
}

/// A rate that falls at once and recovers slowly. Plain data in the caller's memory, as `struct backoff` is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Rate {
    /// From when the cooling-off period counts.
    since_ns: u64,
    /// The last action, plus 1; 0: none yet.
    last_ns: u64,
    /// 0 is the full rate.
    level: u32,
    /// How often the cooling-off period has been doubled.
    doublings: u32,
    /// Whether a level has been recovered since the last adverse event.
    recovering: u32,
    /// Tells a state from memory that is none.
    mark: u32,
    /// 0; room for later versions.
    reserved: u64,
}

// SAFETY: it begins with its size, and has integers only.
unsafe impl Sized32 for RateConfig {
    const FIRST: usize = 40;
}

/// The ABI, in octets. The header asserts the same in C.
const _: () = {
    assert!(size_of::<RateConfig>() == 40);
    assert!(size_of::<Rate>() == 40);
    assert!(offset_of!(Rate, level) == 16);
    assert!(offset_of!(Rate, mark) == 28);
};

/// Makes a rate: the full one, and no action yet.
///
/// @param rate  receives the state; what was there before does not matter
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER
///
/// # Safety
/// `rate` is NULL, or valid for writes and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_rate_init(rate: *mut Rate) -> Status {
    if rate.is_null() {
        return Status::NullPointer;
    }
    let state = Rate { since_ns: 0, last_ns: 0, level: 0, doublings: 0, recovering: 0, mark: MARK, reserved: 0 };
    // SAFETY: by the contract above, a `rate` that is not NULL is valid for writes and unshared.
    unsafe { rate.write(state) };
    Status::Ok
}

/// Takes an adverse event (a 429, a full queue): the rate falls by one level at once.
///
/// After each cooling-off period without one it recovers by one level. An event while it recovers shows that the
/// recovery was too early: the cooling-off period doubles, up to its limit. Once the full rate is reached again, the
/// period is the first one again. A time before the last event counts as that one: nothing recovers while a clock that
/// went back catches up.
///
/// @param rate    the rate
/// @param config  how it falls and recovers
/// @param now_ns  the time, of any clock that does not go back
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_NOT_INITIALISED,
///         BACKOFF_STATUS_CONFIG_SIZE or BACKOFF_STATUS_CONFIG_VALUE, and nothing changes
///
/// # Safety
/// `rate` is NULL, or valid and used by no other thread during the call; `config` is NULL, or valid for reads of as
/// many octets as its `size` says and written by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_rate_adverse(rate: *mut Rate, config: *const RateConfig, now_ns: u64) -> Status {
    // SAFETY: by the contract above, which is that of `change`.
    let changed = unsafe { change(rate, config, now_ns, Asked::Adverse) };
    changed.err().unwrap_or(Status::Ok)
}

/// Counts an action now if the rate allows one; else says how long to wait, and counts nothing.
///
/// A time before the last action counts as that one: so where the clock went back the wait is no longer than the interval
/// of the level.
///
/// @param rate     the rate
/// @param config   how it falls and recovers
/// @param now_ns   the time, of any clock that does not go back
/// @param wait_ns  receives 0: act now; or how long to wait before asking again
///
/// @return as backoff_rate_adverse
///
/// # Safety
/// `rate` and `wait_ns` are each NULL, or valid, apart from each other, and used by no other thread during the call;
/// `config` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_rate_act(
    rate: *mut Rate,
    config: *const RateConfig,
    now_ns: u64,
    wait_ns: *mut u64,
) -> Status {
    if wait_ns.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, which is that of `act_at_full_rate`.
    if let Some(wait) = unsafe { act_at_full_rate(rate, config, now_ns) } {
        // SAFETY: by the contract above, `wait_ns`, which is not NULL, is valid for writes and unshared.
        unsafe { wait_ns.write(wait) };
        return Status::Ok;
    }
    // SAFETY: by the contract above, which is that of `change`.
    match unsafe { change(rate, config, now_ns, Asked::Act) } {
        Ok(wait) => {
            // SAFETY: by the contract above, `wait_ns`, which is not NULL, is valid for writes and unshared.
            unsafe { wait_ns.write(wait) };
            Status::Ok
        }
        Err(status) => status,
    }
}

/// Gives the level now: 0 is the full rate, each level one division by the base.
///
/// @param rate    the rate; what has recovered by now is noted in it
/// @param config  how it falls and recovers
/// @param now_ns  the time, of any clock that does not go back
/// @param level   receives the level
///
/// @return as backoff_rate_adverse
///
/// # Safety
/// `rate` and `level` are each NULL, or valid, apart from each other, and used by no other thread during the call;
/// `config` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_rate_level(
    rate: *mut Rate,
    config: *const RateConfig,
    now_ns: u64,
    level: *mut u32,
) -> Status {
    if level.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, which is that of `change`.
    match unsafe { change(rate, config, now_ns, Asked::Level) } {
        Ok(found) => {
            // SAFETY: by the contract above, `level`, which is not NULL, is valid for writes and unshared.
            unsafe { level.write(found as u32) };
            Status::Ok
        }
        Err(status) => status,
    }
}

/// Gives the cooling-off period in force now: that of the configuration, doubled for each recovery that came too early.
///
/// @param rate       the rate; what has recovered by now is noted in it
/// @param config     how it falls and recovers
/// @param now_ns     the time, of any clock that does not go back
/// @param period_ns  receives the period
///
/// @return as backoff_rate_adverse
///
/// # Safety
/// `rate` and `period_ns` are each NULL, or valid, apart from each other, and used by no other thread during the call;
/// `config` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_rate_cooling_off(
    rate: *mut Rate,
    config: *const RateConfig,
    now_ns: u64,
    period_ns: *mut u64,
) -> Status {
    if period_ns.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, which is that of `change`.
    match unsafe { change(rate, config, now_ns, Asked::CoolingOff) } {
        Ok(found) => {
            // SAFETY: by the contract above, `period_ns`, which is not NULL, is valid for writes and unshared.
            unsafe { period_ns.write(found) };
            Status::Ok
        }
        Err(status) => status,
    }
}

/// What [`CoreRate::act_ns`] does at level 0, where of the configuration the interval alone matters; `None`: it has to be
/// asked.
///
/// # Safety
/// As that of [`change`].
#[inline(always)]
unsafe fn act_at_full_rate(rate: *mut Rate, config: *const RateConfig, now_ns: u64) -> Option<u64> {
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared; of the configuration only the size is
    // read.
    let (rate, size) = unsafe { (rate.as_mut()?, config.cast::<u32>().as_ref()?) };
    if *size as usize != size_of::<RateConfig>() || rate.mark != MARK || rate.level != 0 {
        return None;
    }
    // SAFETY: by the contract above; it is as large as it must be.
    let config = unsafe { &*config };
    if config.reserved != 0 {
        return None;
    }
    let interval = if config.interval_ns == 0 { 1_000_000 } else { config.interval_ns };
    if let Some(last) = rate.last_ns.checked_sub(1) {
        let (next, now) = (last.saturating_add(interval), now_ns.max(last));
        if now < next {
            return Some(next - now);
        }
    }
    rate.last_ns = rate.last_ns.max(now_ns.saturating_add(1));
    Some(0)
}

/// What a rate is asked for.
#[derive(Clone, Copy)]
enum Asked {
    Adverse,
    Act,
    Level,
    CoolingOff,
}

/// Asks the core's rate, and gives what it answered. One function for all that is asked, because the library is small.
///
/// # Safety
/// As the exported functions say of `rate` and `config`.
#[inline(never)]
unsafe fn change(rate: *mut Rate, config: *const RateConfig, now_ns: u64, asked: Asked) -> Result<u64, Status> {
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared.
    let rate = unsafe { rate.as_mut() }.ok_or(Status::NullPointer)?;
    // SAFETY: by the contract above, `config` is NULL or valid for its size.
    let limits = unsafe { read(config, RateConfig::core) }?;
    if rate.mark != MARK {
        return Err(Status::NotInitialised);
    }
    let Rate { since_ns, last_ns, level, doublings, recovering, .. } = *rate;
    let mut core = CoreRate::from_parts(RateParts { level, doublings, since_ns, last_ns, recovering: recovering != 0 });
    let given = match asked {
        Asked::Adverse => {
            core.adverse_event(&limits, nanos(now_ns));
            0
        }
        Asked::Act => core.act_ns(&limits, now_ns),
        Asked::Level => core.level(&limits, nanos(now_ns)).into(),
        Asked::CoolingOff => core.cooling_off_ns(&limits, now_ns),
    };
    let RateParts { level, doublings, since_ns, last_ns, recovering } = core.parts();
    *rate = Rate { since_ns, last_ns, level, doublings, recovering: recovering.into(), mark: MARK, reserved: 0 };
    Ok(given)
}

impl RateConfig {
    fn core(&self) -> Result<RateLimits, Status> {
        if self.reserved != 0 {
            return Err(Status::ConfigValue);
        }
        let spans = [self.interval_ns, self.cooling_off_ns, self.cooling_off_limit_ns];
        Ok(RateLimits::of_ns(spans).with_base(self.base).with_level_limit(self.level_limit))
    }
}

const fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}
