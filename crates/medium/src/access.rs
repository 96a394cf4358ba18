//! The access methods, one file or folder each, and what the engine asks of them.
//!
//! The engine knows time, places, signals, queues, events and counters. A method knows when to send, what to do about
//! what a station hears, and what an addressee makes of a signal. Nothing of a method stands outside its own file, but
//! for its arm of [`Method`](crate::config::Method) and of [`Medium`](crate::Medium).

pub(crate) mod aloha;
pub(crate) mod contenders;
pub(crate) mod csma;
pub(crate) mod csma_ca;
pub(crate) mod csma_cd;
pub(crate) mod plca;
pub(crate) mod slotted_aloha;

use self::plca::PlcaSettings;
use crate::config::{Config, ConfigError};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::frame::{Frame, HEADER_AND_FCS, Queued, StationId, TransmissionId};
use crate::inputs::{Fault, Host};
use crate::time::{BitInstant, BitTimes, Octets};
use crate::timers::NEVER;
use std::fmt::Debug;

/// A frame as a MAC takes it from its host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted {
    /// Padded, or cut to what the MAU lets through.
    pub size: Octets,
    /// Longer than an honest station's.
    pub too_long: bool,
}

/// An access method. `Self` is what it keeps for the medium as a whole.
pub(crate) trait Access: Sized + Debug {
    /// What it keeps for each station.
    type Mac: Debug;

    /// How many timers each station has; a timer's number is its station's, times this, plus which of them it is.
    const TIMERS: usize;

    /// The method of a medium that is made from `config`, which [`Config::check`] has accepted.
    fn new(config: &Config) -> Self;

    /// Checks the method's own values against their ranges.
    fn check(config: &Config) -> Result<(), ConfigError>;

    /// The MAC of `station` before anything has happened.
    fn mac(config: &Config, station: StationId) -> Self::Mac;

    /// Whether the MAC takes `frame` from the host of a station with this `fault`, and as what.
    fn admit(&self, config: &Config, frame: Frame, fault: Option<Fault>) -> Result<Admitted, Cause>;

    /// Whether a station that has `queued` frames has no room for another.
    fn is_full(&self, config: &Config, queued: usize) -> bool {
        queued >= config.queue_limit
    }

    /// A frame has joined the queue of `station`.
    fn frame_ready<H: Host>(engine: &mut Engine<Self>, station: StationId, host: &mut H);

    /// Timer number `which` of `station` ends. Whoever is called sets it anew or stops it.
    fn timer_ends<H: Host>(engine: &mut Engine<Self>, station: StationId, which: usize, host: &mut H);

    /// Signals begin at the place of `station`, which listens.
    fn signals_begin<H: Host>(engine: &mut Engine<Self>, station: StationId, begun: Begun, host: &mut H) {
        let _ = (engine, station, begun, host);
    }

    /// Signals have ended at the place of `station`, which listens or sent one of them.
    fn signals_end<H: Host>(engine: &mut Engine<Self>, station: StationId, host: &mut H) {
        let _ = (engine, station, host);
    }

    /// Runs what the method has held back since nothing can come between it and now; whether there was anything.
    fn goes_on<H: Host>(engine: &mut Engine<Self>, host: &mut H) -> bool {
        let _ = (engine, host);
        false
    }

    /// Runs everything before `limit`, and with `timers_too` the ends of timers at it, in place of the engine's own loop;
    /// whether it did.
    fn runs<H: Host>(engine: &mut Engine<Self>, limit: BitInstant, timers_too: bool, host: &mut H) -> bool {
        let _ = (engine, limit, timers_too, host);
        false
    }

    /// When something is due next of what the method keeps outside the agenda.
    fn due(engine: &Engine<Self>) -> BitInstant {
        let _ = engine;
        NEVER
    }

    /// From now on some station does not hear what others hear.
    fn places_differ(engine: &mut Engine<Self>) {
        let _ = engine;
    }

    /// `station` has just been put back on the medium.
    fn attached<H: Host>(engine: &mut Engine<Self>, station: StationId, host: &mut H) {
        let _ = (engine, station, host);
    }

    /// `station` is told other settings of PLCA.
    fn set_plca<H: Host>(engine: &mut Engine<Self>, station: StationId, settings: PlcaSettings, host: &mut H) {
        let _ = (engine, station, settings, host);
    }

    /// The cable has just been cut, or mended.
    fn parted(engine: &mut Engine<Self>) {
        let _ = engine;
    }

    /// Whatever is counted starts from zero.
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
            engine.core.emit(place, frame, kind, host);
        }
    }

    /// What the station at `place`, to which the transmission `id` is addressed, makes of it as it ends there, if nothing
    /// but an event follows from it.
    fn verdict(core: &Core, place: StationId, id: TransmissionId) -> Option<Kind>;

    /// How long after its first bit has passed every place a transmission that has met nobody can still be met, if
    /// that is shorter than the transmission; `None`: to its end, since nobody detects anything.
    fn exposed(config: &Config) -> Option<BitTimes> {
        let _ = config;
        None
    }
}

/// What begins at a place at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    /// A signal of another station.
    pub other: bool,
    /// One that the station at the place is not deaf to.
    pub heard: bool,
    /// The station's own, where others may already be.
    pub own: bool,
}

/// A frame of `size` octets as it waits in a queue since `arrived`.
pub(crate) fn queued(serial: u64, frame: Frame, admitted: Admitted, arrived: BitInstant) -> Queued {
    let Admitted { size, too_long } = admitted;
    Queued { serial, size, destination: frame.destination, arrived, too_long }
}

/// What a MAC takes that pads short frames and sends no long one, whatever is wrong with its station.
pub(crate) fn admit_honest(config: &Config, frame: Frame) -> Result<Admitted, Cause> {
    let p = &config.parameters;
    if frame.size < HEADER_AND_FCS {
        return Err(Cause::TooShort);
    }
    if frame.size > p.frame_size_limit(frame.tagged) {
        return Err(Cause::TooLong);
    }
    Ok(Admitted { size: frame.size.max(p.min_frame_size), too_long: false })
}
