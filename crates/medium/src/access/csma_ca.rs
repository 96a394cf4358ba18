//! CSMA/CA: the distributed coordination function of IEEE 802.11 (clause 10.3), one frame after the other.
//!
//! ```text
//!   A  ▸|DIFS|slots|== RTS ==|                  |==== frame ====|            |DIFS|slots|…
//!   B                         |SIFS|== CTS ==|SIFS|             |SIFS|= ACK =|
//!   others                    |~~~~~~~~~~~~ NAV after the RTS ~~~~~~~~~~~~~~~|DIFS|slots|…
//! ```
//! A station whose frame finds the medium silent for a DIFS sends it at once; any other waits a number of slots that it
//! draws, which stand still while the medium is busy or reserved. A sender that gets no answer draws again from twice as
//! many, until its frame has failed too often. Nobody detects collisions. Without RTS, the frame itself comes first.
//!
//! How long signals last is in `phy`, which of them are where in `air`, what a waiting station makes of it in
//! `listening`, how it waits in `waiting`, and who sends what when in `exchange`. Where all stations hear the same,
//! `one_place` has one countdown for all of them.

mod air;
mod exchange;
mod listening;
mod one_place;
mod phy;
mod waiting;

use super::{Access, Admitted};
use crate::config::{Config, ConfigError, Method, rule};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::frame::{Frame, FrameId, Queued, StationId, TransmissionId};
use crate::inputs::{Fault, Host};
use crate::time::{BitInstant, BitTimes, Octets};
pub use air::Reach;
use air::{Air, Arrival, Content};
use backoff::Generator;
use listening::Listening;
use one_place::{OnePlace, Stand};
pub use phy::{OfdmRate, Phy, Spans};
use std::num::NonZeroU32;

/// What CSMA/CA needs beside the frame sizes of [`Parameters`](crate::Parameters). The medium's rate is the layer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsmaCa {
    /// How long signals and pauses are.
    pub phy: Phy,
    /// RTS and CTS come before each frame for one station.
    pub rts: bool,
    /// CWmin + 1: from how many numbers of slots the first draw of a frame chooses.
    pub window: u32,
    /// CWmax + 1: the most that any draw chooses from.
    pub most_window: u32,
    /// Attempts of a frame that get no CTS, or, without RTS, no ACK (dot11ShortRetryLimit).
    pub short_retry_limit: NonZeroU32,
    /// Attempts of a frame that get a CTS and no ACK (dot11LongRetryLimit).
    pub long_retry_limit: NonZeroU32,
    /// Who is hidden from whom; `None`: nobody from anybody.
    pub reach: Option<Reach>,
    /// A frame time, for whoever counts in frame times: what the longest frame that is offered takes.
    pub frame_time: BitTimes,
}

impl CsmaCa {
    /// The standard's windows and retry limits for `phy`, no RTS, everybody in range, and a frame of `size` octets as the
    /// frame time.
    pub fn new(phy: Phy, size: Octets) -> CsmaCa {
        let (window, most_window) = phy.window();
        CsmaCa {
            phy,
            rts: false,
            window,
            most_window,
            short_retry_limit: NonZeroU32::new(7).expect("above zero"),
            long_retry_limit: NonZeroU32::new(4).expect("above zero"),
            reach: None,
            frame_time: phy.frame_time(size),
        }
    }

    /// The most attempts that a frame can have.
    pub(crate) fn attempt_limit(&self) -> Option<NonZeroU32> {
        let long = if self.rts { self.long_retry_limit.get() - 1 } else { 0 };
        NonZeroU32::new(self.short_retry_limit.get().saturating_add(long))
    }
}

/// What the engine keeps.
#[derive(Debug)]
pub(crate) struct Dcf {
    own: CsmaCa,
    spans: Spans,
    /// No signal is shorter.
    shortest: BitTimes,
    air: Air,
    /// Everybody hears all signals, and always has.
    alike: bool,
    /// The medium as everybody hears it, as long as all places are one.
    here: OnePlace,
    /// Collisions so far.
    episodes: u64,
    /// Room for what a station hears, kept to save the allocation.
    room: Vec<Arrival>,
}

/// A station's part.
#[derive(Debug)]
pub(crate) struct Mac {
    generator: Generator,
    state: State,
    /// The frame that is at its turn.
    turn: Option<Turn>,
    /// From how many numbers of slots the next draw chooses: CW + 1.
    window: u32,
    /// While it waits: what it has heard, and how many slots are left.
    listening: Listening,
    /// While it waits and all places are one.
    stand: Stand,
    /// What it sends a SIFS after it has received something.
    answer: Option<Answer>,
    /// It sends up to here.
    sends_until: BitInstant,
}

/// What a station is at. What it answers to others goes on beside it.
#[derive(Clone, Copy, Debug)]
enum State {
    /// It has no frame, and the slots after the last one are over.
    Idle,
    /// For its gap and slots, with a frame or, after the last one, without.
    Waiting,
    /// Its RTS or its frame is on its way, or sent, and no answer has come so far.
    Asking(Question),
    /// It has got a CTS, and will send a SIFS later.
    Granted,
    /// It sends what nobody answers.
    Telling,
}

/// What a sender waits for.
#[derive(Clone, Copy, Debug)]
struct Question {
    sent: TransmissionId,
    answer: Content,
    /// The answer has to begin here by then.
    by: BitInstant,
    /// The answer that has begun in time.
    coming: Option<TransmissionId>,
}

/// A frame at its turn.
#[derive(Clone, Copy, Debug)]
struct Turn {
    frame: FrameId,
    head: Queued,
    /// Since when it has been at its turn.
    since: BitInstant,
    attempts: u32,
    /// When the last attempt began.
    began: BitInstant,
    /// Attempts without CTS, or without ACK if no CTS was asked for.
    short_retries: u32,
    /// Attempts with CTS and without ACK.
    long_retries: u32,
    deferred: bool,
    /// Its addressee has it.
    arrived: bool,
}

/// What a station sends a SIFS after it has received something.
#[derive(Clone, Copy, Debug)]
struct Answer {
    content: Content,
    to: StationId,
    about: FrameId,
    reserves: BitTimes,
}

/// A station's timers.
const WAIT: usize = 0;
const ANSWER: usize = 1;

/// The largest window: that of a counter of 16 bit.
const MOST_WINDOW: u32 = 1 << 16;

/// The method's own part of the configuration.
fn own(config: &Config) -> &CsmaCa {
    match &config.method {
        Method::CsmaCa(own) => own,
        Method::CsmaCd | Method::Plca(_) | Method::SlottedAloha(_) | Method::Aloha(_) | Method::Csma(_) => {
            panic!("another method's configuration made a medium of CSMA/CA")
        }
    }
}

/// The longest way between stations that hear each other.
fn longest_heard(config: &Config) -> BitTimes {
    let topology = &config.topology;
    let Some(reach) = &own(config).reach else { return BitTimes::new(topology.round_trip().get() / 2) };
    let all = || (0..topology.stations() as u16).map(StationId::new);
    let pairs = all().flat_map(|a| all().map(move |b| (a, b))).filter(|&(a, b)| reach.joins(a, b));
    pairs.map(|(a, b)| topology.distance(a, b)).max().unwrap_or(BitTimes::ZERO)
}

impl Access for Dcf {
    type Mac = Mac;

    const TIMERS: usize = 2;

    fn new(config: &Config) -> Dcf {
        let own = own(config).clone();
        let spans = own.phy.spans();
        let longest_wait = spans.eifs + spans.slot * u64::from(own.most_window) + spans.timeout;
        let air = Air::new(&config.topology, own.reach.as_ref(), spans.eifs, longest_wait);
        let here = OnePlace::new(config, spans);
        let shortest = spans.ack.min(spans.cts).min(own.phy.frame_time(Octets::new(0)));
        Dcf { alike: !air.has_hidden(), here, own, spans, shortest, air, episodes: 0, room: Vec::new() }
    }

    fn check(config: &Config) -> Result<(), ConfigError> {
        let CsmaCa { phy, window, most_window, reach, .. } = own(config);
        let placed = reach.as_ref().is_none_or(|reach| reach.positions.len() == config.topology.stations());
        rule(placed, "reach", "a position for each station")?;
        rule(config.rate == phy.rate(), "rate", "that of the physical layer: leave it out, or choose another `phy`")?;
        rule((1..=MOST_WINDOW).contains(window), "window", "1 to 65536 slots")?;
        rule((*window..=MOST_WINDOW).contains(most_window), "window", "the second number is the largest")?;
        rule(
            listening::fits(longest_heard(config), &phy.spans()),
            "distance",
            "there and back in less than a slot, within the range",
        )
    }

    fn mac(config: &Config, station: StationId) -> Mac {
        Mac {
            generator: Generator::stream(config.seed, station.index() as u64),
            state: State::Idle,
            turn: None,
            window: own(config).window,
            listening: Listening::IDLE,
            stand: Stand::default(),
            answer: None,
            sends_until: BitInstant::ZERO,
        }
    }

    fn admit(&self, config: &Config, frame: Frame, _: Option<Fault>) -> Result<Admitted, Cause> {
        super::admit_honest(config, frame)
    }

    fn frame_ready<H: Host>(engine: &mut Engine<Dcf>, station: StationId, host: &mut H) {
        match engine.station(station).mac.state {
            State::Idle => engine.first_turn(station, host),
            State::Waiting if engine.station(station).mac.turn.is_none() => engine.turn_while_waiting(station, host),
            State::Waiting | State::Asking(_) | State::Granted | State::Telling => {}
        }
    }

    fn timer_ends<H: Host>(engine: &mut Engine<Dcf>, station: StationId, which: usize, host: &mut H) {
        if which == ANSWER {
            return engine.answer(station, host);
        }
        match engine.station(station).mac.state {
            State::Waiting => engine.look(station, host),
            State::Asking(question) => engine.hear_answer(station, question, host),
            State::Granted => engine.use_grant(station, host),
            State::Telling => engine.succeed(station, host),
            State::Idle => panic!("nothing is due for {station}, which is idle"),
        }
    }

    fn runs<H: Host>(engine: &mut Engine<Dcf>, limit: BitInstant, timers_too: bool, host: &mut H) -> bool {
        let holds = engine.method.here.holds();
        if holds {
            engine.run_in_one_place(limit, timers_too, host);
        }
        holds
    }

    fn due(engine: &Engine<Dcf>) -> BitInstant {
        engine.method.here.due()
    }

    fn places_differ(engine: &mut Engine<Dcf>) {
        engine.leave_one_place();
        engine.method.alike = false;
    }

    fn detached<H: Host>(engine: &mut Engine<Dcf>, station: StationId, host: &mut H) {
        engine.leave(station, host);
    }

    fn receives<H: Host>(engine: &mut Engine<Dcf>, place: StationId, id: TransmissionId, host: &mut H) {
        engine.receive_signal(place, id, host);
    }

    fn verdict(_: &Core, _: StationId, _: TransmissionId) -> Option<Kind> {
        None
    }
}
