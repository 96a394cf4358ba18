//! `ethbus explain` without collision detection: lives as the golden file has them, and the life of every frame of
//! random runs of ALOHA, slotted ALOHA, CSMA and CSMA/CA, compared with overlaps that are computed here from the log's
//! lines.
//!
//! `ETHBUS_SEED=2` draws other runs, `ETHBUS_CASES=10000` more.

use crate::common::files::kind;
use crate::common::process::{ethbus, run, unwrapped};
use crate::logged::{beyond_cut, logged, number, station, text};
use crate::scenario::{Scenario, any_policy, cut_scenario, faulty_scenario, runner};
use medium::{
    Aloha, BitRate, Config, Control, Csma, CsmaCa, Method, Octets, OfdmRate, Persistence, Phy, Population, Reach,
    SlottedAloha, StationId, Tdma, Topology,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::Value;
use sim::explain::{ToldStep, Wanted, data, draw, find, tell};
use sim::files::event_log::EventLogReader;
use sim::files::json_lines::LineReader;
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

/// Options of `ethbus sim`, and of `ethbus explain`.
const LIVES: [(&str, &str); 11] = [
    (
        "--access aloha --population infinite --backoff uniform:20 --traffic poisson:0.2/slot --duration 30ms",
        "--pick collisions=2",
    ),
    ("--access csma-ca --phy ofdm-6 --window 2:2 --retry-limits 2:2 --duration 50ms", "--pick end=discarded"),
    ("--access slotted-aloha --backoff rcp:1,10,100 --traffic bernoulli:0.05 --duration 50ms", "--pick collisions=2"),
    ("--access slotted-aloha --population infinite --traffic poisson:0.2/slot --duration 20ms", "--frame st5#1"),
    ("--access csma --topology bus:500m --duration 20ms", "--pick collisions=2"),
    (
        "--access csma --population infinite --persistence non --topology star:58bt --traffic poisson:0.6/slot --duration 50ms",
        "--pick collisions=2",
    ),
    ("--access csma --persistence 0.1 --topology star:20bt --duration 20ms", "--pick collisions=1"),
    ("--access csma-ca --phy ofdm-54 --topology star:1bt --duration 20ms", "--pick collisions=2"),
    ("--access csma-ca --phy dsss-11 --rts on --duration 300ms", "--pick collisions=1"),
    ("--access csma-ca --phy dsss-1 --topology bus:200m --range 120m --duration 500ms", "--pick collisions=3"),
    (
        "--access tdma --guard 24bt --slots st1,st2,st1,st3,st4,st5 --traffic poisson:0.4/slot --duration 20ms",
        "--frame st2#2",
    ),
];

/// The event log of a run of five stations.
fn events(folder: &Path, options: &str) -> String {
    let events = folder.join("run.events").to_str().expect("UTF-8").to_owned();
    let options = options.split(' ').chain(["--stations", "5", "--warmup", "0s", "--events", &events]);
    run(ethbus(std::iter::once("sim").chain(options))).succeeded();
    events
}

fn explain(events: &str, options: &str) -> String {
    let options = options.split(' ').filter(|option| !option.is_empty());
    run(ethbus(["explain", events].into_iter().chain(options))).succeeded().stdout
}

/// `BLESS=1` rewrites the file.
#[test]
fn lives_are_told_as_the_golden_file_has_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::new();
    for (sim, which) in LIVES {
        let told = explain(&events(folder.path(), sim), which);
        text += &format!("==== sim {sim}; explain {which}\n{told}\n");
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/explain_contention.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&golden, &text).expect("it can be written");
    }
    let wanted = fs::read_to_string(&golden).unwrap_or_default();
    assert!(text == wanted, "BLESS=1 rewrites {}; told:\n{text}", golden.display());
}

/// Lists, data and the diagram are of each method, too.
#[test]
fn frames_are_listed_picked_drawn_and_given_as_data() {
    let folder = tempfile::tempdir().expect("a folder");
    let svg = folder.path().join("life.svg").to_str().expect("UTF-8").to_owned();
    for (sim, which) in LIVES {
        let events = events(folder.path(), sim);
        assert!(explain(&events, "--list").contains("those with most collisions first"), "{sim}");
        let told = explain(&events, which);
        let frame = told.split_whitespace().nth(1).expect("its name");
        let life: Value = serde_json::from_str(&explain(&events, &format!("{which} --format json"))).expect("JSON");
        assert_eq!(life["frame"], frame);
        let steps = life["steps"].as_array().expect("steps");
        let flat = unwrapped(&told);
        // Instant and time since the first step are before the words.
        let words = |step: &Value| step["says"].as_str().expect("words").split_whitespace().last().map(str::to_owned);
        assert!(steps.iter().all(|step| flat.contains(&words(step).expect("a word"))), "{told}");
        explain(&events, &format!("--frame {frame} --svg {svg}"));
        let picture = fs::read_to_string(&svg).expect("a picture");
        assert!(picture.ends_with("</svg>\n") && picture.contains(&format!("{frame}\" data-attempt")), "{sim}");
        let collides = steps.iter().any(|step| step["kind"] == "collision");
        assert_eq!(picture.contains("learns of the collision at"), collides, "{sim}");
        assert!(!picture.contains(": jam<"), "nobody jams: {sim}");
    }
}

/// An attempt, from the log's lines alone.
#[derive(Debug)]
struct Sent {
    frame: String,
    station: usize,
    /// Its addressee, if that is one other station.
    to: Option<usize>,
    begin: u64,
    end: u64,
    parted: Vec<bool>,
}

/// A run, and its log.
struct Run {
    config: Config,
    log: String,
    lines: Vec<Value>,
    sent: Vec<Sent>,
}

impl Run {
    fn of(scenario: &Scenario) -> Run {
        let config = scenario.config.clone();
        let (_, log, lines) = logged(&config, &scenario.inputs, 300_000);
        let sent = sent(&config, &lines);
        Run { config, log, lines, sent }
    }

    /// From when to when an attempt is at a place; none if it does not get there.
    fn at(&self, one: &Sent, place: usize) -> Option<(u64, u64)> {
        let way = self.config.topology.distance(StationId::new(one.station as u16), StationId::new(place as u16)).get();
        (one.parted[one.station] == one.parted[place]).then_some((one.begin + way, one.end + way))
    }

    /// Where it matters to a sender what met its attempt: where it is for, if it gets there.
    fn matter(&self, one: &Sent) -> Vec<usize> {
        match one.to {
            Some(place) if self.at(one, place).is_some() => vec![place],
            Some(_) | None => (0..self.config.topology.stations()).collect(),
        }
    }

    /// What met an attempt where that matters.
    fn met(&self, one: &Sent) -> Vec<&Sent> {
        let places = self.matter(one);
        let meets = |other: &&Sent| {
            let is_other = (other.station, other.begin, &other.frame) != (one.station, one.begin, &one.frame);
            let here = |&place: &usize| match (self.at(one, place), self.at(other, place)) {
                (Some(one), Some(other)) => one.0 < other.1 && other.0 < one.1,
                _ => false,
            };
            is_other && places.iter().any(here)
        };
        self.sent.iter().filter(meets).collect()
    }
}

/// Every attempt of ALOHA, slotted ALOHA or CSMA.
fn sent(config: &Config, lines: &[Value]) -> Vec<Sent> {
    let stations = config.topology.stations();
    let mut far = vec![false; stations];
    let mut sent = Vec::new();
    for line in lines {
        match kind(line) {
            "cut" | "mend" => far = beyond_cut(config, line),
            "attempt" => {
                let frame = text(line, "frame").to_owned();
                let offered = |it: &&Value| text(it, "frame") == frame && text(it, "kind") == "offered";
                let offered = lines.iter().find(offered).expect("it was offered");
                let bits = number(offered, "size").max(config.parameters.min_frame_size.get().into()) * 8;
                let own = station(&frame);
                let to = offered["destination"]["station"].as_str().map(station).filter(|to| *to != own);
                let begin = number(line, "t");
                sent.push(Sent { station: own, frame, to, begin, end: begin + 64 + bits, parted: far.clone() });
            }
            _ => {}
        }
    }
    sent
}

/// The number before ` BT`.
fn bits(text: &str) -> u64 {
    let digits: String = text.chars().take_while(|c| c.is_ascii_digit() || *c == ',').filter(|c| *c != ',').collect();
    digits.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

/// `A began N BT before B ended`, of each party of a collision of the attempt, is what the log's lines say.
fn check_parties(run: &Run, own: &Sent, says: &str) {
    let met = run.met(own);
    assert!(!met.is_empty(), "{says}: nobody met {own:?}");
    let words = says.split_once(" after its last bit: ").or_else(|| says.split_once(" as its last bit is out: "));
    let words = words.expect("parties").1;
    let parties: Vec<&str> = words.split(" lost").next().expect("parties").split("; ").collect();
    let named: Vec<&str> = parties.iter().copied().filter(|party| party.contains('#')).collect();
    assert_eq!(named.len(), met.len().min(4), "{says}: {met:?}");
    for party in named {
        let name = party.split([' ', ':', ',']).find(|word| word.contains('#')).expect("a frame");
        let told = met.iter().any(|other| {
            let places = run.matter(own);
            other.frame == name
                && places.iter().any(|&place| {
                    let (Some(mine), Some(theirs)) = (run.at(own, place), run.at(other, place)) else { return false };
                    match party.split_once(" began ") {
                        None => {
                            party.contains(&format!("{name} was sent in the same slot")) && own.begin == other.begin
                        }
                        Some((_, rest)) if rest.starts_with("in the same bit time") => mine.0 == theirs.0,
                        Some(("ours", rest)) => mine.0 > theirs.0 && Some(bits(rest)) == theirs.1.checked_sub(mine.0),
                        Some((_, rest)) => mine.0 < theirs.0 && Some(bits(rest)) == mine.1.checked_sub(theirs.0),
                    }
                })
        });
        assert!(told, "{party}, of {own:?}: {met:?}");
    }
}

/// Holds the steps of one frame against its lines in the log.
fn check_frame(run: &Run, frame: &str, steps: &[ToldStep]) {
    let lines: Vec<&Value> = run.lines.iter().filter(|line| text(line, "frame") == frame).collect();
    let told = steps.iter().filter(|step| !["input", "head"].contains(&step.kind));
    let told: Vec<(u64, &str)> = told.map(|step| (step.t_bt, step.kind)).collect();
    let logged: Vec<(u64, &str)> = lines.iter().map(|line| (number(line, "t"), text(line, "kind"))).collect();
    // What follows a frame's end by more than a round trip is not told.
    assert!(logged.starts_with(&told), "{frame}: {told:?}, not {logged:?}");
    for step in steps {
        assert!(!step.says.is_empty() && !step.says.contains(['{', '\u{a0}']), "{frame}: {step:?}");
        let is_detected = !matches!(run.config.method, Method::CsmaCa(_));
        if step.kind == "collision" && is_detected {
            let line = lines.iter().find(|line| text(line, "kind") == "collision" && number(line, "t") == step.t_bt);
            let attempt = number(line.expect("a collision"), "attempt") as usize;
            let own = run.sent.iter().filter(|one| one.frame == frame).nth(attempt - 1).expect("an attempt");
            check_parties(run, own, &step.says);
        }
        if step.kind == "backoff" && step.says.contains("BT (") && step.says.contains("up to t = ") {
            let until = bits(step.says.split("up to t = ").nth(1).expect("an instant"));
            let next = steps.iter().find(|next| next.t_bt > step.t_bt && ["attempt", "defer"].contains(&next.kind));
            assert!(next.is_none_or(|next| next.t_bt >= until), "{frame}: {step:?}, but {next:?}");
        }
    }
}

fn check(scenario: &Scenario) {
    let run = Run::of(scenario);
    for line in run.lines.iter().filter(|line| text(line, "kind") == "offered") {
        let frame = text(line, "frame");
        let mut log = EventLogReader::new(LineReader::new(run.log.as_bytes(), "log".to_owned())).expect("a log");
        let wanted = Wanted::parse(frame, log.header()).expect("its name");
        let story = find(&mut log, wanted).expect("it is in the log");
        let told = tell(&story);
        assert!(told.contains("In short: "), "{told}");
        check_frame(&run, frame, &data(&story).steps);
        let picture = draw(&story);
        assert_eq!(picture.is_none(), told.contains("In short: 0 attempts"), "{told}");
    }
}

fn any_line() -> impl Strategy<Value = Topology> {
    let star = (2..=6_usize, 0..=60_u64).prop_map(|(stations, distance)| Topology::star(stations, distance));
    let bus = proptest::collection::vec(0..=80_u64, 2..=6)
        .prop_map(|positions| Topology::Bus { positions: positions.into_iter().map(medium::BitTimes::new).collect() });
    prop_oneof![star.boxed(), bus.boxed()]
}

fn any_method() -> impl Strategy<Value = Config> {
    let kinds = (0..5_u8, 1..=1_000_000_u32, any_policy(), any::<bool>(), 0..=2_u32);
    (any_line(), kinds, 1..=5_usize, any::<u64>()).prop_map(|(topology, kinds, queue_limit, seed)| {
        let (kind, millionths, backoff, infinite, ack_delay) = kinds;
        let population = if infinite { Population::Infinite } else { Population::Stations };
        let (size, attempt_limit) = (Octets::new(100), NonZeroU32::new(5));
        let draws = matches!(topology, Topology::Star { .. }) && millionths % 2 == 0;
        let method = match kind {
            0 => Method::Aloha(Aloha { backoff, population, ack_delay, attempt_limit, ..Aloha::new(size) }),
            1 => Method::SlottedAloha(SlottedAloha {
                backoff,
                population,
                ack_delay,
                attempt_limit,
                control: (draws && ack_delay == 0).then_some(Control::Known),
                ..SlottedAloha::new(size, topology.round_trip())
            }),
            2 => Method::Tdma(Tdma {
                ack_delay,
                attempt_limit,
                ..Tdma::new(size, topology.round_trip(), topology.stations())
            }),
            _ => {
                let persistence = match millionths % 3 {
                    0 => Persistence::One,
                    1 => Persistence::Non,
                    _ => Persistence::Millionths(millionths.max(20_000)),
                };
                Method::Csma(Csma { persistence, backoff, population, ack_delay, attempt_limit, ..Csma::new(size) })
            }
        };
        Config { method, queue_limit, ..Config::new(BitRate::MBIT_10, topology, seed) }
    })
}

fn any_wireless() -> impl Strategy<Value = Config> {
    let phy = prop_oneof![Just(Phy::Dsss1), Just(Phy::Fhss1), Just(Phy::Ofdm(OfdmRate::Mbps6))];
    let places = proptest::collection::vec(0..=9_u64, 2..=6);
    (phy, places, any::<bool>(), any::<bool>(), any::<u64>()).prop_map(|(phy, places, rts, hidden, seed)| {
        let topology = Topology::Bus { positions: places.iter().copied().map(medium::BitTimes::new).collect() };
        let reach = hidden.then_some(Reach { range: 5, positions: places });
        let own = CsmaCa { rts, reach, ..CsmaCa::new(phy, Octets::new(100)) };
        Config { method: Method::CsmaCa(own), ..Config::new(phy.rate(), topology, seed) }
    })
}

fn all_are_true(cases: u32, scenarios: impl Strategy<Value = Scenario>) {
    let told = runner(cases).run(&scenarios, |scenario| {
        let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&scenario)));
        tried.map_err(|_| TestCaseError::fail("a sentence is not true, as said above"))
    });
    if let Err(error) = told {
        panic!("{error}");
    }
}

#[test]
fn every_frame_of_random_runs_is_told_and_its_parties_are_those_of_the_log() {
    all_are_true(150, faulty_scenario(any_method()));
    all_are_true(50, cut_scenario(any_method()));
}

#[test]
fn every_frame_of_random_wireless_runs_is_told() {
    all_are_true(80, faulty_scenario(any_wireless()));
    all_are_true(20, cut_scenario(any_wireless()));
}
