//! The slot schedule of fixed size, as a C program sees it: one block of the caller's memory.

use core::mem::offset_of;

use backoff_core::{FixedSchedule, Node, Ticket as CoreTicket};

use crate::Status;

/// What tells a schedule from memory that is none: "slot".
const MARK: u64 = 0x736C_6F74;

/// Who attempts in which slot: values that are pending, by slot. It lies at the start of the memory that
/// backoff_schedule_init was given; copy or move the whole of that memory, there are no pointers in it. The schedule in
/// the copy is at its start: `(struct backoff_schedule *)copy`, aligned to 8 octets as the first memory was.
pub struct Schedule {
    head: Head,
}

#[repr(C)]
struct Head {
    mark: u64,
    capacity: u64,
    lists: FixedSchedule,
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

/// The memory's layout: the head, then the nodes.
const _: () = {
    assert!(size_of::<Head>() == size_of::<Schedule>());
    assert!(size_of::<Head>().is_multiple_of(align_of::<Node>()));
    assert!(size_of::<Head>() == 5760);
    assert!(align_of::<Schedule>() == 8 && align_of::<Node>() == 8);
    assert!(size_of::<Node>() == 32);
    assert!(size_of::<Ticket>() == 16);
    assert!(offset_of!(Ticket, serial) == 8);
};

/// The octets that a schedule for `capacity` pending values needs: 5760, and 32 for each value.
///
/// SIZE_MAX if that does not fit. Any thread may call it at any time.
///
/// @param capacity  how many values may be pending at the same time
#[unsafe(no_mangle)]
pub extern "C" fn backoff_schedule_octets(capacity: u32) -> usize {
    let nodes = (capacity as usize).checked_mul(size_of::<Node>());
    nodes.and_then(|nodes| nodes.checked_add(size_of::<Head>())).unwrap_or(usize::MAX)
}

/// Makes an empty schedule in the caller's memory, for as many values as fit.
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
    let Some(room) = octets.checked_sub(size_of::<Schedule>()) else {
        return Status::Memory;
    };
    if !head.is_aligned() {
        return Status::Memory;
    }
    let capacity = (room / size_of::<Node>()).min(u32::MAX as usize - 1) as u32;
    // SAFETY: by the contract above the memory is ours; the head and `capacity` nodes fit, and both are aligned.
    let nodes = unsafe { head.add(1).cast::<Node>() };
    for index in 0..capacity {
        // SAFETY: as above.
        unsafe { nodes.add(index as usize).write(Node::free(index, capacity)) };
    }
    let lists = FixedSchedule::over(capacity, now);
    // SAFETY: as above; `schedule` is not NULL, and by the contract valid for writes.
    unsafe {
        head.write(Schedule { head: Head { mark: MARK, capacity: capacity.into(), lists } });
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
    // SAFETY: by the contract above, which is that of `parts`.
    let (lists, nodes) = match unsafe { parts(schedule) } {
        Ok(parts) => parts,
        Err(status) => return status,
    };
    let Some(inserted) = lists.insert(nodes, slot, value) else {
        return Status::ScheduleFull;
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
    let (lists, nodes) = match parts {
        Ok(parts) => parts,
        Err(status) => return status,
    };
    let Some(cancelled) = lists.cancel(nodes, CoreTicket { slot, serial, node }) else {
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
    let (lists, nodes) = match unsafe { parts(schedule) } {
        Ok(parts) => parts,
        Err(status) => return status,
    };
    let Some(next) = lists.next_slot(nodes) else {
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
/// @param schedule  the schedule
/// @param limit     the last slot
/// @param room      how many values may be written
/// @param values    receives up to `room` values
/// @param count     receives how many
///
/// @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
///
/// # Safety
/// `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid; `values` is NULL, or valid
/// for writes of `room` entries; `count` is NULL, or valid for writes; they are apart from each other, and no other
/// thread uses them during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn backoff_schedule_expire(
    schedule: *mut Schedule,
    limit: u64,
    room: usize,
    values: *mut u64,
    count: *mut usize,
) -> Status {
    if values.is_null() || count.is_null() {
        return Status::NullPointer;
    }
    // SAFETY: by the contract above, which is that of `parts`.
    let (lists, nodes) = match unsafe { parts(schedule) } {
        Ok(parts) => parts,
        Err(status) => return status,
    };
    let mut expired = 0;
    while expired < room
        && let Some((_, value)) = lists.expire(nodes, limit)
    {
        // SAFETY: by the contract above, there is room for `room` values.
        unsafe { values.add(expired).write(value) };
        expired += 1;
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
    // SAFETY: by the contract above, which is that of `parts`.
    let (lists, _) = match unsafe { parts(schedule) } {
        Ok(parts) => parts,
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
    // SAFETY: by the contract above, which is that of `parts`.
    let (lists, _) = match unsafe { parts(schedule) } {
        Ok(parts) => parts,
        Err(status) => return status,
    };
    // SAFETY: by the contract above, a `count` that is not NULL is valid for writes and unshared.
    unsafe { count.write(lists.len()) };
    Status::Ok
}

/// The lists and the nodes of a schedule.
///
/// # Safety
/// `schedule` is NULL, or valid as `backoff_schedule_init` made it, and nobody else uses it during `'a`.
unsafe fn parts<'a>(schedule: *mut Schedule) -> Result<(&'a mut FixedSchedule, &'a mut [Node]), Status> {
    if schedule.is_null() {
        return Err(Status::NullPointer);
    }
    // SAFETY: by the contract above, it is valid and unshared.
    let head = unsafe { &mut (*schedule).head };
    if head.mark != MARK {
        return Err(Status::NotInitialised);
    }
    // SAFETY: `backoff_schedule_init` has found room for that many nodes behind the head, which ends where they begin.
    let nodes = unsafe { core::slice::from_raw_parts_mut(schedule.add(1).cast::<Node>(), head.capacity as usize) };
    Ok((&mut head.lists, nodes))
}
