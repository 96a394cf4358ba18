//! Traces of the other methods that are damaged, their checks made right again: each damage is found, by the rule it breaks.

mod common;

use common::Told;
use common::damage::{bus, damaged, event, first, is_attempt, moved, offer, station};
use medium::{
    Aloha, BitInstant, BitTimes, Config, Csma, CsmaCa, Deed, Destination, Event, Fault, Frame, Input, Kind, Method,
    Octets, OfdmRate, Phy, Plca, PlcaNode, PlcaSettings, Reach, Tdma, Topology,
};
use sim::files::event_log::Entry;
use std::num::NonZeroU32;

fn colliding() -> [(u64, Input); 2] {
    [offer(100, 0, 2), offer(110, 1, 2)]
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

#[test]
fn a_frame_of_tdma_within_a_slot() {
    let tdma = Tdma::new(Octets::new(64), BitTimes::new(90), 3);
    damaged("slots of the medium", &bus(Method::Tdma(tdma)), &[offer(100, 0, 2)], |rows| {
        let index = first(rows, |event| is_attempt(0, 1)(event));
        moved(rows, index, 1);
    });
}

#[test]
fn a_frame_of_csma_while_another_signal_is_there() {
    let config = bus(Method::Csma(Csma::new(Octets::new(64))));
    damaged("carrier sense", &config, &[offer(100, 0, 2), offer(300, 1, 2)], |rows| {
        let index = first(rows, |event| is_attempt(1, 1)(event));
        event(rows, index).at = BitInstant::new(400);
    });
}

fn dcf(own: CsmaCa, stations: usize) -> Config {
    Config { rate: own.phy.rate(), topology: Topology::star(stations, 0), ..bus(Method::CsmaCa(own)) }
}

fn dsss() -> CsmaCa {
    CsmaCa::new(Phy::Dsss1, Octets::new(64))
}

/// The attempt and the RTS of the station, both by so much.
fn attempt_moved(rows: &mut [Told], number: u16, by: i64) {
    let is = |event: &Event| {
        event.station == station(number) && matches!(event.kind, Kind::Attempt { .. } | Kind::Rts { .. })
    };
    let all: Vec<usize> =
        (0..rows.len()).filter(|&index| matches!(&rows[index].0, Entry::Medium(event) if is(event))).collect();
    all.into_iter().for_each(|index| moved(rows, index, by));
}

/// A station whose slots are known to be some.
fn slots(rows: &[Told], number: u16) -> usize {
    first(rows, |event| event.station == station(number) && matches!(event.kind, Kind::Backoff { slots: 3.., .. }))
}

#[test]
fn a_slot_that_is_not_counted() {
    damaged("count of slots", &dcf(dsss(), 3), &[offer(1000, 0, 2), offer(1400, 1, 2)], |rows| {
        slots(rows, 1);
        attempt_moved(rows, 1, -20);
    });
}

/// The slots of a station are interrupted by the frame of another one, and go on after it.
#[test]
fn slots_that_are_drawn_and_counted_on_after_a_frame() {
    let inputs = [offer(1000, 0, 3), offer(1400, 1, 3), offer(1401, 2, 3)];
    for by in [-20, 20] {
        damaged("count of slots", &dcf(dsss(), 4), &inputs, |rows| {
            let order = [1, 2].map(|number| first(rows, |event| is_attempt(number, 1)(event)));
            let last = if order[0] > order[1] { 1 } else { 2 };
            slots(rows, last);
            attempt_moved(rows, last, by);
        });
    }
}

/// What is left of the slots after a frame may not be more than the window, with those that were counted.
#[test]
fn slots_after_a_frame_that_become_more() {
    let config = dcf(dsss(), 3);
    let rest = |event: &Event| event.frame.serial == 2 && matches!(event.kind, Kind::Backoff { attempt: 0, .. });
    damaged("count of slots", &config, &[offer(1000, 0, 2), offer(2160, 0, 2)], |rows| {
        let index = first(rows, rest);
        assert!(matches!(event(rows, index).kind, Kind::Backoff { slots: ..31, .. }), "slots have passed");
        event(rows, index).kind = Kind::Backoff { attempt: 0, slots: 31 };
    });
}

/// The ack_timeout of a station that has sent to itself: nothing answers, seven times.
fn unanswered() -> [(u64, Input); 1] {
    [offer(1000, 0, 0)]
}

#[test]
fn a_draw_above_the_window() {
    damaged("contention window", &dcf(dsss(), 3), &unanswered(), |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Backoff { attempt: 1, .. }));
        event(rows, index).kind = Kind::Backoff { attempt: 1, slots: 64 };
    });
}

#[test]
fn an_8th_attempt_of_dcf() {
    damaged("retry limits", &dcf(dsss(), 3), &unanswered(), |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Discarded { .. }));
        event(rows, index).kind = Kind::Backoff { attempt: 7, slots: 0 };
    });
}

#[test]
fn a_failure_before_the_timeout() {
    damaged("answer", &dcf(dsss(), 3), &unanswered(), |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Backoff { attempt: 1, .. }));
        moved(rows, index, -1);
    });
}

#[test]
fn an_acknowledgement_that_is_missing() {
    damaged("answer", &dcf(dsss(), 3), &[offer(1000, 0, 2)], |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Ack));
        rows.remove(index);
    });
}

#[test]
fn an_acknowledgement_that_comes_late() {
    damaged("SIFS", &dcf(dsss(), 3), &[offer(1000, 0, 2)], |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Ack));
        moved(rows, index, 1);
    });
}

/// A station that hears two frames meet waits for EIFS, not for DIFS.
#[test]
fn a_gap_after_a_spoilt_signal_that_is_shorter_than_eifs() {
    let inputs = [offer(1000, 0, 3), offer(1000, 1, 3), offer(1100, 2, 3)];
    damaged("EIFS", &dcf(dsss(), 4), &inputs, |rows| {
        let index = first(rows, |event| is_attempt(2, 1)(event));
        event(rows, index).at = BitInstant::new(1000 + 192 + 224 + 8 * 46 + 100);
    });
}

/// The third station hears the CTS, and not the frame that follows.
fn hidden() -> Config {
    let reach = Reach { range: 1, positions: vec![0, 1, 2] };
    dcf(CsmaCa { rts: true, reach: Some(reach), ..dsss() }, 3)
}

#[test]
fn a_frame_within_the_reservation_of_another() {
    damaged("NAV", &hidden(), &[offer(1000, 0, 1), offer(1700, 2, 1)], |rows| {
        let cts = first(rows, |event| matches!(event.kind, Kind::Cts { .. }));
        let own = first(rows, is_attempt(2, 1));
        let by = event(rows, cts).at.get() as i64 + 304 + 100 - event(rows, own).at.get() as i64;
        attempt_moved(rows, 2, by);
    });
}

#[test]
fn a_reservation_that_is_too_long() {
    damaged("NAV", &hidden(), &[offer(1000, 0, 1)], |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Cts { .. }));
        if let Kind::Cts { reserves } = &mut event(rows, index).kind {
            *reserves += BitTimes::new(1);
        }
    });
}

/// A station without carrier sense does not hear its own acknowledgement, and ends it all the same.
#[test]
fn a_frame_that_begins_within_an_acknowledgement() {
    let own = CsmaCa::new(Phy::Ofdm(OfdmRate::Mbps6), Octets::new(64));
    let deaf = (2500, Input::Deed(Deed::Fault { station: station(1), fault: Some(Fault::Deaf) }));
    damaged("one frame at a time", &dcf(own, 3), &[offer(2196, 0, 1), deaf, offer(2950, 1, 2)], |rows| {
        let ack = first(rows, |event| matches!(event.kind, Kind::Ack));
        let at = event(rows, ack).at;
        let index = first(rows, |event| is_attempt(1, 1)(event));
        event(rows, index).at = at + BitTimes::new(10);
    });
}

fn plca(cold_start: bool) -> Config {
    let nodes = (0..5).map(|id| PlcaNode::new(PlcaSettings { to_timer: 77, ..PlcaSettings::new(id, 5) })).collect();
    let plca = Plca { cold_start, ..Plca::new(nodes) };
    Config { topology: Topology::star(5, 1), ..bus(Method::Plca(plca)) }
}

#[test]
fn a_cycle_that_is_longer_than_its_beacon_tells() {
    damaged("BEACON", &plca(false), &[offer(1000, 1, 2), offer(20_000, 2, 0)], |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Beacon { empty: 1.., .. }));
        if let Kind::Beacon { length, .. } = &mut event(rows, index).kind {
            *length += BitTimes::new(1);
        }
    });
}

#[test]
fn a_turn_that_begins_a_bit_late() {
    damaged("turn", &plca(false), &[offer(1000, 1, 2)], |rows| {
        let index = first(rows, |event| matches!(event.kind, Kind::Commit { .. }));
        moved(rows, index, 1);
    });
}

/// Seed 13 of the random runs: after a cold start a frame begins within a BEACON, so the coordinator counts a turn more than
/// its followers, and its next BEACON meets a COMMIT. Nodes are in step again later, and turns are held then.
#[test]
fn a_turn_out_of_order_after_nodes_were_out_of_step() {
    let nobody = |at, from| {
        let frame = Frame::new(Octets::new(64), Destination::Nobody);
        (at, Input::Offer { station: station(from), frame })
    };
    let first_three = [nobody(76, 2), nobody(76, 4), nobody(78, 1)];
    let config = Config { seed: 6_944_727_653_143_552_756, ..plca(true) };
    let inputs: Vec<_> = first_three.into_iter().chain([offer(20_000, 1, 2), offer(20_001, 3, 2)]).collect();
    damaged("turn", &config, &inputs, |rows| {
        let meets = |event: &Event| matches!(event.kind, Kind::Collision { episode: 4, .. });
        first(rows, meets);
        let late = |event: &Event| event.at > BitInstant::new(20_000) && matches!(event.kind, Kind::Commit { id: 1 });
        let index = first(rows, late);
        event(rows, index).kind = Kind::Commit { id: 2 };
    });
}

#[test]
fn every_rule_has_a_damage() {
    let tests = [include_str!("damage.rs"), include_str!("damage_of_methods.rs")].concat();
    // Bridges have a file of their own.
    let missing: Vec<&str> = verify::RULES
        .iter()
        .map(|rule| rule.name)
        .filter(|name| *name != "forwarding" && !tests.contains(&format!("damaged(\"{name}\"")))
        .collect();
    assert_eq!(missing, [""; 0], "rules without a test");
}
