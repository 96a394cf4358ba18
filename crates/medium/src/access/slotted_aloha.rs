//! Slotted ALOHA: a frame goes out at the next slot boundary, whoever else does; what overlapped waits some slots and
//! goes out again (Roberts 1972; Kleinrock and Lam 1975).
//!
//! ```text
//!            |  slot t    |   R = ack_delay slots   | r = 0 | r = 1 | …
//!   frame ..▸|frame|      |                         |frame  |frame  |
//!            └ attempt    └ its end                 └ known: transmitted, or collision and backoff
//! ```
//! Nobody listens: whoever sends learns what became of it from an acknowledgement, so "sent" and "known to have arrived"
//! are two facts. The acknowledgement itself takes nothing of the medium. A frame got through if its addressee heard it
//! whole; one for a group or for nobody, if nothing met it anywhere.
//!
//! A frame that is at its turn is a *contender*: the head of each station's queue, or, where the population is infinite,
//! every frame. Contenders stand in one heap by slot, so an idle slot costs nothing, whoever waits.

use super::{Access, Admitted, Begun};
use crate::config::{Config, ConfigError, Method, rule};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::frame::{Destination, Frame, FrameId, HEADER_AND_FCS, PREAMBLE_AND_SFD, Queued, StationId, TransmissionId};
use crate::inputs::{Fault, Host};
use crate::line::{Transmission, Worth};
use crate::time::{BitInstant, BitTimes, Octets};
use crate::timers::NEVER;
use backoff::{Generator, Policy};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU32;
use std::time::Duration;

/// What slotted ALOHA needs beside the frame sizes of [`Parameters`](crate::Parameters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlottedAloha {
    /// How long a slot is: one frame with its preamble, and the farthest way on the line.
    pub slot: BitTimes,
    /// R: from the end of its slot, after how many slots the sender knows what became of a frame.
    pub ack_delay: u32,
    /// How many slots to wait after the n-th unsuccessful attempt; of [`SlottedAloha::SLOT`] each. Its attempt limit and
    /// its limit of time are not used.
    pub backoff: Policy,
    /// Attempts per frame, the first included; `None`: until it gets through.
    pub attempt_limit: Option<NonZeroU32>,
    /// Who sends.
    pub population: Population,
}

/// Who sends on a slotted ALOHA medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Population {
    /// The stations: each sends one frame after the other, and the others wait in its queue.
    Stations,
    /// Infinitely many users: each frame has one of its own, and goes out whatever became of those before it. The
    /// stations are where they come from and go to; their queues have no limit.
    Infinite,
}

impl SlottedAloha {
    /// The slot that policies for slotted ALOHA count in: 1 ns, so that their delays are numbers of slots.
    pub const SLOT: Duration = Duration::from_nanos(1);

    /// Slots as long as a frame of `size` octets takes to the farthest station; retransmission in one of the next 20
    /// slots, known at the end of the slot, no attempt limit, and the stations as senders.
    pub fn new(size: Octets, farthest: BitTimes) -> SlottedAloha {
        SlottedAloha {
            slot: PREAMBLE_AND_SFD + size.bit_times() + farthest,
            ack_delay: 0,
            backoff: Policy::aloha_uniform(SlottedAloha::SLOT, 20),
            attempt_limit: None,
            population: Population::Stations,
        }
    }
}

/// What the engine keeps: who contends, and what is in the slot that goes on.
#[derive(Debug)]
pub(crate) struct Contention {
    slot: u64,
    ack_delay: u64,
    backoff: Policy,
    attempt_limit: Option<NonZeroU32>,
    infinite: bool,
    /// How long a frame with its preamble may be, so that it has passed every place as its slot ends.
    longest: BitTimes,
    contenders: Vec<Contender>,
    /// Places of contenders that are no more.
    free: Vec<usize>,
    /// Who sends, or learns what became of its attempt, at the beginning of which slot; then by station and frame.
    agenda: BinaryHeap<Reverse<(u64, FrameId, usize)>>,
    /// The slot that goes on, and who sends in it.
    now: u64,
    sending: Vec<usize>,
    episodes: u64,
}

/// A frame at its turn.
#[derive(Clone, Copy, Debug)]
struct Contender {
    frame: FrameId,
    head: Queued,
    /// Since when it has contended.
    since: BitInstant,
    attempts: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It goes out at the slot that the agenda says.
    Waiting,
    /// It is in the slot that goes on.
    Sending(TransmissionId),
    /// It was sent; the sender does not know yet what became of it.
    Unknown(Fate),
    /// Its station was taken off: nothing is left but its line in the agenda.
    Gone,
}

/// What became of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fate {
    arrived: bool,
    begin: BitInstant,
    end: BitInstant,
    /// The collision that it took part in.
    episode: Option<u64>,
}

/// A station's part: where its draws come from.
#[derive(Debug)]
pub(crate) struct Mac {
    generator: Generator,
}

/// The farthest way on the line, in bit times.
fn farthest(config: &Config) -> u64 {
    config.topology.round_trip().get() / 2
}

/// The method's own part of the configuration.
fn own(config: &Config) -> &SlottedAloha {
    match &config.method {
        Method::SlottedAloha(own) => own,
        Method::CsmaCd => panic!("a configuration of CSMA/CD made a medium of slotted ALOHA"),
    }
}

impl Access for Contention {
    type Mac = Mac;

    const TIMERS: usize = 1;

    fn new(config: &Config) -> Contention {
        let SlottedAloha { slot, ack_delay, backoff, attempt_limit, population } = own(config);
        Contention {
            slot: slot.get(),
            ack_delay: u64::from(*ack_delay),
            backoff: backoff.with_attempt_limit(0),
            attempt_limit: *attempt_limit,
            infinite: *population == Population::Infinite,
            longest: BitTimes::new(slot.get() - farthest(config)),
            contenders: Vec::new(),
            free: Vec::new(),
            agenda: BinaryHeap::new(),
            now: 0,
            sending: Vec::new(),
            episodes: 0,
        }
    }

    fn check(config: &Config) -> Result<(), ConfigError> {
        let (own, p) = (own(config), &config.parameters);
        let least = PREAMBLE_AND_SFD.get() + p.min_frame_size.bit_times().get() + farthest(config);
        rule(
            (least..=1 << 31).contains(&own.slot.get()),
            "slot",
            "min_frame_size with preamble, and the farthest way, at least; at most 2^31 BT",
        )
    }

    fn mac(config: &Config, station: StationId) -> Mac {
        Mac { generator: Generator::stream(config.seed, station.index() as u64) }
    }

    /// A frame is no longer than its slot, whatever is wrong with its station.
    fn admit(&self, config: &Config, frame: Frame, _: Option<Fault>) -> Result<Admitted, Cause> {
        if frame.size < HEADER_AND_FCS {
            return Err(Cause::TooShort);
        }
        let p = &config.parameters;
        let size = frame.size.max(p.min_frame_size);
        if frame.size > p.frame_size_limit(frame.tagged) || PREAMBLE_AND_SFD + size.bit_times() > self.longest {
            return Err(Cause::TooLong);
        }
        Ok(Admitted { size, too_long: false })
    }

    fn is_full(&self, config: &Config, queued: usize) -> bool {
        !self.infinite && queued >= config.queue_limit
    }

    fn frame_ready<H: Host>(engine: &mut Engine<Contention>, station: StationId, host: &mut H) {
        if engine.method.infinite || engine.station(station).held == 0 {
            engine.contend(station, host);
        }
    }

    fn timer_ends<H: Host>(engine: &mut Engine<Contention>, _: StationId, _: usize, host: &mut H) {
        engine.boundary(host);
    }

    fn signals_begin<H: Host>(_: &mut Engine<Contention>, _: StationId, _: Begun, _: &mut H) {}

    fn signals_end<H: Host>(_: &mut Engine<Contention>, _: StationId, _: &mut H) {}

    fn detached<H: Host>(engine: &mut Engine<Contention>, station: StationId, host: &mut H) {
        engine.abandon(station, host);
    }

    fn verdict(core: &Core, place: StationId, id: TransmissionId) -> Option<Kind> {
        let transmission = core.line.get(id);
        let size = transmission.size;
        let whole = transmission.worth == Worth::Good && !core.line.began_together(place, id);
        Some(if whole { Kind::Delivered { size } } else { Kind::Damaged { bits: size.bit_times() } })
    }

    /// Nobody detects anything, so nothing is settled before the slot is judged.
    fn exposed(_: &Config) -> Option<BitTimes> {
        None
    }
}

/// What happens to contenders.
impl Engine<Contention> {
    /// The next frame of `station` contends from now on: it goes out at this instant if that is a slot's first, or else
    /// with the next slot.
    fn contend<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        let this = self.station_mut(station);
        let Some(head) = this.queue.pop_front() else { return };
        this.held += 1;
        let frame = FrameId { station, serial: head.serial };
        let contender = Contender { frame, head, since: now, attempts: 0, state: State::Waiting };
        let index = self.method.enter(contender);
        let slot = now.get().div_ceil(self.method.slot);
        if slot * self.method.slot == now.get() {
            self.method.now = slot;
            self.attempt(index, host);
        } else {
            self.method.agenda.push(Reverse((slot, frame, index)));
        }
        self.set_timer();
    }

    /// One timer for all: the next slot in which anything happens.
    fn set_timer(&mut self) {
        let method = &self.method;
        let due = method.agenda.peek().map(|Reverse((slot, ..))| *slot);
        let end = (!method.sending.is_empty()).then_some(method.now + 1);
        let next = [due, end].into_iter().flatten().min();
        self.core.agenda.timers.set(
            0,
            self.core.instant,
            next.map_or(NEVER, |slot| BitInstant::new(slot * method.slot)),
        );
    }

    /// A slot begins: the one before is judged, senders learn, and whoever waited for this slot sends.
    fn boundary<H: Host>(&mut self, host: &mut H) {
        let slot = self.core.instant.get() / self.method.slot;
        self.judge(slot);
        self.method.now = slot;
        let is_due = |method: &Contention| method.agenda.peek().is_some_and(|Reverse((at, ..))| *at == slot);
        while is_due(&self.method) {
            let Some(Reverse((_, _, index))) = self.method.agenda.pop() else { break };
            match self.method.contenders[index].state {
                State::Waiting => self.attempt(index, host),
                State::Unknown(fate) => self.learn(index, fate, host),
                State::Gone => self.method.free.push(index),
                State::Sending(_) => panic!("a contender sends twice"),
            }
        }
        self.set_timer();
    }

    fn attempt<H: Host>(&mut self, index: usize, host: &mut H) {
        let now = self.core.instant;
        let contender = &mut self.method.contenders[index];
        contender.attempts += 1;
        let Contender { frame, head, attempts, .. } = *contender;
        let attempt = Kind::Attempt { attempt: attempts, excessive_deferral: false, burst: false };
        self.core.emit(frame.station, frame, attempt, host);
        let end = now + PREAMBLE_AND_SFD + head.size.bit_times();
        let bad = self.station(frame.station).fault == Some(Fault::BadFcs);
        let worth = if bad { Worth::BadFcs } else { Worth::Good };
        let id = self.core.send_whole(Transmission::whole(frame, &head, now, end, worth));
        self.method.contenders[index].state = State::Sending(id);
        self.method.sending.push(index);
    }

    /// What became of the attempts in the slot before `slot`; their senders learn it `ack_delay` slots later.
    fn judge(&mut self, slot: u64) {
        let mut sending = std::mem::take(&mut self.method.sending);
        // Where a cable is cut, each side is a medium of its own.
        let mut episodes = [None; 2];
        for index in sending.drain(..) {
            let contender = self.method.contenders[index];
            let State::Sending(id) = contender.state else { panic!("{} was not sent", contender.frame) };
            let sent = self.core.line.get(id);
            let (begin, source) = (sent.begin, sent.source());
            let end = begin + PREAMBLE_AND_SFD + sent.size.bit_times();
            let side = usize::from(sent.parted.as_ref().is_some_and(|far| far[source.index()]));
            let met = self.core.line.began_together(source, id);
            let episode = met.then(|| {
                *episodes[side].get_or_insert_with(|| {
                    self.method.episodes += 1;
                    self.method.episodes
                })
            });
            let arrived = self.arrived(id, met);
            if arrived {
                self.core.carried(id, end);
            }
            self.method.contenders[index].state = State::Unknown(Fate { arrived, begin, end, episode });
            self.method.agenda.push(Reverse((slot + self.method.ack_delay, contender.frame, index)));
        }
        self.method.sending = sending;
    }

    /// The addressee heard it whole; if it has none, nothing met it.
    fn arrived(&self, id: TransmissionId, met: bool) -> bool {
        let sent = self.core.line.get(id);
        match sent.destination {
            Destination::Station(place) if place != sent.source() => {
                let heard = self.station(place).attached && sent.reaches(place);
                heard && matches!(Contention::verdict(&self.core, place, id), Some(Kind::Delivered { .. }))
            }
            Destination::Station(_) | Destination::All | Destination::Nobody => sent.worth == Worth::Good && !met,
        }
    }

    fn learn<H: Host>(&mut self, index: usize, fate: Fate, host: &mut H) {
        let Contender { frame, head, since, attempts, .. } = self.method.contenders[index];
        let station = frame.station;
        if fate.arrived {
            let transmitted = Kind::Transmitted {
                size: head.size,
                attempts,
                deferred: false,
                access_delay: fate.begin - since,
                mac_delay: fate.end - head.arrived,
                extension: BitTimes::ZERO,
                no_carrier: false,
            };
            self.core.emit(station, frame, transmitted, host);
            return self.done(index, host);
        }
        if let Some(episode) = fate.episode {
            self.core.emit(station, frame, Kind::Collision { attempt: attempts, late: false, episode }, host);
        }
        let last = self.method.attempt_limit.is_some_and(|limit| attempts >= limit.get());
        if last || !self.station(station).attached {
            let cause = if last { Cause::ExcessiveCollisions } else { Cause::Detached };
            self.core.emit(station, frame, Kind::Discarded { cause, attempts }, host);
            self.core.release(frame);
            return self.done(index, host);
        }
        let law = self.method.backoff.law(attempts.into()).expect("the policy's attempt limit is not used");
        let slots = law.draw_ns(&mut self.station_mut(station).mac.generator);
        self.core.emit(station, frame, Kind::Backoff { attempt: attempts, slots }, host);
        if slots == 0 {
            return self.attempt(index, host);
        }
        self.method.contenders[index].state = State::Waiting;
        self.method.agenda.push(Reverse((self.method.now + slots, frame, index)));
    }

    /// The medium is done with a contender; the next of its station's queue contends.
    fn done<H: Host>(&mut self, index: usize, host: &mut H) {
        let station = self.method.contenders[index].frame.station;
        self.method.free.push(index);
        self.station_mut(station).held -= 1;
        if !self.method.infinite {
            self.contend(station, host);
        }
    }

    /// Discards every frame of a station that is off the medium, but what it has sent and knows nothing of.
    fn abandon<H: Host>(&mut self, station: StationId, host: &mut H) {
        let mut waiting: Vec<(FrameId, usize)> = (self.method.contenders.iter().enumerate())
            .filter(|(_, it)| it.frame.station == station && it.state == State::Waiting)
            .map(|(index, it)| (it.frame, index))
            .collect();
        waiting.sort_unstable();
        for (frame, index) in waiting {
            let contender = &mut self.method.contenders[index];
            contender.state = State::Gone;
            let attempts = contender.attempts;
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

impl Contention {
    fn enter(&mut self, contender: Contender) -> usize {
        match self.free.pop() {
            Some(index) => {
                self.contenders[index] = contender;
                index
            }
            None => {
                self.contenders.push(contender);
                self.contenders.len() - 1
            }
        }
    }
}
