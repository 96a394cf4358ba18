//! CSMA/CD (802.3, clause 4): the station's own part.

use crate::bus::Bus;
use crate::deference::State;
use crate::signal::{Cut, PREAMBLE_AND_SFD};
use crate::station::Phase;
use crate::violation::{
    BACKOFF, BURST, DEFER, DETECTION, DURATION, FULL_DUPLEX, GAP, JAM, LATE, ONE_FRAME, SLOTS_DRAWN,
};
use crate::ways::later;
use medium::{FrameId, Kind, MacKind, Method};

impl Bus {
    /// An event of a station's own frame on a medium with CSMA/CD.
    pub fn csma_cd(&mut self, frame: FrameId, kind: MacKind) {
        let place = frame.station.index();
        match kind {
            MacKind::Attempt { .. } => self.speaks(place, false),
            // A frame that does not go out whole ends its turn of PLCA early.
            MacKind::Collision { .. } | MacKind::Discarded { .. } => self.cycle.busy_until = 0,
            _ => {}
        }
        if matches!(kind, MacKind::Collision { episode: 1.., .. }) {
            self.cycle.differs();
        }
        match kind {
            MacKind::Defer { .. } => self.defers(frame),
            MacKind::Attempt { attempt, burst, .. } => self.begins(frame, attempt, burst),
            MacKind::Collision { late, .. } => self.collides(frame, late),
            MacKind::JamEnd { .. } => self.jam_ends(frame),
            MacKind::Backoff { attempt, slots } => self.backs_off(frame, attempt, slots),
            MacKind::Transmitted { extension, .. } => self.ends_whole(frame, extension.get()),
            // One that is refused as it comes changes nothing for the head of the queue.
            MacKind::Discarded { .. } => {
                let is_head = self.frame(frame) == Some(0);
                if self.is_plain() {
                    self.advance(place);
                }
                let sends = matches!(self.stations[place].phase, Phase::Transmitting | Phase::Jamming);
                if is_head && !(sends && self.is_plain()) {
                    self.stations[place].phase = Phase::Idle;
                    // A node of PLCA that is taken off stops within its delay line.
                    if let Some(own) = self.own(place) {
                        self.signal_ends(own);
                    }
                }
            }
        }
    }

    /// Without PLCA below the MAC, which has a carrier sense and a collision detection of its own.
    fn is_plain(&self) -> bool {
        matches!(self.config.method, Method::CsmaCd)
    }

    /// The frame at the head is ready now; the host of a node of PLCA hands a new one over later.
    fn is_ready_now(&mut self, frame: FrameId, what: &str) {
        let (place, now, head) = (frame.station.index(), self.now, self.stations[frame.station.index()].queue.front());
        let (least, most) = match &self.config.method {
            Method::Plca(own) if own.nodes[place].macphy.is_some() => (0, u64::MAX),
            Method::Plca(own) if self.stations[place].phase != Phase::BackingOff => {
                let delay = own.nodes[place].host_delay;
                (delay.least.get(), delay.most.get())
            }
            _ => (0, 0),
        };
        let ready = head.and_then(|head| head.ready);
        let is_now = ready.is_some_and(|at| at + least <= now && now <= at.saturating_add(most));
        self.demand(is_now, &BACKOFF, place, || match ready {
            Some(ready) => format!("{frame} {what}, and was ready at {ready}"),
            None => format!("{frame} {what}, and was not ready"),
        });
    }

    fn defers(&mut self, frame: FrameId) {
        let place = frame.station.index();
        let Some(index) = self.named(frame, "is deferred") else { return };
        self.is_ready_now(frame, "is deferred");
        if self.is_plain() && !self.stations[place].doubtful {
            let state = self.advance(place);
            self.demand(state != State::Free, &DEFER, place, || {
                format!("{frame} is deferred, and there was neither carrier nor a gap: it begins at once")
            });
        }
        let this = &mut self.stations[place];
        this.phase = Phase::Waiting;
        this.burst = None;
        this.deference.freed = None;
        this.queue[index].deferred |= this.queue[index].attempts == 0;
    }

    fn begins(&mut self, frame: FrameId, attempt: u32, burst: bool) {
        let (place, now) = (frame.station.index(), self.now);
        let busy = self.own(place);
        self.demand(busy.is_none(), &ONE_FRAME, place, || format!("{frame} begins before the signal before has ended"));
        if let Some(index) = busy {
            self.air[index].end = Some(now);
        }
        let Some(index) = self.attempts(frame, attempt) else { return };
        match burst {
            true => self.continues_burst(frame),
            false => self.was_free(frame),
        }
        let p = self.config.parameters;
        let (packet, shortest) = match burst {
            true => (now + p.inter_packet_gap.get(), 0),
            false => (now, u64::from(p.min_frame_size.get() + p.extend_size.get()) * 8),
        };
        let this = &mut self.stations[place];
        this.phase = Phase::Transmitting;
        if p.burst_limit.get() > 0 && !burst {
            this.burst = Some(now);
        }
        let queued = &mut this.queue[index];
        let planned = packet + PREAMBLE_AND_SFD + (queued.size * 8).max(shortest);
        (queued.ready, queued.sent) = (None, Some((packet, planned)));
        let queued = queued.clone();
        self.send(place, &queued, packet, planned, false);
    }

    fn continues_burst(&mut self, frame: FrameId) {
        let (place, now) = (frame.station.index(), self.now);
        let (begin, sent, limit) =
            (self.stations[place].burst, self.stations[place].sent_at, self.config.parameters.burst_limit.get());
        let goes_on = sent == Some(now) && begin.is_some_and(|begin| now - begin < limit);
        self.demand(goes_on, &BURST, place, || {
            format!("{frame} continues a burst: one ends {limit} BT after its first bit, or with a pause")
        });
    }

    /// The station was not deferring, and it is the first instant at which it was not.
    fn was_free(&mut self, frame: FrameId) {
        let (place, now) = (frame.station.index(), self.now);
        let waited = self.stations[place].phase == Phase::Waiting;
        if !waited {
            self.is_ready_now(frame, "begins");
        }
        if !self.is_plain() || self.stations[place].doubtful {
            return;
        }
        let (state, gap) = (self.advance(place), self.config.parameters.inter_packet_gap.get());
        match state {
            State::Free => {}
            State::Busy { since, .. } => {
                self.violate(&DEFER, place, format!("{frame} begins while carrier is on since {since}"));
            }
            State::Gap { since, .. } => {
                let end = later(&self.config, place, since, gap);
                self.violate(
                    &GAP,
                    place,
                    format!("{frame} begins {} BT after carrier ended at {since}: the gap ends at {end}", now - since),
                );
            }
        }
        let freed = self.stations[place].deference.freed.filter(|_| waited && state == State::Free);
        if let Some(freed) = freed {
            self.demand(freed == now, &GAP, place, || format!("{frame} begins, and the gap was over at {freed}"));
        }
        self.stations[place].deference.freed = None;
    }

    fn collides(&mut self, frame: FrameId, late: bool) {
        let (place, now) = (frame.station.index(), self.now);
        let Some(own) = self.own(place).filter(|_| self.stations[place].phase == Phase::Transmitting) else {
            return self.violate(&DETECTION, place, format!("{frame} collides, and the station sends no frame"));
        };
        if self.is_plain() {
            let met = self.met(own, now + 1);
            let apart = self.air[own].full_duplex;
            self.demand(!apart, &FULL_DUPLEX, place, || format!("{frame} collides, and the station is in full duplex"));
            self.demand(apart || met == Some(now), &DETECTION, place, || match met {
                Some(met) => format!("{frame} collides, and another signal was there at {met}"),
                None => format!("{frame} collides, and no other signal is there"),
            });
        }
        let p = self.config.parameters;
        let signal = &mut self.air[own];
        let is_late = !signal.is_first || now - signal.begin > p.slot_time.get();
        let (cut, jam) = match now {
            _ if now < signal.packet => (Cut::Filling, now),
            _ if now < signal.frame_end => (Cut::Packet, now.max(signal.packet + PREAMBLE_AND_SFD)),
            _ => (Cut::Extension, now),
        };
        (signal.cut, signal.late, signal.planned) = (Some(cut), is_late, jam + p.jam_size.get());
        let since = now - signal.begin;
        self.demand(late == is_late, &LATE, place, || {
            format!(
                "{frame} collides {since} BT after its first bit, with `late` {late}: slotTime is {}",
                p.slot_time.get()
            )
        });
        self.stations[place].phase = Phase::Jamming;
        self.stations[place].burst = None;
    }

    fn jam_ends(&mut self, frame: FrameId) {
        let (place, now) = (frame.station.index(), self.now);
        let Some(own) = self.own(place).filter(|_| self.stations[place].phase == Phase::Jamming) else {
            return self.violate(&JAM, place, format!("the jam of {frame} ends, and no collision began one"));
        };
        let (planned, jam) = (self.air[own].planned, self.config.parameters.jam_size);
        self.demand(planned == now, &JAM, place, || {
            format!("the jam of {frame} ends, and preamble and a jam of {} BT are out at {planned}", jam.get())
        });
        self.signal_ends(own);
        self.stations[place].phase = Phase::Jammed;
    }

    fn backs_off(&mut self, frame: FrameId, attempt: u32, slots: u64) {
        let (place, now, p) = (frame.station.index(), self.now, self.config.parameters);
        let Some(index) = self.named(frame, "backs off") else { return };
        let is_jammed = self.stations[place].phase == Phase::Jammed;
        self.demand(is_jammed, &JAM, place, || format!("{frame} backs off, and no jam has ended"));
        self.demand(attempt < p.attempt_limit.get(), &crate::violation::ATTEMPTS, place, || {
            format!(
                "{frame} backs off after attempt {attempt}: after attemptLimit, {}, it is discarded",
                p.attempt_limit
            )
        });
        let own = self.air.iter().rfind(|signal| signal.station == place);
        let is_late = own.is_some_and(|signal| signal.late) && p.extend_size.get() > 0;
        self.demand(!is_late, &LATE, place, || format!("{frame} backs off after a late collision, which discards it"));
        let most = (1_u64 << attempt.min(p.backoff_limit)) - 1;
        self.demand(self.config.backoff.is_some() || slots <= most, &SLOTS_DRAWN, place, || {
            format!("{frame} waits {slots} slots after attempt {attempt}: at most {most}")
        });
        let ready = later(&self.config, place, now, slots.saturating_mul(p.slot_time.get()));
        self.stations[place].phase = Phase::BackingOff;
        self.stations[place].queue[index].ready = Some(ready);
    }

    fn ends_whole(&mut self, frame: FrameId, extension: u64) {
        let (place, now) = (frame.station.index(), self.now);
        let own = self.own(place).filter(|_| self.stations[place].phase == Phase::Transmitting);
        let Some(own) = own else {
            let text = format!("{frame} is transmitted, and the station sends no frame");
            return self.violate(&crate::violation::CONSERVATION, place, text);
        };
        let (planned, frame_end) = (self.air[own].planned, self.air[own].frame_end);
        self.demand(planned == now, &DURATION, place, || {
            format!("{frame} is transmitted, and its last bit is out at {planned}")
        });
        self.demand(extension == planned - frame_end, &DURATION, place, || {
            format!("{frame} has {extension} BT of extension, and needs {}", planned - frame_end)
        });
        if self.is_plain() && !self.air[own].full_duplex {
            let met = self.met(own, now);
            self.demand(met.is_none(), &DETECTION, place, || {
                format!("{frame} is transmitted, and another signal was there at {}", met.unwrap_or_default())
            });
        }
        self.signal_ends(own);
        let this = &mut self.stations[place];
        (this.phase, this.sent_at) = (Phase::Idle, Some(now));
    }

    /// A signal has gone out: those it is for will hear its end.
    fn signal_ends(&mut self, own: usize) {
        self.air[own].end = Some(self.now);
        if self.is_plain() {
            self.expect(own);
        }
    }

    /// What an addressee makes of a signal of CSMA/CD (802.3, 4.2.9); nothing, if it gets no notice of it.
    pub fn heard_csma_cd(&self, index: usize, place: usize) -> Option<Kind> {
        let (signal, p) = (&self.air[index], &self.config.parameters);
        let end = signal.end.unwrap_or(signal.planned);
        let (from, until) = (signal.packet + signal.way[place], end + signal.way[place]);
        let others = || {
            let heard = |other: &&crate::signal::Signal| !other.is_apart(place) && other.number != signal.number;
            self.air.iter().filter(heard)
        };
        let met = others().any(|other| other.first_within(place, from, until).is_some());
        let spoken_over =
            others().any(|other| other.station == place && other.first_within(place, from, until).is_some());
        if signal.cut == Some(Cut::Filling) || (signal.cut.is_some() && spoken_over) {
            return None;
        }
        let bits = end - signal.packet - PREAMBLE_AND_SFD;
        let shortest = p.min_frame_size.get() + if signal.is_first { p.extend_size.get() } else { 0 };
        let size = medium::Octets::new(signal.size as u32);
        let span = medium::BitTimes::new;
        Some(match signal.cut {
            Some(_) if bits < u64::from(shortest) * 8 => Kind::Fragment { bits: span(bits) },
            Some(Cut::Extension) => Kind::Damaged { bits: span(bits / 8 * 8) },
            Some(_) => Kind::Damaged { bits: span(bits) },
            None if signal.too_long => Kind::TooLong { size },
            None if met || signal.bad_fcs => Kind::Damaged { bits: span(signal.size * 8) },
            None => Kind::Delivered { size },
        })
    }
}
