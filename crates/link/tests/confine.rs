//! What a process can and cannot do after it has given up its rights: this program starts itself again in several
//! roles.

mod common;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};

use link::clock::{give_fifo, has_fifo, leave_fifo};
use link::confine::{allow_no_more, close_inherited, close_stdin, drop_capabilities};
use link::wait::{Waiter, Wake};

/// Longer than every step takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// SIGSYS and SIGABRT.
const FORBIDDEN: i32 = 31;
const ABORTED: i32 = 6;

/// The task of this program when it was started by itself.
type Role = fn();

/// Each does one thing that a running bus never does.
const TRESPASSES: [(&str, Role); 9] = [
    ("socket", || drop(UnixDatagram::unbound())),
    ("program", || drop(Command::new("true").spawn())),
    ("thread", || drop(std::thread::Builder::new().spawn(|| ()))),
    ("metadata", || drop(std::fs::metadata("/"))),
    ("folder", || drop(std::fs::create_dir("/run/trespass"))),
    ("signal", || _ = nix::sys::signal::kill(nix::unistd::getppid(), None)),
    ("identity", || _ = nix::unistd::setuid(nix::unistd::getuid())),
    ("pipe", || drop(std::io::pipe())),
    ("priority", || drop(give_fifo(nix::unistd::Pid::from_raw(0)))),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, which] = &arguments[..]
        && role == "role"
    {
        play(which);
        return ExitCode::SUCCESS;
    }
    let tests: [(&str, fn()); 5] = [
        ("what_a_bus_does_is_allowed", what_a_bus_does_is_allowed),
        ("what_a_bus_does_not_do_ends_it", what_a_bus_does_not_do_ends_it),
        ("a_file_cannot_be_opened_but_to_try_is_no_crime", a_file_cannot_be_opened),
        ("a_panic_aborts_as_ever", a_panic_aborts_as_ever),
        ("capabilities_and_privileges_are_gone", capabilities_and_privileges_are_gone),
    ];
    common::run_tests(&tests, &arguments)
}

/// Gives up all rights while threads are at work, and then plays a role.
fn play(which: &str) {
    close_inherited().expect("a kernel since 5.9");
    close_stdin().expect("/dev/null is there");
    let (mut one, other) = UnixStream::pair().expect("a pair");
    let (wake, mut waiter) = (Wake::new().expect("an event"), Waiter::new().expect("an epoll"));
    waiter.add(&wake, 1).expect("a descriptor to wait for");
    drop_capabilities().expect("anybody may have less");
    // Both threads exist before the filter: one works with memory, one with a socket.
    let (begin, work) = std::sync::mpsc::channel::<()>();
    let (tell, stands) = std::sync::mpsc::channel();
    let told = tell.clone();
    let allocator = std::thread::spawn(move || {
        told.send(()).expect("somebody waits");
        if work.recv().is_ok() {
            use_memory();
        }
    });
    let reader = std::thread::spawn(move || {
        tell.send(()).expect("somebody waits");
        let mut text = String::new();
        (&other).read_to_string(&mut text).expect("an end");
        text.len()
    });
    stands.iter().take(2).for_each(drop);
    allow_no_more(0).expect("a kernel with seccomp");
    match which {
        "bus" => {
            begin.send(()).expect("it waits");
            use_memory();
            one.write_all(&[b'x'; 100_000]).expect("it reads");
            drop(one);
            assert_eq!(reader.join().expect("it ends"), 100_000);
            allocator.join().expect("it ends");
            assert_eq!(waiter.wait(Some(Duration::from_micros(50))).expect("waiting is allowed").count(), 0);
            wake.wake().expect("writing is allowed");
            assert_eq!(waiter.wait(None).expect("waiting is allowed").count(), 1);
            std::thread::sleep(Duration::from_millis(1));
            leave_fifo().expect("to be ordinary is allowed");
            assert!(!has_fifo());
            println!("all done");
        }
        "open" => {
            let error = std::fs::File::open("/etc/passwd").expect_err("nothing can be opened").kind();
            assert_eq!(error, std::io::ErrorKind::PermissionDenied);
            println!("refused");
        }
        "panic" => panic!("as asked"),
        _ => TRESPASSES.iter().find(|(name, _)| *name == which).expect("a role").1(),
    }
}

/// All operations of the allocator: small and huge pieces, growth, and giving back, on any thread.
fn use_memory() {
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for round in 0..40_usize {
        pieces.extend((0..200).map(|size| vec![1; 1 + size * 311]));
        pieces.push(vec![0; 40 << 20]);
        let mut growing = vec![0_u8; 100];
        (0..18).for_each(|power| growing.resize(100 << power, 1));
        if round % 4 == 3 {
            pieces.clear();
        }
    }
    let table: HashMap<usize, usize> = (0..10_000).map(|n| (n, n)).collect();
    assert_eq!(table[&77], 77);
}

/// Starts a role and waits for its end, with a time limit.
#[track_caller]
fn end_of(which: &str) -> Output {
    let mut command = Command::new("/proc/self/exe");
    // A data plane has no environment; with RUST_BACKTRACE a panic would ask for the working folder.
    command.env_clear().args(["role", which]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("this program can be executed");
    let begin = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begin.elapsed() > PATIENCE {
            child.kill().expect("a child");
            panic!("{which} did not end: {:?}", child.wait_with_output());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("it has ended")
}

fn what_a_bus_does_is_allowed() {
    let output = end_of("bus");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"all done\n");
}

fn what_a_bus_does_not_do_ends_it() {
    for (name, _) in TRESPASSES {
        let output = end_of(name);
        assert_eq!(output.status.signal(), Some(FORBIDDEN), "{name}: {output:?}");
    }
}

fn a_file_cannot_be_opened() {
    let output = end_of("open");
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"refused\n"[..]), "{output:?}");
}

fn a_panic_aborts_as_ever() {
    let output = end_of("panic");
    // Tests are built with unwinding, so a panic of the main thread gives its exit code.
    assert!(output.status.signal() == Some(ABORTED) || output.status.code() == Some(101), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("as asked"), "{output:?}");
}

/// On a thread of its own, since capabilities belong to a thread; the kernel ensures that none comes back.
fn capabilities_and_privileges_are_gone() {
    let status = std::thread::spawn(|| {
        link::confine::keep_capabilities(&[]).expect("anybody may have less");
        std::fs::read_to_string("/proc/thread-self/status").expect("/proc is mounted")
    });
    let status = status.join().expect("it ends");
    let value = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(":\t"));
        line.unwrap_or_else(|| panic!("no {key} in {status}")).trim().to_owned()
    };
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        assert_eq!(value(set), "0000000000000000", "{set}");
    }
    if nix::unistd::geteuid().is_root() {
        assert_eq!(value("CapBnd"), "0000000000000000");
    }
    assert_eq!(value("NoNewPrivs"), "1");
}
