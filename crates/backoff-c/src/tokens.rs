//! Tokens for retries that threads share, as a C program sees them. The module is left out where a processor has no atomic
//! compare-and-swap.

use core::sync::atomic::AtomicU32;

use backoff_core::{Pushback, QuotaLimits, ThrottleLimits, Tokens as CoreTokens};

use crate::Status;
use crate::config::{Sized32, or_default, read};

/// What tells the tokens of a quota from other memory: "quot".
const QUOTA: u32 = 0x7175_6F74;
/// And those of a throttle: "thro".
const THROTTLE: u32 = 0x7468_726F;

/// The pushback_ms of backoff_throttle_fail where the server said nothing.
pub const BACKOFF_NO_PUSHBACK: i64 = i64::MIN;

/// Tokens for retries, of a quota or a throttle: the functions of one refuse the tokens of the other. Any number of threads
/// may use them at the same time, and no call waits. A processor without atomic compare-and-swap (ARMv6-M) has none of
/// the functions for tokens.
#[repr(C)]
pub struct Tokens {
    /// What they are, in thousandths of one.
    thousandths: u32,
    /// Tells the tokens of a quota, those of a throttle and other memory apart.
    mark: u32,
}

/// The retry quota of the AWS SDKs (retry behaviour, standard mode, November 2026). A field that is 0 means its default.
/// Up to 4,294,967 tokens.
#[repr(C)]
pub struct QuotaConfig {
    /// `sizeof(struct backoff_quota_config)`; the one field without a default.
    size: u32,
    /// How many tokens there are; 0: 500.
    capacity: u32,
    /// What a retry costs; 0: 14.
    cost: u32,
    /// What a retry after a throttling error costs; 0: 5.
    throttling_cost: u32,
    /// What a request gives that succeeds without a retry; 0: 1.
    reward: u32,
}

/// The retry throttling of gRPC (proposal A6). A field that is 0 means its default.
#[repr(C)]
pub struct ThrottleConfig {
    /// `sizeof(struct backoff_throttle_config)`; the one field without a default.
    size: u32,
    /// maxTokens; 0: 10.
    max_tokens: u32,
    /// tokenRatio in thousandths; 0: 100.
    ratio_thousandths: u32,
}

// SAFETY: it begins with its size, and has integers only.
unsafe impl Sized32 for QuotaConfig {
    const FIRST: usize = 20;
}

// SAFETY: it begins with its size, and has integers only.
unsafe impl Sized32 for ThrottleConfig {
    const FIRST: usize = 12;
}

/// The ABI, in octets. The header asserts the same in C.
const _: () = {
    assert!(size_of::<Tokens>() == 8 && size_of::<CoreTokens>() == size_of::<AtomicU32>());
    assert!(size_of::<QuotaConfig>() == 20);
    assert!(size_of::<ThrottleConfig>() == 12);
};

/// Makes the tokens of a quota: all of them.
///
/// @param tokens  receives them, before other threads use them; what was there before does not matter
/// @param config  how many there are
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_CONFIG_SIZE, and nothing is written
///
/// # Safety
/// `tokens` is NULL, or valid for writes and used by no other thread during the call; `config` is NULL, or valid for
/// reads of as many octets as its `size` says and written by no other thread during the call.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_quota_init(tokens: *mut Tokens, config: *const QuotaConfig) -> Status {
    // SAFETY: by the contract above, `config` is NULL or valid for its size; `tokens` is NULL or valid for writes.
    unsafe { init(tokens, QUOTA, read(config, |config| Ok(config.core().full()))) }
}

/// Takes the cost of a retry by the class of its error, if there are enough tokens.
///
/// The order of a failed attempt: the quota first, then backoff_retry_fail. Where that answers ATTEMPT_LIMIT or
/// ELAPSED_LIMIT, no retry follows, and backoff_quota_succeed with `cost` gives back what was taken for it. A request that
/// fails for good after a retry gives nothing back.
///
/// @param tokens     the tokens
/// @param config     what a retry costs
/// @param throttled  not 0: the error was one of throttling
/// @param cost       receives what was taken, for backoff_quota_succeed
///
/// @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not, and nothing was taken; else
///         BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_NOT_INITIALISED or BACKOFF_STATUS_CONFIG_SIZE
///
/// # Safety
/// `tokens` is NULL, or valid, and changed by functions of this library alone, in any number of threads; `config` is NULL,
/// or valid for reads of as many octets as its `size` says and written by no other thread during the call; `cost` is NULL,
/// or valid for writes and used by no other thread during the call.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_quota_take(
    tokens: *mut Tokens,
    config: *const QuotaConfig,
    throttled: u32,
    cost: *mut u32,
) -> Status {
    if cost.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, which is that of `shared`; `config` is NULL or valid for its size.
    let taken = unsafe {
        shared(tokens, QUOTA).and_then(|tokens| read(config, |config| Ok(config.core().take(tokens, throttled != 0))))
    };
    match taken {
        Ok(Some(taken)) => {
            // SAFETY: by the contract above, `cost`, which is not NULL, is valid for writes and unshared.
            unsafe { cost.write(taken) };
            Status::Ok
        }
        Ok(None) => Status::BudgetEmpty,
        Err(status) => status,
    }
}

/// A request has succeeded: gives back what its last retry has cost, or the reward of one that needed none. A retry that
/// was paid for and is not made gives back its cost in the same way.
///
/// @param tokens  the tokens
/// @param config  how many there may be
/// @param cost    what backoff_quota_take gave last for this request; 0: it succeeded at its first attempt
///
/// @return as backoff_quota_take, without BACKOFF_STATUS_BUDGET_EMPTY
///
/// # Safety
/// As that of backoff_quota_take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_quota_succeed(tokens: *mut Tokens, config: *const QuotaConfig, cost: u32) -> Status {
    // SAFETY: by the contract above, which is that of `shared`; `config` is NULL or valid for its size.
    let given = unsafe {
        shared(tokens, QUOTA).and_then(|tokens| {
            read(config, |config| {
                config.core().succeed(tokens, cost);
                Ok(())
            })
        })
    };
    given.err().unwrap_or(Status::Ok)
}

/// Makes the tokens of a throttle: all of them.
///
/// @param tokens  receives them, before other threads use them; what was there before does not matter
/// @param config  how many there are
///
/// @return as backoff_quota_init
///
/// # Safety
/// As that of backoff_quota_init.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_throttle_init(tokens: *mut Tokens, config: *const ThrottleConfig) -> Status {
    // SAFETY: by the contract above, `config` is NULL or valid for its size; `tokens` is NULL or valid for writes.
    unsafe { init(tokens, THROTTLE, read(config, |config| Ok(config.core().full()))) }
}

/// Counts a failed attempt, which takes a token; says whether it may be tried again: with more than half of them left.
///
/// @param tokens       the tokens
/// @param config       how many there may be
/// @param pushback_ms  what the server said (grpc-retry-pushback-ms); a negative number, or what is none: do not retry;
///                     BACKOFF_NO_PUSHBACK: nothing. Where it is 0 or more, it takes the place of the policy's delay
///
/// @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not; else as backoff_quota_take
///
/// # Safety
/// As that of backoff_quota_take.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_throttle_fail(
    tokens: *mut Tokens,
    config: *const ThrottleConfig,
    pushback_ms: i64,
) -> Status {
    let pushback = match u64::try_from(pushback_ms) {
        Ok(milliseconds) => Pushback::Milliseconds(milliseconds),
        Err(_) if pushback_ms == BACKOFF_NO_PUSHBACK => Pushback::Absent,
        Err(_) => Pushback::Never,
    };
    // SAFETY: by the contract above, which is that of `shared`; `config` is NULL or valid for its size.
    let may = unsafe {
        shared(tokens, THROTTLE).and_then(|tokens| read(config, |config| Ok(config.core().fail(tokens, pushback))))
    };
    match may {
        Ok(true) => Status::Ok,
        Ok(false) => Status::BudgetEmpty,
        Err(status) => status,
    }
}

/// Counts an attempt that has succeeded, which gives a part of a token.
///
/// @param tokens  the tokens
/// @param config  how many there may be
///
/// @return as backoff_quota_succeed
///
/// # Safety
/// As that of backoff_quota_take.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_throttle_succeed(tokens: *mut Tokens, config: *const ThrottleConfig) -> Status {
    // SAFETY: by the contract above, which is that of `shared`; `config` is NULL or valid for its size.
    let given = unsafe {
        shared(tokens, THROTTLE).and_then(|tokens| {
            read(config, |config| {
                config.core().succeed(tokens);
                Ok(())
            })
        })
    };
    given.err().unwrap_or(Status::Ok)
}

/// Writes fresh tokens of that kind.
///
/// # Safety
/// `tokens` is NULL, or valid for writes, and no other thread uses it during the call.
unsafe fn init(tokens: *mut Tokens, mark: u32, full: Result<CoreTokens, Status>) -> Status {
    if tokens.is_null() {
        return Status::NullPointer;
    }
    match full {
        Ok(full) => {
            // SAFETY: by the contract above, a `tokens` that is not NULL is valid for writes and unshared.
            unsafe { tokens.write(Tokens { thousandths: full.thousandths(), mark }) };
            Status::Ok
        }
        Err(status) => status,
    }
}

/// The core's tokens, which other threads may be changing; refused where they are not of that kind.
///
/// # Safety
/// `tokens` is NULL, or valid during `'a`, and threads change it by atomic operations only.
unsafe fn shared<'a>(tokens: *mut Tokens, mark: u32) -> Result<&'a CoreTokens, Status> {
    if tokens.is_null() {
        return Err(Status::NullPointer);
    }
    // SAFETY: by the contract above it is valid; the mark is written by the init functions alone, before others see it.
    if unsafe { (&raw const (*tokens).mark).read() } != mark {
        return Err(Status::NotInitialised);
    }
    // SAFETY: by the contract above; the core's tokens are one atomic number, as aligned as the field.
    Ok(unsafe { &*(&raw const (*tokens).thousandths).cast::<CoreTokens>() })
}

impl QuotaConfig {
    fn core(&self) -> QuotaLimits {
        let QuotaLimits { capacity, cost, throttling_cost, reward } = QuotaLimits::AWS;
        QuotaLimits {
            capacity: or_default(self.capacity, capacity),
            cost: or_default(self.cost, cost),
            throttling_cost: or_default(self.throttling_cost, throttling_cost),
            reward: or_default(self.reward, reward),
        }
    }
}

impl ThrottleConfig {
    fn core(&self) -> ThrottleLimits {
        let ThrottleLimits { max_tokens, ratio_thousandths } = ThrottleLimits::GRPC;
        ThrottleLimits {
            max_tokens: or_default(self.max_tokens, max_tokens),
            ratio_thousandths: or_default(self.ratio_thousandths, ratio_thousandths),
        }
    }
}
