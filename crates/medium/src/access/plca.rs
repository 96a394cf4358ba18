//! PLCA: the reconciliation sublayer of 10BASE-T1S (802.3, clause 148) under the MAC of CSMA/CD.
//!
//! The MAC is that of [`csma_cd`](super::csma_cd), unchanged. The lower layer *reports* carrier and collision to it:
//! the line where PLCA is off or plca_status is FAIL, and the data machine where PLCA is on. A bus may mix both.
//!
//! ```text
//!   |BEACON 20|turn of 0: 32|turn of 1: COMMIT, frame|turn of 2: 32| … |turn of n − 1|BEACON| …
//! ```
//! [`tables`] has the machines of a node, `node` their variables and timers, `assignment` those of D-PLCA, `wire` the
//! signals on the line, `watch` the MAC's view of carrier, `acts` the effects of MAC and machines on each other, `run` the loop, and
//! `follower` the fast path while all nodes are configured consistently. **Empty turns and cycles are computed:** a
//! node does not step through unused turns, and a bus without traffic does not step through cycles.
//!
//! Carrier sense is the line's here: with PLCA, [`Fault::Deaf`](crate::Fault::Deaf) has no effect. What noise does to a
//! signal at a place is drawn as the signal begins there (`run`); the wire then counts it as what it sounds like.

mod acts;
mod assignment;
mod counters;
mod cycles;
mod follower;
mod ids;
mod node;
mod run;
mod spi;
mod tables;
mod watch;
mod wire;

pub use counters::PlcaCounters;
pub use cycles::PlcaCycles;
pub use tables::{Assignment as PlcaAssignment, Control as PlcaControl, Data as PlcaData, Status as PlcaStatus};

use super::csma_cd::{Mac, admit};
use super::{Access, Admitted, FastPath};
use crate::config::{Config, Plca, PlcaSettings};
use crate::engine::Engine;
use crate::engine::state::Core;
use crate::event::{Cause, Kind};
use crate::fault::Fault;
use crate::frame::{Frame, StationId, TransmissionId};
use crate::inputs::Host;
use crate::time::{BitInstant, BitTimes};
use crate::timers::NEVER;
use assignment::Dynamic;
use cycles::Cycles;
use follower::{Apart, Follower};
use node::Node;
use spi::Spi;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use watch::Watch;
use wire::Wire;

/// A station with PLCA: its MAC, its node, and their signals on the line.
#[derive(Debug)]
pub(crate) struct Own {
    mac: Mac,
    node: Node,
    counters: PlcaCounters,
    watch: Watch,
    /// When the MAC's timer ends; its meaning depends on the state of the transmit machine.
    mac_at: BitInstant,
    /// The host has not yet handed over the frame at the head.
    handing_over: bool,
    /// The host's side of a MAC-PHY, if it has one.
    spi: Option<Box<Spi>>,
    /// The piece of carrier that it sends.
    piece: Option<u64>,
    /// The first bit of its frame on the line. If PLCA lost the MAC's bits: when the MAC began.
    line_begin: BitInstant,
    /// The frame was sent with PLCA, so that ESD follows it.
    delimited: bool,
    /// The carrier that the MAC sees may have changed.
    changed: bool,
    /// Its own part of the state while one follower replaces the control machines of all nodes.
    apart: Apart,
}

/// PLCA's state for the medium as a whole.
#[derive(Debug)]
pub(crate) struct Reconciliation {
    plca: Plca,
    wire: Wire,
    follower: Follower,
    /// The next event of each station itself.
    next: Box<[BitInstant]>,
    /// Stations whose carrier may have changed in this instant.
    changed: Vec<StationId>,
    /// Frames whose outputs may be settled.
    settled: BinaryHeap<Reverse<(BitInstant, StationId, u64)>>,
    /// Timers are running: turns that begin at this instant have not begun.
    in_timers: bool,
    cycles: Cycles,
    /// Stations whose jam ends in this instant.
    cut_ends: Vec<StationId>,
    /// Room for stations that get a notice, kept to save the allocation.
    told: Vec<StationId>,
}

impl Access for Reconciliation {
    type Mac = Own;

    const TIMERS: usize = 1;

    fn new(config: &Config) -> Reconciliation {
        let plca = config.plca().clone();
        let stations = config.topology.stations();
        Reconciliation {
            wire: Wire::new(config, plca.phy_on, plca.phy_off),
            plca,
            follower: Follower::new(config),
            // Nodes with PLCA on leave DISABLE at instant 0, or a settled coordinator sends a BEACON.
            next: vec![BitInstant::ZERO; stations].into(),
            changed: Vec::new(),
            settled: BinaryHeap::new(),
            in_timers: false,
            cycles: Cycles::new(),
            cut_ends: Vec::new(),
            told: Vec::new(),
        }
    }

    fn mac(config: &Config, station: StationId) -> Own {
        let own = config.plca().nodes[station.index()];
        let mut node = Node::new(own);
        node.set(own.settings, || Dynamic::new(config.seed, station, BitInstant::ZERO));
        node.attached = !config.is_seat(station);
        config.plca().settled_turns().into_iter().for_each(|turns| node.settle(turns));
        let spi = node.own.macphy.map(|macphy| Box::new(Spi::new(macphy, node.own.host_delay)));
        Own {
            mac: Mac::new(config, station),
            node,
            counters: PlcaCounters::default(),
            watch: Watch::SILENT,
            mac_at: NEVER,
            handing_over: false,
            spi,
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
        engine.leave_follower();
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

impl FastPath for Reconciliation {
    fn runs<H: Host>(engine: &mut Engine<Reconciliation>, limit: BitInstant, timers_too: bool, host: &mut H) -> bool {
        engine.run_plca(limit, timers_too, host);
        true
    }

    fn due(engine: &Engine<Reconciliation>) -> BitInstant {
        engine.plca_due()
    }

    fn places_differ(engine: &mut Engine<Reconciliation>) {
        engine.leave_follower();
        engine.method.cycles.forget();
        engine.method.wire.places_differ();
        engine.stations.iter_mut().for_each(|this| this.mac.node.doubt());
    }
}
