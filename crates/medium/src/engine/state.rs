//! The shared state of every access method: time, the agenda, the line, counters, and a way to report events.

use crate::agenda::Agenda;
use crate::config::Config;
use crate::event::{Event, Kind, ReceiverKind};
use crate::frame::{FrameId, StationId, TransmissionId};
use crate::inputs::Host;
use crate::line::{Carrier, Line, Transmission};
use crate::noise::Noise;
use crate::outputs::Output;
use crate::tally::Tally;
use crate::time::{BitInstant, BitTimes};
use crate::topology::segments::Place;
use std::collections::VecDeque;

/// The engine without its stations.
#[derive(Debug)]
pub(crate) struct Core {
    pub config: Config,
    pub agenda: Agenda,
    pub line: Line,
    pub cut: Option<Place>,
    pub noise: Noise,
    /// The present instant of the medium.
    pub instant: BitInstant,
    /// No input comes before this instant, nor at it until a run to it is over.
    pub limit: BitInstant,
    pub tally: Tally,
    pub outputs: VecDeque<Output>,
    /// Stations that have finished a frame, and whose hosts have not yet been asked for another.
    pub done: VecDeque<StationId>,
    /// Stations whose frames were rejected in the present slot.
    pub rejected: Vec<StationId>,
    /// Room for one answer of the line, kept to save the allocation.
    pub history: Vec<Carrier>,
    /// Room for the signals of one instant, likewise.
    pub signals: Vec<TransmissionId>,
    /// Room for the receivers of one signal, likewise.
    pub places: Vec<(StationId, TransmissionId)>,
    /// Room for the receivers of several signals, each with its signal, likewise.
    pub heard: Vec<(StationId, usize)>,
    /// Sources of the signals that begin as others end, on a star.
    pub coming: Vec<StationId>,
}

impl Core {
    pub fn new(config: Config, timers: usize) -> Core {
        Core {
            agenda: Agenda::new(timers, config.parameters.slot_time),
            line: Line::new(config.topology.clone(), config.seed, memory(&config), config.capture().cloned()),
            cut: None,
            noise: Noise::new(config.seed, config.topology.stations()),
            instant: BitInstant::ZERO,
            limit: BitInstant::ZERO,
            tally: Tally::new(config.topology.stations(), config.attempt_limit()),
            outputs: VecDeque::new(),
            done: VecDeque::new(),
            rejected: Vec::new(),
            history: Vec::new(),
            signals: Vec::new(),
            places: Vec::new(),
            heard: Vec::new(),
            coming: Vec::new(),
            config,
        }
    }

    /// Reports what the addressee at `place` makes of `frame`, if it would be `kind` without noise.
    #[inline(always)]
    pub fn emit_received<H: Host>(&mut self, place: StationId, frame: FrameId, kind: Kind, host: &mut H) {
        if self.noise.is_on {
            return self.emit_in_noise(place, frame, kind, host);
        }
        self.emit_verdict(place, frame, kind, host);
    }

    #[cold]
    #[inline(never)]
    fn emit_in_noise<H: Host>(&mut self, place: StationId, frame: FrameId, kind: Kind, host: &mut H) {
        if let Some(kind) = self.noise.heard(place, self.instant, kind) {
            self.emit(place, frame, kind, host);
        }
    }

    /// The same for a method that has noise in its verdicts. Each kind has a call of its own: of a kind that is known when this
    /// is compiled, readers of events take only what concerns them.
    #[inline(always)]
    pub fn emit_verdict<H: Host>(&mut self, place: StationId, frame: FrameId, kind: Kind, host: &mut H) {
        match kind.receiver() {
            Some(ReceiverKind::Delivered { size }) => self.emit(place, frame, Kind::Delivered { size }, host),
            Some(ReceiverKind::Fragment { bits }) => self.emit(place, frame, Kind::Fragment { bits }, host),
            Some(ReceiverKind::Damaged { bits }) => self.emit(place, frame, Kind::Damaged { bits }, host),
            Some(ReceiverKind::TooLong { size }) => self.emit(place, frame, Kind::TooLong { size }, host),
            None => self.emit(place, frame, kind, host),
        }
    }

    /// Reports what happened to `frame` at `station`.
    #[inline(always)]
    pub fn emit<H: Host>(&mut self, station: StationId, frame: FrameId, kind: Kind, host: &mut H) {
        let event = Event { at: self.instant, station, frame, kind };
        self.tally.record(&event);
        host.event(&event);
        if matches!(kind, Kind::Transmitted { .. } | Kind::Discarded { .. }) && host.feeds() {
            self.done.push_back(station);
        }
    }

    pub fn give_out(&mut self, output: Output) {
        if self.config.keep_outputs {
            self.outputs.push_back(output);
        }
    }

    /// The medium has finished with the frame.
    pub fn release(&mut self, frame: FrameId) {
        self.give_out(Output::Released { frame });
    }
}

/// How long an ended signal still matters to a station: for a gap, or, with clocks that are off, as long as a gap may run
/// on after the fragment that came in it.
fn memory(config: &Config) -> BitTimes {
    let gap = config.longest_gap();
    if config.has_wrong_clocks() { gap * 2 } else { gap }
}

/// The operations of a method on signals.
impl Core {
    /// Whether `station`, if it sends from now to `end`, is alone in that time, whatever its signal does: no station
    /// listens, and there is no other event.
    #[inline]
    pub fn is_alone_until(&mut self, station: StationId, end: BitInstant) -> bool {
        let nothing_is_due = self.agenda.timers.next() > end && self.agenda.next_signal() > end && end < self.limit;
        nothing_is_due
            && self.done.is_empty()
            && !self.config.keep_outputs
            && self.line.is_clear_for(station, self.instant)
    }

    /// Sends a signal that ends on its own: its end is known as it begins, and each addressee hears it end.
    pub fn send_whole(&mut self, transmission: Transmission) -> TransmissionId {
        self.line.send_whole(self.instant, transmission, &mut self.agenda)
    }
}

/// A method's questions about signals at a place at this instant.
impl Core {
    /// Signals of others are at the place of `station`, ends and begins of this instant included.
    pub fn meets_others(&self, station: StationId) -> bool {
        self.line.signals_of_others(station, self.instant).next().is_some()
    }

    /// `station`, which listens, hears nothing from this instant on.
    pub fn is_silent(&self, station: StationId) -> bool {
        self.line.silent(station, self.instant, &self.coming)
    }
}
