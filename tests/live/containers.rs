//! Stations in namespaces that exist already: one with a name, and that of a container's process.

use crate::common::lab::{Lab, assert_nothing_of, fresh_name};
use crate::common::process::{Running, ethbus, program, run};
use crate::common::results::{check, number, station};
use crate::common::skipped;
use link::namespace::Namespace;
use std::process::Command;
use tempfile::NamedTempFile;

/// A container, from the view of its network: a process in a namespace without a name.
struct Container {
    process: Running,
}

impl Container {
    fn start() -> Container {
        let process = Running::start(program("unshare", ["--net", "sleep", "600"]), "");
        let container = Container { process };
        let own = || std::fs::read_link("/proc/self/ns/net").expect("the test's");
        let its = || std::fs::read_link(format!("/proc/{}/ns/net", container.pid())).expect("the container's");
        crate::common::wait_until(crate::common::PATIENCE, "a namespace of its own", || own() != its());
        container
    }

    fn pid(&self) -> u32 {
        self.process.pid()
    }

    fn command(&self, words: &str) -> Command {
        let target = self.pid().to_string();
        program("nsenter", ["--net", "--target", &target].into_iter().chain(words.split(' ')))
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        self.process.signal("KILL");
    }
}

/// A namespace with a name, as `ip netns add` makes it, removed with the test.
struct Named(String);

impl Named {
    fn new() -> Named {
        let name = fresh_name() + "-host";
        run(program("ip", ["netns", "add", &name])).succeeded();
        Named(name)
    }

    fn command(&self, words: &str) -> Command {
        program("ip", ["netns", "exec", &self.0].into_iter().chain(words.split(' ')))
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let _ = program("ip", ["netns", "delete", &self.0]).status();
    }
}

/// A name that is a link, as containerlab makes one for each node.
struct Linked(String);

impl Linked {
    fn to(container: &Container) -> Linked {
        let name = fresh_name() + "-node";
        std::os::unix::fs::symlink(format!("/proc/{}/ns/net", container.pid()), format!("/run/netns/{name}"))
            .expect("a link");
        Linked(name)
    }
}

impl Drop for Linked {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(format!("/run/netns/{}", self.0));
    }
}

fn scenario(text: &str) -> NamedTempFile {
    let file = NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("own file");
    file
}

fn path(file: &NamedTempFile) -> &str {
    file.path().to_str().expect("a name of letters")
}

/// Frames cross the bus both ways, they are counted, and `down` leaves both namespaces unchanged.
#[test]
fn a_container_and_a_named_namespace_are_on_the_bus_and_stay_whose_they_are() {
    if skipped(&["ip", "ping", "unshare", "nsenter"]) {
        return;
    }
    let (container, named) = (Container::start(), Named::new());
    let text = format!(
        "[[station]]\nname = 'a'\n[[station]]\nname = 'c'\nnetns = 'pid:{}'\ninterface = 'bus0'\n\
         [[station]]\nname = 'n'\nnetns = '{}'\n",
        container.pid(),
        named.0
    );
    let file = scenario(&text);
    let mut lab = Lab::up(&[path(&file)]);
    assert!(lab.greeting().contains(&format!("c: bus0 in the namespace pid:{}", container.pid())));
    assert!(lab.greeting().contains("a ping n\n"), "no station is to ping itself: {}", lab.greeting());
    assert_eq!(lab.namespaces().len(), 2, "the bus's and that of a");
    lab.ping("a", &lab.ipv4("c"));
    run(container.command(&format!("ping -c 1 -W 5 {}", lab.ipv4("n")))).succeeded();
    run(named.command(&format!("ping -c 1 -W 5 {}", lab.ipv4("a")))).succeeded();
    let mac = run(named.command("cat /sys/class/net/eth0/address")).succeeded().stdout;
    assert_eq!(mac.trim(), lab.mac("n"));
    run(lab.exec("c", &["true"])).failed_with(1, &["c has no namespace of the lab's own", "nsenter"]);
    let stats = lab.settled_stats();
    check(&stats);
    for name in ["a", "c", "n"] {
        assert!(number(station(&stats, name), "frames_transmitted_ok") >= 2, "{name}: {stats}");
    }
    lab.down();
    lab.assert_nothing_left();
    for left in [run(container.command("ip -o link")), run(named.command("ip -o link"))] {
        let links = left.succeeded().stdout;
        assert!(links.lines().count() == 1 && links.contains("lo:"), "{links}");
        assert!(links.contains("state DOWN"), "its loopback is its owner's business: {links}");
    }
    assert!(Namespace::open_named(&named.0).is_ok(), "it is not the lab's to remove");
    assert!(crate::common::process::runs(container.pid()), "nor are programs in it the lab's to end");
}

/// The end of a container has the effect of a pulled cable; a killed lab is removed without a trace in the namespaces.
#[test]
fn what_a_container_or_a_lab_leaves_behind_is_nothing() {
    if skipped(&["ip", "ping", "unshare", "nsenter"]) {
        return;
    }
    let (container, named) = (Container::start(), Named::new());
    let linked = Linked::to(&container);
    let text = format!("[[station]]\n[[station]]\nnetns = '{}'\n[[station]]\nnetns = '{}'\n", linked.0, named.0);
    let file = scenario(&text);
    let mut lab = Lab::up(&[path(&file)]);
    lab.ping("st1", &lab.ipv4("st3"));
    drop(container);
    let gone = || number(&lab.stats()["emulator"], "ports_gone") == 1;
    crate::common::wait_until(crate::common::PATIENCE, "the container's link to be gone", gone);
    lab.ping("st1", &lab.ipv4("st3"));
    lab.lose_supervisor();
    run(lab.ethbus("down", &[])).succeeded();
    lab.assert_nothing_left();
    let links = run(named.command("ip -o link")).succeeded().stdout;
    assert_eq!(links.lines().count(), 1, "{links}");
}

#[test]
fn a_namespace_that_is_not_there_or_in_use_is_refused_and_nothing_is_left() {
    if skipped(&["ip"]) {
        return;
    }
    let named = Named::new();
    run(named.command("ip link add eth0 type veth peer name eth9")).succeeded();
    let gone = {
        let process = Running::start(program("true", [""; 0]), "");
        let pid = process.pid();
        process.wait();
        pid
    };
    let at = |netns: &str| scenario(&format!("[[station]]\n[[station]]\nname = 'b'\nnetns = '{netns}'\n"));
    for (netns, words) in [
        ("nowhere-to-be-found", ["station b is to be in", "there is no network namespace called nowhere-to-be-found"]),
        (&format!("pid:{gone}"), ["station b is to be in", "there is no process"]),
        (&named.0, ["`eth0` is in the namespace", "interface = \"bus0\""]),
    ] {
        let (name, file) = (fresh_name(), at(netns));
        run(ethbus(["up", "--name", &name, path(&file)])).failed_with(1, &words);
        assert_nothing_of(&name);
    }
    let links = run(named.command("ip -o link")).succeeded().stdout;
    assert!(links.lines().count() == 3 && links.contains("eth0@eth9"), "what was there stays: {links}");
}
