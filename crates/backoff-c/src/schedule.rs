//! The slot schedule of fixed size, as a C program sees it: one block of the caller's memory.
//!
//! One file above 500 lines because all of it follows from one layout of that block, and C's checks are beside each
//! call.

use core::mem::{MaybeUninit, offset_of};
use core::ptr::null_mut;
use core::slice::from_raw_parts_mut;
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use backoff_core::internals::{
    Chunk, Count, Expired, Handle, Head as CoreHead, Inserted, Memory, Near, Node, Place, Plain, Shape, Stop,
    Ticket as CoreTicket, Waiting, Work,
};

use crate::{Status, compact};

/// What tells a schedule from memory that is none: "due ".
const MARK: u64 = 0x6475_6520;
/// How many schedules have been begun: what tells the tickets of one life of a memory from those of the next.
static LIVES: AtomicU32 = AtomicU32::new(0);
/// The most values that a schedule has room for.
const MOST: u32 = 1 << 27;

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
    /// How many lists there are, and words of bits.
    lists: u32,
    words: u32,
    /// How many slots the wheel has, and places the heap.
    slots: u32,
    places: u32,
    unused: u32,
    /// Where the parts begin, in octets from the head.
    firsts: u64,
    counts: u64,
    bits: u64,
    chunks: u64,
    handles: u64,
    waiting: u64,
    core: CoreHead,
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

/// The caller's place for such a value, which may hold anything.
#[repr(transparent)]
pub(crate) struct Free(MaybeUninit<Due>);

impl Place for Free {
    #[inline(always)]
    fn set(&mut self, Expired { slot, value }: Expired) {
        self.0.write(Due { slot, value });
    }

    #[inline(always)]
    fn fetch(chunk: &Chunk) {
        let start = (&raw const *chunk).cast::<u8>();
        fetch(start);
        fetch(start.wrapping_add(64));
    }

    #[inline(always)]
    fn fetch_handle(handle: &Handle) {
        fetch((&raw const *handle).cast());
    }

    #[inline(always)]
    fn fetch_node(node: &Node) {
        fetch((&raw const *node).cast());
    }
}

/// Says that the line of memory there will be read soon.
#[inline(always)]
fn fetch(start: *const u8) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse"))]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint reads nothing that a program could see, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse")))]
    {
        _ = start;
    }
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

impl Ticket {
    #[inline(always)]
    pub(crate) const fn slot(&self) -> u64 {
        self.slot
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

/// The memory's layout: the head, then ends, firsts and counts of the lists, bits, chunks, handles and the heap, each
/// aligned as the head is.
const _: () = {
    assert!(size_of::<Head>() == size_of::<Schedule>());
    assert!(align_of::<Schedule>() <= 8 && size_of::<Head>().is_multiple_of(8));
    assert!(size_of::<Chunk>() == 128 && size_of::<Handle>() == 16 && size_of::<Waiting>() == 32);
    assert!(size_of::<Ticket>() == 16);
    assert!(offset_of!(Ticket, serial) == 8);
    assert!(size_of::<Due>() == 16 && size_of::<Expired>() == 16 && align_of::<Due>() == align_of::<Expired>());
    assert!(offset_of!(Due, value) == 8 && offset_of!(Expired, value) == 8);
};

/// Where the parts of a schedule begin, and where it ends, in octets.
struct Layout {
    firsts: usize,
    counts: usize,
    bits: usize,
    chunks: usize,
    handles: usize,
    waiting: usize,
    end: usize,
}

impl Layout {
    /// `None` if it does not fit the address space, or is for more values than there may be.
    #[inline(never)]
    fn of(shape: &Shape, capacity: u32) -> Option<Layout> {
        if capacity > MOST {
            return None;
        }
        // Lists are a multiple of 64, so that all begins at a multiple of 8 octets.
        let of_lists = shape.lists() * size_of::<u32>();
        let firsts = size_of::<Head>() + of_lists;
        let counts = firsts + of_lists;
        let bits = counts + shape.lists() * size_of::<Count>();
        let chunks = bits + shape.words() * size_of::<u64>();
        let handles = shape.chunks().checked_mul(size_of::<Chunk>())?.checked_add(chunks)?;
        let waiting = (capacity as usize).checked_mul(size_of::<Handle>())?.checked_add(handles)?;
        let end = shape.waiting().checked_mul(size_of::<Waiting>())?.checked_add(waiting)?;
        Some(Layout { firsts, counts, bits, chunks, handles, waiting, end })
    }
}

/// The octets that a schedule for `capacity` pending values needs: 144 for each value, from 65 values on 32 more, and for
/// the wheel from 25 KiB (up to 16 values) to 1 MiB (from 513 values on). backoff_schedule_compact_octets asks for a quarter
/// of that, where no call needs a bound.
///
/// SIZE_MAX if that does not fit, or if `capacity` is above 2^27. Any thread may call it at any time.
///
/// @param capacity  how many values may be pending at the same time
#[unsafe(no_mangle)]
pub extern "C" fn backoff_schedule_octets(capacity: u32) -> usize {
    Layout::of(&Shape::of(capacity), capacity).map_or(usize::MAX, |layout| layout.end)
}

/// The largest capacity for which `room` octets are enough, where `octets` says how many one takes.
fn capacity_of(room: usize, octets: impl Fn(u32) -> Option<usize>) -> Option<u32> {
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

/// The capacity of a schedule that is to begin in the caller's memory, where `octets_of` says how many octets one takes.
pub(crate) fn capacity_in(
    memory: *mut core::ffi::c_void,
    octets: usize,
    schedule: *mut *mut Schedule,
    octets_of: impl Fn(u32) -> Option<usize>,
) -> Result<u32, Status> {
    if memory.is_null() || schedule.is_null() {
        return Err(Status::NullPointer);
    }
    match capacity_of(octets, octets_of) {
        Some(capacity) if (memory as usize).is_multiple_of(8) => Ok(capacity),
        _ => Err(Status::Memory),
    }
}

/// Makes an empty schedule in the caller's memory, for as many values as fit.
///
/// It writes the head and the wheel, at most 1 MiB; what lies behind is written when it is used.
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
    let octets_of = |capacity| Some(Layout::of(&Shape::of(capacity), capacity)?.end);
    let capacity = match capacity_in(memory, octets, schedule, octets_of) {
        Ok(capacity) => capacity,
        Err(status) => return status,
    };
    let head = memory.cast::<Schedule>();
    let shape = Shape::of(capacity);
    let Some(layout) = Layout::of(&shape, capacity) else {
        return Status::Memory;
    };
    let life = another_life();
    // SAFETY: by the contract above the memory is ours; the parts of that capacity fit, and are aligned; `schedule` is not
    // NULL, and by the contract valid for writes.
    unsafe {
        zero(head.cast(), size_of::<Head>() / size_of::<u64>());
        let begun = &mut (*head).head;
        (begun.mark, begun.capacity, begun.slots) = (MARK, capacity, shape.slots() as u32);
        (begun.lists, begun.words) = (shape.lists() as u32, shape.words() as u32);
        begun.places = shape.waiting() as u32;
        (begun.firsts, begun.counts, begun.bits) = (layout.firsts as u64, layout.counts as u64, layout.bits as u64);
        begun.chunks = layout.chunks as u64;
        (begun.handles, begun.waiting) = (layout.handles as u64, layout.waiting as u64);
        begun.core.begin(&shape, now, life);
        let octets = memory.cast::<u8>();
        for list in 0..shape.lists() {
            octets.add(size_of::<Head>()).cast::<u32>().add(list).write_volatile(shape.end(list));
            octets.add(layout.firsts).cast::<u32>().add(list).write_volatile(shape.end(list));
            octets.add(layout.counts).cast::<Count>().add(list).write_volatile(Count::ZERO);
        }
        zero(octets.add(layout.bits).cast(), shape.words());
        for slot in 0..shape.slots() {
            octets.add(layout.chunks).cast::<Chunk>().add(slot).write(Chunk::of_list(slot as u32));
        }
        schedule.write(head);
    }
    Status::Ok
}

/// The number of a life: another one at each call.
#[cfg(target_has_atomic = "32")]
pub(crate) fn another_life() -> u32 {
    LIVES.fetch_add(1, Relaxed)
}

/// The same where a processor can only load and store. Two calls that interrupt each other may get the same number, for two
/// memories.
#[cfg(not(target_has_atomic = "32"))]
pub(crate) fn another_life() -> u32 {
    let life = LIVES.load(Relaxed).wrapping_add(1);
    LIVES.store(life, Relaxed);
    life
}

/// Writes this number of zero words. The compiler must not turn it into a call of memset, which the library does not
/// have.
///
/// # Safety
/// `words` is valid for this number of writes.
#[inline(never)]
pub(crate) unsafe fn zero(words: *mut u64, count: usize) {
    for word in 0..count {
        // SAFETY: by the contract above.
        unsafe { words.add(word).write_volatile(0) };
    }
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
    if !ticket.is_null() {
        // SAFETY: by the contract above.
        return unsafe { insert_with_ticket(schedule, slot, value, ticket) };
    }
    // SAFETY: by the contract above, which is that of `plain`.
    let (core, plain) = match unsafe { plain(schedule) } {
        Ok(plain) => plain,
        // SAFETY: by the contract above. It is a compact one, or none.
        Err(_) => return unsafe { compact::insert(schedule, slot, value, ticket) },
    };
    match core.insert_near(plain, slot, value) {
        Inserted::Done => Status::Ok,
        // SAFETY: by the contract above; the head has just been looked at.
        Inserted::Behind => unsafe { insert_behind(schedule, slot, value) },
        // SAFETY: as above.
        Inserted::Not => unsafe { insert_next(schedule, slot, value) },
    }
}

/// The insertion of what may be cancelled; `ticket` is not NULL.
///
/// # Safety
/// As that of backoff_schedule_insert.
#[inline(never)]
unsafe fn insert_with_ticket(schedule: *mut Schedule, slot: u64, value: u64, ticket: *mut Ticket) -> Status {
    // SAFETY: by the contract above, which is that of `near`.
    let (core, near) = match unsafe { near(schedule) } {
        Ok(near) => near,
        // SAFETY: by the contract above. It is a compact one, or none.
        Err(_) => return unsafe { compact::insert(schedule, slot, value, ticket) },
    };
    let Some(inserted) = core.insert_with_ticket(near, slot, value) else {
        // SAFETY: as above.
        return unsafe { insert_any(schedule, slot, value, ticket) };
    };
    // SAFETY: by the contract above, a `ticket` that is not NULL is valid for writes and unshared.
    unsafe { ticket.write(inserted.into()) };
    Status::Ok
}

/// The insertion beyond the wheel. Apart, so that the other one saves no register.
///
/// # Safety
/// As that of backoff_schedule_insert.
#[inline(never)]
unsafe fn insert_next(schedule: *mut Schedule, slot: u64, value: u64) -> Status {
    // SAFETY: by the contract above, which is that of `plain`.
    let (core, plain) = match unsafe { plain(schedule) } {
        Ok(plain) => plain,
        Err(status) => return status,
    };
    match core.insert_next(plain, slot, value) {
        Inserted::Done => Status::Ok,
        // SAFETY: by the contract above; the head has just been looked at.
        Inserted::Behind => unsafe { insert_behind(schedule, slot, value) },
        // SAFETY: as above; the ticket is NULL.
        Inserted::Not => unsafe { insert_any(schedule, slot, value, null_mut()) },
    }
}

/// The insertion that takes another chunk.
///
/// # Safety
/// As that of backoff_schedule_insert.
#[inline(never)]
unsafe fn insert_behind(schedule: *mut Schedule, slot: u64, value: u64) -> Status {
    // SAFETY: by the contract above, which is that of `near`.
    match unsafe { near(schedule) } {
        Ok((core, near)) => {
            core.insert_behind(near, slot, value);
            Status::Ok
        }
        Err(status) => status,
    }
}

/// The insertion that takes more.
///
/// # Safety
/// As that of backoff_schedule_insert.
#[inline(never)]
unsafe fn insert_any(schedule: *mut Schedule, slot: u64, value: u64, ticket: *mut Ticket) -> Status {
    // SAFETY: by the contract above, which is that of `parts`.
    let mut work = match unsafe { parts(schedule) } {
        Ok(work) => work,
        Err(status) => return status,
    };
    let Some(inserted) = work.insert(slot, value, !ticket.is_null()) else {
        return Status::ScheduleFull;
    };
    if !ticket.is_null() {
        // SAFETY: by the contract above, a `ticket` that is not NULL is valid for writes and unshared.
        unsafe { ticket.write(inserted.into()) };
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
    // SAFETY: by the contract above; a compact one, or none, is looked at there.
    unsafe {
        match head(schedule) {
            Ok(_) => cancel(schedule, ticket, value),
            Err(_) => compact::cancel(schedule, ticket, value),
        }
    }
}

/// The cancellation in a schedule that is not a compact one.
///
/// # Safety
/// As that of backoff_schedule_cancel, and no pointer is NULL.
#[inline(never)]
unsafe fn cancel(schedule: *mut Schedule, ticket: *const Ticket, value: *mut u64) -> Status {
    // SAFETY: by the contract above, which is that of `near`; `ticket` is valid for reads.
    let (found, ticket) = unsafe { (near(schedule), CoreTicket::from(ticket.read())) };
    let (core, near) = match found {
        Ok(near) => near,
        Err(status) => return status,
    };
    let cancelled = core.cancel_listed(near, ticket).or_else(|| {
        // SAFETY: by the contract above; the head has just been looked at.
        unsafe { cancel_any(schedule, ticket) }
    });
    let Some(cancelled) = cancelled else {
        return Status::NotPending;
    };
    // SAFETY: by the contract above, `value` is valid for writes and unshared.
    unsafe { value.write(cancelled) };
    Status::Ok
}

/// The cancellation of a value that lies anywhere; `None` where it is not pending.
///
/// # Safety
/// As that of backoff_schedule_cancel.
#[inline(never)]
unsafe fn cancel_any(schedule: *mut Schedule, ticket: CoreTicket) -> Option<u64> {
    // SAFETY: by the contract above, which is that of `parts`.
    unsafe { parts(schedule) }.ok()?.cancel::<Free>(ticket)
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
    if ticket.is_null() {
        return Status::NullPointer;
    }
    let mut value = 0;
    // SAFETY: by the contract above; the value goes to a place of ours.
    let status = unsafe { backoff_schedule_cancel(schedule, ticket, &raw mut value) };
    if status != Status::Ok {
        return status;
    }
    // SAFETY: by the contract above. There is room: a value has just gone.
    unsafe { insert_with_ticket(schedule, slot, value, ticket) }
}

/// Gives the first slot in which a value is pending.
///
/// It looks through at most 16 values for each level above the wheel (but see backoff_schedule_expire on what is cancelled).
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
    // SAFETY: by the contract above, which is that of `parts`.
    let next = match unsafe { parts(schedule) } {
        Ok(mut work) => work.next_slot(),
        // SAFETY: by the contract above. It is a compact one, or none.
        Err(_) => match unsafe { compact::next_slot(schedule) } {
            Ok(next) => next,
            Err(status) => return status,
        },
    };
    let Some(next) = next else {
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
/// A call takes a time in proportion to the values that it gives, independent of the number and the slots of pending
/// values. For each value that it gives, it moves at most 14 others, or 14 if it gives none. Where it comes to slots
/// before which no value was pending, it moves 16 for each level above the wheel. There are at most 5 levels where
/// there is room for 513 values, and at most 12 in any schedule. Over many calls each value is moved once for each 11
/// bits of its distance. If more values are close together than these moves can sort in time, the others wait in a
/// heap, and each takes as many steps as their number has pairs of bits. (A program that cancels most of a crowd just
/// before another crowd may leave calls too few to sort that one: then one call moves what is left of it.)
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
    // SAFETY: by the contract above there is room for `room` values; any contents will do.
    let places: &mut [Free] = unsafe { from_raw_parts_mut(due.cast(), room) };
    let mut given = 0;
    // SAFETY: by the contract above, which is that of `fill`.
    let status = unsafe { fill(schedule, limit, places, &mut given) };
    if status == Status::Ok {
        // SAFETY: by the contract above, a `count` that is not NULL is valid for writes and unshared.
        unsafe { count.write(given) };
    }
    status
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
    // SAFETY: by the contract above, which is that of `near`.
    while let Ok((core, near)) = unsafe { near(schedule) } {
        // SAFETY: by the contract above there is room for `room` values; any contents will do.
        let places: &mut [Free] = unsafe { from_raw_parts_mut(due.cast(), room) };
        if let Some(given) = core.expire_slot(near, limit, places) {
            // SAFETY: by the contract above, a `count` that is not NULL is valid for writes and unshared.
            unsafe { count.write(given) };
            // SAFETY: by the contract above; the head has just been looked at.
            return if core.is_busy() { unsafe { deal(schedule, given) } } else { Status::Ok };
        }
        // SAFETY: as above.
        if room == 0 || !unsafe { approach(schedule, limit) } {
            break;
        }
    }
    // SAFETY: by the contract above, and no pointer is NULL.
    unsafe { expire_next_any(schedule, limit, room, due, count) }
}

/// Moves now nearer to the next value; gives whether it has moved.
///
/// # Safety
/// As that of [`head`].
#[inline(never)]
unsafe fn approach(schedule: *mut Schedule, limit: u64) -> bool {
    // SAFETY: by the contract above.
    unsafe { parts(schedule) }.is_ok_and(|mut work| work.approach::<Free>(limit))
}

/// The same where the next slot is in the heap, or there is none up to `limit`, or the schedule is a compact one.
///
/// # Safety
/// As that of backoff_schedule_expire_next, and neither `due` nor `count` is NULL.
#[inline(never)]
unsafe fn expire_next_any(
    schedule: *mut Schedule,
    limit: u64,
    room: usize,
    due: *mut Due,
    count: *mut usize,
) -> Status {
    // SAFETY: by the contract above there is room for `room` values; any contents will do.
    let places: &mut [Free] = unsafe { from_raw_parts_mut(due.cast(), room) };
    let mut given = 0;
    // SAFETY: by the contract above, which is that of `parts`.
    let status = match unsafe { parts(schedule) } {
        Ok(mut work) if room > 0 => {
            let last = work.next_slot().map_or(limit, |next| next.min(limit));
            // SAFETY: by the contract above, which is that of `fill`.
            unsafe { fill(schedule, last, places, &mut given) }
        }
        Ok(_) => Status::Ok,
        // SAFETY: by the contract above. It is a compact one, or none.
        Err(_) => unsafe { compact::expire(schedule, limit, 1, places, &mut given) },
    };
    if status != Status::Ok {
        return status;
    }
    if given == 0 && room > 0 {
        return Status::NotPending;
    }
    // SAFETY: by the contract above, a `count` that is not NULL is valid for writes and unshared.
    unsafe { count.write(given) };
    Status::Ok
}

/// Gives values up to `limit` to those places.
///
/// # Safety
/// As that of backoff_schedule_expire.
unsafe fn fill(schedule: *mut Schedule, limit: u64, places: &mut [Free], given: &mut usize) -> Status {
    loop {
        // SAFETY: by the contract above, which is that of `near`.
        let (core, near) = match unsafe { near(schedule) } {
            Ok(near) => near,
            // SAFETY: by the contract above; it is not NULL where the status is NOT_INITIALISED.
            Err(_) => return unsafe { compact::expire(schedule, limit, u64::MAX, places, given) },
        };
        let busy = core.is_busy();
        let mut stop = core.expire_near(near, limit, places, given);
        if stop == Stop::Step {
            // SAFETY: by the contract above; the head has just been looked at.
            stop = unsafe { step(schedule, limit, places, given) };
        } else if !busy {
            return Status::Ok;
        }
        if stop == Stop::Done {
            // SAFETY: as above.
            return unsafe { deal(schedule, *given) };
        }
    }
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
    let (now, _) = match unsafe { now_and_pending(schedule) } {
        Ok(found) => found,
        Err(status) => return status,
    };
    // SAFETY: by the contract above, a `slot` that is not NULL is valid for writes and unshared.
    unsafe { slot.write(now) };
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
    let (_, pending) = match unsafe { now_and_pending(schedule) } {
        Ok(found) => found,
        Err(status) => return status,
    };
    // SAFETY: by the contract above, a `count` that is not NULL is valid for writes and unshared.
    unsafe { count.write(pending) };
    Status::Ok
}

/// Now, and the number of pending values.
///
/// # Safety
/// As that of [`head`].
unsafe fn now_and_pending(schedule: *mut Schedule) -> Result<(u64, u32), Status> {
    // SAFETY: by the contract above.
    match unsafe { head(schedule) } {
        Ok(head) => Ok((head.core.now(), head.core.len())),
        // SAFETY: by the contract above. It is a compact one, or none.
        Err(_) => unsafe { compact::now_and_pending(schedule) },
    }
}

/// The head of a schedule.
///
/// # Safety
/// `schedule` is NULL, or valid as an init function made it, and no other thread uses it during `'a`.
#[inline(always)]
unsafe fn head<'a>(schedule: *mut Schedule) -> Result<&'a mut Head, Status> {
    if schedule.is_null() {
        return Err(Status::NullPointer);
    }
    // SAFETY: by the contract above, it is valid and unshared. Only with this mark is there a whole head.
    unsafe {
        if schedule.cast::<u64>().read() == MARK { Ok(&mut (*schedule).head) } else { Err(Status::NotInitialised) }
    }
}

/// What most insertions need.
///
/// # Safety
/// As that of [`head`].
#[inline(always)]
unsafe fn plain<'a>(schedule: *mut Schedule) -> Result<(&'a mut CoreHead, Plain<'a>), Status> {
    // SAFETY: by the contract above.
    let head = unsafe { head(schedule) }?;
    let (lists, memory) = (head.lists as usize, schedule.cast::<u8>());
    // SAFETY: as in `parts`.
    let plain = unsafe {
        Plain {
            ends: from_raw_parts_mut(memory.add(size_of::<Head>()).cast(), lists),
            counts: from_raw_parts_mut(memory.add(head.counts as usize).cast(), lists),
            bits: from_raw_parts_mut(memory.add(head.bits as usize).cast(), head.words as usize),
            chunks: from_raw_parts_mut(memory.add(head.chunks as usize).cast(), head.chunks()),
        }
    };
    Ok((&mut head.core, plain))
}

/// What most expiries need.
///
/// # Safety
/// As that of [`head`].
#[inline(always)]
unsafe fn near<'a>(schedule: *mut Schedule) -> Result<(&'a mut CoreHead, Near<'a>), Status> {
    // SAFETY: by the contract above.
    let head = unsafe { head(schedule) }?;
    let (lists, memory) = (head.lists as usize, schedule.cast::<u8>());
    // SAFETY: as in `parts`.
    let near = unsafe {
        Near {
            ends: from_raw_parts_mut(memory.add(size_of::<Head>()).cast(), lists),
            firsts: from_raw_parts_mut(memory.add(head.firsts as usize).cast(), lists),
            bits: from_raw_parts_mut(memory.add(head.bits as usize).cast(), head.words as usize),
            counts: from_raw_parts_mut(memory.add(head.counts as usize).cast(), lists),
            chunks: from_raw_parts_mut(memory.add(head.chunks as usize).cast(), head.chunks()),
            handles: from_raw_parts_mut(memory.add(head.handles as usize).cast(), head.capacity as usize),
        }
    };
    Ok((&mut head.core, near))
}

/// The expiry that takes more than the wheel.
///
/// # Safety
/// As that of [`head`].
#[inline(never)]
unsafe fn step(schedule: *mut Schedule, limit: u64, places: &mut [Free], given: &mut usize) -> Stop {
    // SAFETY: by the contract above.
    match unsafe { parts(schedule) } {
        Ok(mut work) => work.step(limit, places, given),
        Err(_) => Stop::Done,
    }
}

/// Deals out what is to be dealt out ahead of time.
///
/// # Safety
/// As that of [`head`].
#[inline(never)]
unsafe fn deal(schedule: *mut Schedule, given: usize) -> Status {
    // SAFETY: by the contract above.
    if let Ok(mut work) = unsafe { parts(schedule) } {
        work.deal::<Free>(Work::work_for(given));
    }
    Status::Ok
}

/// A schedule with its memory.
///
/// # Safety
/// As that of [`head`].
#[inline(always)]
unsafe fn parts<'a>(schedule: *mut Schedule) -> Result<Work<'a>, Status> {
    // SAFETY: by the contract above.
    let head = unsafe { head(schedule) }?;
    let (lists, capacity, memory) = (head.lists as usize, head.capacity as usize, schedule.cast::<u8>());
    let waiting = head.places as usize;
    // SAFETY: `backoff_schedule_init` has found room for all of that behind the head; each part ends where the next one
    // begins and is a multiple of 8 octets. It has written lists, bits and the wheel's chunks; what has not been written of
    // the rest is not read, and holds integers only, which any bits are.
    let memory = unsafe {
        Memory {
            ends: from_raw_parts_mut(memory.add(size_of::<Head>()).cast(), lists),
            firsts: from_raw_parts_mut(memory.add(head.firsts as usize).cast(), lists),
            counts: from_raw_parts_mut(memory.add(head.counts as usize).cast(), lists),
            bits: from_raw_parts_mut(memory.add(head.bits as usize).cast(), head.words as usize),
            chunks: from_raw_parts_mut(memory.add(head.chunks as usize).cast(), head.chunks()),
            handles: from_raw_parts_mut(memory.add(head.handles as usize).cast(), capacity),
            waiting: from_raw_parts_mut(memory.add(head.waiting as usize).cast(), waiting),
        }
    };
    Ok(head.core.with(memory))
}

impl Head {
    /// How many chunks there are: the wheel's own, and one more than values.
    #[inline(always)]
    const fn chunks(&self) -> usize {
        self.slots as usize + self.capacity as usize + 1
    }
}
