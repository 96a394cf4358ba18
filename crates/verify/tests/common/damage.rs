//! A run whose rows are damaged, their checks made right again.

use super::{Told, found, rows, trace_of, verdict, written};
use medium::{
    BitInstant, BitRate, BitTimes, Config, Destination, Event, Frame, Input, Kind, Method, Octets, StationId, Topology,
};
use sim::files::event_log::Entry;

pub fn station(number: u16) -> StationId {
    StationId::new(number)
}

pub fn offer(at: u64, from: u16, to: u16) -> (u64, Input) {
    let frame = Frame::new(Octets::new(64), Destination::Station(station(to)));
    (at, Input::Offer { station: station(from), frame })
}

pub fn bus(method: Method) -> Config {
    let positions = [0, 40, 90].map(BitTimes::new).to_vec();
    Config { method, ..Config::new(BitRate::MBIT_10, Topology::Bus { positions }, 7) }
}

/// The instant of the place is moved.
pub fn moved(rows: &mut [Told], index: usize, by: i64) {
    if let Entry::Medium(event) = &mut rows[index].0 {
        event.at = BitInstant::new(event.at.get().checked_add_signed(by).expect("within the run"));
    }
}

/// The first event that is like this.
pub fn first(rows: &[Told], is: impl Fn(&Event) -> bool) -> usize {
    let like = |(entry, _): &Told| matches!(entry, Entry::Medium(event) if is(event));
    rows.iter().position(like).expect("such an event")
}

pub fn event(rows: &mut [Told], index: usize) -> &mut Event {
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

/// A run without violations is damaged. In the rows up to the first that shows it, this rule alone finds something.
pub fn damaged(rule: &str, config: &Config, inputs: &[(u64, Input)], change: impl FnOnce(&mut Vec<Told>)) {
    let text = trace_of(config, inputs, 300_000);
    assert_eq!(found(&text), [""; 0], "the run itself");
    let mut rows = rows(&text);
    assert_eq!(found(&written(config, &rows)), [""; 0], "written again");
    let before = rows.clone();
    change(&mut rows);
    sorted(&mut rows);
    let same = rows.iter().zip(&before).take_while(|(row, before)| row == before).count();
    assert!(same < rows.len(), "a damage");
    let up_to = |count: usize| verdict(&written(config, &rows[..count])).violations;
    let shown = (same + 1..=rows.len()).map(up_to).find(|violations| !violations.is_empty());
    let shown = shown.unwrap_or_else(|| panic!("{rule}: nothing is found"));
    assert!(shown.iter().all(|violation| violation.rule.name == rule), "{rule} alone: {shown:#?}");
}

pub fn is_attempt(number: u16, attempt: u32) -> impl Fn(&Event) -> bool {
    move |event| {
        event.station == station(number) && matches!(event.kind, Kind::Attempt { attempt: own, .. } if own == attempt)
    }
}
