//! Both schedules by their public door, against the plainest model: a sorted map of lists.

use std::collections::BTreeMap;

use backoff::{Due, FixedSchedule, Generator, Node, Schedule, Ticket};

/// What both must do. The serial number is the value.
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
        self.now = self.now.max(limit);
        due.into_iter().flat_map(|(slot, values)| values.into_iter().map(move |value| (slot, value))).collect()
    }
}

/// A delay of any size, small ones more often, and now and then the whole of `u64`.
fn delay(generator: &mut Generator) -> u64 {
    let bits = [3, 6, 7, 12, 13, 20, 30, 63][(generator.next_u64() >> 61) as usize];
    generator.next_u64() >> (64 - bits)
}

/// 60 runs of 2,000 steps each; the seed of a run is in the message of its failure.
#[test]
fn both_schedules_do_what_a_sorted_map_does() {
    for seed in 0..60 {
        let mut generator = Generator::stream(seed, 3);
        let start = if seed % 3 == 0 { u64::MAX - (1 << 40) } else { generator.next_u64() >> (seed % 60) };
        let mut model = Model { now: start, ..Model::default() };
        let mut growing = Schedule::starting_at(start);
        let mut nodes = vec![Node::default(); 3000];
        let mut fixed = FixedSchedule::new(&mut nodes, start);
        let mut tickets: Vec<(Ticket, Ticket, u64)> = Vec::new();
        for step in 0..2000_u64 {
            match generator.next_u64() >> 61 {
                0..=3 => {
                    let slot = model.now.saturating_add(delay(&mut generator)).saturating_sub(2);
                    model.insert(slot, step);
                    let ticket = fixed.insert(&mut nodes, slot, step).expect("there is room for 3000");
                    tickets.push((growing.insert(slot, step), ticket, step));
                }
                4..=5 if !tickets.is_empty() => {
                    let chosen = (generator.next_u64() % tickets.len() as u64) as usize;
                    let (one, other, value) = tickets[chosen];
                    let expected = model.cancel(one.slot, value);
                    assert_eq!(growing.cancel(one), expected, "seed {seed}, step {step}");
                    assert_eq!(fixed.cancel(&mut nodes, other), expected, "seed {seed}, step {step}");
                }
                _ => {
                    let limit = model.now.saturating_add(delay(&mut generator));
                    let expected = model.expire(limit);
                    assert_eq!(expired(&mut growing, limit, step), expected, "seed {seed}, step {step}");
                    let expired: Vec<_> = std::iter::from_fn(|| fixed.expire(&mut nodes, limit)).collect();
                    assert_eq!(expired, expected, "seed {seed}, step {step}");
                }
            }
            let pending: usize = model.slots.values().map(Vec::len).sum();
            assert_eq!((growing.len(), fixed.len() as usize), (pending, pending), "seed {seed}, step {step}");
            assert_eq!((growing.now(), fixed.now()), (model.now, model.now), "seed {seed}, step {step}");
            let next = model.slots.keys().next().copied();
            assert_eq!((growing.next_slot(), fixed.next_slot(&nodes)), (next, next), "seed {seed}, step {step}");
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
    let mut nodes = [Node::default(); 3];
    let mut schedule = FixedSchedule::new(&mut nodes, 5);
    for value in 0..3 {
        assert!(schedule.insert(&mut nodes, 9, value).is_some());
    }
    assert_eq!(schedule.insert(&mut nodes, 9, 3), None);
    assert_eq!(schedule.expire(&mut nodes, 9), Some((9, 0)));
    assert!(schedule.insert(&mut nodes, 9, 4).is_some());
    let rest: Vec<_> = std::iter::from_fn(|| schedule.expire(&mut nodes, u64::MAX)).collect();
    assert_eq!(rest, [(9, 1), (9, 2), (9, 4)]);
    assert_eq!(FixedSchedule::new(&mut [], 0).insert(&mut [], 1, 1), None);
}
