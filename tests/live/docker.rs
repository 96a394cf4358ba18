//! A network of Docker is a lab. The daemon is Docker's own, with an image of busybox; the driver has a name of the test's.

use crate::common::lab::{Unused, assert_nothing_of};
use crate::common::process::{Finished, Running, ethbus, program, run};
use crate::common::results::{check, number, station, stations};
use crate::common::{Draws, PATIENCE, Turn, given, note, skipped, wait_until};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// A daemon, and the driver that it finds by its socket's name. Containers and networks go before they do.
struct Docker {
    folder: TempDir,
    /// The driver's name.
    name: Unused,
    daemon: Option<Running>,
    driver: Option<Running>,
}

impl Docker {
    fn start() -> Docker {
        let folder = tempfile::tempdir().expect("a folder");
        let mut docker = Docker { folder, name: Unused::name(), daemon: None, driver: None };
        docker.start_driver();
        docker.start_daemon();
        docker
    }

    fn at(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("letters").to_owned()
    }

    /// Where the daemon answers.
    fn host(&self) -> String {
        format!("unix://{}", self.at("docker.sock"))
    }

    fn socket(&self) -> PathBuf {
        PathBuf::from(format!("/run/docker/plugins/{}.sock", self.name.0))
    }

    fn start_driver(&mut self) {
        self.driver = Some(self.driver_of(&self.host()));
    }

    /// A driver that asks the daemon at `host`.
    fn driver_of(&self, host: &str) -> Running {
        let socket = self.socket();
        let arguments =
            ["serve", "docker", "--socket", socket.to_str().expect("letters"), "--state", &self.at("state")];
        let mut driver = ethbus(arguments);
        driver.env("DOCKER_HOST", host);
        let mut driver = Running::start(driver, "");
        driver.wait_for_stderr("finds the driver");
        driver
    }

    fn end_driver(&mut self, signal: &str) {
        let driver = self.driver.take().expect("it runs");
        driver.signal(signal);
        driver.wait();
    }

    fn start_daemon(&mut self) {
        let host = self.host();
        let words = ["--iptables=false", "--bridge=none", "--storage-driver=vfs", "-H", &host];
        let places = [("--data-root", "data"), ("--exec-root", "exec"), ("-p", "pid")];
        let places: Vec<String> =
            places.iter().flat_map(|(option, name)| [(*option).to_owned(), self.at(name)]).collect();
        let daemon = program("dockerd", words.into_iter().chain(places.iter().map(String::as_str)));
        self.daemon = Some(Running::start(daemon, ""));
        wait_until(PATIENCE, "the daemon's answer", || self.run("version").code() == Some(0));
    }

    fn end_daemon(&mut self, signal: &str) {
        let daemon = self.daemon.take().expect("it runs");
        daemon.signal(signal);
        daemon.wait();
        // Its containerd dies with it, and stays in the table of processes where no process waits for orphans: the next daemon
        // takes it for one that runs.
        let _ = fs::remove_file(self.at("exec/containerd/containerd.pid"));
    }

    /// `docker` with these words.
    fn run(&self, words: &str) -> Finished {
        let mut command = program("docker", words.split(' '));
        command.env("DOCKER_HOST", self.host());
        run(command)
    }

    fn import_busybox(&self) {
        let [bin, pages] = ["image/bin", "image/www"].map(|name| self.folder.path().join(name));
        [&bin, &pages].into_iter().for_each(|folder| fs::create_dir_all(folder).expect("own folder"));
        fs::write(pages.join("index.html"), "a page").expect("own folder");
        fs::copy("/bin/busybox", bin.join("busybox")).expect("the package busybox-static");
        let mut import = program("sh", ["-c", "tar -C \"$1\" -c . | docker import - busybox", "sh", &self.at("image")]);
        import.env("DOCKER_HOST", self.host());
        run(import).succeeded();
    }

    fn create(&self, options: &str) -> Finished {
        let (name, lab) = (&self.name.0, &self.name.0);
        self.run(&format!("network create -d {name} --subnet 10.9.0.0/24 -o name={lab} {options} net"))
    }

    fn start_container(&self, name: &str) {
        self.run(&format!("run -d --name {name} --network net busybox /bin/busybox sleep 600")).succeeded();
    }

    /// Ports of this machine, and a container too many for a network of three: Docker's message says what its user can do.
    fn refuses_what_no_bus_has(&self) {
        let run = |options: &str| self.run(&format!("run --rm --network net {options} busybox /bin/busybox true"));
        run("-p 8089:80").failed_with(125, &["-p 8089:80: no port of this machine leads to a bus"]);
        self.start_container("third");
        run("--name fourth").failed_with(125, &["all 3 places are taken", "-o capacity=N"]);
        self.run("rm -f third").succeeded();
    }

    #[track_caller]
    fn ping(&self, from: &str, to: &str) {
        let pinged = self.run(&format!("exec {from} /bin/busybox ping -c 1 -W 5 {to}")).succeeded();
        assert!(pinged.stdout.contains("1 packets received"), "{pinged:?}");
    }

    /// The address that the daemon gave a container.
    fn address(&self, container: &str) -> String {
        let path = "{{.NetworkSettings.Networks.net.IPAddress}}";
        self.run(&format!("inspect --format {path} {container}")).succeeded().stdout.trim().to_owned()
    }

    /// Name, MAC and IPv4 address, and ID of each container that runs, as the daemon has them.
    fn inspected(&self) -> BTreeSet<String> {
        let ids = self.run("ps -q").succeeded().stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        if ids.is_empty() {
            return BTreeSet::new();
        }
        let format = "{{.Name}},{{.NetworkSettings.Networks.net.MacAddress}},{{.NetworkSettings.Networks.net.IPAddress}},{{.Id}}";
        let rows = self.run(&format!("inspect --format {format} {ids}")).succeeded().stdout;
        rows.lines().map(|row| row.trim_start_matches('/').to_owned()).collect()
    }

    /// The same of each station, as `ethbus list` has it.
    fn listed(&self) -> BTreeSet<String> {
        let labs = run(ethbus(["list", "--format", "json"])).json();
        let lab = labs.as_array().expect("labs").iter().find(|lab| lab["name"] == self.name.0.as_str()).cloned();
        let row = |station: &Value| {
            let [name, mac, address] = [&station["container"]["name"], &station["mac"], &station["addresses"][0]];
            let id = station["container"]["id"].as_str().unwrap_or("none");
            let text = [name, mac, address].map(|text| text.as_str().unwrap_or("none")).join(",");
            format!("{text},{id}")
        };
        lab.iter().flat_map(stations).map(row).collect()
    }

    /// Waits until the daemon and the lab have the same containers: labels come after the daemon's answer.
    #[track_caller]
    fn agrees(&self, after: &str) {
        wait_until(PATIENCE, &format!("the daemon's containers in the lab, after {after}"), || {
            self.inspected() == self.listed()
        });
    }

    fn stats(&self) -> Value {
        run(ethbus(["stats", "--name", &self.name.0, "--format", "json"])).json()
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        if self.daemon.is_some() {
            for (list, remove) in [("ps -aq", "rm -f"), ("network ls -q --filter type=custom", "network rm")] {
                self.run(list).stdout.lines().for_each(|id| drop(self.run(&format!("{remove} {id}"))));
            }
            self.end_daemon("TERM");
        }
        drop(self.driver.take());
        let _ = fs::remove_file(self.socket());
    }
}

/// Containers ping over a network with PLCA; daemon and driver are restarted; nothing is left at the end.
#[test]
fn a_network_of_docker_is_a_lab_while_daemon_and_driver_come_and_go() {
    if skipped(&["ip", "dockerd", "docker", "busybox"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut docker = Docker::start();
    docker.import_busybox();
    for (option, words) in
        [("-o rate=bad", "bad"), ("-o raet=10M", "-o raet: no such option"), ("-o topology=bus:x", "`x` is no length")]
    {
        docker.create(option).failed_with(1, &[words]);
        assert_nothing_of(&docker.name.0);
    }
    // What `up` warns of reaches the user, who may want it all the same.
    docker.create("-o topology=bus:10km").failed_with(1, &["round trip", "-o warnings=accept"]);
    assert_nothing_of(&docker.name.0);
    docker.create("-o topology=bus:10km -o warnings=accept").succeeded();
    docker.run("network rm net").succeeded();
    docker.create("-o access=plca -o topology=bus:25m -o capacity=3 -o rate=10M").succeeded();
    docker.start_container("web");
    docker.start_container("db");
    docker.ping("web", &docker.address("db"));
    let results = docker.stats();
    let names: Vec<&str> = stations(&results).iter().flat_map(|station| station["name"].as_str()).collect();
    assert_eq!(names, ["web", "db"], "{results}");
    let in_container = ["exec", "--name", &docker.name.0, "web", "--", "ip", "-o", "-4", "address"];
    let addresses = run(ethbus(in_container)).succeeded().stdout;
    assert!(addresses.contains(&format!(" {}/24 ", docker.address("web"))), "{addresses}");
    let listed = run(ethbus(["list", "--format", "json"])).json();
    let labs = listed.as_array().expect("labs").iter();
    let lab = labs.into_iter().find(|lab| lab["name"] == docker.name.0.as_str()).expect("the network's");
    assert_eq!(lab["stations"][0]["addresses"], serde_json::json!([docker.address("web")]), "{lab}");
    names.iter().for_each(|name| assert!(number(station(&results, name), "frames_transmitted_ok") > 0, "{results}"));
    check(&results);
    docker.refuses_what_no_bus_has();

    // A driver that was killed leaves its socket, and the next one has the same networks.
    docker.end_driver("KILL");
    docker.ping("db", &docker.address("web"));
    docker.start_driver();
    docker.run("restart -t 0 db").succeeded();
    docker.ping("web", &docker.address("db"));
    docker.end_daemon("TERM");
    docker.end_driver("TERM");
    assert!(!docker.socket().exists(), "a driver that ends removes its socket");
    docker.start_driver();
    docker.start_daemon();
    docker.run("rm -f web db").succeeded();
    docker.start_container("web");
    docker.start_container("db");
    docker.ping("web", &docker.address("db"));
    // A lab that is taken down comes up again with the next container.
    docker.run("rm -f web db").succeeded();
    run(ethbus(["down", "--name", &docker.name.0])).succeeded();
    docker.start_container("web");
    assert_eq!(stations(&docker.stats()).len(), 1);
    docker.run("rm -f web").succeeded();
    docker.run("network rm net").succeeded();
    assert_nothing_of(&docker.name.0);
    let left: Vec<_> = fs::read_dir(docker.at("state")).expect("own folder").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A container is who the daemon says: not one that left before, and not the end of its name. A container that was removed
/// while no driver was there has left, and the network's name is the lab's.
#[test]
fn a_station_is_the_container_that_the_daemon_has() {
    if skipped(&["ip", "dockerd", "docker", "busybox"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut docker = Docker::start();
    docker.import_busybox();
    docker.create("-o capacity=4 -o link=always").succeeded();
    docker.start_container("alpha");
    docker.run("rm -f alpha").succeeded();
    docker.start_container("beta");
    docker.agrees("the address of another container");
    let in_beta = ["exec", "--name", &docker.name.0, "beta", "--", "true"];
    run(ethbus(in_beta)).succeeded();
    docker.start_container("a-name-of-more-than-15-letters");
    docker.agrees("a long name");
    let exec = ["exec", "--name", &docker.name.0, "a-name-of-more-than-15-letters", "--", "true"];
    run(ethbus(exec)).succeeded();
    docker.end_driver("KILL");
    // The daemon looks for the driver for half a minute, and removes the container all the same.
    let mut remove = program("docker", ["rm", "-f", "beta"]);
    assert!(remove.env("DOCKER_HOST", docker.host()).output().is_ok_and(|removed| removed.status.success()));
    docker.start_driver();
    docker.agrees("the death of the driver and of a container");
    docker.start_container("gamma");
    docker.ping("gamma", &docker.address("a-name-of-more-than-15-letters"));

    let network = Unused::name();
    docker.run(&format!("network create -d {} --subnet 10.8.0.0/24 {}", docker.name.0, network.0)).succeeded();
    wait_until(PATIENCE, "the network's name", || run(ethbus(["stats", "--name", &network.0])).code() == Some(0));
    assert!(run(ethbus(["list"])).succeeded().stdout.contains(&format!("{} (d", network.0)));
}

/// A driver that reaches another daemon than the one that asks says so, and the container runs all the same.
#[test]
fn a_driver_that_cannot_ask_its_daemon_says_so() {
    if skipped(&["ip", "dockerd", "docker", "busybox"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut docker = Docker::start();
    docker.import_busybox();
    docker.end_driver("TERM");
    docker.driver = Some(docker.driver_of(&format!("unix://{}", docker.at("elsewhere.sock"))));
    docker.create("-o capacity=4").succeeded();
    docker.start_container("web");
    docker.driver.as_mut().expect("it runs").wait_for_stderr("give this driver its DOCKER_HOST");
    docker.end_driver("TERM");
    docker.start_driver();
    docker.agrees("the daemon's first answer");
}

/// Containers come, go, start again and pause, and driver and daemon die and come back, at random: after each step the lab has
/// the containers that `docker inspect` has. `ETHBUS_SEED=2` draws other steps, `ETHBUS_CASES=200` more.
#[test]
fn a_monkey_finds_the_daemon_and_the_lab_to_agree() {
    if skipped(&["ip", "dockerd", "docker", "busybox"]) {
        return;
    }
    let _turn = Turn::shared();
    let (seed, steps) = (given("ETHBUS_SEED", 1), given("ETHBUS_CASES", 40));
    note(&format!("ETHBUS_SEED={seed} ETHBUS_CASES={steps}"));
    let mut docker = Docker::start();
    docker.import_busybox();
    docker.create("-o capacity=4").succeeded();
    // The ends of two of these are the same 15 letters.
    let names = ["alpha", "beta", "gamma", "a-rather-long-name.of-one", "one-more-long-name.of-one", "zed"];
    let mut draws = Draws(seed);
    for step in 0..steps {
        let name = draws.one_of(&names);
        let there: BTreeSet<String> =
            docker.run("ps -a --format {{.Names}}").succeeded().stdout.lines().map(str::to_owned).collect();
        let kind = if there.contains(name) { draws.below(12) } else { 12 + draws.below(2) };
        let done = match kind {
            0..3 => docker.run(&format!("rm -f {name}")).succeeded(),
            3..6 => docker.run(&format!("restart -t 0 {name}")).succeeded(),
            6 => {
                docker.run(&format!("pause {name}")).succeeded();
                docker.agrees(&format!("step {step}: {name} pauses"));
                docker.run(&format!("unpause {name}")).succeeded()
            }
            7..10 => {
                docker.end_driver("KILL");
                docker.start_driver();
                docker.run("version").succeeded()
            }
            10 => {
                docker.end_driver("KILL");
                // The daemon looks for the driver meanwhile.
                let mut remove = program("docker", ["rm", "-f", name]);
                remove.env("DOCKER_HOST", docker.host());
                let remove = Running::start(remove, "");
                std::thread::sleep(std::time::Duration::from_secs(1));
                docker.start_driver();
                remove.wait().succeeded()
            }
            11 => {
                docker.end_daemon(draws.one_of(&["KILL", "TERM"]));
                docker.start_daemon();
                docker.run("container prune -f").succeeded()
            }
            _ if there.len() < 4 => {
                docker.run(&format!("run -d --name {name} --network net busybox /bin/busybox sleep 600")).succeeded()
            }
            _ => docker.run("version").succeeded(),
        };
        docker.agrees(&format!("step {step} of ETHBUS_SEED={seed}: {kind} with {name}, {done:?}"));
    }
    check(&docker.stats());
}

/// An application that knows nothing of ethbus: two clients, which ask a server for the same page again and again.
const APPLICATION: &str = "
services:
  web: { image: busybox, command: /bin/busybox httpd -f -p 80 -h /www }
  ada: &client
    image: busybox
    command: /bin/busybox sh -c 'while :; do /bin/busybox wget -q -O /dev/null http://web/; done'
    depends_on: [web]
  ben: *client
";

/// One stanza puts an application of compose on a bus. A capture says which request met which frame.
#[test]
#[ignore = "needs compose: .ci/full installs it"]
fn an_application_of_compose_is_on_a_bus_by_one_stanza() {
    let _turn = Turn::shared();
    let docker = Docker::start();
    docker.import_busybox();
    let (file, name) = (docker.at("compose.yml"), &docker.name.0);
    let options = format!("{{ name: {name}, topology: 'bus:500m', capacity: '4' }}");
    let stanza = format!("networks:\n  default:\n    driver: {name}\n    driver_opts: {options}\n");
    fs::write(&file, format!("{APPLICATION}{stanza}")).expect("own folder");
    let compose = |words: &[&str]| {
        let mut compose = program("docker-compose", [&["-p", "shop", "-f", &file], words].concat());
        compose.env("DOCKER_HOST", docker.host());
        run(compose)
    };
    compose(&["up", "-d"]).succeeded();
    let results = docker.stats();
    for service in ["web", "ada", "ben"] {
        let of_service =
            |one: &&Value| one["name"].as_str().is_some_and(|name| name.starts_with(&format!("shop_{service}")));
        assert!(stations(&results).iter().any(|one| of_service(&one)), "{service}: {results}");
    }
    let capture = docker.at("shop.pcapng");
    let met = || {
        run(ethbus(["capture", name, "-o", &capture, "--duration", "2s"])).succeeded();
        let requests = ["-r", &capture, "-Y", "http.request", "-T", "fields", "-e", "frame.comment"];
        let requests = run(program("tshark", requests)).succeeded().stdout;
        let requests: Vec<&str> = requests.lines().flat_map(|line| line.split(',').next()).collect();
        let octets = fs::read(&capture).expect("a capture");
        let text = String::from_utf8_lossy(&octets);
        let rows =
            text.split('\0').flat_map(|row| serde_json::from_str::<Value>(row.get(row.find("{\"t\":")?..)?).ok());
        let collisions = rows.filter(|row| row["kind"] == "collision");
        let met: Vec<Value> =
            collisions.filter(|row| requests.iter().any(|request| row["frame"] == *request)).collect();
        met.first()
            .inspect(|row| note(&format!("{} requests, {} met another frame: {row}", requests.len(), met.len())))
            .is_some()
    };
    wait_until(PATIENCE, "a request that met another frame", met);
    check(&docker.stats());
    compose(&["down", "-t", "0"]).succeeded();
    assert_nothing_of(name);
}

/// A network with IPv6 has addresses of both families on one lab.
#[test]
fn a_network_of_docker_has_ipv6() {
    if skipped(&["ip", "dockerd", "docker", "busybox"]) {
        return;
    }
    let _turn = Turn::shared();
    let docker = Docker::start();
    docker.import_busybox();
    docker.create("--ipv6 --subnet fd00:9::/64").succeeded();
    docker.start_container("web");
    docker.start_container("db");
    docker.ping("web", &docker.address("db"));
    let path = "{{.NetworkSettings.Networks.net.GlobalIPv6Address}}";
    let told = docker.run(&format!("inspect --format {path} db")).succeeded().stdout;
    assert!(told.starts_with("fd00:9::"), "{told}");
    docker.ping("web", &format!("-6 {}", told.trim()));
    check(&docker.stats());
}
