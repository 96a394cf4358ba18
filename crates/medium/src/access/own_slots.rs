//! Slotted ALOHA and TDMA where the clock of some station is off: each station has slots of its own, which walk against
//! those of the others.
//!
//! ```text
//!   slots of st1   | slot        | slot        | slot        |
//!   slots of st2     | slot       | slot       | slot       |        st2 is fast
//!   frame of st2     |frame |     └ known: transmitted, or collision and backoff
//! ```
//! A station begins to send with a slot of its own, as if the clocks agreed. A frame that reaches into a slot of another
//! station can meet a frame there, as in pure ALOHA. A sender learns the fate of its frame as one of its own slots begins,
//! or, if its slots are so short that the frame is still on its way then, as it has passed every place.

use super::contenders::{self, Contender, Contenders, Contends, State};
use super::{Access, Admitted, FastPath, tdma};
use crate::config::{Clock, Config, Method, Population, SlottedAloha, Tdma};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::fault::Fault;
use crate::frame::{Frame, StationId, TransmissionId};
use crate::inputs::Host;
use crate::line::Transmission;
use crate::rules::packet;
use crate::time::{BitInstant, BitTimes};
use backoff::Generator;

/// The method's state for the medium.
#[derive(Debug)]
pub(crate) struct OwnSlots {
    slot: BitTimes,
    /// How long a frame with its preamble may be.
    longest: BitTimes,
    /// After how many slots beyond that of a frame its sender knows that it arrived.
    arrived: u64,
    /// The same of a frame that did not.
    lost: u64,
    contenders: Contenders,
}

/// A station's part.
#[derive(Debug)]
pub(crate) struct Mac {
    generator: Generator,
    /// Of TDMA: the slots of the station.
    turns: Option<tdma::Turns>,
}

impl Access for OwnSlots {
    type Mac = Mac;

    const TIMERS: usize = 1;

    fn new(config: &Config) -> OwnSlots {
        let farthest = config.topology.round_trip().get() / 2;
        match &config.method {
            Method::SlottedAloha(own) => {
                let SlottedAloha { slot, ack_delay, holds_sender, backoff, attempt_limit, population, .. } = own;
                OwnSlots {
                    slot: *slot,
                    longest: BitTimes::new(slot.get() - farthest),
                    arrived: if *holds_sender { (*ack_delay).into() } else { 0 },
                    lost: (*ack_delay).into(),
                    contenders: Contenders::new(*slot, backoff, *attempt_limit, *population),
                }
            }
            Method::Tdma(Tdma { slot, guard, ack_delay, attempt_limit, .. }) => OwnSlots {
                slot: *slot,
                longest: BitTimes::new(slot.get() - guard.get()),
                arrived: 0,
                lost: (*ack_delay).into(),
                contenders: Contenders::new(*slot, &tdma::no_draws(), *attempt_limit, Population::Stations),
            },
            Method::CsmaCd | Method::Aloha(_) | Method::Csma(_) | Method::CsmaCa(_) | Method::Plca(_) => {
                panic!("a method without slots")
            }
        }
    }

    fn mac(config: &Config, station: StationId) -> Mac {
        let turns = match &config.method {
            Method::Tdma(own) => Some(tdma::Turns::of(own, station)),
            Method::SlottedAloha(_)
            | Method::CsmaCd
            | Method::Aloha(_)
            | Method::Csma(_)
            | Method::CsmaCa(_)
            | Method::Plca(_) => None,
        };
        Mac { generator: Generator::stream(config.seed, station.index() as u64), turns }
    }

    fn admit(&self, config: &Config, frame: Frame, _: Option<Fault>) -> Result<Admitted, Cause> {
        let admitted = super::admit_honest(config, frame)?;
        let fits = packet(admitted.size) <= self.longest;
        fits.then_some(admitted).ok_or(Cause::TooLong)
    }

    fn is_full(&self, config: &Config, queued: usize) -> bool {
        self.contenders.is_full(config, queued)
    }

    fn frame_ready<H: Host>(engine: &mut Engine<OwnSlots>, station: StationId, host: &mut H) {
        if let Some(index) = engine.next_contender(station) {
            engine.go_out(index, host);
            engine.await_due();
        }
    }

    fn timer_ends<H: Host>(engine: &mut Engine<OwnSlots>, _: StationId, _: usize, host: &mut H) {
        engine.act_unheard(Engine::passed, host);
    }

    fn detached<H: Host>(engine: &mut Engine<OwnSlots>, station: StationId, host: &mut H) {
        engine.abandon(station, host);
    }

    fn verdict(core: &Core, place: StationId, id: TransmissionId) -> Option<Kind> {
        Some(contenders::verdict(core, place, id))
    }
}

impl FastPath for OwnSlots {}

impl Contends for OwnSlots {
    #[inline]
    fn contenders(&mut self) -> &mut Contenders {
        &mut self.contenders
    }

    fn generator(mac: &mut Mac) -> &mut Generator {
        &mut mac.generator
    }

    /// Of TDMA to the next slot of its station.
    fn slots_after_failure(engine: &mut Engine<OwnSlots>, index: usize) -> u64 {
        let station = engine.contender(index).frame.station;
        let next = engine.core.config.clock(station).next_slot(engine.core.instant, engine.method.slot);
        match &engine.station(station).mac.turns {
            Some(turns) => turns.wait(next),
            None => engine.draw(index),
        }
    }

    /// Slots are counted from the one that begins now, or from the next.
    fn wait_ends(&mut self, clock: Clock, now: BitInstant, slots: u64) -> BitInstant {
        clock.slot_begin(clock.next_slot(now, self.slot).saturating_add(slots), self.slot)
    }

    fn ready<H: Host>(engine: &mut Engine<OwnSlots>, index: usize, host: &mut H) {
        engine.go_out(index, host);
    }
}

impl Engine<OwnSlots> {
    /// The contender goes out with the next slot of its station: at once, if that begins now.
    fn go_out<H: Host>(&mut self, index: usize, host: &mut H) {
        let (now, slot) = (self.core.instant, self.method.slot);
        let station = self.contender(index).frame.station;
        let clock = self.core.config.clock(station);
        let next = clock.next_slot(now, slot);
        let wait = self.station(station).mac.turns.as_ref().map_or(0, |turns| turns.wait(next));
        let at = clock.slot_begin(next + wait, slot);
        if at == now {
            self.attempt(index, host);
        } else {
            self.method.contenders.expect(now, index, at, State::Waiting);
        }
    }

    fn attempt<H: Host>(&mut self, index: usize, host: &mut H) {
        let now = self.core.instant;
        let worth = self.emit_attempt(index, host);
        let Contender { frame, head, .. } = *self.contender(index);
        let end = now + packet(head.size);
        let id = self.core.send_whole(Transmission::whole(frame, &head, now, end, worth));
        let passed = end + self.core.line.farthest(frame.station);
        self.method.contenders.expect(now, index, passed, State::Passing(id));
    }

    /// The frame has passed every place: its fate is certain, and its sender learns it as a slot begins.
    fn passed<H: Host>(&mut self, index: usize, id: TransmissionId, host: &mut H) {
        let (now, slot) = (self.core.instant, self.method.slot);
        let sent = self.core.line.get(id);
        let (begin, end) = (sent.begin, sent.begin + packet(sent.size));
        let fate = self.judge(id, end);
        if fate.arrived {
            self.core.carried(id, end);
        }
        let station = self.contender(index).frame.station;
        let clock = self.core.config.clock(station);
        let later = if fate.arrived { self.method.arrived } else { self.method.lost };
        let known = clock.slot_begin(clock.next_slot(begin, slot) + 1 + later, slot);
        self.acknowledge(index, fate, known.max(now), host);
    }
}
