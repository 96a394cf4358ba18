//! Budgets for retries that one thread keeps, as a C program sees them: a window with a floor, a share of the requests under
//! way.

use core::mem::offset_of;

use backoff_core::{Window as CoreWindow, WindowLimits, share_allows};

use crate::Status;
use crate::config::{Sized32, or_default, read};

/// What tells a window from other memory: "wind".
const MARK: u32 = 0x7769_6E64;

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
unsafe impl Sized32 for WindowConfig {
    const FIRST: usize = 24;
}

/// The ABI, in octets. The header asserts the same in C.
const _: () = {
    assert!(size_of::<WindowConfig>() == 24);
    assert!(size_of::<Window>() == 56);
    assert!(offset_of!(Window, slices) == 8);
};

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
#[must_use]
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

/// Whether another retry is allowed with these numbers of active requests and retries, as in Envoy's retry budget. It
/// is allowed while retries are fewer than a share of the requests, and always while they are fewer than `least`. The
/// function keeps no state.
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
#[must_use]
pub extern "C" fn backoff_share_allows(active_requests: u64, active_retries: u64, percent: u32, least: u32) -> Status {
    let allowed = share_allows(active_requests, active_retries, or_default(percent, 20), or_default(least, 3));
    if allowed { Status::Ok } else { Status::BudgetEmpty }
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
