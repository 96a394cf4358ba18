//! The bus as a capture in pcapng, for Wireshark and everything that reads its files.
//!
//! ```text
//!   interface st1, st2 …   each transmission, at its sender: preamble, SFD, frame, FCS; or as far as it got, and the jam
//!   interface bus          what is no frame, as the event log's line for it, and in `explain`'s words: collisions,
//!                          backoff, discards, faults, slip
//! ```
//! Packets are in order of their first bits, so a packet waits until those that began before it have ended. A collision
//! waits until nobody sends any more, and then names all its parties.
//!
//! One file above 500 lines because what waits for its turn and what is made of it are one thing.

use super::frames::{FCS, Frames};
use super::pcapng::{self, Interface};
use super::signals::Signals;
use super::{Known, Nanos};
use crate::files::event_log::{EmulatorEvent, Names, write_emulator, write_event};
use crate::files::inputs;
use crate::files::json_lines::{LineWriter, WriteError};
use crate::files::observer::Observer;
use crate::files::record::End;
use crate::words::sentences::{self, TIED, frame_name};
use medium::{BitInstant, BitTimes, Config, Event, Fault, FrameId, Input, Kind, Topology};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

/// How long a collision waits for its parties at most, in bit times: no packet of 802.3 is longer.
const PATIENCE: u64 = 1 << 16;
const PREAMBLE_AND_SFD: [u8; 8] = [0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xd5];
/// The jam's content is free (802.3, 4.2.3.2.4), except that it is no FCS of what comes before it.
const JAM: u8 = 0xaa;

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
    framing: Framing,
    config: Arc<Config>,
    nanos: Nanos,
    names: Names,
    frames: Frames,
    bad_fcs: Vec<bool>,
    /// What waits, in order of its first bit.
    waiting: VecDeque<Waiting>,
    /// The number of the first that waits.
    first: u64,
    /// Who sends.
    sending: Vec<Sending>,
    /// Where each transmission is, for whom a collision met.
    signals: Signals,
    /// Collisions whose parties are not all known.
    episodes: Vec<(u64, Vec<FrameId>)>,
    /// Of the last event.
    now: BitInstant,
    /// Blocks that have been written, to be used again: allocating each would cost more than filling it.
    spare: Vec<Vec<u8>>,
    /// A row in the making.
    row: Row,
}

/// What a row of the interface "bus" says: as the event log does, and in short.
#[derive(Debug, Default)]
struct Row {
    json: Vec<u8>,
    info: String,
}

impl Row {
    /// Says it in the words that every window has.
    fn say(&mut self, sentence: &str) {
        for (number, words) in sentence.split(TIED).enumerate() {
            self.info.push_str(if number > 0 { " " } else { "" });
            self.info.push_str(words);
        }
        self.json.extend_from_slice(b",\"says\":");
        // Names are what may need it, and hardly one does.
        let escape = |octet: u8| octet < b' ' || octet == b'"' || octet == b'\\';
        if self.info.bytes().fold(false, |found, octet| found | escape(octet)) {
            return serde_json::to_writer(&mut self.json, &self.info).expect("a Vec takes any text");
        }
        self.json.push(b'"');
        self.json.extend_from_slice(self.info.as_bytes());
        self.json.push(b'"');
    }
}

/// What stands in the capture when its turn comes.
#[derive(Debug)]
enum Waiting {
    /// A transmission that goes on, or was never one.
    Open,
    /// A block.
    Done(Vec<u8>),
    /// Who notices, which overlap, and how it is told.
    Collision(Event, u64, String),
    Nothing,
}

#[derive(Debug)]
struct Sending {
    frame: FrameId,
    /// The first bit of the preamble.
    begin: BitInstant,
    /// Which of those that wait.
    number: u64,
    bad_fcs: bool,
    /// Only an RTS has been sent so far (IEEE 802.11).
    asks: bool,
    collision: Option<(BitInstant, u64, u32)>,
}

impl Capture {
    /// Writes the capture's beginning to a file that somebody opened at `place`.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed.
    pub fn new(file: File, place: String, known: &Known, framing: Framing) -> Result<Capture, WriteError> {
        let config = Arc::new(known.header.config());
        let mut capture = Capture {
            output: LineWriter::of(file, place, "blocks", pcapng::whole_blocks),
            framing,
            nanos: Nanos::new(config.rate),
            names: Names::new(&known.header.stations),
            frames: Frames::new(&known.header.stations, &known.macs),
            bad_fcs: vec![false; known.macs.len()],
            waiting: VecDeque::new(),
            first: 0,
            sending: Vec::new(),
            signals: Signals::new(config.clone(), 0),
            episodes: Vec::new(),
            now: BitInstant::ZERO,
            spare: Vec::new(),
            row: Row::default(),
            config,
        };
        capture.begin(known)?;
        // Whoever reads a pipe sees the interfaces at once; and what cannot be written at all is known at once.
        capture.output.flush()?;
        Ok(capture)
    }

    fn begin(&mut self, known: &Known) -> Result<(), WriteError> {
        let speed = self.config.rate.get();
        let comment = match known.header.name.as_str() {
            "" => format!("the bus's own time, from its beginning; seed {}", self.config.seed),
            name => format!("{name}: the bus's own time, from its beginning; seed {}", self.config.seed),
        };
        self.output.unit(|into| pcapng::section(into, &known.header.program, &comment))?;
        let link_type = match self.framing {
            Framing::Whole => pcapng::MPACKET,
            Framing::Plain => pcapng::ETHERNET,
        };
        for (number, (name, mac)) in known.header.stations.iter().zip(&known.macs).enumerate() {
            let description = match where_is(&self.config.topology, number) {
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

    /// The interface for what is no frame.
    fn bus(&self) -> u32 {
        self.bad_fcs.len() as u32
    }

    /// Puts a row into its turn; `write` says what stands in it.
    fn put_row(&mut self, at: BitInstant, write: impl FnOnce(&Capture, &mut Row)) -> Result<(), WriteError> {
        let block = self.make_row(at, write);
        if self.waiting.is_empty() {
            self.first += 1;
            return self.write(block);
        }
        self.waiting.push_back(Waiting::Done(block));
        Ok(())
    }

    /// A row of the interface "bus".
    fn make_row(&mut self, at: BitInstant, write: impl FnOnce(&Capture, &mut Row)) -> Vec<u8> {
        let (mut row, mut block) = (std::mem::take(&mut self.row), self.block());
        row.json.clear();
        row.info.clear();
        write(self, &mut row);
        pcapng::packet(&mut block, self.bus(), self.nanos.of(at), None, None, |into| {
            pcapng::json_tags(into, kind_of(&row.json), &row.info);
            into.extend_from_slice(&row.json);
        });
        self.row = row;
        block
    }

    /// An empty block.
    fn block(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_else(|| Vec::with_capacity(512))
    }

    /// Writes a block.
    fn write(&mut self, mut block: Vec<u8>) -> Result<(), WriteError> {
        let written = self.output.unit(|into| into.extend_from_slice(&block));
        block.clear();
        self.spare.push(block);
        written
    }

    fn put_event(&mut self, event: &Event) -> Result<(), WriteError> {
        self.put_row(event.at, |own, row| {
            let (parameters, rate) = (&own.config.parameters, own.config.rate);
            let station = own.frames.name(event.station);
            write_event(&mut row.json, &own.names, event);
            row.say(&sentences::sentence(&event.kind, event.at, station, parameters, rate));
            row.json.push(b'}');
        })
    }

    fn attempt(&mut self, event: &Event, attempt: u32, burst: bool) {
        // In a burst interPacketGap of extension bits comes before the preamble.
        let gap = if burst { self.config.parameters.inter_packet_gap } else { BitTimes::ZERO };
        let (frame, number) = (event.frame, self.first + self.waiting.len() as u64);
        let bad_fcs = self.bad_fcs[event.station.index()];
        self.waiting.push_back(Waiting::Open);
        self.signals.begin(event.at, frame, attempt, burst, None);
        self.sending.push(Sending { frame, begin: event.at + gap, number, bad_fcs, asks: false, collision: None });
    }

    fn collision(&mut self, event: &Event, episode: u64, attempt: u32) {
        if let Some(sending) = self.sending.iter_mut().find(|sending| sending.frame == event.frame) {
            sending.collision = Some((event.at, episode, attempt));
        }
        match self.episodes.iter_mut().find(|(number, _)| *number == episode) {
            Some((_, parties)) => parties.push(event.frame),
            None => self.episodes.push((episode, vec![event.frame])),
        }
        // Told as it is noticed: what ends or begins afterwards changes nothing of it.
        let says = self.signals.noticed(event, self.frames.names()).unwrap_or_default();
        self.signals.collide(event.at, event.frame, episode);
        self.waiting.push_back(Waiting::Collision(*event, episode, says));
    }

    /// A transmission is over: whole with so many octets from destination address to FCS, or cut short.
    fn ended(&mut self, at: BitInstant, frame: FrameId, whole: Option<usize>, jam: bool) -> Result<(), WriteError> {
        let Some(place) = self.sending.iter().position(|sending| sending.frame == frame) else { return Ok(()) };
        let sending = self.sending.swap_remove(place);
        self.signals.end(at, frame, BitTimes::ZERO);
        let mut block = self.block();
        match whole {
            Some(size) => self.whole(&mut block, &sending, size),
            None if self.framing == Framing::Whole && !sending.asks => self.fragment(&mut block, &sending, at, jam),
            None => {}
        }
        let place = (sending.number - self.first) as usize;
        let last = place == 0 && self.waiting.len() == 1;
        if block.is_empty() {
            self.waiting[place] = Waiting::Nothing;
        } else if last {
            // Nobody waits for it: most frames meet nobody.
            self.waiting.clear();
            self.first += 1;
            return self.write(block);
        } else {
            self.waiting[place] = Waiting::Done(block);
        }
        self.settle(at)
    }

    /// The attempt began with an RTS, or, after that, the frame itself begins.
    fn asks(&mut self, frame: FrameId, data: Option<BitInstant>) {
        for sending in self.sending.iter_mut().filter(|sending| sending.frame == frame) {
            sending.asks = data.is_none();
            sending.begin = data.unwrap_or(sending.begin);
        }
    }

    /// An attempt without collision detection is over, and was in vain: the frame went out whole all the same, unless
    /// only an RTS did.
    fn unsuccessful(&mut self, at: BitInstant, frame: FrameId) -> Result<(), WriteError> {
        let Some(sending) = self.sending.iter().find(|sending| sending.frame == frame) else { return Ok(()) };
        let least = self.config.parameters.min_frame_size;
        let size = self.frames.get(frame).map(|offered| offered.frame.size.max(least).get() as usize);
        let whole = size.filter(|_| !sending.asks);
        self.ended(at, frame, whole, false)
    }

    /// Appends a frame that was sent to its last bit.
    fn whole(&self, into: &mut Vec<u8>, sending: &Sending, size: usize) {
        let (frame, mut flags) = (sending.frame, self.flags(sending.frame));
        let offered = self.frames.get(frame);
        let least = self.config.parameters.min_frame_size.get() as usize;
        let cut = offered.is_some_and(|offered| size < (offered.frame.size.get() as usize).max(least));
        let tagged = offered.is_some_and(|offered| offered.frame.tagged);
        flags |= if sending.bad_fcs || cut { pcapng::CRC_ERROR } else { 0 };
        let most = self.config.parameters.frame_size_limit(tagged).get() as usize;
        flags |= if size > most { pcapng::TOO_LONG } else { 0 };
        pcapng::packet(into, frame.station.index() as u32, self.nanos.of(sending.begin), Some(flags), None, |into| {
            if self.framing == Framing::Whole {
                into.extend_from_slice(&PREAMBLE_AND_SFD);
            }
            let begin = into.len();
            if cut {
                return self.frames.write(frame, size, into);
            }
            self.frames.write(frame, size - FCS, into);
            let fcs = crc32fast::hash(&into[begin..]);
            into.extend_from_slice(&(if sending.bad_fcs { !fcs } else { fcs }).to_le_bytes());
        });
    }

    /// Appends what a station sent until its jam was out, or until it was taken off the medium.
    fn fragment(&self, into: &mut Vec<u8>, sending: &Sending, end: BitInstant, jam: bool) {
        let frame = sending.frame;
        let jam = if jam { self.config.parameters.jam_size.get() } else { 0 };
        let bits = end.get().saturating_sub(sending.begin.get()).saturating_sub(jam);
        let octets = (bits / 8).saturating_sub(PREAMBLE_AND_SFD.len() as u64) as usize;
        let all = octets + (jam / 8) as usize;
        if bits < 64 || all < FCS {
            return;
        }
        let short = all < self.config.parameters.min_frame_size.get() as usize;
        let flags = self.flags(frame)
            | pcapng::CRC_ERROR
            | if short { pcapng::TOO_SHORT } else { 0 }
            | if bits.is_multiple_of(8) { 0 } else { pcapng::UNALIGNED };
        let name = frame_name(self.frames.names(), frame);
        let comment = match sending.collision {
            Some((at, episode, attempt)) => {
                format!("{name}, attempt {attempt}: collision {episode} at {at} BT, jam until {end} BT")
            }
            None => format!("{name}: cut off at {end} BT"),
        };
        let (station, at) = (frame.station.index() as u32, self.nanos.of(sending.begin));
        pcapng::packet(into, station, at, Some(flags), Some(&comment), |into| {
            into.extend_from_slice(&PREAMBLE_AND_SFD);
            self.frames.write(frame, octets, into);
            into.resize(into.len() + (jam / 8) as usize, JAM);
        });
    }

    fn flags(&self, frame: FrameId) -> u32 {
        let destination = self.frames.destination(frame);
        let kind = match destination[0] & 1 {
            0 => pcapng::UNICAST,
            _ if destination == [0xff; 6] => pcapng::BROADCAST,
            _ => pcapng::MULTICAST,
        };
        pcapng::OUTBOUND | pcapng::FCS_LENGTH | kind
    }

    /// Writes what has waited long enough.
    fn settle(&mut self, now: BitInstant) -> Result<(), WriteError> {
        let quiet = self.sending.is_empty();
        while let Some(front) = self.waiting.front() {
            match front {
                Waiting::Open => return Ok(()),
                Waiting::Collision(event, ..) if !quiet && now.get() < event.at.get() + PATIENCE => return Ok(()),
                Waiting::Collision(..) | Waiting::Done(_) | Waiting::Nothing => {}
            }
            self.first += 1;
            match self.waiting.pop_front().expect("it was looked at") {
                Waiting::Done(block) => self.write(block)?,
                Waiting::Collision(event, episode, says) => self.write_collision(&event, episode, &says)?,
                Waiting::Open | Waiting::Nothing => {}
            }
        }
        if quiet {
            self.episodes.clear();
        }
        Ok(())
    }

    /// Who met whom, and where.
    fn write_collision(&mut self, event: &Event, episode: u64, says: &str) -> Result<(), WriteError> {
        let block = self.make_row(event.at, |own, row| {
            let json = &mut row.json;
            write_event(json, &own.names, event);
            json.extend_from_slice(b",\"with\":[");
            let parties = own.episodes.iter().find(|(number, _)| *number == episode);
            let others = parties.into_iter().flat_map(|(_, parties)| parties).filter(|frame| **frame != event.frame);
            let mut separator = "";
            for other in others {
                own.names.write_name(json, separator, *other);
                separator = ",";
            }
            json.push(b']');
            let place = where_is(&own.config.topology, event.station.index());
            for (column, value) in [("segment", place.0), ("position_bt", place.1)] {
                value
                    .into_iter()
                    .for_each(|value| write!(json, ",\"{column}\":{value}").expect("a Vec takes any text"));
            }
            row.say(says);
            row.json.push(b'}');
        });
        self.write(block)
    }

    /// Gives up what cannot be told whole any more.
    fn close(&mut self) -> Result<(), WriteError> {
        for sending in std::mem::take(&mut self.sending) {
            self.waiting[(sending.number - self.first) as usize] = Waiting::Nothing;
        }
        self.settle(BitInstant::new(u64::MAX - PATIENCE))
    }
}

impl Observer for Capture {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        match input {
            Input::Offer { .. } => {
                self.frames.input(input, octets);
                return Ok(());
            }
            Input::SetFault { station, fault } => self.bad_fcs[station.index()] = *fault == Some(Fault::BadFcs),
            Input::SetCut { cut } => self.signals.set_cut(*cut),
            Input::Attach { .. } | Input::Detach { .. } | Input::SetPlca { .. } => {}
        }
        self.put_row(at, |own, row| {
            inputs::write(&mut row.json, &own.names, at, input, None, Some(inputs::LAYER));
            row.info += &match input {
                Input::Offer { .. } => String::new(),
                Input::SetFault { station, fault: Some(_) } => format!("{} is faulty", own.frames.name(*station)),
                Input::SetFault { station, fault: None } => format!("{} is right again", own.frames.name(*station)),
                Input::Attach { station } => format!("{} is back on the medium", own.frames.name(*station)),
                Input::Detach { station } => format!("{} is off the medium", own.frames.name(*station)),
                Input::SetPlca { station, .. } => format!("{} has other settings of PLCA", own.frames.name(*station)),
                Input::SetCut { cut: Some(_) } => "the cable is cut".to_owned(),
                Input::SetCut { cut: None } => "the cable is mended".to_owned(),
            };
        })
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        let (at, frame) = (event.at, event.frame);
        self.now = at;
        match event.kind {
            Kind::Offered { size } => self.frames.offered(frame, size),
            Kind::Attempt { attempt, burst, .. } => {
                self.unsuccessful(at, frame)?;
                self.attempt(event, attempt, burst);
            }
            Kind::Collision { attempt, episode, .. } => self.collision(event, episode, attempt),
            Kind::JamEnd { .. } => self.ended(at, frame, None, true)?,
            Kind::Backoff { .. } => {
                self.unsuccessful(at, frame)?;
                self.put_event(event)?;
            }
            Kind::Damaged { .. } | Kind::TooLong { .. } | Kind::Duplicate { .. } => self.put_event(event)?,
            Kind::Rts { .. } => self.asks(frame, None),
            Kind::Data { .. } => self.asks(frame, Some(at)),
            Kind::Cts { .. } | Kind::Ack => self.put_event(event)?,
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => self.put_event(event)?,
            Kind::Transmitted { size, .. } => {
                self.ended(at, frame, Some(size.get() as usize), false)?;
                self.frames.done(frame);
            }
            Kind::Discarded { .. } | Kind::QueueDrop => {
                self.ended(at, frame, None, false)?;
                self.frames.done(frame);
                self.put_event(event)?;
            }
            Kind::Defer { .. } | Kind::Delivered { .. } | Kind::Fragment { .. } => {}
        }
        Ok(())
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), WriteError> {
        self.put_row(event.at, |own, row| {
            write_emulator(&mut row.json, &own.names, event);
            row.info.push_str("the machine, not the medium");
        })
    }

    fn missing(&mut self, inputs: u64, events: u64) -> Result<(), WriteError> {
        self.close()?;
        self.signals.forget();
        self.frames.forget_inputs();
        self.put_row(self.now, |_, row| {
            let json = format!("{{\"layer\":\"window\",\"kind\":\"missing\",\"inputs\":{inputs},\"events\":{events}}}");
            row.json.extend_from_slice(json.as_bytes());
            row.info = format!("{inputs} inputs and {events} events are missing here: the writer did not keep up");
        })
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.output.flush()
    }

    fn end(&mut self, _: End) -> Result<(), WriteError> {
        self.close()?;
        self.output.flush()
    }
}

/// Segment and place of a station along its cable, in bit times, where there is a cable.
fn where_is(topology: &Topology, station: usize) -> (Option<u64>, Option<u64>) {
    match topology {
        Topology::Star { .. } => (None, None),
        Topology::Bus { positions } => (None, Some(positions[station].get())),
        Topology::Segments(segments) => {
            let place = segments.stations()[station];
            (Some(place.segment as u64), Some(place.position.get()))
        }
    }
}

/// The `kind` of a line of an event log.
fn kind_of(json: &[u8]) -> &[u8] {
    const KEY: &[u8] = b"\"kind\":\"";
    let begin = json.windows(KEY.len()).position(|window| window == KEY).map_or(json.len(), |at| at + KEY.len());
    json[begin..].split(|octet| *octet == b'"').next().unwrap_or_default()
}
