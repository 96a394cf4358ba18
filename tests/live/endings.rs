//! The end of a lab beside other activity: programs that `exec` starts meanwhile, a data plane that hangs, and
//! descriptors of the process that brought it up (issue 12, 1).

use crate::common::lab::{Lab, Unused, assert_nothing_of};
use crate::common::process::{Running, data_plane, ethbus, program, run, runs, signal};
use crate::common::{ETHBUS, PATIENCE, Turn, note, skipped, wait_until};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Programs that `exec` starts while `down` searches for programs: each is ended, or was refused.
#[test]
fn no_program_that_exec_starts_beside_down_survives() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::alone();
    let (mut started, mut refused) = (0, 0);
    for round in 0..5 {
        let mut lab = Lab::up(&["--stations", "2"]);
        // Several a round, a few milliseconds apart, before `down` asks and while it removes.
        let exec = |number: u64| {
            std::thread::sleep(Duration::from_millis((round + number) % 5));
            Running::start(lab.exec("st1", &["sleep", "1000"]), "")
        };
        let first: Vec<Running> = (0..3).map(exec).collect();
        let down = Running::start(lab.ethbus("down", &[]), "");
        let later: Vec<Running> = (0..12).map(exec).collect();
        down.wait().succeeded();
        lab.ended().succeeded();
        for program in first.into_iter().chain(later) {
            let ended = program.wait();
            match ended.signal() {
                Some(_) => started += 1,
                None => {
                    refused += 1;
                    assert!(matches!(ended.code(), Some(1)), "{ended:#?}");
                }
            }
        }
        lab.assert_nothing_left();
    }
    note(&format!("{started} programs were ended with the lab, {refused} were refused"));
}

/// A data plane that hangs is killed; `down` reports it, has removed everything, and ends with an error.
#[test]
fn down_says_that_a_data_plane_hangs_and_cleans_up() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    for in_background in [false, true] {
        let unused = Unused::name();
        let mut foreground = None;
        if in_background {
            run(ethbus(["up", "--detach", "--name", &unused.0, "--stations", "2"])).succeeded();
        } else {
            let mut up = Running::start(ethbus(["up", "--name", &unused.0, "--stations", "2"]), "");
            up.wait_for_stderr("ethbus stats");
            foreground = Some(up);
        }
        let supervisor = foreground.as_ref().map_or_else(|| background_of(&unused.0), Running::pid);
        signal("STOP", &data_plane(supervisor).to_string());
        let down = run(ethbus(["down", "--name", &unused.0]));
        down.failed_with(1, &["the data plane did not answer within 10 seconds", "killed"]);
        assert_nothing_of(&unused.0);
        if let Some(up) = foreground {
            up.wait().failed_with(1, &["the data plane did not answer within 10 seconds"]);
        }
    }
}

/// `stats` of a lab whose data plane hangs says so.
#[test]
fn stats_says_that_a_data_plane_hangs() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let unused = Unused::name();
    let mut up = Running::start(ethbus(["up", "--name", &unused.0, "--stations", "2"]), "");
    up.wait_for_stderr("ethbus stats");
    signal("STOP", &data_plane(up.pid()).to_string());
    let stats = run(ethbus(["stats", "--name", &unused.0]));
    stats.failed_with(1, &["the data plane did not answer within 10 seconds, so the lab ends"]);
    assert_eq!(up.wait().code(), Some(1));
    assert_nothing_of(&unused.0);
}

/// Clients that say nothing, or an octet now and then, keep no other waiting: each has a deadline, and all are served side
/// by side. One after the other they would take longer than any test waits.
#[test]
fn slow_clients_keep_nobody_waiting() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let port = TcpListener::bind("127.0.0.1:0").expect("any port").local_addr().expect("it is bound").port();
    let mut lab = Lab::up(&["--stations", "2", "--metrics", &port.to_string()]);
    let socket = lab.record().join("control.sock");
    let silent: Vec<_> = (0..30).map(|_| UnixStream::connect(&socket).expect("it listens")).collect();
    let clients: Vec<_> = (0..30).map(|_| TcpStream::connect(("127.0.0.1", port)).expect("it listens")).collect();
    let mut slow = clients[0].try_clone().expect("a socket");
    let slow = std::thread::spawn(move || {
        while slow.write_all(b"G").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let mut scrape = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    scrape.set_read_timeout(Some(PATIENCE)).expect("a time");
    scrape.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    scrape.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    lab.stats();
    // Each gets its answer, and its end.
    for mut client in clients {
        client.set_read_timeout(Some(PATIENCE)).expect("a time");
        let mut answer = Vec::new();
        // An end by the other side may come as a reset, after the answer or in its place.
        let _ = client.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&answer));
    }
    slow.join().expect("it ends with its stream");
    drop(silent);
    lab.down();
    lab.assert_nothing_left();
}

/// A supervisor that is killed while `down` waits for its end: `down` removes what remains.
#[test]
fn down_removes_what_a_supervisor_left_that_was_killed_meanwhile() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let unused = Unused::name();
    let mut up = Running::start(ethbus(["up", "--name", &unused.0, "--stations", "2"]), "");
    up.wait_for_stderr("ethbus stats");
    signal("STOP", &data_plane(up.pid()).to_string());
    let down = Running::start(ethbus(["down", "--name", &unused.0]), "");
    std::thread::sleep(Duration::from_secs(1));
    up.signal("KILL");
    down.wait().failed_with(1, &["removed what a killed lab"]);
    assert_nothing_of(&unused.0);
}

/// A lab in the background whose data plane was killed has failed, and only `down` can say so.
#[test]
fn down_of_a_lab_in_the_background_that_crashed_fails() {
    if skipped(&[]) {
        return;
    }
    let (_turn, lab) = (Turn::shared(), Unused::name());
    run(ethbus(["up", "--background", "--strict", "--name", &lab.0, "--stations", "2"])).succeeded();
    let supervisor = background_of(&lab.0);
    signal("KILL", &data_plane(supervisor).to_string());
    wait_until(PATIENCE, "the supervisor's end", || !runs(supervisor));
    run(ethbus(["down", &lab.0])).failed_with(1, &["ended unexpectedly (signal: 9"]);
    assert_nothing_of(&lab.0);
}

/// A lab that is stopped in its terminal answers nothing: every command says so, and how the lab goes on.
#[test]
fn a_lab_that_is_stopped_in_its_terminal_is_said_to_be() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    let supervisor = lab.supervisor().pid();
    lab.supervisor().signal("STOP");
    let (stopped, remedy) = (format!("its process {supervisor} is stopped"), format!("kill -CONT {supervisor}"));
    for (command, arguments) in [("stats", &[][..]), ("fault", &["st1", "deaf"]), ("down", &[])] {
        run(lab.ethbus(command, arguments)).failed_with(1, &[&stopped, &remedy]);
    }
    let listed = run(ethbus(["list"])).succeeded().stdout;
    assert!(listed.contains(&format!("{}: stopped, as by Ctrl-Z: `{remedy}`", lab.name)), "{listed}");
    lab.supervisor().signal("CONT");
    lab.stats();
    lab.down();
    lab.assert_nothing_left();
}

/// A lab lives on after its caller, whose secrets are none of its business.
#[test]
fn a_lab_in_the_background_keeps_no_secret_of_its_callers_environment() {
    if skipped(&[]) {
        return;
    }
    let (_turn, lab) = (Turn::shared(), Unused::name());
    let mut up = ethbus(["up", "--background", "--name", &lab.0, "--stations", "2"]);
    up.env("DEPLOY_TOKEN", "s3cret").env("LANG", "C.UTF-8");
    run(up).succeeded();
    let path = format!("/proc/{}/environ", background_of(&lab.0));
    let environment = std::fs::read_to_string(path).expect("root may");
    assert!(environment.contains("PATH=") && environment.contains("LANG=C.UTF-8"), "{environment}");
    assert!(!environment.contains("DEPLOY_TOKEN"), "{environment}");
    run(ethbus(["down", &lab.0])).succeeded();
}

/// The supervisor of a lab in the background.
#[track_caller]
fn background_of(name: &str) -> u32 {
    let processes = std::fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let line =
        |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().replace('\0', " ");
    let is_it = |pid: &u32| line(pid).contains("--in-background") && line(pid).contains(name);
    numbers.find(is_it).unwrap_or_else(|| panic!("no supervisor of {name}"))
}

/// A lab in the background keeps no inherited descriptor open: neither a lock nor a pipe with a reader.
#[test]
fn a_lab_in_the_background_keeps_no_descriptor_of_whoever_started_it() {
    if skipped(&["flock", "sh"]) {
        return;
    }
    let (_turn, folder) = (Turn::shared(), tempfile::tempdir().expect("a folder"));
    let lock = folder.path().join("lock").to_str().expect("plain").to_owned();
    let unused = Unused::name();
    let script = "(exec 9> \"$2\"; flock -n 9 || exit 3; \"$0\" up --detach --stations 2 --name \"$1\") && flock -w 5 \"$2\" true";
    run(program("sh", ["-c", script, ETHBUS, &unused.0, &lock])).succeeded();
    run(ethbus(["down", "--name", &unused.0])).succeeded();
    // The shell reads until the last copy of its pipe is closed.
    let script = "x=$(\"$0\" up --detach --stations 2 --name \"$1\" 3>&1 >/dev/null); echo done";
    let ended = run(program("sh", ["-c", script, ETHBUS, &unused.0])).succeeded();
    assert_eq!(ended.stdout, "done\n");
    run(ethbus(["down", "--name", &unused.0])).succeeded();
    // An output that is given as a descriptor is written all the same.
    let events = folder.path().join("events").to_str().expect("plain").to_owned();
    let script = "\"$0\" up --detach --stations 2 --name \"$1\" --events /dev/fd/7 7> \"$2\"";
    run(program("sh", ["-c", script, ETHBUS, &unused.0, &events])).succeeded();
    run(ethbus(["down", "--name", &unused.0])).succeeded();
    let log = std::fs::read_to_string(&events).expect("UTF-8");
    assert!(log.contains("ethbus trace"), "{log}");
    assert_nothing_of(&unused.0);
}

/// A killed lab is listed as one, without a socket; one whose supervisor has its record is coming up or going down.
#[test]
fn a_killed_lab_is_listed_as_one() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    let listed = |lab: &Lab| {
        let all = run(ethbus(["list", "--format", "json"])).json();
        all.as_array().expect("labs").iter().find(|one| one["name"] == lab.name.as_str()).expect("it").clone()
    };
    assert!(listed(&lab)["control"].is_string());
    lab.lose_supervisor();
    let killed = listed(&lab);
    assert_eq!((&killed["state"], &killed["control"]), (&Value::from("left_behind"), &Value::Null), "{killed}");
    let own = format!("{}: killed; `ethbus down {}` removes what is left", lab.name, lab.name);
    assert!(run(ethbus(["list"])).succeeded().stdout.contains(&own));
    // `down` takes the record, and marks it first.
    let path = |file: &str| format!("/run/ethbus/{}/{file}", lab.name);
    let record = std::fs::read(path("lab.json")).expect("its record");
    let mut record: Value = serde_json::from_slice(&record).expect("JSON");
    record["ending"] = true.into();
    std::fs::write(path("lab.json"), record.to_string()).expect("root may");
    let lock = std::fs::File::open(path("lock")).expect("its record");
    lock.lock().expect("no supervisor has it");
    assert_eq!(listed(&lab)["state"], "changing");
    drop(lock);
    run(lab.ethbus("down", &[])).succeeded();
    lab.assert_nothing_left();
}
