//! The last seconds of a live bus, in memory, as a trace that begins in the middle of a run.
//!
//! ```text
//!   facts ─► open chunk ─► chunks ─────────────────────► Past ─► forgotten
//!            └──── the last seconds, bounded ────┘       frames that are not over, the latest change of each kind
//! ```
//! A trace of them has first what `Past` has: every event of each frame that is not over, at its own instant. So a
//! reader knows the queues and the signals at the instant from which on the trace is complete.

mod trigger;

pub use trigger::Triggers;

use crate::files::event_log::{EmulatorEvent, EventLog, Header};
use crate::files::json_lines::WriteError;
use crate::files::observer::Observer;
use medium::{BitInstant, BitTimes, Config, Event, FrameId, Input, Kind, Method, StationId, Subject};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::sync::Arc;

/// How much is kept at most.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Facts in a chunk.
    pub facts: usize,
    /// Chunks.
    pub chunks: usize,
}

/// A million facts, which take less than 100 MB, and are 12 s of a bus of 10 Mb/s that is full of the shortest frames.
impl Default for Room {
    fn default() -> Room {
        Room { facts: 1 << 12, chunks: 1 << 8 }
    }
}

/// The most facts of one frame that is not over: its first two and its latest.
const MOST_OF_A_FRAME: usize = 1 << 10;

/// The most changes that are kept.
const MOST_CHANGES: usize = 1 << 12;

/// What an observer of a bus sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// It was done to the medium.
    Input(BitInstant, Input),
    /// It happened on the medium.
    Event(Event),
    /// It happened to the emulator.
    Emulator(EmulatorEvent),
}

impl Fact {
    fn at(&self) -> BitInstant {
        match self {
            Fact::Input(at, _) => *at,
            Fact::Event(event) => event.at,
            Fact::Emulator(event) => event.at,
        }
    }
}

/// The facts of the last span of time.
#[derive(Debug)]
pub struct Ring {
    span: BitTimes,
    room: Room,
    past: Past,
    chunks: VecDeque<Arc<Vec<Fact>>>,
    open: Vec<Fact>,
    /// From when on it has everything, of a longer span too.
    complete_from: BitInstant,
}

impl Ring {
    /// Nothing has happened yet on a medium made from `config`.
    pub fn new(config: &Config, span: BitTimes, room: Room) -> Ring {
        let (past, complete_from) = (Past::new(config), BitInstant::ZERO);
        Ring { span, room, past, chunks: VecDeque::new(), open: Vec::new(), complete_from }
    }

    /// Takes one more fact.
    #[inline]
    pub fn take(&mut self, fact: Fact) {
        let at = fact.at();
        self.open.push(fact);
        if self.open.len() >= self.room.facts {
            self.close_chunk(at);
        }
    }

    #[cold]
    fn close_chunk(&mut self, now: BitInstant) {
        self.chunks.push_back(Arc::new(std::mem::replace(&mut self.open, Vec::with_capacity(self.room.facts))));
        let begin = self.begin(now);
        while let Some(next) = self.chunks.get(1).map(|next| next[0].at())
            && (self.chunks.len() > self.room.chunks || next <= begin)
        {
            let oldest = self.chunks.pop_front().expect("there is another one");
            oldest.iter().for_each(|fact| self.past.take(fact));
            self.complete_from = next.min(begin).max(self.complete_from);
            if self.chunks.len() >= self.room.chunks {
                self.complete_from = next.max(self.complete_from);
            }
        }
    }

    /// Where the span up to `now` begins.
    fn begin(&self, now: BitInstant) -> BitInstant {
        BitInstant::new(now.get().saturating_sub(self.span.get()))
    }

    /// Facts are missing here: those before the gap do not explain those after it.
    pub fn miss(&mut self) {
        for fact in self.chunks.iter().flat_map(|chunk| chunk.iter()).chain(&self.open) {
            self.complete_from = fact.at();
            self.past.take(fact);
        }
        self.past.miss();
        self.chunks.clear();
        self.open.clear();
    }

    /// The instant of the latest fact.
    pub fn now(&self) -> BitInstant {
        let latest = self.open.last().or_else(|| self.chunks.back().and_then(|chunk| chunk.last()));
        latest.map_or(self.complete_from, Fact::at)
    }

    /// What is kept at `now`.
    pub fn kept(&self, now: BitInstant) -> Kept {
        let (mut past, begin) = (self.past.clone(), self.begin(now));
        let mut chunks: Vec<Arc<Vec<Fact>>> = self.chunks.iter().cloned().collect();
        chunks.push(Arc::new(self.open.clone()));
        let facts = chunks.iter().flat_map(|chunk| chunk.iter());
        // What was on its way when the span began is there, too.
        let earlier = begin.get().saturating_sub(past.echo.get());
        let skip = facts.clone().take_while(|fact| fact.at().get() < earlier).count();
        facts.take(skip).for_each(|fact| past.take(fact));
        past.forget_over(earlier);
        let from = (!past.is_nothing()).then_some(begin.max(self.complete_from));
        Kept { past, chunks, skip, from, until: now }
    }
}

/// What a ring kept, to be written by another thread.
#[derive(Debug)]
pub struct Kept {
    past: Past,
    chunks: Vec<Arc<Vec<Fact>>>,
    /// Facts of the first chunks that are in `past`.
    skip: usize,
    /// From when on it is complete; from the run's begin on if nothing was forgotten.
    from: Option<BitInstant>,
    until: BitInstant,
}

impl Kept {
    /// How long the time is of which it has everything.
    pub fn span(&self) -> BitTimes {
        self.until.since(self.from.unwrap_or(BitInstant::ZERO))
    }

    /// Writes it to `file` as a trace, in the form that the name of `place` asks for, and gives the number of its
    /// facts.
    ///
    /// # Errors
    /// The disk is full, or the like.
    pub fn write(&self, file: Arc<File>, place: String, header: &Header) -> Result<u64, WriteError> {
        let header = Header { kept_from_bt: self.from.map(BitInstant::get), ..header.clone() };
        let mut log = EventLog::shared(file, place, &header)?.without_digest();
        let past = self.past.facts();
        let window = self.chunks.iter().flat_map(|chunk| chunk.iter()).skip(self.skip);
        let mut count = 0;
        for fact in past.iter().chain(window) {
            // The same as the event `offered`.
            count += u64::from(!matches!(fact, Fact::Input(_, Input::Offer { .. })));
            match fact {
                Fact::Input(at, input) => log.input(*at, input, None)?,
                Fact::Event(event) => log.event(event)?,
                Fact::Emulator(event) => log.emulator(event)?,
            }
        }
        log.finish()?;
        Ok(count)
    }
}

/// What of the time before matters after it.
#[derive(Clone, Debug)]
struct Past {
    /// How long after a frame's end its receivers may still hear it.
    echo: BitTimes,
    /// Facts so far: a place in their order.
    count: u64,
    /// Facts are missing.
    missed: bool,
    /// Frames that were offered and of which no event has told yet.
    offers: VecDeque<(u64, Fact)>,
    /// Frames that are not over.
    lives: HashMap<FrameId, Vec<(u64, Fact)>>,
    /// The latest BEACON.
    beacon: Option<(u64, Fact)>,
    /// Frames that are over, and not yet everywhere.
    over: VecDeque<(BitInstant, FrameId)>,
    /// The latest change of each kind, and earlier ones in whose time a signal of these frames began.
    changes: Vec<(u64, Changes, Fact)>,
}

/// What a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Changes {
    /// A deed's subject.
    Deed(Subject),
    /// Events that are changes: plca_status, and the id that D-PLCA gives.
    Status(StationId),
    /// Which container a station is.
    Container(StationId),
    Id(StationId),
}

impl Past {
    fn new(config: &Config) -> Past {
        let longest = config.topology.longest_distance();
        // What a node of PLCA does follows from the cycles before, and a frame's last bit may be in its delay line.
        let cycles = if matches!(config.method, Method::Plca(_)) { 1 << 14 } else { 0 };
        Past {
            echo: longest + longest + BitTimes::new(cycles),
            count: 0,
            missed: false,
            offers: VecDeque::new(),
            lives: HashMap::new(),
            beacon: None,
            over: VecDeque::new(),
            changes: Vec::new(),
        }
    }

    /// Nothing was ever forgotten.
    fn is_nothing(&self) -> bool {
        self.count == 0 && !self.missed
    }

    fn miss(&mut self) {
        self.missed = true;
        self.offers.clear();
        self.lives.clear();
        self.beacon = None;
        self.over.clear();
    }

    fn take(&mut self, fact: &Fact) {
        self.count += 1;
        match fact {
            Fact::Input(_, input) => self.input(input, fact),
            Fact::Event(event) => self.event(event, fact),
            Fact::Emulator(event) => {
                event
                    .kind
                    .container_of()
                    .into_iter()
                    .for_each(|station| self.change(Changes::Container(station), fact));
            }
        }
    }

    fn input(&mut self, input: &Input, fact: &Fact) {
        match input {
            Input::Offer { .. } => self.offers.push_back((self.count, fact.clone())),
            Input::Deed(deed) => self.change(Changes::Deed(deed.subject()), fact),
        }
    }

    fn change(&mut self, changes: Changes, fact: &Fact) {
        self.forget_changes();
        self.changes.push((self.count, changes, fact.clone()));
    }

    /// Forgets changes that others had followed before the first of the frames was offered. There are few changes.
    fn forget_changes(&mut self) {
        let first = self.lives.values().filter_map(|life| life.first()).map(|(place, _)| *place).min();
        let first = first.unwrap_or(self.count);
        let mut later: Vec<Changes> = Vec::new();
        let mut kept: Vec<(u64, Changes, Fact)> = Vec::new();
        for (place, changes, fact) in std::mem::take(&mut self.changes).into_iter().rev() {
            if later.contains(&changes) {
                continue;
            }
            if place <= first {
                later.push(changes);
            }
            kept.push((place, changes, fact));
        }
        kept.truncate(MOST_CHANGES);
        kept.reverse();
        self.changes = kept;
    }

    /// Forgets the frames that are over everywhere at an instant.
    fn forget_over(&mut self, at: u64) {
        while let Some((_, frame)) = self.over.pop_front_if(|(end, _)| (*end + self.echo).get() < at) {
            self.lives.remove(&frame);
        }
    }

    fn event(&mut self, event: &Event, fact: &Fact) {
        self.forget_over(event.at.get());
        let (frame, own) = (event.frame, (self.count, Fact::Event(*event)));
        match event.kind {
            Kind::Offered { .. } => {
                let is_its = |(_, offer): &mut (u64, Fact)| matches!(offer, Fact::Input(_, Input::Offer { station, .. }) if *station == event.station);
                let offer = self.offers.pop_front_if(is_its).map(|(_, offer)| (self.count, offer));
                self.lives.insert(frame, offer.into_iter().chain([own]).collect());
            }
            Kind::QueueDrop => _ = self.lives.remove(&frame),
            Kind::Beacon { .. } => self.beacon = Some(own),
            Kind::PlcaStatus { .. } => self.change(Changes::Status(event.station), fact),
            Kind::PlcaId { .. } => self.change(Changes::Id(event.station), fact),
            kind => {
                let Some(life) = self.lives.get_mut(&frame) else { return };
                if life.len() >= MOST_OF_A_FRAME {
                    life.remove(2);
                }
                life.push(own);
                if matches!(kind, Kind::Transmitted { .. } | Kind::Discarded { .. }) {
                    self.over.push_back((event.at, event.frame));
                }
            }
        }
    }

    /// All of it, in the order in which it happened.
    fn facts(&self) -> Vec<Fact> {
        let lives = self.lives.values().flatten();
        let mut all: Vec<(u64, Fact)> = lives.chain(&self.offers).chain(&self.beacon).cloned().collect();
        all.extend(self.changes.iter().map(|(place, _, fact)| (*place, fact.clone())));
        // An offer and its event have one place, and the sort is stable.
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, fact)| fact).collect()
    }
}

impl Observer for Ring {
    type Error = std::convert::Infallible;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), Self::Error> {
        self.take(Fact::Input(at, *input));
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Self::Error> {
        self.take(Fact::Event(*event));
        Ok(())
    }

    fn emulator(&mut self, event: &EmulatorEvent) -> Result<(), Self::Error> {
        self.take(Fact::Emulator(event.clone()));
        Ok(())
    }
}
