//! Every signal on the medium, reconstructed from events, and which signals meet. Where a signal is at an instant
//! follows from the event that began it and from the distances.

use super::plca::Line;
use super::signal::{Collided, Signal};
use medium::{
    BitInstant, BitTimes, Carried, Config, Deed, Event, Fault, FrameId, HostKind, Input, MacKind, Method, Octets, Part,
    Place, StationId, WirelessKind,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// Signals in order of begin.
#[derive(Clone, Debug)]
pub struct Signals {
    config: Arc<Config>,
    longest: BitTimes,
    /// How long a signal is kept after it is over everywhere.
    memory: BitTimes,
    /// How many are kept of those that are over everywhere.
    kept: usize,
    pub(super) all: VecDeque<Signal>,
    /// The number of the first of them, from the run's first.
    pub(super) first: u64,
    /// The number of the first that is not over everywhere, or was not at the last look.
    open: u64,
    /// Numbers of those that the last event began, ended or cut short.
    pub(super) changed: Vec<u64>,
    /// Of the last event.
    now: BitInstant,
    far: Option<Arc<[bool]>>,
    faults: Vec<Option<Fault>>,
    /// Which stations have no carrier sense now, if any.
    deaf: Option<Arc<[bool]>>,
    /// Where senders do not detect collisions: frames that are offered and not done with, by station.
    sizes: Vec<VecDeque<(u64, Octets)>>,
    pub(super) line: Option<Line>,
}

impl Signals {
    /// None so far. Of those that are over everywhere the last `kept` are kept.
    pub fn new(config: Arc<Config>, kept: usize) -> Signals {
        let longest = config.topology.longest_distance();
        let sizes = if config.detects_collisions() { 0 } else { config.topology.stations() };
        Signals {
            longest,
            memory: BitTimes::ZERO,
            kept,
            all: VecDeque::new(),
            first: 0,
            open: 0,
            changed: Vec::new(),
            now: BitInstant::ZERO,
            far: None,
            faults: vec![None; config.topology.stations()],
            deaf: None,
            sizes: vec![VecDeque::new(); sizes],
            line: Line::of(&config),
            config,
        }
    }

    /// From now on the last `kept` are kept of those that are over everywhere.
    #[must_use]
    pub fn keeping(self, kept: usize) -> Signals {
        Signals { kept, ..self }
    }

    /// Keeps signals for as long as they explain what stations do: until the gap after them is over, or until a sender
    /// without collision detection has learnt that it got no answer, so that [`met`](Signals::met) finds them then.
    #[must_use]
    pub fn remembering(mut self) -> Signals {
        let frame = self.config.on_air(Carried::Frame, self.config.parameters.max_frame_size);
        let Some(answer) = self.config.answer_within() else {
            self.memory = self.config.longest_gap();
            return self;
        };
        self.memory = frame + answer + self.longest * 3;
        self
    }

    /// Signals that met signal `number` at the place of `to`, or, if it is for no single station that it reaches, at any
    /// place.
    pub fn met(&self, number: u64, to: Option<StationId>) -> impl Iterator<Item = &Signal> {
        let own = self.get(number);
        let place = to.filter(|to| own.is_some_and(|own| own.reaches(*to, &self.config)));
        let stations = self.config.topology.stations() as u16;
        let places = place.map_or(0..stations, |place| place.index() as u16..place.index() as u16 + 1);
        let meets = move |own: &Signal, other: &Signal| {
            places.clone().map(StationId::new).any(|place| self.overlap(own, other, place))
        };
        // Of an infinite population, frames of one station meet too.
        let others = self.numbered().filter(move |(other, _)| *other != number).map(|(_, other)| other);
        others.filter(move |other| own.is_some_and(|own| other.frame != own.frame && meets(own, other)))
    }

    /// From when to when a signal is at a place; an end that is not known is never.
    pub fn there(&self, signal: &Signal, place: StationId) -> Option<(BitInstant, BitInstant)> {
        let way = self.config.way(signal.source, signal.begin, place);
        let end = signal.end.map_or(BitInstant::new(u64::MAX), |end| end + way);
        signal.reaches(place, &self.config).then_some((signal.begin + way, end))
    }

    fn overlap(&self, one: &Signal, other: &Signal, place: StationId) -> bool {
        match (self.there(one, place), self.there(other, place)) {
            (Some((begin, end)), Some((from, to))) => begin < to && from < end,
            (Some(_) | None, None) | (None, Some(_)) => false,
        }
    }

    /// What the medium was made from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// In order of begin.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Signal> {
        self.all.iter().filter(|one| !one.is_dropped())
    }

    /// In order of begin, each with its number.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (u64, &Signal)> {
        let numbered = self.all.iter().enumerate().map(|(place, one)| (self.first + place as u64, one));
        numbered.filter(|(_, one)| !one.is_dropped())
    }

    /// The signal with this number, while it is kept.
    pub fn get(&self, number: u64) -> Option<&Signal> {
        self.all.get(number.checked_sub(self.first)? as usize).filter(|one| !one.is_dropped())
    }

    /// The number of the last signal of which `is_it` holds.
    pub fn number_of_last(&self, is_it: impl Fn(&Signal) -> bool) -> Option<u64> {
        self.all.iter().rposition(is_it).map(|place| self.first + place as u64)
    }

    /// Numbers of the signals that the last event began, ended or cut short.
    pub fn changed(&self) -> &[u64] {
        &self.changed
    }

    /// The longest time that a signal takes to another station.
    pub fn longest(&self) -> BitTimes {
        self.longest
    }

    /// Something is done to the medium.
    pub fn input(&mut self, at: BitInstant, input: &Input) {
        self.changed.clear();
        match *input {
            Input::Deed(Deed::Cut(cut)) => self.set_cut(cut),
            Input::Deed(Deed::Plca { station, settings }) => self.set_plca(at, station, settings),
            Input::Deed(Deed::Fault { station, fault }) => self.set_fault(station, fault),
            Input::Deed(Deed::Plug { .. } | Deed::Unplug { .. } | Deed::Add { .. } | Deed::Remove { .. }) => {
                self.take_place(input);
                input.plugs().into_iter().for_each(|(station, attached)| self.attach(station, attached));
            }
            Input::Offer { .. } | Input::Deed(_) => {}
        }
    }

    /// A station that joins at a place of its own is there.
    fn take_place(&mut self, input: &Input) {
        let place =
            if let Input::Deed(Deed::Add { station, who }) = input { who.place.zip(Some(*station)) } else { None };
        if let Some((place, station)) = place
            && self.config.topology.place(station) != Some(place)
        {
            Arc::make_mut(&mut self.config).take_place(station, place);
        }
    }

    fn set_fault(&mut self, station: StationId, fault: Option<Fault>) {
        self.faults[station.index()] = fault;
        let deaf: Arc<[bool]> = self.faults.iter().map(|fault| fault.is_some_and(Fault::is_deaf)).collect();
        self.deaf = deaf.contains(&true).then_some(deaf);
    }

    /// What is wrong with `station` now.
    pub fn fault(&self, station: StationId) -> Option<Fault> {
        self.faults[station.index()]
    }

    /// Which stations are on the far side of the cut, if the cable is cut.
    pub fn beyond_cut(&self) -> Option<&Arc<[bool]>> {
        self.far.as_ref()
    }

    /// Signals that begin from now on meet this cut.
    fn set_cut(&mut self, cut: Option<Place>) {
        self.far = cut.and_then(|cut| self.config.topology.beyond(cut).ok()).map(Arc::from);
    }

    /// The cable is cut somewhere between two stations.
    pub fn is_cut_between(&self, one: StationId, other: StationId) -> bool {
        self.far.as_ref().is_some_and(|far| far[one.index()] != far[other.index()])
    }

    /// Nothing is known of any.
    pub fn forget(&mut self) {
        self.first += self.all.len() as u64;
        self.all.clear();
        self.changed.clear();
        self.sizes.iter_mut().for_each(VecDeque::clear);
        self.line.iter_mut().for_each(Line::forget);
    }

    /// Takes an event.
    pub fn event(&mut self, event: &Event) {
        self.changed.clear();
        self.now = event.at;
        match self.config.method {
            Method::Plca(_) => self.on_line(event),
            _ if self.config.detects_collisions() => self.detected(event),
            _ => self.sent_whole(event),
        }
    }

    /// CSMA/CD: an attempt is on the medium until the event that ends it.
    fn detected(&mut self, event: &Event) {
        let Event { at, frame, kind, .. } = *event;
        let Some(kind) = kind.mac() else { return };
        match kind {
            MacKind::Attempt { attempt, burst, .. } => {
                let gap = if burst { self.config.parameters.inter_packet_gap } else { BitTimes::ZERO };
                self.begin(at, at + gap, frame, attempt, None);
            }
            MacKind::Collision { episode, .. } => self.collide(at, frame, episode),
            MacKind::JamEnd { .. } | MacKind::Discarded { .. } => self.end(at, frame, BitTimes::ZERO),
            MacKind::Transmitted { extension, .. } => self.end(at, frame, extension),
            MacKind::Defer { .. } | MacKind::Backoff { .. } => {}
        }
    }

    /// Where senders do not detect collisions every signal is sent whole, so its end is known as it begins.
    fn sent_whole(&mut self, event: &Event) {
        let Event { at, station, frame, kind } = *event;
        match kind.part() {
            Part::Host(HostKind::Offered { size }) => {
                self.sizes[frame.station.index()].push_back((frame.serial, size));
            }
            Part::Host(HostKind::QueueDrop) | Part::Mac(MacKind::Transmitted { .. } | MacKind::Discarded { .. }) => {
                let own = &mut self.sizes[frame.station.index()];
                if let Some(place) = own.iter().position(|(serial, _)| *serial == frame.serial) {
                    own.remove(place);
                }
            }
            Part::Mac(MacKind::Attempt { attempt, .. }) => self.send_whole(at, frame, attempt, BitTimes::ZERO),
            Part::Wireless(WirelessKind::Data { attempt, reserves }) => self.send_whole(at, frame, attempt, reserves),
            Part::Wireless(WirelessKind::Rts { reserves, .. }) => self.ask(frame, reserves),
            Part::Wireless(WirelessKind::Cts { reserves }) => self.answer(at, station, frame, (Carried::Cts, reserves)),
            Part::Wireless(WirelessKind::Ack) => self.answer(at, station, frame, (Carried::Ack, BitTimes::ZERO)),
            Part::Mac(_) | Part::Receiver(_) | Part::Wireless(_) | Part::Plca(_) => {}
        }
    }

    fn size(&self, frame: FrameId) -> Octets {
        let sizes = self.sizes[frame.station.index()].iter();
        sizes.rev().find(|(serial, _)| *serial == frame.serial).map_or(Octets::new(0), |(_, size)| *size)
    }

    fn send_whole(&mut self, at: BitInstant, frame: FrameId, attempt: u32, reserves: BitTimes) {
        let end = at + self.config.on_air(Carried::Frame, self.size(frame));
        self.push(Signal { reserves, ..self.signal(at, at, frame, attempt, Some(end)) });
    }

    /// The attempt that has just begun is a request to send.
    fn ask(&mut self, frame: FrameId, reserves: BitTimes) {
        let span = self.config.on_air(Carried::Rts, Octets::new(0));
        self.change(frame, |one| {
            (one.what, one.reserves) = (Carried::Rts, reserves);
            one.end = Some(one.begin + span);
        });
    }

    fn answer(&mut self, at: BitInstant, source: StationId, frame: FrameId, (what, reserves): (Carried, BitTimes)) {
        let end = at + self.config.on_air(what, Octets::new(0));
        // The fault is that of the station that answers.
        let fault = self.faults[source.index()];
        self.push(Signal { source, what, reserves, fault, ..self.signal(at, at, frame, 0, Some(end)) });
    }

    fn signal(
        &self,
        begin: BitInstant,
        preamble: BitInstant,
        frame: FrameId,
        attempt: u32,
        end: Option<BitInstant>,
    ) -> Signal {
        Signal {
            source: frame.station,
            frame,
            what: Carried::Frame,
            attempt,
            begin,
            preamble,
            body: preamble + self.config.preamble(),
            collision: None,
            end,
            extension: BitTimes::ZERO,
            parted: self.far.clone(),
            fault: self.faults[frame.station.index()],
            deaf: self.deaf.clone(),
            reserves: BitTimes::ZERO,
        }
    }

    /// A station begins a frame; `end` is known where nothing can cut it short.
    pub(super) fn begin(
        &mut self,
        at: BitInstant,
        preamble: BitInstant,
        frame: FrameId,
        attempt: u32,
        end: Option<BitInstant>,
    ) {
        self.push(self.signal(at, preamble, frame, attempt, end));
    }

    /// What is no frame and lasts up to `end`.
    pub(super) fn begin_other(&mut self, begin: BitInstant, frame: FrameId, what: Carried, end: BitInstant) {
        self.push(Signal { what, ..self.signal(begin, begin, frame, 0, Some(end)) });
    }

    fn push(&mut self, signal: Signal) {
        self.let_go();
        self.changed.push(self.first + self.all.len() as u64);
        self.all.push_back(signal);
    }

    /// Forgets signals that are over everywhere, but those that were there when an unfinished signal began: a receiver of
    /// that one may have heard both.
    fn let_go(&mut self) {
        let over_by = |one: &Signal, at: BitInstant| one.end.is_some_and(|end| end + self.longest + self.memory < at);
        let open = self.open.max(self.first);
        let rest = self.all.iter().skip((open - self.first) as usize);
        let ended = rest.take_while(|one| over_by(one, self.now)).count();
        let (open, now) = (open + ended as u64, self.now);
        let oldest = self.all.get((open - self.first) as usize).map_or(now, |one| one.begin.min(now));
        let more = self.all.len().saturating_sub(self.kept).min((open - self.first) as usize);
        let passed = self.all.iter().take(more).take_while(|one| over_by(one, oldest)).count();
        self.all.drain(..passed);
        (self.first, self.open) = (self.first + passed as u64, open);
    }

    /// The sender of an unfinished frame notices a collision.
    pub(super) fn collide(&mut self, at: BitInstant, frame: FrameId, episode: u64) {
        let parameters = self.config.parameters;
        self.change_open(frame, |one| {
            let jam = parameters.jam_begin(at, one.preamble);
            one.collision = Some(Collided { at, episode, jam });
        });
    }

    /// The last bit of a frame is out, what follows it included.
    pub(super) fn end(&mut self, at: BitInstant, frame: FrameId, extension: BitTimes) {
        self.change_open(frame, |one| (one.end, one.extension) = (Some(at), extension));
    }

    /// Changes the last unfinished signal of `frame`.
    fn change_open(&mut self, frame: FrameId, change: impl FnOnce(&mut Signal)) {
        if let Some(place) = self.all.iter().rposition(|one| one.frame == frame && one.end.is_none()) {
            self.changed.push(self.first + place as u64);
            change(&mut self.all[place]);
        }
    }

    /// Changes the last signal that is about `frame`.
    pub(super) fn change(&mut self, frame: FrameId, change: impl FnOnce(&mut Signal)) {
        if let Some(place) = self.all.iter().rposition(|one| one.frame == frame) {
            self.changed.push(self.first + place as u64);
            change(&mut self.all[place]);
        }
    }

    /// Changes the last signal of `source`.
    pub(super) fn change_of(&mut self, source: StationId, change: impl FnOnce(&mut Signal)) {
        if let Some(place) = self.all.iter().rposition(|one| one.source == source) {
            self.changed.push(self.first + place as u64);
            change(&mut self.all[place]);
        }
    }
}
