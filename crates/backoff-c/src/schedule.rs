//! The slot schedule of fixed size, as a C program sees it: one block of the caller's memory.

use core::mem::offset_of;
use core::slice::from_raw_parts_mut;

use backoff_core::{
    Bucket, Chunk, Handle, Head as CoreHead, Memory, Near, Node, Ticket as CoreTicket, Work, buckets_for, nodes_for,
};

use crate::Status;

/// What tells a schedule from memory that is none: "due ".
const MARK: u64 = 0x6475_6520;
/// The most values that a schedule has room for.
const MOST: u32 = 1 << 28;

/// Who attempts in which slot: values that are pending, by slot. It lies at the start of the memory that
/// backoff_schedule_init was given; copy or move the whole of that memory, there are no pointers in it. The schedule in
/// the copy is at its start: `(struct backoff_schedule *)copy`, aligned to 8 octets as the first memory was.
pub struct Schedule {
    head: Head,
}

#[repr(C)]
struct Head {
    mark: u64,
    capacity: u32,
    buckets: u32,
    /// Where the chunks begin, and the handles, in octets from the head.
    chunks: u64,
    handles: u64,
    lists: CoreHead,
}

/// A value that has expired, and the slot it was pending in.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Due {
    /// The slot.
    slot: u64,
    /// What backoff_schedule_insert was given.
    value: u64,
}

/// Names a pending value, so that it can be cancelled. Plain data.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Ticket {
    /// The slot.
    slot: u64,
    /// Tells it from others in the slot.
    serial: u32,
    /// Where it lies.
    node: u32,
}

/// The memory's layout: the head, then buckets, nodes, chunks and handles, each aligned as the head is.
const _: () = {
    assert!(size_of::<Head>() == size_of::<Schedule>());
    assert!(size_of::<Head>() == 1160);
    assert!(align_of::<Schedule>() <= 8 && size_of::<Head>().is_multiple_of(8));
    assert!(size_of::<Bucket>() == 16 && size_of::<Node>() == 1048);
    assert!(size_of::<Chunk>() == 128 && size_of::<Handle>() == 16);
    assert!(size_of::<Ticket>() == 16);
    assert!(offset_of!(Ticket, serial) == 8);
    assert!(size_of::<Due>() == 16);
    assert!(offset_of!(Due, value) == 8);
};

/// The octets that a schedule for `capacity` pending values needs: 144 for each value, from 193 values on 17 more, and for
/// the wheel from 10 KiB (up to 32 values) to 578 KiB (from 2,048 values on).
///
/// SIZE_MAX if that does not fit, or if there is no room for so many: 2^28 at most. Any thread may call it at any time.
///
/// @param capacity  how many values may be pending at the same time
#[unsafe(no_mangle)]
pub extern "C" fn backoff_schedule_octets(capacity: u32) -> usize {
    octets(capacity).unwrap_or(usize::MAX)
}

fn octets(capacity: u32) -> Option<usize> {
    if capacity > MOST {
        return None;
    }
    let values = (capacity as usize).checked_mul(size_of::<Chunk>() + size_of::<Handle>())?;
    let nodes = nodes_for(capacity).checked_mul(size_of::<Node>())?;
    let buckets = buckets_for(capacity) * (size_of::<Chunk>() + size_of::<Bucket>());
    values.checked_add(nodes)?.checked_add(buckets + size_of::<Head>() + size_of::<Chunk>())
}

/// The largest capacity that so many octets are enough for.
fn capacity_of(room: usize) -> Option<u32> {
    let fits = |capacity| octets(capacity).is_some_and(|octets| octets <= room);
    if !fits(0) {
        return None;
    }
    let (mut capacity, mut step) = (0, MOST);
    while step > 0 {
        if fits(capacity + step) {
            capacity += step;
        }
        step /= 2;
    }
    Some(capacity)
}

/// Makes an empty schedule in the caller's memory, for as many values as fit.
///
/// It writes the head and the wheel, at most 578 KiB; what lies behind is written when it is used.
///
/// @param memory    the memory, aligned to 8 octets; the schedule lives in it
/// @param octets    its size, from backoff_schedule_octets
/// @param now       the first slot that can expire
/// @param schedule  receives the schedule, for the other functions
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_MEMORY, and nothing is written
///
/// # Safety
/// `memory` is NULL, or valid for `octets` octets and used by no other thread during the call; `schedule` is NULL, or
/// valid for writes, apart from `memory`, and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_schedule_init(
    memory: *mut core::ffi::c_void,
    octets: usize,
    now: u64,
    schedule: *mut *mut Schedule,
) -> Status {
    if memory.is_null() || schedule.is_null() {
        return Status::NullPointer;
    }
    let head = memory.cast::<Schedule>();
    let Some(capacity) = capacity_of(octets) else {
        return Status::Memory;
    };
    if !(memory as usize).is_multiple_of(8) {
        return Status::Memory;
    }
    let buckets = buckets_for(capacity);
    let chunks = size_of::<Head>()
        + buckets * (size_of::<Chunk>() + size_of::<Bucket>())
        + nodes_for(capacity) * size_of::<Node>();
    // SAFETY: by the contract above the memory is ours; the head and the buckets of that capacity fit, and are aligned;
    // `schedule` is not NULL, and by the contract valid for writes.
    unsafe {
        // Word by word, and not to be turned into a call of memset, which the library has not.
        for word in 0..size_of::<Head>() / size_of::<u32>() {
            head.cast::<u32>().add(word).write_volatile(0);
        }
        let begun = &mut (*head).head;
        begun.mark = MARK;
        begun.capacity = capacity;
        begun.buckets = buckets as u32;
        begun.chunks = chunks as u64;
        begun.handles = (chunks + (capacity as usize + 1) * size_of::<Chunk>()) as u64;
        begun.lists.begin(buckets, now);
        let slots = head.add(1).cast::<Chunk>();
        let blocks = slots.add(buckets).cast::<Bucket>();
        for index in 0..buckets {
            slots.add(index).write(Chunk::EMPTY);
            blocks.add(index).write(Bucket::EMPTY);
        }
        schedule.write(head);
    }
    Status::Ok
}

/// Makes a value pending in a slot; in the present slot (see backoff_schedule_now), where that one has passed.
///
/// @param schedule  the schedule
/// @param slot      the slot
/// @param value     what the caller knows it by: a number, an index, a pointer
/// @param ticket    receives what backoff_schedule_cancel asks for; NULL: it will not be cancelled
///
/// @return BACKOFF_STATUS_OK; BACKOFF_STATUS_SCHEDULE_FULL; else BACKOFF_STATUS_NULL_POINTER or
///         BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
/// during the call; `ticket` is NULL, or valid for writes and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_schedule_insert(
    schedule: *mut Schedule,
    slot: u64,
    value: u64,
    ticket: *mut Ticket,
) -> Status {
    // SAFETY: by the contract above, which is that of `near`.
    let (lists, near) = match unsafe { near(schedule) } {
        Ok(near) => near,
        Err(status) => return status,
    };
    let inserted = match lists.insert_near(near, slot, value, !ticket.is_null()) {
        Some(inserted) => inserted,
        // SAFETY: by the contract above; the head has just been looked at.
        None => match unsafe { insert_far(schedule, slot, value, !ticket.is_null()) } {
            Some(inserted) => inserted,
            None => return Status::ScheduleFull,
        },
    };
    if !ticket.is_null() {
        let CoreTicket { slot, serial, node } = inserted;
        // SAFETY: by the contract above, a `ticket` that is not NULL is valid for writes and unshared.
        unsafe { ticket.write(Ticket { slot, serial, node }) };
    }
    Status::Ok
}

/// Takes a pending value back. A ticket is good until its value has expired or been cancelled.
///
/// @param schedule  the schedule
/// @param ticket    which value
/// @param value     receives the value
///
/// @return BACKOFF_STATUS_OK; BACKOFF_STATUS_NOT_PENDING; else BACKOFF_STATUS_NULL_POINTER or
///         BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
/// during the call; `ticket` is NULL, or valid for reads; `value` is NULL, or valid for writes; no other thread uses them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_schedule_cancel(
    schedule: *mut Schedule,
    ticket: *const Ticket,
    value: *mut u64,
) -> Status {
    if ticket.is_null() || value.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, which is that of `parts`; a `ticket` that is not NULL is valid for reads.
    let (parts, Ticket { slot, serial, node }) = unsafe { (parts(schedule), ticket.read()) };
    let mut work = match parts {
        Ok(work) => work,
        Err(status) => return status,
    };
    let Some(cancelled) = work.cancel(CoreTicket { slot, serial, node }) else {
        return Status::NotPending;
    };
    // SAFETY: by the contract above, a `value` that is not NULL is valid for writes and unshared.
    unsafe { value.write(cancelled) };
    Status::Ok
}

/// Gives the first slot in which a value is pending.
///
/// @param schedule  the schedule
/// @param slot      receives the slot
///
/// @return BACKOFF_STATUS_OK; BACKOFF_STATUS_NOT_PENDING if nothing is; else BACKOFF_STATUS_NULL_POINTER or
///         BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
/// during the call; `slot` is NULL, or valid for writes and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_schedule_next(schedule: *mut Schedule, slot: *mut u64) -> Status {
    if slot.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, which is that of `parts`.
    let work = match unsafe { parts(schedule) } {
        Ok(work) => work,
        Err(status) => return status,
    };
    let Some(next) = work.next_slot() else {
        return Status::NotPending;
    };
    // SAFETY: by the contract above, a `slot` that is not NULL is valid for writes and unshared.
    unsafe { slot.write(next) };
    Status::Ok
}

/// Takes the values of all slots up to `limit`, by slot, and within a slot in the order of their insertion.
///
/// For one slot in one go, let `limit` be that slot. Now is then the slot of the last value, or `limit` if no more are
/// pending up to there; it never goes back. If `count` is `room`, there may be more: call again. With a room of 0, which
/// is accepted with pointers that are not NULL, nothing is taken and now stays.
///
/// A call takes a time in proportion to `room`, whatever is pending and wherever: for each value that it gives it moves at
/// most 386 others, 193 of them into the wheel; over many calls each value is moved once for each 6 bits of its distance at
/// most. (A program that fills nodes and then cancels nearly all of their values, again and again, may leave none for the
/// next crowd: then a list of the crowd is moved as a whole.)
///
/// @param schedule  the schedule
/// @param limit     the last slot
/// @param room      how many values may be written
/// @param due       receives up to `room` values, each with its slot
/// @param count     receives how many
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid; `due` is NULL, or valid
/// for writes of `room` entries; `count` is NULL, or valid for writes; they are apart from each other, and no other
/// thread uses them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_schedule_expire(
    schedule: *mut Schedule,
    limit: u64,
    room: usize,
    due: *mut Due,
    count: *mut usize,
) -> Status {
    if due.is_null() || count.is_null() {
        return Status::NullPointer;
    }
    let mut expired = 0;
    loop {
        // SAFETY: by the contract above, which is that of `near`.
        let (lists, near) = match unsafe { near(schedule) } {
            Ok(near) => near,
            Err(status) => return status,
        };
        if expired == room {
            break;
        }
        let mut next = expired;
        let given = lists.expire_near(near, limit, room - expired, |slot, value| {
            // SAFETY: by the contract above, there is room for `room` values.
            unsafe { due.add(next).write(Due { slot, value }) };
            next += 1;
        });
        expired = next;
        if given.is_some() {
            continue;
        }
        if !lists.may_fetch(limit) {
            lists.go_to(limit);
            break;
        }
        // SAFETY: as above.
        if let Ok((lists, near)) = unsafe { self::near(schedule) }
            && lists.fetch_block(near, limit)
        {
            continue;
        }
        // SAFETY: by the contract above; the head has just been looked at.
        unsafe { fetch(schedule, limit) };
    }
    // SAFETY: by the contract above, a `count` that is not NULL is valid for writes and unshared.
    unsafe { count.write(expired) };
    Status::Ok
}

/// Gives now: the first slot that can still expire. What is inserted before it counts as in it.
///
/// @param schedule  the schedule
/// @param slot      receives the slot
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
/// during the call; `slot` is NULL, or valid for writes and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_schedule_now(schedule: *mut Schedule, slot: *mut u64) -> Status {
    if slot.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, which is that of `head`.
    let lists = match unsafe { head(schedule) } {
        Ok(head) => &head.lists,
        Err(status) => return status,
    };
    // SAFETY: by the contract above, a `slot` that is not NULL is valid for writes and unshared.
    unsafe { slot.write(lists.now()) };
    Status::Ok
}

/// Gives the number of values that are pending.
///
/// @param schedule  the schedule
/// @param count     receives the number
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
/// during the call; `count` is NULL, or valid for writes and used by no other thread during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_schedule_pending(schedule: *mut Schedule, count: *mut u32) -> Status {
    if count.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, which is that of `head`.
    let lists = match unsafe { head(schedule) } {
        Ok(head) => &head.lists,
        Err(status) => return status,
    };
    // SAFETY: by the contract above, a `count` that is not NULL is valid for writes and unshared.
    unsafe { count.write(lists.len()) };
    Status::Ok
}

/// The head of a schedule.
///
/// # Safety
/// `schedule` is NULL, or valid as `backoff_schedule_init` made it, and nobody else uses it during `'a`.
#[inline(always)]
unsafe fn head<'a>(schedule: *mut Schedule) -> Result<&'a mut Head, Status> {
    if schedule.is_null() {
        return Err(Status::NullPointer);
    }
    // SAFETY: by the contract above, it is valid and unshared.
    let head = unsafe { &mut (*schedule).head };
    if head.mark == MARK { Ok(head) } else { Err(Status::NotInitialised) }
}

/// What the wheel needs, which is what most calls need.
///
/// # Safety
/// As that of [`head`].
#[inline(always)]
unsafe fn near<'a>(schedule: *mut Schedule) -> Result<(&'a mut CoreHead, Near<'a>), Status> {
    // SAFETY: by the contract above.
    let head = unsafe { head(schedule) }?;
    let (capacity, memory) = (head.capacity as usize, schedule.cast::<u8>());
    // SAFETY: as in `parts`, which reaches the same places step by step.
    let near = unsafe {
        let (chunks, handles) = (memory.add(head.chunks as usize), memory.add(head.handles as usize));
        let wheel = schedule.add(1).cast::<Chunk>();
        Near {
            wheel: from_raw_parts_mut(wheel, head.buckets as usize),
            blocks: from_raw_parts_mut(wheel.add(head.buckets as usize).cast::<Bucket>(), head.buckets as usize),
            chunks: from_raw_parts_mut(chunks.cast::<Chunk>(), capacity + 1),
            handles: from_raw_parts_mut(handles.cast::<Handle>(), capacity),
        }
    };
    Ok((&mut head.lists, near))
}

/// The insertion that takes more than the wheel.
///
/// # Safety
/// As that of [`head`].
#[inline(never)]
unsafe fn insert_far(schedule: *mut Schedule, slot: u64, value: u64, ticket: bool) -> Option<CoreTicket> {
    // SAFETY: by the contract above.
    unsafe { parts(schedule) }.ok()?.insert(slot, value, ticket)
}

/// Brings values into the wheel.
///
/// # Safety
/// As that of [`head`].
#[inline(never)]
unsafe fn fetch(schedule: *mut Schedule, limit: u64) {
    // SAFETY: by the contract above.
    if let Ok(mut work) = unsafe { parts(schedule) } {
        work.fetch(limit);
    }
}

/// A schedule with its memory.
///
/// # Safety
/// As that of [`head`].
#[inline(always)]
unsafe fn parts<'a>(schedule: *mut Schedule) -> Result<Work<'a>, Status> {
    // SAFETY: by the contract above.
    let head = unsafe { head(schedule) }?;
    let (capacity, buckets) = (head.capacity as usize, head.buckets as usize);
    let nodes = nodes_for(head.capacity);
    // SAFETY: `backoff_schedule_init` has found room for all of that behind the head, which ends where the wheel begins;
    // each part ends where the next one begins and is a multiple of 8 octets. It has written the buckets; what has not
    // been written of the rest is not read, and holds integers only, which any bits are.
    let memory = unsafe {
        let wheel = schedule.add(1).cast::<Chunk>();
        let blocks = wheel.add(buckets).cast::<Bucket>();
        let first_node = blocks.add(buckets).cast::<Node>();
        let chunks = first_node.add(nodes).cast::<Chunk>();
        let handles = chunks.add(capacity + 1).cast::<Handle>();
        Memory {
            wheel: from_raw_parts_mut(wheel, buckets),
            blocks: from_raw_parts_mut(blocks, buckets),
            nodes: from_raw_parts_mut(first_node, nodes),
            chunks: from_raw_parts_mut(chunks, capacity + 1),
            handles: from_raw_parts_mut(handles, capacity),
        }
    };
    Ok(head.lists.with(memory))
}
