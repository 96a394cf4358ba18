//! The life of one frame as data: each step with what it took place among, each attempt with the signals that it met.

use super::emulated::Emulated;
use super::plca::OnSegment;
use super::scene::Scene;
use crate::scene::Signal;
use crate::words::sentences::{self, frame_name};
use medium::{
    BitInstant, BitTimes, Carried, Config, Destination, Event, Fault, FrameId, Input, Kind, Place, StationId,
};
use std::num::NonZeroU32;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// For each station a truth.
pub(super) type Each = Arc<[bool]>;

/// A signal under its number in the scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub number: u64,
    pub signal: Signal,
}

impl Sent {
    pub fn new((number, signal): (u64, &Signal)) -> Sent {
        Sent { number, signal: signal.clone() }
    }
}

impl Deref for Sent {
    type Target = Signal;
    fn deref(&self) -> &Signal {
        &self.signal
    }
}

impl DerefMut for Sent {
    fn deref_mut(&mut self) -> &mut Signal {
        &mut self.signal
    }
}

/// What a step took place among.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    /// Nothing else matters.
    Alone,
    /// This many frames of its own station were before it in the queue.
    Behind(u64),
    /// Carrier sense: the station heard these signals, or had until less than a gap ago; others were there that it does
    /// not hear.
    Hears { heard: Vec<Sent>, missed: Vec<Sent> },
    /// The sender noticed these signals.
    Meets(Vec<Sent>),
    /// What was received of `packet`, unless that began before the trace, was spoilt by these signals, or by none.
    /// `noise`: the fault of the receiver that makes bits wrong there.
    Receives { packet: Option<Sent>, spoilt_by: Vec<Sent>, noise: Option<Fault> },
    /// Without collision detection: signals of others at the station's place, or on their way there; what the station
    /// heard while it counted down; since when the place was silent and the frame could have gone out.
    Around { signals: Vec<Sent>, wait: Option<Wait>, free: BitInstant },
    /// PLCA: plca_status of its station.
    Status { ok: bool },
}

/// What a step is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Event(Event),
    /// This was done to the medium or to a station; if it is a cut, these stations are on its far side.
    Input(Input, Option<Each>),
    /// The frame came to the head of its queue, since this one left it.
    After(FrameId),
    /// These stations, which the frame is for, receive nothing of it.
    Unheard(Vec<StationId>, Unheard),
}

/// Why a station receives nothing of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unheard {
    /// The cable was cut in between as it began.
    Cut,
    /// The station was off the medium as the last bit came.
    Detached,
}

/// One step.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub at: BitInstant,
    pub what: What,
    pub setting: Setting,
}

impl Step {
    pub fn event(&self) -> Option<&Event> {
        if let What::Event(event) = &self.what { Some(event) } else { None }
    }

    pub fn kind(&self) -> Option<&Kind> {
        self.event().map(|event| &event.kind)
    }

    /// What traces and JSON call it.
    pub fn name(&self) -> &'static str {
        match &self.what {
            What::Event(event) => event.kind.name(),
            What::Input(..) => "input",
            What::After(_) => "head",
            What::Unheard(..) => "unheard",
        }
    }
}

/// A wait of this many slots, and the signals of others meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wait {
    pub from: BitInstant,
    pub to: BitInstant,
    /// None before the first draw.
    pub slots: Option<u64>,
    /// Each with the single station that it is for.
    pub heard: Vec<(Sent, Option<StationId>)>,
}

/// A signal that met an attempt.
#[derive(Clone, Debug)]
pub(super) struct Other {
    pub sent: Sent,
    /// Its sender learnt that it was lost.
    pub lost: bool,
}

/// Two signals met where that matters to the sender of the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Met {
    /// Which part of the attempt.
    pub part: usize,
    /// Which of the others.
    pub other: usize,
    pub place: StationId,
}

/// An attempt: what was sent of the frame and about it, and what met that.
#[derive(Clone, Debug)]
pub(super) struct Try {
    pub attempt: u32,
    pub parts: Vec<Sent>,
    pub others: Vec<Other>,
    /// Without collision detection: who met what where, in order of time.
    pub met: Vec<Met>,
}

/// The life of one frame.
#[derive(Debug)]
pub struct Story {
    pub(super) frame: FrameId,
    /// What the run is called.
    pub(super) run: String,
    pub(super) names: Vec<String>,
    pub(super) config: Arc<Config>,
    /// The station or stations that it is for, if the trace says so.
    pub(super) destination: Option<Destination>,
    /// The fault of its station, and the place of the cut, when the trace first names the frame.
    pub(super) fault: Option<Fault>,
    pub(super) cut: Option<Place>,
    pub(super) steps: Vec<Step>,
    pub(super) tries: Vec<Try>,
    /// What the emulator did to it.
    pub(super) emulated: Emulated,
    /// When the MAC was done with it.
    pub(super) end: Option<BitInstant>,
    /// How far the trace was read.
    pub(super) read_to: BitInstant,
    /// The trace ends within a line.
    pub(super) cut_short: Option<String>,
    /// From when on the trace has everything.
    pub(super) kept_from: BitInstant,
    /// Its segment, if that has PLCA.
    pub(super) segment: Option<OnSegment>,
}

impl Story {
    /// Of a frame that the trace names for the first time.
    pub(super) fn new(frame: FrameId, names: Vec<String>, scene: &Scene) -> Story {
        Story {
            frame,
            run: String::new(),
            names,
            config: scene.config.clone(),
            destination: None,
            fault: scene.signals.fault(frame.station),
            cut: scene.cut,
            steps: Vec::new(),
            tries: Vec::new(),
            emulated: Emulated::default(),
            end: None,
            read_to: scene.now,
            cut_short: None,
            kept_from: BitInstant::ZERO,
            segment: None,
        }
    }

    /// The signals that were sent of the frame and about it, in order of begin.
    pub fn signals(&self) -> impl Iterator<Item = &Signal> {
        self.tries.iter().flat_map(|one| &one.parts).map(|sent| &sent.signal)
    }

    /// The signals that met them.
    pub fn others(&self) -> impl Iterator<Item = &Signal> {
        self.tries.iter().flat_map(|one| &one.others).map(|other| &other.sent.signal)
    }

    pub(super) fn name(&self, frame: FrameId) -> String {
        frame_name(&self.names, frame)
    }

    pub(super) fn station(&self, station: StationId) -> &str {
        &self.names[station.index()]
    }

    /// The frame's own station.
    pub(super) fn own(&self) -> &str {
        self.station(self.frame.station)
    }

    /// A signal as sentences call it: `st1#2`, or `the ACK of st1#2`.
    pub(super) fn signal_name(&self, signal: &Signal) -> String {
        match signal.what {
            Carried::Frame => self.name(signal.frame),
            _ => format!("the {} of {}", signal.name(), self.name(signal.frame)),
        }
    }

    /// In bit times and in real time.
    pub(super) fn span(&self, span: BitTimes) -> String {
        sentences::span(span, self.config.rate)
    }

    /// After the number of an attempt: how many there are at most, if the method has a limit.
    pub(super) fn of_limit(&self) -> String {
        let limit = |limit: NonZeroU32| sentences::ATTEMPT_OF.replace("{limit}", &limit.to_string());
        self.config.attempt_limit().map_or_else(String::new, limit)
    }

    /// The attempt with this number.
    pub(super) fn the_try(&self, attempt: u32) -> Option<&Try> {
        self.tries.iter().find(|one| one.attempt == attempt)
    }

    /// Steps of this kind.
    pub(super) fn count(&self, is: impl Fn(&Kind) -> bool) -> usize {
        self.steps.iter().filter_map(Step::kind).filter(|kind| is(kind)).count()
    }

    /// From the first step to where the trace ends.
    pub(super) fn lived(&self) -> BitTimes {
        self.steps.first().map_or(BitTimes::ZERO, |step| self.read_to.since(step.at))
    }
}

impl Try {
    /// What was sent first.
    pub fn own(&self) -> Option<&Sent> {
        self.parts.first()
    }

    /// Its sender noticed a collision, or learnt of it.
    pub fn is_collided(&self) -> bool {
        self.own().is_some_and(|own| own.collision.is_some())
    }

    /// All that was sent of it and all that met it, each signal once.
    pub fn signals(&self) -> impl Iterator<Item = &Signal> {
        self.parts.iter().chain(self.others.iter().map(|other| &other.sent)).map(|sent| &sent.signal)
    }
}
