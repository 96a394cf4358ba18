//! Stations in namespaces that exist already: one with a name, and that of a container's process.

use crate::common::lab::{Lab, assert_nothing_of, fresh_name};
use crate::common::process::{Finished, Running, ethbus, program, run};
use crate::common::results::{check, number, station};
use crate::common::skipped;
use link::namespace::Namespace;
use std::os::unix::fs::PermissionsExt as _;
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
pub struct Named(pub String);

impl Named {
    /// A new namespace.
    pub fn new() -> Named {
        let name = fresh_name() + "-host";
        run(program("ip", ["netns", "add", &name])).succeeded();
        Named(name)
    }

    /// A program in it.
    pub fn command(&self, words: &str) -> Command {
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
    let links = run(lab.exec("c", &["ip", "-o", "link"])).succeeded().stdout;
    assert!(links.contains("bus0") && !links.contains("eth0"), "{links}");
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
    run(lab.ethbus("down", &[])).failed_with(1, &["left behind"]);
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

/// What container engines make of a namespace that has no network of theirs.
const WITHOUT_IPV6: &str = "for one in default all; do echo 1 > /proc/sys/net/ipv6/conf/$one/disable_ipv6; done";

/// A lab of `a` and of a station in the namespace `netns`, in the background, with this environment.
fn up_beside(name: &str, netns: &str, variable: (&str, &str)) -> Finished {
    let file = scenario(&format!("[[station]]\nname = 'a'\n[[station]]\nname = 'web'\nnetns = '{netns}'\n"));
    let mut up = ethbus(["up", "--background", "--name", name, path(&file)]);
    up.env(variable.0, variable.1);
    run(up)
}

/// Both ways over the bus, by names; then the lab is taken down.
fn ping_both_ways(name: &str) {
    for (from, to) in [("a", "web"), ("web", "a")] {
        run(ethbus(["exec", "--name", name, from, "--", "ping", "-c", "1", "-W", "5", to])).succeeded();
    }
    run(ethbus(["down", "--name", name])).succeeded();
    assert_nothing_of(name);
}

/// A container is found by its name, and has an IPv4 address only if its engine has switched IPv6 off. The engine is a
/// script that knows the container's process.
#[test]
fn a_container_is_found_by_its_name_and_needs_no_ipv6() {
    if skipped(&["ip", "ping", "unshare", "nsenter", "sh"]) {
        return;
    }
    let (container, folder) = (Container::start(), tempfile::tempdir().expect("a folder"));
    let engine = folder.path().join("docker");
    let script = format!(
        "#!/bin/sh\n[ \"$*\" = 'inspect --type container --format {{{{.State.Pid}}}} web' ] && echo {}\n",
        container.pid()
    );
    std::fs::write(&engine, script).expect("own folder");
    std::fs::set_permissions(&engine, std::fs::Permissions::from_mode(0o755)).expect("own file");
    let programs = format!("{}:{}", folder.path().display(), std::env::var("PATH").expect("there is one"));
    for (prepare, told) in [("true", false), (WITHOUT_IPV6, true)] {
        let target = container.pid().to_string();
        run(program("nsenter", ["--net", "--target", &target, "sh", "-c", prepare])).succeeded();
        let name = fresh_name();
        let up = up_beside(&name, "docker:web", ("PATH", &programs)).succeeded();
        let words = "IPv6 is off in the namespace docker:web, so web has no IPv6 address; `docker run --sysctl";
        assert_eq!(up.stderr.contains(words), told, "{up:?}");
        ping_both_ways(&name);
    }
    for (script, words) in [
        ("#!/bin/sh\necho 0\n", "the container does not run: `docker start web` starts it"),
        // More than a pipe holds.
        ("#!/bin/sh\nhead -c 200000 /dev/zero | tr '\\0' x >&2; echo 0\n", "the container does not run"),
        (
            "#!/bin/sh\necho 'Error: No such container: web' >&2; exit 1\n",
            "`docker inspect web`: Error: No such container",
        ),
    ] {
        std::fs::write(&engine, script).expect("own folder");
        let name = fresh_name();
        up_beside(&name, "docker:web", ("PATH", &programs)).failed_with(1, &["station web is to be in", words]);
        assert_nothing_of(&name);
    }
    let name = fresh_name();
    let nothing = folder.path().join("empty");
    up_beside(&name, "podman:web", ("PATH", nothing.to_str().expect("letters")))
        .failed_with(1, &["cannot run `podman`: install it", "pid:N"]);
    assert_nothing_of(&name);
}

/// The container of a station ends, and another one of its name starts: the station is in that one's namespace, with its
/// addresses, and `exec` enters it there. The engine is a script.
#[test]
fn a_station_follows_a_container_that_is_started_again() {
    if skipped(&["ip", "ping", "unshare", "nsenter", "sh"]) {
        return;
    }
    let (container, folder) = (Container::start(), tempfile::tempdir().expect("a folder"));
    let [engine, process] = ["docker", "process"].map(|name| folder.path().join(name));
    std::fs::write(&engine, format!("#!/bin/sh\nexec cat '{}'\n", process.display())).expect("own folder");
    std::fs::set_permissions(&engine, std::fs::Permissions::from_mode(0o755)).expect("own file");
    let runs = |pid: u32| std::fs::write(&process, pid.to_string()).expect("own folder");
    let programs = format!("{}:{}", folder.path().display(), std::env::var("PATH").expect("there is one"));
    let name = fresh_name();
    runs(container.pid());
    up_beside(&name, "docker:web", ("PATH", &programs)).succeeded();
    let stats = || run(ethbus(["stats", "--name", &name, "--format", "json"])).json();
    let ping = || run(ethbus(["exec", "--name", &name, "web", "--", "ping", "-c", "1", "-W", "1", "a"]));
    ping().succeeded();
    runs(0);
    drop(container);
    crate::common::wait_until(crate::common::PATIENCE, "the end of the container", || {
        number(&stats()["emulator"], "ports_gone") == 1
    });
    ping().failed_with(1, &["web has no namespace"]);
    let before = number(station(&stats(), "web"), "frames_transmitted_ok");
    let container = Container::start();
    runs(container.pid());
    crate::common::wait_until(crate::common::PATIENCE, "the station's return", || ping().code() == Some(0));
    run(container.command("ping -c 1 -W 5 10.77.0.1")).succeeded();
    let stats = stats();
    assert!(number(station(&stats, "web"), "frames_transmitted_ok") > before, "{stats}");
    ping_both_ways(&name);
    let links = run(container.command("ip -o link")).succeeded().stdout;
    assert_eq!(links.lines().count(), 1, "{links}");
}

/// A daemon of Docker's, with an image of Debian's busybox. Ended with the test, its container before it.
struct Docker {
    socket: String,
    folder: tempfile::TempDir,
    daemon: Option<Running>,
}

impl Docker {
    fn start() -> Docker {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name).to_str().expect("letters").to_owned();
        let socket = format!("unix://{}", at("docker.sock"));
        let words = ["--iptables=false", "--bridge=none", "--storage-driver=vfs", "-H", &socket];
        let places = [("--data-root", at("data")), ("--exec-root", at("exec")), ("-p", at("pid"))];
        let places = places.iter().flat_map(|(option, place)| [*option, place.as_str()]);
        let daemon = Running::start(program("dockerd", words.into_iter().chain(places)), "");
        let docker = Docker { socket, folder, daemon: Some(daemon) };
        let answers = || run(docker.command("version")).code() == Some(0);
        crate::common::wait_until(crate::common::PATIENCE, "the daemon's answer", answers);
        docker
    }

    fn command(&self, words: &str) -> Command {
        let mut command = program("docker", words.split(' '));
        command.env("DOCKER_HOST", &self.socket);
        command
    }

    fn import_busybox(&self) {
        let bin = self.folder.path().join("image/bin");
        std::fs::create_dir_all(&bin).expect("own folder");
        std::fs::copy("/bin/busybox", bin.join("busybox")).expect("the package busybox-static");
        let script = "tar -C \"$1\" -c . | docker import - busybox";
        let image = self.folder.path().join("image");
        let mut import = program("sh", ["-c", script, "sh", image.to_str().expect("letters")]);
        import.env("DOCKER_HOST", &self.socket);
        run(import).succeeded();
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        let _ = self.command("rm -f web").output();
        if let Some(daemon) = self.daemon.take() {
            daemon.signal("TERM");
            daemon.wait();
        }
    }
}

/// Real containers, as docs/ports.md shows them: one without IPv6, as Docker makes it, and one with it.
#[test]
#[ignore = "needs Docker's daemon: .ci/full installs it"]
fn containers_of_docker_are_on_the_bus() {
    let docker = Docker::start();
    docker.import_busybox();
    for (option, told) in [("", true), (" --sysctl net.ipv6.conf.all.disable_ipv6=0", false)] {
        let start = format!("run -d --name web --network none{option} busybox /bin/busybox sleep 600");
        run(docker.command(&start)).succeeded();
        let name = fresh_name();
        let up = up_beside(&name, "docker:web", ("DOCKER_HOST", &docker.socket)).succeeded();
        assert_eq!(up.stderr.contains("IPv6 is off in the namespace docker:web"), told, "{up:?}");
        let pinged = run(docker.command("exec web /bin/busybox ping -c 1 -W 5 10.77.0.1")).succeeded();
        assert!(pinged.stdout.contains("1 packets received"), "{pinged:?}");
        run(docker.command("restart -t 0 web")).succeeded();
        let pinged = || run(docker.command("exec web /bin/busybox ping -c 1 -W 1 10.77.0.1")).code() == Some(0);
        crate::common::wait_until(crate::common::PATIENCE, "the station in the container that was restarted", pinged);
        ping_both_ways(&name);
        run(docker.command("rm -f web")).succeeded();
    }
}
