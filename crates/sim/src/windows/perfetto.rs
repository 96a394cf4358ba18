//! A run as a timeline for Perfetto (ui.perfetto.dev): its TrackEvent format, written by hand.
//!
//! ```text
//!   st1   frames     |== st1#1 ==============|== st1#2 ====        from the head of the queue until the MAC is done
//!         transmit   |defer|attempt|jam| backoff |attempt|         what the transmit machine does
//!         received            . . .                                what the station heard as an addressee
//!         queue      1 2 1                                         counter
//!         signals    |RTS|   |== frame ==|   |ACK|                 what it sends, where that is not what `transmit` has
//! ```
//! Flows lead from the end of an attempt to those who received the frame, and through the attempts that met in one
//! collision. Tracks have this order: the bus, its counters, the stations.

mod fields;
mod labels;
mod tracks;

use super::frames::Frames;
use super::{Known, Nanos, Window};
use crate::files::beside::{Batch, take_each};
use crate::files::event_log::{EmulatorEvent, EmulatorKind, Names, write_emulator};
use crate::files::json_lines::{LineWriter, WriteError};
use crate::files::observer::{End, Observer};
use crate::files::repeated::Repeated;
use crate::scene::{Signal, Signals, Stations};
use fields::{
    Head, annotate, annotate_number, arguments, begin_event, fixed, number, octets, real, text, whole_packets,
};
use labels::Labels;
use medium::{
    BitInstant, BitRate, Config, Deed, Destination, Event, FrameId, Input, Kind, Method, Octets, PREAMBLE_AND_SFD,
    Population, StationId,
};
use std::collections::VecDeque;
use std::fs::File;
use std::iter::empty;
use std::sync::Arc;
use tracks::{BUS, COLLISIONS, Track, UTILIZATION, track};

/// How many counters of utilisation there are in a second.
const SAMPLES: u64 = 100;
/// Of all packets: one writer.
const SEQUENCE: u64 = 1;

/// What a TrackEvent is (`TrackEvent.Type`).
#[derive(Clone, Copy)]
enum Type {
    Begin = 1,
    End = 2,
    Instant = 3,
    Counter = 4,
}

/// Writes a trace for Perfetto.
#[derive(Debug)]
pub struct Perfetto {
    output: LineWriter,
    config: Config,
    nanos: Nanos,
    /// How many stations have tracks: one that joins gets its own then.
    described: usize,
    names: Names,
    /// Each station's latest frame.
    labels: Labels,
    /// The latest instant, and its annotation.
    instant: (BitInstant, Vec<u8>),
    /// Fields of events as arguments.
    arguments: Repeated,
    /// Room for a TrackEvent.
    event: Vec<u8>,
    /// When the latest packet is, in nanoseconds, and how packets of that time begin.
    head: (u64, Head),
    frames: Frames,
    stations: Stations,
    /// Stations whose transmit machine has a slice open.
    acts: Vec<bool>,
    /// What is on the medium, where that is more than what the transmit machines do.
    signals: Option<Signals>,
    /// Signals that have not been written, and the number of the next one.
    unwritten: VecDeque<u64>,
    next_signal: u64,
    /// Bits of frames that got through since the last counter, and when the next is due.
    sent: u64,
    sample_due: u64,
    /// Collisions so far.
    collisions: u64,
}

impl Perfetto {
    /// Writes the trace's beginning to a file that the caller opened at `place`.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed.
    pub fn new(file: File, place: String, known: &Known) -> Result<Perfetto, WriteError> {
        let config = known.header.config();
        let mut perfetto = Perfetto {
            output: LineWriter::of(file, place, "packets", whole_packets),
            nanos: Nanos::new(config.rate),
            described: known.header.stations.len(),
            names: Names::new(&known.header.seats()),
            labels: Labels::new(known.macs.len()),
            instant: (BitInstant::new(u64::MAX), Vec::new()),
            arguments: Repeated::new(),
            event: Vec::new(),
            head: (0, Head::new(0, SEQUENCE)),
            frames: Frames::new(&known.header.seats(), &known.macs),
            stations: Stations::new(known.macs.len()),
            acts: vec![false; known.macs.len()],
            signals: has_signals(&config).then(|| Signals::new(Arc::new(config.clone()), 0)),
            unwritten: VecDeque::new(),
            next_signal: 0,
            sent: 0,
            sample_due: sample(config.rate),
            collisions: 0,
            config,
        };
        let has_signals = perfetto.signals.is_some();
        tracks::describe(&mut perfetto.output, &known.header.stations, has_signals)?;
        perfetto.output.flush()?;
        Ok(perfetto)
    }

    /// An event on a track; `rest` appends more of it.
    #[inline]
    fn put(&mut self, at: u64, kind: Type, track: u64, rest: impl FnOnce(&mut Vec<u8>)) -> Result<(), WriteError> {
        self.begin(kind, track);
        rest(&mut self.event);
        self.send(at)
    }

    /// Begins an event: the content of a message comes after its length, so it is made first.
    #[inline]
    fn begin(&mut self, kind: Type, track: u64) {
        self.event.clear();
        begin_event(&mut self.event, kind as u8, track);
    }

    /// Writes the event that was begun.
    fn send(&mut self, at: u64) -> Result<(), WriteError> {
        if self.head.0 != at {
            self.head = (at, Head::new(at, SEQUENCE));
        }
        let (head, own) = (&self.head.1, &self.event);
        self.output.unit(|into| {
            head.begin_packet(into, own.len());
            into.extend_from_slice(own);
        })
    }

    /// Begins a slice, or marks an instant, with the numbers of an event as arguments; without a name it has the frame's.
    fn mark(&mut self, event: &Event, kind: Type, track: u64, name: Option<&str>) -> Result<(), WriteError> {
        self.begin_mark(event, kind, track, name);
        self.send(self.nanos.of(event.at))
    }

    fn begin_mark(&mut self, event: &Event, kind: Type, track: u64, name: Option<&str>) {
        self.begin(kind, track);
        let label = self.labels.of(&self.frames, event.frame);
        octets(&mut self.event, 23, name.map_or(&label.name, str::as_bytes));
        self.event.extend_from_slice(&label.annotation);
        let (instant, annotation) = &mut self.instant;
        if *instant != event.at {
            *instant = event.at;
            annotation.clear();
            annotate_number(annotation, "t", 3, event.at.get());
        }
        self.event.extend_from_slice(annotation);
        self.event.extend_from_slice(self.arguments.of(&event.kind, |own| arguments(own, &event.kind)));
    }

    /// Ends what the transmit machine does, if it does something; `flows` lead away from there.
    fn end_act(
        &mut self,
        at: BitInstant,
        station: StationId,
        flows: impl Iterator<Item = u64>,
    ) -> Result<(), WriteError> {
        if !std::mem::take(&mut self.acts[station.index()]) {
            return Ok(());
        }
        self.put(self.nanos.of(at), Type::End, track(station, Track::Transmit), |own| {
            flows.for_each(|flow| fixed(own, 47, flow));
        })
    }

    /// Ends what the transmit machine does, and has it do something else.
    fn act(&mut self, event: &Event, name: &str) -> Result<(), WriteError> {
        self.end_act(event.at, event.station, empty())?;
        self.acts[event.station.index()] = true;
        self.mark(event, Type::Begin, track(event.station, Track::Transmit), Some(name))
    }

    /// A station notices a collision, or, without collision detection, learns of it. An arrow leads through the attempts
    /// that met. Nothing has met in a logical collision of PLCA.
    fn collision(&mut self, event: &Event, episode: u64, is_busy: bool) -> Result<(), WriteError> {
        if episode > self.collisions {
            self.collisions = episode;
            self.put(self.nanos.of(event.at), Type::Counter, COLLISIONS, |own| number(own, 30, episode))?;
        }
        self.mark(event, Type::Instant, track(event.station, Track::Station), Some(event.kind.name()))?;
        if is_busy {
            let flow = (episode > 0).then_some(MET | episode);
            self.end_act(event.at, event.station, flow.into_iter())?;
        }
        if self.config.detects_collisions() { self.act(event, "jam") } else { Ok(()) }
    }

    fn backoff(&mut self, event: &Event, slots: u64) -> Result<(), WriteError> {
        self.act(event, "backoff")?;
        // A station of CSMA/CA counts its slots only in silence: its next attempt ends the slice.
        match self.config.backoff_end(event.station, event.at, slots) {
            Some(end) => self.end_act(end, event.station, empty()),
            None => Ok(()),
        }
    }

    fn queue_length(&mut self, at: BitInstant, station: StationId) -> Result<(), WriteError> {
        let length = self.stations.get(station).queue() as u64;
        self.put(self.nanos.of(at), Type::Counter, track(station, Track::Queue), |own| number(own, 30, length))
    }

    fn offered(&mut self, event: &Event, size: Octets) -> Result<(), WriteError> {
        self.frames.offered(event.frame, size);
        if self.stations.get(event.station).queue() == 1 {
            self.mark(event, Type::Begin, track(event.station, Track::Frames), None)?;
        }
        self.queue_length(event.at, event.station)
    }

    /// The MAC is done with a frame.
    fn done(&mut self, event: &Event, left: Option<usize>) -> Result<(), WriteError> {
        let (station, at) = (event.station, self.nanos.of(event.at));
        let Some(place) = left else { return Ok(()) };
        let next = self.stations.get(station).head().filter(|_| place == 0);
        self.frames.done(event.frame);
        if place == 0 {
            self.begin(Type::End, track(station, Track::Frames));
            arguments(&mut self.event, &event.kind);
            self.send(at)?;
        }
        if let Some(serial) = next {
            self.begin(Type::Begin, track(station, Track::Frames));
            octets(&mut self.event, 23, &self.labels.of(&self.frames, FrameId { station, serial }).name);
            self.send(at)?;
        }
        self.queue_length(event.at, station)
    }

    fn transmitted(&mut self, event: &Event, size: Octets, left: Option<usize>) -> Result<(), WriteError> {
        let destination = self.frames.get(event.frame).map_or(Destination::Nobody, |offered| offered.frame.destination);
        let receivers = match destination {
            Destination::Station(station) => station.index()..station.index() + 1,
            Destination::All => 0..self.acts.len(),
            Destination::Nobody | Destination::Beyond(_) => 0..0,
        };
        let flows = receivers
            .filter(|receiver| *receiver != event.station.index())
            .map(|receiver| flow(event.frame, StationId::new(receiver as u16)));
        self.end_act(event.at, event.station, flows)?;
        self.sent += (PREAMBLE_AND_SFD + size.bit_times()).get();
        self.done(event, left)
    }

    fn received(&mut self, event: &Event) -> Result<(), WriteError> {
        self.begin_mark(event, Type::Instant, track(event.station, Track::Received), Some(event.kind.name()));
        if matches!(event.kind, Kind::Delivered { .. }) {
            fixed(&mut self.event, 48, flow(event.frame, event.station));
        }
        self.send(self.nanos.of(event.at))
    }

    /// Takes what the event changes on the medium.
    fn follow(&mut self, event: &Event) -> Result<(), WriteError> {
        if self.signals.is_none() {
            return Ok(());
        }
        self.write_signals(event.at)?;
        let Some(signals) = &mut self.signals else { return Ok(()) };
        signals.event(event);
        let first = self.next_signal;
        let new = signals.changed().iter().copied().filter(|number| *number >= first);
        new.for_each(|number| {
            self.unwritten.push_back(number);
            self.next_signal = number + 1;
        });
        Ok(())
    }

    /// Writes the signals that have ended before `now`: nothing cuts them short any more.
    fn write_signals(&mut self, now: BitInstant) -> Result<(), WriteError> {
        let mut waiting = std::mem::take(&mut self.unwritten);
        let Some(signals) = self.signals.take() else { return Ok(()) };
        let is_over = |number: &u64| signals.get(*number).is_none_or(|one| one.end.is_some_and(|end| end < now));
        let mut place = 0;
        while place < waiting.len() {
            if !is_over(&waiting[place]) {
                place += 1;
                continue;
            }
            let signal = waiting.remove(place).and_then(|number| signals.get(number));
            signal.map_or(Ok(()), |signal| self.write_signal(signal))?;
        }
        (self.signals, self.unwritten) = (Some(signals), waiting);
        Ok(())
    }

    fn write_signal(&mut self, signal: &Signal) -> Result<(), WriteError> {
        let Some(end) = signal.end else { return Ok(()) };
        let own = track(signal.source, Track::Signals);
        self.begin(Type::Begin, own);
        text(&mut self.event, 23, signal.name());
        self.event.extend_from_slice(&self.labels.of(&self.frames, signal.frame).annotation);
        annotate_number(&mut self.event, "t", 3, signal.begin.get());
        self.send(self.nanos.of(signal.begin))?;
        self.put(self.nanos.of(end), Type::End, own, |_| {})
    }

    /// The counters of utilisation that are due.
    fn sample(&mut self, now: BitInstant) -> Result<(), WriteError> {
        let span = sample(self.config.rate);
        while now.get() >= self.sample_due {
            let part = self.sent as f64 / span as f64;
            let at = self.nanos.of(BitInstant::new(self.sample_due - span));
            self.put(at, Type::Counter, UTILIZATION, |own| real(own, 44, part))?;
            // An idle stretch has one sample.
            let idle = if self.sent == 0 { (now.get() - self.sample_due) / span * span } else { 0 };
            self.sent = 0;
            self.sample_due += span + idle;
        }
        Ok(())
    }

    /// Something that happened to the bus, as an instant of its track.
    fn happened(&mut self, at: BitInstant, name: &str, detail: &str) -> Result<(), WriteError> {
        self.put(self.nanos.of(at), Type::Instant, BUS, |own| {
            text(own, 23, name);
            annotate(own, "detail", detail);
            annotate_number(own, "t", 3, at.get());
        })
    }
}

/// Whether stations send something else than what their transmit machines do, one signal at a time.
fn has_signals(config: &Config) -> bool {
    config.method != Method::CsmaCd && config.population() == Population::Stations
}

/// Bit times between two counters of utilisation.
fn sample(rate: BitRate) -> u64 {
    (rate.get() / SAMPLES).max(1)
}

/// Marks the number of a flow through the attempts of a collision. The other bits are the episode.
const MET: u64 = 1 << 63;

/// A flow's number: one for each receiver of a frame.
fn flow(frame: FrameId, receiver: StationId) -> u64 {
    (frame.station.index() as u64) << 52 | (frame.serial & ((1 << 42) - 1)) << 10 | receiver.index() as u64
}

impl Window for Perfetto {
    fn write_beside(&mut self) {
        self.output.write_beside();
    }

    fn take(&mut self, batch: &Batch) -> Result<(), WriteError> {
        take_each(self, batch)
    }
}

impl Observer for Perfetto {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        if let Some(signals) = &mut self.signals {
            signals.input(at, input);
        }
        let Input::Deed(deed) = input else {
            self.frames.input(input, octets);
            return Ok(());
        };
        if let Deed::Add { station, who } = deed {
            if station.index() >= self.described {
                let has_signals = self.signals.is_some();
                tracks::describe_station(&mut self.output, *station, who.name(), has_signals)?;
                self.described = station.index() + 1;
            }
            self.names.call(*station, who.name());
            self.frames.call(*station, who);
        }
        let station = deed.station().map_or_else(String::new, |station| self.frames.name(station).to_owned());
        let detail = if let Deed::Queue { .. } = deed { deed.sentence(|_| "") } else { station };
        self.happened(at, deed.word(), &detail)
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        self.sample(event.at)?;
        // One further back in the queue leaves what the station does as it is.
        let is_busy = self.stations.get(event.frame.station).frame.is_none_or(|busy| busy == event.frame);
        let left = self.stations.event(event, &self.config);
        self.follow(event)?;
        match event.kind {
            Kind::Offered { size } => self.offered(event, size),
            Kind::QueueDrop => {
                self.mark(event, Type::Instant, track(event.station, Track::Station), Some(event.kind.name()))?;
                self.done(event, left)
            }
            Kind::Defer { .. } => self.act(event, "defer"),
            Kind::Attempt { .. } => self.act(event, "attempt"),
            Kind::Collision { episode, .. } => self.collision(event, episode, is_busy),
            Kind::JamEnd { .. } => self.end_act(event.at, event.station, empty()),
            Kind::Backoff { slots, .. } => self.backoff(event, slots),
            Kind::Transmitted { size, .. } => self.transmitted(event, size, left),
            Kind::Discarded { .. } => {
                if is_busy {
                    self.end_act(event.at, event.station, empty())?;
                }
                self.mark(event, Type::Instant, track(event.station, Track::Station), Some(event.kind.name()))?;
                self.done(event, left)
            }
            Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack | Kind::Duplicate { .. } => {
                self.mark(event, Type::Instant, track(event.station, Track::Station), Some(event.kind.name()))
            }
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } | Kind::PlcaId { .. } => {
                self.mark(event, Type::Instant, track(event.station, Track::Station), Some(event.kind.name()))
            }
            Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => {
                self.received(event)
            }
        }
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        let mut json = Vec::new();
        write_emulator(&mut json, &self.names, event);
        let name = if matches!(event.kind, EmulatorKind::Slip { .. }) { "slip" } else { "emulator" };
        self.happened(event.at, name, &String::from_utf8_lossy(&json))
    }

    fn missing(&mut self, inputs: u64, events: u64) -> Result<(), WriteError> {
        self.frames.forget_inputs();
        self.stations.forget();
        self.signals.iter_mut().for_each(Signals::forget);
        self.unwritten.clear();
        let at = BitInstant::new(self.sample_due.saturating_sub(sample(self.config.rate)));
        self.happened(at, "missing", &format!("{inputs} inputs and {events} events are missing here"))
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.output.flush()
    }

    fn end(&mut self, end: End) -> Result<(), WriteError> {
        self.sample(BitInstant::new(end.t))?;
        self.write_signals(BitInstant::new(u64::MAX))?;
        self.output.flush()
    }
}
