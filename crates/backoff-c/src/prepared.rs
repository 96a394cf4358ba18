//! A policy that has been read: the laws of its first failures side by side, in the caller's memory.

use core::mem::offset_of;

use backoff_core::Generator;
use backoff_core::internals::{self, Uniform, geometric_chances};

use crate::Status;
use crate::config::read;
use crate::policy::{BACKOFF_INTERVALS, Policy, Retry, backoff_policy_draw, backoff_retry_fail_any};

/// What tells a prepared policy from memory that is none: "read".
const MARK: u32 = 0x7265_6164;
/// Digits of a geometric number that share a word.
const DIGITS: usize = internals::DIGITS as usize;

/// How many laws a `struct backoff_prepared` has.
pub const BACKOFF_PREPARED_LAWS: usize = 40;

/// The law of one delay: first_ns + r * step_ns, r uniform in 0 <= r <= top.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PreparedLaw {
    /// The shortest delay.
    first_ns: u64,
    /// The distance of two delays.
    step_ns: u64,
    /// How many distances the longest delay is from the shortest.
    top: u64,
}

/// A policy as backoff_policy_prepare has read it, so that no decision reads it again. Plain data in the caller's memory;
/// many states may share one. The fields are the library's.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Prepared {
    /// Tells it from memory that is none.
    mark: u32,
    /// How many of the laws count: no more than there are delays.
    count: u32,
    /// Not 0: later failures have the last law.
    stays: u32,
    /// 0; room for later versions.
    reserved: u32,
    /// The failure that is the last; UINT64_MAX: none.
    attempt_limit: u64,
    /// How long after the start the last delay may end; UINT64_MAX: for ever.
    elapsed_limit_ns: u64,
    /// Of decorrelated jitter the base and the ceiling of its range, and its cap; else 0. Of a geometric law `base_ns` is the
    /// number of its chances, `cap_ns` the longest delay; each of the laws has a slot as its step and a chance as its top, and
    /// the first two have as their first one the highest octets of seven chances, and the last word of the eighth octet.
    base_ns: u64,
    ceiling_ns: u64,
    cap_ns: u64,
    /// The laws after the failures from the first on.
    laws: [PreparedLaw; BACKOFF_PREPARED_LAWS],
    /// What was read.
    policy: Policy,
}

/// The ABI, in octets. The header asserts the same in C.
const _: () = {
    assert!(size_of::<PreparedLaw>() == 24);
    assert!(size_of::<Prepared>() == 1192);
    assert!(offset_of!(Prepared, laws) == 56);
    assert!(BACKOFF_INTERVALS == 16);
};

/// Reads a policy once, for backoff_prepared_fail and backoff_prepared_draw, which take little more than half of the time
/// that backoff_retry_fail takes. It gives the same delays, bit for bit. (Of jitters that are neither uniform nor
/// decorrelated, such as DHCPV6 and POLLY, they ask the policy each time.)
///
/// @param policy    the policy; it may change or go afterwards
/// @param prepared  receives what was read
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_CONFIG_SIZE or
///         BACKOFF_STATUS_CONFIG_VALUE, and nothing is written
///
/// # Safety
/// `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread during
/// the call; `prepared` is NULL, or valid for writes, apart from `policy`, and used by no other thread.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_policy_prepare(policy: *const Policy, prepared: *mut Prepared) -> Status {
    if prepared.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, `policy` is NULL or valid for its size, and `prepared`, which is not NULL, is valid for
    // writes and unshared.
    match unsafe { read(policy, |policy| write(policy, prepared)) } {
        Ok(()) => Status::Ok,
        Err(status) => status,
    }
}

/// Writes a policy and what follows from it.
///
/// # Safety
/// `prepared` is valid for writes, and used by no other thread during the call.
#[cold]
#[inline(never)]
unsafe fn write(policy: &Policy, prepared: *mut Prepared) -> Result<(), Status> {
    policy.row()?;
    // SAFETY: by the contract above. Word by word, because the library has no memcpy; it is written whole before it is
    // looked at, and holds integers only, which any bits are.
    unsafe {
        let from = (&raw const *policy).cast::<u32>();
        let to = (&raw mut (*prepared).policy).cast::<u32>();
        for word in 0..core::hint::black_box(size_of::<Policy>() / size_of::<u32>()) {
            to.add(word).write_volatile(from.add(word).read());
        }
        (*prepared).policy.size = size_of::<Policy>() as u32;
        prepare(&mut *prepared)
    }
}

/// Fills what follows from the policy.
fn prepare(prepared: &mut Prepared) -> Result<(), Status> {
    let Prepared { mark, count, stays, reserved, attempt_limit, elapsed_limit_ns, laws, policy, .. } = prepared;
    let row = policy.row()?;
    (*mark, *reserved, *count, *stays) = (MARK, 0, 0, 0);
    *attempt_limit = policy.attempts();
    *elapsed_limit_ns = policy.elapsed_limit();
    let decorrelated = policy.decorrelated(row);
    if policy.follows_from_the_count(row) {
        for (failures, law) in (1..).zip(laws.iter_mut()) {
            let Uniform { first, step, top } = policy.uniform(row, failures, 0);
            *law = PreparedLaw { first_ns: first, step_ns: step, top };
        }
        *count = (*attempt_limit - 1).min(BACKOFF_PREPARED_LAWS as u64) as u32;
        // Every growth rises, or stays.
        let late = policy.uniform(row, u64::MAX, 0);
        *stays = laws.last().is_some_and(|last| last.uniform() == late).into();
    }
    let (mut chances, mut longest) = (0, 0);
    if let Some((slots, slot, limit)) = policy.always_geometric(row) {
        longest = limit;
        let (mut octets, mut more) = (0, 0);
        geometric_chances(slots, |chance| {
            if let Some(law) = laws.get_mut(chances) {
                *law = PreparedLaw { first_ns: 0, step_ns: slot, top: chance };
            }
            if chances < DIGITS {
                octets |= chance >> 56 << (chances * 8);
            } else if chances == DIGITS {
                more = chance | u64::MAX >> 8;
            }
            chances += 1;
        });
        (laws[0].first_ns, laws[1].first_ns) = (octets, more);
    }
    // A mean of 2^29 slots has more chances than there are laws: the policy is asked.
    let chances = if chances > laws.len() { 0 } else { chances };
    let (base, ceiling, cap) = decorrelated.unwrap_or((chances as u64, 0, longest));
    (prepared.base_ns, prepared.ceiling_ns, prepared.cap_ns) = (base, ceiling, cap);
    Ok(())
}

/// Counts a failure, and draws the delay before the next attempt; as backoff_retry_fail_any, from a prepared policy.
///
/// @param retry     the operation
/// @param prepared  the policy, as backoff_policy_prepare has read it; it may be another one at every call
/// @param now_ns    the time, of the clock given to backoff_retry_init
/// @param hint_ns   what the server asked for (Retry-After); 0: nothing
/// @param delay_ns  receives the delay from now on
///
/// @return BACKOFF_STATUS_OK; BACKOFF_STATUS_ATTEMPT_LIMIT or BACKOFF_STATUS_ELAPSED_LIMIT: give up; else
///         BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED, and nothing changes
///
/// # Safety
/// `retry` and `delay_ns` are each NULL, or valid, apart from each other, and used by no other thread during the call;
/// `prepared` is NULL, or valid and written by no other thread during the call.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_prepared_fail(
    retry: *mut Retry,
    prepared: *const Prepared,
    now_ns: u64,
    hint_ns: u64,
    delay_ns: *mut u64,
) -> Status {
    // SAFETY: by the contract above, a pointer that is not NULL is valid, and no other thread changes its target.
    let (Some(state), Some(read)) = (unsafe { retry.as_mut() }, unsafe { prepared.as_ref() }) else {
        return Status::NullPointer;
    };
    if delay_ns.is_null() {
        return Status::NullPointer;
    }
    if !state.is_initialised() || read.mark != MARK {
        return Status::NotInitialised;
    }
    let Some(law) = read.law(state.failures, state.previous_ns) else {
        // SAFETY: by the contract above.
        return unsafe { fail_otherwise(state, read, now_ns, hint_ns, delay_ns) };
    };
    state.failures += 1;
    let mut generator = Generator::new(state.generator);
    let word = generator.next_u64();
    let drawn = law.draw_ns(word, &mut generator);
    state.generator = generator.state();
    state.previous_ns = drawn;
    let delay = read.policy.hinted(drawn, law.first, hint_ns);
    if read.elapsed_limit_ns != u64::MAX && state.ends_after(read.elapsed_limit_ns, now_ns, delay) {
        return Status::ElapsedLimit;
    }
    // SAFETY: by the contract above, `delay_ns`, which is not NULL, is valid for writes and unshared.
    unsafe { delay_ns.write(delay) };
    Status::Ok
}

/// What backoff_prepared_fail does where the delay is not uniform, or there is none.
///
/// # Safety
/// As that function says, and `delay_ns` is not NULL.
#[inline(never)]
unsafe fn fail_otherwise(retry: &mut Retry, read: &Prepared, now_ns: u64, hint_ns: u64, delay_ns: *mut u64) -> Status {
    if u64::from(retry.failures) + 1 < read.attempt_limit && retry.failures != u32::MAX {
        let mut generator = Generator::new(retry.generator);
        if let Some(drawn) = read.geometric(generator.next_u64()) {
            retry.failures += 1;
            retry.generator = generator.state();
            retry.previous_ns = drawn;
            let delay = read.policy.hinted(drawn, 0, hint_ns);
            if read.elapsed_limit_ns != u64::MAX && retry.ends_after(read.elapsed_limit_ns, now_ns, delay) {
                return Status::ElapsedLimit;
            }
            // SAFETY: by the contract above.
            unsafe { delay_ns.write(delay) };
            return Status::Ok;
        }
    }
    // SAFETY: by the contract above; the policy in there is whole.
    unsafe { backoff_retry_fail_any(retry, &raw const read.policy, now_ns, hint_ns, delay_ns) }
}

/// Draws the delay after failure number `failures` with a random word of the caller; as backoff_policy_draw, from a prepared
/// policy.
///
/// @param prepared     the policy, as backoff_policy_prepare has read it
/// @param failures     which failure, counted from 1
/// @param previous_ns  the delay before, which decorrelated jitter asks for, without a hint; 0: the base
/// @param word         64 random bits
/// @param delay_ns     receives the delay
///
/// @return BACKOFF_STATUS_OK; BACKOFF_STATUS_ATTEMPT_LIMIT if that failure is the last; else
///         BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `prepared` is NULL, or valid and written by no other thread during the call; `delay_ns` is NULL, or valid for writes
/// and used by no other thread during the call.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_prepared_draw(
    prepared: *const Prepared,
    failures: u64,
    previous_ns: u64,
    word: u64,
    delay_ns: *mut u64,
) -> Status {
    // SAFETY: by the contract above, a pointer that is not NULL is valid, and no thread writes to it meanwhile.
    let Some(read) = (unsafe { prepared.as_ref() }) else {
        return Status::NullPointer;
    };
    if delay_ns.is_null() {
        return Status::NullPointer;
    }
    if read.mark != MARK {
        return Status::NotInitialised;
    }
    let before = failures.wrapping_sub(1);
    if before < u64::from(read.count)
        && let Some(law) = read.laws.get(before as usize)
    {
        let delay = law.uniform().at_ns(word);
        // SAFETY: by the contract above, `delay_ns`, which is not NULL, is valid for writes and unshared.
        unsafe { delay_ns.write(delay) };
        return Status::Ok;
    }
    // SAFETY: by the contract above; the policy in there is whole.
    unsafe { backoff_policy_draw(&raw const read.policy, failures, previous_ns, word, delay_ns) }
}

impl PreparedLaw {
    #[inline(always)]
    const fn uniform(&self) -> Uniform {
        Uniform { first: self.first_ns, step: self.step_ns, top: self.top }
    }
}

impl Prepared {
    /// The geometric delay of one word; `None` where the policy has to be asked.
    #[inline(always)]
    fn geometric(&self, word: u64) -> Option<u64> {
        const EACH: u64 = u64::MAX / 0xFF;
        const HIGH: u64 = EACH << 7;
        if self.base_ns == 0 {
            return None;
        }
        let [PreparedLaw { first_ns: octets, step_ns: slot, .. }, PreparedLaw { first_ns: more, .. }, ..] = self.laws;
        // The highest bit of an octet says where that of the word is below, and where it is no higher: chances of digits are
        // below a half.
        let difference = (word | HIGH) - octets;
        let below = !(difference | word) & HIGH;
        let decides = !((difference - EACH) | word) & HIGH == below && word > more;
        // The highest bits of the octets side by side.
        let digits = (below >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        let drawn = if decides { digits } else { self.geometric_closely(word) };
        drawn.checked_mul(slot).filter(|delay| *delay <= self.cap_ns)
    }

    /// The geometric number of one word, chance by chance.
    #[inline(never)]
    fn geometric_closely(&self, word: u64) -> u64 {
        let (mut words, mut octets, mut drawn) = (Generator::new(word), word, 0);
        for (number, law) in self.laws.iter().enumerate() {
            let first = octets << 56;
            octets >>= 8;
            let undecided = first < law.top && first | u64::MAX >> 8 >= law.top;
            let word = if undecided { first | words.next_u64() >> 8 } else { first };
            drawn += u64::from(word < law.top) << ((number - number / 8) & 63);
            if number % 8 == DIGITS {
                if word >= law.top {
                    break;
                }
                octets = words.next_u64();
            }
        }
        drawn
    }

    /// The law of the failure after this number of failures; `None`: the caller has to ask the policy.
    #[inline(always)]
    fn law(&self, failures: u32, previous: u64) -> Option<Uniform> {
        if failures < self.count {
            return self.laws.get(failures as usize).map(PreparedLaw::uniform);
        }
        if u64::from(failures) + 1 >= self.attempt_limit || failures == u32::MAX {
            return None;
        }
        if self.stays != 0 {
            return self.laws.last().map(PreparedLaw::uniform);
        }
        if self.ceiling_ns == 0 {
            return None;
        }
        // Decorrelated jitter.
        let previous = if failures == 0 { self.base_ns } else { previous };
        let first = self.base_ns.min(self.ceiling_ns);
        let last = previous.saturating_mul(3).min(self.ceiling_ns).max(first);
        Some(Uniform::between(first, last).capped(self.cap_ns))
    }
}
