//! Other access methods: real frames without collision detection, and methods that run in virtual time only.

use crate::common::lab::Lab;
use crate::common::process::{ethbus, run};
use crate::common::results::sum;
use crate::common::{Turn, skipped};

/// The same load offers the same frames, whatever the access method. CSMA/CA has another rate.
#[test]
fn a_load_means_the_same_with_every_method() {
    for access in ["csma-cd", "aloha", "slotted-aloha", "csma", "tdma", "plca"] {
        let arguments =
            format!("sim --access {access} --traffic poisson:0.05 --duration 1s --warmup 0s --seed 3 --format json");
        let results = run(ethbus(arguments.split_whitespace())).succeeded().json();
        assert_eq!(
            (results["config"]["offered_load"].as_f64(), sum(&results, "offered")),
            (Some(0.05), 1018),
            "{access}"
        );
    }
}

/// A real `ping` gets through CSMA of each persistence, and the record gives the same events again.
#[test]
fn ping_gets_through_csma_and_the_record_gives_the_same_run() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    for persistence in ["1", "non", "0.1"] {
        let directory = tempfile::tempdir().expect("a directory");
        let record = directory.path().join("run.record");
        let record = record.to_str().expect("a name");
        let options = ["--stations", "3", "--access", "csma", "--persistence", persistence, "--backoff", "beb:64"];
        let mut lab = Lab::up(&[&options[..], &["--events", record, "--events-level", "inputs"]].concat());
        let address = lab.ipv4("st2");
        let answered = run(lab.exec("st1", &["ping", "-c", "3", "-i", "0.2", "-W", "5", &address])).succeeded();
        assert!(answered.stdout.contains("3 received"), "{persistence}: {answered:#?}");
        let results = lab.settled_stats();
        assert!(sum(&results, "frames_transmitted_ok") >= 8, "{persistence}: {results}");
        lab.down().succeeded();
        run(ethbus(["replay", record])).succeeded();
    }
}

#[test]
fn what_runs_in_virtual_time_only_is_refused_in_a_sentence() {
    for (method, name) in [("csma-ca", "CSMA/CA"), ("aloha", "ALOHA"), ("slotted-aloha", "ALOHA")] {
        let words = format!("{name} runs in virtual time only");
        run(ethbus(["up", "--access", method])).failed_with(2, &[&words, "ethbus sim"]);
    }
}

/// In the example the clock of st2 walks through the guard time of 100 BT in 0.2 s, and `explain` names it.
#[test]
fn a_clock_that_is_off_brings_a_frame_of_tdma_into_the_slot_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let events = folder.path().join("run.events");
    let events = events.to_str().expect("UTF-8");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/clock-off.toml");
    run(ethbus(["sim", example, "--events", events])).succeeded();
    let log = std::fs::read_to_string(events).expect("a log");
    let collision = log.lines().find(|line| line.contains("\"collision\"")).expect("a collision");
    let collision: serde_json::Value = serde_json::from_str(collision).expect("JSON");
    let at = collision["t"].as_u64().expect("an instant");
    assert!((2_010_000..2_013_000).contains(&at), "{collision}");
    let told = run(ethbus(["explain", events, "--frame", "st1#1488"])).unwrapped();
    for words in ["the clock of st2 is fast by 50 ppm", "The slots of other stations begin by other clocks"] {
        assert!(told.contains(words), "no `{words}` in {told}");
    }
}

/// A backlog that cannot but grow is said once before the run, and again under its results; a load that fits is not.
#[test]
fn a_backlog_without_end_is_said() {
    let sim = |load: &str| {
        let line = format!(
            "sim --access aloha --population infinite --traffic poisson:{load}/slot --warmup 0s --duration 100ms"
        );
        run(ethbus(line.split(' '))).succeeded()
    };
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (much, fits) = (sim("0.5"), sim("0.05"));
    assert_eq!(much.stderr.matches("pure ALOHA carries at most 0.184").count(), 1, "{}", much.stderr);
    assert!(plain(&much.stdout).contains("still waited at the end, more than half of all"), "{}", much.stdout);
    assert_eq!(fits.stderr, "");
    assert!(!plain(&fits.stdout).contains("still waited"), "{}", fits.stdout);
}

/// The figures of users who run away in the warm-up are those of a run without one, and the run says so.
#[test]
fn users_who_run_away_in_the_warm_up_leave_the_figures_of_that_time() {
    let with = |warmup: &str| {
        let line = format!(
            "sim --access slotted-aloha --population infinite --traffic poisson:0.5/slot --warmup {warmup} --duration 1s --seed 1 --format csv"
        );
        run(ethbus(line.split(' '))).succeeded()
    };
    let (late, none) = (with("2s"), with("0s"));
    assert!(
        late.stderr.contains("that was in the warm-up, so the figures are of the time from 0 s"),
        "{}",
        late.stderr
    );
    let line = "sim --access slotted-aloha --population infinite --traffic poisson:0.5/slot --warmup 2s --duration 1s --seed 1";
    let table = run(ethbus(line.split(' '))).succeeded().stdout;
    assert!(!table.contains("0.00 s") && !table.contains("(0 bit times)"), "{table}");
    let transmitted = |text: &str| -> u64 {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let head = lines.next().expect("a head").split(',').position(|name| name == "frames_transmitted_ok");
        let place = head.expect("a column");
        lines.filter_map(|line| line.split(',').nth(place)?.parse::<u64>().ok()).sum()
    };
    assert!(transmitted(&late.stdout) > 0 && transmitted(&none.stdout) > 0, "{}", late.stdout);
}

/// More than the channel carries has no backlog above which it grows: it grows from nothing, and the run says so.
#[test]
fn an_overload_runs_away_from_the_first_frame_on() {
    for load in ["0.4", "2"] {
        let line = format!(
            "sim --access slotted-aloha --population infinite --traffic poisson:{load}/slot --warmup 0s --duration 1s --seed 1"
        );
        let told = run(ethbus(line.split(' '))).succeeded();
        let sentence = "from the first frame on that was to be sent again, more came than got through";
        assert!(told.stderr.contains(sentence) && !told.stderr.contains("above "), "{}", told.stderr);
        let words = told.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!words.contains("more than 0 frames") && !words.contains("no frames"), "{words}");
    }
}

/// A warning before the run says that infinitely many users will run away, with Lam's first exit time.
#[test]
fn users_who_will_run_away_are_told_of() {
    let warned = |arguments: &str| {
        let arguments = ["sim", "--duration", "1s"].into_iter().chain(arguments.split_whitespace());
        run(ethbus(arguments)).succeeded().stderr
    };
    // `ethbus theory lam --stations infinite --load 0.3 --retransmit 20`
    let told = warned("--access slotted-aloha --population infinite --traffic poisson:0.3/slot");
    assert!(told.contains("after about 3,174 slots (0.183 s)") && told.contains("`--backoff uniform:200`"), "{told}");
    assert!(told.contains("ran away at slot "), "{told}");
    assert!(warned("--access aloha --population infinite --traffic poisson:0.12/slot").contains("frame times ("));
    for patient in ["poisson:0.1/slot --backoff uniform:100", "bernoulli:0.3", "poisson:0.05/slot --backoff beb"] {
        assert_eq!(warned(&format!("--access slotted-aloha --traffic {patient}")), "", "{patient}");
    }
}
