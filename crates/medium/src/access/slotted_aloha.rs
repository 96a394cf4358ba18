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
//! Who contends, and how a sender waits and tries again, is in `contenders`.

use super::contenders::{Contender, Contenders, Contends, Fate, InOnePlace, Known, State};
use super::{Access, Admitted};
use crate::config::{Config, SlottedAloha};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::frame::{Frame, FrameId, StationId, TransmissionId};
use crate::inputs::{Fault, Host};
use crate::line::Transmission;
use crate::receive::Arrival;
use crate::rules::packet;
use crate::star::{OnStar, Sent, Together};
use crate::time::{BitInstant, BitTimes};
use crate::timers::NEVER;
use crate::topology::Topology;
use backoff::Generator;

/// What the engine keeps: who contends, and what is in the slot that goes on.
#[derive(Debug)]
pub(crate) struct Contention {
    slot: BitTimes,
    /// From the end of a slot to when its senders know.
    known: Known,
    /// How long a frame with its preamble may be, so that it has passed every place as its slot ends.
    longest: BitTimes,
    contenders: Contenders,
    /// When the slot that goes on began, and who sends in it.
    now: BitInstant,
    sending: Vec<usize>,
    /// Room for who learns what became of it, kept to save the allocation.
    learning: Vec<(FrameId, usize, Fate)>,
    /// On a star, how long signals take: these stand here then, and on no line.
    star: Option<BitTimes>,
    /// What was sent in the last slot, and in the one before it if that still ends somewhere.
    air: Together,
    earlier: Together,
}

/// A station's part: where its draws come from.
#[derive(Debug)]
pub(crate) struct Mac {
    generator: Generator,
}

impl Access for Contention {
    type Mac = Mac;

    const TIMERS: usize = 1;

    fn new(config: &Config) -> Contention {
        let SlottedAloha { slot, ack_delay, holds_sender, backoff, attempt_limit, population } = config.slotted_aloha();
        let farthest = config.topology.round_trip().get() / 2;
        Contention {
            slot: *slot,
            known: Known::new(BitTimes::ZERO, *slot * u64::from(*ack_delay), *holds_sender),
            longest: BitTimes::new(slot.get() - farthest),
            contenders: Contenders::new(*slot, backoff, *attempt_limit, *population),
            now: BitInstant::ZERO,
            sending: Vec::new(),
            learning: Vec::new(),
            star: match config.topology {
                Topology::Star { .. } if !config.keep_outputs => Some(BitTimes::new(farthest)),
                Topology::Star { .. } | Topology::Bus { .. } | Topology::Segments(_) => None,
            },
            air: Together::default(),
            earlier: Together::default(),
        }
    }

    fn mac(config: &Config, station: StationId) -> Mac {
        Mac { generator: Generator::stream(config.seed, station.index() as u64) }
    }

    /// A frame is no longer than its slot, whatever is wrong with its station.
    fn admit(&self, config: &Config, frame: Frame, _: Option<Fault>) -> Result<Admitted, Cause> {
        let admitted = super::admit_honest(config, frame)?;
        let fits = packet(admitted.size) <= self.longest;
        fits.then_some(admitted).ok_or(Cause::TooLong)
    }

    fn is_full(&self, config: &Config, queued: usize) -> bool {
        !self.contenders.infinite && queued >= config.queue_limit
    }

    fn frame_ready<H: Host>(engine: &mut Engine<Contention>, station: StationId, host: &mut H) {
        engine.contend(station, host);
    }

    fn timer_ends<H: Host>(engine: &mut Engine<Contention>, _: StationId, _: usize, host: &mut H) {
        engine.boundary(host);
        engine.look_ahead();
    }

    fn runs<H: Host>(engine: &mut Engine<Contention>, limit: BitInstant, timers_too: bool, host: &mut H) -> bool {
        engine.run_in_one_place(limit, timers_too, host)
    }

    fn due(engine: &Engine<Contention>) -> BitInstant {
        engine.method.next_decision().min(engine.method.next_signal())
    }

    fn detached<H: Host>(engine: &mut Engine<Contention>, station: StationId, host: &mut H) {
        engine.abandon(station, host);
    }

    fn verdict(core: &Core, place: StationId, id: TransmissionId) -> Option<Kind> {
        let transmission = core.line.get(id);
        let met = core.line.began_together(place, id);
        Some(transmission.worth.received(transmission.size, Arrival::met(met)))
    }
}

impl OnStar for Contention {
    #[inline]
    fn air(&self) -> &Together {
        &self.air
    }

    #[inline]
    fn air_mut(&mut self) -> &mut Together {
        &mut self.air
    }
}

impl InOnePlace for Contention {
    #[inline]
    fn is_one_place(&self) -> bool {
        self.star.is_some()
    }

    /// The next slot in which anything happens.
    #[inline]
    fn next_decision(&self) -> BitInstant {
        let due = self.contenders.next();
        if self.sending.is_empty() { due } else { due.min(self.now + self.slot) }
    }

    #[inline]
    fn next_signal(&self) -> BitInstant {
        self.air.next_end().min(self.earlier.next_end())
    }

    fn decide<H: Host>(engine: &mut Engine<Contention>, host: &mut H) {
        engine.boundary(host);
    }

    fn hear<H: Host>(engine: &mut Engine<Contention>, host: &mut H) {
        // A signal as long as its slot ends as the next slot begins.
        if engine.method.earlier.next_end() == engine.core.instant {
            std::mem::swap(&mut engine.method.air, &mut engine.method.earlier);
            engine.receive_what_ends(host);
            std::mem::swap(&mut engine.method.air, &mut engine.method.earlier);
        } else {
            engine.receive_what_ends(host);
        }
    }
}

impl Contends for Contention {
    #[inline]
    fn contenders(&mut self) -> &mut Contenders {
        &mut self.contenders
    }

    fn generator(mac: &mut Mac) -> &mut Generator {
        &mut mac.generator
    }

    fn ready<H: Host>(engine: &mut Engine<Contention>, index: usize, host: &mut H) {
        engine.attempt(index, host);
    }
}

impl Contention {
    /// On a star, a signal begins in the slot that begins at `now`. Nobody looks for it by its number.
    fn send(&mut self, now: BitInstant, sent: Sent) -> TransmissionId {
        let is_first = self.sending.is_empty();
        if is_first && self.air.next_end() != NEVER {
            std::mem::swap(&mut self.air, &mut self.earlier);
        }
        self.air.send(now, is_first, sent);
        TransmissionId::new(0)
    }
}

/// What happens in slots.
impl Engine<Contention> {
    /// The next frame of `station` contends from now on: it goes out at this instant if that is a slot's first, or else
    /// with the next slot.
    fn contend<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (now, slot) = (self.core.instant, self.method.slot.get());
        let Some(index) = self.next_contender(station) else { return };
        let boundary = BitInstant::new(now.get().next_multiple_of(slot));
        if boundary == now {
            self.method.now = now;
            self.attempt(index, host);
        } else {
            self.method.contenders.expect(now, index, boundary, State::Waiting);
        }
        self.look_ahead();
    }

    /// Sets the timer for the next slot in which anything happens.
    fn look_ahead(&mut self) {
        if self.method.star.is_none() {
            let next = self.method.next_decision();
            self.set_timer(next);
        }
    }

    /// A slot begins: the one before is judged, senders learn, and whoever waited for this slot sends.
    fn boundary<H: Host>(&mut self, host: &mut H) {
        let now = self.core.instant;
        self.judge_slot(host);
        self.method.now = now;
        while let Some(index) = self.method.contenders.take_due(now) {
            match self.contender(index).state {
                State::Waiting => self.attempt(index, host),
                State::Unknown(fate) => self.learn(index, fate, host),
                State::Sensing | State::Counting | State::Sending(_) | State::Passing(_) | State::Gone => {
                    panic!("a contender sends twice, or listens")
                }
            }
        }
    }

    fn attempt<H: Host>(&mut self, index: usize, host: &mut H) {
        let now = self.core.instant;
        let worth = self.emit_attempt(index, host);
        let Contender { frame, head, .. } = *self.contender(index);
        let end = now + packet(head.size);
        let id = match self.method.star {
            Some(way) => self.method.send(now, Sent::new(index, frame, &head, end + way, worth)),
            None => self.core.send_whole(Transmission::whole(frame, &head, now, end, worth)),
        };
        self.method.contenders.hold(index, State::Sending(id));
        self.method.sending.push(index);
    }

    /// Nothing else is due at the end of a slot, and senders learn at once: each in the order of what is due, but not as
    /// something that is.
    fn learn_of_slot<H: Host>(&mut self, begin: BitInstant, way: BitTimes, episode: Option<u64>, host: &mut H) {
        let mut learning = std::mem::take(&mut self.method.learning);
        for number in 0..self.method.air.signals.len() {
            let Sent { index, frame, end, .. } = self.method.air.signals[number];
            let end = begin + BitTimes::new((end - begin).get() - way.get());
            let arrived = self.arrives(number);
            learning.push((frame, index, Fate { arrived, begin, end, episode }));
        }
        if learning.len() > 1 {
            learning.sort_unstable_by_key(|(frame, ..)| *frame);
        }
        self.method.now = self.core.instant;
        for (_, index, fate) in learning.drain(..) {
            self.learn(index, fate, host);
        }
        self.method.learning = learning;
    }

    /// The same on a star, where what met what is counted.
    fn judge_slot_of_star<H: Host>(&mut self, host: &mut H) {
        let (now, begin, met) = (self.core.instant, self.method.now, self.method.air.met());
        let (known, way) = (self.method.known, self.method.star.unwrap_or(BitTimes::ZERO));
        self.method.contenders.episodes += u64::from(met);
        let episode = met.then_some(self.method.contenders.episodes);
        self.method.sending.clear();
        if known.after(now, false) == now && self.method.contenders.next() > now {
            return self.learn_of_slot(begin, way, episode, host);
        }
        for number in 0..self.method.air.signals.len() {
            let Sent { index, end, .. } = self.method.air.signals[number];
            let arrived = self.arrives(number);
            let end = begin + BitTimes::new((end - begin).get() - way.get());
            let fate = Fate { arrived, begin, end, episode };
            let contenders = &mut self.method.contenders;
            contenders.expect(now, index, known.after(now, arrived), State::Unknown(fate));
        }
    }

    /// What became of the attempts in the slot that ends; their senders learn it `ack_delay` later.
    fn judge_slot<H: Host>(&mut self, host: &mut H) {
        if self.method.sending.is_empty() {
            return;
        }
        if self.method.star.is_some() {
            return self.judge_slot_of_star(host);
        }
        let now = self.core.instant;
        let known = self.method.known;
        let mut sending = std::mem::take(&mut self.method.sending);
        // Where a cable is cut, each side is a medium of its own.
        let mut episodes = [None; 2];
        for index in sending.drain(..) {
            let Contender { frame, state, .. } = *self.contender(index);
            let State::Sending(id) = state else { panic!("{frame} was not sent") };
            let sent = self.core.line.get(id);
            let (begin, source) = (sent.begin, sent.source());
            let end = begin + packet(sent.size);
            let side = usize::from(sent.parted.as_ref().is_some_and(|far| far[source.index()]));
            let met = self.core.line.began_together(source, id);
            let episode = met.then(|| {
                *episodes[side].get_or_insert_with(|| {
                    self.method.contenders.episodes += 1;
                    self.method.contenders.episodes
                })
            });
            let arrived = self.arrived(id, met);
            if arrived {
                self.core.carried(id, end);
            }
            let fate = Fate { arrived, begin, end, episode };
            self.method.contenders.expect(now, index, known.after(now, arrived), State::Unknown(fate));
        }
        self.method.sending = sending;
    }
}
