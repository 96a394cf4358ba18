//! Slotted ALOHA by the scenario file, against its theory. Seeds are written down; agreement is within the run's own intervals.

mod common;

use common::{plan, run};
use medium::{Config, Method, Population};
use sim::figures::results::Results;
use sim::files::event_log::{EventLog, EventLogReader, Header, Level};
use sim::files::json_lines::LineReader;
use sim::files::replay::replay;
use sim::run::measure;

/// Half-widths that a figure may lie off: with few batches, one in some thousand figures lies beyond.
const LIMIT: f64 = 3.5;

#[track_caller]
fn agrees(results: &Results, name: &str, measured: f64, expected: f64) {
    let half = results.medium.ci95.as_ref().and_then(|intervals| intervals.half_width(name, None));
    let half = half.unwrap_or_else(|| panic!("no interval of {name}"));
    assert!((measured - expected).abs() <= LIMIT * half, "{name}: {measured} ± {half}, expected {expected}");
    assert!(half < 0.25 * expected, "{name}: {measured} ± {half} says nothing");
}

/// What Lam's N users come to in the long run.
struct Lam {
    throughput: f64,
    offered_traffic: f64,
    backlog: f64,
    /// The part of slots with 0, 1, 2 … backlogged users.
    shares: Vec<f64>,
}

/// C(n, k) p^k (1 − p)^(n − k)
fn binomial(n: usize, k: usize, p: f64) -> f64 {
    (0..k).fold(1.0, |product, i| product * (n - i) as f64 / (i + 1) as f64)
        * p.powi(k as i32)
        * (1.0 - p).powi((n - k) as i32)
}

/// The chain of Kleinrock and Lam 1975: of `users`, n are backlogged; in each slot a backlogged one sends with chance
/// `again`, another one with chance `new`. A frame alone in its slot gets through, and new ones that do not are backlogged.
fn lam(users: usize, new: f64, again: f64) -> Lam {
    // From n to m: matrix[n][m].
    let mut matrix = vec![vec![0.0; users + 1]; users + 1];
    for (backlogged, row) in matrix.iter_mut().enumerate() {
        let old = |sending| binomial(backlogged, sending, again);
        let fresh = |sending| binomial(users - backlogged, sending, new);
        let leaves = if backlogged > 0 { fresh(0) * old(1) } else { 0.0 };
        let alone = if backlogged < users { fresh(1) * old(0) } else { 0.0 };
        if backlogged > 0 {
            row[backlogged - 1] = leaves;
        }
        row[backlogged] = fresh(0) - leaves + alone;
        (1..=users - backlogged).for_each(|more| row[backlogged + more] = fresh(more));
        if backlogged < users {
            row[backlogged + 1] -= alone;
        }
    }
    let mut shares = vec![1.0 / (users + 1) as f64; users + 1];
    for _ in 0..10_000 {
        shares = (0..=users).map(|to| shares.iter().zip(&matrix).map(|(share, row)| share * row[to]).sum()).collect();
    }
    let mean = |of: &dyn Fn(usize) -> f64| shares.iter().enumerate().map(|(n, share)| share * of(n)).sum::<f64>();
    let alone = |n: usize| if n < users { binomial(users - n, 1, new) * binomial(n, 0, again) } else { 0.0 };
    let leaves = |n: usize| if n > 0 { binomial(users - n, 0, new) * binomial(n, 1, again) } else { 0.0 };
    Lam {
        throughput: mean(&|n| alone(n) + leaves(n)),
        offered_traffic: mean(&|n| (users - n) as f64 * new + n as f64 * again),
        backlog: mean(&|n| n as f64),
        shares,
    }
}

/// Every figure of the chain, for few and many users, at light load, near the most that slotted ALOHA carries, and beyond.
/// A frame that is backlogged for m slots takes 1 + m slots; by Little's result the mean of m is backlog over throughput.
#[test]
fn users_with_one_frame_each_are_lams_chain() {
    for (users, new, slots) in [(5, 0.02, 10), (20, 0.01, 20), (20, 0.03, 40), (50, 0.007, 60)] {
        let results = run(&format!(
            "stations = {users}\nseed = 3\n[access]\nmethod = 'slotted-aloha'\nbackoff = 'geometric:{slots}'\n\
             [traffic]\narrivals = 'bernoulli:{new}'\n[run]\nduration = '12s'\nwarmup = '1s'\n"
        ));
        let theory = lam(users, new, 2.0 / (slots + 1) as f64);
        let slotted = results.medium.slotted.clone().expect("a slotted medium");
        agrees(&results, "throughput", slotted.throughput, theory.throughput);
        agrees(&results, "offered_traffic", slotted.offered_traffic, theory.offered_traffic);
        agrees(&results, "backlog", slotted.backlog, theory.backlog);
        agrees(&results, "delay", slotted.delay.expect("frames"), 1.0 + theory.backlog / theory.throughput);
        let parts = &slotted.backlog_distribution;
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-9, "all of the time: {parts:?}");
        let mean: f64 = (0..).zip(parts).map(|(n, part)| f64::from(n) * part).sum();
        assert!((mean - slotted.backlog).abs() < 1e-9 * mean.max(1.0), "{mean} of {}", slotted.backlog);
        // Over all numbers together; 20,000 slots that depend on each other come no nearer for sure.
        let apart: f64 =
            theory.shares.iter().enumerate().map(|(n, share)| (share - parts.get(n).unwrap_or(&0.0)).abs()).sum();
        assert!(apart < 0.15, "{users} users: {parts:?} beside {:?}", theory.shares);
    }
}

/// R delays the news of a collision, as in Lam's chain, in which 1/p = R + (K + 1)/2. Ten users who waited R slots for every
/// acknowledgement would get half as much through.
#[test]
fn an_acknowledgement_that_is_late_holds_nobody_whose_frame_arrived() {
    let (users, new, slots, late) = (10, 0.01, 200, 100);
    let results = run(&format!(
        "stations = {users}\nseed = 3\n[access]\nmethod = 'slotted-aloha'\nbackoff = 'geometric:{slots}'\nack_delay = {late}\n\
         [traffic]\narrivals = 'bernoulli:{new}'\n[run]\nduration = '400000 slots'\n"
    ));
    let theory = lam(users, new, 1.0 / (f64::from(late) + f64::from(slots + 1) / 2.0));
    let slotted = results.medium.slotted.clone().expect("a slotted medium");
    agrees(&results, "throughput", slotted.throughput, theory.throughput);
    agrees(&results, "delay", slotted.delay.expect("frames"), 1.0 + theory.backlog / theory.throughput);
    assert!(slotted.throughput > 0.08, "{}", slotted.throughput);
}

const ENDLESS: &str = "stations = 50\n[access]\nmethod = 'slotted-aloha'\nbackoff = 'geometric:20'\npopulation = 'infinite'\n\
    [traffic]\narrivals = 'poisson:0.3/slot'\n[run]\nwarmup = '0s'\n";

/// Infinitely many users run away, which ends the run and is a result; so is the longest wait of those that still wait.
#[test]
fn users_who_run_away_end_the_run() {
    let results = run(&format!("{ENDLESS}duration = '100s'\n"));
    let slotted = results.medium.slotted.clone().expect("a slotted medium");
    let ran_away = slotted.ran_away.expect("they run away after some 3,200 slots");
    assert_eq!(ran_away.unstable_backlog, 15);
    let [slot] = ran_away.slots[..] else { panic!("one run: {ran_away:?}") };
    let measured = results.measured_bit_times / 576;
    assert!(slot < measured && measured < slot + 2 * 4096 && measured < 60_000, "{slot} of {measured}");
    let longest = slotted.longest_waiting_bt.expect("many wait") / 576;
    assert!(longest > 100 && longest <= measured, "{longest} slots");
    let patient = run(&format!("{ENDLESS}duration = '100 slots'\n")).medium.slotted.expect("a slotted medium");
    assert_eq!(patient.ran_away, None);
}

/// `until = 'collapse'` measures Lam's first exit time: 3,174 slots (`ethbus theory lam --stations infinite --load 0.3
/// --retransmit 20`).
#[test]
fn the_time_until_users_run_away_is_lams_first_exit() {
    let plan = plan(&format!("{ENDLESS}duration = '100s'\nuntil = 'collapse'\nreplications = 100\n")).expect("a plan");
    let runs = (1..=100).map(|seed| measure::run(&plan, seed, &mut (), |_| true).expect("a plan that was checked"));
    let results = measure::results(&plan, &runs.collect::<Vec<_>>());
    let ran_away = results.medium.slotted.clone().and_then(|slotted| slotted.ran_away).expect("all do");
    assert_eq!(ran_away.slots.len(), 100);
    let half = results.medium.ci95.as_ref().and_then(|all| all.half_width("ran_away_slot", None)).expect("100 runs");
    let apart = (ran_away.mean_slot() - 3_174.4).abs();
    assert!(apart < 1.5 * half && half < 1_000.0, "{} ± {half}", ran_away.mean_slot());
}

/// Two frames meet in slot 1, at 576 BT, and wait; then both stations are unplugged. No frame is backlogged any more,
/// also if it had only one attempt; and a frame under way as its station goes was never backlogged.
#[test]
fn who_is_unplugged_is_backlogged_no_longer() {
    let backlog = |access: &str, unplugged: &str| {
        let results = run(&format!(
            "stations = 2\n[access]\nbackoff = 'uniform:1000'\n{access}[run]\nduration = '10ms'\nwarmup = '0'\n\
             [[frame]]\nstation = 'st1'\nat = '10us'\n[[frame]]\nstation = 'st2'\nat = '10us'\n\
             [[at]]\ntime = '{unplugged}'\nunplug = 'st1'\n[[at]]\ntime = '{unplugged}'\nunplug = 'st2'\n"
        ));
        assert_eq!(results.stations.iter().map(|station| station.counters["attempts"]).sum::<u64>(), 2, "{access}");
        results.medium.slotted.expect("a slotted medium").backlog
    };
    // Of 100,000 BT, the two wait from the end of their slot, at 1,152 BT, to 2,000 BT.
    let expected = 2.0 * (2_000.0 - 1_152.0) / 100_000.0;
    assert_eq!(backlog("method = 'slotted-aloha'\n", "200us"), expected);
    assert_eq!(backlog("method = 'slotted-aloha'\n", "100us"), 0.0);
    for access in ["method = 'csma'\n", "method = 'aloha'\n"] {
        assert!(backlog(access, "200us") < 0.04, "{access}");
        assert_eq!(backlog(access, "30us"), 0.0, "{access}");
    }
}

/// Roberts 1972: S = G e^(−G), whatever G is; so no more than 1/e.
#[test]
fn an_infinite_population_carries_g_e_to_the_minus_g() {
    for load in [0.1, 0.2, 0.3] {
        let results = run(&format!(
            "stations = 10\n[access]\nmethod = 'slotted-aloha'\nbackoff = 'uniform:1000'\npopulation = 'infinite'\n\
             [traffic]\narrivals = 'poisson:{load}/slot'\n[run]\nduration = '15s'\nwarmup = '2s'\n"
        ));
        let slotted = results.medium.slotted.clone().expect("a slotted medium");
        let (s, g) = (slotted.throughput, slotted.offered_traffic);
        agrees(&results, "throughput", s, load);
        assert!((s - g * (-g).exp()).abs() < 0.01, "S {s}, G {g}");
    }
    // More than it can carry: they run away at once, and of attempts at random about 1/e get through at best.
    let results =
        run("stations = 10\n[access]\nmethod = 'slotted-aloha'\nbackoff = 'uniform:100'\npopulation = 'infinite'\n\
         [traffic]\narrivals = 'poisson:0.5/slot'\n[run]\nduration = '1s'\nwarmup = '0'\n");
    let slotted = results.medium.slotted.expect("a slotted medium");
    assert!(slotted.throughput < (-1.0_f64).exp() && slotted.ran_away.is_some(), "{slotted:?}");
}

#[test]
fn stations_send_whatever_is_offered() {
    let population = |text: &str| {
        let plan = plan(&format!("stations = 3\n[access]\nmethod = 'slotted-aloha'\n{text}")).expect("a plan");
        match plan.medium.method {
            Method::SlottedAloha(aloha) => (aloha.population, aloha.slot.get()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(population("[traffic]\narrivals = 'poisson:0.3/slot'\n"), (Population::Stations, 576));
    assert_eq!(population("[traffic]\narrivals = 'bernoulli:0.3'\nframe_size = 128\n"), (Population::Stations, 1088));
    assert_eq!(
        population("population = 'infinite'\n[traffic]\narrivals = 'poisson:0.3/slot'\n").0,
        Population::Infinite
    );
    assert_eq!(population("[medium]\ntopology = 'star:50bt'\nmin_frame_size = 18\n"), (Population::Stations, 626));
}

/// Abramson 1970: S = G e^(−2G); Kleinrock and Tobagi 1975: nonpersistent CSMA with a = 58/576.
#[test]
fn unslotted_methods_carry_what_their_formulas_say() {
    let run_of = |access: &str, load: f64| {
        let results = run(&format!(
            "stations = 100\n[access]\nbackoff = 'uniform:500'\npopulation = 'infinite'\n{access}[traffic]\narrivals = 'poisson:{load}/slot'\n\
             [run]\nduration = '3s'\nwarmup = '500ms'\n"
        ));
        let slotted = results.medium.slotted.clone().expect("it counts in frame times");
        agrees(&results, "throughput", slotted.throughput, load);
        (slotted.throughput, slotted.offered_traffic)
    };
    let (s, g) = run_of("method = 'aloha'\n", 0.12);
    assert!((s - g * (-2.0 * g).exp()).abs() < 0.01, "S {s}, G {g}");
    let (s, g) = run_of("method = 'csma'\npersistence = 'non'\n[medium]\ntopology = 'star:58bt'\n", 0.35);
    let a = 58.0 / 576.0;
    let expected = g * (-a * g).exp() / (g * (1.0 + 2.0 * a) + (-a * g).exp());
    assert!((s - expected).abs() < 0.01, "S {s}, G {g}, expected {expected}");
}

/// Lam's 400 users at S = 0.32 under RCP 1, 10, 100, 200: throughput 0.313 and a delay near 29 slots.
#[test]
fn lams_rcp_keeps_four_hundred_users_stable() {
    let results = run("stations = 400\n[access]\nmethod = 'slotted-aloha'\nbackoff = 'rcp:1,10,100,200'\n\
         [traffic]\narrivals = 'bernoulli:0.0008'\n[run]\nduration = '5s'\nwarmup = '1s'\n");
    let slotted = results.medium.slotted.expect("a slotted medium");
    let delay = slotted.delay.expect("frames");
    assert!(
        (slotted.throughput - 0.313).abs() < 0.01 && (delay - 29.0).abs() < 4.0,
        "{:?} {delay}",
        slotted.throughput
    );
}

/// The trace carries the method and its backoff, and a replay has the same events.
#[test]
fn a_run_of_any_method_can_be_replayed() {
    replays(
        "[access]\nmethod = 'slotted-aloha'\nbackoff = 'rcp:10,100'\nack_delay = 3\n[medium]\n\
         attempt_limit = 5\n[traffic]\narrivals = 'bernoulli:0.1'\n",
    );
    replays(
        "[access]\nmethod = 'aloha'\nbackoff = 'beb:64'\npopulation = 'infinite'\n[traffic]\narrivals = 'poisson:0.1/slot'\n",
    );
    replays(
        "[access]\nmethod = 'csma'\nbackoff = 'exponential:3,4'\npersistence = '0.1'\n[medium]\ntopology = 'star:5bt'\n\
         [traffic]\narrivals = 'saturated'\n",
    );
    replays(
        "[access]\nmethod = 'csma-ca'\nrts = true\nrange = '220 m'\n[medium]\ntopology = 'bus:300m'\n\
         [traffic]\narrivals = 'saturated'\n",
    );
    replays("[access]\nbackoff = 'rcp:1,10,100,200'\n[traffic]\narrivals = 'saturated'\n");
}

fn replays(text: &str) {
    let plan = plan(&format!("stations = 6\n{text}destination = 'random'\n[run]\nduration = '1s'\nwarmup = '100ms'\n"))
        .expect("a plan");
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("inputs");
    let names: Vec<String> = plan.stations.iter().map(|station| station.name.clone()).collect();
    let header = Header::new("", &plan.medium, &names);
    let mut files = EventLog::create(&path, &[], &header.clone().at_level(Level::Inputs)).expect("own folder");
    measure::run(&plan, 1, &mut files, |_| true).expect("a plan that was checked");
    let trace = EventLogReader::new(LineReader::open(&path).expect("own file")).expect("a trace");
    let config: Config = trace.header().config();
    assert_eq!((&config.method, config.backoff), (&plan.medium.method, plan.medium.backoff));
    let replayed = replay(trace, EventLog::unwritten(&header)).expect("the same events");
    assert!(replayed.confirmed && replayed.inputs > 500, "{replayed:?}");
}

#[test]
fn what_a_method_does_not_have_is_refused() {
    let refused = |text: &str, words: &[&str]| {
        let error = plan(text).err().unwrap_or_else(|| panic!("not refused: {text}"));
        words.iter().for_each(|word| assert!(error.contains(word), "no `{word}` in `{error}`: {text}"));
    };
    refused("[access]\nmethod = 'aloho'\n", &["s.toml:2:", "method: `aloho`", "slotted-aloha"]);
    refused("[access]\npopulation = 'infinite'\n", &["s.toml:2:", "population: CSMA/CD", "slotted-aloha"]);
    refused("[access]\npersistence = 'non'\n", &["s.toml:2:", "persistence: CSMA/CD", "csma"]);
    refused("[access]\nmethod = 'aloha'\npersistence = 'non'\n", &["s.toml:3:", "persistence: pure ALOHA", "csma"]);
    refused("[access]\nmethod = 'csma'\npersistence = '1.5'\n", &["s.toml:3:", "`1.5` is no persistence", "non"]);
    refused("[access]\nmethod = 'csma'\n[medium]\nslot_time = '512 BT'\n", &["s.toml:4:", "slot_time: CSMA detects"]);
    refused(
        "[access]\nbackoff = 'uniform:3'\n[medium]\nbackoff_limit = 5\n",
        &["s.toml:4:", "backoff_limit: it belongs"],
    );
    refused("[access]\nmethod = 'aloha'\n[traffic]\narrivals = 'bernoulli:0.1'\n", &["s.toml:4:", "slotted medium"]);
    refused("[run]\nuntil = 'collapse'\n", &["s.toml:2:", "only infinitely many users of ALOHA run away"]);
    refused("[access]\nack_delay = 3\n", &["s.toml:2:", "ack_delay: CSMA/CD"]);
    let aloha = "[access]\nmethod = 'slotted-aloha'\n";
    refused(&format!("{aloha}backoff = 'uniform:0'\n"), &["s.toml:3:", "backoff: `uniform:0`", "uniform:20"]);
    refused(
        &format!("{aloha}[medium]\njam_size = '32 BT'\n"),
        &["s.toml:4:", "jam_size: slotted ALOHA", "leave it out"],
    );
    refused("[traffic]\narrivals = 'bernoulli:0.1'\n", &["s.toml:2:", "slotted medium", "--access slotted-aloha"]);
    refused(&format!("{aloha}[traffic]\narrivals = 'bernoulli:1.1'\n"), &["s.toml:4:", "1.1 is no chance"]);
}

/// Stations that know how many frames wait, each of which goes out with the chance 1/n: Poisson arrivals and a backlog that
/// falls by one with the chance (1 - 1/n)^(n - 1) (Rivest 1987). Stations that estimate n get the same load through.
#[test]
fn stations_that_know_the_backlog_are_its_chain_and_estimators_are_stable() {
    let load = 0.25_f64;
    let poisson: Vec<f64> =
        (0..20).map(|m| (-load).exp() * (1..=m).fold(1.0, |chance, i| chance * load / f64::from(i))).collect();
    let mut shares = vec![0.0; 200];
    shares[0] = 1.0;
    for _ in 0..5_000 {
        let mut next = vec![0.0; 200];
        for (n, share) in shares.iter().enumerate() {
            let alone = if n == 0 { 0.0 } else { binomial(n, 1, 1.0 / n as f64) };
            for (new, chance) in poisson.iter().enumerate() {
                next[(n + new).min(199)] += share * chance * (1.0 - alone);
                next[((n + new).max(1) - 1).min(199)] += share * chance * alone;
            }
        }
        shares = next;
    }
    let backlog: f64 = shares.iter().enumerate().map(|(n, share)| n as f64 * share).sum();
    let run = |control: &str| {
        let results = run(&format!(
            "stations = 50\nseed = 4\n[access]\nmethod = \"slotted-aloha\"\ncontrol = \"{control}\"\n[traffic]\n\
             arrivals = \"poisson:{load}/slot\"\n[run]\nduration = \"20s\"\n"
        ));
        let slotted = results.medium.slotted.clone().expect("slots");
        agrees(&results, "throughput", slotted.throughput, load);
        (results, slotted.delay.expect("frames got through"))
    };
    let (known, delay) = run("known");
    // Frames arrive half a slot before the next one begins.
    agrees(&known, "delay", delay, 0.5 + backlog / load);
    let (_, estimated) = run("estimated:0.25");
    assert!(estimated > delay, "{estimated} slots with an estimate, {delay} with knowledge: seed 4");
}
