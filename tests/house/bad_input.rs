//! Bad input is a clear error, with place, value and what would be right, before anything is made.
//!
//! `bad_input.txt` beside this file has what people write, and the answer to each, word for word.

use crate::common::lab::{Unused, assert_nothing_of};
use crate::common::process::{Finished, ethbus, run};
use crate::common::{PATIENCE, Turn};
use std::path::Path;

/// As clap ends for wrong options; the help text promises it.
const WRONG_USE: i32 = 2;

/// `ethbus up` with a scenario that must be refused with all these words.
#[track_caller]
fn refused(scenario: &str, words: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("scenario.toml");
    std::fs::write(&path, scenario).expect("own folder");
    refused_file(&path, words);
}

#[track_caller]
fn refused_file(path: &Path, words: &[&str]) {
    let (_turn, lab) = (Turn::shared(), Unused::name());
    let mut command = ethbus(["up", "--name", &lab.0]);
    command.arg(path);
    let ended = run(command);
    ended.failed_with(WRONG_USE, words);
    assert!(ended.stderr.contains(path.to_str().expect("plain")), "does not name the file: {ended:#?}");
    check_refusal(&ended, &lab.0);
}

/// `ethbus` with arguments that must be refused with all these words. `LAB` is replaced by a fresh lab's name.
#[track_caller]
fn refused_arguments(arguments: &str, words: &[&str]) {
    let (_turn, lab) = (Turn::shared(), Unused::name());
    let ended = run(ethbus(arguments.split_whitespace().map(|word| if word == "LAB" { &lab.0 } else { word })));
    ended.failed_with(WRONG_USE, words);
    check_refusal(&ended, &lab.0);
}

/// Quick, no panic, nothing on standard output, nothing made.
#[track_caller]
fn check_refusal(ended: &Finished, name: &str) {
    assert!(ended.took < PATIENCE / 2, "{ended:#?}");
    assert!(!ended.stderr.contains("panicked") && ended.stdout.is_empty(), "{ended:#?}");
    assert_nothing_of(name);
}

/// A case of `bad_input.txt`: a paragraph of a file, a command, and the answer.
struct Case<'a> {
    file: Vec<&'a str>,
    command: &'a str,
    told: Vec<&'a str>,
}

impl<'a> Case<'a> {
    fn read(paragraph: &'a str) -> Case<'a> {
        let marked = |mark: &'static str| paragraph.lines().filter_map(move |line| line.strip_prefix(mark));
        let file = marked("|").map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        let told = paragraph.lines().filter(|line| !line.starts_with(['|', '$'])).collect();
        Case { file, command: marked("$ ethbus ").next().unwrap_or("check lab.toml"), told }
    }

    /// Runs the command in a folder that has the file, and gives what it told.
    #[track_caller]
    fn run(&self) -> String {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        if !self.file.is_empty() {
            std::fs::write(folder.path().join("lab.toml"), self.file.join("\n") + "\n").expect("own folder");
        }
        let mut command = ethbus(self.command.split(' '));
        command.current_dir(folder.path());
        let ended = run(command);
        assert_eq!(ended.code(), Some(WRONG_USE), "{}: {ended:#?}", self.command);
        assert!(ended.stdout.is_empty() && !ended.stderr.contains("panicked"), "{}: {ended:#?}", self.command);
        let left = std::fs::read_dir(folder.path()).expect("own folder").count();
        assert_eq!(left, usize::from(!self.file.is_empty()), "{} leaves something behind", self.command);
        ended.stderr
    }
}

/// An error names the place and the remedy: the reader need not ask "where?" or "what do I write?".
#[test]
fn every_bad_input_gets_the_answer_that_is_written_down() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_input.txt");
    let text = std::fs::read_to_string(&path).expect("it is beside this file");
    let (mut cases, mut now) = (0, Vec::new());
    for paragraph in text.trim_end().split("\n\n") {
        if paragraph.starts_with('#') {
            now.push(paragraph.to_owned());
            continue;
        }
        let case = Case::read(paragraph);
        let told = case.run();
        let asked = paragraph.lines().filter(|line| line.starts_with(['|', '$']));
        now.push(asked.chain(told.lines()).collect::<Vec<_>>().join("\n"));
        cases += 1;
        if std::env::var_os("BLESS").is_none() {
            assert_eq!(told.lines().collect::<Vec<_>>(), case.told, "{paragraph}");
        }
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, now.join("\n\n") + "\n").expect("it is beside this file");
    }
    assert!(cases >= 200, "only {cases} cases");
}

/// An octet that is no text has a place too.
#[test]
fn a_file_that_is_no_text_is_told_of_with_the_place_of_the_first_wrong_octet() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    std::fs::write(folder.path().join("lab.toml"), b"seed = 1\nname = '\xe9t\xe9'\n").expect("own folder");
    let mut command = ethbus(["check", "lab.toml"]);
    command.current_dir(folder.path());
    let ended = run(command);
    assert_eq!(ended.stderr, "lab.toml:2:9: octet 0xE9 is no text in UTF-8: save the file as UTF-8\n");
    assert_eq!(ended.code(), Some(WRONG_USE));
}

/// For programs: place, key and remedy each by itself, and the same exit code.
#[test]
fn check_says_as_json_what_it_says_in_words() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    std::fs::write(folder.path().join("wrong.toml"), "seed = 1\n[medium]\nrate = '10'\n").expect("own folder");
    std::fs::write(folder.path().join("right.toml"), "[access]\nmethod = 'aloha'\n").expect("own folder");
    let mut command = ethbus(["check", "--format", "json", "wrong.toml", "right.toml", "missing.toml"]);
    command.current_dir(folder.path());
    let ended = run(command);
    assert_eq!((ended.code(), ended.stderr.as_str()), (Some(WRONG_USE), ""));
    let told: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let what = "`10` has no unit: write it like `10M`";
    assert_eq!(told[0]["errors"][0], serde_json::json!({ "line": 3, "column": 8, "key": "rate", "what": what }));
    assert_eq!(told[0]["right"], false);
    assert_eq!((&told[1]["right"], &told[1]["commands"]), (&true.into(), &serde_json::json!(["sim"])));
    let missing = told[2]["errors"][0]["what"].as_str().expect("words");
    assert!(missing.starts_with("missing.toml: "), "{missing}");
}

/// The schema that is checked in is the one that the program prints.
#[test]
fn check_prints_the_schema_of_scenarios() {
    let printed = run(ethbus(["check", "--schema"])).succeeded().stdout;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scenario.schema.json");
    assert_eq!(printed, std::fs::read_to_string(path).expect("the file"));
    run(ethbus(["check", "--schema", "lab.toml"])).failed_with(WRONG_USE, &["--schema"]);
    run(ethbus(["check"])).failed_with(WRONG_USE, &["SCENARIO.toml"]);
}

#[test]
fn an_unknown_key_is_named_with_file_line_and_what_is_allowed() {
    refused("seed = 1\n[medium]\nraet = '10M'\n", &[":3:1: raet:", "rate", "topology"]);
    refused("statoins = 3\n", &[":1:1: statoins:", "stations"]);
    refused("[[station]]\nname = 'a'\n\n[[station]]\nnaem = 'b'\n", &[":5:1: naem:", "name", "mac"]);
}

/// The same scenario is right for a run in virtual time: `check` says for which command alone it is, and why.
#[test]
fn a_processor_that_is_not_there_is_named_beside_those_that_are() {
    let scenario = "[emulator]\nprocessor = 8191\n";
    let words = ":2:13: processor: there is no processor 8191: this machine has the processors 0";
    refused(scenario, &[words]);
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    std::fs::write(folder.path().join("lab.toml"), scenario).expect("own folder");
    let mut command = ethbus(["check", "lab.toml"]);
    command.current_dir(folder.path());
    let told = run(command).succeeded().stdout;
    assert!(told.contains(&format!("for `ethbus sim` alone, since lab.toml{words}")), "{told}");
}

#[test]
fn a_bad_unit_is_named_with_file_line_and_what_would_be_right() {
    refused("[medium]\nrate = '10 bananas'\n", &[":2:8: rate:", "10 bananas", "10Mbit/s"]);
    refused("[medium]\ntopology = 'bus:5'\n", &[":2:12: topology:", "500 m"]);
    refused("[medium]\n\npropagation_speed = '2c'\n", &[":3:21: propagation_speed:", "2c", "0.77c"]);
    refused("[[station]]\nmac = '02:00:00:00:00'\n", &[":2:7: mac:", "02:00:00:00:00", "six octets"]);
    refused("ipv4 = '10.0.0.0'\n", &[":1:8: ipv4:", "10.0.0.0", "prefix"]);
}

#[test]
fn a_file_that_is_no_toml_is_named_with_its_line() {
    refused("seed = 1\n[medium\n", &[":2:"]);
    refused("stations = 'four'\n", &[":1:12: stations:", "four"]);
}

/// 802.3 allows 1 to 1,024 stations on one medium.
#[test]
fn a_number_of_stations_that_the_standard_forbids_is_refused() {
    for number in ["0", "1025", "2000"] {
        refused(&format!("seed = 1\nstations = {number}\n"), &[":2", "stations", number, "1024"]);
        refused_arguments(&format!("up --name LAB --stations {number}"), &["--stations", number, "1024"]);
        refused_arguments(&format!("--stations {number} --duration 1s"), &["--stations", number, "1024"]);
    }
}

/// An interface's name has at most 15 octets, and a station's interface on the bus's side has the station's name.
#[test]
fn a_name_too_long_for_an_interface_is_refused() {
    let long = "sixteen_letters_";
    refused(&format!("[[station]]\nname = '{long}'\n"), &[":2", "name", long, "15"]);
    refused_arguments(&format!("up --name {long}"), &["--name", long, "15"]);
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("lab.toml");
    std::fs::write(&path, format!("# a comment\nname = '{long}'\n")).expect("own folder");
    let ended = run(ethbus(["up".as_ref(), path.as_os_str()]));
    ended.failed_with(WRONG_USE, &[":2", "name", long, "15"]);
    check_refusal(&ended, long);
}

/// A lab's name becomes part of a path.
#[test]
fn a_lab_name_that_is_a_path_is_refused() {
    for name in ["a/b", "..", "-", "."] {
        refused_arguments(&format!("up --name={name}"), &["--name", name, "letters"]);
    }
    for command in ["down", "stats"] {
        for name in ["../../etc", "a/b", ".."] {
            let ended = run(ethbus([command, &format!("--name={name}")]));
            assert!(!ended.status.success() && !ended.stderr.contains("panicked"), "{ended:#?}");
        }
    }
    assert!(Path::new("/etc").is_dir());
}

/// A lab's name, which becomes part of a path, never leads out of the folder of records, with any request.
#[test]
fn no_command_takes_a_path_for_a_lab() {
    let commands: [&[&str]; 5] =
        [&["up"], &["down"], &["stats"], &["exec", "st1", "--", "true"], &["send", "--from", "st1", "--to", "st2"]];
    for command in commands {
        for name in ["..", ".", "../lock/x", "/tmp", ""] {
            let named: Vec<&str> = [command[0], "--name", name].iter().chain(&command[1..]).copied().collect();
            run(ethbus(named)).failed_with(2, &["--name", "cannot name a lab"]);
        }
    }
}

#[test]
fn stations_with_the_same_name_or_address_are_refused() {
    let twice = |key: &str, value: &str| {
        format!("[[station]]\nname = 'a'\n{key} = '{value}'\n[[station]]\nname = 'b'\n{key} = '{value}'\n")
    };
    refused(&twice("ipv4", "10.9.0.1/24"), &[":6", "ipv4", "10.9.0.1", "a", "b"]);
    refused(&twice("ipv6", "fd00::1/64"), &[":6", "ipv6", "fd00::1", "a", "b"]);
    refused(&twice("mac", "02:00:00:00:00:01"), &[":6", "mac", "02:00:00:00:00:01", "a", "b"]);
    refused("[[station]]\nname = 'a'\n[[station]]\nname = 'a'\n", &[":4", "name", "a"]);
}

/// An address that a station was given must not be one that another gets by default either.
#[test]
fn an_address_that_another_station_gets_by_default_is_refused() {
    refused("[[station]]\nname = 'a'\nipv4 = '10.77.0.2/16'\n[[station]]\nname = 'b'\n", &["ipv4", "10.77.0.2"]);
}

/// On a star every pair has the same distance, so a position says nothing.
#[test]
fn a_star_with_positions_is_refused() {
    refused("[medium]\ntopology = 'star:50bt'\n[[station]]\nposition = '5 m'\n", &[":4", "position", "bus:"]);
    refused("[medium]\ntopology = 'bus:10m'\n[[station]]\nposition = '50 m'\n", &[":4", "position", "end"]);
}

#[test]
fn a_missing_or_unreadable_scenario_is_named() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    refused_file(&folder.path().join("missing.toml"), &["No such file"]);
    refused_file(folder.path(), &["directory"]);
    let binary = folder.path().join("binary.toml");
    std::fs::write(&binary, [0xff, 0xfe, 0]).expect("own folder");
    refused_file(&binary, &["UTF-8"]);
}

#[test]
fn a_bad_option_is_refused_with_what_would_be_right() {
    refused_arguments("--rate 10X", &["--rate", "10X", "10Mbit/s"]);
    refused_arguments("--rate 0", &["--rate", "10Mbit/s"]);
    refused_arguments("--duration 0s", &["--duration", "0s", "above zero"]);
    refused_arguments("--duration 5parsecs", &["--duration", "5parsecs", "10s"]);
    refused_arguments("--traffic 0", &["--traffic", "saturated"]);
    refused_arguments("--traffic poisson:1001%", &["--traffic", "1001%", "1000%", "saturated", "rate"]);
    refused_arguments("--traffic tcp", &["--traffic", "iperf3"]);
    for size in ["17", "1519"] {
        refused_arguments(&format!("--frame-size {size}"), &["--frame-size", size, "1518"]);
    }
    refused_arguments("--seed=-1", &["--seed", "-1"]);
    refused_arguments("up --name LAB --rate 1000M", &["rate", "1000", "100Mbit/s"]);
    refused_arguments("--stations 2 up", &["up"]);
    refused_arguments("send --name LAB --from st1 --to st2 --rate 0/s", &["--rate", "max"]);
    refused_arguments("report run.events -o page.html --at 5ms", &["--at", "5ms", "30,216,041"]);
}

/// `sim` checks interface names in scenarios, and `link` before it calls the kernel: both must draw one line.
#[test]
fn scenarios_and_the_kernel_calls_agree_on_interface_names() {
    let names = ["a", "eth0.100", "fifteen-octets-", "é", "...", "", "sixteen-octets--", "a/b", "a b", "a:b", "a%d"];
    let odd = ["a\tb", "à", "a\0b", "\u{b}", ".", "..", "all", "default"];
    for name in names.into_iter().chain(odd) {
        let checked = sim::words::interface::interface_name(name);
        let called = link::netlink::check_interface_name(name).map_err(|error| error.to_string());
        assert_eq!(checked, called, "{name:?}");
    }
}
