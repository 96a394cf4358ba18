//! TDMA: a fixed frame of slots, each with a station that owns it; a frame goes out in its station's next slot.
//!
//! ```text
//!            | slot of st1 | slot of st2 | slot of st3 | slot of st1 |
//!   of st2 ..|.............|frame  |guard|
//!                          └ attempt     └ transmitted, or lost: known `ack_delay` slots later, backoff to the next own slot
//! ```
//! Clocks of stations agree here; where one is off, `own_slots` has the method. Guard time lasts as long as the farthest way, so no two signals
//! meet at any place, and no frame collides. A frame is lost if its addressee does not hear it whole: off the medium,
//! beyond a cut, or with a bad FCS. Its sender learns that from the acknowledgement, which takes nothing of the medium.
//!
//! How a sender's frames follow each other is in `contenders`.

use super::contenders::{Contender, Contenders, Contends, Known, State};
use super::{Access, Admitted, FastPath};
use crate::config::{Config, Population, Tdma};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::fault::Fault;
use crate::frame::{Frame, StationId, TransmissionId};
use crate::inputs::Host;
use crate::line::Transmission;
use crate::receive::Arrival;
use crate::rules::packet;
use crate::time::{BitInstant, BitTimes};
use backoff::{Generator, Policy};

/// The frame of slots, and the present sender.
#[derive(Debug)]
pub(crate) struct Frames {
    slot: BitTimes,
    /// From the end of a slot to when its sender knows.
    known: Known,
    /// How long a frame with its preamble may be: a slot without its guard time.
    longest: BitTimes,
    contenders: Contenders,
    /// When the present slot began, and who sends in it.
    now: BitInstant,
    sending: Option<usize>,
}

/// A station's part.
#[derive(Debug)]
pub(crate) struct Mac {
    turns: Turns,
    /// Contenders have one. No draw is taken from it.
    generator: Generator,
}

/// The slots of a station.
#[derive(Debug)]
pub(super) struct Turns {
    /// Those in a frame, ascending.
    own: Box<[u64]>,
    /// The slots of a frame.
    slots: u64,
}

/// No frame draws a wait: this policy is none.
pub(super) fn no_draws() -> Policy {
    Policy::aloha_uniform(crate::SlottedAloha::SLOT, 1)
}

impl Turns {
    pub fn of(tdma: &Tdma, station: StationId) -> Turns {
        let owners = tdma.owners.iter();
        let own = owners.zip(0..).filter(|(owner, _)| **owner == station).map(|(_, slot)| slot).collect();
        Turns { own, slots: tdma.owners.len() as u64 }
    }

    /// How many slots after slot number `slot`, counted from the medium's first, the station's next slot is; 0 if that
    /// slot is its own.
    pub fn wait(&self, slot: u64) -> u64 {
        let place = slot % self.slots;
        match self.own.get(self.own.partition_point(|&own| own < place)) {
            Some(next) => next - place,
            None => self.slots - place + self.own[0],
        }
    }
}

impl Access for Frames {
    type Mac = Mac;

    const TIMERS: usize = 1;

    fn new(config: &Config) -> Frames {
        let Tdma { slot, guard, owners: _, ack_delay, attempt_limit } = config.tdma();
        Frames {
            slot: *slot,
            known: Known::new(BitTimes::ZERO, *slot * u64::from(*ack_delay), false),
            longest: BitTimes::new(slot.get() - guard.get()),
            contenders: Contenders::new(*slot, &no_draws(), *attempt_limit, Population::Stations),
            now: BitInstant::ZERO,
            sending: None,
        }
    }

    fn mac(config: &Config, station: StationId) -> Mac {
        Mac {
            turns: Turns::of(config.tdma(), station),
            generator: Generator::stream(config.seed, station.index() as u64),
        }
    }

    /// A frame leaves the guard time of its slot free, also if its station has a fault.
    fn admit(&self, config: &Config, frame: Frame, _: Option<Fault>) -> Result<Admitted, Cause> {
        let admitted = super::admit_honest(config, frame)?;
        let fits = packet(admitted.size) <= self.longest;
        fits.then_some(admitted).ok_or(Cause::TooLong)
    }

    fn frame_ready<H: Host>(engine: &mut Engine<Frames>, station: StationId, host: &mut H) {
        engine.take_turn(station, host);
    }

    fn timer_ends<H: Host>(engine: &mut Engine<Frames>, _: StationId, _: usize, host: &mut H) {
        engine.slot_begins(host);
        engine.look_ahead();
    }

    fn detached<H: Host>(engine: &mut Engine<Frames>, station: StationId, host: &mut H) {
        engine.abandon(station, host);
    }

    /// No signal meets another.
    fn verdict(core: &Core, _: StationId, id: TransmissionId) -> Option<Kind> {
        let transmission = core.line.get(id);
        Some(transmission.worth.received(transmission.size, Arrival::Clear))
    }
}

impl FastPath for Frames {}

impl Contends for Frames {
    #[inline]
    fn contenders(&mut self) -> &mut Contenders {
        &mut self.contenders
    }

    fn generator(mac: &mut Mac) -> &mut Generator {
        &mut mac.generator
    }

    /// To the next slot of its station: a frame that was lost waits for that alone.
    fn slots_after_failure(engine: &mut Engine<Frames>, index: usize) -> u64 {
        let station = engine.contender(index).frame.station;
        engine.slots_to_own(station)
    }

    fn ready<H: Host>(engine: &mut Engine<Frames>, index: usize, host: &mut H) {
        engine.attempt(index, host);
    }
}

/// What happens in slots.
impl Engine<Frames> {
    /// From the slot that begins now, or else the next one, to the station's own.
    fn slots_to_own(&self, station: StationId) -> u64 {
        let next = self.core.instant.get().div_ceil(self.method.slot.get());
        self.station(station).mac.turns.wait(next)
    }

    /// The next frame of `station` waits for a slot; it goes out at this instant if that is the first of an own slot.
    fn take_turn<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (now, slot) = (self.core.instant, self.method.slot.get());
        let Some(index) = self.next_contender(station) else { return };
        let next = now.get().next_multiple_of(slot) + self.slots_to_own(station) * slot;
        if next == now.get() {
            self.attempt(index, host);
        } else {
            self.method.contenders.expect(now, index, BitInstant::new(next), State::Waiting);
        }
        self.look_ahead();
    }

    /// Sets the timer for the next slot in which anything happens.
    fn look_ahead(&mut self) {
        let due = self.method.contenders.next();
        let slot_ends = self.method.now + self.method.slot;
        let next = if self.method.sending.is_some() { due.min(slot_ends) } else { due };
        self.set_timer(next);
    }

    /// A slot begins: the frame of the slot before is judged, senders learn, and the owner of this slot sends.
    fn slot_begins<H: Host>(&mut self, host: &mut H) {
        self.judge_slot();
        self.act_in_slot(host);
    }

    fn attempt<H: Host>(&mut self, index: usize, host: &mut H) {
        let now = self.core.instant;
        let worth = self.emit_attempt(index, host);
        let Contender { frame, head, .. } = *self.contender(index);
        let id = self.core.send_whole(Transmission::whole(frame, &head, now, now + packet(head.size), worth));
        self.method.contenders.hold(index, State::Sending(id));
        let before = self.method.sending.replace(index);
        assert!(before.is_none(), "two frames in one slot");
        self.method.now = now;
    }

    /// The fate of the frame in the slot that ends.
    fn judge_slot(&mut self) {
        let now = self.core.instant;
        let Some(index) = self.method.sending.filter(|_| self.method.now + self.method.slot == now) else { return };
        self.method.sending = None;
        self.slot_ends(index, false, None, self.method.known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    /// Slots 0 and 3 of 5.
    fn turns() -> Turns {
        Turns { own: [0, 3].into(), slots: 5 }
    }

    #[test]
    fn the_next_own_slot_is_in_this_frame_or_the_next() {
        let waits: Vec<u64> = (0..7).map(|slot| turns().wait(slot)).collect();
        assert_eq!(waits, [0, 2, 1, 0, 1, 0, 2]);
    }

    #[test]
    fn guard_time_covers_the_farthest_way_and_every_station_has_a_slot() {
        let topology = Topology::star(3, 20);
        let check = |change: fn(&mut Tdma)| {
            let mut own = Tdma::new(crate::Octets::new(64), BitTimes::new(40), 3);
            change(&mut own);
            let config = Config::new(crate::BitRate::MBIT_10, topology.clone(), 1);
            let checked = Config { method: crate::Method::Tdma(own), ..config }.check();
            checked.map_err(|error| error.to_string())
        };
        assert_eq!(check(|_| ()), Ok(()));
        let far = topology.round_trip().get() / 2;
        assert!(far > 0, "a way");
        for (change, name) in [
            ((|own| own.guard = BitTimes::ZERO) as fn(&mut Tdma), "guard"),
            (|own| own.slot = BitTimes::new(575), "slot"),
            (|own| own.owners.truncate(2), "slots"),
            (|own| own.owners.push(StationId::new(3)), "slots"),
            (|own| own.owners.clear(), "slots"),
        ] {
            let error = check(change).expect_err(name);
            assert!(error.starts_with(name), "{error}");
        }
    }
}
