//! Many delays in one call: the same delays, in the same order, as single calls would give.

use backoff_core::{Generator, Law};

use crate::Status;
use crate::ieee_802_3::Backoff;
use crate::laws::draw_from;
use crate::policy::{Policy, law_of};
use crate::words;

/// What `backoff_collide_each` writes for a frame that is discarded.
pub const BACKOFF_DISCARDED: u64 = 0xFFFF_FFFF_FFFF_FFFF;

/// backoff_collide for `count` stations, one after the other. If one of them has not been initialised, nothing changes.
///
/// @param stations  `count` states in a row
/// @param count     how many; 0 is accepted, with pointers that are not NULL
/// @param slots     receives `count` delays, in slots; BACKOFF_DISCARDED where the frame is discarded
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `stations` and `slots` are each NULL, or valid for `count` entries, apart from each other, and used by no other
/// thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_collide_each(stations: *mut Backoff, count: usize, slots: *mut u64) -> Status {
    if stations.is_null() || slots.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, there are `count` stations, used by no other thread.
    let stations = unsafe { core::slice::from_raw_parts_mut(stations, count) };
    if !stations.iter().all(Backoff::is_initialised) {
        return Status::NotInitialised;
    }
    for (index, station) in stations.iter_mut().enumerate() {
        let counted = station.count_or_discard();
        let drawn = station.next_high_bits(counted.unwrap_or(0));
        let delay = if counted.is_some() { drawn } else { BACKOFF_DISCARDED };
        // SAFETY: by the contract above, there is room for `count` delays, apart from the stations.
        unsafe { slots.add(index).write(delay) };
    }
    Status::Ok
}

/// Draws `count` delays of the collision that the station has counted last, from its generator; counts nothing.
///
/// The delays are those of `count` stations which have met as many collisions, with AVX2 or without.
///
/// @param station  the station
/// @param count    how many; 0 is accepted, with pointers that are not NULL
/// @param slots    receives `count` delays, in slots: before the first collision all 0
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `station` is NULL, or valid, and `slots` is NULL, or valid for `count` entries; they are apart from each other, and
/// used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_draws(station: *mut Backoff, count: usize, slots: *mut u64) -> Status {
    // SAFETY: by the contract above, a pointer that is not NULL is valid and unshared.
    let Some(station) = (unsafe { station.as_mut() }) else {
        return Status::NullPointer;
    };
    if slots.is_null() {
        return Status::NullPointer;
    }
    let Some(frame) = station.frame() else {
        return Status::NotInitialised;
    };
    let exponent = frame.attempts().min(frame.limits().backoff_limit()).min(u64::BITS);
    // SAFETY: by the contract above, there is room for `count` delays, used by no other thread.
    let slots = unsafe { core::slice::from_raw_parts_mut(slots.cast(), count) };
    station.generator = words::fill_high_bits(slots, station.generator, exponent);
    Status::Ok
}

/// Draws `count` delays of one policy after failure number `failures`, from a generator of the caller.
///
/// @param policy       the policy
/// @param failures     which failure, counted from 1
/// @param previous_ns  the delay before, which decorrelated jitter asks for, without a hint; 0: the base
/// @param generator    a number that the call moves on: any start will do, the same start gives the same delays
/// @param count        how many; 0 is accepted, with pointers that are not NULL
/// @param delays_ns    receives `count` delays
///
/// @return as backoff_policy_bounds
///
/// # Safety
/// `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread during
/// the call; `generator` is NULL, or valid, and `delays_ns` is NULL, or valid for `count` entries; they are apart from
/// each other, and used by no other thread during the call.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_policy_draws(
    policy: *const Policy,
    failures: u64,
    previous_ns: u64,
    generator: *mut u64,
    count: usize,
    delays_ns: *mut u64,
) -> Status {
    let no_result = delays_ns.is_null() || generator.is_null();
    let draw = |law: &Law| {
        // SAFETY: by the contract above, a `generator` that is not NULL is valid and unshared.
        let mut words = Generator::new(unsafe { generator.read() });
        for index in 0..count {
            // SAFETY: by the contract above, there is room for `count` delays, apart from the rest.
            unsafe { delays_ns.add(index).write(draw_from(law, &mut words).0) };
        }
        // SAFETY: as for the read.
        unsafe { generator.write(words.state()) };
    };
    // SAFETY: by the contract above, which is that of `law_of`.
    unsafe { law_of(policy, failures, previous_ns, no_result, draw) }.err().unwrap_or(Status::Ok)
}
