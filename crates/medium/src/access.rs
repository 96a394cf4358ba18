//! The access methods, one file or folder each, and the interface between them and the engine.
//!
//! The engine knows time, places, signals, queues, events and counters. A method decides when to send, how to react to
//! signals, and what an addressee makes of a signal. Everything about a method is in its own file, except its variants
//! of [`Method`](crate::config::Method) and of [`Medium`](crate::Medium).

pub(crate) mod aloha;
pub(crate) mod contenders;
pub(crate) mod csma;
pub(crate) mod csma_ca;
pub(crate) mod csma_cd;
pub(crate) mod own_slots;
pub(crate) mod plca;
pub(crate) mod slotted_aloha;
pub(crate) mod tdma;

use crate::config::{Config, PlcaSettings};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::fault::Fault;
use crate::frame::{Addressed, Frame, HEADER_AND_FCS, Queued, StationId, TransmissionId};
use crate::inputs::Host;
use crate::time::{BitInstant, BitTimes, Octets};
use crate::timers::NEVER;
use std::fmt::Debug;

/// A frame as a MAC accepts it from its host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted {
    /// Padded, or cut to the length that the MAU allows.
    pub size: Octets,
    /// As the host hands it over.
    pub unpadded: Octets,
    /// Longer than the standard allows: its station babbles.
    pub too_long: bool,
}

/// An access method: the rules of its MAC. `Self` is its state for the medium as a whole.
pub(crate) trait Access: Sized + Debug {
    /// Its state for each station.
    type Mac: Debug;

    /// The number of timers of each station. A timer's number is its station's, times this, plus its place among the
    /// station's timers.
    const TIMERS: usize;

    /// The method's state for a medium made from `config`, which [`Config::check`] has accepted.
    fn new(config: &Config) -> Self;

    /// The MAC of `station` at the start.
    fn mac(config: &Config, station: StationId) -> Self::Mac;

    /// Accepts or refuses `frame` from the host of a station with this `fault`; gives the frame that the MAC sends.
    fn admit(&self, config: &Config, frame: Frame, fault: Option<Fault>) -> Result<Admitted, Cause>;

    /// Whether a station with `queued` frames has no room for another.
    fn is_full(&self, config: &Config, queued: usize) -> bool {
        queued >= config.queue_limit
    }

    /// A frame has joined the queue of `station`.
    fn frame_ready<H: Host>(engine: &mut Engine<Self>, station: StationId, host: &mut H);

    /// Timer number `which` of `station` ends. The method sets it again or stops it.
    fn timer_ends<H: Host>(engine: &mut Engine<Self>, station: StationId, which: usize, host: &mut H);

    /// Signals begin at the place of `station`, which listens.
    fn signals_begin<H: Host>(engine: &mut Engine<Self>, station: StationId, begun: Begun, host: &mut H) {
        let _ = (engine, station, begun, host);
    }

    /// Signals have ended at the place of `station`, which listens or sent one of them.
    fn signals_end<H: Host>(engine: &mut Engine<Self>, station: StationId, host: &mut H) {
        let _ = (engine, station, host);
    }

    /// `station` has just been put back on the medium.
    fn attached<H: Host>(engine: &mut Engine<Self>, station: StationId, host: &mut H) {
        let _ = (engine, station, host);
    }

    /// `station` gets other settings of PLCA.
    fn set_plca<H: Host>(engine: &mut Engine<Self>, station: StationId, settings: PlcaSettings, host: &mut H) {
        let _ = (engine, station, settings, host);
    }

    /// The cable has just been cut, or mended.
    fn parted(engine: &mut Engine<Self>) {
        let _ = engine;
    }

    /// All counts start from zero.
    fn restart(engine: &mut Engine<Self>) {
        let _ = engine;
    }

    /// `station` has just been taken off the medium.
    fn detached<H: Host>(engine: &mut Engine<Self>, station: StationId, host: &mut H);

    /// The transmission `id`, which is addressed to the station at `place`, has just ended there.
    #[inline]
    fn receives<H: Host>(engine: &mut Engine<Self>, place: StationId, id: TransmissionId, host: &mut H) {
        if let Some(kind) = Self::verdict(&engine.core, place, id) {
            let frame = engine.core.line.get(id).frame;
            engine.core.emit_received(place, frame, kind, host);
        }
    }

    /// What the station at `place`, an addressee of the transmission `id`, makes of it as it ends there, if that is
    /// only an event.
    fn verdict(core: &Core, place: StationId, id: TransmissionId) -> Option<Kind>;

    /// How long a transmission that has met no other can still be met, from the instant when its first bit has passed
    /// every place, if that is shorter than the transmission. `None`: to its end, since the method does not detect
    /// collisions.
    fn exposed(config: &Config) -> Option<BitTimes> {
        let _ = config;
        None
    }
}

/// How a method runs where one state serves all stations, instead of the agenda. A method without a fast path keeps the
/// defaults.
pub(crate) trait FastPath: Access {
    /// Runs the part of an attempt that the method has put off, since nothing can come before it; false if there is
    /// none.
    fn runs_put_off<H: Host>(engine: &mut Engine<Self>, host: &mut H) -> bool {
        let _ = (engine, host);
        false
    }

    /// Runs everything before `limit`, and with `timers_too` the ends of timers at it, on a [path](crate::engine::clock)
    /// of the method; false if the medium is on the agenda.
    fn runs<H: Host>(engine: &mut Engine<Self>, limit: BitInstant, timers_too: bool, host: &mut H) -> bool {
        let _ = (engine, limit, timers_too, host);
        false
    }

    /// The next instant of the method's own events, which are not in the agenda.
    fn due(engine: &Engine<Self>) -> BitInstant {
        let _ = engine;
        NEVER
    }

    /// From now on some station misses signals that others hear.
    fn places_differ(engine: &mut Engine<Self>) {
        let _ = engine;
    }
}

/// The signals that begin at a place at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    /// A signal of another station.
    pub other: bool,
    /// A signal to which the station at the place is not deaf.
    pub heard: bool,
    /// The station's own signal, where others may already be.
    pub own: bool,
}

/// An admitted frame as it waits in a queue since `arrived`.
pub(crate) fn queued(serial: u64, destination: Addressed, admitted: Admitted, arrived: BitInstant) -> Queued {
    let Admitted { size, unpadded, too_long } = admitted;
    Queued { serial, size, unpadded, destination, arrived, too_long }
}

/// The admission of a MAC that pads short frames and sends no long one, whatever the fault of its station.
pub(crate) fn admit_honest(config: &Config, frame: Frame) -> Result<Admitted, Cause> {
    let p = &config.parameters;
    if frame.size < HEADER_AND_FCS {
        return Err(Cause::TooShort);
    }
    if frame.size > p.frame_size_limit(frame.tagged) {
        return Err(Cause::TooLong);
    }
    Ok(Admitted { size: frame.size.max(p.min_frame_size), unpadded: frame.size, too_long: false })
}
