//! A lab from outside: up, exec, stats, down; real kernels answer in its stations, and nothing of it remains.

use crate::common::lab::{INTERFACE, Lab, Unused};
use crate::common::process::{Running, data_plane, ethbus, is_program, program, run, runs};
use crate::common::results::{check, number, station, stations, sum};
use crate::common::{PATIENCE, Turn, note, skipped, wait_until};
use std::time::{Duration, Instant};

/// `up` greets with each station's addresses and the commands to try; `ip netns list` shows the stations.
#[test]
fn up_greets_and_ip_netns_shows_the_stations() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "3"]);
    let mut namespaces = lab.namespaces();
    namespaces.sort();
    assert_eq!(namespaces, ["bus", "st1", "st2", "st3"].map(|whose| lab.namespace_name(whose)));
    for word in [&lab.name, "10Mbit/s", "seed", "ethbus exec", "ethbus stats"] {
        assert!(lab.greeting().contains(word), "no `{word}` in {}", lab.greeting());
    }
    for name in ["st1", "st2", "st3"] {
        let addresses = run(lab.exec(name, &["ip", "address", "show", "dev", INTERFACE])).succeeded().stdout;
        for told in [lab.mac(name), lab.ipv4(name), lab.ipv6(name)] {
            assert!(addresses.contains(&told), "{name} is not {told}: {addresses}");
        }
    }
}

/// `ethbus exec st1 -- ping st2's address` answers (issue 2, "Done"): ARP, ICMP and ICMPv6 of the real kernel.
#[test]
fn a_real_kernel_answers_arp_ping_and_ping_over_ipv6() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "3"]);
    let (ipv4, ipv6) = (lab.ipv4("st2"), lab.ipv6("st2"));
    let answered = run(lab.exec("st1", &["ping", "-c", "3", "-i", "0.2", "-W", "5", &ipv4])).succeeded();
    assert!(answered.stdout.contains("3 received"), "{answered:#?}");
    let answered = run(lab.exec("st1", &["ping", "-6", "-c", "3", "-i", "0.2", "-W", "5", &ipv6])).succeeded();
    assert!(answered.stdout.contains("3 received"), "{answered:#?}");
    let neighbours = run(lab.exec("st1", &["ip", "neigh", "show", "dev", INTERFACE])).succeeded().stdout;
    for address in [&ipv4, &ipv6] {
        let line = neighbours.lines().find(|line| line.starts_with(&format!("{address} ")));
        assert!(line.is_some_and(|line| line.contains(&lab.mac("st2"))), "{address} in {neighbours}");
    }
    let results = lab.settled_stats();
    check(&results);
    // Three requests and three replies of each family, and ARP's question and answer.
    assert!(sum(&results, "frames_transmitted_ok") >= 14, "{results}");
    assert_eq!(sum(&results, "frames_received_ok"), sum(&results, "delivered"), "{results}");
}

/// Input, output and exit code of a program in a station pass through (issue 2, `ethbus exec`).
#[test]
fn exec_passes_input_output_and_exit_code_through() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let text = "one line\nand half of anoth\u{00e9}r";
    let copied = Running::start(lab.exec("st1", &["cat"]), text).wait().succeeded();
    assert_eq!((copied.stdout.as_str(), copied.stderr.as_str()), (text, ""));
    let both = run(lab.exec("st1", &["sh", "-c", "echo out; echo err >&2; exit 7"]));
    assert_eq!((both.code(), both.stdout.as_str(), both.stderr.as_str()), (Some(7), "out\n", "err\n"));
    let words = run(lab.exec("st1", &["printf", "%s|", "a b", "--name", "", "*"])).succeeded();
    assert_eq!(words.stdout, "a b|--name||*|");
    run(lab.exec("st1", &["no-such-program"]))
        .failed_with(127, &["no-such-program: there is no such program", "ethbus doctor"]);
    run(lab.exec("st1", &["/"])).failed_with(126, &["/"]);
}

/// Signals pass through both ways: to the program in the station, and back as the signal that ended it.
#[test]
fn exec_passes_signals_through() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    // 25 is SIGXFSZ, which ethbus itself ignores.
    for (name, number) in [("TERM", 15), ("XFSZ", 25)] {
        let killed = run(lab.exec("st1", &["sh", "-c", &format!("kill -{name} $$")]));
        assert_eq!(killed.signal(), Some(number), "{killed:#?}");
    }
    let shell = run(program(
        "sh",
        ["-c", "\"$0\" exec --name \"$1\" st1 -- sh -c 'kill -TERM $$'", crate::common::ETHBUS, &lab.name],
    ));
    assert_eq!(shell.code(), Some(128 + 15), "as a shell tells it: {shell:#?}");
    let script = "trap 'echo caught; exit 3' TERM; echo ready >&2; while :; do sleep 0.05; done";
    let mut catching = Running::start(lab.exec("st1", &["sh", "-c", script]), "");
    catching.wait_for_stderr("ready");
    catching.signal("TERM");
    let caught = catching.wait();
    assert_eq!((caught.code(), caught.stdout.as_str()), (Some(3), "caught\n"));
}

/// A station is a separate host: its interfaces are the loopback and the one on the bus, and `/sys` shows them.
#[test]
fn a_station_sees_its_own_interfaces_only() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let links = run(lab.exec("st1", &["ip", "-o", "link"])).succeeded().stdout;
    let names: Vec<&str> = links.lines().filter_map(|line| line.split([':', '@']).nth(1)).map(str::trim).collect();
    assert_eq!(names, ["lo", INTERFACE]);
    let mut folder: Vec<String> = run(lab.exec("st1", &["ls", "/sys/class/net"]))
        .succeeded()
        .stdout
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    folder.sort();
    assert_eq!(folder, [INTERFACE, "lo"]);
}

/// A lab usually has no router: stations stop asking for one, since each of the others would hear every request.
#[test]
fn a_station_asks_for_a_router_three_times() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let setting = format!("/proc/sys/net/ipv6/conf/{INTERFACE}/router_solicitations");
    assert_eq!(run(lab.exec("st2", &["cat", &setting])).succeeded().stdout, "3\n");
}

/// `stats` conserves frames, in the one schema, and as a table.
#[test]
fn stats_add_up_while_the_lab_runs() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "3", "--seed", "99"]);
    let address = lab.ipv4("st3");
    let mut pings: Vec<Running> = ["st1", "st2"]
        .map(|from| {
            Running::start(lab.exec(from, &["ping", "-q", "-i", "0.002", "-c", "200", "-s", "1000", &address]), "")
        })
        .into();
    let mut looks = 0;
    while !pings.iter_mut().all(Running::has_ended) {
        check(&lab.stats());
        looks += 1;
    }
    pings.into_iter().for_each(|ping| _ = ping.wait().succeeded());
    assert!(looks > 0);
    let results = lab.settled_stats();
    check(&results);
    assert_eq!((&results["seed"], results["config"]["name"].as_str()), (&99.into(), Some(lab.name.as_str())));
    assert!(number(station(&results, "st3"), "frames_received_ok") >= 400, "{results}");
    assert!(stations(&results).iter().all(|station| station["attached"] == true), "{results}");
    let table = run(lab.ethbus("stats", &[])).succeeded().stdout;
    assert!(table.contains("st3") && table.contains("it adds up"), "{table}");
}

/// `down` removes namespaces, links, record, and programs that were started in a station and still run.
#[test]
fn down_leaves_no_namespace_link_process_or_record() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    let sleeper = Running::start(lab.exec("st1", &["sleep", "1000"]), "");
    let stubborn = "trap '' TERM; echo deaf >&2; while :; do sleep 0.1; done";
    let mut stubborn = Running::start(lab.exec("st2", &["sh", "-c", stubborn]), "");
    stubborn.wait_for_stderr("deaf");
    let plane = data_plane(lab.supervisor().pid());
    let ended = lab.down();
    assert_eq!(ended.code(), Some(0), "{ended:#?}");
    // Everything is gone when `down` reports success.
    lab.assert_nothing_left();
    assert!(!runs(plane), "the data plane outlived the lab");
    assert!(sleeper.wait().signal().is_some());
    assert_eq!(stubborn.wait().signal(), Some(9));
    let links = run(program("ip", ["-o", "link"])).succeeded().stdout;
    assert!(!links.contains(&lab.name), "{links}");
}

/// Interrupt and SIGTERM end a lab as `down` does, with success and a last table (issue 2).
#[test]
fn signals_to_the_supervisor_take_the_lab_down() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    for signal in ["INT", "TERM", "HUP", "QUIT"] {
        let mut lab = Lab::up(&["--stations", "2"]);
        let sleeper = Running::start(lab.exec("st1", &["sleep", "1000"]), "");
        wait_until(PATIENCE, "a program in the station", || is_program(sleeper.pid(), "sleep"));
        lab.supervisor().signal(signal);
        let ended = lab.ended();
        assert_eq!(ended.code(), Some(0), "SIG{signal}: {ended:#?}");
        assert!(ended.stderr.contains("it adds up"), "{ended:#?}");
        lab.assert_nothing_left();
        assert!(sleeper.wait().signal().is_some());
    }
}

/// Labs with different names do not touch each other, though their stations have the same names and addresses.
#[test]
fn two_labs_live_side_by_side() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let (mut one, other) = (Lab::up(&["--stations", "2"]), Lab::up(&["--stations", "3"]));
    one.ping("st1", &one.ipv4("st2"));
    other.ping("st1", &other.ipv4("st3"));
    assert_eq!((stations(&one.stats()).len(), stations(&other.stats()).len()), (2, 3));
    one.down();
    one.assert_nothing_left();
    other.ping("st2", &other.ipv4("st1"));
}

/// A lab name in use is a clear error, and the lab that has it keeps running (issue 2, "Bad input and faults").
#[test]
fn a_name_in_use_is_refused_and_the_lab_goes_on() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let second = run(lab.ethbus("up", &["--stations", "4"]));
    second.failed_with(1, &[&lab.name, "is up", "ethbus down --name", "--name"]);
    assert!(second.took < PATIENCE / 2, "{second:#?}");
    lab.ping("st1", &lab.ipv4("st2"));
    assert_eq!(lab.namespaces().len(), 3);
}

/// A request for an unknown lab or station gets an error that lists the known ones.
#[test]
fn a_lab_or_station_that_is_not_there_is_named() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let nobody = Unused::name();
    for arguments in [vec!["exec", "st1", "--", "true"], vec!["stats"], vec!["down"], vec!["receive", "--at", "st1"]] {
        let command = ethbus([arguments[0], "--name", &nobody.0].iter().chain(&arguments[1..]));
        let next = if arguments[0] == "down" { "there is nothing to take down" } else { "ethbus up" };
        run(command).failed_with(1, &[&nobody.0, "is up", next]);
        crate::common::lab::assert_nothing_of(&nobody.0);
    }
    let lab = Lab::up(&["--stations", "2"]);
    run(lab.exec("st9", &["true"])).failed_with(1, &["st9", "st1", "st2"]);
    run(lab.exec("bus", &["true"])).failed_with(1, &["bus", "st1", "st2"]);
}

/// 16 stations up and down (issue 2, "Tests"), in bounded time; the first reaches each of the others.
#[test]
fn sixteen_stations_reach_each_other() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let begin = Instant::now();
    let mut lab = Lab::up(&["--stations", "16"]);
    let up = begin.elapsed();
    for number in 2..=16 {
        let other = format!("st{number}");
        lab.ping("st1", &lab.ipv4(&other));
        if number % 5 == 0 {
            lab.ping(&other, &lab.ipv6("st1"));
        }
    }
    check(&lab.settled_stats());
    let begin = Instant::now();
    lab.down();
    note(&format!("16 stations: up in {up:?}, down in {:?}", begin.elapsed()));
    lab.assert_nothing_left();
    assert!(begin.elapsed() < Duration::from_secs(10), "down took {:?}", begin.elapsed());
}

/// A scenario defines the lab: names, addresses, rate, distance and seed (issue 2, `ethbus up`).
#[test]
fn a_scenario_gives_names_addresses_and_medium() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("lab.toml");
    let text = "seed = 5\nipv4 = '192.168.50.0/24'\n\
        [medium]\nrate = '2Mbit/s'\ntopology = 'bus:200m'\n\
        [[station]]\nname = 'brake'\nmac = '02:00:00:00:0b:01'\nposition = '0 m'\n\
        [[station]]\nname = 'wheel'\nipv4 = '192.168.50.77/24'\nposition = '200 m'\n";
    std::fs::write(&path, text).expect("own folder");
    let lab = Lab::up(&[path.to_str().expect("plain")]);
    assert_eq!((lab.mac("brake").as_str(), lab.ipv4("wheel").as_str()), ("02:00:00:00:0b:01", "192.168.50.77"));
    lab.ping("brake", "192.168.50.77");
    let results = lab.settled_stats();
    check(&results);
    assert_eq!((&results["seed"], &results["config"]["rate_bits_per_second"]), (&5.into(), &2_000_000.into()));
    assert_eq!(results["config"]["topology"], "bus");
    // 200 m at 0.77 c and 2 Mb/s: 1.73 bit times, rounded once.
    assert_eq!(results["config"]["longest_distance_bt"], 2);
}
