//! Pure ALOHA: a frame goes out at once, whoever else sends; what overlapped at its addressee waits some frame times and
//! goes out again (Abramson 1970).
//!
//! ```text
//!         frame    one way     the way back and ack_delay    r frame times
//!   ready |=======|----------|-----------------------------|---------------|=======|
//!         └ attempt          └ passes its addressee        └ known: transmitted, or collision and backoff
//! ```
//! Nobody listens: whoever sends learns what became of it from an acknowledgement, which takes nothing of the medium.
//! Who contends, and how a sender waits and tries again, is in `contenders`.

use super::contenders::{self, Contender, Contenders, Contends, Population, State};
use super::{Access, Admitted};
use crate::config::{Config, ConfigError, Method, in_range, rule};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::frame::{Frame, StationId, TransmissionId};
use crate::inputs::{Fault, Host};
use crate::line::Transmission;
use crate::rules::packet;
use crate::time::{BitTimes, Octets};
use backoff::{Generator, Policy};
use std::num::NonZeroU32;

/// What pure ALOHA needs beside the frame sizes of [`Parameters`](crate::Parameters).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aloha {
    /// A frame time: what a slot of the policy takes, and a unit of `ack_delay`.
    pub slot: BitTimes,
    /// After how many frame times beyond a round trip a sender knows what became of a frame.
    pub ack_delay: u32,
    /// A sender waits as long to learn that its frame arrived, and holds its station's next frame until then. Without it the
    /// delay is that of bad news alone, as in Lam's chain: whose frame arrived may send again at once.
    pub holds_sender: bool,
    /// How many frame times to wait after the n-th unsuccessful attempt; of
    /// [`SlottedAloha::SLOT`](crate::SlottedAloha::SLOT) each. Its attempt limit and its limit of time are not used.
    pub backoff: Policy,
    /// Attempts per frame, the first included; `None`: until it gets through.
    pub attempt_limit: Option<NonZeroU32>,
    /// Who sends.
    pub population: Population,
}

impl Aloha {
    /// A frame of `size` octets as the frame time; retransmission after 0 to 19 frame times, known after a round trip, no
    /// attempt limit, and the stations as senders.
    pub fn new(size: Octets) -> Aloha {
        Aloha {
            slot: packet(size),
            ack_delay: 0,
            holds_sender: true,
            backoff: Policy::aloha_uniform(crate::SlottedAloha::SLOT, 20),
            attempt_limit: None,
            population: Population::Stations,
        }
    }
}

/// What the engine keeps.
#[derive(Debug)]
pub(crate) struct PureAloha {
    known: contenders::Known,
    contenders: Contenders,
}

/// A station's part: where its draws come from.
#[derive(Debug)]
pub(crate) struct Mac {
    generator: Generator,
}

/// The method's own part of the configuration.
fn own(config: &Config) -> &Aloha {
    match &config.method {
        Method::Aloha(own) => own,
        Method::CsmaCd | Method::Plca(_) | Method::SlottedAloha(_) | Method::Csma(_) | Method::CsmaCa(_) => {
            panic!("another method's configuration made a medium of ALOHA")
        }
    }
}

impl Access for PureAloha {
    type Mac = Mac;

    const TIMERS: usize = 1;

    fn new(config: &Config) -> PureAloha {
        let Aloha { slot, ack_delay, holds_sender, backoff, attempt_limit, population } = own(config);
        PureAloha {
            known: contenders::Known::new(config.topology.round_trip(), *slot * u64::from(*ack_delay), *holds_sender),
            contenders: Contenders::new(*slot, backoff, *attempt_limit, *population),
        }
    }

    fn check(config: &Config) -> Result<(), ConfigError> {
        rule(in_range(own(config).slot.get()), "slot", "1 to 2^31 BT")
    }

    fn mac(config: &Config, station: StationId) -> Mac {
        Mac { generator: Generator::stream(config.seed, station.index() as u64) }
    }

    fn admit(&self, config: &Config, frame: Frame, _: Option<Fault>) -> Result<Admitted, Cause> {
        super::admit_honest(config, frame)
    }

    fn is_full(&self, config: &Config, queued: usize) -> bool {
        !self.contenders.infinite && queued >= config.queue_limit
    }

    fn frame_ready<H: Host>(engine: &mut Engine<PureAloha>, station: StationId, host: &mut H) {
        if let Some(index) = engine.next_contender(station) {
            engine.attempt(index, host);
            engine.await_due();
        }
    }

    fn timer_ends<H: Host>(engine: &mut Engine<PureAloha>, _: StationId, _: usize, host: &mut H) {
        let now = engine.core.instant;
        while let Some(index) = engine.method.contenders.take_due(now) {
            match engine.contender(index).state {
                State::Waiting => engine.attempt(index, host),
                State::Passing(id) => engine.passed(index, id, host),
                State::Unknown(fate) => engine.learn(index, fate, host),
                State::Sensing | State::Counting | State::Sending(_) | State::Gone => {
                    panic!("nobody listens, and what is sent is not looked at before it has passed")
                }
            }
        }
        engine.await_due();
    }

    fn detached<H: Host>(engine: &mut Engine<PureAloha>, station: StationId, host: &mut H) {
        engine.abandon(station, host);
    }

    fn verdict(core: &Core, place: StationId, id: TransmissionId) -> Option<Kind> {
        Some(contenders::verdict(core, place, id))
    }
}

impl Contends for PureAloha {
    #[inline]
    fn contenders(&mut self) -> &mut Contenders {
        &mut self.contenders
    }

    fn generator(mac: &mut Mac) -> &mut Generator {
        &mut mac.generator
    }

    fn ready<H: Host>(engine: &mut Engine<PureAloha>, index: usize, host: &mut H) {
        engine.attempt(index, host);
    }
}

impl Engine<PureAloha> {
    fn attempt<H: Host>(&mut self, index: usize, host: &mut H) {
        let now = self.core.instant;
        let worth = self.emit_attempt(index, host);
        let Contender { frame, head, .. } = *self.contender(index);
        let end = now + packet(head.size);
        let id = self.core.send_whole(Transmission::whole(frame, &head, now, end, worth));
        let passed = end + self.way(id);
        self.method.contenders.expect(now, index, passed, State::Passing(id));
    }

    /// The frame has passed its addressee: what became of it is certain, and its sender will know.
    fn passed<H: Host>(&mut self, index: usize, id: TransmissionId, host: &mut H) {
        let sent = self.core.line.get(id);
        let end = sent.begin + packet(sent.size);
        let fate = self.judge(id, end);
        self.acknowledge(index, fate, self.method.known.after(end, fate.arrived), host);
    }
}
