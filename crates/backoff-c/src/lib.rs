//! libbackoff: the C face of the backoff core. `include/backoff.h` is generated from this file and is its manual.
//!
//! Every function checks its arguments, calls one method of the core and returns a status. State lives in the
//! caller's memory. It must never allocate, never need `std` or libc, and never panic: `ffi-tests/` looks for a panic
//! path in what the linker made.

#![no_std]

use core::ffi::{CStr, c_char};
use core::mem::offset_of;
use core::num::NonZeroU32;

use backoff_core::{Generator, Limits};

/// The version of this header; `backoff_version()` is the one of the library that was found at run time.
pub const BACKOFF_VERSION_MAJOR: u32 = 0;
/// Grows with additions that old programs do not notice.
pub const BACKOFF_VERSION_MINOR: u32 = 1;
/// Grows with corrections.
pub const BACKOFF_VERSION_PATCH: u32 = 0;

/// What a call came to. A result is written only with `BACKOFF_STATUS_OK`.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok = 0,
    /// The collision of attempt number `attempt_limit`: the frame is discarded. An answer, not a fault.
    Discarded = 1,
    /// A pointer is NULL. Nothing changed.
    NullPointer = 2,
    /// `size` of the configuration is not that of a `struct backoff_config` this library knows. Nothing changed.
    ConfigSize = 3,
    /// The state is not one that `backoff_init` made, but zeroed memory, for example. Nothing changed.
    NotInitialised = 4,
}

/// What `backoff_init` is told. A field that is 0 means the default, the value of IEEE 802.3.
///
/// `struct backoff_config config = BACKOFF_CONFIG_INIT;` sets the size and takes every default. Fields of later
/// versions come at the end, so that `size` tells them apart.
#[repr(C)]
pub struct Config {
    /// `sizeof(struct backoff_config)`; the one field without a default.
    size: u32,
    /// The attempt, the first included, whose collision discards the frame; 0: 16.
    attempt_limit: u32,
    /// The collision from which on the range no longer doubles; 0: 10. From 64 on the range is all of `uint64_t`.
    backoff_limit: u32,
}

/// One station's backoff: the frame in hand and the generator of all its frames. Plain data in the caller's memory.
///
/// Copy it with `=` or `memcpy`, write it to a file, throw it away: there is nothing to free. A copy draws the same
/// delays again. The fields are the library's: read them with a debugger, write them through the functions.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Backoff {
    /// The counter of the built-in generator, splitmix64.
    generator: u64,
    /// How many attempts of this frame have collided.
    attempts: u32,
    /// As configured; 0 only where `backoff_init` has not been.
    attempt_limit: u32,
    /// As configured.
    backoff_limit: u32,
    /// 0; room for later versions.
    reserved: [u32; 3],
}

/// The ABI, in octets. The header asserts the same in C.
const _: () = {
    assert!(size_of::<Status>() == 4);
    assert!(size_of::<Config>() == 12);
    assert!(offset_of!(Config, size) == 0);
    assert!(offset_of!(Config, attempt_limit) == 4);
    assert!(offset_of!(Config, backoff_limit) == 8);
    assert!(size_of::<Backoff>() == 32);
    assert!(offset_of!(Backoff, generator) == 0);
    assert!(offset_of!(Backoff, attempts) == 8);
    assert!(offset_of!(Backoff, attempt_limit) == 12);
    assert!(offset_of!(Backoff, backoff_limit) == 16);
    assert!(offset_of!(Backoff, reserved) == 20);
};

/// The package's version and the header's are one.
const _: () = {
    assert!(is_number(env!("CARGO_PKG_VERSION_MAJOR"), BACKOFF_VERSION_MAJOR));
    assert!(is_number(env!("CARGO_PKG_VERSION_MINOR"), BACKOFF_VERSION_MINOR));
    assert!(is_number(env!("CARGO_PKG_VERSION_PATCH"), BACKOFF_VERSION_PATCH));
};

const fn is_number(text: &str, number: u32) -> bool {
    matches!(u32::from_str_radix(text, 10), Ok(parsed) if parsed == number)
}

/// The version of the library as a number: major * 65536 + minor * 256 + patch.
///
/// Any thread may call it at any time.
#[unsafe(no_mangle)]
pub extern "C" fn backoff_version() -> u32 {
    BACKOFF_VERSION_MAJOR << 16 | BACKOFF_VERSION_MINOR << 8 | BACKOFF_VERSION_PATCH
}

/// The version of the library as text, such as "0.1.0".
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
    const OK: u32 = Status::Ok as u32;
    const DISCARDED: u32 = Status::Discarded as u32;
    const NULL_POINTER: u32 = Status::NullPointer as u32;
    const CONFIG_SIZE: u32 = Status::ConfigSize as u32;
    const NOT_INITIALISED: u32 = Status::NotInitialised as u32;
    let text: &CStr = match status {
        OK => c"done",
        DISCARDED => c"the frame is discarded: attempt_limit attempts have collided",
        NULL_POINTER => c"a pointer is NULL",
        CONFIG_SIZE => c"the size of the configuration is not sizeof(struct backoff_config)",
        NOT_INITIALISED => c"the state has not been made by backoff_init",
        _ => c"unknown status",
    };
    text.as_ptr()
}

/// Makes a state: no attempt has collided, and the built-in generator stands at its start.
///
/// The same `seed` and `stream` give the same delays on every machine. Give all stations of a run one seed and each
/// its own stream; 1, 2, 3 ... will do, because both numbers are mixed before use. The generator's start is that of
/// `Generator::stream` of the Rust library.
///
/// @param backoff  receives the state; what was there before does not matter
/// @param config   the limits; may be reused or thrown away after the call
/// @param seed     the run
/// @param stream   the station or device within the run
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_CONFIG_SIZE, and nothing is written
///
/// # Safety
/// `backoff` is NULL, or valid for writes and used by no other thread during the call; `config` is NULL, or valid
/// for reads of as many octets as its `size` says and written by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_init(backoff: *mut Backoff, config: *const Config, seed: u64, stream: u64) -> Status {
    if backoff.is_null() || config.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, `config` is valid and begins with its size; only that much is read here.
    let size = unsafe { (&raw const (*config).size).read() };
    if size as usize != size_of::<Config>() {
        return Status::ConfigSize;
    }
    // SAFETY: by the contract above, `config` is valid for its size, which has just been found to be this struct's.
    let Config { attempt_limit, backoff_limit, .. } = unsafe { config.read() };
    let state = Backoff {
        generator: Generator::stream(seed, stream).state(),
        attempts: 0,
        attempt_limit: or_default(attempt_limit, Limits::IEEE_802_3.attempt_limit()),
        backoff_limit: or_default(backoff_limit, Limits::IEEE_802_3.backoff_limit()),
        reserved: [0; 3],
    };
    // SAFETY: by the contract above, a `backoff` that is not NULL is valid for writes and unshared.
    unsafe { backoff.write(state) };
    Status::Ok
}

/// A field that is 0 means its default.
const fn or_default(field: u32, default: u32) -> u32 {
    if field == 0 { default } else { field }
}

/// Counts an attempt that collided, and draws the delay before the next one from the built-in generator.
///
/// After the n-th collision of a frame the delay is uniform over 0 ... 2^k - 1 slots, k = min(n, backoff_limit, 64).
/// It begins at the end of the jam. The generator takes one step at every call that is answered with
/// BACKOFF_STATUS_OK or BACKOFF_STATUS_DISCARDED.
///
/// @param backoff  the station's backoff
/// @param slots    receives the delay, in slots
///
/// @return BACKOFF_STATUS_OK; BACKOFF_STATUS_DISCARDED if this was attempt number attempt_limit, and at every further
///         collision until backoff_reset; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `backoff` and `slots` are each NULL, or valid, apart from each other, and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_collide(backoff: *mut Backoff, slots: *mut u64) -> Status {
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared.
    unsafe { collide(backoff, slots, |backoff| backoff.next_word()) }
}

/// The same with a random word of the caller: the delay is the k high bits of `word`. The generator does not step.
///
/// If all 64 bits of the word are random, every delay is equally likely. 0 gives no delay, UINT64_MAX the longest.
///
/// @param backoff  the station's backoff
/// @param word     64 random bits; of fewer than 64, put them into the high ones
/// @param slots    receives the delay, in slots
///
/// @return as backoff_collide
///
/// # Safety
/// `backoff` and `slots` are each NULL, or valid, apart from each other, and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_collide_word(backoff: *mut Backoff, word: u64, slots: *mut u64) -> Status {
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared.
    unsafe { collide(backoff, slots, |_| word) }
}

/// Gives the number of attempts of this frame that have collided; at most attempt_limit.
///
/// @param backoff   the station's backoff
/// @param attempts  receives the number
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `backoff` is NULL, or valid and written by no other thread during the call; `attempts` is NULL, or valid for
/// writes, apart from `backoff`, and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_attempts(backoff: *const Backoff, attempts: *mut u32) -> Status {
    // SAFETY: by the contract above, a pointer that is not NULL is valid, and nobody writes to it meanwhile.
    let Some(backoff) = (unsafe { backoff.as_ref() }) else {
        return Status::NullPointer;
    };
    if attempts.is_null() {
        return Status::NullPointer;
    }
    let Some(frame) = backoff.frame() else {
        return Status::NotInitialised;
    };
    // SAFETY: by the contract above, an `attempts` that is not NULL is valid for writes and unshared.
    unsafe { attempts.write(frame.attempts()) };
    Status::Ok
}

/// Makes the state ready for another frame: no attempt has collided. Call it when a frame got through or was
/// discarded. The generator goes on where it stands.
///
/// @param backoff  the station's backoff
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `backoff` is NULL, or valid and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_reset(backoff: *mut Backoff) -> Status {
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared.
    let Some(backoff) = (unsafe { backoff.as_mut() }) else {
        return Status::NullPointer;
    };
    let Some(mut frame) = backoff.frame() else {
        return Status::NotInitialised;
    };
    frame.reset();
    backoff.attempts = frame.attempts();
    Status::Ok
}

/// One collision, with the word that `word` takes from the state or brings along.
///
/// # Safety
/// `backoff` and `slots` are each NULL, or valid, apart from each other, and used by no other thread during the call.
unsafe fn collide(backoff: *mut Backoff, slots: *mut u64, word: impl FnOnce(&mut Backoff) -> u64) -> Status {
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared.
    let Some(backoff) = (unsafe { backoff.as_mut() }) else {
        return Status::NullPointer;
    };
    if slots.is_null() {
        return Status::NullPointer;
    }
    let Some(mut frame) = backoff.frame() else {
        return Status::NotInitialised;
    };
    let delay = frame.collide(word(backoff));
    backoff.attempts = frame.attempts();
    let Some(delay) = delay else {
        return Status::Discarded;
    };
    // SAFETY: by the contract above, a `slots` that is not NULL is valid for writes and unshared.
    unsafe { slots.write(delay) };
    Status::Ok
}

impl Backoff {
    /// The core's view of the frame in hand; `None` if `backoff_init` has not been here.
    fn frame(&self) -> Option<backoff_core::Backoff> {
        let attempt_limit = NonZeroU32::new(self.attempt_limit)?;
        let limits = Limits::IEEE_802_3.with_attempt_limit(attempt_limit).with_backoff_limit(self.backoff_limit);
        Some(backoff_core::Backoff::after(limits, self.attempts))
    }

    /// The next word of the built-in generator.
    fn next_word(&mut self) -> u64 {
        let mut generator = Generator::new(self.generator);
        let word = generator.next_u64();
        self.generator = generator.state();
        word
    }
}

/// `no_std` asks for one; a release build has no way to get here. In a test build the one of std is there already.
#[cfg(not(test))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
