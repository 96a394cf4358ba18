//! Whether one follower can replace all control machines, and how it begins.

use super::OnePlace;
use crate::access::plca::tables::{Control, Data, Status};
use crate::access::plca::watch::Watch;
use crate::access::plca::wire::{Edge, What};
use crate::access::plca::{Own, Reconciliation};
use crate::config::PlcaSettings;
use crate::engine::Engine;
use crate::frame::{PREAMBLE_AND_SFD, StationId};
use crate::line::StationSet;
use crate::star;
use crate::time::BitTimes;
use crate::timers::{NEVER, NONE};

impl Engine<Reconciliation> {
    /// At the end of an instant: if a BEACON is on the line, and all nodes are configured consistently, the follower
    /// takes over.
    pub(in crate::access::plca) fn join_in_one_place(&mut self) {
        if !self.method.wire.has_only_a_beacon() || !self.fits_in_one_place() {
            return;
        }
        let coordinator = self.method.here.coordinator;
        let follows = |index: usize, own: &Own| own.follows(index == coordinator.index());
        let all = (0..).zip(&self.stations).all(|(index, this)| this.attached && follows(index, &this.mac));
        if !all || self.method.cycles.owner != Some(coordinator) {
            return;
        }
        self.method.cycles.disturb();
        let beacon = self.stations[coordinator.index()].mac.piece.expect("the coordinator's BEACON");
        let begin = self.method.wire.get(beacon).begin;
        self.method.wire.forget_all();
        let here = &mut self.method.here;
        here.signal = Some(super::Signal::beacon(coordinator, begin, true));
        here.edge = (begin + self.method.plca.beacon, Edge::End);
        (here.holds, here.first, here.turn, here.turn_since) = (true, 0, NONE, begin);
        (here.touched, here.waiting) = (None, StationSet::new(self.stations.len()));
        (here.busy, here.may_change) = (false, false);
        (here.rounds, here.beacons, here.empty, here.changes) = (0, 0, 0, 0);
        (here.carrier, here.pending, here.cur) = (Watch::SILENT, [0; 4], here.count);
        for index in 0..self.stations.len() {
            let station = StationId::new(index as u16);
            let own = &mut self.stations[index].mac;
            own.node.control = Control::Syncing;
            if own.node.data == Data::Receive {
                own.node.data = Data::Idle;
            }
            own.piece = None;
            own.apart = super::Apart { at_ease: own.node.data == Data::Idle, ..super::Apart::default() };
            let holds = own.node.data == Data::Hold;
            let here = &mut self.method.here;
            if holds {
                here.holding.insert(station);
            } else {
                here.holding.remove(station);
            }
            self.note_pending(station);
            self.look_ahead_in_one_place(station);
        }
    }

    /// Whether the configuration allows it, regardless of the present state of the nodes.
    fn fits_in_one_place(&mut self) -> bool {
        if let Some(fits) = self.method.here.fits {
            return fits;
        }
        let fits = self.owners_in_one_place().is_some();
        self.method.here.fits = Some(fits);
        fits
    }

    /// Every node has PLCA on, ids of its own below the node count, and the same timer.
    fn owners_in_one_place(&mut self) -> Option<()> {
        let (config, plca) = (&self.core.config, &self.method.plca);
        let least = PREAMBLE_AND_SFD + config.parameters.min_frame_size.bit_times();
        let delays = plca.phy_on + plca.phy_off + plca.end_delimiter;
        let one = star::is_shared(config) && self.method.wire.parted.is_none() && delays == plca.end_delimiter;
        if !one || least <= config.parameters.inter_packet_gap {
            return None;
        }
        let nodes = || self.stations.iter().map(|this| &this.mac.node.own);
        let coordinator = nodes().position(|node| node.settings.node_id == 0)?;
        let PlcaSettings { node_count: count, to_timer, .. } = nodes().nth(coordinator)?.settings;
        let mut owners = vec![None; 256];
        for (station, node) in (0..).zip(nodes()) {
            let PlcaSettings { enabled, burst_count, to_timer: own_timer, .. } = node.settings;
            if !enabled || burst_count > 0 || own_timer != to_timer || !node.heeds_logical_collisions || count == 255 {
                return None;
            }
            if node.clock_ppm != 0 {
                return None;
            }
            if node.settings.node_id == PlcaSettings::UNCONFIGURED {
                return None;
            }
            for id in node.ids() {
                let before = owners[usize::from(id)].replace(StationId::new(station));
                if id >= count || before.is_some_and(|before| before != StationId::new(station)) {
                    return None;
                }
            }
        }
        let here: &mut OnePlace = &mut self.method.here;
        (here.owners, here.count, here.to) = (owners.into(), count, BitTimes::new(to_timer.into()));
        here.coordinator = StationId::new(coordinator as u16);
        Some(())
    }
}

impl Own {
    /// The node's state matches the follower's, while a BEACON is on the line.
    fn follows(&self, coordinator: bool) -> bool {
        let (node, control) = (&self.node, if coordinator { Control::SendBeacon } else { Control::Syncing });
        let data = match node.data {
            Data::Idle | Data::Receive | Data::Hold | Data::Collide | Data::DelayPending | Data::Pending => true,
            Data::Normal | Data::WaitIdle | Data::WaitMac | Data::Transmit | Data::Flush => false,
        };
        data && node.control == control
            && node.status == Status::Active
            && (node.status_ok, node.active, node.committed, node.was_busy()) == (true, true, false, false)
            && node.invalid_end == NEVER
            && self.piece.is_some() == coordinator
    }
}

impl super::Signal {
    /// A BEACON that begins at `begin`.
    pub(super) fn beacon(source: StationId, begin: crate::time::BitInstant, heard: bool) -> super::Signal {
        super::Signal { source, what: What::Beacon, begin, heard, commit: None, frame: None, ended: false }
    }
}
