//! Shared by the tests of the program from outside: running it with a time limit, labs that clean up after themselves,
//! and the rules for every table of results.

#![allow(dead_code, reason = "each test file uses its own part")]

pub mod browser;
pub mod derive;
pub mod files;
pub mod lab;
pub mod logs;
pub mod process;
pub mod results;
pub mod terminal;
pub mod user;

use link::namespace::capabilities_missing;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// The program under test.
pub const ETHBUS: &str = env!("CARGO_BIN_EXE_ethbus");

/// Longer than every step takes on a busy machine, so that a test fails only if a step never happens.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A number of the environment, like `ETHBUS_SEED`, or the usual one.
pub fn given(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// Numbers that a seed repeats, for tests that act at random on the real thing.
pub struct Draws(pub u64);

impl Draws {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// Whether a test cannot run here, for lack of capabilities or of one of these tools; prints the reason.
pub fn skipped(tools: &[&str]) -> bool {
    let missing = capabilities_missing().expect("/proc is mounted");
    let mut missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
    missing.extend(tools.iter().filter(|tool| !is_installed(tool)).map(|&tool| tool.to_owned()));
    if !missing.is_empty() {
        skip(&format!("needs {}", missing.join(", ")));
    }
    !missing.is_empty()
}

/// Reports that a test did not run. The runner hides the output of a passing test, but not this.
pub fn skip(why: &str) {
    let mut stderr = std::io::stderr().lock();
    writeln!(stderr, "SKIPPED: {why}").expect("standard error takes a line");
}

/// Figures worth seeing even when a test passes.
pub fn note(figures: &str) {
    let mut stderr = std::io::stderr().lock();
    writeln!(stderr, "note: {figures}").expect("standard error takes a line");
}

/// Whether a program of this name is in the search path.
pub fn is_installed(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(tool).is_file())
}

/// A reservation of the machine, released when dropped.
#[must_use]
pub struct Turn {
    _lock: File,
}

impl Turn {
    /// For tests that keep the processors busy or measure times: no other test runs meanwhile.
    pub fn alone() -> Turn {
        let file = Turn::file();
        file.lock().expect("the lock's file system knows locks");
        Turn { _lock: file }
    }

    /// For tests that may run beside each other, but not beside those that run alone.
    pub fn shared() -> Turn {
        let file = Turn::file();
        file.lock_shared().expect("the lock's file system knows locks");
        Turn { _lock: file }
    }

    fn file() -> File {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("turn");
        File::create(path).expect("cargo gives tests a folder to write into")
    }
}

/// Tries until `done`, with a pause between tries; fails if that takes longer than `limit`.
pub fn wait_until(limit: Duration, what: &str, mut done: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs `attempt` again if it fails: a bound that noise can break must be met in two of three runs.
///
/// `attempt` gives the observed value if the bound is not met.
pub fn two_of_three(mut attempt: impl FnMut() -> Result<(), String>) {
    let Err(first) = attempt() else { return };
    note(&format!("once more, since {first}"));
    for run in 2..=3 {
        if let Err(again) = attempt() {
            panic!("run 1: {first}; run {run}: {again}");
        }
    }
}
