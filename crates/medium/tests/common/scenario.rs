//! Random scenarios: small media on which a few frames contend, and a runner that draws the same ones every time.

use medium::{BitRate, BitTimes, Config, Destination, Frame, Input, Octets, StationId, Topology};
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, RngAlgorithm, RngSeed, TestRng, TestRunner};
use std::fmt;
use std::num::NonZeroU32;

/// A medium, and what happens to it in order of time.
#[derive(Clone)]
pub struct Scenario {
    /// The medium.
    pub config: Config,
    /// Each with its instant; at one instant in order of station number.
    pub inputs: Vec<(u64, Input)>,
}

/// Short enough to be read when a case fails.
impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n  {:?}", self.config.topology)?;
        writeln!(f, "  {:?}", self.config.parameters)?;
        writeln!(f, "  queue_limit {} seed {}", self.config.queue_limit, self.config.seed)?;
        self.inputs.iter().try_for_each(|(at, input)| writeln!(f, "  {at:>6} {input:?}"))
    }
}

/// How many cases a test draws: `ETHBUS_CASES`, or `usual`.
pub fn cases(usual: u32) -> u32 {
    std::env::var("ETHBUS_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A runner whose draws follow from `ETHBUS_SEED`, or 1, alone; it keeps no file of failures.
pub fn runner(usual: u32) -> TestRunner {
    let seed: u64 = std::env::var("ETHBUS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    println!("ETHBUS_SEED={seed} ETHBUS_CASES={}", cases(usual));
    let config = Cases {
        cases: cases(usual),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(seed),
        ..Cases::default()
    };
    let mut octets = [0; 32];
    octets[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &octets))
}

/// One to six stations in a star or along a cable, some far beyond what the slot time allows.
pub fn any_topology() -> impl Strategy<Value = Topology> {
    let star = (1..=6_usize, prop_oneof![Just(0), 0..=60_u64, 0..=600_u64])
        .prop_map(|(stations, distance)| Topology::star(stations, distance));
    let place = prop_oneof![1 => 0..=60_u64, 3 => 0..=700_u64];
    let bus = proptest::collection::vec(place.prop_map(BitTimes::new), 1..=6);
    prop_oneof![star, bus.prop_map(|positions| Topology::Bus { positions })]
}

/// The longest way at which a sender of the least frame still hears whoever could disturb it.
///
/// Whoever has heard the signal may begin up to a gap later, in a gap that carrier does not start anew; that signal
/// must be back before the 64 + 512 BT are over: 2d + 96 < 576.
pub const FITTING_DISTANCE: u64 = 239;

/// One to six stations on a medium that the slot time covers.
pub fn fitting_topology() -> impl Strategy<Value = Topology> {
    let star = (1..=6_usize, 0..=FITTING_DISTANCE).prop_map(|(stations, distance)| Topology::star(stations, distance));
    let bus = proptest::collection::vec((0..=FITTING_DISTANCE).prop_map(BitTimes::new), 1..=6);
    prop_oneof![star, bus.prop_map(|positions| Topology::Bus { positions })]
}

/// Table 4-2 of 802.3 as it stands.
pub fn standard_config(topology: impl Strategy<Value = Topology>) -> impl Strategy<Value = Config> {
    (topology, 1..=6_usize, any::<u64>()).prop_map(|(topology, queue_limit, seed)| {
        let mut config = Config::new(BitRate::MBIT_10, topology, seed);
        config.queue_limit = queue_limit;
        config
    })
}

/// Parameters of the standard with other limits, and now and then another gap, jam, slot or least frame.
pub fn any_config(topology: impl Strategy<Value = Topology>) -> impl Strategy<Value = Config> {
    let limits = (0..=10_u32, 1..=16_u32, 1..=6_usize, any::<u64>());
    let part_1 = prop_oneof![2 => Just(64), 3 => 0..=64_u64];
    let defer = prop_oneof![2 => Just(24_288), 1 => 0..=3_000_u64];
    let odd = prop_oneof![
        3 => Just((96, 32, 512, 64)),
        1 => (1..=96_u64, 32..=64_u64, prop_oneof![Just(512), 1..=600_u64], 18..=80_u32),
    ];
    (topology, limits, part_1, defer, odd).prop_map(|(topology, limits, part_1, defer, (gap, jam, slot, least))| {
        let (backoff_limit, attempt_limit, queue_limit, seed) = limits;
        let mut config = Config::new(BitRate::MBIT_10, topology, seed);
        config.queue_limit = queue_limit;
        let p = &mut config.parameters;
        p.backoff_limit = backoff_limit;
        p.attempt_limit = NonZeroU32::new(attempt_limit).expect("at least 1");
        p.inter_packet_gap = BitTimes::new(gap);
        p.inter_packet_gap_part_1 = BitTimes::new(part_1.min(gap * 2 / 3));
        p.jam_size = BitTimes::new(jam);
        p.slot_time = BitTimes::new(slot);
        p.min_frame_size = Octets::new(least);
        p.max_defer_time = BitTimes::new(defer);
        config
    })
}

/// A scenario on a medium that `config` draws.
pub fn any_scenario(config: impl Strategy<Value = Config>) -> impl Strategy<Value = Scenario> {
    (config, proptest::collection::vec(any_input(), 1..=16), proptest::collection::vec(0..=4_000_u64, 1..=3)).prop_map(
        |(config, drawn, clusters)| {
            let stations = config.topology.stations() as u16;
            let mut inputs: Vec<_> = drawn.iter().map(|drawn| drawn.on(stations, &clusters)).collect();
            inputs.sort_by_key(|&(at, input)| (at, number(input)));
            Scenario { config, inputs }
        },
    )
}

/// An input before it is known how many stations and clusters of arrivals there are.
#[derive(Clone, Debug)]
struct Drawn {
    what: What,
    cluster: usize,
    after: u64,
    station: u16,
    to: Option<u16>,
    octets: u32,
    tagged: bool,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Broadcast,
    OfferTo,
    Detach,
    Attach,
}

fn any_input() -> impl Strategy<Value = Drawn> {
    let what = prop_oneof![
        18 => Just(What::OfferTo), 4 => Just(What::Broadcast), 1 => Just(What::Detach), 1 => Just(What::Attach)
    ];
    let after = prop_oneof![2 => Just(0), 3 => 0..=100_u64, 4 => 0..=1_500_u64];
    let octets = prop_oneof![6 => Just(64), 12 => 18..=200_u32, 1 => Just(1518), 1 => 0..=17_u32, 1 => 1517..=1523_u32];
    let to = proptest::option::weighted(0.9, 0..6_u16);
    (what, 0..3_usize, after, 0..6_u16, to, octets, any::<bool>()).prop_map(
        |(what, cluster, after, station, to, octets, tagged)| Drawn {
            what,
            cluster,
            after,
            station,
            to,
            octets,
            tagged,
        },
    )
}

impl Drawn {
    fn on(&self, stations: u16, clusters: &[u64]) -> (u64, Input) {
        let at = clusters[self.cluster % clusters.len()] + self.after;
        let station = StationId::new(self.station % stations);
        let destination = match (self.what, self.to) {
            (What::Broadcast, _) => Destination::All,
            (_, Some(to)) => Destination::Station(StationId::new(to % stations)),
            (_, None) => Destination::Nobody,
        };
        let frame = Frame { size: Octets::new(self.octets), destination, tagged: self.tagged };
        let input = match self.what {
            What::Broadcast | What::OfferTo => Input::Offer { station, frame },
            What::Detach => Input::Detach { station },
            What::Attach => Input::Attach { station },
        };
        (at, input)
    }
}

fn number(input: Input) -> Option<StationId> {
    match input {
        Input::Offer { station, .. }
        | Input::Detach { station }
        | Input::Attach { station }
        | Input::SetFault { station, .. } => Some(station),
        Input::Timeout => None,
    }
}
