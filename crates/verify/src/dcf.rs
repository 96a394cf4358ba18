//! CSMA/CA: the distributed coordination function of 802.11 (clause 10.3), from what each station hears.
//!
//! ```text
//!   ‥signal│─ DIFS ─│ slots │frame│─ SIFS ─│ACK│        no ACK by the timeout: twice the window, and again
//! ```
//! At a station with wrong bits, and with capture, it is not known what was heard: DIFS and SIFS alone are held there.

use crate::bus::Bus;
use crate::listening::{Answer, Ear, First, Listening, Wrong};
use crate::signal::Signal;
use crate::station::Queued;
use crate::times::Times;
use crate::violation::{ANSWER, COUNT, DIFS, EIFS, NAV, ONE_FRAME, RETRIES, Rule, SIFS, WINDOW};
use crate::ways::later;
use medium::{BitTimes, Cause, CsmaCa, Destination, Fault, FrameId, Kind, MacKind, Method, StationId, WirelessKind};

impl Bus {
    fn times(&self) -> Option<(CsmaCa, Times)> {
        let Method::CsmaCa(own) = &self.config.method else { return None };
        Some((own.clone(), Times::of(own.phy)))
    }

    /// It is known what the station hears.
    fn is_followed(&self, place: usize) -> bool {
        !self.stations[place].doubtful && !self.captures()
    }

    /// Brings what the station hears up to now, and does something with it. `None` with another method, or if it is not
    /// known.
    fn listen<T>(&mut self, place: usize, act: impl FnOnce(&mut Listening, Ear<'_>, u64) -> T) -> Option<T> {
        let (_, times) = self.times().filter(|_| self.is_followed(place))?;
        let (now, this) = (self.now, &mut self.stations[place]);
        let ear = Ear { config: &self.config, times: &times, place, attached: this.attached, air: &self.air };
        this.listening.advance(ear, now);
        let done = act(&mut this.listening, ear, now);
        if let Some(at) = this.listening.missed.take() {
            self.violate(&COUNT, place, format!("nothing begins, and a frame was to begin at {at}"));
        }
        if let Some(Answer { at, frame, is_cts }) = self.stations[place].listening.unanswered.take() {
            let word = if is_cts { "cts" } else { "ack" };
            self.violate(&ANSWER, place, format!("the `{word}` of {frame} is missing, which was to begin at {at}"));
        }
        Some(done)
    }

    /// Brings all stations up to now.
    pub fn hear_all(&mut self) {
        if matches!(self.config.method, Method::CsmaCa(_)) {
            (0..self.stations.len()).for_each(|place| _ = self.listen(place, |_, _, _| ()));
        }
    }

    /// A frame is offered: whether others wait before it.
    pub fn comes_first(&mut self, frame: FrameId) {
        let place = frame.station.index();
        if self.stations[place].attached && self.stations[place].queue.len() == 1 {
            self.listen(place, |own, ear, now| own.comes_first(ear, now));
        }
    }

    /// A station is about to be taken off: it counts no slots, and answers nothing. Or it is about to be plugged in.
    pub fn is_plugged(&mut self, place: usize, attached: bool) {
        self.listen(place, |own, _, _| {
            if !attached {
                own.stops();
                own.answer = None;
            }
        });
    }

    /// An event of a station's own frame.
    pub fn dcf(&mut self, frame: FrameId, kind: MacKind) {
        match kind {
            MacKind::Attempt { attempt, .. } => self.tries(frame, attempt),
            MacKind::Backoff { attempt, slots } => self.draws(frame, attempt, slots),
            MacKind::Defer { .. } => self.finds_no_silence(frame),
            MacKind::Collision { .. } | MacKind::JamEnd { .. } => {
                self.named(frame, "collides");
            }
            MacKind::Transmitted { .. } => self.succeeds(frame),
            MacKind::Discarded { cause, .. } => self.gives_up(frame, cause),
        }
    }

    /// A frame that came first draws slots, since the medium is not free, or did not stay so.
    fn finds_no_silence(&mut self, frame: FrameId) {
        let (place, now) = (frame.station.index(), self.now);
        let Some(index) = self.named(frame, "is deferred") else { return };
        let queued = &mut self.stations[place].queue[index];
        queued.deferred = true;
        let came = queued.arrived;
        let right = self.listen(place, |own, ear, _| match own.first {
            Some(First::Looks(at)) => [at, ear.once_free(at)].contains(&now) && !own.is_silent_since(came),
            Some(First::Draws) => came == now,
            Some(First::Counts) | None => false,
        });
        self.demand(right != Some(false), &COUNT, place, || {
            format!("{frame} is deferred, and the medium was free, or slots were being counted")
        });
    }

    fn draws(&mut self, frame: FrameId, attempt: u32, slots: u64) {
        let (place, now) = (frame.station.index(), self.now);
        let Some((own, times)) = self.times() else { return };
        let Some(index) = self.named(frame, "draws slots") else { return };
        let window = (u64::from(own.window) << attempt.min(20)).min(own.most_window.into());
        self.demand(slots < window, &WINDOW, place, || {
            format!("{frame} waits {slots} slots after attempt {attempt}: the window has {window} values, from 0")
        });
        let queued = &self.stations[place].queue[index];
        let after_gap = later(&self.config, place, now, times.difs);
        if attempt > 0 {
            let not_before = self.fails(frame, index, None).unwrap_or(now);
            self.listen(place, |own, _, _| own.draws(Some(slots), not_before));
        } else if queued.deferred {
            self.listen(place, |own, _, _| own.draws(Some(slots), now));
        } else if queued.arrived == now {
            let all = self.listen(place, |own, ear, now| own.goes_on(ear, slots, now));
            let most = all.flatten().unwrap_or(0);
            self.demand(all != Some(None), &COUNT, place, || {
                format!("{frame} waits for {slots} slots, and none were being counted")
            });
            self.demand(slots >= window || most < window, &COUNT, place, || {
                format!("{frame} waits for {slots} slots, the rest of {most} at least: the window has {window} values")
            });
        } else {
            self.listen(place, |own, _, _| own.draws(Some(slots), after_gap));
        }
    }

    fn tries(&mut self, frame: FrameId, attempt: u32) {
        let (place, now) = (frame.station.index(), self.now);
        let Some(index) = self.attempts(frame, attempt) else { return };
        let Some((own, times)) = self.times() else { return };
        let last = self.air.iter().filter(|signal| signal.station == place).filter_map(|signal| signal.end).max();
        self.demand(last.is_none_or(|end| end <= now), &ONE_FRAME, place, || {
            format!("{frame} begins, and the signal before is out at {}", last.unwrap_or_default())
        });
        match self.is_followed(place) {
            true if last.is_none_or(|end| end <= now) => self.may_begin(frame, index),
            true => {}
            false => self.was_silent(frame, &times),
        }
        let queued = &mut self.stations[place].queue[index];
        // An address that no station has is that of one station.
        let asks = own.rts && queued.destination != Destination::All;
        let data = times.data(queued.size as u32);
        let end = now + if asks { times.rts } else { data };
        queued.sent = Some((now, end));
        let queued = queued.clone();
        let signal = self.send(place, &queued, now, end, true);
        (signal.is_frame, signal.is_rts) = (!asks, asks);
        signal.reserves = reserved(&times, &queued, asks);
        if !asks {
            self.expect(self.air.len() - 1);
        }
    }

    /// The gap and the slots are over at this very instant.
    fn may_begin(&mut self, frame: FrameId, index: usize) {
        let (place, now) = (frame.station.index(), self.now);
        let came = self.stations[place].queue[index].arrived;
        let wrong = self.listen(place, |own, ear, now| {
            let wrong = own.wrong(ear, came, now);
            own.stops();
            wrong
        });
        let (rule, why): (&'static Rule, String) = match wrong.flatten() {
            None => return,
            Some(Wrong::Carrier) => (&DIFS, "while carrier is on".to_owned()),
            Some(Wrong::Difs(end)) => (&DIFS, format!("and DIFS is over at {end}")),
            Some(Wrong::Eifs(end)) => (&EIFS, format!("and EIFS, after a spoilt signal, is over at {end}")),
            Some(Wrong::Nav(end)) => (&NAV, format!("and the medium is reserved up to {end}")),
            Some(Wrong::Slots(Some(end))) => (&COUNT, format!("and its slots are over at {end}")),
            Some(Wrong::Slots(None)) => (&COUNT, "and has drawn no slots".to_owned()),
        };
        self.violate(rule, place, format!("{frame} begins at {now}, {why}"));
    }

    /// The medium was silent for DIFS at the station, but for signals of the last slot, which may not have been sensed yet.
    fn was_silent(&mut self, frame: FrameId, times: &Times) {
        let (place, now) = (frame.station.index(), self.now);
        let station = &self.stations[place];
        if station.doubtful || station.fault.is_some_and(Fault::is_deaf) {
            return;
        }
        let noticed = now.saturating_sub(times.slot);
        let others =
            self.air.iter().filter(|it| it.station != place && it.is_sensed(place) && it.begin_at(place) < noticed);
        let Some(end) = others.map(|signal| signal.end_at(place)).max() else { return };
        let earliest = later(&self.config, place, end, times.difs);
        self.demand(earliest <= now, &DIFS, place, || {
            format!("{frame} begins, and carrier ended at {end}: DIFS is over at {earliest}")
        });
    }

    /// The latest signal of the frame, and what was heard as its answer.
    fn asked(&self, frame: FrameId, times: &Times) -> Option<(&Signal, Option<&Signal>)> {
        let place = frame.station.index();
        let own = self.air.iter().rfind(|it| it.station == place && it.frame == frame)?;
        let by = later(&self.config, place, own.planned, times.window);
        let is_answer = |it: &&Signal| {
            let comes = it.frame == frame && it.station != place && it.reaches[place];
            comes && it.begin >= own.planned && it.begin_at(place) <= by
        };
        Some((own, self.air.iter().find(is_answer)))
    }

    fn is_clear(&self, place: usize, signal: &Signal, times: &Times) -> bool {
        Ear { config: &self.config, times, place, attached: true, air: &self.air }.is_clear(signal)
    }

    /// An attempt has failed; `given_up`: the frame is discarded with it. Gives the instant before which no slot is counted.
    fn fails(&mut self, frame: FrameId, index: usize, given_up: Option<Cause>) -> Option<u64> {
        let (place, now) = (frame.station.index(), self.now);
        let (own, times) = self.times()?;
        let (signal, answer) = self.asked(frame, &times)?;
        let due = match answer {
            Some(answer) => answer.end_at(place),
            None => later(&self.config, place, signal.planned, times.timeout),
        };
        let came = answer.filter(|_| self.stations[place].attached && self.is_followed(place));
        let succeeds = came.is_some_and(|answer| self.is_clear(place, answer, &times));
        let (is_long, comes) = (own.rts && !signal.is_rts, answer.is_some());
        self.demand(due == now, &ANSWER, place, || format!("{frame} fails, and its answer was awaited up to {due}"));
        self.demand(!succeeds || due != now, &ANSWER, place, || format!("{frame} fails, and its answer has come"));
        let failures = &mut self.stations[place].queue[index].failures[usize::from(is_long)];
        *failures += 1;
        let (count, limit) = (*failures, if is_long { own.long_retry_limit } else { own.short_retry_limit }.get());
        let is_last = given_up == Some(Cause::ExcessiveCollisions);
        self.demand(is_last == (count >= limit) || given_up == Some(Cause::Detached), &RETRIES, place, || {
            let what = if is_last { "is given up" } else { "is tried again" };
            format!("{frame} {what} after {count} such failures: the limit is {limit}")
        });
        Some(if comes { later(&self.config, place, now, times.difs) } else { now })
    }

    /// Its answer has come; a frame for all has none.
    fn succeeds(&mut self, frame: FrameId) {
        let (place, now) = (frame.station.index(), self.now);
        let Some(((_, times), index)) = self.times().zip(self.frame(frame)) else { return };
        let Some((signal, answer)) = self.asked(frame, &times) else { return };
        let for_all = self.stations[place].queue[index].destination == Destination::All;
        let due = if for_all { Some(signal.planned) } else { answer.map(|it| it.end_at(place)) };
        let is_followed = self.is_followed(place) && !for_all;
        let is_clear = answer.is_none_or(|answer| !is_followed || self.is_clear(place, answer, &times));
        self.demand(due == Some(now) && is_clear, &ANSWER, place, || match due {
            Some(due) if is_clear => format!("{frame} is transmitted, and its answer has ended at {due}"),
            Some(_) => format!("{frame} is transmitted, and its answer was spoilt"),
            None => format!("{frame} is transmitted, and nothing has answered"),
        });
        self.goes_on_counting(place, &times);
    }

    /// Slots follow each frame.
    fn goes_on_counting(&mut self, place: usize, times: &Times) {
        let not_before = later(&self.config, place, self.now, times.difs);
        let attached = self.stations[place].attached;
        self.listen(place, |own, _, _| if attached { own.draws(None, not_before) } else { own.stops() });
    }

    fn gives_up(&mut self, frame: FrameId, cause: Cause) {
        let place = frame.station.index();
        let Some(((_, times), index)) = self.times().zip(self.frame(frame)) else { return };
        match cause {
            Cause::ExcessiveCollisions => {
                self.fails(frame, index, Some(cause));
                self.goes_on_counting(place, &times);
            }
            Cause::Detached => _ = self.listen(place, |own, _, _| own.stops()),
            // It was refused as it came.
            Cause::LateCollision | Cause::TooShort | Cause::TooLong if index == 0 => {
                self.listen(place, |own, _, _| own.first = None);
            }
            Cause::LateCollision | Cause::TooShort | Cause::TooLong => {}
        }
    }

    /// A frame has come for the station alone: it acknowledges it.
    pub fn owes_ack(&mut self, place: usize, frame: FrameId, kind: Kind) {
        let (now, to) = (self.now, Destination::Station(StationId::new(place as u16)));
        let is_it = |it: &&Signal| it.is_frame && it.frame == frame && it.reaches[place] && it.end_at(place) == now;
        let is_alone = self.air.iter().rfind(is_it).is_some_and(|signal| signal.destination == to);
        let is_whole = matches!(kind, Kind::Delivered { .. } | Kind::Duplicate { .. });
        if is_whole && is_alone && self.stations[place].attached {
            self.listen(place, |own, ear, now| {
                own.answer = Some(Answer { at: ear.later(now, ear.times.sifs), frame, is_cts: false });
            });
        }
    }

    /// An answer, or what follows one: it begins SIFS after the end of what it answers.
    pub fn wireless(&mut self, place: usize, frame: FrameId, kind: WirelessKind) {
        let Some((_, times)) = self.times() else { return };
        let Some(queued) = self.known(frame) else {
            return self.violate(&SIFS, place, format!("{frame} is answered, and no signal of it was there"));
        };
        let (of_rts, of_data) = (reserved(&times, &queued, true), reserved(&times, &queued, false));
        let of_cts = of_rts.saturating_sub(times.sifs + times.cts);
        let (length, told, reserves, word) = match kind {
            WirelessKind::Cts { reserves } => (times.cts, reserves, of_cts, "cts"),
            WirelessKind::Ack => (times.ack, BitTimes::ZERO, 0, "ack"),
            WirelessKind::Data { reserves, .. } => (times.data(queued.size as u32), reserves, of_data, "data"),
            WirelessKind::Rts { reserves, .. } => {
                return self.reserves(place, frame, "rts", (reserves, of_rts));
            }
            WirelessKind::Duplicate { .. } => return,
        };
        self.reserves(place, frame, word, (told, reserves));
        let (now, is_data) = (self.now, matches!(kind, WirelessKind::Data { .. }));
        let of_it = self.air.iter().filter(|it| it.frame == frame && it.station != place && it.reaches[place]);
        let mut ends = of_it.map(|signal| later(&self.config, place, signal.end_at(place), times.sifs));
        let answers = ends.any(|due| due == now);
        self.demand(answers, &SIFS, place, || {
            format!("`{word}` of {frame} begins, and nothing of it ended SIFS before")
        });
        if !answers {
            self.stations[place].listening.answer = None;
        }
        let answer = Answer { at: now, frame, is_cts: matches!(kind, WirelessKind::Cts { .. }) };
        let owed = self.listen(place, |own, _, _| is_data || own.answer.take() == Some(answer));
        self.demand(!answers || owed != Some(false), &ANSWER, place, || {
            format!("`{word}` of {frame} begins, and the station had to be silent: what it answers was spoilt, or NAV is set")
        });
        let signal = self.send(place, &queued, now, now + length, true);
        (signal.is_frame, signal.reserves) = (is_data, reserves);
        match is_data {
            true => self.expect(self.air.len() - 1),
            false => signal.destination = Destination::Station(frame.station),
        }
    }

    /// A frame in its queue, or what is still known of it when its sender has given it up.
    fn known(&self, frame: FrameId) -> Option<Queued> {
        let index = self.frame(frame);
        let queued = index.map(|index| self.stations[frame.station.index()].queue[index].clone());
        let signal = || self.air.iter().rfind(|it| it.frame == frame && it.station == frame.station.index());
        queued.or_else(|| signal().map(|it| Queued::new(frame, it.size, it.destination, self.now)))
    }

    /// A signal reserves the medium up to the end of the last answer.
    fn reserves(&mut self, place: usize, frame: FrameId, word: &str, (told, own): (BitTimes, u64)) {
        self.demand(told.get() == own, &NAV, place, || {
            format!("`{word}` of {frame} reserves {} BT, and the exchange needs {own}", told.get())
        });
    }
}

/// How long a frame, or its RTS, reserves the medium from its end on, in whole microseconds.
fn reserved(times: &Times, queued: &Queued, by_rts: bool) -> u64 {
    let answer = times.sifs + times.ack;
    match by_rts {
        true => times.whole_us(answer + 2 * times.sifs + times.cts + times.data(queued.size as u32)),
        false if queued.destination == Destination::All => 0,
        false => times.whole_us(answer),
    }
}
