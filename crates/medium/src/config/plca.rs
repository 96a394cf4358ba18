//! The user's settings of PLCA: those of each node, under ethtool's names, and the timers of clause 148.

use super::error::{ConfigError, rule};
use super::macphy::MacPhy;
use super::parameters::Parameters;
use super::station_clock::Clock;
use crate::draws::{HOSTS, draw};
use crate::frame::{FrameId, PREAMBLE_AND_SFD};
use crate::time::{BitRate, BitTimes, Octets};

/// The settings of a node (802.3, 30.16), under ethtool's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "kebab-case", deny_unknown_fields)
)]
pub struct PlcaSettings {
    /// aPLCAAdminState: PLCA is on.
    pub enabled: bool,
    /// aPLCALocalNodeID: 0 is the coordinator; 255 means not configured, and PLCA stays off.
    pub node_id: u8,
    /// aPLCANodeCount: turns in a cycle; only the coordinator needs it.
    #[cfg_attr(feature = "serde", serde(rename = "node-cnt"))]
    pub node_count: u8,
    /// aPLCATransmitOpportunityTimer, in bit times: equal at all nodes.
    #[cfg_attr(feature = "serde", serde(rename = "to-tmr"))]
    pub to_timer: u8,
    /// aPLCAMaxBurstCount: frames that may follow the first one of a turn.
    #[cfg_attr(feature = "serde", serde(rename = "burst-cnt"))]
    pub burst_count: u8,
    /// aPLCABurstTimer, in bit times: how long a turn is kept for the next frame.
    #[cfg_attr(feature = "serde", serde(rename = "burst-tmr"))]
    pub burst_timer: u8,
    /// aDPLCAAdminState (P802.3da D3.0, 148.4.7): the node finds its own id, and as coordinator the number of turns.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "std::ops::Not::not"))]
    pub dplca: bool,
    /// aDPLCACoordinatorRoleAllowed: with D-PLCA and without a BEACON the node becomes the coordinator.
    #[cfg_attr(feature = "serde", serde(default = "yes", skip_serializing_if = "Clone::clone"))]
    pub coordinator_role: bool,
    /// aging_cycles of D-PLCA, at least 1: a turn that is not used in as many cycles and one more is free again.
    #[cfg_attr(feature = "serde", serde(default = "usual_age", skip_serializing_if = "is_usual_age"))]
    pub aging_cycles: u16,
}

#[cfg(feature = "serde")]
const fn yes() -> bool {
    true
}

#[cfg(feature = "serde")]
const fn usual_age() -> u16 {
    PlcaSettings::AGING_CYCLES
}

#[cfg(feature = "serde")]
fn is_usual_age(cycles: &u16) -> bool {
    *cycles == PlcaSettings::AGING_CYCLES
}

impl PlcaSettings {
    /// The id of a node that has none.
    pub const UNCONFIGURED: u8 = 255;
    /// The id of a node with D-PLCA that has none yet: its turn is after all others.
    pub const SEEKING: u8 = 254;
    /// The turns with which a coordinator with D-PLCA begins, and the least that it keeps.
    pub const LEAST_TURNS: u8 = 8;
    /// Claims last as long as in the published test bench.
    pub const AGING_CYCLES: u16 = 32;

    /// The defaults of ethtool and clause 30.16, with PLCA on and this id.
    pub const fn new(node_id: u8, node_count: u8) -> PlcaSettings {
        PlcaSettings {
            enabled: true,
            node_id,
            node_count,
            to_timer: 32,
            burst_count: 0,
            burst_timer: 128,
            dplca: false,
            coordinator_role: true,
            aging_cycles: PlcaSettings::AGING_CYCLES,
        }
    }

    /// The node finds its id.
    pub const fn dynamic() -> PlcaSettings {
        PlcaSettings { dplca: true, ..PlcaSettings::new(PlcaSettings::SEEKING, PlcaSettings::LEAST_TURNS) }
    }

    /// PLCA is off, and everything else has its default.
    pub const fn off() -> PlcaSettings {
        PlcaSettings { enabled: false, ..PlcaSettings::new(PlcaSettings::UNCONFIGURED, 8) }
    }

    /// What a node begins with after these settings: with D-PLCA its id and its node count are its own affair.
    #[must_use]
    pub const fn told(self) -> PlcaSettings {
        match self.dplca {
            true => PlcaSettings { node_id: PlcaSettings::SEEKING, node_count: PlcaSettings::LEAST_TURNS, ..self },
            false => self,
        }
    }

    /// The same with the id and the number of turns that D-PLCA has given.
    pub fn assigned(self, id: u32, count: u32) -> PlcaSettings {
        let octet = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        PlcaSettings { node_id: octet(id), node_count: octet(count), ..self }
    }

    /// PLCA is on, and the node has an id.
    pub fn is_on(&self) -> bool {
        self.enabled && self.node_id != PlcaSettings::UNCONFIGURED
    }

    /// Checks each value against its range.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn check(&self) -> Result<(), ConfigError> {
        rule(self.node_count > 0, "node-cnt", "1 to 255 (802.3, 30.16.1.1.3)")?;
        rule(self.to_timer > 0, "to-tmr", "1 to 255 BT (802.3, 30.16.1.1.5)")?;
        rule(self.aging_cycles > 0, "aging-cycles", "1 to 65535")
    }
}

/// How long a host takes to hand over a frame at the head of the queue: the same for each frame, or drawn evenly from a
/// range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostDelay {
    /// At least.
    pub least: BitTimes,
    /// At most.
    pub most: BitTimes,
}

impl HostDelay {
    /// The host hands frames over at once.
    pub const NONE: HostDelay = HostDelay::fixed(BitTimes::ZERO);

    /// The same for each frame.
    pub const fn fixed(delay: BitTimes) -> HostDelay {
        HostDelay { least: delay, most: delay }
    }

    /// Each frame is handed over at once.
    pub fn is_none(self) -> bool {
        self.most == BitTimes::ZERO
    }

    /// That of `frame`: a function of the seed and the frame alone, so that the order of calls does not matter.
    #[inline]
    pub fn of(self, seed: u64, frame: FrameId) -> BitTimes {
        if self.least == self.most { self.least } else { self.drawn(seed, frame) }
    }

    fn drawn(self, seed: u64, frame: FrameId) -> BitTimes {
        let range = self.least.get()..=self.most.get().max(self.least.get());
        BitTimes::new(draw(seed, HOSTS + frame.station.index() as u64, frame.serial, range))
    }
}

/// One station's PLCA: its settings, and how its chips and its host apply them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlcaNode {
    /// Its settings.
    pub settings: PlcaSettings,
    /// Further turns of the node, beside that of its id (chips offer up to eight); 255 is none. Without effect with D-PLCA.
    pub more_ids: [u8; 8],
    /// Its PHY reports collisions on the line to the MAC. Some drivers turn that off with PLCA.
    pub collision_detection: bool,
    /// Its MAC reacts to the logical collision that makes it wait for its turn.
    pub heeds_logical_collisions: bool,
    /// From when a frame reaches the head of its queue until the host has handed it over.
    pub host_delay: HostDelay,
    /// Its MAC is behind SPI: then `host_delay` passes before the transfer of each frame, and transfers go on while a frame
    /// waits for its turn.
    pub macphy: Option<MacPhy>,
    /// Own turns that pass unused after each turn with a frame: its PHY holds the MAC back by carrier until the last of
    /// them is over. An option of chips, which clause 148 does not have.
    pub skipped_turns: u8,
    /// How much faster its clock is than the medium's bits, in parts per million, -100,000 to 100,000. Its timers run
    /// by it, in whole bit times of the medium; the remainder accumulates over turns that it counts one after the
    /// other. Its transmitted bits have the medium's rate.
    pub clock_ppm: i32,
}

impl PlcaNode {
    /// A node without any fault.
    pub const fn new(settings: PlcaSettings) -> PlcaNode {
        PlcaNode {
            settings,
            more_ids: [PlcaSettings::UNCONFIGURED; 8],
            collision_detection: true,
            heeds_logical_collisions: true,
            host_delay: HostDelay::NONE,
            macphy: None,
            skipped_turns: 0,
            clock_ppm: 0,
        }
    }

    /// Its host may hand a frame over late.
    pub fn is_late(&self) -> bool {
        self.macphy.is_some() || !self.host_delay.is_none()
    }

    /// How long its host takes to hand over a frame of this size, if it has no other.
    pub fn host_delay_of(&self, size: Octets) -> HostDelay {
        self.macphy.map_or(self.host_delay, |macphy| macphy.lone(self.host_delay, size))
    }

    /// Its id and its further ids.
    pub fn ids(&self) -> impl Iterator<Item = u8> + use<> {
        let more = self.more_ids.into_iter().take(if self.settings.dplca { 0 } else { usize::MAX });
        let all = std::iter::once(self.settings.node_id).chain(more);
        all.filter(|&id| id != PlcaSettings::UNCONFIGURED)
    }

    /// The length of `span` of its own clock on the medium, to the nearest bit time.
    #[inline]
    pub fn on_medium(&self, span: BitTimes) -> BitTimes {
        self.on_medium_from(0, span).0
    }

    /// The same from an instant that is `behind` a whole bit time, and by how much the end is behind one: in parts of
    /// a bit time, of which a bit time has as many as its clock has ticks in a million of the medium's bits.
    #[inline]
    pub(crate) fn on_medium_from(&self, behind: i64, span: BitTimes) -> (BitTimes, i64) {
        Clock::new(self.clock_ppm).span_from(behind, span)
    }
}

/// The settings of PLCA beside the parameters of CSMA/CD: 10BASE-T1S, 10 Mb/s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plca {
    /// One for each station.
    pub nodes: Vec<PlcaNode>,
    /// beacon_timer.
    pub beacon: BitTimes,
    /// beacon_det_timer.
    pub beacon_detection: BitTimes,
    /// invalid_beacon_timer: 4.0 us ± 10 %.
    pub invalid_beacon: BitTimes,
    /// commit_timer: how long a turn waits for the MAC.
    pub commit: BitTimes,
    /// pending_timer: from a logical collision until the node asks for its turn.
    pub pending: BitTimes,
    /// plca_status_timer: from the loss of BEACONs until the node falls back to CSMA/CD.
    pub status: BitTimes,
    /// delay_line_length: the delay of a MAC's bits until their turn.
    pub delay_line: BitTimes,
    /// What follows a frame on the line: ESD and ESDOK, ESDERR or ESDBRS.
    pub end_delimiter: BitTimes,
    /// From TX_EN to the line, and from the line to CRS on.
    pub phy_on: BitTimes,
    /// From TX_EN off to the line, and from the line to CRS off.
    pub phy_off: BitTimes,
    /// Nodes begin as power comes on: plca_status is FAIL until the first BEACON. Otherwise that BEACON begins at
    /// instant 0, and nodes are as at the end of an idle cycle.
    pub cold_start: bool,
}

impl Plca {
    /// The longest possible delay line: a collision later than slotTime is late.
    pub const LONGEST_DELAY_LINE: BitTimes = BitTimes::new(512);
    /// The delay line that clause 148 asks for.
    pub const USUAL_DELAY_LINE: BitTimes = BitTimes::new(396);

    /// The timers of clause 148 at 10 Mb/s, from a cold start.
    pub fn new(nodes: Vec<PlcaNode>) -> Plca {
        let delay_line = Plca::delay_line_for(&nodes);
        Plca {
            nodes,
            beacon: BitTimes::new(20),
            beacon_detection: BitTimes::new(22),
            invalid_beacon: BitTimes::new(40),
            commit: BitTimes::new(288),
            pending: BitTimes::new(512),
            status: BitTimes::new(130_090),
            delay_line,
            end_delimiter: BitTimes::new(8),
            phy_on: BitTimes::ZERO,
            phy_off: BitTimes::ZERO,
            cold_start: true,
        }
    }

    /// A correctly configured bus of `stations`: ids in order of stations, and the right node count.
    pub fn right(stations: usize) -> Plca {
        let count = u8::try_from(stations.clamp(1, 255)).unwrap_or(u8::MAX);
        let id = |station: usize| u8::try_from(station).unwrap_or(PlcaSettings::UNCONFIGURED);
        Plca::new((0..stations).map(|station| PlcaNode::new(PlcaSettings::new(id(station), count))).collect())
    }

    /// Long enough for a turn to come while all others yield, within the limit of a delay line.
    pub fn delay_line_for(nodes: &[PlcaNode]) -> BitTimes {
        let count = nodes.iter().map(|node| u64::from(node.settings.node_count)).max().unwrap_or(1);
        let turn = nodes.iter().map(|node| u64::from(node.settings.to_timer)).max().unwrap_or(32);
        BitTimes::new(20 + count * turn).max(Plca::USUAL_DELAY_LINE).min(Plca::LONGEST_DELAY_LINE)
    }

    /// Several nodes send BEACONs.
    pub(crate) fn has_several_coordinators(&self) -> bool {
        let mut all = self.nodes.iter().filter(|node| node.settings.is_on() && node.settings.node_id == 0);
        all.nth(1).is_some()
    }

    /// Some node finds its own id.
    pub fn has_dynamic(&self) -> bool {
        self.nodes.iter().any(|node| node.settings.dplca)
    }

    /// The turns of the cycle that ends at instant 0; `None` after a cold start, without a coordinator, and with D-PLCA,
    /// whose nodes have no ids yet.
    pub(crate) fn settled_turns(&self) -> Option<u8> {
        let is_cold = self.cold_start || self.has_dynamic();
        let mut settings = self.nodes.iter().map(|node| node.settings).filter(|_| !is_cold);
        settings.find(|node| node.is_on() && node.node_id == 0).map(|coordinator| coordinator.node_count)
    }

    /// Checks every value against its range.
    pub(super) fn check(&self, rate: BitRate, parameters: &Parameters, stations: usize) -> Result<(), ConfigError> {
        rule(rate == BitRate::MBIT_10, "rate", "10 Mb/s with PLCA (802.3, clauses 147 and 148)")?;
        rule(parameters.burst_limit == BitTimes::ZERO, "burst_limit", "0 with PLCA: bursts are PLCA's own")?;
        rule(self.nodes.len() == stations, "nodes", "one for each station")?;
        self.nodes.iter().try_for_each(|node| node.settings.check())?;
        let clocks = self.nodes.iter().all(|node| Clock::new(node.clock_ppm).is_allowed());
        rule(clocks, "clock-ppm", "-100000 to 100000")?;
        let seeking = self.nodes.iter().all(|node| node.settings == node.settings.told());
        rule(seeking, "node-id", "none with D-PLCA: the node finds its id")?;
        let hosts = self.nodes.iter().all(|node| node.host_delay.least <= node.host_delay.most);
        rule(hosts, "host-delay", "a range whose first end is no longer than the second")?;
        let longest = parameters.max_frame_size;
        self.nodes.iter().filter_map(|node| node.macphy).try_for_each(|macphy| macphy.check(longest))?;
        let least = PREAMBLE_AND_SFD.get() + parameters.min_frame_size.bit_times().get();
        let longest = Plca::LONGEST_DELAY_LINE.min(BitTimes::new(least - 1));
        rule(
            (BitTimes::new(1)..=longest).contains(&self.delay_line),
            "delay_line",
            "1 to 512 BT, and less than the least frame takes",
        )?;
        let spans = [self.beacon, self.beacon_detection, self.invalid_beacon, self.commit, self.pending, self.status];
        let fits = spans.iter().all(|span| (1..=1 << 31).contains(&span.get()));
        rule(fits, "plca timers", "1 to 2^31 BT")?;
        let short = |span: BitTimes| span.get() <= 512;
        rule(short(self.end_delimiter) && short(self.phy_on) && short(self.phy_off), "phy delays", "at most 512 BT")?;
        rule(self.phy_off >= self.phy_on, "phy delays", "off no sooner than on")
    }
}

#[cfg(test)]
mod tests {
    use super::{BitTimes, FrameId, HostDelay};
    use crate::frame::StationId;

    /// Each delay of a short range comes, none besides, and a frame keeps its own.
    #[test]
    fn a_frame_draws_its_host_delay_from_the_range() {
        let delay = HostDelay { least: BitTimes::new(20), most: BitTimes::new(23) };
        let of = |seed, serial| delay.of(seed, FrameId { station: StationId::new(1), serial }).get();
        let mut counts = [0; 4];
        (0..4_000).for_each(|serial| counts[of(1, serial) as usize - 20] += 1);
        assert!(counts.iter().all(|count| (850..1_150).contains(count)), "{counts:?}");
        assert!((0..100).all(|serial| of(1, serial) == of(1, serial)));
        assert!((0..100).any(|serial| of(1, serial) != of(2, serial)));
    }
}
