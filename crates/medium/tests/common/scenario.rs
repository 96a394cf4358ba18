//! Random scenarios: small media on which a few frames contend, and a runner whose draws are reproducible.
#![allow(dead_code, reason = "each test file uses its own part of this module")]

use backoff::{Generator, Policy};
use medium::{
    BitErrors, BitRate, BitTimes, Capture, Config, Deed, Destination, Fault, Frame, Input, Octets, Place, Repeater,
    Segments, SlottedAloha, StationId, Topology,
};
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, RngAlgorithm, RngSeed, TestRng, TestRunner};
use std::fmt;
use std::num::NonZeroU32;

/// A medium, and its inputs in order of time.
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
        writeln!(f, "  {:?}", self.config.backoff)?;
        writeln!(f, "  queue_limit {} seed {}", self.config.queue_limit, self.config.seed)?;
        self.inputs.iter().try_for_each(|(at, input)| writeln!(f, "  {at:>6} {input:?}"))
    }
}

/// The number of cases that a test draws: `ETHBUS_CASES`, or `usual`.
pub fn cases(usual: u32) -> u32 {
    std::env::var("ETHBUS_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// A runner whose draws depend on `ETHBUS_SEED`, or 1, alone; it keeps no file of failures.
pub fn runner(usual: u32) -> TestRunner {
    runner_for(cases(usual))
}

/// The same for `cases` cases.
pub fn runner_for(cases: u32) -> TestRunner {
    let seed: u64 = std::env::var("ETHBUS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    println!("ETHBUS_SEED={seed} ETHBUS_CASES={cases}");
    let config = Cases {
        cases,
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
    let star = (1..=6_usize, prop_oneof![Just(0), 0..=60_u64, 0..=1_000_u64])
        .prop_map(|(stations, distance)| Topology::star(stations, distance));
    let place = prop_oneof![1 => 0..=60_u64, 3 => 0..=700_u64];
    let bus = proptest::collection::vec(place.prop_map(BitTimes::new), 1..=6);
    prop_oneof![star, bus.prop_map(|positions| Topology::Bus { positions })]
}

/// One to six stations on two to four segments that repeaters join to a tree.
pub fn joined_segments() -> impl Strategy<Value = Topology> {
    let place = (0..4_usize, prop_oneof![1 => 0..=60_u64, 2 => 0..=400_u64]);
    let repeater = (place.clone(), place.clone(), 0..=120_u64);
    let stations = proptest::collection::vec(place, 1..=6);
    // Each repeater joins a new segment to one that is joined already; some have a third port on a fresh segment.
    (2..=4_usize, stations, proptest::collection::vec(repeater, 3), any::<bool>()).prop_map(
        |(segments, stations, repeaters, hub)| {
            let place = |segment, position| Place { segment, position: BitTimes::new(position) };
            let stations = stations.iter().map(|&(segment, position)| place(segment % segments, position)).collect();
            let mut joined: Vec<Repeater> = Vec::new();
            for (index, &((old, near), (_, far), delay)) in repeaters[..segments - 1].iter().enumerate() {
                let new = place(index + 1, far);
                match joined.last_mut() {
                    Some(last) if hub => last.ports.push(new),
                    _ => joined.push(Repeater {
                        delay: BitTimes::new(delay),
                        jitter: BitTimes::ZERO,
                        ports: vec![place(old % (index + 1), near), new],
                    }),
                }
            }
            Topology::Segments(Segments::new(stations, &joined).expect("a tree"))
        },
    )
}

/// The repeaters of `config` have jitter: together as much as the gap allows, or less.
pub fn with_jitter(config: impl Strategy<Value = Config>) -> impl Strategy<Value = Config> {
    (config, proptest::array::uniform3(0..=100_u64)).prop_map(|(mut config, shares)| {
        let Topology::Segments(segments) = &config.topology else { return config };
        let mut repeaters = segments.repeaters().to_vec();
        let most = (config.parameters.inter_packet_gap.get() - 1) / repeaters.len() as u64;
        for (repeater, share) in repeaters.iter_mut().zip(shares) {
            repeater.jitter = BitTimes::new(most * share / 100);
        }
        let segments = Segments::new(segments.stations().to_vec(), &repeaters).expect("a tree");
        config.topology = Topology::Segments(segments);
        config.parameters.burst_limit = BitTimes::ZERO;
        config
    })
}

/// Each station of the scenario gets a clock: right, a little off, or as far off as allowed.
pub fn with_clocks_off(scenarios: impl Strategy<Value = Scenario>) -> impl Strategy<Value = Scenario> {
    (scenarios, any::<u64>()).prop_map(|(scenario, seed)| clocks_off(scenario, seed))
}

/// The same for one scenario.
pub fn clocks_off(mut scenario: Scenario, seed: u64) -> Scenario {
    let mut draws = Generator::stream(seed, 1 << 33);
    let mut below = |limit: u64| draws.next_u64() % limit;
    let clock = |_| match below(5) {
        0 => 0,
        1 => below(201) as i32 - 100,
        2 => below(20_001) as i32 - 10_000,
        _ => below(200_001) as i32 - 100_000,
    };
    scenario.config.clocks_ppm = (0..scenario.config.topology.stations()).map(clock).collect();
    scenario
}

/// Capture on a bus, in three of four cases: anything else has no places.
pub fn some_capture(topology: &Topology, seed: u64) -> Option<Capture> {
    let Topology::Bus { positions } = topology else { return None };
    let mut draws = Generator::stream(seed, 1 << 32);
    let mut below = |limit: u64| draws.next_u64() % limit;
    if below(4) == 0 {
        return None;
    }
    let (threshold, exponent) = (1 + below(2_000) as u32, 150 + below(400) as u32);
    Some(Capture { threshold, exponent, positions: positions.iter().map(|_| below(100_000)).collect() })
}

/// The longest way at which the sender of the shortest frame still hears every station that could disturb it.
///
/// A station that has heard the signal may begin up to a gap later, in a gap that carrier does not restart; its signal
/// must arrive before the 64 + 512 BT are over: 2d + 96 < 576.
pub const FITTING_DISTANCE: u64 = 239;

/// One to six stations on a medium that the slot time covers.
pub fn fitting_topology() -> impl Strategy<Value = Topology> {
    let star = (1..=6_usize, 0..=FITTING_DISTANCE).prop_map(|(stations, distance)| Topology::star(stations, distance));
    let bus = proptest::collection::vec((0..=FITTING_DISTANCE).prop_map(BitTimes::new), 1..=6);
    prop_oneof![star, bus.prop_map(|positions| Topology::Bus { positions })]
}

/// Table 4-2 of 802.3, unchanged.
pub fn standard_config(topology: impl Strategy<Value = Topology>) -> impl Strategy<Value = Config> {
    (topology, 1..=6_usize, any::<u64>()).prop_map(|(topology, queue_limit, seed)| {
        let mut config = Config::new(BitRate::MBIT_10, topology, seed);
        config.queue_limit = queue_limit;
        config
    })
}

/// Parameters of the standard with other limits, and sometimes another gap, jam, slot or shortest frame.
pub fn any_config(topology: impl Strategy<Value = Topology>) -> impl Strategy<Value = Config> {
    let odd = prop_oneof![
        3 => Just((96, 32, 512, 64)),
        1 => (1..=96_u64, 32..=64_u64, prop_oneof![Just(512), 1..=600_u64], 18..=80_u32),
    ];
    (topology, any_limits(), odd).prop_map(|(topology, limits, (gap, jam, slot, least))| {
        let mut config = Config::new(BitRate::MBIT_10, topology, 0);
        let p = &mut config.parameters;
        p.inter_packet_gap = BitTimes::new(gap);
        p.jam_size = BitTimes::new(jam);
        p.slot_time = BitTimes::new(slot);
        p.min_frame_size = Octets::new(least);
        limits.set(&mut config);
        config
    })
}

/// Carrier extension and bursts as at 1000 Mb/s, but so short that a model that steps through bit times manages many.
pub fn extending_config(topology: impl Strategy<Value = Topology>) -> impl Strategy<Value = Config> {
    let burst = prop_oneof![1 => Just(0), 2 => 1..=2_000_u64, 3 => 1_000..=8_000_u64, 2 => Just(65_536)];
    let jam = prop_oneof![3 => Just(32), 1 => 32..=200_u64];
    let least = prop_oneof![2 => Just(64), 1 => 18..=80_u32];
    (topology, any_limits(), 1..=120_u32, burst, jam, least).prop_map(
        |(topology, limits, extend, burst, jam, least)| {
            let mut config = Config::new(BitRate::MBIT_1000, topology, 0);
            let p = &mut config.parameters;
            p.min_frame_size = Octets::new(least);
            p.extend_size = Octets::new(extend);
            p.slot_time = BitTimes::new(u64::from(least + extend) * 8);
            p.burst_limit = BitTimes::new(burst);
            p.jam_size = BitTimes::new(jam);
            limits.set(&mut config);
            config
        },
    )
}

/// The values for 1000 Mb/s, unchanged, bursts on or off.
pub fn gigabit_config(topology: impl Strategy<Value = Topology>) -> impl Strategy<Value = Config> {
    (topology, any::<bool>(), any::<u64>()).prop_map(|(topology, bursts, seed)| {
        let mut config = Config::new(BitRate::MBIT_1000, topology, seed);
        if !bursts {
            config.parameters.burst_limit = BitTimes::ZERO;
        }
        config
    })
}

/// Every medium that can be configured, the rates and topologies mixed.
pub fn any_medium() -> impl Strategy<Value = Config> {
    let topology = || prop_oneof![3 => any_topology(), 1 => joined_segments()];
    prop_oneof![
        2 => any_config(topology()),
        1 => extending_config(topology()),
        1 => with_jitter(any_config(joined_segments())),
    ]
}

/// The limits that any parameters may be combined with.
#[derive(Clone, Debug)]
struct Limits {
    backoff_limit: u32,
    attempt_limit: u32,
    queue_limit: usize,
    seed: u64,
    part_1: u64,
    max_defer_time: u64,
    max_frame_size: u32,
    jabber_limit: Option<u64>,
    backoff: Option<Policy>,
}

/// A backoff that counts slots.
pub fn any_policy() -> impl Strategy<Value = Policy> {
    prop_oneof![
        (1..=12_u32).prop_map(|slots| Policy::aloha_uniform(SlottedAloha::SLOT, slots)),
        (1..=12_u32).prop_map(|slots| Policy::aloha_geometric(SlottedAloha::SLOT, slots)),
        (1..=6_u32).prop_map(|limit| Policy::slot_exponential(SlottedAloha::SLOT, 2, limit)),
        Just(Policy::rcp(SlottedAloha::SLOT, [1, 10, 100, 200])),
    ]
}

fn any_limits() -> impl Strategy<Value = Limits> {
    let part_1 = prop_oneof![2 => Just(64), 3 => 0..=64_u64];
    let defer = prop_oneof![2 => Just(24_288), 1 => 0..=3_000_u64];
    let size = prop_oneof![4 => Just(1518), 1 => Just(2000), 1 => 80..=1518_u32];
    let jabber = proptest::option::weighted(0.3, 0..=4_000_u64);
    let rest = (size, jabber, proptest::option::weighted(0.3, any_policy()));
    (0..=10_u32, 1..=40_u32, 1..=6_usize, any::<u64>(), part_1, defer, rest).prop_map(
        |(backoff_limit, attempt_limit, queue_limit, seed, part_1, max_defer_time, rest)| {
            let (max_frame_size, jabber, backoff) = rest;
            Limits {
                backoff_limit,
                attempt_limit,
                queue_limit,
                seed,
                part_1,
                max_defer_time,
                max_frame_size,
                jabber_limit: jabber.map(|more| u64::from(max_frame_size) * 8 + 104 + more),
                backoff,
            }
        },
    )
}

impl Limits {
    fn set(&self, config: &mut Config) {
        config.seed = self.seed;
        config.queue_limit = self.queue_limit;
        config.backoff = self.backoff;
        let p = &mut config.parameters;
        p.backoff_limit = self.backoff_limit;
        p.attempt_limit = NonZeroU32::new(self.attempt_limit).expect("at least 1");
        p.inter_packet_gap_part_1 = BitTimes::new(self.part_1.min(p.inter_packet_gap.get() * 2 / 3));
        p.max_defer_time = BitTimes::new(self.max_defer_time);
        p.max_frame_size = Octets::new(self.max_frame_size);
        p.jabber_limit = self.jabber_limit.map_or(p.jabber_limit, BitTimes::new);
    }
}

/// A scenario with stations without faults on a medium that `config` draws.
pub fn any_scenario(config: impl Strategy<Value = Config>) -> impl Strategy<Value = Scenario> {
    scenario(config, any_input().boxed())
}

/// Sometimes the cable is cut or mended, and a station has a fault.
///
/// The topology has a cable; a cut with all stations on one side is left out.
pub fn cut_scenario(config: impl Strategy<Value = Config>) -> impl Strategy<Value = Scenario> {
    scenario(config, prop_oneof![6 => any_input(), 1 => any_fault(), 2 => any_cut()].boxed())
}

/// Up to 70 stations on a star, with enough simultaneous frames that more than 64 of them wait or send together.
pub fn crowded_scenario() -> impl Strategy<Value = Scenario> {
    let star = (60..=70_usize, prop_oneof![Just(0), 0..=60_u64, 0..=1_000_u64])
        .prop_map(|(stations, distance)| Topology::star(stations, distance));
    let offers = proptest::collection::vec((any_input(), 0..70_u16, 0..70_u16), 80..=140);
    (any_config(star), offers, any::<bool>(), any::<bool>()).prop_map(|(config, drawn, together, faulty)| {
        let stations = config.topology.stations() as u16;
        let mut inputs: Vec<_> = (drawn.into_iter())
            .map(|(mut drawn, station, to)| {
                (drawn.station, drawn.to) = (station, drawn.to.map(|_| to));
                let (at, input) = drawn.on(stations, &[0]);
                (if together { at / 1_400 } else { at }, input)
            })
            .collect();
        if faulty {
            inputs.push((700, Input::Deed(Deed::Fault { station: StationId::new(3), fault: Some(Fault::Deaf) })));
        }
        inputs.sort_by_key(|&(at, input)| (at, input.station()));
        Scenario { config, inputs }
    })
}

/// One to six stations along a cable or on segments.
pub fn any_cable() -> impl Strategy<Value = Topology> {
    let place = prop_oneof![1 => 0..=60_u64, 3 => 0..=700_u64];
    let bus = proptest::collection::vec(place.prop_map(BitTimes::new), 2..=6);
    prop_oneof![bus.prop_map(|positions| Topology::Bus { positions }), joined_segments()]
}

/// Sometimes a station has a fault.
pub fn faulty_scenario(config: impl Strategy<Value = Config>) -> impl Strategy<Value = Scenario> {
    scenario(config, prop_oneof![8 => any_input(), 1 => any_fault()].boxed())
}

/// Sometimes a station hears nothing, or bits are wrong at its place; rates at which signals of 100 bits are hit often.
pub fn noisy_scenario(config: impl Strategy<Value = Config>) -> impl Strategy<Value = Scenario> {
    scenario(config, prop_oneof![6 => any_input(), 1 => any_fault(), 2 => any_noise()].boxed())
}

fn scenario(config: impl Strategy<Value = Config>, input: BoxedStrategy<Drawn>) -> impl Strategy<Value = Scenario> {
    (config, proptest::collection::vec(input, 1..=16), proptest::collection::vec(0..=4_000_u64, 1..=3)).prop_map(
        |(config, drawn, clusters)| {
            let stations = config.topology.stations() as u16;
            let mut inputs: Vec<_> = drawn.iter().map(|drawn| drawn.on(stations, &clusters)).collect();
            let cuts = |cut: Place| config.topology.beyond(cut).is_ok();
            inputs.retain(|(_, input)| !matches!(input, Input::Deed(Deed::Cut(Some(cut))) if !cuts(*cut)));
            inputs.sort_by_key(|&(at, input)| (at, input.station()));
            Scenario { config, inputs }
        },
    )
}

/// An input before the numbers of stations and of clusters of arrivals are known.
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
    SetFault(Option<Fault>),
    Cut(Option<(usize, u64)>),
    Queue(usize),
}

fn any_input() -> impl Strategy<Value = Drawn> {
    drawn(prop_oneof![
        18 => Just(What::OfferTo), 4 => Just(What::Broadcast), 1 => Just(What::Detach), 1 => Just(What::Attach),
        1 => (1..=6_usize).prop_map(What::Queue)
    ])
}

fn any_fault() -> impl Strategy<Value = Drawn> {
    let fault = prop_oneof![
        2 => Just(None),
        2 => Just(Some(Fault::Deaf)),
        1 => Just(Some(Fault::BadFcs)),
        1 => Just(Some(Fault::FullDuplex)),
        2 => Just(Some(Fault::Babble)),
    ];
    drawn(fault.prop_map(What::SetFault))
}

fn any_noise() -> impl Strategy<Value = Drawn> {
    let errors = (100_000_000..=20_000_000_000_u64, prop_oneof![Just(1), 2..=400_u16], any::<bool>());
    let errors = errors.prop_map(|(rate, burst, on_line)| BitErrors { rate, burst, on_line });
    let fault = prop_oneof![
        1 => Just(None),
        1 => Just(Some(Fault::OneWay)),
        5 => errors.prop_map(|errors| Some(Fault::BitErrors(errors))),
    ];
    drawn(fault.prop_map(What::SetFault))
}

fn any_cut() -> impl Strategy<Value = Drawn> {
    let position = prop_oneof![1 => 0..=60_u64, 2 => 0..=400_u64, 2 => 0..=700_u64];
    let segment = prop_oneof![2 => Just(0_usize), 1 => 0..4_usize];
    drawn(proptest::option::weighted(0.7, (segment, position)).prop_map(What::Cut))
}

fn drawn(what: impl Strategy<Value = What>) -> impl Strategy<Value = Drawn> {
    let after = prop_oneof![2 => Just(0), 3 => 0..=100_u64, 4 => 0..=1_500_u64];
    let octets = prop_oneof![
        6 => Just(64),
        12 => 18..=200_u32,
        1 => Just(1518),
        1 => 0..=17_u32,
        1 => 1517..=1523_u32,
        1 => 1999..=2005_u32,
    ];
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
            What::Detach => Input::Deed(Deed::Unplug { station }),
            What::Attach => Input::Deed(Deed::Plug { station }),
            What::SetFault(fault) => Input::Deed(Deed::Fault { station, fault }),
            What::Queue(limit) => Input::Deed(Deed::Queue { limit }),
            What::Cut(cut) => {
                let place = |(segment, position)| Place { segment, position: BitTimes::new(position) };
                Input::Deed(Deed::Cut(cut.map(place)))
            }
        };
        (at, input)
    }
}
