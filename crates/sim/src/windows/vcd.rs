//! A run as waveforms in VCD (IEEE 1364-2005, clause 18), for GTKWave and Surfer.
//!
//! ```text
//!   st1 transmit   WaitingToSend | Transmitting | Jamming | BackingOff | …     the machines of 802.3, 4.2.8
//!       deference  Busy | GapPart1 | GapPart2 | Free | …         with collision detection: other methods have no such machine
//!       carrier    ________/‾‾‾‾‾‾‾‾‾‾\______        a signal at the station's place, whosever it is
//!       collision  ________/‾‾\______________        from when the station notices one until its jam is out
//!   turn           BEACON | none | COMMIT_3 | frame_3 | none | …              of a bus with PLCA: whose turn is used
//! ```
//! BEACONs are those that have an event. Carrier is what a station hears that is not deaf.

mod lines;
mod turns;

use super::{Known, Nanos, Window};
use crate::files::beside::{Note, take_each};
use crate::files::event_log::EmulatorEvent;
use crate::files::json_lines::{LineWriter, WriteError};
use crate::files::observer::Observer;
use crate::files::record::End;
use crate::scene::Signals;
use crate::words::prose::push_number;
use lines::{Change, Line, Wave, label};
use medium::{
    BitInstant, BitTimes, Config, Deference, DeferenceAct, DeferenceInput, Event, Input, MacKind, Method, Part,
    PlcaKind, StationId, Transmit,
};
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;

/// The longest gap that a waveform shows, in bit times: the longest that CSMA/CD allows.
const LONGEST_GAP: u64 = 1 << 31;

/// Writes waveforms.
#[derive(Debug)]
pub struct Vcd {
    output: LineWriter,
    config: Config,
    nanos: Nanos,
    stations: Vec<OfStation>,
    /// Each station's lines, by [`Change::place`].
    lines: Vec<[Line; Change::ALL.len()]>,
    /// What is on the medium.
    signals: Signals,
    /// The number of the next signal that is none of those seen.
    next_signal: u64,
    /// How many are sent at this instant.
    sending: u32,
    /// Senders notice collisions, and jam.
    detects: bool,
    /// With PLCA: who uses its turn, and the turn's id.
    turn: Option<(StationId, u32)>,
    /// What will be heard, and gaps that will end: by instant, and then in the order in which they were expected.
    agenda: VecDeque<(BitInstant, Vec<(u16, Due)>)>,
    /// Lists of instants that are over, to be used again.
    spare: Vec<Vec<(u16, Due)>>,
    /// The last instant in the file, in bit times and in nanoseconds.
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
    carrier: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    SignalEnds { signal: u64 },
    SignalBegins { signal: u64 },
    GapEnds { gap: u32 },
}

impl Vcd {
    /// Writes the declarations to a file that the caller opened at `place`.
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
            carrier: false,
        };
        let mut vcd = Vcd {
            output: LineWriter::new(file, place, "changes"),
            nanos: Nanos::new(config.rate),
            stations: known.macs.iter().map(|_| station()).collect(),
            lines: (0..known.macs.len() as u16).map(Line::all_of).collect(),
            signals: Signals::new(Arc::new(config.clone()), 0),
            next_signal: 0,
            sending: 0,
            detects: config.detects_collisions(),
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
            _ => None,
        };
        if turns.is_some() {
            text += "$var string 1 turn turn $end\n";
        }
        for (number, name) in known.header.stations.iter().enumerate() {
            let wire =
                |kind: &str, wave, name: &str| format!("$var {kind} {} {name} $end\n", label(number as u16, wave));
            text += &format!("$scope module {name} $end\n");
            text += &wire("string 1", Wave::Transmit, "transmit");
            if self.detects {
                text += &wire("string 1", Wave::Deference, "deference");
            }
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
            let has = |change: &&Change| self.detects || !matches!(change, Change::Deference(_));
            first.iter().filter(has).for_each(|change| text += &change.text(number));
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

    /// What the last event has changed on the medium is expected at the places that it reaches.
    fn follow(&mut self) {
        for place in 0..self.signals.changed().len() {
            let number = self.signals.changed()[place];
            let Some(signal) = self.signals.get(number) else { continue };
            let (source, begin, end) = (signal.source, signal.begin, signal.end);
            let is_new = number >= self.next_signal;
            self.next_signal = self.next_signal.max(number + 1);
            for station in 0..self.stations.len() as u16 {
                let reaches = |signal: &crate::scene::Signal| signal.reaches(StationId::new(station), &self.config);
                if !self.signals.get(number).is_some_and(reaches) {
                    continue;
                }
                let way = self.config.topology.distance(source, StationId::new(station));
                if is_new {
                    self.expect(begin + way, station, Due::SignalBegins { signal: number });
                }
                end.into_iter().for_each(|end| self.expect(end + way, station, Due::SignalEnds { signal: number }));
            }
        }
    }

    fn count(&mut self, at: BitInstant) -> Result<(), WriteError> {
        self.stamp(at)?;
        let count = self.sending;
        self.output.line(|line| write!(line, "b{count:b} sending").expect("a Vec takes any text"))
    }

    /// Writes what happens up to `now`.
    fn run_to(&mut self, now: BitInstant) -> Result<(), WriteError> {
        while self.agenda.front().is_some_and(|(at, _)| *at <= now) {
            let Some((at, mut list)) = self.agenda.pop_front() else { break };
            // Where one signal of a station follows another, carrier continues.
            let (begins, others): (Vec<_>, Vec<_>) = match self.config.method {
                Method::Plca(_) => list.drain(..).partition(|(_, due)| matches!(due, Due::SignalBegins { .. })),
                _ => (Vec::new(), Vec::new()),
            };
            for (station, due) in begins.into_iter().chain(others).chain(list.drain(..)) {
                self.happens(at, station, due)?;
            }
            self.spare.push(list);
        }
        Ok(())
    }

    fn happens(&mut self, at: BitInstant, station: u16, due: Due) -> Result<(), WriteError> {
        let own = &mut self.stations[usize::from(station)];
        match due {
            Due::GapEnds { gap } if gap == own.gap => self.defer(at, station, DeferenceInput::Timeout),
            Due::GapEnds { .. } => Ok(()),
            Due::SignalBegins { signal } => {
                let Some(signal) = self.signals.get(signal) else { return Ok(()) };
                let (is_own, what) = (signal.source.index() == usize::from(station), signal.what);
                own.signals += 1;
                if own.signals == 1 {
                    self.hear(at, station)?;
                }
                if is_own {
                    self.sending += 1;
                    self.count(at)?;
                    self.tell_use(at, StationId::new(station), what)?;
                }
                Ok(())
            }
            Due::SignalEnds { signal } => {
                let Some(signal) = self.signals.get(signal) else { return Ok(()) };
                let source = signal.source;
                let way = self.config.topology.distance(source, StationId::new(station));
                if signal.end.is_none_or(|end| end + way != at) {
                    // It was thought to end here, and does not.
                    return Ok(());
                }
                own.signals = own.signals.saturating_sub(1);
                own.own_last = source.index() == usize::from(station);
                let (is_own, is_silent) = (own.own_last, own.signals == 0);
                if is_silent {
                    self.hear(at, station)?;
                }
                if is_own {
                    self.sending = self.sending.saturating_sub(1);
                    self.count(at)?;
                    self.tell_end(at, source)?;
                }
                Ok(())
            }
        }
    }

    /// Carrier at a station's place begins or ends, or the station comes or goes.
    fn hear(&mut self, at: BitInstant, station: u16) -> Result<(), WriteError> {
        let own = &mut self.stations[usize::from(station)];
        let carrier = own.attached && own.signals > 0;
        if std::mem::replace(&mut own.carrier, carrier) == carrier {
            return Ok(());
        }
        self.change(at, station, Change::Carrier(carrier))?;
        self.defer(at, station, if carrier { DeferenceInput::CarrierOn } else { DeferenceInput::CarrierOff })
    }

    /// What the deference machine does (802.3, 4.2.8), by the engine's own table.
    fn defer(&mut self, at: BitInstant, station: u16, input: DeferenceInput) -> Result<(), WriteError> {
        if !self.detects {
            return Ok(());
        }
        // Only CSMA/CD holds these to their ranges; a log of another method may have any.
        let parameters = &self.config.parameters;
        let [gap, part_1] = [parameters.inter_packet_gap, parameters.inter_packet_gap_part_1]
            .map(|span| BitTimes::new(span.get().min(LONGEST_GAP)));
        let own = &mut self.stations[usize::from(station)];
        let (state, timer) = match own.deference.act(input) {
            None | Some(DeferenceAct::Stay) => return Ok(()),
            Some(DeferenceAct::Yield) => (Deference::Busy, None),
            Some(DeferenceAct::StartGap) if own.own_last => (Deference::GapPart2, Some(gap)),
            Some(DeferenceAct::StartGap) => (Deference::GapPart1, Some(part_1)),
            Some(DeferenceAct::StartPart2) => {
                (Deference::GapPart2, Some(BitTimes::new(gap.get().saturating_sub(part_1.get()))))
            }
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
        if let Input::Offer { .. } = input {
            return Ok(());
        }
        self.run_to(at)?;
        self.signals.input(at, input);
        let (station, attached) = match input {
            Input::Attach { station } => (station, true),
            Input::Detach { station } => (station, false),
            Input::Offer { .. } | Input::SetFault { .. } | Input::SetPlca { .. } | Input::SetCut { .. } => {
                return Ok(());
            }
        };
        self.stations[station.index()].attached = attached;
        self.hear(at, station.index() as u16)
    }

    fn event(&mut self, event: &Event) -> Result<(), WriteError> {
        let (at, station) = (event.at, event.station);
        self.run_to(at)?;
        self.signals.event(event);
        match event.kind.part() {
            Part::Mac(MacKind::Defer { .. }) => self.transmit(at, station, Transmit::WaitingToSend)?,
            Part::Mac(MacKind::Attempt { .. }) => self.transmit(at, station, Transmit::Transmitting)?,
            Part::Mac(MacKind::Collision { .. }) if self.detects => self.transmit(at, station, Transmit::Jamming)?,
            Part::Mac(MacKind::Backoff { .. }) => self.transmit(at, station, Transmit::BackingOff)?,
            Part::Mac(MacKind::Transmitted { .. } | MacKind::Discarded { attempts: 1.., .. }) => {
                self.transmit(at, station, Transmit::Idle)?;
            }
            Part::Plca(PlcaKind::Commit { id }) => self.turn = Some((station, id)),
            Part::Host(_) | Part::Mac(_) | Part::Receiver(_) | Part::Wireless(_) | Part::Plca(_) => {}
        }
        self.follow();
        Ok(())
    }

    fn emulator(&mut self, _: &EmulatorEvent) -> Result<(), WriteError> {
        Ok(())
    }

    fn missing(&mut self, inputs: u64, events: u64) -> Result<(), WriteError> {
        self.output.line(|line| {
            let text = format!("$comment {inputs} inputs and {events} events are missing here $end");
            line.extend_from_slice(text.as_bytes());
        })?;
        let last = self.agenda.back().map(|(at, _)| *at);
        self.run_to(last.unwrap_or(BitInstant::ZERO))?;
        // When the others ended is not known: at the latest where the missing begins.
        self.signals.forget();
        let at = last.or(self.now).unwrap_or(BitInstant::ZERO);
        self.sending = 0;
        for station in 0..self.stations.len() as u16 {
            self.stations[usize::from(station)].signals = 0;
            self.hear(at, station)?;
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
