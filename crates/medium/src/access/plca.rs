//! PLCA: the reconciliation sublayer of 10BASE-T1S (802.3, clause 148) under the MAC of CSMA/CD.
//!
//! The MAC is that of [`csma_cd`](super::csma_cd), unchanged. Carrier and collision are what it is *told*: by the line where
//! PLCA is off or plca_status is FAIL, and by the data machine where it is on. A bus may mix both.
//!
//! ```text
//!   |BEACON 20|turn of 0: 32|turn of 1: COMMIT, frame|turn of 2: 32| … |turn of n − 1|BEACON| …
//! ```
//! [`tables`] has the three machines of a node, `node` their variables and timers, `wire` what is on the line, `watch` what
//! the MAC makes of carrier, `acts` what MAC and machines do to each other, `run` the loop, and `one_place` the shorter way
//! through all this while every node is right. **What is empty is arithmetic:** a node does not step through turns that
//! pass, and a bus on which nothing happens does not step through cycles.
//!
//! Knows nothing of deafness: with PLCA, [`Fault::Deaf`](crate::Fault::Deaf) has no effect.

mod acts;
mod counters;
mod cycles;
mod node;
mod one_place;
mod run;
mod settings;
mod tables;
mod watch;
mod wire;

pub use counters::PlcaCounters;
pub use cycles::PlcaCycles;
pub use settings::{Plca, PlcaNode, PlcaSettings};
pub use tables::{Control as PlcaControl, Data as PlcaData, Status as PlcaStatus};

use super::csma_cd::{Mac, admit};
use super::{Access, Admitted};
use crate::config::{Config, ConfigError, Method};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::frame::{Frame, StationId, TransmissionId};
use crate::inputs::{Fault, Host};
use crate::time::{BitInstant, BitTimes};
use crate::timers::NEVER;
use cycles::Cycles;
use node::Node;
use one_place::{Apart, OnePlace};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use watch::Watch;
use wire::Wire;

/// What a station has with PLCA: its MAC, its node, and what they have on the line.
#[derive(Debug)]
pub(crate) struct Own {
    mac: Mac,
    node: Node,
    counters: PlcaCounters,
    watch: Watch,
    /// When the MAC's timer ends: of the state that its transmit machine is in.
    mac_at: BitInstant,
    /// The host has not handed the frame at the head over yet.
    handing_over: bool,
    /// What it sends.
    piece: Option<u64>,
    /// The first bit of the frame that it sends, on the line; with what the MAC sent and PLCA lost, when the MAC began.
    line_begin: BitInstant,
    /// It was sent with PLCA, which has ESD follow it.
    delimited: bool,
    /// The carrier that the MAC is told may have changed.
    changed: bool,
    /// What it has of its own while one follower stands for all nodes.
    apart: Apart,
}

/// What PLCA keeps for the medium as a whole.
#[derive(Debug)]
pub(crate) struct Reconciliation {
    plca: Plca,
    wire: Wire,
    here: OnePlace,
    /// When something happens next at each station by itself.
    next: Box<[BitInstant]>,
    /// Stations whose carrier may have changed in this instant.
    changed: Vec<StationId>,
    /// Frames whose outputs may be settled.
    settled: BinaryHeap<Reverse<(BitInstant, StationId, u64)>>,
    /// Timers are being run: turns that begin at this instant have not begun.
    in_timers: bool,
    cycles: Cycles,
    /// Stations whose jam is over in this instant.
    cut_ends: Vec<StationId>,
    /// Room for stations that are told of something.
    told: Vec<StationId>,
}

/// The method's own part of the configuration.
fn own(config: &Config) -> &Plca {
    match &config.method {
        Method::Plca(own) => own,
        Method::CsmaCd | Method::SlottedAloha(_) | Method::Aloha(_) | Method::Csma(_) | Method::CsmaCa(_) => {
            panic!("another method's configuration made a medium of PLCA")
        }
    }
}

impl Access for Reconciliation {
    type Mac = Own;

    const TIMERS: usize = 1;

    fn new(config: &Config) -> Reconciliation {
        let plca = own(config).clone();
        let stations = config.topology.stations();
        Reconciliation {
            wire: Wire::new(config, plca.phy_on, plca.phy_off),
            plca,
            here: OnePlace::new(config),
            // Nodes with PLCA on leave DISABLE at instant 0.
            next: vec![BitInstant::ZERO; stations].into(),
            changed: Vec::new(),
            settled: BinaryHeap::new(),
            in_timers: false,
            cycles: Cycles::new(),
            cut_ends: Vec::new(),
            told: Vec::new(),
        }
    }

    fn check(config: &Config) -> Result<(), ConfigError> {
        config.parameters.check(&config.topology)?;
        own(config).check(config)
    }

    fn mac(config: &Config, station: StationId) -> Own {
        Own {
            mac: Mac::new(config, station),
            node: Node::new(own(config).nodes[station.index()]),
            counters: PlcaCounters::default(),
            watch: Watch::SILENT,
            mac_at: NEVER,
            handing_over: false,
            piece: None,
            line_begin: BitInstant::ZERO,
            delimited: false,
            changed: false,
            apart: Apart::default(),
        }
    }

    fn admit(&self, config: &Config, frame: Frame, fault: Option<Fault>) -> Result<Admitted, Cause> {
        admit(config, frame, fault)
    }

    fn frame_ready<H: Host>(engine: &mut Engine<Reconciliation>, station: StationId, host: &mut H) {
        engine.plca_frame_ready(station, host);
    }

    fn timer_ends<H: Host>(_: &mut Engine<Reconciliation>, station: StationId, _: usize, _: &mut H) {
        panic!("{station} has no timer in the agenda");
    }

    fn runs<H: Host>(engine: &mut Engine<Reconciliation>, limit: BitInstant, timers_too: bool, host: &mut H) -> bool {
        engine.run_plca(limit, timers_too, host);
        true
    }

    fn due(engine: &Engine<Reconciliation>) -> BitInstant {
        engine.plca_due()
    }

    fn detached<H: Host>(engine: &mut Engine<Reconciliation>, station: StationId, host: &mut H) {
        engine.plca_detached(station, host);
    }

    fn attached<H: Host>(engine: &mut Engine<Reconciliation>, station: StationId, host: &mut H) {
        engine.plca_attached(station, host);
    }

    fn set_plca<H: Host>(
        engine: &mut Engine<Reconciliation>,
        station: StationId,
        settings: PlcaSettings,
        host: &mut H,
    ) {
        engine.plca_set(station, settings, host);
    }

    fn parted(engine: &mut Engine<Reconciliation>) {
        engine.leave_one_place();
        engine.method.cycles.forget();
        let beyond = |cut| engine.core.line.topology().beyond(cut).map(Into::into);
        engine.method.wire.parted = engine.core.cut.and_then(|cut| beyond(cut).ok());
    }

    fn restart(engine: &mut Engine<Reconciliation>) {
        engine.plca_restart();
    }

    fn verdict(_: &Core, place: StationId, _: TransmissionId) -> Option<Kind> {
        panic!("nothing is on the engine's own line at {place}")
    }

    fn exposed(config: &Config) -> Option<BitTimes> {
        Some(config.parameters.inter_packet_gap)
    }
}
