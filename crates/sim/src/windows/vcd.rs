//! A run as waveforms in VCD (IEEE 1364-2005, clause 18), for GTKWave and Surfer.
//!
//! ```text
//!   st1 transmit   WaitingToSend | Transmitting | Jamming | BackingOff | …     the machines of 802.3, 4.2.8
//!       deference  Busy | GapPart1 | GapPart2 | Free | …
//!       carrier    ________/‾‾‾‾‾‾‾‾‾‾\______        a signal at the station's place, whosever it is
//!       collision  ________/‾‾\______________        from when the station notices one until its jam is out
//! ```
//! Carrier is worked out from who sends when and how far away. So it is what a station hears that is not deaf.

use super::{Known, Nanos};
use crate::files::event_log::EmulatorEvent;
use crate::files::json_lines::{LineWriter, WriteError};
use crate::files::observer::Observer;
use crate::files::record::End;
use medium::{
    BitInstant, BitTimes, Config, Deference, DeferenceAct, DeferenceInput, Event, FrameId, Input, Kind, Place,
};
use medium::{StationId, Transmit};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
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
    sending: Vec<Sending>,
    cut: Option<Place>,
    /// What will be heard, and gaps that will end, in order.
    due: BinaryHeap<Reverse<(BitInstant, u64, u16, Due)>>,
    order: u64,
    /// Which instant stands in the file last.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    SignalEnds { own: bool },
    SignalBegins,
    GapEnds { gap: u32 },
}

/// A station's signals in the file.
#[derive(Clone, Copy)]
enum Wave {
    Transmit,
    Deference,
    Carrier,
    Collision,
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
            sending: Vec::new(),
            cut: None,
            due: BinaryHeap::new(),
            order: 0,
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
        for number in 0..known.header.stations.len() as u16 {
            text += &format!("sIdle {}\nsFree {}\n", label(number, Wave::Transmit), label(number, Wave::Deference));
            text += &format!("0{}\n0{}\n", label(number, Wave::Carrier), label(number, Wave::Collision));
        }
        text += "$end";
        self.written = Some(0);
        self.output.line(|line| line.extend_from_slice(text.as_bytes()))
    }

    /// Writes a change of a value at `at`.
    fn change(&mut self, at: BitInstant, text: std::fmt::Arguments<'_>) -> Result<(), WriteError> {
        let nanos = self.nanos.of(at);
        if self.written != Some(nanos) {
            self.written = Some(nanos);
            self.output.line(|line| write!(line, "#{nanos}").expect("a Vec takes any text"))?;
        }
        self.output.line(|line| line.write_fmt(text).expect("a Vec takes any text"))
    }

    fn wire(&mut self, at: BitInstant, station: u16, wave: Wave, high: bool) -> Result<(), WriteError> {
        self.change(at, format_args!("{}{}", u8::from(high), label(station, wave)))
    }

    fn transmit(&mut self, at: BitInstant, station: StationId, state: Transmit) -> Result<(), WriteError> {
        let own = &mut self.stations[station.index()];
        if own.transmit == state {
            return Ok(());
        }
        let jammed = own.transmit == Transmit::Jamming;
        own.transmit = state;
        let number = station.index() as u16;
        self.change(at, format_args!("s{state:?} {}", label(number, Wave::Transmit)))?;
        match state {
            Transmit::Jamming => self.wire(at, number, Wave::Collision, true),
            Transmit::Idle | Transmit::WaitingToSend | Transmit::Transmitting | Transmit::BackingOff if jammed => {
                self.wire(at, number, Wave::Collision, false)
            }
            Transmit::Idle | Transmit::WaitingToSend | Transmit::Transmitting | Transmit::BackingOff => Ok(()),
        }
    }

    fn expect(&mut self, at: BitInstant, station: u16, due: Due) {
        self.order += 1;
        self.due.push(Reverse((at, self.order, station, due)));
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
        let count = self.sending.len();
        self.change(at, format_args!("b{count:b} sending"))
    }

    /// Writes what happens up to `now`.
    fn run_to(&mut self, now: BitInstant) -> Result<(), WriteError> {
        while self.due.peek().is_some_and(|Reverse((at, ..))| *at <= now) {
            let Some(Reverse((at, _, station, due))) = self.due.pop() else { break };
            let own = &mut self.stations[usize::from(station)];
            let input = match due {
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
            let Some(input) = input else { continue };
            match input {
                DeferenceInput::CarrierOn => self.wire(at, station, Wave::Carrier, true)?,
                DeferenceInput::CarrierOff => self.wire(at, station, Wave::Carrier, false)?,
                DeferenceInput::Timeout => {}
            }
            self.defer(at, station, input)?;
        }
        Ok(())
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
        self.change(at, format_args!("s{state:?} {}", label(station, Wave::Deference)))
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
                self.begins(event)
            }
            Kind::Collision { .. } => self.transmit(at, station, Transmit::Jamming),
            Kind::JamEnd { .. } => self.ends(at, event.frame),
            Kind::Backoff { .. } => {
                self.ends(at, event.frame)?;
                self.transmit(at, station, Transmit::BackingOff)
            }
            Kind::Transmitted { .. } => {
                self.transmit(at, station, Transmit::Idle)?;
                self.ends(at, event.frame)
            }
            Kind::Discarded { attempts, .. } => {
                let sends = self.sending.iter().any(|sending| sending.frame == event.frame);
                if sends || attempts > 0 {
                    self.transmit(at, station, Transmit::Idle)?;
                }
                self.ends(at, event.frame)
            }
            Kind::Offered { .. } | Kind::QueueDrop | Kind::Delivered { .. } => Ok(()),
            Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } | Kind::Duplicate { .. } => Ok(()),
            Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack => Ok(()),
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => Ok(()),
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
        let now = self.due.iter().map(|Reverse((at, ..))| *at).max();
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
