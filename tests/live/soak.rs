//! A soak: traffic of all kinds and trouble on two labs for `ETHBUS_SOAK` seconds, while a station joins and leaves, a capture
//! is taken, and a monkey has the control socket. At the end of each round everything adds up, to the frame, and no process holds more memory or descriptors than
//! before.
//!
//! `.ci/run` has a minute of it, `.ci/full` an hour, and a plain `cargo test` ten seconds.

use crate::capture::is_whole;
use crate::common::derive::Derivation;
use crate::common::lab::{INTERFACE, Lab};
use crate::common::process::{Running, data_plane, program, run};
use crate::common::results::{check, emulator, nothing_is_on_its_way, number, station, sum};
use crate::common::{PATIENCE, Turn, given, note, skipped, wait_until};
use crate::monkey::{Monkey, Requests};
use link::station::StationSocket;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The allowed difference of a process's own memory, in KB: what waits for the writer of traces, up to 6 MB at 10 Mb/s where
/// its reader gets no processor, and other queues that have become longer than ever before.
const GROWTH: u64 = 10_000;
/// Rounds after which every kind of trouble has occurred.
const FIRST_ROUNDS: usize = 6;
/// A longer soak was started by hand: it does not keep other tests waiting.
const A_TURN: Duration = Duration::from_secs(60);
/// How often a long soak reports its progress.
const REPORT: Duration = Duration::from_secs(600);

/// One kind of lab, and its troubles in turn: a command of trouble, and the command that ends it.
struct Kind {
    name: &'static str,
    scenario: &'static str,
    stations: usize,
    /// Where the guest joins for the first time.
    place: &'static [&'static str],
    troubles: &'static [[&'static [&'static str]; 2]],
}

/// Few stations along a cable, which can be cut; each copy is sent by itself.
const CABLE: Kind = Kind {
    name: "cable",
    scenario: "stations = 5\n[medium]\ntopology = 'bus:500m'\n",
    stations: 5,
    place: &["--at", "120m"],
    troubles: &[
        [&["unplug", "st5"], &["plug", "st5"]],
        [&["fault", "st5", "bad_fcs"], &["fault", "st5", "none"]],
        [&["cut", "st2", "st3"], &["mend"]],
        [&["fault", "st1", "deaf"], &["fault", "st1", "none"]],
        [&["fault", "st2", "babble"], &["fault", "st2", "none"]],
    ],
};

/// More than 16 stations on a star: the kernel makes the copies where it may.
const STAR: Kind = Kind {
    name: "star",
    scenario: "stations = 18\n",
    stations: 18,
    place: &[],
    troubles: &[
        [&["unplug", "st18"], &["plug", "st18"]],
        [&["fault", "st3", "deaf"], &["fault", "st3", "none"]],
        [&["unplug", "st2"], &["plug", "st2"]],
        [&["fault", "st17", "bad_fcs"], &["fault", "st17", "none"]],
    ],
};

fn limit() -> Duration {
    let seconds = std::env::var("ETHBUS_SOAK").map_or(10, |text| text.parse().expect("ETHBUS_SOAK is in seconds"));
    Duration::from_secs(seconds)
}

/// The station that joins and leaves in each round.
const GUEST: &str = "guest";

/// Frames that the guest's kernel sent and received while it was there.
#[derive(Clone, Copy, Debug, Default)]
struct Guest {
    sent: u64,
    received: u64,
}

impl Guest {
    /// A station joins amid the traffic of others, has some of its own, and leaves.
    ///
    /// It is taken off the medium before its kernel is asked, so that no copy comes after that; and its interface is down,
    /// so that its kernel has taken leave of groups.
    fn visits(lab: &Lab, place: &[&str]) -> Guest {
        let station = [GUEST, "--ipv6", "none"];
        run(lab.ethbus("add", &[&station[..], place].concat())).succeeded();
        // Its answers may be lost among those of the others.
        let _ = run(lab.exec(GUEST, &["ping", "-q", "-c", "20", "-i", "0.01", "-W", "1", &lab.ipv4("st2")]));
        run(lab.ethbus("unplug", &[GUEST])).succeeded();
        std::thread::sleep(Duration::from_millis(200));
        run(lab.exec(GUEST, &["ip", "link", "set", INTERFACE, "down"])).succeeded();
        std::thread::sleep(Duration::from_millis(100));
        let guest = Guest { sent: counted_by_host(lab, GUEST, "tx"), received: counted_by_host(lab, GUEST, "rx") };
        run(lab.ethbus("remove", &[GUEST])).succeeded();
        guest
    }
}

fn name(station: usize) -> String {
    format!("st{station}")
}

/// The resources that must not grow.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// Memory of a process's own, in KB.
    memory: u64,
    descriptors: u64,
}

impl Held {
    fn by(pid: u32) -> Held {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("the kernel tells");
        let memory = line.trim().trim_end_matches(" kB").parse().expect("a number");
        let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs").count() as u64;
        Held { memory, descriptors }
    }
}

/// One lab under trouble.
struct Soak {
    kind: &'static Kind,
    lab: Lab,
    /// The data plane and the supervisor, and their resources after the first rounds.
    processes: [u32; 2],
    first: Option<[Held; 2]>,
    last: (Value, Vec<u64>),
    begun: Value,
    rounds: usize,
    requests: Requests,
    capture: String,
    captured: u64,
    log: JoinHandle<Result<u64, String>>,
}

impl Soak {
    fn begin(kind: &'static Kind, folder: &Path) -> Soak {
        let (scenario, pipe) = (folder.join(format!("{}.toml", kind.name)), folder.join(format!("{}.log", kind.name)));
        std::fs::write(&scenario, kind.scenario).expect("own folder");
        run(program("mkfifo", [&pipe])).succeeded();
        let log = derived_as_it_grows(pipe.clone());
        let plain = |path: &Path| path.to_str().expect("plain").to_owned();
        let mut lab = Lab::up(&[&plain(&scenario), "--events", &plain(&pipe)]);
        let supervisor = lab.supervisor().pid();
        let last = still(&lab, kind);
        let (begun, processes) = (last.0.clone(), [data_plane(supervisor), supervisor]);
        let capture = plain(&folder.join(format!("{}.pcapng", kind.name)));
        Soak {
            kind,
            lab,
            processes,
            first: None,
            last,
            begun,
            rounds: 0,
            requests: Requests::default(),
            capture,
            captured: 0,
            log,
        }
    }

    /// Rounds until `deadline`, each with a check of all sums at its end.
    fn run(mut self, deadline: Instant) {
        let mut report = Instant::now() + REPORT;
        while self.rounds == 0 || Instant::now() < deadline {
            let guest = self.round();
            self.sample(guest);
            self.rounds += 1;
            if Instant::now() >= report {
                self.tell();
                report += REPORT;
            }
        }
        self.tell();
        self.lab.down();
        self.lab.assert_nothing_left();
        let events = self.log.join().expect("no panic").unwrap_or_else(|why| panic!("{}: {why}", self.kind.name));
        note(&format!("{}: {events} events derived again", self.kind.name));
    }

    /// A few seconds of all traffic at once, one kind of trouble, and a guest meanwhile.
    fn round(&mut self) -> Guest {
        let (socket, seed) = (self.lab.record().join("control.sock"), given("ETHBUS_SEED", 1) + self.rounds as u64);
        let monkey = Monkey::new(socket, seed, self.requests).begin();
        let (lab, last) = (&self.lab, name(self.kind.stations));
        let mut server = Running::start(lab.exec("st4", &["iperf3", "-s", "-1", "--forceflush", "-p", "5201"]), "");
        wait_until(PATIENCE, "a server", || server.has_ended() || server.stdout().contains("listening"));
        let pings = Running::start(lab.exec("st1", &["ping", "-q", "-i", "0.002", &lab.ipv4("st2")]), "");
        let stream = ["iperf3", "-c", &lab.ipv4("st4"), "-p", "5201", "-t", "3", "--connect-timeout", "3000"];
        let stream = Running::start(lab.exec("st3", &stream), "");
        let datagrams = ["--from", "st2", "--to", &last, "--frame-size", "700", "--duration", "3s", "--rate", "500/s"];
        let datagrams = Running::start(lab.ethbus("send", &datagrams), "");
        std::thread::sleep(Duration::from_millis(300));
        let captured = Running::start(lab.ethbus("capture", &["--out", &self.capture, "--duration", "1s"]), "");
        flood(lab, &last, 3_000);
        let [trouble, right] = self.kind.troubles[self.rounds % self.kind.troubles.len()];
        let change = |words: &[&str]| _ = run(lab.ethbus(words[0], &words[1..])).succeeded();
        change(trouble);
        std::thread::sleep(Duration::from_millis(700));
        change(right);
        let guest = Guest::visits(lab, if self.rounds == 0 { self.kind.place } else { &[] });
        check(&lab.stats());
        // A station that is taken off the bus cannot send: the trouble may have ended both programs.
        _ = datagrams.wait_for(Duration::from_secs(40));
        _ = stream.wait_for(Duration::from_secs(60));
        captured.wait().succeeded();
        is_whole(&self.capture);
        self.captured += std::fs::metadata(&self.capture).expect("a capture").len();
        drop((server, pings));
        self.requests = monkey.stop();
        guest
    }

    /// At a moment of silence: conservation since the last one, and memory.
    fn sample(&mut self, guest: Guest) {
        let now = still(&self.lab, self.kind);
        check(&now.0);
        adds_up(self.kind, guest, &self.last, &now);
        self.last = now;
        if let Some(first) = self.first {
            for (pid, first) in self.processes.into_iter().zip(first) {
                let now = Held::by(pid);
                assert!(now.memory < first.memory + GROWTH, "{}: {first:?}, later {now:?}", self.kind.name);
                // The supervisor closes its end of a connection a moment after its client has.
                let what = format!("{}: {first:?}, later {now:?}: no more descriptors than at first", self.kind.name);
                wait_until(PATIENCE, &what, || Held::by(pid).descriptors <= first.descriptors);
            }
        } else if self.rounds + 1 >= FIRST_ROUNDS {
            self.first = Some(self.processes.map(Held::by));
        }
    }

    fn tell(&self) {
        let (now, begun) = (&self.last.0, &self.begun);
        let [of_medium, of_emulator]: [fn(&Value, &str) -> u64; 2] = [sum, emulator];
        let more = |of: fn(&Value, &str) -> u64, key: &str| of(now, key) - of(begun, key);
        note(&format!(
            "{}: {} rounds; {} frames offered, {} carried, {} dropped by queues, {} copies, {} late, {} us of slip; \
             {} MB captured; {:?}; held at first {:?}, now {:?}",
            self.kind.name,
            self.rounds,
            more(of_medium, "offered"),
            more(of_medium, "frames_transmitted_ok"),
            more(of_medium, "queue_drops"),
            more(of_emulator, "deliveries"),
            more(of_emulator, "late_arrivals"),
            emulator(now, "slip_ns") / 1_000,
            self.captured / 1_000_000,
            self.requests,
            self.first,
            self.processes.map(Held::by),
        ));
    }
}

/// Checks a log that comes through a pipe, and gives its number of events at its end.
///
/// Lines wait here, not in the pipe, where checking is slower than the bus for a while: its writer must not be affected.
fn derived_as_it_grows(pipe: PathBuf) -> JoinHandle<Result<u64, String>> {
    let (sender, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // The other thread takes all of them, also after an error.
        let keep = |line: std::io::Result<String>| _ = sender.send(line.map_err(|error| error.to_string()));
        // Opening a pipe waits until its other end is opened.
        match std::fs::File::open(&pipe) {
            Ok(file) => BufReader::new(file).lines().for_each(keep),
            Err(error) => keep(Err(error)),
        }
    });
    std::thread::spawn(move || {
        let first = lines.recv().map_err(|_| "an empty log")??;
        let mut derivation = Derivation::begin(&first, false)?;
        let mut wrong = Ok(());
        for line in lines {
            let line = line?;
            wrong = wrong.and_then(|()| derivation.line(&line));
        }
        wrong.map(|()| derivation.events)
    })
}

/// `count` frames as fast as the station's kernel takes them.
fn flood(lab: &Lab, from: &str, count: usize) {
    let mut socket = StationSocket::open(&lab.namespace(from), INTERFACE, 0x88b5).expect("a socket");
    let mut frame = [0xff; 200];
    frame[6..12].copy_from_slice(&socket.mac().octets());
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    for _ in 0..count {
        // A frame that the kernel refuses is not counted as sent.
        let _ = socket.send(&frame);
    }
}

/// The number of frames that a station's own kernel has received (`rx`) or sent (`tx`) on its interface.
fn counted_by_host(lab: &Lab, station: &str, way: &str) -> u64 {
    let path = format!("/sys/class/net/{INTERFACE}/statistics/{way}_packets");
    run(lab.exec(station, &["cat", &path])).succeeded().stdout.trim().parse().expect("a number")
}

/// Results at a moment of silence, and the frames that each station's kernel has received by then.
///
/// Stations send frames of their own from time to time: equal figures in two reads mean that none did in between. The
/// medium's figures and the kernel's on the links are read one after the other, so both are compared. At the first read
/// nothing may be on its way either, or a station's kernel is asked before it has its copy.
#[track_caller]
fn still(lab: &Lab, kind: &Kind) -> (Value, Vec<u64>) {
    let (mut last, mut hosts) = (lab.settled_stats(), Vec::new());
    wait_until(PATIENCE, "a silent bus", || {
        std::thread::sleep(Duration::from_millis(200));
        hosts = (1..=kind.stations).map(|number| counted_by_host(lab, &name(number), "rx")).collect();
        let results = lab.stats();
        let figures = |of: &Value| (sum(of, "offered"), emulator(of, "deliveries"), of["emulator"]["links"].clone());
        let silent =
            figures(&results) == figures(&last) && nothing_is_on_its_way(&last) && nothing_is_on_its_way(&results);
        last = results;
        silent
    });
    (last, hosts)
}

/// Two labs run side by side through all of it.
#[test]
fn everything_adds_up_after_a_soak() {
    if skipped(&["ip", "ping", "iperf3", "mkfifo"]) {
        return;
    }
    let _turn = (limit() <= A_TURN).then(Turn::alone);
    note(&format!("ETHBUS_SEED={}", given("ETHBUS_SEED", 1)));
    let folder = tempfile::tempdir().expect("a folder");
    let deadline = Instant::now() + limit();
    std::thread::scope(|scope| {
        let soaks = [&CABLE, &STAR].map(|kind| {
            let folder = folder.path();
            scope.spawn(move || Soak::begin(kind, folder).run(deadline))
        });
        for soak in soaks {
            soak.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
}

/// Every frame that a station's kernel sent was offered or dropped with a count; a station's kernel received every copy
/// handed over; and each station's frames were transmitted, discarded by cause, or are queued (`check`).
#[track_caller]
fn adds_up(kind: &Kind, guest: Guest, (before, hosts_before): &(Value, Vec<u64>), (after, hosts): &(Value, Vec<u64>)) {
    let more = |key: &str| emulator(after, key) - emulator(before, key);
    let link = |results: &Value, number_of: usize, key: &str| {
        let links = results["emulator"]["links"].as_array().expect("a list");
        number(links.iter().find(|link| link["station"] == name(number_of)).expect("every station has one"), key)
    };
    let (mut from_stations, mut to_stations) = (guest.sent, guest.received);
    for of in 1..=kind.stations {
        from_stations += link(after, of, "from_station") - link(before, of, "from_station");
        let to_station = link(after, of, "to_station") - link(before, of, "to_station");
        assert_eq!(hosts[of - 1] - hosts_before[of - 1], to_station, "what {} received", name(of));
        to_stations += to_station;
        assert_eq!(number(station(after, &name(of)), "queued"), 0, "{after}");
    }
    let offered = sum(after, "offered") - sum(before, "offered");
    assert!(offered > 0, "nobody had anything to say: {after}");
    assert_eq!(from_stations, offered + more("ring_drops") + more("strays"), "{before}\n{after}");
    assert_eq!(to_stations, more("deliveries"), "{before}\n{after}");
}
