//! All schedules by their public door, against the plainest model: a sorted map of lists.
//!
//! One file above 500 lines because every schedule takes the same steps as the model.

use std::collections::BTreeMap;

use backoff::internals::{
    Chunk, Compact, CompactMemory, CompactShape, Count, Expired, Handle, Head, Inserted, List, Memory, Near, Node,
    Plain, Shape, Stop, Waiting, Work,
};
use backoff::{Due, Generator, Schedule, Ticket};

/// What all must do. The serial number is the value.
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
    head: Head,
    ends: Vec<u32>,
    firsts: Vec<u32>,
    counts: Vec<Count>,
    bits: Vec<u64>,
    chunks: Vec<Chunk>,
    handles: Vec<Handle>,
    waiting: Vec<Waiting>,
}

impl Fixed {
    fn new(capacity: usize, now: u64) -> Fixed {
        let shape = Shape::of(capacity as u32);
        let ends: Vec<u32> = (0..shape.lists()).map(|list| shape.end(list)).collect();
        Fixed {
            head: Head::new(&shape, now, 0),
            firsts: ends.clone(),
            ends,
            counts: vec![Count::ZERO; shape.lists()],
            bits: vec![0; shape.words()],
            chunks: (0..shape.chunks()).map(|list| Chunk::of_list(list as u32)).collect(),
            handles: vec![Handle::UNUSED; capacity],
            waiting: vec![Waiting::UNUSED; shape.waiting()],
        }
    }

    fn near(&mut self) -> (&mut Head, Near<'_>) {
        let Fixed { head, ends, firsts, bits, counts, chunks, handles, .. } = self;
        (head, Near { ends, firsts, bits, counts, chunks, handles })
    }

    fn work(&mut self) -> Work<'_> {
        let Fixed { head, ends, firsts, counts, bits, chunks, handles, waiting } = self;
        head.with(Memory { ends, firsts, counts, bits, chunks, handles, waiting })
    }

    /// As a C program has it: up to `room` values.
    fn expire_some(&mut self, limit: u64, room: usize) -> Vec<(u64, u64)> {
        let (mut places, mut given) = (vec![Expired { slot: 0, value: 0 }; room], 0);
        loop {
            let (head, near) = self.near();
            let mut stop = head.expire_near(near, limit, &mut places, &mut given);
            if stop == Stop::Step {
                stop = self.work().step(limit, &mut places, &mut given);
            }
            if stop == Stop::Done {
                self.work().deal::<Expired>(Work::work_for(given));
                break;
            }
        }
        places.truncate(given);
        places.iter().map(|expired| (expired.slot, expired.value)).collect()
    }

    fn expire(&mut self, limit: u64) -> Option<(u64, u64)> {
        self.expire_some(limit, 1).first().copied()
    }

    /// All up to the limit, as a C program has it that asks for one slot a call.
    fn expire_slots(&mut self, limit: u64, room: usize) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        loop {
            let mut places = vec![Expired { slot: 0, value: 0 }; room];
            let (head, near) = self.near();
            let some: Vec<(u64, u64)> = if let Some(given) = head.expire_slot(near, limit, &mut places) {
                self.work().deal::<Expired>(Work::work_for(given));
                places[..given].iter().map(|expired| (expired.slot, expired.value)).collect()
            } else if self.work().approach::<Expired>(limit) {
                continue;
            } else {
                let next = self.work().next_slot().unwrap_or(limit);
                self.expire_some(next.min(limit), room)
            };
            assert!(some.iter().all(|(slot, _)| *slot == some[0].0), "one slot a call");
            if some.is_empty() {
                return all;
            }
            all.extend(some);
        }
    }

    /// All up to the limit, `room` at a time.
    fn expire_all(&mut self, limit: u64, room: usize) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        loop {
            let some = self.expire_some(limit, room);
            all.extend(&some);
            if some.len() < room {
                return all;
            }
        }
    }

    /// As a C program has it that asks for a ticket: the short way, and the other where that is none.
    fn insert(&mut self, slot: u64, value: u64) -> Option<Ticket> {
        let (head, near) = self.near();
        head.insert_with_ticket(near, slot, value).or_else(|| self.work().insert(slot, value, true))
    }

    /// As a C program has it.
    fn reschedule(&mut self, ticket: Ticket, slot: u64) -> Option<Ticket> {
        let value = self.cancel(ticket)?;
        self.insert(slot, value)
    }

    fn cancel(&mut self, ticket: Ticket) -> Option<u64> {
        let (head, near) = self.near();
        head.cancel_listed(near, ticket).or_else(|| self.work().cancel::<Expired>(ticket))
    }

    /// As a C program has it that asks for no ticket.
    fn insert_plain(&mut self, slot: u64, value: u64) -> bool {
        let Fixed { head, ends, counts, bits, chunks, .. } = self;
        let mut inserted = head.insert_near(Plain { ends, counts, bits, chunks }, slot, value);
        if inserted == Inserted::Not {
            inserted = head.insert_next(Plain { ends, counts, bits, chunks }, slot, value);
        }
        match inserted {
            Inserted::Done => true,
            Inserted::Behind => {
                let (head, near) = self.near();
                head.insert_behind(near, slot, value);
                true
            }
            Inserted::Not => self.work().insert(slot, value, false).is_some(),
        }
    }
}

/// A compact schedule, and its memory.
struct Small {
    head: Compact,
    lists: Vec<List>,
    words: Vec<u64>,
    nodes: Vec<Node>,
}

impl Small {
    fn new(capacity: usize, now: u64) -> Small {
        let shape = CompactShape::of(capacity as u32);
        Small {
            head: Compact::new(&shape, now, 0),
            lists: vec![List::EMPTY; shape.lists()],
            words: vec![0; shape.words()],
            nodes: vec![Node::UNUSED; capacity],
        }
    }

    fn parts(&mut self) -> (&mut Compact, CompactMemory<'_>) {
        let Small { head, lists, words, nodes } = self;
        (head, CompactMemory { lists, words, nodes })
    }

    fn insert(&mut self, slot: u64, value: u64) -> Option<Ticket> {
        let (head, mut memory) = self.parts();
        let near = head.insert_near(&mut memory, slot, value);
        near.or_else(|| head.insert_far(&mut memory, slot, value)).or_else(|| head.insert(&mut memory, slot, value))
    }

    fn cancel(&mut self, ticket: Ticket) -> Option<u64> {
        let (head, mut memory) = self.parts();
        head.cancel(&mut memory, ticket)
    }

    fn next_slot(&mut self) -> Option<u64> {
        let (head, mut memory) = self.parts();
        head.next_slot(&mut memory)
    }

    /// All up to the limit, `room` at a time; with `one` slot by slot.
    fn expire_all(&mut self, limit: u64, room: usize, one: bool) -> Vec<(u64, u64)> {
        let (mut all, mut places) = (Vec::new(), vec![Expired { slot: 0, value: 0 }; room]);
        loop {
            let (head, mut memory) = self.parts();
            let (mut slots, mut given) = (if one { 1 } else { u64::MAX }, 0);
            while head.expire_near(&mut memory, limit, &mut slots, &mut places, &mut given) == Stop::Step
                && head.step(&mut memory, limit, &mut slots, &mut places, &mut given) == Stop::Step
            {}
            all.extend(places[..given].iter().map(|expired| (expired.slot, expired.value)));
            assert!(!one || places[..given].iter().all(|expired| expired.slot == places[0].slot), "one slot a call");
            if given < if one { 1 } else { room } {
                return all;
            }
        }
    }
}

/// A delay of any size, small ones more often, and now and then the whole of `u64`.
fn delay(generator: &mut Generator) -> u64 {
    let bits = [3, 6, 7, 12, 13, 20, 30, 63][(generator.next_u64() >> 61) as usize];
    generator.next_u64() >> (64 - bits)
}

/// 60 runs of 2,000 steps each; the seed of a run is in the message of its failure.
#[test]
fn all_schedules_do_what_a_sorted_map_does() {
    for seed in 0..300 {
        let mut generator = Generator::stream(seed, 3);
        let start = if seed % 3 == 0 { u64::MAX - (1 << 40) } else { generator.next_u64() >> (seed % 60) };
        let mut model = Model { now: start, ..Model::default() };
        let mut growing = Schedule::starting_at(start);
        // From a schedule with as much room as there can be values down to one where the wheel has 64 slots.
        let capacity = [3000, 1500, 600, 150, 30, 4][seed as usize % 6];
        let mut fixed = Fixed::new(capacity, start);
        // Its shapes differ from others: one list, and levels of 2^8, 2^10 and 2^12 slots.
        let mut small = Small::new([3000, 20_000, 600, 150, 30, 4][seed as usize % 6].max(capacity), start);
        let mut tickets: Vec<([Ticket; 3], u64)> = Vec::new();
        for step in 0..400_u64 {
            match generator.next_u64() >> 61 {
                0..=3 => {
                    let slot = model.now.saturating_add(delay(&mut generator)).saturating_sub(2);
                    let ticketed = !generator.next_u64().is_multiple_of(3);
                    let inserted = if ticketed { fixed.insert(slot, step) } else { None };
                    if inserted.is_none() && (ticketed || !fixed.insert_plain(slot, step)) {
                        assert_eq!(growing.len(), capacity, "seed {seed}, step {step}");
                        continue;
                    }
                    model.insert(slot, step);
                    let compact = small.insert(slot, step).expect("there is room");
                    let Some(ticket) = inserted else {
                        growing.insert(slot, step);
                        continue;
                    };
                    tickets.push(([growing.insert(slot, step), ticket, compact], step));
                }
                4..=5 if !tickets.is_empty() => {
                    let chosen = (generator.next_u64() % tickets.len() as u64) as usize;
                    let ([one, other, compact], value) = tickets[chosen];
                    let expected = model.cancel(one.slot, value);
                    assert_eq!(small.cancel(compact), expected, "seed {seed}, step {step}");
                    if generator.next_u64() >> 63 == 1 {
                        let slot = model.now.saturating_add(delay(&mut generator));
                        let moved = (growing.reschedule(one, slot), fixed.reschedule(other, slot));
                        let (Some(one), Some(other)) = moved else {
                            assert_eq!((moved, expected), ((None, None), None), "seed {seed}, step {step}");
                            continue;
                        };
                        assert_eq!(expected, Some(value), "seed {seed}, step {step}");
                        model.insert(slot, value);
                        let compact = small.insert(slot, value).expect("there is room");
                        tickets[chosen] = ([one, other, compact], value);
                        continue;
                    }
                    assert_eq!(growing.cancel(one), expected, "seed {seed}, step {step}");
                    assert_eq!(fixed.cancel(other), expected, "seed {seed}, step {step}");
                }
                _ => {
                    let limit = model.now.saturating_add(delay(&mut generator));
                    let expected = model.expire(limit);
                    assert_eq!(expired(&mut growing, limit, step), expected, "seed {seed}, step {step}");
                    let room = [1, 2, 7, 64][(generator.next_u64() >> 62) as usize];
                    let mut expired = Vec::new();
                    if step % 3 == 0 {
                        expired.extend(fixed.expire_slots(limit, room));
                    }
                    expired.extend(fixed.expire_all(limit, room));
                    assert_eq!(expired, expected, "seed {seed}, step {step}");
                    let expired = small.expire_all(limit, room, step % 2 == 0);
                    assert_eq!(expired, expected, "seed {seed}, step {step}");
                }
            }
            let pending: usize = model.slots.values().map(Vec::len).sum();
            let counts = [growing.len(), fixed.head.len() as usize, small.head.len() as usize];
            assert_eq!(counts, [pending; 3], "seed {seed}, step {step}");
            let nows = [growing.now(), fixed.head.now(), small.head.now()];
            assert_eq!(nows, [model.now; 3], "seed {seed}, step {step}");
            let next = model.slots.keys().next().copied();
            let soonest = [growing.next_slot(), fixed.work().next_slot(), small.next_slot()];
            assert_eq!(soonest, [next; 3], "seed {seed}, step {step}");
        }
    }
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

/// What was inserted from afar goes before what was inserted when the slot was near, and can be cancelled from where
/// it still lies.
#[test]
fn values_from_afar_go_first() {
    for slot in [5000, 8191, 8192, 1 << 24] {
        let mut schedule = Schedule::starting_at(0);
        let tickets: Vec<_> = (0..10).map(|value| schedule.insert(slot, value)).collect();
        schedule.insert(slot - 1000, 100);
        assert_eq!(schedule.expire_next(slot - 900, |_, _| ()), Some(slot - 1000));
        (10..20).for_each(|value| _ = schedule.insert(slot, value));
        assert_eq!(schedule.cancel(tickets[3]), Some(3));
        assert_eq!((schedule.cancel(tickets[3]), schedule.next_slot()), (None, Some(slot)));
        let rest: Vec<_> = (0..20).filter(|value| *value != 3).map(|value| (slot, value)).collect();
        assert_eq!(expired(&mut schedule, slot, slot), rest, "slot {slot}");
        assert!(schedule.is_empty());
    }
}

/// A slot in one go, in the order of insertion, however far away it was when its values came.
#[test]
fn the_order_within_a_slot_is_that_of_insertion() {
    let mut schedule = Schedule::starting_at(0);
    let slot = 3 << 24;
    for value in 0..10 {
        schedule.insert(slot, value);
        let reached = slot - (slot >> (value + 1)) - 1;
        assert_eq!(schedule.expire_next(reached, |_, _: u64| unreachable!("nothing is due")), None);
    }
    let mut values = Vec::new();
    assert_eq!(schedule.expire_next(u64::MAX, |_, value| values.push(value)), Some(slot));
    assert_eq!(values, (0..10).collect::<Vec<_>>());
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
    assert_eq!(schedule.expire(9), Some((9, 0)));
    assert!(schedule.insert(9, 4).is_some());
    let rest: Vec<_> = std::iter::from_fn(|| schedule.expire(u64::MAX)).collect();
    assert_eq!(rest, [(9, 1), (9, 2), (9, 4)]);
    assert_eq!(Fixed::new(0, 0).insert(1, 1), None);
}

/// Many values in few places, all over `u64`: what the random runs above, with their few values, do not deal out. Lists
/// of one slot and of many, inserted from afar and from near, some cancelled; 20 runs of 20,000 values.
#[test]
fn crowded_slots_come_out_in_their_order() {
    for seed in 0..20 {
        let mut generator = Generator::stream(seed, 9);
        let mut model = Model { now: seed * 1000, ..Model::default() };
        let mut fixed = Fixed::new(20_000, model.now);
        let mut small = Small::new(20_000, model.now);
        let mut tickets = Vec::new();
        // Crowds: a few points, and how far around each its values lie.
        let crowds: Vec<(u64, u64)> =
            (0..6).map(|_| (delay(&mut generator) + model.now, 1 << (generator.next_u64() % 16))).collect();
        for value in 0..20_000_u64 {
            let (point, width) = crowds[(generator.next_u64() % 6) as usize];
            let slot = (point.saturating_add(generator.next_u64() % width)).max(model.now);
            model.insert(slot, value);
            let compact = small.insert(slot, value).expect("there is room");
            if seed % 4 == 0 {
                assert!(fixed.insert_plain(slot, value), "there is room");
            } else {
                tickets.push((fixed.insert(slot, value).expect("there is room"), compact, value));
            }
            match generator.next_u64() % 16 {
                0 if !tickets.is_empty() => {
                    let (ticket, compact, value) = tickets[(generator.next_u64() % tickets.len() as u64) as usize];
                    let expected = model.cancel(ticket.slot, value);
                    assert_eq!(small.cancel(compact), expected, "seed {seed}, value {value}");
                    assert_eq!(fixed.work().cancel::<Expired>(ticket), expected, "seed {seed}, value {value}");
                }
                1 if value % 8 == 0 => {
                    let limit = fixed.work().next_slot().expect("something is pending") + generator.next_u64() % 100;
                    let expired: Vec<_> = std::iter::from_fn(|| fixed.expire(limit)).collect();
                    assert!(expired == small.expire_all(limit, 3, false), "seed {seed}, value {value}");
                    assert!(expired == model.expire(limit), "seed {seed}, value {value}");
                }
                _ => (),
            }
        }
        let expired = fixed.expire_all(u64::MAX, 10);
        assert!(expired == small.expire_all(u64::MAX, 10, true), "seed {seed}");
        assert!(expired == model.expire(u64::MAX), "seed {seed}");
    }
}

/// Few values in each bucket of level 1, some of them in one slot: they are given as they lie, without the wheel. Some come
/// while their bucket is being given, and some have a ticket. 60 runs of 300 rounds.
#[test]
fn values_that_lie_thinly_come_out_in_their_order() {
    for seed in 0..60 {
        let mut generator = Generator::stream(seed, 13);
        let start = if seed % 4 == 0 { u64::MAX - (1 << 27) } else { generator.next_u64() >> (1 + seed % 60) };
        let mut model = Model { now: start, ..Model::default() };
        let mut fixed = Fixed::new([200, 1000, 5000][seed as usize % 3], start);
        for round in 0..300_u64 {
            let word = generator.next_u64();
            for value in 0..word % 24 {
                // Around one of sixteen points, so that slots meet.
                let (point, beside) =
                    (generator.next_u64() % 16, generator.next_u64() % [1, 2, 2048][value as usize % 3]);
                let slot = model.now.saturating_add(point << (5 + seed % 13)).saturating_add(beside);
                let tickets = seed % 5 == 0 && value == 0;
                let inserted = match tickets {
                    true => fixed.insert(slot, round * 24 + value).is_some(),
                    false => fixed.insert_plain(slot, round * 24 + value),
                };
                if inserted {
                    model.insert(slot, round * 24 + value);
                }
            }
            let limit = model.now.saturating_add((word >> 32) % (16 << (5 + seed % 13)));
            let room = [5, 7, 16, 64][(word >> 20) as usize % 4];
            let mut expired = fixed.expire_some(limit, room);
            if expired.len() == room {
                assert_eq!(Some(fixed.head.now()), expired.last().map(|(slot, _)| *slot), "seed {seed}, round {round}");
                expired.extend(fixed.expire_all(limit, room));
            }
            assert_eq!(expired, model.expire(limit), "seed {seed}, round {round}");
            assert_eq!(fixed.head.now(), model.now, "seed {seed}, round {round}");
        }
        assert_eq!(fixed.expire_all(u64::MAX, 64), model.expire(u64::MAX), "seed {seed}");
        assert!(fixed.head.is_empty());
        // Nor does any bucket think that it has something.
        assert!(fixed.counts.iter().all(|count| format!("{count:?}").starts_with("Count { values: 0, limit: 16,")));
    }
}

/// The last slot of all: from afar, from near, and when it is now.
#[test]
fn the_last_slot_is_a_slot() {
    for start in [0, 1 << 40, u64::MAX - 5000, u64::MAX - 1, u64::MAX] {
        let mut fixed = Fixed::new(4, start);
        assert!(fixed.insert(u64::MAX, 1).is_some() && fixed.insert(u64::MAX - 1, 2).is_some());
        let first = (u64::MAX - 1).max(start);
        assert_eq!(fixed.work().next_slot(), Some(first));
        assert!(fixed.insert(u64::MAX, 3).is_some());
        let expected = if start == u64::MAX { [1, 2, 3] } else { [2, 1, 3] };
        for capacity in [4, 100, 1000, 20_000] {
            let mut small = Small::new(capacity, start);
            assert!(
                [(u64::MAX, 1), (u64::MAX - 1, 2), (u64::MAX, 3)]
                    .iter()
                    .all(|(slot, value)| small.insert(*slot, *value).is_some())
            );
            let values: Vec<_> = small.expire_all(u64::MAX, 1, false).iter().map(|(_, value)| *value).collect();
            assert_eq!(values, expected, "{start}, {capacity}");
        }
        let expired: Vec<_> = std::iter::from_fn(|| fixed.expire(u64::MAX)).map(|(_, value)| value).collect();
        assert_eq!(expired, expected, "{start}");
        assert!(fixed.insert(7, 4).is_some());
        assert_eq!(fixed.expire(u64::MAX), Some((u64::MAX, 4)));
    }
}

/// How far ahead slots lie: spread over 2^bits, in crowds, or in buckets of which each has twice as many as the one before.
fn ahead(kind: u64, generator: &mut Generator, value: u64) -> u64 {
    let word = generator.next_u64();
    match kind {
        0..=5 => 1 + (word >> (64 - [10, 20, 30, 40, 52, 63][kind as usize])),
        6 => (5_000_000 << (word % 20)) + word % 100,
        7 => (1 << 30) + word % 100,
        8 => 2048 * u64::from((value / 16 + 1).ilog2() + 2) + word % 2048,
        _ => (1 << 22) * u64::from((value / 16 + 1).ilog2() + 2) + word % (1 << 22),
    }
}

/// The header's bound of a call, in values that it moves or looks at besides those that it gives, whatever the slots:
/// nothing is cancelled here. 10 ways to choose the slots, 100,000 values each.
#[test]
fn no_call_does_more_than_the_header_says() {
    const VALUES: u64 = 100_000;
    const EACH_LEVEL: u32 = 16 * 5;
    for kind in 0..10 {
        let (mut generator, mut fixed) = (Generator::stream(kind, 11), Fixed::new(VALUES as usize, 0));
        let mut insert = |fixed: &mut Fixed, now: u64, value| {
            assert!(fixed.insert_plain(now.saturating_add(ahead(kind, &mut generator, value)), value));
            let work = fixed.head.take_work();
            assert!(work <= 1, "kind {kind}, value {value}: an insertion does {work}");
        };
        (0..VALUES).for_each(|value| insert(&mut fixed, 0, value));
        for value in 0..2 * VALUES {
            let Some(slot) = fixed.work().next_slot() else { break };
            let work = fixed.head.take_work();
            assert!(work <= EACH_LEVEL, "kind {kind}, value {value}: the next slot takes {work}");
            let given = fixed.expire_some(slot, [1, 1, 2, 64][value as usize % 4]).len() as u32;
            let work = fixed.head.take_work();
            assert!(work <= 15 * given.max(1) + EACH_LEVEL, "kind {kind}, value {value}: {given} values take {work}");
            if value % 3 > 0 {
                (0..given).for_each(|_| insert(&mut fixed, slot, value));
            }
        }
    }
}

/// Near and far, in any order, with others before and behind them: what is left keeps its order, and no ticket is good twice.
#[test]
fn a_bucket_most_of_which_is_cancelled_keeps_the_rest() {
    for (slot, seed) in [(5, 1), (5, 2), (1 << 20, 3), (1 << 20, 4), (1 << 40, 5)] {
        let mut generator = Generator::stream(seed, 9);
        let mut schedule = Schedule::starting_at(0);
        let mut pending: Vec<(Ticket, u64)> = Vec::new();
        for value in 0..2000 {
            pending.push((schedule.insert(slot, value), value));
            // First few of them go, then more than come.
            while !pending.is_empty() && generator.next_u64() >> 60 < value / 150 {
                let (ticket, value) = pending.remove(generator.next_u64() as usize % pending.len());
                assert_eq!((schedule.cancel(ticket), schedule.cancel(ticket)), (Some(value), None), "seed {seed}");
            }
            assert_eq!(schedule.len(), pending.len());
        }
        let mut given = Vec::new();
        schedule.expire(u64::MAX, |_, value| given.push(value));
        assert_eq!(given, pending.iter().map(|(_, value)| *value).collect::<Vec<_>>(), "seed {seed}");
    }
}
