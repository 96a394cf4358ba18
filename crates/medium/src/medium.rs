//! The engine: takes inputs in order of time, runs what is due, and keeps events and outputs to be asked for.
//!
//! It owns the agenda, the bus and the stations. What a station does is in `csma_cd`, what one hears of a
//! signal in `bus`, what an addressee makes of it in `receive`.

use crate::access::csma_cd::{DeferenceInput, Transmit, TransmitInput};
use crate::agenda::{Agenda, Phase};
use crate::config::{Config, ConfigError};
use crate::event::{Cause, Event, Kind};
use crate::frame::{Destination, Frame, FrameId, HEADER_AND_FCS, PREAMBLE_AND_SFD, Queued, StationId, TransmissionId};
use crate::line::{Carrier, Line};
use crate::station::Station;
use crate::tally::Tally;
use crate::time::{BitInstant, BitTimes, Octets};
use crate::timers::NEVER;
use crate::topology::segments::Place;
use std::collections::VecDeque;

/// What the medium is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The host of `station` hands a frame to its MAC.
    Offer {
        /// Whose host.
        station: StationId,
        /// The frame.
        frame: Frame,
    },
    /// The station is taken off: an attempt under way ends as it would, every other frame is discarded then or at once,
    /// and it receives nothing whose last bit comes while it is off.
    Detach {
        /// Which one.
        station: StationId,
    },
    /// The station is put back.
    Attach {
        /// Which one.
        station: StationId,
    },
    /// Something is wrong with the station from now on, or, with `None`, right again.
    SetFault {
        /// Which station.
        station: StationId,
        /// What is wrong with it; replaces what was wrong before.
        fault: Option<Fault>,
    },
    /// The cable is cut in two just before a place, each end terminated, or, with `None`, whole again. A cut replaces the
    /// one before.
    ///
    /// A transmission gets past the place of the cut whole or not at all: one that began before the cut does, one that
    /// begins during it never will.
    SetCut {
        /// Where: stations at this place and beyond it are on the far side.
        cut: Option<Place>,
    },
    /// Time passes: runs what is due.
    ///
    /// Runs everything before the instant and the ends of timers at it; given again (as
    /// [`Medium::next_timeout`] says), the signals at it. In between, frames may still arrive at that instant.
    Timeout,
}

/// What can be wrong with a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// It has no carrier sense: to transmissions that begin while it is so, its own too, it never defers, and no gap
    /// follows them. It hears a transmission whole or not at all: what had begun before the fault it hears to its
    /// end, and waits for the gap after it; what begins after the station is right again is what it hears next.
    /// Each frame whose transmission it begins so and finishes without collision counts a carrier sense error.
    /// Collisions it still detects.
    Deaf,
    /// Each frame whose transmission it begins now arrives everywhere with a bad FCS.
    BadFcs,
    /// Its MAC takes frames of any length from the host; its MAU cuts a transmission off at jabber_limit, and the
    /// MAC does not notice: a longer frame is transmitted as if it had as many whole octets as fit. A station that
    /// such a frame is for counts it as too long, and nobody hands it up.
    Babble,
}

/// What the world outside has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Nothing can change any more: every attached station but the sender hears `frame` whole.
    ///
    /// Its last bit, of its extension if it has one, leaves at `end` and reaches a station at `end` + [`Medium::distance`] to it.
    Carried {
        /// The frame.
        frame: FrameId,
        /// The instant after its last bit, at the sender's place.
        end: BitInstant,
        /// Stations that do not hand it up: another signal spoilt it at their place, which takes an undetected
        /// collision; a cut of the cable kept it from them; or all but the sender, if it has a bad FCS or is too long.
        damaged: Vec<StationId>,
    },
    /// The medium is done with the frame: it was transmitted, dropped or discarded.
    Released {
        /// The frame.
        frame: FrameId,
    },
}

/// A shared half-duplex medium and the stations on it.
#[derive(Debug)]
pub struct Medium {
    pub(crate) config: Config,
    pub(crate) agenda: Agenda,
    pub(crate) line: Line,
    stations: Vec<Station>,
    cut: Option<Place>,
    /// What the agenda has next, once an input has been handled.
    next: (BitInstant, Phase),
    instant: BitInstant,
    /// Signals of `instant` have been run: it is over.
    over: bool,
    tally: Tally,
    events: VecDeque<Event>,
    outputs: VecDeque<Output>,
    /// Room for one answer of the bus, kept to save the allocation.
    pub(crate) history: Vec<Carrier>,
    /// Room for the signals of one instant, likewise.
    signals: Vec<TransmissionId>,
}

impl Medium {
    /// A silent medium at instant 0, all stations attached and idle.
    ///
    /// # Errors
    /// A number of stations or a parameter that is out of its range.
    pub fn new(config: Config) -> Result<Medium, ConfigError> {
        config.check()?;
        let stations =
            (0..config.topology.stations() as u16).map(|number| Station::new(StationId::new(number), &config));
        Ok(Medium {
            agenda: Agenda::new(),
            line: Line::new(config.topology.clone(), config.parameters.inter_packet_gap),
            stations: stations.collect(),
            cut: None,
            next: (NEVER, Phase::Timers),
            instant: BitInstant::ZERO,
            over: false,
            tally: Tally::new(config.topology.stations()),
            events: VecDeque::new(),
            outputs: VecDeque::new(),
            history: Vec::new(),
            signals: Vec::new(),
            config,
        })
    }

    /// What the medium was made from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The earliest instant at which an input is still accepted.
    pub fn now(&self) -> BitInstant {
        if self.over { self.instant + BitTimes::new(1) } else { self.instant }
    }

    /// Takes one input at `now`.
    ///
    /// # Panics
    /// If `now` is before [`Medium::now`], a station, as sender or destination, does not exist, or a cut is none
    /// ([`Topology::beyond`](crate::Topology::beyond)): the caller's mistake.
    pub fn handle_input(&mut self, now: BitInstant, input: Input) {
        assert!(now >= self.now(), "an input at {now} after the medium got to {}", self.now());
        match input {
            Input::Offer { station, frame } => {
                self.advance_to_arrivals(now);
                self.offer(station, frame);
            }
            Input::Detach { station } => {
                self.advance_to_arrivals(now);
                self.station_mut(station).attached = false;
                self.tell_transmit(station, TransmitInput::Detach);
            }
            Input::Attach { station } => {
                self.advance_to_arrivals(now);
                self.station_mut(station).attached = true;
            }
            Input::SetFault { station, fault } => {
                self.advance_to_arrivals(now);
                self.set_fault(station, fault);
            }
            Input::SetCut { cut } => {
                self.advance_to_arrivals(now);
                self.set_cut(cut);
            }
            Input::Timeout if self.next < (now, Phase::Arrivals) => return self.advance_to_arrivals(now),
            Input::Timeout => return self.advance_past(now),
        }
        self.next = self.agenda.next();
    }

    /// When something is due next; `None` when nothing will happen without an input.
    pub fn next_timeout(&self) -> Option<BitInstant> {
        Some(self.next.0).filter(|&at| at != NEVER)
    }

    /// The oldest output not taken yet.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// The oldest event not taken yet.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// All counters and sums so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// How many frames are in a station's transmit queue, the one being sent included.
    pub fn queued(&self, station: StationId) -> usize {
        self.station(station).queue.len()
    }

    /// How many of the frames that a station has offered the medium is done with.
    pub fn finished(&self, station: StationId) -> u64 {
        let station = self.station(station);
        station.serial - station.queue.len() as u64
    }

    /// Whether a station is on the medium.
    pub fn attached(&self, station: StationId) -> bool {
        self.station(station).attached
    }

    /// What is wrong with a station.
    pub fn fault(&self, station: StationId) -> Option<Fault> {
        self.station(station).fault
    }

    /// Where the cable is cut.
    pub fn cut(&self) -> Option<Place> {
        self.cut
    }

    /// Counts from zero again; what is queued or on its way stays.
    pub fn restart_tally(&mut self) {
        self.tally.restart();
    }

    /// The name that the next frame offered by `station` will have.
    pub fn next_frame_id(&self, station: StationId) -> FrameId {
        FrameId { station, serial: self.station(station).serial + 1 }
    }

    /// The state of a station's transmit machine.
    pub fn transmit_state(&self, station: StationId) -> Transmit {
        self.station(station).transmit
    }

    /// How long a signal takes from `a` to `b`.
    pub fn distance(&self, a: StationId, b: StationId) -> BitTimes {
        self.line.topology().distance(a, b)
    }

    pub(crate) fn station(&self, station: StationId) -> &Station {
        &self.stations[station.index()]
    }

    pub(crate) fn station_mut(&mut self, station: StationId) -> &mut Station {
        &mut self.stations[station.index()]
    }

    pub(crate) fn instant(&self) -> BitInstant {
        self.instant
    }

    pub(crate) fn emit(&mut self, station: StationId, frame: FrameId, kind: Kind) {
        let event = Event { at: self.instant, station, frame, kind };
        self.tally.record(&event);
        if self.config.keep_events {
            self.events.push_back(event);
        }
    }

    pub(crate) fn give_out(&mut self, output: Output) {
        if self.config.keep_outputs {
            self.outputs.push_back(output);
        }
    }

    pub(crate) fn release(&mut self, frame: FrameId) {
        self.give_out(Output::Released { frame });
    }

    pub(crate) fn set_timer(&mut self, station: StationId, at: BitInstant) {
        self.agenda.timers.set(station, at);
    }

    pub(crate) fn stop_timer(&mut self, station: StationId) {
        self.agenda.timers.stop(station);
    }

    fn offer(&mut self, station: StationId, frame: Frame) {
        let now = self.instant;
        if let Destination::Station(addressee) = frame.destination {
            assert!(addressee.index() < self.stations.len(), "a frame for {addressee}, which does not exist");
        }
        let parameters = &self.config.parameters;
        let too_long = frame.size > parameters.frame_size_limit(frame.tagged);
        let cut_off = (parameters.jabber_limit.get() - PREAMBLE_AND_SFD.get()) / 8;
        let size = frame.size.get().max(parameters.min_frame_size.get()).min(cut_off as u32);
        let queue_limit = self.config.queue_limit;
        let this = &mut self.stations[station.index()];
        let babbles = this.fault == Some(Fault::Babble);
        this.serial += 1;
        let serial = this.serial;
        let (attached, full) = (this.attached, this.queue.len() >= queue_limit);
        let id = FrameId { station, serial };
        self.emit(station, id, Kind::Offered { size: frame.size });
        let refused = if frame.size < HEADER_AND_FCS {
            Some(Kind::Discarded { cause: Cause::TooShort, attempts: 0 })
        } else if too_long && !babbles {
            Some(Kind::Discarded { cause: Cause::TooLong, attempts: 0 })
        } else if !attached {
            Some(Kind::Discarded { cause: Cause::Detached, attempts: 0 })
        } else if full {
            Some(Kind::QueueDrop)
        } else {
            None
        };
        if let Some(kind) = refused {
            self.emit(station, id, kind);
            return self.release(id);
        }
        let this = self.station_mut(station);
        let (size, destination) = (Octets::new(size), frame.destination);
        this.queue.push_back(Queued { serial, size, destination, arrived: now, too_long });
        if this.queue.len() == 1 {
            this.renew_head(now);
        }
        self.tell_transmit(station, TransmitInput::FrameReady);
    }

    fn set_fault(&mut self, station: StationId, fault: Option<Fault>) {
        self.station_mut(station).fault = fault;
        if fault == Some(Fault::Deaf) {
            self.line.deafen(station);
        } else {
            self.line.heal(station);
        }
    }

    fn set_cut(&mut self, cut: Option<Place>) {
        self.cut = cut;
        self.line.part(cut.map(|cut| match self.line.topology().beyond(cut) {
            Ok(beyond) => beyond.into(),
            Err(error) => panic!("{error}"),
        }));
    }

    /// Runs everything before the arrivals of instant `now`.
    fn advance_to_arrivals(&mut self, now: BitInstant) {
        self.run_before((now, Phase::Arrivals));
        self.instant = now;
        self.over = false;
    }

    /// Runs everything up to the end of instant `now`.
    fn advance_past(&mut self, now: BitInstant) {
        self.run_before((now + BitTimes::new(1), Phase::Timers));
        self.instant = now;
        self.over = true;
    }

    fn run_before(&mut self, limit: (BitInstant, Phase)) {
        let mut next = self.next;
        while next < limit {
            self.run(next.0, next.1);
            next = self.agenda.next();
        }
        self.next = next;
    }

    fn run(&mut self, at: BitInstant, phase: Phase) {
        debug_assert!(at >= self.instant, "{phase:?} at {at} after the medium got to {}", self.instant);
        self.instant = at;
        match phase {
            Phase::Timers => self.timer_ends(),
            Phase::Arrivals => panic!("arrivals come from outside"),
            Phase::SignalsEnd if self.line.is_star() => self.signals_end_everywhere(),
            Phase::SignalsEnd => self.signal_ends(),
            Phase::SignalsBegin if self.line.is_star() => self.signals_begin_everywhere(),
            Phase::SignalsBegin => self.signal_begins(),
            Phase::Settled => {
                let settled = self.agenda.settled.pop(at);
                settled.into_iter().for_each(|(_, transmission)| self.settle(transmission));
            }
        }
    }

    /// Whoever is told sets the timer anew or stops it.
    fn timer_ends(&mut self) {
        let station = self.agenda.timers.first();
        match self.station(station).transmit {
            Transmit::WaitingToSend => self.gap_ends(station),
            Transmit::Idle | Transmit::Transmitting | Transmit::Jamming | Transmit::BackingOff => {
                self.tell_transmit(station, TransmitInput::Timeout);
            }
        }
    }

    /// A signal begins at a place, at its own source's too.
    fn signal_begins(&mut self) {
        let Some((station, transmission)) = self.agenda.begins.pop(self.instant) else { return };
        match self.station(station).transmit {
            Transmit::Transmitting => self.meet_others(station),
            Transmit::WaitingToSend if self.line.hears(station, transmission) => self.carrier_on(station),
            Transmit::WaitingToSend | Transmit::Idle | Transmit::Jamming | Transmit::BackingOff => {}
        }
    }

    /// Signals begin at all places but their sources', or at their sources, where others are already.
    fn signals_begin_everywhere(&mut self) {
        let (now, mut begun) = (self.instant, std::mem::take(&mut self.signals));
        self.agenda.begins.take_everywhere(now, &mut begun);
        self.line.got_there(begun.len());
        let mut at_source = self.agenda.begins.pop(now).map(|(station, _)| station);
        let from_others = |medium: &Medium, station: StationId, heard: bool| {
            let line = &medium.line;
            begun.iter().any(|&id| line.get(id).source() != station && (!heard || line.hears(station, id)))
        };
        let mut from = 0;
        loop {
            let listener = if begun.is_empty() { None } else { self.line.listeners().next(from) };
            let Some(station) = listener.into_iter().chain(at_source).min() else { break };
            from = station.index() + 1;
            let met = at_source == Some(station);
            if met {
                at_source = self.agenda.begins.pop(now).map(|(station, _)| station);
            }
            match self.station(station).transmit {
                Transmit::Transmitting if from_others(self, station, false) => {
                    self.tell_transmit(station, TransmitInput::Collision);
                }
                Transmit::Transmitting if met => self.meet_others(station),
                Transmit::WaitingToSend if from_others(self, station, true) => self.carrier_on(station),
                Transmit::Transmitting
                | Transmit::WaitingToSend
                | Transmit::Idle
                | Transmit::Jamming
                | Transmit::BackingOff => {}
            }
        }
        self.signals = begun;
    }

    fn meet_others(&mut self, station: StationId) {
        if self.line.signals_of_others(station, self.instant).next().is_some() {
            self.tell_transmit(station, TransmitInput::Collision);
        }
    }

    /// A signal ends at a place, at its own source's too.
    fn signal_ends(&mut self) {
        let Some((station, transmission)) = self.agenda.ends.pop(self.instant) else { return };
        self.receive(station, transmission);
        self.fall_silent(station, &[]);
    }

    /// Signals end at all places but their sources', or at their sources.
    fn signals_end_everywhere(&mut self) {
        let (now, mut ended) = (self.instant, std::mem::take(&mut self.signals));
        self.agenda.ends.take_everywhere(now, &mut ended);
        self.line.ended_there(ended.len());
        self.receive_everywhere(&ended);
        let coming = self.agenda.begins.everywhere.iter().take_while(|(at, _)| *at == now);
        let coming: Vec<StationId> = coming.map(|&(_, id)| self.line.get(id).source()).collect();
        while let Some((station, _)) = self.agenda.ends.pop(now) {
            self.fall_silent(station, &coming);
        }
        let mut from = 0;
        while let Some(station) = self.line.listeners().next(from).filter(|_| !ended.is_empty()) {
            from = station.index() + 1;
            self.fall_silent(station, &coming);
        }
        self.signals = ended;
    }

    fn fall_silent(&mut self, station: StationId, coming: &[StationId]) {
        let waits = self.station(station).transmit == Transmit::WaitingToSend;
        if waits && self.line.silent(station, self.instant, coming) {
            self.tell_deference(station, DeferenceInput::CarrierOff);
        }
    }
}
