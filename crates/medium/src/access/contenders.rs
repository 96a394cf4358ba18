//! Contenders: frames at their turn on a medium without collision detection. ALOHA, slotted ALOHA, TDMA and CSMA share
//! them.
//!
//! A contender is the head of a station's queue or, where the population is infinite, any frame. It is sent whole, and
//! waits until its sender knows its fate. If it did not arrive, it waits some slots and is sent again. One schedule has
//! the next action of each contender, so waiting contenders cost nothing.
//!
//! The method decides when a frame may go out, and finds out whether it arrived.

mod due;
mod in_one_place;
mod slots;
mod unheard;

use self::due::{Due, Entry, Key};
pub(in crate::access) use self::due::{after, key};
pub(crate) use self::in_one_place::InOnePlace;
use super::Access;
use crate::config::{Clock, Config, Population};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::frame::{Addressed, Destination, FrameId, Queued, StationId, TransmissionId};
use crate::inputs::Host;
use crate::line::Worth;
use crate::receive::Arrival;
use crate::time::{BitInstant, BitTimes};
use backoff::{Generator, Law, Policy};
use std::num::NonZeroU32;

/// A method whose frames are contenders.
pub(crate) trait Contends: Access {
    /// The contenders.
    fn contenders(&mut self) -> &mut Contenders;

    /// What the draws of a station's contenders come from.
    fn generator(mac: &mut Self::Mac) -> &mut Generator;

    /// The method's own loop runs the actions of contenders.
    fn has_no_timer(&self) -> bool {
        false
    }

    /// How many slots a contender waits after one failure more.
    #[inline]
    fn slots_after_failure(engine: &mut Engine<Self>, index: usize) -> u64 {
        engine.draw(index)
    }

    /// Has the contender draw for each slot in place of a backoff, if the method does so; whether it does.
    #[inline]
    fn await_draw(_: &mut Engine<Self>, _: usize) -> bool {
        false
    }

    /// When a wait of `slots` ends that a station with this `clock` begins now.
    #[inline]
    fn wait_ends(&mut self, clock: Clock, now: BitInstant, slots: u64) -> BitInstant {
        clock.after(now, self.contenders().slot * slots)
    }

    /// A contender's wait is over: it goes out, or senses the medium first.
    fn ready<H: Host>(engine: &mut Engine<Self>, index: usize, host: &mut H);
}

/// All contenders, and their next actions.
#[derive(Debug)]
pub(crate) struct Contenders {
    all: Vec<Contender>,
    /// Places of contenders that are gone.
    free: Vec<usize>,
    /// Next actions, by instant, station and frame. An entry is valid while its contender has the same key.
    due: Due,
    /// The length of a slot of the policy.
    slot: BitTimes,
    backoff: Policy,
    /// Its laws after 1, 2, 3 … failures, as far as they have been used.
    laws: Vec<Law>,
    attempt_limit: Option<NonZeroU32>,
    pub infinite: bool,
    /// Collisions so far.
    pub episodes: u64,
}

/// A frame at its turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    pub frame: FrameId,
    pub head: Queued,
    /// When it began to contend.
    since: BitInstant,
    pub attempts: u32,
    /// How often it was sent in vain or found the line busy: what the policy counts.
    failures: u64,
    /// It was delayed on its first attempt.
    pub deferred: bool,
    pub state: State,
    /// The key of its next action; no action has key 0.
    due: Key,
}

impl Contender {
    /// The transmission that it is.
    pub fn transmission(&self) -> TransmissionId {
        let State::Sending(id) = self.state else { panic!("{} was not sent", self.frame) };
        id
    }
}

/// After more failures a law is worked out each time.
const MOST_LAWS: usize = 64;

/// The key of a contender without a next action.
const NOTHING: Key = 0;

/// The state of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Until it is ready.
    Waiting,
    /// The line was busy at its place: it waits for silence, or for the instant at which it senses again.
    Sensing,
    /// It goes out at its next action, unless a signal gets to its place before.
    Counting,
    /// It is sent.
    Sending(TransmissionId),
    /// It was sent, and is on its way to its addressee.
    Passing(TransmissionId),
    /// It was sent; its sender does not know its fate yet.
    Unknown(Fate),
    /// The place is free.
    Gone,
}

/// The fate of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fate {
    pub arrived: bool,
    pub begin: BitInstant,
    pub end: BitInstant,
    /// The collision that it took part in.
    pub episode: Option<u64>,
}

/// How long after the end of a frame its sender knows the fate of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    arrived: BitTimes,
    lost: BitTimes,
}

impl Known {
    /// A round trip, and `delay` if the frame did not arrive; with `holds_sender` also if it did.
    pub fn new(round_trip: BitTimes, delay: BitTimes, holds_sender: bool) -> Known {
        let lost = round_trip + delay;
        Known { arrived: if holds_sender { lost } else { round_trip }, lost }
    }

    /// When the sender knows of a frame that ended at `end`.
    #[inline]
    pub fn after(self, end: BitInstant, arrived: bool) -> BitInstant {
        end + if arrived { self.arrived } else { self.lost }
    }
}

impl Contenders {
    /// No contenders yet.
    pub fn new(
        slot: BitTimes,
        backoff: &Policy,
        attempt_limit: Option<NonZeroU32>,
        population: Population,
    ) -> Contenders {
        Contenders {
            all: Vec::new(),
            free: Vec::new(),
            due: Due::new(slot),
            slot,
            backoff: backoff.with_attempt_limit(0),
            laws: Vec::new(),
            attempt_limit,
            infinite: population == Population::Infinite,
            episodes: 0,
        }
    }

    /// When the frame that has waited longest among them was offered.
    fn oldest(&self) -> Option<BitInstant> {
        self.all.iter().filter(|contender| contender.state != State::Gone).map(|contender| contender.head.arrived).min()
    }

    #[inline]
    pub fn get(&self, index: usize) -> &Contender {
        &self.all[index]
    }

    #[inline]
    pub fn get_mut(&mut self, index: usize) -> &mut Contender {
        &mut self.all[index]
    }

    /// Draws a wait after this number of failures.
    #[inline]
    fn draw(&mut self, failures: u64, generator: &mut Generator) -> u64 {
        match self.laws.get(failures as usize - 1) {
            Some(law) => law.draw_ns(generator),
            None => self.draw_anew(failures, generator),
        }
    }

    #[cold]
    #[inline(never)]
    fn draw_anew(&mut self, failures: u64, generator: &mut Generator) -> u64 {
        let law = self.backoff.law(failures).expect("the policy's attempt limit is not used");
        if self.laws.len() < MOST_LAWS && self.laws.len() as u64 + 1 == failures {
            self.laws.push(law);
        }
        law.draw_ns(generator)
    }

    fn enter(&mut self, contender: Contender) -> usize {
        match self.free.pop() {
            Some(index) => {
                self.all[index] = contender;
                index
            }
            None => {
                self.all.push(contender);
                self.all.len() - 1
            }
        }
    }

    fn leave(&mut self, index: usize) {
        (self.all[index].state, self.all[index].due) = (State::Gone, NOTHING);
        self.free.push(index);
    }

    /// Sets the contender's next action to `at`; the present instant is `now`.
    #[inline]
    pub fn expect(&mut self, now: BitInstant, index: usize, at: BitInstant, state: State) {
        let contender = &mut self.all[index];
        let key = key(at, contender.frame);
        (contender.state, contender.due) = (state, key);
        self.due.push(now, Entry { key, index: index as u32 });
    }

    /// The contender has no next action.
    pub fn hold(&mut self, index: usize, state: State) {
        (self.all[index].state, self.all[index].due) = (state, NOTHING);
    }

    /// A station with this number of queued frames takes no more, unless each of its frames is a user of its own.
    pub fn is_full(&self, config: &Config, queued: usize) -> bool {
        !self.infinite && queued >= config.queue_limit
    }

    /// Takes the first contender that acts before `limit`.
    #[inline(always)]
    pub fn take_before(&mut self, limit: Key) -> Option<usize> {
        if self.due.is_before(limit) { self.take_first_due(limit) } else { None }
    }

    fn take_first_due(&mut self, limit: Key) -> Option<usize> {
        while let Some(Entry { key, index }) = self.due.take(limit) {
            let index = index as usize;
            let contender = &mut self.all[index];
            if contender.due == key {
                contender.due = NOTHING;
                return Some(index);
            }
        }
        None
    }

    /// The instant of the next action; `NEVER` without one.
    #[inline]
    pub fn next(&self) -> BitInstant {
        self.due.next()
    }
}

/// What happens to contenders under every method.
impl<A: Contends> Engine<A> {
    #[inline]
    pub(super) fn contender(&mut self, index: usize) -> &mut Contender {
        self.method.contenders().get_mut(index)
    }

    /// The next frame of `station`, if it has one and its turn has come, contends from now on.
    pub(super) fn next_contender(&mut self, station: StationId) -> Option<usize> {
        let (now, infinite) = (self.core.instant, self.method.contenders().infinite);
        let this = self.station_mut(station);
        if !infinite && this.held > 0 {
            return None;
        }
        let head = this.queue.pop_front()?;
        this.held += 1;
        let frame = FrameId { station, serial: head.serial };
        let (deferred, state) = (false, State::Waiting);
        let contender = Contender { frame, head, since: now, attempts: 0, failures: 0, deferred, state, due: NOTHING };
        Some(self.method.contenders().enter(contender))
    }

    /// When the frame that has waited longest was offered, at its turn or in a queue.
    pub fn oldest(&mut self) -> Option<BitInstant> {
        let queued = self.stations.iter().filter_map(|station| station.queue.front()).map(|head| head.arrived).min();
        queued.into_iter().chain(self.method.contenders().oldest()).min()
    }

    /// Sets the only timer, which all stations share.
    #[inline]
    pub(super) fn set_timer(&mut self, at: BitInstant) {
        self.core.agenda.timers.set(0, self.core.instant, at);
    }

    /// Sets the timer to the next action of a contender.
    #[inline]
    pub(super) fn await_due(&mut self) {
        if A::has_no_timer(&self.method) {
            return;
        }
        let due = self.method.contenders().next();
        self.set_timer(due);
    }

    /// The fate of an attempt is certain; its sender knows it at `known`.
    pub(super) fn acknowledge<H: Host>(&mut self, index: usize, fate: Fate, known: BitInstant, host: &mut H) {
        if known == self.core.instant {
            return self.learn(index, fate, host);
        }
        let now = self.core.instant;
        self.method.contenders().expect(now, index, known, State::Unknown(fate));
    }

    /// The contender begins to send. Returns what receivers can make of its frame.
    #[inline]
    pub(super) fn emit_attempt<H: Host>(&mut self, index: usize, host: &mut H) -> Worth {
        let contender = self.contender(index);
        contender.attempts += 1;
        let (frame, attempt) = (contender.frame, contender.attempts);
        self.core.emit(frame.station, frame, Kind::Attempt { attempt, excessive_deferral: false, burst: false }, host);
        Worth::sent(false, self.station(frame.station).fault)
    }

    /// The sender learns the fate of its attempt.
    pub(super) fn learn<H: Host>(&mut self, index: usize, fate: Fate, host: &mut H) {
        let limit = self.method.contenders().attempt_limit;
        let Contender { frame, head, since, attempts, deferred, .. } = *self.contender(index);
        let station = frame.station;
        if fate.arrived {
            let transmitted = Kind::Transmitted {
                size: head.size,
                attempts,
                deferred,
                access_delay: fate.begin - since,
                mac_delay: fate.end - head.arrived,
                extension: BitTimes::ZERO,
                no_carrier: false,
            };
            self.core.emit(station, frame, transmitted, host);
            self.core.release(frame);
            return self.done(index, host);
        }
        if let Some(episode) = fate.episode {
            self.core.emit(station, frame, Kind::Collision { attempt: attempts, late: false, episode }, host);
        }
        let last = limit.is_some_and(|limit| attempts >= limit.get());
        if last || !self.station(station).attached {
            let cause = if last { Cause::ExcessiveCollisions } else { Cause::Detached };
            self.core.emit(station, frame, Kind::Discarded { cause, attempts }, host);
            self.core.release(frame);
            return self.done(index, host);
        }
        if A::await_draw(self, index) {
            return;
        }
        let slots = A::slots_after_failure(self, index);
        self.core.emit(station, frame, Kind::Backoff { attempt: attempts, slots }, host);
        if slots == 0 {
            return A::ready(self, index, host);
        }
        self.wait(index, slots);
    }

    /// The contender found the line busy and gives way: it senses again one slot later than the policy says.
    pub(super) fn give_way<H: Host>(&mut self, index: usize, host: &mut H) {
        let Contender { frame, attempts, .. } = *self.contender(index);
        let slots = self.draw(index).saturating_add(1);
        self.core.emit(frame.station, frame, Kind::Backoff { attempt: attempts + 1, slots }, host);
        self.wait(index, slots);
    }

    /// How many slots to wait after one failure more.
    pub(super) fn draw(&mut self, index: usize) -> u64 {
        let contenders = self.method.contenders();
        let contender = &mut contenders.all[index];
        contender.failures += 1;
        let (station, failures) = (contender.frame.station, contender.failures);
        contenders.draw(failures, A::generator(&mut self.stations[station.index()].mac))
    }

    fn wait(&mut self, index: usize, slots: u64) {
        let now = self.core.instant;
        let station = self.contender(index).frame.station;
        let clock = self.core.config.clock(station);
        let at = A::wait_ends(&mut self.method, clock, now, slots);
        self.method.contenders().expect(now, index, at, State::Waiting);
    }

    /// The medium has finished with a contender; the next frame of its station's queue contends.
    fn done<H: Host>(&mut self, index: usize, host: &mut H) {
        let station = self.contender(index).frame.station;
        self.method.contenders().leave(index);
        self.station_mut(station).held -= 1;
        if !self.method.contenders().infinite {
            A::frame_ready(self, station, host);
        }
    }

    /// Discards every frame of a station that is off the medium, except those that it has sent without knowing their fate.
    pub(super) fn abandon<H: Host>(&mut self, station: StationId, host: &mut H) {
        let is_sent = |state| matches!(state, State::Sending(_) | State::Passing(_) | State::Unknown(_));
        let mut waiting: Vec<(FrameId, usize)> = (self.method.contenders().all.iter().enumerate())
            .filter(|(_, it)| it.frame.station == station && it.state != State::Gone && !is_sent(it.state))
            .map(|(index, it)| (it.frame, index))
            .collect();
        waiting.sort_unstable();
        for (frame, index) in waiting {
            let attempts = self.contender(index).attempts;
            self.method.contenders().leave(index);
            self.station_mut(station).held -= 1;
            self.core.emit(station, frame, Kind::Discarded { cause: Cause::Detached, attempts }, host);
            self.core.release(frame);
        }
        while let Some(queued) = self.station_mut(station).queue.pop_front() {
            let frame = FrameId { station, serial: queued.serial };
            self.core.emit(station, frame, Kind::Discarded { cause: Cause::Detached, attempts: 0 }, host);
            self.core.release(frame);
        }
    }
}

/// The fate of a transmission that overlaps can spoil at any instant: in pure ALOHA and CSMA.
impl<A: Contends> Engine<A> {
    /// How long after its end it is known what became of the transmission: it has passed its addressee, or, if it has
    /// none of its own, every place.
    #[inline]
    pub(super) fn way(&self, id: TransmissionId) -> BitTimes {
        let sent = self.core.line.get(id);
        match addressee(sent.destination, sent.source()) {
            Some(place) => self.core.line.topology().distance(sent.source(), place),
            None => self.core.line.farthest(sent.source()),
        }
    }

    /// The fate of the transmission, which ended at `end` and has just passed its addressees.
    ///
    /// A frame for one station arrived if that station is on the medium and heard it whole, or captured it. Any other frame
    /// arrived if it met no signal anywhere.
    #[inline]
    pub(super) fn judge(&mut self, id: TransmissionId, end: BitInstant) -> Fate {
        let line = &self.core.line;
        let sent = line.get(id);
        let (begin, worth, source, size) = (sent.begin, sent.worth, sent.source(), sent.size);
        let place = addressee(sent.destination, source);
        let there = place.is_none_or(|place| self.station(place).attached && sent.reaches(place));
        let met = line.meets(place, id);
        let episode = met.then(|| {
            let next = self.method.contenders().episodes + 1;
            let episode = self.core.line.share_episode(place, id, next);
            let contenders = self.method.contenders();
            contenders.episodes = contenders.episodes.max(episode);
            episode
        });
        let lost = met && place.is_none_or(|place| self.core.line.damaged_at(place, id));
        let way = |place| self.core.line.topology().distance(source, place);
        let noisy = |place| self.core.noise.is_on && self.core.noise.spoils(place, end + way(place), size);
        let arrived = there && worth.is_handed_up(lost) && !place.is_some_and(noisy);
        Fate { arrived, begin, end, episode }
    }
}

/// The one station that a frame is for, if it is another than `source`.
fn addressee(destination: Addressed, source: StationId) -> Option<StationId> {
    match destination.to {
        Destination::Station(place) if place != source => Some(place),
        Destination::Station(_) | Destination::All | Destination::Nobody | Destination::Beyond(_) => None,
    }
}

/// What a station makes of a transmission that ends at its place and was sent whole, where an overlap of one bit
/// interferes.
pub(super) fn verdict(core: &Core, place: StationId, id: TransmissionId) -> Kind {
    let transmission = core.line.get(id);
    transmission.worth.received(transmission.size, Arrival::met(core.line.damaged_at(place, id)))
}
