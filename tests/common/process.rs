//! Programs that end in bounded time: none of them outlives its test, however the test ends.

use super::PATIENCE;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// `ethbus` with these arguments.
pub fn ethbus<I: IntoIterator<Item: AsRef<OsStr>>>(arguments: I) -> Command {
    program(super::ETHBUS, arguments)
}

/// A program with its arguments.
pub fn program<I: IntoIterator<Item: AsRef<OsStr>>>(name: &str, arguments: I) -> Command {
    let mut command = Command::new(name);
    command.args(arguments);
    command
}

/// Copies a program that is to be run, by a process of its own: a child that another test begins meanwhile would have this
/// one's writing descriptor for a moment, and the kernel runs no program that is open for writing.
pub fn copy_program(from: &Path, to: &Path) {
    run(program("cp", [from, to])).succeeded();
}

/// Runs a program to its end, which must come soon.
pub fn run(command: Command) -> Finished {
    run_for(command, PATIENCE)
}

/// `ethbus replay` of a record, with these `options`: it has the same events again.
#[track_caller]
pub fn replays(record: impl AsRef<OsStr>, options: &[&str]) -> Finished {
    let mut command = ethbus(["replay"]);
    command.arg(record).args(options);
    let told = run(command).succeeded();
    assert!(told.stderr.contains("the same as in the recorded run"), "{told:#?}");
    told
}

/// Runs a program to its end, which must come within `limit`.
pub fn run_for(command: Command, limit: Duration) -> Finished {
    Running::start(command, "").wait_for(limit)
}

/// The output of a program, and how it ended.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    pub took: Duration,
}

impl Finished {
    /// The exit code; `None` if a signal ended the program.
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// The signal that ended it.
    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    /// Itself, if the exit code is 0.
    #[track_caller]
    pub fn succeeded(self) -> Finished {
        assert!(self.status.success(), "{self:#?}");
        self
    }

    /// Standard output of a program that succeeded in one line, without its line breaks.
    #[track_caller]
    pub fn unwrapped(self) -> String {
        unwrapped(&self.succeeded().stdout)
    }

    /// Standard output as JSON, of a program that succeeded.
    #[track_caller]
    pub fn json(self) -> Value {
        let finished = self.succeeded();
        serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error} in {finished:#?}"))
    }

    /// Checks that the program failed with this exit code, and that standard error has all these words.
    #[track_caller]
    pub fn failed_with(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code(), Some(code), "{self:#?}");
        for word in words {
            assert!(self.stderr.contains(word), "no `{word}` in {self:#?}");
        }
    }
}

/// A text in one line, without its line breaks.
pub fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// A stream's octets so far.
type Text = Arc<Mutex<Vec<u8>>>;

/// A program that runs in a process group of its own, all of which is killed when this is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    begin: Instant,
    ended: bool,
    stdout: (Text, std::thread::JoinHandle<()>),
    stderr: (Text, std::thread::JoinHandle<()>),
}

impl Running {
    /// Starts a program that reads `input` from its standard input.
    pub fn start(mut command: Command, input: &str) -> Running {
        command.process_group(0).stdin(Stdio::piped());
        let (shown, begin) = (format!("{command:?}"), Instant::now());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot run {shown}: {error}"));
        let mut stdin = child.stdin.take().expect("a pipe");
        // A program that ends without reading closes its end: that is no error of this function.
        let _ = stdin.write_all(input.as_bytes());
        let (stdout, stderr) = (child.stdout.take().expect("a pipe"), child.stderr.take().expect("a pipe"));
        Running { child, begin, ended: false, stdout: collect(stdout), stderr: collect(stderr) }
    }

    /// Its process number.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has written to standard output so far.
    pub fn stdout(&self) -> String {
        text(&self.stdout.0)
    }

    /// What it has written to standard error so far.
    pub fn stderr(&self) -> String {
        text(&self.stderr.0)
    }

    /// Waits until standard error has `words`; fails if the program ends before.
    #[track_caller]
    pub fn wait_for_stderr(&mut self, words: &str) {
        let begin = Instant::now();
        while !self.stderr().contains(words) {
            assert!(begin.elapsed() < PATIENCE, "no `{words}` within {PATIENCE:?} in {:#?}", self.stderr());
            let ended = self.child.try_wait().expect("a child");
            if let Some(status) = ended {
                self.let_readers_finish();
                assert!(self.stderr().contains(words), "{status} without `{words}`: {:#?}", self.stderr());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends it a signal, like `"TERM"`.
    pub fn signal(&self, name: &str) {
        signal(name, &self.pid().to_string());
    }

    /// Waits until it takes SIGINT itself: before that, the signal ends a program that has just begun.
    #[track_caller]
    pub fn wait_until_interruptible(&mut self) {
        let begin = Instant::now();
        let status = format!("/proc/{}/status", self.pid());
        let blocks = || {
            let status = std::fs::read_to_string(&status).unwrap_or_default();
            let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:"));
            mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 0b10 != 0)
        };
        while !blocks() {
            assert!(begin.elapsed() < PATIENCE, "SIGINT is not blocked after {PATIENCE:?}: {:#?}", self.stderr());
            assert!(!self.has_ended(), "it has ended: {:#?}", self.stderr());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Whether it has ended.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    /// Waits for its end, which must come soon.
    #[track_caller]
    pub fn wait(self) -> Finished {
        self.wait_for(PATIENCE)
    }

    /// Waits for its end, which must come within `limit`.
    #[track_caller]
    pub fn wait_for(mut self, limit: Duration) -> Finished {
        let begin = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("a child") {
                Some(status) => break status,
                None if begin.elapsed() > limit => {
                    panic!("still running after {limit:?}: {:#?} {:#?}", self.stdout(), self.stderr())
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let took = self.begin.elapsed();
        self.ended = true;
        self.let_readers_finish();
        Finished { status, stdout: self.stdout(), stderr: self.stderr(), took }
    }

    /// A program's children may keep its pipes open, so this waits only a short time.
    fn let_readers_finish(&self) {
        let begin = Instant::now();
        while !(self.stdout.1.is_finished() && self.stderr.1.is_finished()) && begin.elapsed() < Duration::from_secs(1)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended {
            signal("KILL", &format!("-{}", self.pid()));
            // Fails only if the end was collected already.
            let _ = self.child.wait();
        }
    }
}

/// Sends a signal to a process, or to a group if there is a minus before its number.
pub fn signal(name: &str, process: &str) {
    let mut kill = Command::new("sh");
    kill.args(["-c", "kill -s \"$0\" -- \"$1\"", name, process]).stderr(Stdio::null());
    // A process that has ended already is no error: its end is checked elsewhere.
    kill.status().expect("every system has a shell");
}

fn collect(mut stream: impl Read + Send + 'static) -> (Text, std::thread::JoinHandle<()>) {
    let text = Text::default();
    let theirs = text.clone();
    let read = move || {
        let mut octets = [0; 4096];
        while let Ok(count @ 1..) = stream.read(&mut octets) {
            theirs.lock().expect("no panic holds it").extend_from_slice(&octets[..count]);
        }
    };
    (text, std::thread::spawn(read))
}

fn text(text: &Text) -> String {
    String::from_utf8_lossy(&text.lock().expect("no panic holds it")).into_owned()
}

/// The processes whose parent is `pid`, with their command lines.
pub fn children(pid: u32) -> Vec<(u32, String)> {
    let processes = std::fs::read_dir("/proc").expect("/proc is mounted").flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |number: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{number}/stat")).ok()?;
        // After the name, which may contain any character: state, then the parent.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let ours = numbers.filter(|number| parent(number) == Some(pid));
    ours.map(|number| {
        let line = std::fs::read_to_string(format!("/proc/{number}/cmdline")).unwrap_or_default();
        (number, line.replace('\0', " "))
    })
    .collect()
}

/// Whether a process runs; a process that has ended and waits for its parent does not run.
pub fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Whether `ethbus exec` has become the program `name`; until then it may not be in its station yet.
pub fn is_program(pid: u32, name: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|comm| comm.trim() == name)
}

/// The data plane of the supervisor `pid`.
#[track_caller]
pub fn data_plane(pid: u32) -> u32 {
    let children = children(pid);
    let plane = children.iter().find(|(_, line)| line.contains("__bus"));
    plane.unwrap_or_else(|| panic!("no data plane among the children {children:?} of {pid}")).0
}

/// Network namespaces that a process is in or has a descriptor of, except that of the tests.
pub fn namespaces_held_by(pid: u32) -> BTreeSet<String> {
    let own = std::fs::read_link("/proc/self/ns/net").expect("/proc is mounted");
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = descriptors.map(|entry| entry.path()).chain([format!("/proc/{pid}/ns/net").into()]);
    let names = links.filter_map(|link| std::fs::read_link(link).ok()).filter(|target| *target != own);
    names.filter_map(|target| target.to_str().map(str::to_owned)).filter(|name| name.starts_with("net:")).collect()
}

/// Checks that no process holds one of these namespaces or is in one.
#[track_caller]
pub fn assert_held_by_nobody(namespaces: &BTreeSet<String>) {
    let others = std::fs::read_dir("/proc").expect("/proc is mounted").flatten();
    for process in others.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok()) {
        let held = namespaces_held_by(process);
        assert!(held.is_disjoint(namespaces), "process {process} holds one of {namespaces:?}");
    }
}
