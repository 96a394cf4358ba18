//! The 802.3 backoff of one station: its limits, its state, and its functions.

use core::mem::offset_of;
use core::num::NonZeroU32;

use backoff_core::internals::high_bits;
use backoff_core::{Generator, Limits};

use crate::Status;
use crate::config::{Sized32, or_default, read};

/// The configuration for `backoff_init`. A field that is 0 means the default, the value of IEEE 802.3.
///
/// `struct backoff_config config = BACKOFF_CONFIG_INIT;` sets the size and takes every default.
#[repr(C)]
pub struct Config {
    /// `sizeof(struct backoff_config)`; the one field without a default.
    size: u32,
    /// The attempt, the first included, whose collision discards the frame; 0: 16.
    attempt_limit: u32,
    /// The collision from which on the range no longer doubles; 0: 10. From 64 on the range is all of `uint64_t`.
    backoff_limit: u32,
}

// SAFETY: it begins with its size, and has integers only.
unsafe impl Sized32 for Config {
    const FIRST: usize = 12;
}

/// One station's backoff: the frame in hand and the generator of all its frames. Plain data in the caller's memory.
///
/// Copy it with `=` or `memcpy`, write it to a file, throw it away: there is nothing to free. A copy draws the same
/// delays again. The fields are the library's: read them with a debugger, write them through the functions.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Backoff {
    /// The counter of the built-in generator, splitmix64.
    pub(crate) generator: u64,
    /// How many attempts of this frame have collided.
    pub(crate) attempts: u32,
    /// As configured; 0 only in zeroed memory, which is refused.
    attempt_limit: u32,
    /// As configured.
    backoff_limit: u32,
    /// 0; room for later versions.
    reserved: [u32; 3],
}

/// The ABI, in octets. The header asserts the same in C.
const _: () = {
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

/// Makes a state: no attempt has collided, and the built-in generator is at its start.
///
/// The same `seed` and `stream` give the same delays on every machine. Give all stations of a run one seed and each
/// its own stream; 1, 2, 3 ... will do, because both numbers are mixed before use.
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
#[must_use]
pub unsafe extern "C" fn backoff_init(backoff: *mut Backoff, config: *const Config, seed: u64, stream: u64) -> Status {
    if backoff.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, `config` is NULL or valid for as many octets as its size says.
    let (attempt_limit, backoff_limit) = match unsafe { read(config, Config::limits) } {
        Ok(limits) => limits,
        Err(status) => return status,
    };
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
#[must_use]
pub unsafe extern "C" fn backoff_collide(backoff: *mut Backoff, slots: *mut u64) -> Status {
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared.
    unsafe {
        collide::<true>(backoff, slots, |backoff, exponent, slots| {
            if exponent.wrapping_sub(1) >= FEW_BITS {
                return draw_much(backoff, slots, exponent);
            }
            let mut generator = Generator::new(backoff.generator);
            let drawn = generator.next_few_high_bits(exponent);
            backoff.generator = generator.state();
            slots.write(drawn);
            Status::Ok
        })
    }
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
#[must_use]
pub unsafe extern "C" fn backoff_collide_word(backoff: *mut Backoff, word: u64, slots: *mut u64) -> Status {
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared.
    unsafe {
        collide::<false>(backoff, slots, |_, exponent, slots| {
            slots.write(high_bits(word, exponent));
            Status::Ok
        })
    }
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
    // SAFETY: by the contract above, a pointer that is not NULL is valid, and no thread writes to it meanwhile.
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

/// Makes the state ready for another frame: no attempt has collided. Call it when a frame got through or was discarded.
/// The generator continues from its present state.
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

/// The most bits of a delay that the fast path draws.
const FEW_BITS: u32 = 31;

/// The draw of more bits, and of none, which only memory asks for that is no state. Apart, and called last, so that the short way saves no register.
///
/// # Safety
/// `slots` is valid for writes, and used by no other thread during the call.
#[cold]
#[inline(never)]
unsafe fn draw_much(backoff: &mut Backoff, slots: *mut u64, exponent: u32) -> Status {
    let drawn = backoff.next_high_bits(exponent);
    // SAFETY: by the contract above.
    unsafe { slots.write(drawn) };
    Status::Ok
}

/// One collision; `draw` takes the given number of random bits, from the state or from the caller's word, and writes
/// them. `STEPS`: the generator steps where the frame is discarded.
///
/// # Safety
/// `backoff` and `slots` are each NULL, or valid, apart from each other, and used by no other thread during the call.
#[inline(always)]
unsafe fn collide<const STEPS: bool>(
    backoff: *mut Backoff,
    slots: *mut u64,
    draw: impl FnOnce(&mut Backoff, u32, *mut u64) -> Status,
) -> Status {
    if backoff.is_null() || slots.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared.
    let backoff = unsafe { &mut *backoff };
    match backoff.count() {
        Some(exponent) => draw(backoff, exponent, slots),
        None => backoff.discard::<STEPS>(),
    }
}

impl Config {
    /// attempt_limit and backoff_limit, as configured.
    const fn limits(&self) -> Result<(u32, u32), Status> {
        Ok((self.attempt_limit, self.backoff_limit))
    }
}

impl Backoff {
    /// The core's view of the frame in hand; `None` if `backoff_init` has not been here.
    pub(crate) fn frame(&self) -> Option<backoff_core::Backoff> {
        let attempt_limit = NonZeroU32::new(self.attempt_limit)?;
        let limits = Limits::IEEE_802_3.with_attempt_limit(attempt_limit).with_backoff_limit(self.backoff_limit);
        Some(backoff_core::Backoff::after(limits, self.attempts))
    }

    /// Counts a collision, and returns the number of random bits of the delay, at most 64. `None` discards the frame. A
    /// state that is not initialised also gives `None`, because its limit is 0; no collision is counted then.
    ///
    /// The same as [`backoff_core::Backoff::count`], in the fewest operations: most of a call's time is their number.
    #[inline(always)]
    pub(crate) fn count(&mut self) -> Option<u32> {
        let counted = u64::from(self.attempts) + 1;
        if counted >= u64::from(self.attempt_limit) {
            return None;
        }
        self.attempts = counted as u32;
        Some(self.attempts.min(self.backoff_limit))
    }

    /// The same for a state that is initialised; and the count stops at the limit. By the core's count, which takes fewer
    /// branches: a batch has states of any count side by side.
    #[inline(always)]
    pub(crate) fn count_or_discard(&mut self) -> Option<u32> {
        if u64::from(self.attempts) + 1 >= u64::from(self.attempt_limit) {
            if self.is_initialised() {
                self.attempts = self.attempt_limit;
            }
            return None;
        }
        let mut frame = self.frame()?;
        let exponent = frame.count();
        self.attempts = frame.attempts();
        exponent
    }

    /// What a collision is answered with that [`count`](Self::count) has not counted.
    #[cold]
    #[inline(never)]
    fn discard<const STEPS: bool>(&mut self) -> Status {
        if !self.is_initialised() {
            return Status::NotInitialised;
        }
        self.attempts = self.attempt_limit;
        if STEPS {
            self.next_high_bits(0);
        }
        Status::Discarded
    }

    /// Whether `backoff_init` has been here.
    pub(crate) const fn is_initialised(&self) -> bool {
        self.attempt_limit != 0
    }

    /// The high bits of the next word of the built-in generator.
    #[inline(always)]
    pub(crate) fn next_high_bits(&mut self, count: u32) -> u64 {
        let mut generator = Generator::new(self.generator);
        let bits = generator.next_high_bits(count);
        self.generator = generator.state();
        bits
    }
}
