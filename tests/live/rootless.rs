//! Labs of ordinary users: a user namespace each, records that only their user can write, and nothing left of a killed
//! lab (issue 5, "labs without root").
//!
//! One file above 500 lines because all its tests share a user and the steps of that user's lab.

use crate::common::derive::derive_file;
use crate::common::lab::{INTERFACE, Lab, Unused, fresh_name};
use crate::common::logs::medium_layer;
use crate::common::process::{Running, children, data_plane, program, run, runs, signal};
use crate::common::results::{check, number, station, sum};
use crate::common::user::{PublicCopy, User, users_may_have_labs};
use crate::common::{ETHBUS, PATIENCE, Turn, skip, skipped, wait_until};
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

/// A lab in the background that belongs to a user. It ends with its user.
struct Theirs<'a> {
    user: &'a User,
    name: String,
    greeting: String,
}

impl Theirs<'_> {
    #[track_caller]
    fn up<'a>(user: &'a User, name: &str, arguments: &[&str]) -> Theirs<'a> {
        let events = user.login().join(format!("{name}.events"));
        let own = ["--events", events.to_str().expect("plain")];
        // A test that reads its own log has one.
        let own = if arguments.contains(&"--events") { &own[..0] } else { &own };
        let all = [&["up", "--detach", "--name", name], own, arguments].concat();
        let greeting = user.run(&all).succeeded().stderr;
        Theirs { user, name: name.to_owned(), greeting }
    }

    fn command(&self, command: &str, arguments: &[&str]) -> std::process::Command {
        self.user.ethbus(&[&[command, "--name", &self.name], arguments].concat())
    }

    fn exec(&self, station: &str, arguments: &[&str]) -> std::process::Command {
        self.command("exec", &[&[station, "--"], arguments].concat())
    }

    #[track_caller]
    fn stats(&self) -> Value {
        let results = run(self.command("stats", &["--format", "json"])).json();
        check(&results);
        results
    }

    #[track_caller]
    fn ping(&self) {
        run(self.exec("st1", &["ping", "-c", "1", "-W", "5", "10.77.0.2"])).succeeded();
    }

    /// A program that would run endlessly in a station.
    #[track_caller]
    fn sleeper(&self, station: &str) -> Running {
        let sleeper = Running::start(self.exec(station, &["sleep", "1000"]), "");
        wait_until(PATIENCE, "a program in the station", || {
            std::fs::read_to_string(format!("/proc/{}/comm", sleeper.pid())).is_ok_and(|name| name.trim() == "sleep")
        });
        sleeper
    }

    /// Kills its supervisor, so that it cannot clean up, and waits until the data plane has ended too.
    #[track_caller]
    fn lose_supervisor(&self) {
        let supervisor = self.user.supervisor(&self.name);
        let plane = data_plane(supervisor);
        signal("KILL", &supervisor.to_string());
        wait_until(PATIENCE, "the data plane's end", || !runs(plane) && !runs(supervisor));
    }

    #[track_caller]
    fn down(self) {
        let told = run(self.command("down", &[])).succeeded();
        assert!(told.stdout.contains("it adds up"), "{told:#?}");
    }
}

impl Drop for Theirs<'_> {
    /// Derives its event log again: up to the last whole line, for a lab that was killed.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            derive_file(&self.user.login().join(format!("{}.events", self.name)), false);
        }
    }
}

/// Everything that a lab of root can do: real kernels answer, TCP flows, tcpdump sees it, stations come off and on.
#[test]
fn a_user_has_a_whole_lab_and_leaves_nothing() {
    if skipped(&["ping", "iperf3", "tcpdump", "unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let lab = Theirs::up(&user, &fresh_name(), &["--stations", "3"]);
    assert!(!lab.greeting.contains("sudo") && lab.greeting.contains("without root"), "{}", lab.greeting);
    let named = run(program("ip", ["netns", "list"])).stdout;
    assert!(!named.contains(&lab.name), "names are root's: {named}");

    let capture = ["tcpdump", "-i", INTERFACE, "-n", "-c", "2", "icmp"];
    let mut tcpdump = Running::start(lab.exec("st3", &capture), "");
    tcpdump.wait_for_stderr("listening on");
    lab.ping();
    let seen = tcpdump.wait().succeeded();
    assert!(seen.stdout.contains("echo request") && seen.stdout.contains("echo reply"), "{seen:#?}");

    let mut server = Running::start(lab.exec("st2", &["iperf3", "-s", "-1", "--forceflush"]), "");
    wait_until(PATIENCE, "a server", || server.stdout().contains("listening") || server.has_ended());
    run(lab.exec("st1", &["iperf3", "-c", "10.77.0.2", "-t", "1"])).succeeded();
    server.wait().succeeded();

    run(lab.command("detach", &["st2"])).succeeded();
    assert_eq!(station(&lab.stats(), "st2")["attached"], false);
    run(lab.command("attach", &["st2"])).succeeded();
    run(lab.command("fault", &["st2", "deaf"])).succeeded();
    run(lab.command("fault", &["st2", "none"])).succeeded();
    lab.ping();
    let results = lab.stats();
    assert_eq!(results["emulator"]["priority"], "normal", "what is not possible without root is told");
    assert!(sum(&results, "frames_transmitted_ok") > 100, "{results}");
    lab.down();
    user.assert_nothing_left();
}

/// Input, output, exit code and rights: the program runs as the user, with every right over the lab and no other.
#[test]
fn a_program_in_a_station_is_the_user_with_rights_over_the_lab_only() {
    if skipped(&["ip", "unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let lab = Theirs::up(&user, &fresh_name(), &["--stations", "2"]);
    let ended = Running::start(lab.exec("st1", &["sh", "-c", "cat; id -u; exit 7"]), "through\n").wait();
    assert_eq!((ended.code(), ended.stdout), (Some(7), format!("through\n{}\n", user.id)));
    assert_eq!(run(lab.exec("st1", &["sh", "-c", "kill -TERM $$"])).signal(), Some(15));
    run(lab.exec("st1", &["ip", "link", "set", INTERFACE, "mtu", "1400"])).succeeded();
    let links = run(lab.exec("st1", &["ls", "/sys/class/net"])).succeeded().stdout;
    assert_eq!(links.split_whitespace().collect::<Vec<_>>(), [INTERFACE, "lo"]);
    // The user may change nothing of the machine's own network, even with all the rights in the lab.
    let supervisor = user.supervisor(&lab.name);
    let outside = format!("nsenter --net=/proc/{supervisor}/ns/net ip link set lo mtu 60000");
    let refused = run(lab.exec("st1", &["sh", "-c", &outside]));
    assert!(!refused.status.success() && refused.stderr.contains("not permitted"), "{refused:#?}");
    run(lab.exec("st9", &["true"])).failed_with(1, &["st9", "st1", "st2"]);
    run(lab.exec("bus", &["true"])).failed_with(1, &["bus", "st1", "st2"]);
    lab.down();
    user.assert_nothing_left();
}

/// The raw-socket driver, a record and an event log, as root has them.
#[test]
fn a_user_can_send_receive_and_record() {
    if skipped(&["unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let (record, events) = (user.login().join("run.record"), user.login().join("run.events"));
    let files = [
        "--events",
        record.to_str().expect("plain"),
        "--events-level",
        "inputs",
        "--events",
        events.to_str().expect("plain"),
    ];
    let lab = Theirs::up(&user, &fresh_name(), &[&["--stations", "2"][..], &files].concat());
    let mut receiver =
        Running::start(lab.command("receive", &["--at", "st2", "--count", "50", "--format", "json"]), "");
    let sent = ["--from", "st1", "--to", "st2", "--rate", "500", "--duration", "300ms", "--format", "json"];
    wait_until(PATIENCE, "fifty frames", || {
        run(lab.command("send", &sent)).succeeded();
        receiver.has_ended()
    });
    assert_eq!(receiver.wait().json()["received"], 50);
    lab.down();
    let replayed = user.login().join("again.events");
    user.run(&["replay", files[1], "--events", replayed.to_str().expect("plain")]).succeeded();
    // A live log also has the emulator's events, which a replay does not have.
    let medium = |path: &Path| medium_layer(path.to_str().expect("plain"));
    assert_eq!(medium(&events), medium(&replayed));
    assert_eq!(std::fs::metadata(&record).expect("a file").uid(), user.id);
    user.assert_nothing_left();
}

/// SIGKILL of the supervisor leaves a record, and programs that others have started: `down` ends those, and no others.
#[test]
fn down_ends_what_a_killed_lab_of_a_user_left_and_nothing_else() {
    if skipped(&["unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let lab = Theirs::up(&user, &fresh_name(), &["--stations", "2"]);
    // A process of the same user, in namespaces that are not the lab's.
    let mut stranger =
        Running::start(user.program("unshare", &["--user", "--net", "--map-root-user", "sleep", "1000"]), "");
    let sleepers = [lab.sleeper("st1"), lab.sleeper("st2")];
    lab.lose_supervisor();
    run(lab.command("stats", &[])).failed_with(1, &["no lab called", "is up"]);
    run(lab.command("down", &[])).failed_with(1, &["left behind"]);
    for sleeper in sleepers {
        assert_eq!(sleeper.wait().signal(), Some(15));
    }
    assert!(!stranger.has_ended());
    drop(stranger);
    wait_until(PATIENCE, "nobody", || user.processes().is_empty());
    user.assert_nothing_left();
    run(lab.command("down", &[])).failed_with(1, &["is up"]);
}

/// The next `up` of the name does the same, and works.
#[test]
fn the_next_up_ends_what_a_killed_lab_of_a_user_left() {
    if skipped(&["ping", "unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let name = fresh_name();
    let lab = Theirs::up(&user, &name, &["--stations", "2"]);
    let sleeper = lab.sleeper("st1");
    lab.lose_supervisor();
    // Once with a program left, once with only the record.
    let lab = Theirs::up(&user, &name, &["--stations", "2"]);
    assert!(lab.greeting.contains("left behind"), "{}", lab.greeting);
    assert_eq!(sleeper.wait().signal(), Some(15));
    lab.lose_supervisor();
    let lab = Theirs::up(&user, &name, &["--stations", "2"]);
    lab.ping();
    lab.down();
    user.assert_nothing_left();
}

/// A namespace that reuses an inode of a killed lab's is distinguished from it by its cookie, and its programs keep
/// running.
#[test]
fn a_stranger_with_the_inode_of_a_killed_labs_namespace_is_left_alone() {
    if skipped(&["unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let lab = Theirs::up(&user, &fresh_name(), &["--stations", "2"]);
    lab.lose_supervisor();
    let mut stranger =
        Running::start(user.program("unshare", &["--user", "--net", "--map-root-user", "sleep", "1000"]), "");
    let inode = |kind: &str| {
        let path = format!("/proc/{}/ns/{kind}", stranger.pid());
        std::fs::metadata(path).expect("it runs").ino()
    };
    let own = std::fs::metadata("/proc/self/ns/net").expect("/proc is mounted").ino();
    wait_until(PATIENCE, "its namespaces", || inode("net") != own);
    // As if the kernel had used the numbers again.
    let path = user.record(&lab.name).join("lab.json");
    let mut content: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("a record")).expect("JSON");
    content["user_namespace"][1] = inode("user").into();
    content["namespaces"]
        .as_array_mut()
        .expect("a list")
        .iter_mut()
        .for_each(|claim| claim["inode"] = inode("net").into());
    std::fs::write(&path, content.to_string()).expect("root may");
    run(lab.command("down", &[])).failed_with(1, &["left behind"]);
    assert!(!stranger.has_ended());
    drop(stranger);
    wait_until(PATIENCE, "nobody", || user.processes().is_empty());
    user.assert_nothing_left();
}

/// At every end of the supervisor that lets it act, the programs in the stations end with it.
#[test]
fn a_signal_or_a_panic_leaves_nothing_of_a_users_lab() {
    if skipped(&["unshare", "perl"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let panic = "IO::Socket::UNIX->new(Peer => $ARGV[0])->print($ARGV[1])";
    for how in ["TERM", "panic"] {
        let lab = Theirs::up(&user, &fresh_name(), &["--stations", "2"]);
        let sleeper = lab.sleeper("st2");
        let socket = user.record(&lab.name).join("control.sock");
        match how {
            "panic" => {
                let socket = socket.to_str().expect("plain");
                let request = Lab::request("panic");
                run(user.program("perl", &["-MIO::Socket::UNIX", "-e", panic, socket, &request])).succeeded();
            }
            name => signal(name, &user.supervisor(&lab.name).to_string()),
        }
        assert_eq!(sleeper.wait().signal(), Some(15), "{how}");
        wait_until(PATIENCE, "nobody", || user.processes().is_empty());
        // The panic's message stays until it has been read.
        if how == "panic" {
            run(lab.command("down", &[])).failed_with(1, &["asked to panic"]);
        }
        user.assert_nothing_left();
    }
}

/// A user who logs out may lose the folder of the login, and with it the way to the lab: the lab ends.
#[test]
fn a_lab_that_nobody_can_reach_any_more_ends() {
    if skipped(&["unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let lab = Theirs::up(&user, &fresh_name(), &["--stations", "2"]);
    let sleeper = lab.sleeper("st1");
    std::fs::remove_dir_all(user.login()).expect("root may");
    assert_eq!(sleeper.wait().signal(), Some(15));
    wait_until(PATIENCE, "nobody", || user.processes().is_empty());
    let lab = Lab::up(&["--stations", "2"]);
    std::fs::remove_dir_all(lab.record()).expect("root may");
    let mut lab = lab;
    let ended = lab.ended().succeeded();
    assert!(ended.stderr.contains("folder was removed") && ended.stderr.contains("it adds up"), "{ended:#?}");
    lab.assert_nothing_left();
}

/// The bench runs without root too, with programs that need rights of their own.
#[test]
fn a_user_can_measure_a_live_bus() {
    if skipped(&["unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let told = user.run(&["doctor", "--measure", "echo", "--duration", "300ms"]).succeeded();
    assert!(told.stdout.contains("veth pair, p50") && !told.stdout.contains("FAILED"), "{told:#?}");
    user.assert_nothing_left();
}

/// Root and two users have labs of one name at the same time. No lab sees, reaches or disturbs another.
#[test]
fn labs_of_one_name_in_different_hands_do_not_meet() {
    if skipped(&["ping", "perl", "unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let (one, other) = (User::logged_in(), User::logged_in());
    let mut roots = Lab::up(&["--stations", "4"]);
    let name = roots.name.clone();
    let refused = one.run(&["stats", "--name", &name]);
    refused.failed_with(1, &["no lab called", "root's", "sudo ethbus"]);
    let labs = [Theirs::up(&one, &name, &["--stations", "2"]), Theirs::up(&other, &name, &["--stations", "3"])];
    let counts = labs.iter().map(|lab| lab.stats()["stations"].as_array().map(Vec::len)).collect::<Vec<_>>();
    assert_eq!(counts, [Some(2), Some(3)]);
    roots.ping("st1", &roots.ipv4("st4"));
    labs.iter().for_each(Theirs::ping);
    let [first, second] = labs;
    let connect = "IO::Socket::UNIX->new(Peer => $ARGV[0]) or die \"$!\\n\"";
    for socket in [one.record(&name), Path::new("/run/ethbus").join(&name)].map(|record| record.join("control.sock")) {
        assert_eq!(std::fs::metadata(&socket).expect("a socket").mode() & 0o777, 0o600);
        let perl = ["-MIO::Socket::UNIX", "-e", connect, socket.to_str().expect("plain")];
        let refused = run(other.program("perl", &perl));
        assert!(!refused.status.success() && refused.stderr.contains("Permission denied"), "{refused:#?}");
    }
    let list = run(other.program("ls", &[one.login().to_str().expect("plain")]));
    assert!(!list.status.success(), "{list:#?}");
    first.down();
    one.assert_nothing_left();
    run(other.ethbus(&["stats", "--name", &name])).succeeded();
    second.down();
    roots.ping("st2", &roots.ipv4("st1"));
    roots.down();
    roots.assert_nothing_left();
    other.assert_nothing_left();
}

/// Only the user's identity decides where a record is: no variable does, and no folder that others could write to.
#[test]
fn a_users_record_stands_where_nobody_else_can_write_or_nowhere() {
    if skipped(&["unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let name = fresh_name();
    let stranger = User::new();
    let elsewhere = tempfile::tempdir().expect("a folder");
    std::fs::set_permissions(elsewhere.path(), Permissions::from_mode(0o777)).expect("own folder");
    let up = |user: &User| {
        let mut command = user.ethbus(&["up", "--name", &name, "--stations", "2"]);
        for variable in ["XDG_RUNTIME_DIR", "HOME", "TMPDIR", "USER", "SUDO_UID"] {
            command.env(variable, elsewhere.path());
        }
        run(command)
    };
    up(&stranger).failed_with(1, &[&format!("/run/user/{}", stranger.id), "missing", "install -d -m 700"]);
    let user = User::logged_in();
    std::fs::set_permissions(user.login(), Permissions::from_mode(0o777)).expect("root may");
    up(&user).failed_with(1, &["is open to other users"]);
    let told = run(user.ethbus(&["doctor"])).stdout;
    let login = user.login();
    assert!(told.contains(&format!("MISSING   {} is open to other users", login.display())), "{told}");
    assert!(told.contains(&format!("do: chmod 700 {}", login.display())), "{told}");
    std::fs::set_permissions(user.login(), Permissions::from_mode(0o700)).expect("root may");
    symlink(elsewhere.path(), user.login().join("ethbus")).expect("root may");
    up(&user).failed_with(1, &["is no folder"]);
    std::fs::remove_file(user.login().join("ethbus")).expect("the link");
    std::fs::create_dir(user.login().join("ethbus")).expect("root's folder in the user's");
    up(&user).failed_with(1, &["belongs to another user"]);
    std::fs::remove_dir(user.login().join("ethbus")).expect("empty");
    assert_eq!(std::fs::read_dir(elsewhere.path()).expect("own folder").count(), 0);
    user.assert_nothing_left();
}

/// Where users may not make user namespaces, `up` prints one sentence with capability, command and setting.
#[test]
fn without_user_namespaces_up_says_what_to_do() {
    if skipped(&["setpriv", "unshare"]) {
        return;
    }
    let (_turn, copy) = (Turn::shared(), PublicCopy::new());
    let unused = Unused::name();
    // Within a user namespace its own limit of further ones can be set without an effect on others.
    let script = "echo 0 > /proc/sys/user/max_user_namespaces || exit 99
        exec setpriv --bounding-set=-all --inh-caps=-all \"$0\" up --name \"$1\"";
    let ended = run(program("unshare", ["--user", "--map-root-user", "sh", "-c", script, &copy.path(), &unused.0]));
    if matches!(ended.code(), Some(99)) || ended.stderr.contains("unshare") {
        return skip(&format!("cannot forbid user namespaces here: {}", ended.stderr.trim()));
    }
    ended.failed_with(1, &["CAP_", "sudo ethbus up", "sysctl -w user.max_user_namespaces"]);
    assert_eq!(ended.stderr.lines().count(), 1, "more than a sentence: {ended:#?}");
    crate::common::lab::assert_nothing_of(&unused.0);
}

/// Without the right to open the driver there is no TAP station, and the error names the right.
#[test]
fn without_the_right_to_the_driver_there_is_no_tap_station() {
    if skipped(&["unshare", "mknod", "mount", "setpriv"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let name = fresh_name();
    let path = user.login().join("lab.toml");
    std::fs::write(&path, "[[station]]\nname = 'host'\n[[station]]\nname = 'guest'\nkind = 'tap'\n").expect("root may");
    std::fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("own file");
    // A driver that is root's alone, in a mount namespace: that of the machine may be open to all users.
    let script = "mknod \"$1/tun\" c 10 200 && chmod 600 \"$1/tun\" && mount --bind \"$1/tun\" /dev/net/tun || exit 99
        exec 9< \"$2\" && user=$3 && shift 3 && cd / || exit 99
        exec setpriv --reuid=\"$user\" --regid=\"$user\" --clear-groups /proc/self/fd/9 \"$@\"";
    let (folder, id) = (tempfile::tempdir().expect("a folder"), user.id.to_string());
    let as_user = ["-m", "sh", "-c", script, "sh", folder.path().to_str().expect("plain"), ETHBUS, &id];
    let up = ["up", "--name", &name, path.to_str().expect("plain")];
    let ended = run(program("unshare", as_user.iter().chain(&up)));
    ended.failed_with(1, &["guest", "/dev/net/tun", "ermission"]);
    user.assert_nothing_left();
}

/// Features that need rights over the machine's own network, or over its BPF, are for root, and the error says so.
#[test]
fn what_only_root_can_have_is_refused_with_a_word() {
    if skipped(&["unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let (name, path) = (fresh_name(), user.login().join("lab.toml"));
    let refused = |text: &str, words: &[&str]| {
        std::fs::write(&path, text).expect("root may");
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("own file");
        user.run(&["up", "--name", &name, path.to_str().expect("plain")]).failed_with(1, words);
        user.assert_nothing_left();
    };
    let station = "[[station]]\nname = 'host'\n[[station]]\nname = 'outside'\n";
    refused(&format!("{station}kind = 'bridge'\n"), &["outside", "sudo ethbus up"]);
    refused(&format!("{station}kind = 'vxlan'\nremote = '127.0.0.1'\n"), &["outside", "sudo ethbus up"]);
    refused("stations = 2\n[emulator]\nfan_out = 'kernel'\n", &["only root", "\"batch\""]);
    // By default the lab runs without it.
    let lab = Theirs::up(&user, &name, &["--stations", "17"]);
    assert!(lab.greeting.contains("only root"), "{}", lab.greeting);
    assert_eq!(lab.stats()["emulator"]["fan_out"], "batch");
    lab.down();
    user.assert_nothing_left();
}

/// The supervisor of a user's lab keeps what root's keeps, over the lab's namespaces only; the data plane keeps
/// nothing.
#[test]
fn the_processes_of_a_users_lab_keep_no_more_than_they_need() {
    if skipped(&["unshare"]) || !users_may_have_labs() {
        return;
    }
    let _turn = Turn::shared();
    let user = User::logged_in();
    let lab = Theirs::up(&user, &fresh_name(), &["--stations", "2"]);
    let supervisor = user.supervisor(&lab.name);
    let sets = |pid: u32, name: &str| {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs").flatten();
        let all = tasks.map(|task| {
            let status = std::fs::read_to_string(task.path().join("status")).expect("it runs");
            let value =
                status.lines().find_map(|line| line.strip_prefix(&format!("{name}:\t"))).expect("every kernel has it");
            u64::from_str_radix(value, 16).expect("hexadecimal")
        });
        all.fold(0, |any, set| any | set)
    };
    // CAP_KILL, SETPCAP, NET_ADMIN, NET_RAW, IPC_LOCK, SYS_PTRACE, SYS_ADMIN, SYS_NICE.
    let kept: u64 = 1 << 5 | 1 << 8 | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 19 | 1 << 21 | 1 << 23;
    let plane = data_plane(supervisor);
    for name in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(sets(plane, name), 0, "{name} of the data plane");
        assert_eq!(sets(supervisor, name) & !kept, 0, "{name} of the supervisor");
    }
    let own = std::fs::metadata("/proc/self/ns/user").expect("/proc is mounted").ino();
    for pid in [supervisor, plane] {
        assert_ne!(std::fs::metadata(format!("/proc/{pid}/ns/user")).expect("it runs").ino(), own);
    }
    assert_eq!(children(supervisor).len(), 1);
    assert!(number(&lab.stats()["emulator"], "ports_lost") == 0);
    lab.down();
    user.assert_nothing_left();
}
