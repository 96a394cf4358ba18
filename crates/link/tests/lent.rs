//! An interface that is lent comes back unchanged, even after changes in the lab.

mod common;

use std::process::Command;

use common::{say_skipped, skipped};
use link::MacAddr;
use link::lent::{LendError, Lent};
use link::namespace::Namespace;
use link::netlink::Netlink;

/// The name of the interface while it is lent.
const LENT: &str = "outside0";

/// A namespace with one end of a veth pair, `eth1`; the other end is in the second.
struct Home {
    home: Namespace,
    far: Namespace,
}

/// `None`, with a printed reason, where `ip` is missing.
fn home() -> Option<Home> {
    if Command::new("ip").arg("-V").output().is_err() {
        say_skipped("needs ip");
        return None;
    }
    let (home, far) = (Namespace::anonymous().unwrap(), Namespace::anonymous().unwrap());
    let mut netlink = Netlink::in_namespace(&home).unwrap();
    let mac = MacAddr::new(2, 0, 0, 0, 0, 1);
    let index = netlink.create_veth("eth1", &far, "far0", mac).unwrap().bus_index;
    netlink.set_up(index).unwrap();
    Netlink::in_namespace(&far).unwrap().set_up("far0").unwrap();
    Some(Home { home, far })
}

/// Runs `ip` in a namespace, once for each line.
fn ip(namespace: &Namespace, lines: &str) -> String {
    let run = |line: &str| {
        let output = Command::new("ip").args(line.split_whitespace()).output().expect("ip runs");
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    namespace.run(|| lines.lines().map(run).collect()).unwrap()
}

fn look(home: &Namespace) -> Result<Lent, LendError> {
    home.run(|| Lent::look("eth1", false)).unwrap()
}

const SETTINGS: &str = "link set eth1 mtu 1400 down
link set eth1 up
addr add 10.1.2.3/24 brd 10.1.2.200 dev eth1 label eth1:one
addr add 10.1.2.4/24 dev eth1
addr add 10.9.0.1 peer 10.9.0.2/32 dev eth1
addr add 10.4.0.1/16 dev eth1 noprefixroute
addr add 10.5.0.1/16 dev eth1 valid_lft 5000 preferred_lft 4000
addr add fd00:1::5/64 dev eth1 nodad
route add 10.20.0.0/16 via 10.1.2.77 metric 17 mtu 1300
route add 10.21.0.0/16 dev eth1 scope link src 10.1.2.4
route add 10.22.0.0/16 via 10.1.2.78 table 300 proto 42
-6 route add fd00:2::/64 via fd00:1::99 metric 5
-6 route add fd00:3::/64 dev eth1 src fd00:1::5";

#[test]
fn a_lent_interface_comes_back_as_it_was() {
    let Some(Home { home, far: _far }) = (if skipped() { None } else { home() }) else { return };
    ip(&home, SETTINGS);
    let write = |file: &'static str, value: &'static str| {
        home.run(move || std::fs::write(format!("/proc/sys/net/{file}"), value)).unwrap().unwrap();
    };
    write("ipv4/conf/eth1/rp_filter", "2");
    write("ipv6/conf/eth1/accept_ra", "0");
    write("ipv4/neigh/eth1/base_reachable_time_ms", "12345");
    let before = look(&home).unwrap();
    assert!((before.addresses.len(), before.routes.len()) == (6, 5), "{before:?}");
    let shown = |namespace| ip(namespace, "-o addr show dev eth1\nroute show table all\n-6 route show table all");
    let text = shown(&home);

    let lab = Namespace::anonymous().unwrap();
    home.run(|| before.take(&lab, LENT)).unwrap().unwrap();
    assert!(before.is_in(&lab, LENT, None).unwrap() && before.find_at(&home).unwrap().is_none());
    let link = Netlink::in_namespace(&lab).unwrap().link_by_name(LENT).unwrap().unwrap();
    assert_eq!((link.mac.octets(), link.up), (before.mac, false));
    // The borrower changes it, and another interface takes its name there.
    ip(
        &lab,
        "link set outside0 mtu 9000 address 02:00:00:00:00:77 up\nlink add eth1 type bridge\nlink set outside0 master eth1",
    );
    assert_eq!(before.give_back(&lab, LENT, &home).unwrap(), Vec::<String>::new());

    let after = look(&home).unwrap();
    let lifeless = |lent: &Lent| Lent { addresses: Vec::new(), routes: Vec::new(), noted: 0, ..lent.clone() };
    assert_eq!(lifeless(&after), lifeless(&before));
    assert_eq!((after.addresses.len(), after.routes.len()), (6, 5));
    // All lines except those that count seconds, and the address that the kernel adds itself, which it may still be
    // testing.
    let plain = |text: &str| -> Vec<String> {
        let mut lines: Vec<String> = text
            .lines()
            .filter(|line| !line.contains("fe80::") && !line.contains("ff00::"))
            .map(|line| line.replace(" linkdown", "").trim().to_owned())
            .map(|line| {
                if line.contains("valid_lft 5000sec") || line.contains("valid_lft 499") {
                    line[..40].to_owned()
                } else {
                    line
                }
            })
            .collect();
        lines.sort();
        lines
    };
    assert_eq!(plain(&shown(&home)), plain(&text));
}

/// An interface that was down stays down; one that was a port of a bridge is one again; one whose name is taken gets
/// another.
#[test]
fn the_state_the_bridge_and_the_name_are_looked_after() {
    let Some(Home { home, far: _far }) = (if skipped() { None } else { home() }) else { return };
    ip(&home, "link add br-lan type bridge\nlink set eth1 master br-lan down");
    let before = look(&home).unwrap();
    assert_eq!((before.bridge.as_deref(), before.up), (Some("br-lan"), false));
    let lab = Namespace::anonymous().unwrap();
    home.run(|| before.take(&lab, LENT)).unwrap().unwrap();
    assert_eq!(before.give_back(&lab, LENT, &home).unwrap(), Vec::<String>::new());
    let after = look(&home).unwrap();
    assert_eq!(Lent { noted: before.noted, ..after }, before);

    home.run(|| before.take(&lab, LENT)).unwrap().unwrap();
    ip(&home, "link add eth1 type bridge\nlink del br-lan");
    let troubles = before.give_back(&lab, LENT, &home).unwrap();
    let spare = format!("lent{}", before.index);
    assert_eq!(troubles.len(), 2, "{troubles:?}");
    assert!(troubles[0].contains("br-lan") && troubles[1].contains(&format!("called {spare}")), "{troubles:?}");
    // Its name is free again: another restore gives the name back.
    ip(&home, "link del eth1\nlink add br-lan type bridge");
    let index = Netlink::in_namespace(&home).unwrap().link_by_name(&spare).unwrap().unwrap().index;
    assert_eq!(before.restore(&home, index).unwrap(), Vec::<String>::new());
    assert_eq!(Lent { noted: before.noted, ..look(&home).unwrap() }, before);
}

/// Hardware whose namespace vanishes falls to the first one, under the name `dev` and its index if its own is taken there.
#[test]
fn hardware_that_fell_to_the_first_namespace_is_found_and_made_what_it_was() {
    let Some(Home { home, far: _far }) = (if skipped() { None } else { home() }) else { return };
    ip(&home, "addr add 10.1.2.3/24 dev eth1");
    let before = Lent { hardware: true, ..look(&home).unwrap() };
    ip(&home, "link set eth1 down\naddr flush dev eth1");
    ip(&home, &format!("link set eth1 name dev{}", before.index));
    assert_eq!(Lent { hardware: false, ..before.clone() }.find_at(&home).unwrap(), None);
    assert_eq!(before.find_at(&home).unwrap(), Some(before.index));
    assert_eq!(before.restore(&home, before.index).unwrap(), Vec::<String>::new());
    let after = look(&home).unwrap();
    // An address includes the time when it was given.
    let same = Lent { hardware: true, noted: before.noted, addresses: before.addresses.clone(), ..after.clone() };
    assert_eq!((same, after.addresses.len()), (before, 1));
    assert!(ip(&home, "-4 -o addr show dev eth1").contains("10.1.2.3/24"));
}

#[test]
fn what_could_not_be_given_back_is_refused_with_what_would_be_right() {
    let Some(Home { home, far: _far }) = (if skipped() { None } else { home() }) else { return };
    let refused = |name: &str| home.run(|| Lent::look(name, false)).unwrap().unwrap_err().to_string();
    assert!(refused("eth9").contains("there is eth1"), "{}", refused("eth9"));
    assert!(refused("lo").contains("loopback"));
    ip(&home, "link add br0 type bridge\nlink add link eth1 name mac1 type macvlan");
    assert!(refused("br0").contains("kind = \"bridge\""));
    assert!(refused("eth1").contains("mac1"));
    ip(&home, "link del mac1\naddr add 10.1.2.3/24 dev eth1\nroute add default via 10.1.2.1");
    assert!(refused("eth1").contains("--even-default-route"));
    assert!(home.run(|| Lent::look("eth1", true)).unwrap().is_ok());
    ip(&home, "route del default\nroute add default nexthop via 10.1.2.1 nexthop via 10.1.2.2");
    assert!(refused("eth1").contains("--even-default-route"), "a way of several");
}

/// An interface that a user of the lab has made under its name is not brought home: the network there would go through
/// it.
#[test]
fn an_interface_that_only_has_its_name_is_not_brought_home() {
    let Some(Home { home, far: _far }) = (if skipped() { None } else { home() }) else { return };
    // It counts as hardware, of which there is none in a namespace made for a test.
    let lent = Lent { hardware: true, ..look(&home).unwrap() };
    let lab = Namespace::anonymous().unwrap();
    let mac = MacAddr::from(lent.mac);
    ip(&lab, &format!("link add {LENT} address {mac} type veth peer name tap"));
    let is_stranger = |result| matches!(result, Err(LendError::Stranger { .. }));
    assert!(is_stranger(lent.is_in(&lab, LENT, Some(&home))));
    assert!(matches!(lent.give_back(&lab, LENT, &home), Err(LendError::Stranger { .. })));
    ip(&lab, &format!("link set {LENT} name eth1"));
    assert!(is_stranger(lent.is_in(&lab, LENT, Some(&home))));
    // A virtual interface whose other end is in no other namespace is recognised by its kind alone.
    assert!(Lent { hardware: false, ..lent }.is_in(&lab, LENT, Some(&home)).unwrap());
}
