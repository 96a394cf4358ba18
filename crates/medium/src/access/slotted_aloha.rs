//! Slotted ALOHA: a frame goes out at the next slot boundary, without listening. A frame that met another waits some
//! slots and goes out again (Roberts 1972; Kleinrock and Lam 1975).
//!
//! ```text
//!            |  slot t    |   R = ack_delay slots   | r = 0 | r = 1 | …
//!   frame ..▸|frame|      |                         |frame  |frame  |
//!            └ attempt    └ its end                 └ known: transmitted, or collision and backoff
//! ```
//! No station listens. A sender learns the fate of its frame from an acknowledgement, so "sent" and "known to have
//! arrived" are two facts. The acknowledgement itself takes nothing of the medium. A frame for one station arrives if
//! that station hears it whole; any other frame arrives if it met no signal anywhere.
//!
//! Contending stations, waits and further attempts are in `contenders`.

mod control;

use self::control::Controlled;
use super::contenders::{Contender, Contenders, Contends, Fate, InOnePlace, Known, State, key};
use super::{Access, Admitted, FastPath};
use crate::config::{Config, SlottedAloha};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::fault::Fault;
use crate::frame::{Frame, FrameId, StationId, TransmissionId};
use crate::inputs::Host;
use crate::line::Transmission;
use crate::receive::Arrival;
use crate::rules::packet;
use crate::star::{OnStar, Sent, Together};
use crate::time::{BitInstant, BitTimes};
use crate::timers::NEVER;
use crate::topology::Topology;
use backoff::Generator;

/// The contenders, and the signals of the present slot.
#[derive(Debug)]
pub(crate) struct Contention {
    slot: BitTimes,
    /// From the end of a slot to when its senders know.
    known: Known,
    /// How long a frame with its preamble may be, so that it has passed every place as its slot ends.
    longest: BitTimes,
    contenders: Contenders,
    /// Frames that draw for each slot, under optimal control.
    controlled: Option<Controlled>,
    /// When the present slot began, and its senders.
    now: BitInstant,
    sending: Vec<usize>,
    /// Room for the senders that learn the fate of their frames, kept to save the allocation.
    learning: Vec<(FrameId, usize, Fate)>,
    /// On a star, how long signals take. Its signals are in `air` and `earlier`, and on no line.
    star: Option<BitTimes>,
    /// The signals of the last slot, and those of the slot before it that still end somewhere.
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
        let SlottedAloha { slot, ack_delay, holds_sender, backoff, control, capture: _, attempt_limit, population } =
            config.slotted_aloha();
        let farthest = config.topology.round_trip().get() / 2;
        Contention {
            slot: *slot,
            known: Known::new(BitTimes::ZERO, *slot * u64::from(*ack_delay), *holds_sender),
            longest: BitTimes::new(slot.get() - farthest),
            contenders: Contenders::new(*slot, backoff, *attempt_limit, *population),
            controlled: control.map(Controlled::new),
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

    /// A frame is no longer than its slot, also if its station has a fault.
    fn admit(&self, config: &Config, frame: Frame, _: Option<Fault>) -> Result<Admitted, Cause> {
        let admitted = super::admit_honest(config, frame)?;
        let fits = packet(admitted.size) <= self.longest;
        fits.then_some(admitted).ok_or(Cause::TooLong)
    }

    fn is_full(&self, config: &Config, queued: usize) -> bool {
        let rejects = self.controlled.as_ref().is_some_and(Controlled::rejects);
        rejects || self.contenders.is_full(config, queued)
    }

    fn frame_ready<H: Host>(engine: &mut Engine<Contention>, station: StationId, host: &mut H) {
        engine.contend(station, host);
    }

    fn timer_ends<H: Host>(engine: &mut Engine<Contention>, _: StationId, _: usize, host: &mut H) {
        engine.boundary(host);
        engine.look_ahead();
    }

    fn detached<H: Host>(engine: &mut Engine<Contention>, station: StationId, host: &mut H) {
        engine.abandon(station, host);
        engine.forget_discarded();
    }

    fn verdict(core: &Core, place: StationId, id: TransmissionId) -> Option<Kind> {
        let transmission = core.line.get(id);
        let met = core.line.damaged_in_slot(place, id);
        Some(transmission.worth.received(transmission.size, Arrival::met(met)))
    }
}

impl FastPath for Contention {
    fn runs<H: Host>(engine: &mut Engine<Contention>, limit: BitInstant, timers_too: bool, host: &mut H) -> bool {
        engine.run_in_one_place(limit, timers_too, host)
    }

    fn due(engine: &Engine<Contention>) -> BitInstant {
        engine.method.next_decision().min(engine.method.next_signal())
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
        let due = if self.sending.is_empty() { due } else { due.min(self.now + self.slot) };
        self.controlled.as_ref().and_then(Controlled::next).map_or(due, |draws| due.min(draws))
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

    #[inline]
    fn await_draw(engine: &mut Engine<Contention>, index: usize) -> bool {
        engine.await_draw(index)
    }

    #[inline(always)]
    fn ready<H: Host>(engine: &mut Engine<Contention>, index: usize, host: &mut H) {
        engine.attempt(index, host);
    }
}

impl Contention {
    /// On a star, a signal begins in the slot that begins at `now`. Its number is not used.
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
        let draws = self.method.controlled.as_ref().is_some_and(Controlled::holds_new);
        if draws && self.await_draw(index) {
            // It draws from the next slot on.
        } else if boundary == now {
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

    /// A slot begins: the one before is judged, senders learn, and the contenders that waited for this slot send.
    fn boundary<H: Host>(&mut self, host: &mut H) {
        let sent = self.method.sending.len();
        self.judge_slot(host);
        self.method.now = self.core.instant;
        self.act_in_slot(host);
        self.draw_all(sent, host);
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

    /// On a star, the fate of signal `number` of the slot that began at `begin`.
    #[inline(always)]
    fn fate_on_star(&self, number: usize, begin: BitInstant, way: BitTimes, episode: Option<u64>) -> Fate {
        let end = self.method.air.signals[number].end;
        let end = BitInstant::new(end.get() - way.get());
        Fate { arrived: self.arrives(number), begin, end, episode }
    }

    /// Senders learn as their slot ends, each at its turn among the contenders that act then.
    fn learn_of_slot<H: Host>(&mut self, begin: BitInstant, way: BitTimes, episode: Option<u64>, host: &mut H) {
        let now = self.core.instant;
        self.method.now = now;
        let mut learning = std::mem::take(&mut self.method.learning);
        for number in 0..self.method.air.signals.len() {
            let Sent { index, frame, .. } = self.method.air.signals[number];
            learning.push((frame, index, self.fate_on_star(number, begin, way, episode)));
        }
        learning.sort_unstable_by_key(|(frame, ..)| *frame);
        for (frame, index, fate) in learning.drain(..) {
            self.act_before(key(now, frame), host);
            self.learn(index, fate, host);
        }
        self.method.learning = learning;
    }

    /// The same on a star, where the number of signals says whether they met.
    fn judge_slot_of_star<H: Host>(&mut self, host: &mut H) {
        let (now, begin, met) = (self.core.instant, self.method.now, self.method.air.met());
        let (known, way) = (self.method.known, self.method.star.unwrap_or(BitTimes::ZERO));
        self.method.contenders.episodes += u64::from(met);
        let episode = met.then_some(self.method.contenders.episodes);
        self.method.sending.clear();
        if known.after(now, false) == now {
            return self.learn_of_slot(begin, way, episode, host);
        }
        for number in 0..self.method.air.signals.len() {
            let index = self.method.air.signals[number].index;
            let fate = self.fate_on_star(number, begin, way, episode);
            let contenders = &mut self.method.contenders;
            contenders.expect(now, index, known.after(now, fate.arrived), State::Unknown(fate));
        }
    }

    /// The fates of the attempts in the slot that ends; their senders learn them `ack_delay` later.
    fn judge_slot<H: Host>(&mut self, host: &mut H) {
        if self.method.sending.is_empty() {
            return;
        }
        if self.method.star.is_some() {
            return self.judge_slot_of_star(host);
        }
        let known = self.method.known;
        let mut sending = std::mem::take(&mut self.method.sending);
        // Where a cable is cut, each side is a medium of its own.
        let mut episodes = [None; 2];
        for index in sending.drain(..) {
            let id = self.contender(index).transmission();
            let sent = self.core.line.get(id);
            let source = sent.source();
            let side = usize::from(sent.parted.as_ref().is_some_and(|far| far[source.index()]));
            let met = self.core.line.began_together(source, id);
            let episode = met.then(|| {
                *episodes[side].get_or_insert_with(|| {
                    self.method.contenders.episodes += 1;
                    self.method.contenders.episodes
                })
            });
            self.slot_ends(index, met, episode, known);
        }
        self.method.sending = sending;
    }
}
