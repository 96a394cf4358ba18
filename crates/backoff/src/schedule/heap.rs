//! The values that no list may have: where a bucket is so crowded that it could not be dealt out in time, the rest waits
//! in a heap, by slot, and within a slot by serial number.

use super::lists::{Handle, IN_HEAP, NONE};

/// How many children a value of the heap has.
const CHILDREN: usize = 4;

/// A value of the heap. 32 octets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    pub(super) slot: u64,
    pub(super) serial: u64,
    pub(super) value: u64,
    pub(super) handle: u32,
    unused: u32,
}

impl Waiting {
    /// One that holds anything.
    pub const UNUSED: Waiting = Waiting::new(0, 0, 0, NONE);

    pub(super) const fn new(slot: u64, serial: u64, value: u64, handle: u32) -> Waiting {
        Waiting { slot, serial, value, handle, unused: 0 }
    }

    #[inline(always)]
    const fn is_before(&self, other: &Waiting) -> bool {
        self.slot < other.slot || (self.slot == other.slot && self.serial < other.serial)
    }
}

/// The heap's memory, how much of it is in use, and the handles, which record the place of each value.
pub(super) struct Heap<'a> {
    pub(super) values: &'a mut [Waiting],
    pub(super) length: &'a mut u32,
    pub(super) handles: &'a mut [Handle],
}

impl Heap<'_> {
    pub(super) fn push(&mut self, value: Waiting) {
        let place = *self.length as usize;
        *self.length += 1;
        self.rise(place, value);
    }

    /// The soonest value.
    #[inline]
    pub(super) fn first(&self) -> Option<&Waiting> {
        if *self.length == 0 { None } else { self.values.first() }
    }

    /// Takes the value of that number out.
    pub(super) fn remove(&mut self, number: usize) -> Option<Waiting> {
        let last = (*self.length as usize).checked_sub(1).filter(|last| number <= *last)?;
        let (removed, moved) = (*self.values.get(number)?, *self.values.get(last)?);
        *self.length = last as u32;
        if number < last {
            if moved.is_before(&removed) { self.rise(number, moved) } else { self.sink(number, moved) }
        }
        Some(removed)
    }

    /// Puts the value there or nearer to the top.
    fn rise(&mut self, mut place: usize, value: Waiting) {
        while place > 0
            && let Some(&parent) = self.values.get((place - 1) / CHILDREN)
            && value.is_before(&parent)
        {
            self.put(place, parent);
            place = (place - 1) / CHILDREN;
        }
        self.put(place, value);
    }

    /// Puts the value there or farther from the top.
    fn sink(&mut self, mut place: usize, value: Waiting) {
        loop {
            let first = place * CHILDREN + 1;
            let children = first..(first + CHILDREN).min(*self.length as usize);
            let mut soonest = (place, value);
            for (number, child) in children.clone().zip(self.values.get(children).unwrap_or_default()) {
                if child.is_before(&soonest.1) {
                    soonest = (number, *child);
                }
            }
            if soonest.0 == place {
                return self.put(place, value);
            }
            self.put(place, soonest.1);
            place = soonest.0;
        }
    }

    #[inline]
    fn put(&mut self, place: usize, value: Waiting) {
        if let Some(free) = self.values.get_mut(place) {
            *free = value;
        }
        if value.handle != NONE
            && let Some(handle) = self.handles.get_mut(value.handle as usize)
        {
            handle.place = IN_HEAP | place as u32;
        }
    }
}

const _: () = assert!(size_of::<Waiting>() == 32);
