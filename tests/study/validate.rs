//! `ethbus theory check`, quick: what it says, how it ends, what the docs show of it, and that its checks can fail.

use backoff::Policy;
use medium::{Aloha, BitTimes, Config, Csma, CsmaCa, Method, Persistence, Plca, SlottedAloha, Topology};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use study::validate::{Options, Verdict, run};

/// `ethbus theory check --quick`, run once for all tests.
fn quick() -> &'static Output {
    static QUICK: OnceLock<Output> = OnceLock::new();
    QUICK.get_or_init(|| validate(&["--quick"]))
}

fn validate(arguments: &[&str]) -> Output {
    let command = Command::new(env!("CARGO_BIN_EXE_ethbus")).args(["theory", "check"]).args(arguments).output();
    command.expect("the program runs")
}

#[test]
fn nothing_deviates_that_is_not_explained() {
    let output = quick();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let last = text.lines().last().expect("a summary");
    assert!(last.contains(" 0 DEVIATE "), "{last}");
    assert!(!text.lines().any(|line| line.contains("  DEVIATES")), "{text}");
}

/// Virtual time is the same everywhere: so is every digit in docs/validation-quick.txt, and each count in the table that
/// docs/validation.md opens on. `BLESS=1` rewrites both.
#[test]
fn the_docs_show_what_is_printed() {
    let printed = String::from_utf8(quick().stdout.clone()).expect("UTF-8");
    let docs = docs("validation.md");
    let (before, rest) = docs.split_once(HEAD).expect("a table");
    let (shown, after) = rest.split_once("\n\n").expect("its end");
    let counted = counts(&printed);
    if bless("validation.md", &format!("{before}{HEAD}{counted}\n\n{after}")) {
        bless("validation-quick.txt", &printed);
        return;
    }
    same_lines(shown, &counted);
    same_lines(&self::docs("validation-quick.txt"), &printed);
}

/// The head of the table of counts.
const HEAD: &str = "| topic | agree | deviate as explained |\n|---|---|---|\n";

/// How many rows of each topic agree, and how many deviate for a documented reason.
fn counts(printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().collect();
    let mut topics: Vec<(&str, usize, usize)> = Vec::new();
    for (line, next) in lines.iter().zip(&lines[1..]) {
        let cells: Vec<&str> = line.split("  ").map(str::trim).collect();
        match topics.last_mut() {
            _ if next.starts_with("  from: ") => topics.push((line, 0, 0)),
            Some(topic) => {
                topic.1 += usize::from(cells.contains(&"agrees"));
                topic.2 += usize::from(cells.iter().any(|cell| cell.starts_with("deviates: (")));
            }
            None => {}
        }
    }
    let rows = topics.iter().map(|(topic, agree, explained)| format!("| {topic} | {agree} | {explained} |"));
    rows.collect::<Vec<_>>().join("\n")
}

/// The same of the whole validation, which runs for minutes: `.ci/full` asks for it.
#[test]
#[ignore = "runs for minutes; .ci/full runs it"]
fn the_docs_show_the_whole_validation() {
    let output = validate(&[]);
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(output.status.success(), "{printed}");
    if bless("validation.txt", &printed) {
        return;
    }
    same_lines(&docs("validation.txt"), &printed);
}

/// Each cell of the table in docs/fidelity.md is what its command gives.
#[test]
#[ignore = "runs for a minute; .ci/full runs it"]
fn the_docs_show_what_results_are_sensitive_to() {
    let docs = docs("fidelity.md");
    let (_, section) = docs.split_once("## What capture and 64-octet frames are sensitive to\n").expect("the section");
    let rows: Vec<Vec<&str>> = section
        .lines()
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.strip_prefix("| `"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    assert!(rows.len() > 5, "{rows:?}");
    for row in rows {
        for (stations, shown) in [("2", row[2]), ("10", row[3]), ("50", row[4])] {
            let measured = sensitivity(row[0].trim_end_matches('`'), stations);
            assert_eq!(measured, shown, "{} with {stations} stations", row[0]);
        }
    }
}

/// `utilization_total` and `same_winner`, with options, or with a key of the scenario.
fn sensitivity(option: &str, stations: &str) -> String {
    let directory = tempfile::tempdir().expect("a directory");
    let scenario = directory.path().join("scenario.toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ethbus"));
    command.args(["sim", "--frame-size", "64", "--format", "json", "--stations", stations]);
    if option.starts_with("--") {
        command.args(option.split_whitespace());
    } else {
        std::fs::write(&scenario, option).expect("a file");
        command.arg(&scenario);
    }
    let output = command.output().expect("the program runs");
    let results: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let metric = |name: &str| results["medium"][name].as_f64().expect("a number");
    format!("{:.4}, {:.4}", metric("utilization_total"), metric("same_winner"))
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)
}

fn docs(name: &str) -> String {
    std::fs::read_to_string(path(name)).expect("a file in docs")
}

/// Rewrites a file in docs if that is wanted.
fn bless(name: &str, text: &str) -> bool {
    let wanted = std::env::var_os("BLESS").is_some();
    if wanted {
        std::fs::write(path(name), text).expect("docs can be written");
    }
    wanted
}

fn same_lines(shown: &str, printed: &str) {
    for (number, (shown, printed)) in shown.lines().zip(printed.lines()).enumerate() {
        assert_eq!(shown, printed, "line {} in docs", number + 1);
    }
    assert_eq!(shown.lines().count(), printed.lines().count());
}

#[test]
fn the_report_is_there_for_programs_too() {
    let output = validate(&["--quick", "--only", "frame rates", "--format", "json"]);
    assert!(output.status.success());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&report["seed"], &report["quick"], &report["unexplained"]), (&1.into(), &true.into(), &0.into()));
    let first = &report["sections"][0]["rows"][0];
    assert_eq!(first["verdict"], "agrees");
    assert!(first["command"].as_str().expect("a command").starts_with("ethbus sim --stations 1 --frame-size 64"));
    assert!((first["measured"].as_f64().expect("a number") - 14_880.952_380_952).abs() < 1e-6);
}

#[test]
fn a_topic_that_there_is_not_is_refused_with_those_that_there_are() {
    let output = validate(&["--only", "token ring"]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("token ring") && error.contains("The capture effect"), "{error}");
}

/// What is wrong with a medium, the topic that has to find it, and rows of it that have to deviate.
type Mutant = (fn(&mut Config), &'static str, &'static [&'static str]);

/// A check that cannot fail is a defect: each topic finds a medium that is a little wrong.
#[test]
fn a_medium_that_is_a_little_wrong_is_found() {
    let mutants: &[Mutant] = &[
        (
            |config| config.parameters.inter_packet_gap = BitTimes::new(95),
            "frame rates",
            &["64 octets at 10M: frames/s", "1518 octets at 100M", "128 octets at 10M", "bursting off", "bursting on"],
        ),
        (
            |config| config.parameters.burst_limit = BitTimes::new(config.parameters.burst_limit.get() / 2),
            "frame rates",
            &["bursting on"],
        ),
        (
            |config| config.parameters.backoff_limit = 9,
            "backoff",
            &[
                "mean delay after collision 10",
                "mean delay after collision 15",
                "evenness of the delays after collision 10",
                "longest delays",
            ],
        ),
        (
            |config| config.parameters.backoff_limit = 11,
            "backoff",
            &["mean delay after collision 11", "evenness of the delays after collision 11", "longest delays"],
        ),
        (attempt_limit::<17>, "backoff", &["least attempts", "most attempts", "longest delays"]),
        (attempt_limit::<15>, "backoff", &["least attempts", "most attempts", "longest delays"]),
        (
            |config| config.parameters.slot_time = BitTimes::new(511),
            "backoff",
            &["delays not of r x 512 BT", "the same at 10 Mb/s"],
        ),
        (
            |config| config.parameters.slot_time = BitTimes::new(511),
            "late ones",
            &["least distance with a late collision", "distances of 240 to 272", "256 BT apart"],
        ),
        (|config| config.parameters.slot_time = BitTimes::new(514), "late ones", &["257 BT apart"]),
        (
            |config| config.parameters.backoff_limit = 3,
            "capture",
            &["B after 4 collisions", "4 races won", "beside the textbook"],
        ),
        (attempt_limit::<17>, "capture", &["13 races won", "14 races won", "15 races won"]),
        (
            |config| config.parameters.backoff_limit = 6,
            "two saturated stations",
            &["64 octets: utilization_total", "64 octets: same_winner", "1518 octets: attempts_per_frame"],
        ),
        (
            attempt_limit::<17>,
            "two saturated stations",
            &["64 octets: discard_fraction", "1518 octets: discard_fraction"],
        ),
        (
            |config| config.parameters.backoff_limit = 9,
            "efficiency",
            &[
                "4096 bit, 128 stations",
                "512 bit, 32 stations",
                "one slot (their 48 bit), 128 stations",
                "64 octets, 32 stations",
            ],
        ),
        (
            |config| config.parameters.inter_packet_gap = BitTimes::new(48),
            "m/d/1",
            &["load 0.15 (rho 0.1969): mean mac_delay", "load 0.6 (rho 0.7875): frames that have to wait"],
        ),
        (|config| config.parameters.backoff_limit = 4, "real ethernets", &["98 percent", "24 hosts"]),
        (
            |config| plca(config, |own| own.beacon = BitTimes::new(24)),
            "plca",
            &[
                "2 nodes, to_tmr 32: idle cycle",
                "1 of 8 talks, 64 octets, burst-cnt 0: cycle",
                "all 2 talk, 1518 octets",
            ],
        ),
        (
            |config| plca(config, |own| own.nodes.iter_mut().for_each(|node| node.settings.to_timer = 36)),
            "plca",
            &[
                "8 nodes, to_tmr 32: idle cycle",
                "8 nodes, to_tmr 24: idle cycle",
                "1 of 40 talks, 64 octets, burst-cnt 0: goodput",
            ],
        ),
        (
            |config| plca(config, |own| own.end_delimiter = BitTimes::new(0)),
            "plca",
            &["1 of 8 talks, 1518 octets, burst-cnt 0: cycle", "all 8 talk, 64 octets, burst-cnt 0: cycle"],
        ),
        (
            |config| plca(config, |own| own.nodes.iter_mut().for_each(|node| node.settings.burst_count = 1)),
            "plca",
            &["1 of 8 talks, 64 octets, burst-cnt 2: goodput", "all 8 talk, 64 octets, burst-cnt 2: utilization"],
        ),
        (
            |config| plca(config, |own| own.nodes.iter_mut().skip(2).for_each(|node| node.settings.node_id = 1)),
            "plca",
            &[
                "all 8 talk, 64 octets, burst-cnt 0: collisions on the line",
                "load 0.6: collisions on the line",
                "longest wait",
            ],
        ),
        (
            |config| csma_ca(config, |own| own.most_window = 512),
            "csma/ca",
            &["n = 50, RTS: tau", "n = 50, basic: tau", "n = 50, basic: S"],
        ),
        (|config| csma_ca(config, |own| own.window = 24), "csma/ca", &["n = 2, basic: tau", "n = 5, RTS: tau"]),
        (|config| csma_ca(config, |own| own.rts = !own.rts), "csma/ca", &["n = 20, RTS: S", "n = 50, basic: S"]),
        (
            |config| aloha(config, |own| own.slot = BitTimes::new(2 * 576)),
            "aloha and slotted",
            &["pure ALOHA, S = G e^(-2G), S = 0.1", "pure ALOHA, S = G e^(-2G), S = 0.15"],
        ),
        (
            |config| slotted_aloha(config, |own| own.backoff = Policy::aloha_geometric(SlottedAloha::SLOT, 100)),
            "aloha and slotted",
            &["50 users, S = 0.3, K = 60: backlog", "400 users, S = 0.32, K = 200: backlog"],
        ),
        (
            |config| slotted_aloha(config, |own| own.ack_delay = if own.control.is_none() { 12 } else { 0 }),
            "aloha and slotted",
            &["50 users, S = 0.3, K = 60: delay"],
        ),
        (
            |config| config.topology = Topology::star(config.topology.stations(), config.topology.round_trip().get()),
            "csma without",
            &["nonpersistent CSMA, 58 BT, S = 0.4", "1-persistent CSMA, 58 BT, S = 0.35"],
        ),
        (
            |config| csma(config, |own| own.persistence = Persistence::Non),
            "csma without",
            &["1-persistent CSMA, 5 BT, S = 0.4", "0.1-persistent CSMA, 7 BT, S = 0.5"],
        ),
    ];
    let mut missed = Vec::new();
    for (alter, only, wanted) in mutants {
        let alter: fn(&mut Config) = *alter;
        let altered = |config: &mut Config| {
            alter(config);
            let p = &mut config.parameters;
            p.inter_packet_gap_part_1 = p.inter_packet_gap_part_1.min(BitTimes::new(p.inter_packet_gap.get() * 2 / 3));
        };
        let report = run(&Options {
            seed: 1,
            quick: true,
            only,
            plan: &ethbus::cli::commands::validate::plan,
            alter: &altered,
            go_on: &|_| true,
        })
        .expect("a valid medium");
        let rows: Vec<_> = report.sections.iter().flat_map(|section| &section.rows).collect();
        for wanted in *wanted {
            let found = rows.iter().any(|row| row.what.contains(wanted) && row.verdict() == Verdict::Deviates);
            if !found {
                missed.push(format!("{only}: no row `{wanted}` deviates"));
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// Changes what PLCA has of its own.
fn plca(config: &mut Config, change: impl FnOnce(&mut Plca)) {
    if let Method::Plca(own) = &mut config.method {
        change(own);
    }
}

fn aloha(config: &mut Config, change: impl Fn(&mut Aloha)) {
    if let Method::Aloha(own) = &mut config.method {
        change(own);
    }
}

fn slotted_aloha(config: &mut Config, change: impl Fn(&mut SlottedAloha)) {
    if let Method::SlottedAloha(own) = &mut config.method {
        change(own);
    }
}

fn csma(config: &mut Config, change: impl Fn(&mut Csma)) {
    if let Method::Csma(own) = &mut config.method {
        change(own);
    }
}

fn csma_ca(config: &mut Config, change: impl Fn(&mut CsmaCa)) {
    if let Method::CsmaCa(own) = &mut config.method {
        change(own);
    }
}

fn attempt_limit<const LIMIT: u32>(config: &mut Config) {
    config.parameters.attempt_limit = NonZeroU32::new(LIMIT).expect("not zero");
}
