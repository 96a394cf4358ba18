//! The bus as a capture in pcapng, for Wireshark and everything that reads its files.
//!
//! ```text
//!   interface st1, st2 …   each transmission, at its sender: preamble, SFD, frame, FCS; or as far as it got, and the jam
//!   interface bus          what is no frame, as the event log's line for it, and in `explain`'s words: collisions,
//!                          backoff, discards, faults, slip
//! ```
//! Packets are in order of their first bits, so a packet waits until those that began before it have ended. A collision
//! waits until nobody sends any more, and then names all its parties.

mod packets;

use super::pcapng::{self, Interface};
use super::signals::Signals;
use super::{Known, Window};
use crate::files::beside::{Note, take_each};
use crate::files::event_log::EmulatorEvent;
use crate::files::json_lines::{LineWriter, WriteError};
use crate::files::observer::Observer;
use crate::files::record::End;
use medium::{BitInstant, BitTimes, Event, Fault, FrameId, Input, Kind};
use packets::{OpenRow, Packets, Transmission, where_is};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::File;
use std::sync::Arc;

/// How long a collision waits for its parties at most, in bit times: no packet of 802.3 is longer.
const PATIENCE: u64 = 1 << 16;

/// What frames are written with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Framing {
    /// Preamble, SFD and FCS, collision fragments and jam: LINKTYPE_ETHERNET_MPACKET.
    #[default]
    Whole,
    /// Frames that got through alone, from destination address to FCS: LINKTYPE_ETHERNET.
    Plain,
}

/// Writes a capture.
#[derive(Debug)]
pub struct Capture {
    output: LineWriter,
    packets: Packets,
    bad_fcs: Vec<bool>,
    /// What waits, in order of its first bit.
    waiting: VecDeque<Waiting>,
    /// The number of the first that waits.
    first: u64,
    /// Who sends.
    sending: Vec<Sending>,
    /// Where each transmission is, for whom a collision met.
    signals: Signals,
    /// Collisions that may still get more parties: which overlap, and who met in it.
    parties: Vec<(u64, FrameId)>,
    /// Of the last event.
    now: BitInstant,
    /// Blocks that wait, by number.
    drafts: Vec<Draft>,
    /// Numbers of those that have been written. They are used again: allocating each would cost more than filling it.
    spare: Vec<usize>,
}

/// What stands in the capture when its turn comes.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    /// A transmission that goes on, or was never one.
    Open,
    /// The draft with this number.
    Draft(usize),
    Nothing,
}

/// A block that waits.
#[derive(Debug, Default)]
struct Draft {
    /// Empty, if nothing is to be written after all.
    block: Vec<u8>,
    /// Of a collision: its row so far.
    collision: Option<Collision>,
}

/// A collision whose parties are not all known.
#[derive(Clone, Copy, Debug)]
struct Collision {
    at: BitInstant,
    frame: FrameId,
    /// Which overlap.
    episode: u64,
    row: OpenRow,
}

#[derive(Debug)]
struct Sending {
    sent: Transmission,
    /// Which of those that wait.
    number: u64,
    /// Only an RTS has been sent so far (IEEE 802.11).
    asks: bool,
}

impl Capture {
    /// Writes the capture's beginning to a file that somebody opened at `place`.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed.
    pub fn new(file: File, place: String, known: &Known, framing: Framing) -> Result<Capture, WriteError> {
        let packets = Packets::new(known, framing);
        let mut capture = Capture {
            output: LineWriter::of(file, place, "blocks", pcapng::whole_blocks),
            bad_fcs: vec![false; known.macs.len()],
            waiting: VecDeque::new(),
            first: 0,
            sending: Vec::new(),
            signals: Signals::new(packets.config.clone(), 0),
            parties: Vec::new(),
            now: BitInstant::ZERO,
            drafts: Vec::new(),
            spare: Vec::new(),
            packets,
        };
        capture.begin(known)?;
        // Whoever reads a pipe sees the interfaces at once; and what cannot be written at all is known at once.
        capture.output.flush()?;
        Ok(capture)
    }

    fn begin(&mut self, known: &Known) -> Result<(), WriteError> {
        let config = &self.packets.config;
        let speed = config.rate.get();
        let comment = match known.header.name.as_str() {
            "" => format!("the bus's own time, from its beginning; seed {}", config.seed),
            name => format!("{name}: the bus's own time, from its beginning; seed {}", config.seed),
        };
        self.output.unit(|into| pcapng::section(into, &known.header.program, &comment))?;
        let link_type = match self.packets.framing {
            Framing::Whole => pcapng::MPACKET,
            Framing::Plain => pcapng::ETHERNET,
        };
        for (number, (name, mac)) in known.header.stations.iter().zip(&known.macs).enumerate() {
            let description = match where_is(&config.topology, number) {
                (None, None) => "what this station sent".to_owned(),
                (None, Some(bits)) => format!("what this station sent, {bits} BT from the cable's end"),
                (Some(segment), bits) => {
                    format!("what this station sent, on segment {segment} at {} BT", bits.unwrap_or(0))
                }
            };
            let own = Interface { link_type, name, description: &description, mac: Some(*mac), speed };
            self.output.unit(|into| pcapng::interface(into, &own))?;
        }
        let description = "what is no frame: collisions, backoff, discards, faults, slip";
        let bus = Interface { link_type: pcapng::UPPER_PDU, name: "bus", description, mac: None, speed };
        self.output.unit(|into| pcapng::interface(into, &bus))
    }

    /// Puts what `make` appends into its turn.
    fn put(&mut self, make: impl FnOnce(&Packets, &mut Vec<u8>)) -> Result<(), WriteError> {
        if self.waiting.is_empty() {
            // Nothing waits: most frames meet nobody.
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

    /// Writes a draft, unless it is empty.
    fn write(&mut self, number: usize) -> Result<(), WriteError> {
        let Draft { block, collision } = &mut self.drafts[number];
        if let Some(collision) = collision.take() {
            let Collision { frame, episode, row, .. } = collision;
            let met = |(number, party): &&(u64, FrameId)| *number == episode && *party != frame;
            let others = self.parties.iter().filter(met).map(|(_, party)| *party);
            self.packets.end_collision(block, row, frame.station, others);
        }
        let written = if block.is_empty() { Ok(()) } else { self.output.unit(|into| into.extend_from_slice(block)) };
        block.clear();
        self.spare.push(number);
        written
    }

    fn attempt(&mut self, event: &Event, attempt: u32, burst: bool) {
        // In a burst interPacketGap of extension bits comes before the preamble.
        let gap = if burst { self.packets.config.parameters.inter_packet_gap } else { BitTimes::ZERO };
        let (frame, number) = (event.frame, self.first + self.waiting.len() as u64);
        let bad_fcs = self.bad_fcs[event.station.index()];
        self.waiting.push_back(Waiting::Open);
        self.signals.begin(event.at, frame, attempt, burst, None);
        let sent = Transmission { frame, begin: event.at + gap, bad_fcs, collision: None };
        self.sending.push(Sending { sent, number, asks: false });
    }

    fn collision(&mut self, event: &Event, episode: u64, attempt: u32) {
        if let Some(sending) = self.sending.iter_mut().find(|sending| sending.sent.frame == event.frame) {
            sending.sent.collision = Some((event.at, episode, attempt));
        }
        self.parties.push((episode, event.frame));
        let (draft, frame) = (self.draft(|_, _| ()), event.frame);
        let Draft { block, collision } = &mut self.drafts[draft];
        let row = self.packets.begin_collision(block, event, &self.signals);
        *collision = Some(Collision { at: event.at, frame, episode, row });
        self.signals.collide(event.at, frame, episode);
        self.waiting.push_back(Waiting::Draft(draft));
    }

    /// A logical collision of PLCA: nothing of the attempt was on the line, so nothing of it is captured.
    fn told_to_wait(&mut self, event: &Event) -> Result<(), WriteError> {
        self.put(|packets, into| packets.event(into, event))?;
        self.signals.withdraw(event.frame);
        let Some(place) = self.sending.iter().position(|sending| sending.sent.frame == event.frame) else {
            return Ok(());
        };
        let Sending { number, .. } = self.sending.swap_remove(place);
        self.waiting[(number - self.first) as usize] = Waiting::Nothing;
        self.settle(event.at)
    }

    /// A transmission is over: whole with so many octets from destination address to FCS, or cut short.
    fn ended(&mut self, at: BitInstant, frame: FrameId, whole: Option<usize>, jam: bool) -> Result<(), WriteError> {
        let Some(place) = self.sending.iter().position(|sending| sending.sent.frame == frame) else { return Ok(()) };
        let Sending { sent, number, asks } = self.sending.swap_remove(place);
        self.signals.end(at, frame, BitTimes::ZERO);
        let has_fragment = self.packets.framing == Framing::Whole && !asks;
        let make = |packets: &Packets, into: &mut Vec<u8>| match whole {
            Some(size) => packets.whole(into, &sent, size),
            None if has_fragment => packets.fragment(into, &sent, at, jam),
            None => {}
        };
        if self.waiting.len() == 1 && whole.is_some() {
            // Only it has waited.
            self.waiting.clear();
            return self.put(make);
        }
        // A fragment may be too short for a packet: then the draft is empty.
        let draft = self.draft(make);
        self.waiting[(number - self.first) as usize] = Waiting::Draft(draft);
        self.settle(at)
    }

    /// The attempt began with an RTS, or, after that, the frame itself begins.
    fn asks(&mut self, frame: FrameId, data: Option<BitInstant>) {
        for sending in self.sending.iter_mut().filter(|sending| sending.sent.frame == frame) {
            sending.asks = data.is_none();
            sending.sent.begin = data.unwrap_or(sending.sent.begin);
        }
    }

    /// An attempt without collision detection is over, and was in vain: the frame went out whole all the same, unless
    /// only an RTS did.
    fn unsuccessful(&mut self, at: BitInstant, frame: FrameId) -> Result<(), WriteError> {
        let Some(sending) = self.sending.iter().find(|sending| sending.sent.frame == frame) else { return Ok(()) };
        let least = self.packets.config.parameters.min_frame_size;
        let size = self.packets.frames.get(frame).map(|offered| offered.frame.size.max(least).get() as usize);
        let whole = size.filter(|_| !sending.asks);
        self.ended(at, frame, whole, false)
    }

    /// Writes what has waited long enough.
    fn settle(&mut self, now: BitInstant) -> Result<(), WriteError> {
        let quiet = self.sending.is_empty();
        while let Some(front) = self.waiting.front() {
            let draft = match *front {
                Waiting::Open => return Ok(()),
                Waiting::Draft(number) => Some(number),
                Waiting::Nothing => None,
            };
            let collision = draft.and_then(|number| self.drafts[number].collision);
            if collision.is_some_and(|collision| !quiet && now.get() < collision.at.get() + PATIENCE) {
                return Ok(());
            }
            self.waiting.pop_front();
            self.first += 1;
            draft.map_or(Ok(()), |number| self.write(number))?;
        }
        if quiet {
            self.parties.clear();
        }
        Ok(())
    }

    /// Gives up what cannot be told whole any more.
    fn close(&mut self) -> Result<(), WriteError> {
        for sending in std::mem::take(&mut self.sending) {
            self.waiting[(sending.number - self.first) as usize] = Waiting::Nothing;
        }
        self.settle(BitInstant::new(u64::MAX - PATIENCE))
    }
}

impl Window for Capture {
    fn write_beside(&mut self) {
        self.output.write_beside();
    }

    fn take(&mut self, batch: &[Note]) -> Result<(), WriteError> {
        take_each(self, batch)
    }

    fn passes_over(&self) -> &'static [&'static str] {
        &["defer", "delivered", "fragment"]
    }
}

impl Observer for Capture {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        match input {
            Input::Offer { .. } => {
                self.packets.frames.input(input, octets);
                return Ok(());
            }
            Input::SetFault { station, fault } => self.bad_fcs[station.index()] = *fault == Some(Fault::BadFcs),
            Input::SetCut { cut } => self.signals.set_cut(*cut),
            Input::Attach { .. } | Input::Detach { .. } | Input::SetPlca { .. } => {}
        }
        self.put(|packets, into| packets.input(into, at, input))
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        let (at, frame) = (event.at, event.frame);
        self.now = at;
        match event.kind {
            Kind::Offered { size } => self.packets.frames.offered(frame, size),
            Kind::Attempt { attempt, burst, .. } => {
                self.unsuccessful(at, frame)?;
                self.attempt(event, attempt, burst);
            }
            Kind::Collision { episode: 0, .. } => self.told_to_wait(event)?,
            Kind::Collision { attempt, episode, .. } => self.collision(event, episode, attempt),
            Kind::JamEnd { .. } => self.ended(at, frame, None, true)?,
            Kind::Backoff { .. } => {
                self.unsuccessful(at, frame)?;
                self.put(|packets, into| packets.event(into, event))?;
            }
            Kind::Rts { .. } => self.asks(frame, None),
            Kind::Data { .. } => self.asks(frame, Some(at)),
            Kind::Damaged { .. } | Kind::TooLong { .. } | Kind::Duplicate { .. } | Kind::Cts { .. } | Kind::Ack => {
                self.put(|packets, into| packets.event(into, event))?;
            }
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => {
                self.put(|packets, into| packets.event(into, event))?;
            }
            Kind::Transmitted { size, .. } => {
                self.ended(at, frame, Some(size.get() as usize), false)?;
                self.packets.frames.done(frame);
            }
            Kind::Discarded { .. } | Kind::QueueDrop => {
                self.ended(at, frame, None, false)?;
                self.packets.frames.done(frame);
                self.put(|packets, into| packets.event(into, event))?;
            }
            Kind::Defer { .. } | Kind::Delivered { .. } | Kind::Fragment { .. } => {}
        }
        Ok(())
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        self.put(|packets, into| packets.emulator(into, event))
    }

    fn missing(&mut self, inputs: u64, events: u64) -> Result<(), WriteError> {
        self.close()?;
        self.signals.forget();
        self.packets.frames.forget_inputs();
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
