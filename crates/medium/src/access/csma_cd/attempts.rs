//! The transmit machine above any lower layer: the line itself, or PLCA (802.3, 4.2.3.2).

use super::Mac;
use super::Transmit;
use super::tables::{TransmitAct, TransmitInput};
use crate::access::Access;
use crate::engine::Engine;
use crate::event::{Cause, Kind};
use crate::frame::{FrameId, StationId};
use crate::inputs::Host;
use crate::time::{BitInstant, Octets};

/// The layer below the MACs of a medium: it reports carrier and collision to them, and takes their signals.
pub(crate) trait Below: Access {
    /// The MAC of a station.
    fn mac_of(own: &mut Self::Mac) -> &mut Mac;

    /// The MAC becomes ready for an attempt: sends at once, or defers.
    fn wait<H: Host>(engine: &mut Engine<Self>, station: StationId, host: &mut H);

    /// The MAC begins to send.
    fn attempt<H: Host>(engine: &mut Engine<Self>, station: StationId, host: &mut H);

    /// The MAC detects a collision: it finishes the preamble and sends the jam.
    fn jam<H: Host>(engine: &mut Engine<Self>, station: StationId, host: &mut H);

    /// The MAC has sent the frame's last bit.
    fn finish<H: Host>(engine: &mut Engine<Self>, station: StationId, host: &mut H);

    /// The MAC's jam is over.
    fn jam_ends(engine: &mut Engine<Self>, station: StationId);

    /// The MAC's backoff ends at `at`.
    fn set_backoff(engine: &mut Engine<Self>, station: StationId, at: BitInstant);

    /// The MAC stops its timer.
    fn stop_timer(engine: &mut Engine<Self>, station: StationId);

    /// The MAC stops listening to the medium.
    fn ignore(engine: &mut Engine<Self>, station: StationId);
}

impl<A: Below> Engine<A> {
    /// The MAC of `station`.
    #[inline(always)]
    pub(in crate::access) fn mac(&mut self, station: StationId) -> &mut Mac {
        A::mac_of(&mut self.stations[station.index()].mac)
    }

    /// Passes `input` to the transmit machine of `station`. The only place where its actions are chosen.
    #[inline]
    pub(in crate::access) fn tell_transmit<H: Host>(&mut self, station: StationId, input: TransmitInput, host: &mut H) {
        let state = self.mac(station).transmit;
        match state.act(input) {
            Some(TransmitAct::Stay) => {}
            Some(TransmitAct::Wait) => A::wait(self, station, host),
            Some(TransmitAct::Attempt) => A::attempt(self, station, host),
            Some(TransmitAct::Jam) => A::jam(self, station, host),
            Some(TransmitAct::Finish) => A::finish(self, station, host),
            Some(TransmitAct::BackOff) => self.back_off(station, host),
            Some(TransmitAct::Abandon) => self.abandon_all(station, host),
            None => panic!("{input:?} in {state:?} of {station}"),
        }
    }

    /// The jam is out: the MAC draws slots, or discards the frame.
    pub(in crate::access) fn back_off<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (now, parameters) = (self.core.instant, self.core.config.parameters);
        let frame = self.station(station).frame();
        let mac = self.mac(station);
        let (attempt, late) = (mac.attempt(), mac.late);
        let given_up = late && parameters.extend_size > Octets::new(0);
        self.core.emit(station, frame, Kind::JamEnd { attempt }, host);
        A::jam_ends(self, station);
        if given_up {
            return self.discard(station, Cause::LateCollision, attempt, host);
        }
        let Some(slots) = self.draw_backoff(station) else {
            return self.discard(station, Cause::ExcessiveCollisions, attempt, host);
        };
        if !self.station(station).attached {
            return self.abandon_all(station, host);
        }
        let mac = self.mac(station);
        mac.transmit = Transmit::BackingOff;
        let end = mac.clock.after(now, parameters.slot_time * slots);
        A::set_backoff(self, station, end);
        self.core.emit(station, frame, Kind::Backoff { attempt, slots }, host);
    }

    /// Draws the number of slots to wait after one more collision; `None` if that was the last attempt.
    fn draw_backoff(&mut self, station: StationId) -> Option<u64> {
        let Engine { core, stations, .. } = self;
        let mac = A::mac_of(&mut stations[station.index()].mac);
        let Some(policy) = &core.config.backoff else {
            let word = mac.generator.next_u64();
            return mac.backoff.collide(word);
        };
        mac.backoff.collide(0)?;
        let law = policy.law(mac.backoff.attempts().into())?;
        Some(law.draw_ns(&mut mac.generator))
    }

    /// Gives up the frame at the head.
    fn discard<H: Host>(&mut self, station: StationId, cause: Cause, attempts: u32, host: &mut H) {
        let frame = self.station(station).frame();
        self.core.emit(station, frame, Kind::Discarded { cause, attempts }, host);
        self.core.release(frame);
        self.next_frame(station, host);
    }

    /// The frame at the head is finished; the next one starts at once, without backoff.
    pub(in crate::access) fn next_frame<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        let this = self.station_mut(station);
        this.queue.pop_front();
        let (attached, more) = (this.attached, !this.queue.is_empty());
        let mac = self.mac(station);
        mac.transmit = Transmit::Idle;
        mac.renew_head(now);
        if !attached {
            self.abandon_all(station, host);
        } else if more {
            self.tell_transmit(station, TransmitInput::FrameReady, host);
        } else {
            A::stop_timer(self, station);
        }
    }

    /// Discards every frame of a station that is off the medium.
    pub(in crate::access) fn abandon_all<H: Host>(&mut self, station: StationId, host: &mut H) {
        A::ignore(self, station);
        A::stop_timer(self, station);
        let now = self.core.instant;
        let mac = self.mac(station);
        let mut attempts = mac.backoff.attempts();
        mac.transmit = Transmit::Idle;
        mac.burst = None;
        mac.renew_head(now);
        while let Some(queued) = self.station_mut(station).queue.pop_front() {
            let frame = FrameId { station, serial: queued.serial };
            self.core.emit(station, frame, Kind::Discarded { cause: Cause::Detached, attempts }, host);
            self.core.release(frame);
            attempts = 0;
        }
    }
}
