//! One pass over the rows of a trace.

use crate::bus::Bus;
use crate::queue::Sent;
use crate::violation::Violation;
use medium::{Config, Destination, Event, HostKind, Kind, MacKind, Method, Part, WirelessKind};
use sim::files::event_log::{Entry, EventLogReader, Given, Row};
use sim::files::json_lines::ReadError;
use std::io::BufRead;

/// Violations of one rule at one station that are kept: what follows from the first ones says nothing new.
const MOST_FOUND: usize = 10_000;

/// Takes the rows of a trace one after the other.
#[derive(Debug)]
pub struct Verifier {
    bus: Bus,
    events: u64,
}

/// What a trace was found to be.
#[derive(Debug)]
pub struct Verdict {
    /// Everything that rules do not allow, in order of time.
    pub violations: Vec<Violation>,
    /// The number of events of the medium.
    pub events: u64,
    /// Why the trace is not whole, if it is not.
    pub not_whole: Option<String>,
}

/// Reads a trace to its end, and tells each event, and whom an offered frame is for.
///
/// # Errors
/// A trace that cannot be read, or has no events.
pub fn verify<R: BufRead>(
    trace: &mut EventLogReader<R>,
    mut tell: impl FnMut(&Event, Option<Destination>),
) -> Result<Verdict, ReadError> {
    trace.needs_events("ethbus-verify")?;
    let mut verifier = Verifier::new(trace.header().configuration.config());
    while let Some(row) = trace.next_row()? {
        match row {
            Row::Entry(entry) => {
                if let Entry::Medium(event) = &entry {
                    tell(event, trace.offered().map(|(to, _)| to));
                }
                verifier.take(&entry, trace.offered());
            }
            Row::Given(Given::End { end, .. }) => verifier.bus.settle(end.t),
            Row::Given(_) => {}
        }
        if verifier.bus.found.len() >= MOST_FOUND {
            break;
        }
    }
    let not_whole = if verifier.bus.found.len() >= MOST_FOUND { None } else { trace.not_whole() };
    Ok(Verdict { events: verifier.events, not_whole, violations: verifier.finish() })
}

impl Verifier {
    /// Nothing has happened yet on a medium made from `config`.
    pub fn new(config: &Config) -> Verifier {
        Verifier { bus: Bus::new(config), events: 0 }
    }

    /// Takes one more row; `offered`: whom the frame is for, and whether it carries a VLAN tag, if it is an `offered`.
    pub fn take(&mut self, entry: &Entry, offered: Option<(Destination, bool)>) {
        match entry {
            Entry::Medium(event) => {
                self.events += 1;
                self.event(event, offered);
            }
            Entry::Deed { at, deed } => {
                self.bus.settle(at.get());
                self.bus.now = at.get();
                self.bus.deed(deed);
            }
            Entry::Emulator(_) => {}
        }
    }

    /// Everything that was found.
    pub fn finish(mut self) -> Vec<Violation> {
        self.bus.settle_last();
        self.bus.have_left(u64::MAX);
        self.bus.hear_all();
        self.bus.found.sort_by_key(|violation| violation.at);
        self.bus.found
    }

    fn event(&mut self, event: &Event, offered: Option<(Destination, bool)>) {
        let bus = &mut self.bus;
        bus.settle(event.at.get());
        if bus.now < event.at.get() {
            bus.now = event.at.get();
            bus.have_left(event.at.get());
        }
        bus.forget();
        match event.kind.part() {
            Part::Host(HostKind::Offered { size }) => {
                bus.offered(event.frame, size, offered);
                bus.comes_first(event.frame);
            }
            Part::Host(HostKind::QueueDrop) => bus.queue_drop(event.frame),
            Part::Mac(kind) => self.mac(event, kind),
            Part::Receiver(_) => self.reception(event),
            Part::Wireless(WirelessKind::Duplicate { .. }) => self.reception(event),
            Part::Wireless(kind) => bus.wireless(event.station.index(), event.frame, kind),
            Part::Plca(kind) => bus.plca(event.station.index(), event.frame, kind),
        }
    }

    fn mac(&mut self, event: &Event, kind: MacKind) {
        let (bus, frame) = (&mut self.bus, event.frame);
        match bus.config.method {
            Method::CsmaCd | Method::Plca(_) => bus.csma_cd(frame, kind),
            Method::CsmaCa(_) => bus.dcf(frame, kind),
            Method::SlottedAloha(_) | Method::Tdma(_) | Method::Aloha(_) | Method::Csma(_) => bus.contends(frame, kind),
        }
        match kind {
            MacKind::Transmitted { size, attempts, access_delay, mac_delay, .. } => {
                bus.transmitted(frame, &Sent { size, attempts, access_delay, mac_delay });
            }
            MacKind::Discarded { cause, attempts } => bus.discarded(frame, cause, attempts),
            _ => {}
        }
    }

    fn reception(&mut self, event: &Event) {
        let (bus, place) = (&mut self.bus, event.station.index());
        match bus.config.method {
            Method::Plca(_) => bus.plca_reception(place, event.frame, matches!(event.kind, Kind::Delivered { .. })),
            Method::CsmaCa(_) => {
                bus.receive(place, event.frame, event.kind);
                bus.owes_ack(place, event.frame, event.kind);
            }
            _ => bus.receive(place, event.frame, event.kind),
        }
    }
}
