//! Labs in the background and side by side, and every kind and setting of a port of the bus.
//!
//! One file above 500 lines because each kind of port has its tests beside its set-up.

use crate::common::derive::derive_file;
use crate::common::files::kind;
use crate::common::lab::{INTERFACE, Lab, Unused, assert_nothing_of, namespaces_of};
use crate::common::process::{Finished, Running, data_plane, ethbus, replays, run, signal};
use crate::common::results::{check, emulator, grown, number, station};
use crate::common::{PATIENCE, Turn, skipped, wait_until};
use link::MacAddr;
use link::tap::open_tap;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// A lab in the background, brought up by `ethbus up --detach`; taken down when dropped.
struct Detached {
    unused: Unused,
    greeting: Finished,
    /// The folder of its event log, which is derived again at its end.
    folder: TempDir,
}

impl Detached {
    #[track_caller]
    fn up(arguments: &[&str]) -> Detached {
        let (unused, folder) = (Unused::name(), tempfile::tempdir().expect("a folder"));
        let events = folder.path().join("events");
        let own = ["up", "--detach", "--name", &unused.0, "--events", events.to_str().expect("plain")];
        let greeting = run(ethbus(own.iter().chain(arguments))).succeeded();
        Detached { unused, greeting, folder }
    }

    fn name(&self) -> &str {
        &self.unused.0
    }

    fn ethbus(&self, command: &str, arguments: &[&str]) -> Command {
        ethbus([command, "--name", self.name()].iter().chain(arguments))
    }

    fn exec(&self, station: &str, command: &[&str]) -> Command {
        ethbus(["exec", "--name", self.name(), station, "--"].iter().chain(command))
    }

    fn log(&self) -> PathBuf {
        Path::new("/run/ethbus").join(self.name()).join("log")
    }

    /// The process that keeps it up: only this process and its child, the data plane, hold the log open.
    #[track_caller]
    fn supervisor(&self) -> u32 {
        let processes = std::fs::read_dir("/proc").expect("/proc is mounted").flatten();
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let line = |pid: &u32| std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let ours = |pid: &u32| line(pid).contains("--in-background") && line(pid).contains(self.name());
        let found: Vec<u32> = numbers.filter(ours).collect();
        assert_eq!(found.len(), 1, "supervisors of {}", self.name());
        found[0]
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // Most tests have taken it down already.
            run(self.ethbus("down", &[]));
            derive_file(&self.folder.path().join("events"), true);
        }
    }
}

/// `up --detach` prints what `up` prints and returns. The lab stays, without a terminal, until `down`, which prints the
/// last results.
#[test]
fn a_detached_lab_stays_until_it_is_taken_down() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Detached::up(&["--stations", "2"]);
    assert!(lab.greeting.stderr.contains("10.77.0.2") && lab.greeting.stderr.contains("is up"), "{:#?}", lab.greeting);
    let supervisor = lab.supervisor();
    let stat = std::fs::read_to_string(format!("/proc/{supervisor}/stat")).expect("it runs");
    let fields: Vec<&str> = stat.rsplit_once(')').expect("a name").1.split_whitespace().collect();
    assert_eq!((fields[3], fields[4]), (supervisor.to_string().as_str(), "0"), "session and terminal");
    run(lab.exec("st1", &["ping", "-c", "1", "-W", "5", "10.77.0.2"])).succeeded();
    run(lab.exec("st2", &["ip", "link", "set", INTERFACE, "down"])).succeeded();
    wait_until(PATIENCE, "the message in the log", || {
        std::fs::read_to_string(lab.log()).is_ok_and(|log| log.contains("st2 is off the medium"))
    });
    check(&run(lab.ethbus("stats", &["--format", "json"])).json());
    let told = run(lab.ethbus("down", &[])).succeeded();
    assert!(told.stdout.contains("it adds up at every station"), "{told:#?}");
    assert_nothing_of(lab.name());
}

/// `up --detach` itself reports errors while the lab is made, with the exit codes of `up`.
#[test]
fn errors_of_a_detached_lab_are_told_before_it_returns() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let unused = Unused::name();
    let up = |arguments: &[&str]| run(ethbus(["up", "--detach", "--name", &unused.0].iter().chain(arguments)));
    up(&["--stations", "2000"]).failed_with(2, &["--stations: `2000`", "1 to 1024"]);
    up(&["no such file"]).failed_with(2, &["no such file"]);
    assert_nothing_of(&unused.0);
    let lab = Detached::up(&["--stations", "2"]);
    run(lab.ethbus("up", &["--detach"])).failed_with(1, &[lab.name(), "is up"]);
    run(lab.exec("st1", &["true"])).succeeded();
}

/// An interrupt of `up --detach` while the lab is made removes the lab again; the supervisor, for which it waits, does
/// it.
#[test]
fn an_interrupt_while_a_detached_lab_is_made_removes_it() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let unused = Unused::name();
    let up = Running::start(ethbus(["up", "--detach", "--name", &unused.0, "--stations", "400"]), "");
    wait_until(PATIENCE, "the first namespace", || !namespaces_of(&unused.0).is_empty());
    up.signal("INT");
    up.wait().failed_with(130, &["interrupted while stations were being made"]);
    assert_nothing_of(&unused.0);
}

/// A lab in the background that ends by itself keeps its last messages, and every request is answered with their place.
#[test]
fn the_last_words_of_a_detached_lab_are_kept() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Detached::up(&["--stations", "2"]);
    signal("KILL", &data_plane(lab.supervisor()).to_string());
    let record = Path::new("/run/ethbus").join(lab.name()).join("lab.json");
    wait_until(PATIENCE, "the end of the lab", || !record.exists());
    assert_eq!(namespaces_of(lab.name()), Vec::<String>::new());
    let log = lab.log();
    run(lab.ethbus("stats", &[])).failed_with(1, &["is up", log.to_str().expect("plain")]);
    let words = "the data plane ended unexpectedly";
    wait_until(PATIENCE, "the last words", || std::fs::read_to_string(&log).is_ok_and(|log| log.contains(words)));
    run(lab.ethbus("down", &[])).failed_with(1, &[words]);
    assert_nothing_of(lab.name());
}

/// Two labs with the same addresses side by side: each has its own medium, and neither hears the other.
#[test]
fn two_labs_with_the_same_network_do_not_meet() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let labs = [Detached::up(&["--stations", "2"]), Detached::up(&["--stations", "3"])];
    for lab in &labs {
        run(lab.exec("st1", &["ping", "-c", "1", "-W", "5", "10.77.0.2"])).succeeded();
    }
    // There is a third station in the second lab only.
    run(labs[1].exec("st1", &["ping", "-c", "1", "-W", "5", "10.77.0.3"])).succeeded();
    let ended = run(labs[0].exec("st1", &["ping", "-c", "1", "-W", "1", "10.77.0.3"]));
    assert_eq!(ended.code(), Some(1), "{ended:#?}");
    run(labs[0].ethbus("down", &[])).succeeded();
    assert_nothing_of(labs[0].name());
    run(labs[1].exec("st2", &["ping", "-c", "1", "-W", "5", "10.77.0.1"])).succeeded();
    run(labs[1].ethbus("down", &[])).succeeded();
    assert_nothing_of(labs[1].name());
}

/// One ping that must get no answer.
#[track_caller]
fn no_ping(lab: &Lab, from: &str, to: &str) {
    let ended = run(lab.exec(from, &["ping", "-c", "1", "-W", "1", &lab.ipv4(to)]));
    assert_eq!(ended.code(), Some(1), "{ended:#?}");
}

/// The record of a lab that was taken down runs again with the same events, and has these inputs in this order.
#[track_caller]
fn check_record(record: &Path, kinds: &[&str]) {
    replays(record, &[]);
    let text = std::fs::read_to_string(record).expect("own folder");
    let lines = text.lines().skip(1).map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    let found: Vec<_> =
        lines.filter(|line| line["layer"] != "check" && !["offer", "end"].contains(&kind(line))).collect();
    let found: Vec<_> = found.iter().map(kind).collect();
    assert_eq!(found, kinds);
}

/// With `duplicate_mac` two hosts have one address: both kernels take what is sent to it, and the one whose IP address it is
/// not forwards or refuses it (RFC 4293, ipSystemStats). In the books the frames are the first one's.
#[test]
fn two_hosts_with_one_address_both_take_its_frames() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let scenario = folder.path().join("lab.toml");
    let twin = "[[station]]\nmac = '02:00:00:00:00:07'\n";
    std::fs::write(&scenario, format!("duplicate_mac = true\n[[station]]\n{twin}{twin}")).expect("own folder");
    let mut lab = Lab::up(&[scenario.to_str().expect("plain")]);
    let strange = |station: &str| {
        let table = run(lab.exec(station, &["cat", "/proc/net/snmp"])).succeeded().stdout;
        let mut rows = table.lines().filter_map(|line| line.strip_prefix("Ip: ")).map(str::split_whitespace);
        let (names, values) = (rows.next().expect("names"), rows.next().expect("values"));
        let of_strangers = names.zip(values).filter(|(name, _)| ["InAddrErrors", "ForwDatagrams"].contains(name));
        of_strangers.map(|(_, value)| value.parse::<u64>().expect("a number")).sum::<u64>()
    };
    let before = (lab.settled_stats(), strange("st3"));
    lab.ping("st1", &lab.ipv4("st2"));
    lab.ping("st1", &lab.ipv4("st3"));
    assert!(strange("st3") > before.1 && strange("st2") > 0);
    let after = lab.settled_stats();
    assert!(
        grown(&before.0, &after, "st2", "frames_received_ok") > grown(&before.0, &after, "st3", "frames_received_ok")
    );
    check(&after);
    lab.down().succeeded();
}

/// Whether the interface of a station has carrier, as its kernel says.
#[track_caller]
fn has_carrier(lab: &Lab, station: &str) -> bool {
    run(lab.exec(station, &["cat", &format!("/sys/class/net/{INTERFACE}/carrier")])).succeeded().stdout == "1\n"
}

/// On a star an unplugged station loses its carrier (802.3, 14.2.1.7), and keeps its addresses. Log and record have one
/// deed each time, no port is lost, and what the host drops meanwhile is counted, not offered.
#[test]
fn the_carrier_goes_with_the_cable_on_a_star() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let record = folder.path().join("run.record");
    let mut lab =
        Lab::up(&["--stations", "3", "--events", record.to_str().expect("plain"), "--events-level", "inputs"]);
    let addresses = || {
        let told = run(lab.exec("st2", &["ip", "-o", "address", "show", "dev", INTERFACE])).succeeded().stdout;
        told.split_whitespace().filter(|word| word.contains('/')).map(str::to_owned).collect::<Vec<_>>()
    };
    let before = addresses();
    assert!(before.len() >= 2, "{before:?}");
    let link = |results: &serde_json::Value, key: &str| {
        let links = results["emulator"]["links"].as_array().expect("links");
        number(links.iter().find(|link| link["station"] == "st2").expect("a link"), key)
    };
    for _ in 0..5 {
        run(lab.ethbus("unplug", &["st2"])).succeeded();
        assert!(!has_carrier(&lab, "st2"));
        run(lab.ethbus("plug", &["st2"])).succeeded();
        assert!(has_carrier(&lab, "st2"));
        lab.ping("st2", &lab.ipv4("st1"));
    }
    run(lab.ethbus("unplug", &["st2"])).succeeded();
    let unplugged = lab.settled_stats();
    run(lab.ethbus("send", &["--from", "st2", "--to", "st1", "--rate", "200/s", "--count", "20"])).succeeded();
    let after = lab.settled_stats();
    assert!(link(&after, "without_carrier") - link(&unplugged, "without_carrier") >= 20, "{after}");
    assert_eq!(link(&after, "lost_from_station"), 0, "{after}");
    assert_eq!(grown(&unplugged, &after, "st2", "offered"), 0, "{after}");
    run(lab.ethbus("set", &["link=always"])).succeeded();
    assert!(has_carrier(&lab, "st2"));
    run(lab.ethbus("set", &["link=follows"])).succeeded();
    assert!(!has_carrier(&lab, "st2"));
    run(lab.ethbus("plug", &["st2"])).succeeded();
    lab.ping("st2", &lab.ipv4("st1"));
    assert_eq!(addresses(), before);
    let results = lab.settled_stats();
    check(&results);
    assert_eq!(emulator(&results, "ports_lost") + emulator(&results, "link_changes_missed"), 0, "{results}");
    lab.down();
    check_record(&record, &["unplug", "plug"].repeat(6));
}

/// A coaxial cable has no link test.
#[test]
fn the_carrier_stays_on_a_bus() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2", "--topology", "bus:100m"]);
    run(lab.ethbus("unplug", &["st2"])).succeeded();
    assert!(has_carrier(&lab, "st2"));
    run(lab.ethbus("set", &["link=follows"])).succeeded();
    assert!(!has_carrier(&lab, "st2"));
    run(lab.ethbus("plug", &["st2"])).succeeded();
    lab.ping("st2", &lab.ipv4("st1"));
}

/// A station that is detached while the bus runs is off the medium until it is attached again. With `--link always` its
/// link stays up, the frames that it offers are counted, and a record has all of it.
#[test]
fn a_station_is_detached_and_attached_while_the_bus_runs() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let record = folder.path().join("run.record");
    let record_file = record.to_str().expect("plain");
    let mut lab =
        Lab::up(&["--stations", "3", "--link", "always", "--events", record_file, "--events-level", "inputs"]);
    lab.ping("st1", &lab.ipv4("st2"));
    run(lab.ethbus("detach", &["st2"])).succeeded();
    let before = lab.stats();
    assert_eq!(station(&before, "st2")["attached"], false);
    no_ping(&lab, "st1", "st2");
    no_ping(&lab, "st2", "st1");
    lab.ping("st1", &lab.ipv4("st3"));
    let after = lab.settled_stats();
    assert!(grown(&before, &after, "st2", "detached") > 0, "{after}");
    assert_eq!(grown(&before, &after, "st2", "frames_received_ok"), 0, "{after}");
    // A link that goes down and up again does not put it back.
    run(lab.exec("st2", &["sh", "-c", "ip link set eth0 down; sleep 0.2; ip link set eth0 up"])).succeeded();
    no_ping(&lab, "st2", "st1");
    let table = run(lab.ethbus("stats", &[])).succeeded().stdout;
    assert!(table.contains("st2: off the medium"), "{table}");
    run(lab.ethbus("attach", &["st2"])).succeeded();
    lab.ping("st2", &lab.ipv4("st1"));
    let results = lab.settled_stats();
    check(&results);
    assert_eq!(station(&results, "st2")["attached"], true);
    run(lab.exec("st3", &["ip", "link", "set", INTERFACE, "down"])).succeeded();
    wait_until(PATIENCE, "st3 off the medium", || station(&lab.stats(), "st3")["attached"] == false);
    run(lab.ethbus("detach", &["st3"])).succeeded();
    run(lab.ethbus("attach", &["st3"])).failed_with(1, &["st3", "its interface is down"]);
    run(lab.ethbus("detach", &["st9"])).failed_with(1, &["st9", "st1, st2, st3"]);
    let told = lab.down();
    assert!(told.stderr.contains("st2 is off the medium: it was detached"), "{told:#?}");
    assert!(told.stderr.contains("st2 is back on the medium: it was attached"), "{told:#?}");
    check_record(&record, &["unplug", "plug", "unplug"]);
}

/// A duplex mismatch as the field knows it, in virtual time and on a live bus alike: late collisions at the side in half
/// duplex, wrong FCSs at the other, and frames that the side in full duplex takes for sent.
#[test]
fn a_duplex_mismatch_has_late_collisions_at_one_side_and_errors_at_the_other() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let scenario = folder.path().join("mismatch.toml");
    let at = "[[at]]\ntime = '0s'\nstation = 'st1'\nfault = 'full_duplex'\n";
    let traffic = "stations = 2\n[traffic]\narrivals = 'poisson:0.6'\nframe_size = 1518\n";
    std::fs::write(&scenario, [traffic, at].concat()).expect("own folder");
    let scenario = scenario.to_str().expect("plain");
    let sim = run(ethbus(["sim", scenario, "--duration", "2s", "--warmup", "0s", "--format", "json"])).succeeded();
    let mut lab = Lab::up(&[scenario]);
    wait_until(PATIENCE, "collisions", || number(station(&lab.stats(), "st2"), "late_collisions") > 20);
    for results in [serde_json::from_str(&sim.stdout).expect("JSON"), lab.stats()] {
        let of = |name: &str, key: &str| number(station(&results, name), key);
        assert_eq!((of("st1", "collisions"), of("st1", "late_collisions")), (0, 0), "{results}");
        assert!(of("st2", "late_collisions") > 20, "{results}");
        assert!(of("st1", "fcs_errors") + of("st1", "alignment_errors") > 10, "{results}");
        assert!(of("st1", "fragments_received") > 0 && of("st2", "fcs_errors") > 10, "{results}");
        assert!(of("st1", "frames_transmitted_ok") > of("st2", "frames_received_ok"), "{results}");
    }
    lab.down();
}

/// A faulty station sends frames that no host gets; repaired, it is heard again. A record has both.
#[test]
fn a_station_is_made_faulty_and_right_again_while_the_bus_runs() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let record = folder.path().join("run.record");
    let mut lab =
        Lab::up(&["--stations", "2", "--events", record.to_str().expect("plain"), "--events-level", "inputs"]);
    lab.ping("st1", &lab.ipv4("st2"));
    run(lab.ethbus("fault", &["st2", "bad_fcs"])).succeeded();
    let before = lab.stats();
    assert_eq!(station(&before, "st2")["fault"], "bad_fcs");
    no_ping(&lab, "st1", "st2");
    let after = lab.settled_stats();
    check(&after);
    assert!(grown(&before, &after, "st1", "fcs_errors") > 0, "{after}");
    assert_eq!(grown(&before, &after, "st1", "frames_received_ok"), 0, "{after}");
    run(lab.ethbus("fault", &["st2", "none"])).succeeded();
    lab.ping("st1", &lab.ipv4("st2"));
    // Without carrier sense it still sends and is heard.
    run(lab.ethbus("fault", &["st2", "deaf"])).succeeded();
    let before = lab.stats();
    lab.ping("st1", &lab.ipv4("st2"));
    assert!(grown(&before, &lab.settled_stats(), "st2", "carrier_sense_errors") > 0);
    run(lab.ethbus("fault", &["st2", "mute"])).failed_with(2, &["mute", "deaf", "bad_fcs", "babble", "none"]);
    lab.down();
    check_record(&record, &["fault", "fault", "fault"]);
}

const FAULTY: &str = "[traffic]\narrivals = 'poisson:0.2'\ndestination = 'sink'\n\
    [[station]]\nname = 'sink'\ndestination = 'fine'\n[[station]]\nname = 'fine'\n\
    [[station]]\nname = 'mute'\nfault = 'deaf'\n[[station]]\nname = 'noisy'\nfault = 'bad_fcs'\n\
    [[station]]\nname = 'endless'\nfault = 'babble'\nframe_size = 3000\n";

/// A scenario's faults are inputs at instant 0: their counters grow, and the record of the run has them.
#[test]
fn faults_of_a_scenario_are_there_from_the_first_instant_in_virtual_time() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let [scenario, record] = ["faulty.toml", "run.record"].map(|name| folder.path().join(name));
    std::fs::write(&scenario, FAULTY).expect("own folder");
    let [scenario_text, record_text] = [&scenario, &record].map(|path| path.to_str().expect("plain"));
    let sim = [
        "sim",
        scenario_text,
        "--duration",
        "2s",
        "--format",
        "json",
        "--events",
        record_text,
        "--events-level",
        "inputs",
    ];
    let results = run(ethbus(sim)).json();
    check(&results);
    let counter = |name: &str, key: &str| number(station(&results, name), key);
    let faults = ["sink", "fine", "mute", "noisy", "endless"].map(|name| &station(&results, name)["fault"]);
    assert_eq!(faults.map(|fault| fault.as_str()), [None, None, Some("deaf"), Some("bad_fcs"), Some("babble")]);
    assert!(counter("mute", "carrier_sense_errors") > 100, "{results}");
    assert_eq!(counter("fine", "carrier_sense_errors"), 0);
    assert!(counter("noisy", "frames_transmitted_ok") > 100 && counter("noisy", "delivered") == 0, "{results}");
    assert!(counter("sink", "fcs_errors") >= counter("noisy", "frames_transmitted_ok"), "{results}");
    assert!(counter("endless", "frames_transmitted_ok") > 10 && counter("endless", "too_long") == 0, "{results}");
    assert!(counter("sink", "frame_too_long_errors") > 10, "{results}");
    check_record(&record, &["fault", "fault", "fault", "restart"]);
    let text = std::fs::read_to_string(&record).expect("own folder");
    assert!(
        text.lines().skip(1).take(3).all(|line| line.starts_with("{\"t\":0,\"layer\":\"deed\",\"station\":")),
        "{text:.600}"
    );
    std::fs::write(&scenario, FAULTY.replace("'deaf'", "'mute'")).expect("own folder");
    run(ethbus(["sim", scenario_text])).failed_with(2, &[":11:9: fault:", "`mute` is no fault", "`deaf`", "`none`"]);
    // Only a station that babbles may have frames above the limit.
    std::fs::write(&scenario, FAULTY.replace("'babble'", "'none'")).expect("own folder");
    run(ethbus(["sim", scenario_text])).failed_with(2, &["3000", "max_frame_size"]);
}

/// The same scenario's faults are there when a lab of it is up.
#[test]
fn faults_of_a_scenario_are_there_when_a_lab_is_up() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let scenario = folder.path().join("faulty.toml");
    std::fs::write(&scenario, FAULTY).expect("own folder");
    let lab = Lab::up(&[scenario.to_str().expect("plain")]);
    lab.ping("fine", &lab.ipv4("sink"));
    no_ping(&lab, "fine", "noisy");
    let results = lab.settled_stats();
    check(&results);
    assert_eq!(station(&results, "endless")["fault"], "babble");
}

/// A stack in user space: answers ARP and ICMP echo for one address, on a TAP device that it opens by its name.
struct Stack {
    go_on: Arc<AtomicBool>,
    /// Gives the number of frames that it read and that were for others.
    thread: Option<std::thread::JoinHandle<u64>>,
}

impl Stack {
    #[track_caller]
    fn start(lab: &Lab, name: &str) -> Stack {
        let tap = lab.namespace(name).run(|| open_tap("tap0")).expect("to enter it").expect("the device");
        let mac: MacAddr = lab.mac(name).parse().expect("an address");
        let ip: Ipv4Addr = lab.ipv4(name).parse().expect("an address");
        let go_on = Arc::new(AtomicBool::new(true));
        let running = go_on.clone();
        let thread = std::thread::spawn(move || answer_until_stopped(tap, mac.octets(), ip.octets(), &running));
        Stack { go_on, thread: Some(thread) }
    }

    fn stop(mut self) -> u64 {
        self.go_on.store(false, Ordering::Relaxed);
        self.thread.take().expect("it runs").join().expect("no panic")
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.go_on.store(false, Ordering::Relaxed);
    }
}

fn answer_until_stopped(mut tap: File, mac: [u8; 6], ip: [u8; 4], go_on: &AtomicBool) -> u64 {
    let (mut octets, mut others) = ([0; 2048], 0);
    while go_on.load(Ordering::Relaxed) {
        match tap.read(&mut octets) {
            Ok(length) => {
                let frame = &mut octets[..length];
                others += u64::from(frame[..6] != mac && frame[0] & 1 == 0);
                if let Some(reply) = reply(frame, mac, ip) {
                    tap.write_all(&reply).expect("an interface that is up");
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(Duration::from_millis(1)),
            Err(error) => panic!("{error}"),
        }
    }
    others
}

/// The answer to an ARP request or an ICMP echo request for `ip`.
fn reply(frame: &[u8], mac: [u8; 6], ip: [u8; 4]) -> Option<Vec<u8>> {
    let mut reply = frame.to_vec();
    reply[..6].copy_from_slice(&frame[6..12]);
    reply[6..12].copy_from_slice(&mac);
    match frame.get(12..14)? {
        // Of 28 octets: operation at 6, sender's addresses at 8 and 14, target's at 18 and 24.
        [0x08, 0x06] if frame.get(20..22)? == [0, 1] && frame.get(38..42)? == ip => {
            reply[21] = 2;
            reply[32..42].copy_from_slice(&frame[22..32]);
            reply[22..28].copy_from_slice(&mac);
            reply[28..32].copy_from_slice(&ip);
            Some(reply)
        }
        // A header of 20 octets; then type 8, and a checksum that grows by as much as the type decreases.
        [0x08, 0x00] if frame.get(23)? == &1 && frame.get(30..34)? == ip && frame.get(34)? == &8 => {
            reply[26..30].copy_from_slice(&ip);
            reply[30..34].copy_from_slice(&frame[26..30]);
            reply[34] = 0;
            let sum = u32::from(u16::from_be_bytes([frame[36], frame[37]])) + 0x0800;
            let sum = (sum & 0xffff) + (sum >> 16);
            reply[36..38].copy_from_slice(&(sum as u16).to_be_bytes());
            Some(reply)
        }
        _ => None,
    }
}

/// One station of this kind, with a program, and two with a kernel's stack.
fn tap_scenario(kind: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    let text = format!("[[station]]\nname = 'vm'\nkind = '{kind}'\n[[station]]\nname = 'a'\n[[station]]\nname = 'b'\n");
    std::fs::write(file.path(), text).expect("own file");
    file
}

/// A station whose host is a program with a TAP device: a kernel's stack pings a stack in user space, over the bus. The
/// program hears the traffic of others, as on a cable; without it the ping gets no answer.
#[test]
fn a_stack_in_user_space_is_a_station_through_a_tap_device() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    if !Path::new("/dev/net/tun").exists() {
        return crate::common::skip("needs the TUN driver");
    }
    let _turn = Turn::shared();
    let scenario = tap_scenario("tap");
    let mut lab = Lab::up(&[scenario.path().to_str().expect("plain")]);
    assert!(lab.greeting().contains("tap0"), "{}", lab.greeting());
    no_ping(&lab, "a", "vm");
    let stack = Stack::start(&lab, "vm");
    lab.ping("a", &lab.ipv4("vm"));
    let before = lab.settled_stats();
    run(lab.exec("b", &["ping", "-c", "5", "-i", "0.05", "-s", "1400", &lab.ipv4("vm")])).succeeded();
    lab.ping("a", &lab.ipv4("b"));
    let after = lab.settled_stats();
    check(&after);
    assert!(grown(&before, &after, "vm", "frames_received_ok") >= 5, "{after}");
    assert!(grown(&before, &after, "vm", "delivered") >= 5, "{after}");
    let heard = stack.stop();
    assert!(heard >= 2, "{heard} frames between others");
    lab.down();
    lab.assert_nothing_left();
    let wrong = tap_scenario("tun");
    run(ethbus(["up", wrong.path().to_str().expect("plain")])).failed_with(2, &[":3:8: kind:", "`tun`", "\"tap\""]);
}

/// Frames that a program with a TAP device does not read are dropped by the kernel: they are counted at that place.
#[test]
fn frames_that_a_program_does_not_read_are_counted_at_its_tap_device() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let scenario = folder.path().join("tap.toml");
    std::fs::write(&scenario, "[[station]]\nname = 'vm'\nkind = 'tap'\n[[station]]\nname = 'a'\n").expect("own folder");
    let mut lab = Lab::up(&[scenario.to_str().expect("plain")]);
    let mut tap = lab.namespace("vm").run(|| open_tap("tap0")).expect("to enter it").expect("the device");
    let at_tap = |results: &serde_json::Value| {
        let links = results["emulator"]["links"].as_array().expect("a list").clone();
        let link = links.into_iter().find(|link| link["station"] == "vm").expect("the station's");
        [number(&link, "to_station"), number(&link, "lost_at_tap")]
    };
    // The device comes up with its program; until then, nothing reaches it.
    wait_until(PATIENCE, "carrier at the device", || {
        let up = run(lab.exec("vm", &["ip", "link", "show", "tap0"])).succeeded();
        up.stdout.contains("LOWER_UP")
    });
    std::thread::sleep(Duration::from_millis(100));
    let drain = |tap: &mut File| {
        let (mut octets, mut frames) = ([0; 2048], 0);
        while tap.read(&mut octets).is_ok() {
            frames += 1;
        }
        frames
    };
    // Only the frames sent below are on the medium.
    let silent = "echo 1 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6; ip link set eth0 arp off";
    run(lab.exec("a", &["sh", "-c", silent])).succeeded();
    lab.settled_stats();
    std::thread::sleep(Duration::from_millis(100));
    drain(&mut tap);
    let before = lab.stats();
    // More than the queue of a TAP device, which has room for 1000.
    let arguments = ["--from", "a", "--to", "vm", "--frame-size", "64", "--count", "3000", "--rate", "5000/s"];
    run(lab.ethbus("send", &arguments)).succeeded();
    let after = lab.settled_stats();
    check(&after);
    let [delivered, lost] = [0, 1].map(|place| at_tap(&after)[place] - at_tap(&before)[place]);
    let transmitted = grown(&before, &after, "a", "frames_transmitted_ok");
    assert!(transmitted >= 1500, "the bus has room for 14,880 frames in a second: {after}");
    assert!(delivered >= transmitted && lost >= delivered - 1100, "{transmitted} sent, {delivered}, {lost}");
    assert_eq!(drain(&mut tap), delivered - lost, "what was not counted as lost is there to be read");
    let told = lab.down();
    assert!(told.stderr.contains("at its TAP device"), "{told:#?}");
}

/// smoltcp, an independent TCP/IP stack, as the host of a TAP station: it answers ping, and echoes over TCP, until it
/// is stopped.
struct Smoltcp {
    go_on: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Smoltcp {
    /// The port of its echo.
    const PORT: u16 = 7;

    #[track_caller]
    fn start(lab: &Lab, name: &str) -> Smoltcp {
        let mac: MacAddr = lab.mac(name).parse().expect("an address");
        let ip: Ipv4Addr = lab.ipv4(name).parse().expect("an address");
        let namespace = lab.namespace(name);
        let go_on = Arc::new(AtomicBool::new(true));
        let running = go_on.clone();
        let thread = std::thread::spawn(move || {
            namespace.enter().expect("to enter it");
            echo_until_stopped(mac, ip, &running);
        });
        Smoltcp { go_on, thread: Some(thread) }
    }
}

impl Drop for Smoltcp {
    fn drop(&mut self) {
        self.go_on.store(false, Ordering::Relaxed);
        let ended = self.thread.take().expect("it runs").join();
        assert!(ended.is_ok() || std::thread::panicking(), "it panicked");
    }
}

fn echo_until_stopped(mac: MacAddr, ip: Ipv4Addr, go_on: &AtomicBool) {
    use smoltcp::iface::{Config, Interface, SocketSet};
    use smoltcp::phy::{Medium, TunTapInterface, wait};
    use smoltcp::socket::tcp::{Socket, SocketBuffer};
    use smoltcp::time::{Duration, Instant};
    use smoltcp::wire::{EthernetAddress, IpCidr};
    use std::os::fd::AsRawFd;

    let mut device = TunTapInterface::new("tap0", Medium::Ethernet).expect("the device");
    let config = Config::new(EthernetAddress(mac.octets()).into());
    let mut interface = Interface::new(config, &mut device, Instant::now());
    interface.update_ip_addrs(|addresses| addresses.push(IpCidr::new(ip.into(), 16)).expect("room for one"));
    let buffer = || SocketBuffer::new(vec![0; 16_384]);
    let mut sockets = SocketSet::new(Vec::new());
    let handle = sockets.add(Socket::new(buffer(), buffer()));
    while go_on.load(Ordering::Relaxed) {
        let now = Instant::now();
        interface.poll(now, &mut device, &mut sockets);
        let socket = sockets.get_mut::<Socket>(handle);
        if !socket.is_open() {
            socket.listen(Smoltcp::PORT).expect("a port");
        }
        if socket.can_send() && socket.can_recv() {
            let room = socket.send_capacity() - socket.send_queue();
            let heard = socket.recv(|octets| {
                let heard = octets[..octets.len().min(room)].to_vec();
                (heard.len(), heard)
            });
            assert_eq!(socket.send_slice(heard.as_ref().expect("it can")), Ok(heard.expect("it can").len()));
        } else if socket.may_send() && !socket.may_recv() && socket.send_queue() == 0 {
            socket.close();
        }
        let pause = interface.poll_delay(now, &sockets).unwrap_or(Duration::from_millis(20));
        wait(device.as_raw_fd(), Some(pause.min(Duration::from_millis(20)))).expect("a device to wait for");
    }
}

/// An independent stack on TAP: a kernel's stack pings it and speaks TCP with it across the bus.
#[test]
fn a_stack_that_others_wrote_speaks_tcp_through_a_tap_device() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    if !Path::new("/dev/net/tun").exists() {
        return crate::common::skip("needs the TUN driver");
    }
    let _turn = Turn::shared();
    let scenario = tap_scenario("tap");
    let mut lab = Lab::up(&[scenario.path().to_str().expect("plain")]);
    let stack = Smoltcp::start(&lab, "vm");
    lab.ping("a", &lab.ipv4("vm"));
    run(lab.exec("b", &["ping", "-c", "5", "-i", "0.05", "-s", "1400", &lab.ipv4("vm")])).succeeded();
    let sent: Vec<u8> = (0..100_000_u32).map(|number| ((number * 7919) >> 3) as u8).collect();
    let peer = (lab.ipv4("vm").parse::<Ipv4Addr>().expect("an address"), Smoltcp::PORT);
    let heard = lab.namespace("a").run(|| -> std::io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect_timeout(&peer.into(), PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut writer = stream.try_clone()?;
        let copy = sent.clone();
        let writing = std::thread::spawn(move || {
            writer.write_all(&copy)?;
            writer.shutdown(Shutdown::Write)
        });
        let mut heard = Vec::new();
        stream.read_to_end(&mut heard)?;
        writing.join().expect("no panic")?;
        Ok(heard)
    });
    let heard = heard.expect("to enter it").expect("a connection");
    assert!(heard == sent, "{} octets of {} came back", heard.len(), sent.len());
    drop(stack);
    let results = lab.settled_stats();
    check(&results);
    assert!(number(station(&results, "vm"), "octets_received_ok") > 100_000, "{results}");
    assert_eq!(number(station(&results, "vm"), "too_long"), 0, "{results}");
    lab.down();
    lab.assert_nothing_left();
}
