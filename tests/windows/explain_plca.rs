//! `ethbus explain` of PLCA from outside: every segment of `examples/plca/` gets the words that name its cause, every
//! frame of each is explained without a panic, and pictures show the events of the log.

use crate::common::process::{ethbus, run, unwrapped};
use medium::Kind;
use sim::explain::choice::ended;
use sim::explain::plca::{Diagnosis, Told, diagnose, draw};
use sim::explain::{self, ExplainError, Story, Wanted, find, tell, tell_segment};
use sim::files::event_log::{Entry, EventLogReader};
use sim::files::json_lines::LineReader;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The scenarios of the folder, in order.
fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/plca");
    let all = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut all: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|kind| kind == "toml")).collect();
    all.sort();
    all
}

fn name(path: &Path) -> String {
    path.file_stem().expect("a name").to_str().expect("UTF-8").to_owned()
}

/// Segments that go wrong have a number.
fn is_wrong(scenario: &Path) -> bool {
    name(scenario).starts_with(|first: char| first.is_ascii_digit())
}

/// The event log of a scenario.
fn events(folder: &TempDir, scenario: &Path) -> PathBuf {
    let events = folder.path().join(name(scenario));
    let [scenario, path] = [scenario, &events].map(|path| path.to_str().expect("UTF-8"));
    run(ethbus(["sim", scenario, "--events", path])).succeeded();
    events
}

type Log = EventLogReader<std::io::BufReader<fs::File>>;

fn open(events: &Path) -> Log {
    EventLogReader::new(LineReader::open(events).expect("a log")).expect("a header")
}

fn diagnosed(events: &Path) -> Diagnosis {
    diagnose(&mut open(events)).expect("a log of PLCA")
}

fn story(events: &Path, frame: &str) -> Story {
    let mut log = open(events);
    let wanted = Wanted::parse(frame, log.header()).expect("a frame's name");
    find(&mut log, wanted).expect("the log has it")
}

/// The number in a scenario's name is the number of a finding: the first one, unless another cause comes before it,
/// and docs/symptoms.md has its words.
/// `BLESS=1` rewrites the file.
#[test]
fn every_segment_gets_the_words_that_name_its_cause() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut text = String::new();
    let guide = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/symptoms.md")).expect("the guide");
    let guide = guide.split_whitespace().filter(|word| *word != ">").collect::<Vec<_>>().join(" ");
    for scenario in scenarios().iter().filter(|scenario| is_wrong(scenario)) {
        let name = name(scenario);
        let diagnosis = diagnosed(&events(&folder, scenario));
        if let Some(number) = name.split('-').next().and_then(|digits| digits.parse::<u8>().ok()) {
            let numbers: Vec<u8> = diagnosis.findings.iter().map(|finding| finding.number).collect();
            assert!(numbers.contains(&number), "{name}: {numbers:?}");
            assert!(numbers.iter().all(|&found| found == number || (found, number) == (1, 9)), "{name}: {numbers:?}");
        }
        for finding in &diagnosis.findings {
            assert!(
                guide.contains(&finding.cause) || (finding.number, &*name) == (1, "09-collision-detection-off"),
                "{name}: {}",
                finding.cause
            );
        }
        text += &format!("==== {name}\n{}\n", tell_segment(&diagnosis));
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/explain_plca.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&golden, &text).expect("it can be written");
    }
    assert_eq!(text, fs::read_to_string(&golden).unwrap_or_default(), "BLESS=1 rewrites {}", golden.display());
}

#[test]
fn a_right_segment_has_no_finding_and_keeps_its_bound() {
    let folder = tempfile::tempdir().expect("a folder");
    let right = scenarios().into_iter().find(|path| name(path) == "right").expect("it is there");
    let diagnosis = diagnosed(&events(&folder, &right));
    assert_eq!(diagnosis.findings, []);
    assert!(diagnosis.summary.contains("no frames met on the line"), "{}", diagnosis.summary);
    assert!(diagnosis.summary.contains("at most 5,652 BT"), "{}", diagnosis.summary);
}

/// The command beside a bound is one that this program takes, and tells the same bound.
#[test]
fn the_command_beside_a_bound_tells_that_bound() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("run.events").display().to_string();
    let nodes = ["sim", "--stations", "4", "--access", "plca", "--topology", "bus:25m", "--frame-size", "64"];
    let more = ["--burst-count", "2", "--to-timer", "40", "--duration", "5ms", "--warmup", "0s", "--events", &log];
    run(ethbus([&nodes[..], &more].concat())).succeeded();
    let told = run(ethbus(["explain", &log, "--frame", "st2#3"])).unwrapped();
    let (before, rest) = told.split_once(" BT (`ethbus theory plca ").unwrap_or_else(|| panic!("{told}"));
    let bound = before.rsplit(' ').next().expect("a number");
    let options = rest.split('`').next().expect("a command");
    assert!(options.contains("--burst-count 2") && options.contains("--to-timer 40"), "{options}");
    let theory = run(ethbus(["theory", "plca"].into_iter().chain(options.split(' ')))).succeeded();
    let bound = bound.replace(',', "");
    assert!(theory.stdout.contains(&bound), "{bound} is not in\n{}", theory.stdout);
}

/// Some frames of each scenario; the words say how often PLCA held each back, as the log does.
#[test]
fn frames_of_every_segment_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    for scenario in scenarios().iter().filter(|scenario| is_wrong(scenario)) {
        let events = events(&folder, scenario);
        let mut frames = Vec::new();
        ended(&mut open(&events), |one| {
            frames.push(one.frame);
            true
        })
        .expect("a whole log");
        let step = (frames.len() / 3).max(1);
        for frame in frames.iter().step_by(step) {
            let story = story(&events, frame);
            let text = tell(&story);
            assert!(text.contains("In short: told to wait for its turn") && !text.contains('{'), "{frame}: {text}");
            let told = text.matches("Told to wait for its turn").count();
            let words = match told {
                0 => "never".to_owned(),
                1 => "once".to_owned(),
                2 => "twice".to_owned(),
                times => format!("{times} times"),
            };
            let flat = unwrapped(&text);
            assert!(flat.contains(&format!("told to wait for its turn {words}")), "{frame}: {text}");
            assert!(explain::draw(&story).is_some_and(|picture| picture.ends_with("</svg>\n")), "{frame}");
        }
    }
}

/// Collisions that a picture marks are in the log at that instant, and so does every frame's first bit.
#[test]
fn a_picture_shows_what_the_log_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let twins = scenarios().into_iter().find(|path| name(path).starts_with("03")).expect("it is there");
    let events = events(&folder, &twins);
    let picture = draw(&mut open(&events), &diagnosed(&events)).expect("a log of PLCA");
    let mut log = open(&events);
    let (mut collisions, mut turns) = (Vec::new(), Vec::new());
    while let Some(entry) = log.next_entry().expect("a whole log") {
        if let Entry::Medium(event) = entry {
            match event.kind {
                Kind::Collision { .. } => collisions.push(event.at.get()),
                Kind::Commit { .. } => turns.push(event.at.get()),
                _ => {}
            }
        }
    }
    let values = |class: &str, key: &str| -> Vec<u64> {
        let lines = picture.lines().filter(|line| line.contains(&format!("class=\"{class}\"")));
        let value = |line: &str| line.split(&format!("{key}=\"")).nth(1)?.split('"').next()?.parse().ok();
        lines.filter_map(value).collect()
    };
    let marks = values("mark", "data-at");
    assert!(marks.len() >= 2 && marks.iter().all(|at| collisions.contains(at)), "{marks:?}");
    let frames = values("frame", "data-from");
    // One may have begun before the picture does.
    assert!(frames.len() > 2 && frames.iter().skip(1).all(|at| turns.contains(at)), "{frames:?}");
    assert!(!values("beacon", "data-from").is_empty());
}

/// INET's statistics, worked out from the log, beside what the nodes counted themselves.
#[test]
fn statistics_under_inets_names_agree_with_the_counters() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("events");
    let text = path.to_str().expect("UTF-8");
    let bus = [
        "--access",
        "plca",
        "--stations",
        "8",
        "--burst-count",
        "1",
        "--traffic",
        "poisson:0.5",
        "--frame-size",
        "100",
    ];
    let options = ["--warmup", "0s", "--duration", "200ms", "--format", "json", "--events", text];
    let results = run(ethbus([&["sim"], &bus[..], &options[..]].concat())).json();
    let found = run(ethbus(["explain", text, "--segment", "--format", "json"])).json();
    let of = |name: &str, key: &str| found["statistics"][name][key].as_f64().expect(name);
    let plca = &results["medium"]["plca"];
    assert_eq!(of("cycleLength", "min"), plca["cycle_min_bt"].as_f64().expect("a number"));
    assert_eq!(of("cycleLength", "max"), plca["cycle_max_bt"].as_f64().expect("a number"));
    // The log reports the last cycles only when a busy one ends.
    let cycles = plca["cycles"].as_f64().expect("a number");
    assert!(of("cycleLength", "count") > 0.99 * cycles && of("cycleLength", "count") <= cycles);
    assert_eq!((of("toLength", "min"), of("numPacketsPerTo", "max")), (32.0, 2.0));
    for station in results["stations"].as_array().expect("stations") {
        let name = station["name"].as_str().expect("a name");
        let own = |statistic: &str, key: &str| found["statistics"][statistic][name][key].as_f64().expect(statistic);
        let used = station["plca"]["counters"]["used"].as_f64().expect("a number");
        let turns = own("transmitOpportunityUsed", "mean") * own("transmitOpportunityUsed", "count");
        assert!((turns - used).abs() <= 1.5, "{name}: {turns} turns used, and {used} counted");
        assert!(own("packetPendingDelay", "max") <= 396.0, "the delay line holds no more");
        assert!(own("packetInterval", "min") >= 64.0 + 800.0, "{name}");
    }
}

#[test]
fn a_log_without_plca_has_no_segment() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("events");
    let path_text = path.to_str().expect("UTF-8");
    run(ethbus(["sim", "--stations", "2", "--duration", "1ms", "--events", path_text])).succeeded();
    assert!(matches!(diagnose(&mut open(&path)), Err(ExplainError::Segment)));
    run(ethbus(["explain", path_text, "--segment"])).failed_with(1, &["--segment: the trace is not of PLCA"]);
    let json = folder.path().join("plca");
    let json_text = json.to_str().expect("UTF-8");
    run(ethbus(["sim", "--access", "plca", "--stations", "2", "--duration", "1ms", "--events", json_text])).succeeded();
    let found = run(ethbus(["explain", json_text, "--segment", "--format", "json"])).json();
    assert_eq!(found["findings"], serde_json::json!([]));
}

/// The findings of a log of this scenario, with traffic that makes collisions.
fn found(scenario: &str) -> Vec<Told> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("changes.toml");
    let text = format!(
        "[access]\nmethod = \"plca\"\n[traffic]\narrivals = \"poisson:0.5\"\nframe_size = 64\n[run]\nduration = \"80ms\"\n\
         warmup = \"0s\"\n{scenario}"
    );
    fs::write(&path, text).expect("own folder");
    diagnosed(&events(&folder, &path)).findings
}

/// An id twice for 100 BT is not blamed for what comes later; a finding that is over has its interval and no remedy, and
/// its counts are those of the interval. In an earlier version, 1 and 2 ms after the log began, both were in the present.
#[test]
fn a_finding_holds_for_an_interval() {
    let at = |time: u64, station: &str, change: &str| {
        format!("[[at]]\ntime = \"{time} BT\"\nstation = \"{station}\"\nplca.{change}\n")
    };
    let changes = [
        at(10_000, "st3", "node-id = 1"),
        at(10_100, "st3", "node-id = 2"),
        at(200_000, "st4", "enable = false"),
        at(400_000, "st4", "enable = true"),
        at(600_000, "st2", "to-tmr = 24"),
    ];
    let found = found(&format!("{}{}", changes.concat(), "[[station]]\n".repeat(8)));
    let numbers: Vec<u8> = found.iter().map(|one| one.number).collect();
    assert_eq!(numbers, [7, 8, 15, 15], "{found:#?}");
    let [off, timer, first, second] = &found[..] else { panic!("four") };
    assert_eq!((off.since_bt, off.until_bt), (200_000, Some(400_000)));
    assert!(off.cause.starts_with("From t = 200,000 to t = 400,000: st4 has PLCA off"), "{}", off.cause);
    assert!(off.mend.starts_with("Nothing"), "{}", off.mend);
    assert_eq!((timer.since_bt, timer.until_bt), (600_000, None));
    assert!(timer.cause.starts_with("Since t = 600,000: st2 counts 24 BT"), "{}", timer.cause);
    assert!(timer.mend.contains("plca set st2 to-tmr 32"), "{}", timer.mend);
    assert!(first.seen.contains("plain CSMA/CD for 100 BT, until its next settings came"), "{}", first.seen);
    assert!(second.seen.contains("until the next BEACON was over"), "{}", second.seen);
}

/// Each node that needs an id is given its own, and room for it in the cycle. A further id counts as an id.
#[test]
fn proposed_ids_differ() {
    let without =
        found(&["[[station]]\n", "[[station]]\nplca.node-id = 255\n", "[[station]]\nplca.node-id = 255\n"].concat());
    let mends: Vec<&str> = without.iter().map(|one| one.mend.as_str()).collect();
    assert_eq!(mends, ["`ethbus plca set st2 node-id 1`.", "`ethbus plca set st3 node-id 2`."]);
    let twin = "[[station]]\nplca.node-id = 1\n";
    let three = found(&["[[station]]\n", twin, twin, twin].concat());
    assert_eq!(three.len(), 1, "{three:#?}");
    assert!(
        three[0].mend.starts_with("`ethbus plca set st3 node-id 2` and `ethbus plca set st4 node-id 3`."),
        "{three:#?}"
    );
    let further = found("[[station]]\n[[station]]\nplca.more-ids = [\"2\"]\n[[station]]\n");
    assert_eq!(further.iter().map(|one| one.number).collect::<Vec<_>>(), [3], "{further:#?}");
    assert!(
        further[0].mend.starts_with("`ethbus plca set st1 node-cnt 4` and `ethbus plca set st3 node-id 3`."),
        "{further:#?}"
    );
}

/// After a cold start frames keep the attempts of CSMA/CD: the finding says which was there longest.
#[test]
fn frames_of_a_cold_start_take_their_attempts_along() {
    let cold = found(
        "[plca]\ncold-start = true\n[[station]]\narrivals = \"saturated\"\n[[station]]\narrivals = \"saturated\"\n",
    );
    assert_eq!(cold.iter().map(|one| one.number).collect::<Vec<_>>(), [17], "{cold:#?}");
    assert!(cold[0].seen.contains("kept their attempts") && cold[0].until_bt.is_some(), "{cold:#?}");
    assert!(found("[[station]]\narrivals = \"saturated\"\n[[station]]\narrivals = \"saturated\"\n").is_empty());
}

/// A station may be called by a word that findings use: it gets the findings that concern it, and no others.
#[test]
fn a_finding_is_of_the_stations_that_it_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("twins.toml");
    let stations = "[[station]]\n[[station]]\n[[station]]\nplca.node-id = 1\n[[station]]\nname = \"turn\"\n";
    let text = format!(
        "[access]\nmethod = \"plca\"\n[traffic]\narrivals = \"poisson:0.4\"\nframe_size = 64\n[run]\nduration = \"20ms\"\n\
         warmup = \"0s\"\n{stations}"
    );
    fs::write(&scenario, text).expect("own folder");
    let events = events(&folder, &scenario);
    for (name, is_twin) in [("st2#1", true), ("turn#1", false)] {
        let told = tell(&story(&events, name));
        assert_eq!(told.contains("the same id"), is_twin, "{told}");
    }
}
