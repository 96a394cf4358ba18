//! CSMA/CD: the two machines of a station (802.3, 4.2.3.2 and 4.2.8), and what an addressee makes of a signal.
//!
//! *Deference* watches carrier at the station's place; *Transmit* sends a frame, and after backoff waits for Deference.
//! `tables` has both tables, and `acts` has their actions.
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

mod acts;
pub(super) mod attempts;
mod deferring;
mod one_place;
mod tables;

use attempts::Below;
use one_place::OnePlace;
pub use tables::{Deference, DeferenceAct, DeferenceInput, Transmit, TransmitAct, TransmitInput};

use super::{Access, Admitted, Begun, FastPath};
use crate::config::{Clock, Config};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::fault::Fault;
use crate::frame::{Frame, HEADER_AND_FCS, PREAMBLE_AND_SFD, StationId, TransmissionId};
use crate::inputs::Host;
use crate::line::{Course, Transmission, Worth};
use crate::receive::{Arrival, Cut};
use crate::time::{BitInstant, BitTimes, Octets};
use crate::timers::NEVER;
use backoff::{Backoff, Generator, Limits};

/// CSMA/CD's state for the medium as a whole.
#[derive(Debug)]
pub(crate) struct CsmaCd {
    /// The state that all stations share, while all places are one.
    here: OnePlace,
    /// A station that sends, and that no event can disturb before its end.
    alone: Option<Alone>,
    /// The station whose signal ends at this instant, and was alone: its place falls silent, and nothing else is heard
    /// there.
    silent: Option<StationId>,
}

/// An attempt that no event can disturb: it is finished at once.
#[derive(Clone, Copy, Debug)]
struct Alone {
    station: StationId,
    frame_end: BitInstant,
    end: BitInstant,
    worth: Worth,
}

/// A station's MAC: its two machines, and their state for the frame at the head of the queue.
#[derive(Debug)]
pub(crate) struct Mac {
    pub(super) transmit: Transmit,
    /// Maintained only while the station waits to send; derived from the line when it becomes ready.
    pub(super) deference: Deference,
    pub(super) backoff: Backoff,
    pub(super) generator: Generator,
    /// When part 1 of the gap ends, while Deference is in it; the timer is that of the whole gap.
    pub(super) part_1_end: BitInstant,
    /// It sent in the stretch of carrier that it waits through (4.2.8, wasTransmitting).
    pub(super) was_transmitting: bool,
    /// When the frame at the head of the queue got there.
    pub(super) head_since: BitInstant,
    /// When the station last became ready for an attempt.
    pub(super) ready_since: BitInstant,
    /// The frame at the head was delayed on its first attempt.
    pub(super) deferred: bool,
    /// The frame at the head has waited longer than maxDeferTime before.
    pub(super) excessive_deferral: bool,
    /// When the latest attempt began; `NEVER` before the first.
    pub(super) begin: BitInstant,
    /// It detects no collision of the latest attempt: the station was in full duplex as the attempt began.
    pub(super) duplex: bool,
    /// When the burst in progress began.
    pub(super) burst: Option<BitInstant>,
    /// When its last frame ended: a frame that is ready by then continues the burst.
    pub(super) burst_open_at: BitInstant,
    /// A collision of the frame at the head was late.
    pub(super) late: bool,
    pub(super) transmission: Option<TransmissionId>,
    /// What times its gaps and its backoff.
    pub(super) clock: Clock,
}

impl Access for CsmaCd {
    type Mac = Mac;

    const TIMERS: usize = 1;

    fn new(config: &Config) -> CsmaCd {
        CsmaCd { here: OnePlace::new(config), alone: None, silent: None }
    }

    fn mac(config: &Config, station: StationId) -> Mac {
        Mac::new(config, station)
    }

    fn admit(&self, config: &Config, frame: Frame, fault: Option<Fault>) -> Result<Admitted, Cause> {
        admit(config, frame, fault)
    }

    fn frame_ready<H: Host>(engine: &mut Engine<CsmaCd>, station: StationId, host: &mut H) {
        let now = engine.core.instant;
        let this = engine.station_mut(station);
        if this.queue.len() == 1 {
            this.mac.renew_head(now);
        }
        if engine.method.here.holds() && engine.station(station).mac.transmit == Transmit::Idle {
            return engine.wait_in_one_place(station, host);
        }
        engine.tell_transmit(station, TransmitInput::FrameReady, host);
    }

    fn timer_ends<H: Host>(engine: &mut Engine<CsmaCd>, station: StationId, _: usize, host: &mut H) {
        match engine.station(station).mac.transmit {
            Transmit::WaitingToSend => engine.gap_ends(station, host),
            Transmit::Idle | Transmit::Transmitting | Transmit::Jamming | Transmit::BackingOff => {
                engine.tell_transmit(station, TransmitInput::Timeout, host);
            }
        }
    }

    fn signals_begin<H: Host>(engine: &mut Engine<CsmaCd>, station: StationId, begun: Begun, host: &mut H) {
        match engine.station(station).mac.transmit {
            Transmit::Transmitting if engine.station(station).mac.duplex => {}
            Transmit::Transmitting if begun.other || (begun.own && engine.core.meets_others(station)) => {
                engine.tell_transmit(station, TransmitInput::Collision, host);
            }
            Transmit::WaitingToSend if begun.heard => engine.carrier_on(station, host),
            Transmit::Transmitting
            | Transmit::WaitingToSend
            | Transmit::Idle
            | Transmit::Jamming
            | Transmit::BackingOff => {}
        }
    }

    fn signals_end<H: Host>(engine: &mut Engine<CsmaCd>, station: StationId, host: &mut H) {
        let waits = engine.station(station).mac.transmit == Transmit::WaitingToSend;
        if waits && engine.core.is_silent(station) {
            engine.tell_deference(station, DeferenceInput::CarrierOff, host);
        }
    }

    fn detached<H: Host>(engine: &mut Engine<CsmaCd>, station: StationId, host: &mut H) {
        engine.tell_transmit(station, TransmitInput::Detach, host);
    }

    fn verdict(core: &Core, place: StationId, id: TransmissionId) -> Option<Kind> {
        let sent = core.line.get(id);
        match sent.course {
            Course::OnAir { .. } => panic!("{} ended at {place} before it ended", sent.frame),
            Course::Whole { .. } => Some(sent.worth.received(sent.size, Arrival::met(core.line.damaged_at(place, id)))),
            // A station that sends does not receive.
            Course::Cut { .. } if core.line.spoke_over(place, id) => None,
            Course::Cut { end } => {
                let Transmission { begin, frame_end, .. } = *sent;
                let cut = |preamble| Cut { begin, preamble, frame_end, end };
                sent.preamble.map(|preamble| cut(preamble).received(&core.config.parameters))
            }
        }
    }

    /// A station that heard it in part 2 of a gap may begin until the end of the gap.
    fn exposed(config: &Config) -> Option<BitTimes> {
        Some(config.longest_gap())
    }
}

impl FastPath for CsmaCd {
    #[inline(always)]
    fn runs_put_off<H: Host>(engine: &mut Engine<CsmaCd>, host: &mut H) -> bool {
        match engine.method.alone.take() {
            Some(alone) => {
                engine.finish_alone(alone, host);
                true
            }
            None => false,
        }
    }

    #[inline(always)]
    fn runs<H: Host>(engine: &mut Engine<CsmaCd>, limit: BitInstant, timers_too: bool, host: &mut H) -> bool {
        if engine.method.here.holds() {
            engine.run_path::<OnePlace, H>(limit, timers_too, host);
        }
        engine.method.here.holds()
    }

    fn due(engine: &Engine<CsmaCd>) -> BitInstant {
        if engine.method.here.holds() { engine.method.here.due() } else { NEVER }
    }

    fn places_differ(engine: &mut Engine<CsmaCd>) {
        engine.leave_one_place();
    }
}

/// Accepts or refuses `frame` from the host of a station with this `fault`; gives the frame that the MAC sends.
pub(super) fn admit(config: &Config, frame: Frame, fault: Option<Fault>) -> Result<Admitted, Cause> {
    let p = &config.parameters;
    let too_long = frame.size > p.frame_size_limit(frame.tagged);
    if frame.size < HEADER_AND_FCS {
        return Err(Cause::TooShort);
    }
    if too_long && fault != Some(Fault::Babble) {
        return Err(Cause::TooLong);
    }
    let cut_off = (p.jabber_limit.get() - PREAMBLE_AND_SFD.get()) / 8;
    let size = frame.size.get().max(p.min_frame_size.get()).min(cut_off as u32);
    Ok(Admitted { size: Octets::new(size), unpadded: frame.size, too_long })
}

impl Mac {
    /// The MAC of `station` at the start.
    pub(super) fn new(config: &Config, station: StationId) -> Mac {
        let limits = Limits::IEEE_802_3
            .with_attempt_limit(config.parameters.attempt_limit)
            .with_backoff_limit(config.parameters.backoff_limit);
        Mac {
            transmit: Transmit::Idle,
            deference: Deference::Free,
            backoff: Backoff::new(limits),
            generator: Generator::stream(config.seed, station.index() as u64),
            part_1_end: BitInstant::ZERO,
            was_transmitting: false,
            head_since: BitInstant::ZERO,
            ready_since: BitInstant::ZERO,
            deferred: false,
            excessive_deferral: false,
            begin: NEVER,
            duplex: false,
            burst: None,
            burst_open_at: BitInstant::ZERO,
            late: false,
            transmission: None,
            clock: config.clock(station),
        }
    }

    /// An attempt begins at `now`: whether the frame has waited longer than `max_defer_time` for the first time.
    pub(super) fn starts_late(&mut self, now: BitInstant, max_defer_time: BitTimes) -> bool {
        let excessive = !self.excessive_deferral && now - self.ready_since > max_defer_time;
        self.excessive_deferral |= excessive;
        excessive
    }

    /// The number of the present attempt of the frame at the head, from 1.
    pub(super) fn attempt(&self) -> u32 {
        self.backoff.attempts() + 1
    }

    /// The next frame, if any, is at the head since `now`, without any attempt.
    pub(super) fn renew_head(&mut self, now: BitInstant) {
        self.head_since = now;
        self.deferred = false;
        self.excessive_deferral = false;
        self.late = false;
        self.backoff.reset();
    }
}

impl Below for CsmaCd {
    #[inline(always)]
    fn mac_of(own: &mut Mac) -> &mut Mac {
        own
    }

    fn wait<H: Host>(engine: &mut Engine<CsmaCd>, station: StationId, host: &mut H) {
        engine.wait(station, host);
    }

    fn attempt<H: Host>(engine: &mut Engine<CsmaCd>, station: StationId, host: &mut H) {
        engine.attempt(station, host);
    }

    fn jam<H: Host>(engine: &mut Engine<CsmaCd>, station: StationId, host: &mut H) {
        engine.jam(station, host);
    }

    fn finish<H: Host>(engine: &mut Engine<CsmaCd>, station: StationId, host: &mut H) {
        engine.finish(station, host);
    }

    fn jam_ends(engine: &mut Engine<CsmaCd>, station: StationId) {
        engine.end_transmission(station, false);
    }

    fn set_backoff(engine: &mut Engine<CsmaCd>, station: StationId, at: BitInstant) {
        let now = engine.core.instant;
        engine.core.agenda.timers.set(station.index(), now, at);
    }

    fn stop_timer(engine: &mut Engine<CsmaCd>, station: StationId) {
        engine.stop_timer(station);
    }

    fn ignore(engine: &mut Engine<CsmaCd>, station: StationId) {
        engine.method.here.leave(station);
        engine.ignore(station);
    }
}
