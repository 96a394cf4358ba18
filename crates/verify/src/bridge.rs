//! Bridges between buses (802.1Q, 8.6): a port gives what other ports have received, the bridge's latency before.
//!
//! ```text
//!   bus front  ══ a frame ends at port sw: t ══════════════════════════
//!   bus rear   ═══════════════════════════ port sw gives its copy: t + latency ══
//! ```
//! Traces do not tell latencies: it is one for all frames of a bridge. It knows no bus beyond its rows at ports.

use crate::violation::{FORWARDING, Violation};
use medium::{Destination, Event, FrameId, HostKind, MacKind, Part, ReceiverKind};
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
    let station = medium::StationId::new((buses[bus].first + port) as u16);
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
    let (mut found, mut forwarded) = (Vec::new(), vec![0; received.len()]);
    for &port in ports {
        let bus = &buses[port.0];
        let mut next = 0;
        for given in &bus.given[port.1] {
            let matching = (next..received.len()).find_map(|index| {
                let (at, from, it) = &received[index];
                let (low, high) = bus.span(*at, given.at);
                let fits = low < up_to && above < high;
                (high <= above || (fits && *from != port && it.size == given.size)).then_some((index, fits, low, high))
            });
            match matching.filter(|(_, fits, ..)| *fits) {
                Some((index, _, low, high)) => {
                    (above, up_to, next) = (above.max(low), up_to.min(high), index + 1);
                    forwarded[index] += 1;
                }
                None => found.push((port.0, violation(buses, port, given, UNHEARD))),
            }
        }
    }
    for ((at, from, it), count) in received.iter().zip(forwarded) {
        let ends = |(bus, _): &Port| buses[*bus].nanos(buses[*bus].until) as i128 <= *at as i128 + up_to;
        let wanted = match it.to {
            _ if ports.iter().any(ends) => 0,
            Some(Destination::All) => ports.len() - 1,
            Some(Destination::Nobody | Destination::Beyond(_)) if alone => 1,
            _ => 0,
        };
        if count < wanted {
            let text = format!("is for stations beyond, and goes to {count} of the other ports");
            found.push((from.0, violation(buses, *from, it, &text)));
        }
    }
    found
}
