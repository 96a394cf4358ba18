//! The near buckets of the schedule that grows: the first values of each lie side by side in one block of memory, so
//! that putting one there waits for no pointer. What does not fit there follows in a vector of the bucket's own.
//!
//! It must never know the slot of a bucket.

use super::alloc::boxed::Box;
use super::alloc::vec;
use super::alloc::vec::Vec;

use super::occupancy::{BUCKETS, Occupancy};

/// How many values of a bucket lie in the common block. Where there are few values, hardly a bucket has more (2 on average:
/// one in 220); where there are many, it makes no difference.
const FEW: usize = 6;
/// From this capacity on the memory of an emptied bucket is handed to the next one that fills.
const SPARED: usize = 16;
/// A bucket with fewer items keeps those that are cancelled until it is empty.
pub(super) const MANY: u32 = 32;
/// Marks a cancelled value, in the highest bit of its serial number.
pub(super) const CANCELLED: u32 = 1 << 31;

/// A value, and what tells it from the others of its slot; serial numbers rise within a bucket, modulo 2^31.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<T> {
    pub(super) serial: u32,
    pub(super) value: T,
}

impl<T> Item<T> {
    #[inline]
    pub(super) const fn is_live(&self) -> bool {
        self.serial & CANCELLED == 0
    }
}

#[derive(Clone, Debug)]
pub(super) struct Wheel<T> {
    pub(super) occupied: Occupancy,
    counts: Box<[Count; BUCKETS]>,
    /// The first few items of each bucket. It comes with the first item of all, and copies of that in every place.
    few: Option<Box<Places<T>>>,
    more: Box<[Vec<Item<T>>; BUCKETS]>,
    /// The memory of buckets that are empty now, the last one used first: it is still in the cache.
    spare: Vec<Vec<Item<T>>>,
}

type Places<T> = [[Item<T>; FEW]; BUCKETS];

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// How many items: the first few, and those in `more`.
    items: u32,
    /// How many of them are cancelled.
    cancelled: u32,
}

impl<T: Copy> Wheel<T> {
    pub(super) fn new() -> Wheel<T> {
        let more: Box<[Vec<Item<T>>]> = (0..BUCKETS).map(|_| Vec::new()).collect();
        let Ok(more) = more.try_into() else { unreachable!("there are as many as buckets") };
        let counts = Box::new([Count::default(); BUCKETS]);
        Wheel { occupied: Occupancy::NOTHING, counts, few: None, more, spare: Vec::new() }
    }

    /// Puts an item behind the others of the bucket.
    #[inline]
    pub(super) fn push(&mut self, index: usize, item: Item<T>) {
        self.occupied.set(index);
        let count = &mut self.counts[index].items;
        let place = *count as usize;
        if place >= FEW {
            return self.push_more(index, item);
        }
        *count += 1;
        match &mut self.few {
            Some(few) => few[index][place] = item,
            None => self.make_places(item),
        }
    }

    #[cold]
    #[inline(never)]
    fn make_places(&mut self, first: Item<T>) {
        let places: Result<Box<Places<T>>, _> = vec![[first; FEW]; BUCKETS].into_boxed_slice().try_into();
        self.few = places.ok();
    }

    #[inline]
    fn push_more(&mut self, index: usize, item: Item<T>) {
        let count = &mut self.counts[index].items;
        *count += 1;
        if self.more[index].capacity() == 0 {
            self.find_memory(index);
        }
        self.more[index].push(item);
    }

    #[cold]
    #[inline(never)]
    fn find_memory(&mut self, index: usize) {
        if let Some(spare) = self.spare.pop() {
            self.more[index] = spare;
        }
    }

    /// How many values of the bucket are pending.
    #[inline]
    pub(super) fn live(&self, index: usize) -> usize {
        let count = self.counts[index];
        (count.items - count.cancelled) as usize
    }

    /// Gives the values of the bucket in their order, without those that were cancelled, and empties it.
    #[inline]
    pub(super) fn drain(&mut self, index: usize, mut each: impl FnMut(T)) {
        let Count { items, cancelled } = self.counts[index];
        let few = self.few.as_ref().and_then(|few| few[index].get(..FEW.min(items as usize))).unwrap_or_default();
        if cancelled == 0 {
            few.iter().for_each(|item| each(item.value));
            if items as usize > FEW {
                self.more[index].iter().for_each(|item| each(item.value));
            }
        } else {
            few.iter().chain(&self.more[index]).filter(|item| item.is_live()).for_each(|item| each(item.value));
        }
        self.clear(index);
    }

    /// Moves the items of the bucket, cancelled ones too, into `items`, and overwrites its contents.
    #[inline]
    pub(super) fn take(&mut self, index: usize, items: &mut Vec<Item<T>>) {
        items.clear();
        if let Some(few) = &self.few {
            // All places at once, and then as many as count: without a loop whose end would be guessed wrong.
            items.extend_from_slice(&few[index]);
            items.truncate(self.counts[index].items as usize);
        }
        if self.counts[index].items as usize > FEW {
            items.extend_from_slice(&self.more[index]);
        }
        self.clear(index);
    }

    #[inline]
    fn clear(&mut self, index: usize) {
        if self.counts[index].items as usize > FEW {
            self.clear_more(index);
        }
        self.counts[index] = Count::default();
        self.occupied.clear(index);
    }

    fn clear_more(&mut self, index: usize) {
        let more = &mut self.more[index];
        more.clear();
        if more.capacity() >= SPARED {
            self.spare.push(core::mem::take(more));
        }
    }

    /// Takes the item of that serial number out, if it is the last one of its bucket; else marks it. Of a bucket with many items no
    /// more than half are marked.
    pub(super) fn cancel(&mut self, index: usize, serial: u32) -> Option<T> {
        let few = &mut self.few.as_mut()?[index];
        let Count { items, .. } = self.counts[index];
        let items = items as usize;
        let last = if items > FEW { self.more[index].last() } else { few[..items].last() };
        if let Some(&Item { serial: found, value }) = last
            && found == serial
        {
            self.drop_last(index);
            return Some(value);
        }
        let found = match find(&mut few[..FEW.min(items)], serial) {
            Some(found) => found,
            None => find(&mut self.more[index], serial)?,
        };
        found.serial |= CANCELLED;
        let value = found.value;
        let count = &mut self.counts[index];
        count.cancelled += 1;
        if count.cancelled == count.items {
            self.clear(index);
        } else if count.items >= MANY && count.cancelled > count.items / 2 {
            self.drop_cancelled(index);
        }
        Some(value)
    }

    /// Takes the last item out, and those before it that are cancelled.
    #[inline]
    fn drop_last(&mut self, index: usize) {
        loop {
            let count = &mut self.counts[index];
            count.items -= 1;
            let place = count.items as usize;
            let last = if place > FEW {
                self.more[index].pop();
                self.more[index].last()
            } else {
                if place == FEW {
                    self.clear_more(index);
                }
                place.checked_sub(1).and_then(|before| self.few.as_ref()?[index].get(before))
            };
            match last {
                None => return self.clear(index),
                Some(item) if item.is_live() => return,
                Some(_) => self.counts[index].cancelled -= 1,
            }
        }
    }

    /// Takes the cancelled items out.
    #[cold]
    #[inline(never)]
    fn drop_cancelled(&mut self, index: usize) {
        let Some(few) = &mut self.few else { return };
        let (few, more) = (&mut few[index], &mut self.more[index]);
        let mut kept = 0;
        for place in 0..self.counts[index].items as usize {
            let item = if place < FEW { few[place] } else { more[place - FEW] };
            if item.is_live() {
                *if kept < FEW { &mut few[kept] } else { &mut more[kept - FEW] } = item;
                kept += 1;
            }
        }
        more.truncate(kept.saturating_sub(FEW));
        self.counts[index] = Count { items: kept as u32, cancelled: 0 };
    }
}

/// The item of that serial number, if it has not been cancelled.
pub(super) fn find<T>(items: &mut [Item<T>], serial: u32) -> Option<&mut Item<T>> {
    let first = items.first()?.serial;
    let distance = |serial: u32| serial.wrapping_sub(first) & !CANCELLED;
    let place = items.partition_point(|item| distance(item.serial) < distance(serial));
    items.get_mut(place).filter(|item| item.serial == serial)
}
