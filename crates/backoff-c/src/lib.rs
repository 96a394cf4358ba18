//! libbackoff: the C face of the backoff core. `include/backoff.h` is generated from these files and is its manual.
//!
//! Every function checks its arguments, calls one method of the core and returns a status. State lives in the
//! caller's memory. It must never allocate, never need `std` or libc, and never panic: `ffi-tests/` looks for a panic
//! path in what the linker made.

// A build that unwinds, such as that of the package alone without a profile, takes its panic handler from std.
#![cfg_attr(panic = "abort", no_std)]

mod config;
mod words;

// The header has them in this order.
mod ieee_802_3;
mod kinds;
mod laws;
mod others;
mod policy;
mod prepared;
mod rate;
#[cfg(target_has_atomic = "32")]
mod tokens;
mod window;

mod batch;
mod schedule;

use core::ffi::{CStr, c_char};

/// The version of this header; `backoff_version()` is the one of the library that was found at run time.
pub const BACKOFF_VERSION_MAJOR: u32 = 1;
/// Grows with additions that old programs do not notice.
pub const BACKOFF_VERSION_MINOR: u32 = 0;
/// Grows with corrections.
pub const BACKOFF_VERSION_PATCH: u32 = 0;

/// The binary interface: the soname is libbackoff.so.1, whatever the version.
pub const BACKOFF_ABI: u32 = 1;

/// What a call came to. A result is written only with `BACKOFF_STATUS_OK`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// The collision of attempt number `attempt_limit`: the frame is discarded. An answer, not a fault.
    Discarded = 1,
    /// A pointer is NULL. Nothing changed.
    NullPointer = 2,
    /// `size` of the configuration is that of no version, or a field that this library does not know is not 0.
    ConfigSize = 3,
    /// The state is zeroed memory, or memory without the mark of its `_init` function. Nothing changed.
    NotInitialised = 4,
    /// A field has a value that means nothing: no kind, jitter or flag, or a reserved field not 0. Nothing changed.
    ConfigValue = 5,
    /// The failure was the last that the policy allows; it is counted. An answer, not a fault.
    AttemptLimit = 6,
    /// The delay would end after the elapsed limit; the failure is counted, the generator has moved. An answer, not a fault.
    ElapsedLimit = 7,
    /// The budget holds no retry. An answer, not a fault.
    BudgetEmpty = 8,
    /// The schedule has no room for another value. Nothing changed.
    ScheduleFull = 9,
    /// Nothing is pending there. An answer, not a fault.
    NotPending = 10,
    /// The memory is too small, or not aligned to 8 octets. Nothing changed.
    Memory = 11,
    /// A field of the policy is set that the policy does not use. Nothing changed. BACKOFF_FLAG_IGNORE_UNUSED permits it.
    FieldUnused = 12,
    /// backoff_retry_fail does not take this policy; backoff_retry_fail_any of backoff_presets.h does. Nothing changed.
    NeedsAny = 13,
}

/// Every status and what it means.
const STATUSES: [(Status, &CStr); 14] = [
    (Status::Ok, c"done"),
    (Status::Discarded, c"the frame is discarded: attempt_limit attempts have collided"),
    (Status::NullPointer, c"a pointer is NULL"),
    (Status::ConfigSize, c"the size of the configuration is not one this library knows"),
    (Status::NotInitialised, c"the state has not been made by its init function"),
    (Status::ConfigValue, c"a field of the configuration has a value that means nothing"),
    (Status::AttemptLimit, c"the last failure that the policy allows"),
    (Status::ElapsedLimit, c"the delay would end after the elapsed limit"),
    (Status::BudgetEmpty, c"the budget holds no retry"),
    (Status::ScheduleFull, c"the schedule has no room for another value"),
    (Status::NotPending, c"nothing is pending there"),
    (Status::Memory, c"the memory is too small, or not aligned to 8 octets"),
    (Status::FieldUnused, c"a field of the policy is set that the policy does not use"),
    (Status::NeedsAny, c"backoff_retry_fail does not take this policy: call backoff_retry_fail_any"),
];

/// How many octets their texts have, each with its 0.
const TEXT_OCTETS: usize = {
    let (mut status, mut octets) = (0, 0);
    while status < STATUSES.len() {
        octets += STATUSES[status].1.count_bytes() + 1;
        status += 1;
    }
    octets
};

/// The texts one behind the other, and where each begins: pointers would take three times as many octets as they do.
static TEXTS: ([u8; TEXT_OCTETS], [u16; STATUSES.len()]) = {
    let (mut texts, mut begins) = ([0; TEXT_OCTETS], [0; STATUSES.len()]);
    let (mut status, mut end) = (0, 0);
    while status < STATUSES.len() {
        assert!(STATUSES[status].0 as usize == status);
        begins[status] = end as u16;
        let text = STATUSES[status].1.to_bytes_with_nul();
        let mut octet = 0;
        while octet < text.len() {
            texts[end] = text[octet];
            (octet, end) = (octet + 1, end + 1);
        }
        status += 1;
    }
    (texts, begins)
};

/// The package's version and the header's are one.
const _: () = {
    // In here: outside, Rust 1.88 takes it for unused.
    const fn is_number(text: &str, number: u32) -> bool {
        matches!(u32::from_str_radix(text, 10), Ok(parsed) if parsed == number)
    }
    assert!(is_number(env!("CARGO_PKG_VERSION_MAJOR"), BACKOFF_VERSION_MAJOR));
    assert!(is_number(env!("CARGO_PKG_VERSION_MINOR"), BACKOFF_VERSION_MINOR));
    assert!(is_number(env!("CARGO_PKG_VERSION_PATCH"), BACKOFF_VERSION_PATCH));
};

/// The version of the library as a number: major * 65536 + minor * 256 + patch.
///
/// Any thread may call it at any time.
#[unsafe(no_mangle)]
pub extern "C" fn backoff_version() -> u32 {
    BACKOFF_VERSION_MAJOR << 16 | BACKOFF_VERSION_MINOR << 8 | BACKOFF_VERSION_PATCH
}

/// The version of the library as text, such as "1.0.0".
///
/// Any thread may call it at any time; the text is constant and lives as long as the library.
#[unsafe(no_mangle)]
pub extern "C" fn backoff_version_text() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// What a status means, as a line of English; "unknown status" for a number that is none. Never NULL.
///
/// Any thread may call it at any time; the text is constant and lives as long as the library.
///
/// @param status  what another function returned
#[unsafe(no_mangle)]
pub extern "C" fn backoff_status_text(status: u32) -> *const c_char {
    let text = TEXTS.1.get(status as usize).and_then(|begin| TEXTS.0.get(usize::from(*begin)..));
    text.map_or(c"unknown status".as_ptr(), |text| text.as_ptr().cast())
}

/// Refuses everything: nothing here allocates, and a build of the library alone leaves this out. Where one build takes
/// in the whole workspace, the core may come with `alloc`, which asks for an allocator even if no code calls it.
#[cfg(panic = "abort")]
struct NoMemory;

// SAFETY: no memory is ever given; so none can be misused.
#[cfg(panic = "abort")]
unsafe impl core::alloc::GlobalAlloc for NoMemory {
    unsafe fn alloc(&self, _: core::alloc::Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: core::alloc::Layout) {}
}

#[cfg(all(not(test), panic = "abort"))]
#[global_allocator]
static NO_MEMORY: NoMemory = NoMemory;

/// `no_std` asks for one; a release build has no way to get here. In a test build the one of std is there already.
#[cfg(all(not(test), panic = "abort"))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
