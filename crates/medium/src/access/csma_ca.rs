//! CSMA/CA: the distributed coordination function of IEEE 802.11 (clause 10.3), one frame after the other.
//!
//! ```text
//!   A  ▸|DIFS|slots|== RTS ==|                  |==== frame ====|            |DIFS|slots|…
//!   B                         |SIFS|== CTS ==|SIFS|             |SIFS|= ACK =|
//!   others                    |~~~~~~~~~~~~ NAV after the RTS ~~~~~~~~~~~~~~~|DIFS|slots|…
//! ```
//! A station whose frame finds the medium silent for a DIFS sends it at once. Any other waits for a number of slots
//! that it draws; the countdown stops while the medium is busy or reserved. A sender without an answer draws again from
//! twice as many slots, until its frame has failed too often. No station detects collisions. Without RTS, the frame
//! itself comes first.
//!
//! `phy` has the lengths of signals, `air` the signals at each place, `listening` what a waiting station concludes from
//! them, `waiting` how it waits, and `exchange` who sends what and when. Where all stations hear the same, `one_place`
//! has one countdown for all of them.

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

/// What CSMA/CA needs beside the frame sizes of [`Parameters`](crate::Parameters). The rate of the medium is the
/// layer's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CsmaCa {
    /// The lengths of signals and pauses.
    pub phy: Phy,
    /// RTS and CTS precede each frame that is for one station.
    pub rts: bool,
    /// CWmin + 1: the number of values that the first draw of a frame chooses from.
    pub window: u32,
    /// CWmax + 1: the largest number of values that a draw chooses from.
    pub most_window: u32,
    /// The limit of attempts of a frame that get no CTS, or, without RTS, no ACK (dot11ShortRetryLimit).
    pub short_retry_limit: NonZeroU32,
    /// The limit of attempts of a frame that get a CTS and no ACK (dot11LongRetryLimit).
    pub long_retry_limit: NonZeroU32,
    /// Which stations are hidden from each other; `None`: no station is hidden.
    pub reach: Option<Reach>,
    /// A frame time, for rules that count in frame times: the duration of the longest frame offered.
    pub frame_time: BitTimes,
}

impl CsmaCa {
    /// The standard's windows and retry limits for `phy`, no RTS, all stations in range, and a frame of `size` octets
    /// as the frame time.
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

/// The method's state for the medium.
#[derive(Debug)]
pub(crate) struct Dcf {
    own: CsmaCa,
    spans: Spans,
    /// No signal is shorter.
    shortest: BitTimes,
    air: Air,
    /// All stations hear all signals, and always have.
    alike: bool,
    /// The state that all stations share, while all places are one.
    here: OnePlace,
    /// Collisions so far.
    episodes: u64,
    /// Room for the signals that a station hears, kept to save the allocation.
    room: Vec<Arrival>,
}

/// A station's part.
#[derive(Debug)]
pub(crate) struct Mac {
    generator: Generator,
    state: State,
    /// The frame whose turn it is.
    turn: Option<Turn>,
    /// The number of values that the next draw chooses from: CW + 1.
    window: u32,
    /// While it waits: what it has heard, and the remaining slots.
    listening: Listening,
    /// While it waits and all places are one.
    stand: Stand,
    /// What it will send a SIFS after the signal that it received.
    answer: Option<Answer>,
    /// The end of its own signal.
    sends_until: BitInstant,
}

/// The state of a station. It answers other stations independently of it.
#[derive(Clone, Copy, Debug)]
enum State {
    /// It has no frame, and the slots after the last one are over.
    Idle,
    /// It waits for its gap and slots, with a frame or, after the last one, without.
    Waiting,
    /// It is sending its RTS or its frame, or has sent it, and waits for the answer.
    Asking(Question),
    /// It has got a CTS, and will send its frame a SIFS later.
    Granted,
    /// It sends a frame that gets no answer.
    Telling,
}

/// The answer that a sender waits for.
#[derive(Clone, Copy, Debug)]
struct Question {
    sent: TransmissionId,
    answer: Content,
    /// The instant by which the answer must begin here.
    by: BitInstant,
    /// The answer that has begun by then.
    coming: Option<TransmissionId>,
}

/// A frame at its turn.
#[derive(Clone, Copy, Debug)]
struct Turn {
    frame: FrameId,
    head: Queued,
    /// Since when it has its turn.
    since: BitInstant,
    attempts: u32,
    /// When the last attempt began.
    began: BitInstant,
    /// Attempts without CTS, or without ACK if no RTS was sent.
    short_retries: u32,
    /// Attempts with CTS and without ACK.
    long_retries: u32,
    deferred: bool,
    /// Its addressee has it.
    arrived: bool,
}

/// What a station sends a SIFS after a signal that it received.
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

/// The largest window: that of a counter of 16 bits.
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

/// The longest way between two stations in range.
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
            engine.run_path::<OnePlace, H>(limit, timers_too, host);
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
