//! Which station sends what and when: attempts, answers, and what a sender concludes from them.

use super::air::{Content, Shadow, Signal};
use super::listening::Listening;
use super::table::DcfStep;
use super::{ANSWER, Answer, Dcf, Mac, Question, State, Turn, WAIT};
use crate::config::CsmaCa;
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::fault::Fault;
use crate::frame::{Addressed, Destination, FrameId, Queued, StationId, TransmissionId};
use crate::inputs::Host;
use crate::line::{Transmission, Worth};
use crate::receive::Arrival;
use crate::station::Station;
use crate::time::{BitInstant, BitTimes, Octets};

/// The one station that a frame is for, other than `source`.
pub(super) fn addressee(destination: Addressed, source: StationId) -> Option<StationId> {
    match destination.to {
        Destination::Station(place) if place != source => Some(place),
        Destination::Station(_) | Destination::All | Destination::Nobody | Destination::Beyond(_) => None,
    }
}

/// Signals.
impl Engine<Dcf> {
    /// When a timer of `station` ends that it starts at `at` for `span`.
    #[inline]
    fn later(&self, station: StationId, at: BitInstant, span: BitTimes) -> BitInstant {
        self.core.config.clock(station).after(at, span)
    }

    /// Sends a signal of `length` bit times; gives its end at its sender's place.
    fn send(
        &mut self,
        what: (StationId, Content, FrameId),
        whom: (Addressed, Octets),
        spans: (BitTimes, BitTimes),
    ) -> (TransmissionId, BitInstant) {
        let (id, end) = self.put_in_air(what, whom, spans);
        if self.method.here.holds() {
            self.expect_ends(what.0, whom.0, end, id);
        }
        (id, end)
    }

    /// The same, except that in one place its end is not scheduled for any station.
    pub(super) fn put_in_air(
        &mut self,
        (station, content, about): (StationId, Content, FrameId),
        (destination, size): (Addressed, Octets),
        (lasts, reserves): (BitTimes, BitTimes),
    ) -> (TransmissionId, BitInstant) {
        let begin = self.core.instant;
        let end = begin + lasts;
        let worth = Worth::sent(false, self.station(station).fault);
        let frame = if content == Content::Data { about } else { FrameId { station, serial: 0 } };
        let to = addressee(destination, station);
        let good = worth.is_handed_up(false);
        let (id, parted) = if self.method.here.holds() {
            self.method.here.begin(begin, station, end, good.then_some((to, reserves)));
            (self.method.air.next_id(), None)
        } else {
            let queued =
                Queued { serial: frame.serial, size, unpadded: size, destination, arrived: begin, too_long: false };
            let id = self.core.send_whole(Transmission::whole(frame, &queued, begin, end, worth));
            (id, self.core.line.get(id).parted.clone())
        };
        let deaf = |it: &Station<Mac>| it.fault.is_some_and(Fault::is_deaf);
        let shadow = (parted.is_some() || !self.method.alike && self.stations.iter().any(deaf))
            .then(|| Box::new(Shadow { parted, deaf: self.stations.iter().map(deaf).collect() }));
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
            shadow,
        };
        self.method.air.begin(signal);
        self.station_mut(station).mac.sends_until = end;
        (id, end)
    }

    /// The station attempts its frame: it begins with an RTS, or with the frame.
    pub(super) fn attempt<H: Host>(&mut self, station: StationId, host: &mut H) {
        let now = self.core.instant;
        let turn = self.turn(station);
        turn.attempts += 1;
        turn.began = now;
        let Turn { frame, head, attempts: attempt, .. } = *turn;
        self.core.emit(station, frame, Kind::Attempt { attempt, excessive_deferral: false, burst: false }, host);
        if !self.method.own.rts || head.destination.to == Destination::All {
            if !self.exchange_alone(station, host) {
                self.send_data(station);
            }
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

    /// Sends the frame itself; gives how long it reserves the medium.
    fn send_data(&mut self, station: StationId) -> BitTimes {
        let Turn { frame, head, .. } = *self.turn(station);
        let spans = self.method.spans;
        let is_answered = head.destination.to != Destination::All;
        let reserves = if is_answered { spans.carried(spans.sifs + spans.ack) } else { BitTimes::ZERO };
        let data = self.method.own.phy.frame_time(head.size);
        let about = (station, Content::Data, frame);
        let (sent, end) = self.send(about, (head.destination, head.size), (data, reserves));
        if is_answered {
            self.ask(station, sent, Content::Ack, end);
        } else {
            self.station_mut(station).mac.take(DcfStep::SendsToGroup);
            self.set(station, WAIT, end);
        }
        reserves
    }

    /// The station waits for an answer to its signal that ends at `end`.
    pub(super) fn ask(&mut self, station: StationId, sent: TransmissionId, answer: Content, end: BitInstant) {
        let deadline = self.later(station, end, self.method.spans.timeout);
        self.has_asked(station, sent, answer, end);
        self.set(station, WAIT, deadline);
    }

    /// The station has sent what gets an answer, and no timer runs yet.
    #[inline]
    pub(super) fn has_asked(&mut self, station: StationId, sent: TransmissionId, answer: Content, end: BitInstant) {
        let by = self.later(station, end, self.method.spans.window);
        let question = Question { sent, answer, by, coming: None };
        let step = if answer == Content::Cts { DcfStep::SendsRts } else { DcfStep::SendsFrame };
        self.station_mut(station).mac.ask(step, question);
    }

    /// A SIFS after its CTS arrived, the station sends its frame.
    pub(super) fn use_grant<H: Host>(&mut self, station: StationId, host: &mut H) {
        if !self.station(station).attached {
            return self.give_up(station, Cause::Detached, host);
        }
        let Turn { frame, attempts: attempt, .. } = *self.turn(station);
        let reserves = self.send_data(station);
        self.core.emit(station, frame, Kind::Data { attempt, reserves }, host);
    }

    /// A SIFS after it received a signal, the station answers it, unless it is sending already.
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
        // The line reports its end to no station: the one that asked looks then.
        let destination = (Addressed::NOBODY, Octets::new(0));
        let (id, end) = self.send((station, content, about), destination, (lasts, reserves));
        self.method.air.answers(id, to);
        self.method.here.answers(to);
        self.expect_answer(to, id, now, end);
    }

    /// An answer to `station` has begun: if it arrives in time, the station waits for its end.
    pub(super) fn expect_answer(&mut self, station: StationId, id: TransmissionId, begin: BitInstant, end: BitInstant) {
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
        if !self.is_decoded(id, station) {
            return self.fail(station, question, self.later(station, now, self.method.spans.difs), host);
        }
        if question.answer == Content::Ack {
            return self.succeed(station, DcfStep::AckArrives, host);
        }
        self.station_mut(station).mac.take(DcfStep::CtsArrives);
        self.set(station, WAIT, self.later(station, now, self.method.spans.sifs));
    }

    /// A signal for the station at `place` has just ended there.
    pub(super) fn receive_signal<H: Host>(&mut self, place: StationId, id: TransmissionId, host: &mut H) {
        let Signal { source, content, about, reserves, ref to, .. } = *self.method.air.get(id);
        let is_answered = to.is_some();
        if !self.method.air.reaches(self.method.air.get(id), place) {
            return;
        }
        let is_clear = self.is_decoded(id, place);
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
            // The station that asked looks when they end.
            Content::Cts | Content::Ack => {}
        }
    }

    /// The station at `place` decodes the signal: no other one and no wrong bit spoil it there.
    fn is_decoded(&self, id: TransmissionId, place: StationId) -> bool {
        let (Core { line, noise, .. }, Dcf { air, .. }) = (&self.core, &self.method);
        air.is_clear(line.topology(), id.get(), place) && !air.is_struck(line.topology(), noise, id.get(), place)
    }

    pub(super) fn prepare(&mut self, station: StationId, answer: Answer) {
        let at = self.later(station, self.core.instant, self.method.spans.sifs);
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

    pub(super) fn receive_data<H: Host>(&mut self, place: StationId, id: TransmissionId, is_clear: bool, host: &mut H) {
        let signal = self.method.air.get(id);
        let Signal { about: frame, size, destination, .. } = *signal;
        let begin = || signal.begin + self.core.line.topology().distance(signal.source, place);
        if self.core.noise.is_on && self.core.noise.silences(place, begin()) {
            return;
        }
        let arrival = if !is_clear {
            Arrival::Spoilt
        } else if destination.to == Destination::All {
            Arrival::Clear
        } else {
            let turn = self.stations[frame.station.index()].mac.turn.as_mut().filter(|turn| turn.frame == frame);
            match turn.is_some_and(|turn| std::mem::replace(&mut turn.arrived, true)) {
                true => Arrival::Again,
                false => Arrival::Clear,
            }
        };
        let kind = Worth::Good.received(size, arrival);
        self.core.emit_verdict(place, frame, kind, host);
    }
}

/// After an attempt.
impl Engine<Dcf> {
    /// The frame is acknowledged, or, for a group, sent.
    pub(super) fn succeed<H: Host>(&mut self, station: StationId, step: DcfStep, host: &mut H) {
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
        self.finish(station, step, host);
    }

    /// No answer came. The slots of the next attempt are not counted before `not_before`.
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
        self.station_mut(station).mac.take(DcfStep::Fails);
        self.look(station, host);
    }

    /// The collision of the attempt at its addressee's place, or of the answer at the sender's.
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
        self.finish(station, DcfStep::GivesUp, host);
    }

    /// The medium has finished with the frame: the station waits a number of slots, with the next frame if it has one.
    fn finish<H: Host>(&mut self, station: StationId, step: DcfStep, host: &mut H) {
        let (now, window) = (self.core.instant, self.method.own.window);
        let this = &mut self.stations[station.index()];
        let frame = this.mac.turn.take().expect("it was at a frame").frame;
        (this.held, this.mac.window) = (0, window);
        let attached = this.attached;
        self.core.release(frame);
        if !attached {
            self.station_mut(station).mac.take(DcfStep::Unplugged);
            return;
        }
        let slots = self.draw(station);
        if let Some(next) = self.take_turn(station) {
            self.core.emit(station, next, Kind::Backoff { attempt: 0, slots }, host);
        }
        let not_before = self.later(station, now, self.method.spans.difs);
        self.hear(station, not_before, Some(slots));
        self.station_mut(station).mac.take(step);
        self.look(station, host);
    }

    /// The station is off the medium: a present attempt continues to its end, and everything else is discarded.
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
                mac.take(DcfStep::Unplugged);
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
