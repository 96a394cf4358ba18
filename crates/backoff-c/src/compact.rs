//! The compact shape of the slot schedule: its memory, its beginning, and what the functions of `schedule` do with it.

use core::mem::size_of;
use core::slice::from_raw_parts_mut;

use backoff_core::internals::{Compact, CompactMemory, CompactShape, List, Node, Stop};

use crate::Status;
use crate::schedule::{Free, Schedule, Ticket, another_life, capacity_in, zero};

/// What tells a compact schedule from others and from memory that is none: "due_".
const MARK: u64 = 0x6475_655F;
/// The most values that a schedule has room for.
const MOST: u32 = 1 << 27;
/// Nodes begin at an address that is a multiple of their size, so that none lies in two lines of the cache.
const SPARE: usize = size_of::<Node>() - size_of::<List>();

#[repr(C)]
struct Head {
    mark: u64,
    capacity: u32,
    lists: u32,
    words: u32,
    /// Where the nodes begin, in octets from the head.
    nodes: u32,
    core: Compact,
}

const _: () = assert!(align_of::<Head>() <= 8 && size_of::<Head>().is_multiple_of(8));

/// Where the nodes may begin, in octets from the head.
const fn before_nodes(shape: &CompactShape) -> usize {
    size_of::<Head>() + shape.words() * size_of::<u64>() + shape.lists() * size_of::<List>()
}

fn octets_of(capacity: u32) -> Option<usize> {
    let nodes = (capacity as usize).checked_mul(size_of::<Node>())?;
    if capacity > MOST { None } else { nodes.checked_add(before_nodes(&CompactShape::of(capacity)) + SPARE) }
}

/// The octets that a compact schedule for `capacity` pending values needs: 32 for each value and 200 up to 32 values, and at
/// most 40 for each value and 8,000 in any case.
///
/// SIZE_MAX if that does not fit, or if `capacity` is above 2^27. Any thread may call it at any time.
///
/// @param capacity  how many values may be pending at the same time
#[unsafe(no_mangle)]
pub extern "C" fn backoff_schedule_compact_octets(capacity: u32) -> usize {
    octets_of(capacity).unwrap_or(usize::MAX)
}

/// Makes an empty compact schedule in the caller's memory, for as many values as fit. All other functions take it as they
/// take what backoff_schedule_init makes, and give the same values in the same order.
///
/// It has a quarter of the memory. Its calls have no bound: backoff_schedule_next, backoff_schedule_expire and
/// backoff_schedule_expire_next may go through all values of 2^10 to 2^12 slots, or of 64 to 2,048 times as many where
/// these are far away. With room for 32 values or fewer it is a sorted list, which backoff_schedule_insert goes through.
///
/// @param memory    the memory, aligned to 8 octets; the schedule lives in it
/// @param octets    its size, from backoff_schedule_compact_octets
/// @param now       the first slot that can expire
/// @param schedule  receives the schedule, for the other functions
///
/// @return as backoff_schedule_init
///
/// # Safety
/// As that of backoff_schedule_init.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_schedule_init_compact(
    memory: *mut core::ffi::c_void,
    octets: usize,
    now: u64,
    schedule: *mut *mut Schedule,
) -> Status {
    let capacity = match capacity_in(memory, octets, schedule, octets_of) {
        Ok(capacity) => capacity,
        Err(status) => return status,
    };
    let shape = CompactShape::of(capacity);
    let start = memory as usize + before_nodes(&shape);
    let head = Head {
        mark: MARK,
        capacity,
        lists: shape.lists() as u32,
        words: shape.words() as u32,
        nodes: (start.next_multiple_of(size_of::<Node>()) - memory as usize) as u32,
        core: Compact::new(&shape, now, another_life()),
    };
    // SAFETY: by the contract above the memory is ours, and head, lists, words and nodes of that capacity fit in it and are
    // aligned; `schedule` is not NULL, and by the contract valid for writes.
    unsafe {
        memory.cast::<Head>().write(head);
        let words = memory.cast::<u8>().add(size_of::<Head>()).cast::<u64>();
        zero(words, shape.words());
        let lists = words.add(shape.words()).cast::<List>();
        for list in 0..shape.lists() {
            lists.add(list).write_volatile(List::EMPTY);
        }
        schedule.write(memory.cast());
    }
    Status::Ok
}

/// A compact schedule with its memory.
///
/// # Safety
/// `schedule` is NULL, or valid for a read of 8 octets and, with the mark of a compact one, as an init function made it; no
/// other thread uses it during `'a`.
#[inline(always)]
unsafe fn parts<'a>(schedule: *mut Schedule) -> Result<(&'a mut Compact, CompactMemory<'a>), Status> {
    if schedule.is_null() {
        return Err(Status::NullPointer);
    }
    // SAFETY: by the contract above it begins with a mark.
    if unsafe { schedule.cast::<u64>().read() } != MARK {
        return Err(Status::NotInitialised);
    }
    // SAFETY: as above, it is whole.
    unsafe { Ok(lent(schedule, |head| head.core.used())) }
}

/// The parts of a compact schedule; of the nodes this number.
///
/// # Safety
/// `schedule` is valid as backoff_schedule_init_compact made it, and no other thread uses it during `'a`; there are as many
/// nodes.
#[inline(always)]
unsafe fn lent<'a>(schedule: *mut Schedule, nodes: impl FnOnce(&Head) -> u32) -> (&'a mut Compact, CompactMemory<'a>) {
    // SAFETY: `backoff_schedule_init_compact` has written head, lists and words there and found room for the nodes; it left
    // them unwritten, and they hold integers only, which any bits are, and are not read before they are written.
    unsafe {
        let head = &mut *schedule.cast::<Head>();
        let octets = schedule.cast::<u8>();
        let words = octets.add(size_of::<Head>()).cast::<u64>();
        let memory = CompactMemory {
            lists: from_raw_parts_mut(words.add(head.words as usize).cast(), head.lists as usize),
            words: from_raw_parts_mut(words, head.words as usize),
            nodes: from_raw_parts_mut(octets.add(head.nodes as usize).cast(), nodes(head) as usize),
        };
        (&mut head.core, memory)
    }
}

/// The insertion, if the schedule is a compact one.
///
/// # Safety
/// As that of [`parts`]; `ticket` is NULL or valid for writes.
#[inline(never)]
pub(crate) unsafe fn insert(schedule: *mut Schedule, slot: u64, value: u64, ticket: *mut Ticket) -> Status {
    // SAFETY: by the contract above.
    let (core, mut memory) = match unsafe { parts(schedule) } {
        Ok(parts) => parts,
        Err(status) => return status,
    };
    let Some(inserted) = core.insert_near(&mut memory, slot, value) else {
        // SAFETY: by the contract above.
        return unsafe { insert_any(schedule, slot, value, ticket) };
    };
    if !ticket.is_null() {
        // SAFETY: by the contract above.
        unsafe { ticket.write(inserted.into()) };
    }
    Status::Ok
}

/// The insertion beyond level 0. Apart, so that the other one saves no register.
///
/// # Safety
/// As that of [`insert`]; the schedule is a compact one.
#[inline(never)]
unsafe fn insert_any(schedule: *mut Schedule, slot: u64, value: u64, ticket: *mut Ticket) -> Status {
    // SAFETY: by the contract above.
    let (core, mut memory) = unsafe { lent(schedule, |head| head.core.used()) };
    let Some(inserted) = core.insert_far(&mut memory, slot, value) else {
        // SAFETY: by the contract above.
        return unsafe { insert_new(schedule, slot, value, ticket) };
    };
    if !ticket.is_null() {
        // SAFETY: by the contract above.
        unsafe { ticket.write(inserted.into()) };
    }
    Status::Ok
}

/// The insertion into a place that has not been used yet, into a sorted list, or into nothing that is free.
///
/// # Safety
/// As that of [`insert`]; the schedule is a compact one.
#[cold]
#[inline(never)]
unsafe fn insert_new(schedule: *mut Schedule, slot: u64, value: u64, ticket: *mut Ticket) -> Status {
    // SAFETY: by the contract above.
    let (core, mut memory) = unsafe { lent(schedule, |head| head.capacity) };
    let Some(inserted) = core.insert(&mut memory, slot, value) else {
        return Status::ScheduleFull;
    };
    if !ticket.is_null() {
        // SAFETY: by the contract above.
        unsafe { ticket.write(inserted.into()) };
    }
    Status::Ok
}

/// The cancellation, if the schedule is a compact one.
///
/// # Safety
/// As that of [`parts`]; `ticket` is valid for reads, and `value` for writes.
#[inline(always)]
pub(crate) unsafe fn cancel(schedule: *mut Schedule, ticket: *const Ticket, value: *mut u64) -> Status {
    // SAFETY: by the contract above.
    unsafe {
        match parts(schedule) {
            Ok((core, _)) if core.is_near((*ticket).slot()) => cancel_near(schedule, ticket, value),
            Ok(_) => cancel_far(schedule, ticket, value),
            Err(status) => status,
        }
    }
}

/// The cancellation at level 0. Apart, so that each of the two saves only the registers that it needs.
///
/// # Safety
/// As that of [`cancel`]; the schedule is a compact one.
#[inline(never)]
unsafe fn cancel_near(schedule: *mut Schedule, ticket: *const Ticket, value: *mut u64) -> Status {
    // SAFETY: by the contract above.
    unsafe {
        let (core, mut memory) = lent(schedule, |head| head.core.used());
        taken(core.cancel_near(&mut memory, ticket.read().into()), value)
    }
}

/// The cancellation beyond level 0.
///
/// # Safety
/// As that of [`cancel_near`].
#[inline(never)]
unsafe fn cancel_far(schedule: *mut Schedule, ticket: *const Ticket, value: *mut u64) -> Status {
    // SAFETY: by the contract above.
    unsafe {
        let (core, mut memory) = lent(schedule, |head| head.core.used());
        taken(core.cancel_far(&mut memory, ticket.read().into()), value)
    }
}

/// Writes a value that was cancelled.
///
/// # Safety
/// `value` is valid for writes.
#[inline(always)]
unsafe fn taken(cancelled: Option<u64>, value: *mut u64) -> Status {
    let Some(cancelled) = cancelled else {
        return Status::NotPending;
    };
    // SAFETY: by the contract above.
    unsafe { value.write(cancelled) };
    Status::Ok
}

/// The first slot that has a value, if the schedule is a compact one.
///
/// # Safety
/// As that of [`parts`].
#[inline(never)]
pub(crate) unsafe fn next_slot(schedule: *mut Schedule) -> Result<Option<u64>, Status> {
    // SAFETY: by the contract above.
    let (core, mut memory) = unsafe { parts(schedule) }?;
    Ok(core.next_slot(&mut memory))
}

/// Gives the values of the next slots up to `limit`, of `slots` slots at most, if the schedule is a compact one.
///
/// # Safety
/// As that of [`parts`].
#[inline(never)]
pub(crate) unsafe fn expire(
    schedule: *mut Schedule,
    limit: u64,
    slots: u64,
    places: &mut [Free],
    given: &mut usize,
) -> Status {
    let mut left = slots;
    loop {
        // SAFETY: by the contract above.
        let (core, mut memory) = match unsafe { parts(schedule) } {
            Ok(parts) => parts,
            Err(status) => return status,
        };
        let mut stop = core.expire_near(&mut memory, limit, &mut left, places, given);
        if stop == Stop::Step {
            stop = core.step(&mut memory, limit, &mut left, places, given);
        }
        if stop == Stop::Done {
            return Status::Ok;
        }
    }
}

/// Now and the number of pending values, if the schedule is a compact one.
///
/// # Safety
/// As that of [`parts`].
#[inline(never)]
pub(crate) unsafe fn now_and_pending(schedule: *mut Schedule) -> Result<(u64, u32), Status> {
    // SAFETY: by the contract above.
    let (core, _) = unsafe { parts(schedule) }?;
    Ok((core.now(), core.len()))
}
