//! PLCA on a live bus: real frames in turns, the coordinator taken away and given back, and every view of it.

use crate::common::lab::Lab;
use crate::common::logs::medium_layer;
use crate::common::process::{Running, data_plane, ethbus, program, run};
use crate::common::results::{check, emulator, number, stations, sum};
use crate::common::{PATIENCE, Turn, note, skipped, wait_until};
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("UTF-8").to_owned()
}

/// The bound of the access delay by the closed form, in bit times.
fn bound(nodes: usize, octets: u64) -> u64 {
    let (nodes, octets) = (nodes.to_string(), octets.to_string());
    let answer =
        run(ethbus(["theory", "plca", "--stations", &nodes, "--frame-size", &octets, "--format", "json"])).json();
    number(&answer, "access_delay_bound_bt")
}

/// The longest access delay of each station in a log, and the longest frame.
fn waits(log: &str, names: usize) -> (Vec<u64>, u64) {
    let (mut longest, mut octets) = (vec![0; names], 64);
    for line in fs::read_to_string(log).expect("UTF-8").lines().filter(|line| line.contains("\"transmitted\"")) {
        let event: Value = serde_json::from_str(line).expect("JSON");
        let station: usize =
            event["station"].as_str().expect("a name").trim_start_matches("st").parse().expect("a number");
        longest[station - 1] = longest[station - 1].max(number(&event, "access_delay"));
        octets = octets.max(number(&event, "size"));
    }
    (longest, octets)
}

/// Everything adds up, nothing collided, and no frame waited longer than the bound. The lateness of the emulator is
/// printed beside it.
#[track_caller]
fn keeps_its_bound(results: &Value, log: &str, stations: usize) {
    check(results);
    let met = collisions_on_the_line(log);
    assert!(met.is_empty(), "{met:#?}");
    let (longest, octets) = waits(log, stations);
    let bound = bound(stations, octets);
    assert!(longest.iter().all(|&wait| wait <= bound), "{longest:?} above {bound} BT");
    let late = &results["emulator"];
    note(&format!(
        "PLCA, {stations} stations: longest wait of each {longest:?} BT, bound {bound} BT with {octets} octets; the emulator was late by \
         {} ns p50, {} ns p99, {} ns at most, and slipped {} ns",
        late["lateness_p50_ns"], late["lateness_p99_ns"], late["lateness_max_ns"], late["slip_ns"]
    ));
}

/// A UDP stream between real namespaces, beside three stations with traffic: no frame of any node waits for the bus
/// longer than the bound, and nothing collides. The lateness of the emulator itself is printed beside it. The record
/// gives the same run again, and the capture has BEACONs and COMMITs.
#[test]
fn a_stream_between_namespaces_keeps_its_bound() {
    if skipped(&["ip", "iperf3"]) {
        return;
    }
    let _turn = Turn::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let [events, record, capture, again] =
        ["run.events", "run.record", "run.pcapng", "again.events"].map(|name| path(&folder, name));
    let files = ["--events", &events, "--events", &record, "--events-level", "inputs", "--pcapng", &capture];
    let mut lab = Lab::up(&[&["--access", "plca", "--stations", "8"], &files[..]].concat());
    let mut server = Running::start(lab.exec("st8", &["iperf3", "-s", "-1", "--forceflush"]), "");
    wait_until(PATIENCE, "iperf3 to listen", || server.stdout().contains("listening") || server.has_ended());
    let others = ["st3", "st5", "st7"].map(|from| {
        let arguments = ["--from", from, "--to", "st4", "--frame-size", "200", "--duration", "2s", "--rate", "300/s"];
        Running::start(lab.ethbus("send", &arguments), "")
    });
    let address = lab.ipv4("st8");
    let stream = ["iperf3", "-c", &address, "-u", "-b", "1M", "-l", "400", "-t", "2"];
    let stream = run(lab.exec("st1", &stream)).succeeded();
    others.into_iter().for_each(|other| _ = other.wait().succeeded());
    let results = lab.settled_stats();
    lab.down().succeeded();
    keeps_its_bound(&results, &events, 8);
    assert!(stream.stdout.contains("receiver"), "{stream:#?}");
    assert_eq!(emulator(&results, "ring_drops"), 0);
    run(ethbus(["replay", &record, "--events", &again])).succeeded();
    assert!(medium_layer(&events) == medium_layer(&again), "the record gives another run");
    if skipped(&["tshark"]) {
        return;
    }
    let rows = |filter: &str| run(program("tshark", ["-r", &capture, "-Y", filter])).succeeded().stdout;
    for filter in ["json.value.string == \"commit\"", "json.value.string == \"beacon\"", "udp"] {
        let found = rows(filter).lines().count();
        assert!(found > 100, "{filter}: {found} rows of the capture");
    }
}

/// PLCA of the coordinator is switched off on the running bus: the others fall back to CSMA/CD, frames still get
/// through, and with the coordinator back they take turns again. Every frame has its counter.
#[test]
fn without_its_coordinator_the_bus_goes_on_as_csma_cd_and_comes_back() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let events = path(&folder, "run.events");
    let mut lab = Lab::up(&["--access", "plca", "--stations", "4", "--events", &events]);
    let plca = |lab: &Lab, arguments: &[&str]| {
        let command = ethbus(["plca", arguments[0], "--name", &lab.name].iter().chain(&arguments[1..]));
        run(command).succeeded()
    };
    let of = |lab: &Lab, station: &str| plca(lab, &["status", station]).stdout;
    wait_until(PATIENCE, "BEACONs", || of(&lab, "st3") == "PLCA status of st3:\n\tStatus: on\n");
    let address = lab.ipv4("st2");
    let ping = ["ping", "-c", "5", "-i", "0.05", "-W", "5", &address];
    assert!(run(lab.exec("st3", &ping)).succeeded().stdout.contains("5 received"));
    let told = plca(&lab, &["set", "st4", "burst-cnt", "1", "burst-tmr", "90"]).stderr;
    assert!(told.starts_with("ethbus: warning: st4: burst-tmr of 90 BT is over before the gap"), "{told}");
    assert_eq!(plca(&lab, &["set", "st4", "burst-cnt", "0"]).stderr, "", "what was unwise before is not told again");
    let registers = plca(&lab, &["registers", "st4"]).stdout;
    assert!(registers.contains("CA02  CTRL1   0403  NCNT     15:8      4  aPLCANodeCount\n"), "{registers}");
    assert!(plca(&lab, &["set", "st1", "enable", "off"]).stderr.contains("no node has id 0"));
    wait_until(PATIENCE, "the loss of plca_status", || of(&lab, "st3").contains("Status: off"));
    assert!(run(lab.exec("st3", &ping)).succeeded().stdout.contains("5 received"));
    plca(&lab, &["set", "st1", "enable", "on"]);
    wait_until(PATIENCE, "plca_status", || of(&lab, "st3").contains("Status: on"));
    assert!(run(lab.exec("st3", &ping)).succeeded().stdout.contains("5 received"));
    let results = lab.settled_stats();
    lab.down().succeeded();
    check(&results);
    assert!(sum(&results, "frames_transmitted_ok") >= 30, "{results}");
    for station in stations(&results) {
        // A node with new settings begins anew.
        let own = if station["name"] == "st4" { 2 } else { 0 };
        assert_eq!(station["plca"]["counters"]["status_losses"], 1 + own, "{station}");
        assert_eq!(station["plca"]["status"], true, "{station}");
    }
    let told = run(ethbus(["explain", &events, "--segment"])).unwrapped();
    assert!(told.contains("The coordinator is lost: PLCA was switched off at st1, node 0"), "{told}");
    assert!(told.contains("A coordinator was there again"), "{told}");
}

/// Nodes find their ids by D-PLCA, and one of them sends BEACONs. It is taken off the running bus: another one takes over,
/// and frames get through before, meanwhile and after. The record gives the same run again, and `explain` names both.
#[test]
fn another_node_takes_over_by_d_plca() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let [events, record, again] = ["run.events", "run.record", "again.events"].map(|name| path(&folder, name));
    let files = ["--events", &events, "--events", &record, "--events-level", "inputs"];
    let mut lab = Lab::up(&[&["--access", "plca", "--dplca", "--stations", "4"], &files[..]].concat());
    let names = ["st1", "st2", "st3", "st4"];
    let leads = |lab: &Lab, station: &&&str| {
        let command = ethbus(["plca", "get", "--name", &lab.name, station]);
        run(command).succeeded().stdout.contains("(coordinator)")
    };
    let first = || names.iter().find(|station| leads(&lab, station));
    wait_until(PATIENCE, "a coordinator", || first().is_some());
    let first = *first().expect("a coordinator");
    let others: Vec<&str> = names.into_iter().filter(|station| *station != first).collect();
    run(ethbus(["plca", "set", "--name", &lab.name, first, "node-id", "7"]))
        .failed_with(1, &["`node-id` beside D-PLCA: the node finds it itself"]);
    let ping = |lab: &Lab| {
        let ping = ["ping", "-c", "5", "-i", "0.05", "-W", "5", &lab.ipv4(others[1])];
        assert!(run(lab.exec(others[0], &ping)).succeeded().stdout.contains("5 received"));
    };
    ping(&lab);
    let id = |station: &str| {
        let told = run(ethbus(["plca", "get", "--name", &lab.name, station])).succeeded().stdout;
        told.lines().find(|line| line.contains("local node ID")).expect("an id").to_owned()
    };
    run(ethbus(["plca", "set", "--name", &lab.name, others[0], "dplca", "off"])).succeeded();
    let kept = id(others[0]);
    ping(&lab);
    assert_eq!(id(others[0]), kept, "it finds no other one now");
    run(ethbus(["plca", "set", "--name", &lab.name, others[0], "dplca", "on"])).succeeded();
    run(lab.ethbus("unplug", &[first])).succeeded();
    ping(&lab);
    wait_until(PATIENCE, "another coordinator", || others.iter().any(|station| leads(&lab, &station)));
    ping(&lab);
    let results = lab.settled_stats();
    lab.down().succeeded();
    check(&results);
    run(ethbus(["replay", &record, "--events", &again])).succeeded();
    assert!(medium_layer(&events) == medium_layer(&again), "the record gives another run");
    // The node may find another one at any time before `dplca off`.
    let text = fs::read_to_string(&events).expect("UTF-8");
    let own = format!("\"station\":\"{}\"", others[0]);
    let mut of_node =
        text.lines().filter(|line| line.contains(&own)).take_while(|line| !line.contains("\"layer\":\"deed\""));
    let number = kept.trim_start_matches(|letter: char| !letter.is_ascii_digit()).split(' ').next().expect("an id");
    let is_kept = |line: &str| line.contains("\"kind\":\"plca_id\"") && line.contains(&format!("\"id\":{number},"));
    assert!(of_node.any(is_kept), "{kept}: none that it has found");
    let told = run(ethbus(["explain", &events, "--segment"])).unwrapped();
    // It may have had the place of another, milliseconds after the beginning.
    assert!(told.contains(&format!("{first} from t = ")), "{told}");
    assert!(told.contains("find their ids by D-PLCA (P802.3da D3.0, 148.4.7)"), "{told}");
}

/// BEACONs without an observer cost nothing: there are 36,000 a second on a silent bus of 8. The processor time of the
/// idle lab is printed.
#[test]
fn a_silent_bus_counts_its_beacons_and_does_not_step_through_them() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--access", "plca", "--stations", "8"]);
    let cycles = |lab: &Lab| number(&lab.settled_stats()["medium"]["plca"], "cycles");
    let before = cycles(&lab);
    let begin = ticks(&mut lab);
    std::thread::sleep(std::time::Duration::from_secs(3));
    let used = ticks(&mut lab) - begin;
    let counted = cycles(&lab) - before;
    note(&format!("an idle lab of 8 with PLCA: {used} ticks of 10 ms in 3 s, {counted} cycles counted"));
    assert!(counted > 10_000, "{counted} cycles");
    lab.down().succeeded();
}

/// The collisions on the line in a log, from 1 ms after the first BEACON on. Frames that came while the lab was brought
/// up are all offered at instant 0, when the bus still works with CSMA/CD.
fn collisions_on_the_line(log: &str) -> Vec<Value> {
    let text = fs::read_to_string(log).expect("UTF-8");
    let of_kind = |kind: &str| {
        let kind = format!("\"kind\":\"{kind}\"");
        let lines = text.lines().filter(move |line| line.contains(&kind));
        lines.map(|line| serde_json::from_str::<Value>(line).expect("JSON")).collect::<Vec<_>>()
    };
    let settled = number(of_kind("beacon").first().expect("a BEACON"), "t") + 10_000;
    let met = |event: &Value| number(event, "episode") > 0 && number(event, "t") >= settled;
    of_kind("collision").into_iter().filter(met).collect()
}

/// Processor time that the data plane of a lab has used, in ticks of 10 ms.
fn ticks(lab: &mut Lab) -> u64 {
    let worker = data_plane(lab.supervisor().pid());
    let stat = fs::read_to_string(format!("/proc/{worker}/stat")).expect("it runs");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    fields[11].parse::<u64>().expect("utime") + fields[12].parse::<u64>().expect("stime")
}

/// 40 nodes, of which five send to all others in turn: nothing collides, no frame waits longer than the bound, every
/// frame is accounted for, and every station gets every frame of the others. Silent, the lab takes hardly any processor
/// time; that, and the lateness of the emulator, are printed.
#[test]
fn forty_nodes_lose_nothing_and_keep_the_bound() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::alone();
    let folder = tempfile::tempdir().expect("a folder");
    let events = path(&folder, "run.events");
    let mut lab = Lab::up(&["--access", "plca", "--stations", "40", "--events", &events]);
    let begin = ticks(&mut lab);
    std::thread::sleep(std::time::Duration::from_secs(3));
    let idle = ticks(&mut lab) - begin;
    let senders = ["st3", "st11", "st19", "st27", "st40"].map(|from| {
        let arguments =
            ["--from", from, "--to", "broadcast", "--frame-size", "100", "--duration", "2s", "--rate", "100/s"];
        Running::start(lab.ethbus("send", &arguments), "")
    });
    senders.into_iter().for_each(|sender| _ = sender.wait().succeeded());
    let results = lab.settled_stats();
    lab.down().succeeded();
    keeps_its_bound(&results, &events, 40);
    let sent = sum(&results, "frames_transmitted_ok");
    assert!(sent >= 500, "{sent} frames");
    note(&format!("PLCA, 40 stations: {idle} ticks of 10 ms in 3 s of silence; {sent} frames"));
}

/// The commands of docs/symptoms.md after "On a live bus:", but for those that bring a lab up.
fn live_commands() -> Vec<Vec<String>> {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/symptoms.md");
    let text = fs::read_to_string(page).expect("the page");
    let lines = text.lines().filter(|line| line.starts_with("On a live bus:"));
    let quoted = lines.flat_map(|line| line.split('`').skip(1).step_by(2));
    let words =
        quoted.filter_map(|command| Some(command.strip_prefix("ethbus ")?.split(' ').map(str::to_owned).collect()));
    words.filter(|words: &Vec<String>| words[0] != "up").collect()
}

/// Each of these commands does to a live bus of 8 nodes what its entry says: it is accepted, and changes that node's
/// settings or fault, or, as a reset does, takes its plca_status; then they are set back.
#[test]
fn each_command_of_the_symptoms_page_runs_on_a_live_bus() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--access", "plca", "--stations", "8"]);
    let commands = live_commands();
    assert!(commands.len() > 11, "{commands:?}");
    let of = |results: &Value, name: &str| {
        let station = crate::common::results::station(results, name);
        let mut plca = station["plca"].clone();
        plca["counters"] = plca["counters"]["status_losses"].take();
        plca["status"].take();
        (plca, station["fault"].clone())
    };
    for words in commands {
        // `plca set` and `fault` both have the station next.
        let place = words.iter().position(|word| word.starts_with("st") || word == "all").expect("a station");
        let (command, arguments) = words.split_at(place);
        let name = if arguments[0] == "all" { "st2" } else { &arguments[0] };
        let before = of(&lab.stats(), name);
        let call = |arguments: &[String]| {
            let own = ["--name".to_owned(), lab.name.clone()];
            run(ethbus(command.iter().chain(&own).chain(arguments))).succeeded();
        };
        call(arguments);
        assert_ne!(of(&lab.stats(), name), before, "{words:?} changed nothing");
        let back: Vec<String> = match command[0].as_str() {
            "fault" => vec![arguments[0].clone(), "none".to_owned()],
            _ => {
                let key =
                    before.0.as_object().expect("settings").keys().find(|key| key.replace('_', "-") == arguments[1]);
                let value = &before.0[key.map_or("enabled", String::as_str)];
                let value = value.as_bool().map_or(value.to_string(), |on| if on { "on" } else { "off" }.to_owned());
                vec![arguments[0].clone(), arguments[1].clone(), value]
            }
        };
        call(&back);
    }
}
