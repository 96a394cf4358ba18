//! CSMA/CD: the two machines of a station (802.3, 4.2.3.2 and 4.2.8), and what they do to the medium.
//!
//! *Deference* watches carrier at the station's place; *Transmit* sends a frame, and after backoff waits
//! for Deference. Both tables stand here and nowhere else; `None` is what cannot be, our own mistake.
//!
//! ```text
//!           FrameReady            MediumFree            Timeout: transmitted
//!   Idle ─────────────► Waiting ─────────────► Trans- ─────────────────────► next frame, or Idle
//!                       ToSend                 mitting
//!                         ▲                      │ Collision
//!                         │ Timeout              ▼
//!                      BackingOff ◄────────── Jamming ─────────────────────► discarded after attempt 16
//!                                   Timeout
//! ```

use crate::bus::{Carrier, Course, Transmission, Worth};
use crate::config::Parameters;
use crate::event::{Cause, Kind};
use crate::frame::{PREAMBLE_AND_SFD, StationId};
use crate::medium::{Fault, Medium};
use crate::time::{BitInstant, BitTimes, Octets};

/// States of the transmit machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmit {
    /// No frame.
    Idle,
    /// A frame is ready, and the station defers.
    WaitingToSend,
    /// Preamble or frame is on the medium.
    Transmitting,
    /// A collision was detected: the preamble is finished, then the jam is sent.
    Jamming,
    /// Waiting for the slots that were drawn; carrier does not stop the timer.
    BackingOff,
}

/// What the transmit machine is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmitInput {
    /// A frame came to the head of the queue, or joined those behind it.
    FrameReady,
    /// Deference lets the station send.
    MediumFree,
    /// Another signal is at the station's place while it sends.
    Collision,
    /// The timer of the present state ended.
    Timeout,
    /// The station is taken off the medium.
    Detach,
}

/// What the transmit machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmitAct {
    /// Nothing changes.
    Stay,
    /// Ask Deference: send at once, or wait.
    Wait,
    /// Begin to send.
    Attempt,
    /// Finish the preamble and send the jam.
    Jam,
    /// The last bit is out: the frame is transmitted.
    Finish,
    /// The jam is out: draw slots, or discard the frame.
    BackOff,
    /// Discard all frames.
    Abandon,
}

impl Transmit {
    /// What the machine does in this state when told `input`; `None` if it cannot be told so.
    pub const fn act(self, input: TransmitInput) -> Option<TransmitAct> {
        use {Transmit as S, TransmitAct as A, TransmitInput as I};
        match (self, input) {
            (S::Idle, I::FrameReady) => Some(A::Wait),
            (S::Idle, I::Detach) => Some(A::Stay),
            (S::Idle, I::MediumFree | I::Collision | I::Timeout) => None,
            (S::WaitingToSend, I::FrameReady) => Some(A::Stay),
            (S::WaitingToSend, I::MediumFree) => Some(A::Attempt),
            (S::WaitingToSend, I::Detach) => Some(A::Abandon),
            (S::WaitingToSend, I::Collision | I::Timeout) => None,
            (S::Transmitting, I::FrameReady | I::Detach) => Some(A::Stay),
            (S::Transmitting, I::Collision) => Some(A::Jam),
            (S::Transmitting, I::Timeout) => Some(A::Finish),
            (S::Transmitting, I::MediumFree) => None,
            (S::Jamming, I::FrameReady | I::Collision | I::Detach) => Some(A::Stay),
            (S::Jamming, I::Timeout) => Some(A::BackOff),
            (S::Jamming, I::MediumFree) => None,
            (S::BackingOff, I::FrameReady) => Some(A::Stay),
            (S::BackingOff, I::Timeout) => Some(A::Wait),
            (S::BackingOff, I::Detach) => Some(A::Abandon),
            (S::BackingOff, I::MediumFree | I::Collision) => None,
        }
    }
}

/// States of the deference machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deference {
    /// The station may send.
    Free,
    /// Carrier, or its own transmission.
    Busy,
    /// Silence, not yet long enough: carrier starts it anew.
    GapPart1,
    /// The rest of the gap: runs to its end whatever carrier says.
    GapPart2,
}

/// What the deference machine is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferenceInput {
    /// A signal begins at the station's place.
    CarrierOn,
    /// The last signal ends at the station's place.
    CarrierOff,
    /// The timer of the present part of the gap ended.
    Timeout,
}

/// What the deference machine does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeferenceAct {
    /// Nothing changes.
    Stay,
    /// Forget the gap and wait for silence.
    Yield,
    /// Start part 1 of the gap, or, right after one's own transmission, the whole of it as part 2.
    StartGap,
    /// Start part 2 of the gap.
    StartPart2,
    /// Let the waiting frame go.
    Release,
}

impl Deference {
    /// What the machine does in this state when told `input`; `None` if it cannot be told so.
    pub const fn act(self, input: DeferenceInput) -> Option<DeferenceAct> {
        use {Deference as S, DeferenceAct as A, DeferenceInput as I};
        match (self, input) {
            (S::Free, I::CarrierOn) => Some(A::Yield),
            (S::Free, I::CarrierOff) => Some(A::Stay),
            (S::Free, I::Timeout) => None,
            (S::Busy, I::CarrierOn) => Some(A::Stay),
            (S::Busy, I::CarrierOff) => Some(A::StartGap),
            (S::Busy, I::Timeout) => None,
            (S::GapPart1, I::CarrierOn) => Some(A::Yield),
            (S::GapPart1, I::CarrierOff) => Some(A::Stay),
            (S::GapPart1, I::Timeout) => Some(A::StartPart2),
            (S::GapPart2, I::CarrierOn | I::CarrierOff) => Some(A::Stay),
            (S::GapPart2, I::Timeout) => Some(A::Release),
        }
    }
}

/// Deference at a place, as decisions see it: just before the instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Deferring {
    state: Deference,
    /// When the gap ends, in both of its parts.
    gap_end: Option<BitInstant>,
    /// `wasTransmitting` of 4.2.8: the station itself sent in the stretch of carrier that is on.
    was_transmitting: bool,
}

impl Deferring {
    const FREE: Deferring = Deferring { state: Deference::Free, gap_end: None, was_transmitting: false };
    const BUSY: Deferring = Deferring { state: Deference::Busy, gap_end: None, was_transmitting: false };

    /// Works out what Deference would be if it had watched all along.
    ///
    /// A signal lasts no shorter than a gap (`Config` holds that), so only the last silence and the last
    /// stretch of carrier can matter. Signals that touch leave no bit of silence: one stretch.
    fn from_history(history: &[Carrier], now: BitInstant, parameters: &Parameters) -> Deferring {
        let mut stretch: Option<Carrier> = None;
        // A gap that carrier did not stop, because it was in part 2 or followed one's own transmission.
        let mut unstoppable = None;
        for &carrier in history {
            stretch = Some(match stretch {
                Some(so_far) => match so_far.end {
                    Some(end) if carrier.begin > end => {
                        let gap_end = end + parameters.inter_packet_gap;
                        let restarts = !so_far.own && carrier.begin < end + parameters.inter_packet_gap_part_1;
                        unstoppable = (!restarts && carrier.begin < gap_end).then_some(gap_end);
                        carrier
                    }
                    end => Carrier {
                        begin: so_far.begin,
                        end: end.zip(carrier.end).map(|(a, b)| a.max(b)),
                        own: so_far.own || carrier.own,
                    },
                },
                None => carrier,
            });
        }
        match stretch {
            None => Deferring::FREE,
            Some(Carrier { end: Some(end), own, .. }) if end < now => Deferring::in_gap(end, own, now, parameters),
            Some(Carrier { own, .. }) => match unstoppable.filter(|&gap_end| gap_end > now) {
                Some(gap_end) => Deferring { state: Deference::GapPart2, gap_end: Some(gap_end), ..Deferring::BUSY },
                None => Deferring { was_transmitting: own, ..Deferring::BUSY },
            },
        }
    }

    /// Silence since `end`, after a stretch of carrier in which the station sent, or did not.
    fn in_gap(end: BitInstant, was_transmitting: bool, now: BitInstant, parameters: &Parameters) -> Deferring {
        let gap_end = end + parameters.inter_packet_gap;
        let in_part_2 = was_transmitting || now >= end + parameters.inter_packet_gap_part_1;
        let state = if in_part_2 { Deference::GapPart2 } else { Deference::GapPart1 };
        if now >= gap_end { Deferring::FREE } else { Deferring { state, gap_end: Some(gap_end), was_transmitting } }
    }
}

/// What the two machines do to the medium.
impl Medium {
    /// Tells the transmit machine of `station`. The only place where its acts are chosen.
    pub(crate) fn tell_transmit(&mut self, station: StationId, input: TransmitInput) {
        let state = self.station(station).transmit;
        match state.act(input) {
            Some(TransmitAct::Stay) => {}
            Some(TransmitAct::Wait) => self.wait(station),
            Some(TransmitAct::Attempt) => self.attempt(station),
            Some(TransmitAct::Jam) => self.jam(station),
            Some(TransmitAct::Finish) => self.finish(station),
            Some(TransmitAct::BackOff) => self.back_off(station),
            Some(TransmitAct::Abandon) => self.abandon(station),
            None => panic!("{input:?} in {state:?} of {station}"),
        }
    }

    /// Tells the deference machine of `station`, which waits to send.
    pub(crate) fn tell_deference(&mut self, station: StationId, input: DeferenceInput) {
        let state = self.station(station).deference;
        match state.act(input) {
            Some(DeferenceAct::Stay) => {}
            Some(DeferenceAct::Yield) => self.defer(station, Deferring::BUSY),
            Some(DeferenceAct::StartGap) => self.start_gap(station),
            Some(DeferenceAct::StartPart2) => self.station_mut(station).deference = Deference::GapPart2,
            Some(DeferenceAct::Release) => self.tell_transmit(station, TransmitInput::MediumFree),
            None => panic!("{input:?} in {state:?} of {station}"),
        }
    }

    /// Carrier comes up at the place of `station`, which waits to send.
    pub(crate) fn carrier_on(&mut self, station: StationId) {
        let this = self.station(station);
        if this.deference == Deference::GapPart1 && this.part_1_end <= self.instant() {
            self.tell_deference(station, DeferenceInput::Timeout);
        }
        self.tell_deference(station, DeferenceInput::CarrierOn);
    }

    /// The gap is over. Its parts have one timer: nobody has asked in between which of them it is in.
    pub(crate) fn gap_ends(&mut self, station: StationId) {
        if self.station(station).deference == Deference::GapPart1 {
            self.tell_deference(station, DeferenceInput::Timeout);
        }
        self.tell_deference(station, DeferenceInput::Timeout);
    }

    fn deferring(&mut self, station: StationId) -> Deferring {
        let (now, mut history) = (self.instant(), std::mem::take(&mut self.history));
        self.bus.carrier(station, now, &mut history);
        let deferring = Deferring::from_history(&history, now, &self.config.parameters);
        self.history = history;
        deferring
    }

    fn start_gap(&mut self, station: StationId) {
        let (now, was_transmitting) = (self.instant(), self.station(station).was_transmitting);
        let deferring = Deferring::in_gap(now, was_transmitting, now, &self.config.parameters);
        self.defer(station, deferring);
    }

    fn defer(&mut self, station: StationId, deferring: Deferring) {
        let parameters = &self.config.parameters;
        let part_2 = parameters.inter_packet_gap.get() - parameters.inter_packet_gap_part_1.get();
        let this = self.station_mut(station);
        this.deference = deferring.state;
        this.was_transmitting = deferring.was_transmitting;
        match deferring.gap_end {
            Some(gap_end) => {
                this.part_1_end = BitInstant::new(gap_end.get() - part_2);
                self.set_timer(station, gap_end);
            }
            None => self.stop_timer(station),
        }
    }

    fn wait(&mut self, station: StationId) {
        let now = self.instant();
        let this = self.station_mut(station);
        this.transmit = Transmit::WaitingToSend;
        this.ready_since = now;
        if this.burst.is_some() && this.burst_open_at == now {
            return self.tell_transmit(station, TransmitInput::MediumFree);
        }
        this.burst = None;
        let deferring = self.deferring(station);
        if deferring.state == Deference::Free {
            return self.tell_transmit(station, TransmitInput::MediumFree);
        }
        let this = self.station_mut(station);
        let attempt = this.attempt();
        this.deferred |= attempt == 1;
        let frame = this.frame();
        self.emit(station, frame, Kind::Defer { attempt });
        self.bus.listen(now, station, &mut self.agenda);
        self.defer(station, deferring);
    }

    /// ```text
    ///   |preamble 64|frame|                                  |begins a burst or stands alone
    ///   |preamble 64|frame|extension to 64 + slot_time|      |the same, at 1000 Mb/s
    ///   |extension bits 96|preamble 64|frame|                |goes on with a burst
    /// ```
    fn attempt(&mut self, station: StationId) {
        let (now, parameters) = (self.instant(), self.config.parameters);
        let this = self.station_mut(station);
        let excessive_deferral = !this.excessive_deferral && now - this.ready_since > parameters.max_defer_time;
        this.excessive_deferral |= excessive_deferral;
        this.transmit = Transmit::Transmitting;
        this.begin = now;
        let burst = this.burst.is_some();
        if parameters.burst_limit > BitTimes::ZERO {
            this.burst.get_or_insert(now);
        }
        let (frame, attempt, head, fault) = (this.frame(), this.attempt(), *this.head(), this.fault);
        self.emit(station, frame, Kind::Attempt { attempt, excessive_deferral, burst });

        let preamble = now + if burst { parameters.inter_packet_gap } else { BitTimes::ZERO };
        let frame_end = preamble + PREAMBLE_AND_SFD + head.size.bit_times();
        let end =
            if burst { frame_end } else { frame_end.max(preamble + PREAMBLE_AND_SFD + parameters.least_carrier()) };
        let transmission = Transmission {
            frame,
            size: head.size,
            destination: head.destination,
            begin: now,
            preamble: Some(preamble),
            frame_end,
            worth: match fault {
                _ if head.too_long => Worth::TooLong,
                Some(Fault::BadFcs) => Worth::BadFcs,
                Some(Fault::Deaf | Fault::Babble) | None => Worth::Good,
            },
            deaf: fault == Some(Fault::Deaf),
            course: Course::OnAir { end },
            episode: None,
            settled: false,
            previous: None,
            parted: None,
        };
        let id = self.bus.begin(now, transmission, &mut self.agenda);
        self.bus.listen(now, station, &mut self.agenda);
        self.station_mut(station).transmission = Some(id);
        self.set_timer(station, end);
        self.expect_settled(id);
    }

    /// ```text
    ///   begin          collision                  or, in the preamble:  begin  collision
    ///     |preamble|frame..|jam 32|                                       |preamble 64  |jam 32|
    /// ```
    /// In the extension bits before a later frame of a burst: the jam, and no preamble.
    fn jam(&mut self, station: StationId) {
        let (now, parameters) = (self.instant(), self.config.parameters);
        let this = self.station_mut(station);
        this.transmit = Transmit::Jamming;
        this.burst = None;
        let (begin, frame, attempt) = (this.begin, this.frame(), this.attempt());
        let id = this.transmission.expect("a station that sends has a transmission");
        let episode = self.bus.join_episode(station, now, id);
        let transmission = self.bus.get_mut(id);
        assert!(!transmission.settled, "{frame} collided after its deliveries were given out");
        let in_burst = transmission.preamble != Some(begin);
        let jam = transmission.preamble.map_or(now, |preamble| parameters.jam_begin(now, preamble));
        transmission.preamble = transmission.preamble.filter(|&preamble| preamble <= now);
        let end = jam + parameters.jam_size;
        transmission.course = Course::Cut { end };
        self.set_timer(station, end);
        self.bus.ignore(station);
        let late = parameters.late(now - begin, in_burst);
        self.station_mut(station).late |= late;
        self.emit(station, frame, Kind::Collision { attempt, late, episode });
    }

    fn finish(&mut self, station: StationId) {
        let (now, burst_limit) = (self.instant(), self.config.parameters.burst_limit);
        let this = self.station(station);
        let id = this.transmission.expect("a station that sends has a transmission");
        let sent = self.bus.get(id);
        let preamble = sent.preamble.expect("a collision before the preamble ends in a jam");
        let transmitted = Kind::Transmitted {
            size: sent.size,
            attempts: this.attempt(),
            deferred: this.deferred,
            access_delay: preamble - this.head_since,
            mac_delay: now - this.head().arrived,
            extension: now - sent.frame_end,
            no_carrier: sent.deaf,
        };
        self.emit(station, this.frame(), transmitted);
        self.end_transmission(station, true);
        let this = self.station_mut(station);
        // Also a frame that the host hands over at this very instant goes on with the burst.
        this.burst = this.burst.filter(|&begin| now - begin < burst_limit);
        this.burst_open_at = now;
        self.next_frame(station);
    }

    fn back_off(&mut self, station: StationId) {
        let (now, parameters) = (self.instant(), self.config.parameters);
        let this = self.station_mut(station);
        let (frame, attempt) = (this.frame(), this.attempt());
        let given_up = this.late && parameters.extend_size > Octets::new(0);
        self.emit(station, frame, Kind::JamEnd { attempt });
        self.end_transmission(station, false);
        if given_up {
            return self.discard(station, Cause::LateCollision, attempt);
        }
        let this = self.station_mut(station);
        let word = this.generator.next_u64();
        let Some(slots) = this.backoff.collide(word) else {
            return self.discard(station, Cause::ExcessiveCollisions, attempt);
        };
        if !this.attached {
            return self.abandon(station);
        }
        this.transmit = Transmit::BackingOff;
        self.set_timer(station, now + parameters.slot_time * slots);
        self.emit(station, frame, Kind::Backoff { attempt, slots });
    }

    /// Gives up the frame at the head.
    fn discard(&mut self, station: StationId, cause: Cause, attempts: u32) {
        let frame = self.station(station).frame();
        self.emit(station, frame, Kind::Discarded { cause, attempts });
        self.release(frame);
        self.next_frame(station);
    }

    fn end_transmission(&mut self, station: StationId, whole: bool) {
        let now = self.instant();
        let id = self.station_mut(station).transmission.take().expect("a station that sends has a transmission");
        self.bus.end(now, id, whole, &mut self.agenda);
        self.bus.ignore(station);
        if whole {
            self.settle_after_end(id);
        }
    }

    /// The frame at the head is done with; the next one starts at once, without backoff.
    fn next_frame(&mut self, station: StationId) {
        let now = self.instant();
        let this = self.station_mut(station);
        this.queue.pop_front();
        this.transmit = Transmit::Idle;
        this.renew_head(now);
        if !this.attached {
            self.abandon(station);
        } else if !this.queue.is_empty() {
            self.tell_transmit(station, TransmitInput::FrameReady);
        } else {
            self.stop_timer(station);
        }
    }

    /// Discards every frame of a station that is off the medium.
    fn abandon(&mut self, station: StationId) {
        self.bus.ignore(station);
        self.stop_timer(station);
        let now = self.instant();
        let this = self.station_mut(station);
        let mut attempts = this.backoff.attempts();
        this.transmit = Transmit::Idle;
        this.burst = None;
        this.renew_head(now);
        while let Some(queued) = self.station_mut(station).queue.pop_front() {
            let frame = crate::FrameId { station, serial: queued.serial };
            self.emit(station, frame, Kind::Discarded { cause: Cause::Detached, attempts });
            self.release(frame);
            attempts = 0;
        }
    }
}
