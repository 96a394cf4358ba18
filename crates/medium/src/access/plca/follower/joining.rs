//! Whether one follower can replace the control machines of all nodes, and how it begins.

use super::ahead::Ahead;
use super::hearing::{Carriers, Signal, Signals};
use super::{Follower, Turn};
use crate::access::plca::ids::Ids;
use crate::access::plca::tables::{Control, Data, Status};
use crate::access::plca::wire::Edge;
use crate::access::plca::{Own, Reconciliation};
use crate::config::PlcaSettings;
use crate::engine::Engine;
use crate::frame::{PREAMBLE_AND_SFD, StationId};
use crate::line::StationSet;
use crate::time::{BitInstant, BitTimes};
use crate::timers::NEVER;

impl Engine<Reconciliation> {
    /// At the end of an instant: if every place hears a BEACON, and all nodes are configured consistently, the follower
    /// takes over.
    pub(in crate::access::plca) fn join_follower(&mut self) {
        if !self.method.wire.has_only_a_beacon() || !self.fits_follower() {
            return;
        }
        let coordinator = self.method.follower.coordinator;
        let follows = |index: usize, own: &Own| own.follows(index == coordinator.index());
        let all = (0..).zip(&self.stations).all(|(index, this)| this.attached && follows(index, &this.mac));
        if !all || self.method.cycles.owner != Some(coordinator) {
            return;
        }
        self.method.cycles.disturb();
        let beacon = self.stations[coordinator.index()].mac.piece.take().expect("the coordinator's BEACON");
        let signal = Signal::beacon(coordinator, self.method.wire.get(beacon).begin, self.method.plca.beacon);
        self.method.wire.forget_all();
        let stations = self.stations.len();
        let follower = &mut self.method.follower;
        (follower.leads, follower.timers, follower.touched, follower.begun) = (true, Ahead::new(), None, None);
        (follower.waiting, follower.holding) = (StationSet::new(stations), StationSet::new(stations));
        (follower.signals, follower.turn, follower.pending) = (Signals::new(signal), Turn::NONE, Ids::NONE);
        (follower.reached, follower.carriers) = ((BitInstant::ZERO, Edge::End), Carriers::new());
        self.method.next.fill(NEVER);
        for index in 0..stations {
            let station = StationId::new(index as u16);
            let own = &mut self.stations[index].mac;
            own.node.control = Control::Syncing;
            own.node.command = None;
            if own.node.data == Data::Receive {
                own.node.data = Data::Idle;
            }
            own.apart = super::Apart { at_ease: own.node.data == Data::Idle, ..super::Apart::default() };
            if own.node.data == Data::Hold {
                self.method.follower.holding.insert(station);
            }
            self.note_pending(station);
            self.look_ahead_by_follower(station);
        }
        self.plan_turn();
    }

    /// Whether the configuration allows it, regardless of the present state of the nodes.
    fn fits_follower(&mut self) -> bool {
        if let Some(fits) = self.method.follower.fits {
            return fits;
        }
        let fits = self.owners_by_follower().is_some();
        self.method.follower.fits = Some(fits);
        fits
    }

    /// Every node has PLCA on, ids of its own below the node count, and the same timer.
    fn owners_by_follower(&mut self) -> Option<()> {
        if !self.signals_keep_apart() {
            return None;
        }
        let nodes = || self.stations.iter().map(|this| &this.mac.node.own);
        let coordinator = nodes().position(|node| node.settings.node_id == 0)?;
        let PlcaSettings { node_count: count, to_timer, .. } = nodes().nth(coordinator)?.settings;
        let mut owners = vec![None; 256];
        for (station, node) in (0..).zip(nodes()) {
            let PlcaSettings { enabled, to_timer: own_timer, .. } = node.settings;
            if !enabled || own_timer != to_timer || !node.heeds_logical_collisions || count == 255 {
                return None;
            }
            if node.clock_ppm != 0 || node.skipped_turns > 0 || node.settings.dplca {
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
        let to = BitTimes::new(to_timer.into());
        // A node hears another take its turn before the next turn begins.
        if self.method.wire.longest_way * 2 + self.method.plca.phy_on >= to {
            return None;
        }
        let follower: &mut Follower = &mut self.method.follower;
        (follower.owners, follower.count, follower.to) = (owners.into(), count, to);
        follower.coordinator = StationId::new(coordinator as u16);
        Some(())
    }

    /// Outputs, which need each edge, are not requested, and the delays are so short that every place hears a BEACON at
    /// once, and the end of a frame before its sender's next attempt.
    fn signals_keep_apart(&self) -> bool {
        let (config, plca, wire) = (&self.core.config, &self.method.plca, &self.method.wire);
        let (longest, gap) = (wire.longest_way, config.parameters.inter_packet_gap);
        let least = PREAMBLE_AND_SFD + config.parameters.min_frame_size.bit_times();
        !config.keep_outputs
            && !self.core.noise.is_on
            && wire.parted.is_none()
            && longest + plca.phy_on < plca.beacon
            && plca.end_delimiter + plca.phy_off < gap
            && gap + longest < least
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
