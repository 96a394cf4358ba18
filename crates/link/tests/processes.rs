//! Tests that need a process of their own: this program starts itself again, in one of several roles.

mod common;

use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use common::{PATIENCE, say_skipped, skipped, until};
use link::namespace::{Namespace, UserNamespaceError, capabilities_missing, enter_user_namespace};
use link::netlink::{LinkMonitor, Netlink};
use link::process::{clear_cloexec, die_with_parent, inherited, pid_alive, process_start_time};
use link::signals::{Signal, Signals};
use link::{MacAddr, Pid};

/// The exit code of a child whose role cannot be played here.
const CANNOT: u8 = 77;

/// A user without any right, on every Linux.
const NOBODY: u32 = 65534;

/// The task of this program when it was started by itself.
type Role = fn(&[String]) -> ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let roles: [(&str, Role); 4] = [
        ("unprivileged-lab", unprivileged_lab),
        ("parent", parent),
        ("child-of-parent", child_of_parent),
        ("holder", holder),
    ];
    if let Some((_, role)) = roles.iter().find(|(name, _)| arguments.first().is_some_and(|first| first == name)) {
        return role(&arguments[1..]);
    }
    let tests: [(&str, fn()); 5] = [
        ("an_unprivileged_user_makes_a_lab_in_a_user_namespace", an_unprivileged_user_makes_a_lab),
        ("a_child_ends_with_its_parent", a_child_ends_with_its_parent),
        ("a_namespace_vanishes_with_a_killed_process", a_namespace_vanishes_with_a_killed_process),
        ("a_descriptor_passes_to_a_program_if_it_is_let", a_descriptor_passes_to_a_program_if_it_is_let),
        ("a_child_that_ended_is_told_by_a_signal", a_child_that_ended_is_told_by_a_signal),
    ];
    common::run_tests(&tests, &arguments)
}

/// This program, in a role. It is named by its descriptor: the folder may be closed to other users.
fn role(name: &str) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg(name).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

fn an_unprivileged_user_makes_a_lab() {
    let mut command = role("unprivileged-lab");
    if nix::unistd::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().expect("this program can be executed");
    let text = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => assert!(text.contains("a frame crossed"), "{text}"),
        Some(code) if code == CANNOT.into() => say_skipped(&text),
        _ => panic!("{output:?}"),
    }
}

/// Everything that a live bus needs, as a user without any right.
fn unprivileged_lab(_: &[String]) -> ExitCode {
    assert!(!capabilities_missing().unwrap().is_empty(), "this user has no rights");
    match enter_user_namespace() {
        Ok(()) => {}
        Err(error @ (UserNamespaceError::System { .. } | UserNamespaceError::HasThreads { .. })) => {
            panic!("{error:?}")
        }
        Err(error) => {
            println!("{error}");
            return ExitCode::from(CANNOT);
        }
    }
    assert_eq!(capabilities_missing().unwrap(), []);
    assert!(!nix::unistd::geteuid().is_root());
    let lab = common::lab(2, common::Offloads::Off);
    let mut receiver = lab.receiver();
    link::packet::wait_for_stamps(PATIENCE).unwrap();
    let octets = common::frame(lab.stations[0].mac, 60, 1);
    lab.stations[0].socket().send(&octets).unwrap();
    let copy = common::collect(&mut receiver, 1).remove(0);
    let mut socket = lab.stations[1].socket();
    let mut results = Vec::new();
    lab.sender().send(&[(lab.stations[1].pair.bus_index, &copy.octets)], &mut results);
    let received = socket.receive(Some(PATIENCE), &mut [0; 100]).unwrap().unwrap();
    assert_eq!((received.octets, results), (60, vec![Ok(())]));
    lab.bus.enter_for_exec().unwrap();
    println!("a frame crossed; priority {:?}", link::clock::raise_priority());
    ExitCode::SUCCESS
}

fn a_child_ends_with_its_parent() {
    let mut parent = role("parent").spawn().unwrap();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let child = Pid::from_raw(line.trim().parse().expect("the parent tells its child's number"));
    let start = process_start_time(child).unwrap().expect("it waits for its parent's end");
    parent.kill().unwrap();
    parent.wait().unwrap();
    until(|| !pid_alive(child, start).unwrap() || is_zombie(child));
}

/// Whether the process has ended and only its number is left, because its parent has not collected it.
fn is_zombie(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" Z"))
}

/// Starts a child, and waits to be killed. The child reports its number when it is ready.
fn parent(_: &[String]) -> ExitCode {
    let own = Pid::this().to_string();
    let mut command = role("child-of-parent");
    // The input that the child waits for must stay open when the parent is killed, so it is not the parent's.
    command.arg(own).stdin(Stdio::null()).stdout(Stdio::inherit());
    let _ = command.status();
    ExitCode::FAILURE
}

fn child_of_parent(arguments: &[String]) -> ExitCode {
    let parent = Pid::from_raw(arguments[0].parse().unwrap());
    die_with_parent(parent).unwrap();
    println!("{}", Pid::this());
    std::thread::sleep(PATIENCE * 2);
    ExitCode::FAILURE
}

fn a_namespace_vanishes_with_a_killed_process() {
    if skipped() {
        return;
    }
    let bus = Namespace::anonymous().unwrap();
    let mut netlink = Netlink::in_namespace(&bus).unwrap();
    let mut monitor = LinkMonitor::open(&bus).unwrap();
    clear_cloexec(&bus).unwrap();
    let mut command = role("holder");
    command.arg(bus.as_fd().as_raw_fd().to_string());
    let mut holder = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let index = netlink.link_by_name("held").unwrap().expect("its peer is in the holder's").index;
    monitor.poll().unwrap();
    holder.kill().unwrap();
    holder.wait().unwrap();
    until(|| monitor.poll().unwrap().contains(&link::netlink::LinkChange::Gone { index }));
}

/// Holds a namespace with a link to the given one, until it is killed.
fn holder(arguments: &[String]) -> ExitCode {
    let bus = Namespace::from_fd(inherited(arguments[0].parse().unwrap()).unwrap());
    let station = Namespace::anonymous().unwrap();
    let mut netlink = Netlink::in_namespace(&bus).unwrap();
    let mac = MacAddr::new(2, 0, 0, 0, 0, 1);
    netlink.create_veth("held", &station, "eth0", mac).unwrap();
    println!("made");
    std::io::stdout().flush().unwrap();
    std::thread::sleep(PATIENCE * 2);
    ExitCode::FAILURE
}

fn a_descriptor_passes_to_a_program_if_it_is_let() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let number = writer.as_raw_fd();
    let write = format!("echo through >&{number}");
    let status = |text: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", text]).stderr(Stdio::null()).status().unwrap().success()
    };
    assert!(!status(&write), "the standard library closes descriptors on exec");
    clear_cloexec(&writer).unwrap();
    assert!(status(&write));
    drop(writer);
    let mut text = String::new();
    std::io::Read::read_to_string(&mut reader, &mut text).unwrap();
    assert_eq!(text, "through\n");
}

/// A program inherits blocked signals, so it could not be ended unless they are unblocked in it.
fn a_child_that_ended_is_told_by_a_signal() {
    let mut signals = Signals::block_and_open(&[Signal::SIGCHLD, Signal::SIGTERM]).unwrap();
    let mut child = link::signals::unblock(Command::new("sleep").arg("60")).spawn().unwrap();
    nix::sys::signal::kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    let mut waiter = link::wait::Waiter::new().unwrap();
    waiter.add(&signals, 0).unwrap();
    assert_eq!(waiter.wait(Some(PATIENCE)).unwrap().count(), 1);
    assert_eq!(signals.read().unwrap(), Some(Signal::SIGCHLD));
    assert_eq!(signals.read().unwrap(), None);
    let status = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(15));
    assert_eq!(waiter.wait(Some(Duration::ZERO)).unwrap().count(), 0);
}
