//! A run as waveforms in VCD (IEEE 1364-2005, clause 18), for GTKWave and Surfer.
//!
//! ```text
//!   st1 transmit   WaitingToSend | Transmitting | Jamming | BackingOff | …     the machines of 802.3, 4.2.8
//!       deference  Busy | GapPart1 | GapPart2 | Free | …
//!       carrier    ________/‾‾‾‾‾‾‾‾‾‾\______        a signal at the station's place, whosever it is
//!       collision  ________/‾‾\______________        from when the station notices one until its jam is out
//!   turn           BEACON | none | COMMIT_3 | frame_3 | none | …              of a bus with PLCA: whose turn is used
//! ```
//! Of BEACONs there are those that events tell of. Carrier is worked out from who sends when and how far away. So it is
//! what a station hears that is not deaf.

mod turns;

use super::{Known, Nanos, Window, append};
use crate::files::beside::{Note, take_each};
use crate::files::event_log::EmulatorEvent;
use crate::files::json_lines::{LineWriter, WriteError};
use crate::files::observer::Observer;
use crate::files::record::End;
use crate::words::prose::push_number;
use medium::{
    BitInstant, BitTimes, Config, Deference, DeferenceAct, DeferenceInput, Event, FrameId, Input, Kind, Method, Place,
};
use medium::{StationId, Transmit};
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

/// Writes waveforms.
#[derive(Debug)]
pub struct Vcd {
    output: LineWriter,
    config: Config,
    nanos: Nanos,
    stations: Vec<OfStation>,
    /// Each station's lines, by [`Change::place`].
    lines: Vec<[Line; Change::ALL.len()]>,
    sending: Vec<Sending>,
    cut: Option<Place>,
    /// With PLCA: who uses its turn, and the turn's id.
    turn: Option<(StationId, u32)>,
    /// What will be heard, and gaps that will end: by instant, and then in the order in which they were expected.
    agenda: VecDeque<(BitInstant, Vec<(u16, Due)>)>,
    /// Lists of instants that are over, to be used again.
    spare: Vec<Vec<(u16, Due)>>,
    /// Which instant stands in the file last, and in nanoseconds.
    now: Option<BitInstant>,
    written: Option<u64>,
}

#[derive(Debug)]
struct OfStation {
    transmit: Transmit,
    deference: Deference,
    /// Signals at its place.
    signals: u32,
    /// The last one that ended was its own.
    own_last: bool,
    /// Gaps that were begun: an end of another is none of the present one.
    gap: u32,
    attached: bool,
}

#[derive(Debug)]
struct Sending {
    frame: FrameId,
    /// Who hears it, the sender included.
    hearers: Box<[u16]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    SignalEnds { own: bool },
    SignalBegins,
    GapEnds { gap: u32 },
    BeaconEnds,
}

/// A station's signals in the file.
#[derive(Clone, Copy)]
enum Wave {
    Transmit,
    Deference,
    Carrier,
    Collision,
}

/// What a signal becomes. In the file a wire's value stands before its identifier, a string's with a blank between.
#[derive(Clone, Copy)]
enum Change {
    Transmit(Transmit),
    Deference(Deference),
    Carrier(bool),
    Collision(bool),
}

impl Change {
    /// Each once, by [`Change::place`].
    const ALL: [Change; 13] = [
        Change::Transmit(Transmit::Idle),
        Change::Transmit(Transmit::WaitingToSend),
        Change::Transmit(Transmit::Transmitting),
        Change::Transmit(Transmit::Jamming),
        Change::Transmit(Transmit::BackingOff),
        Change::Deference(Deference::Free),
        Change::Deference(Deference::Busy),
        Change::Deference(Deference::GapPart1),
        Change::Deference(Deference::GapPart2),
        Change::Carrier(false),
        Change::Carrier(true),
        Change::Collision(false),
        Change::Collision(true),
    ];

    fn place(self) -> usize {
        match self {
            Change::Transmit(Transmit::Idle) => 0,
            Change::Transmit(Transmit::WaitingToSend) => 1,
            Change::Transmit(Transmit::Transmitting) => 2,
            Change::Transmit(Transmit::Jamming) => 3,
            Change::Transmit(Transmit::BackingOff) => 4,
            Change::Deference(Deference::Free) => 5,
            Change::Deference(Deference::Busy) => 6,
            Change::Deference(Deference::GapPart1) => 7,
            Change::Deference(Deference::GapPart2) => 8,
            Change::Carrier(high) => 9 + usize::from(high),
            Change::Collision(high) => 11 + usize::from(high),
        }
    }

    fn text(self, station: u16) -> String {
        let bit = u8::from;
        match self {
            Change::Transmit(state) => format!("s{state:?} {}\n", label(station, Wave::Transmit)),
            Change::Deference(state) => format!("s{state:?} {}\n", label(station, Wave::Deference)),
            Change::Carrier(high) => format!("{}{}\n", bit(high), label(station, Wave::Carrier)),
            Change::Collision(high) => format!("{}{}\n", bit(high), label(station, Wave::Collision)),
        }
    }
}

/// A line of the file that is made once and used often: copied in a few instructions, without a call.
#[derive(Clone, Copy, Debug)]
struct Line {
    octets: [u8; Line::ROOM],
    length: usize,
}

impl Line {
    /// `sWaitingToSend t65535` and the line's end take 22.
    const ROOM: usize = 24;

    fn all_of(station: u16) -> [Line; Change::ALL.len()] {
        Change::ALL.map(|change| {
            let text = change.text(station);
            let (mut octets, length) = ([0; Line::ROOM], text.len());
            octets[..length].copy_from_slice(text.as_bytes());
            Line { octets, length }
        })
    }

    fn append(&self, into: &mut Vec<u8>) {
        append(into, &self.octets, self.length);
    }
}

impl Vcd {
    /// Writes the declarations to a file that somebody opened at `place`.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed.
    pub fn new(file: File, place: String, known: &Known) -> Result<Vcd, WriteError> {
        let config = known.header.config();
        let station = || OfStation {
            transmit: Transmit::Idle,
            deference: Deference::Free,
            signals: 0,
            own_last: false,
            gap: 0,
            attached: true,
        };
        let mut vcd = Vcd {
            output: LineWriter::new(file, place, "changes"),
            nanos: Nanos::new(config.rate),
            stations: known.macs.iter().map(|_| station()).collect(),
            lines: (0..known.macs.len() as u16).map(Line::all_of).collect(),
            sending: Vec::new(),
            cut: None,
            turn: None,
            agenda: VecDeque::new(),
            spare: Vec::new(),
            now: None,
            written: None,
            config,
        };
        vcd.declare(known)?;
        vcd.output.flush()?;
        Ok(vcd)
    }

    fn declare(&mut self, known: &Known) -> Result<(), WriteError> {
        let mut text =
            format!("$comment ethbus: {} $end\n$timescale 1 ns $end\n$scope module bus $end\n", known.header.program);
        text += "$var wire 16 sending sending $end\n";
        let turns = match &self.config.method {
            Method::Plca(plca) => Some(plca.beacon),
            Method::CsmaCd | Method::SlottedAloha(_) | Method::Aloha(_) | Method::Csma(_) | Method::CsmaCa(_) => None,
        };
        if turns.is_some() {
            text += "$var string 1 turn turn $end\n";
        }
        for (number, name) in known.header.stations.iter().enumerate() {
            let wire =
                |kind: &str, wave, name: &str| format!("$var {kind} {} {name} $end\n", label(number as u16, wave));
            text += &format!("$scope module {name} $end\n");
            text += &wire("string 1", Wave::Transmit, "transmit");
            text += &wire("string 1", Wave::Deference, "deference");
            text += &wire("wire 1", Wave::Carrier, "carrier");
            text += &wire("wire 1", Wave::Collision, "collision");
            text += "$upscope $end\n";
        }
        text += "$upscope $end\n$enddefinitions $end\n#0\n$dumpvars\nb0 sending\n";
        if turns.is_some() {
            text += "snone turn\n";
        }
        let first = [
            Change::Transmit(Transmit::Idle),
            Change::Deference(Deference::Free),
            Change::Carrier(false),
            Change::Collision(false),
        ];
        for number in 0..known.header.stations.len() as u16 {
            first.iter().for_each(|change| text += &change.text(number));
        }
        text += "$end";
        self.written = Some(0);
        self.output.line(|line| line.extend_from_slice(text.as_bytes()))
    }

    /// Writes what time it is, if that is new.
    fn stamp(&mut self, at: BitInstant) -> Result<(), WriteError> {
        if self.now == Some(at) {
            return Ok(());
        }
        self.now = Some(at);
        let nanos = self.nanos.of(at);
        if self.written == Some(nanos) {
            return Ok(());
        }
        self.written = Some(nanos);
        self.output.line(|line| {
            line.push(b'#');
            push_number(line, nanos);
        })
    }

    /// Writes a change of a station's signal at `at`.
    fn change(&mut self, at: BitInstant, station: u16, change: Change) -> Result<(), WriteError> {
        self.stamp(at)?;
        let line = &self.lines[usize::from(station)][change.place()];
        self.output.unit(|into| line.append(into))
    }

    fn transmit(&mut self, at: BitInstant, station: StationId, state: Transmit) -> Result<(), WriteError> {
        let own = &mut self.stations[station.index()];
        if own.transmit == state {
            return Ok(());
        }
        let jammed = own.transmit == Transmit::Jamming;
        own.transmit = state;
        let number = station.index() as u16;
        self.change(at, number, Change::Transmit(state))?;
        match state {
            Transmit::Jamming => self.change(at, number, Change::Collision(true)),
            Transmit::Idle | Transmit::WaitingToSend | Transmit::Transmitting | Transmit::BackingOff if jammed => {
                self.change(at, number, Change::Collision(false))
            }
            Transmit::Idle | Transmit::WaitingToSend | Transmit::Transmitting | Transmit::BackingOff => Ok(()),
        }
    }

    fn expect(&mut self, at: BitInstant, station: u16, due: Due) {
        let place = self.agenda.partition_point(|(instant, _)| *instant < at);
        if self.agenda.get(place).is_none_or(|(instant, _)| *instant != at) {
            self.agenda.insert(place, (at, self.spare.pop().unwrap_or_default()));
        }
        self.agenda[place].1.push((station, due));
    }

    /// A station begins to send: those that are on its side of the cut will hear it.
    fn begins(&mut self, event: &Event) -> Result<(), WriteError> {
        let sender = event.station;
        let beyond = self.cut.and_then(|cut| self.config.topology.beyond(cut).ok());
        let same = |other: usize| beyond.as_ref().is_none_or(|beyond| beyond[other] == beyond[sender.index()]);
        let heard = |other: &u16| same(usize::from(*other)) && self.stations[usize::from(*other)].attached;
        let hearers: Box<[u16]> = (0..self.stations.len() as u16).filter(heard).collect();
        for hearer in &hearers {
            let distance = self.config.topology.distance(sender, StationId::new(*hearer));
            self.expect(event.at + distance, *hearer, Due::SignalBegins);
        }
        self.sending.push(Sending { frame: event.frame, hearers });
        self.count(event.at)
    }

    /// Its last bit is out.
    fn ends(&mut self, at: BitInstant, frame: FrameId) -> Result<(), WriteError> {
        let Some(place) = self.sending.iter().position(|sending| sending.frame == frame) else { return Ok(()) };
        let sending = self.sending.swap_remove(place);
        for hearer in &sending.hearers {
            let hearer_id = StationId::new(*hearer);
            let distance = self.config.topology.distance(frame.station, hearer_id);
            self.expect(at + distance, *hearer, Due::SignalEnds { own: hearer_id == frame.station });
        }
        self.count(at)
    }

    fn count(&mut self, at: BitInstant) -> Result<(), WriteError> {
        self.stamp(at)?;
        let count = self.sending.len();
        self.output.line(|line| write!(line, "b{count:b} sending").expect("a Vec takes any text"))
    }

    /// Writes what happens up to `now`.
    fn run_to(&mut self, now: BitInstant) -> Result<(), WriteError> {
        while self.agenda.front().is_some_and(|(at, _)| *at <= now) {
            let Some((at, mut list)) = self.agenda.pop_front() else { break };
            for (station, due) in list.drain(..) {
                self.happens(at, station, due)?;
            }
            self.spare.push(list);
        }
        Ok(())
    }

    fn happens(&mut self, at: BitInstant, station: u16, due: Due) -> Result<(), WriteError> {
        if due == Due::BeaconEnds {
            return self.tell_turn(at, "none");
        }
        let own = &mut self.stations[usize::from(station)];
        let input = match due {
            Due::BeaconEnds => None,
            Due::GapEnds { gap } if gap == own.gap => Some(DeferenceInput::Timeout),
            Due::GapEnds { .. } => None,
            Due::SignalBegins => {
                own.signals += 1;
                (own.signals == 1).then_some(DeferenceInput::CarrierOn)
            }
            Due::SignalEnds { own: is_own } => {
                own.signals -= 1;
                own.own_last = is_own;
                (own.signals == 0).then_some(DeferenceInput::CarrierOff)
            }
        };
        let Some(input) = input else { return Ok(()) };
        match input {
            DeferenceInput::CarrierOn => self.change(at, station, Change::Carrier(true))?,
            DeferenceInput::CarrierOff => self.change(at, station, Change::Carrier(false))?,
            DeferenceInput::Timeout => {}
        }
        self.defer(at, station, input)
    }

    /// What the deference machine does (802.3, 4.2.8), by the engine's own table.
    fn defer(&mut self, at: BitInstant, station: u16, input: DeferenceInput) -> Result<(), WriteError> {
        let (gap, part_1) = (self.config.parameters.inter_packet_gap, self.config.parameters.inter_packet_gap_part_1);
        let own = &mut self.stations[usize::from(station)];
        let (state, timer) = match own.deference.act(input) {
            None | Some(DeferenceAct::Stay) => return Ok(()),
            Some(DeferenceAct::Yield) => (Deference::Busy, None),
            Some(DeferenceAct::StartGap) if own.own_last => (Deference::GapPart2, Some(gap)),
            Some(DeferenceAct::StartGap) => (Deference::GapPart1, Some(part_1)),
            Some(DeferenceAct::StartPart2) => (Deference::GapPart2, Some(BitTimes::new(gap.get() - part_1.get()))),
            // A signal that came in part 2 keeps the station from what follows.
            Some(DeferenceAct::Release) if own.signals > 0 => (Deference::Busy, None),
            Some(DeferenceAct::Release) => (Deference::Free, None),
        };
        own.deference = state;
        own.gap += 1;
        let gap = own.gap;
        timer.into_iter().for_each(|span| self.expect(at + span, station, Due::GapEnds { gap }));
        self.change(at, station, Change::Deference(state))
    }
}

/// A signal's identifier: printable, and short.
fn label(station: u16, wave: Wave) -> String {
    let letter = match wave {
        Wave::Transmit => 't',
        Wave::Deference => 'd',
        Wave::Carrier => 'c',
        Wave::Collision => 'x',
    };
    format!("{letter}{station}")
}

impl Window for Vcd {
    fn write_beside(&mut self) {
        self.output.write_beside();
    }

    fn take(&mut self, batch: &[Note]) -> Result<(), WriteError> {
        take_each(self, batch)
    }
}

impl Observer for Vcd {
    type Error = WriteError;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), WriteError> {
        match input {
            Input::Offer { .. } | Input::SetFault { .. } | Input::SetPlca { .. } => return Ok(()),
            Input::SetCut { cut } => self.cut = *cut,
            Input::Attach { station } => self.stations[station.index()].attached = true,
            Input::Detach { station } => self.stations[station.index()].attached = false,
        }
        self.run_to(at)
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        let (at, station) = (event.at, event.station);
        self.run_to(at)?;
        match event.kind {
            Kind::Defer { .. } => self.transmit(at, station, Transmit::WaitingToSend),
            Kind::Attempt { .. } => {
                // One without collision detection that was in vain.
                self.ends(at, event.frame)?;
                self.transmit(at, station, Transmit::Transmitting)?;
                self.uses_turn(at, station)?;
                self.begins(event)
            }
            Kind::Collision { .. } => self.transmit(at, station, Transmit::Jamming),
            Kind::JamEnd { .. } => {
                self.leaves_turn(at, station)?;
                self.ends(at, event.frame)
            }
            Kind::Backoff { .. } => {
                self.ends(at, event.frame)?;
                self.transmit(at, station, Transmit::BackingOff)
            }
            Kind::Transmitted { .. } => {
                self.transmit(at, station, Transmit::Idle)?;
                self.leaves_turn(at, station)?;
                self.ends(at, event.frame)
            }
            Kind::Discarded { attempts, .. } => {
                let sends = self.sending.iter().any(|sending| sending.frame == event.frame);
                if sends || attempts > 0 {
                    self.transmit(at, station, Transmit::Idle)?;
                    self.leaves_turn(at, station)?;
                }
                self.ends(at, event.frame)
            }
            Kind::Offered { .. } | Kind::QueueDrop | Kind::Delivered { .. } => Ok(()),
            Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } | Kind::Duplicate { .. } => Ok(()),
            Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack => Ok(()),
            Kind::Beacon { .. } => self.beacon(at, station),
            Kind::Commit { id } => self.takes_turn(at, station, id),
            Kind::PlcaStatus { .. } => Ok(()),
        }
    }

    fn emulator(&mut self, _: &EmulatorEvent) -> Result<(), WriteError> {
        Ok(())
    }

    fn missing(&mut self, inputs: u64, events: u64) -> Result<(), WriteError> {
        self.output.line(|line| {
            let text = format!("$comment {inputs} inputs and {events} events are missing here $end");
            line.extend_from_slice(text.as_bytes());
        })?;
        let now = self.agenda.back().map(|(at, _)| *at);
        for sending in std::mem::take(&mut self.sending) {
            // When it ended is not known: at the latest where the missing begins.
            let hearers = sending.hearers.iter().copied();
            hearers.for_each(|hearer| {
                self.expect(now.unwrap_or(BitInstant::ZERO), hearer, Due::SignalEnds { own: false })
            });
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.output.flush()
    }

    fn end(&mut self, end: End) -> Result<(), WriteError> {
        self.run_to(BitInstant::new(end.run_to))?;
        self.output.flush()
    }
}

#[cfg(test)]
mod tests;
