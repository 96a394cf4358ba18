//! Who sends what when: attempts, answers, and what a sender makes of them.

use super::air::{Content, Signal};
use super::listening::{Gap, Listening, Place};
use super::{ANSWER, Answer, CsmaCa, Dcf, Question, State, Turn, WAIT};
use crate::access::Access;
use crate::engine::Engine;
use crate::event::{Cause, Kind};
use crate::frame::{Destination, FrameId, Queued, StationId, TransmissionId};
use crate::inputs::{Fault, Host};
use crate::line::{Transmission, Worth};
use crate::time::{BitInstant, BitTimes, Octets};
use crate::topology::Topology;

/// The one station that a frame is for, if it is another than `source`.
fn addressee(destination: Destination, source: StationId) -> Option<StationId> {
    match destination {
        Destination::Station(place) if place != source => Some(place),
        Destination::Station(_) | Destination::All | Destination::Nobody => None,
    }
}

/// Before an attempt.
impl Engine<Dcf> {
    pub(super) fn set(&mut self, station: StationId, which: usize, at: BitInstant) {
        if self.method.here.holds() {
            return self.core.agenda.timers.set_soon(station.index() * Dcf::TIMERS + which, at);
        }
        self.core.agenda.timers.set(station.index() * Dcf::TIMERS + which, self.core.instant, at);
    }

    fn stop(&mut self, station: StationId, which: usize) {
        self.core.agenda.timers.stop(station.index() * Dcf::TIMERS + which);
    }

    /// What a station that does not wait hears now.
    fn hear(&mut self, station: StationId, not_before: BitInstant, slots: Option<u64>) -> Listening {
        if self.method.here.holds() {
            return self.hear_in_one_place(station, not_before, slots);
        }
        let now = self.core.instant;
        let mut listening = Listening::new(&self.method.air, now, not_before, slots);
        let heard = self.go_on_hearing(station, &mut listening);
        self.stations[station.index()].mac.listening = listening;
        heard
    }

    fn go_on_hearing(&mut self, station: StationId, listening: &mut Listening) -> Listening {
        let Dcf { air, spans, alike, room, .. } = &mut self.method;
        let topology = self.core.line.topology();
        let way = match topology {
            Topology::Star { distance, .. } if *alike => Some(*distance),
            Topology::Star { .. } | Topology::Bus { .. } | Topology::Segments(_) => None,
        };
        let place = Place { air, topology, spans, station, way, alike: *alike };
        listening.look(place, self.core.instant, room)
    }

    /// What a station that goes through all signals has heard at `at`.
    pub(super) fn hear_by_itself(&self, station: StationId, at: BitInstant) -> Gap {
        let Dcf { air, spans, alike, .. } = &self.method;
        let mut listening = Listening::new(air, at, at, None);
        let place = Place { air, topology: self.core.line.topology(), spans, station, way: None, alike: *alike };
        listening.look(place, at, &mut Vec::new()).gap
    }

    /// The next frame of the queue is at its turn; whether there is one.
    fn take_turn(&mut self, station: StationId) -> Option<FrameId> {
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

    fn turn(&mut self, station: StationId) -> &mut Turn {
        self.stations[station.index()].mac.turn.as_mut().expect("a station at an attempt has a frame")
    }

    fn draw(&mut self, station: StationId) -> u64 {
        let mac = &mut self.stations[station.index()].mac;
        ((u128::from(mac.generator.next_u64()) * u128::from(mac.window)) >> 64) as u64
    }

    /// A frame comes to a station that waits for nothing.
    pub(super) fn first_turn<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        if self.take_turn(station).is_none() {
            return;
        }
        let heard = self.hear(station, now, None);
        self.station_mut(station).mac.state = State::Waiting;
        if heard.is_busy(now) {
            self.defer(station, host);
        }
        self.look(station, host);
    }

    /// A frame comes while the slots after the last one are counted: it waits for the rest of them.
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

    /// The medium is busy, or was so before the station could send: it draws slots.
    fn defer<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (now, slots) = (self.core.instant, self.draw(station));
        let turn = self.turn(station);
        turn.deferred = true;
        let frame = turn.frame;
        self.station_mut(station).mac.listening.draw(slots, now);
        self.core.emit(station, frame, Kind::Defer { attempt: 1 }, host);
        self.core.emit(station, frame, Kind::Backoff { attempt: 0, slots }, host);
    }

    /// The station looks whether it may send; if not, it looks again when it may if it hears nothing more.
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
            None => self.station_mut(station).mac.state = State::Idle,
        }
    }
}

/// Signals.
impl Engine<Dcf> {
    /// Sends a signal of so many bit times; its end at its sender's place.
    fn send(
        &mut self,
        (station, content, about): (StationId, Content, FrameId),
        (destination, size): (Destination, Octets),
        (lasts, reserves): (BitTimes, BitTimes),
    ) -> (TransmissionId, BitInstant) {
        let begin = self.core.instant;
        let end = begin + lasts;
        let worth = match self.station(station).fault {
            Some(Fault::BadFcs) => Worth::BadFcs,
            Some(Fault::Deaf | Fault::Babble) | None => Worth::Good,
        };
        let frame = if content == Content::Data { about } else { FrameId { station, serial: 0 } };
        let to = addressee(destination, station);
        let good = worth == Worth::Good;
        let (id, parted) = if self.method.here.holds() {
            self.method.here.begin(begin, station, end, good.then_some((to, reserves)));
            let id = self.method.air.next_id();
            self.expect_ends(station, destination, end, id);
            (id, None)
        } else {
            let queued = Queued { serial: frame.serial, size, destination, arrived: begin, too_long: false };
            let id = self.core.send_whole(Transmission::whole(frame, &queued, begin, end, worth));
            (id, self.core.line.get(id).parted.clone())
        };
        let deaf = |fault: Option<Fault>| fault == Some(Fault::Deaf);
        let unheard = (!self.method.alike && self.stations.iter().any(|it| deaf(it.fault)))
            .then(|| self.stations.iter().map(|it| deaf(it.fault)).collect());
        let episode = None;
        let signal = Signal {
            source: station,
            to,
            destination,
            size,
            content,
            about,
            begin,
            end,
            reserves,
            good,
            episode,
            parted,
            unheard,
        };
        self.method.air.begin(signal);
        self.station_mut(station).mac.sends_until = end;
        (id, end)
    }

    /// The station tries to send its frame: it begins with an RTS, or with the frame.
    fn attempt<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        let turn = self.turn(station);
        turn.attempts += 1;
        turn.began = now;
        let Turn { frame, head, attempts: attempt, .. } = *turn;
        self.core.emit(station, frame, Kind::Attempt { attempt, excessive_deferral: false, burst: false }, host);
        if !self.method.own.rts || head.destination == Destination::All {
            self.send_data(station);
            return;
        }
        let spans = self.method.spans;
        let data = self.method.own.phy.frame_time(head.size);
        let reserves = spans.carried(spans.sifs * 3 + spans.cts + data + spans.ack);
        self.core.emit(station, frame, Kind::Rts { attempt, reserves }, host);
        let about = (station, Content::Rts, frame);
        let (sent, end) = self.send(about, (head.destination, Octets::new(0)), (spans.rts, reserves));
        self.ask(station, sent, Content::Cts, end);
    }

    /// The frame itself; for how long it reserves the medium.
    fn send_data(&mut self, station: StationId) -> BitTimes {
        let Turn { frame, head, .. } = *self.turn(station);
        let spans = self.method.spans;
        let is_answered = head.destination != Destination::All;
        let reserves = if is_answered { spans.carried(spans.sifs + spans.ack) } else { BitTimes::ZERO };
        let data = self.method.own.phy.frame_time(head.size);
        let about = (station, Content::Data, frame);
        let (sent, end) = self.send(about, (head.destination, head.size), (data, reserves));
        if is_answered {
            self.ask(station, sent, Content::Ack, end);
        } else {
            self.station_mut(station).mac.state = State::Telling;
            self.set(station, WAIT, end);
        }
        reserves
    }

    /// The station waits for an answer to what it sends up to `end`.
    fn ask(&mut self, station: StationId, sent: TransmissionId, answer: Content, end: BitInstant) {
        let (by, deadline) = (end + self.method.spans.window, end + self.method.spans.timeout);
        self.station_mut(station).mac.state = State::Asking(Question { sent, answer, by, coming: None });
        self.set(station, WAIT, deadline);
    }

    /// A SIFS after it got a CTS, the station sends its frame.
    pub(super) fn use_grant<H: Host>(&mut self, station: StationId, host: &mut H) {
        if !self.station(station).attached {
            return self.give_up(station, Cause::Detached, host);
        }
        let Turn { frame, attempts: attempt, .. } = *self.turn(station);
        let reserves = self.send_data(station);
        self.core.emit(station, frame, Kind::Data { attempt, reserves }, host);
    }

    /// A SIFS after it received something, the station answers, unless it sends already.
    pub(super) fn answer<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        let mac = &mut self.station_mut(station).mac;
        let answer = mac.answer.take().expect("the timer was set for an answer");
        if mac.sends_until > now {
            return;
        }
        let Answer { content, to, about, reserves } = answer;
        let spans = &self.method.spans;
        let (kind, lasts) = match content {
            Content::Cts => (Kind::Cts { reserves }, spans.cts),
            Content::Rts | Content::Data | Content::Ack => (Kind::Ack, spans.ack),
        };
        self.core.emit(station, about, kind, host);
        // The line tells nobody of its end: whoever asked looks then.
        let destination = (Destination::Nobody, Octets::new(0));
        let (id, end) = self.send((station, content, about), destination, (lasts, reserves));
        self.method.air.answers(id, to);
        self.method.here.answers(to);
        self.expect_answer(to, id, now, end);
    }

    /// An answer to `station` has begun: if it gets there in time, the station waits for its end.
    fn expect_answer(&mut self, station: StationId, id: TransmissionId, begin: BitInstant, end: BitInstant) {
        let signal = self.method.air.get(id);
        let (topology, content, about) = (self.core.line.topology(), signal.content, signal.about);
        let way = topology.distance(signal.source, station);
        let reaches = self.method.air.reaches(signal, station);
        let this = &mut self.stations[station.index()];
        let is_its_own = this.mac.turn.is_some_and(|turn| turn.frame == about);
        if let State::Asking(question) = &mut this.mac.state
            && (reaches && is_its_own && question.answer == content && begin + way <= question.by)
        {
            question.coming = Some(id);
            self.set(station, WAIT, end + way);
        }
    }

    /// The answer has ended here, or none has begun in time.
    pub(super) fn hear_answer<H: Host>(&mut self, station: StationId, question: Question, host: &mut H) {
        let now = self.core.instant;
        let Some(id) = question.coming.filter(|_| self.station(station).attached) else {
            return self.fail(station, question, now, host);
        };
        if !self.method.air.is_clear(self.core.line.topology(), id.get(), station) {
            return self.fail(station, question, now + self.method.spans.difs, host);
        }
        if question.answer == Content::Ack {
            return self.succeed(station, host);
        }
        self.station_mut(station).mac.state = State::Granted;
        self.set(station, WAIT, now + self.method.spans.sifs);
    }

    /// A signal for the station at `place` has just ended there.
    pub(super) fn receive_signal<H: Host>(&mut self, place: StationId, id: TransmissionId, host: &mut H) {
        let topology = self.core.line.topology();
        let Signal { source, content, about, reserves, ref to, .. } = *self.method.air.get(id);
        let is_answered = to.is_some();
        if !self.method.air.reaches(self.method.air.get(id), place) {
            return;
        }
        let is_clear = self.method.air.is_clear(topology, id.get(), place);
        let spans = self.method.spans;
        let answer = |content, reserves| Answer { content, to: source, about, reserves };
        match content {
            Content::Rts => {
                if is_clear && self.nothing_is_reserved(place) {
                    let left = BitTimes::new(reserves.get() - (spans.sifs + spans.cts).get());
                    self.prepare(place, answer(Content::Cts, left));
                }
            }
            Content::Data => {
                self.receive_data(place, id, is_clear, host);
                if is_clear && is_answered {
                    self.prepare(place, answer(Content::Ack, BitTimes::ZERO));
                }
            }
            // Whoever asked looks when they end.
            Content::Cts | Content::Ack => {}
        }
    }

    fn prepare(&mut self, station: StationId, answer: Answer) {
        let at = self.core.instant + self.method.spans.sifs;
        self.station_mut(station).mac.answer = Some(answer);
        self.set(station, ANSWER, at);
    }

    /// The NAV of the station is 0.
    fn nothing_is_reserved(&mut self, station: StationId) -> bool {
        let now = self.core.instant;
        if self.method.here.holds() {
            return self.reserved_in_one_place(station) <= now;
        }
        let mut listening = Listening::new(&self.method.air, now, now, None);
        self.go_on_hearing(station, &mut listening).reserved() <= now
    }

    fn receive_data<H: Host>(&mut self, place: StationId, id: TransmissionId, is_clear: bool, host: &mut H) {
        let Signal { about: frame, size, destination, .. } = *self.method.air.get(id);
        let kind = if !is_clear {
            Kind::Damaged { bits: size.bit_times() }
        } else if destination == Destination::All {
            Kind::Delivered { size }
        } else {
            let turn = self.stations[frame.station.index()].mac.turn.as_mut().filter(|turn| turn.frame == frame);
            match turn.is_some_and(|turn| std::mem::replace(&mut turn.arrived, true)) {
                true => Kind::Duplicate { size },
                false => Kind::Delivered { size },
            }
        };
        self.core.emit(place, frame, kind, host);
    }
}

/// After an attempt.
impl Engine<Dcf> {
    /// The frame is acknowledged, or, for a group, sent.
    pub(super) fn succeed<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        let Turn { frame, head, since, attempts, began, deferred, .. } = *self.turn(station);
        let transmitted = Kind::Transmitted {
            size: head.size,
            attempts,
            deferred,
            access_delay: began - since,
            mac_delay: now - head.arrived,
            extension: BitTimes::ZERO,
            no_carrier: false,
        };
        self.core.emit(station, frame, transmitted, host);
        self.finish(station, host);
    }

    /// No answer came. Slots of the next attempt are not counted before `not_before`.
    fn fail<H: Host>(&mut self, station: StationId, question: Question, not_before: BitInstant, host: &mut H) {
        let CsmaCa { rts, short_retry_limit, long_retry_limit, most_window, .. } = self.method.own;
        let turn = self.turn(station);
        let Turn { frame, attempts: attempt, .. } = *turn;
        let has_cts = rts && question.answer == Content::Ack;
        let (retries, limit) = match has_cts {
            true => (&mut turn.long_retries, long_retry_limit),
            false => (&mut turn.short_retries, short_retry_limit),
        };
        *retries += 1;
        let is_last = *retries >= limit.get();
        if let Some(episode) = self.episode_of(station, &question) {
            self.core.emit(station, frame, Kind::Collision { attempt, late: false, episode }, host);
        }
        if is_last || !self.station(station).attached {
            let cause = if is_last { Cause::ExcessiveCollisions } else { Cause::Detached };
            return self.give_up(station, cause, host);
        }
        let mac = &mut self.station_mut(station).mac;
        mac.window = mac.window.saturating_mul(2).min(most_window);
        let slots = self.draw(station);
        self.core.emit(station, frame, Kind::Backoff { attempt, slots }, host);
        self.hear(station, not_before, Some(slots));
        self.station_mut(station).mac.state = State::Waiting;
        self.look(station, host);
    }

    /// The collision that the attempt took part in at its addressee's place, or the answer to it at its sender's.
    fn episode_of(&mut self, station: StationId, question: &Question) -> Option<u64> {
        let (topology, next) = (self.core.line.topology(), self.method.episodes + 1);
        let air = &mut self.method.air;
        let there = air.get(question.sent).to.and_then(|to| {
            let reaches = air.reaches(air.get(question.sent), to);
            reaches.then(|| air.share_episode(topology, question.sent.get(), to, next)).flatten()
        });
        let here = || question.coming.and_then(|id| air.share_episode(topology, id.get(), station, next));
        let episode = there.or_else(here)?;
        self.method.episodes = self.method.episodes.max(episode);
        Some(episode)
    }

    fn give_up<H: Host>(&mut self, station: StationId, cause: Cause, host: &mut H) {
        let Turn { frame, attempts, .. } = *self.turn(station);
        self.core.emit(station, frame, Kind::Discarded { cause, attempts }, host);
        self.finish(station, host);
    }

    /// The medium is done with the frame: the station waits a number of slots, with the next frame if it has one.
    fn finish<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (now, window) = (self.core.instant, self.method.own.window);
        let this = &mut self.stations[station.index()];
        let frame = this.mac.turn.take().expect("it was at a frame").frame;
        (this.held, this.mac.window) = (0, window);
        let attached = this.attached;
        self.core.release(frame);
        if !attached {
            self.station_mut(station).mac.state = State::Idle;
            return;
        }
        let slots = self.draw(station);
        if let Some(next) = self.take_turn(station) {
            self.core.emit(station, next, Kind::Backoff { attempt: 0, slots }, host);
        }
        let not_before = now + self.method.spans.difs;
        self.hear(station, not_before, Some(slots));
        self.station_mut(station).mac.state = State::Waiting;
        self.look(station, host);
    }

    /// The station is off the medium: an attempt under way ends as it would, and everything else is discarded.
    pub(super) fn leave<H: Host>(&mut self, station: StationId, host: &mut H) {
        self.stop(station, ANSWER);
        let mac = &mut self.stations[station.index()].mac;
        mac.answer = None;
        match mac.state {
            State::Waiting => {
                if self.method.here.holds() {
                    self.forget_waiting(station);
                }
                self.stop(station, WAIT);
                let mac = &mut self.stations[station.index()].mac;
                mac.state = State::Idle;
                if let Some(Turn { frame, attempts, .. }) = mac.turn.take() {
                    (mac.window, self.stations[station.index()].held) = (self.method.own.window, 0);
                    let cause = Cause::Detached;
                    self.core.emit(station, frame, Kind::Discarded { cause, attempts }, host);
                    self.core.release(frame);
                }
            }
            State::Idle | State::Asking(_) | State::Granted | State::Telling => {}
        }
        while let Some(queued) = self.station_mut(station).queue.pop_front() {
            let frame = FrameId { station, serial: queued.serial };
            self.core.emit(station, frame, Kind::Discarded { cause: Cause::Detached, attempts: 0 }, host);
            self.core.release(frame);
        }
    }
}
