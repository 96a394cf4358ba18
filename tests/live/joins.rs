//! Stations join a lab that is up, and leave it.

use crate::common::files::kind;
use crate::common::lab::{Lab, fresh_name, namespaces_of};
use crate::common::logs::{medium_layer, two_traces};
use crate::common::process::{Running, data_plane, ethbus, replays, run, signal};
use crate::common::results::{check, number, station, stations, sum};
use crate::common::{PATIENCE, Turn, skipped, wait_until};
use link::namespace::Namespace;
use serde_json::Value;
use std::fs;
use std::time::Duration;
use tempfile::TempDir;

fn path(folder: &TempDir, name: &str) -> String {
    folder.path().join(name).to_str().expect("UTF-8").to_owned()
}

/// The lines of this kind of input in a trace.
fn inputs(path: &str, kind: &str) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("UTF-8");
    let lines = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(|line| self::kind(line) == kind).collect()
}

fn names(results: &Value) -> Vec<&str> {
    stations(results).iter().map(|station| station["name"].as_str().expect("a name")).collect()
}

/// What a user asks for is no loss, however busy the data plane is: a station's link goes up before it joins, and down after it
/// has left.
#[test]
fn joins_and_leaves_are_no_losses_of_a_busy_data_plane() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let record = path(&folder, "run.record");
    let mut lab = Lab::up(&["--stations", "2", "--events", &record, "--events-level", "inputs", "--tolerance", "100%"]);
    let plane = data_plane(lab.supervisor().pid()).to_string();
    for command in ["add", "remove"] {
        for station in ["a", "b", "c", "d"] {
            // It finds what the kernel has to say together with the request.
            signal("STOP", &plane);
            let asked = Running::start(lab.ethbus(command, &[station]), "");
            std::thread::sleep(Duration::from_millis(300));
            signal("CONT", &plane);
            asked.wait().succeeded();
        }
    }
    let ports = &lab.stats()["emulator"];
    assert_eq!((&ports["ports_lost"], &ports["ports_gone"]), (&Value::from(0), &Value::from(0)), "{ports}");
    lab.down();
    for (kind, count) in [("add", 4), ("remove", 4), ("plug", 0), ("unplug", 0)] {
        assert_eq!(inputs(&record, kind).len(), count, "{kind}");
    }
}

/// Books are exact, the record replays byte for byte, and every window has the station that joined.
#[test]
fn a_station_joins_and_leaves_and_joins_again() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let [record, events, again] = ["run.record", "run.events", "again.events"].map(|name| path(&folder, name));
    let (pcapng, live) = (path(&folder, "run.pcapng"), path(&folder, "late.pcapng"));
    let files = two_traces(&record, &events);
    let mut lab = Lab::up(&[&["--stations", "2"], &files[..], &["--pcapng", &pcapng]].concat());
    lab.ping("st1", &lab.ipv4("st2"));
    assert_eq!(names(&lab.stats()), ["st1", "st2"], "seats are in no results");
    let added = run(lab.ethbus("add", &["--format", "json"])).json();
    assert_eq!((&added["name"], &added["interface"]), (&Value::from("st3"), &Value::from("eth0")), "{added}");
    let address = added["addresses"][0].as_str().expect("an address").split('/').next().expect("one").to_owned();
    let capture = Running::start(lab.ethbus("capture", &["-o", &live]), "");
    lab.ping("st1", &address);
    lab.ping("st3", &lab.ipv4("st2"));
    let before = lab.settled_stats();
    assert_eq!(names(&before), ["st1", "st2", "st3"]);
    run(lab.ethbus("remove", &["st3"])).succeeded();
    assert!(!namespaces_of(&lab.name).iter().any(|name| name.ends_with("-st3")), "its namespace is gone");
    run(lab.ethbus("remove", &["st3"])).failed_with(1, &["no station", "st3"]);
    let left = lab.settled_stats();
    lab.ping("st1", &lab.ipv4("st2"));
    let (settled, sent) = (lab.settled_stats(), "frames_transmitted_ok");
    let [then, now, since] = [&before, &left, &settled].map(|results| station(results, "st3"));
    // Its kernel may send once more before it is removed.
    assert!(number(now, sent) >= number(then, sent), "{then} {now}");
    assert_eq!(number(now, sent), number(since, sent), "its counts stay");
    assert_eq!(now["attached"], false);
    assert_eq!(run(lab.ethbus("add", &["st3"])).succeeded().stdout, "st3\n");
    lab.ping("st3", &lab.ipv4("st1"));
    let after = lab.settled_stats();
    check(&after);
    assert!(number(station(&after, "st3"), "offered") > number(now, "offered"), "it continues its counts");
    capture.signal("INT");
    capture.wait().succeeded();
    lab.down().succeeded();

    for (kind, count) in [("add", 2), ("remove", 1)] {
        assert_eq!((inputs(&events, kind).len(), inputs(&record, kind).len()), (count, count), "{kind}");
    }
    let replayed = replays(&record, &["--events", &again, "--format", "json"]);
    let results: Value = serde_json::from_str(&replayed.stdout).expect("results");
    assert_eq!(names(&results), ["st1", "st2", "st3"]);
    assert_eq!(medium_layer(&events), medium_layer(&again));
    for window in [&pcapng, &live] {
        assert!(fs::read(window).expect("a capture").windows(3).any(|name| name == b"st3"), "{window}");
    }
    let told = run(ethbus(["explain", &events, "--frame", "st3#1"])).succeeded();
    assert!(told.stdout.contains("st3"), "{told:#?}");
    // What a binary file has before a name is its length: two octets of a payload may read "+4".
    for (kind, octets_of_length) in [("vcd", 0), ("perfetto", 1), ("pcapng", 2)] {
        let made = path(&folder, kind);
        run(ethbus(["convert", "--to", kind, &events, "-o", &made])).succeeded();
        let octets = fs::read(&made).expect("a file");
        let has = |name: &str| {
            let wanted = [&name.len().to_le_bytes()[..octets_of_length], name.as_bytes()].concat();
            octets.windows(wanted.len()).any(|there| there == wanted)
        };
        assert!(has("st3"), "{kind} has who joined");
        assert!(!has("+4"), "{kind} has no seat");
    }
    run(ethbus(["report", &events, "-o", &path(&folder, "page.html")])).succeeded();
}

/// What Docker and CNI need: no stations at first, namespaces by their paths, no addresses of the lab's.
#[test]
fn a_lab_without_stations_gets_them_in_namespaces_by_path() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    run(ethbus(["up", "--stations", "0", "--background"])).failed_with(2, &["capacity"]);
    let mut lab = Lab::up(&["--stations", "0", "--capacity", "2"]);
    let own = ["a", "b"].map(|end| format!("{}-{end}", lab.name));
    let made = own.each_ref().map(|name| Namespace::named(name).expect("a namespace"));
    for (name, number) in own.iter().zip(1..) {
        let netns = format!("/var/run/netns/{name}");
        let given = ["--netns", &netns, "--interface", "bus0", "--ipv4", "none", "--ipv6", "none", "--format", "json"];
        let added = run(lab.ethbus("add", &given)).json();
        assert_eq!((&added["addresses"], &added["netns"]), (&serde_json::json!([]), &Value::from(netns)), "{added}");
        let address = format!("10.9.9.{number}/24");
        run(crate::common::process::program("ip", ["-n", name, "addr", "add", &address, "dev", "bus0"])).succeeded();
    }
    let ping = ["netns", "exec", &own[0], "ping", "-c", "1", "-W", "5", "10.9.9.2"];
    run(crate::common::process::program("ip", ping)).succeeded();
    run(lab.ethbus("add", &[])).failed_with(1, &["all 2 places are taken"]);
    run(lab.ethbus("add", &["st1"])).failed_with(1, &["`st1` already"]);
    run(lab.ethbus("remove", &["st1"])).succeeded();
    let there = Namespace::open_named(&own[0]).expect("it is not the lab's");
    let links = link::netlink::Netlink::in_namespace(&there).and_then(|mut netlink| netlink.links()).expect("links");
    assert!(links.iter().all(|link| link.name != "bus0"), "its interface is gone, and nothing else");
    check(&lab.settled_stats());
    lab.down().succeeded();
    drop(made);
    own.iter().for_each(|name| {
        let identity = Namespace::open_named(name).expect("it outlives the lab").identity();
        Namespace::remove_named(name, identity).expect("the test's own");
    });
}

/// What cannot be made leaves nothing, and the lab continues.
#[test]
fn a_station_that_cannot_be_made_leaves_nothing() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    let before = namespaces_of(&lab.name);
    for (given, words) in [
        (&["x", "--netns", "/var/run/netns/none-such"][..], "none-such"),
        (&["x", "--netns", "none/such"], "absolute path"),
        (&["x", "--lend", "none-such0"], "none-such0"),
        (&["x", "--bridge", "none-such0"], "none-such0"),
        (&["x", "--mac", "01:00:00:00:00:01"], "group"),
        (&["x", "--ipv4", "10.77.0.1/16"], "10.77.0.1"),
        (&["a-name-that-is-too-long"], "a-name-that-is-too-long"),
    ] {
        run(lab.ethbus("add", given)).failed_with(1, &[words]);
    }
    assert_eq!(namespaces_of(&lab.name), before);
    assert_eq!(run(lab.ethbus("add", &["x"])).succeeded().stdout, "x\n");
    run(lab.exec("x", &["ping", "-c", "1", "-W", "5", "st1"])).succeeded();
    lab.down().succeeded();
    lab.assert_nothing_left();
}

/// Stations join and leave while others send more than the bus carries: every frame is accounted for.
#[test]
fn books_are_exact_while_stations_come_and_go() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let record = path(&folder, "run.record");
    let mut lab = Lab::up(&["--stations", "2", "--events", &record, "--events-level", "inputs"]);
    let send = |from: &str| {
        let arguments =
            ["--from", from, "--to", "broadcast", "--frame-size", "1000", "--duration", "4s", "--rate", "1500/s"];
        Running::start(lab.ethbus("send", &arguments), "")
    };
    let sends = ["st1", "st2"].map(send);
    for round in 0..6 {
        let name = ["st3", "st4"][round % 2];
        run(lab.ethbus("add", &[name])).succeeded();
        let guest = Running::start(lab.ethbus("send", &["--from", name, "--to", "st1", "--count", "20"]), "");
        wait_until(PATIENCE, "frames of the guest", || {
            number(station(&lab.stats(), name), "frames_transmitted_ok") > 10 * (round as u64 / 2)
        });
        run(lab.ethbus("remove", &[name])).succeeded();
        // Its namespace is gone below it.
        drop(guest);
    }
    sends.into_iter().for_each(|send| _ = send.wait());
    let results = lab.settled_stats();
    check(&results);
    assert!(sum(&results, "frames_transmitted_ok") > 100, "{results}");
    lab.down().succeeded();
    replays(&record, &[]);
}

/// A lab that copies in the kernel copies one by one for a station that joins; a record alone is enough for a replay.
#[test]
fn a_station_joins_a_lab_that_copies_in_the_kernel() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let (name, record) = (fresh_name(), path(&folder, "run.record"));
    let up =
        ["up", "--name", &name, "--stations", "18", "--background", "--events", &record, "--events-level", "inputs"];
    run(ethbus(up)).succeeded();
    let of = |command: &str, more: &[&str]| ethbus([command, "--name", &name].iter().chain(more));
    let ping = |from: &str, to: &str| run(of("exec", &[from, "--", "ping", "-c", "1", "-W", "5", to])).succeeded();
    run(of("add", &[])).succeeded();
    ping("st19", "st3");
    run(of("remove", &["st5"])).succeeded();
    run(of("add", &["st5"])).succeeded();
    ping("st5", "st19");
    ping("st2", "st5");
    check(&run(of("stats", &["--format", "json"])).json());
    run(of("down", &[])).succeeded();
    replays(&record, &[]);
}

/// A station that joins has the place that `--at` gives it: in events, log, record, replay and windows.
#[test]
fn a_station_joins_at_a_place_of_its_own() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let [record, events, again] = ["run.record", "run.events", "again.events"].map(|name| path(&folder, name));
    let topology = ["--stations", "2", "--topology", "bus:2000m"];
    let mut lab = Lab::up(&[&topology[..], &two_traces(&record, &events)].concat());
    for (place, words) in [
        ("2001m", &["`2001 m`", "beyond the cable's end", "write `0 m` to `2000 m`"][..]),
        ("far", &["position", "far"]),
        ("a:1m", &["segment", "another topology"]),
    ] {
        run(lab.ethbus("add", &["--at", place])).failed_with(1, words);
    }
    assert_eq!(run(lab.ethbus("add", &["--at", "500m"])).succeeded().stdout, "st3\n");
    lab.ping("st3", &lab.ipv4("st1"));
    lab.ping("st3", &lab.ipv4("st2"));
    run(lab.ethbus("remove", &["st3"])).succeeded();
    run(lab.ethbus("add", &["st3", "--at", "600m"])).failed_with(1, &["`st3` joins again", "leave the place out"]);
    run(lab.ethbus("add", &["st3"])).succeeded();
    lab.ping("st3", &lab.ipv4("st1"));
    check(&lab.settled_stats());
    lab.down().succeeded();

    let places = |path: &str| inputs(path, "add").iter().map(|line| line["add"]["place"].clone()).collect::<Vec<_>>();
    // 500 m at 0.77 of the speed of light.
    let own = serde_json::json!({ "segment": 0, "position_bt": 22 });
    assert_eq!((places(&events), places(&record)), (vec![own.clone(), Value::Null], vec![own, Value::Null]));
    replays(&record, &["--events", &again]);
    assert_eq!(medium_layer(&events), medium_layer(&again));
    // From st1 at one end to st3: the engine's own delay, which the life of a frame tells.
    let text = fs::read_to_string(&events).expect("UTF-8");
    let lines: Vec<Value> = text.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of = |kind: &str, station: &str| {
        let is_one = |line: &&Value| line["kind"] == kind && line["station"] == station && line["frame"] == "st3#1";
        lines.iter().find(is_one).map(|line| line["t"].as_u64().expect("a bit time"))
    };
    let ended = of("transmitted", "st3").expect("st3's first frame");
    let received = |station: &str| of("delivered", station).expect("it is for all") - ended;
    assert_eq!((received("st1"), received("st2")), (22, 65));
    for kind in ["vcd", "perfetto", "pcapng"] {
        run(ethbus(["convert", "--to", kind, &events, "-o", &path(&folder, kind)])).succeeded();
    }
    run(ethbus(["explain", &events, "--frame", "st3#1"])).succeeded();
    run(ethbus(["report", &events, "-o", &path(&folder, "page.html")])).succeeded();
}

/// No station may become farther from another than the medium's delays are planned for.
#[test]
fn a_place_beyond_the_outermost_stations_is_refused() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = path(&folder, "lab.toml");
    let stations = "[[station]]\nposition = '100 m'\n[[station]]\nposition = '400 m'\n";
    fs::write(&scenario, format!("medium.topology = 'bus:500m'\n{stations}")).expect("a file");
    let mut lab = Lab::up(&[&scenario]);
    let highest = "the lowest place is 4 BT, the highest 17 BT";
    run(lab.ethbus("add", &["--at", "450m"])).failed_with(1, &["position", "19 BT", highest]);
    run(lab.ethbus("add", &["--at", "0m"])).failed_with(1, &["position", "0 BT", highest]);
    run(lab.ethbus("add", &["--at", "400m"])).succeeded();
    run(lab.ethbus("add", &["--at", "100m"])).succeeded();
    lab.down().succeeded();
    let mut lab = Lab::up(&["--stations", "2"]);
    run(lab.ethbus("add", &["--at", "1m"])).failed_with(1, &["position", "no meaning on a star"]);
    lab.down().succeeded();
}
