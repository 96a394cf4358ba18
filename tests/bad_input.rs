//! Bad input is a clear error, with place, value and what would be right, before anything is made (issue 2).

mod common;

use common::lab::{Unused, assert_nothing_of};
use common::process::{Finished, ethbus, run};
use common::{PATIENCE, Turn};
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

/// `ethbus` with arguments that must be refused with all these words. `LAB` stands for a fresh lab's name.
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

#[test]
fn an_unknown_key_is_named_with_file_line_and_what_is_allowed() {
    refused("seed = 1\n[medium]\nraet = '10M'\n", &["line 3", "raet", "rate", "topology"]);
    refused("statoins = 3\n", &["line 1", "statoins", "stations"]);
    refused("[[station]]\nname = 'a'\n\n[[station]]\nnaem = 'b'\n", &["line 5", "naem", "name", "mac"]);
}

#[test]
fn a_bad_unit_is_named_with_file_line_and_what_would_be_right() {
    refused("[medium]\nrate = '10 bananas'\n", &["line 2", "rate", "10 bananas", "10Mbit/s"]);
    refused("[medium]\ntopology = 'bus:5'\n", &["line 2", "topology", "500 m"]);
    refused("[medium]\n\npropagation_speed = '2c'\n", &["line 3", "propagation_speed", "2c", "0.77c"]);
    refused("[[station]]\nmac = '02:00:00:00:00'\n", &["line 2", "mac", "02:00:00:00:00", "six octets"]);
    refused("ipv4 = '10.0.0.0'\n", &["line 1", "ipv4", "10.0.0.0", "prefix"]);
}

#[test]
fn a_file_that_is_no_toml_is_named_with_its_line() {
    refused("seed = 1\n[medium\n", &["line 2"]);
    refused("stations = 'four'\n", &["line 1", "stations", "four"]);
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

/// A lab's name never leads out of the folder of records, whatever is asked of the lab (it becomes part of a path).
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
    refused_arguments("--load 0", &["--load", "saturated"]);
    refused_arguments("--load 1001%", &["--load", "1001%", "0.4"]);
    for size in ["63", "1519"] {
        refused_arguments(&format!("--frame-size {size}"), &["--frame-size", size, "64", "1518"]);
    }
    refused_arguments("--seed=-1", &["--seed", "-1"]);
    refused_arguments("up --name LAB --rate 1000M", &["rate", "1000", "100Mbit/s"]);
    refused_arguments("--stations 2 up", &["up"]);
    refused_arguments("exec --name LAB st1", &["COMMAND"]);
    refused_arguments("send --name LAB --from st1 --to st2 --rate 0/s", &["--rate", "max"]);
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
