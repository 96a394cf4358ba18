//! The schedule by its public door, and in memory of fixed size as libbackoff has it, against the plainest model: a sorted map
//! of lists. `ffi-tests/model.c` does the same through C.

use std::collections::BTreeMap;

use backoff::internals::{Memory, Node, Queue, Shape};
use backoff::{Due, Generator, Schedule, Ticket};

/// What a schedule must do. The serial number is the value.
#[derive(Default)]
struct Model {
    now: u64,
    slots: BTreeMap<u64, Vec<u64>>,
}

impl Model {
    fn insert(&mut self, slot: u64, value: u64) {
        self.slots.entry(slot.max(self.now)).or_default().push(value);
    }

    fn cancel(&mut self, slot: u64, value: u64) -> Option<u64> {
        let values = self.slots.get_mut(&slot)?;
        let index = values.iter().position(|&pending| pending == value)?;
        values.remove(index);
        if values.is_empty() {
            self.slots.remove(&slot);
        }
        Some(value)
    }

    fn expire(&mut self, limit: u64) -> Vec<(u64, u64)> {
        let later = limit.checked_add(1).map_or_else(BTreeMap::new, |next| self.slots.split_off(&next));
        let due = std::mem::replace(&mut self.slots, later);
        let reached = if limit == u64::MAX { due.keys().next_back().copied().unwrap_or(self.now) } else { limit };
        self.now = self.now.max(reached);
        due.into_iter().flat_map(|(slot, values)| values.into_iter().map(move |value| (slot, value))).collect()
    }
}

/// A schedule of fixed size, and its memory.
struct Fixed {
    queue: Queue,
    lists: Vec<u32>,
    words: Vec<u64>,
    nodes: Vec<Node<u64>>,
    counts: Vec<u8>,
    capacity: usize,
}

impl Fixed {
    fn new(capacity: usize, now: u64) -> Fixed {
        let shape = Shape::of(capacity as u32);
        let (lists, words) = (vec![Queue::NO_NODE; shape.lists()], vec![0; shape.words()]);
        Fixed {
            queue: Queue::new(shape, now, 0),
            lists,
            words,
            counts: vec![0; shape.blocks()],
            nodes: Vec::new(),
            capacity,
        }
    }

    fn parts(&mut self) -> (&mut Queue, Memory<'_, u64>) {
        let Fixed { queue, lists, words, counts, nodes, .. } = self;
        (queue, Memory { lists, words, counts, nodes })
    }

    fn insert(&mut self, slot: u64, value: u64) -> Option<Ticket> {
        let (queue, mut memory) = self.parts();
        if let Some(ticket) = queue.take(&mut memory, slot, value) {
            if !queue.place(&mut memory, ticket.slot, ticket.node) {
                queue.place_beyond(&mut memory, ticket.slot, ticket.node);
            }
            return Some(ticket);
        }
        if self.nodes.len() == self.capacity {
            return None;
        }
        self.nodes.push(self.queue.another_node(value));
        self.insert(slot, value)
    }

    fn cancel(&mut self, ticket: Ticket) -> Option<u64> {
        let (queue, mut memory) = self.parts();
        queue.cancel(&mut memory, ticket)
    }

    fn next_slot(&mut self) -> Option<u64> {
        let (queue, memory) = self.parts();
        queue.next_slot(&memory)
    }

    /// All up to the limit, `room` at a time, each time of one slot.
    fn expire_all(&mut self, limit: u64, room: usize) -> Vec<(u64, u64)> {
        let (queue, mut memory) = self.parts();
        let mut all = Vec::new();
        loop {
            let before = all.len();
            let slot = queue.expire_next(&mut memory, limit, room, &mut |slot, value| all.push((slot, value)));
            let Some(slot) = slot else { return all };
            assert!(all.len() > before && all.len() - before <= room);
            assert!(all[before..].iter().all(|(given, _)| *given == slot), "one slot a call");
        }
    }
}

/// A delay of any size, small ones more often, and now and then the whole of `u64`.
fn delay(generator: &mut Generator) -> u64 {
    let bits = [3, 6, 10, 12, 13, 20, 30, 63][(generator.next_u64() >> 61) as usize];
    generator.next_u64() >> (64 - bits)
}

/// What expires up to `limit`, by one way or the other.
fn expired(schedule: &mut Schedule<u64>, limit: u64, way: u64) -> Vec<(u64, u64)> {
    let mut expired = Vec::new();
    if way.is_multiple_of(2) {
        schedule.expire(limit, |slot, value| expired.push((slot, value)));
        return expired;
    }
    let mut due = Due::new();
    while let Some(slot) = schedule.take_next(limit, &mut due) {
        expired.extend(due.values().map(|value| (slot, value)));
    }
    expired
}

/// 300 runs of 400 steps each; the seed of a run is in the message of its failure.
#[test]
fn a_schedule_does_what_a_sorted_map_does() {
    for seed in 0..300 {
        let mut generator = Generator::stream(seed, 3);
        let start = if seed % 3 == 0 { u64::MAX - (1 << (seed % 41)) } else { generator.next_u64() >> (seed % 60) };
        let mut model = Model { now: start, ..Model::default() };
        let mut growing = Schedule::starting_at(start);
        let capacity = [3000, 33, 32, 150, 4][seed as usize % 5];
        let mut fixed = Fixed::new(capacity, start);
        let mut tickets: Vec<([Ticket; 2], u64)> = Vec::new();
        for step in 0..400_u64 {
            match generator.next_u64() >> 61 {
                0..=3 => {
                    let slot = model.now.saturating_add(delay(&mut generator)).saturating_sub(2);
                    let Some(ticket) = fixed.insert(slot, step) else {
                        assert_eq!(growing.len(), capacity, "seed {seed}, step {step}");
                        continue;
                    };
                    model.insert(slot, step);
                    tickets.push(([growing.insert(slot, step), ticket], step));
                }
                4..=5 if !tickets.is_empty() => {
                    let chosen = (generator.next_u64() % tickets.len() as u64) as usize;
                    let ([one, other], value) = tickets[chosen];
                    let expected = model.cancel(one.slot, value);
                    assert_eq!(fixed.cancel(other), expected, "seed {seed}, step {step}");
                    if generator.next_u64() >> 63 == 0 {
                        assert_eq!(growing.cancel(one), expected, "seed {seed}, step {step}");
                        continue;
                    }
                    let slot = model.now.saturating_add(delay(&mut generator));
                    let moved = growing.reschedule(one, slot);
                    assert_eq!(moved.is_some(), expected.is_some(), "seed {seed}, step {step}");
                    if let Some(one) = moved {
                        model.insert(slot, value);
                        tickets[chosen] = ([one, fixed.insert(slot, value).expect("there is room")], value);
                    }
                }
                _ => {
                    let limit = if step % 16 == 0 { u64::MAX } else { model.now.saturating_add(delay(&mut generator)) };
                    let expected = model.expire(limit);
                    assert_eq!(expired(&mut growing, limit, step), expected, "seed {seed}, step {step}");
                    let room = [1, 2, 7, 64][(generator.next_u64() >> 62) as usize];
                    assert_eq!(fixed.expire_all(limit, room), expected, "seed {seed}, step {step}");
                }
            }
            let pending: usize = model.slots.values().map(Vec::len).sum();
            assert_eq!([growing.len(), fixed.queue.len() as usize], [pending; 2], "seed {seed}, step {step}");
            assert_eq!([growing.now(), fixed.queue.now()], [model.now; 2], "seed {seed}, step {step}");
            let next = model.slots.keys().next().copied();
            assert_eq!([growing.next_slot(), fixed.next_slot()], [next; 2], "seed {seed}, step {step}");
        }
    }
}

/// Many values in few places, all over `u64`; some cancelled, some given in part. 20 runs of 20,000 values.
#[test]
fn crowded_slots_come_out_in_their_order() {
    for seed in 0..20 {
        let mut generator = Generator::stream(seed, 9);
        let mut model = Model { now: seed * 1000, ..Model::default() };
        let mut fixed = Fixed::new(20_000, model.now);
        let mut tickets = Vec::new();
        // Crowds: a few points, and how far around each its values lie.
        let crowds: Vec<(u64, u64)> =
            (0..6).map(|_| (delay(&mut generator) + model.now, 1 << (generator.next_u64() % 16))).collect();
        for value in 0..20_000_u64 {
            let (point, width) = crowds[(generator.next_u64() % 6) as usize];
            let slot = (point.saturating_add(generator.next_u64() % width)).max(model.now);
            model.insert(slot, value);
            tickets.push((fixed.insert(slot, value).expect("there is room"), value));
            match generator.next_u64() % 16 {
                0 => {
                    let (ticket, value) = tickets[(generator.next_u64() % tickets.len() as u64) as usize];
                    let expected = model.cancel(ticket.slot, value);
                    assert_eq!(fixed.cancel(ticket), expected, "seed {seed}, value {value}");
                }
                1 if value % 8 == 0 => {
                    let limit = fixed.next_slot().expect("something is pending") + generator.next_u64() % 100;
                    assert!(fixed.expire_all(limit, 3) == model.expire(limit), "seed {seed}, value {value}");
                }
                _ => (),
            }
        }
        assert!(fixed.expire_all(u64::MAX, 10) == model.expire(u64::MAX), "seed {seed}");
    }
}

/// A slot in one go, in the order of insertion, however far away it was when its values came.
#[test]
fn the_order_within_a_slot_is_that_of_insertion() {
    let mut schedule = Schedule::starting_at(0);
    let slot = 3 << 24;
    for value in 0..30 {
        schedule.insert(slot, value);
        let reached = slot - (slot >> (value + 1)) - 1;
        assert_eq!(schedule.expire_next(reached, |_, _: u64| unreachable!("nothing is due")), None);
    }
    let mut values = Vec::new();
    assert_eq!(schedule.expire_next(u64::MAX, |_, value| values.push(value)), Some(slot));
    assert_eq!(values, (0..30).collect::<Vec<_>>());
    assert!(schedule.is_empty());
}

/// A full schedule refuses, and takes again when there is room.
#[test]
fn a_full_schedule_refuses() {
    let mut schedule = Fixed::new(3, 5);
    for value in 0..3 {
        assert!(schedule.insert(9, value).is_some());
    }
    assert_eq!(schedule.insert(9, 3), None);
    let (queue, mut memory) = schedule.parts();
    assert_eq!(queue.expire_next(&mut memory, 9, 1, &mut |slot, value| assert_eq!((slot, value), (9, 0))), Some(9));
    assert!(schedule.insert(9, 4).is_some());
    assert_eq!(schedule.expire_all(u64::MAX, 1), [(9, 1), (9, 2), (9, 4)]);
    assert_eq!(Fixed::new(0, 0).insert(1, 1), None);
}

/// The last slot of all: from afar, from near, and when it is now.
#[test]
fn the_last_slot_is_a_slot() {
    for start in [0, 1 << 40, u64::MAX - 5000, u64::MAX - 1, u64::MAX] {
        for capacity in [4, 100] {
            let mut fixed = Fixed::new(capacity, start);
            for (slot, value) in [(u64::MAX, 1), (u64::MAX - 1, 2), (u64::MAX, 3)] {
                assert!(fixed.insert(slot, value).is_some());
            }
            assert_eq!(fixed.next_slot(), Some((u64::MAX - 1).max(start)));
            let values: Vec<_> = fixed.expire_all(u64::MAX, 1).iter().map(|(_, value)| *value).collect();
            assert_eq!(values, if start == u64::MAX { [1, 2, 3] } else { [2, 1, 3] }, "{start}, {capacity}");
            assert!(fixed.insert(7, 4).is_some());
            assert_eq!(fixed.expire_all(u64::MAX, 1), [(u64::MAX, 4)]);
        }
    }
}
