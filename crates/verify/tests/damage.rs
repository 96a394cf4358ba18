//! Traces of CSMA/CD that are damaged, their checks made right again: each damage is found, by the rule it breaks.

mod common;

use common::Told;
use common::damage::{bus, damaged, event, first, is_attempt, moved, offer, station};
use medium::{BitRate, BitTimes, Cause, Config, Deed, Event, Fault, Input, Kind, Method, Octets, Topology};
use sim::files::event_log::Entry;

fn csma_cd() -> Config {
    bus(Method::CsmaCd)
}

/// Two frames that come one after the other at 0, and one that waits for them at 1.
fn waiting() -> [(u64, Input); 3] {
    [offer(100, 0, 2), offer(110, 0, 2), offer(300, 1, 2)]
}

fn colliding() -> [(u64, Input); 2] {
    [offer(100, 0, 2), offer(110, 1, 2)]
}

#[test]
fn a_start_within_the_gap() {
    damaged("interpacket gap", &csma_cd(), &waiting(), |rows| {
        let index = first(rows, |event| is_attempt(1, 1)(event));
        moved(rows, index, -20);
    });
}

#[test]
fn a_start_while_carrier_is_heard() {
    damaged("defer", &csma_cd(), &waiting(), |rows| {
        let index = first(rows, |event| is_attempt(1, 1)(event));
        moved(rows, index, -200);
    });
}

#[test]
fn slots_above_the_range() {
    damaged("slots drawn", &csma_cd(), &colliding(), |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Backoff { attempt: 1, .. }));
        event(rows, index).kind = Kind::Backoff { attempt: 1, slots: 2 };
    });
}

#[test]
fn a_jam_that_is_too_short() {
    damaged("jam", &csma_cd(), &colliding(), |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::JamEnd { .. }));
        moved(rows, index, -1);
    });
}

/// Both stations always draw from one number of slots, and collide until the limit.
fn always_colliding() -> Config {
    let mut config = Config { topology: Topology::star(3, 0), ..csma_cd() };
    config.parameters.backoff_limit = 0;
    config
}

#[test]
fn a_17th_attempt() {
    let inputs = [offer(100, 0, 2), offer(100, 1, 2)];
    damaged("attempts", &always_colliding(), &inputs, |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Discarded { .. }));
        event(rows, index).kind = Kind::Backoff { attempt: 16, slots: 0 };
        let mut attempt = *event(rows, index);
        attempt.kind = Kind::Attempt { attempt: 17, excessive_deferral: false, burst: false };
        rows.insert(index + 1, (Entry::Medium(attempt), None));
    });
}

#[test]
fn no_discard_after_the_limit() {
    let inputs = [offer(100, 0, 2), offer(100, 1, 2), offer(200, 0, 2)];
    damaged("end of backoff", &always_colliding(), &inputs, |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Discarded { .. }));
        rows.remove(index);
    });
}

/// At 1000 Mb/s no attempt follows a late collision (802.3, 4.2.8, TransmitLinkMgmt).
#[test]
fn a_late_collision_that_is_retried() {
    let positions = [0, 2060, 2061].map(BitTimes::new).to_vec();
    let config = Config::new(BitRate::MBIT_1000, Topology::Bus { positions }, 7);
    damaged("late collision", &config, &[offer(100, 0, 2), offer(2159, 1, 2)], |rows| {
        let is = |event: &Event| matches!(event.kind, Kind::Discarded { cause: Cause::LateCollision, .. });
        let index = first(rows, is);
        event(rows, index).kind = Kind::Backoff { attempt: 1, slots: 1 };
    });
}

#[test]
fn a_frame_that_is_delivered_twice() {
    damaged("reception", &csma_cd(), &waiting(), |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Delivered { .. }));
        let row = rows[index].clone();
        rows.insert(index + 1, row);
    });
}

#[test]
fn a_frame_that_is_delivered_to_a_station_that_is_off() {
    let off = (50, Input::Deed(Deed::Unplug { station: station(2) }));
    damaged("reception", &csma_cd(), &[off, offer(100, 0, 2)], |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Transmitted { .. }));
        let mut row = *event(rows, index);
        (row.station, row.at, row.kind) =
            (station(2), row.at + BitTimes::new(90), Kind::Delivered { size: Octets::new(64) });
        rows.insert(index + 1, (Entry::Medium(row), None));
    });
}

#[test]
fn a_frame_that_is_received_a_bit_early() {
    damaged("reception", &csma_cd(), &waiting(), |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Delivered { .. }));
        moved(rows, index, -1);
    });
}

#[test]
fn a_frame_that_was_never_sent() {
    damaged("conservation", &csma_cd(), &waiting(), |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Offered { .. }));
        rows.remove(index);
    });
}

/// A station of a duplex mismatch detects no collision.
#[test]
fn a_station_in_full_duplex_that_collides() {
    let mismatch = (50, Input::Deed(Deed::Fault { station: station(0), fault: Some(Fault::FullDuplex) }));
    damaged("full duplex", &csma_cd(), &[mismatch, offer(100, 0, 2), offer(110, 1, 2)], |rows| {
        let index = first(rows, |event| event.station == station(1) && matches!(event.kind, Kind::Collision { .. }));
        let mut row = *event(rows, index);
        (row.station, row.frame.station) = (station(0), station(0));
        rows.insert(index + 1, (Entry::Medium(row), None));
    });
}

#[test]
fn a_frame_before_one_that_came_earlier() {
    let inputs = [offer(100, 0, 2), offer(110, 0, 2), offer(120, 0, 2)];
    damaged("order of the queue", &csma_cd(), &inputs, |rows| {
        let index = first(rows, |event| event.frame.serial == 2 && is_attempt(0, 1)(event));
        event(rows, index).frame.serial = 3;
    });
}

#[test]
fn a_drop_at_a_queue_that_has_room() {
    damaged("admission", &csma_cd(), &[offer(100, 0, 2), offer(110, 0, 2)], |rows| {
        let is_second = |(entry, _): &Told| matches!(entry, Entry::Medium(event) if event.frame.serial == 2);
        let index = first(rows, |event| event.frame.serial == 2);
        let mut row = rows[index].clone();
        rows.retain(|row| !is_second(row));
        rows.insert(index, row.clone());
        if let Entry::Medium(event) = &mut row.0 {
            event.kind = Kind::QueueDrop;
        }
        rows.insert(index + 1, (row.0, None));
    });
}

#[test]
fn a_frame_that_ends_a_bit_early() {
    damaged("duration of a frame", &csma_cd(), &waiting(), |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Transmitted { .. }));
        moved(rows, index, -1);
    });
}

#[test]
fn a_delay_that_is_not_that_of_its_rows() {
    damaged("delays of a frame", &csma_cd(), &waiting(), |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Transmitted { .. }));
        if let Kind::Transmitted { access_delay, .. } = &mut event(rows, index).kind {
            *access_delay += BitTimes::new(1);
        }
    });
}

#[test]
fn a_burst_that_goes_on_after_a_pause() {
    let config = Config::new(BitRate::MBIT_1000, Topology::star(3, 10), 7);
    damaged("burst", &config, &[offer(100, 0, 2), offer(101, 0, 2)], |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Attempt { burst: true, .. }));
        moved(rows, index, 1);
    });
}

#[test]
fn a_collision_with_nothing() {
    damaged("collision detection", &csma_cd(), &waiting(), |rows| {
        let index = first(rows, |event| is_attempt(0, 1)(event));
        let mut row = *event(rows, index);
        row.at = row.at + BitTimes::new(200);
        row.kind = Kind::Collision { attempt: 1, late: false, episode: 1 };
        rows.push((Entry::Medium(row), None));
    });
}
