//! A network of CNI is a lab. Containers are namespaces with names here, and Debian's `host-local` gives addresses.

use super::containers::Named;
use crate::common::lab::{Lab, Unused, assert_nothing_of, namespaces_of};
use crate::common::process::{Finished, Running, ethbus, program, run};
use crate::common::results::{check, number, station};
use crate::common::{Turn, skip, skipped};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;

/// Where Debian's package `containernetworking-plugins` has its programs.
const PLUGINS: &str = "/usr/lib/cni";

/// A network's configuration, and what its calls leave on this machine.
struct Network {
    lab: Unused,
    leases: TempDir,
    config: Value,
}

impl Network {
    /// A network with addresses of `host-local` and these members.
    fn new(members: Value) -> Network {
        let (lab, leases) = (Unused::name(), tempfile::tempdir().expect("a folder"));
        let mut config = json!({
            "cniVersion": "1.0.0", "name": lab.0, "type": "ethbus",
            "ipam": {"type": "host-local", "dataDir": leases.path(), "ranges": [[{"subnet": "10.9.0.0/24"}]],
                     "routes": [{"dst": "0.0.0.0/0"}]},
        });
        members.as_object().expect("members").iter().for_each(|(key, value)| config[key] = value.clone());
        Network { lab, leases, config }
    }

    /// A call of the plugin, as a runtime makes it; `more` are members that the runtime adds to the network.
    fn call(&self, command: &str, container: &str, netns: &str, more: &Value) -> Finished {
        let mut config = self.config.clone();
        more.as_object().into_iter().flatten().for_each(|(key, value)| config[key] = value.clone());
        let mut plugin = ethbus([""; 0]);
        plugin.env("CNI_COMMAND", command).env("CNI_CONTAINERID", container).env("CNI_IFNAME", "eth0");
        plugin.env("CNI_NETNS", netns).env("CNI_PATH", PLUGINS);
        Running::start(plugin, &config.to_string()).wait()
    }

    /// A call about a container in a namespace with a name.
    fn about(&self, command: &str, container: &Named) -> Finished {
        self.call(command, &container.0, &netns(container), &Value::Null)
    }

    /// Neither a lab nor a note nor an address is left.
    #[track_caller]
    fn assert_nothing_left(&self) {
        assert_nothing_of(&self.lab.0);
        let notes = Path::new("/run/ethbus-cni").join(&self.lab.0);
        assert!(!notes.exists(), "{notes:?} is left");
        let leases = std::fs::read_dir(self.leases.path().join(&self.lab.0)).into_iter().flatten().flatten();
        let leases: Vec<_> = leases.map(|entry| entry.file_name()).filter(|name| name != "lock").collect();
        let taken = |name: &&std::ffi::OsString| name.to_string_lossy().starts_with("10.9.");
        assert_eq!(leases.iter().find(taken), None, "an address is left");
    }
}

fn netns(container: &Named) -> String {
    format!("/var/run/netns/{}", container.0)
}

/// Whether Debian's plugins are missing here; prints so.
fn without_plugins() -> bool {
    let there = Path::new(PLUGINS).join("host-local").is_file();
    if !there {
        skip("needs host-local of the package containernetworking-plugins");
    }
    !there
}

/// The error that a runtime reads.
#[track_caller]
fn refused(call: &Finished, code: u64, words: &str) {
    assert_eq!(call.code(), Some(1), "{call:#?}");
    let error: Value = serde_json::from_str(&call.stdout).expect("an error object");
    assert_eq!((&error["code"], &error["cniVersion"]), (&json!(code), &json!("1.0.0")), "{error}");
    assert!(error["msg"].as_str().expect("a text").contains(words), "no `{words}` in {error}");
}

/// The life of a network: it begins with the first container, and ends with the last one.
#[test]
fn a_network_is_a_lab_from_its_first_container_to_its_last() {
    if skipped(&["ip", "ping", "nsenter"]) || without_plugins() {
        return;
    }
    let _turn = Turn::shared();
    let scenario = json!({"capacity": 8, "access": {"method": "plca"}, "medium": {"topology": "bus:25m"}});
    let network = Network::new(json!({ "scenario": scenario }));
    let version = network.call("VERSION", "", "", &Value::Null).json();
    assert!(version["supportedVersions"].as_array().expect("versions").contains(&json!("1.1.0")), "{version}");
    network.call("STATUS", "", "", &Value::Null).succeeded();
    assert_nothing_of(&network.lab.0);

    let containers = [Named::new(), Named::new()];
    let added = containers.each_ref().map(|container| network.about("ADD", container).json());
    for (result, (container, last)) in added.iter().zip(containers.iter().zip([2, 3])) {
        assert_eq!(result["ips"][0]["address"], json!(format!("10.9.0.{last}/24")), "{result}");
        assert_eq!(result["ips"][0]["interface"], json!(0), "{result}");
        let interface = &result["interfaces"][0];
        assert_eq!((&interface["name"], &interface["sandbox"]), (&json!("eth0"), &json!(netns(container))));
        let mac = run(container.command("cat /sys/class/net/eth0/address")).succeeded().stdout;
        assert_eq!(interface["mac"], json!(mac.trim()));
        let routes = run(container.command("ip route")).succeeded().stdout;
        assert!(routes.contains("default via 10.9.0.1 dev eth0"), "{routes}");
        let check = network.call("CHECK", &container.0, &netns(container), &json!({ "prevResult": result }));
        check.succeeded();
    }
    run(containers[0].command("ping -c 1 -W 5 10.9.0.3")).succeeded();
    let results = run(ethbus(["stats", "--name", &network.lab.0, "--format", "json"])).json();
    let names: Vec<&str> =
        results["stations"].as_array().expect("stations").iter().flat_map(|it| it["name"].as_str()).collect();
    assert_eq!(names.len(), 2, "{results}");
    names.iter().for_each(|name| assert!(number(station(&results, name), "frames_transmitted_ok") > 0, "{results}"));

    refused(&network.about("ADD", &containers[0]), 100, "already");
    let wrong = network.call("CHECK", &containers[0].0, &netns(&containers[0]), &json!({ "prevResult": added[1] }));
    refused(&wrong, 101, "MAC address");
    check_finds_what_is_missing(&network, &containers[0], &added[0]);
    network.about("DEL", &containers[0]).succeeded();
    network.about("DEL", &containers[0]).succeeded();
    refused(&network.about("CHECK", &containers[0]), 101, "is no station");
    let links = run(containers[0].command("ip -o link")).succeeded().stdout;
    assert!(!links.contains("eth0"), "{links}");
    // The runtime knows of the second container, and then of none.
    let valid = json!([{"containerID": containers[1].0, "ifname": "eth0"}]);
    network.call("GC", "", "", &json!({ "cni.dev/valid-attachments": valid })).succeeded();
    assert!(!namespaces_of(&network.lab.0).is_empty(), "the lab is up for the second container");
    network.call("GC", "", "", &json!({ "cni.dev/valid-attachments": [] })).succeeded();
    network.assert_nothing_left();
}

/// CHECK fails with what a container lost of what ADD gave it, one loss after the other.
fn check_finds_what_is_missing(network: &Network, container: &Named, added: &Value) {
    refused(&network.about("CHECK", container), 7, "prevResult");
    let check = || network.call("CHECK", &container.0, &netns(container), &json!({ "prevResult": added }));
    let mac = added["interfaces"][0]["mac"].as_str().expect("a MAC address");
    for (lose, give, words) in [
        ("ip route delete default", "ip route add default via 10.9.0.1", "no route to 0.0.0.0/0"),
        (
            "ip address flush dev eth0",
            "ip address add 10.9.0.2/24 dev eth0; ip route add default via 10.9.0.1",
            "no address 10.9.0.2/24",
        ),
        (
            "ip link set eth0 address 02:00:00:00:00:99",
            &format!("ip link set eth0 address {mac}"),
            "the MAC address 02:00:00:00:00:99",
        ),
        ("ip link set eth0 down", "ip link set eth0 up; ip route add default via 10.9.0.1", "is down"),
    ] {
        run(container.command(lose)).succeeded();
        refused(&check(), 101, words);
        give.split("; ").for_each(|give| drop(run(container.command(give)).succeeded()));
        check().succeeded();
    }
    for lose in ["ip link set eth0 down", "ip link set eth0 name eth7"] {
        run(container.command(lose)).succeeded();
    }
    refused(&check(), 101, "is not there");
}

/// What a runtime asks for beside an interface is met, or refused by its name and leaves nothing.
#[test]
fn wishes_are_met_or_refused() {
    if skipped(&["ip", "nsenter"]) || without_plugins() {
        return;
    }
    let _turn = Turn::shared();
    let container = Named::new();
    let wishes = json!({"runtimeConfig": {"mac": "02:00:00:00:00:77"}, "dns": {"nameservers": ["10.9.0.1"]}});
    for version in ["0.3.0", "0.3.1", "0.4.0", "1.0.0"] {
        let network = Network::new(json!({ "scenario": {}, "cniVersion": version }));
        let added = network.call("ADD", &container.0, &netns(&container), &wishes).json();
        let mac = run(container.command("cat /sys/class/net/eth0/address")).succeeded().stdout;
        assert_eq!((mac.trim(), &added["cniVersion"]), ("02:00:00:00:00:77", &json!(version)));
        assert_eq!(added["dns"]["nameservers"][0], "10.9.0.1", "{added}");
        // Before 1.0.0 an address says its family.
        let family = if version < "1.0.0" { json!("4") } else { Value::Null };
        assert_eq!(added["ips"][0]["version"], family, "{added}");
        let check = network.call("CHECK", &container.0, &netns(&container), &json!({ "prevResult": added }));
        match version {
            "0.3.0" | "0.3.1" => assert!(check.stdout.contains("has no CHECK"), "{check:?}"),
            _ => drop(check.succeeded()),
        }
        network.about("DEL", &container).succeeded();
        network.assert_nothing_left();
    }
    let network = Network::new(json!({ "scenario": {} }));
    for (wish, words) in [
        (json!({"runtimeConfig": {"portMappings": [{"hostPort": 8089, "containerPort": 80}]}}), "portMappings"),
        (json!({"ipMasq": true}), "ipMasq"),
        (json!({"args": {"cni": {"mac": "not-a-mac"}}}), "args.cni.mac: `not-a-mac`"),
    ] {
        refused(&network.call("ADD", &container.0, &netns(&container), &wish), 7, words);
        network.assert_nothing_left();
    }
}

/// host-local 1.1.1 knows no specification 1.1.0: GC says that the address is that plugin's, and whose it is; the next GC frees it.
#[test]
fn gc_says_whose_address_stays() {
    if skipped(&["ip", "nsenter"]) || without_plugins() {
        return;
    }
    let _turn = Turn::shared();
    let (network, container) = (Network::new(json!({ "scenario": {} })), Named::new());
    network.about("ADD", &container).succeeded();
    let collect =
        |version: &str| network.call("GC", "", "", &json!({ "cni.dev/valid-attachments": [], "cniVersion": version }));
    let collected = collect("1.1.0");
    if collected.code() != Some(0) {
        let whose = format!("host-local, DEL of {} eth0: ", container.0);
        assert!(collected.stdout.contains(&whose), "no `{whose}` in {collected:?}");
        collect("1.0.0").succeeded();
    }
    network.assert_nothing_left();
}

/// A lab that a user brought up has the containers as guests, gives them addresses, and stays.
#[test]
fn containers_are_guests_of_a_lab_that_is_up() {
    if skipped(&["ip", "ping", "nsenter"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "1", "--capacity", "2"]);
    let network = Network::new(json!({ "lab": lab.name, "ipam": {} }));
    let container = Named::new();
    let added = network.about("ADD", &container).json();
    let address = added["ips"][0]["address"].as_str().expect("an address").split('/').next().expect("one").to_owned();
    lab.ping("st1", &address);
    refused(&network.call("ADD", "another", &netns(&container), &Value::Null), 100, "places are taken");
    network.about("DEL", &container).succeeded();
    // The only place for guests has the name of one that left.
    let named = |result: &Value| result["interfaces"][0]["mac"].clone();
    let second = network.call("ADD", "another", &netns(&container), &Value::Null).json();
    assert_eq!(named(&second), named(&added), "it is the same place");
    network.call("DEL", "another", &netns(&container), &Value::Null).succeeded();
    check(&lab.settled_stats());
    lab.down().succeeded();
    lab.assert_nothing_left();
    network.assert_nothing_left();
    refused(&network.about("ADD", &container), 100, "bring it up with `ethbus up");
    refused(&network.call("STATUS", "", "", &Value::Null), 50, "no lab");
    network.assert_nothing_left();
}

/// What cannot be made leaves no lab, no note and no address.
#[test]
fn a_container_that_cannot_be_added_leaves_nothing() {
    if skipped(&["ip", "nsenter"]) || without_plugins() {
        return;
    }
    let _turn = Turn::shared();
    let container = Named::new();
    let works = json!({ "scenario": {} });
    for (members, netns, code, words) in [
        (works.clone(), "/var/run/netns/none-such", 100, "none-such"),
        (json!({ "scenario": {"access": {"method": "plcb"}} }), &netns(&container), 7, "plcb"),
        (json!({ "scenario": {"medium": {"rat": "10M"}} }), &netns(&container), 7, "rat"),
        (json!({ "scenario": {}, "ipam": {"type": "none-such"} }), &netns(&container), 7, "none-such"),
        (json!({ "scenario": {}, "lab": "../x" }), &netns(&container), 7, "../x"),
    ] {
        let network = Network::new(members);
        refused(&network.call("ADD", &container.0, netns, &Value::Null), code, words);
        network.assert_nothing_left();
    }
    let taken = program("ip", ["-n", &container.0, "link", "add", "eth0", "type", "veth", "peer", "name", "eth9"]);
    run(taken).succeeded();
    let network = Network::new(works);
    refused(&network.about("ADD", &container), 100, "eth0");
    network.assert_nothing_left();
}
