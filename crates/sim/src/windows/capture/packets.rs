//! The content of a capture: each transmission as octets, and other events as rows.

use super::super::frames::{FCS, Frames, Offered};
use super::super::pcapng::{self, Packet};
use super::super::{Known, Nanos};
use super::Framing;
use crate::files::columns::number;
use crate::files::event_log::{Container, EmulatorEvent, EmulatorKind, Names, write_emulator, write_event};
use crate::files::inputs;
use crate::scene::Signals;
use crate::words::prose::Prose;
use crate::words::sentences;
use medium::{BitInstant, BitTimes, Config, Deed, Event, FrameId, Joiner, StationId, Topology};
use std::sync::Arc;

const PREAMBLE_AND_SFD: [u8; 8] = [0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0xd5];
/// The jam's content is free (802.3, 4.2.3.2.4), but it is not the FCS of the octets before it.
const JAM: u8 = 0xaa;

/// Makes packets and rows.
#[derive(Debug)]
pub(super) struct Packets {
    pub framing: Framing,
    pub config: Arc<Config>,
    pub frames: Frames,
    nanos: Nanos,
    /// What stamps have at bit instant 0, in nanoseconds.
    epoch: u64,
    names: Names,
    /// The number of the interface "bus"; a plain capture has none.
    bus: Option<u32>,
    /// No station's name needs an escape in JSON.
    is_plain: bool,
    /// The containers that stations are as the capture begins.
    containers: Vec<(StationId, Container)>,
}

/// A transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    pub frame: FrameId,
    /// The first bit of the preamble.
    pub begin: BitInstant,
    /// Which attempt of the frame.
    pub attempt: u32,
    /// Its sender has the fault `bad_fcs`.
    pub bad_fcs: bool,
    /// The collision that its sender noticed: when, and which overlap.
    pub collision: Option<(BitInstant, u64)>,
}

/// What became of a frame that was sent to its last bit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    /// It is transmitted.
    Transmitted { access_delay: BitTimes, mac_delay: BitTimes },
    /// Its sender got no answer, although the addressee had received the frame.
    Unanswered,
    /// Its addressee did not receive it.
    Destroyed,
}

/// A row whose columns are not all known.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenRow {
    packet: Packet,
    /// Where its sentence begins and ends.
    says: (usize, usize),
}

impl Packets {
    pub fn new(known: &Known, framing: Framing) -> Packets {
        let config = Arc::new(known.header.config());
        let stations = &known.header.seats();
        let escaped = |name: &String| name.chars().any(|c| c.is_control() || c == '"' || c == '\\');
        Packets {
            framing,
            nanos: Nanos::new(config.rate),
            epoch: known.epoch.unwrap_or(0),
            names: Names::new(stations),
            frames: Frames::new(stations, &known.macs),
            bus: (framing == Framing::Whole).then_some(known.header.stations.len() as u32),
            is_plain: !stations.iter().any(escaped),
            config,
            containers: known.containers.clone(),
        }
    }

    /// What the interface of a station has, and which container the station is.
    pub fn description(&self, station: StationId) -> String {
        let own = match where_is(&self.config.topology, station.index()) {
            (None, None) => "what this station sent".to_owned(),
            (None, Some(bits)) => format!("what this station sent, {bits} BT from the cable's end"),
            (Some(segment), bits) => {
                format!("what this station sent, on segment {segment} at {} BT", bits.unwrap_or(0))
            }
        };
        match self.containers.iter().find(|(of, _)| *of == station) {
            Some((_, Container { name, id })) => format!("{own}; the container {name}, {id}"),
            None => own,
        }
    }

    /// From now on `station` is the one that joins.
    pub fn call(&mut self, station: StationId, who: &Joiner) {
        if let Some(place) = who.place.filter(|place| self.config.topology.place(station) != Some(*place)) {
            Arc::make_mut(&mut self.config).take_place(station, place);
        }
        self.names.call(station, who.name());
        self.frames.call(station, who);
    }

    /// Appends a frame that was sent to its last bit, with `size` octets from destination address to FCS.
    pub fn whole(&self, into: &mut Vec<u8>, sent: &Transmission, size: usize, fate: Fate) {
        let frame = sent.frame;
        let offered = self.frames.get(frame);
        let mut flags = self.flags(offered);
        let least = self.config.parameters.min_frame_size.get() as usize;
        let cut = offered.is_some_and(|offered| size < (offered.frame.size.get() as usize).max(least));
        let tagged = offered.is_some_and(|offered| offered.frame.tagged);
        flags |= if sent.bad_fcs || cut || matches!(fate, Fate::Destroyed) { pcapng::CRC_ERROR } else { 0 };
        let most = self.config.parameters.frame_size_limit(tagged).get() as usize;
        flags |= if size > most { pcapng::TOO_LONG } else { 0 };
        let packet = self.begin(into, sent);
        if self.framing == Framing::Whole {
            into.extend_from_slice(&PREAMBLE_AND_SFD);
        }
        let begin = into.len();
        if cut {
            self.frames.write(frame, offered, size, into);
        } else {
            self.frames.write(frame, offered, size - FCS, into);
            let fcs = crc32fast::hash(&into[begin..]);
            into.extend_from_slice(&(if sent.bad_fcs { !fcs } else { fcs }).to_le_bytes());
        }
        packet.end_with_comment(into, flags, |into| self.tell_whole(&mut Prose::new(into, " "), sent, fate));
    }

    /// Appends how long a frame took, or why it is sent again.
    fn tell_whole(&self, prose: &mut Prose<'_>, sent: &Transmission, fate: Fate) {
        self.tell_attempt(prose, sent);
        if let Fate::Transmitted { access_delay, mac_delay } = fate {
            prose.put("access delay ");
            prose.number(self.nanos.of(BitInstant::ZERO + access_delay));
            prose.put(" ns, MAC delay ");
            prose.number(self.nanos.of(BitInstant::ZERO + mac_delay));
            return prose.put(" ns");
        }
        if let Some((_, episode)) = sent.collision {
            tell_collision(prose, episode);
            prose.put(", ");
        }
        prose.put(match fate {
            Fate::Unanswered => "received, but not answered",
            Fate::Transmitted { .. } | Fate::Destroyed => "not received",
        });
    }

    /// Appends what each comment begins with.
    fn tell_attempt(&self, prose: &mut Prose<'_>, sent: &Transmission) {
        prose.frame(self.frames.name(sent.frame.station), sent.frame.serial);
        prose.put(", attempt ");
        prose.number(sent.attempt.into());
        prose.put(": ");
    }

    /// Appends what a station sent until its jam was out, or until it was taken off the medium; nothing if that is too
    /// short for a packet.
    pub fn fragment(&self, into: &mut Vec<u8>, sent: &Transmission, end: BitInstant, jam: bool) {
        let frame = sent.frame;
        let jam = if jam { self.config.parameters.jam_size.get() } else { 0 };
        let bits = end.get().saturating_sub(sent.begin.get()).saturating_sub(jam);
        let octets = (bits / 8).saturating_sub(PREAMBLE_AND_SFD.len() as u64) as usize;
        let all = octets + (jam / 8) as usize;
        if bits < 64 || all < FCS {
            return;
        }
        let short = all < self.config.parameters.min_frame_size.get() as usize;
        let offered = self.frames.get(frame);
        let flags = self.flags(offered)
            | pcapng::CRC_ERROR
            | if short { pcapng::TOO_SHORT } else { 0 }
            | if bits.is_multiple_of(8) { 0 } else { pcapng::UNALIGNED };
        let packet = self.begin(into, sent);
        into.extend_from_slice(&PREAMBLE_AND_SFD);
        self.frames.write(frame, offered, octets, into);
        into.resize(into.len() + (jam / 8) as usize, JAM);
        packet.end_with_comment(into, flags, |into| self.tell_fragment(&mut Prose::new(into, " "), sent, end));
    }

    /// Appends which collision it was.
    fn tell_fragment(&self, prose: &mut Prose<'_>, sent: &Transmission, end: BitInstant) {
        self.tell_attempt(prose, sent);
        match sent.collision {
            Some((at, episode)) => {
                tell_collision(prose, episode);
                prose.put(" at ");
                prose.number(at.get());
                prose.put(" BT, jam until ");
            }
            None => prose.put("cut off at "),
        }
        prose.number(end.get());
        prose.put(" BT");
    }

    fn begin(&self, into: &mut Vec<u8>, sent: &Transmission) -> Packet {
        // Those of stations that joined come after the bus's.
        let number = sent.frame.station.index() as u32;
        let is_after = self.bus.is_some_and(|bus| number >= bus);
        Packet::begin(into, number + u32::from(is_after), self.nanos(sent.begin))
    }

    /// The number of the interface "bus", which comes after those of the first stations; 0 in a plain capture.
    pub fn bus(&self) -> u32 {
        self.bus.unwrap_or(0)
    }

    /// The stamp of an instant.
    #[inline]
    pub fn nanos(&self, at: BitInstant) -> u64 {
        self.epoch.saturating_add(self.nanos.of(at))
    }

    fn flags(&self, offered: Option<&Offered>) -> u32 {
        let destination = self.frames.destination(offered);
        let kind = match destination[0] & 1 {
            0 => pcapng::UNICAST,
            _ if destination == [0xff; 6] => pcapng::BROADCAST,
            _ => pcapng::MULTICAST,
        };
        pcapng::OUTBOUND | pcapng::FCS_LENGTH | kind
    }

    /// Begins a row of the interface "bus"; `say` appends its sentence.
    fn begin_row(&self, into: &mut Vec<u8>, at: BitInstant, kind: &[u8], say: impl FnOnce(&mut Prose<'_>)) -> OpenRow {
        let packet = Packet::begin(into, self.bus(), self.nanos(at));
        let says = pcapng::json_tags(into, kind, |into| say(&mut Prose::new(into, " ")));
        OpenRow { packet, says: (says.start, says.end) }
    }

    /// Appends a row's last column, its sentence, and ends it.
    fn end_row(&self, into: &mut Vec<u8>, row: OpenRow) {
        into.extend_from_slice(b",\"says\":");
        if self.is_plain {
            into.push(b'"');
            into.extend_from_within(row.says.0..row.says.1);
            into.push(b'"');
        } else {
            let says = String::from_utf8_lossy(&into[row.says.0..row.says.1]).into_owned();
            serde_json::to_writer(&mut *into, &says).expect("a Vec takes any text");
        }
        into.push(b'}');
        row.packet.end(into);
    }

    /// Appends an event.
    pub fn event(&self, into: &mut Vec<u8>, event: &Event) {
        let station = self.frames.name(event.station);
        let say = |prose: &mut Prose<'_>| sentences::tell(prose, event, station, &self.config);
        let row = self.begin_row(into, event.at, event.kind.name().as_bytes(), say);
        write_event(into, &self.names, event);
        self.end_row(into, row);
    }

    /// Appends a collision up to what is known as it is noticed: what ends or begins afterwards changes nothing of the
    /// sentence.
    pub fn begin_collision(&self, into: &mut Vec<u8>, event: &Event, signals: &Signals) -> OpenRow {
        let say = |prose: &mut Prose<'_>| signals.tell_collision(prose, event, self.frames.names());
        let row = self.begin_row(into, event.at, event.kind.name().as_bytes(), say);
        write_event(into, &self.names, event);
        row
    }

    /// Appends who met whom, and where.
    pub fn end_collision(
        &self,
        into: &mut Vec<u8>,
        row: OpenRow,
        station: StationId,
        others: impl Iterator<Item = FrameId>,
    ) {
        into.extend_from_slice(b",\"with\":[");
        let mut separator = "";
        for other in others {
            self.names.write_name(into, separator, other);
            separator = ",";
        }
        into.push(b']');
        let (segment, position) = where_is(&self.config.topology, station.index());
        segment.iter().for_each(|segment| number(into, "segment", *segment));
        position.iter().for_each(|position| number(into, "position_bt", *position));
        self.end_row(into, row);
    }

    /// Appends what was done to the medium.
    pub fn deed(&self, into: &mut Vec<u8>, at: BitInstant, deed: &Deed) {
        let mut json = Vec::new();
        inputs::write_deed(&mut json, &self.names, at, *deed);
        let info = deed.sentence(|station| self.frames.name(station));
        self.line(into, at, (deed.word().as_bytes(), &json), &info);
    }

    /// Appends what happened to the emulator.
    pub fn emulator(&self, into: &mut Vec<u8>, event: &EmulatorEvent) {
        let mut json = Vec::new();
        write_emulator(&mut json, &self.names, event);
        let info = match &event.kind {
            EmulatorKind::Container { station, container } => {
                format!("{} is the container {}", self.frames.name(*station), container.name)
            }
            _ => "the machine, not the medium".to_owned(),
        };
        self.line(into, event.at, (kind_of(&json), &json), &info);
    }

    /// Appends that something is missing before `at`.
    pub fn missing(&self, into: &mut Vec<u8>, at: BitInstant, inputs: u64, events: u64) {
        let json = format!("{{\"layer\":\"window\",\"kind\":\"missing\",\"inputs\":{inputs},\"events\":{events}}}");
        let info = format!("{inputs} inputs and {events} events are missing here: the writer did not keep up");
        self.line(into, at, (b"missing", json.as_bytes()), &info);
    }

    /// Appends a whole line of a trace as a row.
    fn line(&self, into: &mut Vec<u8>, at: BitInstant, (kind, json): (&[u8], &[u8]), info: &str) {
        let row = self.begin_row(into, at, kind, |prose| prose.put(info));
        into.extend_from_slice(json.strip_suffix(b"}").unwrap_or(json));
        self.end_row(into, row);
    }
}

/// Appends which overlap a comment is about.
fn tell_collision(prose: &mut Prose<'_>, episode: u64) {
    prose.put("collision ");
    prose.number(episode);
    prose.put(" on this medium");
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

/// The `kind` of a line of a trace.
fn kind_of(json: &[u8]) -> &[u8] {
    const KEY: &[u8] = b"\"kind\":\"";
    let begin = json.windows(KEY.len()).position(|window| window == KEY).map_or(json.len(), |at| at + KEY.len());
    json[begin..].split(|octet| *octet == b'"').next().unwrap_or_default()
}
