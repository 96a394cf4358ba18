//! Before an attempt: a frame gets its turn, and its station waits until it may send.

use super::listening::{Gap, Listening, Place};
use super::table::DcfStep;
use super::{Dcf, Turn, WAIT};
use crate::access::Access;
use crate::engine::Engine;
use crate::event::Kind;
use crate::frame::{FrameId, StationId};
use crate::inputs::Host;
use crate::time::BitInstant;
use crate::topology::Topology;

impl Engine<Dcf> {
    pub(super) fn set(&mut self, station: StationId, which: usize, at: BitInstant) {
        if self.method.here.holds() {
            return self.core.agenda.timers.set_soon(station.index() * Dcf::TIMERS + which, at);
        }
        self.core.agenda.timers.set(station.index() * Dcf::TIMERS + which, self.core.instant, at);
    }

    pub(super) fn stop(&mut self, station: StationId, which: usize) {
        self.core.agenda.timers.stop(station.index() * Dcf::TIMERS + which);
    }

    /// The state of a station that begins to listen now.
    pub(super) fn hear(&mut self, station: StationId, not_before: BitInstant, slots: Option<u64>) -> Listening {
        if self.method.here.holds() {
            return self.hear_in_one_place(station, not_before, slots);
        }
        let now = self.core.instant;
        let mut listening = Listening::new(&self.method.air, now, not_before, slots);
        listening.clock = self.core.config.clock(station);
        let heard = self.go_on_hearing(station, &mut listening);
        self.stations[station.index()].mac.listening = listening;
        heard
    }

    pub(super) fn go_on_hearing(&mut self, station: StationId, listening: &mut Listening) -> Listening {
        let Dcf { air, spans, alike, room, .. } = &mut self.method;
        let topology = self.core.line.topology();
        let way = match topology {
            Topology::Star { distance, .. } if *alike => Some(*distance),
            Topology::Star { .. } | Topology::Bus { .. } | Topology::Segments(_) => None,
        };
        let place = Place { air, topology, noise: &self.core.noise, spans, station, way, alike: *alike };
        listening.look(place, self.core.instant, room)
    }

    /// What a station that processes all signals by itself has heard by `at`.
    pub(super) fn hear_by_itself(&self, station: StationId, at: BitInstant) -> Gap {
        let Dcf { air, spans, alike, .. } = &self.method;
        let mut listening = Listening::new(air, at, at, None);
        let (topology, noise) = (self.core.line.topology(), &self.core.noise);
        let place = Place { air, topology, noise, spans, station, way: None, alike: *alike };
        listening.look(place, at, &mut Vec::new()).gap
    }

    /// The next frame of the queue gets its turn; `None` if there is none.
    pub(super) fn take_turn(&mut self, station: StationId) -> Option<FrameId> {
        let since = self.core.instant;
        let this = self.station_mut(station);
        let head = this.queue.pop_front()?;
        this.held = 1;
        let frame = FrameId { station, serial: head.serial };
        let (attempts, short_retries, long_retries, deferred, arrived) = (0, 0, 0, false, false);
        let began = since;
        let turn = Turn { frame, head, since, attempts, began, short_retries, long_retries, deferred, arrived };
        this.mac.turn = Some(turn);
        Some(frame)
    }

    pub(super) fn turn(&mut self, station: StationId) -> &mut Turn {
        self.stations[station.index()].mac.turn.as_mut().expect("a station at an attempt has a frame")
    }

    pub(super) fn draw(&mut self, station: StationId) -> u64 {
        let mac = &mut self.stations[station.index()].mac;
        ((u128::from(mac.generator.next_u64()) * u128::from(mac.window)) >> 64) as u64
    }

    /// A frame comes to a station that is idle.
    pub(super) fn first_turn<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        if self.take_turn(station).is_none() {
            return;
        }
        let heard = self.hear(station, now, None);
        self.station_mut(station).mac.take(DcfStep::FrameArrives);
        if heard.is_busy(now) {
            self.defer(station, host);
        }
        self.look(station, host);
    }

    /// A frame comes while the slots after the last one are counted: it waits for the remaining ones.
    pub(super) fn turn_while_waiting<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        let Some(frame) = self.take_turn(station) else { return };
        let slots = if self.method.here.holds() {
            self.left_in_one_place(station)
        } else {
            let mut listening = self.station(station).mac.listening;
            let heard = self.go_on_hearing(station, &mut listening);
            self.station_mut(station).mac.listening = listening;
            heard.left(now, &self.method.spans)
        };
        self.core.emit(station, frame, Kind::Backoff { attempt: 0, slots }, host);
    }

    /// The medium is busy, or became so before the station could send: the station draws slots.
    fn defer<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (now, slots) = (self.core.instant, self.draw(station));
        let turn = self.turn(station);
        turn.deferred = true;
        let frame = turn.frame;
        self.station_mut(station).mac.listening.draw(slots, now);
        self.core.emit(station, frame, Kind::Defer { attempt: 1 }, host);
        self.core.emit(station, frame, Kind::Backoff { attempt: 0, slots }, host);
    }

    /// The station checks whether it may send. If not, it looks again when it may if it hears nothing more.
    pub(super) fn look<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        if self.method.here.holds() {
            if self.interrupted_in_one_place(station) {
                self.defer(station, host);
            }
            let mac = &self.stations[station.index()].mac;
            let at = mac.listening.may_send(&self.method.spans).max(mac.sends_until);
            return if at > now { self.wait_in_one_place(station, at) } else { self.send_or_rest(station, host) };
        }
        let mut listening = self.station(station).mac.listening;
        let mut heard = self.go_on_hearing(station, &mut listening);
        self.station_mut(station).mac.listening = listening;
        if heard.interrupted {
            self.defer(station, host);
            let slots = self.station(station).mac.listening.slots;
            heard.draw(slots.expect("just drawn"), now);
        }
        let Dcf { shortest, spans, .. } = &self.method;
        let at = heard.looks_at(now, *shortest, spans).max(self.station(station).mac.sends_until);
        if at > now {
            return self.set(station, WAIT, at);
        }
        self.send_or_rest(station, host);
    }

    /// The station's gap and slots are over.
    pub(super) fn send_or_rest<H: Host>(&mut self, station: StationId, host: &mut H) {
        match self.station(station).mac.turn {
            Some(_) => self.attempt(station, host),
            None => self.station_mut(station).mac.take(DcfStep::NothingToSend),
        }
    }
}
