//! Pure ALOHA: a frame goes out at once, without listening. A frame that met another at its addressee waits some frame
//! times and goes out again (Abramson 1970).
//!
//! ```text
//!         frame    one way     the way back and ack_delay    r frame times
//!   ready |=======|----------|-----------------------------|---------------|=======|
//!         └ attempt          └ passes its addressee        └ known: transmitted, or collision and backoff
//! ```
//! No station listens. A sender learns the fate of its frame from an acknowledgement, which takes nothing of the medium.
//! Contending stations, waits and further attempts are in `contenders`.

use super::contenders::{self, Contender, Contenders, Contends, State};
use super::{Access, Admitted, FastPath};
use crate::config::{Aloha, Config};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::fault::Fault;
use crate::frame::{Frame, StationId, TransmissionId};
use crate::inputs::Host;
use crate::line::Transmission;
use crate::rules::packet;
use backoff::Generator;

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

impl Access for PureAloha {
    type Mac = Mac;

    const TIMERS: usize = 1;

    fn new(config: &Config) -> PureAloha {
        let Aloha { slot, ack_delay, holds_sender, backoff, capture: _, attempt_limit, population } = config.aloha();
        PureAloha {
            known: contenders::Known::new(config.topology.round_trip(), *slot * u64::from(*ack_delay), *holds_sender),
            contenders: Contenders::new(*slot, backoff, *attempt_limit, *population),
        }
    }

    fn mac(config: &Config, station: StationId) -> Mac {
        Mac { generator: Generator::stream(config.seed, station.index() as u64) }
    }

    fn admit(&self, config: &Config, frame: Frame, _: Option<Fault>) -> Result<Admitted, Cause> {
        super::admit_honest(config, frame)
    }

    fn is_full(&self, config: &Config, queued: usize) -> bool {
        self.contenders.is_full(config, queued)
    }

    fn frame_ready<H: Host>(engine: &mut Engine<PureAloha>, station: StationId, host: &mut H) {
        if let Some(index) = engine.next_contender(station) {
            engine.attempt(index, host);
            engine.await_due();
        }
    }

    fn timer_ends<H: Host>(engine: &mut Engine<PureAloha>, _: StationId, _: usize, host: &mut H) {
        engine.act_unheard(Engine::passed, host);
    }

    fn detached<H: Host>(engine: &mut Engine<PureAloha>, station: StationId, host: &mut H) {
        engine.abandon(station, host);
    }

    fn verdict(core: &Core, place: StationId, id: TransmissionId) -> Option<Kind> {
        Some(contenders::verdict(core, place, id))
    }
}

impl FastPath for PureAloha {}

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

    /// The frame has passed its addressee: its fate is certain, and its sender will learn it.
    fn passed<H: Host>(&mut self, index: usize, id: TransmissionId, host: &mut H) {
        let sent = self.core.line.get(id);
        let end = sent.begin + packet(sent.size);
        let fate = self.judge(id, end);
        self.acknowledge(index, fate, self.method.known.after(end, fate.arrived), host);
    }
}
