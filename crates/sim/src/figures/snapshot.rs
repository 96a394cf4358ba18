//! What a measurement began and ended with, and the results that follow from it.

use crate::figures::contention::Contention;
use crate::figures::cycle::Bus;
use crate::figures::messages::PlanResults;
use crate::figures::metrics::{Delays, Sums, with_places};
use crate::figures::plca::{self, PlcaResults, PlcaStation};
use crate::figures::results::{
    ConfigResults, DelayResults, EmulatorResults, MediumResults, Results, StationResults, VERSION,
};
use medium::{BitTimes, Fault, Medium, Place, PlcaCycles, StationId, Tally};

/// What a measurement began with.
#[derive(Clone, Debug)]
pub struct Start {
    /// The instant, in bit times.
    pub at: medium::BitInstant,
    /// Frames in each transmit queue.
    pub queued: Vec<u64>,
}

impl Start {
    /// A measurement that begins at `at`.
    pub fn take(medium: &Medium, at: medium::BitInstant) -> Start {
        Start { at, queued: queued(medium) }
    }
}

/// Frames in each station's transmit queue, in order of station number.
fn queued(medium: &Medium) -> Vec<u64> {
    stations_of(medium).map(|station| medium.queued(station) as u64).collect()
}

fn stations_of(medium: &Medium) -> impl Iterator<Item = StationId> {
    (0..medium.config().topology.stations() as u16).map(StationId::new)
}

/// What a measurement ended with: everything that results are worked out from.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Counters and sums.
    pub tally: Tally,
    /// How long was measured.
    pub measured: BitTimes,
    /// Frames in each transmit queue at the start.
    pub queued_at_start: Vec<u64>,
    /// Frames in each transmit queue now.
    pub queued: Vec<u64>,
    /// Which stations are on the medium.
    pub attached: Vec<bool>,
    /// What is wrong with each station.
    pub faults: Vec<Option<Fault>>,
    /// Where the cable is cut.
    pub cut: Option<Place>,
    /// Access delay and MAC delay.
    pub delays: [DelayResults; 2],
    /// Those of each station; in real time only of PLCA's at most 255 nodes, since results are asked for often.
    pub station_delays: Vec<[DelayResults; 2]>,
    /// Octets of the longest frame that got through; 0 if none did.
    pub longest_frame: u32,
    /// How stations contended.
    pub contention: Contention,
    /// Cycles and nodes of PLCA, on a bus that has it.
    pub plca: Option<(PlcaCycles, Vec<PlcaStation>)>,
    /// The emulator itself; nothing in virtual time.
    pub emulator: Option<EmulatorResults>,
    /// The messages of the table that a lab runs.
    pub plan: Option<PlanResults>,
}

impl Snapshot {
    /// What `medium` has counted since `start`, and the delays since then.
    pub fn take(
        medium: &Medium,
        start: &Start,
        now: medium::BitInstant,
        delays: &Delays,
        emulator: Option<EmulatorResults>,
    ) -> Snapshot {
        let stations = medium.config().topology.stations();
        Snapshot {
            tally: medium.tally().clone(),
            delays: delays.results(),
            station_delays: match (&emulator, medium.plca_cycles()) {
                (None, _) => delays.of_stations(stations),
                (Some(_), Some(_)) => delays.figures_of_stations(stations),
                (Some(_), None) => Vec::new(),
            },
            longest_frame: delays.longest_frame(),
            contention: delays.contention().clone(),
            measured: now.since(start.at),
            queued_at_start: start.queued.clone(),
            queued: queued(medium),
            attached: stations_of(medium).map(|station| medium.attached(station)).collect(),
            faults: stations_of(medium).map(|station| medium.fault(station)).collect(),
            cut: medium.cut(),
            plca: plca::of(medium, start.at),
            emulator,
            plan: None,
        }
    }
}

impl StationResults {
    /// Every station, in order of station number.
    pub fn all(names: &[String], snapshot: &Snapshot) -> Vec<StationResults> {
        let stations = names.iter().zip(snapshot.tally.stations()).enumerate();
        let station = |(index, (name, counters)): (usize, (&String, &medium::Counters))| StationResults {
            name: name.clone(),
            attached: snapshot.attached[index],
            fault: snapshot.faults[index],
            queued_at_start: snapshot.queued_at_start[index],
            queued: snapshot.queued[index],
            collision_frames: counters.collision_frames.to_vec(),
            access_delay: snapshot.station_delays.get(index).map(|[access, _]| access.clone()),
            mac_delay: snapshot.station_delays.get(index).map(|[_, mac]| mac.clone()),
            tcp: None,
            ping: None,
            udp: None,
            plca: snapshot.plca.as_ref().and_then(|(_, nodes)| nodes.get(index).cloned()),
            counters: counters.named().map(|(name, value)| (name.to_owned(), value)).collect(),
        };
        stations.map(station).collect()
    }
}

impl Results {
    /// Works out every metric.
    pub fn new(config: ConfigResults, seed: u64, names: &[String], snapshot: &Snapshot) -> Results {
        let sums = Sums::of(&snapshot.tally, &snapshot.contention, &snapshot.queued_at_start, snapshot.measured.get());
        let mut medium = MediumResults { cut: snapshot.cut, ..MediumResults::new(&sums, snapshot.delays.clone()) };
        medium.take_in(&snapshot.contention);
        medium.plca = snapshot.plca.as_ref().map(|(cycles, _)| PlcaResults::new(cycles, snapshot.longest_frame));
        let mut results = Results {
            version: VERSION,
            config,
            seed,
            measured_bit_times: sums.measured,
            medium,
            stations: StationResults::all(names, snapshot),
            emulator: snapshot.emulator.clone(),
            plan: snapshot.plan.clone(),
            programs: Vec::new(),
        };
        results.fit_places();
        results
    }

    /// Works out the bound of the wait for a turn, from the settings of all nodes.
    fn find_bound(&mut self) {
        let Some(plca) = &mut self.medium.plca else { return };
        let nodes: Vec<&PlcaStation> = self.stations.iter().filter_map(|station| station.plca.as_ref()).collect();
        // A node that lost plca_status sent with CSMA/CD meanwhile.
        let is_kept = nodes.iter().all(|node| node.status && node.counters.get("status_losses") == Some(&0));
        // A node that misses BEACONs or COMMITs has fewer turns.
        plca.noise_until_bt = nodes.iter().filter_map(|node| node.noise_until_bt).max();
        let is_kept = is_kept && plca.noise_until_bt.is_none();
        let settings: Vec<_> = nodes.iter().map(|node| node.settings).collect();
        let octets = plca.frame_max_octets.unwrap_or(0).into();
        let bus = Bus::of(self.config.medium.config(), &settings, octets).filter(|_| is_kept);
        plca.access_delay_bound_bt = bus.map(|bus| bus.access_delay_bound());
    }

    /// Gives every `collision_frames` a place for each number of collisions that attempt_limit allows.
    pub fn fit_places(&mut self) {
        let limit = self.config.medium.config().attempt_limit();
        self.find_bound();
        let stations = self.stations.iter_mut().map(|station| &mut station.collision_frames);
        for counts in stations.chain([&mut self.medium.collision_frames]) {
            *counts = with_places(std::mem::take(counts), limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::configuration::WrittenConfig;
    use medium::{BitInstant, BitRate, Config, Destination, Frame, Input, Octets, Topology};

    /// A lone saturated station uses the whole medium when the gap is counted (`utilization_total` is 1).
    #[test]
    fn a_lone_saturated_station_uses_everything() {
        let mut medium = Medium::new(Config::new(BitRate::MBIT_10, Topology::star(2, 0), 1)).expect("valid");
        let frame = Frame::new(Octets::new(64), Destination::Station(StationId::new(1)));
        for _ in 0..10 {
            medium.handle_input(BitInstant::ZERO, Input::Offer { station: StationId::new(0), frame });
        }
        medium.advance(BitInstant::new(6720));
        let start = Start { at: BitInstant::ZERO, queued: vec![0, 0] };
        let snapshot = Snapshot::take(&medium, &start, BitInstant::new(6720), &Delays::default(), None);
        let config = ConfigResults::new(&WrittenConfig::from(medium.config()), "");
        let results = Results::new(config, 1, &["a".to_owned(), "b".to_owned()], &snapshot);
        assert_eq!(results.medium.utilization_total, 1.0);
        assert_eq!(results.medium.utilization_frame, 512.0 / 672.0);
        assert_eq!(results.medium.fairness, Some(1.0), "the silent station is left out");
        assert!(results.stations.iter().all(StationResults::adds_up));
        let json = serde_json::to_string(&results).expect("numbers and names");
        let back: Results = serde_json::from_str(&json).expect("what was written");
        assert_eq!(back.stations[0].counter("frames_transmitted_ok"), 10);
    }
}
