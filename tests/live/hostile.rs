//! The effects of a hostile station, or of a program in one, on the bus and on the machine: only those that
//! docs/security.md names.

use crate::common::lab::{INTERFACE, Lab, Unused};
use crate::common::process::{Running, data_plane, ethbus, program, run, signal};
use crate::common::results::{check, number, station};
use crate::common::{PATIENCE, Turn, skipped, wait_until};
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// Changes of its own interface: name, address, MTU and namespace; then it removes it. Each time the others keep
/// running, and the lab knows whether the station is on the medium.
#[test]
fn what_a_station_does_to_its_interface_is_its_own_loss() {
    if skipped(&["ip", "ping", "unshare"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "3"]);
    let elsewhere = Running::start(lab.exec("st3", &["unshare", "--net", "sleep", "1000"]), "");
    let comm = format!("/proc/{}/comm", elsewhere.pid());
    wait_until(PATIENCE, "a namespace of its own", || {
        std::fs::read_to_string(&comm).is_ok_and(|name| name == "sleep\n")
    });
    let inside = |what: &str| run(lab.exec("st3", &["sh", "-c", what])).succeeded();
    let attached = |lab: &Lab| station(&lab.stats(), "st3")["attached"].as_bool().expect("yes or no");
    let others_go_on = |lab: &Lab| {
        lab.ping("st1", &lab.ipv4("st2"));
        check(&lab.stats());
    };

    // Under another name and address it is still on the medium: its link identifies it, not its own claims.
    inside("ip link set eth0 down && ip link set eth0 name other address 02:00:00:00:00:99 mtu 65535 up");
    wait_until(PATIENCE, "st3 back", || attached(&lab));
    others_go_on(&lab);
    inside(&format!(
        "ping -c 1 -W 5 {} || ip address add 10.77.0.3/24 dev other && ping -c 1 -W 5 {}",
        lab.ipv4("st1"),
        lab.ipv4("st1")
    ));
    // 64,000 octets in one frame are no frame of Ethernet: counted, not carried.
    let before = lab.stats();
    run(lab.exec("st3", &["ping", "-c", "1", "-W", "1", "-s", "64000", &lab.ipv4("st1")]));
    wait_until(PATIENCE, "a frame too long", || {
        number(station(&lab.stats(), "st3"), "too_long") > number(station(&before, "st3"), "too_long")
    });
    others_go_on(&lab);

    // Moved into another namespace it is down until it is set up there, and on the medium again after that.
    inside(&format!("ip link set other netns {}", elsewhere.pid()));
    wait_until(PATIENCE, "st3 off", || !attached(&lab));
    others_go_on(&lab);
    let there = |arguments: &[&str]| {
        let target = elsewhere.pid().to_string();
        let all = [&["--target", &target, "--net", "ip", "link"][..], arguments].concat();
        run(program("nsenter", all)).succeeded()
    };
    there(&["set", "other", "up"]);
    wait_until(PATIENCE, "st3 back", || attached(&lab));
    others_go_on(&lab);
    there(&["delete", "other"]);
    wait_until(PATIENCE, "st3 off", || !attached(&lab));
    others_go_on(&lab);
    lab.down();
    lab.assert_nothing_left();
}

/// A station's interface that goes up and down endlessly costs the others nothing lasting: lost changes are requested
/// again.
#[test]
fn changes_that_the_kernel_could_not_tell_are_asked_for() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "3"]);
    let plane = data_plane(lab.supervisor().pid()).to_string();
    signal("STOP", &plane);
    // The queue of changes holds a few thousand. The kernel reports changes of the bus's own end at once and collects
    // those of a station's, so these fill the queue in less time.
    let script: String = (0..12_000).map(|mtu| format!("link set st1 mtu {}\n", 40_000 + mtu % 2)).collect();
    let mut filling = program("ip", ["-n", &lab.namespace_name("bus"), "-batch", "-"]);
    filling.current_dir("/");
    Running::start(filling, &script).wait().succeeded();
    run(lab.exec("st3", &["ip", "link", "set", INTERFACE, "down"])).succeeded();
    signal("CONT", &plane);
    wait_until(PATIENCE, "st3 off", || station(&lab.stats(), "st3")["attached"] == false);
    let missed = number(&lab.stats()["emulator"], "link_changes_missed");
    assert!(missed > 0, "the queue was not filled");
    lab.ping("st1", &lab.ipv4("st2"));
    check(&lab.stats());
}

/// A slow client does not keep others from asking: its request must be complete within two seconds.
#[test]
fn a_request_that_comes_octet_by_octet_keeps_nobody_waiting() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let mut slow = UnixStream::connect(lab.record().join("control.sock")).expect("the lab listens");
    let drip = std::thread::spawn(move || {
        // Some sixty of these would make a request; the lab closes the connection before.
        while slow.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    let begin = Instant::now();
    check(&lab.stats());
    assert!(begin.elapsed() < PATIENCE / 2, "it took {:?}", begin.elapsed());
    drip.join().expect("it was hung up on");
}

/// The log of a lab in the background is truncated when it has become long, since it is in memory.
#[test]
fn a_station_cannot_fill_the_log() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let unused = Unused::name();
    run(ethbus(["up", "--detach", "--name", &unused.0, "--stations", "2"])).succeeded();
    let log = Path::new("/run/ethbus").join(&unused.0).join("log");
    // As if it had gone up and down for some hours.
    let line = "ethbus: st2 is off the medium: its interface went down\n";
    std::fs::write(&log, line.repeat((1 << 20) / line.len() + 2)).expect("root may");
    run(ethbus(["exec", "--name", &unused.0, "st2", "--", "ip", "link", "set", INTERFACE, "down"])).succeeded();
    let text = || std::fs::read_to_string(&log).expect("the lab is up");
    wait_until(PATIENCE, "a short log", || text().len() < 1 << 17);
    // A busy machine falls behind, and the lab reports each time.
    let of_stations = || -> String {
        text().split_inclusive('\n').filter(|line| !line.contains("the machine does not keep up")).collect()
    };
    wait_until(PATIENCE, "its beginning and end", || {
        let said = of_stations();
        said.starts_with("ethbus: messages before these were removed\n") && said.ends_with(line)
    });
    // The lab keeps running.
    run(ethbus(["exec", "--name", &unused.0, "st2", "--", "ip", "link", "set", INTERFACE, "up"])).succeeded();
    wait_until(PATIENCE, "a further message", || text().contains("st2 is back on the medium"));
    run(ethbus(["down", "--name", &unused.0])).succeeded();
}

/// A program that resists its end: deaf to SIGTERM, with its first thread gone, or as a chain of new processes.
#[test]
fn no_program_outlives_its_station() {
    if skipped(&["perl", "ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let exit = match std::env::consts::ARCH {
        "x86_64" => "60",
        _ => "93",
    };
    // They end after a minute, even if this test fails.
    let headless =
        "use threads; async { $SIG{TERM} = 'IGNORE'; sleep 60 }; print STDERR \"begun\\n\"; syscall($ARGV[0], 0)";
    let chain = "print STDERR \"begun\\n\"; $end = time + 60; while (time < $end) { exit if fork }";
    let deaf = "$SIG{TERM} = 'IGNORE'; print STDERR \"begun\\n\"; sleep 1 for 1..60";
    let mut lab = Lab::up(&["--stations", "3"]);
    let mut programs = Vec::new();
    for (number, script) in [headless, chain, deaf].into_iter().enumerate() {
        let station = format!("st{}", number + 1);
        let mut program = Running::start(lab.exec(&station, &["perl", "-e", script, exit]), "");
        program.wait_for_stderr("begun");
        programs.push(program);
    }
    let [headless, chain, deaf] = <[Running; 3]>::try_from(programs).expect("three");
    // The first process of the chain has ended as soon as there was a second.
    chain.wait().succeeded();
    let namespaces: Vec<_> = (1..=3).map(|number| lab.namespace(&format!("st{number}"))).collect();
    lab.down();
    lab.assert_nothing_left();
    for namespace in namespaces {
        assert_eq!(namespace.processes().expect("/proc is mounted"), []);
    }
    assert!(headless.wait().signal().is_some());
    assert_eq!(deaf.wait().signal(), Some(9));
}
