//! Policies, and operations that are tried again, as a C program sees them.
//!
//! One file above 500 lines because it is one chapter of the header: the struct, its kinds, its functions.

use core::mem::offset_of;

use backoff_core::{Generator, Law as CoreLaw};

use crate::Status;
use crate::config::{Sized32, read};

/// What the words of a state that `backoff_retry_init` made begin with: "back".
const MARK: u32 = 0x6261_636B;

/// How many entries `intervals` of a `struct backoff_policy` has.
pub const BACKOFF_INTERVALS: usize = 16;

/// The eight kinds by structure; `backoff_presets.h` has five more, and presets. n counts the failures so far, from 1; d is the
/// delay before jitter. The formulas hold without cap and ceiling: a cap may move a range below its lower end.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum Kind {
    /// Uniform in [0, d], d = base * 2^(n-1), at most the ceiling. AWS Architecture Blog, 2015.
    FullJitter = 0,
    /// Uniform in [d/2, d]. AWS Architecture Blog, 2015.
    EqualJitter = 1,
    /// Uniform in [base, 3 * the delay before], first in [base, 3 * base]. AWS Architecture Blog, 2015; but see cap_ns.
    DecorrelatedJitter = 2,
    /// d itself, d = base * 2^(n-1); backoff_retry_fail_any also takes another multiplier.
    Exponential = 3,
    /// Always the base.
    Constant = 4,
    /// base + (n - 1) * increment.
    Linear = 5,
    /// base * 1, 1, 2, 3, 5, 8 ...
    Fibonacci = 6,
    /// r slots, r uniform in 0 <= r < 2^min(n, slot_limit); backoff_retry_fail_any also takes another slot_base.
    SlotExponential = 8,
}

/// A server's hint is the delay itself, but no less than the drawn delay t, and no more than t + hint_limit_ns, as the AWS
/// SDKs read x-amz-retry-after (with 5 s). Without it a hint moves the whole range up, and hint_limit_ns bounds the hint.
pub const BACKOFF_FLAG_HINT_ABOVE_DRAW: u32 = 4;
/// Fields that the policy does not use are ignored, and not refused with BACKOFF_STATUS_FIELD_UNUSED.
pub const BACKOFF_FLAG_IGNORE_UNUSED: u32 = 8;

/// How long to wait after the n-th failure. A field that is 0 means the default of the kind; times are in nanoseconds.
///
/// `struct backoff_policy policy = BACKOFF_POLICY_INIT;` is exponential with full jitter from 100 ms on, without end.
/// From the growth to the delay: growth, ceiling, priority, jitter, cap. What passes 2^64 ns, 584 years, is that long. A
/// field that the kind does not use is refused. Many states may share one policy.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Policy {
    /// `sizeof(struct backoff_policy)`; the one field without a default.
    pub(crate) size: u32,
    /// One of `enum backoff_kind`, or of `enum backoff_law`.
    pub(crate) kind: u32,
    /// The first delay before jitter; T1 of SIP. 0: 100 ms.
    pub(crate) base_ns: u64,
    /// What LINEAR adds; 0: the base.
    pub(crate) increment_ns: u64,
    /// The slot; 0: 51200 ns, slotTime at 10 Mb/s.
    pub(crate) slot_ns: u64,
    /// The longest delay before jitter, which AWS calls cap and gRPC max backoff; 0: none. In
    /// DECORRELATED it bounds 3 * the delay before, and the base; of slots the longest delay, though not below one slot.
    pub(crate) ceiling_ns: u64,
    /// The longest delay, jitter included; 0: none. A server's hint alone passes it.
    ///
    /// A range [lo, hi] that would pass it is moved down until it ends there. It keeps its width as far as it can: lo
    /// falls as much as hi does, down to 0 if need be, and so below the base. With d at twice the cap or above EQUAL is
    /// thus FULL, from 0 to the cap. Where that is not wanted, use ceiling_ns. AWS's decorrelated jitter is another law:
    /// BACKOFF_JITTER_DECORRELATED_CLAMPED.
    pub(crate) cap_ns: u64,
    /// How long after the start the last delay may end; 0 and UINT64_MAX: for ever.
    pub(crate) elapsed_limit_ns: u64,
    /// The failure that is the last; 0 and UINT64_MAX: none.
    pub(crate) attempt_limit: u64,
    /// From failure to failure d grows to this much of itself; 0: 200. Below 100: 100; above 429,496: refused.
    pub(crate) multiplier_percent: u32,
    /// d is multiplied by this; below 100 for emergency traffic. 0: 100.
    pub(crate) priority_percent: u32,
    /// One of `enum backoff_jitter`.
    pub(crate) jitter: u32,
    /// The percentage or the milliseconds of the jitter.
    pub(crate) jitter_amount: u32,
    /// The base of SLOT_EXPONENTIAL; 0 and 1: 2.
    pub(crate) slot_base: u32,
    /// From this failure on SLOT_EXPONENTIAL no longer grows; 0: 10.
    pub(crate) slot_limit: u32,
    /// How many of `intervals` count: between 1 and 16 for RCP and RCP_MULTIPLIERS, else 0 or, of one interval, 1.
    pub(crate) intervals_count: u32,
    /// 0; room for later versions, and refused if it is not 0.
    pub(crate) reserved: u32,
    /// The K of RCP and ALOHA (of which ALOHA uses the first), or the multipliers.
    pub(crate) intervals: [u32; BACKOFF_INTERVALS],
    /// In place of multiplier_percent, in millionths; 0: multiplier_percent. Below 1,000,000: 1,000,000.
    pub(crate) multiplier_millionths: u32,
    /// BACKOFF_FLAG_...; others are refused.
    pub(crate) flags: u32,
    /// How much of a server's hint counts; 0: all of it. See BACKOFF_FLAG_HINT_ABOVE_DRAW.
    pub(crate) hint_limit_ns: u64,
}

// SAFETY: it begins with its size, and has integers only.
unsafe impl Sized32 for Policy {
    const FIRST: usize = 160;
}

/// One operation that is tried until it succeeds, and its generator. Plain data, as `struct backoff` is.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Retry {
    /// The counter of the built-in generator, splitmix64.
    pub(crate) generator: u64,
    /// The last delay that the policy drew, without what a hint added; 0 before the first. Of jitter POLLY the sum of all.
    pub(crate) previous_ns: u64,
    /// When the first attempt was made.
    start_ns: u64,
    /// How many attempts have failed; it stops at UINT32_MAX.
    pub(crate) failures: u32,
    /// Tells a state from memory that is none.
    mark: u32,
    /// 0; room for later versions.
    reserved: u64,
}

/// The smallest and the largest delay that may come, cap included, a hint not.
#[repr(C)]
pub struct Bounds {
    /// The smallest.
    shortest_ns: u64,
    /// The largest.
    longest_ns: u64,
}

/// Mean and variance of a delay.
#[repr(C)]
pub struct Moments {
    /// The mean, in nanoseconds.
    mean_ns: f64,
    /// The variance, in nanoseconds squared.
    variance_ns2: f64,
}

/// The ABI, in octets. The header asserts the same in C.
const _: () = {
    assert!(size_of::<Policy>() == 176);
    assert!(offset_of!(Policy, base_ns) == 8);
    assert!(offset_of!(Policy, attempt_limit) == 56);
    assert!(offset_of!(Policy, multiplier_percent) == 64);
    assert!(offset_of!(Policy, intervals) == 96);
    assert!(offset_of!(Policy, multiplier_millionths) == 160);
    assert!(offset_of!(Policy, hint_limit_ns) == 168);
    assert!(size_of::<Retry>() == 40);
    assert!(offset_of!(Retry, generator) == 0);
    assert!(offset_of!(Retry, previous_ns) == 8);
    assert!(offset_of!(Retry, start_ns) == 16);
    assert!(offset_of!(Retry, failures) == 24);
    assert!(offset_of!(Retry, mark) == 28);
    assert!(size_of::<Bounds>() == 16);
    assert!(size_of::<Moments>() == 16);
    assert!(BACKOFF_INTERVALS == backoff_core::RCP_ENTRIES);
};

/// Gives the bounds of the delay after failure number `failures`. 0 failures: no delay.
///
/// @param policy       the policy
/// @param failures     which failure, counted from 1
/// @param previous_ns  the delay before, which decorrelated jitter asks for, without a hint; 0: the base
/// @param bounds       receives the smallest and the largest delay
///
/// @return BACKOFF_STATUS_OK; BACKOFF_STATUS_ATTEMPT_LIMIT if that failure is the last; else
///         BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_CONFIG_SIZE or BACKOFF_STATUS_CONFIG_VALUE
///
/// # Safety
/// `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread during
/// the call; `bounds` is NULL, or valid for writes and used by no other thread during the call.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_policy_bounds(
    policy: *const Policy,
    failures: u64,
    previous_ns: u64,
    bounds: *mut Bounds,
) -> Status {
    let both = |law: &CoreLaw| (law.shortest_ns(), law.longest_ns());
    // SAFETY: by the contract above, which is that of `law_of`.
    match unsafe { law_of(policy, failures, previous_ns, bounds.is_null(), both) } {
        Ok((shortest_ns, longest_ns)) => {
            // SAFETY: by the contract above, `bounds`, which is not NULL, is valid for writes and unshared. One by one, and not
            // by way of a vector register.
            unsafe {
                (&raw mut (*bounds).shortest_ns).write_volatile(shortest_ns);
                (&raw mut (*bounds).longest_ns).write_volatile(longest_ns);
            }
            Status::Ok
        }
        Err(status) => status,
    }
}

/// Gives the mean and the variance of the delay after failure number `failures`, from their closed forms.
///
/// The one function that uses floating point.
///
/// @param policy       the policy
/// @param failures     which failure, counted from 1
/// @param previous_ns  the delay before, which decorrelated jitter asks for, without a hint; 0: the base
/// @param moments      receives mean and variance
///
/// @return as backoff_policy_bounds
///
/// # Safety
/// `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread during
/// the call; `moments` is NULL, or valid for writes and used by no other thread during the call.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_policy_moments(
    policy: *const Policy,
    failures: u64,
    previous_ns: u64,
    moments: *mut Moments,
) -> Status {
    // SAFETY: by the contract above, which is that of `law_of`.
    match unsafe { law_of(policy, failures, previous_ns, moments.is_null(), CoreLaw::moments) } {
        Ok((mean_ns, variance_ns2)) => {
            let found = Moments { mean_ns, variance_ns2 };
            // SAFETY: by the contract above, `moments`, which is not NULL, is valid for writes and unshared.
            unsafe { moments.write(found) };
            Status::Ok
        }
        Err(status) => status,
    }
}

/// Draws the delay after failure number `failures` with a random word of the caller. It keeps no state at all.
///
/// 0 gives the shortest delay, UINT64_MAX the longest, and a larger word never a shorter one. Not so for ALOHA_GEOMETRIC:
/// each octet of `word` makes a binary digit, so that the order of the words says nothing. Nor for DHCPV6, where what passes
/// the ceiling takes another word.
///
/// Of all words some delays have one more than others, where their number does not divide 2^64; the functions that have a
/// generator draw again instead, and are exact.
///
/// A retry whose last delay was 0 (a cap made it so) does not begin again as `previous_ns` = 0 does here: its next
/// decorrelated delay is the base itself, or the cap if that is less.
///
/// @param policy       the policy
/// @param failures     which failure, counted from 1
/// @param previous_ns  the delay before, which decorrelated jitter asks for, without a hint; 0: the base
/// @param word         64 random bits
/// @param delay_ns     receives the delay
///
/// @return as backoff_policy_bounds
///
/// # Safety
/// `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread during
/// the call; `delay_ns` is NULL, or valid for writes and used by no other thread during the call.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_policy_draw(
    policy: *const Policy,
    failures: u64,
    previous_ns: u64,
    word: u64,
    delay_ns: *mut u64,
) -> Status {
    if delay_ns.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, `policy` is NULL or valid for its size.
    let delay = unsafe { read(policy, |policy| policy.at(failures, previous_ns, word)) };
    // SAFETY: by the contract above, `delay_ns`, which is not NULL, is valid for writes and unshared.
    unsafe { give(delay, delay_ns) }
}

/// Makes the state of an operation whose first attempt is made now: nothing has failed yet.
///
/// The same `seed` and `stream` give the same delays on every machine; see backoff_init. In a fleet the seed should be
/// random, or each device have a stream of its own: otherwise all of them wait equally long.
///
/// @param retry   receives the state; what was there before does not matter
/// @param seed    the run
/// @param stream  the device or the operation within the run
/// @param now_ns  the time, of any clock that does not go back
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER
///
/// # Safety
/// `retry` is NULL, or valid for writes and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_retry_init(retry: *mut Retry, seed: u64, stream: u64, now_ns: u64) -> Status {
    if retry.is_null() {
        return Status::NullPointer;
    }
    let generator = Generator::operation(seed, stream).state();
    let state = Retry { generator, previous_ns: 0, start_ns: now_ns, failures: 0, mark: MARK, reserved: 0 };
    // SAFETY: by the contract above, a `retry` that is not NULL is valid for writes and unshared.
    unsafe { retry.write(state) };
    Status::Ok
}

/// Counts a failure, and draws the delay before the next attempt.
///
/// It takes the kinds of `enum backoff_kind` with times, limits, slots and hints. A program that calls this function alone
/// links 2 KB; what else a policy can say is for backoff_retry_fail_any of backoff_presets.h. A time before the start
/// counts as the start; a time before the last call but after the start is taken as it is.
///
/// A hint above the lower end lo of the range [lo, hi], as the cap left it, moves the whole range up: the delay lies in
/// [hint, hint + hi - lo]. So a hint may lead past the cap, and clients with the same hint do not return together. A hint
/// at lo or below changes nothing.
///
/// The generator steps with BACKOFF_STATUS_OK and BACKOFF_STATUS_ELAPSED_LIMIT, and the failure counts with these and
/// BACKOFF_STATUS_ATTEMPT_LIMIT. The attempt limit stays met; after the elapsed limit a shorter hint might do. For
/// decorrelated jitter the delay before is what the policy drew, without the hint. If a cap made that 0, the next one is
/// the base itself, or the cap if that is less.
///
/// @param retry     the operation
/// @param policy    the policy; it may be another one at every call
/// @param now_ns    the time, of the clock given to backoff_retry_init
/// @param hint_ns   what the server asked for (Retry-After); 0: nothing
/// @param delay_ns  receives the delay from now on
///
/// @return BACKOFF_STATUS_OK; BACKOFF_STATUS_ATTEMPT_LIMIT or BACKOFF_STATUS_ELAPSED_LIMIT: give up; else NULL_POINTER,
///         NOT_INITIALISED, CONFIG_SIZE, CONFIG_VALUE, FIELD_UNUSED or NEEDS_ANY, and nothing changes
///
/// # Safety
/// `retry` and `delay_ns` are each NULL, or valid, apart from each other, and used by no other thread during the call;
/// `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_retry_fail(
    retry: *mut Retry,
    policy: *const Policy,
    now_ns: u64,
    hint_ns: u64,
    delay_ns: *mut u64,
) -> Status {
    // SAFETY: by the contract above, which is that of `begun`.
    let retry = match unsafe { begun(retry, policy, delay_ns) } {
        Ok(retry) => retry,
        Err(status) => return status,
    };
    // SAFETY: by the contract above, `policy` is valid for its size, and no thread writes to it meanwhile. Only the size is
    // read first.
    if hint_ns == 0 && unsafe { policy.cast::<u32>().read() } as usize == size_of::<Policy>() {
        // SAFETY: as above; it is as large as it must be.
        let policy = unsafe { &*policy };
        if let Some(counted) = retry.failures.checked_add(1)
            && let Some((drawn, generator)) = policy.straight_draw(retry.failures, Generator::new(retry.generator))
            && (policy.elapsed_limit_ns == 0 || !retry.ends_after(policy.elapsed_limit_ns, now_ns, drawn))
        {
            (retry.failures, retry.generator, retry.previous_ns) = (counted, generator.state(), drawn);
            // SAFETY: by the contract above, `delay_ns`, which is not NULL, is valid for writes and unshared.
            unsafe { delay_ns.write(drawn) };
            return Status::Ok;
        }
    }
    // SAFETY: by the contract above.
    unsafe { fail_closely(retry, policy, now_ns, hint_ns, delay_ns) }
}

/// What backoff_retry_fail does where there is no shorter way.
///
/// # Safety
/// As that function says, and no pointer is NULL.
#[inline(never)]
unsafe fn fail_closely(
    retry: &mut Retry,
    policy: *const Policy,
    now_ns: u64,
    hint_ns: u64,
    delay_ns: *mut u64,
) -> Status {
    // SAFETY: by the contract above, `policy` is valid for its size, and no thread writes to it meanwhile.
    let delay = unsafe { read(policy, |policy| retry.fail_by_structure(policy, now_ns, hint_ns)) };
    // SAFETY: by the contract above, `delay_ns`, which is not NULL, is valid for writes and unshared.
    unsafe { give(delay, delay_ns) }
}

/// Counts a failure, and draws the delay before the next attempt: backoff_retry_fail for every policy.
///
/// It takes every kind, jitter, multiplier, priority and flag. For a policy that backoff_retry_fail takes, both
/// give the same delays. A program that calls this function links all laws: 14 KB of code in place of 3.
///
/// @param retry     the operation
/// @param policy    the policy; it may be another one at every call
/// @param now_ns    the time, of the clock given to backoff_retry_init
/// @param hint_ns   what the server asked for (Retry-After); 0: nothing
/// @param delay_ns  receives the delay from now on
///
/// @return as backoff_retry_fail, but never BACKOFF_STATUS_NEEDS_ANY
///
/// # Safety
/// As that of backoff_retry_fail.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_retry_fail_any(
    retry: *mut Retry,
    policy: *const Policy,
    now_ns: u64,
    hint_ns: u64,
    delay_ns: *mut u64,
) -> Status {
    // SAFETY: by the contract above, which is that of `begun`.
    let retry = match unsafe { begun(retry, policy, delay_ns) } {
        Ok(retry) => retry,
        Err(status) => return status,
    };
    // SAFETY: by the contract above, `policy` is valid for its size, and no thread writes to it meanwhile. Only the
    // size is read here.
    if unsafe { policy.cast::<u32>().read() } as usize == size_of::<Policy>() {
        // SAFETY: as above; it is as large as it must be.
        let policy = unsafe { &*policy };
        let failures = u64::from(retry.failures) + 1;
        let previous = if failures == 1 { None } else { Some(retry.previous_ns) };
        if let Some(row) = policy.plain_row(failures)
            && let Some(counted) = retry.failures.checked_add(1)
            && let Some(law) = policy.plain(row, failures, previous)
        {
            retry.failures = counted;
            let mut generator = Generator::new(retry.generator);
            let word = generator.next_u64();
            let drawn = law.draw_ns(word, &mut generator);
            retry.generator = generator.state();
            retry.previous_ns = drawn;
            let delay = policy.hinted(drawn, law.first, hint_ns);
            let limit = policy.elapsed_limit();
            if limit != u64::MAX && retry.ends_after(limit, now_ns, delay) {
                return Status::ElapsedLimit;
            }
            // SAFETY: by the contract above, `delay_ns`, which is not NULL, is valid for writes and unshared.
            unsafe { delay_ns.write(delay) };
            return Status::Ok;
        }
    }
    // SAFETY: as above.
    unsafe { fail_the_long_way(retry, policy, now_ns, hint_ns, delay_ns) }
}

/// The same as backoff_retry_fail_any, with a delay that counts from the start of the attempt that has failed.
///
/// `delay_ns` receives what is left of it now: 0 where the attempt has lasted longer. The elapsed limit is applied to the
/// whole delay from the start of the attempt.
///
/// @param retry       the operation
/// @param policy      the policy; it may be another one at every call
/// @param attempt_ns  when the attempt that has failed was begun, by the clock of `now_ns`; a later time counts as now
/// @param now_ns      the time, of the clock given to backoff_retry_init
/// @param hint_ns     what the server asked for from now on (Retry-After); 0: nothing
/// @param delay_ns    receives the delay from now on
///
/// @return as backoff_retry_fail_any
///
/// # Safety
/// As that of backoff_retry_fail.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_retry_fail_since(
    retry: *mut Retry,
    policy: *const Policy,
    attempt_ns: u64,
    now_ns: u64,
    hint_ns: u64,
    delay_ns: *mut u64,
) -> Status {
    let (mut whole, lasted) = (0, now_ns.saturating_sub(attempt_ns));
    let result = if delay_ns.is_null() { delay_ns } else { &raw mut whole };
    let hint = if hint_ns == 0 { 0 } else { hint_ns.saturating_add(lasted) };
    // SAFETY: by the contract above, which is that of `backoff_retry_fail_any`; the result goes to a place of ours.
    let status = unsafe { backoff_retry_fail_any(retry, policy, now_ns - lasted, hint, result) };
    if matches!(status, Status::Ok) {
        // SAFETY: by the contract above; it is not NULL, or the status were another one.
        unsafe { delay_ns.write(whole.saturating_sub(lasted)) };
    }
    status
}

/// Gives the number of failures that have been counted; it stops at UINT32_MAX.
///
/// @param retry     the operation
/// @param failures  receives the number
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `retry` is NULL, or valid and written by no other thread during the call; `failures` is NULL, or valid for writes,
/// apart from `retry`, and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_retry_failures(retry: *const Retry, failures: *mut u32) -> Status {
    // SAFETY: by the contract above, a pointer that is not NULL is valid, and no thread writes to it meanwhile.
    let Some(retry) = (unsafe { retry.as_ref() }) else {
        return Status::NullPointer;
    };
    if failures.is_null() {
        return Status::NullPointer;
    }
    if retry.mark != MARK {
        return Status::NotInitialised;
    }
    // SAFETY: by the contract above, `failures`, which is not NULL, is valid for writes and unshared.
    unsafe { failures.write(retry.failures) };
    Status::Ok
}

/// Makes the state ready for another operation, whose first attempt is made now. The generator goes on.
///
/// @param retry   the operation that succeeded or was given up
/// @param now_ns  the time
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `retry` is NULL, or valid and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_retry_reset(retry: *mut Retry, now_ns: u64) -> Status {
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared.
    let Some(retry) = (unsafe { retry.as_mut() }) else {
        return Status::NullPointer;
    };
    if retry.mark != MARK {
        return Status::NotInitialised;
    }
    *retry = Retry { previous_ns: 0, start_ns: now_ns, failures: 0, ..*retry };
    Status::Ok
}

/// The operation whose failure is to be counted.
///
/// # Safety
/// `retry` is NULL, or valid and used by no other thread during `'a`.
#[inline(always)]
unsafe fn begun<'a>(retry: *mut Retry, policy: *const Policy, delay_ns: *mut u64) -> Result<&'a mut Retry, Status> {
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared.
    let Some(retry) = (unsafe { retry.as_mut() }) else {
        return Err(Status::NullPointer);
    };
    if delay_ns.is_null() || policy.is_null() {
        return Err(Status::NullPointer);
    }
    if retry.is_initialised() { Ok(retry) } else { Err(Status::NotInitialised) }
}

/// Writes the delay, if there is one.
///
/// # Safety
/// `delay_ns` is valid for writes and used by no other thread during the call.
#[inline(always)]
unsafe fn give(delay: Result<u64, Status>, delay_ns: *mut u64) -> Status {
    match delay {
        Ok(delay) => {
            // SAFETY: by the contract above.
            unsafe { delay_ns.write(delay) };
            Status::Ok
        }
        Err(status) => status,
    }
}

/// What `take` makes of the law of one delay, for a call whose result would go nowhere if `no_result`.
///
/// # Safety
/// `policy` is NULL, or valid for reads of as many octets as its `size` says, and no thread writes to it meanwhile.
#[inline(always)]
pub(crate) unsafe fn law_of<T>(
    policy: *const Policy,
    failures: u64,
    previous_ns: u64,
    no_result: bool,
    take: impl FnOnce(&CoreLaw) -> T,
) -> Result<T, Status> {
    if no_result {
        return Err(Status::NullPointer);
    }
    // SAFETY: by the contract above.
    unsafe { read(policy, |policy| policy.law(failures, previous_ns, take)) }
}

/// What backoff_retry_fail_any does where there is no shorter way.
///
/// # Safety
/// As that function says, and no pointer is NULL.
#[inline(never)]
unsafe fn fail_the_long_way(
    retry: &mut Retry,
    policy: *const Policy,
    now_ns: u64,
    hint_ns: u64,
    delay_ns: *mut u64,
) -> Status {
    // SAFETY: by the contract above, `policy` is valid for its size, and no thread writes to it meanwhile.
    let delay = unsafe { read(policy, |policy| retry.fail(policy, now_ns, hint_ns)) };
    // SAFETY: by the contract above, `delay_ns`, which is not NULL, is valid for writes and unshared.
    unsafe { give(delay, delay_ns) }
}

impl Retry {
    /// Whether `backoff_retry_init` has been here.
    #[inline(always)]
    pub(crate) const fn is_initialised(&self) -> bool {
        self.mark == MARK
    }

    /// Whether a delay from now on would end later than so long after the start.
    #[inline(always)]
    pub(crate) const fn ends_after(&self, limit: u64, now_ns: u64, delay: u64) -> bool {
        now_ns.saturating_sub(self.start_ns).saturating_add(delay) > limit
    }

    /// Counts a failure of a policy that is of one of the eight kinds alone, and draws the delay after it.
    #[inline(always)]
    fn fail_by_structure(&mut self, policy: &Policy, now_ns: u64, hint_ns: u64) -> Result<u64, Status> {
        policy.check_structure()?;
        let previous = if self.failures == 0 { policy.structure_base() } else { self.previous_ns };
        self.failures = self.failures.saturating_add(1);
        let failures = u64::from(self.failures);
        if policy.attempt_limit != 0 && failures >= policy.attempt_limit {
            return Err(Status::AttemptLimit);
        }
        let law = policy.by_structure(failures, previous);
        let mut generator = Generator::new(self.generator);
        let word = generator.next_u64();
        let drawn = law.draw_ns(word, &mut generator);
        self.generator = generator.state();
        self.previous_ns = drawn;
        let delay = if hint_ns == 0 { drawn } else { policy.structure_hint().delay(drawn, law.first, hint_ns) };
        if policy.elapsed_limit_ns != 0 && self.ends_after(policy.elapsed_limit_ns, now_ns, delay) {
            return Err(Status::ElapsedLimit);
        }
        Ok(delay)
    }

    /// Counts a failure, if the policy has no mistake, and draws the delay after it.
    ///
    /// The same as [`backoff_core::Retry::fail_ns`], step by step, from the C policy.
    #[inline(always)]
    fn fail(&mut self, policy: &Policy, now_ns: u64, hint_ns: u64) -> Result<u64, Status> {
        let row = policy.row()?;
        let previous = if self.failures == 0 { policy.first_previous(row) } else { self.previous_ns };
        self.failures = self.failures.saturating_add(1);
        let failures = u64::from(self.failures);
        let mut generator = Generator::new(self.generator);
        let Some((shortest, drawn, remembered)) = policy.draw(row, failures, previous, &mut generator) else {
            return Err(Status::AttemptLimit);
        };
        self.generator = generator.state();
        self.previous_ns = remembered;
        let delay = policy.hinted(drawn, shortest, hint_ns);
        let limit = policy.elapsed_limit();
        if limit != u64::MAX && self.ends_after(limit, now_ns, delay) {
            return Err(Status::ElapsedLimit);
        }
        Ok(delay)
    }
}

impl Kind {
    /// The kinds in the order of their numbers.
    pub(crate) const ALL: [Kind; 8] = [
        Kind::FullJitter,
        Kind::EqualJitter,
        Kind::DecorrelatedJitter,
        Kind::Exponential,
        Kind::Constant,
        Kind::Linear,
        Kind::Fibonacci,
        Kind::SlotExponential,
    ];
}
