//! Every signal on the medium, reconstructed from events, and which signals meet. Where a signal is at an instant
//! follows from the event that began it and from the distances.

use super::plca::Line;
use crate::words::configuration::longest_distance;
use medium::{BitInstant, BitTimes, Carried, Config, Event, FrameId, Input, Kind, Method, Octets, Place, StationId};
use std::collections::VecDeque;
use std::sync::Arc;

/// A collision that its sender noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collided {
    /// When.
    pub at: BitInstant,
    /// Which overlap on the medium, from 1.
    pub episode: u64,
    /// When the jam begins.
    pub jam: BitInstant,
}

/// A signal, at its sender's place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Its sender.
    pub source: StationId,
    /// The frame that it is, asks for, grants or acknowledges; of BEACON and COMMIT its serial may be 0.
    pub frame: FrameId,
    /// What it is.
    pub what: Carried,
    /// Which attempt of the frame, from 1; 0 if it is none.
    pub attempt: u32,
    /// The first bit.
    pub begin: BitInstant,
    /// Where the preamble begins, or would have: after extension bits, in a burst.
    pub preamble: BitInstant,
    /// Where the frame begins, or would have: after preamble and SFD.
    pub body: BitInstant,
    /// Its sender has noticed a collision.
    pub collision: Option<Collided>,
    /// After the last bit, once that is known.
    pub end: Option<BitInstant>,
    /// Carrier extension before the end, or the delimiter of PLCA.
    pub extension: BitTimes,
    /// The cable was cut as it began: which stations were on the far side.
    pub parted: Option<Arc<[bool]>>,
}

/// What of a signal is somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Preamble and SFD.
    Preamble,
    /// The frame.
    Frame,
    /// The jam.
    Jam,
    /// Extension bits.
    Extension,
    /// A request to send.
    Rts,
    /// The answer to it.
    Cts,
    /// An acknowledgement.
    Ack,
    /// BEACON of PLCA.
    Beacon,
    /// COMMIT of PLCA.
    Commit,
}

impl Part {
    /// Every part with the name that windows have for it, in this order.
    pub const ALL: [(Part, &str); 9] = [
        (Part::Extension, "extension"),
        (Part::Preamble, "preamble"),
        (Part::Frame, "frame"),
        (Part::Jam, "jam"),
        (Part::Rts, "RTS"),
        (Part::Cts, "CTS"),
        (Part::Ack, "ACK"),
        (Part::Beacon, "BEACON"),
        (Part::Commit, "COMMIT"),
    ];

    /// What windows call it.
    pub fn name(self) -> &'static str {
        Part::ALL.iter().find(|(part, _)| *part == self).map_or("", |(_, name)| name)
    }
}

impl Signal {
    /// Its parts in order of time, at its sender's place: what, from when, to when. The last one of a signal that goes on
    /// ends with `limit`.
    pub fn parts(&self, limit: BitInstant) -> impl Iterator<Item = (Part, BitInstant, BitInstant)> + use<> {
        let end = self.end.unwrap_or(limit);
        let whole = |part| [(part, self.begin, end), (part, end, end), (part, end, end), (part, end, end)];
        let parts = match self.what {
            Carried::Rts => whole(Part::Rts),
            Carried::Cts => whole(Part::Cts),
            Carried::Ack => whole(Part::Ack),
            Carried::Beacon => whole(Part::Beacon),
            Carried::Commit => whole(Part::Commit),
            Carried::Jam => whole(Part::Jam),
            Carried::Frame => {
                let extended = BitInstant::new(end.get().saturating_sub(self.extension.get()));
                let (last, tail) = match self.collision {
                    Some(Collided { jam, .. }) => (jam.min(end), Part::Jam),
                    None => (extended, Part::Extension),
                };
                let (preamble, body) = (self.preamble.min(last), self.body.min(last));
                [
                    (Part::Extension, self.begin, preamble),
                    (Part::Preamble, preamble, body),
                    (Part::Frame, body, last),
                    (tail, last, end),
                ]
            }
        };
        parts.into_iter().filter(|(_, from, to)| to > from)
    }

    /// What its sender sends at `at`; nothing before it begins and after it has ended.
    pub fn part(&self, at: BitInstant) -> Option<Part> {
        let there = |(part, from, to): (Part, BitInstant, BitInstant)| (from <= at && at < to).then_some(part);
        self.parts(at + BitTimes::new(1)).find_map(there)
    }

    /// What windows call it.
    pub fn name(&self) -> &'static str {
        match self.what {
            Carried::Frame => "frame",
            Carried::Rts => "RTS",
            Carried::Cts => "CTS",
            Carried::Ack => "ACK",
            Carried::Beacon => "BEACON",
            Carried::Commit => "COMMIT",
            Carried::Jam => "jam",
        }
    }

    /// It gets to `station`, as far as cuts and ranges go.
    pub fn reaches(&self, station: StationId, config: &Config) -> bool {
        config.reaches(self.source, station, self.parted.as_deref())
    }
}

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
    first: u64,
    /// Numbers of those that the last event began, ended or cut short.
    changed: Vec<u64>,
    /// Of the last event.
    now: BitInstant,
    far: Option<Arc<[bool]>>,
    /// Where senders do not detect collisions: frames that are offered and not done with, by station.
    sizes: Vec<VecDeque<(u64, Octets)>>,
    pub(super) line: Option<Line>,
}

impl Signals {
    /// None so far. Of those that are over everywhere the last `kept` are kept.
    pub fn new(config: Arc<Config>, kept: usize) -> Signals {
        let longest = longest_distance(&config.topology);
        let sizes = if config.detects_collisions() { 0 } else { config.topology.stations() };
        Signals {
            longest,
            memory: BitTimes::ZERO,
            kept,
            all: VecDeque::new(),
            first: 0,
            changed: Vec::new(),
            now: BitInstant::ZERO,
            far: None,
            sizes: vec![VecDeque::new(); sizes],
            line: Line::of(&config),
            config,
        }
    }

    /// Keeps signals until a sender without collision detection has learnt that it got no answer, so that
    /// [`met`](Signals::met) finds them then.
    #[must_use]
    pub fn remembering(mut self) -> Signals {
        let frame = self.config.on_air(Carried::Frame, self.config.parameters.max_frame_size);
        let Some(answer) = self.config.answer_within() else { return self };
        self.memory = frame + answer + self.longest * 3;
        self
    }

    /// Signals that met signal `number` at the place of `to`, or, if it is for no single station that it reaches, at any
    /// place.
    pub fn met(&self, number: u64, to: Option<StationId>) -> impl Iterator<Item = &Signal> {
        let own = self.get(number);
        let place = to.filter(|to| own.is_some_and(|own| own.source != *to && own.reaches(*to, &self.config)));
        let stations = self.config.topology.stations() as u16;
        let places = place.map_or(0..stations, |place| place.index() as u16..place.index() as u16 + 1);
        let meets = move |own: &Signal, other: &Signal| {
            places.clone().map(StationId::new).any(|place| self.overlap(own, other, place))
        };
        let is_other = move |other: &&Signal| own.is_some_and(|own| other.source != own.source && meets(own, other));
        self.all.iter().filter(is_other)
    }

    /// From when to when a signal is at a place; an end that is not known is never.
    pub fn there(&self, signal: &Signal, place: StationId) -> Option<(BitInstant, BitInstant)> {
        let way = self.config.topology.distance(signal.source, place);
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
        self.all.iter()
    }

    /// The signal with this number, while it is kept.
    pub fn get(&self, number: u64) -> Option<&Signal> {
        self.all.get(number.checked_sub(self.first)? as usize)
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
            Input::SetCut { cut } => self.set_cut(cut),
            Input::SetPlca { station, settings } => self.set_plca(at, station, settings),
            Input::Offer { .. } | Input::Attach { .. } | Input::Detach { .. } | Input::SetFault { .. } => {}
        }
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
        self.line = Line::of(&self.config);
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
        match kind {
            Kind::Attempt { attempt, burst, .. } => {
                let gap = if burst { self.config.parameters.inter_packet_gap } else { BitTimes::ZERO };
                self.begin(at, at + gap, frame, attempt, None);
            }
            Kind::Collision { episode, .. } => self.collide(at, frame, episode),
            Kind::JamEnd { .. } | Kind::Discarded { .. } => self.end(at, frame, BitTimes::ZERO),
            Kind::Transmitted { extension, .. } => self.end(at, frame, extension),
            Kind::Offered { .. } | Kind::QueueDrop | Kind::Defer { .. } | Kind::Backoff { .. } => {}
            Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => {}
            Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack | Kind::Duplicate { .. } => {}
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => {}
        }
    }

    /// Where senders do not detect collisions every signal is sent whole, so its end is known as it begins.
    fn sent_whole(&mut self, event: &Event) {
        let Event { at, station, frame, kind } = *event;
        match kind {
            Kind::Offered { size } => self.sizes[frame.station.index()].push_back((frame.serial, size)),
            Kind::QueueDrop | Kind::Transmitted { .. } | Kind::Discarded { .. } => {
                let own = &mut self.sizes[frame.station.index()];
                if let Some(place) = own.iter().position(|(serial, _)| *serial == frame.serial) {
                    own.remove(place);
                }
            }
            Kind::Attempt { attempt, .. } | Kind::Data { attempt, .. } => {
                let end = at + self.config.on_air(Carried::Frame, self.size(frame));
                self.begin(at, at, frame, attempt, Some(end));
            }
            Kind::Rts { .. } => self.ask(frame),
            Kind::Cts { .. } => self.answer(at, station, frame, Carried::Cts),
            Kind::Ack => self.answer(at, station, frame, Carried::Ack),
            Kind::Defer { .. } | Kind::Collision { .. } | Kind::JamEnd { .. } | Kind::Backoff { .. } => {}
            Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => {}
            Kind::Duplicate { .. } | Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => {}
        }
    }

    fn size(&self, frame: FrameId) -> Octets {
        let sizes = self.sizes[frame.station.index()].iter();
        sizes.rev().find(|(serial, _)| *serial == frame.serial).map_or(Octets::new(0), |(_, size)| *size)
    }

    /// The attempt that has just begun is a request to send.
    fn ask(&mut self, frame: FrameId) {
        let span = self.config.on_air(Carried::Rts, Octets::new(0));
        self.change(frame, |one| {
            one.what = Carried::Rts;
            one.end = Some(one.begin + span);
        });
    }

    fn answer(&mut self, at: BitInstant, source: StationId, frame: FrameId, what: Carried) {
        let end = at + self.config.on_air(what, Octets::new(0));
        self.push(Signal { source, what, ..self.signal(at, at, frame, 0, Some(end)) });
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
        let now = self.now;
        let passed = |one: &Signal| one.end.is_some_and(|end| end + self.longest + self.memory < now);
        while self.all.len() > self.kept && self.all.front().is_some_and(passed) {
            self.all.pop_front();
            self.first += 1;
        }
        self.changed.push(self.first + self.all.len() as u64);
        self.all.push_back(signal);
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
