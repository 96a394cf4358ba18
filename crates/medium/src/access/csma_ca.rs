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
//! `air` has the signals at each place, `listening` what a waiting station concludes from
//! them, `waiting` how it waits, `table` its steps, and `exchange` who sends what and when. Where all stations hear the same, `one_place`
//! has one countdown for all of them.

mod air;
mod exchange;
mod listening;
mod one_place;
mod table;
mod waiting;

use super::{Access, Admitted, FastPath};
use crate::config::{Config, CsmaCa, Spans};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::fault::Fault;
use crate::frame::{Frame, FrameId, Queued, StationId, TransmissionId};
use crate::inputs::Host;
use crate::time::{BitInstant, BitTimes, Octets};
use air::{Air, Arrival, Content};
use backoff::Generator;
use listening::Listening;
use one_place::{OnePlace, Stand};

pub use table::{DcfPhase, DcfStep};

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

impl Access for Dcf {
    type Mac = Mac;

    const TIMERS: usize = 2;

    fn new(config: &Config) -> Dcf {
        let own = config.csma_ca().clone();
        let spans = own.phy.spans();
        let longest = |span| config.slowest_clock().longest(span);
        let longest_wait = longest(spans.eifs + spans.slot * u64::from(own.most_window) + spans.timeout);
        let air = Air::new(&config.topology, &own, longest(spans.eifs), longest_wait);
        let here = OnePlace::new(config, spans);
        let shortest = spans.ack.min(spans.cts).min(own.phy.frame_time(Octets::new(0)));
        Dcf { alike: !air.has_hidden(), here, own, spans, shortest, air, episodes: 0, room: Vec::new() }
    }

    fn mac(config: &Config, station: StationId) -> Mac {
        Mac {
            generator: Generator::stream(config.seed, station.index() as u64),
            state: State::Idle,
            turn: None,
            window: config.csma_ca().window,
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
            State::Telling => engine.succeed(station, DcfStep::GroupFrameEnds, host),
            State::Idle => panic!("nothing is due for {station}, which is idle"),
        }
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

impl FastPath for Dcf {
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
}
