//! Bridges between buses (802.1Q, 8.6): a port gives what other ports have received, the bridge's latency before.
//!
//! ```text
//!   bus front  ══ a frame ends at port sw: t ══════════════════════════
//!   bus rear   ═══════════════════════════ port sw gives its copy: t + latency ══
//! ```
//! Traces do not tell latencies: it is one for all frames of a bridge. Nor do they tell how long a station stays learned
//! (8.8.3): one time must explain which frames were flooded. Of frames for stations that are on none of its buses it knows no
//! addressee.

use crate::violation::{FORWARDING, Violation};
use medium::{Destination, Event, FrameId, HostKind, MacKind, Part, ReceiverKind, StationId};
use sim::files::event_log::Header;
use std::collections::HashMap;

const NANOS: u128 = 1_000_000_000;
const UNHEARD: &str = "is given, and no other port has received it the bridge's latency before";

/// A frame that a port has received, or was given.
#[derive(Debug)]
struct Passed {
    at: u64,
    size: u32,
    frame: FrameId,
    to: Option<Destination>,
}

impl Passed {
    fn is_for_all(&self) -> bool {
        self.to == Some(Destination::All)
    }
}

/// What happened at the ports of one bus.
#[derive(Debug, Default)]
pub struct Ports {
    rate: u128,
    names: Vec<String>,
    first: usize,
    to: HashMap<FrameId, Option<Destination>>,
    /// By port: what it received, and what it was given.
    received: Vec<Vec<Passed>>,
    given: Vec<Vec<Passed>>,
    until: u64,
}

impl Ports {
    /// Of the bus of a trace that begins with `header`.
    pub fn new(header: &Header) -> Ports {
        let config = header.configuration.config();
        let first = config.topology.stations() - config.ports.len();
        let lists = || config.ports.iter().map(|_| Vec::new()).collect();
        Ports {
            rate: config.rate.get().into(),
            names: header.stations.iter().skip(first).cloned().collect(),
            first,
            received: lists(),
            given: lists(),
            ..Ports::default()
        }
    }

    /// Takes one more event; `to`: whom an offered frame is for.
    pub fn take(&mut self, event: &Event, to: Option<Destination>) {
        let (at, frame, own) = (event.at.get(), event.frame, event.station.index().checked_sub(self.first));
        self.until = at;
        match event.kind.part() {
            _ if self.given.is_empty() => {}
            Part::Host(HostKind::Offered { size }) => {
                _ = self.to.insert(frame, to);
                let given = own.and_then(|port| self.given.get_mut(port));
                given.into_iter().for_each(|given| given.push(Passed { at, size: size.get(), frame, to }));
            }
            Part::Receiver(ReceiverKind::Delivered { size }) => {
                let to = self.to.get(&frame).copied().flatten();
                let received = own.and_then(|port| self.received.get_mut(port));
                received.into_iter().for_each(|received| received.push(Passed { at, size: size.get(), frame, to }));
            }
            Part::Mac(MacKind::Discarded { .. }) | Part::Host(HostKind::QueueDrop) => _ = self.to.remove(&frame),
            _ => {}
        }
    }

    /// The station of this bus that a frame is for, if it is for one.
    fn whom(&self, passed: &Passed) -> Option<StationId> {
        let Some(Destination::Station(station)) = passed.to else { return None };
        (station.index() < self.first).then_some(station)
    }

    /// The first nanosecond of its bit time at which the rest of a run knows of an event.
    fn nanos(&self, at: u64) -> u128 {
        (u128::from(at) * NANOS).div_ceil(self.rate)
    }

    /// Which latencies, above the first and up to the second, lead from `from` to a bit instant of this bus.
    fn span(&self, from: u128, at: u64) -> (i128, i128) {
        let until = |at: u128| (at * NANOS / self.rate) as i128 - from as i128;
        (u128::from(at).checked_sub(1).map_or(-1, until), until(at.into()))
    }
}

/// A port of a bridge: its bus, and its number there.
type Port = (usize, usize);

/// Holds each bridge against all its ports: violations by bus.
pub fn bridges(buses: &[Ports]) -> Vec<(usize, Violation)> {
    let mut bridges: HashMap<&str, Vec<Port>> = HashMap::new();
    for (bus, ports) in buses.iter().enumerate() {
        ports.names.iter().enumerate().for_each(|(port, name)| bridges.entry(name).or_default().push((bus, port)));
    }
    let all = bridges.len();
    let mut found: Vec<_> = bridges.values().flat_map(|ports| of_bridge(buses, ports, all == 1)).collect();
    found.sort_by_key(|(bus, violation)| (*bus, violation.at));
    found
}

/// `alone`: no other bridge is there, so a frame for a station beyond goes through this one.
fn of_bridge(buses: &[Ports], ports: &[Port], alone: bool) -> Vec<(usize, Violation)> {
    let mut received: Vec<(u128, Port, &Passed)> = Vec::new();
    for &(bus, port) in ports {
        received.extend(buses[bus].received[port].iter().map(|it| (buses[bus].nanos(it.at), (bus, port), it)));
    }
    received.sort_by_key(|(at, port, _)| (*at, *port));
    let given =
        |&(bus, port): &Port| buses[bus].given[port].first().map(|it| (buses[bus].nanos(it.at), (bus, port), it));
    let Some((first_at, (bus, port), first)) = ports.iter().filter_map(given).min_by_key(|(at, ..)| *at) else {
        return Vec::new();
    };
    let could_be =
        |(at, from, it): &&(u128, Port, &Passed)| *at <= first_at && *from != (bus, port) && it.size == first.size;
    // The shortest ones are the likeliest.
    let latencies = received.iter().rev().filter(could_be).take(64).map(|(at, ..)| buses[bus].span(*at, first.at));
    let with = |latency| held(buses, ports, &received, latency, alone);
    let fewest = latencies.map(with).min_by_key(Vec::len);
    fewest.unwrap_or_else(|| vec![(bus, violation(buses, (bus, port), first, UNHEARD))])
}

fn violation(buses: &[Ports], (bus, port): Port, passed: &Passed, text: &str) -> Violation {
    let station = StationId::new((buses[bus].first + port) as u16);
    Violation { at: passed.at, rule: &FORWARDING, station, text: format!("{} {text}", passed.frame) }
}

/// What is found with one of these latencies.
fn held(
    buses: &[Ports],
    ports: &[Port],
    received: &[(u128, Port, &Passed)],
    (mut above, mut up_to): (i128, i128),
    alone: bool,
) -> Vec<(usize, Violation)> {
    let (mut found, mut fates) = (Vec::new(), vec![Fate::default(); received.len()]);
    for &port in ports {
        let bus = &buses[port.0];
        let mut next = 0;
        for given in &bus.given[port.1] {
            let matching = (next..received.len()).find_map(|index| {
                let (at, from, it) = &received[index];
                let (low, high) = bus.span(*at, given.at);
                let fits = low < up_to && above < high && it.is_for_all() == given.is_for_all();
                (high <= above || (fits && *from != port && it.size == given.size)).then_some((index, fits, low, high))
            });
            match matching.filter(|(_, fits, ..)| *fits) {
                Some((index, _, low, high)) => {
                    (above, up_to, next) = (above.max(low), up_to.min(high), index + 1);
                    fates[index].copies += 1;
                    fates[index].whom = fates[index].whom.or(bus.whom(given).map(|station| (port.0, station)));
                }
                None => found.push((port.0, violation(buses, port, given, UNHEARD))),
            }
        }
    }
    let mut learned = Learned::default();
    let width = ports.iter().map(|(bus, _)| NANOS.div_ceil(buses[*bus].rate)).max().unwrap_or_default();
    for (index, (&(at, from, it), fate)) in received.iter().zip(fates).enumerate() {
        // Of two frames that other ports receive in the same bit time of a bus, any may be the one that is given there.
        let is_near = |(other, ..): &&(u128, Port, &Passed)| other.abs_diff(at) <= width;
        let near = received[..index].iter().rev().take_while(is_near);
        let mut near = near.chain(received[index + 1..].iter().take_while(is_near));
        let is_one_of_two = near.any(|(_, other, its)| *other != from && its.size == it.size);
        learned.stations.insert((from.0, it.frame.station), at);
        let ends = |(bus, _): &Port| buses[*bus].nanos(buses[*bus].until) as i128 <= at as i128 + up_to;
        if ports.iter().any(ends) || (is_one_of_two && !it.is_for_all()) {
            continue;
        }
        let others = ports.len() - 1;
        let whom = buses[from.0].whom(it).map(|station| (from.0, station)).or(fate.whom);
        let wrong = |text: String| (from.0, violation(buses, from, it, &text));
        let copies = fate.copies;
        match it.to {
            _ if let Some(whom) = whom => learned.hold(at, whom, (from.0, copies, others), wrong, &mut found),
            Some(Destination::All) if copies < others => found.push(wrong(beyond(copies))),
            Some(Destination::Nobody | Destination::Beyond(_)) if alone && copies == 0 => {
                found.push(wrong(beyond(copies)));
            }
            _ => {}
        }
    }
    found.extend(learned.of_no_age());
    found
}

fn beyond(copies: usize) -> String {
    format!("is for stations beyond, and goes to {copies} of the other ports")
}

/// What a bridge did with a frame that it received.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    copies: usize,
    /// Bus and number of the station that a copy is for.
    whom: Option<(usize, StationId)>,
}

type Found = (usize, Violation);

/// What a bridge has learned (802.1Q, 8.7), and what it did with frames for learned stations.
#[derive(Debug, Default)]
struct Learned {
    /// When each was last heard, in nanoseconds.
    stations: HashMap<(usize, StationId), u128>,
    /// Frames that went to their station's port alone, and those that went to all others, each with the time since their
    /// station was heard, and what is wrong if it was forgotten or was not.
    alone: Vec<(u128, Found)>,
    flooded: Vec<(u128, Found)>,
}

impl Learned {
    /// Holds a frame for one station, of which `copies` went to the `others`.
    fn hold(
        &mut self,
        at: u128,
        whom: (usize, StationId),
        (from, copies, others): (usize, usize, usize),
        wrong: impl Fn(String) -> Found,
        found: &mut Vec<Found>,
    ) {
        let own = usize::from(whom.0 != from);
        let goes = format!("goes to {copies} of the {others} other ports");
        match self.stations.get(&whom) {
            None if copies == others => {}
            None => found.push(wrong(format!("is for a station that was not heard, and {goes}"))),
            Some(_) if own == others && copies == own => {}
            Some(heard) if copies == own => {
                self.alone.push((at - heard, wrong(format!("is for a station that is forgotten, and {goes}"))));
            }
            Some(heard) if copies == others => {
                self.flooded.push((at - heard, wrong(format!("is for a station that is learned, and {goes}"))));
            }
            Some(_) => found.push(wrong(format!("is for a station that is learned, and {goes}"))),
        }
    }

    /// The fewest that no time explains after which stations are forgotten.
    fn of_no_age(self) -> Vec<Found> {
        let longest = self.alone.iter().map(|(since, _)| *since).max();
        let shortest = self.flooded.iter().map(|(since, _)| *since).min();
        let Some((longest, shortest)) = longest.zip(shortest) else { return Vec::new() };
        let early: Vec<Found> =
            self.flooded.into_iter().filter(|(since, _)| *since <= longest).map(|(_, wrong)| wrong).collect();
        let late: Vec<Found> =
            self.alone.into_iter().filter(|(since, _)| *since >= shortest).map(|(_, wrong)| wrong).collect();
        if early.len() <= late.len() { early } else { late }
    }
}
