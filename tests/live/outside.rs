//! Stations whose host is outside the lab: an existing interface, a bridge, another machine through a tunnel.
//!
//! Each machine here is a network namespace with a name, so that a cleanup finds it again.
//!
//! One file above 500 lines because each way out of a lab has its tests beside its set-up.

use crate::common::lab::{INTERFACE, Lab, fresh_name};
use crate::common::process::{Finished, Running, ethbus, program, run};
use crate::common::results::{check, grown, number, station};
use crate::common::user::{User, users_may_have_labs};
use crate::common::{PATIENCE, Turn, skipped, wait_until};
use link::namespace::Namespace;
use link::netlink::Netlink;
use link::station::{EXPERIMENTAL_ETHERTYPE, StationSocket};
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A machine: a network namespace of the test's own.
struct Machine {
    name: String,
    namespace: Namespace,
}

impl Machine {
    fn new() -> Machine {
        let name = fresh_name() + "-machine";
        let namespace = Namespace::named(&name).expect("a namespace");
        let machine = Machine { name, namespace };
        machine.ip("link set lo up");
        machine
    }

    /// Runs something on this machine.
    fn run<T: Send>(&self, task: impl FnOnce() -> T + Send) -> T {
        self.namespace.run(task).expect("to enter it")
    }

    /// Runs a program on this machine to its end.
    #[track_caller]
    fn command(&self, words: &[&str]) -> Finished {
        self.run(|| run(program(words[0], &words[1..])))
    }

    /// Runs `ip` on this machine.
    #[track_caller]
    fn ip(&self, words: &str) -> String {
        let words: Vec<&str> = std::iter::once("ip").chain(words.split_whitespace()).collect();
        self.command(&words).succeeded().stdout
    }

    /// Joins this machine and another by a cable.
    fn cable(&self, interface: &str, other: &Machine, others: &str) {
        self.ip(&format!("link add {interface} type veth peer name {others} netns {}", other.name));
        self.ip(&format!("link set {interface} up"));
        other.ip(&format!("link set {others} up"));
    }

    /// Brings a lab up on this machine.
    #[track_caller]
    fn up(&self, arguments: &[&str]) -> Lab {
        self.run(|| Lab::up(arguments))
    }

    /// What `ethbus up` with these arguments fails with on this machine.
    #[track_caller]
    fn up_fails(&self, code: i32, arguments: &[&str], words: &[&str]) {
        let name = fresh_name();
        self.run(|| run(ethbus(["up", "--name", &name].iter().chain(arguments)))).failed_with(code, words);
        crate::common::lab::assert_nothing_of(&name);
    }

    /// The settings of an interface that lending it must not change.
    fn interface(&self, name: &str) -> Vec<String> {
        let details = ["-d", "-o", "link", "show", "dev", name];
        let details = self.command(&[&["ip"][..], &details].concat()).succeeded().stdout;
        // The number of promiscuous users, and frames on their way, are no settings.
        let addresses = self.ip(&format!("-o address show dev {name} scope global"));
        let routes = self.ip("route show table all") + &self.ip("-6 route show table all");
        let mut lines: Vec<String> =
            details.lines().chain(addresses.lines()).chain(routes.lines()).map(str::to_owned).collect();
        lines.retain(|line| !line.contains("fe80::") && !line.contains("ff00::"));
        lines
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // A namespace that cannot be removed shows in .ci/run, which looks for traces of tests.
        let _ = Namespace::remove_named(&self.name, self.namespace.identity());
    }
}

/// Two machines with a cable; the first has settings on its interface as an administrator might make them.
fn machine_with_eth1() -> (Machine, Machine) {
    let (home, far) = (Machine::new(), Machine::new());
    home.cable("eth1", &far, "far0");
    for words in [
        "link set eth1 mtu 1400",
        "address add 192.0.2.1/24 dev eth1",
        "address add fd00:1::1/64 dev eth1 nodad",
        "route add 198.51.100.0/24 via 192.0.2.2 metric 7",
    ] {
        home.ip(words);
    }
    far.ip("address add 10.77.0.99/16 dev far0");
    wait_until(PATIENCE, "the cable", || home.ip("link show dev eth1").contains("LOWER_UP"));
    // The kernel takes an IPv6 address into use a while after the cable is there.
    let is_in_use = |line: &String| line.starts_with("local fd00:1::1 ");
    wait_until(PATIENCE, "the address", || home.interface("eth1").iter().any(is_in_use));
    (home, far)
}

/// A scenario file in a folder of its own.
fn scenario(text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("lab.toml");
    std::fs::write(&path, text).expect("own folder");
    (folder, path)
}

/// Pings once, from a machine that is not one of the lab's own stations.
#[track_caller]
fn ping(machine: &Machine, address: &str) {
    machine.command(&["ping", "-c", "1", "-W", "5", address]).succeeded();
}

/// Megabits a second of one TCP stream from `from` to a server in the station `st1`.
#[track_caller]
fn tcp(lab: &Lab, from: impl FnOnce(&[&str]) -> Finished) -> f64 {
    let address = lab.ipv4("st1");
    let mut server = Running::start(lab.exec("st1", &["iperf3", "-s", "-1", "--forceflush"]), "");
    wait_until(PATIENCE, "the server", || server.stdout().contains("listening"));
    let told = from(&["iperf3", "-c", &address, "-t", "2", "-J"]).json();
    wait_until(PATIENCE, "the server's end", || server.has_ended());
    let bits = &told["end"]["sum_received"]["bits_per_second"];
    let rate = bits.as_f64().unwrap_or_else(|| panic!("no rate in {told}")) / 1e6;
    crate::common::note(&format!("iperf3 from outside at 10 Mb/s: {rate:.2} Mb/s"));
    rate
}

/// For any stream, every frame was one that the medium carries, and had a receiver.
#[track_caller]
fn check_stream(before: &Value, after: &Value, outside: &str) {
    check(after);
    assert_eq!(number(station(after, outside), "too_long"), 0, "{after}");
    assert_eq!(after["emulator"]["oversized"], 0, "{after}");
    assert!(grown(before, after, outside, "frames_transmitted_ok") > 100, "{after}");
    assert!(grown(before, after, outside, "frames_received_ok") > 100, "acknowledgements are for {outside}: {after}");
}

/// Frames that the kernel dropped where a station leads outside.
#[track_caller]
fn lost_outside(results: &Value, station: &str) -> u64 {
    let links = results["emulator"]["links"].as_array().expect("a list");
    number(links.iter().find(|link| link["station"] == station).expect("its link"), "lost_outside")
}

/// An interface is lent, works as a station with everything behind it, and is given back unchanged: name, index, MTU,
/// addresses, routes. Its far end is another kernel with its offloads on, so its TCP hands over more than a frame at a
/// time.
#[test]
fn an_attached_interface_is_a_station_and_comes_back_as_it_was() {
    if skipped(&["ip", "ping", "iperf3"]) {
        return;
    }
    let _turn = Turn::shared();
    let (home, far) = machine_with_eth1();
    let before = home.interface("eth1");
    let mut lab = home.up(&["--stations", "2", "--attach", "eth1"]);
    assert!(lab.greeting().contains("1 route\n") && lab.greeting().contains("2 addresses"), "{}", lab.greeting());
    assert!(!home.ip("link").contains("eth1"));
    ping(&far, &lab.ipv4("st1"));
    lab.ping("st2", "10.77.0.99");
    let results = lab.settled_stats();
    assert_eq!(lost_outside(&results, "eth1"), 0, "what it dropped before it was lent is not the lab's");
    let rate = tcp(&lab, |words| far.command(words));
    assert!((1.0..10.0).contains(&rate), "{rate} Mb/s");
    check_stream(&results, &lab.settled_stats(), "eth1");
    home.up_fails(
        1,
        &["--stations", "1", "--attach", "eth1"],
        &["eth1", "is lent to the lab", &lab.name, "ethbus down"],
    );
    lab.down();
    lab.assert_nothing_left();
    assert_eq!(home.interface("eth1"), before);
}

/// After SIGKILL of the supervisor, `down` gives it back, wherever it is called, and so does the next `up`.
#[test]
fn a_killed_lab_gives_its_interface_back() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let (home, far) = machine_with_eth1();
    let before = home.interface("eth1");
    let mut lab = home.up(&["--stations", "1", "--attach", "eth1"]);
    lab.lose_supervisor();
    assert!(!home.ip("link").contains("eth1"));
    let told = run(lab.ethbus("down", &[]));
    told.failed_with(1, &["left behind"]);
    assert!(!told.stderr.contains("warning"), "{told:#?}");
    lab.assert_nothing_left();
    assert_eq!(home.interface("eth1"), before);
    home.run(|| lab.start(&["--stations", "1", "--attach", "eth1"]));
    lab.lose_supervisor();
    home.run(|| lab.start(&["--stations", "1", "--attach", "eth1"]));
    assert!(lab.greeting().contains("removing what a killed lab"), "{}", lab.greeting());
    ping(&far, &lab.ipv4("st1"));
    // Not only the name keeps its namespace alive.
    run(program("ip", ["netns", "del", &lab.namespace_name("eth1")])).succeeded();
    lab.down();
    lab.assert_nothing_left();
    assert_eq!(home.interface("eth1"), before);
}

/// `add` once named addresses of the lab that nothing had: the interface has its own.
#[test]
fn an_interface_that_joins_has_no_address_of_the_lab() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let (home, _far) = machine_with_eth1();
    let before = home.interface("eth1");
    let mut lab = home.up(&["--stations", "1"]);
    let added = run(lab.ethbus("add", &["far", "--lend", "eth1", "--format", "json"])).json();
    assert_eq!((&added["name"], &added["addresses"]), (&Value::from("far"), &Value::Array(Vec::new())), "{added}");
    run(lab.ethbus("remove", &["far"])).succeeded();
    assert_eq!(home.interface("eth1"), before);
    lab.down();
    lab.assert_nothing_left();
}

/// The return of an interface may have been stopped half-way: then it is at home, without its settings.
#[test]
fn an_interface_that_came_back_half_way_is_made_what_it_was() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let (home, _far) = machine_with_eth1();
    let before = home.interface("eth1");
    let mut lab = home.up(&["--stations", "1", "--attach", "eth1"]);
    lab.lose_supervisor();
    let mut there = Netlink::in_namespace(&lab.namespace("eth1")).expect("a socket");
    let index = there.link_by_name("outside0").expect("a kernel that tells").expect("it is there").index;
    there.set_down(index).expect("root may");
    there.rename(index, "eth1").expect("root may");
    there.move_to(index, &home.namespace, None, None).expect("root may");
    assert_ne!(home.interface("eth1"), before);
    let told = run(lab.ethbus("down", &[]));
    told.failed_with(1, &["left behind"]);
    assert!(!told.stderr.contains("warning"), "{told:#?}");
    lab.assert_nothing_left();
    assert_eq!(home.interface("eth1"), before);
}

/// Without root a lab has rights over its own namespaces only, and says so.
#[test]
fn what_leads_outside_takes_root() {
    if skipped(&["ip"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let (home, _far) = machine_with_eth1();
    let (before, user, name) = (home.interface("eth1"), User::logged_in(), fresh_name());
    let (_folder, path) = scenario("[[station]]\n[[station]]\nkind = 'vxlan'\nremote = '192.0.2.2'\n");
    let public = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("own file");
    public(_folder.path(), 0o755);
    public(&path, 0o644);
    for leads_outside in [&["--stations", "1", "--attach", "eth1"][..], &[path.to_str().expect("plain")]] {
        let told = home.run(|| user.run(&[&["up", "--name", &name], leads_outside].concat()));
        told.failed_with(1, &["sudo ethbus up"]);
    }
    user.assert_nothing_left();
    assert_eq!(home.interface("eth1"), before);
}

/// Interfaces that could not be given back, or that the machine needs, are refused before anything is changed.
#[test]
fn interfaces_that_are_needed_are_not_taken() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let (home, _far) = machine_with_eth1();
    home.ip("route add default via 192.0.2.254");
    home.ip("link add br-lan type bridge");
    let before = home.interface("eth1");
    let attach = |name| ["--stations", "1", "--attach", name];
    home.up_fails(1, &attach("eth1"), &["eth1", "default route", "--even-default-route"]);
    home.up_fails(1, &attach("eth9"), &["eth9", "eth1", "br-lan"]);
    home.up_fails(1, &attach("br-lan"), &["br-lan", "kind = \"bridge\""]);
    home.up_fails(2, &attach("lo"), &["--lend", "loopback"]);
    assert_eq!(home.interface("eth1"), before);
    // An interface that was already taken when another was refused is given back.
    let both = [&attach("eth1")[..], &["--attach", "eth9", "--even-default-route"]].concat();
    home.up_fails(1, &both, &["eth9", "there is"]);
    assert_eq!(home.interface("eth1"), before);
    let mut lab = home.up(&[&attach("eth1")[..], &["--even-default-route"]].concat());
    lab.down();
    assert_eq!(home.interface("eth1"), before);
}

/// Pulling the cable out of the interface takes the station off the medium; plugging it in again puts it back.
#[test]
fn a_station_follows_the_link_of_its_interface() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let (home, far) = machine_with_eth1();
    let mut lab = home.up(&["--stations", "2", "--attach", "eth1"]);
    let attached = |lab: &Lab| station(&lab.stats(), "eth1")["attached"] == true;
    far.ip("link set far0 down");
    wait_until(PATIENCE, "eth1 off the medium", || !attached(&lab));
    far.ip("link set far0 up");
    wait_until(PATIENCE, "eth1 back on the medium", || attached(&lab));
    ping(&far, &lab.ipv4("st1"));
    // An interface that vanishes for good cannot be given back. That is reported, and does not keep anything else from
    // being removed.
    far.ip("link delete far0");
    wait_until(PATIENCE, "eth1 off the medium", || !attached(&lab));
    lab.ping("st1", &lab.ipv4("st2"));
    let told = lab.down();
    assert!(told.stderr.contains("eth1 is off the medium") && told.stderr.contains("nowhere to be found"), "{told:#?}");
    lab.assert_nothing_left();
}

fn mac_of(machine: &Machine, interface: &str) -> Option<link::MacAddr> {
    let link = machine.run(|| Netlink::open().and_then(|mut netlink| netlink.link_by_name(interface)));
    link.expect("a kernel that tells").map(|link| link.mac)
}

/// An existing bridge: every address behind it works, and afterwards it is unchanged, its own address included.
#[test]
fn a_bridge_leads_to_everybody_behind_it() {
    if skipped(&["ip", "ping", "iperf3"]) {
        return;
    }
    let _turn = Turn::shared();
    let (home, far, other) = (Machine::new(), Machine::new(), Machine::new());
    home.ip("link add br-lan type bridge");
    home.ip("link set br-lan up");
    for (machine, port, address) in [(&far, "p1", "10.77.0.98"), (&other, "p2", "10.77.0.99")] {
        home.cable(port, machine, "eth0");
        home.ip(&format!("link set {port} master br-lan"));
        machine.ip(&format!("address add {address}/16 dev eth0"));
    }
    let mac = mac_of(&home, "br-lan");
    let (_folder, path) = scenario("[[station]]\n[[station]]\nname = 'lan'\nkind = 'bridge'\nbridge = 'br-lan'\n");
    let arguments = [path.to_str().expect("plain")];
    let mut lab = home.up(&arguments);
    assert_eq!(mac_of(&home, "br-lan"), mac);
    ping(&far, &lab.ipv4("st1"));
    lab.ping("st1", "10.77.0.99");
    let results = lab.settled_stats();
    let rate = tcp(&lab, |words| other.command(words));
    assert!((1.0..10.0).contains(&rate), "{rate} Mb/s");
    check_stream(&results, &lab.settled_stats(), "lan");
    run(lab.exec("lan", &["true"])).failed_with(1, &["lan has no namespace of the lab's own to enter"]);
    lab.down();
    lab.assert_nothing_left();
    assert!(!home.ip("link").contains("ethbus0"), "{}", home.ip("link"));
    assert_eq!(mac_of(&home, "br-lan"), mac);
    ping(&far, "10.77.0.99");
    home.up_fails(
        1,
        &[scenario_with(&_folder, "bridge = 'br-wan'").to_str().expect("plain")],
        &["br-wan", "but br-lan"],
    );
    home.up_fails(1, &[scenario_with(&_folder, "bridge = 'p1'").to_str().expect("plain")], &["p1", "is no bridge"]);
}

/// A bridge without ports keeps its address while it is lent, and afterwards (issue 12, 1).
#[test]
fn an_empty_bridge_keeps_its_address() {
    if skipped(&["ip"]) {
        return;
    }
    let (_turn, home) = (Turn::shared(), Machine::new());
    home.ip("link add br-lan type bridge");
    home.ip("link set br-lan up");
    let mac = mac_of(&home, "br-lan");
    assert!(mac.is_some_and(|mac| mac != link::MacAddr::zero()));
    let (_folder, path) = scenario("[[station]]\n[[station]]\nname = 'lan'\nkind = 'bridge'\nbridge = 'br-lan'\n");
    let mut lab = home.up(&[path.to_str().expect("plain")]);
    assert_eq!(mac_of(&home, "br-lan"), mac);
    lab.down();
    assert_eq!(mac_of(&home, "br-lan"), mac);
}

/// Static neighbours come back; an interface with a queueing discipline of its own, which would be lost, is not taken
/// (issue 12, 1).
#[test]
fn what_an_interface_would_lose_comes_back_or_keeps_it_from_being_lent() {
    if skipped(&["ip", "tc"]) {
        return;
    }
    let _turn = Turn::shared();
    let (home, _far) = machine_with_eth1();
    let arguments = ["--stations", "1", "--attach", "eth1"];
    for (set, unset, words) in [
        (
            "tc qdisc add dev eth1 root handle 5: tbf rate 1mbit burst 5kb latency 50ms",
            "tc qdisc del dev eth1 root",
            "tbf 5:",
        ),
        ("tc qdisc add dev eth1 clsact", "tc qdisc del dev eth1 clsact", "clsact ffff:"),
    ] {
        home.command(&set.split(' ').collect::<Vec<_>>()).succeeded();
        home.up_fails(1, &arguments, &["eth1", words, "tc qdisc del dev eth1"]);
        home.command(&unset.split(' ').collect::<Vec<_>>()).succeeded();
    }
    home.ip("neigh add 192.0.2.7 lladdr 02:00:00:00:00:07 dev eth1 nud permanent");
    home.ip("-6 neigh add fd00:1::7 lladdr 02:00:00:00:00:07 dev eth1 nud permanent");
    let neighbours = || home.ip("neigh show dev eth1 nud permanent") + &home.ip("-6 neigh show dev eth1 nud permanent");
    let (before, interface) = (neighbours(), home.interface("eth1"));
    assert!(before.contains("192.0.2.7") && before.contains("fd00:1::7"), "{before}");
    let mut lab = home.up(&arguments);
    lab.down();
    assert_eq!((neighbours(), home.interface("eth1")), (before, interface));
}

/// A user with all rights in the station, and none at home, cannot get an interface moved there by giving it the name
/// of the lent one (issue 12, 1).
#[test]
fn another_interface_in_the_place_of_a_lent_one_is_not_given_back() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let (home, other) = (Machine::new(), Machine::new());
    // Its other end is at home, where the station's users have no right.
    home.ip("link add eth1 type veth peer name eth2");
    home.ip("link set eth1 up");
    home.ip("link set eth2 up");
    let mut lab = home.up(&["--stations", "1", "--attach", "eth1"]);
    let station = lab.namespace_name("eth1");
    let ip = |words: &str| home.ip(&format!("-n {station} {words}"));
    ip("link set outside0 down");
    ip(&format!("link set outside0 netns {}", other.name));
    ip("link add outside0 type veth peer name mine");
    let down = run(lab.ethbus("down", &[]));
    let ended = lab.ended();
    assert!(ended.stderr.contains("is not `eth1`"), "{down:#?} {ended:#?}");
    assert!(mac_of(&home, "eth1").is_none(), "{}", home.ip("link"));
    // Once it is away, the rest is removed.
    ip("link delete outside0");
    run(lab.ethbus("down", &[])).succeeded();
    lab.assert_nothing_left();
}

/// A scenario with one station that is a bridge, and this key.
fn scenario_with(folder: &tempfile::TempDir, key: &str) -> PathBuf {
    let path = folder.path().join("other.toml");
    std::fs::write(&path, format!("[[station]]\nname = 'up1'\nkind = 'bridge'\n{key}\n")).expect("own folder");
    path
}

/// A bridge that ethbus makes has the station's name, joins this machine itself with the medium, and is gone
/// afterwards, killed or not; an existing bridge of that name is left alone.
#[test]
fn a_bridge_that_the_lab_made_is_removed_with_it() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let home = Machine::new();
    let (_folder, path) = scenario("[[station]]\n[[station]]\nname = 'uplink'\nkind = 'bridge'\n");
    let arguments = [path.to_str().expect("plain")];
    let mut lab = home.up(&arguments);
    home.ip(&format!("address add {}/16 dev uplink", lab.ipv4("uplink")));
    ping(&home, &lab.ipv4("st1"));
    assert!(number(station(&lab.settled_stats(), "uplink"), "frames_received_ok") > 0);
    lab.lose_supervisor();
    run(lab.ethbus("down", &[])).failed_with(1, &["left behind"]);
    lab.assert_nothing_left();
    assert!(!home.ip("link").contains("uplink") && !home.ip("link").contains("ethbus0"), "{}", home.ip("link"));
    home.ip("link add uplink type bridge");
    home.up_fails(1, &arguments, &["uplink", "exists already", "bridge = \"uplink\""]);
    assert!(home.ip("link").contains("uplink"));
}

/// Two machines, a cable between them, and a lab on the first with a station on the second: by the commands that `up`
/// prints for the second, and the kernel's own VXLAN.
struct Tunnel {
    home: Machine,
    far: Machine,
    lab: Lab,
}

impl Tunnel {
    #[track_caller]
    fn dig(mtu: u32) -> Tunnel {
        let (home, far) = (Machine::new(), Machine::new());
        home.cable("wan", &far, "wan");
        for (machine, address) in [(&home, "192.0.2.1"), (&far, "192.0.2.2")] {
            machine.ip(&format!("address add {address}/24 dev wan"));
            machine.ip(&format!("link set wan mtu {mtu}"));
        }
        let (_folder, path) = scenario(
            "[[station]]\n[[station]]\n[[station]]\nname = 'far'\nkind = 'vxlan'\nremote = '192.0.2.2'\nvni = 77\n",
        );
        let lab = home.up(&[path.to_str().expect("plain")]);
        let commands = lab.greeting().lines().filter_map(|line| line.trim().strip_prefix("sudo ip "));
        let typed: Vec<&str> = commands.collect();
        assert_eq!(typed.len(), 4, "{}", lab.greeting());
        typed.iter().for_each(|words| drop(far.ip(words)));
        Tunnel { home, far, lab }
    }
}

/// The station on the other machine is pinged, pings, and speaks TCP. The largest frames cross an underlay without room
/// for the outer header. Frames are lost only while the underlay is gone.
#[test]
fn a_station_on_another_machine_is_joined_by_a_tunnel() {
    if skipped(&["ip", "ping", "iperf3"]) {
        return;
    }
    let _turn = Turn::shared();
    let Tunnel { home, far, mut lab } = Tunnel::dig(1500);
    ping(&far, &lab.ipv4("st1"));
    lab.ping("st2", &lab.ipv4("far"));
    lab.ping("st2", &lab.ipv6("far"));
    // 1472 octets make the longest frame, 1518; the inner packet must not be fragmented, so the outer packet is two.
    let largest = ["ping", "-c", "2", "-i", "0.2", "-W", "5", "-s", "1472", "-M", "dont"];
    run(lab.exec("st1", &[&largest[..], &[&lab.ipv4("far")]].concat())).succeeded();
    let results = lab.settled_stats();
    let links = results["emulator"]["links"].as_array().expect("links");
    let link = |name: &str| links.iter().find(|link| link["station"] == name).expect("each station has one");
    assert!(number(link("far"), "tunnel_round_trip_ns") > 0);
    assert!(link("st1")["tunnel_round_trip_ns"].is_null(), "{links:#?}");
    assert!(run(lab.ethbus("stats", &[])).succeeded().stdout.contains("ms to the machine of far and back"));
    let rate = tcp(&lab, |words| far.command(words));
    assert!((1.0..10.0).contains(&rate), "{rate} Mb/s");
    check_stream(&results, &lab.settled_stats(), "far");
    home.ip("link set wan down");
    let before = lost_outside(&lab.stats(), "far");
    let lost = run(lab.exec("st1", &["ping", "-c", "1", "-W", "1", &lab.ipv4("far")]));
    assert_eq!(lost.code(), Some(1), "{lost:#?}");
    assert!(lost_outside(&lab.stats(), "far") > before, "what has no way to the other machine is counted");
    home.ip("link set wan up");
    lab.ping("st1", &lab.ipv4("far"));
    // The number of a tunnel is free again as soon as `down` has returned.
    let (_folder, path) = scenario("[[station]]\n[[station]]\nkind = 'vxlan'\nremote = '192.0.2.2'\nvni = 77\n");
    home.up_fails(1, &[path.to_str().expect("plain")], &["vni 77", "UDP port 4789", "choose another"]);
    lab.down();
    lab.assert_nothing_left();
    let mut again = home.up(&[path.to_str().expect("plain")]);
    again.lose_supervisor();
    run(again.ethbus("down", &[])).failed_with(1, &["left behind"]);
    again.assert_nothing_left();
    home.up(&[path.to_str().expect("plain")]).down();
}

/// Frames are carried unchanged. The path between a station and the bus neither inspects IP nor drops invalid packets
/// (a bridge of a kernel with netfilter does by default), nor keeps a bridge's own group addresses to itself.
#[test]
fn odd_frames_from_outside_reach_the_medium() {
    if skipped(&["ip"]) {
        return;
    }
    let _turn = Turn::shared();
    let (home, far) = machine_with_eth1();
    let mut lab = home.up(&["--stations", "1", "--attach", "eth1"]);
    let mut socket = StationSocket::open(&far.namespace, "far0", EXPERIMENTAL_ETHERTYPE).expect("a socket");
    let mut heard = StationSocket::open_promiscuous(&lab.namespace("st1"), INTERFACE).expect("a socket");
    // IPv4, with a header checksum that is wrong.
    let malformed = [0x08, 0x00, 0x45, 0, 0, 46, 0, 1, 0, 0, 64, 253, 0x12, 0x34, 192, 0, 2, 1, 192, 0, 2, 2];
    let mut frame = [[0xff; 6], [2, 0, 0, 0, 0, 9]].concat();
    frame.extend(malformed);
    frame.resize(60, 0);
    let mut frames = vec![frame.clone()];
    // All except that of PAUSE, which the kernel lets no bridge pass on.
    frames.extend((0..=16).filter(|last| *last != 1).map(|last| {
        let mut frame = frame.clone();
        frame[..6].copy_from_slice(&[0x01, 0x80, 0xc2, 0, 0, last]);
        frame[12..14].copy_from_slice(&EXPERIMENTAL_ETHERTYPE.to_be_bytes());
        frame
    }));
    frames.iter().for_each(|frame| socket.send(frame).expect("a link that is up"));
    let (mut buffer, begin) = ([0; 2048], Instant::now());
    while !frames.is_empty() {
        assert!(begin.elapsed() < PATIENCE, "not heard: {frames:02x?}");
        let arrived = heard.receive(Some(Duration::from_millis(100)), &mut buffer).expect("a socket");
        let octets = arrived.map_or(&[][..], |arrived| &buffer[..arrived.octets]);
        frames.retain(|frame| frame != octets);
    }
    lab.down();
}
