//! What users of Mininet, docker, containerlab and ripgrep type without reading works.

use crate::common::lab::{INTERFACE, Lab};
use crate::common::process::{ethbus, run};
use crate::common::{Turn, skipped};
use serde_json::Value;

/// As in Mininet: `h1 ping h2`.
#[test]
fn stations_know_each_other_by_name() {
    if skipped(&["ping", "getent"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "3"]);
    run(lab.ethbus("exec", &["st1", "ping", "-c", "1", "-W", "5", "st3"])).succeeded();
    let found = run(lab.ethbus("exec", &["st1", "--", "getent", "ahostsv4", "st2"])).succeeded().stdout;
    assert!(found.starts_with(&lab.ipv4("st2")), "{found}");
    // Outside nothing has changed.
    let mut outside = std::process::Command::new("getent");
    outside.args(["hosts", "st2"]);
    assert!(!run(outside).status.success());
    lab.down();
    lab.assert_nothing_left();
}

/// As with docker: no `--`, and the program's own options are its own.
#[test]
fn a_program_needs_no_dashes_and_keeps_its_options() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let shown = run(lab.ethbus("exec", &["st1", "ip", "-o", "link", "show", INTERFACE])).succeeded().stdout;
    assert!(shown.contains(INTERFACE), "{shown}");
    let told = run(lab.ethbus("exec", &["st2", "sh", "-c", "echo $ETHBUS_LAB $ETHBUS_STATION"])).succeeded().stdout;
    assert_eq!(told.trim(), format!("{} st2", lab.name));
    assert_eq!(run(lab.ethbus("exec", &["st2", "sh", "-c", "exit 7"])).code(), Some(7));
}

/// Without a program: a shell, whose prompt says where one is.
#[test]
fn a_station_alone_gives_a_shell() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let mut shell = lab.ethbus("exec", &["st2"]);
    shell.env("SHELL", "/bin/sh");
    let script = "echo \"prompt: $PS1\"; ls /sys/class/net\n";
    let told = crate::common::process::Running::start(shell, script).wait().succeeded().stdout;
    assert!(told.contains(&format!("prompt: {}:st2 ", lab.name)) && told.contains(INTERFACE), "{told}");
}

/// As with containerlab: `inspect --all`.
#[test]
fn labs_are_listed_with_names_and_addresses() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let listed = || run(ethbus(["list", "--format", "json"])).json();
    let find =
        |labs: &Value| labs.as_array().expect("a list").iter().find(|one| one["name"] == lab.name.as_str()).cloned();
    let own = find(&listed()).expect("it is up");
    assert_eq!(own["state"], "up");
    assert_eq!(own["stations"][1]["name"], "st2");
    assert_eq!(own["stations"][1]["mac"], lab.mac("st2").as_str());
    assert_eq!(own["stations"][1]["addresses"][0], lab.ipv4("st2").as_str());
    let stats = run(ethbus(["stats", &lab.name, "--format", "json"])).json();
    assert_eq!(stats["addresses"][0]["ip"][0], lab.ipv4("st1").as_str());
    assert!(stats["emulator"]["verdict"].is_string(), "{}", stats["emulator"]);
    run(ethbus(["down", &lab.name])).succeeded();
    assert_eq!(find(&listed()), None);
    run(ethbus(["stats", &lab.name])).failed_with(1, &["no lab called", &lab.name, "ethbus up --name"]);
    let again = run(ethbus(["down", &lab.name]));
    again.failed_with(1, &["no lab called", &lab.name, "there is nothing to take down"]);
    assert!(!again.stderr.contains("ethbus up"), "{}", again.stderr);
    for command in [
        ["plca", "set", "st1", "enable", "on"].as_slice(),
        &["plca", "get", "st1"],
        &["capture", "--last", "1s"],
        &["pause"],
    ] {
        let named = [command, &["--name", &lab.name]].concat();
        run(ethbus(named)).failed_with(1, &["no lab called", &lab.name]);
    }
}

/// No station receives what it sends itself.
#[test]
fn a_station_sends_nothing_to_itself() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    for to in ["st1", &lab.mac("st1")] {
        run(lab.ethbus("send", &["--from", "st1", "--to", to])).failed_with(2, &["--to", to, "is the sender"]);
    }
}

/// Cables are plugged and unplugged; the words of before still do it.
#[test]
fn plug_and_unplug_have_their_former_names_too() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let attached = || lab.stats()["stations"][1]["attached"].clone();
    for (command, is_attached) in [("unplug", false), ("plug", true), ("detach", false), ("attach", true)] {
        let told = run(lab.ethbus(command, &["st2"])).succeeded().stderr;
        assert_eq!((attached(), told.as_str()), (is_attached.into(), ""), "{command}");
        let again = run(lab.ethbus(command, &["st2"])).succeeded().stderr;
        assert!(again.contains("st2 was o") && again.contains("the medium already"), "{command}: {again}");
    }
}

/// A scenario to begin with is right, and no file is written over.
#[test]
fn init_writes_what_check_finds_right() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let here = |arguments: &[&str]| {
        let mut command = ethbus(arguments);
        command.current_dir(folder.path());
        run(command)
    };
    for kind in ["star", "bus", "segments"] {
        let file = format!("{kind}.toml");
        here(&["init", kind, "--out", &file]).succeeded();
        assert!(here(&["check", &file]).succeeded().stdout.starts_with(&format!("{file}: right: ")));
        here(&["init", kind, "--out", &file]).failed_with(1, &[&file, "exists"]);
    }
}

/// Completions and man pages come from the program itself.
#[test]
fn completions_and_man_pages_are_in_the_program() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(run(ethbus(["help", "completions", shell])).succeeded().stdout.contains("unplug"), "{shell}");
    }
    assert!(run(ethbus(["help", "man", "sim"])).succeeded().stdout.contains(".TH"));
    run(ethbus(["help", "man", "nothing"])).failed_with(2, &["`nothing` is no command"]);
}

/// What a doctor finds is for programs too, and says what to do about each thing that is missing.
#[test]
fn the_doctor_says_what_to_do() {
    let ended = run(ethbus(["doctor", "--format", "json"]));
    let findings: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:#?}"));
    let findings = findings.as_array().expect("a list");
    for finding in findings {
        assert!(finding["state"] == "good" || finding["remedy"].is_string(), "{finding}");
    }
    let is_missing = findings.iter().any(|finding| finding["state"] == "missing");
    assert_eq!(ended.code(), Some(i32::from(is_missing)));
}

/// Its line to install programs can be pasted: in one piece, with sudo for users only, and without installed packages.
#[test]
fn the_doctors_install_line_can_be_pasted() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    std::fs::write(folder.path().join("ping"), "").expect("own folder");
    let line = |sudo: bool| {
        let mut doctor = ethbus(["doctor"]);
        doctor.env("PATH", folder.path()).env_remove("SUDO_USER");
        if sudo {
            doctor.env("SUDO_USER", "alice");
        }
        let told = run(doctor).stdout;
        told.lines().find(|line| line.contains("apt install")).map(|line| line.trim().to_owned())
    };
    assert_eq!(line(true).as_deref(), Some("sudo apt install iproute2 iperf3 tcpdump"));
    if skipped(&[]) {
        return;
    }
    assert_eq!(line(false).as_deref(), Some("apt install iproute2 iperf3 tcpdump"));
}

/// A run that lost more than the tolerance is not to be trusted, and `--strict` says so to programs.
#[test]
fn a_strict_run_ends_with_3_if_it_is_not_to_be_trusted() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::alone();
    let short = ["--stations", "2", "--duration", "500ms", "--format", "json", "--strict"];
    let run = |tolerance: &str| run(ethbus([&short[..], &["--tolerance", tolerance]].concat()));
    let trusted = run("100%");
    assert_eq!(trusted.json()["emulator"]["verdict"], "trusted");
    let none = run("0");
    let results: Value = serde_json::from_str(&none.stdout).expect("results");
    let verdict = results["emulator"]["verdict"].as_str().expect("a text").to_owned();
    assert_eq!(none.code(), Some(if verdict == "trusted" { 0 } else { 3 }), "{verdict}");
}
