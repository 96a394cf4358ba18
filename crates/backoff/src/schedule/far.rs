//! The far buckets of the schedule that grows: each holds the values of a block of slots, until now enters it.

use super::alloc::boxed::Box;
use super::alloc::vec::Vec;

use super::occupancy::{BUCKETS, Occupancy};
use super::wheel::{CANCELLED, Item, MANY};

/// A value and its slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Far<T> {
    pub(super) slot: u64,
    pub(super) item: Item<T>,
}

#[derive(Clone, Debug)]
pub(super) struct Level<T> {
    pub(super) occupied: Occupancy,
    buckets: Box<[Bucket<T>; BUCKETS]>,
}

#[derive(Clone, Debug)]
struct Bucket<T> {
    items: Vec<Far<T>>,
    cancelled: usize,
}

impl<T: Copy> Level<T> {
    pub(super) fn new() -> Level<T> {
        let buckets: Box<[Bucket<T>]> = (0..BUCKETS).map(|_| Bucket { items: Vec::new(), cancelled: 0 }).collect();
        let Ok(buckets) = buckets.try_into() else { unreachable!("there are 4096 of them") };
        Level { occupied: Occupancy::NOTHING, buckets }
    }

    pub(super) fn push(&mut self, index: usize, far: Far<T>) {
        self.occupied.set(index);
        self.buckets[index].items.push(far);
    }

    /// The soonest slot in the bucket.
    pub(super) fn soonest(&self, index: usize) -> Option<u64> {
        self.buckets[index].items.iter().filter(|far| far.item.is_live()).map(|far| far.slot).min()
    }

    /// Empties the bucket; cancelled values too are in what was there.
    pub(super) fn take(&mut self, index: usize) -> Vec<Far<T>> {
        self.occupied.clear(index);
        self.buckets[index].cancelled = 0;
        core::mem::take(&mut self.buckets[index].items)
    }

    /// Gives the bucket memory for the values to come.
    pub(super) fn give_back(&mut self, index: usize, mut memory: Vec<Far<T>>) {
        memory.clear();
        self.buckets[index].items = memory;
    }

    /// Takes the value of that serial number out, if it is the last one of its bucket; else marks it, as
    /// [`Wheel::cancel`](super::wheel::Wheel::cancel) does. Serial numbers rise within a bucket, modulo 2^31.
    pub(super) fn cancel(&mut self, index: usize, serial: u32) -> Option<T> {
        let Bucket { items, cancelled } = &mut self.buckets[index];
        if let Some(last) = items.pop_if(|far| far.item.serial == serial) {
            while items.pop_if(|far| !far.item.is_live()).is_some() {
                *cancelled -= 1;
            }
            if items.is_empty() {
                self.occupied.clear(index);
            }
            return Some(last.item.value);
        }
        let first = items.first()?.item.serial;
        let distance = |serial: u32| serial.wrapping_sub(first) & !CANCELLED;
        let place = items.partition_point(|far| distance(far.item.serial) < distance(serial));
        let found = items.get_mut(place).filter(|far| far.item.serial == serial)?;
        found.item.serial |= CANCELLED;
        let value = found.item.value;
        *cancelled += 1;
        let all = *cancelled == items.len();
        if all || items.len() >= MANY as usize && *cancelled > items.len() / 2 {
            items.retain(|far| far.item.is_live());
            *cancelled = 0;
        }
        if all {
            self.occupied.clear(index);
        }
        Some(value)
    }
}
