//! Budgets for retries as large clients have them, as a C program sees them: tokens that threads share, a window with a
//! floor, a share of what is under way.

use core::mem::offset_of;
use core::sync::atomic::AtomicU32;

use backoff_core::{
    Pushback, QuotaLimits, ThrottleLimits, Tokens as CoreTokens, Window as CoreWindow, WindowLimits, share_allows,
};

use crate::Status;
use crate::config::{Sized32, or_default, read};

/// What tells tokens and windows from memory that is none: "toke".
const MARK: u32 = 0x746F_6B65;

/// The pushback_ms of backoff_throttle_fail where the server said nothing.
pub const BACKOFF_NO_PUSHBACK: i64 = i64::MIN;

/// Tokens for retries, of a quota or a throttle. Any number of threads may use them at the same time; nobody waits.
#[repr(C)]
pub struct Tokens {
    /// What they are, in thousandths of one.
    thousandths: u32,
    /// Tells them from memory that is none.
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

/// How many retries a window lets through; Finagle's RetryBudget, tower's TpsBudget. A field that is 0 means its default.
#[repr(C)]
pub struct WindowConfig {
    /// `sizeof(struct backoff_window_config)`; the one field without a default.
    size: u32,
    /// How many retries for each 100 requests; 0: 20.
    percent: u32,
    /// How many besides for each second of the window; 0: 10; UINT32_MAX: none.
    least_per_second: u32,
    /// 0; room for later versions, and refused if it is not 0.
    reserved: u32,
    /// How long a request counts; 0: 10 s.
    window_ns: u64,
}

/// A budget that forgets what is older than its window. Plain data in the caller's memory, for one thread at a time.
#[repr(C)]
pub struct Window {
    /// The tenth of the window that was used last.
    slice: u64,
    /// What each tenth has, in hundredths of a retry.
    slices: [i32; 10],
    /// 0; room for later versions.
    reserved: u32,
    /// Tells it from memory that is none.
    mark: u32,
}

// SAFETY: it begins with its size, and has integers only.
unsafe impl Sized32 for QuotaConfig {
    const FIRST: usize = 20;
}

// SAFETY: it begins with its size, and has integers only.
unsafe impl Sized32 for ThrottleConfig {
    const FIRST: usize = 12;
}

// SAFETY: it begins with its size, and has integers only.
unsafe impl Sized32 for WindowConfig {
    const FIRST: usize = 24;
}

/// The ABI, in octets. The header asserts the same in C.
const _: () = {
    assert!(size_of::<Tokens>() == 8 && size_of::<CoreTokens>() == size_of::<AtomicU32>());
    assert!(size_of::<QuotaConfig>() == 20);
    assert!(size_of::<ThrottleConfig>() == 12);
    assert!(size_of::<WindowConfig>() == 24);
    assert!(size_of::<Window>() == 56);
    assert!(offset_of!(Window, slices) == 8);
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
pub unsafe extern "C" fn backoff_quota_init(tokens: *mut Tokens, config: *const QuotaConfig) -> Status {
    // SAFETY: by the contract above, `config` is NULL or valid for its size; `tokens` is NULL or valid for writes.
    unsafe { init(tokens, read(config, |config| Ok(config.core().full()))) }
}

/// Takes what a retry costs by the class of its error, if there is so much.
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
        shared(tokens).and_then(|tokens| read(config, |config| Ok(config.core().take(tokens, throttled != 0))))
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

/// A request has succeeded: gives back what its last retry has cost, or the reward of one that needed none.
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
        shared(tokens).and_then(|tokens| {
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
pub unsafe extern "C" fn backoff_throttle_init(tokens: *mut Tokens, config: *const ThrottleConfig) -> Status {
    // SAFETY: by the contract above, `config` is NULL or valid for its size; `tokens` is NULL or valid for writes.
    unsafe { init(tokens, read(config, |config| Ok(config.core().full()))) }
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
    let may =
        unsafe { shared(tokens).and_then(|tokens| read(config, |config| Ok(config.core().fail(tokens, pushback)))) };
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
        shared(tokens).and_then(|tokens| {
            read(config, |config| {
                config.core().succeed(tokens);
                Ok(())
            })
        })
    };
    given.err().unwrap_or(Status::Ok)
}

/// Makes a window: no request yet.
///
/// @param window  receives the state; what was there before does not matter
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER
///
/// # Safety
/// `window` is NULL, or valid for writes and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_window_init(window: *mut Window) -> Status {
    if window.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, a `window` that is not NULL is valid for writes and unshared.
    unsafe { window.write(Window { slice: 0, slices: [0; 10], reserved: 0, mark: MARK }) };
    Status::Ok
}

/// Counts a request, which adds its share to the window.
///
/// @param window  the window
/// @param config  what it lets through
/// @param now_ns  the time, of any clock that does not go back; a time before the last one counts as that one
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_NOT_INITIALISED,
///         BACKOFF_STATUS_CONFIG_SIZE or BACKOFF_STATUS_CONFIG_VALUE, and nothing changes
///
/// # Safety
/// `window` is NULL, or valid and used by no other thread during the call; `config` is NULL, or valid for reads of as
/// many octets as its `size` says and written by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_window_deposit(
    window: *mut Window,
    config: *const WindowConfig,
    now_ns: u64,
) -> Status {
    // SAFETY: by the contract above, which is that of `change`.
    let changed = unsafe { change(window, config, |window, limits| window.deposit(limits, now_ns)) };
    changed.err().unwrap_or(Status::Ok)
}

/// Takes a retry, if the window holds one.
///
/// @param window  the window
/// @param config  what it lets through
/// @param now_ns  the time, as for backoff_window_deposit
///
/// @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not, and nothing was taken; else as
///         backoff_window_deposit
///
/// # Safety
/// As that of backoff_window_deposit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_window_withdraw(
    window: *mut Window,
    config: *const WindowConfig,
    now_ns: u64,
) -> Status {
    // SAFETY: by the contract above, which is that of `change`.
    match unsafe { change(window, config, |window, limits| window.withdraw(limits, now_ns)) } {
        Ok(true) => Status::Ok,
        Ok(false) => Status::BudgetEmpty,
        Err(status) => status,
    }
}

/// Whether another retry may be made where so many requests and retries are under way, as Envoy's retry budget says: as long
/// as retries are fewer than a share of the requests, and in any case fewer than `least`. It keeps no state.
///
/// Any thread may call it at any time.
///
/// @param active_requests  how many requests are under way, pending ones included
/// @param active_retries   how many of them are retries
/// @param percent          the share; 0: 20
/// @param least            how many retries may be under way in any case; 0: 3
///
/// @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not
#[unsafe(no_mangle)]
pub extern "C" fn backoff_share_allows(active_requests: u64, active_retries: u64, percent: u32, least: u32) -> Status {
    let allowed = share_allows(active_requests, active_retries, or_default(percent, 20), or_default(least, 3));
    if allowed { Status::Ok } else { Status::BudgetEmpty }
}

/// Writes fresh tokens.
///
/// # Safety
/// `tokens` is NULL, or valid for writes, and nobody else uses it during the call.
unsafe fn init(tokens: *mut Tokens, full: Result<CoreTokens, Status>) -> Status {
    if tokens.is_null() {
        return Status::NullPointer;
    }
    match full {
        Ok(full) => {
            // SAFETY: by the contract above, a `tokens` that is not NULL is valid for writes and unshared.
            unsafe { tokens.write(Tokens { thousandths: full.thousandths(), mark: MARK }) };
            Status::Ok
        }
        Err(status) => status,
    }
}

/// The core's tokens, which other threads may be changing.
///
/// # Safety
/// `tokens` is NULL, or valid during `'a`, and nobody changes it but by atomic operations.
unsafe fn shared<'a>(tokens: *mut Tokens) -> Result<&'a CoreTokens, Status> {
    if tokens.is_null() {
        return Err(Status::NullPointer);
    }
    // SAFETY: by the contract above it is valid; the mark is written by the init functions alone, before others see it.
    if unsafe { (&raw const (*tokens).mark).read() } != MARK {
        return Err(Status::NotInitialised);
    }
    // SAFETY: by the contract above; the core's tokens are one atomic number, as aligned as the field.
    Ok(unsafe { &*(&raw const (*tokens).thousandths).cast::<CoreTokens>() })
}

/// Changes the window by `act` on the core's, and gives what that gave.
///
/// # Safety
/// As the exported functions say of `window` and `config`.
unsafe fn change<T>(
    window: *mut Window,
    config: *const WindowConfig,
    act: impl FnOnce(&mut CoreWindow, &WindowLimits) -> T,
) -> Result<T, Status> {
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared.
    let window = unsafe { window.as_mut() }.ok_or(Status::NullPointer)?;
    // SAFETY: by the contract above, `config` is NULL or valid for its size.
    let limits = unsafe { read(config, WindowConfig::core) }?;
    if window.mark != MARK {
        return Err(Status::NotInitialised);
    }
    let mut core = CoreWindow { slice: window.slice, slices: window.slices };
    let given = act(&mut core, &limits);
    (window.slice, window.slices) = (core.slice, core.slices);
    Ok(given)
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

impl WindowConfig {
    fn core(&self) -> Result<WindowLimits, Status> {
        if self.reserved != 0 {
            return Err(Status::ConfigValue);
        }
        let WindowLimits { window_ns, percent, least_per_second } = WindowLimits::FINAGLE;
        Ok(WindowLimits {
            window_ns: if self.window_ns == 0 { window_ns } else { self.window_ns },
            percent: or_default(self.percent, percent),
            least_per_second: match self.least_per_second {
                0 => least_per_second,
                u32::MAX => 0,
                least => least,
            },
        })
    }
}
