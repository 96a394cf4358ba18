//! Several buses and bridges: the same whatever the threads, a bus that nothing reaches as alone, and bridges compared with
//! a reference that knows only what each bus was given and what happened there.

mod common;

use medium::{BitInstant, Event, Frame, FrameId, Input, Kind, StationId};
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, RngAlgorithm, RngSeed, TestRng, TestRunner};
use sim::figures::bridge::BridgedResults;
use sim::figures::results::{Results, StationResults};
use sim::files::observer::End;
use sim::run::bridge::{results, run};
use sim::run::measure;
use sim::run::observer::Observer;
use sim::scenario::plan::Overrides;
use sim::scenario::plan::bridged::{Bridged, Planned};
use std::collections::HashMap;
use std::convert::Infallible;
use std::path::Path;
use std::sync::Arc;

/// The plan of a file of several buses.
fn planned(text: &str) -> Bridged {
    match Planned::of_text(Path::new("zonal.toml"), text.to_owned(), &Overrides::default(), 1) {
        Ok(Planned::Several(bridged)) => bridged,
        other => panic!("{text}\n{other:?}"),
    }
}

fn wrong(text: &str) -> String {
    let read = Planned::of_text(Path::new("zonal.toml"), text.to_owned(), &Overrides::default(), 1);
    read.expect_err(text).to_string()
}

/// What one bus was given and what happened there, in order.
#[derive(Clone, Debug, Default, PartialEq)]
struct Notes {
    offers: Vec<(BitInstant, StationId, Frame)>,
    events: Vec<Event>,
}

impl Observer for Notes {
    type Error = Infallible;

    fn input(&mut self, at: BitInstant, input: &Input, _: Option<&Arc<[u8]>>) -> Result<(), Infallible> {
        if let Input::Offer { station, frame } = *input {
            self.offers.push((at, station, frame));
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        self.events.push(*event);
        Ok(())
    }

    fn end(&mut self, _: End) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Notes that are read when the run is over.
#[derive(Clone, Debug, Default)]
struct Shared(Arc<std::sync::Mutex<Notes>>);

impl Observer for Shared {
    type Error = Infallible;

    fn input(&mut self, at: BitInstant, input: &Input, octets: Option<&Arc<[u8]>>) -> Result<(), Infallible> {
        self.0.lock().expect("no panic").input(at, input, octets)
    }

    fn event(&mut self, event: &Event) -> Result<(), Infallible> {
        self.0.lock().expect("no panic").event(event)
    }
}

/// The results as JSON, and the notes of each bus.
fn noted(bridged: &Bridged, threads: usize) -> (String, Vec<Notes>) {
    let notes: Vec<Shared> = bridged.buses.iter().map(|_| Shared::default()).collect();
    let measured = run(bridged, notes.clone(), threads, |_| true).expect("a run");
    let results = serde_json::to_string(&measured.results(bridged)).expect("numbers and names");
    (results, notes.into_iter().map(|notes| notes.0.lock().expect("no panic").clone()).collect())
}

/// Two to five buses as a tree.
fn any_network() -> impl Strategy<Value = String> {
    let bus = (1..=4_usize, 0..4_u8, 0..3_u8, 1..=9_u32, any::<bool>());
    let buses = proptest::collection::vec(bus, 2..=5);
    let bridges = proptest::collection::vec((any::<u8>(), 1..=200_u64, 1..=4_u64, 0..=2_u8), 4);
    (buses, bridges, 0..1000_u64).prop_map(|(buses, bridges, seed)| {
        let mut text = format!("seed = {seed}\n[run]\nduration = \"30ms\"\nwarmup = \"3ms\"\n");
        for (number, (stations, access, rate, load, group)) in buses.iter().enumerate() {
            let method = ["csma-cd", "plca", "csma-cd", "csma-cd"][usize::from(*access)];
            let topology = ["star:0bt", "star:0bt", "bus:200m", "star:40bt"][usize::from(*access)];
            let rate = if method == "plca" { "10M" } else { ["10M", "100M", "3M"][usize::from(*rate)] };
            let to = (number + 1) % buses.len();
            let whom = if *group { "broadcast".to_owned() } else { format!("b{to}-1") };
            text += &format!(
                "[bus.b{number}]\nstations = {stations}\nmedium.rate = \"{rate}\"\nmedium.topology = \"{topology}\"\n\
                 access.method = \"{method}\"\ntraffic.arrivals = \"poisson:0.{load}\"\ntraffic.destination = \"{whom}\"\n\
                 traffic.frame_size = \"64:2,300:1\"\n"
            );
        }
        for (number, (from, latency, queue, ageing)) in (1..buses.len()).zip(bridges) {
            let from = usize::from(from) % number;
            let ageing = ["300s", "1ms", "0s"][usize::from(ageing)];
            text += &format!(
                "[[bridge]]\nname = \"sw{number}\"\njoins = [\"b{from}\", \"b{number}\"]\nlatency = \"{latency}us\"\n\
                 queue = {queue}\nageing = \"{ageing}\"\n"
            );
        }
        text
    })
}

fn runner(cases: u32) -> TestRunner {
    let seed: u64 = std::env::var("ETHBUS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    println!("ETHBUS_SEED={seed}");
    let config = Cases { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(seed), ..Cases::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed as u8; 32]))
}

/// Everything that is seen of a run, each event of each bus too.
#[test]
fn threads_change_nothing() {
    let same = |text: String| {
        let bridged = planned(&text);
        let one = noted(&bridged, 1);
        for threads in [2, 3, 8] {
            prop_assert_eq!(&noted(&bridged, threads), &one, "{} threads:\n{}", threads, text);
        }
        Ok(())
    };
    runner(12).run(&any_network(), same).expect("the same with any number of threads");
}

/// A frame as the reference knows it: who sent it first, and whom it is for, by name.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    source: String,
    whom: Option<String>,
}

/// What one bridge has to do, worked out frame by frame in order of time from what its ports received.
struct Reference<'a> {
    bridged: &'a Bridged,
    notes: &'a [Notes],
    everyone: Vec<String>,
    /// By bus and station: the frames that its ports were given, in order: when at the latest a copy is offered.
    given: HashMap<(usize, StationId), Vec<(u128, Known)>>,
    /// By bridge and station: where it was heard, and when.
    heard: HashMap<(usize, String), (usize, u128)>,
}

impl Reference<'_> {
    /// The time of `at` in nanoseconds, a part of one counted whole.
    fn nanos(&self, bus: usize, at: BitInstant) -> u128 {
        (u128::from(at.get()) * 1_000_000_000).div_ceil(self.bridged.buses[bus].medium.rate.get().into())
    }

    fn name(&self, bus: usize, station: StationId) -> String {
        self.bridged.buses[bus].stations[station.index()].name.clone()
    }

    /// The frame `id` of `bus`.
    fn frame(&self, bus: usize, id: FrameId) -> Known {
        let own = self.notes[bus].offers.iter().filter(|(_, station, _)| *station == id.station);
        let offered = own.clone().nth(id.serial as usize - 1).expect("an offer for each frame").2;
        if let Some(given) = self.given.get(&(bus, id.station)) {
            return given[id.serial as usize - 1].1.clone();
        }
        let whom = match offered.destination {
            medium::Destination::Station(station) => Some(self.name(bus, station)),
            medium::Destination::Beyond(number) => Some(self.everyone[usize::from(number)].clone()),
            medium::Destination::All | medium::Destination::Nobody => None,
        };
        Known { source: self.name(bus, id.station), whom }
    }

    /// All that ports received, in order of time, and of port.
    fn run(&mut self) {
        let mut receptions = Vec::new();
        for (bridge, plan) in self.bridged.bridges.iter().enumerate() {
            for (number, port) in plan.ports.iter().enumerate() {
                self.given.insert((port.bus, port.station), Vec::new());
                let here = self.notes[port.bus].events.iter().filter(|event| event.station == port.station);
                let whole = here.filter(|event| matches!(event.kind, Kind::Delivered { .. }));
                receptions.extend(whole.map(|event| (self.nanos(port.bus, event.at), bridge, number, event.frame)));
            }
        }
        receptions.sort_by_key(|(at, bridge, port, _)| (*at, *bridge, *port));
        for (at, bridge, port, id) in receptions {
            self.forward(at, bridge, port, id);
        }
    }

    fn forward(&mut self, at: u128, bridge: usize, port: usize, id: FrameId) {
        let plan = &self.bridged.bridges[bridge];
        let frame = self.frame(plan.ports[port].bus, id);
        self.heard.insert((bridge, frame.source.clone()), (port, at));
        let whom = frame.whom.clone().filter(|whom| *whom != plan.name);
        let is_own = frame.whom.as_ref() == Some(&plan.name);
        let known = whom.and_then(|whom| self.heard.get(&(bridge, whom)));
        let known = known.filter(|(_, since)| at - since < plan.ageing.as_nanos()).map(|(port, _)| *port);
        for (number, to) in plan.ports.iter().enumerate() {
            let wanted = known.is_none_or(|known| known == number);
            if number != port && wanted && !is_own {
                let offered = at + plan.latency.as_nanos();
                self.given.entry((to.bus, to.station)).or_default().push((offered, frame.clone()));
            }
        }
    }

    /// Whether the ports offered this and nothing else.
    fn check(&self) {
        for ((bus, station), given) in &self.given {
            let rate = u128::from(self.bridged.buses[*bus].medium.rate.get());
            let offers = self.notes[*bus].offers.iter().filter(|(_, own, _)| own == station);
            let offers: Vec<u64> = offers.map(|(at, ..)| at.get()).collect();
            let due = given.iter().map(|(nanos, _)| (nanos * rate).div_ceil(1_000_000_000) as u64);
            let end =
                u128::from(self.bridged.run.warmup.as_micros() as u64 + self.bridged.run.duration.as_micros() as u64);
            let due: Vec<u64> = due.filter(|at| u128::from(*at) < end * rate / 1_000_000).collect();
            assert_eq!(offers, due, "{bus} {station}");
        }
    }
}

/// Bridges learn, age, filter, forward and flood as a reference that knows neither windows nor threads.
#[test]
fn bridges_do_what_a_reference_does() {
    let agrees = |text: String| {
        let bridged = planned(&text);
        let (results, notes) = noted(&bridged, 2);
        let own = bridged.buses.iter().flat_map(|bus| &bus.stations[..bus.stations.len() - bus.medium.ports.len()]);
        let everyone = own.map(|station| station.name.clone()).collect();
        let mut reference =
            Reference { bridged: &bridged, notes: &notes, everyone, given: HashMap::new(), heard: HashMap::new() };
        reference.run();
        reference.check();
        let results: serde_json::Value = serde_json::from_str(&results).expect("JSON");
        for port in results["bridges"].as_array().into_iter().flatten().flat_map(|it| it["ports"].as_array()).flatten()
        {
            let count = |name: &str| port[name].as_u64().expect("a count");
            prop_assert_eq!(count("received"), count("forwarded") + count("flooded") + count("filtered"));
        }
        Ok(())
    };
    runner(25).run(&any_network(), agrees).expect("as the reference");
}

/// A bus whose neighbours are silent is measured as if it were alone, ports or not.
#[test]
fn a_bus_that_nothing_reaches_is_as_alone() {
    for access in ["csma-cd", "plca"] {
        let text = format!(
            "[run]\nduration = \"300ms\"\nwarmup = \"10ms\"\n\
             [bus.loud]\nstations = 5\naccess.method = \"{access}\"\ntraffic.arrivals = \"poisson:0.7\"\n\
             [bus.quiet]\nstations = 3\ntraffic.arrivals = \"silent\"\n\
             [[bridge]]\nname = \"sw\"\njoins = [\"loud\", \"quiet\"]\nlatency = \"7us\"\n"
        );
        let bridged = planned(&text);
        let (results, notes) = noted(&bridged, 2);
        let results: serde_json::Value = serde_json::from_str(&results).expect("JSON");
        let mut alone = Notes::default();
        let plan = &bridged.buses[0];
        let measured = measure::run(plan, plan.medium.seed, &mut alone, |_| true).expect("a run");
        let own = serde_json::to_string(&measure::results(plan, &[measured])).expect("numbers and names");
        let own: serde_json::Value = serde_json::from_str(&own).expect("JSON");
        assert_eq!(results["buses"]["loud"], own, "{access}");
        assert_eq!(notes[0], alone, "{access}");
        assert!(!notes[1].offers.is_empty(), "what is not learned is flooded");
    }
}

/// Frames that the slow bus's own stations sent, those they gave up, and frames that the fifth station sent there.
fn shares<'a>(stations: impl IntoIterator<Item = &'a StationResults>) -> [u64; 3] {
    let mut counts = [0; 3];
    for station in stations {
        let is_fifth = station.name == "sw";
        counts[if is_fifth { 2 } else { 0 }] += station.counter("frames_transmitted_ok");
        counts[1] += if is_fifth { 0 } else { station.counter("excessive_collisions") };
    }
    counts
}

/// A bus at 100 Mb/s gives a port more than a bus at 10 Mb/s carries. The stations there lose frames to the capture effect,
/// as many as to a saturated station in the port's place: a port is a station of 802.3, 4.2.3.2, and no more.
#[test]
fn a_flooded_port_takes_what_a_saturated_station_takes() {
    let (mut of_port, mut of_station) = ([0; 3], [0; 3]);
    for seed in 1..=4 {
        let run_for = format!("seed = {seed}\n[run]\nduration = \"5s\"\nwarmup = \"200ms\"\n");
        let flooded = planned(&format!(
            "{run_for}[bus.fast]\nstations = 2\nmedium.rate = \"100M\"\ntraffic.arrivals = \"saturated\"\n\
             traffic.frame_size = 1518\ntraffic.destination = \"slow-1\"\n[bus.slow]\nstations = 4\n\
             traffic.arrivals = \"poisson:0.1\"\ntraffic.frame_size = 1518\n\
             [[bridge]]\nname = \"sw\"\njoins = [\"fast\", \"slow\"]\n"
        ));
        let results = run(&flooded, vec![(), ()], 2, |_| true).expect("a run").results(&flooded);
        assert!(results.bridges[0].ports[1].dropped > 10_000, "the queue of the port is never empty");
        let own = "arrivals = \"poisson:0.025\"\nframe_size = 1518\n[[station]]\n".repeat(4);
        let text = format!(
            "{run_for}[[station]]\n{own}name = \"sw\"\narrivals = \"saturated\"\nframe_size = 1518\n\
             destination = \"st1\"\n"
        );
        let add = |sums: &mut [u64; 3], own: [u64; 3]| sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        add(&mut of_port, shares(&results.buses["slow"].stations));
        add(&mut of_station, shares(&common::run(&text).stations));
    }
    let lost = |[sent, given_up, _]: [u64; 3]| 100.0 * given_up as f64 / (sent + given_up) as f64;
    let (port, station, taken) = (lost(of_port), lost(of_station), of_port[2] as f64 / of_station[2] as f64);
    assert!(port > 10.0 && (port - station).abs() < 2.5, "own frames given up: {port} % and {station} %");
    assert!((taken - 1.0).abs() < 0.02, "frames of the fifth: {of_port:?} and {of_station:?}");
}

/// A run that ends when enough is known ends where one of its bus alone does. A bus that sends nothing does not delay it.
#[test]
fn a_run_ends_when_enough_is_known_on_each_bus() {
    let text = |more: &str| {
        format!(
            "[run]\nduration = \"30s\"\nwarmup = \"10ms\"\nuntil = \"utilization_total=8%\"\n\
             [bus.loud]\nstations = 3\ntraffic.arrivals = \"poisson:0.5\"\n{more}\
             [bus.quiet]\nstations = 2\ntraffic.arrivals = \"silent\"\n"
        )
    };
    let bridged = planned(&text(""));
    let results = run(&bridged, vec![(), ()], 2, |_| true).expect("a run").results(&bridged);
    let plan = &bridged.buses[0];
    let measured = measure::run(plan, plan.medium.seed, &mut (), |_| true).expect("a run");
    let alone = measure::results(plan, &[measured]);
    let json = |results: &Results| serde_json::to_string(results).expect("numbers and names");
    assert!(json(&results.buses["loud"]) == json(&alone), "other results than alone");
    let until = |results: &Results| results.config.run.clone().and_then(|run| run.until).expect("asked for");
    assert!(until(&alone).reached && alone.measured_bit_times < 300_000_000, "{}", alone.measured_bit_times);
    assert!(!until(&results.buses["quiet"]).reached);
    assert_eq!(results.buses["quiet"].measured_bit_times, alone.measured_bit_times);

    // A third bus that sends rarely is known later. All buses end at that instant, whatever the number of threads.
    let rare = "[bus.rare]\nstations = 4\nmedium.rate = \"100M\"\ntraffic.arrivals = \"poisson:0.002\"\n\
                traffic.destination = \"loud-1\"\n[[bridge]]\nname = \"sw\"\njoins = [\"rare\", \"loud\"]\n";
    let bridged = planned(&text(rare));
    let runs =
        [1, 3].map(|threads| run(&bridged, vec![(), (), ()], threads, |_| true).expect("a run").results(&bridged));
    let [one, three] = runs.each_ref().map(|results| serde_json::to_string(results).expect("numbers and names"));
    assert_eq!(one, three);
    let [loud, rare] = ["loud", "rare"].map(|bus| &runs[0].buses[bus]);
    assert!(until(loud).reached && until(rare).reached);
    assert!(loud.measured_bit_times > alone.measured_bit_times, "the rare bus is known later");
    assert_eq!(rare.measured_bit_times, 10 * loud.measured_bit_times);
}

/// Replications are runs with seeds of their own, and their counts are added.
#[test]
fn replications_are_runs_with_other_seeds() {
    let text = "seed = 7\n[run]\nduration = \"200ms\"\nwarmup = \"10ms\"\nreplications = 3\n\
                [bus.a]\nstations = 3\ntraffic.arrivals = \"poisson:0.9\"\ntraffic.destination = \"b-1\"\n\
                [bus.b]\nstations = 2\naccess.method = \"plca\"\n\
                [[bridge]]\nname = \"sw\"\njoins = [\"a\", \"b\"]\nqueue = 5\n";
    let bridged = planned(text);
    let whole = |bridged: &Bridged| run(bridged, vec![(), ()], 1, |_| true).expect("a run");
    let all = results(&bridged, (0..3).map(|number| whole(&bridged.replica(number))).collect());
    let alone: [BridgedResults; 3] = [7, 8, 9].map(|seed| {
        let text = text.replace("seed = 7", &format!("seed = {seed}"));
        let bridged = planned(&text.replace("replications = 3\n", ""));
        whole(&bridged).results(&bridged)
    });
    let sum = |count: &dyn Fn(&BridgedResults) -> u64| alone.iter().map(count).sum::<u64>();
    for bus in ["a", "b"] {
        let sent = |results: &BridgedResults| results.buses[bus].stations.iter().map(|it| it.counter("attempts")).sum();
        assert_eq!(sent(&all), sum(&sent), "{bus}");
        let intervals = all.buses[bus].medium.ci95.as_ref().expect("three runs");
        assert!(intervals.half_width("utilization_total", None).is_some_and(|half| half > 0.0), "{bus}");
    }
    let dropped = |results: &BridgedResults| results.bridges[0].ports[1].dropped;
    let forwarded = |results: &BridgedResults| results.bridges[0].ports[0].forwarded;
    let crossed = |results: &BridgedResults| results.crossings.iter().map(|it| it.frames).sum();
    let longest = |results: &BridgedResults| results.crossings.iter().map(|it| it.delay_max_ns).max();
    assert!(dropped(&all) > 0 && forwarded(&all) > 0);
    assert_eq!(dropped(&all), sum(&dropped));
    assert_eq!(forwarded(&all), sum(&forwarded));
    assert_eq!(crossed(&all), sum(&crossed));
    assert_eq!(longest(&all), alone.iter().map(longest).max().flatten());
}

/// 64 octets last 57.6 us at 10 Mb/s and 5.76 us at 100 Mb/s: a frame offered at 1 ms is there at 1 ms + 57.6 + 20 + 5.76 us.
#[test]
fn a_frame_is_stored_and_then_forwarded() {
    let bridged = planned(
        "[run]\nduration = \"10ms\"\nwarmup = \"0s\"\n\
         [bus.slow]\nstations = 2\n[[bus.slow.frame]]\nstation = \"slow-1\"\nat = \"1ms\"\ndestination = \"fast-2\"\n\
         [bus.fast]\nstations = 2\nmedium.rate = \"100M\"\ntraffic.arrivals = \"silent\"\n\
         [[bridge]]\nname = \"sw\"\njoins = [\"slow\", \"fast\"]\nlatency = \"20us\"\n",
    );
    let (results, notes) = noted(&bridged, 2);
    let fast = bridged.names.iter().position(|name| name == "fast").expect("a bus");
    let arrived = notes[fast].events.iter().find(|event| matches!(event.kind, Kind::Delivered { .. }));
    let arrived = arrived.expect("it arrives");
    assert_eq!((arrived.at.get(), arrived.station), (108_336, StationId::new(1)), "1 ms + 83.36 us at 100 Mb/s");
    let results: serde_json::Value = serde_json::from_str(&results).expect("JSON");
    assert!(["p50", "p99", "max"].iter().all(|it| results["crossings"][0][format!("delay_{it}_ns")] == 83_360));
    assert_eq!(results["bridges"][0]["ports"][0]["flooded"], 1);
}

/// Names are one station's in all buses, and addresses are counted through.
#[test]
fn stations_are_told_apart_across_buses() {
    let bridged =
        planned("[bus.a]\nstations = 2\n[bus.b]\nstations = 2\n[[bridge]]\nname = 'sw'\njoins = ['a', 'b']\n");
    let names = |bus: usize| bridged.buses[bus].station_names();
    assert_eq!(
        (names(0), names(1)),
        (["a-1", "a-2", "sw"].map(str::to_owned).to_vec(), ["b-1", "b-2", "sw"].map(str::to_owned).to_vec())
    );
    let address = |bus: usize, station: usize| bridged.buses[bus].stations[station].addresses[0].address.to_string();
    assert_eq!(
        (address(0, 0), address(0, 2), address(1, 0)),
        ("10.77.0.1".into(), "10.77.0.3".into(), "10.77.0.4".into())
    );
    assert_ne!(bridged.buses[0].medium.seed, bridged.buses[1].medium.seed);
}

#[test]
fn what_several_buses_cannot_have_is_refused_with_its_place() {
    let two = "[bus.a]\n[bus.b]\n[bus.c]\n";
    let bridge = |joins: &str| format!("{two}[[bridge]]\nname = \"sw\"\njoins = [{joins}]\n");
    for (text, words) in [
        (bridge("\"a\", \"x\""), ["zonal.toml:6:15: joins: `x` is no bus", "Known here: `a`, `b`, `c`"]),
        (bridge("\"a\", \"a\""), ["zonal.toml:6:15", "is there twice"]),
        (bridge("\"a\""), ["zonal.toml:4", "two buses or more"]),
        (
            bridge("\"a\", \"b\"") + "[[bridge]]\nname = \"s2\"\njoins = [\"b\", \"c\", \"a\"]\n",
            ["zonal.toml:9:20: joins: `a` closes a loop", "no spanning tree"],
        ),
        (bridge("\"a\", \"b\"") + "latency = \"0s\"\n", ["zonal.toml:7:11: latency", "takes time"]),
        (bridge("\"a\", \"b\"") + "latency = \"0.05us\"\n", ["zonal.toml:7:11: latency", "shorter than a bit of `a`"]),
        (format!("[medium]\nrate = '10M'\n{two}"), ["zonal.toml:1:2: medium", "[bus.NAME.medium]"]),
        ("[bus.a]\nseed = 3\n".to_owned(), ["zonal.toml:2:1: seed", "outside of [bus.a]"]),
        ("[bus.a]\nrun.duration = '3s'\n".to_owned(), ["zonal.toml:2:1: run", "concerns all buses"]),
        ("[bus.a_long_name_of_a_bus]\n".to_owned(), ["zonal.toml:1:6: bus", "1 to 10 letters"]),
        ("bus = 3\n".to_owned(), ["zonal.toml:1:7: bus", "write `[bus.NAME]`"]),
        ("[run]\nuntil = 'collapse'\n[bus.a]\n".to_owned(), ["zonal.toml:2:9: until", "name a metric"]),
        (
            "[run]\nuntil = '1%'\nreplications = 2\n[bus.a]\n".to_owned(),
            ["zonal.toml:2:9: until", "ends one run, and 2 were asked for"],
        ),
        ("[run]\nduration = '9 slots'\n[bus.a]\n".to_owned(), ["zonal.toml:2:12: duration", "write a time"]),
        (
            "[bus.a]\n[[bus.a.station]]\nname = 'x'\n[bus.b]\n[[bus.b.station]]\nname = 'x'\n".to_owned(),
            ["zonal.toml:6:8: name", "`x` is the name of a station of `a` too"],
        ),
        (
            "[bus.a]\n[[bus.a.station]]\nmac = '02:00:00:00:00:01'\n[bus.b]\n[[bus.b.station]]\nmac = '02:00:00:00:00:01'\n"
                .to_owned(),
            ["zonal.toml:5", "02:00:00:00:00:01` of b-1 on `b` is that of a-1 on `a`"],
        ),
        (bridge("\"a\", \"b\"") + "[bus.d]\naccess.method = 3\n", ["zonal.toml:8:17: method", "write"]),
        (
            "[bus.a]\naccess.method = 'csma-ca'\n[bus.b]\n[[bridge]]\nname = 'sw'\njoins = ['a', 'b']\n".to_owned(),
            ["zonal.toml:2:17: method", "write `csma-cd` or `plca`"],
        ),
        (
            "[bus.a]\ntraffic.destination = 'nowhere'\n[bus.b]\n".to_owned(),
            ["zonal.toml:2:23: destination", "`nowhere` is no destination"],
        ),
        (
            "[bus.a]\ntraffic.destination = 'b-1'\ntraffic.arrivals = 'window:2'\n[bus.b]\n".to_owned(),
            ["zonal.toml:3:20: arrivals", "2 stations or more on the bus"],
        ),
        (
            "[bus.a]\n[[bus.a.station]]\nname = 'sw'\n[[bus.a.station]]\n[bus.b]\n[[bridge]]\nname = 'sw'\njoins = ['a', 'b']\n"
                .to_owned(),
            ["zonal.toml:3:8: name", "behind those of the bus's own stations"],
        ),
        (
            bridge("\"a\", \"b\"") + "[[bus.a.frame]]\nstation = \"sw\"\nat = \"1ms\"\n",
            ["zonal.toml:8:11: station", "offers what it forwards"],
        ),
        (
            bridge("\"a\", \"b\"") + "[[bus.a.at]]\ntime = \"1ms\"\nstation = \"sw\"\narrivals = \"saturated\"\n",
            ["zonal.toml:7:1: at", "offers what it forwards"],
        ),
        (
            bridge("\"a\", \"b\"") + "[[bus.a.station]]\nname = \"sw\"\narrivals = \"saturated\"\n",
            ["zonal.toml:9:12: arrivals", "offers what it forwards"],
        ),
    ] {
        let told = wrong(&text);
        words.iter().for_each(|word| assert!(told.contains(word), "no `{word}` in {told}\n{text}"));
    }
}

/// The first bus that a bridge joins makes it in a live lab.
#[test]
fn labs_come_up_after_those_that_make_their_bridges() {
    let text = "[bus.a]\nstations = 2\n[bus.b]\nstations = 2\n[bus.c]\nstations = 2\n\
                [[bridge]]\nname = \"s\"\njoins = [\"c\", \"a\"]\n[[bridge]]\nname = \"t\"\njoins = [\"b\", \"c\"]\n";
    assert_eq!(planned(text).coming_up(), ["b", "c", "a"]);
}
