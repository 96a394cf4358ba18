//! The slot schedule, as a C program sees it: one block of the caller's memory.
//!
//! One file above 500 lines because all of it follows from one layout of that block, and C's checks are beside each call.

use core::mem::offset_of;
use core::slice::from_raw_parts_mut;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use backoff_core::internals::{Memory, Node, Queue, Shape, Ticket as CoreTicket};

use crate::Status;

/// What tells a schedule from memory that is none: "due ".
const MARK: u64 = 0x6475_6520;
/// How many schedules have been begun: what tells the tickets of one life of a memory from those of the next.
static LIVES: AtomicU32 = AtomicU32::new(0);

/// Who attempts in which slot: values that are pending, by slot. It lies at the start of the memory that
/// backoff_schedule_init was given; copy or move the whole of that memory, there are no pointers in it. The schedule in
/// the copy is at its start: `(struct backoff_schedule *)copy`, aligned to 8 octets as the first memory was.
pub struct Schedule {
    head: Head,
}

/// The memory begins with the head and the words of the bits.
#[repr(C)]
struct Head {
    mark: u64,
    capacity: u32,
    lists: u32,
    blocks: u32,
    words: u32,
    /// Where the other parts begin, in octets from the head.
    layout: Layout,
    queue: Queue,
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

const _: () = {
    assert!(align_of::<Schedule>() <= 8 && size_of::<Head>().is_multiple_of(8));
    assert!(size_of::<Ticket>() == 16);
    assert!(offset_of!(Ticket, serial) == 8);
    assert!(size_of::<Due>() == 16);
    assert!(offset_of!(Due, value) == 8);
};

/// Where the parts of a schedule begin, and where it ends, in octets. The words of the bits come first, so that all are
/// aligned.
#[repr(C)]
#[derive(Clone, Copy)]
struct Layout {
    nodes: u64,
    lists: u64,
    counts: u64,
    end: u64,
}

impl Layout {
    /// `None` if it is for more values than there may be.
    const fn of(capacity: u32) -> Option<Layout> {
        if capacity > Queue::MOST {
            return None;
        }
        let shape = Shape::of(capacity);
        let nodes = (size_of::<Head>() + shape.words() * size_of::<u64>()) as u64;
        let lists = nodes + capacity as u64 * size_of::<Node<u64>>() as u64;
        let counts = lists + (shape.lists() * size_of::<u32>()) as u64;
        Some(Layout { nodes, lists, counts, end: counts + shape.blocks() as u64 })
    }

    /// How many octets a schedule needs; `None` if it does not fit the address space.
    fn octets(capacity: u32) -> Option<usize> {
        usize::try_from(Layout::of(capacity)?.end).ok()
    }
}

/// The octets that a schedule for `capacity` pending values needs: 32 for each value and 176 more up to 32 values, and at
/// most 40 for each value and 8,000 more in any case.
///
/// SIZE_MAX if that does not fit, or if `capacity` is above 2^27. Any thread may call it at any time.
///
/// @param capacity  how many values may be pending at the same time
#[unsafe(no_mangle)]
pub extern "C" fn backoff_schedule_octets(capacity: u32) -> usize {
    Layout::octets(capacity).unwrap_or(usize::MAX)
}

/// The largest capacity for which `room` octets are enough.
fn capacity_of(room: usize) -> Option<u32> {
    let fits = |capacity| Layout::octets(capacity).is_some_and(|octets| octets <= room);
    if !fits(0) {
        return None;
    }
    let (mut capacity, mut step) = (0, Queue::MOST / 2 + 1);
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
/// It writes the head and the wheel, at most 2.5 MB; the rest is written when it is used.
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
#[must_use]
pub unsafe extern "C" fn backoff_schedule_init(
    memory: *mut core::ffi::c_void,
    octets: usize,
    now: u64,
    schedule: *mut *mut Schedule,
) -> Status {
    if memory.is_null() || schedule.is_null() {
        return Status::NullPointer;
    }
    let Some(capacity) = capacity_of(octets).filter(|_| (memory as usize).is_multiple_of(8)) else {
        return Status::Memory;
    };
    let (shape, Some(layout)) = (Shape::of(capacity), Layout::of(capacity)) else {
        return Status::Memory;
    };
    let queue = Queue::new(shape, now, another_life());
    let (lists, blocks, words) = (shape.lists() as u32, shape.blocks() as u32, shape.words() as u32);
    let head = Head { mark: MARK, capacity, lists, blocks, words, layout, queue };
    // SAFETY: by the contract above the memory is ours, and head, words and lists of that capacity fit in it and are
    // aligned; `schedule` is not NULL, and by the contract valid for writes. The writes are volatile because the compiler
    // must not turn them into a call of memset, which the library does not have.
    unsafe {
        memory.cast::<Head>().write(head);
        for word in 0..shape.words() {
            memory.byte_add(size_of::<Head>()).cast::<u64>().add(word).write_volatile(0);
        }
        for list in 0..shape.lists() {
            memory.byte_add(layout.lists as usize).cast::<u32>().add(list).write_volatile(Queue::NO_NODE);
        }
        for block in 0..shape.blocks() {
            memory.byte_add(layout.counts as usize).cast::<u8>().add(block).write_volatile(0);
        }
        schedule.write(memory.cast());
    }
    Status::Ok
}

/// The number of a life: another one at each call.
#[cfg(target_has_atomic = "32")]
fn another_life() -> u32 {
    LIVES.fetch_add(1, Relaxed)
}

/// The same where a processor can only load and store. Two calls that interrupt each other may get the same number, for two
/// memories.
#[cfg(not(target_has_atomic = "32"))]
fn another_life() -> u32 {
    let life = LIVES.load(Relaxed).wrapping_add(1);
    LIVES.store(life, Relaxed);
    life
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
#[must_use]
pub unsafe extern "C" fn backoff_schedule_insert(
    schedule: *mut Schedule,
    slot: u64,
    value: u64,
    ticket: *mut Ticket,
) -> Status {
    // SAFETY: by the contract above.
    let (queue, mut memory) = match unsafe { parts(schedule) } {
        Ok(parts) => parts,
        Err(status) => return status,
    };
    let Some(taken) = queue.take(&mut memory, slot, value) else {
        // SAFETY: by the contract above.
        return unsafe { insert_new(schedule, slot, value, ticket) };
    };
    if !ticket.is_null() {
        // SAFETY: by the contract above.
        unsafe { ticket.write(taken.into()) };
    }
    if queue.place(&mut memory, taken.slot, taken.node) {
        return Status::Ok;
    }
    // SAFETY: by the contract above.
    unsafe { place_beyond(schedule, taken.slot, taken.node) }
}

/// The rest of an insertion beyond the blocks. Apart, so that the other one saves no register.
///
/// # Safety
/// As that of [`backoff_schedule_insert`]; the schedule has been looked at.
#[inline(never)]
unsafe fn place_beyond(schedule: *mut Schedule, slot: u64, number: u32) -> Status {
    // SAFETY: by the contract above.
    let (queue, mut memory) = unsafe { lent(schedule) };
    queue.place_beyond(&mut memory, slot, number);
    Status::Ok
}

/// The insertion into a node that has not been used yet, if there is one.
///
/// # Safety
/// As that of [`backoff_schedule_insert`]; the schedule has been looked at.
#[cold]
#[inline(never)]
unsafe fn insert_new(schedule: *mut Schedule, slot: u64, value: u64, ticket: *mut Ticket) -> Status {
    // SAFETY: by the contract above; there is room for `capacity` nodes.
    unsafe {
        let Head { capacity, layout, queue, .. } = &mut (*schedule).head;
        let number = queue.nodes();
        if number >= *capacity {
            return Status::ScheduleFull;
        }
        let nodes = schedule.byte_add(layout.nodes as usize).cast::<Node<u64>>();
        nodes.add(number as usize).write(queue.another_node(value));
        backoff_schedule_insert(schedule, slot, value, ticket)
    }
}

/// Makes values pending that have expired, each in another slot: backoff_schedule_insert for each, in their order.
///
/// @param schedule  the schedule
/// @param due       the values, such as backoff_schedule_expire_next gave; their slots are ignored
/// @param slots     the new slot of each
/// @param count     how many
///
/// @return BACKOFF_STATUS_OK; BACKOFF_STATUS_SCHEDULE_FULL if there is no room for all; else BACKOFF_STATUS_NULL_POINTER or
///         BACKOFF_STATUS_NOT_INITIALISED; nothing is inserted then
///
/// # Safety
/// `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread during
/// the call; `due` and `slots` are each NULL, or valid for reads of `count` entries, apart from the schedule.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_schedule_insert_each(
    schedule: *mut Schedule,
    due: *const Due,
    slots: *const u64,
    count: usize,
) -> Status {
    if due.is_null() || slots.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above.
    let (queue, _) = match unsafe { parts(schedule) } {
        Ok(parts) => parts,
        Err(status) => return status,
    };
    // SAFETY: by the contract above, and the head has been looked at.
    if count > (unsafe { (*schedule).head.capacity } - queue.len()) as usize {
        return Status::ScheduleFull;
    }
    for index in 0..count {
        // SAFETY: by the contract above, both have `count` entries.
        let (slot, value) = unsafe { (*slots.add(index), (*due.add(index)).value) };
        // SAFETY: by the contract above, and the schedule has been looked at.
        let (queue, mut memory) = unsafe { lent(schedule) };
        let Some(taken) = queue.take(&mut memory, slot, value) else {
            // SAFETY: by the contract above. There is room.
            unsafe { _ = insert_new(schedule, slot, value, core::ptr::null_mut()) };
            continue;
        };
        if !queue.place(&mut memory, taken.slot, taken.node) {
            // SAFETY: by the contract above.
            unsafe { _ = place_beyond(schedule, taken.slot, taken.node) };
        }
    }
    Status::Ok
}

/// Takes a pending value back. A ticket is good until its value has expired or been cancelled. After that it is refused, and
/// so is a ticket of an earlier schedule in the same memory: a serial number of 31 bits tells them apart.
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
    // SAFETY: by the contract above.
    let (queue, mut memory) = match unsafe { parts(schedule) } {
        Ok(parts) => parts,
        Err(status) => return status,
    };
    // SAFETY: by the contract above, a `ticket` that is not NULL is valid for reads.
    let Some(cancelled) = queue.cancel(&mut memory, unsafe { ticket.read() }.into()) else {
        return Status::NotPending;
    };
    // SAFETY: by the contract above, `value` is valid for writes and unshared.
    unsafe { value.write(cancelled) };
    Status::Ok
}

/// Moves a pending value to another slot, behind the values that are there; as backoff_schedule_cancel and
/// backoff_schedule_insert, but it needs no room.
///
/// @param schedule  the schedule
/// @param ticket    which value; receives its new ticket
/// @param slot      the new slot; the present one, where that one has passed
///
/// @return as backoff_schedule_cancel; with a status that is not OK nothing changes
///
/// # Safety
/// `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
/// during the call; `ticket` is NULL, or valid, and used by no other thread during the call.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_schedule_reschedule(
    schedule: *mut Schedule,
    ticket: *mut Ticket,
    slot: u64,
) -> Status {
    let mut value = 0;
    // SAFETY: by the contract above; the value goes to a place of ours, and has left room.
    unsafe {
        match backoff_schedule_cancel(schedule, ticket, &raw mut value) {
            Status::Ok => backoff_schedule_insert(schedule, slot, value, ticket),
            status => status,
        }
    }
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
#[must_use]
pub unsafe extern "C" fn backoff_schedule_next(schedule: *mut Schedule, slot: *mut u64) -> Status {
    if slot.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above.
    let (queue, memory) = match unsafe { parts(schedule) } {
        Ok(parts) => parts,
        Err(status) => return status,
    };
    let Some(next) = queue.next_slot(&memory) else {
        return Status::NotPending;
    };
    // SAFETY: by the contract above, a `slot` that is not NULL is valid for writes and unshared.
    unsafe { slot.write(next) };
    Status::Ok
}

/// Takes the values of all slots up to `limit`, by slot, and within a slot in the order of their insertion.
///
/// For one slot in one go, let `limit` be that slot. Now is then the slot of the last value, or `limit` if no more are
/// pending up to there, unless that is UINT64_MAX, any slot; it never goes back. If `count` is `room`, there may be more: call again. With a room of 0, which
/// is accepted with pointers that are not NULL, nothing is taken and now stays.
///
/// A call takes a time in proportion to the values that it gives; it moves up to 64 others. A value that was inserted for a
/// slot far away, or into a crowd of slots, takes some three steps for each bit of the number of those.
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
    // SAFETY: by the contract above.
    if let Err(status) = unsafe { parts(schedule) } {
        return status;
    }
    let mut given = 0;
    while given < room {
        let mut found = 0;
        // SAFETY: by the contract above there is room for `room` values.
        let status =
            unsafe { backoff_schedule_expire_next(schedule, limit, room - given, due.add(given), &raw mut found) };
        given += found;
        if status != Status::Ok {
            break;
        }
    }
    // SAFETY: by the contract above, a `count` that is not NULL is valid for writes and unshared.
    unsafe { count.write(given) };
    Status::Ok
}

/// Takes the values of the next slot that has any, in the order of their insertion: backoff_schedule_next and
/// backoff_schedule_expire in one call.
///
/// Now is then that slot. If `count` is `room`, the slot may have more: call again with a limit of that slot, which every
/// entry of `due` has. Nothing pending up to `limit`: NOT_PENDING, and now is `limit`, unless that is UINT64_MAX. A room
/// of 0 takes nothing.
///
/// @param schedule  the schedule
/// @param limit     the last slot; UINT64_MAX: any
/// @param room      how many values may be written
/// @param due       receives up to `room` values, all of one slot
/// @param count     receives how many
///
/// @return BACKOFF_STATUS_OK; BACKOFF_STATUS_NOT_PENDING, and nothing is written; else BACKOFF_STATUS_NULL_POINTER or
///         BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// As that of backoff_schedule_expire.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn backoff_schedule_expire_next(
    schedule: *mut Schedule,
    limit: u64,
    room: usize,
    due: *mut Due,
    count: *mut usize,
) -> Status {
    if due.is_null() || count.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above.
    let (queue, mut memory) = match unsafe { parts(schedule) } {
        Ok(parts) => parts,
        Err(status) => return status,
    };
    let Some(slot) = queue.soon(memory.words, limit).filter(|_| room > 0) else {
        // SAFETY: by the contract above.
        return unsafe { expire_far(schedule, limit, room, due, count) };
    };
    let mut given = 0;
    // SAFETY: by the contract above there is room for `room` values, and `count`, which is not NULL, is valid for writes and
    // unshared.
    unsafe {
        let mut fill = |slot, value| {
            due.add(given).write(Due { slot, value });
            given += 1;
        };
        queue.give(&mut memory, slot, room, &mut fill, fetch);
        count.write(given);
    }
    if queue.arrive(slot) {
        // SAFETY: by the contract above.
        unsafe { follow(schedule) };
    }
    Status::Ok
}

/// The rest of backoff_schedule_expire_next where the first slot is not in the wheel. Apart, as [`place_beyond`].
///
/// # Safety
/// As that of [`backoff_schedule_expire_next`]; the schedule has been looked at, and the others are not NULL.
#[inline(never)]
unsafe fn expire_far(schedule: *mut Schedule, limit: u64, room: usize, due: *mut Due, count: *mut usize) -> Status {
    // SAFETY: by the contract above.
    let (queue, mut memory) = unsafe { lent(schedule) };
    let taken = match queue.first_of_few(&memory, limit) {
        Some((slot, number, block)) if room > 0 => {
            queue.take_of_few(&mut memory, slot, number, block).map(|value| Due { slot, value })
        }
        _ => None,
    };
    let Some(taken) = taken else {
        // SAFETY: by the contract above.
        return unsafe { expire_closely(schedule, limit, room, due, count) };
    };
    // SAFETY: by the contract above there is room for a value, and `count` is valid for writes and unshared.
    unsafe {
        due.write(taken);
        count.write(1);
    }
    Status::Ok
}

/// The rest of [`expire_far`] where there is no shorter way.
///
/// # Safety
/// As that of [`backoff_schedule_expire_next`]; the schedule has been looked at, and the others are not NULL.
#[inline(never)]
unsafe fn expire_closely(schedule: *mut Schedule, limit: u64, room: usize, due: *mut Due, count: *mut usize) -> Status {
    // SAFETY: by the contract above.
    let (queue, mut memory) = unsafe { lent(schedule) };
    let mut given = 0;
    let mut fill = |slot, value| {
        // SAFETY: by the contract above there is room for `room` values.
        unsafe { due.add(given).write(Due { slot, value }) };
        given += 1;
    };
    if room > 0 && queue.expire_closely(&mut memory, limit, room, &mut fill).is_none() {
        return Status::NotPending;
    }
    // SAFETY: by the contract above, a `count` that is not NULL is valid for writes and unshared.
    unsafe { count.write(given) };
    Status::Ok
}

/// The rest of backoff_schedule_expire_next where now has come to another block. Apart, as [`place_beyond`].
///
/// # Safety
/// As that of [`backoff_schedule_expire_next`]; the schedule has been looked at.
#[inline(never)]
unsafe fn follow(schedule: *mut Schedule) {
    // SAFETY: by the contract above.
    let (queue, mut memory) = unsafe { lent(schedule) };
    queue.follow(&mut memory);
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
    // SAFETY: by the contract above, `slot`, which is not NULL, is valid for writes and unshared.
    unsafe {
        match parts(schedule) {
            Ok((queue, _)) => slot.write(queue.now()),
            Err(status) => return status,
        }
    }
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
    // SAFETY: by the contract above, `count`, which is not NULL, is valid for writes and unshared.
    unsafe {
        match parts(schedule) {
            Ok((queue, _)) => count.write(queue.len()),
            Err(status) => return status,
        }
    }
    Status::Ok
}

/// Says that a node will be read soon.
#[inline(always)]
fn fetch(node: &Node<u64>) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse"))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint reads nothing that a program could see, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const *node).cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse")))]
    {
        _ = node;
    }
}

/// A schedule with its memory.
///
/// # Safety
/// `schedule` is NULL, or valid for a read of 8 octets and, with the mark of one, as backoff_schedule_init made it; no other
/// thread uses it during `'a`.
#[inline(always)]
unsafe fn parts<'a>(schedule: *mut Schedule) -> Result<(&'a mut Queue, Memory<'a, u64>), Status> {
    if schedule.is_null() {
        return Err(Status::NullPointer);
    }
    // SAFETY: by the contract above; only with this mark is there a whole schedule.
    unsafe { if schedule.cast::<u64>().read() == MARK { Ok(lent(schedule)) } else { Err(Status::NotInitialised) } }
}

/// The same without a look at the mark.
///
/// # Safety
/// `schedule` is as backoff_schedule_init made it, and no other thread uses it during `'a`.
#[inline(always)]
unsafe fn lent<'a>(schedule: *mut Schedule) -> (&'a mut Queue, Memory<'a, u64>) {
    // SAFETY: by the contract above `backoff_schedule_init` has found room for all of that behind the head, each part apart
    // from the others and aligned. It has written the words, the lists and the counts, and each node is written before it
    // counts.
    unsafe {
        let Head { lists, blocks, words, layout, queue, .. } = &mut *schedule.cast::<Head>();
        let nodes = queue.nodes() as usize;
        let memory = Memory {
            lists: from_raw_parts_mut(schedule.byte_add(layout.lists as usize).cast(), *lists as usize),
            words: from_raw_parts_mut(schedule.byte_add(size_of::<Head>()).cast(), *words as usize),
            counts: from_raw_parts_mut(schedule.byte_add(layout.counts as usize).cast(), *blocks as usize),
            nodes: from_raw_parts_mut(schedule.byte_add(layout.nodes as usize).cast(), nodes),
        };
        (queue, memory)
    }
}

impl From<CoreTicket> for Ticket {
    #[inline(always)]
    fn from(CoreTicket { slot, serial, node }: CoreTicket) -> Ticket {
        Ticket { slot, serial, node }
    }
}

impl From<Ticket> for CoreTicket {
    #[inline(always)]
    fn from(Ticket { slot, serial, node }: Ticket) -> CoreTicket {
        CoreTicket { slot, serial, node }
    }
}
