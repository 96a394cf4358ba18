//! `ethbus up --virtual`: the lab of `ethbus run` behind the commands of a live lab.

use super::common::files::{kind, logged, path};
use super::common::lab::{Lab, Unused, fresh_name};
use super::common::process::{Running, ethbus, program, run};
use super::common::terminal::Terminal;
use super::common::{ETHBUS, PATIENCE, skipped, wait_until};
use super::{PING, command, is_ready, processes, read, scenario, text, unchecked};
use serde_json::Value;
use std::time::Duration;

fn bits(lab: &Lab) -> u64 {
    lab.stats()["measured_bit_times"].as_u64().expect("a number")
}

/// Waits until this much virtual time has passed, at 10 Mb/s.
fn pass(lab: &Lab, seconds: u64) {
    wait_until(PATIENCE, "virtual time passes", || bits(lab) >= seconds * 10_000_000);
}

/// Looking at a lab changes nothing in it: up to its end the log of a run is that of the lab.
#[test]
fn a_lab_that_is_looked_at_has_the_log_of_a_run() {
    if !is_ready() {
        return;
    }
    let name = fresh_name();
    let folder = scenario(&format!("name = '{name}'\n{PING}"));
    run(command(&folder, "a", &[])).succeeded();
    let [scenario, events, captured] = ["lab.toml", "b.events", "b.pcapng"].map(|name| path(&folder, name));
    let mut lab = Lab::up_as(name, &["--virtual", &scenario, "--events", &events, "--pace", "4"]);
    let capture = Running::start(lab.ethbus("capture", &["--out", &captured]), "");
    let listed = run(ethbus(["list", "--format", "json"])).json();
    let own = listed.as_array().expect("labs").iter().find(|listed| listed["name"] == lab.name.as_str());
    assert_eq!(own.expect("it is up")["virtual"], true);

    run(lab.ethbus("pause", &[])).succeeded();
    let stopped = bits(&lab);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(bits(&lab), stopped);
    run(lab.ethbus("step", &["--bits", "123456"])).succeeded();
    assert_eq!(bits(&lab), stopped + 123_456);
    run(lab.ethbus("step", &[])).succeeded();
    assert!(bits(&lab) > stopped + 123_456);
    run(lab.ethbus("resume", &[])).succeeded();
    pass(&lab, 6);
    capture.signal("INT");
    let told = capture.wait();
    assert!(told.stderr.contains("packets in"), "{told:#?}");
    let stats = lab.stats();
    assert_eq!(stats["emulator"], Value::Null);
    // The log can be read while it is written.
    wait_until(PATIENCE, "the log has the pings", || text(&folder, "b.events").lines().count() > 8);
    lab.down();
    lab.assert_nothing_left();

    let (one, other) = (read(&folder, "a.events"), read(&folder, "b.events"));
    // The last line tells where the log ends.
    let end = one[..one.len() - 1].iter().rposition(|octet| *octet == b'\n').expect("lines");
    assert!(end > 5_000 && other.starts_with(&one[..=end]), "the log of a lab that was looked at differs");
    let first = std::fs::read(&captured).expect("a capture");
    assert_eq!(first[..4], [0x0a, 0x0d, 0x0d, 0x0a], "it is pcapng");
}

/// What is done to a lab has an instant in its record, and is done again there.
#[test]
fn commands_and_changes_are_recorded_and_replayed() {
    if !is_ready() {
        return;
    }
    let name = fresh_name();
    let folder = scenario(&format!("name = '{name}'\n{PING}"));
    let files = ["lab.toml", "a.record", "a.events", "b.events", "a"].map(|name| path(&folder, name));
    let [scenario, record, events, again, consoles] = files.each_ref().map(String::as_str);
    let arguments = ["--virtual", scenario, "--pace", "4"];
    let files = ["--events", record, "--events-level", "inputs", "--events", events, "--consoles", consoles];
    let mut lab = Lab::up_as(name, &[&arguments[..], &files[..]].concat());
    // It may boot still.
    let printed = run(lab.exec("st1", &["sh", "-c", "echo out; echo \"it's err\" >&2; exit 7"]));
    assert_eq!((printed.code(), printed.stdout.as_str(), printed.stderr.as_str()), (Some(7), "out\n", "it's err\n"));
    let octets = run(lab.exec("st2", &["head", "-c", "100000", "/bin/sh"])).status;
    assert!(octets.success());
    run(lab.exec("st2", &["no-such-program"])).failed_with(127, &["no-such-program"]);
    // Standard input, more of it than a pipe holds, and a program that ends before its input.
    let input = "a line\n".repeat(20_000);
    let counted = Running::start(lab.exec("st2", &["sh", "-c", "sleep 0.2; wc -c"]), &input).wait().succeeded();
    assert_eq!(counted.stdout.trim(), input.len().to_string());
    assert_eq!(Running::start(lab.exec("st2", &["head", "-n", "1"]), &input).wait().succeeded().stdout, "a line\n");
    let shell = Running::start(lab.ethbus("exec", &["st1"]), "cd /usr; pwd\nexit 5\n").wait();
    assert_eq!(shell.code(), Some(5), "{shell:#?}");
    assert!(shell.stdout.contains("st1 $ /usr\n"), "{shell:#?}");
    // The prompt: a line is a station and its program, or a command.
    let prompt = Running::start(lab.ethbus("exec", &[]), "st2 sh -c 'echo of $((6 * 7))'\nst9 true\nlist\n").wait();
    assert!(prompt.stdout.contains("of 42\n") && prompt.stdout.contains(&lab.name), "{prompt:#?}");
    assert!(prompt.stderr.contains("`st9` is neither a station"), "{prompt:#?}");
    pass(&lab, 2);
    let pinged = run(lab.exec("st2", &["ping", "-4", "-c", "2", "st1"])).succeeded();
    assert!(pinged.stdout.contains("2 received"), "{pinged:#?}");
    run(lab.ethbus("unplug", &["st2"])).succeeded();
    run(lab.exec("st1", &["ping", "-4", "-c", "1", "-W", "1", "st2"])).failed_with(1, &[]);
    run(lab.ethbus("plug", &["st2"])).succeeded();
    run(lab.ethbus("fault", &["st1", "bad_fcs"])).succeeded();
    pass(&lab, 8);
    lab.down();

    let recorded = logged(&text(&folder, "a.record"), &["command", "unplug", "plug", "fault"]);
    let kinds: Vec<&str> = recorded.iter().map(kind).collect();
    assert_eq!(kinds, [&["command"; 8][..], &["unplug", "command", "plug", "fault"]].concat());
    run(ethbus(["replay", record])).succeeded();
    let told = run(ethbus(["replay", record, "--programs", "--events", again])).succeeded();
    // Whether it adds that the record was interrupted depends on what still ran at `down`.
    assert!(told.stderr.contains("the programs sent the same as in the recorded run"), "{told:#?}");
    assert!(read(&folder, "a.events") == read(&folder, "b.events"), "the log of the replay differs");

    // The same command later makes another run.
    let whole = text(&folder, "a.record");
    assert!(whole.contains("\"kind\":\"stdin\""), "inputs have their instants");
    let line = whole.lines().find(|line| line.contains("\"command\":\"ping -4 -c 2")).expect("a command");
    let later = line.replace("ping -4 -c 2", "ping -4 -c 3");
    std::fs::write(folder.path().join("c.record"), unchecked(&whole).replace(line, &later)).expect("a file");
    let altered = path(&folder, "c.record");
    run(ethbus(["replay", &altered, "--programs"])).failed_with(1, &["c.record, line", "this run differs"]);
}

/// The line of `ethbus run` stays in one place, and is gone when the results come.
#[test]
fn a_lab_in_the_foreground_shows_how_fast_it_is() {
    if !is_ready() || skipped(&["tmux"]) {
        return;
    }
    let (lab, folder) = (Unused::name(), scenario("[[station]]\n[[station]]\n"));
    let command = format!("{ETHBUS} up --virtual --name {} {}", lab.0, path(&folder, "lab.toml"));
    let terminal = Terminal::run("virtual", (100, 40), &command);
    let line = "lab seconds a second; busiest: st";
    let lines = |shown: String| shown.lines().filter(|shown| shown.contains(line)).count();
    terminal.wait_for(line);
    let first = terminal.screen();
    wait_until(PATIENCE, "another line", || terminal.screen() != first);
    assert_eq!(lines(terminal.shown(&[])), 1);
    run(ethbus(["down", &lab.0])).succeeded();
    let shown = terminal.wait_for("THE END");
    assert_eq!(lines(shown.clone()), 0, "{shown}");
}

/// The first process whose command line has this.
fn process(mark: &str) -> Option<i32> {
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    let is_its = |name: &str| {
        let command = std::fs::read(format!("/proc/{name}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).contains(mark)
    };
    let names = processes.filter_map(|process| process.file_name().into_string().ok());
    names.filter(|name| is_its(name)).find_map(|name| name.parse().ok())
}

/// A kernel that is killed while it waits, and what `down` says of programs.
#[test]
fn a_killed_kernel_is_noticed_while_it_waits_and_down_has_the_codes_of_programs() {
    if !is_ready() {
        return;
    }
    // The memory is a mark that no other test has.
    let folder =
        scenario("[[station]]\nrun = ['sleep 1000']\n[[station]]\nmemory = 57\n[[station]]\nrun = ['at 1s exit 3']\n");
    let lab = Lab::up(&["--virtual", &path(&folder, "lab.toml"), "--pace", "4"]);
    pass(&lab, 2);
    run(lab.ethbus("pause", &[])).succeeded();
    let kernel = process("mem=57M").expect("a kernel");
    run(program("kill", ["-KILL", &kernel.to_string()])).succeeded();
    // A program in it ends with it, though virtual time is stopped.
    let ended = run(lab.exec("st2", &["sleep", "1000"]));
    assert!(ended.code() == Some(1) && ended.stderr.contains("the kernel of st2 ended"), "{ended:#?}");
    let ended = run(lab.ethbus("down", &["--format", "json"]));
    ended.failed_with(1, &["the kernel of st2 ended at", "signal: 9"]);
    let results: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let programs = &results["programs"];
    assert_eq!(programs[0]["code"], Value::Null);
    assert_eq!((&programs[1]["station"], &programs[1]["code"]), (&Value::from("st3"), &Value::from(3)));
}

#[test]
fn a_killed_supervisor_leaves_no_kernels() {
    if !is_ready() {
        return;
    }
    // The memory is a mark that no other test has.
    let folder =
        scenario("[kernel]\nmemory = 53\n[[station]]\nrun = ['at 1s while :; do sleep 1; done']\n[[station]]\n");
    let mut lab = Lab::up(&["--virtual", &path(&folder, "lab.toml")]);
    assert!(processes("mem=53M") >= 2);
    lab.lose_supervisor();
    wait_until(PATIENCE, "the kernels have ended", || processes("mem=53M") == 0);
    let listed = run(ethbus(["list"])).succeeded().stdout;
    assert!(listed.contains(&format!("{}: killed", lab.name)), "{listed}");
    run(lab.ethbus("down", &[])).failed_with(1, &["left behind"]);
    lab.assert_nothing_left();
}

/// What a lab in virtual time cannot do, it refuses with one sentence that says what it can.
#[test]
fn what_is_of_live_labs_is_refused() {
    let folder = scenario("[[station]]\n[[station]]\n");
    let (lab, [scenario, record]) = (Unused::name(), ["lab.toml", "a.record"].map(|name| path(&folder, name)));
    for (arguments, word) in [
        (&["--virtual", "--lend", "lo"][..], "--lend"),
        (&["--virtual", "--keep", "x"], "--keep"),
        (&["--virtual", "--metrics", "9610"], "--metrics"),
        (&["--virtual", "--strict"], "--strict"),
        (&["--virtual", "--tolerance", "2%"], "--tolerance"),
        (&["--virtual", "--latency", "low"], "--latency: it is of a lab in real time"),
        (&["--virtual", "--time-scale", "0.5"], "--time-scale: it is of a lab in real time"),
        (
            &["--virtual", "--stations", "3", "--events", &record, "--events-level", "inputs"],
            "write `--stations` into the scenario file",
        ),
        (&["--pace", "2"], "--virtual"),
        (&["--virtual", "--kernel", "/no/such"], "/no/such"),
    ] {
        let ended = run(ethbus(["up", "--name", &lab.0, &scenario].iter().chain(arguments)));
        assert!(matches!(ended.code(), Some(1 | 2)), "{arguments:?}: {ended:#?}");
        assert_eq!(ended.stderr.trim_end().lines().count(), 1, "{arguments:?}: {ended:#?}");
        assert!(ended.stderr.contains(word), "{arguments:?}: {ended:#?}");
    }
    if !is_ready() {
        return;
    }
    let mut lab = Lab::up(&["--virtual", &scenario]);
    for (command, arguments, word) in [
        ("send", &["--from", "st1", "--to", "st2", "--count", "1"][..], "ethbus exec"),
        ("exec", &["st9", "true"], "no station `st9`"),
        ("add", &["st9"], "those of its scenario"),
        ("remove", &["st1"], "those of its scenario"),
        ("capture", &["--last", "1s"], "--events FILE"),
        ("step", &[], "ethbus pause"),
        ("cut", &["st1", "st2"], "no cable"),
    ] {
        let ended = run(lab.ethbus(command, arguments));
        assert!(matches!(ended.code(), Some(1 | 2)), "{command}: {ended:#?}");
        assert!(ended.stderr.contains(word), "{command}: {ended:#?}");
    }
    lab.down();
}
