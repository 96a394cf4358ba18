//! Traces that are damaged in sixteen ways, their checks made right again: each damage is found, by the rule it breaks.

mod common;

use common::{Told, found, rows, trace_of, verdict, written};
use medium::{
    Aloha, BitInstant, BitRate, BitTimes, Cause, Config, CsmaCa, Deed, Destination, Event, Fault, Frame, Input, Kind,
    Method, Octets, Phy, Plca, PlcaNode, PlcaSettings, StationId, Tdma, Topology,
};
use sim::files::event_log::Entry;
use std::num::NonZeroU32;

fn station(number: u16) -> StationId {
    StationId::new(number)
}

fn offer(at: u64, from: u16, to: u16) -> (u64, Input) {
    let frame = Frame::new(Octets::new(64), Destination::Station(station(to)));
    (at, Input::Offer { station: station(from), frame })
}

fn bus(method: Method) -> Config {
    let positions = [0, 40, 90].map(BitTimes::new).to_vec();
    Config { method, ..Config::new(BitRate::MBIT_10, Topology::Bus { positions }, 7) }
}

fn csma_cd() -> Config {
    bus(Method::CsmaCd)
}

/// The instant of the place is moved.
fn moved(rows: &mut [Told], index: usize, by: i64) {
    if let Entry::Medium(event) = &mut rows[index].0 {
        event.at = BitInstant::new(event.at.get().checked_add_signed(by).expect("within the run"));
    }
}

/// The first event that is like this.
fn first(rows: &[Told], is: impl Fn(&Event) -> bool) -> usize {
    let like = |(entry, _): &Told| matches!(entry, Entry::Medium(event) if is(event));
    rows.iter().position(like).expect("such an event")
}

fn event(rows: &mut [Told], index: usize) -> &mut Event {
    match &mut rows[index].0 {
        Entry::Medium(event) => event,
        other => panic!("{other:?}"),
    }
}

/// Rows in order of their instants again.
fn sorted(rows: &mut [Told]) {
    rows.sort_by_key(|(entry, _)| match entry {
        Entry::Medium(event) => event.at,
        Entry::Deed { at, .. } => *at,
        Entry::Emulator(_) => panic!("a run in virtual time"),
    });
}

/// A run without violations is damaged, and what is found then is the first thing of this rule.
fn damaged(rule: &str, config: &Config, inputs: &[(u64, Input)], change: impl FnOnce(&mut Vec<Told>)) {
    let text = trace_of(config, inputs, 300_000);
    assert_eq!(found(&text), [""; 0], "the run itself");
    let mut rows = rows(&text);
    assert_eq!(found(&written(config, &rows)), [""; 0], "written again");
    let before = rows.clone();
    change(&mut rows);
    assert_ne!(rows, before, "a damage");
    sorted(&mut rows);
    let verdict = verdict(&written(config, &rows));
    let is_found = verdict.violations.iter().any(|violation| violation.rule.name == rule);
    assert!(is_found, "{rule}: {:#?}", verdict.violations);
}

fn is_attempt(number: u16, attempt: u32) -> impl Fn(&Event) -> bool {
    move |event| {
        event.station == station(number) && matches!(event.kind, Kind::Attempt { attempt: own, .. } if own == attempt)
    }
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
    damaged("order of the queue", &always_colliding(), &inputs, |rows| {
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
fn a_node_of_plca_out_of_its_turn() {
    let nodes = (0..3).map(|id| PlcaNode::new(PlcaSettings::new(id, 3))).collect();
    let config = Config { topology: Topology::star(3, 2), ..bus(Method::Plca(Plca::new(nodes))) };
    damaged("turn", &config, &[offer(1000, 1, 2), offer(1000, 2, 0)], |rows| {
        let index = first(rows, |event| event.station == station(1) && matches!(event.kind, Kind::Commit { .. }));
        event(rows, index).kind = Kind::Commit { id: 2 };
    });
}

#[test]
fn a_frame_of_tdma_in_the_slot_of_another() {
    let tdma = Tdma::new(Octets::new(64), BitTimes::new(90), 3);
    let slot = tdma.slot.get() as i64;
    damaged("owner of the slot", &bus(Method::Tdma(tdma)), &[offer(100, 0, 2)], |rows| {
        let index = first(rows, |event| is_attempt(0, 1)(event));
        moved(rows, index, -slot);
    });
}

#[test]
fn a_gap_that_is_shorter_than_difs() {
    let own = CsmaCa::new(Phy::Dsss1, Octets::new(64));
    let config = Config { rate: Phy::Dsss1.rate(), topology: Topology::star(3, 0), ..bus(Method::CsmaCa(own)) };
    damaged("DIFS", &config, &[offer(1000, 0, 2), offer(1400, 1, 2)], |rows| {
        let index = first(rows, |event| is_attempt(1, 1)(event));
        let ack = first(rows, |event| matches!(event.kind, Kind::Ack));
        let end = event(rows, ack).at.get() + 304;
        event(rows, index).at = BitInstant::new(end + 30);
    });
}

#[test]
fn a_frame_of_aloha_before_its_wait_is_over() {
    let own = Aloha { attempt_limit: NonZeroU32::new(9), ..Aloha::new(Octets::new(64)) };
    damaged("end of backoff", &bus(Method::Aloha(own)), &colliding(), |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Attempt { attempt: 2, .. }));
        moved(rows, index, -1);
    });
}
