//! The bus as a capture in pcapng, for Wireshark and everything that reads its files.
//!
//! ```text
//!   interface st1, st2 …   each transmission, at its sender: preamble, SFD, frame, FCS; or as far as it got, and the jam
//!   interface bus          what is no frame, as the trace's line for it, and in `explain`'s words: collisions,
//!                          backoff, discards, faults, slip; a plain capture has none
//! ```
//! Packets are in order of their first bits, so a packet waits until those that began before it have ended. A collision
//! waits until its sender stops, and then names each frame that met the sender's own at the sender's place.

pub mod filter;
mod packets;
mod selection;
mod waiting;
mod wish;

use super::passing;
use super::pcapng::{self, Interface};
use super::{Known, Window};
use crate::files::beside::{Batch, take_each};
use crate::files::event_log::EmulatorEvent;
use crate::files::json_lines::{LineWriter, WriteError};
use crate::files::observer::{End, Observer};
use crate::scene::{Signal, Signals};
use filter::Filter;
use medium::{BitInstant, Carried, Deed, Destination, Event, Fault, FrameId, Input, Kind, StationId};
use packets::{Fate, Packets, Transmission};
use std::collections::VecDeque;
use std::fs::File;
use std::sync::Arc;
use waiting::{Collision, Draft, Sending, Waiting};

pub use wish::{Framing, Wish};

/// How many frames a collision's row names at most: readers refuse packets above 262,144 octets.
const MOST_MET: usize = 1_000;

/// Writes a capture.
#[derive(Debug)]
pub struct Capture {
    output: LineWriter,
    filter: Filter,
    /// Before, not everything is known that packets tell: they are left out.
    from: BitInstant,
    packets: Packets,
    bad_fcs: Vec<bool>,
    /// Each station's last attempt.
    attempts: Vec<u32>,
    /// What waits, in order of its first bit.
    waiting: VecDeque<Waiting>,
    /// The number of the first that waits.
    first: u64,
    /// Transmissions that are not over.
    sending: Vec<Sending>,
    /// What is on the medium.
    signals: Signals,
    /// The number of the next signal that is none of those seen.
    next_signal: u64,
    /// Senders notice collisions.
    detects: bool,
    /// Of the last event.
    now: BitInstant,
    /// Blocks that wait, by number.
    drafts: Vec<Draft>,
    /// How many stations have an interface: one that joins gets its own then.
    declared: usize,
    /// Numbers of those that have been written. They are used again: allocating each would cost more than filling it.
    spare: Vec<usize>,
}

impl Capture {
    /// Writes the capture's beginning to a file that the caller opened at `place`.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed.
    pub fn new(file: File, place: String, known: &Known, wish: Wish) -> Result<Capture, WriteError> {
        Capture::on(passing::output(file, place), known, wish)
    }

    fn on(output: LineWriter, known: &Known, wish: Wish) -> Result<Capture, WriteError> {
        let packets = Packets::new(known, wish.framing);
        let mut capture = Capture {
            output,
            filter: wish.filter,
            from: BitInstant::ZERO,
            bad_fcs: vec![false; known.macs.len()],
            attempts: vec![0; known.macs.len()],
            waiting: VecDeque::new(),
            first: 0,
            sending: Vec::new(),
            signals: Signals::new(packets.config.clone(), 0).remembering(),
            next_signal: 0,
            detects: packets.config.detects_collisions(),
            now: BitInstant::ZERO,
            drafts: Vec::new(),
            spare: Vec::new(),
            packets,
            declared: 0,
        };
        capture.begin(known)?;
        // The reader of a pipe sees the interfaces at once; and an output that cannot be written fails at once.
        capture.output.flush()?;
        Ok(capture)
    }

    fn begin(&mut self, known: &Known) -> Result<(), WriteError> {
        let config = &self.packets.config;
        let speed = config.rate.get();
        let time = match known.epoch {
            None => "the bus's own time, from its beginning",
            Some(_) => "the bus's own time, from the time of day at its beginning",
        };
        let comment = match known.header.name.as_str() {
            "" => format!("{time}; seed {}", config.seed),
            name => format!("{name}: {time}; seed {}", config.seed),
        };
        self.output.unit(|into| pcapng::section(into, &known.header.program, &comment))?;
        let stations = (0..).map(StationId::new).zip(&known.header.stations).zip(&known.macs);
        for ((station, name), mac) in stations {
            self.declare(station, name, *mac)?;
        }
        if self.packets.framing == Framing::Plain {
            return Ok(());
        }
        self.output.unit(|into| pcapng::interface(into, &bus(pcapng::UPPER_PDU, speed)))
    }

    /// Declares the interface of a station.
    fn declare(&mut self, station: StationId, name: &str, mac: [u8; 6]) -> Result<(), WriteError> {
        let speed = self.packets.config.rate.get();
        let link_type = match self.packets.framing {
            Framing::Whole => pcapng::MPACKET,
            Framing::Plain => pcapng::ETHERNET,
        };
        let description = self.packets.description(station);
        let own = Interface { link_type, name, description: &description, mac: Some(mac), speed };
        self.declared = self.declared.max(station.index() + 1);
        self.output.unit(|into| pcapng::interface(into, &own))
    }

    /// Puts what `make` appends into its turn.
    fn put(&mut self, make: impl FnOnce(&Packets, &mut Vec<u8>)) -> Result<(), WriteError> {
        if self.waiting.is_empty() {
            // No entry waits: most frames meet no other frame.
            self.first += 1;
            let packets = &self.packets;
            return self.output.unit(|into| make(packets, into));
        }
        let draft = self.draft(make);
        self.waiting.push_back(Waiting::Draft(draft));
        Ok(())
    }

    /// The number of a new draft, which has what `make` appends.
    fn draft(&mut self, make: impl FnOnce(&Packets, &mut Vec<u8>)) -> usize {
        let number = self.spare.pop().unwrap_or_else(|| {
            self.drafts.push(Draft::default());
            self.drafts.len() - 1
        });
        make(&self.packets, &mut self.drafts[number].block);
        number
    }

    /// The same of what needs to know what is on the medium.
    fn put_with(&mut self, make: impl FnOnce(&Packets, &Signals, &mut Vec<u8>)) -> Result<(), WriteError> {
        let mut block = Vec::new();
        make(&self.packets, &self.signals, &mut block);
        self.put(|_, into| into.extend_from_slice(&block))
    }

    /// Writes a draft, unless it is empty.
    fn write(&mut self, number: usize) -> Result<(), WriteError> {
        let block = &mut self.drafts[number].block;
        let written = if block.is_empty() { Ok(()) } else { self.output.unit(|into| into.extend_from_slice(block)) };
        block.clear();
        self.spare.push(number);
        written
    }

    /// What the last event has changed on the medium: frames that begin, and that are over.
    fn follow(&mut self) -> Result<(), WriteError> {
        for place in 0..self.signals.changed().len() {
            let number = self.signals.changed()[place];
            let Some(signal) = self.signals.get(number) else { continue };
            if number >= self.next_signal {
                self.next_signal = number + 1;
                if signal.what == Carried::Frame {
                    let sent = Transmission {
                        frame: signal.frame,
                        begin: signal.preamble,
                        attempt: self.attempts[signal.source.index()],
                        bad_fcs: self.bad_fcs[signal.source.index()],
                        collision: None,
                    };
                    self.opens(sent, number);
                }
            } else if signal.what == Carried::Rts {
                // A row describes what began as an attempt.
                self.withdraw(number);
            }
        }
        Ok(())
    }

    fn opens(&mut self, sent: Transmission, signal: u64) {
        if sent.begin < self.from {
            return;
        }
        let number = self.first + self.waiting.len() as u64;
        self.waiting.push_back(Waiting::Open);
        self.sending.push(Sending { sent, signal, number, arrived: false });
    }

    fn withdraw(&mut self, signal: u64) {
        if let Some(place) = self.sending.iter().rposition(|sending| sending.signal == signal) {
            let Sending { number, .. } = self.sending.swap_remove(place);
            self.waiting[(number - self.first) as usize] = Waiting::Nothing;
        }
    }

    fn collision(&mut self, event: &Event, episode: u64) -> Result<(), WriteError> {
        let frame = event.frame;
        if let Some(sending) = self.sending.iter_mut().find(|sending| sending.sent.frame == frame) {
            sending.sent.collision = Some((event.at, episode));
        }
        if !self.detects {
            return self.unanswered(event);
        }
        if !self.shows(event) {
            return Ok(());
        }
        let draft = self.draft(|_, _| ());
        let Draft { block, collision } = &mut self.drafts[draft];
        let row = self.packets.begin_collision(block, event, &self.signals);
        *collision = Some(Collision { frame, row });
        self.waiting.push_back(Waiting::Draft(draft));
        Ok(())
    }

    /// A sender without collision detection has got no answer: with which frames its own met where it is for.
    fn unanswered(&mut self, event: &Event) -> Result<(), WriteError> {
        if !self.shows(event) {
            return Ok(());
        }
        let met = self.met(event.frame, self.addressee(event.frame));
        self.put_with(|packets, signals, into| {
            let row = packets.begin_collision(into, event, signals);
            packets.end_collision(into, row, event.station, met.into_iter());
        })
    }

    /// The sender of a frame has stopped, so each frame that met its own at its place is known.
    fn met_at_sender(&mut self, frame: FrameId) {
        let is_its = |draft: &Draft| draft.collision.is_some_and(|collision| collision.frame == frame);
        let Some(number) = self.drafts.iter().position(is_its) else { return };
        let met = self.met(frame, Some(frame.station));
        let Draft { block, collision } = &mut self.drafts[number];
        if let Some(Collision { row, .. }) = collision.take() {
            self.packets.end_collision(block, row, frame.station, met.into_iter());
        }
    }

    /// The frames that the last signal of `frame` met at the place of `to`, or, without it, at any place.
    fn met(&self, frame: FrameId, to: Option<StationId>) -> Vec<FrameId> {
        let is_frame = |one: &Signal| !matches!(one.what, Carried::Beacon | Carried::Commit);
        let is_own = |one: &Signal| one.source == frame.station && one.frame == frame && is_frame(one);
        let number = self.signals.number_of_last(is_own);
        let mut met: Vec<FrameId> = Vec::new();
        for other in number.into_iter().flat_map(|number| self.signals.met(number, to)) {
            if met.len() == MOST_MET {
                break;
            }
            if is_frame(other) && !met.contains(&other.frame) {
                met.push(other.frame);
            }
        }
        met
    }

    /// The one station that a frame is for, if that is not its sender.
    fn addressee(&self, frame: FrameId) -> Option<StationId> {
        match self.packets.frames.get(frame)?.frame.destination {
            Destination::Station(to) => Some(to).filter(|to| *to != frame.station),
            Destination::All | Destination::Nobody | Destination::Beyond(_) => None,
        }
    }

    /// A frame is over: sent whole, with its octets from destination address to FCS, or cut short.
    fn ended(&mut self, frame: FrameId, whole: Option<(usize, Fate)>, at: BitInstant) -> Result<(), WriteError> {
        self.met_at_sender(frame);
        let Some(place) = self.sending.iter().position(|sending| sending.sent.frame == frame) else { return Ok(()) };
        let Sending { sent, signal, number, .. } = self.sending.swap_remove(place);
        let end = self.signals.get(signal).and_then(|signal| signal.end).unwrap_or(at);
        let is_wanted = self.is_wanted(&sent, sent.collision.is_some());
        let has_fragment = self.packets.framing == Framing::Whole;
        let make = |packets: &Packets, into: &mut Vec<u8>| match whole {
            _ if !is_wanted => {}
            Some((size, fate)) => packets.whole(into, &sent, size, fate),
            None if has_fragment => packets.fragment(into, &sent, end, sent.collision.is_some()),
            None => {}
        };
        if self.waiting.len() == 1 && whole.is_some() && is_wanted {
            // Only it has waited.
            self.waiting.clear();
            return self.put(make);
        }
        // A fragment may be too short for a packet: then the draft is empty.
        let draft = self.draft(make);
        self.waiting[(number - self.first) as usize] = Waiting::Draft(draft);
        self.settle()
    }

    /// The addressee has a frame, which its sender need not learn.
    fn arrives(&mut self, frame: FrameId) {
        for sending in self.sending.iter_mut().filter(|sending| sending.sent.frame == frame) {
            sending.arrived = true;
        }
    }

    /// An attempt without collision detection is over, and was in vain. The frame went out whole all the same; it was
    /// destroyed where it is for, unless only the answer was lost.
    fn unsuccessful(&mut self, frame: FrameId) -> Result<(), WriteError> {
        let Some(place) = self.sending.iter().position(|sending| sending.sent.frame == frame) else { return Ok(()) };
        let least = self.packets.config.parameters.min_frame_size;
        let size = self.packets.frames.get(frame).map(|offered| offered.frame.size.max(least).get() as usize);
        let Sending { sent, number, arrived, .. } = self.sending.swap_remove(place);
        let is_shown = (arrived || self.packets.framing == Framing::Whole) && self.is_wanted(&sent, !arrived);
        let fate = if arrived { Fate::Unanswered } else { Fate::Destroyed };
        let draft = self.draft(|packets, into| {
            size.filter(|_| is_shown).into_iter().for_each(|size| packets.whole(into, &sent, size, fate));
        });
        self.waiting[(number - self.first) as usize] = Waiting::Draft(draft);
        self.settle()
    }

    /// Writes what has waited long enough.
    fn settle(&mut self) -> Result<(), WriteError> {
        while let Some(front) = self.waiting.front() {
            let draft = match *front {
                Waiting::Open => return Ok(()),
                Waiting::Draft(number) => Some(number),
                Waiting::Nothing => None,
            };
            if draft.is_some_and(|number| self.drafts[number].collision.is_some()) {
                return Ok(());
            }
            self.waiting.pop_front();
            self.first += 1;
            draft.map_or(Ok(()), |number| self.write(number))?;
        }
        Ok(())
    }

    /// Gives up entries that cannot become whole any more.
    fn close(&mut self) -> Result<(), WriteError> {
        for sending in std::mem::take(&mut self.sending) {
            self.waiting[(sending.number - self.first) as usize] = Waiting::Nothing;
        }
        let collided: Vec<FrameId> =
            self.drafts.iter().filter_map(|draft| draft.collision).map(|collision| collision.frame).collect();
        collided.into_iter().for_each(|frame| self.met_at_sender(frame));
        self.settle()
    }
}

/// The interface of what no station sends.
fn bus(link_type: u16, speed: u64) -> Interface<'static> {
    let description = "what is no frame: collisions, backoff, discards, faults, slip";
    Interface { link_type, name: "bus", description, mac: None, speed }
}

impl Window for Capture {
    fn write_beside(&mut self) {
        self.output.write_beside();
    }

    fn take(&mut self, batch: &Batch) -> Result<(), WriteError> {
        take_each(self, batch)
    }

    fn passes_over(&self) -> &'static [&'static str] {
        // Without collision detection only its receiver knows whether a frame was destroyed.
        if self.detects { &["defer", "delivered", "fragment"] } else { &["defer", "fragment"] }
    }
}

impl Observer for Capture {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        let Input::Deed(deed) = input else {
            self.packets.frames.input(input, octets);
            return Ok(());
        };
        match deed {
            Deed::Fault { station, fault } => self.bad_fcs[station.index()] = *fault == Some(Fault::BadFcs),
            Deed::Add { station, who } => {
                if station.index() >= self.declared {
                    self.declare(*station, who.name(), who.address)?;
                }
                self.packets.call(*station, who);
            }
            _ => {}
        }
        self.signals.input(at, input);
        if !self.filter.takes_row(input.station()) {
            return Ok(());
        }
        self.put(|packets, into| packets.deed(into, at, deed))
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        let (at, frame) = (event.at, event.frame);
        self.now = at;
        if !self.detects && matches!(event.kind, Kind::Attempt { .. } | Kind::Backoff { .. }) {
            self.unsuccessful(frame)?;
        }
        if let Kind::Attempt { attempt, .. } = event.kind {
            self.attempts[event.station.index()] = attempt;
        }
        self.signals.event(event);
        self.follow()?;
        match event.kind {
            Kind::Offered { size } => self.packets.frames.offered(frame, size),
            Kind::Collision { episode, .. } if episode > 0 => self.collision(event, episode)?,
            Kind::JamEnd { .. } => self.ended(frame, None, at)?,
            Kind::Damaged { .. } | Kind::TooLong { .. } | Kind::Cts { .. } | Kind::Ack | Kind::Rts { .. } => {
                self.row(event)?;
            }
            Kind::Duplicate { .. } => {
                self.arrives(frame);
                self.row(event)?;
            }
            Kind::Collision { .. } | Kind::Backoff { .. } => self.row(event)?,
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } | Kind::PlcaId { .. } => {
                self.row(event)?
            }
            Kind::Transmitted { size, access_delay, mac_delay, .. } => {
                let fate = Fate::Transmitted { access_delay, mac_delay };
                self.ended(frame, Some((size.get() as usize, fate)), at)?;
                self.packets.frames.done(frame);
            }
            Kind::Discarded { .. } | Kind::QueueDrop => {
                if self.detects {
                    self.ended(frame, None, at)?;
                } else {
                    self.unsuccessful(frame)?;
                }
                // Its addresses are known as long as the medium has it.
                let is_shown = self.shows(event);
                self.packets.frames.done(frame);
                if is_shown {
                    self.put(|packets, into| packets.event(into, event))?;
                }
            }
            Kind::Delivered { .. } => self.arrives(frame),
            Kind::Attempt { .. } | Kind::Data { .. } | Kind::Defer { .. } | Kind::Fragment { .. } => {}
        }
        Ok(())
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        // Which container a station is, is known from the beginning.
        let station = event.kind.container_of();
        if event.at < self.from && station.is_none() || !self.filter.takes_row(station) {
            return Ok(());
        }
        self.put(|packets, into| packets.emulator(into, event))
    }

    fn missing(&mut self, inputs: u64, events: u64) -> Result<(), WriteError> {
        self.close()?;
        self.signals.forget();
        self.packets.frames.forget_inputs();
        if self.packets.framing == Framing::Plain {
            return Ok(());
        }
        let now = self.now;
        self.put(|packets, into| packets.missing(into, now, inputs, events))
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.output.flush()
    }

    fn end(&mut self, _: End) -> Result<(), WriteError> {
        self.close()?;
        self.output.flush()
    }
}
