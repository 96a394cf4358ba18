//! The rights of a lab's processes, seen from outside: /proc, descriptors, sockets, other users (docs/security.md).

use crate::common::lab::{INTERFACE, Lab, Unused};
use crate::common::process::{Running, children, data_plane, ethbus, program, run, runs};
use crate::common::results::{check, emulator};
use crate::common::user::PublicCopy;
use crate::common::{ETHBUS, PATIENCE, Turn, skip, skipped, wait_until};
use std::collections::BTreeMap;
use std::fs::{DirBuilder, Permissions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// A user without any right, on every Linux.
const NOBODY: u32 = 65534;
/// The capabilities that the supervisor keeps, as bits: CAP_KILL, SETPCAP, NET_ADMIN, NET_RAW, IPC_LOCK, SYS_PTRACE,
/// SYS_ADMIN, SYS_NICE.
const SUPERVISOR: u64 = 1 << 5 | 1 << 8 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 19 | 1 << 21 | 1 << 23;

/// What writes to files and folders of every user.
const DAC_OVERRIDE: u64 = 1 << 1;

/// The status of each thread of a process. A thread that ends meanwhile, as this test's own do, has none.
#[track_caller]
fn statuses(pid: u32) -> Vec<BTreeMap<String, String>> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("the process runs").flatten();
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path.join("status")).ok()?;
        let fields = text.lines().filter_map(|line| line.split_once(':'));
        Some(fields.map(|(key, value)| (key.to_owned(), value.trim().to_owned())).collect())
    };
    let statuses: Vec<_> = threads.filter_map(|thread| read(&thread.path())).collect();
    assert!(!statuses.is_empty(), "{pid} has no thread");
    statuses
}

#[track_caller]
fn set(status: &BTreeMap<String, String>, name: &str) -> u64 {
    u64::from_str_radix(&status[name], 16).expect("a set is written in hexadecimal")
}

/// Checks that no thread of a data plane has any right left.
#[track_caller]
fn check_confined(pid: u32) {
    let statuses = statuses(pid);
    // Coordinator, requests, reports; a writer if a file is requested.
    assert!(statuses.len() >= 3, "{statuses:#?}");
    for status in statuses {
        for name in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            assert_eq!(set(&status, name), 0, "{name} in {status:#?}");
        }
        assert_eq!((status["NoNewPrivs"].as_str(), status["Seccomp"].as_str()), ("1", "2"), "{status:#?}");
    }
}

/// No thread of the data plane has a capability in any set, a way to one, or a system call that it does not need (issue
/// 5, "Security").
#[test]
fn the_data_plane_has_given_everything_up() {
    if skipped(&["ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record");
    let mut lab =
        Lab::up(&["--stations", "2", "--events", record.to_str().expect("a plain name"), "--events-level", "inputs"]);
    let plane = data_plane(lab.supervisor().pid());
    check_confined(plane);
    let limits = std::fs::read_to_string(format!("/proc/{plane}/limits")).expect("it runs");
    let most = |limit: &str| {
        let line = limits.lines().find(|line| line.starts_with(limit)).expect("every kernel has it");
        line[limit.len()..].split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!([most("Max core file size"), most("Max processes")], [["0", "0"]; 2]);
    // Four captures can be handed to it at a time.
    let open: Vec<u64> = std::fs::read_dir(format!("/proc/{plane}/fd"))
        .expect("it runs")
        .map(|file| file.expect("it runs").file_name().to_str().expect("a number").parse().expect("a number"))
        .collect();
    let most: Vec<u64> = most("Max open files").iter().map(|most| most.parse().expect("a number")).collect();
    let free = (0..most[0]).filter(|number| !open.contains(number)).count();
    assert!(most[0] == most[1] && free <= 4, "{most:?}: {open:?}");
    // It works all the same, and writes its outputs.
    lab.ping("st1", &lab.ipv4("st2"));
    check(&lab.stats());
    lab.down();
    assert!(std::fs::read_to_string(record).expect("a record").lines().count() > 2);
}

/// The coordinator alone has a raised priority: the data plane's other threads are ordinary ones.
#[test]
fn only_the_coordinator_is_ahead_of_others() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    let plane = data_plane(lab.supervisor().pid());
    for thread in std::fs::read_dir(format!("/proc/{plane}/task")).expect("it runs").flatten() {
        let stat = std::fs::read_to_string(thread.path().join("stat")).expect("the thread runs");
        let nice = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(16)).expect("field 19");
        let coordinator = thread.file_name().to_str() == Some(&plane.to_string());
        assert_eq!(nice == "0", !coordinator || nice_is_forbidden(), "{stat}");
    }
}

/// A coordinator that sleeps most of the time does not wait for a busy program's next tick: the supervisor raises its
/// priority.
#[test]
fn a_calm_coordinator_is_ahead_of_every_ordinary_program() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    const FIFO: &str = "1";
    let mut lab = Lab::up(&["--stations", "2"]);
    let plane = data_plane(lab.supervisor().pid());
    let policy = |thread: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{plane}/task/{thread}/stat")).expect("the thread runs");
        // Field 41, counted after the name, which is field 2.
        stat.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(38)).expect("a policy").to_owned()
    };
    if nice_is_forbidden() {
        return skip("needs CAP_SYS_NICE");
    }
    wait_until(PATIENCE, "a calm coordinator", || policy(&plane.to_string()) == FIFO);
    wait_until(PATIENCE, "its own word for it", || lab.stats()["emulator"]["priority"] == "SCHED_FIFO");
    for thread in std::fs::read_dir(format!("/proc/{plane}/task")).expect("it runs").flatten() {
        let number = thread.file_name().into_string().expect("a number");
        assert_eq!(policy(&number) == FIFO, number == plane.to_string(), "thread {number} of {plane}");
    }
}

fn nice_is_forbidden() -> bool {
    let own = &statuses(std::process::id())[0];
    set(own, "CapEff") >> 23 & 1 == 0
}

/// It has the descriptors that it was given and those that it waits with, and none of those that the starting process
/// had open.
#[test]
fn the_data_plane_has_no_descriptor_but_its_own() {
    if skipped(&["sh"]) {
        return;
    }
    let _turn = Turn::shared();
    let unused = Unused::name();
    // A folder and a pipe that a shell passes to everything it starts.
    let script = "exec 7</etc 8<&0; exec \"$0\" up --name \"$1\" --stations 2";
    let mut supervisor = Running::start(program("sh", ["-c", script, ETHBUS, &unused.0]), "");
    supervisor.wait_for_stderr("ethbus stats --name");
    let plane = data_plane(supervisor.pid());
    let mut kinds = BTreeMap::<String, usize>::new();
    for entry in std::fs::read_dir(format!("/proc/{plane}/fd")).expect("it runs").flatten() {
        let target = std::fs::read_link(entry.path()).expect("an open descriptor").display().to_string();
        let standard_error = entry.file_name().to_str() == Some("2");
        // Not the user's: a terminal would let it read what the user types.
        assert!(!standard_error || target.starts_with("pipe:"), "{target}");
        let kind = if standard_error { "standard error" } else { target.split(":[").next().expect("a part") };
        let kind = target.strip_prefix("anon_inode:").filter(|_| !standard_error).unwrap_or(kind);
        // The file of its main thread.
        let kind = if target.ends_with("/schedstat") { "schedstat" } else { kind };
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
    let expected = [
        ("/dev/null", 2),
        ("standard error", 1),
        // Receiver, sender, monitor, and the supervisor's stream for two threads.
        ("socket", 5),
        ("[eventfd]", 1),
        ("[eventpoll]", 1),
        ("[timerfd]", 1),
        // The machine's load, read through these two only.
        ("/proc/stat", 1),
        ("schedstat", 1),
    ];
    assert_eq!(kinds, BTreeMap::from(expected.map(|(kind, count)| (kind.to_owned(), count))));
    run(ethbus(["down", "--name", &unused.0])).succeeded();
    supervisor.wait().succeeded();
}

/// The supervisor keeps the rights that it needs to make, serve and remove a lab, and no more (issue 5, "Security").
#[test]
fn the_supervisor_keeps_the_least_that_it_needs() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    // Threads that make files meanwhile have another right, and no other one.
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a plain name").to_owned();
    let files = ["--keep", &path("kept.events"), "--pcapng", &path("run.pcapng"), "--pcapng-rotate", "1MB"];
    let mut lab = Lab::up(&[&["--stations", "2"], &files[..]].concat());
    let before = set(&statuses(std::process::id())[0], "CapEff");
    let makes_files = |status: &BTreeMap<String, String>| ["keeper", "rotation"].contains(&status["Name"].as_str());
    let statuses = statuses(lab.supervisor().pid());
    assert_eq!(statuses.iter().filter(|status| makes_files(status)).count(), 2, "{statuses:#?}");
    for status in statuses {
        let own = if makes_files(&status) { DAC_OVERRIDE } else { SUPERVISOR };
        for name in ["CapPrm", "CapEff", "CapBnd"] {
            assert_eq!(set(&status, name) & !(own & before), 0, "{name} in {status:#?}");
        }
        assert_eq!((set(&status, "CapInh"), set(&status, "CapAmb")), (0, 0), "{status:#?}");
        assert_eq!(status["NoNewPrivs"], "1", "{status:#?}");
    }
}

/// With these rights, the supervisor still ends processes of every user in its stations.
#[test]
fn processes_of_other_users_in_stations_are_ended() {
    if skipped(&["setpriv"]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "1000"];
    let sleepers =
        [Running::start(lab.exec("st1", &nobody), ""), Running::start(lab.exec("st2", &["sleep", "1000"]), "")];
    wait_until(PATIENCE, "both programs", || sleepers.iter().all(|sleeper| is_sleep(sleeper.pid())));
    lab.down();
    lab.assert_nothing_left();
    sleepers.into_iter().for_each(|sleeper| assert_eq!(sleeper.wait().signal(), Some(15)));
}

fn is_sleep(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "sleep")
}

/// Sends a lab's control socket a request that only test builds know.
#[track_caller]
fn provoke(lab: &Lab, method: &str) {
    let mut control = UnixStream::connect(lab.record().join("control.sock")).expect("the lab listens");
    control.write_all(Lab::request(method).as_bytes()).expect("the lab reads");
}

/// The kernel ends a data plane that makes a system call outside its list; the supervisor reports it, and nothing
/// remains.
#[test]
fn a_forbidden_system_call_ends_the_data_plane_and_is_told() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    let sleeper = Running::start(lab.exec("st1", &["sleep", "1000"]), "");
    wait_until(PATIENCE, "a program in the station", || is_sleep(sleeper.pid()));
    let plane = data_plane(lab.supervisor().pid());
    provoke(&lab, "trespass");
    lab.ended().failed_with(1, &["data plane", "signal: 31 (SIGSYS)", "system call"]);
    assert!(!runs(plane));
    lab.assert_nothing_left();
    assert!(sleeper.wait().signal().is_some());
}

/// A panic in the data plane gets its message out and ends the process by SIGABRT, as it would without a filter.
#[test]
fn a_panic_in_the_data_plane_is_told() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let mut lab = Lab::up(&["--stations", "2"]);
    provoke(&lab, "bus_panic");
    let ended = lab.ended();
    ended.failed_with(1, &["asked to panic", "data plane", "signal: 6"]);
    // This panic's message would colour the terminal; a message chosen by an attacker could do worse.
    assert!(!ended.stderr.contains('\u{1b}'), "{ended:#?}");
    lab.assert_nothing_left();
}

/// Requests are for the user who brought the lab up: socket 0600, folder 0700, and no other user gets through (issue 5,
/// "Security").
#[test]
fn nobody_else_can_use_the_control_socket() {
    if skipped(&["setpriv", "perl"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let socket = lab.record().join("control.sock");
    let own = std::fs::metadata("/proc/self").expect("/proc is mounted").uid();
    for (path, mode) in [(lab.record(), 0o700), (socket.clone(), 0o600), (lab.record().join("lab.json"), 0o600)] {
        let metadata = std::fs::symlink_metadata(&path).expect("the lab made it");
        assert_eq!((metadata.mode() & 0o7777, metadata.uid()), (mode, own), "{path:?}");
    }
    let connect = ["perl", "-MIO::Socket::UNIX", "-e", "IO::Socket::UNIX->new(Peer => $ARGV[0]) or die \"$!\\n\""];
    let connect = |user: &str| {
        let mut command = program("setpriv", [&format!("--reuid={user}"), "--clear-groups", "--inh-caps=-all"]);
        command.args(connect).arg(&socket);
        run(command)
    };
    connect("0").succeeded();
    let refused = connect("65534");
    assert!(!refused.status.success() && refused.stderr.contains("Permission denied"), "{refused:#?}");
}

/// Files that another user may have written decide nothing: such a folder is refused, and the objects that it names are
/// left alone.
#[test]
fn a_record_that_somebody_else_could_have_written_is_refused() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let (unused, elsewhere) = (Unused::name(), tempfile::tempdir().expect("a folder"));
    let record = Path::new("/run/ethbus").join(&unused.0);
    let refused = |why: &str| {
        for command in ["up", "down", "stats"] {
            let ended = run(ethbus([command, "--name", &unused.0]));
            ended.failed_with(1, &[why, &unused.0]);
        }
    };
    let _ = DirBuilder::new().mode(0o755).create("/run/ethbus");
    symlink(elsewhere.path(), &record).expect("a link");
    std::fs::write(elsewhere.path().join("lock"), "").expect("a file");
    refused("is no folder");
    std::fs::remove_file(&record).expect("the link");
    std::fs::create_dir(&record).expect("a folder");
    std::fs::write(record.join("lock"), "").expect("a file");
    std::fs::set_permissions(&record, Permissions::from_mode(0o777)).expect("own folder");
    refused("is open to other users");
    std::fs::set_permissions(&record, Permissions::from_mode(0o700)).expect("own folder");
    chown(&record, Some(NOBODY), None).expect("root may");
    refused("belongs to another user");
}

/// The bus's own kernel has no address, and a station receives exactly what the medium delivers.
#[test]
fn the_kernel_between_the_stations_neither_answers_nor_sends() {
    if skipped(&["ip", "ping"]) {
        return;
    }
    let _turn = Turn::shared();
    let lab = Lab::up(&["--stations", "2"]);
    let addresses = run(program("ip", ["-o", "-n", &lab.namespace_name("bus"), "address"])).succeeded().stdout;
    assert!(!addresses.contains("inet"), "{addresses}");
    let received = |station: &str| {
        let file = format!("/sys/class/net/{INTERFACE}/statistics/rx_packets");
        let text = run(lab.exec(station, &["cat", &file])).succeeded().stdout;
        text.trim().parse::<u64>().expect("a number")
    };
    lab.ping("st1", &lab.ipv4("st2"));
    let (mut delivered, mut seen) = (0, 0);
    // Kernels send some frames after they come up; the comparison needs a silent moment.
    wait_until(PATIENCE, "a silent moment", || {
        delivered = emulator(&lab.settled_stats(), "deliveries");
        seen = received("st1") + received("st2");
        delivered == emulator(&lab.settled_stats(), "deliveries")
    });
    assert_eq!(seen, delivered);
}

/// The environment has no effect: with every variable that a program might read, the lab is in the same place.
#[test]
fn the_environment_decides_nothing() {
    if skipped(&[]) {
        return;
    }
    let _turn = Turn::shared();
    let (unused, folder) = (Unused::name(), tempfile::tempdir().expect("a folder"));
    let mut command = ethbus(["up", "--name", &unused.0, "--stations", "2"]);
    for name in ["PATH", "HOME", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
        command.env(name, folder.path());
    }
    let mut supervisor = Running::start(command, "");
    supervisor.wait_for_stderr("ethbus stats --name");
    assert!(Path::new("/run/ethbus").join(&unused.0).join("control.sock").exists());
    assert_eq!(std::fs::read_dir(folder.path()).expect("own folder").count(), 0);
    let environment = std::fs::read(format!("/proc/{}/environ", data_plane(supervisor.pid()))).expect("it runs");
    assert_eq!(environment, b"", "the data plane has none at all");
    run(ethbus(["down", "--name", &unused.0])).succeeded();
    supervisor.wait().succeeded();
}

/// Without root, in a user namespace, the data plane gives up as much.
#[test]
fn without_root_the_data_plane_is_confined_too() {
    if skipped(&["setpriv"]) {
        return;
    }
    let _turn = Turn::shared();
    let copy = PublicCopy::new();
    let mut demo = Running::start(copy.by_nobody(&["--stations", "2", "--duration", "3s"]), "");
    let mut plane = None;
    wait_until(PATIENCE, "a data plane, or an end", || {
        plane = children(demo.pid()).into_iter().find(|(_, line)| line.contains("__bus")).map(|(pid, _)| pid);
        plane.is_some() || demo.has_ended()
    });
    let Some(plane) = plane else {
        let ended = demo.wait();
        ended.failed_with(1, &["CAP_", "sudo ethbus"]);
        return skip(&format!("no user namespaces for users here: {}", ended.stderr.trim()));
    };
    // The filter comes last.
    let filtered = |status: &BTreeMap<String, String>| status["Seccomp"] == "2";
    wait_until(PATIENCE, "the filter", || statuses(plane).iter().all(filtered));
    check_confined(plane);
    demo.wait().succeeded();
}

/// As a container engine has it: `/proc/sys` read-only, and no right but the three that docs/ci.md names.
#[test]
fn a_lab_comes_up_in_a_container_with_three_capabilities() {
    if skipped(&["unshare", "setpriv", "mount", "sh"]) {
        return;
    }
    let _turn = Turn::shared();
    let script =
        "mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys && mount -t tmpfs none /run || exit 99
        kept=-all,+net_admin,+net_raw,+sys_admin
        exec setpriv --bounding-set=$kept --inh-caps=$kept --no-new-privs sh -ec '
            test ! -w /proc/sys/net/ipv6/conf/default/disable_ipv6
            \"$0\" doctor
            \"$0\" up --name container --stations 2 --background
            \"$0\" send --name container --from st1 --to st2 --count 3
            \"$0\" down container' \"$0\"";
    // Without the right to pass over modes, root enters no home of somebody else.
    let copy = PublicCopy::new();
    let ended = run(program("unshare", ["-m", "-n", "-p", "-f", "--mount-proc", "sh", "-c", script, &copy.path()]));
    assert!(ended.succeeded().stdout.contains("labs work here"));
}
