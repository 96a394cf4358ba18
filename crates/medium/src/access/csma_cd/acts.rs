//! The effects of the two machines of CSMA/CD on the medium: 802.3, 4.2.3.2 and 4.2.8.

use super::deferring::{Deferring, Gap};
use super::tables::{Deference, DeferenceAct, DeferenceInput, Transmit, TransmitInput};
use super::{Alone, CsmaCd};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::Kind;
use crate::fault::Fault;
use crate::frame::{FrameId, Queued, StationId};
use crate::inputs::Host;
use crate::line::{Course, Transmission, Worth};
use crate::receive::Arrival;
use crate::rules::packet;
use crate::time::BitTimes;

impl Engine<CsmaCd> {
    /// Passes `input` to the deference machine of `station`, which waits to send.
    pub(super) fn tell_deference<H: Host>(&mut self, station: StationId, input: DeferenceInput, host: &mut H) {
        let state = self.station(station).mac.deference;
        match state.act(input) {
            Some(DeferenceAct::Stay) => {}
            Some(DeferenceAct::Yield) => self.defer(station, Deferring::BUSY),
            Some(DeferenceAct::StartGap) => self.start_gap(station),
            Some(DeferenceAct::StartPart2) => self.station_mut(station).mac.deference = Deference::GapPart2,
            Some(DeferenceAct::Release) => self.tell_transmit(station, TransmitInput::MediumFree, host),
            None => panic!("{input:?} in {state:?} of {station}"),
        }
    }

    /// Carrier comes up at the place of `station`, which waits to send.
    pub(super) fn carrier_on<H: Host>(&mut self, station: StationId, host: &mut H) {
        let this = self.station(station);
        if this.mac.deference == Deference::GapPart1 && this.mac.part_1_end <= self.core.instant {
            self.tell_deference(station, DeferenceInput::Timeout, host);
        }
        self.tell_deference(station, DeferenceInput::CarrierOn, host);
    }

    /// The gap is over. Its parts have one timer: no decision in between depended on the part.
    pub(super) fn gap_ends<H: Host>(&mut self, station: StationId, host: &mut H) {
        if self.station(station).mac.deference == Deference::GapPart1 {
            self.tell_deference(station, DeferenceInput::Timeout, host);
        }
        self.tell_deference(station, DeferenceInput::Timeout, host);
    }

    pub(super) fn stop_timer(&mut self, station: StationId) {
        self.core.agenda.timers.stop(station.index());
    }

    /// The inter-packet gap of `station`.
    #[inline]
    pub(super) fn gap(&self, station: StationId) -> Gap<'_> {
        Gap { parameters: &self.core.config.parameters, clock: self.station(station).mac.clock }
    }

    fn deferring(&mut self, station: StationId) -> Deferring {
        let now = self.core.instant;
        if let Some((before, last)) = self.core.line.stretches(station, now) {
            return Deferring::after(before, last, now, self.gap(station));
        }
        let mut history = std::mem::take(&mut self.core.history);
        self.core.line.carrier(station, now, &mut history);
        let deferring = Deferring::from_history(&history, now, self.gap(station));
        self.core.history = history;
        deferring
    }

    fn start_gap(&mut self, station: StationId) {
        let (now, was_transmitting) = (self.core.instant, self.station(station).mac.was_transmitting);
        let has_part_1 = self.core.config.parameters.inter_packet_gap_part_1 > BitTimes::ZERO;
        let state = if was_transmitting || !has_part_1 { Deference::GapPart2 } else { Deference::GapPart1 };
        self.defer(station, Deferring { state, gap_since: Some(now), was_transmitting });
    }

    pub(super) fn defer(&mut self, station: StationId, deferring: Deferring) {
        let mac = &mut self.stations[station.index()].mac;
        mac.deference = deferring.state;
        mac.was_transmitting = deferring.was_transmitting;
        match deferring.gap_since {
            Some(since) => {
                let gap = Gap { parameters: &self.core.config.parameters, clock: mac.clock };
                let (part_1_end, gap_end) = gap.ends(since);
                mac.part_1_end = part_1_end;
                self.core.agenda.timers.set_soon(station.index(), gap_end);
            }
            None => self.stop_timer(station),
        }
        self.listen(station, deferring.state);
    }

    /// Registers what can change Deference: silence while it is busy, carrier in part 1 of the gap.
    fn listen(&mut self, station: StationId, state: Deference) {
        let Core { line, agenda, instant, .. } = &mut self.core;
        match state {
            Deference::Busy => {
                line.ignore_begins(station);
                line.hear_silence(*instant, station, agenda);
            }
            Deference::GapPart1 => {
                line.ignore_silence(station);
                line.hear_begins(*instant, station, agenda);
            }
            Deference::GapPart2 | Deference::Free => self.ignore(station),
        }
    }

    pub(super) fn ignore(&mut self, station: StationId) {
        self.core.line.ignore_begins(station);
        self.core.line.ignore_silence(station);
    }

    pub(super) fn wait<H: Host>(&mut self, station: StationId, host: &mut H) {
        if self.method.here.holds() {
            return self.wait_in_one_place(station, host);
        }
        let now = self.core.instant;
        let this = self.station_mut(station);
        this.mac.transmit = Transmit::WaitingToSend;
        this.mac.ready_since = now;
        if this.mac.burst.is_some() && this.mac.burst_open_at == now {
            return self.tell_transmit(station, TransmitInput::MediumFree, host);
        }
        this.mac.burst = None;
        let silent = self.method.silent == Some(station);
        let deferring =
            if silent { Deferring { was_transmitting: true, ..Deferring::BUSY } } else { self.deferring(station) };
        if deferring.state == Deference::Free {
            return self.tell_transmit(station, TransmitInput::MediumFree, host);
        }
        let this = self.station_mut(station);
        let attempt = this.mac.attempt();
        this.mac.deferred |= attempt == 1;
        let frame = this.frame();
        self.core.emit(station, frame, Kind::Defer { attempt }, host);
        if silent {
            // The signal's end follows at once, and no other signal matters.
            let mac = &mut self.station_mut(station).mac;
            (mac.deference, mac.was_transmitting) = (deferring.state, deferring.was_transmitting);
        } else {
            self.defer(station, deferring);
        }
    }

    /// ```text
    ///   |preamble 64|frame|                                  |begins a burst or is alone
    ///   |preamble 64|frame|extension to 64 + slot_time|      |the same, at 1000 Mb/s
    ///   |extension bits 96|preamble 64|frame|                |continues a burst
    /// ```
    pub(super) fn attempt<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (now, parameters) = (self.core.instant, self.core.config.parameters);
        let this = self.station_mut(station);
        let excessive_deferral = this.mac.starts_late(now, parameters.max_defer_time);
        this.mac.transmit = Transmit::Transmitting;
        this.mac.begin = now;
        let duplex = this.fault == Some(Fault::FullDuplex);
        this.mac.duplex = duplex;
        let burst = this.mac.burst.is_some();
        if parameters.burst_limit > BitTimes::ZERO {
            this.mac.burst.get_or_insert(now);
        }
        let (frame, attempt, head, fault) = (this.frame(), this.mac.attempt(), *this.head(), this.fault);
        self.core.emit(station, frame, Kind::Attempt { attempt, excessive_deferral, burst }, host);

        let preamble = now + if burst { parameters.inter_packet_gap } else { BitTimes::ZERO };
        let frame_end = preamble + packet(head.size);
        let end = preamble + parameters.packet(head.size, burst);
        let worth = Worth::sent(head.too_long, fault);
        let passed = now + self.core.line.longest() <= end;
        if passed && parameters.burst_limit == BitTimes::ZERO && self.core.is_alone_until(station, end) {
            self.method.alone = Some(Alone { station, frame_end, end, worth });
            return;
        }
        let transmission = Transmission {
            frame,
            size: head.size,
            destination: head.destination,
            begin: now,
            preamble: Some(preamble),
            frame_end,
            worth,
            deaf: !duplex && fault.is_some_and(Fault::is_deaf),
            duplex,
            course: Course::OnAir { end },
            episode: None,
            settled: false,
            previous: None,
            parted: None,
        };
        let id = self.core.line.begin(now, transmission, &mut self.core.agenda);
        self.station_mut(station).mac.transmission = Some(id);
        if !self.core.line.collides_at_once(now) {
            self.core.agenda.timers.set_sending(station.index(), end);
        }
        self.core.expect_settled::<CsmaCd>(id);
    }

    /// ```text
    ///   begin          collision                  or, in the preamble:  begin  collision
    ///     |preamble|frame..|jam 32|                                       |preamble 64  |jam 32|
    /// ```
    /// In the extension bits before a later frame of a burst: the jam, and no preamble.
    pub(super) fn jam<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (now, parameters) = (self.core.instant, self.core.config.parameters);
        let this = self.station_mut(station);
        this.mac.transmit = Transmit::Jamming;
        this.mac.burst = None;
        let (begin, frame, attempt) = (this.mac.begin, this.frame(), this.mac.attempt());
        let id = this.mac.transmission.expect("a station that sends has a transmission");
        let episode = self.core.line.join_episode(station, now, id);
        let transmission = self.core.line.get_mut(id);
        assert!(!transmission.settled, "{frame} collided after its deliveries were given out");
        let in_burst = transmission.preamble != Some(begin);
        let jam = transmission.preamble.map_or(now, |preamble| parameters.jam_begin(now, preamble));
        transmission.preamble = transmission.preamble.filter(|&preamble| preamble <= now);
        let end = jam + parameters.jam_size;
        transmission.course = Course::Cut { end };
        self.core.agenda.timers.set_soon(station.index(), end);
        self.ignore(station);
        let late = parameters.late(now - begin, in_burst);
        self.station_mut(station).mac.late |= late;
        self.core.emit(station, frame, Kind::Collision { attempt, late, episode }, host);
    }

    pub(super) fn finish<H: Host>(&mut self, station: StationId, host: &mut H) {
        let (now, burst_limit) = (self.core.instant, self.core.config.parameters.burst_limit);
        let this = self.station(station);
        let id = this.mac.transmission.expect("a station that sends has a transmission");
        let sent = self.core.line.get(id);
        let preamble = sent.preamble.expect("a collision before the preamble ends in a jam");
        let transmitted = Kind::Transmitted {
            size: sent.size,
            attempts: this.mac.attempt(),
            deferred: this.mac.deferred,
            access_delay: preamble - this.mac.head_since,
            mac_delay: now - this.head().arrived,
            extension: now - sent.frame_end,
            no_carrier: sent.deaf,
        };
        self.core.emit(station, this.frame(), transmitted, host);
        self.end_transmission(station, true);
        let this = self.station_mut(station);
        // A frame that the host hands over at this very instant also continues the burst.
        this.mac.burst = this.mac.burst.filter(|&begin| now - begin < burst_limit);
        this.mac.burst_open_at = now;
        self.next_frame(station, host);
    }

    /// The attempt of a station that is alone, from its begin to the gap after it: the effects of
    /// [`finish`](Self::finish), of the end of its signal at all places, and of silence, one after the other.
    pub(super) fn finish_alone<H: Host>(&mut self, alone: Alone, host: &mut H) {
        let Alone { station, frame_end, end, worth } = alone;
        let this = &mut self.stations[station.index()];
        let (begin, frame) = (this.mac.begin, this.frame());
        let sent = this.queue.pop_front().expect("a station that sends has a frame");
        let transmitted = Kind::Transmitted {
            size: sent.size,
            attempts: this.mac.attempt(),
            deferred: this.mac.deferred,
            access_delay: begin - this.mac.head_since,
            mac_delay: end - sent.arrived,
            extension: end - frame_end,
            no_carrier: false,
        };
        this.mac.transmit = Transmit::Idle;
        this.mac.burst_open_at = end;
        this.mac.renew_head(end);
        let waits = !this.queue.is_empty();
        self.core.instant = end;
        let one_place = self.core.line.is_one_place();
        if one_place {
            self.core.line.was_alone_here(station, begin, end);
        } else {
            let whole = Transmission { frame_end, ..Transmission::whole(frame, &sent, begin, end, worth) };
            self.core.line.was_alone(whole, end, &mut self.core.agenda);
        }
        self.core.line.ignore_begins(station);
        self.method.silent = Some(station);
        self.core.emit(station, frame, transmitted, host);
        if waits {
            self.tell_transmit(station, TransmitInput::FrameReady, host);
        }
        self.feed(host);
        self.method.silent = None;
        if one_place {
            self.receive_alone(&sent, frame, worth, host);
        }
        if self.stations[station.index()].mac.transmit == Transmit::WaitingToSend {
            self.tell_deference(station, DeferenceInput::CarrierOff, host);
        }
    }

    /// The addressees receive a frame that met no other.
    fn receive_alone<H: Host>(&mut self, sent: &Queued, frame: FrameId, worth: Worth, host: &mut H) {
        for place in sent.destination.places(self.stations.len()) {
            if place != frame.station && self.stations[place.index()].attached {
                self.core.emit_received(place, frame, worth.received(sent.size, Arrival::Clear), host);
            }
        }
    }

    pub(super) fn end_transmission(&mut self, station: StationId, whole: bool) {
        if self.method.here.holds() {
            return;
        }
        let now = self.core.instant;
        let id = self.station_mut(station).mac.transmission.take().expect("a station that sends has a transmission");
        self.core.line.end(now, id, whole, &mut self.core.agenda);
        self.ignore(station);
        if whole {
            self.core.settle_after_end(id);
        }
    }
}
