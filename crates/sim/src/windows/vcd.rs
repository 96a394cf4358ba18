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

mod agenda;
mod lines;
mod turns;

use super::{Known, Nanos, Window};
use crate::files::beside::{Batch, take_each};
use crate::files::event_log::EmulatorEvent;
use crate::files::json_lines::{LineWriter, WriteError};
use crate::files::observer::{End, Observer};
use crate::scene::Signals;
use crate::words::prose::push_number;
use agenda::{Agenda, Due, List, Reached, Row};
use lines::{Change, Lines, Wave, label};
use medium::{
    BitInstant, BitTimes, Clock, Config, Deference, DeferenceAct, DeferenceInput, Event, Input, MacKind, Method, Part,
    PlcaKind, StationId, Transmit,
};
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
    /// By [`Change::number`].
    lines: Vec<Lines>,
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
    /// interPacketGap and its part 1.
    gap: BitTimes,
    part_1: BitTimes,
    agenda: Agenda,
    reached: Reached,
    /// The last instant in the file, in bit times and in nanoseconds.
    now: Option<BitInstant>,
    written: Option<u64>,
}

#[derive(Debug)]
struct OfStation {
    transmit: Transmit,
    place: Place,
    /// The last signal that ended at its place was its own.
    own_last: bool,
    /// The number of its gap, 0 without one: the end of another gap changes nothing.
    gap: u64,
    /// When its last gap began.
    gap_since: BitInstant,
}

/// What a station hears and makes of it. Stations beside each other are often alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    deference: Deference,
    /// Signals there.
    signals: u32,
    attached: bool,
    carrier: bool,
    /// What times its gaps.
    clock: Clock,
}

impl Vcd {
    /// Writes the declarations to a file that the caller opened at `place`.
    ///
    /// # Errors
    /// The disk is full, the pipe is closed.
    pub fn new(file: File, place: String, known: &Known) -> Result<Vcd, WriteError> {
        let config = known.header.config();
        // Only CSMA/CD holds these to their ranges; a trace of another method may have any.
        let [gap, part_1] = [config.parameters.inter_packet_gap, config.parameters.inter_packet_gap_part_1]
            .map(|span| BitTimes::new(span.get().min(LONGEST_GAP)));
        let is_plca = matches!(config.method, Method::Plca(_));
        let station = |number: u16| {
            let number = StationId::new(number);
            // With PLCA gaps have the medium's bits.
            let clock = if is_plca { Clock::RIGHT } else { config.clock(number) };
            let attached = !config.is_seat(number);
            let place = Place { deference: Deference::Free, signals: 0, attached, carrier: false, clock };
            let (gap, gap_since) = (0, BitInstant::ZERO);
            OfStation { transmit: Transmit::Idle, place, own_last: false, gap, gap_since }
        };
        let mut vcd = Vcd {
            output: LineWriter::new(file, place, "changes"),
            nanos: Nanos::new(config.rate),
            stations: (0..known.macs.len() as u16).map(station).collect(),
            lines: Lines::all(known.macs.len() as u16, known.header.stations.len() as u16),
            signals: Signals::new(Arc::new(config.clone()), 0),
            next_signal: 0,
            sending: 0,
            detects: config.detects_collisions(),
            turn: None,
            gap,
            part_1,
            agenda: Agenda::default(),
            reached: Reached::new(known.macs.len()),
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
            Change::Place(None, Some(Deference::Free)),
            Change::Place(Some(false), None),
            Change::Collision(false),
        ];
        for number in 0..known.header.stations.len() as u16 {
            let has = |change: &&Change| self.detects || !matches!(change, Change::Place(None, _));
            first.iter().filter(has).for_each(|change| text += &change.text(number));
        }
        text += "$end";
        self.written = Some(0);
        self.output.line(|line| line.extend_from_slice(text.as_bytes()))
    }

    /// Writes what time it is, if that is new.
    #[inline]
    fn stamp(&mut self, at: BitInstant) -> Result<(), WriteError> {
        if self.now == Some(at) { Ok(()) } else { self.write_stamp(at) }
    }

    fn write_stamp(&mut self, at: BitInstant) -> Result<(), WriteError> {
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

    /// Writes a change of the signals of stations at `at`.
    fn change(&mut self, at: BitInstant, row: Row, change: Change) -> Result<(), WriteError> {
        self.stamp(at)?;
        let text = self.lines[change.number()].text(row);
        self.output.units(change.count() * row.places().len() as u64, |into| into.extend_from_slice(text))
    }

    fn transmit(&mut self, at: BitInstant, station: StationId, state: Transmit) -> Result<(), WriteError> {
        let own = &mut self.stations[station.index()];
        if own.transmit == state {
            return Ok(());
        }
        let jammed = own.transmit == Transmit::Jamming;
        own.transmit = state;
        let row = Row::of(station);
        self.change(at, row, Change::Transmit(state))?;
        match state {
            Transmit::Jamming => self.change(at, row, Change::Collision(true)),
            Transmit::Idle | Transmit::WaitingToSend | Transmit::Transmitting | Transmit::BackingOff if jammed => {
                self.change(at, row, Change::Collision(false))
            }
            Transmit::Idle | Transmit::WaitingToSend | Transmit::Transmitting | Transmit::BackingOff => Ok(()),
        }
    }

    /// Schedules the signals that the last event changed for the instants at which they reach each place.
    fn follow(&mut self) {
        let Vcd { signals, agenda, reached, config, next_signal, .. } = self;
        for number in signals.changed().iter().copied() {
            let Some(signal) = signals.get(number) else { continue };
            let is_new = number >= *next_signal;
            *next_signal = (*next_signal).max(number + 1);
            for (row, way) in reached.by(signal, config) {
                if is_new {
                    agenda.expect(signal.begin + *way, *row, Due::SignalBegins { signal: number });
                }
                if let Some(end) = signal.end {
                    agenda.expect(end + *way, *row, Due::SignalEnds { signal: number });
                }
            }
        }
    }

    fn count(&mut self, at: BitInstant) -> Result<(), WriteError> {
        self.stamp(at)?;
        match self.sending {
            0 => self.output.line(|line| line.extend_from_slice(b"b0 sending")),
            1 => self.output.line(|line| line.extend_from_slice(b"b1 sending")),
            count => self.output.line(|line| write!(line, "b{count:b} sending").expect("a Vec takes any text")),
        }
    }

    /// Writes what happens up to `now`.
    fn run_to(&mut self, now: BitInstant) -> Result<(), WriteError> {
        while let Some((at, mut list)) = self.agenda.take_first(now) {
            self.run_list(at, &mut list)?;
            self.agenda.give_back(list);
        }
        Ok(())
    }

    fn run_list(&mut self, at: BitInstant, list: &mut List) -> Result<(), WriteError> {
        if let Method::Plca(_) = self.config.method {
            // Where one signal of a station follows another, carrier continues.
            list.sort_by_key(|(_, due)| !matches!(due, Due::SignalBegins { .. }));
        }
        list.iter().try_for_each(|(row, due)| match *due {
            Due::GapEnds { gap } => self.gap_ends(at, *row, gap),
            Due::SignalBegins { signal } => self.signal_begins(at, *row, signal),
            Due::SignalEnds { signal } => self.signal_ends(at, *row, signal),
        })
    }

    fn gap_ends(&mut self, at: BitInstant, row: Row, gap: u64) -> Result<(), WriteError> {
        self.alike(
            row,
            |own| (own.place, own.gap == gap),
            |vcd, row, (_, ends)| match ends {
                true => vcd.defer(at, row, None, DeferenceInput::Timeout),
                false => Ok(()),
            },
        )
    }

    fn signal_begins(&mut self, at: BitInstant, row: Row, signal: u64) -> Result<(), WriteError> {
        let Some(signal) = self.signals.get(signal) else { return Ok(()) };
        let (source, what) = (signal.source, signal.what);
        self.stations[row.places()].iter_mut().for_each(|own| own.place.signals += 1);
        if !row.contains(source) {
            return self.hear(at, row);
        }
        let end = Row::of(source).end;
        self.hear(at, Row { end, ..row })?;
        self.sending += 1;
        self.count(at)?;
        self.tell_use(at, source, what)?;
        self.hear(at, Row { first: end, ..row })
    }

    fn signal_ends(&mut self, at: BitInstant, row: Row, signal: u64) -> Result<(), WriteError> {
        let Some(signal) = self.signals.get(signal) else { return Ok(()) };
        let source = signal.source;
        let way = self.config.way(source, signal.begin, StationId::new(row.first));
        if signal.end.is_none_or(|end| end + way != at) {
            // It was thought to end here, and does not.
            return Ok(());
        }
        for own in &mut self.stations[row.places()] {
            own.place.signals = own.place.signals.saturating_sub(1);
            own.own_last = false;
        }
        if !row.contains(source) {
            return self.hear(at, row);
        }
        let own = Row::of(source);
        self.stations[source.index()].own_last = true;
        self.hear(at, Row { end: own.first, ..row })?;
        self.hear(at, own)?;
        self.sending = self.sending.saturating_sub(1);
        self.count(at)?;
        self.tell_end(at, source)?;
        self.hear(at, Row { first: own.end, ..row })
    }

    /// Calls `act` for the stations of a row, once for those beside each other that have the same `key`.
    fn alike<K: Copy + PartialEq>(
        &mut self,
        row: Row,
        key: impl Fn(&OfStation) -> K,
        mut act: impl FnMut(&mut Vcd, Row, K) -> Result<(), WriteError>,
    ) -> Result<(), WriteError> {
        let mut rest = row;
        while let Some(first) = self.stations[rest.places()].first() {
            let own = key(first);
            let count = self.stations[rest.places()].iter().take_while(|other| key(other) == own).count();
            let row = Row { end: rest.first + count as u16, ..rest };
            act(self, row, own)?;
            rest.first = row.end;
        }
        Ok(())
    }

    /// Carrier at stations' places begins or ends, or a station comes or goes. If a signal ends, its sender is alone in the
    /// row or not in it.
    fn hear(&mut self, at: BitInstant, row: Row) -> Result<(), WriteError> {
        self.alike(
            row,
            |own| own.place,
            |vcd, row, place| {
                let carrier = place.attached && place.signals > 0;
                let input = if carrier { DeferenceInput::CarrierOn } else { DeferenceInput::CarrierOff };
                if place.carrier == carrier { Ok(()) } else { vcd.defer(at, row, Some(carrier), input) }
            },
        )
    }

    /// What the deference machines of a row of stations do (802.3, 4.2.8), by the engine's own table. The stations are alike;
    /// `carrier` is their new carrier, if it changes.
    fn defer(
        &mut self,
        at: BitInstant,
        row: Row,
        carrier: Option<bool>,
        input: DeferenceInput,
    ) -> Result<(), WriteError> {
        let first = &self.stations[usize::from(row.first)];
        let next = if self.detects { self.next(first, input, at) } else { None };
        let begins = matches!((first.place.deference, next), (Deference::Busy, Some((_, Some(_)))));
        let gap = next.map(|(_, timer)| timer.map_or(0, |ends| self.agenda.expect_gap(ends, row)));
        let state = next.map(|(state, _)| state);
        for own in &mut self.stations[row.places()] {
            own.gap = gap.unwrap_or(own.gap);
            own.gap_since = if begins { at } else { own.gap_since };
            own.place.carrier = carrier.unwrap_or(own.place.carrier);
            own.place.deference = state.unwrap_or(own.place.deference);
        }
        match (carrier, state) {
            (None, None) => Ok(()),
            _ => self.change(at, row, Change::Place(carrier, state)),
        }
    }

    /// The next state of a station's deference machine, if it changes now, and when that state ends.
    fn next(
        &self,
        station: &OfStation,
        input: DeferenceInput,
        at: BitInstant,
    ) -> Option<(Deference, Option<BitInstant>)> {
        let clock = station.place.clock;
        match station.place.deference.act(input)? {
            DeferenceAct::Stay => None,
            DeferenceAct::Yield => Some((Deference::Busy, None)),
            DeferenceAct::StartGap if station.own_last => Some((Deference::GapPart2, Some(clock.after(at, self.gap)))),
            DeferenceAct::StartGap => Some((Deference::GapPart1, Some(clock.after(at, self.part_1)))),
            DeferenceAct::StartPart2 => {
                Some((Deference::GapPart2, Some(clock.after(station.gap_since, self.gap).max(at))))
            }
            // A signal that came in part 2 keeps the station from what follows.
            DeferenceAct::Release if station.place.signals > 0 => Some((Deference::Busy, None)),
            DeferenceAct::Release => Some((Deference::Free, None)),
        }
    }
}

impl Window for Vcd {
    fn write_beside(&mut self) {
        self.output.write_beside();
    }

    fn take(&mut self, batch: &Batch) -> Result<(), WriteError> {
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
        let Some((station, attached)) = input.plugs() else { return Ok(()) };
        self.stations[station.index()].place.attached = attached;
        self.hear(at, Row::of(station))
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
        let last = self.agenda.last();
        self.run_to(last.unwrap_or(BitInstant::ZERO))?;
        // When the others ended is not known: at the latest where the missing begins.
        self.signals.forget();
        let at = last.or(self.now).unwrap_or(BitInstant::ZERO);
        self.sending = 0;
        self.stations.iter_mut().for_each(|own| own.place.signals = 0);
        for station in (0..self.stations.len() as u16).map(StationId::new) {
            self.hear(at, Row::of(station))?;
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
