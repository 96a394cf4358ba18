//! A lab of the program, with a unique name; taken down when dropped, by force if necessary.

use super::derive::derive_file;
use super::process::{Finished, Running, ethbus, program, run, run_for, signal};
use super::results::nothing_is_on_its_way;
use super::{PATIENCE, wait_until};
use link::namespace::Namespace;
use serde_json::Value;
use std::cell::Cell;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// The name of every station's interface.
pub const INTERFACE: &str = "eth0";

/// A name for a lab: at most 15 characters, unique to this process.
pub fn fresh_name() -> String {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    format!("t{}-{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// A lab, and the supervisor that keeps it up.
///
/// Its event log is derived again at its end: see `derive`.
pub struct Lab {
    pub name: String,
    /// The place of its log, and the folder of the log, unless the test chose one.
    log: Option<(PathBuf, Option<TempDir>)>,
    /// No station was made faulty, and the cable was never cut.
    healthy: Cell<bool>,
    supervisor: Option<Running>,
    greeting: String,
}

impl Lab {
    /// Brings a lab up with these further arguments of `ethbus up`.
    #[track_caller]
    pub fn up(arguments: &[&str]) -> Lab {
        Lab::up_as(fresh_name(), arguments)
    }

    /// The same with a name that a test has chosen, and may have written into the scenario.
    #[track_caller]
    pub fn up_as(name: String, arguments: &[&str]) -> Lab {
        let mut lab = Lab { name, log: None, healthy: Cell::new(true), supervisor: None, greeting: String::new() };
        lab.start(arguments);
        lab
    }

    /// Brings it up again after [`Lab::lose_supervisor`].
    #[track_caller]
    pub fn start(&mut self, arguments: &[&str]) {
        let given = arguments.iter().position(|argument| *argument == "--events");
        let (path, folder) = match given.and_then(|place| arguments.get(place + 1)) {
            Some(path) => (PathBuf::from(path), None),
            None => {
                let folder = tempfile::tempdir().expect("a folder");
                (folder.path().join("events"), Some(folder))
            }
        };
        let own = ["--events", path.to_str().expect("plain")];
        let own: &[&str] = if folder.is_some() { &own } else { &[] };
        let scenarios = arguments.iter().filter(|path| path.ends_with(".toml"));
        let scenarios: String = scenarios.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        let named = ["--name", &self.name];
        let named: &[&str] = if scenarios.contains(&format!("name = '{}'", self.name)) { &[] } else { &named };
        let command = ethbus(["up"].iter().chain(named).chain(arguments).chain(own));
        self.healthy.set(!["fault", "[[cut]]", "[[at]]"].iter().any(|word| scenarios.contains(word)));
        self.log = Some((path, folder));
        let mut supervisor = Running::start(command, "");
        // If it never comes up, its traces are removed all the same.
        supervisor.wait_for_stderr("ethbus stats --name");
        self.greeting = supervisor.stderr();
        self.supervisor = Some(supervisor);
    }

    /// The supervisor that keeps it up.
    pub fn supervisor(&mut self) -> &mut Running {
        self.supervisor.as_mut().expect("the lab is up")
    }

    /// Its output when it came up.
    pub fn greeting(&self) -> &str {
        &self.greeting
    }

    /// The address of a station in this column of the greeting: 2 for IPv4, 3 for IPv6.
    #[track_caller]
    fn column(&self, station: &str, column: usize) -> String {
        let rows = self.greeting.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let row = rows.into_iter().find(|row| row.first() == Some(&station) && row.len() == 4);
        row.unwrap_or_else(|| panic!("no {station} in {}", self.greeting))[column].to_owned()
    }

    /// A station's MAC address, from the greeting.
    #[track_caller]
    pub fn mac(&self, station: &str) -> String {
        self.column(station, 1)
    }

    /// A request to a lab's control socket without parameters.
    pub fn request(method: &str) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\"}}\n")
    }

    /// A station's IPv4 address, from the greeting.
    #[track_caller]
    pub fn ipv4(&self, station: &str) -> String {
        self.column(station, 2)
    }

    /// A station's IPv6 address, from the greeting.
    #[track_caller]
    pub fn ipv6(&self, station: &str) -> String {
        self.column(station, 3)
    }

    /// A command of `ethbus` about this lab.
    pub fn ethbus(&self, command: &str, arguments: &[&str]) -> Command {
        if ["fault", "cut"].contains(&command) {
            self.healthy.set(false);
        }
        ethbus([command, "--name", &self.name].iter().chain(arguments))
    }

    /// A program in a station.
    pub fn exec(&self, station: &str, command: &[&str]) -> Command {
        ethbus(["exec", "--name", &self.name, station, "--"].iter().chain(command))
    }

    /// Results so far.
    #[track_caller]
    pub fn stats(&self) -> Value {
        run(self.ethbus("stats", &["--format", "json"])).json()
    }

    /// Results once no frame waits in a queue or is on its way.
    #[track_caller]
    pub fn settled_stats(&self) -> Value {
        let mut stats = self.stats();
        wait_until(PATIENCE, "every frame at its end", || {
            stats = self.stats();
            nothing_is_on_its_way(&stats)
        });
        stats
    }

    /// The namespace of a station.
    #[track_caller]
    pub fn namespace(&self, station: &str) -> Namespace {
        Namespace::open_named(&self.namespace_name(station)).expect("the station's namespace")
    }

    /// Its name for `ip netns`.
    pub fn namespace_name(&self, station: &str) -> String {
        format!("{}-{station}", self.name)
    }

    /// Keeps IPv6 from sending frames of its own, in every station, so that counters show only what a test sends.
    #[track_caller]
    pub fn silence(&self, stations: usize) {
        for number in 1..=stations {
            let script = "echo 1 > /proc/sys/net/ipv6/conf/eth0/disable_ipv6; ip link set eth0 arp off";
            run(self.exec(&format!("st{number}"), &["sh", "-c", script])).succeeded();
        }
        self.settled_stats();
    }

    /// One ping that must get its answer.
    #[track_caller]
    pub fn ping(&self, from: &str, address: &str) -> Finished {
        run(self.exec(from, &["ping", "-c", "1", "-W", "5", address])).succeeded()
    }

    /// Takes it down with `ethbus down`, and gives the supervisor's output.
    #[track_caller]
    pub fn down(&mut self) -> Finished {
        run(self.ethbus("down", &[])).succeeded();
        self.ended()
    }

    /// Waits until the supervisor has ended by itself.
    #[track_caller]
    pub fn ended(&mut self) -> Finished {
        let ended = self.supervisor.take().expect("the lab is up").wait();
        self.check_log();
        ended
    }

    /// Derives the event log again, if it is a file that can be read.
    #[track_caller]
    fn check_log(&mut self) {
        let Some((path, _folder)) = self.log.take() else { return };
        if !path.is_file() {
            return;
        }
        derive_file(&path, self.healthy.get());
    }

    /// Kills the supervisor so that it cannot clean up.
    #[track_caller]
    pub fn lose_supervisor(&mut self) {
        let supervisor = self.supervisor.take().expect("the lab is up");
        supervisor.signal("KILL");
        assert_eq!(supervisor.wait().signal(), Some(9));
    }

    /// The place of its record.
    pub fn record(&self) -> PathBuf {
        PathBuf::from("/run/ethbus").join(&self.name)
    }

    /// Namespaces whose name begins with its own.
    pub fn namespaces(&self) -> Vec<String> {
        namespaces_of(&self.name)
    }

    /// Checks that none of its namespaces and records remain.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        assert_nothing_of(&self.name);
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        if let Some(mut supervisor) = self.supervisor.take() {
            supervisor.signal("TERM");
            let begin = std::time::Instant::now();
            while !supervisor.has_ended() && begin.elapsed() < Duration::from_secs(5) {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        sweep(&self.name);
    }
}

/// Namespaces of the lab `name`, as `ip netns` lists them.
pub fn namespaces_of(name: &str) -> Vec<String> {
    let list = run(program("ip", ["netns", "list"])).stdout;
    let names = list.lines().filter_map(|line| line.split_whitespace().next());
    names.filter(|namespace| namespace.starts_with(&format!("{name}-"))).map(str::to_owned).collect()
}

/// Checks that there is no lab called `name`, and that nothing of it remains.
#[track_caller]
pub fn assert_nothing_of(name: &str) {
    assert_eq!(namespaces_of(name), Vec::<String>::new(), "namespaces left");
    let record = PathBuf::from("/run/ethbus").join(name);
    assert!(!record.exists(), "a record is left: {record:?}");
}

/// The name of a lab that should never come up; if it does, it is removed when this is dropped.
pub struct Unused(pub String);

impl Unused {
    /// A fresh name.
    pub fn name() -> Unused {
        Unused(fresh_name())
    }
}

impl Drop for Unused {
    fn drop(&mut self) {
        sweep(&self.0);
    }
}

/// Removes the traces of a lab that did not clean up.
fn sweep(name: &str) {
    if !PathBuf::from("/run/ethbus").join(name).exists() && namespaces_of(name).is_empty() {
        return;
    }
    run_for(ethbus(["down", "--name", name]), Duration::from_secs(10));
    for namespace in namespaces_of(name) {
        let processes = run(program("ip", ["netns", "pids", &namespace])).stdout;
        processes.lines().for_each(|pid| signal("KILL", pid));
        let _ = Command::new("ip").args(["netns", "del", &namespace]).stderr(Stdio::null()).status();
    }
    // Already removed if `down` worked.
    let _ = std::fs::remove_dir_all(PathBuf::from("/run/ethbus").join(name));
}
