//! PLCA of 10BASE-T1S in closed form: how long cycles are, the longest wait, and what is left for frames (802.3, clause
//! 148).
//!
//! ```text
//!   |BEACON 20|turn: to_tmr if unused|COMMIT 96|preamble 64|frame 8 L|ESD 8| …
//! ```
//! COMMIT covers the MAC's gap. The gap of a lone node goes by in the turns of the others, and its frame waits in the
//! delay line.

use super::{Answer, Refusal, Value};
use sim::figures::cycle::{BURST_TIMER, Bus, DELIMITER, GAP};

/// What destination, source, type and FCS take of a frame.
const HEADER: u64 = 18;

/// Octets of frames, and of what the MAC carries in them, as parts of a cycle with `frames`.
fn parts(bus: &Bus, frames: u64, cycle: u64) -> (f64, f64) {
    let part = |octets: u64| (frames * 8 * octets) as f64 / cycle as f64;
    (part(bus.octets), part(bus.octets - HEADER))
}

/// How long a cycle is on average at this load: each frame takes its turn's place, as long as there is room.
fn mean_cycle(bus: &Bus, load: f64) -> Option<f64> {
    let bits = (8 * bus.octets) as f64;
    let more = (bus.frame() + DELIMITER + GAP - bus.to.min(GAP)) as f64;
    let cycle = bus.idle_cycle() as f64 / (1.0 - load * more / bits);
    (load * more < bits && cycle <= bus.longest_cycle() as f64).then_some(cycle)
}

fn refuse(given: String, because: &str, nearest: &str) -> Result<Answer, Refusal> {
    Err(Refusal::new(given, because, nearest))
}

/// What `ethbus theory plca` prints.
///
/// # Errors
/// Values out of the ranges of clause 30.16 and of 802.3.
pub fn answer(nodes: u32, octets: u32, bursts: u32, to: u32, load: Option<f64>) -> Result<Answer, Refusal> {
    if !(1..=255).contains(&nodes) {
        return refuse(
            format!("--stations {nodes}"),
            "a cycle has 1 to 255 turns (802.3, 30.16.1.1.3)",
            "take 1 or 255",
        );
    }
    if !(64..=2000).contains(&octets) {
        return refuse(format!("--frame-size {octets}"), "a frame has 64 to 2000 octets (3.2.7)", "take 64 or 2000");
    }
    if bursts > 255 {
        return refuse(format!("--burst-count {bursts}"), "it goes to 255 (802.3, 30.16.1.1.6)", "take 255");
    }
    if !(1..=255).contains(&to) {
        return refuse(format!("--to-timer {to}"), "a turn lasts 1 to 255 BT (802.3, 30.16.1.1.5)", "take 1 or 255");
    }
    if load.is_some_and(|load| !(0.0..1.0).contains(&load)) {
        let given = format!("--load {}", load.unwrap_or_default());
        return refuse(given, "it is a part of the rate", "take 0 or above, and below 1");
    }
    let bus = Bus {
        nodes: nodes.into(),
        octets: octets.into(),
        bursts: bursts.into(),
        burst_timer: BURST_TIMER,
        to: to.into(),
    };
    let source = "IEEE 802.3cg-2019, clause 148: BEACON 20 BT, turns of to_tmr, COMMIT over the MAC's gap of 96 BT, \
        preamble and SFD 64 BT, ESD 8 BT";
    let holds = "10 Mb/s, PLCA right at every node, a line without delay; every frame has this length";
    let count = Value::Count;
    let (lone, all) = (bus.lone_cycle(), bus.longest_cycle());
    let one = parts(&bus, 1 + bus.bursts, lone);
    let every = parts(&bus, (1 + bus.bursts) * bus.nodes, all);
    let answer = Answer::new("plca", source, holds)
        .with("nodes", "n, turns in a cycle", count(bus.nodes))
        .with("frame_size", "L, octets of a frame", count(bus.octets))
        .with("idle_cycle_bt", "a cycle in which no node sends: 20 + to_tmr n", count(bus.idle_cycle()))
        .with("longest_cycle_bt", "every node sends all it may", count(all))
        .with("longest_turn_bt", "COMMIT, the frames of a turn, and ESD", count(bus.turn()))
        .with(
            "access_delay_bound_bt",
            "from the head of the queue to the first bit, at most: the MAC defers to a frame and misses its turn, which \
             comes within the gap after it; all others use theirs; COMMIT",
            count(bus.access_delay_bound()),
        )
        .with("access_delay_bound_us", "the same at 10 Mb/s", Value::Number(bus.access_delay_bound() as f64 / 10.0))
        .with("one_cycle_bt", "from turn to turn of one node that sends all it may, others idle", count(lone))
        .with("one_utilization", "frames, if one node always has one", Value::Number(one.0))
        .with("one_goodput", "the same without header and FCS", Value::Number(one.1))
        .with("all_utilization", "frames, if all nodes always have one", Value::Number(every.0))
        .with("all_goodput", "the same without header and FCS", Value::Number(every.1));
    Ok(match load {
        None => answer,
        Some(load) => answer.with("load", "offered utilization", Value::Number(load)).with_some(
            "mean_cycle_bt",
            "a cycle at this load, roughly",
            mean_cycle(&bus, load).map(Value::Number),
            || "the load is above what is left: queues grow".to_owned(),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use backoff::rand_core::Rng;
    use medium::{
        BitInstant, BitRate, Config, Destination, Event, Frame, Host, Input, Kind, Medium, Method, Octets, Plca,
        StationId, Topology,
    };

    /// When frames took their turns, and how long each waited: by station.
    #[derive(Default)]
    struct Seen {
        turns: Vec<(usize, u64)>,
        waits: Vec<(usize, u64)>,
    }

    impl Host for Seen {
        fn event(&mut self, event: &Event) {
            let station = event.station.index();
            match event.kind {
                Kind::Commit { .. } => self.turns.push((station, event.at.get())),
                Kind::Transmitted { access_delay, .. } => self.waits.push((station, access_delay.get())),
                _ => {}
            }
        }

        fn next_frame(&mut self, _: BitInstant, _: StationId) -> Option<Frame> {
            None
        }
    }

    /// Eight nodes, frames of 64 octets offered at these instants.
    fn run(offers: &[(u64, u16)]) -> Seen {
        run_on(Plca::right(8), offers)
    }

    fn run_on(plca: Plca, offers: &[(u64, u16)]) -> Seen {
        let config = Config::new(BitRate::MBIT_10, Topology::star(plca.nodes.len(), 0), 1);
        let config = Config { method: Method::Plca(plca), keep_outputs: false, ..config };
        let mut medium = Medium::new(config).expect("a valid configuration");
        let mut seen = Seen::default();
        for &(at, station) in offers {
            let frame = Frame::new(Octets::new(64), Destination::All);
            medium.give(BitInstant::new(at), Input::Offer { station: StationId::new(station), frame }, &mut seen);
        }
        let last = offers.last().map_or(0, |(at, _)| *at);
        medium.run_until(BitInstant::new(last + 30_000), &mut seen);
        seen
    }

    /// All become ready as node 0 has just begun its COMMIT. The turns of 1, 2 and 3 end within the gap after its frame; so
    /// node 3 waits for the turns of all others, longer than a bound without what deference costs.
    #[test]
    fn a_mac_that_defers_misses_its_turn() {
        let (_, commit) = run(&[(10_000, 0), (10_000, 0)]).turns[0];
        let others = (0..8).map(|station| (commit + 1, station));
        let seen = run(&[vec![(10_000, 0), (10_000, 0)], others.collect()].concat());
        let (_, wait) = seen.waits.iter().find(|(station, _)| *station == 3).expect("it was sent");
        let bus = Bus { nodes: 8, octets: 64, bursts: 0, burst_timer: BURST_TIMER, to: 32 };
        let bound = bus.access_delay_bound();
        assert!((bound - (bus.turn() + 2 * bus.to)..=bound).contains(wait), "{wait} BT, and the bound is {bound}");
        // Two COMMITs are missing: node 0's first frame comes out of its delay line, and the MAC of node 4 is ready just as its
        // turn begins.
        assert_eq!(*wait, bound - 2 * GAP - 1);
    }

    /// Frames at random instants on settled buses of 2 to 10 nodes, whatever a turn lasts. A node gets a frame only when its
    /// last one is sent: a queue's wait is not the bus's.
    #[test]
    fn no_frame_waits_longer_than_the_bound() {
        let mut drawn = backoff::Generator::stream(1, 0);
        println!("seed 1");
        let mut below = |limit: u64| u64::from(drawn.next_u32()) % limit;
        for to in [8, 24, 32, 50, 96, 97, 128, 200, 255] {
            for nodes in 2..=10_u16 {
                let mut plca = Plca::right(nodes.into());
                plca.nodes.iter_mut().for_each(|node| node.settings.to_timer = to);
                let plca = Plca::new(plca.nodes);
                let bus = Bus { nodes: nodes.into(), octets: 64, bursts: 0, burst_timer: BURST_TIMER, to: to.into() };
                let bound = bus.access_delay_bound();
                let mut offers = Vec::new();
                for round in 0..200 {
                    let begin = 10_000 + round * 3 * bound;
                    offers.extend((0..nodes).map(|node| (begin + below(bound), node)));
                }
                offers.sort_unstable();
                let longest = run_on(plca, &offers).waits.into_iter().max_by_key(|(_, wait)| *wait);
                let (node, wait) = longest.expect("frames were sent");
                assert!(
                    wait <= bound,
                    "{nodes} nodes, to_tmr {to}: node {node} waited {wait} BT, and the bound is {bound}"
                );
            }
        }
    }

    /// Each node always has a frame.
    #[derive(Default)]
    struct Saturated {
        longest: u64,
        collisions: u64,
    }

    impl Host for Saturated {
        fn feeds(&self) -> bool {
            true
        }

        fn event(&mut self, event: &Event) {
            match event.kind {
                Kind::Transmitted { access_delay, .. } => self.longest = self.longest.max(access_delay.get()),
                Kind::Collision { episode: 1.., .. } => self.collisions += 1,
                _ => {}
            }
        }

        fn next_frame(&mut self, _: BitInstant, _: StationId) -> Option<Frame> {
            Some(Frame::new(Octets::new(64), Destination::All))
        }
    }

    /// From the first bit on, whatever the seed. After a cold start the first frames collide, and their attempts stay with
    /// them: with most seeds a frame waits longer than the bound, or is discarded.
    #[test]
    fn a_settled_bus_keeps_the_bound_from_its_first_bit() {
        let bound = Bus { nodes: 8, octets: 64, bursts: 0, burst_timer: BURST_TIMER, to: 32 }.access_delay_bound();
        let run = |cold_start: bool, seed: u64| {
            let plca = Plca { cold_start, ..Plca::right(8) };
            let config = Config::new(BitRate::MBIT_10, Topology::star(8, 0), seed);
            let config = Config { method: Method::Plca(plca), keep_outputs: false, ..config };
            let (mut medium, mut host) = (Medium::new(config).expect("a valid configuration"), Saturated::default());
            for station in (0..8).map(StationId::new) {
                let frame = Frame::new(Octets::new(64), Destination::All);
                medium.give(BitInstant::ZERO, Input::Offer { station, frame }, &mut host);
            }
            medium.run_until(BitInstant::new(1_000_000), &mut host);
            host
        };
        for seed in 1..=20 {
            let Saturated { longest, collisions } = run(false, seed);
            assert!(
                longest <= bound && collisions == 0,
                "seed {seed}: {longest} BT of {bound}, {collisions} collisions"
            );
        }
        let beyond = (1..=20).filter(|&seed| run(true, seed).longest > bound).count();
        assert!(beyond > 10, "{beyond} of 20 seeds after a cold start");
    }

    fn count(answer: &Answer, key: &str) -> u64 {
        match answer.value(key) {
            Some(Value::Count(count)) => *count,
            other => panic!("{key}: {other:?}"),
        }
    }

    /// Idle cycle 20 + 32 n: 276 BT for 8 nodes.
    #[test]
    fn cycles_of_eight_nodes() {
        let answer = answer(8, 64, 0, 32, None).expect("in range");
        assert_eq!(count(&answer, "idle_cycle_bt"), 276);
        assert_eq!(count(&answer, "longest_cycle_bt"), 20 + 8 * (96 + 64 + 512 + 8));
        assert_eq!(count(&answer, "access_delay_bound_bt"), (680 + 2 * 32) + 32 + (20 + 7 * 680) + 96);
        assert_eq!(count(&answer, "one_cycle_bt"), 20 + 7 * 32 + 64 + 512 + 8);
    }

    /// Above 16 nodes the delay line is full before the next turn: the node gets a logical collision, and misses a turn
    /// within pending_timer; at 40 nodes the turn comes after that, with COMMIT.
    #[test]
    fn a_lone_node_among_many_is_told_to_wait() {
        let one = |nodes| count(&answer(nodes, 64, 0, 32, None).expect("in range"), "one_cycle_bt");
        assert_eq!(one(16), 584 + 20 + 15 * 32);
        assert_eq!(one(20), 584 + (20 + 19 * 32) + (20 + 20 * 32) + 96);
        assert_eq!(one(40), 584 + (20 + 39 * 32) + 96);
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        for refused in [answer(0, 64, 0, 32, None), answer(256, 64, 0, 32, None), answer(8, 63, 0, 32, None)] {
            assert!(refused.is_err());
        }
        assert!(answer(8, 64, 0, 32, Some(1.5)).is_err());
    }
}
